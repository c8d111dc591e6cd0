/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/budget_rig.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

static const uint8_t SEED[32] = "a seed for a ledger under test";

struct dname
rig_name(const char *text)
{
	struct dname name;

	if (!dname_from_text(text, strlen(text), &name))
		ck_abort_msg("no name: %s", text);
	return name;
}

void
rig_open_empty(struct budget_rig *rig, uint32_t keys_max)
{
	struct budget_limits limits = {
		.keys_max = keys_max == 0 ? RIG_KEYS : keys_max,
		.sums_max = RIG_SUMS,
	};
	struct arena arena;

	memset(rig, 0, sizeof(*rig));
	arena_init(&arena, NULL, 0);
	budget_init(&rig->budget, &arena, &limits, SEED);
	rig->block = malloc(arena.used);
	ck_assert_ptr_nonnull(rig->block);
	arena_init(&arena, rig->block, arena.used);
	budget_init(&rig->budget, &arena, &limits, SEED);
	ck_assert(!arena.exhausted);
}

uint32_t
rig_key(struct budget_rig *rig, const char *sandbox, const char *rule,
    uint32_t limit, uint64_t now_ms)
{
	struct budget_id id = budget_key_id(sandbox, rule, strlen(rule));
	struct budget_terms terms = {
		.limit = BITS(limit),
		.sandbox_sum = rig->sandbox,
		.policy_sum = rig->policy,
		.since_ms = now_ms,
	};

	return budget_open_key(&rig->budget, &id, &terms, now_ms);
}

uint32_t
rig_sum(struct budget_rig *rig, enum budget_level level, const char *name,
    uint64_t now_ms)
{
	struct budget_id id = budget_sum_id(level, name);

	return budget_open_sum(&rig->budget, &id, level, BITS(1 << 20), now_ms);
}

void
rig_open(struct budget_rig *rig, uint32_t limit)
{
	rig_open_empty(rig, 0);
	rig->sandbox = rig_sum(rig, BUDGET_SANDBOX, "box1", 0);
	rig->policy = rig_sum(rig, BUDGET_POLICY, "agent", 0);
	rig->key = rig_key(rig, "box1", "*.example.com", limit, 0);
	ck_assert(rig->key != BUDGET_NONE);
}

void
rig_close(struct budget_rig *rig)
{
	free(rig->block);
}

enum budget_decision
rig_charge(struct budget_rig *rig, const char *text, uint8_t labels,
    uint64_t now_ms, struct budget_result *ret)
{
	struct dname name = rig_name(text);
	struct budget_event event = {
		.name = &name,
		.labels = labels,
		.type_count = 1,
		.asks = 1,
	};

	return budget_charge(&rig->budget, rig->key, &event, now_ms, ret);
}

uint64_t
rig_used(const struct budget_rig *rig, enum budget_level level, uint64_t now_ms)
{
	struct budget_report report;

	budget_report(&rig->budget, rig->key, level, now_ms, &report);
	return report.used;
}
