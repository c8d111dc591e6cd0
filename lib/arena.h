/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arena - bump allocation from one block that the caller gives.
 *
 * Nothing is ever given back alone. With base NULL an arena only measures:
 * arena_take() returns NULL and used grows, which is how a program learns
 * the size of the block to get. Memory handed out is zeroed and aligned to
 * 16 octets.
 */
#ifndef LIB_ARENA_H
#define LIB_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena {
	uint8_t *base;
	size_t size;
	size_t used;
	bool exhausted; /* sticky: some take did not fit */
};

void arena_init(struct arena *, void *base, size_t size);
/* count * size octets, or NULL (measuring, or exhausted). */
void *arena_take(struct arena *, size_t count, size_t size);

#endif
