/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stream - see stream.h. The life of a connection, what comes in by it, what
 * goes out, and how long that may take.
 */
#include "config.h"

#include "src/resolver/stream.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/reply.h"
#include "lib/require.h"
#include "src/resolver/daemon.h"

#define PATIENCE_MS     10000 /* for a question, and for taking a reply */
#define IN_FLIGHT_MAX   64 /* questions of one connection */
#define REPLY_FRAME_MAX (FRAME_HEAD + REPLY_SIZE_MAX)

static void on_ready(uv_poll_t *, int status, int events);

/* ---- connections ----------------------------------------------------- */

static uint32_t
slot_of(const struct stream *s)
{
	return (uint32_t)(s - s->streams->stream);
}

static void
on_closed(uv_handle_t *handle)
{
	struct stream *s = handle->data;
	struct streams *t = s->streams;

	(void)close(s->fd);
	pool_give(&t->pool, s->id);
	streams_resume(t);
}

/* Its slot stays taken until the loop has let go of it; nobody finds it. */
void
stream_close(struct stream *s)
{
	struct streams *t = s->streams;

	if (s->closing)
		return;
	s->closing = true;
	deadlines_cancel(&t->deadlines, slot_of(s));
	t->sandbox[slot_of(s)] = STREAM_NOBODY;
	uv_close((uv_handle_t *)&s->poll, on_closed);
}

/* What the kernel still has for this one is not kept either. */
void
stream_set_reset(int fd)
{
	const struct linger at_once = { .l_onoff = 1, .l_linger = 0 };

	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

static void
stream_reset(struct stream *s)
{
	stream_set_reset(s->fd);
	stream_close(s);
}

/* A whole question came, or all that was owed was taken. */
static void
be_patient(struct stream *s)
{
	deadlines_set(&s->streams->deadlines, slot_of(s),
	    s->streams->daemon->now_ms + PATIENCE_MS);
}

/* One more question, whose reply may come at once, has room. */
static bool
may_take(const struct stream *s)
{
	return s->in_flight < IN_FLIGHT_MAX &&
	    s->out_len + REPLY_FRAME_MAX <= STREAM_OUT_MAX;
}

/* Nothing is read from whoever does not take what he is owed, or has as many
 * questions open as he may. */
static void
watch(struct stream *s)
{
	int events = 0;

	if (s->out_len > 0 || (s->held && may_take(s)))
		events = UV_WRITABLE;
	else if (!s->ended && may_take(s))
		events = UV_READABLE;
	if (events == s->events)
		return;
	s->events = events;
	if (events == 0)
		(void)uv_poll_stop(&s->poll);
	else
		(void)uv_poll_start(&s->poll, events, on_ready);
}

/* ---- questions in ---------------------------------------------------- */

/* Hands on whole questions as long as there is room for their replies. */
static void
take_frames(struct stream *s)
{
	struct streams *t = s->streams;
	const uint8_t *wire = NULL;
	size_t len = 0;

	while (!s->closing) {
		s->held = !may_take(s);
		if (s->held)
			return;
		switch (frames_next(&s->in, &wire, &len)) {
		case FRAME_NONE:
			return;
		case FRAME_GARBAGE:
			stream_reset(s);
			return;
		case FRAME_QUERY:
			be_patient(s);
			s->in_flight++;
			daemon_query(t->daemon, &s->client, wire, len);
			break;
		}
	}
}

/* False: the connection is broken. */
static bool
receive(struct stream *s)
{
	size_t size;
	uint8_t *room = frames_room(&s->in, &size);
	ssize_t n = recv(s->fd, room, size, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		s->ended = true;
	frames_add(&s->in, (size_t)n);
	return true;
}

/* ---- replies out ----------------------------------------------------- */

/* False: the connection is broken. */
static bool
transmit(struct stream *s)
{
	ssize_t n;

	if (s->out_len == 0)
		return true;
	n = send(s->fd, s->out, s->out_len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	s->out_len -= (size_t)n;
	memmove(s->out, s->out + n, s->out_len);
	if (s->out_len == 0)
		be_patient(s);
	return true;
}

static void
add_unsent(struct stream *s)
{
	struct streams *t = s->streams;

	if (s->is_unsent)
		return;
	s->is_unsent = true;
	s->next_unsent = t->unsent;
	t->unsent = slot_of(s);
}

/* Who lets more replies come than we and the kernel have room for is not
 * reading. */
static bool
make_room(struct stream *s, size_t len)
{
	if (s->out_len + len <= STREAM_OUT_MAX)
		return true;
	return transmit(s) && s->out_len + len <= STREAM_OUT_MAX;
}

void
streams_reply(struct streams *t, uint64_t id, const uint8_t *message,
    size_t len)
{
	uint32_t slot = pool_at(&t->pool, id);
	struct stream *s;

	REQUIRE(len <= REPLY_SIZE_MAX);
	if (slot == POOL_NONE || t->stream[slot].closing)
		return;
	s = &t->stream[slot];
	REQUIRE(s->in_flight > 0);
	s->in_flight--;
	if (!make_room(s, FRAME_HEAD + len)) {
		stream_reset(s);
		return;
	}
	s->out[s->out_len++] = (uint8_t)(len >> 8);
	s->out[s->out_len++] = (uint8_t)len;
	memcpy(s->out + s->out_len, message, len);
	s->out_len += len;
	add_unsent(s);
}

static void
settle(struct stream *s)
{
	bool owed = s->in_flight > 0 || s->out_len > 0 || s->held;

	if (s->closing)
		return;
	if (s->ended && !owed)
		stream_close(s);
	else
		watch(s);
}

void
streams_flush(struct streams *t)
{
	while (t->unsent != POOL_NONE) {
		struct stream *s = &t->stream[t->unsent];

		t->unsent = s->next_unsent;
		s->is_unsent = false;
		if (s->closing)
			continue;
		if (!transmit(s))
			stream_reset(s);
		settle(s);
	}
}

static void
on_ready(uv_poll_t *poll, int status, int events)
{
	struct stream *s = poll->data;
	struct daemon *daemon = s->streams->daemon;
	bool alive = status == 0;

	daemon_wake(daemon);
	if (alive && (events & UV_WRITABLE) != 0)
		alive = transmit(s);
	if (alive && (events & UV_READABLE) != 0)
		alive = receive(s);
	if (!alive)
		stream_reset(s);
	else if (s->out_len == 0)
		take_frames(s);
	if (!s->is_unsent)
		settle(s);
	daemon_rest(daemon);
}

/* ---- begin and end --------------------------------------------------- */

int
stream_begin(struct streams *t, int fd, const struct client *client)
{
	const int on = 1;
	uint64_t id = pool_take(&t->pool);
	struct stream *s = &t->stream[pool_at(&t->pool, id)];
	int r = uv_poll_init(&t->daemon->loop, &s->poll, fd);

	if (r != 0) {
		pool_give(&t->pool, id);
		return r;
	}
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	s->streams = t;
	s->poll.data = s;
	s->fd = fd;
	s->events = 0;
	s->id = id;
	s->client = *client;
	s->client.stream = id;
	s->closing = s->ended = s->held = s->is_unsent = false;
	s->in_flight = 0;
	s->out_len = 0;
	frames_init(&s->in);
	t->sandbox[slot_of(s)] = client->sandbox;
	t->accepted++;
	be_patient(s);
	watch(s);
	return 0;
}

void
streams_cut(struct streams *t, uint32_t sandbox)
{
	for (uint32_t i = 0; i < t->max; i++)
		if (t->sandbox[i] == sandbox)
			stream_reset(&t->stream[i]);
}

void
streams_belong(struct streams *t, uint64_t id, uint32_t sandbox)
{
	uint32_t slot = pool_at(&t->pool, id);

	if (slot == POOL_NONE || t->stream[slot].closing)
		return;
	t->sandbox[slot] = sandbox;
}

uint64_t
streams_deadline(const struct streams *t)
{
	uint64_t at_ms = deadlines_next(&t->deadlines);

	if (t->paused_until_ms != 0 && t->paused_until_ms < at_ms)
		return t->paused_until_ms;
	return at_ms;
}

/* Replies that we or the kernel still have for him. */
static bool
is_behind(const struct stream *s)
{
	int left = 0;

	return s->out_len > 0 || ioctl(s->fd, SIOCOUTQ, &left) != 0 || left > 0;
}

/* Who has taken everything was only idle. */
void
streams_expire(struct streams *t, uint64_t now_ms)
{
	uint32_t slot;

	if (t->paused_until_ms <= now_ms)
		streams_resume(t);
	while (deadlines_pop_due(&t->deadlines, now_ms, &slot)) {
		struct stream *s = &t->stream[slot];

		if (is_behind(s))
			stream_reset(s);
		else
			stream_close(s);
	}
}
