/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * places - the folders and files of handover.h that the resolver's user
 * writes.
 *
 * What exists is not given away, with one exception: a state directory that
 * is root's and that nobody else can write. A folder for events may well be
 * /var/log, so there the file alone is made, and only if it is new: whoever
 * owns the folder could have put a link to any file of root's in its place.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/helper/handover.h"
#include "src/helper/log.h"

#define EXIT_ENVIRONMENT 3
#define STATE_MODE       0700
#define EVENTS_MODE      0750
#define FILE_MODE        0640

/* One folder is made, those above it are not. */
static int
fail(const char *key, const char *path)
{
	log_error("%s: %s: %s%s", key, path, strerror(errno),
	    errno == ENOENT ? ": make the folder above it first" : "");
	return EXIT_ENVIRONMENT;
}

/* Root's, and out of everybody else's reach. */
static bool
may_give(const struct stat *found)
{
	return found->st_uid == 0 && (found->st_mode & S_IWOTH) == 0;
}

static int
open_state(const char *path, const struct account *account, int *ret_fd)
{
	struct stat found;
	int fd;

	if (mkdir(path, STATE_MODE) != 0 && errno != EEXIST)
		return fail("state_dir", path);
	fd = handover_move(
	    open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	if (fd < 0)
		return fail("state_dir", path);
	if (fstat(fd, &found) != 0)
		goto failed;
	if (found.st_uid != account->uid) {
		if (!may_give(&found)) {
			log_error("state_dir: %s: belongs to another user, or "
				  "everybody may write there: name a folder of "
				  "its own",
			    path);
			close(fd);
			return EXIT_ENVIRONMENT;
		}
		if (fchown(fd, account->uid, account->gid) != 0 ||
		    fchmod(fd, STATE_MODE) != 0)
			goto failed;
	}
	*ret_fd = fd;
	return 0;
failed:
	close(fd);
	return fail("state_dir", path);
}

/* A folder that is new belongs to the user; one that is there stays as it
 * is. */
static int
make_folder(const char *path, const struct account *account)
{
	char folder[SETTINGS_PATH_MAX];
	char *slash;
	int fd, error;

	snprintf(folder, sizeof(folder), "%s", path);
	slash = strrchr(folder, '/');
	if (slash == NULL || slash == folder)
		return 0;
	*slash = '\0';
	if (mkdir(folder, EVENTS_MODE) != 0)
		return errno == EEXIST ? 0 : fail("events", folder);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fail("events", folder);
	error = fchown(fd, account->uid, account->gid);
	close(fd);
	return error == 0 ? 0 : fail("events", folder);
}

static int
make_file(const char *path, const struct account *account)
{
	int fd = open(path,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
	int error;

	if (fd < 0)
		return errno == EEXIST ? 0 : fail("events", path);
	error = fchown(fd, account->uid, account->gid);
	close(fd);
	return error == 0 ? 0 : fail("events", path);
}

int
handover_state(struct handover *handover, const struct settings *settings,
    const struct account *account)
{
	int fd = -1;
	int status = open_state(settings->state_dir, account, &fd);

	if (status == 0)
		status = handover_keep(handover, fd);
	if (status == 0)
		status = handover_arg(handover, "--state-fd");
	if (status == 0)
		status = handover_arg(handover, "%d", fd);
	for (size_t i = 0; i < settings->sink_count && status == 0; i++) {
		const struct sink_setting *sink = &settings->sinks[i];

		if (sink->kind != SINK_FILE)
			continue;
		status = make_folder(sink->path, account);
		if (status == 0)
			status = make_file(sink->path, account);
	}
	return status;
}
