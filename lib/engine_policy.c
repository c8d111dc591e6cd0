/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_policy - what the engine decides by, and how it is replaced. The life
 * of a query is in engine.c; the walk over the ledger in engine_pins.c.
 */
#include "lib/engine_parts.h"

#include "lib/dns.h"
#include "lib/require.h"

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
	/* Not yet, while the engine is made. */
	if (e->budget.tick_ms == 0 || e->budget.tick_ms == settings->tick_ms)
		return;
	budget_set_tick(&e->budget, settings->tick_ms);
	engine_edges_shift(e);
}

/* A number that nobody had until now: its sandbox answers for its own deeds
 * only, not for those of whoever had it once. */
static void
forgive_newcomers(struct engine *e, const struct policy *policy)
{
	if (e->policy == NULL) {
		for (uint32_t i = 1; i < e->limits.sandboxes_max; i++)
			engine_budget_begin(e, i);
		return;
	}
	for (uint32_t i = 1; i <= policy->sandbox_count; i++)
		if (policy_sandbox(e->policy, i) == NULL &&
		    policy_sandbox(policy, i) != NULL) {
			tunnel_forgive(&e->tunnel, i);
			engine_quarantine_forget(e, i);
			engine_budget_begin(e, i);
		}
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
	engine_budget_close(e, 0);
	engine_schedule_follow(e);
	engine_warm_rejudge(e);
	engine_pins_rejudge(e, 0);
}

void
engine_regrant(struct engine *e, uint32_t sandbox, uint64_t now_ms)
{
	engine_enter(e, now_ms);
	e->policy_generation++;
	cache_drop(&e->cache, sandbox);
	engine_pins_rejudge(e, sandbox);
}

/* A scheduled name, if the schedule still has it; or what was paid by a
 * sandbox that has gone, which nothing takes back. */
static enum denial
judge_nobodys(struct engine *e, const struct lookup *lookup)
{
	if (!lookup->own || lookup->warm)
		return DENIAL_NONE;
	return schedule_find(&e->schedule, &lookup->name,
		   lookup->parts[0].type) != NULL
	    ? DENIAL_NONE
	    : DENIAL_UNLISTED;
}

void
engine_refresh_verdict(struct engine *e, struct lookup *lookup)
{
	struct question question = {
		.name = lookup->name,
		.type = lookup->parts[0].type,
		.class = DNS_CLASS_IN,
		.has_header = true,
		.has_name = true,
	};

	if (lookup->sandbox == 0) {
		lookup->verdict.denial = judge_nobodys(e, lookup);
		return;
	}
	if (lookup->policy_generation != e->policy_generation)
		lookup->verdict =
		    policy_match(e->policy, lookup->sandbox, &question);
	lookup->policy_generation = e->policy_generation;
	if (!lookup->own && engine_is_quarantined(e, lookup->sandbox))
		lookup->verdict.denial = DENIAL_QUARANTINED;
}

/* Whatever they wait for. */
static void
refuse_waiting(struct engine *e, uint32_t sandbox)
{
	struct queries *queries = &e->queries;

	for (uint32_t slot = pool_next(&queries->pool, 0); slot != POOL_NONE;
	     slot = pool_next(&queries->pool, slot + 1)) {
		struct query *q = &queries->query[slot];

		if (q->client.sandbox != sandbox)
			continue;
		q->denial = DENIAL_UNKNOWN_SOURCE;
		q->stage = QUERY_PINNED;
		query_move(queries, pool_id(&queries->pool, slot),
		    &queries->ready);
	}
}

/* What was paid goes on, further tries included, for nobody: whether it does
 * would otherwise show outside when the sandbox went. */
static void
leave_lookups(struct engine *e, uint32_t sandbox)
{
	struct lookups *lookups = &e->lookups;

	for (uint32_t slot = pool_next(&lookups->pool, 0); slot != POOL_NONE;
	     slot = pool_next(&lookups->pool, slot + 1)) {
		const struct lookup *lookup = &lookups->lookup[slot];

		if (lookup->sandbox != sandbox)
			continue;
		if (lookup->price == LOOKUP_UNPRICED ||
		    lookup->price == LOOKUP_REFUSED)
			lookup_close(lookups, pool_id(&lookups->pool, slot));
		else
			lookup_orphan(lookups, pool_id(&lookups->pool, slot));
	}
}

void
engine_attach(struct engine *e, uint32_t sandbox, uint64_t now_ms)
{
	engine_enter(e, now_ms);
	REQUIRE(policy_sandbox(e->policy, sandbox) != NULL);
	engine_budget_begin(e, sandbox);
}

void
engine_detach(struct engine *e, uint32_t sandbox, uint64_t now_ms)
{
	engine_enter(e, now_ms);
	REQUIRE(sandbox > 0 && policy_sandbox(e->policy, sandbox) != NULL);
	refuse_waiting(e, sandbox);
	leave_lookups(e, sandbox);
	warm_orphan(&e->warm, sandbox);
	cache_drop(&e->cache, sandbox);
	tunnel_forgive(&e->tunnel, sandbox);
	engine_quarantine_forget(e, sandbox);
	engine_budget_close(e, sandbox);
	engine_pins_forget(e, sandbox);
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
