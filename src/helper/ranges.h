/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ranges - brings a set of protected ranges to what is protected now.
 *
 * By whole intervals: of one whose begin or end has moved both elements go
 * and come, since the kernel refuses an interval that overlaps with half of
 * another one.
 */
#ifndef SRC_HELPER_RANGES_H
#define SRC_HELPER_RANGES_H

#include "lib/addr.h"
#include "src/helper/batch.h"
#include "src/helper/sync.h"

/* there: what the set has, from sync_collect(). 0 or -ENOMEM. */
int ranges_put(struct batch *, const char *set, struct sync *there,
    const struct protected_ranges *, uint8_t family);

#endif
