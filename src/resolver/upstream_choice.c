/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upstream_choice - see upstream_choice.h.
 */
#include "config.h"

#include "src/resolver/upstream_choice.h"

#include <stdbool.h>
#include <stddef.h>

#include "lib/require.h"

#define EXPLORE_ONE_IN 32
#define FAILURES_MAX   16

void
health_answered(struct server_health *health, uint32_t rtt_ms)
{
	if (rtt_ms == 0)
		rtt_ms = 1;
	if (health->srtt_ms == 0)
		health->srtt_ms = rtt_ms;
	else
		health->srtt_ms = (7 * health->srtt_ms + rtt_ms + 4) / 8;
	health->failures = 0;
	health->hold_until_ms = 0;
}

void
health_failed(struct server_health *health, uint64_t now_ms)
{
	uint64_t hold_ms = HOLD_FIRST_MS;

	/* Many asks fail in the same outage; it counts once. */
	if (health->hold_until_ms > now_ms)
		return;
	if (health->failures < FAILURES_MAX)
		health->failures++;
	for (uint32_t i = 1; i < health->failures; i++)
		hold_ms *= 2;
	if (hold_ms > HOLD_LONGEST_MS)
		hold_ms = HOLD_LONGEST_MS;
	health->hold_until_ms = now_ms + hold_ms;
}

/* Whether a is the better one to ask. */
static bool
better(const struct server_health *a, const struct server_health *b,
    uint64_t now_ms)
{
	bool a_held = a->hold_until_ms > now_ms;
	bool b_held = b->hold_until_ms > now_ms;

	if (a_held != b_held)
		return b_held;
	if (a_held)
		return a->hold_until_ms < b->hold_until_ms;
	return a->srtt_ms < b->srtt_ms;
}

/* Any server that is neither tried nor held back, CHOICE_NONE: none. */
static uint32_t
explore(const struct server_health *const *servers, uint32_t count,
    uint32_t tried, uint32_t draw, uint64_t now_ms)
{
	uint32_t open[CHOICE_MAX];
	uint32_t open_count = 0;

	for (uint32_t i = 0; i < count; i++) {
		if ((tried >> i & 1) == 0 &&
		    servers[i]->hold_until_ms <= now_ms)
			open[open_count++] = i;
	}
	return open_count > 0 ? open[draw % open_count] : CHOICE_NONE;
}

uint32_t
upstream_choose(const struct server_health *const *servers, uint32_t count,
    uint32_t tried, uint32_t draw, uint64_t now_ms)
{
	uint32_t best = CHOICE_NONE;

	REQUIRE(count <= CHOICE_MAX);
	if (draw % EXPLORE_ONE_IN == 0)
		best = explore(servers, count, tried, draw / EXPLORE_ONE_IN,
		    now_ms);
	if (best != CHOICE_NONE)
		return best;
	for (uint32_t i = 0; i < count; i++) {
		if ((tried >> i & 1) != 0)
			continue;
		if (best == CHOICE_NONE ||
		    better(servers[i], servers[best], now_ms))
			best = i;
	}
	return best;
}
