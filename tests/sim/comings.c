/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * comings - sandboxes that go and come back under their number, get another
 * policy, or lose a rule: what a shell does on a caller's word.
 */
#include "lib/require.h"
#include "tests/sim/world.h"

#define AWAY_MS 3000

/* The helper is told after whatever the core wants of it. */
static void
detach(struct world *w, uint32_t sandbox)
{
	if (w->policy.gone[sandbox])
		return;
	w->changing = true;
	w->unpins_expected = 0;
	w->unpins_seen = 0;
	engine_detach(w->engine, sandbox, w->now_ms);
	w->policy.gone[sandbox] = true;
	world_pump(w);
	policy_detach(w->policy.policy, sandbox);
	w->changing = false;
	if (w->unpins_seen > 0)
		oracle_fail(w, 3, "%u pins taken back one by one",
		    (unsigned)w->unpins_seen);
	oracle_detached(w, sandbox);
	w->leaving[sandbox] = true;
	helper_model_detach(w, sandbox);
}

static void
attach(struct world *w, uint32_t sandbox)
{
	if (!w->policy.gone[sandbox] || w->leaving[sandbox])
		return;
	oracle_attaching(w, sandbox);
	policy_model_attach(&w->policy, sandbox, (uint8_t)world_below(w, 2));
	/* By its name it is who it was. */
	if (w->quarantined[sandbox])
		engine_quarantine(w->engine, sandbox, true, w->now_ms);
}

static void
assign(struct world *w, uint32_t sandbox)
{
	uint8_t profile = (uint8_t)world_below(w, 2);

	if (w->policy.gone[sandbox])
		return;
	w->policy.profile_of[sandbox] = profile;
	oracle_before_policy(w, &w->policy);
	policy_assign(w->policy.policy, sandbox, profile);
	engine_regrant(w->engine, sandbox, w->now_ms);
	world_pump(w);
	oracle_after_policy(w);
}

static void
revoke(struct world *w, uint32_t sandbox)
{
	if (!policy_model_withdraw(&w->policy, sandbox,
		world_below(w, SIM_RULES)))
		return;
	oracle_before_policy(w, &w->policy);
	engine_regrant(w->engine, sandbox, w->now_ms);
	world_pump(w);
	oracle_after_policy(w);
}

void
comings_deliver(struct world *w, const struct delivery *d)
{
	uint32_t sandbox = 1 + world_below(w, SIM_SANDBOXES);

	if (d->kind == DELIVER_DETACH) {
		detach(w, sandbox);
	} else if (d->kind == DELIVER_DETACHED) {
		w->leaving[d->number] = false;
		world_deliver(w, DELIVER_ATTACH,
		    w->now_ms + world_below(w, AWAY_MS))
		    ->number = d->number;
	} else if (d->kind == DELIVER_ATTACH) {
		attach(w, d->number);
	} else if (d->kind == DELIVER_ASSIGN) {
		assign(w, sandbox);
	} else {
		REQUIRE(d->kind == DELIVER_REVOKE);
		revoke(w, world_chance(w, 50) ? sandbox : 0);
	}
}
