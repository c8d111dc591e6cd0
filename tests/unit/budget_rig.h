/* SPDX-License-Identifier: BSD-2-Clause */
/* budget_rig - a ledger with one sandbox and one key, for several tests. */
#ifndef TESTS_UNIT_BUDGET_RIG_H
#define TESTS_UNIT_BUDGET_RIG_H

#include "lib/budget.h"

#define RIG_KEYS 8
#define RIG_SUMS 6
#define BITS(n)  ((uint32_t)(n)*BUDGET_BIT)

struct budget_rig {
	struct budget budget;
	void *block; /* to free() */
	uint32_t sandbox, policy, key;
};

struct dname rig_name(const char *text);
/* An empty ledger; keys_max 0: RIG_KEYS. */
void rig_open_empty(struct budget_rig *, uint32_t keys_max);
/* One with a wildcard of this limit, in bits, and sums of 2^20 bits. */
void rig_open(struct budget_rig *, uint32_t limit);
/* Opens a sum of 2^20 bits. */
uint32_t rig_sum(struct budget_rig *, enum budget_level, const char *name,
    uint64_t now_ms);
/* Opens the key of a sandbox under the sums of the rig. */
uint32_t rig_key(struct budget_rig *, const char *sandbox, const char *rule,
    uint32_t limit, uint64_t now_ms);
void rig_close(struct budget_rig *);

/* Charges a name with so many labels under its rule; type 0 of 1, one ask. */
enum budget_decision rig_charge(struct budget_rig *, const char *name,
    uint8_t labels, uint64_t now_ms, struct budget_result *ret);
uint64_t rig_used(const struct budget_rig *, enum budget_level,
    uint64_t now_ms);

#endif
