/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upstream_choice - which server to ask, from what is known of each.
 *
 * Pure: no sockets, no clock. A server that failed is held back, twice as
 * long each time; one that answers is judged by its smoothed round-trip
 * time. When all are held back, the one whose hold ends first is tried, so
 * there is always a choice.
 */
#ifndef SRC_RESOLVER_UPSTREAM_CHOICE_H
#define SRC_RESOLVER_UPSTREAM_CHOICE_H

#include <stdint.h>

#define CHOICE_NONE     UINT32_MAX
#define CHOICE_MAX      16
#define HOLD_FIRST_MS   1000
#define HOLD_LONGEST_MS 60000

struct server_health {
	uint32_t srtt_ms; /* smoothed, at least 1; 0: not measured yet */
	uint32_t failures; /* in a row */
	uint64_t hold_until_ms; /* 0: not held back */
};

void health_answered(struct server_health *, uint32_t rtt_ms);
void health_failed(struct server_health *, uint64_t now_ms);

/*
 * The index of the server to ask, CHOICE_NONE when all were tried. tried is
 * a bit for each index; draw is a random number: one choice in 32 goes to any
 * server that is not held back, so that a slow one can show that it is not.
 */
uint32_t upstream_choose(const struct server_health *const *, uint32_t count,
    uint32_t tried, uint32_t draw, uint64_t now_ms);

#endif
