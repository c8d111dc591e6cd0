/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sink - event lines out to the places that the configuration names.
 *
 * The loop puts a line into a bounded ring and goes on; one writer thread
 * takes lines out and writes them (a write to a full disk or a stuck pipe
 * blocks, whatever O_NONBLOCK says). When the ring is three quarters full,
 * ordinary events are dropped; alerts until it is full. What is in the ring
 * stays. Every drop is counted.
 */
#ifndef SRC_RESOLVER_SINK_H
#define SRC_RESOLVER_SINK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/event.h"
#include "lib/text/settings.h"

#define SINK_RING_SIZE (8u << 20)

struct sink {
	struct sink_setting setting;
	int fd; /* -1: could not be opened, or not open yet; the writer's */
	bool failing; /* the writer's: said so already */
};

struct sinks {
	struct sink sinks[SETTINGS_SINKS_MAX];
	uint16_t count;
	pthread_t thread;
	bool running;
	uint8_t *ring; /* records: sink_ring.h */
	size_t tail, pending; /* the loop's: where to put, not yet published */
	size_t head; /* the writer's */
	atomic_size_t used; /* octets that are the writer's to take */
	/* The writer says that it sleeps; only then is the lock taken. */
	pthread_mutex_t lock;
	pthread_cond_t filled;
	atomic_bool waiting, stopping, reopen;
	atomic_bool urgent; /* an alert is there: do not gather */
	/* Written by either side, read for status. */
	atomic_uint_fast64_t dropped_events, dropped_alerts, write_errors;
};

/* Starts the writer. 0 or a negative errno; a file that cannot be opened is
 * logged and tried again with each reopening, but not an error: a sandbox
 * must not lose its resolver to a full log disk. */
int sinks_open(struct sinks *, const struct settings *);
/* Puts a line for all sinks that want its kind. Never blocks. */
void sinks_put(struct sinks *, enum event_kind, const char *line, size_t len);
/* Hands on what was put since the last time, with one wake-up at most. */
void sinks_flush(struct sinks *);
/* The files were rotated. */
void sinks_reopen(struct sinks *);
/* Waits up to a second for what is in the ring to be written, ends the
 * thread. A thread that is stuck in a write is left to the exit. */
void sinks_close(struct sinks *);
uint64_t sinks_dropped(struct sinks *);

/* The writer's side, in sink_file.c. */
void *sink_writer(void *sinks);

#endif
