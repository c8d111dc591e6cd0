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
/* A sandbox is in an audit no more: what no pin explains is to be cut, with
 * the next revoking_pass() and a little later. */
void revoking_unexplained(struct helper *, uint32_t sandbox, uint64_t now_ms);
/* This element is wanted again: out of `cut`, its flows are left alone. */
void revoking_spare(struct helper *, struct batch *, const struct helper_msg *);
/*
 * An address has been left: its flows are cut with the next pass and once
 * more later, and it is to be in quarantine until then; revoking_take_over()
 * ends that for whoever gets it, and takes it out.
 */
void revoking_depart(struct helper *, const struct addr *, uint64_t now_ms);
void revoking_take_over(struct helper *, struct batch *, const struct addr *);
/*
 * Somebody has come, and is to be in quarantine until what was there before
 * him is cut: soon, or right now by revoking_arrivals(), and once more later.
 */
void revoking_arrive(struct helper *, uint32_t sandbox, uint64_t now_ms);
void revoking_arrivals(struct helper *, uint64_t now_ms);
/* A sandbox goes: what is under way for it is left to its departure. */
void revoking_leave(struct helper *, struct batch *, uint32_t sandbox);
/* The addresses that are in quarantine for this, at most EDGE_SOURCES_MAX of
 * each revocation; how many. */
size_t revoking_members(const struct helper *, struct member *ret);
/* Room for as many revocations; not while a batch is being built. */
void revoking_make_room(struct helper *, size_t count);
/* Cuts the flows of all that is under way. */
void revoking_pass(struct helper *);
/* Puts an address into quarantine or takes it out. */
void revoking_quarantine(struct batch *, const struct addr *, bool in);
/* When the next second pass is due; UINT64_MAX: none. */
uint64_t revoking_due(const struct helper *);
void revoking_tick(struct helper *, uint64_t now_ms);
/* Ends what is under way for a sandbox now: its sources are about to change,
 * and what is still in `cut` is known by them. */
void revoking_end(struct helper *, uint32_t sandbox);
/* Revokes what is held of a sandbox (0: of all) and the configuration does not
 * open any more; how many elements that were. */
unsigned int revoking_prune(struct helper *, uint32_t sandbox, uint64_t now_ms);
/* Nothing is left to cut: the table was made anew and all was swept. */
void revoking_forget(struct helper *);

/* Puts deletions of all that is held of a sandbox into transactions of their
 * own, and forgets it. 0 or negative errno. */
int revoking_drop_pins(struct helper *, uint32_t sandbox);
/* The same of all that move. */
int revoking_drop_moving(struct helper *);

#endif
