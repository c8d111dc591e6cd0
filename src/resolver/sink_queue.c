/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sink_queue - see sink_queue.h.
 */
#include "config.h"

#include "src/resolver/sink_queue.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/require.h"

/* How long lines are let gather once there is one: a wake-up and a write for
 * each would cost more than the question did. */
#define GATHER_NS 5000000

_Static_assert(sizeof(struct sink_record) % 8 == 0, "records are padded to 8");

/* ---- the loop's side -------------------------------------------------- */

int
sink_queue_open(struct sink_queue *q, size_t capacity)
{
	pthread_condattr_t attr;

	memset(q, 0, sizeof(*q));
	q->ring = malloc(capacity);
	if (q->ring == NULL)
		return -ENOMEM;
	q->capacity = capacity;
	(void)pthread_mutex_init(&q->lock, NULL);
	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&q->filled, &attr);
	(void)pthread_condattr_destroy(&attr);
	return 0;
}

int
sink_queue_start(struct sink_queue *q, void *(*writer)(void *), void *arg)
{
	sigset_t all, old;
	int r;

	/* Signals belong to the loop. */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&q->thread, NULL, writer, arg);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	q->running = r == 0;
	return -r;
}

/* Room for a record, or NULL. */
static uint8_t *
find_room(struct sink_queue *q, size_t size, size_t used_max)
{
	size_t used = atomic_load(&q->used) + q->pending;
	size_t to_end = q->capacity - q->tail;
	size_t wanted = to_end < size ? to_end + size : size;
	struct sink_record gap = { .size = (uint32_t)to_end, .skip = 1 };
	uint8_t *room;

	if (used + wanted > used_max)
		return NULL;
	if (to_end < size) {
		/* Too small for a header: who reads knows it by that. */
		if (to_end >= sizeof(gap))
			memcpy(q->ring + q->tail, &gap, sizeof(gap));
		q->tail = 0;
	}
	room = q->ring + q->tail;
	q->tail = (q->tail + size) % q->capacity;
	q->pending += wanted;
	return room;
}

void
sink_queue_put(struct sink_queue *q, const struct sink_line *line, uint8_t mask)
{
	bool alert = line->kind == EVENT_KIND_ALERT;
	struct sink_record record = { .wall_ms = line->wall_ms,
		.len = (uint16_t)line->len,
		.mask = mask,
		.kind = (uint8_t)line->kind };
	uint8_t *room;

	REQUIRE(line->len <= EVENT_LINE_MAX);
	record.size =
	    (uint32_t)(sizeof(record) + ((line->len + 7) & ~(size_t)7));
	room = find_room(q, record.size,
	    alert ? q->capacity : q->capacity / 4 * 3);
	if (room == NULL) {
		atomic_fetch_add(alert ? &q->dropped_alerts
				       : &q->dropped_events,
		    1);
		return;
	}
	memcpy(room, &record, sizeof(record));
	memcpy(room + sizeof(record), line->text, line->len);
	if (alert)
		atomic_store(&q->urgent, true);
}

/* The writer says that it waits before it looks a last time for lines; here
 * lines come before the look whether it waits: one of the two sees the
 * other. */
static void
wake_writer(struct sink_queue *q)
{
	if (!atomic_load(&q->waiting))
		return;
	(void)pthread_mutex_lock(&q->lock);
	(void)pthread_cond_signal(&q->filled);
	(void)pthread_mutex_unlock(&q->lock);
}

void
sink_queue_flush(struct sink_queue *q)
{
	if (q->pending == 0)
		return;
	atomic_fetch_add(&q->used, q->pending);
	q->pending = 0;
	wake_writer(q);
}

void
sink_queue_reopen(struct sink_queue *q)
{
	atomic_store(&q->reopen, true);
	wake_writer(q);
}

void
sink_queue_stop(struct sink_queue *q)
{
	sink_queue_flush(q);
	atomic_store(&q->stopping, true);
	wake_writer(q);
}

bool
sink_queue_join(struct sink_queue *q, const struct timespec *until)
{
	if (!q->running)
		return true;
	if (pthread_timedjoin_np(q->thread, NULL, until) != 0)
		return false;
	q->running = false;
	return true;
}

void
sink_queue_free(struct sink_queue *q)
{
	if (q->ring == NULL)
		return;
	free(q->ring);
	q->ring = NULL;
	(void)pthread_cond_destroy(&q->filled);
	(void)pthread_mutex_destroy(&q->lock);
}

/* ---- the writer's side ------------------------------------------------ */

uint64_t
sink_queue_now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static bool
is_idle(struct sink_queue *q, size_t known)
{
	return atomic_load(&q->used) <= known && !atomic_load(&q->stopping) &&
	    !atomic_load(&q->reopen);
}

void
sink_queue_wait(struct sink_queue *q, size_t known, uint64_t until_ms)
{
	const struct timespec gather = { .tv_nsec = GATHER_NS };
	const struct timespec until = { .tv_sec = (time_t)(until_ms / 1000),
		.tv_nsec = (long)(until_ms % 1000) * 1000000 };
	bool slept = false;
	int r = 0;

	(void)pthread_mutex_lock(&q->lock);
	atomic_store(&q->waiting, true);
	while (is_idle(q, known) && r == 0) {
		r = until_ms == SINK_QUEUE_NEVER
		    ? pthread_cond_wait(&q->filled, &q->lock)
		    : pthread_cond_timedwait(&q->filled, &q->lock, &until);
		slept = true;
	}
	atomic_store(&q->waiting, false);
	(void)pthread_mutex_unlock(&q->lock);
	if (slept && r == 0 && !atomic_exchange(&q->urgent, false) &&
	    !atomic_load(&q->stopping))
		(void)nanosleep(&gather, NULL);
}

const uint8_t *
sink_queue_at(const struct sink_queue *q, size_t offset,
    struct sink_record *ret)
{
	size_t at = (q->head + offset) % q->capacity;

	if (q->capacity - at < sizeof(*ret)) {
		*ret = (struct sink_record){ .skip = 1,
			.size = (uint32_t)(q->capacity - at) };
		return NULL;
	}
	memcpy(ret, q->ring + at, sizeof(*ret));
	return ret->skip != 0 ? NULL : q->ring + at + sizeof(*ret);
}

void
sink_queue_release(struct sink_queue *q, size_t octets)
{
	q->head = (q->head + octets) % q->capacity;
	atomic_fetch_sub(&q->used, octets);
}
