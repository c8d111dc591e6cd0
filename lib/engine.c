/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine - the life of a query, in the order in which things happen.
 *
 * A query waits in two places only, for the upstream and for the kernel, so
 * there are three inputs on its way: engine_query() judges it, engine_answer()
 * has what the upstream said, engine_pinned() what the kernel said. Between
 * them stand pin(), which asks the kernel for every address before it is
 * told, and reply(), the only function that replies. reply() asks the ledger
 * once more and leaves out what is not held: whatever went wrong on the way,
 * an address that the kernel does not hold cannot leave.
 */
#include "lib/engine.h"

#include <errno.h>
#include <string.h>

#include "lib/dns.h"
#include "lib/engine_parts.h"
#include "lib/require.h"

/* One step adds at most a pin and a record for each address and service of
 * an answer, a reply, and a few events. */
#define STEP_EFFECTS_MAX (ANSWER_ADDRS_MAX * RULE_SERVICES_MAX * 2 + 8)

enum fate {
	FATE_DENY,
	FATE_ANSWER,
	FATE_WAIT, /* for a name that is asked anyway */
	FATE_LOOK_UP
};

static void pin(struct engine *, uint64_t id, struct query *);
static void reply(struct engine *, uint64_t id, struct query *);

static void
init_lookups(struct engine *e, struct arena *arena, const uint8_t secret[16])
{
	const struct lookup_limits limits = {
		.lookups_max = e->limits.lookups_max,
		.per_sandbox_max = e->limits.lookups_per_sandbox_max,
		.own_max = ENGINE_OWN_LOOKUPS,
		.sandboxes_max = e->limits.sandboxes_max,
	};
	uint8_t seed[32];

	lookups_init(&e->lookups, arena, &limits, secret);
	engine_schedule_init(e, arena, secret);
	rng_bytes(&e->rng, seed, sizeof(seed));
	engine_budget_init(e, arena, seed);
	engine_warm_init(e, arena, secret);
}

int
engine_init(struct engine *e, const struct engine_limits *limits,
    struct arena *arena, const uint8_t seed[32])
{
	uint8_t secret[16];

	memset(e, 0, sizeof(*e));
	e->limits = *limits;
	engine_set_settings(e, &limits->settings);
	e->settling = true;
	rng_init(&e->rng, seed);
	rng_bytes(&e->rng, secret, sizeof(secret));
	effects_init(&e->effects, arena, STEP_EFFECTS_MAX);
	queries_init(&e->queries, arena, limits->queries_max,
	    limits->queries_per_sandbox_max, limits->sandboxes_max);
	init_lookups(e, arena, secret);
	cache_init(&e->cache, arena, &limits->cache, secret);
	pins_init(&e->pins, arena, &limits->pins, secret);
	tunnel_init(&e->tunnel, arena, &limits->tunnel, secret);
	engine_edges_init(e, arena);
	engine_pins_init(e, arena);
	engine_quarantine_init(e, arena);
	return arena->exhausted ? -ENOMEM : 0;
}

static bool
is_drained(const struct engine *e)
{
	return e->effects.count == 0 && e->queries.ready.head == 0 &&
	    e->rejudge_slot == TABLE_NONE && !e->departures.open &&
	    !e->warm_open && e->quarantines_due == 0;
}

void
engine_enter(struct engine *e, uint64_t now_ms)
{
	REQUIRE(now_ms >= e->now_ms);
	REQUIRE(is_drained(e));
	e->now_ms = now_ms;
}

/*
 * First section: a question.
 */

/* Only notes the reason; what a reason looks like on the wire is one table
 * in denial.c. */
static enum fate
deny(struct query *q, enum denial why)
{
	q->denial = why;
	return FATE_DENY;
}

void
engine_take_answer(struct query *q, const struct cache_entry *entry,
    enum denial failure)
{
	uint8_t part = lookup_part_of(entry, q->question.type, &q->verdict);

	q->denial = lookup_judge(entry, part, &q->verdict, failure);
	if (!entry->failed[part])
		q->answer = entry->answers[part];
}

static bool
answer_from_cache(struct engine *e, struct query *q)
{
	const struct cache_entry *entry = cache_find(&e->cache,
	    q->client.sandbox, &q->question.name, q->question.type, e->now_ms);

	if (entry == NULL)
		return false;
	e->counts.cache_hits++;
	engine_warm_asked(e, q);
	q->cached = true;
	q->answer_until_ms = entry->until_ms;
	engine_take_answer(q, entry, DENIAL_UPSTREAM_BROKEN);
	return true;
}

static void
match_policy(const struct engine *e, struct query *q)
{
	q->verdict = policy_match(e->policy, q->client.sandbox, &q->question);
	q->policy_generation = e->policy_generation;
}

/*
 * judge - decide what becomes of a query.
 *
 * The order is the policy: cheap before dear, refusal before cost. Every
 * question that has a name is observed, refused ones above all, since a
 * tunnel is recognised by what it tries.
 */
static enum fate
judge(struct engine *e, struct query *q, const uint8_t *wire, size_t len)
{
	enum denial why = question_parse(&q->question, wire, len);
	const struct schedule_item *item;
	struct addr addr;

	q->question.over_tcp = q->client.stream != 0;
	if (why == DENIAL_DROP || !q->question.has_name)
		return deny(q, why == DENIAL_NONE ? DENIAL_MALFORMED : why);
	if (q->client.sandbox == 0)
		return deny(q, DENIAL_UNKNOWN_SOURCE);

	match_policy(e, q);
	engine_observe(e, q);
	if (why != DENIAL_NONE)
		return deny(q, why);
	if (engine_is_quarantined(e, q->client.sandbox))
		return deny(q, DENIAL_QUARANTINED);
	if (e->settling)
		return deny(q, DENIAL_UNPINNED);
	if (q->verdict.denial == DENIAL_PTR &&
	    engine_read_reverse(&q->question.name, &addr)) {
		why = engine_answer_reverse(e, q, &addr);
		return why == DENIAL_NONE ? FATE_ANSWER : deny(q, why);
	}
	if (q->verdict.denial != DENIAL_NONE)
		return deny(q, q->verdict.denial);

	if (q->verdict.localhost || q->verdict.addr_count > 0) {
		why = engine_answer_here(e, q);
		engine_report_fixed(e, q);
		return why == DENIAL_NONE ? FATE_ANSWER : deny(q, why);
	}
	item = engine_scheduled(e, q);
	if (item != NULL && !engine_answer_scheduled(e, q, item))
		return FATE_WAIT;
	if (item != NULL || answer_from_cache(e, q))
		return q->denial == DENIAL_NONE ? FATE_ANSWER : FATE_DENY;

	why = tunnel_judge(&e->tunnel, q->client.sandbox, &q->question,
	    &q->verdict);
	if (why != DENIAL_NONE && !q->verdict.audit)
		return deny(q, why);
	return FATE_LOOK_UP;
}

static struct lookup *
begin_lookup(struct engine *e, const struct query *q, lookup_id *ret_id)
{
	struct lookup *lookup = lookup_open(&e->lookups, q->client.sandbox,
	    &q->question.name, q->question.type, e->now_ms, ret_id);

	if (lookup == NULL)
		return NULL;
	e->counts.lookups++;
	lookup->verdict = q->verdict;
	lookup->policy_generation = q->policy_generation;
	lookup_set_deadline(&e->lookups, *ret_id,
	    e->now_ms + e->limits.settings.lookup_ms);
	for (uint8_t i = 0; i < lookup->part_count; i++)
		engine_depart(e, *ret_id, i, false);
	return lookup;
}

static void
take_result(struct engine *e, uint64_t id, struct query *q,
    const struct lookup *lookup)
{
	const struct engine_settings *set = &e->limits.settings;
	uint8_t part =
	    lookup_part_of(&lookup->result, q->question.type, &q->verdict);
	uint32_t ttl_s = lookup->result.answers[part].ttl_s;

	if (ttl_s > set->ttl_cap_s)
		ttl_s = set->ttl_cap_s;
	if (ttl_s < set->ttl_floor_s)
		ttl_s = set->ttl_floor_s;
	q->answer_until_ms = e->now_ms + (uint64_t)ttl_s * 1000;
	engine_take_answer(q, &lookup->result,
	    lookup_failure_denial(lookup->parts[part].failure));
	q->stage = QUERY_READY;
	query_move(&e->queries, id, &e->queries.ready);
}

/* Joins the lookup of this sandbox that is already running for the name, or
 * opens one. */
static void
look_up(struct engine *e, uint64_t id, struct query *q)
{
	lookup_id running;
	struct lookup *lookup = lookup_find(&e->lookups, q->client.sandbox,
	    &q->question.name, q->question.type, &running);

	if (lookup == NULL)
		lookup = begin_lookup(e, q, &running);
	if (lookup == NULL) {
		e->counts.overload++;
		q->denial = DENIAL_OVERLOAD;
		reply(e, id, q);
		return;
	}
	if (lookup->warm)
		engine_warm_asked(e, q);
	if (lookup_decides(lookup, q->question.type)) {
		take_result(e, id, q, lookup);
		return;
	}
	q->stage = QUERY_LOOKING_UP;
	query_move(&e->queries, id, &lookup->waiting);
}

/* No room for one more query: it is refused on the spot. */
static void
refuse(struct engine *e, const struct client *client, const uint8_t *wire,
    size_t len)
{
	struct query q;
	enum denial why;

	memset(&q, 0, sizeof(q));
	q.client = *client;
	q.opened_ms = e->now_ms;
	why = question_parse(&q.question, wire, len);
	q.question.over_tcp = client->stream != 0;
	q.denial = why != DENIAL_NONE ? why : DENIAL_OVERLOAD;
	e->counts.overload++;
	reply(e, 0, &q);
}

void
engine_query(struct engine *e, const struct client *client, const uint8_t *wire,
    size_t len, uint64_t now_ms)
{
	struct query *q;
	uint64_t id;

	engine_enter(e, now_ms);
	REQUIRE(e->policy != NULL);
	e->counts.queries++;
	q = query_open(&e->queries, client,
	    now_ms + e->limits.settings.question_ms, now_ms, &id);
	if (q == NULL) {
		refuse(e, client, wire, len);
		return;
	}
	switch (judge(e, q, wire, len)) {
	case FATE_DENY:
		reply(e, id, q);
		return;
	case FATE_ANSWER:
		pin(e, id, q);
		return;
	case FATE_WAIT:
		q->stage = QUERY_LOOKING_UP;
		query_move(&e->queries, id, &engine_scheduled(e, q)->waiting);
		return;
	case FATE_LOOK_UP:
		look_up(e, id, q);
		return;
	}
	UNREACHABLE();
}

/*
 * Second section: what the upstream said.
 */

/* A part is in, or has failed: whoever can be decided goes on. */
static void
part_done(struct engine *e, struct lookup *lookup, lookup_id id)
{
	uint64_t query = lookup->waiting.head;
	bool any = false;

	while (query != 0) {
		struct query *q = query_at(&e->queries, query);
		uint64_t next = q->next;

		if (lookup_decides(lookup, q->question.type))
			take_result(e, query, q, lookup);
		query = next;
	}
	if (!lookup_is_done(lookup))
		return;
	for (uint8_t i = 0; i < lookup->part_count; i++)
		any = any || !lookup->result.failed[i];
	if (lookup->own && !lookup->warm)
		engine_schedule_done(e, lookup);
	else if (any)
		engine_keep(e, lookup);
	lookup_close(&e->lookups, id);
}

static void
fail_part(struct lookup *lookup, uint8_t part, enum ask_failure failure)
{
	lookup->parts[part].state = LOOKUP_FAILED;
	lookup->parts[part].failure = failure;
}

void
engine_part_failed(struct engine *e, lookup_id id, uint8_t part,
    enum ask_failure failure)
{
	struct lookup *lookup = lookup_at(&e->lookups, id);

	REQUIRE(lookup != NULL);
	fail_part(lookup, part, failure);
	part_done(e, lookup, id);
}

/* The part that an input is about, or NULL when it comes too late. */
static struct lookup *
find_part(struct engine *e, lookup_id id, uint8_t part)
{
	struct lookup *lookup = lookup_at(&e->lookups, id);

	if (lookup == NULL || part >= lookup->part_count ||
	    lookup->parts[part].state != LOOKUP_ASKED) {
		e->counts.stale_answers++;
		return NULL;
	}
	return lookup;
}

static bool
belongs(const struct lookup *lookup, uint8_t part, const uint8_t *wire,
    size_t len)
{
	struct ask asked = {
		.name = lookup->name,
		.type = lookup->parts[part].type,
		.id = lookup->parts[part].ask_id,
		.stream = lookup->parts[part].stream,
	};

	return ask_matches(&asked, wire, len);
}

void
engine_answer(struct engine *e, lookup_id id, uint8_t part, const uint8_t *wire,
    size_t len, uint64_t now_ms)
{
	struct lookup *lookup;
	struct lookup_part *p;

	engine_enter(e, now_ms);
	lookup = find_part(e, id, part);
	if (lookup == NULL)
		return;
	if (!belongs(lookup, part, wire, len)) {
		e->counts.stale_answers++;
		return;
	}
	engine_refresh_verdict(e, lookup);
	p = &lookup->parts[part];

	struct vetting vetting = { .verdict = &lookup->verdict,
		.ranges = &e->policy->protected_ranges,
		.rng = &e->rng,
		.keep_protected = lookup->own && !lookup->warm };
	switch (answer_vet(&lookup->result.answers[part], &lookup->name,
	    p->type, &vetting, wire, len)) {
	case ANSWER_OK:
	case ANSWER_NO_DATA:
	case ANSWER_NO_NAME:
	case ANSWER_PROTECTED:
		p->state = LOOKUP_ANSWERED;
		lookup->result.failed[part] = false;
		engine_report_protected(e, lookup, part);
		break;
	case ANSWER_TRUNCATED:
		if (!p->stream && lookup->verdict.denial == DENIAL_NONE) {
			p->stream = true;
			engine_depart(e, id, part, false);
			return;
		}
		fail_part(lookup, part, ASK_BROKEN);
		break;
	case ANSWER_BOGUS:
		fail_part(lookup, part, ASK_BROKEN);
		break;
	}
	part_done(e, lookup, id);
}

void
engine_ask_again(struct engine *e, lookup_id id, uint8_t part,
    const struct ask_trail *trail, uint64_t now_ms)
{
	struct lookup *lookup;

	engine_enter(e, now_ms);
	lookup = find_part(e, id, part);
	if (lookup == NULL)
		return;
	lookup->parts[part].trail = *trail;
	/* Another turn comes soon enough, and none the sooner for a loss. */
	if (lookup->own)
		engine_part_failed(e, id, part, ASK_BROKEN);
	else
		engine_depart(e, id, part, true);
}

void
engine_ask_failed(struct engine *e, lookup_id id, uint8_t part,
    enum ask_failure failure, uint64_t now_ms)
{
	struct lookup *lookup;

	engine_enter(e, now_ms);
	lookup = find_part(e, id, part);
	if (lookup == NULL)
		return;
	engine_part_failed(e, id, part, failure);
}

/*
 * Third section: pins. An answer comes here from the upstream and from the
 * cache alike, so that what the kernel lost is asked for again.
 */

/* Nothing is decided by a policy that does not hold any more, nor for a
 * sandbox that has been cut off. */
static void
judge_again(const struct engine *e, struct query *q)
{
	if (q->denial == DENIAL_NONE &&
	    engine_is_quarantined(e, q->client.sandbox))
		q->denial = DENIAL_QUARANTINED;
	if (q->denial != DENIAL_NONE ||
	    q->policy_generation == e->policy_generation)
		return;
	match_policy(e, q);
	q->denial = q->verdict.denial;
}

/* What an audit lets pass needs none, but somebody who lets it. */
static bool
needs_pins(const struct engine *e, const struct query *q)
{
	return q->denial == DENIAL_NONE && q->answer.addr_count > 0 &&
	    !q->verdict.localhost &&
	    (q->verdict.would == DENIAL_NONE || e->helper_lost);
}

static void
pin(struct engine *e, uint64_t id, struct query *q)
{
	judge_again(e, q);
	if (needs_pins(e, q) && !e->helper_lost)
		engine_hold(e, id, q);
	if (q->pins_waiting == 0) {
		reply(e, id, q);
		return;
	}
	q->stage = QUERY_PINNING;
	query_move(&e->queries, id, &e->queries.pinning);
	query_hurry(&e->queries, id, e->now_ms + e->limits.settings.pin_ms);
}

void
engine_pinned(struct engine *e, uint64_t op, int status, uint64_t now_ms)
{
	struct pin_ack ack;
	struct query *q;

	engine_enter(e, now_ms);
	if (!pins_acked(&e->pins, op, status, now_ms, &ack)) {
		e->counts.stale_acks++;
		return;
	}
	engine_note_ack(e, &ack, status);
	q = query_at(&e->queries, ack.query);
	if (q == NULL || q->stage != QUERY_PINNING)
		return;
	REQUIRE(q->pins_waiting > 0);
	q->pins_waiting--;
	if (q->pins_waiting == 0)
		reply(e, ack.query, q);
}

/*
 * The end of every query.
 */

static void
answer_client(struct engine *e, const struct query *q, uint32_t ttl_s)
{
	struct effect *effect = effects_add(&e->effects, EFFECT_REPLY);
	uint8_t addr_count = 0;

	effect->u.reply.client = q->client;
	effect->u.reply.len = (uint16_t)reply_build(effect->u.reply.message,
	    sizeof(effect->u.reply.message), &q->question, &q->answer, ttl_s,
	    &addr_count);
	engine_audit(e, q, DNS_RCODE_NOERROR, ttl_s, addr_count);
}

static void
deny_client(struct engine *e, const struct query *q)
{
	uint32_t ttl_s = e->limits.settings.ttl_negative_s;
	struct denial_form form = denial_form_of(q->denial, q->verdict.style);
	struct effect *effect = effects_add(&e->effects, EFFECT_REPLY);
	uint8_t rcode = form.badvers ? DNS_RCODE_BADVERS : form.rcode;
	char text[ENGINE_TEXT_MAX];

	engine_explain_denial(e, q, form.text, text);
	form.text = text;

	effect->u.reply.client = q->client;
	effect->u.reply.len = (uint16_t)reply_deny(effect->u.reply.message,
	    sizeof(effect->u.reply.message), &q->question, &form, ttl_s,
	    q->verdict.tell);
	engine_audit(e, q, rcode, form.soa ? ttl_s : 0, 0);
}

/*
 * reply - the only function that replies: one query, one outcome, one audit
 * record. id 0: a query that found no place in the pool.
 */
static void
reply(struct engine *e, uint64_t id, struct query *q)
{
	uint32_t ttl_s = 0;

	judge_again(e, q);
	if (needs_pins(e, q))
		ttl_s = engine_keep_held(e, q);
	else if (q->denial == DENIAL_NONE)
		ttl_s = engine_ttl_left(e, q);

	if (q->denial == DENIAL_DROP || !q->question.has_header)
		e->counts.dropped++;
	else if (q->denial == DENIAL_NONE)
		answer_client(e, q, ttl_s);
	else
		deny_client(e, q);
	if (id != 0)
		query_close(&e->queries, id);
}

/*
 * Time, loss, and the way out.
 */

static void
out_of_time(struct engine *e, uint64_t id, struct query *q)
{
	switch (q->stage) {
	case QUERY_LOOKING_UP:
	case QUERY_READY:
		if (q->denial == DENIAL_NONE)
			q->denial = DENIAL_UPSTREAM_SILENT;
		q->stage = QUERY_READY;
		break;
	case QUERY_PINNING:
	case QUERY_PINNED:
		/* What is held by now is told. */
		q->stage = QUERY_PINNED;
		break;
	case QUERY_JUDGED:
		UNREACHABLE();
	}
	query_move(&e->queries, id, &e->queries.ready);
}

void
engine_expire(struct engine *e, uint64_t now_ms)
{
	struct lookup *lookup;
	struct query *q;
	uint64_t id;

	engine_enter(e, now_ms);
	while ((lookup = lookup_pop_due(&e->lookups, now_ms, &id)) != NULL) {
		for (uint8_t i = 0; i < lookup->part_count; i++)
			if (!lookup_part_is_in(&lookup->parts[i]))
				fail_part(lookup, i, ASK_SILENT);
		part_done(e, lookup, id);
	}
	while ((q = query_pop_due(&e->queries, now_ms, &id)) != NULL)
		out_of_time(e, id, q);
	engine_schedule_expire(e);
	e->warm_open = warm_next(&e->warm) <= now_ms;
	(void)engine_edges_open(e);
	engine_pins_expire(e);
}

void
engine_helper_lost(struct engine *e, uint64_t now_ms)
{
	uint64_t id;

	engine_enter(e, now_ms);
	e->helper_lost = true;
	while ((id = e->queries.pinning.head) != 0) {
		query_at(&e->queries, id)->stage = QUERY_PINNED;
		query_move(&e->queries, id, &e->queries.ready);
	}
}

uint64_t
engine_deadline(const struct engine *e)
{
	uint64_t at_ms = deadlines_next(&e->queries.deadlines);
	uint64_t lookup_ms = deadlines_next(&e->lookups.deadlines);
	uint64_t pins_ms = engine_pins_deadline(e);

	if (lookup_ms < at_ms)
		at_ms = lookup_ms;
	if (engine_schedule_deadline(e) < at_ms)
		at_ms = engine_schedule_deadline(e);
	if (engine_warm_deadline(e) < at_ms)
		at_ms = engine_warm_deadline(e);
	if (e->departures.edge_ms < at_ms)
		at_ms = e->departures.edge_ms;
	return pins_ms < at_ms ? pins_ms : at_ms;
}

/* The work that inputs left, a piece at a time: so the queue has a bound,
 * however many queries waited for one answer. */
static bool
step(struct engine *e)
{
	struct query *q;
	uint64_t id;

	if (engine_quarantine_step(e) || engine_edges_step(e) ||
	    engine_warm_step(e))
		return true;
	q = query_take_ready(&e->queries, &id);
	if (q == NULL)
		return engine_pins_step(e);
	if (q->stage == QUERY_PINNED)
		reply(e, id, q);
	else
		pin(e, id, q);
	return true;
}

bool
engine_next_effect(struct engine *e, struct effect *ret_effect)
{
	while (!effects_take(&e->effects, ret_effect))
		if (!step(e))
			return false;
	return true;
}
