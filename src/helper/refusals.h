/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * refusals - how many packets the kernel refused, and how many it let pass in
 * an audit that it would have refused, by sandbox, since this program started.
 * The kernel counts exactly; what it had counted before, in a table that was
 * taken over, is left out.
 */
#ifndef SRC_HELPER_REFUSALS_H
#define SRC_HELPER_REFUSALS_H

#include <stdbool.h>
#include <stdint.h>

struct helper;

struct packet_tally {
	uint64_t *now; /* as the table has it */
	uint64_t *last; /* as it had it */
	uint64_t *total;
};

#define TALLIES 2 /* by enum helper_stat */

struct refusals {
	uint32_t sandboxes_max; /* highest number + 1; 0 is for spoofed ones */
	struct packet_tally tallies[TALLIES];
};

/* Room for the guard's sandboxes. 0 or -ENOMEM. */
int refusals_open(struct helper *);
void refusals_close(struct helper *);
/* What the table has counted so far does not count. 0 or negative errno. */
int refusals_begin(struct helper *);
/* Takes in what the table has counted since. 0 or negative errno. */
int refusals_take(struct helper *);
/* Addresses have changed hands, right after refusals_take(): what the table
 * has counted for them was the last holder's. Numbers without a sandbox begin
 * at 0 again. 0 or negative errno. */
int refusals_follow(struct helper *);
/* Whoever has this number begins at 0, and his addresses with nothing that
 * packets of the last one left behind. */
void refusals_begin_anew(struct helper *, uint32_t sandbox);
/* Fills in the answers to all requests for it of this wake-up. */
void refusals_answer(struct helper *);

#endif
