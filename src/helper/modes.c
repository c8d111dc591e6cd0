/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * modes - see modes.h.
 */
#include "config.h"

#include "src/helper/modes.h"

#include <errno.h>
#include <stdlib.h>

#include <linux/netfilter.h>

#include "lib/require.h"
#include "src/helper/grants.h"
#include "src/helper/homes.h"
#include "src/helper/log.h"
#include "src/helper/ranges.h"
#include "src/helper/revoking.h"
#include "src/helper/sweep.h"
#include "src/helper/sync.h"

/* Each change of the table interrupts a walk. */
#define SYNC_TRIES 20

/* Of those that open, the ones that close are first. */
static const char *const mode_sets[] = { "quarantined4", "quarantined6",
	"audit4", "audit6" };
static const char *const range_sets[] = { "protected4", "protected6" };

#define QUARANTINED 0
#define AUDIT       2

/* What the sets have, and shall have. */
struct change {
	struct sync sync; /* of the modes */
	struct member *wanted;
	size_t wanted_count;
	struct sync ranges[ARRAY_LEN(range_sets)];
};

static size_t
put_sources(const struct helper *helper, uint32_t number, size_t set,
    struct member *ret)
{
	const struct edge_sandbox *sandbox =
	    guard_sandbox(&helper->guard, number);

	for (size_t i = 0; i < sandbox->source_count; i++)
		ret[i] = (struct member){
			.set = element_set(mode_sets[set], mode_sets[set + 1],
			    &sandbox->sources[i]),
			.element = element_source(&sandbox->sources[i]),
		};
	return sandbox->source_count;
}

size_t
modes_members(const struct helper *helper, uint32_t number,
    struct member ret[MODE_MEMBERS_MAX])
{
	if (!helper->guard.sandboxes[number].quarantined)
		return 0;
	return put_sources(helper, number, QUARANTINED, ret);
}

/* A number that is nobody's takes nothing along to whoever has it next. */
static void
forget_gone(struct guard *guard)
{
	for (uint32_t i = 1; i <= guard->numbers_max; i++)
		if (!guard_exists(guard, i))
			guard->sandboxes[i].quarantined =
			    guard->sandboxes[i].audit = false;
}

/* Before the start is settled nobody is let out. */
static void
keep_quarantines(const struct helper *helper, struct change *change)
{
	for (size_t i = 0; i < change->sync.count; i++) {
		const struct member *there = &change->sync.there[i];

		if (helper->state != STATE_READY &&
		    (there->set == mode_sets[QUARANTINED] ||
			there->set == mode_sets[QUARANTINED + 1]))
			change->wanted[change->wanted_count++] = *there;
	}
}

static int
want(struct helper *helper, struct change *change)
{
	const struct guard *guard = &helper->guard;
	size_t most = (size_t)guard->sandbox_count * MODE_MEMBERS_MAX * 2 +
	    helper->revocation_count * EDGE_SOURCES_MAX + change->sync.count +
	    1;

	change->wanted = calloc(most, sizeof(*change->wanted));
	if (change->wanted == NULL)
		return -ENOMEM;
	for (uint32_t i = 1; i <= guard->sandbox_count; i++) {
		change->wanted_count += modes_members(helper, i,
		    change->wanted + change->wanted_count);
		if (guard_is_audit(guard, i))
			change->wanted_count += put_sources(helper, i, AUDIT,
			    change->wanted + change->wanted_count);
	}
	change->wanted_count +=
	    revoking_members(helper, change->wanted + change->wanted_count);
	keep_quarantines(helper, change);
	return 0;
}

static int
collect(struct helper *helper, struct change *change)
{
	int error = 0;

	for (size_t i = 0; i < ARRAY_LEN(mode_sets) && error == 0; i++)
		error = sync_collect(&change->sync, &helper->nft, NFPROTO_INET,
		    mode_sets[i]);
	for (size_t i = 0; i < ARRAY_LEN(range_sets) && error == 0; i++)
		error = sync_collect(&change->ranges[i], &helper->nft,
		    NFPROTO_INET, range_sets[i]);
	return error;
}

static void
end(struct change *change)
{
	sync_free(&change->sync);
	for (size_t i = 0; i < ARRAY_LEN(range_sets); i++)
		sync_free(&change->ranges[i]);
	free(change->wanted);
}

/* Ranges first: an audit never sees the old ones. */
static int
sync_once(struct helper *helper, bool *ret_changed)
{
	struct change change = { .wanted_count = 0 };
	struct batch batch;
	unsigned int empty;
	int error = collect(helper, &change);

	if (error == 0)
		error = want(helper, &change);
	batch_begin(&batch, &helper->nft);
	empty = batch.count;
	for (size_t i = 0; i < ARRAY_LEN(range_sets) && error == 0; i++)
		error = ranges_put(&batch, range_sets[i], &change.ranges[i],
		    &helper->guard.ranges, i == 0 ? 4 : 6);
	if (error == 0)
		error = sync_put(&change.sync, &batch, change.wanted,
		    change.wanted_count);
	*ret_changed = batch.count != empty;
	if (error == 0 && *ret_changed)
		error = batch_commit(&batch);
	end(&change);
	return error;
}

/* What begins and ends with this transaction. */
static void
follow_audits(struct helper *helper, uint64_t now_ms)
{
	struct guard *guard = &helper->guard;
	bool any = false;

	for (uint32_t i = 1; i <= guard->sandbox_count; i++) {
		struct guard_sandbox *s = &guard->sandboxes[i];
		bool audit = guard_is_audit(guard, i);

		if (s->audit && !audit && guard_exists(guard, i)) {
			revoking_unexplained(helper, i, now_ms);
			any = true;
		}
		s->audit = audit;
	}
	if (any)
		revoking_pass(helper);
}

int
modes_sync(struct helper *helper, uint64_t now_ms)
{
	bool changed = false;
	int error = -EINTR;

	if (helper->nft.lent_pins4 != NULL)
		return 0; /* the operator's table knows no modes */
	forget_gone(&helper->guard);
	for (int i = 0; i < SYNC_TRIES && error == -EINTR; i++)
		error = sync_once(helper, &changed);
	homes_members(helper);
	if (error == 0)
		follow_audits(helper, now_ms);
	if (changed)
		helper_changed(helper, 0);
	if (error != 0)
		helper->suspect = true;
	return error;
}

int
modes_follow(struct helper *helper, uint64_t now_ms)
{
	const struct guard *guard = &helper->guard;

	for (uint32_t i = 1; i <= guard->numbers_max; i++)
		if (guard->sandboxes[i].audit != guard_is_audit(guard, i))
			return modes_sync(helper, now_ms);
	return 0;
}

/* The sets of modes, and what goes by interface and not by address. */
static int
follow_one(struct helper *helper, uint32_t number, uint64_t now_ms)
{
	int error = modes_sync(helper, now_ms);

	if (error != 0 || !guard_sandbox(&helper->guard, number)->dhcp ||
	    helper->nft.lent_pins4 != NULL)
		return error;
	error = grants_follow(helper);
	helper_changed(helper, 0);
	if (error != 0)
		helper->suspect = true;
	return error;
}

/* Nothing of the sandbox passes from the first transactions on; then what was
 * open goes, so that a release finds nothing of it. */
static int
quarantine(struct helper *helper, uint32_t number, uint64_t now_ms)
{
	struct flows_cut cut = { 0, 0 };
	int error;

	helper->guard.sandboxes[number].quarantined = true;
	error = follow_one(helper, number, now_ms);
	if (error == 0)
		error = revoking_drop_pins(helper, number);
	if (error == 0)
		error = sweep_sandbox(helper, number, &cut);
	revoking_look_again(helper, number, now_ms);
	if (error == 0)
		log_info("sandbox %s: in quarantine, %u flows cut",
		    guard_sandbox(&helper->guard, number)->name, cut.count);
	return error;
}

static int
release(struct helper *helper, uint32_t number, uint64_t now_ms)
{
	int error;

	/* What is still being cut would be let out half cut. */
	revoking_end(helper, number);
	helper->guard.sandboxes[number].quarantined = false;
	error = follow_one(helper, number, now_ms);
	if (error == 0)
		log_info("sandbox %s: out of quarantine",
		    guard_sandbox(&helper->guard, number)->name);
	return error;
}

void
modes_request(struct helper *helper, struct request *request, uint64_t now_ms)
{
	uint32_t number = request->msg.sandbox;

	request->status = guard_flush(&helper->guard, &request->msg);
	if (request->status != 0)
		return;
	request->status = request->msg.op == HELPER_QUARANTINE
	    ? quarantine(helper, number, now_ms)
	    : release(helper, number, now_ms);
	if (request->status != 0)
		log_error("sandbox %s: its quarantine: %s",
		    guard_sandbox(&helper->guard, number)->name,
		    batch_error_text(request->status));
}
