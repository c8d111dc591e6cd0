/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upstream_udp - connected sockets for each server, on random ports.
 *
 * Who wants to forge a response has to guess port and id. A socket is
 * replaced after a bounded number of asks, and at once when it has seen more
 * than a few datagrams that answer nothing: somebody may have found the port.
 * A fresh socket for each ask would cost five times as much.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/resolver/daemon.h"
#include "src/resolver/endpoint.h"
#include "src/resolver/log.h"
#include "src/resolver/upstream.h"

#define ASKS_MAX      128 /* then a new port */
#define FOREIGN_MAX   16
#define PORT_FIRST    1024
#define PORT_TRIES    16
#define DATAGRAM_MAX  4096 /* we announce less */
#define RECEIVES_MAX  64 /* at a wake-up, so that others have their turn */
#define RECEIVE_QUEUE (256 * 1024)

struct udp_socket {
	uv_poll_t poll;
	struct upstream *upstream;
	int fd;
	uint32_t asks, in_flight, foreign;
	bool retired; /* closes when nothing is in flight any more */
	bool closing;
};

static void
on_closed(uv_handle_t *handle)
{
	struct udp_socket *s = handle->data;

	(void)close(s->fd);
	free(s);
}

static void
close_socket(struct udp_socket *s)
{
	if (s->closing)
		return;
	s->closing = true;
	uv_close((uv_handle_t *)&s->poll, on_closed);
}

static void
retire(struct udp_socket *s)
{
	s->retired = true;
	if (s->in_flight == 0)
		close_socket(s);
}

/* A random port of our own choice; the kernel's when that does not work. */
static int
bind_random(int fd, const struct addr *to, struct rng *rng)
{
	struct addr any = { .family = to->family };
	union socket_addr local;
	socklen_t len;

	for (int i = 0; i < PORT_TRIES; i++) {
		uint32_t port = PORT_FIRST + rng_below(rng, 65536 - PORT_FIRST);

		len = endpoint_to_socket(&any, (uint16_t)port, 0, &local);
		if (bind(fd, &local.any, len) == 0)
			return 0;
		if (errno != EADDRINUSE && errno != EACCES)
			return -errno;
	}
	len = endpoint_to_socket(&any, 0, 0, &local);
	return bind(fd, &local.any, len) == 0 ? 0 : -errno;
}

static int
connect_socket(int fd, const struct endpoint *endpoint, struct rng *rng)
{
	union socket_addr to;
	socklen_t len =
	    endpoint_to_socket(&endpoint->addr, endpoint->port, 0, &to);
	int size = RECEIVE_QUEUE;
	int r = bind_random(fd, &endpoint->addr, rng);

	if (r != 0)
		return r;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	return connect(fd, &to.any, len) == 0 ? 0 : -errno;
}

static void
receive(struct udp_socket *s)
{
	struct upstream *u = s->upstream;

	for (int i = 0; i < RECEIVES_MAX && !s->closing; i++) {
		ssize_t n = recv(s->fd, u->receive_buf, DATAGRAM_MAX,
		    MSG_DONTWAIT | MSG_TRUNC);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n < 0) {
			/* An ICMP error: nobody listens there. */
			upstream_carrier_lost(u, s, false);
			return;
		}
		if (n > DATAGRAM_MAX ||
		    !upstream_received(u, s, u->receive_buf, (size_t)n))
			s->foreign++;
	}
}

static void
on_readable(uv_poll_t *poll, int status, int events)
{
	struct udp_socket *s = poll->data;
	struct daemon *daemon = s->upstream->daemon;

	(void)status;
	(void)events;
	daemon_wake(daemon);
	receive(s);
	daemon_rest(daemon);
}

static int
open_socket(struct upstream *u, const struct endpoint *endpoint,
    struct udp_socket **ret)
{
	struct udp_socket *s = calloc(1, sizeof(*s));
	int family = endpoint->addr.family == 4 ? AF_INET : AF_INET6;
	int r;

	if (s == NULL)
		return -ENOMEM;
	s->upstream = u;
	s->fd = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	r = s->fd < 0 ? -errno : connect_socket(s->fd, endpoint, u->rng);
	if (r == 0)
		r = uv_poll_init(u->loop, &s->poll, s->fd);
	if (r != 0) {
		if (s->fd >= 0)
			(void)close(s->fd);
		free(s);
		return r;
	}
	s->poll.data = s;
	uv_poll_start(&s->poll, UV_READABLE, on_readable);
	*ret = s;
	return 0;
}

static bool
is_worn(const struct udp_socket *s)
{
	return s->asks >= ASKS_MAX || s->foreign > FOREIGN_MAX;
}

static int
udp_ask(struct upstream *u, struct upstream_server *server, struct flight *f)
{
	uint8_t message[ASK_SIZE_MAX];
	size_t len = ask_print(&f->ask, message, sizeof(message));
	struct udp_socket **place =
	    &server->sockets[rng_below(u->rng, UPSTREAM_SOCKETS)];

	if (*place != NULL && is_worn(*place)) {
		retire(*place);
		*place = NULL;
	}
	if (*place == NULL) {
		int r = open_socket(u, &server->endpoint, place);

		if (r != 0)
			return r;
	}
	(*place)->asks++;
	if (send((*place)->fd, message, len, MSG_DONTWAIT) < 0)
		return -errno;
	(*place)->in_flight++;
	f->carrier = *place;
	return 0;
}

static void
udp_cancel(struct flight *f)
{
	struct udp_socket *s = f->carrier;

	s->in_flight--;
	if (s->retired && s->in_flight == 0)
		close_socket(s);
}

static void
udp_close(struct upstream_server *server)
{
	for (unsigned i = 0; i < UPSTREAM_SOCKETS; i++) {
		if (server->sockets[i] != NULL)
			close_socket(server->sockets[i]);
		server->sockets[i] = NULL;
	}
}

const struct upstream_ops upstream_udp_ops = {
	.ask = udp_ask,
	.cancel = udp_cancel,
	.close = udp_close,
};
