/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control_sockets - the unix sockets of handover.h: one that answers, and one
 * at which things are changed.
 */
#include "config.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/helper/handover.h"
#include "src/helper/log.h"

#define EXIT_ENVIRONMENT 3
#define BACKLOG          16
#define MODE             0660

struct door {
	const char *path, *group;
	const char *option; /* of the resolver */
	const char *right; /* of whoever may come in */
	const char *key; /* that names the group */
};

static void
give_to_group(const struct door *door)
{
	const struct group *entry = getgrnam(door->group);

	if (entry == NULL)
		log_warn("group %s: does not exist: only root can %s: make it "
			 "(addgroup --system %s), or name another with "
			 "\"%s:\"",
		    door->group, door->right, door->group, door->key);
	else if (lchown(door->path, (uid_t)-1, entry->gr_gid) != 0)
		log_warn("%s: could not be given to group %s: %s", door->path,
		    door->group, strerror(errno));
}

static void
make_parent(const char *path)
{
	char folder[SETTINGS_PATH_MAX];
	char *slash;
	mode_t mask;

	snprintf(folder, sizeof(folder), "%s", path);
	slash = strrchr(folder, '/');
	if (slash == NULL || slash == folder)
		return;
	*slash = '\0';
	mask = umask(022);
	if (mkdir(folder, 0755) != 0 && errno != EEXIST)
		log_warn("%s: could not be made: %s", folder, strerror(errno));
	(void)umask(mask);
}

/* The name is made with its mode: to change it afterwards would be to trust
 * that nobody has put a link in its place. */
static bool
bind_name(int fd, const struct sockaddr_un *address)
{
	mode_t mask = umask(0777 & ~MODE);
	bool bound =
	    bind(fd, (const struct sockaddr *)address, sizeof(*address)) == 0;

	(void)umask(mask);
	return bound;
}

static int
open_door(const struct door *door)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(door->path) >= sizeof(address.sun_path)) {
		log_error("%s: too long for a socket's name", door->path);
		return -1;
	}
	memcpy(address.sun_path, door->path, strlen(door->path));
	make_parent(door->path);
	if (unlink(door->path) != 0 && errno != ENOENT)
		log_warn("%s: %s", door->path, strerror(errno));
	fd = handover_move(
	    socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
	if (fd >= 0 && bind_name(fd, &address) && listen(fd, BACKLOG) == 0)
		return fd;
	log_error("%s: %s", door->path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

static int
hand_door(struct handover *handover, const struct door *door)
{
	int fd = open_door(door);

	if (fd < 0)
		return EXIT_ENVIRONMENT;
	give_to_group(door);
	if (handover_keep(handover, fd) != 0 ||
	    handover_arg(handover, "%s", door->option) != 0)
		return EXIT_ENVIRONMENT;
	return handover_arg(handover, "%d", fd);
}

int
handover_status(struct handover *handover, const struct settings *settings)
{
	return hand_door(handover,
	    &(struct door){ settings->status_path, settings->status_group,
		"--status-fd", "ask for the status", "status_group" });
}

int
handover_control(struct handover *handover, const struct settings *settings)
{
	return hand_door(handover,
	    &(struct door){ settings->control_path, settings->control_group,
		"--control-fd", "change anything", "group" });
}
