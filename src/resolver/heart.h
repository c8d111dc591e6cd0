/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heart - what happened to each sandbox, counted, and told as a heartbeat
 * each minute.
 *
 * Every event is counted before anything is folded or dropped, so the counts
 * are exact. At its time a beat asks the parent for the packets that the
 * kernel has refused; each answer makes one sandbox's line.
 */
#ifndef SRC_RESOLVER_HEART_H
#define SRC_RESOLVER_HEART_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/event.h"

#define HEART_PERIOD_MS 60000

struct heart_tally {
	struct event_counts counts; /* since the last beat */
	uint64_t since_ms;
	uint64_t audited, audited_told; /* the same of audited ones */
	uint64_t packets_told; /* of the parent's count, which goes on */
};

struct heart {
	struct heart_tally *tallies; /* by sandbox; 0: nobody */
	uint32_t sandbox_count;
	uint32_t period_ms;
	uint64_t due_ms; /* 0: not yet beating */
	uint64_t dropped; /* lines ascribed to an event so far */
	uint64_t dropped_told; /* and of the others, how many were told */
	uint64_t unlogged_told;
};

/* 0 or -ENOMEM. */
int heart_open(struct heart *, uint32_t sandbox_count, uint32_t period_ms);
void heart_close(struct heart *);
/* Begins to beat. */
void heart_start(struct heart *, uint64_t now_ms);
/* DEADLINE_NEVER until it beats. */
uint64_t heart_deadline(const struct heart *);
/* Whether it is time, and if so, when the next time is. */
bool heart_is_due(struct heart *, uint64_t now_ms);
/* An event, and how many lines of it the sinks did not take. */
void heart_count(struct heart *, const struct event *);
void heart_dropped(struct heart *, uint32_t sandbox, uint64_t lines);
/* The parent's count of packets that an audit let pass so far. */
void heart_audited(struct heart *, uint32_t sandbox, uint64_t packets);
/* Another sandbox has the number: nothing is counted. */
void heart_anew(struct heart *, uint32_t sandbox, uint64_t now_ms);
/*
 * The counts of a sandbox since its last beat, and since when they count; they
 * start anew. packets: the parent's count so far, where has_packets says so;
 * else the next beat has them.
 */
struct event_counts heart_take(struct heart *, uint32_t sandbox,
    bool has_packets, uint64_t packets);
/* Milliseconds since the last call for this sandbox, or the start. */
uint32_t heart_span(struct heart *, uint32_t sandbox, uint64_t now_ms);

#endif
