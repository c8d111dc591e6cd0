/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_quarantine - sandboxes that are cut off: no question of theirs is
 * answered, nothing is held open for them, and none of their packets passes
 * the kernel. By hand, or because of an alert of theirs. See engine_parts.h.
 */
#include "lib/engine_parts.h"

#include <string.h>

#include "lib/require.h"

_Static_assert(EVENT_ACTION_LAST < 64, "an action is a bit of quarantine_on");

void
engine_quarantine_init(struct engine *e, struct arena *arena)
{
	size_t count = e->limits.sandboxes_max;

	e->quarantines = arena_take(arena, count, sizeof(*e->quarantines));
	if (e->quarantines != NULL)
		memset(e->quarantines, 0, count * sizeof(*e->quarantines));
}

bool
engine_is_quarantined(const struct engine *e, uint32_t sandbox)
{
	return sandbox < e->limits.sandboxes_max && e->quarantines[sandbox].on;
}

/* The effects of a quarantine that holds already. */
static void
cut_off(struct engine *e, uint32_t sandbox, enum quarantine_by by,
    enum event_action alert)
{
	struct effect *effect;
	struct event *event;

	pins_forget_all(&e->pins, sandbox);
	engine_record(e, EFFECT_FORGET, FORGET_ALL, sandbox);
	effect = effects_add(&e->effects, EFFECT_QUARANTINE);
	effect->u.quarantine.sandbox = sandbox;
	effect->u.quarantine.by = by;
	effect->u.quarantine.alert = alert;
	if (by == QUARANTINE_BY_RECORD)
		return;
	event = engine_event(e, EVENT_SANDBOX_QUARANTINED, sandbox, NULL);
	event->has_cause = by == QUARANTINE_BY_ALERT;
	event->cause = alert;
}

/*
 * From here on the sandbox is cut off, whatever else is done with what raised
 * the alert; the kernel is told in the next step, since there need not be room
 * for it now.
 */
bool
engine_note_alert(struct engine *e, enum event_action action, uint32_t sandbox)
{
	const struct policy_sandbox *of;
	const struct policy_profile *profile;

	if (sandbox == 0 || event_kind_of(action) != EVENT_KIND_ALERT ||
	    engine_is_quarantined(e, sandbox))
		return false;
	of = policy_sandbox(e->policy, sandbox);
	/* One that is many is not cut off for what a stranger does. */
	if (of == NULL || of->members4 || of->members6)
		return false;
	profile = &e->policy->profiles[of->profile];
	if ((profile->quarantine_on >> action & 1) == 0)
		return false;
	if (profile->audit)
		return true;
	e->quarantines[sandbox] = (struct engine_quarantine){ .on = true,
		.due = true,
		.alert = action };
	e->quarantines_due++;
	return false;
}

bool
engine_quarantine_step(struct engine *e)
{
	uint32_t sandbox = 1;

	if (e->quarantines_due == 0)
		return false;
	while (!e->quarantines[sandbox].due)
		sandbox++;
	e->quarantines[sandbox].due = false;
	e->quarantines_due--;
	cut_off(e, sandbox, QUARANTINE_BY_ALERT, e->quarantines[sandbox].alert);
	return true;
}

void
engine_quarantine(struct engine *e, uint32_t sandbox, bool on_record,
    uint64_t now_ms)
{
	engine_enter(e, now_ms);
	REQUIRE(sandbox > 0 && sandbox < e->limits.sandboxes_max);
	if (e->quarantines[sandbox].on)
		return;
	e->quarantines[sandbox].on = true;
	cut_off(e, sandbox,
	    on_record ? QUARANTINE_BY_RECORD : QUARANTINE_BY_COMMAND,
	    EVENT_SANDBOX_QUARANTINED);
}

void
engine_release(struct engine *e, uint32_t sandbox, uint64_t now_ms)
{
	struct effect *effect;

	engine_enter(e, now_ms);
	REQUIRE(sandbox > 0 && sandbox < e->limits.sandboxes_max);
	if (!e->quarantines[sandbox].on)
		return;
	e->quarantines[sandbox].on = false;
	/* Or the next question would be the last straw again. */
	tunnel_forgive(&e->tunnel, sandbox);
	effect = effects_add(&e->effects, EFFECT_RELEASE);
	effect->u.quarantine.sandbox = sandbox;
	effect->u.quarantine.by = QUARANTINE_BY_COMMAND;
	effect->u.quarantine.alert = EVENT_SANDBOX_RELEASED;
	(void)engine_event(e, EVENT_SANDBOX_RELEASED, sandbox, NULL);
}

void
engine_quarantine_forget(struct engine *e, uint32_t sandbox)
{
	REQUIRE(sandbox < e->limits.sandboxes_max && e->quarantines_due == 0);
	e->quarantines[sandbox].on = false;
}
