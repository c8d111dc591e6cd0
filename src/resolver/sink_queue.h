/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sink_queue - lines from the loop to one writer thread, in a bounded ring.
 *
 * The loop puts lines in and goes on, whatever the writer does. When the ring
 * is three quarters full, ordinary events are dropped; alerts until it is
 * full. What is in the ring stays. Every drop is counted.
 *
 * A record is contiguous: a header, then the line, padded to a multiple of
 * eight octets. A record that would not fit before the end of the ring begins
 * at its start instead, behind a header with `skip`.
 */
#ifndef SRC_RESOLVER_SINK_QUEUE_H
#define SRC_RESOLVER_SINK_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/event.h"

#define SINK_QUEUE_NEVER UINT64_MAX

struct sink_record {
	uint64_t wall_ms; /* of the event */
	uint32_t size; /* of the whole record */
	uint16_t len; /* of the line */
	uint8_t mask; /* a bit for each sink of the writer */
	uint8_t kind; /* enum event_kind */
	uint8_t skip; /* nothing here, go on at the start */
};

struct sink_line {
	enum event_kind kind;
	uint64_t wall_ms;
	const char *text; /* with its newline */
	size_t len;
};

struct sink_queue {
	uint8_t *ring;
	size_t capacity; /* a multiple of eight */
	size_t tail, pending; /* the loop's: where to put, not yet published */
	size_t head; /* the writer's */
	atomic_size_t used; /* octets that are the writer's to take */
	/* The writer says that it sleeps; only then is the lock taken. */
	pthread_mutex_t lock;
	pthread_cond_t filled;
	pthread_t thread;
	bool running;
	atomic_bool waiting, stopping, reopen;
	atomic_bool urgent; /* an alert is there: do not gather */
	/* Written by either side, read for status. */
	atomic_uint_fast64_t dropped_events, dropped_alerts, errors;
};

/* The loop's side. 0 or a negative errno. */
int sink_queue_open(struct sink_queue *, size_t capacity);
/* Starts the writer, whose argument is arg. The same. */
int sink_queue_start(struct sink_queue *, void *(*writer)(void *), void *arg);
/* Never blocks. */
void sink_queue_put(struct sink_queue *, const struct sink_line *,
    uint8_t mask);
/* Hands on what was put since the last time, with one wake-up at most. */
void sink_queue_flush(struct sink_queue *);
void sink_queue_reopen(struct sink_queue *);
/* Tells the writer to end once everything is written. */
void sink_queue_stop(struct sink_queue *);
/* Waits for that until a time of CLOCK_REALTIME. False: the writer is stuck,
 * and its memory must stay. */
bool sink_queue_join(struct sink_queue *, const struct timespec *until);
void sink_queue_free(struct sink_queue *);

/* The writer's side. Milliseconds of CLOCK_MONOTONIC. */
uint64_t sink_queue_now_ms(void);
/* Sleeps until there are more than known octets, or another word from the
 * loop, or until_ms. Lines are let gather for a moment, but not alerts. */
void sink_queue_wait(struct sink_queue *, size_t known, uint64_t until_ms);
/* The record at an offset from the head, and its line (NULL: a gap). */
const uint8_t *sink_queue_at(const struct sink_queue *, size_t offset,
    struct sink_record *ret);
/* Gives back octets from the head. */
void sink_queue_release(struct sink_queue *, size_t octets);

#endif
