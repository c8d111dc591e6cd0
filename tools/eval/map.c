/* SPDX-License-Identifier: BSD-2-Clause */
/* map - octets to numbers; and memory. See eval.h. */
#include "config.h"

#include "tools/eval/eval.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
die(const char *what, const char *detail)
{
	fprintf(stderr, "eval-detection: %s: %s\n", what, detail);
	exit(1);
}

void *
zeroes(size_t count, size_t size)
{
	void *memory = calloc(count == 0 ? 1 : count, size);

	if (memory == NULL)
		die("memory", "none left");
	return memory;
}

/* Room for one more than count. */
void *
grow(void *array, size_t count, size_t *capacity, size_t size)
{
	if (count < *capacity)
		return array;
	*capacity = *capacity == 0 ? 64 : *capacity * 2;
	array = realloc(array, *capacity * size);
	if (array == NULL)
		die("memory", "none left");
	return array;
}

static uint64_t
hash_of(const uint8_t *key, size_t len)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	while (len-- > 0)
		hash = (hash ^ *key++) * UINT64_C(0x100000001b3);
	return hash;
}

static struct map_slot *
find(const struct map *map, const void *key, size_t len)
{
	size_t at = hash_of(key, len) & (map->capacity - 1);

	while (map->slots[at].key != NULL &&
	    (map->slots[at].len != len ||
		memcmp(map->slots[at].key, key, len) != 0))
		at = (at + 1) & (map->capacity - 1);
	return &map->slots[at];
}

static void
enlarge(struct map *map)
{
	struct map bigger = { .capacity = map->capacity * 2,
		.count = map->count };
	size_t i;

	if (bigger.capacity == 0)
		bigger.capacity = 16;
	bigger.slots = zeroes(bigger.capacity, sizeof(*bigger.slots));
	for (i = 0; i < map->capacity; i++) {
		if (map->slots[i].key != NULL)
			*find(&bigger, map->slots[i].key, map->slots[i].len) =
			    map->slots[i];
	}
	free(map->slots);
	*map = bigger;
}

uint32_t
map_get(const struct map *map, const void *key, size_t len)
{
	const struct map_slot *slot;

	if (map->capacity == 0)
		return EVAL_NONE;
	slot = find(map, key, len);
	return slot->key == NULL ? EVAL_NONE : slot->value;
}

uint32_t
map_put(struct map *map, const void *key, size_t len, bool *ret_new)
{
	struct map_slot *slot;

	if (2 * (size_t)map->count >= map->capacity)
		enlarge(map);
	slot = find(map, key, len);
	*ret_new = slot->key == NULL;
	if (*ret_new) {
		slot->key = zeroes(len, 1);
		memcpy(slot->key, key, len);
		slot->len = len;
		slot->value = map->count++;
	}
	return slot->value;
}

void
map_free(struct map *map)
{
	size_t i;

	for (i = 0; i < map->capacity; i++)
		free(map->slots[i].key);
	free(map->slots);
	memset(map, 0, sizeof(*map));
}
