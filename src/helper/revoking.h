/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * revoking - UNPIN and FLUSH: elements and their flows, at once.
 *
 * Two things are needed. A set before `established` stops the flow at the
 * commit; only the end of its entry in connection tracking stops a flow that
 * bypasses the rules. So: pins out and `cut` in, one transaction; entries
 * deleted; once more a little later; `cut` out. A whole sandbox is
 * quarantined for that time instead, which needs no list of its elements
 * and catches flows whose pin has lapsed.
 */
#ifndef SRC_HELPER_REVOKING_H
#define SRC_HELPER_REVOKING_H

#include "src/helper/helper.h"

/* Judges and does the UNPIN requests from..to-1. */
void revoking_unpin(struct helper *, size_t from, size_t to, uint64_t now_ms);
void revoking_flush(struct helper *, struct request *, uint64_t now_ms);
/* A second pass over the flows of a sandbox whose sources are quarantined. */
void revoking_look_again(struct helper *, uint32_t sandbox, uint64_t now_ms);
/* This element is wanted again: out of `cut`, its flows are left alone. */
void revoking_spare(struct helper *, struct batch *, const struct helper_msg *);
/* When the next second pass is due; UINT64_MAX: none. */
uint64_t revoking_due(const struct helper *);
void revoking_tick(struct helper *, uint64_t now_ms);
/* Ends what is under way for a sandbox now: its sources are about to change,
 * and what is still in `cut` is known by them. */
void revoking_end(struct helper *, uint32_t sandbox);
/* Revokes what is held and the configuration does not open any more; how many
 * elements that were. */
unsigned int revoking_prune(struct helper *, uint64_t now_ms);
/* Nothing is left to cut: the table was made anew and all was swept. */
void revoking_forget(struct helper *);

/* Puts deletions of all that is held of a sandbox into transactions of their
 * own, and forgets it. 0 or negative errno. */
int revoking_drop_pins(struct helper *, uint32_t sandbox);

#endif
