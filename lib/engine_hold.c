/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_hold - the addresses of one answer against the ledger of pins: what
 * to ask the kernel for, and what may be told in the end. See engine_parts.h.
 */
#include "lib/engine_parts.h"

#include <string.h>

#include "lib/require.h"

/*
 * More than a question needs. A pair is kept from when its second half came,
 * some milliseconds after the first was pinned; without slack the next cached
 * answer would find the pin that little too short and ask anew.
 */
#define SLACK_MS 1000

#define LEAST_TTL_MS 1000

static struct pin_element
element_of(const struct query *q, uint8_t addr, uint8_t service)
{
	return (struct pin_element){
		.sandbox = q->client.sandbox,
		.addr = q->answer.addrs[addr],
		.service = q->verdict.services[service],
	};
}

/* How long the rule behind a query still grants. */
static uint64_t
granted_ms(const struct engine *e, const struct query *q)
{
	uint64_t wall_ms = e->now_ms + e->wall_offset_ms;

	if (q->verdict.until_wall_ms == 0)
		return DEADLINE_NEVER;
	return q->verdict.until_wall_ms > wall_ms
	    ? q->verdict.until_wall_ms - wall_ms
	    : 0;
}

static uint64_t
answer_left_ms(const struct engine *e, const struct query *q)
{
	uint64_t granted = granted_ms(e, q);
	uint64_t left_ms =
	    q->answer_until_ms > e->now_ms ? q->answer_until_ms - e->now_ms : 0;

	return left_ms < granted ? left_ms : granted;
}

/* A grace that the rule's date has no room for is cut, as the one that the
 * cap has none for: something must be left to tell. */
static uint32_t
grace_of(const struct engine *e, const struct query *q)
{
	uint32_t grace_ms = e->limits.settings.pin_grace_ms;
	uint64_t granted = granted_ms(e, q);
	uint64_t most_ms = granted > 2000 ? granted - 2000 : 0;

	return grace_ms < most_ms ? grace_ms : (uint32_t)most_ms;
}

uint32_t
engine_ttl_left(const struct engine *e, const struct query *q)
{
	uint64_t left_ms = answer_left_ms(e, q);

	return left_ms == 0 ? 1 : (uint32_t)((left_ms + 999) / 1000);
}

static uint32_t
lesser(uint64_t a, uint64_t b)
{
	uint64_t less = a < b ? a : b;

	return less > UINT32_MAX ? UINT32_MAX : (uint32_t)less;
}

static uint64_t
greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
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
		engine_record(e, EFFECT_RECORD, held.slot,
		    wish->element.sandbox);
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
void
engine_hold(struct engine *e, uint64_t id, struct query *q)
{
	const struct engine_settings *set = &e->limits.settings;
	/* A TTL of a second can still be told when the last ack is in. */
	uint64_t least_ms = LEAST_TTL_MS + set->pin_ms;
	uint64_t base_ms = greater((uint64_t)engine_ttl_left(e, q) * 1000,
	    greater(set->pin_floor_ms, least_ms));
	uint64_t left_ms = answer_left_ms(e, q);
	uint64_t granted = granted_ms(e, q);
	uint32_t grace_ms = grace_of(e, q);
	struct pin_wish wish = {
		.name = &q->question.name,
		.verdict = &q->verdict,
		.query = id,
		.lifetime_ms =
		    lesser(base_ms + grace_ms + SLACK_MS, set->pin_cap_ms),
	};

	if (granted < LEAST_TTL_MS)
		return;
	wish.lifetime_ms = lesser(wish.lifetime_ms, granted);

	/* To the millisecond, so that a cached answer finds its pins held. */
	wish.need_ms = lesser(greater(greater(left_ms, least_ms) + grace_ms,
				  set->pin_floor_ms),
	    wish.lifetime_ms);
	q->need_until_ms = e->now_ms + wish.need_ms;
	for (uint8_t i = 0; i < q->answer.addr_count; i++) {
		for (uint8_t s = 0; s < q->verdict.service_count; s++) {
			wish.element = element_of(q, i, s);
			pin_one(e, q, &wish);
		}
	}
}

void
engine_note_ack(struct engine *e, const struct pin_ack *ack, int status)
{
	if (!ack->ok)
		e->counts.pins_refused++;
	if (ack->ok || ack->dropped)
		engine_record(e, ack->ok ? EFFECT_RECORD : EFFECT_FORGET,
		    ack->slot, ack->element.sandbox);
	if (ack->slot != TABLE_NONE || status != 0 ||
	    pins_find(&e->pins, &ack->element) != TABLE_NONE)
		return;
	/* Revoked while it was under way: nobody knows of it any more. */
	engine_request(e, EFFECT_UNPIN, TABLE_NONE, &ack->element, 0);
}

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
 * Whether the other family of the name is open, or about to be. Then a family
 * without pins is told as NODATA, since SERVFAIL for it would make musl give
 * up the name.
 */
static bool
other_family_held(struct engine *e, const struct query *q)
{
	uint8_t other = q->question.type == DNS_TYPE_AAAA ? 4 : 6;
	uint64_t id = e->queries.pinning.head;

	if (e->helper_lost)
		return false;
	if (pins_name_holds(&e->pins, q->client.sandbox, &q->question.name,
		other, e->now_ms))
		return true;
	while (id != 0) {
		const struct query *p = query_at(&e->queries, id);

		if (p->client.sandbox == q->client.sandbox &&
		    p->question.type != q->question.type &&
		    dname_equal(&p->question.name, &q->question.name))
			return true;
		id = p->next;
	}
	return false;
}

uint32_t
engine_keep_held(struct engine *e, struct query *q)
{
	uint32_t grace_ms = grace_of(e, q);
	uint32_t ttl_s = engine_ttl_left(e, q);
	uint64_t end_ms = DEADLINE_NEVER;
	uint8_t i = 0;

	if (e->helper_lost)
		q->answer.addr_count = 0;
	while (i < q->answer.addr_count) {
		uint64_t until = held_until(e, q, i);

		if (until < q->need_until_ms ||
		    until < e->now_ms + LEAST_TTL_MS + grace_ms) {
			answer_drop_addr(&q->answer, i);
			continue;
		}
		if (until < end_ms)
			end_ms = until;
		i++;
	}
	if (q->answer.addr_count == 0) {
		q->denial = other_family_held(e, q) ? DENIAL_UNPINNED_OTHER
						    : DENIAL_UNPINNED;
		return 0;
	}
	return lesser(ttl_s, (end_ms - e->now_ms - grace_ms) / 1000);
}
