/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sink - see sink.h. This is the loop's side.
 */
#include "config.h"

#include "src/resolver/sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/resolver/log.h"

#define STOP_WAIT_S 1

_Static_assert(SETTINGS_SINKS_MAX <= 8, "the mask of a record is one octet");

static int
open_files(struct sinks *s, const struct settings *settings)
{
	struct sink_files *files = calloc(1, sizeof(*files));
	int r;

	if (files == NULL)
		return -ENOMEM;
	for (uint16_t i = 0; i < settings->sink_count; i++) {
		if (settings->sinks[i].kind == SINK_SYSLOG)
			continue;
		files->files[files->count].setting = settings->sinks[i];
		files->files[files->count++].fd = -1;
	}
	if (files->count == 0) {
		free(files);
		return 0;
	}
	r = sink_queue_open(&files->queue, SINK_FILES_RING);
	if (r != 0) {
		free(files);
		return r;
	}
	s->files = files;
	atomic_store(&files->queue.reopen, true);
	return sink_queue_start(&files->queue, sink_file_writer, files);
}

static int
open_receiver(struct sinks *s, const struct sink_setting *setting)
{
	struct sink_syslog *receiver = sink_syslog_new(setting);
	int r;

	if (receiver == NULL)
		return -ENOMEM;
	r = sink_queue_open(sink_syslog_queue(receiver), SINK_SYSLOG_RING);
	if (r != 0) {
		sink_syslog_free(receiver);
		return r;
	}
	s->receivers[s->receiver_count++] = receiver;
	return sink_queue_start(sink_syslog_queue(receiver), sink_syslog_writer,
	    receiver);
}

int
sinks_open(struct sinks *s, const struct settings *settings)
{
	int r;

	memset(s, 0, sizeof(*s));
	s->open = true;
	r = open_files(s, settings);
	for (uint16_t i = 0; i < settings->sink_count && r == 0; i++) {
		if (settings->sinks[i].kind == SINK_SYSLOG)
			r = open_receiver(s, &settings->sinks[i]);
	}
	return r;
}

static uint8_t
mask_of(const struct sink_files *files, enum event_kind kind)
{
	unsigned mask = 0;

	for (uint16_t i = 0; i < files->count; i++) {
		if ((files->files[i].setting.only >> kind & 1) != 0)
			mask |= 1u << i;
	}
	return (uint8_t)mask;
}

void
sinks_put(struct sinks *s, const struct sink_line *line)
{
	uint8_t mask = s->files != NULL ? mask_of(s->files, line->kind) : 0;

	if (mask != 0)
		sink_queue_put(&s->files->queue, line, mask);
	for (uint16_t i = 0; i < s->receiver_count; i++) {
		if (sink_syslog_wants(s->receivers[i], line->kind))
			sink_queue_put(sink_syslog_queue(s->receivers[i]), line,
			    1);
	}
}

void
sinks_flush(struct sinks *s)
{
	if (s->files != NULL)
		sink_queue_flush(&s->files->queue);
	for (uint16_t i = 0; i < s->receiver_count; i++)
		sink_queue_flush(sink_syslog_queue(s->receivers[i]));
}

void
sinks_reopen(struct sinks *s)
{
	if (s->files != NULL)
		sink_queue_reopen(&s->files->queue);
}

static bool
close_queue(struct sink_queue *queue, const struct timespec *until)
{
	if (!sink_queue_join(queue, until)) {
		log_warn("sink",
		    "events were lost at the stop: a sink does not take them");
		return false;
	}
	sink_queue_free(queue);
	return true;
}

void
sinks_close(struct sinks *s)
{
	struct timespec until;

	if (!s->open)
		return;
	s->open = false;
	if (s->files != NULL)
		sink_queue_stop(&s->files->queue);
	for (uint16_t i = 0; i < s->receiver_count; i++)
		sink_queue_stop(sink_syslog_queue(s->receivers[i]));
	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += STOP_WAIT_S;
	if (s->files != NULL && close_queue(&s->files->queue, &until))
		free(s->files);
	s->files = NULL;
	for (uint16_t i = 0; i < s->receiver_count; i++) {
		if (close_queue(sink_syslog_queue(s->receivers[i]), &until))
			sink_syslog_free(s->receivers[i]);
	}
	s->receiver_count = 0;
}

static void
add_counts(struct sink_counts *sum, const struct sink_queue *queue)
{
	sum->dropped_events += atomic_load(&queue->dropped_events);
	sum->dropped_alerts += atomic_load(&queue->dropped_alerts);
	sum->errors += atomic_load(&queue->errors);
}

struct sink_counts
sinks_counts(const struct sinks *s)
{
	struct sink_counts sum = { .target = NULL };

	if (s->files != NULL)
		add_counts(&sum, &s->files->queue);
	for (uint16_t i = 0; i < s->receiver_count; i++)
		add_counts(&sum, sink_syslog_queue(s->receivers[i]));
	return sum;
}

bool
sinks_receiver(const struct sinks *s, uint16_t index, struct sink_counts *ret)
{
	if (index >= s->receiver_count)
		return false;
	memset(ret, 0, sizeof(*ret));
	add_counts(ret, sink_syslog_queue(s->receivers[index]));
	sink_syslog_counts(s->receivers[index], ret);
	return true;
}

size_t
sinks_line_max(const struct sinks *s)
{
	return EVENT_LINE_MAX -
	    (s->receiver_count > 0 ? SINK_SYSLOG_HEAD_MAX : 0);
}
