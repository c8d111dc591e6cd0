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
#include "lib/engine_pins.h"
#include "lib/require.h"

/* One step adds at most a pin and a record for each address and service of
 * an answer, a reply, and a few events. */
#define STEP_EFFECTS_MAX (ANSWER_ADDRS_MAX * RULE_SERVICES_MAX * 2 + 8)

#define LOCALHOST_TTL_S 300

enum fate {
	FATE_DENY,
	FATE_ANSWER,
	FATE_LOOK_UP
};

static void pin(struct engine *, uint64_t id, struct query *);
static void reply(struct engine *, uint64_t id, struct query *);

int
engine_init(struct engine *e, const struct engine_limits *limits,
    struct arena *arena, const uint8_t seed[32])
{
	uint8_t secret[16];

	memset(e, 0, sizeof(*e));
	e->limits = *limits;
	e->settling = true;
	rng_init(&e->rng, seed);
	rng_bytes(&e->rng, secret, sizeof(secret));
	effects_init(&e->effects, arena, STEP_EFFECTS_MAX);
	queries_init(&e->queries, arena, limits->queries_max,
	    limits->queries_per_sandbox_max, limits->sandboxes_max);
	lookups_init(&e->lookups, arena, limits->lookups_max,
	    limits->lookups_per_sandbox_max, limits->sandboxes_max, secret);
	cache_init(&e->cache, arena, &limits->cache, secret);
	pins_init(&e->pins, arena, &limits->pins, secret);
	tunnel_init(&e->tunnel, arena, &limits->tunnel, secret);
	engine_pins_init(e, arena);
	return arena->exhausted ? -ENOMEM : 0;
}

static bool
is_drained(const struct engine *e)
{
	return e->effects.count == 0 && e->queries.ready.head == 0 &&
	    e->rejudge_slot == TABLE_NONE;
}

void
engine_enter(struct engine *e, uint64_t now_ms)
{
	REQUIRE(now_ms >= e->now_ms);
	REQUIRE(is_drained(e));
	e->now_ms = now_ms;
}

void
engine_set_policy(struct engine *e, const struct policy *policy,
    uint64_t now_ms)
{
	engine_enter(e, now_ms);
	e->policy = policy;
	e->policy_generation++;
	cache_drop(&e->cache, 0);
	engine_pins_rejudge(e);
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

static void
observe(struct engine *e, const struct query *q)
{
	struct tunnel_finding finding;
	struct event *event;

	if (!tunnel_observe(&e->tunnel, q->client.sandbox, &q->question,
		&q->verdict, e->now_ms, &finding))
		return;
	e->counts.tunnel_suspected++;
	event = engine_event(e, EVENT_TUNNEL_SUSPECTED, q->client.sandbox,
	    &q->client);
	event->has_question = true;
	event->name = q->question.name;
	event->type = q->question.type;
	event->apex_labels = q->verdict.apex_labels;
	event->denial = q->verdict.denial;
	event->finding = finding;
}

/* Below in-addr.arpa or ip6.arpa. */
static bool
is_reverse(const struct dname *name)
{
	static const uint8_t in_addr[] = "\7in-addr\4arpa";
	static const uint8_t ip6[] = "\3ip6\4arpa";
	struct dname top;

	if (name->labels < 3)
		return false;
	top = dname_suffix(name, 2);
	return (top.len == sizeof(in_addr) &&
		   memcmp(top.wire, in_addr, sizeof(in_addr)) == 0) ||
	    (top.len == sizeof(ip6) && memcmp(top.wire, ip6, sizeof(ip6)) == 0);
}

/* An answer that needs no upstream: loopback, or a rule's own addresses. */
static enum fate
answer_here(struct engine *e, struct query *q)
{
	static const uint8_t loopback4[4] = { 127, 0, 0, 1 };
	static const uint8_t loopback6[16] = { [15] = 1 };
	struct answer *answer = &q->answer;
	uint16_t type = q->question.type;
	uint32_t ttl_s = LOCALHOST_TTL_S;

	if (!lookup_is_pair(type))
		return deny(q, DENIAL_NO_DATA);
	if (type == DNS_TYPE_ANY)
		type = q->verdict.has4 ? DNS_TYPE_A : DNS_TYPE_AAAA;
	if (q->verdict.localhost) {
		answer->outcome = ANSWER_OK;
		answer->type = type;
		answer->end = q->question.name;
		answer->addr_count = 1;
		answer->addrs[0] = type == DNS_TYPE_A ? addr_v4(loopback4)
						      : addr_v6(loopback6);
	} else {
		ttl_s = e->limits.settings.ttl_cap_s;
		answer_fixed(answer, &q->question.name, type, &q->verdict,
		    &e->policy->protected_ranges, ttl_s);
	}
	q->answer_until_ms = e->now_ms + (uint64_t)ttl_s * 1000;
	if (answer->outcome == ANSWER_OK)
		return FATE_ANSWER;
	return deny(q,
	    answer->outcome == ANSWER_PROTECTED ? DENIAL_PROTECTED
						: DENIAL_NO_DATA);
}

static bool
is_good(const struct cache_entry *entry, uint8_t part)
{
	return !entry->failed[part] &&
	    entry->answers[part].outcome == ANSWER_OK;
}

/* The part of an exchange that a question is about. */
static uint8_t
part_of(const struct query *q, const struct cache_entry *entry)
{
	bool four = q->verdict.has4 && is_good(entry, 0);

	if (q->question.type == DNS_TYPE_AAAA)
		return 1;
	if (q->question.type != DNS_TYPE_ANY || four)
		return 0;
	return q->verdict.has6 && is_good(entry, 1) ? 1 : 0;
}

/*
 * What both parts together mean for one question. A family that failed, or
 * whose name "does not exist" while the other family knows it, is told as
 * NODATA: anything else would take the working family down with it.
 */
static enum denial
take_answer(struct query *q, const struct cache_entry *entry,
    enum denial failure)
{
	uint8_t own = part_of(q, entry), other = 1 - own;
	const struct answer *answer = &entry->answers[own];

	if (entry->failed[own])
		return is_good(entry, other) ? DENIAL_UPSTREAM_OTHER : failure;
	q->answer = *answer;
	switch (answer->outcome) {
	case ANSWER_OK:
		return DENIAL_NONE;
	case ANSWER_NO_DATA:
		return DENIAL_NO_DATA;
	case ANSWER_NO_NAME:
		if (!entry->failed[other] &&
		    entry->answers[other].outcome != ANSWER_NO_NAME)
			return DENIAL_NO_DATA;
		return q->verdict.lists_below ? DENIAL_NO_NAME_PARENT
					      : DENIAL_NO_NAME;
	case ANSWER_PROTECTED:
		return DENIAL_PROTECTED;
	case ANSWER_TRUNCATED:
	case ANSWER_BOGUS:
		return failure;
	}
	UNREACHABLE();
}

static bool
answer_from_cache(struct engine *e, struct query *q)
{
	const struct cache_entry *entry = cache_find(&e->cache,
	    q->client.sandbox, &q->question.name, q->question.type, e->now_ms);

	if (entry == NULL)
		return false;
	e->counts.cache_hits++;
	q->cached = true;
	q->answer_until_ms = entry->until_ms;
	q->denial = take_answer(q, entry, DENIAL_UPSTREAM_BROKEN);
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

	q->question.over_tcp = q->client.stream != 0;
	if (why == DENIAL_DROP || !q->question.has_name)
		return deny(q, why == DENIAL_NONE ? DENIAL_MALFORMED : why);
	if (q->client.sandbox == 0)
		return deny(q, DENIAL_UNKNOWN_SOURCE);

	match_policy(e, q);
	observe(e, q);
	if (why != DENIAL_NONE)
		return deny(q, why);
	if (e->settling)
		return deny(q, DENIAL_UNPINNED);
	if (q->question.type == DNS_TYPE_PTR && !q->verdict.listed &&
	    is_reverse(&q->question.name))
		return deny(q, DENIAL_PTR);
	if (q->verdict.denial != DENIAL_NONE)
		return deny(q, q->verdict.denial);

	if (q->verdict.localhost || q->verdict.addr_count > 0)
		return answer_here(e, q);
	if (answer_from_cache(e, q))
		return q->denial == DENIAL_NONE ? FATE_ANSWER : FATE_DENY;

	why = tunnel_judge(&e->tunnel, q->client.sandbox, &q->question,
	    &q->verdict);
	if (why != DENIAL_NONE)
		return deny(q, why);
	return FATE_LOOK_UP;
}

static void
ask(struct engine *e, struct lookup *lookup, lookup_id id, uint8_t part)
{
	struct lookup_part *p = &lookup->parts[part];
	struct effect *effect = effects_add(&e->effects, EFFECT_ASK);

	effect->u.ask.lookup = id;
	effect->u.ask.part = part;
	ask_build(&effect->u.ask.ask, &lookup->name, p->type, p->stream,
	    &e->rng);
	p->ask_id = effect->u.ask.ask.id;
	e->counts.asks++;
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
		ask(e, lookup, *ret_id, i);
	return lookup;
}

static void
take_result(struct engine *e, uint64_t id, struct query *q,
    const struct lookup *lookup)
{
	uint8_t own = part_of(q, &lookup->result);
	bool silent = lookup->parts[own].failure == ASK_SILENT;
	uint32_t ttl_s = lookup->result.answers[own].ttl_s;
	const struct engine_settings *set = &e->limits.settings;

	if (ttl_s < set->ttl_floor_s)
		ttl_s = set->ttl_floor_s;
	if (ttl_s > set->ttl_cap_s)
		ttl_s = set->ttl_cap_s;
	q->answer_until_ms = e->now_ms + (uint64_t)ttl_s * 1000;
	q->denial = take_answer(q, &lookup->result,
	    silent ? DENIAL_UPSTREAM_SILENT : DENIAL_UPSTREAM_BROKEN);
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
	case FATE_LOOK_UP:
		look_up(e, id, q);
		return;
	}
	UNREACHABLE();
}

/*
 * Second section: what the upstream said.
 */

/* How long both parts are kept, as one entry. What exists decides; one half
 * that failed is tried again soon. */
static uint32_t
result_ttl(const struct engine *e, const struct lookup *lookup)
{
	const struct engine_settings *set = &e->limits.settings;
	uint32_t ttl_s = set->ttl_cap_s;
	bool good = false;

	for (uint8_t i = 0; i < lookup->part_count; i++) {
		const struct answer *answer = &lookup->result.answers[i];

		if (lookup->result.failed[i])
			return set->ttl_negative_s;
		if (answer->outcome != ANSWER_OK)
			continue;
		good = true;
		if (answer->ttl_s < ttl_s)
			ttl_s = answer->ttl_s;
	}
	if (!good)
		return set->ttl_negative_s;
	return ttl_s < set->ttl_floor_s ? set->ttl_floor_s : ttl_s;
}

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
	if (any)
		cache_put(&e->cache, lookup->sandbox, &lookup->name,
		    lookup->parts[0].type, &lookup->result,
		    result_ttl(e, lookup), e->now_ms);
	lookup_close(&e->lookups, id);
}

static void
fail_part(struct lookup *lookup, uint8_t part, enum ask_failure failure)
{
	lookup->parts[part].state = LOOKUP_FAILED;
	lookup->parts[part].failure = failure;
}

static void
report_protected(struct engine *e, const struct lookup *lookup, uint8_t part)
{
	const struct answer *answer = &lookup->result.answers[part];
	const struct query *q = query_at(&e->queries, lookup->waiting.head);
	struct event *event;

	if (answer->protected_count == 0)
		return;
	e->counts.rebinding_blocked++;
	event = engine_event(e, EVENT_REBINDING_BLOCKED, lookup->sandbox,
	    q == NULL ? NULL : &q->client);
	event->has_question = true;
	event->name = lookup->name;
	event->type = lookup->parts[part].type;
	event->apex_labels = lookup->verdict.apex_labels;
	event->denial = answer->outcome == ANSWER_PROTECTED ? DENIAL_PROTECTED
							    : DENIAL_NONE;
	event->addr_count = 1;
	event->addrs[0] = answer->protected_first;
	event->addr_class = answer->protected_class;
	event->count = answer->protected_count;
	event->has_end = answer->link_count > 0;
	event->end = answer->end;
	event->has_rule = lookup->verdict.rule != RULE_NONE;
	event->rule_kind = lookup->verdict.kind;
	event->rule_name = lookup->verdict.rule_name;
}

/* The policy may have changed since the lookup began; its answer is judged by
 * the one that holds now. */
static void
refresh_verdict(const struct engine *e, struct lookup *lookup)
{
	struct question question = {
		.name = lookup->name,
		.type = lookup->parts[0].type,
		.class = DNS_CLASS_IN,
		.has_header = true,
		.has_name = true,
	};

	if (lookup->policy_generation == e->policy_generation)
		return;
	lookup->verdict = policy_match(e->policy, lookup->sandbox, &question);
	lookup->policy_generation = e->policy_generation;
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
	refresh_verdict(e, lookup);
	p = &lookup->parts[part];
	switch (answer_vet(&lookup->result.answers[part], &lookup->name,
	    p->type, &lookup->verdict, &e->policy->protected_ranges, &e->rng,
	    wire, len)) {
	case ANSWER_OK:
	case ANSWER_NO_DATA:
	case ANSWER_NO_NAME:
	case ANSWER_PROTECTED:
		p->state = LOOKUP_ANSWERED;
		lookup->result.failed[part] = false;
		report_protected(e, lookup, part);
		break;
	case ANSWER_TRUNCATED:
		if (!p->stream && lookup->verdict.denial == DENIAL_NONE) {
			p->stream = true;
			ask(e, lookup, id, part);
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
engine_ask_failed(struct engine *e, lookup_id id, uint8_t part,
    enum ask_failure failure, uint64_t now_ms)
{
	struct lookup *lookup;

	engine_enter(e, now_ms);
	lookup = find_part(e, id, part);
	if (lookup == NULL)
		return;
	fail_part(lookup, part, failure);
	part_done(e, lookup, id);
}

/*
 * Third section: pins. An answer comes here from the upstream and from the
 * cache alike, so that what the kernel lost is asked for again.
 */

static struct pin_element
element_of(const struct query *q, uint8_t addr, uint8_t service)
{
	return (struct pin_element){
		.sandbox = q->client.sandbox,
		.addr = q->answer.addrs[addr],
		.service = q->verdict.services[service],
	};
}

/* What is left of the answer's TTL, begun seconds counted. */
static uint32_t
ttl_left(const struct engine *e, const struct query *q)
{
	uint64_t left_ms =
	    q->answer_until_ms > e->now_ms ? q->answer_until_ms - e->now_ms : 0;

	return left_ms == 0 ? 1 : (uint32_t)((left_ms + 999) / 1000);
}

static uint32_t
lesser(uint64_t a, uint64_t b)
{
	uint64_t less = a < b ? a : b;

	return less > UINT32_MAX ? UINT32_MAX : (uint32_t)less;
}

static void
record(struct engine *e, enum effect_kind kind, uint32_t slot, uint32_t sandbox)
{
	struct effect *effect = effects_add(&e->effects, kind);

	effect->u.record.slot = slot;
	effect->u.record.sandbox = sandbox;
}

/* Asks for one element unless the kernel holds it long enough already. Where
 * there is no room nothing is done: reply() will find it not held. */
static void
pin_one(struct engine *e, struct query *q, const struct pin_wish *wish)
{
	struct effect *effect;
	struct pin_held held;
	enum pins_hold hold = pins_hold(&e->pins, wish, e->now_ms, &held);

	if (hold == PINS_FULL) {
		e->counts.pins_full++;
		return;
	}
	if (held.changed)
		record(e, EFFECT_RECORD, held.slot, wish->element.sandbox);
	if (hold == PINS_HELD)
		return;
	effect = effects_add(&e->effects, EFFECT_PIN);
	effect->u.pin.op = held.op;
	effect->u.pin.element = wish->element;
	effect->u.pin.lifetime_ms = held.lifetime_ms;
	effect->u.pin.slot = held.slot;
	q->pins_waiting++;
	e->counts.pins_asked++;
}

/*
 * Clients hold addresses longer than the TTL says, hence the floor, and use
 * them at the very end of it, hence the grace.
 */
static void
pin_all(struct engine *e, uint64_t id, struct query *q)
{
	const struct engine_settings *set = &e->limits.settings;
	uint64_t ttl_ms = (uint64_t)ttl_left(e, q) * 1000;
	uint64_t base_ms =
	    ttl_ms > set->pin_floor_ms ? ttl_ms : set->pin_floor_ms;
	uint64_t need_ms = ttl_ms + set->pin_grace_ms;
	struct pin_wish wish = {
		.name = &q->question.name,
		.verdict = &q->verdict,
		.query = id,
		.lifetime_ms =
		    lesser(base_ms + set->pin_grace_ms, set->pin_cap_ms),
	};

	if (need_ms < set->pin_floor_ms)
		need_ms = set->pin_floor_ms;
	wish.need_ms = lesser(need_ms, wish.lifetime_ms);
	q->need_until_ms = e->now_ms + wish.need_ms;
	for (uint8_t i = 0; i < q->answer.addr_count; i++) {
		for (uint8_t s = 0; s < q->verdict.service_count; s++) {
			wish.element = element_of(q, i, s);
			pin_one(e, q, &wish);
		}
	}
}

/* Nothing is decided by a policy that does not hold any more. */
static void
judge_again(const struct engine *e, struct query *q)
{
	if (q->denial != DENIAL_NONE ||
	    q->policy_generation == e->policy_generation)
		return;
	match_policy(e, q);
	q->denial = q->verdict.denial;
}

static bool
needs_pins(const struct query *q)
{
	return q->denial == DENIAL_NONE && q->answer.addr_count > 0 &&
	    !q->verdict.localhost;
}

static void
pin(struct engine *e, uint64_t id, struct query *q)
{
	judge_again(e, q);
	if (needs_pins(q) && !e->helper_lost)
		pin_all(e, id, q);
	if (q->pins_waiting == 0) {
		reply(e, id, q);
		return;
	}
	q->stage = QUERY_PINNING;
	query_move(&e->queries, id, &e->queries.pinning);
	query_hurry(&e->queries, id, e->now_ms + e->limits.settings.pin_ms);
}

/* What an ack changes in the kernel and in the state. */
static void
note_ack(struct engine *e, const struct pin_ack *ack, int status)
{
	struct effect *effect;

	if (!ack->ok)
		e->counts.pins_refused++;
	if (ack->ok || ack->dropped)
		record(e, ack->ok ? EFFECT_RECORD : EFFECT_FORGET, ack->slot,
		    ack->element.sandbox);
	if (ack->slot != TABLE_NONE || status != 0 ||
	    pins_find(&e->pins, &ack->element) != TABLE_NONE)
		return;
	/* Revoked while it was under way: nobody knows of it any more. */
	effect = effects_add(&e->effects, EFFECT_UNPIN);
	memset(&effect->u.pin, 0, sizeof(effect->u.pin));
	effect->u.pin.element = ack->element;
	effect->u.pin.slot = TABLE_NONE;
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
	note_ack(e, &ack, status);
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

/* When the first of an address's pins ends; 0 when one is missing. */
static uint64_t
held_until(const struct engine *e, const struct query *q, uint8_t addr)
{
	uint64_t least = DEADLINE_NEVER;

	for (uint8_t s = 0; s < q->verdict.service_count; s++) {
		struct pin_element element = element_of(q, addr, s);
		uint64_t until = pins_until(&e->pins, &element);

		if (until < least)
			least = until;
	}
	return q->verdict.service_count == 0 ? 0 : least;
}

/*
 * Leaves in the answer only what the ledger says the kernel holds, and tells
 * no TTL beyond the shortest pin less grace. Returns the TTL.
 */
static uint32_t
keep_held(const struct engine *e, struct query *q)
{
	uint32_t grace_ms = e->limits.settings.pin_grace_ms;
	uint32_t ttl_s = ttl_left(e, q);
	uint64_t end_ms = DEADLINE_NEVER, left_s;
	uint8_t i = 0;

	if (e->helper_lost)
		q->answer.addr_count = 0;
	while (i < q->answer.addr_count) {
		uint64_t until = held_until(e, q, i);

		if (until < q->need_until_ms || until <= e->now_ms) {
			answer_drop_addr(&q->answer, i);
			continue;
		}
		if (until < end_ms)
			end_ms = until;
		i++;
	}
	if (q->answer.addr_count == 0) {
		uint8_t other = q->question.type == DNS_TYPE_AAAA ? 4 : 6;

		q->denial = DENIAL_UNPINNED;
		if (!e->helper_lost &&
		    pins_name_holds(&e->pins, q->client.sandbox,
			&q->question.name, other, e->now_ms))
			q->denial = DENIAL_UNPINNED_OTHER;
		return 0;
	}
	left_s = end_ms - e->now_ms > grace_ms
	    ? (end_ms - e->now_ms - grace_ms) / 1000
	    : 0;
	ttl_s = lesser(ttl_s, left_s);
	return ttl_s == 0 ? 1 : ttl_s;
}

static enum event_action
outcome_of(struct engine *e, enum denial denial)
{
	/* What the upstream says of a listed name is an answer. */
	if (denial == DENIAL_NONE || denial == DENIAL_NO_NAME ||
	    denial == DENIAL_NO_NAME_PARENT || denial == DENIAL_NO_DATA) {
		e->counts.answered++;
		return EVENT_DNS_ANSWERED;
	}
	if (denial_is_failure(denial)) {
		e->counts.failed++;
		return EVENT_DNS_FAILED;
	}
	e->counts.denied++;
	return EVENT_DNS_DENIED;
}

/* The one record of what became of a query. */
static void
audit(struct engine *e, const struct query *q, uint8_t rcode, uint32_t ttl_s,
    uint8_t addr_count)
{
	struct event *event = engine_event(e, outcome_of(e, q->denial),
	    q->client.sandbox, &q->client);

	event->has_question = q->question.has_name;
	event->name = q->question.name;
	event->type = q->question.type;
	event->apex_labels = q->verdict.apex_labels;
	event->denial = q->denial;
	event->rcode = rcode;
	event->ttl_s = ttl_s;
	event->cached = q->cached;
	event->addr_count = addr_count;
	memcpy(event->addrs, q->answer.addrs,
	    addr_count * sizeof(event->addrs[0]));
	event->has_end = q->answer.link_count > 0;
	event->end = q->answer.end;
	event->has_rule = q->client.sandbox != 0 &&
	    q->verdict.rule != RULE_NONE && q->question.has_name;
	event->rule_kind = q->verdict.kind;
	event->rule_name = q->verdict.rule_name;
	event->duration_ms = (uint32_t)(e->now_ms - q->opened_ms);
}

static void
answer_client(struct engine *e, const struct query *q, uint32_t ttl_s)
{
	struct effect *effect = effects_add(&e->effects, EFFECT_REPLY);
	uint8_t addr_count = 0;

	effect->u.reply.client = q->client;
	effect->u.reply.len = (uint16_t)reply_build(effect->u.reply.message,
	    sizeof(effect->u.reply.message), &q->question, &q->answer, ttl_s,
	    &addr_count);
	audit(e, q, DNS_RCODE_NOERROR, ttl_s, addr_count);
}

static void
deny_client(struct engine *e, const struct query *q)
{
	uint32_t ttl_s = e->limits.settings.ttl_negative_s;
	struct denial_form form = denial_form_of(q->denial, q->verdict.style);
	struct effect *effect = effects_add(&e->effects, EFFECT_REPLY);
	uint8_t rcode = form.badvers ? DNS_RCODE_BADVERS : form.rcode;

	effect->u.reply.client = q->client;
	effect->u.reply.len = (uint16_t)reply_deny(effect->u.reply.message,
	    sizeof(effect->u.reply.message), &q->question, &form, ttl_s, NULL,
	    q->verdict.tell);
	audit(e, q, rcode, form.soa ? ttl_s : 0, 0);
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
	if (needs_pins(q))
		ttl_s = keep_held(e, q);
	else if (q->denial == DENIAL_NONE)
		ttl_s = ttl_left(e, q);

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
			if (lookup->parts[i].state == LOOKUP_ASKED)
				fail_part(lookup, i, ASK_SILENT);
		part_done(e, lookup, id);
	}
	while ((q = query_pop_due(&e->queries, now_ms, &id)) != NULL)
		out_of_time(e, id, q);
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
	return pins_ms < at_ms ? pins_ms : at_ms;
}

/* The work that inputs left, a piece at a time: so the queue has a bound,
 * however many queries waited for one answer. */
static bool
step(struct engine *e)
{
	uint64_t id;
	struct query *q = query_take_ready(&e->queries, &id);

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

struct event *
engine_event(struct engine *e, enum event_action action, uint32_t sandbox,
    const struct client *client)
{
	struct effect *effect = effects_add(&e->effects, EFFECT_EVENT);
	struct event *event = &effect->u.event;

	memset(event, 0, sizeof(*event));
	event->action = action;
	event->sandbox = sandbox;
	if (client == NULL)
		return event;
	event->source = client->addr;
	event->source_port = client->port;
	event->transport = client->stream != 0 ? PROTO_TCP : PROTO_UDP;
	event->ifindex = client->ifindex;
	return event;
}
