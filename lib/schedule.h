/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * schedule - names that are looked up on our own clock, with what is known of
 * them, kept once for all sandboxes.
 *
 * Which names those are follows from the configuration, and when each is asked
 * from the answers before: no client has a part in either, so what leaves for
 * them tells nothing of any sandbox. A name has its next turn when half of its
 * lifetime is over, so that it has a second one before its end whether or not
 * the first was answered. This module keeps names and turns; the engine asks.
 */
#ifndef LIB_SCHEDULE_H
#define LIB_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/arena.h"
#include "lib/cache.h"
#include "lib/deadlines.h"
#include "lib/dname.h"
#include "lib/query.h"
#include "lib/table.h"

/* Turns of a name that nobody has answered yet: a client's question may see
 * two of them. Later ones are further apart. */
#define SCHEDULE_FIRST_MS 900
#define SCHEDULE_FIRST    4
#define SCHEDULE_LATER_MS 5000
/* The shortest lifetime that a result has here; of a name that is not there. */
#define SCHEDULE_TTL_MIN_S    5
#define SCHEDULE_TTL_ABSENT_S 60

struct schedule_item {
	struct dname name;
	uint16_t type; /* A: the pair */
	bool wanted; /* by the configuration that is being followed */
	bool known; /* there is a result */
	uint32_t period_ms; /* to the next turn */
	uint32_t turns; /* since it is there, or since it was answered */
	uint64_t turn_ms, due_ms; /* the last turn and the next one */
	uint64_t until_ms; /* of the result */
	struct cache_entry result; /* not judged yet: protected addresses too */
	struct query_list waiting; /* for the first result */
};

struct schedule {
	uint32_t names_max;
	struct table keys; /* type group, hash of the name */
	struct schedule_item *items; /* by slot */
	struct deadlines turns; /* by slot */
	uint8_t secret[16];
};

void schedule_init(struct schedule *, struct arena *, uint32_t names_max,
    const uint8_t secret[16]);
/* NULL: not scheduled. A and AAAA are one. */
struct schedule_item *schedule_find(struct schedule *, const struct dname *,
    uint16_t type);
/* Follows a configuration: begin; want each of its names; then take those
 * that it does not want, one at a time, until there is none. A name that is
 * new has its first turn at once. Beyond names_max nothing is added: false. */
void schedule_begin(struct schedule *);
bool schedule_want(struct schedule *, const struct dname *, uint16_t type,
    uint64_t now_ms);
/* The next one that goes, nobody waiting for it any more (REQUIREd of the one
 * before, which this drops); NULL: none. */
struct schedule_item *schedule_unwanted(struct schedule *, uint32_t *at);
void schedule_drop(struct schedule *, uint32_t slot);

/* When the next turn is. */
uint64_t schedule_next(const struct schedule *);
/* Takes the next name whose turn it is; its next one is set. */
struct schedule_item *schedule_take(struct schedule *, uint64_t now_ms);
/*
 * What a turn has brought, as far as its parts did not fail; a part that
 * failed leaves what is known of it, while that lasts. ttl_s is of the whole.
 */
void schedule_put(struct schedule *, struct schedule_item *,
    const struct cache_entry *, uint32_t ttl_s, uint64_t now_ms);
/* Whether the result holds now. */
bool schedule_holds(const struct schedule_item *, uint64_t now_ms);
/* How many names there are, and how many have a result that holds. */
uint32_t schedule_count(const struct schedule *);
uint32_t schedule_count_known(const struct schedule *, uint64_t now_ms);

#endif
