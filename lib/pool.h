/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pool - a fixed number of slots with generation-tagged ids.
 *
 * An id is {generation, slot} in a uint64_t. A slot that is given back and
 * taken again has another generation, so a stale id finds nothing, never
 * somebody else's object. 0 is no valid id. The pool manages slots only;
 * the objects are an array of the owner's.
 */
#ifndef LIB_POOL_H
#define LIB_POOL_H

#include <stdint.h>

#include "lib/arena.h"

#define POOL_NONE UINT32_MAX

struct pool {
	uint32_t *generation; /* odd: taken */
	uint32_t *next_free;
	uint32_t capacity;
	uint32_t free_head;
	uint32_t in_use;
};

/* Carves its arrays out of the arena; slots are taken in ascending order
 * first, then last given first taken. */
void pool_init(struct pool *, struct arena *, uint32_t capacity);
/* A slot's id, or 0 when all are taken. */
uint64_t pool_take(struct pool *);
/* The slot of a live id, or POOL_NONE. */
uint32_t pool_at(const struct pool *, uint64_t id);
/* Gives back a live id (REQUIREd). */
void pool_give(struct pool *, uint64_t id);
/* The id of a taken slot (REQUIREd). */
uint64_t pool_id(const struct pool *, uint32_t slot);
/* The first taken slot from this one on, POOL_NONE: there is none. */
uint32_t pool_next(const struct pool *, uint32_t slot);
uint32_t pool_in_use(const struct pool *);

#endif
