/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * restart - the resolver is killed without notice and comes up again, with
 * nothing but its records and what the kernel still holds.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "tests/sim/world.h"

static void
forget_all(struct world *w, uint32_t sandbox)
{
	for (uint32_t i = 0; i < w->limits.pins.pins_max; i++)
		if (sandbox == 0 || w->state[i].element.sandbox == sandbox)
			w->state_used[i] = false;
}

void
restart_state(struct world *w, const struct effect *effect)
{
	uint32_t slot = effect->u.record.slot;

	if (slot == FORGET_ALL)
		forget_all(w, effect->u.record.sandbox);
	else if (effect->kind == EFFECT_FORGET)
		w->state_used[slot] = false;
	else
		w->state_used[slot] =
		    pins_record(&w->engine->pins, slot, &w->state[slot]);
}

/* What was on the way to the dead goes with them; requests that the helper has
 * not read yet go too, or are still done without an answer. */
static void
clear_channels(struct world *w)
{
	bool done = world_chance(w, 50);
	uint32_t count = w->delivery_count;
	struct delivery **heap = w->heap;

	w->heap = calloc(SIM_DELIVERIES, sizeof(*w->heap));
	REQUIRE(w->heap != NULL);
	w->delivery_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct delivery *d = heap[i], *copy;

		if (d->kind == DELIVER_QUERY || d->kind == DELIVER_POLICY ||
		    d->kind == DELIVER_FLUSH || d->kind == DELIVER_PAUSE ||
		    d->kind == DELIVER_QUARANTINE ||
		    d->kind == DELIVER_HELPER_DEAD ||
		    d->kind == DELIVER_DETACH || d->kind == DELIVER_ATTACH ||
		    d->kind == DELIVER_ASSIGN || d->kind == DELIVER_REVOKE ||
		    d->kind == DELIVER_RESTART) {
			copy = world_deliver(w, d->kind, d->at_ms);
			d->order = copy->order;
			memcpy(copy, d, sizeof(*copy));
		} else if (d->kind == DELIVER_HELPER && done) {
			helper_model_take_silently(w, d);
		}
		free(d);
	}
	free(heap);
}

static void
recall_all(struct world *w)
{
	uint32_t max = w->limits.pins.pins_max;
	struct pin_record *old = w->state;
	bool *used = w->state_used;

	w->state = calloc(max, sizeof(*w->state));
	w->state_used = calloc(max, sizeof(*w->state_used));
	REQUIRE(w->state != NULL && w->state_used != NULL);
	for (uint32_t i = 0; i < max; i++) {
		if (!used[i])
			continue;
		engine_recall(w->engine, &old[i], w->now_ms);
		world_pump(w);
	}
	free(old);
	free(used);
}

void
restart_quarantine(struct world *w, const struct effect *effect)
{
	w->quarantined[effect->u.quarantine.sandbox] =
	    effect->kind == EFFECT_QUARANTINE;
}

static void
quarantine_all(struct world *w)
{
	for (uint32_t i = 1; i <= SIM_SANDBOXES; i++) {
		if (!w->quarantined[i] || w->policy.gone[i])
			continue;
		engine_quarantine(w->engine, i, true, w->now_ms);
		world_pump(w);
	}
}

void
restart_world(struct world *w)
{
	uint32_t unexplained;

	if (w->helper_dead)
		return;
	/* Whoever asked will ask again. */
	for (uint32_t i = 0; i < w->query_count; i++)
		w->queries[i].open = false;
	w->flushes_under_way = 0;
	w->helper_free_ms = w->now_ms;
	w->channel_free_ms = w->now_ms;
	clear_channels(w);
	rig_engine_free(w->engine);
	world_start_engine(w);
	recall_all(w);
	quarantine_all(w);
	engine_recalled(w->engine, w->now_ms);
	world_pump(w);
	unexplained = helper_model_settle(w);
	/* Who was on the way out has no record: the settling has cut it. */
	for (uint32_t i = 1; i <= SIM_SANDBOXES; i++) {
		if (!w->leaving[i])
			continue;
		w->leaving[i] = false;
		world_deliver(w, DELIVER_ATTACH, w->now_ms + 1000)->number = i;
	}
	/* What was taken back while it was on the way has no record: then this
	 * is how it goes. */
	if (unexplained > 0 && w->faults.flushes == 0 && w->faults.links == 0 &&
	    w->faults.policy_changes == 0 && w->faults.pauses == 0 &&
	    w->faults.departures == 0 && w->faults.assigns == 0 &&
	    w->faults.revokes == 0 && w->faults.quarantines == 0 &&
	    !w->faults.quarantine_on)
		oracle_fail(w, 7, "%u elements that no record explains",
		    (unsigned)unexplained);
	engine_settled(w->engine, 0, w->now_ms);
	world_pump(w);
}
