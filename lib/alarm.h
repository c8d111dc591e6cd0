/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * alarm - whether a stream of names has the shape of a tunnel.
 *
 * A sum S of how much worse the model of ordinary names explains each new
 * name than equally likely symbols do, less a drift, never below 0; and the
 * volume V of the names behind it. It rings where both are high: random text
 * lifts S at once, but two random labels are no tunnel. Were ordinary labels
 * drawn from the model, n new names would lift S over its limit with a chance
 * of at most n 2^-100.
 *
 * Whoever keeps one says which labels are new: those that its own tables do
 * not know, and, for names that were refused, those that are not among the
 * last ones refused, or a client that tries again rings it.
 */
#ifndef LIB_ALARM_H
#define LIB_ALARM_H

#include <stdbool.h>
#include <stdint.h>

#define ALARM_BIT    256 /* amounts are in 1/256 bit */
#define ALARM_DRIFT  4 /* bits that each new name takes from S */
#define ALARM_SCORE  100 /* bits that S must pass */
#define ALARM_SHARE  8 /* of a budget: V must be one part in so many */
#define ALARM_BUDGET 8192 /* bits; of names that are on no list */
#define ALARM_LABELS 16

struct alarm {
	int32_t cusum; /* S */
	uint32_t volume; /* V: since S was last 0 */
	uint32_t nnew, nrep; /* names that were new, and others */
	uint64_t asked[ALARM_LABELS]; /* hashes, the last one first; 0: none */
};

/* What one name adds. Whoever charges for names may raise volume by its own
 * prices, and knows names that are new though none of their labels is. */
struct alarm_weight {
	int32_t score; /* for S, without the drift */
	uint32_t volume; /* for V */
	bool is_new; /* otherwise the name is only counted */
};

/* Adds a new label: lm and uniform are model.h's two prices of it. Its
 * volume is what the cheaper one costs, with the choice. */
void alarm_weigh(struct alarm_weight *, uint32_t lm, uint32_t uniform);
/* True for a label that is among the last ones refused; remembers it. */
bool alarm_knows(struct alarm *, uint64_t label_hash);
/* Rates a name. True where the alarm rings: at a new name, S over its limit,
 * V at least a part of the budget (1/256 bit). */
bool alarm_observe(struct alarm *, const struct alarm_weight *,
    uint32_t budget);

#endif
