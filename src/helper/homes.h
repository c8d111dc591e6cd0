/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * homes - which interface each sandbox is bound to, as interfaces come and
 * go.
 *
 * By index: an interface that is made again under its name starts unbound
 * and is bound anew, without anything that was granted before. What a port
 * of a bridge sends arrives by the bridge: its sandbox is bound to that, and
 * to the port in the twin. Bridges themselves are refused.
 */
#ifndef SRC_HELPER_HOMES_H
#define SRC_HELPER_HOMES_H

#include "src/helper/helper.h"

/* True when any sandbox is found by the routing table. */
bool homes_need_routes(const struct edge_config *);
/* The number of edge interfaces that cannot be one, with a sentence in the
 * log when there are more than before. */
unsigned int homes_refused(struct helper *);
/* At the start, before the table is installed: where everybody is. The homes
 * that the kernel's table has already are remembered as such. */
void homes_find(struct helper *);
/* Later: takes a snapshot, binds and unbinds, tells the resolver. */
void homes_follow(struct helper *);
/* A reload: takes from a sandbox that goes, or gets other addresses, all that
 * it has; then gives everybody the interface that the configuration of now
 * leads to, and tells the resolver of those that changed. */
void homes_leave(struct helper *, uint32_t sandbox);
void homes_rebind(struct helper *);
/* The interface to which somebody who is about to be attached is bound: with
 * that index, or, where it is 0, to which the routes lead. Its name is filled
 * in. 0 or -ENODEV. */
int homes_choose(struct helper *, uint32_t ifindex, struct edge_attach *);
/* Finds where a sandbox is bound, without a word to anybody. */
void homes_locate(struct helper *, uint32_t sandbox);
/* Puts what a sandbox has where it is bound into the tables, or takes it
 * out. */
void homes_put(struct helper *, struct batch *, uint32_t sandbox, bool in);
/* Tells the resolver of every sandbox that is bound. */
void homes_tell(struct helper *);
/* Puts the homes behind the fixed members. */
void homes_members(struct helper *);

#endif
