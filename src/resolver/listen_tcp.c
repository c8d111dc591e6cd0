/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listen_tcp - see listen_tcp.h. Who may have a connection, and the memory
 * for all of them; what becomes of one is in stream.c.
 */
#include "config.h"

#include "src/resolver/listen_tcp.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/resolver/daemon.h"
#include "src/resolver/endpoint.h"
#include "src/resolver/log.h"
#include "src/resolver/stream.h"

#define PAUSE_MS         1000 /* when no descriptor is left */
#define ACCEPTS_MAX      16 /* of one wake-up */
#define KERNEL_SEND_SIZE (64 * 1024)
#define KERNEL_RECV_SIZE (16 * 1024)

static void on_connection(uv_poll_t *, int status, int events);

/* ---- who may have one ------------------------------------------------ */

/*
 * The interface by which the connection was opened: the kernel notes that of
 * the handshake where packet information is switched on. 0: unknown.
 */
static uint32_t
arrival_of(int fd, uint8_t family)
{
	_Alignas(struct cmsghdr) uint8_t octets[256];
	socklen_t len = sizeof(octets);
	struct msghdr msg = { .msg_control = octets };
	struct in_pktinfo v4;
	struct in6_pktinfo v6;
	int r;

	if (family == 4)
		r = getsockopt(fd, IPPROTO_IP, IP_PKTOPTIONS, octets, &len);
	else
		r = getsockopt(fd, IPPROTO_IPV6, IPV6_2292PKTOPTIONS, octets,
		    &len);
	if (r != 0)
		return 0;
	msg.msg_controllen = len;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c != NULL;
	     c = CMSG_NXTHDR(&msg, c)) {
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
			memcpy(&v4, CMSG_DATA(c), sizeof(v4));
			return (uint32_t)v4.ipi_ifindex;
		}
		if (c->cmsg_level == IPPROTO_IPV6 &&
		    c->cmsg_type == IPV6_PKTINFO) {
			memcpy(&v6, CMSG_DATA(c), sizeof(v6));
			return v6.ipi6_ifindex;
		}
	}
	return 0;
}

static uint32_t
count_of(const struct streams *t, uint32_t sandbox)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < t->max; i++)
		count += t->sandbox[i] == sandbox ? 1 : 0;
	return count;
}

/* Sources of no sandbox share one sandbox's part. */
static bool
is_admitted(struct streams *t, struct client *client)
{
	struct binding *binding;

	if (client->addr.family == 0 || !daemon_admit(t->daemon, client))
		return false;
	if (pool_in_use(&t->pool) < t->max &&
	    count_of(t, client->sandbox) < t->per_sandbox_max)
		return true;
	t->refused++;
	binding = &t->daemon->bindings[client->sandbox];
	binding->tcp_refused++;
	return false;
}

static void
add_stream(struct stream_listener *l, int fd, const union socket_addr *from)
{
	struct streams *t = l->streams;
	const struct settings *settings = &t->daemon->config->edge->settings;
	struct client client = { .listener = l->index,
		.local = settings->listen[l->index].addr,
		.stream = 1 /* any, until it has one */ };

	endpoint_of_socket(from, &client.addr, &client.port);
	client.ifindex = arrival_of(fd, client.addr.family);
	if (is_admitted(t, &client) && stream_begin(t, fd, &client) == 0)
		return;
	stream_set_reset(fd);
	(void)close(fd);
}

void
streams_resume(struct streams *t)
{
	if (t->paused_until_ms == 0)
		return;
	t->paused_until_ms = 0;
	if (t->listening)
		streams_listen(t, true);
}

void
streams_listen(struct streams *t, bool listening)
{
	t->listening = listening;
	for (size_t i = 0; i < t->listener_count; i++) {
		if (!t->listeners[i].open)
			continue;
		if (listening)
			(void)uv_poll_start(&t->listeners[i].poll, UV_READABLE,
			    on_connection);
		else
			(void)uv_poll_stop(&t->listeners[i].poll);
	}
}

/* Whoever waits would wake us again at once: look away until a connection
 * closes, or for a moment. */
static void
pause_accept(struct streams *t)
{
	log_warn("listen", "cannot accept: %s", strerror(errno));
	t->paused_until_ms = t->daemon->now_ms + PAUSE_MS;
	for (size_t i = 0; i < t->listener_count; i++)
		(void)uv_poll_stop(&t->listeners[i].poll);
}

static void
on_connection(uv_poll_t *poll, int status, int events)
{
	struct stream_listener *l = poll->data;

	(void)status;
	(void)events;
	daemon_wake(l->streams->daemon);
	for (unsigned i = 0; i < ACCEPTS_MAX; i++) {
		union socket_addr from;
		socklen_t len = sizeof(from);
		int fd = accept4(l->fd, &from.any, &len,
		    SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			add_stream(l, fd, &from);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM ||
		    errno == ENOBUFS)
			pause_accept(l->streams);
		break;
	}
	daemon_rest(l->streams->daemon);
}

/* ---- start and end ------------------------------------------------ */

static int
open_listener(struct streams *t, int fd, uint32_t index)
{
	struct stream_listener *l = &t->listeners[index];
	const int send_size = KERNEL_SEND_SIZE, recv_size = KERNEL_RECV_SIZE;
	int listening = 0;
	socklen_t len = sizeof(listening);
	int r;

	l->streams = t;
	l->fd = fd;
	l->index = index;
	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len) != 0 ||
	    !listening) {
		log_error("listen", "descriptor %d is no listening TCP socket",
		    fd);
		return -EINVAL;
	}
	/* Connections inherit these: what the kernel keeps of one is bounded
	 * like what we keep. */
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_size,
	    sizeof(send_size));
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &recv_size,
	    sizeof(recv_size));
	r = uv_poll_init(&t->daemon->loop, &l->poll, fd);
	if (r != 0)
		return r;
	l->poll.data = l;
	l->open = true;
	return 0;
}

/* Half of the descriptors is for everything else. */
static void
fit_descriptors(struct streams *t)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0 ||
	    files.rlim_cur / 2 >= t->max)
		return;
	t->max = (uint32_t)(files.rlim_cur / 2);
	log_warn("listen",
	    "limits.tcp_connections is cut to %u, half of the descriptors "
	    "that this process may have",
	    (unsigned)t->max);
}

static void
carve(struct streams *t, struct arena *arena)
{
	pool_init(&t->pool, arena, t->max);
	deadlines_init(&t->deadlines, arena, t->max);
	t->sandbox = arena_take(arena, t->max, sizeof(*t->sandbox));
}

/* The connections are apart from the block: the arena clears what it gives,
 * and most of them are never touched. */
static int
get_memory(struct streams *t)
{
	struct arena arena;

	arena_init(&arena, NULL, 0);
	carve(t, &arena);
	t->block = calloc(1, arena.used);
	t->stream = calloc(t->max, sizeof(*t->stream));
	if (t->block == NULL || t->stream == NULL)
		return -ENOMEM;
	arena_init(&arena, t->block, arena.used);
	carve(t, &arena);
	for (uint32_t i = 0; i < t->max; i++)
		t->sandbox[i] = STREAM_NOBODY;
	return 0;
}

int
streams_open(struct streams *t, struct daemon *daemon, const int *fds,
    size_t count)
{
	const struct settings *settings = &daemon->config->edge->settings;
	int r;

	memset(t, 0, sizeof(*t));
	t->daemon = daemon;
	t->unsent = POOL_NONE;
	t->max = settings->limits.tcp_connections;
	t->per_sandbox_max = settings->limits.tcp_connections_per_sandbox;
	fit_descriptors(t);
	r = get_memory(t);
	for (size_t i = 0; r == 0 && i < count; i++) {
		t->listener_count = i + 1;
		r = open_listener(t, fds[i], (uint32_t)i);
	}
	return r;
}

void
streams_close(struct streams *t)
{
	for (uint32_t i = 0; t->stream != NULL && i < t->max; i++)
		if (t->sandbox[i] != STREAM_NOBODY)
			stream_close(&t->stream[i]);
	for (size_t i = 0; i < t->listener_count; i++) {
		if (!t->listeners[i].open)
			continue;
		t->listeners[i].open = false;
		uv_close((uv_handle_t *)&t->listeners[i].poll, NULL);
	}
}

void
streams_free(struct streams *t)
{
	free(t->block);
	free(t->stream);
	t->block = NULL;
	t->stream = NULL;
}
