/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control - see control.h. This file has the connections; what they are told
 * is in control_command.c.
 */
#include "config.h"

#include "src/resolver/control.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/require.h"
#include "src/resolver/daemon.h"
#include "src/resolver/line.h"
#include "src/resolver/log.h"

#define CONTROL_PAUSE_MS  1000
#define CONTROL_STEPS_MAX 256
#define GROUPS_MAX        1024

static void on_connection(uv_poll_t *, int status, int events);
static void on_ready(uv_poll_t *, int status, int events);

static int
open_door(struct control *c, struct control_door *door, int fd)
{
	int r = uv_poll_init(&c->daemon->loop, &door->poll, fd);

	if (r != 0) {
		log_error("control", "descriptor %d: %s", fd, strerror(-r));
		return r;
	}
	door->control = c;
	door->fd = fd;
	door->poll.data = door;
	door->open = true;
	return uv_poll_start(&door->poll, UV_READABLE, on_connection);
}

int
control_open(struct control *c, struct daemon *daemon, int status_fd,
    int change_fd)
{
	const struct settings *settings = &daemon->config->edge->settings;
	const struct group *group = getgrnam(settings->control_group);
	int r;

	memset(c, 0, sizeof(*c));
	c->daemon = daemon;
	c->change_group = group != NULL;
	c->change_gid = group != NULL ? group->gr_gid : 0;
	c->change.changes = true;
	r = open_door(c, &c->status, status_fd);
	if (r == 0 && change_fd != 0)
		r = open_door(c, &c->change, change_fd);
	return r;
}

/* ---- connections ----------------------------------------------------- */

static void
on_closed(uv_handle_t *handle)
{
	struct control_conn *conn = handle->data;

	(void)close(conn->fd);
	free(conn);
}

static void
close_conn(struct control_conn *conn)
{
	struct control_conn **at = &conn->control->conns;

	if (conn->closing)
		return;
	conn->closing = true;
	while (*at != conn)
		at = &(*at)->next;
	*at = conn->next;
	conn->door->conn_count--;
	uv_close((uv_handle_t *)&conn->poll, on_closed);
}

static void
be_patient(struct control_conn *conn)
{
	conn->patience_ms = conn->control->daemon->now_ms + CONTROL_PATIENCE_MS;
}

/* Whether the kernel knows who connected as one of those that may change
 * things. The file's mode says the same, but a file can be given away. */
static bool
has_right(const struct control *c, int fd, uint32_t *ret_user)
{
	gid_t groups[GROUPS_MAX];
	socklen_t len = sizeof(groups);
	struct ucred who;
	socklen_t who_len = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &who_len) != 0)
		return false;
	*ret_user = who.uid;
	if (who.uid == 0)
		return true;
	if (!c->change_group)
		return false;
	if (who.gid == c->change_gid)
		return true;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &len) != 0)
		return false;
	for (size_t i = 0; i < len / sizeof(groups[0]); i++)
		if (groups[i] == c->change_gid)
			return true;
	return false;
}

static void
add_conn(struct control_door *door, int fd)
{
	struct control *c = door->control;
	struct control_conn *conn = NULL;
	uint32_t user = 0;

	if (door->changes && !has_right(c, fd, &user)) {
		(void)close(fd);
		return;
	}
	/* Whoever may only look holds up nobody who may change things. */
	if (door->conn_count < CONTROL_CONNS_MAX)
		conn = calloc(1, sizeof(*conn));
	if (conn == NULL ||
	    uv_poll_init(&c->daemon->loop, &conn->poll, fd) != 0) {
		free(conn);
		(void)close(fd);
		return;
	}
	conn->control = c;
	conn->door = door;
	conn->fd = fd;
	conn->may_change = door->changes;
	conn->user = user;
	conn->serial = ++c->serial;
	conn->poll.data = conn;
	conn->next = c->conns;
	c->conns = conn;
	door->conn_count++;
	be_patient(conn);
	uv_poll_start(&conn->poll, UV_READABLE, on_ready);
}

static void
watch_doors(struct control *c, bool watch)
{
	struct control_door *doors[] = { &c->status, &c->change };

	for (size_t i = 0; i < ARRAY_LEN(doors); i++) {
		if (!doors[i]->open)
			continue;
		if (watch)
			uv_poll_start(&doors[i]->poll, UV_READABLE,
			    on_connection);
		else
			uv_poll_stop(&doors[i]->poll);
	}
}

/* Whoever waits would wake us again at once: look away for a moment. */
static void
pause_accept(struct control *c)
{
	log_warn("control", "cannot accept: %s", strerror(errno));
	c->paused_until_ms = c->daemon->now_ms + CONTROL_PAUSE_MS;
	watch_doors(c, false);
}

static void
on_connection(uv_poll_t *poll, int status, int events)
{
	struct control_door *door = poll->data;
	struct control *c = door->control;
	int fd;

	(void)status;
	(void)events;
	daemon_wake(c->daemon);
	fd = accept4(door->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0)
		add_conn(door, fd);
	else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
		pause_accept(c);
	daemon_rest(c->daemon);
}

/* ---- answers --------------------------------------------------------- */

/* The first line, or the last. */
static size_t
print_frame(const struct control_conn *conn, bool first, char *buf, size_t size)
{
	struct line j;

	line_start(&j, buf, size);
	if (first) {
		line_number(&j, "protocol", CONTROL_PROTOCOL);
		line_text(&j, "version", PACKAGE_VERSION);
	} else if (conn->error_code != NULL) {
		line_object(&j, "error");
		line_text(&j, "code", conn->error_code);
		line_text(&j, "message", conn->error_text);
		line_object_end(&j);
	} else {
		line_bool(&j, "ok", true);
	}
	return line_finish(&j);
}

/* Makes lines while there is room for the longest one, a bounded number so
 * that questions do not wait. True: there may be more at once. */
static bool
fill(struct control_conn *conn)
{
	if (conn->out_at > 0) {
		conn->out_len -= conn->out_at;
		memmove(conn->out, conn->out + conn->out_at, conn->out_len);
		conn->out_at = 0;
	}
	for (unsigned step = 0; step < CONTROL_STEPS_MAX && !conn->ended &&
	     CONTROL_OUT_MAX - conn->out_len >= CONTROL_LINE_MAX;
	     step++) {
		char *at = conn->out + conn->out_len;
		size_t len = 0;

		switch (control_next(conn, at, CONTROL_LINE_MAX, &len)) {
		case CONTROL_LINE:
			conn->out_len += len;
			break;
		case CONTROL_SKIP:
			break;
		case CONTROL_WAIT:
			return false;
		case CONTROL_END:
			conn->ended = true;
			conn->out_len +=
			    print_frame(conn, false, at, CONTROL_LINE_MAX);
			break;
		}
	}
	return !conn->ended;
}

/* False: the reader is gone. */
static bool
transmit(struct control_conn *conn)
{
	ssize_t n;

	if (conn->out_at == conn->out_len)
		return true;
	n = send(conn->fd, conn->out + conn->out_at,
	    conn->out_len - conn->out_at, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	conn->out_at += (size_t)n;
	be_patient(conn);
	return true;
}

/* One round of making and sending; the loop comes back for more. */
static void
serve(struct control_conn *conn)
{
	bool more = fill(conn);
	int events = UV_READABLE;

	if (!transmit(conn)) {
		close_conn(conn);
		return;
	}
	if (conn->ended && conn->out_at == conn->out_len) {
		close_conn(conn);
		return;
	}
	conn->unserved = more || conn->out_at < conn->out_len;
	if (conn->unserved)
		events |= UV_WRITABLE;
	uv_poll_start(&conn->poll, events, on_ready);
}

static void
start(struct control_conn *conn, size_t line_len)
{
	enum command_error error =
	    command_parse(&conn->command, conn->in, line_len);

	conn->started = true;
	conn->out_len = print_frame(conn, true, conn->out, CONTROL_OUT_MAX);
	if (error == COMMAND_OK)
		control_begin(conn);
	else
		control_fail(conn, "usage", "%s", command_error_text(error));
	serve(conn);
}

/* Whoever waits for what becomes of a command. */
static bool
waits(const struct control_conn *conn)
{
	return conn->started &&
	    (conn->verb == CONTROL_RELOAD || conn->verb == CONTROL_QUARANTINE ||
		conn->verb == CONTROL_RELEASE || control_changes(conn->verb));
}

/* False: nobody is there any more, or what comes is no command. */
static bool
receive(struct control_conn *conn)
{
	size_t room = sizeof(conn->in) - conn->in_len;
	char *newline;
	ssize_t n;

	/* Behind the command nothing is expected but the end. */
	if (conn->started) {
		conn->in_len = 0;
		room = sizeof(conn->in);
	}
	n = recv(conn->fd, conn->in + conn->in_len, room, MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	/* Who has shut down only his sending side still wants the answer. */
	if (n == 0)
		return conn->unserved || waits(conn);
	if (conn->started)
		return true;
	conn->in_len += (size_t)n;
	newline = memchr(conn->in, '\n', conn->in_len);
	if (newline != NULL)
		start(conn, (size_t)(newline - conn->in));
	return newline != NULL || conn->in_len < sizeof(conn->in);
}

static void
on_ready(uv_poll_t *poll, int status, int events)
{
	struct control_conn *conn = poll->data;
	struct daemon *daemon = conn->control->daemon;

	daemon_wake(daemon);
	if (status < 0 || ((events & UV_READABLE) != 0 && !receive(conn)))
		close_conn(conn);
	if (!conn->closing && conn->started && (events & UV_WRITABLE) != 0)
		serve(conn);
	daemon_rest(daemon);
}

void
control_follow(struct control *c)
{
	struct control_conn *next;

	if (!c->events_new)
		return;
	c->events_new = false;
	for (struct control_conn *conn = c->conns; conn != NULL; conn = next) {
		next = conn->next;
		if (conn->follow)
			serve(conn);
	}
}

/* Whoever has lines to take or a command to send, and does neither. */
static bool
is_awaited(const struct control_conn *conn)
{
	return !conn->started || conn->unserved;
}

uint64_t
control_deadline(const struct control *c)
{
	uint64_t first =
	    c->paused_until_ms != 0 ? c->paused_until_ms : UINT64_MAX;

	for (const struct control_conn *conn = c->conns; conn != NULL;
	     conn = conn->next) {
		if (is_awaited(conn) && conn->patience_ms < first)
			first = conn->patience_ms;
	}
	return first;
}

void
control_expire(struct control *c, uint64_t now_ms)
{
	struct control_conn *next;

	if (c->paused_until_ms != 0 && c->paused_until_ms <= now_ms) {
		c->paused_until_ms = 0;
		watch_doors(c, true);
	}
	for (struct control_conn *conn = c->conns; conn != NULL; conn = next) {
		next = conn->next;
		if (is_awaited(conn) && conn->patience_ms <= now_ms)
			close_conn(conn);
	}
}

void
control_reload_begins(struct control *c, uint64_t serial)
{
	for (struct control_conn *conn = c->conns; conn != NULL;
	     conn = conn->next)
		if (conn->serial == serial && conn->verb == CONTROL_RELOAD)
			conn->reload = c->daemon->reload.begun + 1;
}

static void
serve_waiting(struct control *c)
{
	struct control_conn *next;

	for (struct control_conn *conn = c->conns; conn != NULL; conn = next) {
		next = conn->next;
		if (waits(conn))
			serve(conn);
	}
}

void
control_reloaded(struct control *c)
{
	serve_waiting(c);
}

void
control_ordered(struct control *c)
{
	serve_waiting(c);
}

void
control_answered(struct control *c, uint64_t serial, int status)
{
	for (struct control_conn *conn = c->conns; conn != NULL;
	     conn = conn->next) {
		if (serial == 0 || conn->serial != serial ||
		    !control_changes(conn->verb))
			continue;
		conn->change.answered = true;
		conn->change.status = status;
	}
	serve_waiting(c);
}

static void
close_door(struct control_door *door)
{
	if (!door->open)
		return;
	door->open = false;
	uv_close((uv_handle_t *)&door->poll, NULL);
}

void
control_close(struct control *c)
{
	while (c->conns != NULL)
		close_conn(c->conns);
	close_door(&c->status);
	close_door(&c->change);
}
