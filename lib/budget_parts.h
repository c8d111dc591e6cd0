/* SPDX-License-Identifier: BSD-2-Clause */
/* budget_parts - what the files of lib/budget share. */
#ifndef LIB_BUDGET_PARTS_H
#define LIB_BUDGET_PARTS_H

#include "lib/budget.h"
#include "lib/dns.h"

#define BUDGET_LABELS_MAX 127

/* All that pricing finds out, so that the commit need not hash again. */
struct budget_quote {
	struct budget_price price;
	struct alarm_weight weight; /* of the labels that are new */
	uint64_t name_hash;
	uint64_t label_hash[BUDGET_LABELS_MAX];
	uint8_t labels; /* 0: a known name, or one of an exact set */
	uint8_t gap;
};

/* Of the state as it is. */
void budget_quote(const struct budget *, const struct budget_key *,
    const struct budget_event *, uint64_t now_ms, struct budget_quote *ret);
/* What the key learns from an event that was paid. */
void budget_learn(struct budget_key *, const struct budget_event *,
    const struct budget_quote *, uint64_t now_ms);

/* What a refused name adds to the alarm. */
void budget_weigh_refused(const struct budget_key *, struct alarm *,
    const struct budget_event *, const struct budget_quote *,
    struct alarm_weight *ret);

/* The latest now_ms, which is set, by the ledger's clock. */
uint64_t budget_clock(struct budget *, uint64_t now_ms);
uint32_t budget_hour(const struct budget *, uint64_t now_ms);
/* Finds a slot by its id or makes one, emptied; BUDGET_NONE when full. */
uint32_t budget_claim_key(struct budget *, const struct budget_id *,
    bool *ret_new);
uint32_t budget_claim_sum(struct budget *, const struct budget_id *,
    bool *ret_new);
/* Whether nothing of it is needed any more. */
bool budget_key_is_over(const struct budget *, const struct budget_key *);
bool budget_sum_is_over(const struct budget *, const struct budget_sum *);

#endif
