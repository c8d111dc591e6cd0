/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
	sinks_put(s, EVENT_KIND_EVENT, "event\n", 6);
	sinks_put(s, EVENT_KIND_ALERT, "alert\n", 6);
	sinks_put(s, EVENT_KIND_METRIC, "metric\n", 7);
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
	while (atomic_load(&s->used) > SINK_RING_SIZE / 2)
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
		sinks_put(s, EVENT_KIND_EVENT, line, len);
		if (i % 7 == 0)
			wait_for_room(s);
	}
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
	ck_assert_uint_eq(s->dropped_events, 0);
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
	for (unsigned i = 0; i < SINK_RING_SIZE / sizeof(line) * 2; i++)
		sinks_put(stuck, EVENT_KIND_EVENT, line, sizeof(line));
	sinks_flush(stuck);
	ck_assert_uint_gt(stuck->dropped_events, 0);
	for (unsigned i = 0; i < 16; i++)
		sinks_put(stuck, EVENT_KIND_ALERT, line, sizeof(line));
	ck_assert_uint_eq(stuck->dropped_alerts, 0);
	for (unsigned i = 0; i < SINK_RING_SIZE / sizeof(line); i++)
		sinks_put(stuck, EVENT_KIND_ALERT, line, sizeof(line));
	ck_assert_uint_gt(stuck->dropped_alerts, 0);
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
	sinks_put(s, EVENT_KIND_EVENT, "event\n", 6);
	sinks_close(s);
	ck_assert_int_ne(stat(target, &st), 0);
	ck_assert_uint_eq(s->write_errors, 1);
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
	return unit_run(suite);
}
