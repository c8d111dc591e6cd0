/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pinning - PIN and RECALL: requests of one wake-up, one transaction.
 */
#ifndef SRC_HELPER_PINNING_H
#define SRC_HELPER_PINNING_H

#include "src/helper/helper.h"

/*
 * Finds for each good request (status 0) the one that stands for it: the
 * first with the same element, which gets the longest lifetime of them. The
 * same key twice in a list of deletions would undo the whole batch.
 */
void pinning_merge(struct request *, size_t count);
/* Judges and does the requests from..to-1, all PIN or RECALL. */
void pinning_do(struct helper *, size_t from, size_t to, uint64_t now_ms);

#endif
