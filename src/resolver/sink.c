/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sink - see sink.h. This is the loop's side.
 */
#include "config.h"

#include "src/resolver/sink.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/require.h"
#include "src/resolver/log.h"
#include "src/resolver/sink_ring.h"

#define ORDINARY_MAX (SINK_RING_SIZE / 4 * 3)

_Static_assert(SETTINGS_SINKS_MAX <= 8, "the mask of a record is one octet");

int
sinks_open(struct sinks *s, const struct settings *settings)
{
	sigset_t all, old;
	int r;

	memset(s, 0, sizeof(*s));
	for (uint16_t i = 0; i < settings->sink_count; i++) {
		s->sinks[i].setting = settings->sinks[i];
		s->sinks[i].fd = -1;
	}
	s->count = settings->sink_count;
	atomic_store(&s->reopen, true);
	s->ring = malloc(SINK_RING_SIZE);
	if (s->ring == NULL)
		return -ENOMEM;
	(void)pthread_mutex_init(&s->lock, NULL);
	(void)pthread_cond_init(&s->filled, NULL);
	/* Signals belong to the loop. */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&s->thread, NULL, sink_writer, s);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r != 0) {
		free(s->ring);
		return -r;
	}
	s->running = true;
	return 0;
}

static uint8_t
mask_of(const struct sinks *s, enum event_kind kind)
{
	unsigned mask = 0;

	for (uint16_t i = 0; i < s->count; i++) {
		if ((s->sinks[i].setting.only >> kind & 1) != 0)
			mask |= 1u << i;
	}
	return (uint8_t)mask;
}

/* Room for a record, or NULL. */
static uint8_t *
find_room(struct sinks *s, size_t size, size_t used_max)
{
	size_t used = atomic_load(&s->used) + s->pending;
	size_t to_end = SINK_RING_SIZE - s->tail;
	size_t wanted = to_end < size ? to_end + size : size;
	struct sink_record gap = { .size = (uint32_t)to_end, .skip = 1 };
	uint8_t *room;

	if (used + wanted > used_max)
		return NULL;
	if (to_end < size) {
		memcpy(s->ring + s->tail, &gap, sizeof(gap));
		s->tail = 0;
	}
	room = s->ring + s->tail;
	s->tail = (s->tail + size) % SINK_RING_SIZE;
	s->pending += wanted;
	return room;
}

void
sinks_put(struct sinks *s, enum event_kind kind, const char *line, size_t len)
{
	bool alert = kind == EVENT_KIND_ALERT;
	struct sink_record record = { .len = (uint16_t)len };
	uint8_t *room;

	record.mask = mask_of(s, kind);
	if (record.mask == 0)
		return;
	REQUIRE(len <= EVENT_LINE_MAX);
	record.size = (uint32_t)(sizeof(record) + ((len + 7) & ~(size_t)7));
	room = find_room(s, record.size, alert ? SINK_RING_SIZE : ORDINARY_MAX);
	if (room == NULL) {
		atomic_fetch_add(alert ? &s->dropped_alerts
				       : &s->dropped_events,
		    1);
		return;
	}
	memcpy(room, &record, sizeof(record));
	memcpy(room + sizeof(record), line, len);
	if (alert)
		atomic_store(&s->urgent, true);
}

/* The writer says that it waits before it looks a last time for lines; here
 * lines come before the look whether it waits: one of the two sees the
 * other. */
static void
wake_writer(struct sinks *s)
{
	if (!atomic_load(&s->waiting))
		return;
	(void)pthread_mutex_lock(&s->lock);
	(void)pthread_cond_signal(&s->filled);
	(void)pthread_mutex_unlock(&s->lock);
}

void
sinks_flush(struct sinks *s)
{
	if (s->pending == 0)
		return;
	atomic_fetch_add(&s->used, s->pending);
	s->pending = 0;
	wake_writer(s);
}

void
sinks_reopen(struct sinks *s)
{
	atomic_store(&s->reopen, true);
	wake_writer(s);
}

void
sinks_close(struct sinks *s)
{
	struct timespec until;

	if (!s->running)
		return;
	s->running = false;
	sinks_flush(s);
	atomic_store(&s->stopping, true);
	wake_writer(s);
	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	if (pthread_timedjoin_np(s->thread, NULL, &until) != 0) {
		log_warn("sink",
		    "events were lost at the stop: a sink "
		    "does not take them");
		return;
	}
	free(s->ring);
	s->ring = NULL;
	(void)pthread_cond_destroy(&s->filled);
	(void)pthread_mutex_destroy(&s->lock);
}

uint64_t
sinks_dropped(struct sinks *s)
{
	return atomic_load(&s->dropped_events) +
	    atomic_load(&s->dropped_alerts);
}
