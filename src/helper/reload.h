/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reload - another configuration, while everything runs.
 *
 * The parent reads the file anew and passes the resolver the same bytes, and
 * the lists that they name, as descriptors. Once the resolver has read them
 * too, the kernel's sets and the guard accept what either of the two
 * configurations grants; the resolver switches and revokes; then what only
 * the old one granted goes. One error on either side before the switch and
 * nothing has changed.
 */
#ifndef SRC_HELPER_RELOAD_H
#define SRC_HELPER_RELOAD_H

#include "src/helper/helper.h"

/* Wants one; it begins with the next tick at which none is under way. */
void reload_want(struct helper *);
/* Begins what is wanted, once the start is over. */
void reload_tick(struct helper *);
/* What the resolver says of it; both set `broken` when it is out of turn. */
void reload_parsed(struct helper *, struct request *);
void reload_switched(struct helper *, struct request *, uint64_t now_ms);
void reload_close(struct helper *);

#endif
