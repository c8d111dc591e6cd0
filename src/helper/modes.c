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
#include "src/helper/homes.h"
#include "src/helper/log.h"
#include "src/helper/revoking.h"
#include "src/helper/sweep.h"
#include "src/helper/sync.h"

/* Each change of the table interrupts a walk. */
#define SYNC_TRIES 20

static const char *const mode_sets[] = { "quarantined4", "quarantined6" };

size_t
modes_members(const struct helper *helper, uint32_t number,
    struct member ret[MODE_MEMBERS_MAX])
{
	const struct edge_sandbox *sandbox =
	    guard_sandbox(&helper->guard, number);
	size_t count = 0;

	if (!helper->guard.sandboxes[number].quarantined)
		return 0;
	for (size_t i = 0; i < sandbox->source_count; i++)
		ret[count++] = (struct member){
			.set = element_set(mode_sets[0], mode_sets[1],
			    &sandbox->sources[i]),
			.element = element_source(&sandbox->sources[i]),
		};
	return count;
}

/* A number that is nobody's takes nothing along to whoever has it next. */
static void
forget_gone(struct guard *guard)
{
	for (uint32_t i = 1; i <= guard->numbers_max; i++)
		if (!guard_exists(guard, i))
			guard->sandboxes[i].quarantined = false;
}

static int
sync_once(struct helper *helper, const struct member *wanted, size_t count)
{
	struct sync sync = { .there = NULL };
	struct batch batch;
	int error = 0;

	for (size_t i = 0; i < ARRAY_LEN(mode_sets) && error == 0; i++)
		error = sync_collect(&sync, &helper->nft, NFPROTO_INET,
		    mode_sets[i]);
	if (error == 0) {
		batch_begin(&batch, &helper->nft);
		error = sync_put(&sync, &batch, wanted, count);
	}
	if (error == 0)
		error = batch_commit(&batch);
	sync_free(&sync);
	return error;
}

int
modes_sync(struct helper *helper)
{
	struct guard *guard = &helper->guard;
	struct member *wanted =
	    calloc((size_t)guard->sandbox_count * MODE_MEMBERS_MAX +
		    helper->revocation_count * EDGE_SOURCES_MAX + 1,
		sizeof(*wanted));
	size_t count = 0;
	int error = -EINTR;

	if (wanted == NULL)
		return -ENOMEM;
	forget_gone(guard);
	for (uint32_t i = 1; i <= guard->sandbox_count; i++)
		count += modes_members(helper, i, wanted + count);
	count += revoking_members(helper, wanted + count);
	for (int i = 0; i < SYNC_TRIES && error == -EINTR; i++)
		error = sync_once(helper, wanted, count);
	free(wanted);
	homes_members(helper);
	helper_changed(helper, 0);
	if (error != 0)
		helper->suspect = true;
	return error;
}

/* Nothing of the sandbox passes from the first transaction on; then what was
 * open goes, so that a release finds nothing of it. */
static int
quarantine(struct helper *helper, uint32_t number, uint64_t now_ms)
{
	struct flows_cut cut = { 0, 0 };
	int error;

	helper->guard.sandboxes[number].quarantined = true;
	error = modes_sync(helper);
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
release(struct helper *helper, uint32_t number)
{
	int error;

	/* What is still being cut would be let out half cut. */
	revoking_end(helper, number);
	helper->guard.sandboxes[number].quarantined = false;
	error = modes_sync(helper);
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
	    : release(helper, number);
	if (request->status != 0)
		log_error("sandbox %s: its quarantine: %s",
		    guard_sandbox(&helper->guard, number)->name,
		    batch_error_text(request->status));
}
