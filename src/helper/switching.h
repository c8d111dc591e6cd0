/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switching - the kernel's side of a reload: sets and homes from one
 * configuration to the next, without a moment at which a packet that both of
 * them allow is refused, or one that both refuse passes.
 */
#ifndef SRC_HELPER_SWITCHING_H
#define SRC_HELPER_SWITCHING_H

#include "src/helper/helper.h"

/* From here on both configurations are granted. 0, or a negative errno and
 * nothing has changed. */
int switching_widen(struct helper *);
/* From here on only the next one is. What sandboxes lose that went, or whose
 * addresses changed, is cut. */
void switching_narrow(struct helper *, uint64_t now_ms);
/* Frees what a switch that did not end holds. */
void switching_end(struct helper *);

#endif
