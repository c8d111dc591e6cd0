/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sets - pins in two sets of the operator's, who judges by them with rules of
 * his own: `nft.mode: sets`.
 *
 * Nothing else of his table is touched, and there is none of ours. What is
 * put elsewhere into sets is left out (elements.h), so all other parts act as
 * they do beside a table of ours.
 */
#ifndef SRC_HELPER_SETS_H
#define SRC_HELPER_SETS_H

#include "src/helper/helper.h"

/* At the start: whether both can take pins. 0, or it was logged why not and
 * it is the exit status. */
int sets_begin(struct helper *);
/* In place of watch_table(): whether they are there, with what is held. Where
 * something is lost, all pins and flows are, and the resolver is told. */
void sets_watch(struct helper *);

#endif
