/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table - a fixed-capacity hash table of fixed-size keys, in age order.
 *
 * A key is found by its octets; the value is a slot number, with which the
 * owner indexes arrays of its own. The hash is SipHash with a secret key.
 * Nothing is ever evicted by the table itself: table_claim() fails when it
 * is full, and whoever may forget takes table_oldest() and drops it.
 * Iteration goes from the oldest to the youngest, never in hash order.
 */
#ifndef LIB_TABLE_H
#define LIB_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/arena.h"

#define TABLE_NONE    UINT32_MAX
#define TABLE_KEY_MAX 64

struct table {
	uint8_t *keys; /* capacity * key_size */
	uint32_t *bucket; /* heads, power of two, at least capacity */
	uint32_t *chain; /* next in bucket */
	uint32_t *older, *younger; /* age list */
	uint32_t capacity, buckets, key_size;
	uint32_t oldest, youngest, free_head, in_use;
	uint8_t secret[16];
};

void table_init(struct table *, struct arena *, uint32_t capacity,
    uint32_t key_size, const uint8_t secret[16]);
/* The slot of a key, or TABLE_NONE. */
uint32_t table_find(const struct table *, const void *key);
/* Finds or makes; TABLE_NONE when it is new and the table is full. */
uint32_t table_claim(struct table *, const void *key, bool *ret_new);
/* Frees a slot in use (REQUIREd). */
void table_drop(struct table *, uint32_t slot);
/* Makes a slot in use the youngest. */
void table_touch(struct table *, uint32_t slot);
/* Oldest, and the next younger one; TABLE_NONE at the end. Before dropping
 * a slot during a walk, fetch its successor. */
uint32_t table_oldest(const struct table *);
uint32_t table_next(const struct table *, uint32_t slot);
const void *table_key(const struct table *, uint32_t slot);
uint32_t table_in_use(const struct table *);

#endif
