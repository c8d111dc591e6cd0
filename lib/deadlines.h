/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * deadlines - a min-heap of (deadline in ms, slot); ties go in the order in
 * which they were set. One deadline a slot: setting again moves it, and
 * setting DEADLINE_NEVER cancels it.
 */
#ifndef LIB_DEADLINES_H
#define LIB_DEADLINES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/arena.h"

#define DEADLINE_NEVER UINT64_MAX

struct deadline {
	uint64_t at_ms;
	uint64_t order;
	uint32_t slot;
};

struct deadlines {
	struct deadline *heap;
	uint32_t *where; /* slot -> index in heap, UINT32_MAX: not set */
	uint32_t capacity; /* slots 0 … capacity - 1 */
	uint32_t count;
	uint64_t order_next;
};

void deadlines_init(struct deadlines *, struct arena *, uint32_t capacity);
void deadlines_set(struct deadlines *, uint32_t slot, uint64_t at_ms);
/* Does nothing where none is set. */
void deadlines_cancel(struct deadlines *, uint32_t slot);
bool deadlines_is_set(const struct deadlines *, uint32_t slot);
/* The earliest, DEADLINE_NEVER when there is none. */
uint64_t deadlines_next(const struct deadlines *);
/* Takes the earliest slot that is due at now_ms (at_ms <= now_ms). */
bool deadlines_pop_due(struct deadlines *, uint64_t now_ms,
    uint32_t *ret_slot);

#endif
