/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_policy - what the engine decides by, and how it is replaced. The life
 * of a query is in engine.c; the walk over the ledger in engine_pins.c.
 */
#include "lib/engine_parts.h"

/* A grace that the cap has no room for is cut, so that there is something
 * left to tell: two seconds, of which one may pass until it is told. */
static void
fit_grace(struct engine_settings *set)
{
	uint32_t most_ms = set->pin_cap_ms > 2000 ? set->pin_cap_ms - 2000 : 0;

	if (set->pin_grace_ms > most_ms)
		set->pin_grace_ms = most_ms;
}

void
engine_set_settings(struct engine *e, const struct engine_settings *settings)
{
	e->limits.settings = *settings;
	fit_grace(&e->limits.settings);
}

/* A number that nobody had until now: its sandbox answers for its own deeds
 * only, not for those of whoever had it once. */
static void
forgive_newcomers(struct engine *e, const struct policy *policy)
{
	if (e->policy == NULL)
		return;
	for (uint32_t i = 1; i <= policy->sandbox_count; i++)
		if (policy_sandbox(e->policy, i) == NULL &&
		    policy_sandbox(policy, i) != NULL)
			tunnel_forgive(&e->tunnel, i);
}

void
engine_set_policy(struct engine *e, const struct policy *policy,
    uint64_t now_ms)
{
	engine_enter(e, now_ms);
	forgive_newcomers(e, policy);
	e->policy = policy;
	e->policy_generation++;
	cache_drop(&e->cache, 0);
	engine_pins_rejudge(e);
}

void
engine_set_wall(struct engine *e, uint64_t wall_ms, uint64_t now_ms)
{
	engine_enter(e, now_ms);
	e->wall_offset_ms = wall_ms - now_ms;
}

struct verdict
engine_explain(const struct policy *policy, uint32_t sandbox,
    const struct dname *name, uint16_t type)
{
	struct question question = {
		.name = *name,
		.type = type,
		.class = DNS_CLASS_IN,
		.has_header = true,
		.has_name = true,
	};

	return policy_match(policy, sandbox, &question);
}
