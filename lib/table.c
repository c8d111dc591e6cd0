/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chained buckets over arrays; free slots are chained through `chain` too.
 * A free slot is marked by being its own elder, which no slot in use can be.
 */
#include "lib/table.h"

#include <sodium.h>
#include <stddef.h>
#include <string.h>

#include "lib/require.h"

#define CAPACITY_MAX (UINT32_C(1) << 30)

_Static_assert(crypto_shorthash_BYTES == 8, "a hash is a uint64_t");
_Static_assert(crypto_shorthash_KEYBYTES == 16, "size of the secret");

static void
make_all_free(struct table *t)
{
	for (uint32_t i = 0; i < t->buckets; i++)
		t->bucket[i] = TABLE_NONE;
	for (uint32_t slot = t->capacity; slot > 0; slot--) {
		t->older[slot - 1] = slot - 1;
		t->chain[slot - 1] = t->free_head;
		t->free_head = slot - 1;
	}
}

void
table_init(struct table *t, struct arena *arena, uint32_t capacity,
    uint32_t key_size, const uint8_t secret[16])
{
	uint32_t buckets = 1;

	REQUIRE(capacity <= CAPACITY_MAX);
	REQUIRE(key_size >= 1 && key_size <= TABLE_KEY_MAX);
	while (buckets < capacity)
		buckets *= 2;
	*t = (struct table){ .key_size = key_size,
		.oldest = TABLE_NONE,
		.youngest = TABLE_NONE,
		.free_head = TABLE_NONE };
	memcpy(t->secret, secret, sizeof(t->secret));
	t->keys = arena_take(arena, capacity, key_size);
	t->bucket = arena_take(arena, buckets, sizeof(*t->bucket));
	t->chain = arena_take(arena, capacity, sizeof(*t->chain));
	t->older = arena_take(arena, capacity, sizeof(*t->older));
	t->younger = arena_take(arena, capacity, sizeof(*t->younger));
	/* Once a take has failed all later ones do. */
	if (t->keys == NULL || t->younger == NULL)
		return;

	t->capacity = capacity;
	t->buckets = buckets;
	make_all_free(t);
}

static uint32_t *
bucket_of(const struct table *t, const void *key)
{
	uint8_t hash[crypto_shorthash_BYTES];
	uint32_t low;

	crypto_shorthash(hash, key, t->key_size, t->secret);
	memcpy(&low, hash, sizeof(low));
	return &t->bucket[low & (t->buckets - 1)];
}

static uint32_t
find_in(const struct table *t, uint32_t head, const void *key)
{
	size_t size = t->key_size;
	uint32_t slot = head;

	while (slot != TABLE_NONE && memcmp(t->keys + slot * size, key, size))
		slot = t->chain[slot];
	return slot;
}

uint32_t
table_find(const struct table *t, const void *key)
{
	if (t->in_use == 0)
		return TABLE_NONE;
	return find_in(t, *bucket_of(t, key), key);
}

/* Puts a slot that is in no age list at the young end. */
static void
age_append(struct table *t, uint32_t slot)
{
	t->older[slot] = t->youngest;
	t->younger[slot] = TABLE_NONE;
	if (t->youngest == TABLE_NONE)
		t->oldest = slot;
	else
		t->younger[t->youngest] = slot;
	t->youngest = slot;
}

static void
age_remove(struct table *t, uint32_t slot)
{
	uint32_t older = t->older[slot], younger = t->younger[slot];

	if (older == TABLE_NONE)
		t->oldest = younger;
	else
		t->younger[older] = younger;
	if (younger == TABLE_NONE)
		t->youngest = older;
	else
		t->older[younger] = older;
}

uint32_t
table_claim(struct table *t, const void *key, bool *ret_new)
{
	uint32_t *head, slot;

	if (t->capacity == 0)
		return TABLE_NONE;
	head = bucket_of(t, key);
	slot = find_in(t, *head, key);
	if (slot != TABLE_NONE) {
		*ret_new = false;
		return slot;
	}
	if (t->free_head == TABLE_NONE)
		return TABLE_NONE;

	slot = t->free_head;
	t->free_head = t->chain[slot];
	memcpy(t->keys + (size_t)slot * t->key_size, key, t->key_size);
	t->chain[slot] = *head;
	*head = slot;
	age_append(t, slot);
	t->in_use++;
	*ret_new = true;
	return slot;
}

static bool
is_in_use(const struct table *t, uint32_t slot)
{
	return slot < t->capacity && t->older[slot] != slot;
}

void
table_drop(struct table *t, uint32_t slot)
{
	uint32_t *link;

	REQUIRE(is_in_use(t, slot));
	link = bucket_of(t, table_key(t, slot));
	while (*link != slot)
		link = &t->chain[*link];
	*link = t->chain[slot];
	age_remove(t, slot);
	t->older[slot] = slot;
	t->chain[slot] = t->free_head;
	t->free_head = slot;
	t->in_use--;
}

void
table_touch(struct table *t, uint32_t slot)
{
	REQUIRE(is_in_use(t, slot));
	if (slot == t->youngest)
		return;
	age_remove(t, slot);
	age_append(t, slot);
}

uint32_t
table_oldest(const struct table *t)
{
	return t->oldest;
}

uint32_t
table_next(const struct table *t, uint32_t slot)
{
	REQUIRE(is_in_use(t, slot));
	return t->younger[slot];
}

const void *
table_key(const struct table *t, uint32_t slot)
{
	REQUIRE(is_in_use(t, slot));
	return t->keys + (size_t)slot * t->key_size;
}

uint32_t
table_in_use(const struct table *t)
{
	return t->in_use;
}
