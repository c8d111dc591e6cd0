/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * meter - what was spent in the last 24 hours, of what may be.
 *
 * A ring of 25 hours: the one that runs and the 24 before it, which cover
 * every span of 24 hours that ends now, at any offset. (A bucket that is
 * filled at the rate of a day's budget would let twice that through in the
 * first day.) What is kept back for the end is METER_END: that nothing
 * follows tells the outside something too, and costs it under 19 bits,
 * whatever came before.
 *
 * Hours are counted by a clock that never goes back, and that goes on over
 * boots (see budget.h). Amounts are in 1/256 bit.
 *
 * A meter outlives the process as a record on disk. Between two records at
 * most `allowance` is spent, and whoever finds a record after a crash adds
 * that much. So a meter never starts lower than it ended.
 */
#ifndef LIB_METER_H
#define LIB_METER_H

#include <stdbool.h>
#include <stdint.h>

#define METER_BIT     256
#define METER_SLOTS   25
#define METER_HOUR_MS 3600000
/* More than 2 MiB in a day is not a bound that anybody wants. */
#define METER_LIMIT_MAX (UINT32_MAX / METER_BIT * METER_BIT)
#define METER_SHARE     16 /* of the limit may be spent between records */
#ifndef METER_END
#define METER_END (20 * METER_BIT)
#endif

enum meter_part {
	METER_TIME, /* when; stays and retries; what a crash may have lost */
	METER_TYPE,
	METER_NAME,
	METER_PARTS
};

struct meter {
	uint64_t used; /* the sum of the slots */
	uint32_t limit;
	uint32_t hour; /* the one that runs, its slot by remainder */
	uint32_t slot[METER_PARTS][METER_SLOTS];
	uint32_t unsaved; /* spent since the last record */
	uint32_t allowance; /* that the last record speaks of; 0: no record */
	uint32_t refused; /* since the last report */
	uint32_t told_hour; /* of the last report, plus 1 */
	bool half_told; /* that half of it is spent, and still is */
};

/* A meter of zeroes has spent nothing in hour 0 and may spend nothing. */
void meter_limit(struct meter *, uint32_t limit);
/* Lets the hours pass; an hour that is over changes nothing. */
void meter_advance(struct meter *, uint32_t hour);
/* Spent in the window that ends in this hour. */
uint64_t meter_used(const struct meter *, uint32_t hour);
uint64_t meter_part(const struct meter *, enum meter_part, uint32_t hour);
/* What an event may still cost. */
uint64_t meter_left(const struct meter *, uint32_t hour);
bool meter_fits(const struct meter *, uint64_t cost);
/* Adds to the hour that runs. */
void meter_spend(struct meter *, enum meter_part, uint32_t cost);

/* Whether a record has to be on disk before what was spent is sent. */
bool meter_must_save(const struct meter *);
/* What a record that is written now says may follow it. */
uint32_t meter_allowance(const struct meter *);
void meter_saved(struct meter *);

/* True once as half of the limit is spent, and again only after it was not. */
bool meter_tell_half(struct meter *);
/* Counts a refusal. True for the first of an hour: *ret_count is how many
 * there were since the last one that was told, this one included. */
bool meter_tell_refused(struct meter *, uint32_t *ret_count);

#endif
