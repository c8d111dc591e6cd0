/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch - what is done when somebody else changed our table: it is rebuilt,
 * closed, everything that was born meanwhile is cut, and the resolver is
 * told. On a table that we own this cannot happen.
 */
#ifndef SRC_HELPER_WATCH_H
#define SRC_HELPER_WATCH_H

#include "src/helper/helper.h"

#define WATCH_INTERVAL_MS 60000

/* Reads what the monitor heard and verifies the table where that is due.
 * False: it could not be rebuilt, and nothing is known any more. */
bool watch_table(struct helper *);

/* Tells the resolver that all pins are lost: for how long the table was open,
 * and what passed, where known. */
void watch_tell_reset(struct helper *, uint64_t window_ms, uint64_t packets);

#endif
