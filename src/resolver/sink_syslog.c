/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sink_syslog - one receiver of syslog, its queue and its thread.
 *
 * What was sent a moment ago is kept: nobody acknowledges syslog, and what a
 * receiver had not read when it went away is lost with it. So when the way to
 * it breaks, the last moments are sent again on the next one. A line may come
 * twice then, and is known by its event.sequence; it does not stay away.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "lib/require.h"
#include "src/resolver/endpoint.h"
#include "src/resolver/log.h"
#include "src/resolver/sink.h"

#define OUT_MAX        (64 * 1024)
#define FRAME_MAX      (EVENT_LINE_MAX + SINK_SYSLOG_HEAD_MAX + 16)
#define KEPT_MS        2000 /* at least so long what was sent is kept */
#define KEPT_MAX       (512u << 10) /* but not much more than this */
#define PAUSE_MIN_MS   100
#define PAUSE_MAX_MS   5000
#define PROVEN_MS      1000 /* a way that held so long is a good one */
#define CONNECT_MS     5000
#define POLL_MS        100
#define DEAD_MS        20000
#define FACILITY       3 /* daemon */
#define SEVERITY_ALERT 4 /* warning: an attempt, not an outage */
#define SEVERITY_OTHER 6 /* informational */

struct sink_syslog {
	struct sink_queue queue;
	struct sink_setting setting;
	char host[256];
	long pid;
	/* From here on the writer's. */
	int fd; /* -1: no way to it now */
	size_t sent; /* octets from the head that went on this way */
	size_t mark; /* of these, what had gone at the last mark */
	uint64_t mark_ms, connected_ms, retry_ms;
	uint32_t pause_ms;
	bool failing; /* said so already */
	struct stat place; /* of a local socket, when it was connected */
	atomic_bool connected;
	atomic_uint_fast64_t lines;
	char out[OUT_MAX];
};

struct sink_syslog *
sink_syslog_new(const struct sink_setting *setting)
{
	struct sink_syslog *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->setting = *setting;
	s->fd = -1;
	s->pid = (long)getpid();
	if (gethostname(s->host, sizeof(s->host) - 1) != 0 ||
	    s->host[0] == '\0')
		snprintf(s->host, sizeof(s->host), "-");
	for (char *c = s->host; *c != '\0'; c++) {
		if (*c <= ' ' || *c > '~')
			*c = '_';
	}
	return s;
}

void
sink_syslog_free(struct sink_syslog *s)
{
	sink_queue_free(&s->queue);
	free(s);
}

struct sink_queue *
sink_syslog_queue(struct sink_syslog *s)
{
	return &s->queue;
}

bool
sink_syslog_wants(const struct sink_syslog *s, enum event_kind kind)
{
	return (s->setting.only >> kind & 1) != 0;
}

void
sink_syslog_counts(struct sink_syslog *s, struct sink_counts *ret)
{
	ret->target = s->setting.path;
	ret->connected = atomic_load(&s->connected);
	ret->sent = atomic_load(&s->lines);
	ret->waiting = atomic_load(&s->queue.used);
}

/* ---- messages --------------------------------------------------------- */

/* RFC 5424: no structured data, the line is all of the message. */
static size_t
put_modern(char *buf, const struct sink_syslog *s,
    const struct sink_record *record, int priority)
{
	time_t seconds = (time_t)(record->wall_ms / 1000);
	struct tm tm;
	char date[32];

	(void)gmtime_r(&seconds, &tm);
	(void)strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	return (size_t)snprintf(buf, SINK_SYSLOG_HEAD_MAX,
	    "<%d>1 %s.%03uZ %s namewall %ld %s - ", priority, date,
	    (unsigned)(record->wall_ms % 1000), s->host, s->pid,
	    event_kind_name((enum event_kind)record->kind));
}

/* What syslog(3) has always written to the local socket. */
static size_t
put_traditional(char *buf, const struct sink_syslog *s,
    const struct sink_record *record, int priority)
{
	time_t seconds = (time_t)(record->wall_ms / 1000);
	struct tm tm;
	char date[32];

	(void)localtime_r(&seconds, &tm);
	(void)strftime(date, sizeof(date), "%b %e %H:%M:%S", &tm);
	return (size_t)snprintf(buf, SINK_SYSLOG_HEAD_MAX,
	    "<%d>%s namewall[%ld]: ", priority, date, s->pid);
}

size_t
sink_syslog_head(char *buf, const struct sink_syslog *s,
    const struct sink_record *record)
{
	int priority = FACILITY << 3 |
	    (record->kind == EVENT_KIND_ALERT ? SEVERITY_ALERT
					      : SEVERITY_OTHER);

	return s->setting.transport == 0
	    ? put_traditional(buf, s, record, priority)
	    : put_modern(buf, s, record, priority);
}

/* One message, on a stream behind its length (RFC 6587, octet counting). The
 * newline of the line stays behind. */
static size_t
put_message(const struct sink_syslog *s, char *buf,
    const struct sink_record *record, const uint8_t *line)
{
	char head[SINK_SYSLOG_HEAD_MAX];
	size_t head_len = sink_syslog_head(head, s, record);
	size_t len = record->len > 0 ? record->len - 1u : 0, at = 0;

	REQUIRE(head_len < sizeof(head));
	if (s->setting.transport == PROTO_TCP)
		at = (size_t)snprintf(buf, 16, "%zu ", head_len + len);
	memcpy(buf + at, head, head_len);
	memcpy(buf + at + head_len, line, len);
	return at + head_len + len;
}

/* As many messages as there are and fit, of datagrams one. *ret_span is what
 * they take in the ring. */
static size_t
fill_out(struct sink_syslog *s, size_t *ret_span, size_t *ret_lines)
{
	size_t used = atomic_load(&s->queue.used);
	size_t len = 0, lines = 0, span = 0;

	while (s->sent + span < used && OUT_MAX - len >= FRAME_MAX) {
		struct sink_record record;
		const uint8_t *line =
		    sink_queue_at(&s->queue, s->sent + span, &record);

		span += record.size;
		if (line == NULL)
			continue;
		len += put_message(s, s->out + len, &record, line);
		lines++;
		if (s->setting.transport != PROTO_TCP)
			break;
	}
	*ret_span = span;
	*ret_lines = lines;
	return len;
}

/* ---- the way to the receiver ------------------------------------------ */

static int
start_connect(struct sink_syslog *s)
{
	const struct endpoint *to = &s->setting.to;
	struct sockaddr_un local = { .sun_family = AF_UNIX };
	union socket_addr remote;
	socklen_t len;

	if (s->setting.transport == 0) {
		memcpy(local.sun_path, s->setting.path,
		    strnlen(s->setting.path, sizeof(local.sun_path) - 1));
		s->fd = socket(AF_UNIX,
		    SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		return s->fd < 0
		    ? -1
		    : connect(s->fd, (struct sockaddr *)&local, sizeof(local));
	}
	len = endpoint_to_socket(&to->addr, to->port, 0, &remote);
	s->fd = socket(remote.any.sa_family,
	    (s->setting.transport == PROTO_TCP ? SOCK_STREAM : SOCK_DGRAM) |
		SOCK_NONBLOCK | SOCK_CLOEXEC,
	    0);
	return s->fd < 0 ? -1 : connect(s->fd, &remote.any, len);
}

static int
pending_error(int fd)
{
	int error = 0;
	socklen_t len = sizeof(error);

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
		return -errno;
	return -error;
}

/* Waits until the socket can be written; 0, or a negative errno. */
static int
wait_writable(struct sink_syslog *s, uint64_t until_ms)
{
	struct pollfd fd = { s->fd, POLLOUT, 0 };

	for (;;) {
		int n = poll(&fd, 1, POLL_MS);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0 && (fd.revents & (POLLERR | POLLHUP)) != 0) {
			int r = pending_error(s->fd);

			return r != 0 ? r : -EPIPE;
		}
		if (n > 0)
			return 0;
		if (atomic_load(&s->queue.stopping))
			return -ECANCELED;
		if (sink_queue_now_ms() >= until_ms)
			return -ETIMEDOUT;
	}
}

static void
set_stream_options(int fd)
{
	const int on = 1, idle_s = 10, every_s = 5, dead_ms = DEAD_MS;

	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s,
	    sizeof(idle_s));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every_s,
	    sizeof(every_s));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &dead_ms,
	    sizeof(dead_ms));
}

static void
lose(struct sink_syslog *s, int error)
{
	uint64_t now_ms = sink_queue_now_ms();
	bool good =
	    atomic_load(&s->connected) && now_ms - s->connected_ms >= PROVEN_MS;

	if (s->fd >= 0)
		(void)close(s->fd);
	s->fd = -1;
	s->sent = 0;
	s->mark = 0;
	atomic_store(&s->connected, false);
	if (good || s->pause_ms == 0)
		s->pause_ms = PAUSE_MIN_MS;
	else if (s->pause_ms < PAUSE_MAX_MS)
		s->pause_ms *= 2;
	s->retry_ms = now_ms + s->pause_ms;
	if (!s->failing)
		log_warn("sink", "%s: %s; events wait", s->setting.path,
		    strerror(-error));
	s->failing = true;
}

static void
find_way(struct sink_syslog *s)
{
	int r = start_connect(s) == 0 ? 0 : -errno;

	if (r == -EINPROGRESS) {
		r = wait_writable(s, sink_queue_now_ms() + CONNECT_MS);
		if (r == 0)
			r = pending_error(s->fd);
	}
	if (r != 0) {
		lose(s, r);
		return;
	}
	if (s->setting.transport == PROTO_TCP)
		set_stream_options(s->fd);
	if (s->setting.transport == 0 && stat(s->setting.path, &s->place) != 0)
		memset(&s->place, 0, sizeof(s->place));
	atomic_store(&s->connected, true);
	s->connected_ms = sink_queue_now_ms();
	s->mark_ms = s->connected_ms;
}

/* A local socket does not tell that its other end is gone before something is
 * sent there; its place in the file system does. */
static int
look_local(struct sink_syslog *s)
{
	struct stat there;

	if (stat(s->setting.path, &there) != 0)
		return -errno;
	if (there.st_dev == s->place.st_dev && there.st_ino == s->place.st_ino)
		return 0;
	return -ECONNREFUSED;
}

/* What came back on the socket: nothing, or that it is over. Receivers do not
 * speak; what one says all the same is thrown away. */
static int
look_back(struct sink_syslog *s)
{
	char octets[256];
	ssize_t n;

	if (s->setting.transport == 0)
		return look_local(s);
	do {
		n = recv(s->fd, octets, sizeof(octets), MSG_DONTWAIT);
	} while (n > 0 || (n < 0 && errno == EINTR));
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	return s->setting.transport == PROTO_TCP ? -EPIPE : 0;
}

/* ---- sending ---------------------------------------------------------- */

static int
send_out(struct sink_syslog *s, size_t len)
{
	size_t at = 0;

	while (at < len) {
		ssize_t n = send(s->fd, s->out + at, len - at,
		    MSG_DONTWAIT | MSG_NOSIGNAL);
		int r;

		if (n >= 0) {
			at += (size_t)n;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN && errno != ENOBUFS)
			return -errno;
		r = wait_writable(s, UINT64_MAX);
		if (r != 0)
			return r;
	}
	return 0;
}

/* What went before the last mark is let go of. */
static void
move_mark(struct sink_syslog *s)
{
	sink_queue_release(&s->queue, s->mark);
	s->sent -= s->mark;
	s->mark = s->sent;
	s->mark_ms = sink_queue_now_ms();
}

static void
prove(struct sink_syslog *s)
{
	if (!s->failing || s->lines == 0 ||
	    sink_queue_now_ms() - s->connected_ms < PROVEN_MS)
		return;
	s->failing = false;
	s->pause_ms = 0;
	log_info("sink", "%s: takes events again", s->setting.path);
}

/* Sends what there is; stays in the middle of nothing. */
static void
deliver(struct sink_syslog *s)
{
	size_t span, lines, len;
	int r = look_back(s);

	while (r == 0 && (len = fill_out(s, &span, &lines), span > 0)) {
		r = len > 0 ? send_out(s, len) : 0;
		if (r == -EMSGSIZE) {
			atomic_fetch_add(&s->queue.errors, 1);
			r = 0;
		}
		if (r != 0)
			break;
		s->sent += span;
		atomic_fetch_add(&s->lines, lines);
		if (s->sent - s->mark > KEPT_MAX)
			move_mark(s);
	}
	if (r == 0 && sink_queue_now_ms() >= s->mark_ms + KEPT_MS)
		move_mark(s);
	if (r != 0)
		lose(s, r);
	else
		prove(s);
}

/* While there is no way, new lines are no reason to wake up; while something
 * is kept, the way is looked after. */
static void
rest(struct sink_syslog *s)
{
	bool looks = s->sent > 0 || s->failing;

	if (s->fd < 0)
		sink_queue_wait(&s->queue, SIZE_MAX, s->retry_ms);
	else
		sink_queue_wait(&s->queue, s->sent,
		    looks ? s->mark_ms + KEPT_MS : SINK_QUEUE_NEVER);
}

static bool
is_over(struct sink_syslog *s)
{
	if (!atomic_load(&s->queue.stopping))
		return false;
	return s->fd < 0 || s->sent == atomic_load(&s->queue.used);
}

void *
sink_syslog_writer(void *arg)
{
	struct sink_syslog *s = arg;

	find_way(s);
	while (!is_over(s)) {
		if (s->fd < 0 && sink_queue_now_ms() >= s->retry_ms)
			find_way(s);
		if (s->fd >= 0)
			deliver(s);
		if (!is_over(s))
			rest(s);
	}
	if (s->fd >= 0)
		(void)close(s->fd);
	return NULL;
}
