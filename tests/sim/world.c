/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * world - the run itself: draw, plan, then deliver one thing after the other.
 */
#include "tests/sim/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/dns.h"
#include "lib/require.h"

/* Long enough for every deadline, and for lapsed pins to be asked about. */
#define REST_MS   10000
#define STEPS_MAX 200000

uint32_t
world_below(struct world *w, uint32_t bound)
{
	return rng_below(&w->rng, bound);
}

bool
world_chance(struct world *w, uint32_t percent)
{
	return rng_below(&w->rng, 100) < percent;
}

/*
 * The list of deliveries.
 */

static bool
is_before(const struct delivery *a, const struct delivery *b)
{
	return a->at_ms < b->at_ms ||
	    (a->at_ms == b->at_ms && a->order < b->order);
}

static void
swap(struct world *w, uint32_t a, uint32_t b)
{
	struct delivery *d = w->heap[a];

	w->heap[a] = w->heap[b];
	w->heap[b] = d;
}

struct delivery *
world_deliver(struct world *w, enum delivery_kind kind, uint64_t at_ms)
{
	struct delivery *d = calloc(1, sizeof(*d));
	uint32_t i = w->delivery_count;

	if (d == NULL || i == SIM_DELIVERIES)
		abort();
	d->kind = kind;
	d->at_ms = at_ms;
	d->order = w->order_next++;
	w->heap[i] = d;
	w->delivery_count++;
	while (i > 0 && is_before(w->heap[i], w->heap[(i - 1) / 2])) {
		swap(w, i, (i - 1) / 2);
		i = (i - 1) / 2;
	}
	return d;
}

static struct delivery *
take_delivery(struct world *w)
{
	struct delivery *first = w->heap[0];
	uint32_t i = 0;

	w->delivery_count--;
	w->heap[0] = w->heap[w->delivery_count];
	for (;;) {
		uint32_t least = i, left = 2 * i + 1, right = left + 1;

		if (left < w->delivery_count &&
		    is_before(w->heap[left], w->heap[least]))
			least = left;
		if (right < w->delivery_count &&
		    is_before(w->heap[right], w->heap[least]))
			least = right;
		if (least == i)
			return first;
		swap(w, i, least);
		i = least;
	}
}

/*
 * The beginning.
 */

static uint32_t
rarely(struct world *w, uint32_t percent)
{
	return world_chance(w, 50) ? 0 : world_below(w, percent + 1);
}

static void
draw_faults(struct world *w)
{
	struct faults *f = &w->faults;

	f->loss = rarely(w, 40);
	f->duplicate = rarely(w, 30);
	f->spoof = rarely(w, 60);
	f->stale = rarely(w, 60);
	f->poison = rarely(w, 50);
	f->truncate = rarely(w, 30);
	f->broken = rarely(w, 30);
	f->protect = rarely(w, 30);
	f->pin_error = rarely(w, 40);
	f->pin_slow = rarely(w, 30);
	f->upstream_ms = 1 + world_below(w, world_chance(w, 20) ? 1500 : 60);
	f->helper_ms = 1 + world_below(w, world_chance(w, 20) ? 400 : 5);
	f->policy_changes = rarely(w, 4);
	f->flushes = rarely(w, 3);
	f->links = rarely(w, 3);
	f->pauses = rarely(w, 3);
	f->restarts = rarely(w, 3);
	f->departures = rarely(w, 6);
	f->assigns = rarely(w, 4);
	f->revokes = rarely(w, 4);
	f->quarantines = rarely(w, 4);
	f->quarantine_on = world_chance(w, 20);
	f->audit = world_chance(w, 30) ? 60 : 0;
	f->helper_dies = world_chance(w, 10);
	f->exfiltrating = rarely(w, 30);
	f->garbage = rarely(w, 30);
}

static void
draw_limits(struct world *w)
{
	struct engine_settings *set;

	w->limits = rig_limits(SIM_SANDBOXES);
	set = &w->limits.settings;
	if (world_chance(w, 30)) {
		w->limits.queries_per_sandbox_max = 1 + world_below(w, 6);
		w->limits.queries_max = 1 + world_below(w, 12);
		w->limits.lookups_per_sandbox_max = 1 + world_below(w, 4);
		w->limits.lookups_max = 1 + world_below(w, 8);
	}
	if (world_chance(w, 30)) {
		w->limits.pins.pins_max = 1 + world_below(w, 30);
		w->limits.pins.pins_per_sandbox_max = 1 + world_below(w, 20);
		w->limits.pins.names_max = 1 + world_below(w, 10);
		w->limits.pins.ops_max = 1 + world_below(w, 20);
	}
	if (world_chance(w, 30)) {
		w->limits.cache.entries_max = 1 + world_below(w, 8);
		w->limits.cache.entries_per_sandbox_max = 1 + world_below(w, 4);
	}
	if (world_chance(w, 30))
		set->tick_ms = 1 + world_below(w, 200);
	if (world_chance(w, 30)) {
		set->warm_ms = 1000 + world_below(w, 60000);
		w->limits.warm.names_per_sandbox_max = 1 + world_below(w, 32);
	}
	if (world_chance(w, 30))
		set->budget_sandbox = world_below(w, 4096) * BUDGET_BIT;
	if (world_chance(w, 10))
		w->limits.budget.keys_max = 1 + world_below(w, 8);
	if (world_chance(w, 30)) {
		set->pin_floor_ms = 1000 + world_below(w, 90000);
		set->pin_grace_ms = 500 + world_below(w, 60000);
		set->pin_cap_ms = set->pin_floor_ms + set->pin_grace_ms +
		    10000 + world_below(w, 600000);
	}
}

static void
plan_faults(struct world *w, uint64_t end_ms)
{
	uint32_t span_ms = (uint32_t)(end_ms - w->now_ms) + 1;
	struct delivery *d;

	for (uint32_t i = 0; i < w->faults.policy_changes; i++)
		(void)world_deliver(w, DELIVER_POLICY,
		    w->now_ms + world_below(w, span_ms));
	for (uint32_t i = 0; i < w->faults.flushes; i++)
		(void)world_deliver(w, DELIVER_FLUSH,
		    w->now_ms + world_below(w, span_ms));
	for (uint32_t i = 0; i < w->faults.links; i++) {
		d = world_deliver(w, DELIVER_FLUSH,
		    w->now_ms + world_below(w, span_ms));
		d->number = 1 + world_below(w, SIM_SANDBOXES);
	}
	for (uint32_t i = 0; i < w->faults.departures; i++)
		(void)world_deliver(w, DELIVER_DETACH,
		    w->now_ms + world_below(w, span_ms));
	for (uint32_t i = 0; i < w->faults.assigns; i++)
		(void)world_deliver(w, DELIVER_ASSIGN,
		    w->now_ms + world_below(w, span_ms));
	for (uint32_t i = 0; i < w->faults.revokes; i++)
		(void)world_deliver(w, DELIVER_REVOKE,
		    w->now_ms + world_below(w, span_ms));
	for (uint32_t i = 0; i < w->faults.quarantines; i++) {
		d = world_deliver(w, DELIVER_QUARANTINE,
		    w->now_ms + world_below(w, span_ms));
		d->number = 1 + world_below(w, SIM_SANDBOXES);
	}
	for (uint32_t i = 0; i < w->faults.pauses; i++)
		(void)world_deliver(w, DELIVER_PAUSE,
		    w->now_ms + world_below(w, span_ms));
	for (uint32_t i = 0; i < w->faults.restarts; i++)
		(void)world_deliver(w, DELIVER_RESTART,
		    w->now_ms + world_below(w, span_ms));
	if (w->faults.helper_dies)
		(void)world_deliver(w, DELIVER_HELPER_DEAD,
		    w->now_ms + span_ms / 2 + world_below(w, span_ms));
}

/*
 * The pump: what a shell does.
 */

static void
route(struct world *w, const struct effect *effect)
{
	oracle_effect(w, effect);
	switch (effect->kind) {
	case EFFECT_ASK:
		upstream_model_ask(w, effect);
		break;
	case EFFECT_PIN:
	case EFFECT_UNPIN:
	case EFFECT_FLOWS:
		helper_model_request(w, effect);
		break;
	case EFFECT_RECORD:
	case EFFECT_FORGET:
		restart_state(w, effect);
		break;
	case EFFECT_RECALL:
		helper_model_recall(w, effect);
		break;
	case EFFECT_QUARANTINE:
	case EFFECT_RELEASE:
		restart_quarantine(w, effect);
		helper_model_request(w, effect);
		break;
	case EFFECT_REPLY:
	case EFFECT_SETTLE:
	case EFFECT_CHARGED:
	case EFFECT_EVENT:
		break;
	}
}

void
world_pump(struct world *w)
{
	struct effect effect;

	while (engine_next_effect(w->engine, &effect)) {
		if (w->verbose)
			rig_print_effect(&effect, w->now_ms);
		/* The client never sees this one. */
		if (w->plant == 4 && effect.kind == EFFECT_REPLY &&
		    world_chance(w, 2)) {
			w->reply_count++;
			continue;
		}
		route(w, &effect);
	}
	oracle_step(w);
}

void
world_start_engine(struct world *w)
{
	uint8_t seed[32];

	rng_bytes(&w->rng, seed, sizeof(seed));
	w->engine = rig_engine(&w->limits, seed);
	REQUIRE(w->engine != NULL);
	engine_set_policy(w->engine, w->policy.policy, w->now_ms);
	world_pump(w);
}

static void
begin(struct world *w)
{
	uint32_t max = w->limits.pins.pins_max;

	w->state = calloc(max, sizeof(*w->state));
	w->state_used = calloc(max, sizeof(*w->state_used));
	REQUIRE(w->state != NULL && w->state_used != NULL);
	w->policy.profile_of[2] = 1;
	policy_model_draw(w, &w->policy);
	world_start_engine(w);
	engine_recalled(w->engine, w->now_ms);
	world_pump(w);
	engine_settled(w->engine, 0, w->now_ms);
	world_pump(w);
}

static void
query(struct world *w, const struct delivery *d)
{
	struct sim_query *q = &w->queries[w->query_count];
	struct client client;

	memset(&client, 0, sizeof(client));
	client.sandbox = w->policy.gone[d->number] ? 0 : d->number;
	client.listener = w->query_count++;
	client.port = (uint16_t)(1024 + client.listener);
	client.stream = d->flag ? client.port : 0;
	q->open = true;
	q->silent = d->len < DNS_HEADER_SIZE || (d->wire[2] & 0x80) != 0;
	q->sandbox = client.sandbox;
	q->opened_ms = w->now_ms;
	engine_query(w->engine, &client, d->wire, d->len, w->now_ms);
}

static void
change_policy(struct world *w)
{
	struct sim_policy before = w->policy;

	w->policy.policy = NULL;
	policy_model_draw(w, &w->policy);
	oracle_before_policy(w, &w->policy);
	engine_set_policy(w->engine, w->policy.policy, w->now_ms);
	/* Nothing in the core may point into it any more. */
	rig_policy_free(before.policy);
	world_pump(w);
	oracle_after_policy(w);
}

/* A try is over: there is another server to ask, or there is not. */
static void
ask_failed(struct world *w, const struct delivery *d)
{
	const struct ask_trail trail = { .tried = 1, .tries = 1 };

	if (world_chance(w, 50))
		engine_ask_again(w->engine, d->id, d->part, &trail, w->now_ms);
	else
		engine_ask_failed(w->engine, d->id, d->part,
		    (enum ask_failure)world_below(w, ASK_NOT_SENT + 1),
		    w->now_ms);
}

static void
deliver(struct world *w, const struct delivery *d)
{
	switch (d->kind) {
	case DELIVER_QUERY:
		query(w, d);
		return;
	case DELIVER_ANSWER:
		engine_answer(w->engine, d->id, d->part, d->wire, d->len,
		    w->now_ms);
		return;
	case DELIVER_ASK_FAILED:
		ask_failed(w, d);
		return;
	case DELIVER_HELPER:
		helper_model_take(w, d);
		return;
	case DELIVER_PINNED:
		if (!w->helper_dead)
			engine_pinned(w->engine, d->id, d->status, w->now_ms);
		return;
	case DELIVER_FLOWS:
		if (!w->helper_dead)
			engine_flows(w->engine, d->number, d->status, d->flag,
			    w->now_ms);
		return;
	case DELIVER_LOST:
		w->flushes_under_way--;
		engine_pins_lost(w->engine, d->number, 5, 1, w->now_ms);
		return;
	case DELIVER_FLUSH:
		helper_model_flush(w, d->number);
		return;
	case DELIVER_HELPER_DEAD:
		w->helper_dead = true;
		engine_helper_lost(w->engine, w->now_ms);
		return;
	case DELIVER_POLICY:
		change_policy(w);
		return;
	case DELIVER_DETACH:
	case DELIVER_DETACHED:
	case DELIVER_ATTACH:
	case DELIVER_ASSIGN:
	case DELIVER_REVOKE:
		comings_deliver(w, d);
		return;
	case DELIVER_RESTART:
		restart_world(w);
		return;
	case DELIVER_QUARANTINE:
		if (w->policy.gone[d->number])
			return;
		if (engine_is_quarantined(w->engine, d->number))
			engine_release(w->engine, d->number, w->now_ms);
		else
			engine_quarantine(w->engine, d->number, false,
			    w->now_ms);
		return;
	case DELIVER_PAUSE:
		w->now_ms += 500 + world_below(w, 90000);
		w->pause_end_ms = w->now_ms;
		return;
	}
	UNREACHABLE();
}

/* One thing happens; false when nothing is left to happen before end_ms. */
static bool
step(struct world *w, uint64_t end_ms)
{
	uint64_t timer_ms = engine_deadline(w->engine);
	uint64_t next_ms =
	    w->delivery_count == 0 ? DEADLINE_NEVER : w->heap[0]->at_ms;
	struct delivery *d;

	if (timer_ms > end_ms && next_ms > end_ms)
		return false;
	/* What is due at once has no order: a pause leaves many such. */
	if (timer_ms <= w->now_ms && next_ms <= w->now_ms
		? world_chance(w, 50)
		: timer_ms <= next_ms) {
		if (timer_ms > w->now_ms)
			w->now_ms = timer_ms;
		engine_expire(w->engine, w->now_ms);
		world_pump(w);
		return true;
	}
	d = take_delivery(w);
	if (d->at_ms > w->now_ms)
		w->now_ms = d->at_ms;
	deliver(w, d);
	free(d);
	world_pump(w);
	return true;
}

static void
finish(struct world *w)
{
	while (w->delivery_count > 0)
		free(take_delivery(w));
	free(w->heap);
	free(w->state);
	free(w->state_used);
	kernel_free(&w->kernel);
	rig_policy_free(w->policy.policy);
	rig_engine_free(w->engine);
	w->engine = NULL;
}

static uint64_t
last_delivery(const struct world *w)
{
	uint64_t last_ms = w->now_ms;

	for (uint32_t i = 0; i < w->delivery_count; i++)
		if (w->heap[i]->at_ms > last_ms)
			last_ms = w->heap[i]->at_ms;
	return last_ms;
}

void
world_run(struct world *w, uint64_t seed, uint32_t plant, bool verbose)
{
	uint8_t octets[32] = { 0 };
	uint32_t steps = 0;
	uint64_t end_ms;

	memset(w, 0, sizeof(*w));
	w->seed = seed;
	w->plant = plant;
	w->verbose = verbose;
	w->now_ms = 1000;
	w->trace = 0xcbf29ce484222325ull;
	memcpy(octets, &seed, sizeof(seed));
	rng_init(&w->rng, octets);
	w->heap = calloc(SIM_DELIVERIES, sizeof(*w->heap));
	REQUIRE(w->heap != NULL);
	kernel_init(&w->kernel);
	draw_faults(w);
	draw_limits(w);
	begin(w);
	/* Something that is not of the seed gets into the second run. */
	if (w->plant == 9)
		(void)world_below(w, 2);
	client_model_plan(w);
	end_ms = last_delivery(w);
	plan_faults(w, end_ms);
	end_ms += REST_MS;
	while (w->failed == 0 && step(w, end_ms)) {
		/* A pause may go past the end. */
		if (w->pause_end_ms + REST_MS > end_ms)
			end_ms = w->pause_end_ms + REST_MS;
		if (++steps > STEPS_MAX)
			oracle_fail(w, 4, "it does not come to rest");
	}
	if (w->failed == 0)
		oracle_end(w);
	finish(w);
}
