/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measuring and carving run through the same sums, so a block of the size
 * that was measured is always enough.
 */
#include "lib/arena.h"

#include <string.h>

#include "lib/require.h"

#define ALIGNMENT 16

void
arena_init(struct arena *a, void *base, size_t size)
{
	REQUIRE((uintptr_t)base % ALIGNMENT == 0);
	*a = (struct arena){ .base = base, .size = size };
}

void *
arena_take(struct arena *a, size_t count, size_t size)
{
	size_t limit = a->base == NULL ? SIZE_MAX : a->size;
	size_t pad = (ALIGNMENT - a->used % ALIGNMENT) % ALIGNMENT;
	size_t start, need;

	if (a->exhausted || (size != 0 && count > SIZE_MAX / size) ||
	    pad > limit - a->used) {
		a->exhausted = true;
		return NULL;
	}
	start = a->used + pad;
	need = count * size;
	if (need > limit - start) {
		a->exhausted = true;
		return NULL;
	}
	a->used = start + need;
	if (a->base == NULL)
		return NULL;
	memset(a->base + start, 0, need);
	return a->base + start;
}
