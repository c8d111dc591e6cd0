/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upstream_tcp - one stream for each server, asks pipelined on it (RFC 7766).
 *
 * Opened when an answer did not fit a datagram, closed when it was idle for a
 * while. Asks are only put into the link's buffer by those who ask; all
 * reading and writing is done when the loop says that the socket is ready, so
 * a link never fails in the middle of somebody else's work.
 */
#include "config.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/resolver/daemon.h"
#include "src/resolver/endpoint.h"
#include "src/resolver/log.h"
#include "src/resolver/upstream.h"

#define IDLE_MS    10000
#define OUT_MAX    (32 * 1024)
#define FRAME_MAX  (2 + 65535)
#define FRAME_HEAD 2

struct tcp_link {
	uv_poll_t poll;
	struct upstream *upstream;
	struct upstream_server *server;
	struct tcp_link *next; /* of upstream->links */
	int fd;
	bool connected, closing;
	bool proven; /* it has brought an answer */
	uint32_t in_flight;
	uint64_t idle_ms; /* since when nothing is in flight */
	size_t in_len, out_len;
	uint8_t in[FRAME_MAX];
	uint8_t out[OUT_MAX];
};

static void on_ready(uv_poll_t *, int status, int events);

static void
on_closed(uv_handle_t *handle)
{
	struct tcp_link *link = handle->data;

	(void)close(link->fd);
	free(link);
}

/* Takes the link out of sight; its memory lives until the loop is done. */
static void
close_link(struct tcp_link *link)
{
	struct tcp_link **at = &link->upstream->links;

	if (link->closing)
		return;
	link->closing = true;
	while (*at != link)
		at = &(*at)->next;
	*at = link->next;
	link->server->link = NULL;
	uv_close((uv_handle_t *)&link->poll, on_closed);
}

/* The asks of a link that worked before may have met its end by chance. */
static void
fail_link(struct tcp_link *link)
{
	close_link(link);
	upstream_carrier_lost(link->upstream, link, link->proven);
	daemon_pump(link->upstream->daemon);
}

static void
watch(struct tcp_link *link)
{
	int events = UV_READABLE;

	if (!link->connected || link->out_len > 0)
		events |= UV_WRITABLE;
	uv_poll_start(&link->poll, events, on_ready);
}

static int
open_link(struct upstream *u, struct upstream_server *server)
{
	struct tcp_link *link = calloc(1, sizeof(*link));
	int family = server->endpoint.addr.family == 4 ? AF_INET : AF_INET6;
	union socket_addr to;
	socklen_t len = endpoint_to_socket(&server->endpoint.addr,
	    server->endpoint.port, 0, &to);
	int on = 1;
	int r = 0;

	if (link == NULL)
		return -ENOMEM;
	link->fd =
	    socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (link->fd < 0 ||
	    (connect(link->fd, &to.any, len) != 0 && errno != EINPROGRESS))
		r = -errno;
	if (r == 0)
		r = uv_poll_init(u->loop, &link->poll, link->fd);
	if (r != 0) {
		if (link->fd >= 0)
			(void)close(link->fd);
		free(link);
		return r;
	}
	(void)setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	link->poll.data = link;
	link->upstream = u;
	link->server = server;
	link->next = u->links;
	u->links = link;
	server->link = link;
	return 0;
}

static int
tcp_ask(struct upstream *u, struct upstream_server *server, struct flight *f)
{
	uint8_t message[ASK_SIZE_MAX];
	size_t len = ask_print(&f->ask, message, sizeof(message));
	struct tcp_link *link;

	if (server->link == NULL) {
		int r = open_link(u, server);

		if (r != 0)
			return r;
	}
	link = server->link;
	if (link->out_len + FRAME_HEAD + len > OUT_MAX)
		return -EAGAIN;
	link->out[link->out_len++] = (uint8_t)(len >> 8);
	link->out[link->out_len++] = (uint8_t)len;
	memcpy(link->out + link->out_len, message, len);
	link->out_len += len;
	link->in_flight++;
	f->carrier = link;
	watch(link);
	return 0;
}

static void
tcp_cancel(struct flight *f)
{
	struct tcp_link *link = f->carrier;

	link->in_flight--;
	if (link->in_flight == 0)
		link->idle_ms = upstream_now_ms(link->upstream);
}

/* Hands on all whole frames, keeps the rest. */
static void
take_frames(struct tcp_link *link)
{
	size_t at = 0;

	while (link->in_len - at >= FRAME_HEAD) {
		const uint8_t *frame = link->in + at;
		size_t len = (size_t)(frame[0] << 8 | frame[1]);

		if (link->in_len - at < FRAME_HEAD + len)
			break;
		at += FRAME_HEAD + len;
		if (upstream_received(link->upstream, link, frame + FRAME_HEAD,
			len))
			link->proven = true;
	}
	memmove(link->in, link->in + at, link->in_len - at);
	link->in_len -= at;
}

/* False: the link is over. */
static bool
receive(struct tcp_link *link)
{
	ssize_t n = recv(link->fd, link->in + link->in_len,
	    sizeof(link->in) - link->in_len, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		return false;
	link->in_len += (size_t)n;
	take_frames(link);
	return true;
}

static bool
transmit(struct tcp_link *link)
{
	ssize_t n;

	link->connected = true;
	if (link->out_len == 0)
		return true;
	n = send(link->fd, link->out, link->out_len,
	    MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	link->out_len -= (size_t)n;
	memmove(link->out, link->out + n, link->out_len);
	return true;
}

static void
on_ready(uv_poll_t *poll, int status, int events)
{
	struct tcp_link *link = poll->data;
	struct daemon *daemon = link->upstream->daemon;
	bool alive = status == 0;

	daemon_wake(daemon);
	if (alive && (events & UV_WRITABLE) != 0)
		alive = transmit(link);
	if (alive && (events & UV_READABLE) != 0)
		alive = receive(link);
	if (!alive)
		fail_link(link);
	else if (!link->closing)
		watch(link);
	daemon_rest(daemon);
}

uint64_t
upstream_tcp_deadline(const struct upstream *u)
{
	uint64_t first = DEADLINE_NEVER;

	for (const struct tcp_link *l = u->links; l != NULL; l = l->next) {
		if (l->in_flight == 0 && l->idle_ms + IDLE_MS < first)
			first = l->idle_ms + IDLE_MS;
	}
	return first;
}

void
upstream_tcp_expire(struct upstream *u, uint64_t now_ms)
{
	struct tcp_link *next;

	for (struct tcp_link *l = u->links; l != NULL; l = next) {
		next = l->next;
		if (l->in_flight == 0 && l->idle_ms + IDLE_MS <= now_ms)
			close_link(l);
	}
}

/* A link that lets an ask wait in silence may be dead: the others on it are
 * asked anew. */
void
upstream_tcp_silent(struct upstream_server *server)
{
	struct tcp_link *link = server->link;

	if (link == NULL)
		return;
	close_link(link);
	upstream_carrier_lost(link->upstream, link, true);
}

static void
tcp_close(struct upstream_server *server)
{
	if (server->link != NULL)
		close_link(server->link);
}

const struct upstream_ops upstream_tcp_ops = {
	.ask = tcp_ask,
	.cancel = tcp_cancel,
	.close = tcp_close,
};
