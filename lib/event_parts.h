/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of event share, for nobody else.
 */
#ifndef LIB_EVENT_PARTS_H
#define LIB_EVENT_PARTS_H

#include <stdint.h>

#include "lib/cursor.h"

/* Milliseconds since 1970, as 2025-12-31T23:59:59.999Z; never later than the
 * year 9999. */
void event_put_time(struct cursor *, uint64_t wall_ms);

#endif
