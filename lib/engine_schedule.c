/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_schedule - exact names, asked on our own clock whoever is there to
 * use them, and questions that are answered from what that brought.
 *
 * Nothing that a client does makes, moves or stops an ask of these: they have
 * lookups of their own, under sandbox 0, which clients cannot use up; they are
 * not tried again when they fail, but have another turn; and a name that is
 * not known yet is waited for.
 */
#include "lib/engine_parts.h"

#include "lib/dns.h"
#include "lib/require.h"

void
engine_schedule_init(struct engine *e, struct arena *arena,
    const uint8_t secret[16])
{
	schedule_init(&e->schedule, arena, e->limits.scheduled_max, secret);
}

/* Wants what an exact rule allows to ask. */
static void
want_rule(struct engine *e, const struct policy_rule *rule,
    const struct policy_terms *terms)
{
	static const struct {
		uint16_t bits, type;
	} groups[] = {
		{ RULE_TYPE_A | RULE_TYPE_AAAA, DNS_TYPE_A },
		{ RULE_TYPE_TXT, DNS_TYPE_TXT },
		{ RULE_TYPE_MX, DNS_TYPE_MX },
		{ RULE_TYPE_SRV, DNS_TYPE_SRV },
		{ RULE_TYPE_CAA, DNS_TYPE_CAA },
	};

	for (size_t i = 0; i < ARRAY_LEN(groups); i++)
		if ((terms->types & groups[i].bits) != 0 &&
		    !schedule_want(&e->schedule, &rule->name, groups[i].type,
			e->now_ms))
			e->counts.schedule_full++;
}

/* Whoever waits for a name that goes is judged anew, and told. */
static void
drop_unwanted(struct engine *e)
{
	struct schedule_item *item;
	uint32_t slot;
	uint64_t id;

	while ((item = schedule_unwanted(&e->schedule, &slot)) != NULL) {
		while ((id = item->waiting.head) != 0) {
			struct query *q = query_at(&e->queries, id);

			q->denial = DENIAL_UPSTREAM_BROKEN;
			q->stage = QUERY_READY;
			query_move(&e->queries, id, &e->queries.ready);
		}
		schedule_drop(&e->schedule, slot);
	}
}

void
engine_schedule_follow(struct engine *e)
{
	const struct policy *policy = e->policy;

	schedule_begin(&e->schedule);
	for (uint32_t i = 0; i < policy->rule_count; i++) {
		struct policy_rule rule;

		if (!policy_rule_is_scheduled(policy, i))
			continue;
		policy_rule_at(policy, i, &rule);
		want_rule(e, &rule, &policy->terms[rule.terms]);
	}
	drop_unwanted(e);
}

/* A turn: one lookup, unless that of the turn before is still running. */
static void
look_up(struct engine *e, const struct schedule_item *item)
{
	struct lookup *lookup;
	lookup_id id;

	if (lookup_find(&e->lookups, 0, &item->name, item->type, &id) != NULL)
		return;
	lookup = lookup_open_own(&e->lookups, 0, &item->name, item->type,
	    e->now_ms, &id);
	REQUIRE(lookup != NULL);
	e->counts.lookups++;
	lookup_set_deadline(&e->lookups, id,
	    e->now_ms + e->limits.settings.lookup_ms);
	for (uint8_t i = 0; i < lookup->part_count; i++)
		engine_depart(e, id, i, false);
}

void
engine_schedule_expire(struct engine *e)
{
	const struct schedule_item *item;

	while (lookup_own_room(&e->lookups) > 0 &&
	    (item = schedule_take(&e->schedule, e->now_ms)) != NULL)
		look_up(e, item);
}

uint64_t
engine_schedule_deadline(const struct engine *e)
{
	if (lookup_own_room(&e->lookups) == 0)
		return DEADLINE_NEVER;
	return schedule_next(&e->schedule);
}

/* What is known, without the addresses that this policy does not allow. */
static void
take(struct engine *e, struct query *q, const struct schedule_item *item)
{
	struct cache_entry entry = item->result;

	for (uint8_t i = 0; i < LOOKUP_PARTS_MAX; i++)
		if (!entry.failed[i])
			answer_protect(&entry.answers[i], &q->verdict,
			    &e->policy->protected_ranges);
	q->cached = true;
	q->answer_until_ms = item->until_ms;
	engine_take_answer(q, &entry, DENIAL_UPSTREAM_BROKEN);
	engine_report_fixed(e, q);
}

struct schedule_item *
engine_scheduled(struct engine *e, const struct query *q)
{
	if (!q->verdict.scheduled)
		return NULL;
	return schedule_find(&e->schedule, &q->question.name, q->question.type);
}

bool
engine_answer_scheduled(struct engine *e, struct query *q,
    const struct schedule_item *item)
{
	if (!schedule_holds(item, e->now_ms))
		return false;
	e->counts.cache_hits++;
	take(e, q, item);
	return true;
}

/* How long what a turn has brought may be used; 0: it brought nothing. */
static uint32_t
lifetime_s(const struct engine *e, const struct lookup *lookup)
{
	const struct engine_settings *set = &e->limits.settings;
	uint32_t ttl_s = lookup_ttl(lookup, set->ttl_floor_s, set->ttl_cap_s,
	    set->ttl_negative_s);
	uint8_t failed = 0, good = 0;

	for (uint8_t i = 0; i < lookup->part_count; i++) {
		if (lookup->result.failed[i])
			failed++;
		else if (lookup->result.answers[i].outcome == ANSWER_OK)
			good++;
	}
	if (failed == lookup->part_count)
		return 0;
	if (failed == 0 && good == 0)
		return SCHEDULE_TTL_ABSENT_S;
	return ttl_s < SCHEDULE_TTL_MIN_S ? SCHEDULE_TTL_MIN_S : ttl_s;
}

void
engine_schedule_done(struct engine *e, const struct lookup *lookup)
{
	struct schedule_item *item =
	    schedule_find(&e->schedule, &lookup->name, lookup->parts[0].type);
	uint32_t ttl_s = lifetime_s(e, lookup);
	uint64_t id;

	if (item == NULL || ttl_s == 0)
		return;
	schedule_put(&e->schedule, item, &lookup->result, ttl_s, e->now_ms);
	while ((id = item->waiting.head) != 0) {
		struct query *q = query_at(&e->queries, id);

		take(e, q, item);
		q->cached = false;
		q->stage = QUERY_READY;
		query_move(&e->queries, id, &e->queries.ready);
	}
}
