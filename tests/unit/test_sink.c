/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "tests/unit/unit.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "lib/require.h"
#include "src/resolver/sink.h"

static char dir[64];

static void
make_dir(void)
{
	snprintf(dir, sizeof(dir), "/tmp/namewall-sink-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void
add_file(struct settings *settings, const char *name, uint8_t only)
{
	struct sink_setting *sink = &settings->sinks[settings->sink_count++];

	sink->kind = SINK_FILE;
	sink->only = only;
	snprintf(sink->path, sizeof(sink->path), "%s/%s", dir, name);
}

static void
add_syslog(struct settings *settings, const char *path, uint8_t transport,
    uint16_t port)
{
	struct sink_setting *sink = &settings->sinks[settings->sink_count++];

	sink->kind = SINK_SYSLOG;
	sink->only = 7;
	sink->transport = transport;
	sink->to.addr = addr_v4((const uint8_t[4]){ 127, 0, 0, 1 });
	sink->to.port = port;
	snprintf(sink->path, sizeof(sink->path), "%s", path);
}

static void
put(struct sinks *s, enum event_kind kind, const char *text, size_t len)
{
	sinks_put(s,
	    &(struct sink_line){ .kind = kind,
		.wall_ms = 1793000000123,
		.text = text,
		.len = len });
}

/* Waits for what another thread does, ten seconds at most. */
static void
until(bool (*done)(struct sinks *), struct sinks *s)
{
	const struct timespec moment = { .tv_nsec = 1000000 };

	for (int i = 0; i < 10000 && !done(s); i++)
		(void)nanosleep(&moment, NULL);
	ck_assert(done(s));
}

static bool
has_error(struct sinks *s)
{
	return sinks_counts(s).errors == 1;
}

static char *
read_file(const char *name, size_t *ret_size)
{
	char path[128];
	struct stat st;
	char *text;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0640);
	text = calloc(1, (size_t)st.st_size + 1);
	ck_assert_int_eq(read(fd, text, (size_t)st.st_size), st.st_size);
	close(fd);
	*ret_size = (size_t)st.st_size;
	return text;
}

static void
remove_all(const struct settings *settings)
{
	for (uint16_t i = 0; i < settings->sink_count; i++)
		(void)unlink(settings->sinks[i].path);
	ck_assert_int_eq(rmdir(dir), 0);
}

START_TEST(each_gets_its_kinds)
{
	struct settings *settings = calloc(1, sizeof(*settings));
	struct sinks *s = calloc(1, sizeof(*s));
	size_t size;
	char *text;

	make_dir();
	umask(027);
	add_file(settings, "all", 7);
	add_file(settings, "alerts", 2);
	ck_assert_int_eq(sinks_open(s, settings), 0);
	put(s, EVENT_KIND_EVENT, "event\n", 6);
	put(s, EVENT_KIND_ALERT, "alert\n", 6);
	put(s, EVENT_KIND_METRIC, "metric\n", 7);
	sinks_close(s);
	text = read_file("all", &size);
	ck_assert_str_eq(text, "event\nalert\nmetric\n");
	free(text);
	text = read_file("alerts", &size);
	ck_assert_str_eq(text, "alert\n");
	free(text);
	remove_all(settings);
	free(settings);
	free(s);
}
END_TEST

/* Gives the writer time to make room. */
static void
wait_for_room(struct sinks *s)
{
	const struct timespec moment = { .tv_nsec = 1000000 };

	sinks_flush(s);
	while (atomic_load(&s->files->queue.used) > SINK_FILES_RING / 2)
		(void)nanosleep(&moment, NULL);
}

/* Many lines of changing lengths, so that the ring wraps often: all arrive
 * whole and in order. */
START_TEST(ring_keeps_order)
{
	struct settings *settings = calloc(1, sizeof(*settings));
	struct sinks *s = calloc(1, sizeof(*s));
	static char line[EVENT_LINE_MAX];
	size_t size = 0;
	uint64_t last = 0, count = 0;
	char *text, *at;

	make_dir();
	umask(027);
	add_file(settings, "all", 7);
	ck_assert_int_eq(sinks_open(s, settings), 0);
	for (unsigned i = 1; i <= 20000; i++) {
		size_t len = 20 + i * 7919u % 4000;

		memset(line, '.', len);
		snprintf(line, sizeof(line), "%u", i);
		line[strlen(line)] = '.';
		line[len - 1] = '\n';
		put(s, EVENT_KIND_EVENT, line, len);
		if (i % 7 == 0)
			wait_for_room(s);
	}
	ck_assert_uint_eq(sinks_counts(s).dropped_events, 0);
	sinks_close(s);
	text = read_file("all", &size);
	for (at = text; at < text + size; count++) {
		char *end = memchr(at, '\n', (size_t)(text + size - at));
		unsigned long number = strtoul(at, NULL, 10);

		ck_assert_ptr_nonnull(end);
		ck_assert_uint_gt(number, last);
		ck_assert_uint_eq((size_t)(end - at) + 1,
		    20 + number * 7919u % 4000);
		last = number;
		at = end + 1;
	}
	ck_assert_uint_eq(count, 20000);
	free(text);
	remove_all(settings);
	free(settings);
	free(s);
}
END_TEST

/* Its writer is inside write(2) to the end, so its memory has to stay. */
static struct sinks *stuck;

/* A sink that takes nothing: the loop is never held up, ordinary events are
 * lost before alerts, and everything is counted. */
START_TEST(stuck_sink_blocks_nobody)
{
	struct settings *settings = calloc(1, sizeof(*settings));
	char line[1024];
	int end;

	stuck = calloc(1, sizeof(*stuck));
	make_dir();
	add_file(settings, "fifo", 7);
	ck_assert_int_eq(mkfifo(settings->sinks[0].path, 0600), 0);
	end = open(settings->sinks[0].path, O_RDWR);
	ck_assert_int_ge(end, 0);
	ck_assert_int_eq(sinks_open(stuck, settings), 0);
	memset(line, 'x', sizeof(line));
	for (unsigned i = 0; i < SINK_FILES_RING / sizeof(line) * 2; i++)
		put(stuck, EVENT_KIND_EVENT, line, sizeof(line));
	sinks_flush(stuck);
	ck_assert_uint_gt(sinks_counts(stuck).dropped_events, 0);
	for (unsigned i = 0; i < 16; i++)
		put(stuck, EVENT_KIND_ALERT, line, sizeof(line));
	ck_assert_uint_eq(sinks_counts(stuck).dropped_alerts, 0);
	for (unsigned i = 0; i < SINK_FILES_RING / sizeof(line); i++)
		put(stuck, EVENT_KIND_ALERT, line, sizeof(line));
	ck_assert_uint_gt(sinks_counts(stuck).dropped_alerts, 0);
	sinks_close(stuck);
	remove_all(settings);
	free(settings);
}
END_TEST

START_TEST(link_is_not_followed)
{
	struct settings *settings = calloc(1, sizeof(*settings));
	struct sinks *s = calloc(1, sizeof(*s));
	char target[128];
	struct stat st;

	make_dir();
	add_file(settings, "link", 7);
	snprintf(target, sizeof(target), "%s/target", dir);
	ck_assert_int_eq(symlink(target, settings->sinks[0].path), 0);
	ck_assert_int_eq(sinks_open(s, settings), 0);
	put(s, EVENT_KIND_EVENT, "event\n", 6);
	sinks_flush(s);
	until(has_error, s);
	sinks_close(s);
	ck_assert_int_ne(stat(target, &st), 0);
	remove_all(settings);
	free(settings);
	free(s);
}
END_TEST

/* ---- syslog ----------------------------------------------------------- */

/* A socket on loopback, and its port. */
static int
open_end(int type, uint16_t *ret_port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons(*ret_port) };
	const struct timeval patience = { .tv_sec = 10 };
	socklen_t len = sizeof(at);
	const int on = 1;
	int fd = socket(AF_INET, type, 0);

	ck_assert_int_ge(fd, 0);
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
	    sizeof(patience));
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	if (type == SOCK_STREAM)
		ck_assert_int_eq(listen(fd, 1), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	*ret_port = ntohs(at.sin_port);
	return fd;
}

static int
accept_end(int fd)
{
	const struct timeval patience = { .tv_sec = 10 };
	int stream = accept(fd, NULL, NULL);

	ck_assert_int_ge(stream, 0);
	(void)setsockopt(stream, SOL_SOCKET, SO_RCVTIMEO, &patience,
	    sizeof(patience));
	return stream;
}

/* One message that begins and ends as it must. */
static void
expect(const char *got, ssize_t len, const char *begin, const char *end)
{
	ck_assert_int_gt(len, (ssize_t)(strlen(begin) + strlen(end)));
	ck_assert_int_eq(memcmp(got, begin, strlen(begin)), 0);
	ck_assert_int_eq(memcmp(got + len - strlen(end), end, strlen(end)), 0);
}

START_TEST(datagrams_are_rfc_5424)
{
	struct settings *settings = calloc(1, sizeof(*settings));
	struct sinks *s = calloc(1, sizeof(*s));
	char got[1024];
	uint16_t port = 0;
	int fd = open_end(SOCK_DGRAM, &port);

	add_syslog(settings, "udp://127.0.0.1", PROTO_UDP, port);
	ck_assert_int_eq(sinks_open(s, settings), 0);
	put(s, EVENT_KIND_ALERT, "{\"a\":1}\n", 8);
	put(s, EVENT_KIND_EVENT, "{\"b\":2}\n", 8);
	sinks_flush(s);
	expect(got, recv(fd, got, sizeof(got), 0),
	    "<28>1 2026-10-26T07:33:20.123Z ", " alert - {\"a\":1}");
	expect(got, recv(fd, got, sizeof(got), 0),
	    "<30>1 2026-10-26T07:33:20.123Z ", " event - {\"b\":2}");
	sinks_close(s);
	close(fd);
	free(settings);
	free(s);
}
END_TEST

START_TEST(local_form_is_traditional)
{
	struct settings *settings = calloc(1, sizeof(*settings));
	struct sinks *s = calloc(1, sizeof(*s));
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	const struct timeval patience = { .tv_sec = 10 };
	char got[1024];
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	make_dir();
	snprintf(at.sun_path, sizeof(at.sun_path), "%s/log", dir);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
	    sizeof(patience));
	add_syslog(settings, at.sun_path, 0, 0);
	ck_assert_int_eq(sinks_open(s, settings), 0);
	put(s, EVENT_KIND_ALERT, "{\"a\":1}\n", 8);
	sinks_flush(s);
	expect(got, recv(fd, got, sizeof(got), 0), "<28>Oct 26 ",
	    "]: {\"a\":1}");
	sinks_close(s);
	close(fd);
	remove_all(settings);
	free(settings);
	free(s);
}
END_TEST

/* Reads octets until so many are there. */
static void
read_octets(int fd, char *buf, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t n = recv(fd, buf + at, len - at, 0);

		ck_assert_int_gt(n, 0);
		at += (size_t)n;
	}
}

/* The number at the end of the next message of a stream. */
static unsigned
read_counted(int fd)
{
	char frame[1024], octet = '\0';
	size_t len = 0;

	do {
		len = len * 10 + (size_t)(octet == '\0' ? 0 : octet - '0');
		read_octets(fd, &octet, 1);
	} while (octet >= '0' && octet <= '9');
	ck_assert_int_eq(octet, ' ');
	ck_assert_uint_lt(len, sizeof(frame));
	read_octets(fd, frame, len);
	frame[len] = '\0';
	ck_assert_int_eq(memcmp(frame, "<28>1 ", 6), 0);
	return (unsigned)strtoul(strrchr(frame, ' ') + 1, NULL, 10);
}

static void
put_number(struct sinks *s, unsigned number)
{
	char text[16];

	snprintf(text, sizeof(text), "%u\n", number);
	put(s, EVENT_KIND_ALERT, text, strlen(text));
	sinks_flush(s);
}

/* The receiver goes away with lines unread, is away for a while, and comes
 * back: nothing is missing on what it reads then. */
START_TEST(stream_sends_again_what_was_lost)
{
	struct settings *settings = calloc(1, sizeof(*settings));
	struct sinks *s = calloc(1, sizeof(*s));
	struct sink_counts counts;
	uint16_t port = 0;
	int fd = open_end(SOCK_STREAM, &port), stream;
	unsigned next;

	add_syslog(settings, "tcp://127.0.0.1", PROTO_TCP, port);
	ck_assert_int_eq(sinks_open(s, settings), 0);
	put_number(s, 1);
	stream = accept_end(fd);
	ck_assert_uint_eq(read_counted(stream), 1);
	put_number(s, 2);
	put_number(s, 3);
	ck_assert_uint_eq(read_counted(stream), 2);
	close(stream);
	close(fd);
	put_number(s, 4);
	(void)usleep(300000);
	put_number(s, 5);
	fd = open_end(SOCK_STREAM, &port);
	stream = accept_end(fd);
	next = read_counted(stream);
	ck_assert_uint_le(next, 3);
	while (next < 5) {
		unsigned number = read_counted(stream);

		ck_assert_uint_eq(number, next + 1);
		next = number;
	}
	ck_assert(sinks_receiver(s, 0, &counts));
	ck_assert(counts.connected);
	ck_assert_uint_eq(counts.dropped_alerts, 0);
	ck_assert(!sinks_receiver(s, 1, &counts));
	sinks_close(s);
	close(stream);
	close(fd);
	free(settings);
	free(s);
}
END_TEST

/* Nobody is there: ordinary events make way for alerts, all is counted, and
 * the end does not wait. */
START_TEST(absent_receiver_blocks_nobody)
{
	struct settings *settings = calloc(1, sizeof(*settings));
	struct sinks *s = calloc(1, sizeof(*s));
	char line[1024];
	uint16_t port = 0;

	close(open_end(SOCK_STREAM, &port));
	add_syslog(settings, "tcp://127.0.0.1", PROTO_TCP, port);
	ck_assert_int_eq(sinks_open(s, settings), 0);
	memset(line, 'x', sizeof(line));
	for (unsigned i = 0; i < SINK_SYSLOG_RING / sizeof(line); i++)
		put(s, EVENT_KIND_EVENT, line, sizeof(line));
	ck_assert_uint_gt(sinks_counts(s).dropped_events, 0);
	for (unsigned i = 0; i < 16; i++)
		put(s, EVENT_KIND_ALERT, line, sizeof(line));
	ck_assert_uint_eq(sinks_counts(s).dropped_alerts, 0);
	for (unsigned i = 0; i < SINK_SYSLOG_RING / sizeof(line); i++)
		put(s, EVENT_KIND_ALERT, line, sizeof(line));
	ck_assert_uint_gt(sinks_counts(s).dropped_alerts, 0);
	sinks_close(s);
	free(settings);
	free(s);
}
END_TEST

/* A disk that takes a part of a line: the next line begins anew. */
START_TEST(torn_line_is_ended)
{
	struct settings *settings = calloc(1, sizeof(*settings));
	struct sinks *s = calloc(1, sizeof(*s));
	struct rlimit old, small;
	size_t size;
	char *text;

	make_dir();
	umask(027);
	(void)signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = 9;
	add_file(settings, "all", 7);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	ck_assert_int_eq(sinks_open(s, settings), 0);
	put(s, EVENT_KIND_EVENT, "first\n", 6);
	put(s, EVENT_KIND_EVENT, "second\n", 7);
	sinks_flush(s);
	until(has_error, s);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
	put(s, EVENT_KIND_EVENT, "third\n", 6);
	sinks_close(s);
	text = read_file("all", &size);
	ck_assert_str_eq(text, "first\nsec\nthird\n");
	free(text);
	remove_all(settings);
	free(settings);
	free(s);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("sink", &all);

	tcase_add_test(all, each_gets_its_kinds);
	tcase_add_test(all, ring_keeps_order);
	tcase_add_test(all, stuck_sink_blocks_nobody);
	tcase_add_test(all, link_is_not_followed);
	tcase_add_test(all, torn_line_is_ended);
	tcase_add_test(all, datagrams_are_rfc_5424);
	tcase_add_test(all, local_form_is_traditional);
	tcase_add_test(all, stream_sends_again_what_was_lost);
	tcase_add_test(all, absent_receiver_blocks_nobody);
	tcase_set_timeout(all, 60);
	unit_covers("N158");
	return unit_run(suite);
}
