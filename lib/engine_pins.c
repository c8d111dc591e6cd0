/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_pins - pins without a question. See engine_parts.h; the life of a
 * query is in engine.c.
 */
#include "lib/engine_parts.h"

#include <string.h>

#include "lib/require.h"

/* How often a lapsed element's flows are asked about, and how many such
 * requests may be under way: they are never urgent. */
#define FLOWS_EVERY_MS 60000
/* The first time waits until the kernel is over with it too: it counts from
 * when a pin arrived, the ledger from when it was sent. */
#define FLOWS_FIRST_MS 10000
#define FLOWS_MAX      16

/*
 * Of a slot of the ledger: whether EFFECT_FLOWS was sent for it and no answer
 * has come. STALE: the slot lapsed anew meanwhile, so the answer is about
 * something that was before.
 */
enum flows_state {
	FLOWS_IDLE,
	FLOWS_ASKED,
	FLOWS_STALE
};

void
engine_pins_init(struct engine *e, struct arena *arena)
{
	uint32_t pins_max = e->limits.pins.pins_max;

	deadlines_init(&e->flows_due, arena, pins_max);
	e->flows_state = arena_take(arena, pins_max, sizeof(*e->flows_state));
	e->rejudge_slot = TABLE_NONE;
}

void
engine_record(struct engine *e, enum effect_kind kind, uint32_t slot,
    uint32_t sandbox)
{
	struct effect *effect = effects_add(&e->effects, kind);

	effect->u.record.slot = slot;
	effect->u.record.sandbox = sandbox;
}

void
engine_request(struct engine *e, enum effect_kind kind, uint32_t slot,
    const struct pin_element *element, uint64_t lifetime_ms)
{
	struct effect *effect = effects_add(&e->effects, kind);

	memset(&effect->u.pin, 0, sizeof(effect->u.pin));
	effect->u.pin.element = *element;
	effect->u.pin.slot = slot;
	effect->u.pin.lifetime_ms =
	    lifetime_ms > UINT32_MAX ? UINT32_MAX : (uint32_t)lifetime_ms;
}

/*
 * Start.
 */

/* Leaves in a record the holders whose name the policy still grants, and sets
 * its end to the latest of theirs. */
static void
keep_granted(const struct engine *e, struct pin_record *r)
{
	uint8_t kept = 0;

	r->until_ms = 0;
	for (uint8_t i = 0; i < r->holder_count; i++) {
		if (!policy_grants(e->policy, r->element.sandbox,
			&r->holders[i].name, &r->element.service,
			&r->element.addr))
			continue;
		if (r->holders[i].until_ms > r->until_ms)
			r->until_ms = r->holders[i].until_ms;
		if (kept != i)
			r->holders[kept] = r->holders[i];
		kept++;
	}
	r->holder_count = kept;
}

void
engine_recall(struct engine *e, const struct pin_record *given, uint64_t now_ms)
{
	struct pin_record r = *given;
	uint64_t left_ms;
	uint32_t slot;

	engine_enter(e, now_ms);
	REQUIRE(e->policy != NULL && e->settling);
	if (r.element.sandbox == 0 ||
	    r.element.sandbox >= e->limits.sandboxes_max ||
	    r.holder_count > PINS_HOLDERS_MAX)
		return;
	keep_granted(e, &r);
	if (r.holder_count == 0)
		return;
	left_ms = r.until_ms > now_ms ? r.until_ms - now_ms : 0;
	r.state = left_ms > 0 ? PIN_HELD : PIN_LAPSED;
	if (!pins_recall(&e->pins, &r, now_ms, &slot))
		return;
	if (left_ms == 0)
		deadlines_set(&e->flows_due, slot, now_ms + FLOWS_EVERY_MS);
	engine_record(e, EFFECT_RECORD, slot, r.element.sandbox);
	engine_request(e, EFFECT_RECALL, slot, &r.element, left_ms);
}

void
engine_recalled(struct engine *e, uint64_t now_ms)
{
	engine_enter(e, now_ms);
	(void)effects_add(&e->effects, EFFECT_SETTLE);
}

void
engine_settled(struct engine *e, int status, uint64_t now_ms)
{
	engine_enter(e, now_ms);
	if (status == 0)
		e->settling = false;
}

/*
 * A policy change: what no rule grants any more is revoked, the rest is left
 * alone.
 */

void
engine_pins_rejudge(struct engine *e, uint32_t sandbox)
{
	e->rejudge_slot = pins_each(&e->pins, TABLE_NONE);
	e->rejudge_sandbox = sandbox;
	e->rejudge_gone = false;
}

void
engine_pins_forget(struct engine *e, uint32_t sandbox)
{
	engine_pins_rejudge(e, sandbox);
	e->rejudge_gone = true;
}

static void
rejudge_one(struct engine *e, uint32_t slot)
{
	struct pin_record r;
	uint8_t left;

	if (!pins_record(&e->pins, slot, &r) ||
	    (e->rejudge_sandbox != 0 &&
		r.element.sandbox != e->rejudge_sandbox))
		return;
	if (e->rejudge_gone) {
		pins_drop(&e->pins, slot);
		engine_record(e, EFFECT_FORGET, slot, r.element.sandbox);
		return;
	}
	left = r.holder_count;
	/* From the last to the first, so that indexes stay true. */
	for (uint8_t i = r.holder_count; i-- > 0;) {
		if (policy_grants(e->policy, r.element.sandbox,
			&r.holders[i].name, &r.element.service,
			&r.element.addr))
			continue;
		left--;
		if (left > 0)
			pins_drop_holder(&e->pins, slot, i);
	}
	if (left == r.holder_count)
		return;
	if (left > 0) {
		engine_record(e, EFFECT_RECORD, slot, r.element.sandbox);
		return;
	}
	pins_drop(&e->pins, slot);
	engine_request(e, EFFECT_UNPIN, slot, &r.element, 0);
	engine_record(e, EFFECT_FORGET, slot, r.element.sandbox);
}

/*
 * The end of a pin: no new flow may start, but what runs goes on. The record
 * stays until connection tracking knows no flow, so that a revocation still
 * finds it.
 */

void
engine_pins_expire(struct engine *e)
{
	uint32_t slot;

	while (pins_pop_lapsed(&e->pins, e->now_ms, &slot)) {
		if (e->flows_state[slot] == FLOWS_ASKED)
			e->flows_state[slot] = FLOWS_STALE;
		deadlines_set(&e->flows_due, slot, e->now_ms + FLOWS_FIRST_MS);
	}
}

uint64_t
engine_pins_deadline(const struct engine *e)
{
	uint64_t lapse_ms = pins_deadline(&e->pins);
	uint64_t flows_ms = DEADLINE_NEVER;

	if (e->flows_in_flight < FLOWS_MAX && !e->settling && !e->helper_lost)
		flows_ms = deadlines_next(&e->flows_due);
	return lapse_ms < flows_ms ? lapse_ms : flows_ms;
}

static bool
ask_flows(struct engine *e)
{
	struct pin_record r;
	uint32_t slot;

	if (e->flows_in_flight >= FLOWS_MAX || e->settling || e->helper_lost)
		return false;
	if (!deadlines_pop_due(&e->flows_due, e->now_ms, &slot))
		return false;
	/* Somebody asked for the name again, or an answer is still to come,
	 * which will set the deadline anew. */
	if (!pins_record(&e->pins, slot, &r) || r.state != PIN_LAPSED ||
	    e->flows_state[slot] != FLOWS_IDLE)
		return true;
	e->flows_state[slot] = FLOWS_ASKED;
	e->flows_in_flight++;
	engine_request(e, EFFECT_FLOWS, slot, &r.element, 0);
	return true;
}

void
engine_flows(struct engine *e, uint32_t slot, int status, bool flow,
    uint64_t now_ms)
{
	struct pin_record r;
	bool stale;

	engine_enter(e, now_ms);
	if (slot >= e->limits.pins.pins_max ||
	    e->flows_state[slot] == FLOWS_IDLE) {
		e->counts.stale_acks++;
		return;
	}
	stale = e->flows_state[slot] == FLOWS_STALE;
	e->flows_state[slot] = FLOWS_IDLE;
	e->flows_in_flight--;
	if (!pins_record(&e->pins, slot, &r) || r.state != PIN_LAPSED)
		return;
	if (stale || status < 0 || flow) {
		deadlines_set(&e->flows_due, slot, now_ms + FLOWS_EVERY_MS);
		return;
	}
	pins_drop(&e->pins, slot);
	engine_record(e, EFFECT_FORGET, slot, r.element.sandbox);
}

bool
engine_pins_step(struct engine *e)
{
	uint32_t slot = e->rejudge_slot;

	if (slot == TABLE_NONE)
		return ask_flows(e);
	e->rejudge_slot = pins_each(&e->pins, slot);
	rejudge_one(e, slot);
	return true;
}

/*
 * Loss.
 */

void
engine_pins_lost(struct engine *e, uint32_t sandbox, uint64_t window_ms,
    uint64_t packets, uint64_t now_ms)
{
	struct event *event;

	engine_enter(e, now_ms);
	pins_forget_all(&e->pins, sandbox);
	engine_record(e, EFFECT_FORGET, FORGET_ALL, sandbox);
	if (sandbox != 0)
		return;
	event = engine_event(e, EVENT_PINS_LOST, 0, NULL);
	event->duration_ms =
	    window_ms > UINT32_MAX ? UINT32_MAX : (uint32_t)window_ms;
	event->count = packets;
}
