/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_warm - refreshes of what was paid for, on our own clock, and what
 * becomes of it when its time is over.
 *
 * A refresh goes on whatever its sandbox does, is quarantined, or has gone:
 * when it leaves follows from what was paid and what was answered. See warm.h.
 */
#include "lib/engine_parts.h"

#include "lib/dns.h"
#include "lib/require.h"

void
engine_warm_init(struct engine *e, struct arena *arena,
    const uint8_t secret[16])
{
	warm_init(&e->warm, arena, &e->limits.warm, secret);
}

static void
keep_warm(struct engine *e, const struct lookup *lookup, uint32_t ttl_s)
{
	struct warm_item *item;

	if (lookup->price == LOOKUP_PAID) {
		const struct warm_question question = {
			.sandbox = lookup->sandbox,
			.key = lookup->key,
			.name = &lookup->name,
			.type = lookup->parts[0].type,
			.ends_ms = lookup->paid_ms + e->limits.settings.warm_ms,
		};

		warm_put(&e->warm, &question, ttl_s, e->now_ms);
		return;
	}
	item = warm_find(&e->warm, lookup->sandbox, &lookup->name,
	    lookup->parts[0].type);
	if (item != NULL)
		warm_refreshed(&e->warm, item, ttl_s, e->now_ms);
}

void
engine_keep(struct engine *e, const struct lookup *lookup)
{
	const struct engine_settings *set = &e->limits.settings;
	uint32_t ttl_s = lookup_ttl(lookup, set->ttl_floor_s, set->ttl_cap_s,
	    set->ttl_negative_s);

	if (lookup->sandbox != 0)
		cache_put(&e->cache, lookup->sandbox, &lookup->name,
		    lookup->parts[0].type, &lookup->result, ttl_s, e->now_ms);
	keep_warm(e, lookup, ttl_s);
}

void
engine_warm_asked(struct engine *e, const struct query *q)
{
	struct warm_item *item = warm_find(&e->warm, q->client.sandbox,
	    &q->question.name, q->question.type);

	if (item != NULL)
		item->asked = true;
}

/* One that goes on, or lapses. */
static void
end(struct engine *e, struct warm_item *item)
{
	if (engine_budget_stay(e, item->key, item->asked))
		warm_stay(&e->warm, item,
		    item->ends_ms + e->limits.settings.warm_ms);
	else
		warm_drop(&e->warm, item);
}

/* One lookup, unless one that was paid runs already. */
static void
refresh(struct engine *e, const struct warm_item *item)
{
	struct lookup *lookup;
	lookup_id id;

	if (lookup_find(&e->lookups, item->sandbox, &item->name, item->type,
		&id) != NULL)
		return;
	lookup = lookup_open_own(&e->lookups, item->sandbox, &item->name,
	    item->type, e->now_ms, &id);
	REQUIRE(lookup != NULL);
	e->counts.lookups++;
	lookup->warm = true;
	lookup_set_deadline(&e->lookups, id,
	    e->now_ms + e->limits.settings.lookup_ms);
	for (uint8_t i = 0; i < lookup->part_count; i++)
		engine_depart(e, id, i, false);
}

bool
engine_warm_step(struct engine *e)
{
	struct warm_item *item;

	if (!e->warm_open)
		return false;
	item = lookup_own_room(&e->lookups) == 0
	    ? NULL
	    : warm_due(&e->warm, e->now_ms);
	if (item == NULL)
		e->warm_open = false;
	else if (e->now_ms >= item->ends_ms)
		end(e, item);
	else
		refresh(e, item);
	return true;
}

uint64_t
engine_warm_deadline(const struct engine *e)
{
	if (lookup_own_room(&e->lookups) == 0)
		return DEADLINE_NEVER;
	return warm_next(&e->warm);
}

/* Whether a question would still be asked for its sandbox alone. */
static bool
is_allowed(const struct engine *e, const struct warm_item *item)
{
	struct question question = {
		.name = item->name,
		.type = item->type,
		.class = DNS_CLASS_IN,
		.has_header = true,
		.has_name = true,
	};
	struct verdict verdict =
	    policy_match(e->policy, item->sandbox, &question);

	return verdict.denial == DENIAL_NONE && !verdict.scheduled;
}

void
engine_warm_rejudge(struct engine *e)
{
	struct warm_item *item;

	for (uint32_t i = 1; i < e->limits.sandboxes_max; i++)
		if (policy_sandbox(e->policy, i) == NULL)
			warm_orphan(&e->warm, i);
	for (uint32_t slot = 0; (item = warm_walk(&e->warm, &slot)) != NULL;
	     slot++)
		if (item->sandbox != 0 && !is_allowed(e, item))
			warm_drop(&e->warm, item);
}
