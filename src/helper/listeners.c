/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listeners - the sockets of handover.h: DNS over UDP and TCP, and the status
 * socket.
 */
#include "config.h"

#include <errno.h>
#include <grp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/helper/handover.h"
#include "src/helper/log.h"
#include "src/helper/occupant.h"

#define EXIT_ENVIRONMENT 3
#define STATUS_BACKLOG   16
#define TCP_BACKLOG      512
#define STATUS_MODE      0660

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static socklen_t
address_of(const struct endpoint *endpoint, union address *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (endpoint->addr.family == 4) {
		ret->v4.sin_family = AF_INET;
		ret->v4.sin_port = htons(endpoint->port);
		memcpy(&ret->v4.sin_addr, endpoint->addr.bytes, 4);
		return sizeof(ret->v4);
	}
	ret->v6.sin6_family = AF_INET6;
	ret->v6.sin6_port = htons(endpoint->port);
	memcpy(&ret->v6.sin6_addr, endpoint->addr.bytes, 16);
	return sizeof(ret->v6);
}

static bool
turn_on(int fd, int level, int option)
{
	const int on = 1;

	return setsockopt(fd, level, option, &on, sizeof(on)) == 0;
}

/* Free to bind before the address is there; told by which address and which
 * interface each question, or connection, came. Connections of a run before
 * may still be closing, which is no reason to wait; two UDP sockets would
 * share the port. */
static bool
prepare(int fd, uint8_t family, int type)
{
	if (!turn_on(fd, IPPROTO_IP, IP_FREEBIND) ||
	    (type == SOCK_STREAM && !turn_on(fd, SOL_SOCKET, SO_REUSEADDR)))
		return false;
	if (family == 4)
		return turn_on(fd, IPPROTO_IP, IP_PKTINFO);
	return turn_on(fd, IPPROTO_IPV6, IPV6_V6ONLY) &&
	    turn_on(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO);
}

static void
report_bind(const struct endpoint *endpoint, int type, int error)
{
	const char *how = type == SOCK_STREAM ? " (TCP)" : "";
	char text[ADDR_TEXT_MAX], who[OCCUPANT_TEXT_MAX];

	addr_print(&endpoint->addr, text);
	if (error != EADDRINUSE)
		log_error("listen %s port %u%s: %s", text, endpoint->port, how,
		    strerror(error));
	else if (occupant_find(endpoint, type, who))
		log_error("listen %s port %u%s: occupied by %s: stop it, or "
			  "let it listen on other addresses only",
		    text, endpoint->port, how, who);
	else
		log_error("listen %s port %u%s: occupied by another process",
		    text, endpoint->port, how);
}

/* To netfilter a socket is for ever of the user that made it, whoever sends
 * by it: so that the resolver's rules hold for these too. */
static int
make_socket(int family, int type, uid_t uid)
{
	int fd;

	(void)setfsuid(uid);
	fd = socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	(void)setfsuid(geteuid());
	return handover_move(fd);
}

static int
open_listener(const struct endpoint *endpoint, int type, uid_t uid)
{
	union address address;
	socklen_t len = address_of(endpoint, &address);
	int fd = make_socket(address.any.sa_family, type, uid);

	if (fd >= 0 && prepare(fd, endpoint->addr.family, type) &&
	    bind(fd, &address.any, len) == 0 &&
	    (type != SOCK_STREAM || listen(fd, TCP_BACKLOG) == 0))
		return fd;
	report_bind(endpoint, type, errno);
	if (fd >= 0)
		close(fd);
	return -1;
}

static int
hand_listeners(struct handover *handover, const struct settings *settings,
    int type, uid_t uid)
{
	const char *option =
	    type == SOCK_STREAM ? "--listen-tcp-fd" : "--listen-fd";

	for (size_t i = 0; i < settings->listen_count; i++) {
		int fd = open_listener(&settings->listen[i], type, uid);

		if (fd < 0 || handover_keep(handover, fd) != 0 ||
		    handover_arg(handover, "%s", option) != 0 ||
		    handover_arg(handover, "%d", fd) != 0)
			return EXIT_ENVIRONMENT;
	}
	return 0;
}

int
handover_listeners(struct handover *handover, const struct settings *settings,
    const struct account *account)
{
	int status =
	    hand_listeners(handover, settings, SOCK_DGRAM, account->uid);

	if (status != 0)
		return status;
	return hand_listeners(handover, settings, SOCK_STREAM, account->uid);
}

int
handover_try_listeners(const struct settings *settings)
{
	static const int types[] = { SOCK_DGRAM, SOCK_STREAM };

	for (size_t i = 0; i < settings->listen_count * 2u; i++) {
		int fd = open_listener(&settings->listen[i / 2], types[i % 2],
		    geteuid());

		if (fd < 0)
			return EXIT_ENVIRONMENT;
		close(fd);
	}
	return 0;
}

static void
give_to_group(const char *path, const char *group)
{
	const struct group *entry = getgrnam(group);

	if (entry == NULL)
		log_warn("group %s: does not exist: only root can ask for the "
			 "status: make it (addgroup --system %s), or name "
			 "another with \"status_group:\"",
		    group, group);
	else if (lchown(path, (uid_t)-1, entry->gr_gid) != 0)
		log_warn("%s: could not be given to group %s: %s", path, group,
		    strerror(errno));
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
bind_status(int fd, const struct sockaddr_un *address)
{
	mode_t mask = umask(0777 & ~STATUS_MODE);
	bool bound =
	    bind(fd, (const struct sockaddr *)address, sizeof(*address)) == 0;

	(void)umask(mask);
	return bound;
}

int
handover_status(struct handover *handover, const struct settings *settings)
{
	const char *path = settings->status_path;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = handover_move(
	    socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));

	if (strlen(path) >= sizeof(address.sun_path)) {
		log_error("%s: too long for a socket's name", path);
		if (fd >= 0)
			close(fd);
		return EXIT_ENVIRONMENT;
	}
	memcpy(address.sun_path, path, strlen(path));
	make_parent(path);
	if (unlink(path) != 0 && errno != ENOENT)
		log_warn("%s: %s", path, strerror(errno));
	if (fd < 0 || !bind_status(fd, &address) ||
	    listen(fd, STATUS_BACKLOG) != 0) {
		log_error("%s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return EXIT_ENVIRONMENT;
	}
	give_to_group(path, settings->status_group);
	if (handover_keep(handover, fd) != 0 ||
	    handover_arg(handover, "--status-fd") != 0)
		return EXIT_ENVIRONMENT;
	return handover_arg(handover, "%d", fd);
}
