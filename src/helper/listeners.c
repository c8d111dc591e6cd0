/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listeners - the sockets of handover.h: DNS over UDP and TCP.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/helper/handover.h"
#include "src/helper/log.h"
#include "src/helper/occupant.h"

#define EXIT_ENVIRONMENT 3
#define TCP_BACKLOG      512

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

/* One that a service manager has bound. It was made by root: given to the
 * resolver's user, which netfilter takes note of, it is as one of ours. */
static int
take_activated(struct activation *activation, const struct endpoint *endpoint,
    int type, uid_t uid)
{
	int fd = activation != NULL
	    ? activation_take(activation, endpoint, type)
	    : -1;
	bool v4 = endpoint->addr.family == 4;

	if (fd < 0)
		return -1;
	if (fchown(fd, uid, (gid_t)-1) == 0 &&
	    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0 &&
	    turn_on(fd, v4 ? IPPROTO_IP : IPPROTO_IPV6,
		v4 ? IP_PKTINFO : IPV6_RECVPKTINFO))
		return fd;
	log_warn("listen: the service manager's socket cannot be used: %s",
	    strerror(errno));
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
		const struct endpoint *endpoint = &settings->listen[i];
		int fd =
		    take_activated(handover->activation, endpoint, type, uid);

		if (fd < 0)
			fd = open_listener(endpoint, type, uid);
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
handover_try_listeners(const struct settings *settings,
    const struct activation *activation)
{
	static const int types[] = { SOCK_DGRAM, SOCK_STREAM };

	for (size_t i = 0; i < settings->listen_count * 2u; i++) {
		const struct endpoint *endpoint = &settings->listen[i / 2];
		int fd;

		if (activation_has(activation, endpoint, types[i % 2]))
			continue;
		fd = open_listener(endpoint, types[i % 2], geteuid());
		if (fd < 0)
			return EXIT_ENVIRONMENT;
		close(fd);
	}
	return 0;
}
