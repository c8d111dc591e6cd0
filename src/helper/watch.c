/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch - see watch.h.
 */
#include "config.h"

#include "src/helper/watch.h"

#include <errno.h>

#include "src/helper/advice.h"
#include "src/helper/homes.h"
#include "src/helper/log.h"
#include "src/helper/modes.h"
#include "src/helper/revoking.h"
#include "src/helper/sets.h"
#include "src/helper/sweep.h"

#define REBUILD_TRIES 5

void
watch_tell_reset(struct helper *helper, uint64_t window_ms, uint64_t packets)
{
	if (helper->state == STATE_NEW)
		return;
	helper_send(helper,
	    &(struct helper_msg){
		.op = HELPER_RESET,
		.ifindex = (uint32_t)window_ms,
		.count = packets,
	    });
}

/*
 * Everything anew, since it is not known what else was done to it. Pins are
 * lost; the resolver makes them again with its next answers. Flows that were
 * born in the window are established and no rule would question them.
 */
static bool
rebuild(struct helper *helper, const struct monitor_report *report)
{
	uint64_t start_ms = helper_now_ms();
	uint64_t window_ms;
	enum ruleset_outcome outcome = RULESET_BORN;
	struct flows_cut cut = { 0, 0 };
	int error = -EAGAIN;

	homes_members(helper);
	for (int i = 0; i < REBUILD_TRIES && error != 0; i++)
		error = ruleset_install(&helper->ruleset, helper->members,
		    helper->member_count, true, &outcome);
	if (error != 0) {
		log_error("table %s: was changed and cannot be rebuilt: "
			  "%s",
		    helper->nft.table, batch_error_text(error));
		return false;
	}
	if (modes_sync(helper, start_ms) != 0)
		log_error("table %s: audits are closed until it can be "
			  "completed",
		    helper->nft.table);
	window_ms = helper_now_ms() - start_ms;
	held_clear(&helper->guard.held, 0);
	revoking_pass(helper);
	revoking_forget(helper);
	inherit_forget(helper);
	uploads_lost(helper);
	helper->settle_ms = UINT64_MAX;
	error = sweep_all(helper, &cut);
	if (error != 0)
		log_error("connection tracking: %s", batch_error_text(error));
	log_error("table %s: changed by %s (pid %u); rebuilt after %u ms, "
		  "%u flows cut",
	    helper->nft.table,
	    report->process[0] != '\0' ? report->process : "somebody",
	    (unsigned int)report->pid, (unsigned int)window_ms, cut.count);
	watch_tell_reset(helper, window_ms, cut.packets);
	return error == 0;
}

bool
watch_table(struct helper *helper)
{
	struct monitor_report report;
	uint64_t now_ms = helper_now_ms();
	bool due = helper->suspect || now_ms >= helper->verify_ms;
	int error;

	if (helper->nft.lent_pins4 != NULL) {
		sets_watch(helper);
		return true;
	}
	monitor_read(&helper->monitor, &report);
	if (report.spent)
		uploads_hurry(helper);
	if (report.touched) {
		helper->suspect = false;
		return rebuild(helper, &report);
	}
	if (!due && !report.lost)
		return true;
	/* The digest covers what is changed for the time of a revocation. */
	if ((helper->revocation_count != 0 ||
		helper->settle_ms != UINT64_MAX) &&
	    !helper->suspect) {
		helper->verify_ms = now_ms + SECOND_PASS_MS;
		return true;
	}
	helper->suspect = false;
	helper->verify_ms = now_ms + WATCH_INTERVAL_MS;
	advice_tell(helper);
	error = ruleset_verify(&helper->ruleset);
	if (error == 0)
		return true;
	if (error != -ESTALE)
		log_warn("table %s: could not be verified: %s",
		    helper->nft.table, batch_error_text(error));
	return rebuild(helper, &report);
}
