/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_budget - what a lookup costs before it leaves, and who pays.
 *
 * The only place that asks the ledger. It is asked on the edge on which a
 * question leaves, with the time of that moment, in the order of sending; what
 * is not paid does not leave. Names that we ask on our own clock, and
 * refreshes of what was paid, are free: no client has a part in when they
 * leave. See budget.h and docs/leakage.md.
 */
#include "lib/engine_parts.h"

#include <string.h>

#include "lib/dns.h"
#include "lib/require.h"

#define SWEEP_MS METER_HOUR_MS
/* A and AAAA, TXT, MX, SRV, CAA: of one number as long as a key lives, however
 * a policy may change what it allows. */
#define TYPES 5

void
engine_budget_init(struct engine *e, struct arena *arena,
    const uint8_t seed[32])
{
	uint32_t keys_max = e->limits.budget.keys_max;

	budget_init(&e->budget, arena, &e->limits.budget, seed);
	budget_set_tick(&e->budget, e->limits.settings.tick_ms);
	e->key_sandbox = arena_take(arena, keys_max, sizeof(*e->key_sandbox));
	e->since_ms =
	    arena_take(arena, e->limits.sandboxes_max, sizeof(*e->since_ms));
	if (e->since_ms == NULL)
		return;
	memset(e->key_sandbox, 0, keys_max * sizeof(*e->key_sandbox));
	memset(e->since_ms, 0, e->limits.sandboxes_max * sizeof(*e->since_ms));
}

void
engine_budget_begin(struct engine *e, uint32_t sandbox)
{
	e->since_ms[sandbox] = e->now_ms;
}

void
engine_budget_close(struct engine *e, uint32_t sandbox)
{
	for (uint32_t key = table_oldest(&e->budget.keys); key != TABLE_NONE;
	     key = table_next(&e->budget.keys, key)) {
		if (e->key_sandbox[key] == 0 ||
		    (sandbox != 0 && e->key_sandbox[key] != sandbox))
			continue;
		e->key_sandbox[key] = 0;
		budget_close_key(&e->budget, key, e->now_ms);
	}
}

/* What a rule is called in the ledger: by kind and name, wherever it stands.
 * The exact names that are asked on demand are one. */
static struct budget_id
key_id(const struct policy_sandbox *sandbox, const struct verdict *verdict)
{
	uint8_t rule[1 + sizeof(verdict->rule_name.wire)];
	size_t len = 1;

	rule[0] = (uint8_t)verdict->kind;
	if (verdict->kind != RULE_EXACT) {
		memcpy(rule + 1, verdict->rule_name.wire,
		    verdict->rule_name.len);
		len += verdict->rule_name.len;
	}
	return budget_key_id(sandbox->name, rule, len);
}

static uint32_t
open_sum(struct engine *e, enum budget_level level, const char *name,
    uint32_t limit)
{
	struct budget_id id = budget_sum_id(level, name);

	return budget_open_sum(&e->budget, &id, level, limit, e->now_ms);
}

/* The key that pays for what a sandbox asks by a rule; BUDGET_NONE: there is
 * no room for it. */
static uint32_t
open_key(struct engine *e, uint32_t number, const struct verdict *verdict)
{
	const struct policy_sandbox *sandbox =
	    policy_sandbox(e->policy, number);
	const struct policy_profile *profile;
	struct budget_terms terms;
	struct budget_id id;
	uint32_t key;

	REQUIRE(sandbox != NULL && verdict->policy < e->policy->profile_count);
	profile = &e->policy->profiles[verdict->policy];
	terms.limit =
	    verdict->kind == RULE_EXACT ? profile->budget : verdict->budget;
	terms.names = verdict->kind == RULE_EXACT ? profile->exact_count : 0;
	terms.since_ms = e->since_ms[number];
	terms.sandbox_sum = open_sum(e, BUDGET_SANDBOX, sandbox->name,
	    e->limits.settings.budget_sandbox);
	terms.policy_sum =
	    open_sum(e, BUDGET_POLICY, profile->name, profile->budget_sum);
	if (terms.sandbox_sum == BUDGET_NONE || terms.policy_sum == BUDGET_NONE)
		return BUDGET_NONE;
	id = key_id(sandbox, verdict);
	key = budget_open_key(&e->budget, &id, &terms, e->now_ms);
	if (key != BUDGET_NONE)
		e->key_sandbox[key] = number;
	return key;
}

static struct budget_event
event_of(const struct dname *name, uint16_t type, const struct verdict *verdict,
    uint8_t asks)
{
	const uint16_t pair = RULE_TYPE_A | RULE_TYPE_AAAA;
	struct budget_event event = { .name = name,
		.labels = name->labels,
		.type_count =
		    (verdict->types & (uint16_t)~pair) == 0 ? 1 : TYPES,
		.asks = asks };

	if (verdict->kind != RULE_EXACT)
		event.labels =
		    (uint8_t)(name->labels - verdict->rule_name.labels);
	switch (type) {
	case DNS_TYPE_TXT:
		event.type = 1;
		break;
	case DNS_TYPE_MX:
		event.type = 2;
		break;
	case DNS_TYPE_SRV:
		event.type = 3;
		break;
	case DNS_TYPE_CAA:
		event.type = 4;
		break;
	default:
		event.type = 0;
		break;
	}
	return event;
}

static void
tell(struct engine *e, enum event_action action, const struct lookup *lookup,
    enum budget_level level, uint32_t count)
{
	const struct query *q = query_at(&e->queries, lookup->waiting.head);
	struct event *event = engine_event(e, action, lookup->sandbox,
	    q == NULL ? NULL : &q->client);

	event->has_question = true;
	event->name = lookup->name;
	event->type = lookup->parts[0].type;
	event->apex_labels = lookup->verdict.apex_labels;
	event->has_rule = lookup->verdict.kind != RULE_EXACT;
	event->rule_kind = lookup->verdict.kind;
	event->rule_name = lookup->verdict.rule_name;
	event->denial =
	    action == EVENT_BUDGET_EXCEEDED ? DENIAL_BUDGET : DENIAL_NONE;
	event->count = count;
	event->budget.level = level;
	budget_report(&e->budget, lookup->key, level, e->now_ms,
	    &event->budget.report);
}

/* Tells what came of a charge, and has it written before anything leaves. */
static bool
settle(struct engine *e, const struct lookup *lookup,
    enum budget_decision decision, const struct budget_result *result)
{
	static const enum budget_level levels[] = {
		[BUDGET_REFUSE_KEY] = BUDGET_KEY,
		[BUDGET_REFUSE_SANDBOX] = BUDGET_SANDBOX,
		[BUDGET_REFUSE_POLICY] = BUDGET_POLICY,
	};

	if (decision != BUDGET_PAY) {
		e->counts.unpaid++;
		if (result->refused > 0)
			tell(e, EVENT_BUDGET_EXCEEDED, lookup, levels[decision],
			    result->refused);
		return false;
	}
	effects_add(&e->effects, EFFECT_CHARGED)->u.charged.key = lookup->key;
	for (unsigned i = 0; i < BUDGET_LEVELS; i++)
		if ((result->half >> i & 1) != 0)
			tell(e, EVENT_BUDGET_NOTICE, lookup,
			    (enum budget_level)i, 1);
	return true;
}

static void
sweep(struct engine *e)
{
	if (e->now_ms < e->budget_sweep_ms)
		return;
	e->budget_sweep_ms = e->now_ms + SWEEP_MS;
	budget_sweep(&e->budget, e->now_ms);
}

bool
engine_budget_pay(struct engine *e, struct lookup *lookup)
{
	struct budget_event event = event_of(&lookup->name,
	    lookup->parts[0].type, &lookup->verdict, lookup->part_count);
	struct budget_result result;

	if (lookup->price != LOOKUP_UNPRICED)
		return lookup->price != LOOKUP_REFUSED;
	sweep(e);
	lookup->price = LOOKUP_REFUSED;
	lookup->key = open_key(e, lookup->sandbox, &lookup->verdict);
	if (lookup->key == BUDGET_NONE) {
		e->counts.unpaid++;
		e->counts.budget_full++;
		return false;
	}
	if (!settle(e, lookup,
		budget_charge(&e->budget, lookup->key, &event, e->now_ms,
		    &result),
		&result))
		return false;
	lookup->price = LOOKUP_PAID;
	lookup->paid_ms = e->now_ms;
	return true;
}

bool
engine_budget_pay_again(struct engine *e, const struct lookup *lookup)
{
	struct budget_result result;

	if (lookup->price != LOOKUP_PAID)
		return false;
	return settle(e, lookup,
	    budget_charge_retry(&e->budget, lookup->key, e->now_ms, &result),
	    &result);
}

bool
engine_budget_stay(struct engine *e, uint32_t key, bool asked)
{
	struct budget_result result;
	bool stays =
	    budget_charge_stay(&e->budget, key, asked, e->now_ms, &result);

	effects_add(&e->effects, EFFECT_CHARGED)->u.charged.key = key;
	return stays;
}

/* The key of what is asked there, where there is one; it is not made. */
static uint32_t
find_key(const struct engine *e, uint32_t number, const struct verdict *verdict)
{
	const struct policy_sandbox *sandbox =
	    policy_sandbox(e->policy, number);
	struct budget_id id;

	if (sandbox == NULL)
		return BUDGET_NONE;
	id = key_id(sandbox, verdict);
	return table_find(&e->budget.keys, &id);
}

bool
engine_budget_spent(const struct engine *e, uint32_t number,
    const struct verdict *verdict, struct budget_report *ret)
{
	uint32_t key = find_key(e, number, verdict);

	if (key == BUDGET_NONE || e->key_sandbox[key] != number)
		return false;
	budget_report(&e->budget, key, BUDGET_KEY, e->now_ms, ret);
	return true;
}

/* By the limit of now: a meter learns of another one as it is charged. */
static void
set_limit(struct budget_report *report, uint32_t limit)
{
	uint64_t gone = report->used + METER_END;

	report->limit = limit;
	report->left = gone >= limit ? 0 : limit - gone;
}

static bool
report_key(const struct engine *e, uint32_t number,
    const struct verdict *verdict, uint64_t now_ms, struct budget_report *ret)
{
	uint32_t key = find_key(e, number, verdict);
	const struct policy_sandbox *sandbox =
	    policy_sandbox(e->policy, number);
	const struct policy_profile *profile =
	    &e->policy->profiles[sandbox->profile];

	memset(ret, 0, sizeof(*ret));
	if (key != BUDGET_NONE)
		budget_report(&e->budget, key, BUDGET_KEY, now_ms, ret);
	set_limit(ret,
	    verdict->kind == RULE_EXACT ? profile->budget : verdict->budget);
	return key != BUDGET_NONE;
}

bool
engine_budget_of_rule(const struct engine *e, uint32_t number, uint32_t rule,
    uint64_t now_ms, struct budget_report *ret)
{
	struct verdict verdict = { .kind = RULE_EXACT };
	struct policy_rule at;

	if (rule != RULE_NONE) {
		policy_rule_at(e->policy, rule, &at);
		verdict.kind = at.kind;
		verdict.rule_name = at.name;
		verdict.budget = e->policy->terms[at.terms].budget;
	}
	return report_key(e, number, &verdict, now_ms, ret);
}

bool
engine_budget_of_sum(const struct engine *e, uint32_t number,
    enum budget_level level, uint64_t now_ms, struct budget_report *ret)
{
	const struct policy_sandbox *sandbox =
	    policy_sandbox(e->policy, number);
	const struct policy_profile *profile =
	    &e->policy->profiles[sandbox->profile];
	bool all = level == BUDGET_POLICY;
	struct budget_id id =
	    budget_sum_id(level, all ? profile->name : sandbox->name);
	uint32_t sum = table_find(&e->budget.sums, &id);

	memset(ret, 0, sizeof(*ret));
	if (sum != BUDGET_NONE)
		budget_report_sum(&e->budget, sum, now_ms, ret);
	set_limit(ret,
	    all ? profile->budget_sum : e->limits.settings.budget_sandbox);
	return sum != BUDGET_NONE;
}

/* Without a key, that of one which begins. */
static void
quote(const struct engine *e, uint32_t number, const struct verdict *verdict,
    const struct budget_event *event, uint64_t now_ms, struct engine_quote *ret)
{
	uint32_t key = find_key(e, number, verdict);
	struct budget_report report;
	uint32_t names = verdict->kind == RULE_EXACT
	    ? e->policy->profiles[verdict->policy].exact_count
	    : 0;

	if (key != BUDGET_NONE)
		budget_price(&e->budget, key, event, now_ms, &ret->price);
	else
		budget_price_new(&e->budget, names, e->since_ms[number], event,
		    now_ms, &ret->price);
	(void)report_key(e, number, verdict, now_ms, &report);
	ret->left = report.left;
	for (enum budget_level i = BUDGET_SANDBOX; i < BUDGET_LEVELS; i++) {
		(void)engine_budget_of_sum(e, number, i, now_ms, &report);
		if (report.left < ret->left)
			ret->left = report.left;
	}
}

enum engine_cost
engine_price(const struct engine *e, uint32_t number, const struct dname *name,
    uint16_t type, uint64_t now_ms, struct engine_quote *ret)
{
	struct verdict verdict = engine_explain(e->policy, number, name, type);
	struct budget_event event;

	if (verdict.denial != DENIAL_NONE || engine_is_quarantined(e, number))
		return COST_DENIED;
	if (verdict.audit && verdict.would != DENIAL_NONE)
		return COST_AUDIT;
	if (verdict.localhost || verdict.addr_count > 0)
		return COST_LOCAL;
	if (verdict.scheduled)
		return COST_SCHEDULED;
	if (cache_find(&e->cache, number, name, type, now_ms) != NULL)
		return COST_CACHED;
	event = event_of(name, type, &verdict, lookup_is_pair(type) ? 2 : 1);
	quote(e, number, &verdict, &event, now_ms, ret);
	return COST_PRICE;
}
