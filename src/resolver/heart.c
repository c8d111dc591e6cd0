/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heart - see heart.h.
 */
#include "config.h"

#include "src/resolver/heart.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/deadlines.h"
#include "lib/require.h"

int
heart_open(struct heart *h, uint32_t sandbox_count, uint32_t period_ms)
{
	memset(h, 0, sizeof(*h));
	h->sandbox_count = sandbox_count;
	h->period_ms = period_ms != 0 ? period_ms : HEART_PERIOD_MS;
	h->tallies = calloc((size_t)sandbox_count + 1, sizeof(*h->tallies));
	return h->tallies != NULL ? 0 : -ENOMEM;
}

void
heart_close(struct heart *h)
{
	free(h->tallies);
	h->tallies = NULL;
}

void
heart_start(struct heart *h, uint64_t now_ms)
{
	h->due_ms = now_ms + h->period_ms;
	for (uint32_t i = 0; i <= h->sandbox_count; i++)
		h->tallies[i].since_ms = now_ms;
}

uint64_t
heart_deadline(const struct heart *h)
{
	return h->due_ms != 0 ? h->due_ms : DEADLINE_NEVER;
}

bool
heart_is_due(struct heart *h, uint64_t now_ms)
{
	if (h->due_ms == 0 || now_ms < h->due_ms)
		return false;
	/* After a pause of the host there is one beat, not one for each. */
	h->due_ms += h->period_ms;
	if (h->due_ms <= now_ms)
		h->due_ms = now_ms + h->period_ms;
	return true;
}

static struct heart_tally *
tally_of(struct heart *h, uint32_t sandbox)
{
	REQUIRE(sandbox <= h->sandbox_count);
	return &h->tallies[sandbox];
}

void
heart_count(struct heart *h, const struct event *event)
{
	if (event_is_counted(event->action))
		tally_of(h, event->sandbox)->counts.actions[event->action]++;
	if (event->would == WOULD_DENY)
		tally_of(h, event->sandbox)->counts.would_deny++;
}

void
heart_audited(struct heart *h, uint32_t sandbox, uint64_t packets)
{
	tally_of(h, sandbox)->audited = packets;
}

void
heart_dropped(struct heart *h, uint32_t sandbox, uint64_t lines)
{
	tally_of(h, sandbox)->counts.events_dropped += lines;
	h->dropped += lines;
}

void
heart_anew(struct heart *h, uint32_t sandbox, uint64_t now_ms)
{
	*tally_of(h, sandbox) = (struct heart_tally){ .since_ms = now_ms };
}

struct event_counts
heart_take(struct heart *h, uint32_t sandbox, bool has_packets,
    uint64_t packets)
{
	struct heart_tally *tally = tally_of(h, sandbox);
	struct event_counts counts = tally->counts;
	uint64_t more = packets - tally->packets_told;

	memset(&tally->counts, 0, sizeof(tally->counts));
	counts.has_packets = has_packets;
	if (!has_packets)
		return counts;
	counts.packets_audited = tally->audited - tally->audited_told;
	tally->audited_told = tally->audited;
	tally->packets_told = packets;
	if (sandbox == 0)
		counts.packets_spoofed = more;
	else
		counts.packets_refused = more;
	return counts;
}

uint32_t
heart_span(struct heart *h, uint32_t sandbox, uint64_t now_ms)
{
	struct heart_tally *tally = tally_of(h, sandbox);
	uint64_t span = now_ms - tally->since_ms;

	tally->since_ms = now_ms;
	return span < UINT32_MAX ? (uint32_t)span : UINT32_MAX;
}
