/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daemon_beat - what goes out by the clock: repeats at the end of their
 * window, and heartbeats. Beside them the inputs that only tell: packets and
 * flows.
 */
#include "config.h"

#include "src/resolver/daemon.h"

#include <errno.h>
#include <stdlib.h>

#define WINDOWS_MAX         2048
#define WINDOWS_PER_SANDBOX 256
#define WINDOW_MS           10000

int
daemon_beat_open(struct daemon *d, uint32_t heartbeat_ms,
    const uint8_t secret[16])
{
	const struct fold_limits limits = { .windows_max = WINDOWS_MAX,
		.windows_per_sandbox_max = WINDOWS_PER_SANDBOX,
		.sandboxes_max = d->numbers_max + 1,
		.window_ms = WINDOW_MS };
	struct arena arena;

	arena_init(&arena, NULL, 0);
	fold_init(&d->fold, &arena, &limits, secret);
	d->fold_block = calloc(1, arena.used);
	if (d->fold_block == NULL)
		return -ENOMEM;
	arena_init(&arena, d->fold_block, arena.used);
	fold_init(&d->fold, &arena, &limits, secret);
	return heart_open(&d->heart, d->numbers_max, heartbeat_ms);
}

void
daemon_beat_close(struct daemon *d)
{
	heart_close(&d->heart);
	free(d->fold_block);
	d->fold_block = NULL;
}

void
daemon_unfold(struct daemon *d, uint64_t now_ms)
{
	while (fold_pop(&d->fold, now_ms, &d->folded))
		daemon_tell(d, &d->folded, NULL);
}

void
daemon_unfold_of(struct daemon *d, uint32_t sandbox)
{
	while (fold_part(&d->fold, sandbox, &d->folded))
		daemon_tell(d, &d->folded, NULL);
}

uint64_t
daemon_beat_deadline(const struct daemon *d)
{
	uint64_t fold = fold_deadline(&d->fold);
	uint64_t heart = heart_deadline(&d->heart);

	return fold < heart ? fold : heart;
}

/* Nobody always is. */
static bool
is_there(const struct daemon *d, uint32_t sandbox)
{
	return sandbox == 0 ||
	    policy_sandbox(d->engine.policy, sandbox) != NULL;
}

static bool
is_audit(const struct daemon *d, uint32_t sandbox)
{
	const struct policy *policy = d->engine.policy;
	const struct policy_sandbox *of = policy_sandbox(policy, sandbox);

	return of != NULL && policy->profiles[of->profile].audit;
}

static void
beat_one(struct daemon *d, uint32_t sandbox)
{
	if (is_audit(d, sandbox))
		(void)helper_stats(&d->helper, HELPER_STAT_AUDITED, sandbox);
	if (!helper_stats(&d->helper, HELPER_STAT_REFUSED, sandbox))
		daemon_stats(d, HELPER_STAT_REFUSED, sandbox, -EAGAIN, 0);
}

void
daemon_beat(struct daemon *d)
{
	daemon_unfold(d, d->now_ms);
	if (!heart_is_due(&d->heart, d->now_ms))
		return;
	for (uint32_t i = 0; i <= d->sandbox_count; i++)
		if (is_there(d, i))
			beat_one(d, i);
}

void
daemon_beat_anew(struct daemon *d, uint32_t sandbox)
{
	if (d->heart.due_ms != 0)
		daemon_stats(d, HELPER_STAT_REFUSED, sandbox, -EAGAIN, 0);
	heart_anew(&d->heart, sandbox, d->now_ms);
}

/* What is nobody's in particular is told with what is of no sandbox. */
static void
add_nobodys(struct daemon *d, struct event_counts *counts)
{
	uint64_t dropped = daemon_dropped(d) - d->heart.dropped;

	counts->events_dropped += dropped - d->heart.dropped_told;
	d->heart.dropped_told = dropped;
	counts->packets_unlogged = d->nflog.lost - d->heart.unlogged_told;
	d->heart.unlogged_told = d->nflog.lost;
}

void
daemon_stats(struct daemon *d, enum helper_stat which, uint32_t sandbox,
    int status, uint64_t count)
{
	struct event event = { .action = EVENT_HEARTBEAT, .sandbox = sandbox };
	struct event_counts counts;
	struct upload_use use;

	/* It may have gone since it was asked about. */
	if (!is_there(d, sandbox))
		return;
	if (which == HELPER_STAT_AUDITED) {
		if (status == 0)
			heart_audited(&d->heart, sandbox, count);
		return;
	}
	counts = heart_take(&d->heart, sandbox, status == 0, count);
	counts.is_audit = is_audit(d, sandbox);
	if (sandbox == 0)
		add_nobodys(d, &counts);
	if (uploads_sum(d, sandbox, &use))
		event.upload =
		    (struct event_upload){ true, use.used, use.limit };
	event.duration_ms = heart_span(&d->heart, sandbox, d->now_ms);
	daemon_tell(d, &event, &counts);
}

void
daemon_rejected(struct daemon *d, const struct rejected *rejected)
{
	struct rejected told = *rejected;
	uint32_t each = members_each(d, &told.packet.source);

	if (each != 0 && d->bindings[each].ifindex == told.ifindex)
		told.stands_for = each;
	engine_rejected(&d->engine, &told, d->now_ms);
	daemon_pump(d);
}

void
daemon_flow_ended(struct daemon *d, const struct ended_flow *flow)
{
	engine_flow_ended(&d->engine, flow, d->now_ms);
	daemon_pump(d);
}
