/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daemon_dates - rules with a date, and the clock that can be set.
 *
 * Everything else counts from the boot. A date does not, so the time of day
 * is looked at when the next one is due, and at least each minute while any
 * rule has one: the clock may be set either way.
 */
#include "config.h"

#include <time.h>

#include "src/resolver/daemon.h"
#include "src/resolver/log.h"

#define LOOK_EVERY_MS 60000

static uint64_t
wall_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static bool
has_dates(const struct policy *policy)
{
	for (uint32_t i = 0; i < policy->term_count; i++) {
		if (policy->terms[i].until_wall_ms != 0)
			return true;
	}
	return false;
}

/* Looks at the clock. True: the policy is to be set (anew). */
static bool
look(struct daemon *d)
{
	uint64_t now_ms = wall_ms(), next_ms = POLICY_NO_DATE;
	bool changed = policy_expire_rules(d->config->policy, now_ms, &next_ms);

	engine_set_wall(&d->engine, now_ms, d->now_ms);
	d->dates_ms = DEADLINE_NEVER;
	if (has_dates(d->config->policy))
		d->dates_ms = d->now_ms + LOOK_EVERY_MS;
	if (next_ms - now_ms < LOOK_EVERY_MS)
		d->dates_ms = d->now_ms + (next_ms - now_ms);
	return changed;
}

void
daemon_set_policy(struct daemon *d)
{
	(void)look(d);
	engine_set_policy(&d->engine, d->config->policy, d->now_ms);
}

void
daemon_dates(struct daemon *d)
{
	if (d->now_ms < d->dates_ms || !look(d))
		return;
	log_info("daemon", "rules begin or end by their date");
	engine_set_policy(&d->engine, d->config->policy, d->now_ms);
	daemon_pump(d);
}
