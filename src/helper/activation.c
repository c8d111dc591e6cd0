/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * activation - see activation.h and sd_listen_fds(3), whose environment this
 * is.
 */
#include "config.h"

#include "src/helper/activation.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/helper/handover.h"
#include "src/helper/log.h"

#define FIRST_FD 3

/* A variable that is a number and nothing else; 0: it is not. */
static unsigned long
read_number(const char *variable)
{
	const char *text = getenv(variable);
	unsigned long number;
	char *end;

	if (text == NULL || text[0] < '0' || text[0] > '9')
		return 0;
	number = strtoul(text, &end, 10);
	return *end == '\0' ? number : 0;
}

/* Where a socket is bound; false: to no address that could be ours. */
static bool
read_endpoint(int fd, struct endpoint *ret)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
		struct sockaddr_storage space;
	} bound;
	socklen_t len = sizeof(bound);

	memset(&bound, 0, sizeof(bound));
	if (getsockname(fd, &bound.any, &len) != 0)
		return false;
	if (bound.any.sa_family == AF_INET) {
		ret->addr = addr_v4((const uint8_t *)&bound.v4.sin_addr.s_addr);
		ret->port = ntohs(bound.v4.sin_port);
		return true;
	}
	if (bound.any.sa_family == AF_INET6) {
		ret->addr = addr_v6(bound.v6.sin6_addr.s6_addr);
		ret->port = ntohs(bound.v6.sin6_port);
		return true;
	}
	return false;
}

/* The name with this number in LISTEN_FDNAMES, which colons separate. */
static void
read_name(char *ret, size_t size, size_t index)
{
	const char *names = getenv("LISTEN_FDNAMES");

	for (; names != NULL && index > 0; index--) {
		names = strchr(names, ':');
		if (names != NULL)
			names++;
	}
	if (names == NULL)
		names = "unknown";
	snprintf(ret, size, "%.*s", (int)strcspn(names, ":"), names);
}

static void
add(struct activation *activation, int fd, size_t index)
{
	struct activated *socket = &activation->sockets[activation->count];
	socklen_t len = sizeof(socket->type);
	int moved;

	read_name(socket->name, sizeof(socket->name), index);
	moved = handover_move(fd);
	if (moved < 0)
		return;
	if (getsockopt(moved, SOL_SOCKET, SO_TYPE, &socket->type, &len) != 0 ||
	    !read_endpoint(moved, &socket->endpoint)) {
		log_warn("socket %s from the service manager: is not one of "
			 "the network; closed",
		    socket->name);
		close(moved);
		return;
	}
	socket->fd = moved;
	activation->count++;
}

void
activation_read(struct activation *ret)
{
	unsigned long count = read_number("LISTEN_FDS");

	memset(ret, 0, sizeof(*ret));
	if (read_number("LISTEN_PID") != (unsigned long)getpid())
		count = 0;
	if (count > ACTIVATION_MAX) {
		log_warn("%lu sockets from the service manager: only %d are "
			 "looked at",
		    count, ACTIVATION_MAX);
		count = ACTIVATION_MAX;
	}
	for (size_t i = 0; i < count; i++)
		add(ret, FIRST_FD + (int)i, i);
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDNAMES");
}

static bool
is_it(const struct activated *socket, const struct endpoint *endpoint, int type)
{
	return socket->fd >= 0 && socket->type == type &&
	    socket->endpoint.port == endpoint->port &&
	    addr_equal(&socket->endpoint.addr, &endpoint->addr);
}

bool
activation_has(const struct activation *activation,
    const struct endpoint *endpoint, int type)
{
	for (size_t i = 0; i < activation->count; i++)
		if (is_it(&activation->sockets[i], endpoint, type))
			return true;
	return false;
}

int
activation_take(struct activation *activation, const struct endpoint *endpoint,
    int type)
{
	for (size_t i = 0; i < activation->count; i++) {
		struct activated *socket = &activation->sockets[i];
		int fd = socket->fd;

		if (!is_it(socket, endpoint, type))
			continue;
		socket->fd = -1;
		return fd;
	}
	return -1;
}

void
activation_close(struct activation *activation)
{
	for (size_t i = 0; i < activation->count; i++) {
		struct activated *socket = &activation->sockets[i];
		char text[ADDR_TEXT_MAX];

		if (socket->fd < 0)
			continue;
		addr_print(&socket->endpoint.addr, text);
		log_warn("socket %s from the service manager: %s port %u is "
			 "not in \"listen\"; closed",
		    socket->name, text, socket->endpoint.port);
		close(socket->fd);
	}
	activation->count = 0;
}
