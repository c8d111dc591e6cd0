/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache - vetted answers, each sandbox's apart.
 *
 * Age is the order in which entries were put, not used: what a sandbox looks
 * at must not decide how long an answer is kept.
 */
#include "lib/cache.h"

#include <string.h>

#include "lib/require.h"

#define CACHE_KEY_SIZE 22

/* The two address types are one group, named by A; ANY asks for it too. */
static uint16_t
group_of(uint16_t type)
{
	return type == DNS_TYPE_AAAA || type == DNS_TYPE_ANY ? DNS_TYPE_A
							     : type;
}

static void
make_key(const struct cache *cache, uint32_t sandbox, const struct dname *name,
    uint16_t type, uint8_t key[CACHE_KEY_SIZE])
{
	uint16_t group = group_of(type);

	memcpy(key, &sandbox, 4);
	memcpy(key + 4, &group, 2);
	dname_hash(name, cache->secret, key + 6);
}

void
cache_init(struct cache *cache, struct arena *arena,
    const struct cache_limits *limits, const uint8_t secret[16])
{
	uint32_t entries = limits->entries_max;
	size_t shares = (size_t)limits->sandboxes_max + 1, i;

	memset(cache, 0, sizeof(*cache));
	cache->limits = *limits;
	table_init(&cache->keys, arena, entries, CACHE_KEY_SIZE, secret);
	cache->entries = arena_take(arena, entries, sizeof(*cache->entries));
	cache->older = arena_take(arena, entries, sizeof(*cache->older));
	cache->younger = arena_take(arena, entries, sizeof(*cache->younger));
	cache->shares = arena_take(arena, shares, sizeof(*cache->shares));
	memcpy(cache->secret, secret, sizeof(cache->secret));
	for (i = 0; cache->shares != NULL && i < shares; i++) {
		cache->shares[i].oldest = TABLE_NONE;
		cache->shares[i].youngest = TABLE_NONE;
	}
}

const struct cache_entry *
cache_find(const struct cache *cache, uint32_t sandbox,
    const struct dname *name, uint16_t type, uint64_t now_ms)
{
	uint8_t key[CACHE_KEY_SIZE];
	uint32_t slot;

	make_key(cache, sandbox, name, type, key);
	slot = table_find(&cache->keys, key);
	if (slot == TABLE_NONE || cache->entries[slot].until_ms <= now_ms)
		return NULL;
	return &cache->entries[slot];
}

static void
drop_slot(struct cache *cache, uint32_t slot)
{
	struct cache_share *share =
	    &cache->shares[cache->entries[slot].sandbox];
	uint32_t older = cache->older[slot], younger = cache->younger[slot];

	if (older == TABLE_NONE)
		share->oldest = younger;
	else
		cache->younger[older] = younger;
	if (younger == TABLE_NONE)
		share->youngest = older;
	else
		cache->older[younger] = older;
	share->count--;
	table_drop(&cache->keys, slot);
}

static void
make_youngest(struct cache *cache, uint32_t sandbox, uint32_t slot)
{
	struct cache_share *share = &cache->shares[sandbox];

	cache->older[slot] = share->youngest;
	cache->younger[slot] = TABLE_NONE;
	if (share->youngest == TABLE_NONE)
		share->oldest = slot;
	else
		cache->younger[share->youngest] = slot;
	share->youngest = slot;
	share->count++;
}

/* Room for one more entry of a sandbox; false where there can be none. */
static bool
make_room(struct cache *cache, uint32_t sandbox)
{
	const struct cache_share *share = &cache->shares[sandbox];

	if (cache->limits.entries_max == 0 ||
	    cache->limits.entries_per_sandbox_max == 0)
		return false;
	if (share->count >= cache->limits.entries_per_sandbox_max)
		drop_slot(cache, share->oldest);
	else if (table_in_use(&cache->keys) == cache->limits.entries_max)
		drop_slot(cache, table_oldest(&cache->keys));
	return true;
}

void
cache_put(struct cache *cache, uint32_t sandbox, const struct dname *name,
    uint16_t type, const struct cache_entry *entry, uint32_t ttl_s,
    uint64_t now_ms)
{
	uint8_t key[CACHE_KEY_SIZE];
	struct cache_entry *kept;
	uint32_t slot;
	bool is_new;

	REQUIRE(sandbox <= cache->limits.sandboxes_max);
	make_key(cache, sandbox, name, type, key);
	slot = table_find(&cache->keys, key);
	/* Replacing is forgetting first: the new one is the youngest. */
	if (slot != TABLE_NONE)
		drop_slot(cache, slot);
	if (ttl_s == 0 || !make_room(cache, sandbox))
		return;
	slot = table_claim(&cache->keys, key, &is_new);
	REQUIRE(slot != TABLE_NONE && is_new);
	make_youngest(cache, sandbox, slot);
	kept = &cache->entries[slot];
	*kept = *entry;
	kept->sandbox = sandbox;
	kept->from_ms = now_ms;
	kept->until_ms = now_ms + (uint64_t)ttl_s * 1000;
}

void
cache_drop(struct cache *cache, uint32_t sandbox)
{
	uint32_t slot;

	REQUIRE(sandbox <= cache->limits.sandboxes_max);
	if (sandbox != 0) {
		while (cache->shares[sandbox].oldest != TABLE_NONE)
			drop_slot(cache, cache->shares[sandbox].oldest);
		return;
	}
	while ((slot = table_oldest(&cache->keys)) != TABLE_NONE)
		drop_slot(cache, slot);
}

uint32_t
cache_in_use(const struct cache *cache)
{
	return table_in_use(&cache->keys);
}
