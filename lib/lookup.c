/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lookup - bookkeeping of upstream exchanges. Neither asks nor answers: the
 * engine does, and marks the parts.
 */
#include "lib/lookup.h"

#include <string.h>

#include "lib/require.h"

/* sandbox, type group, hash of the name */
#define KEY_SIZE (sizeof(uint32_t) + sizeof(uint16_t) + 16)
#define ORPHAN   UINT32_C(0x80000000) /* in place of a sandbox */

void
lookups_init(struct lookups *lookups, struct arena *arena,
    const struct lookup_limits *limits, const uint8_t secret[16])
{
	uint32_t all = limits->lookups_max + limits->own_max;

	memset(lookups, 0, sizeof(*lookups));
	lookups->limits = *limits;
	pool_init(&lookups->pool, arena, all);
	lookups->lookup = arena_take(arena, all, sizeof(*lookups->lookup));
	table_init(&lookups->keys, arena, all, KEY_SIZE, secret);
	lookups->ids = arena_take(arena, all, sizeof(*lookups->ids));
	lookups->key_slot = arena_take(arena, all, sizeof(*lookups->key_slot));
	lookups->sandbox_open = arena_take(arena, limits->sandboxes_max,
	    sizeof(*lookups->sandbox_open));
	deadlines_init(&lookups->deadlines, arena, all);
	memcpy(lookups->secret, secret, sizeof(lookups->secret));
}

uint32_t
lookup_own_room(const struct lookups *lookups)
{
	return lookups->limits.own_max - lookups->own_open;
}

/* Ours and theirs have shares of their own: neither can starve the other. */
static bool
has_room(const struct lookups *lookups, uint32_t sandbox)
{
	uint32_t theirs = pool_in_use(&lookups->pool) - lookups->own_open;

	return theirs < lookups->limits.lookups_max &&
	    lookups->sandbox_open[sandbox] < lookups->limits.per_sandbox_max;
}

bool
lookup_is_pair(uint16_t type)
{
	return type == DNS_TYPE_A || type == DNS_TYPE_AAAA ||
	    type == DNS_TYPE_ANY;
}

static void
make_key(const struct lookups *lookups, uint32_t sandbox,
    const struct dname *name, uint16_t type, uint8_t ret_key[KEY_SIZE])
{
	uint16_t group = lookup_is_pair(type) ? DNS_TYPE_A : type;

	memcpy(ret_key, &sandbox, sizeof(sandbox));
	memcpy(ret_key + sizeof(sandbox), &group, sizeof(group));
	dname_hash(name, lookups->secret,
	    ret_key + sizeof(sandbox) + sizeof(group));
}

struct lookup *
lookup_find(struct lookups *lookups, uint32_t sandbox, const struct dname *name,
    uint16_t type, lookup_id *ret_id)
{
	uint8_t key[KEY_SIZE];
	uint32_t key_slot;

	make_key(lookups, sandbox, name, type, key);
	key_slot = table_find(&lookups->keys, key);
	if (key_slot == TABLE_NONE)
		return NULL;
	*ret_id = lookups->ids[key_slot];
	return lookup_at(lookups, *ret_id);
}

static void
set_parts(struct lookup *lookup, uint16_t type)
{
	if (!lookup_is_pair(type)) {
		lookup->part_count = 1;
		lookup->parts[0].type = type;
		return;
	}
	lookup->part_count = 2;
	lookup->parts[0].type = DNS_TYPE_A;
	lookup->parts[1].type = DNS_TYPE_AAAA;
}

static struct lookup *
make(struct lookups *lookups, uint32_t sandbox, const struct dname *name,
    uint16_t type, uint64_t now_ms, lookup_id *ret_id)
{
	struct lookup *lookup;
	uint8_t key[KEY_SIZE];
	uint32_t slot, key_slot;
	bool is_new;
	lookup_id id;

	REQUIRE(sandbox < lookups->limits.sandboxes_max);
	id = pool_take(&lookups->pool);
	REQUIRE(id != 0);
	slot = pool_at(&lookups->pool, id);
	make_key(lookups, sandbox, name, type, key);
	key_slot = table_claim(&lookups->keys, key, &is_new);
	/* The table has as many places as the pool. */
	REQUIRE(key_slot != TABLE_NONE && is_new);
	lookups->ids[key_slot] = id;
	lookups->key_slot[slot] = key_slot;

	lookup = &lookups->lookup[slot];
	memset(lookup, 0, sizeof(*lookup));
	lookup->sandbox = sandbox;
	lookup->name = *name;
	lookup->opened_ms = now_ms;
	lookup->result.sandbox = sandbox;
	for (uint8_t i = 0; i < LOOKUP_PARTS_MAX; i++)
		lookup->result.failed[i] = true;
	set_parts(lookup, type);
	*ret_id = id;
	return lookup;
}

struct lookup *
lookup_open(struct lookups *lookups, uint32_t sandbox, const struct dname *name,
    uint16_t type, uint64_t now_ms, lookup_id *ret_id)
{
	REQUIRE(sandbox > 0 && sandbox < lookups->limits.sandboxes_max);
	if (!has_room(lookups, sandbox))
		return NULL;
	lookups->sandbox_open[sandbox]++;
	return make(lookups, sandbox, name, type, now_ms, ret_id);
}

struct lookup *
lookup_open_own(struct lookups *lookups, uint32_t sandbox,
    const struct dname *name, uint16_t type, uint64_t now_ms, lookup_id *ret_id)
{
	struct lookup *lookup;

	if (lookup_own_room(lookups) == 0)
		return NULL;
	lookups->own_open++;
	lookup = make(lookups, sandbox, name, type, now_ms, ret_id);
	lookup->own = true;
	lookup->price = LOOKUP_FREE;
	return lookup;
}

void
lookup_set_deadline(struct lookups *lookups, lookup_id id, uint64_t at_ms)
{
	uint32_t slot = pool_at(&lookups->pool, id);

	REQUIRE(slot != POOL_NONE);
	deadlines_set(&lookups->deadlines, slot, at_ms);
}

struct lookup *
lookup_at(struct lookups *lookups, lookup_id id)
{
	uint32_t slot = pool_at(&lookups->pool, id);

	return slot == POOL_NONE ? NULL : &lookups->lookup[slot];
}

void
lookup_close(struct lookups *lookups, lookup_id id)
{
	uint32_t slot = pool_at(&lookups->pool, id);
	struct lookup *lookup;

	REQUIRE(slot != POOL_NONE);
	lookup = &lookups->lookup[slot];
	REQUIRE(lookup->waiting.head == 0);
	deadlines_cancel(&lookups->deadlines, slot);
	table_drop(&lookups->keys, lookups->key_slot[slot]);
	if (lookup->own)
		lookups->own_open--;
	else
		lookups->sandbox_open[lookup->sandbox]--;
	pool_give(&lookups->pool, id);
}

void
lookup_orphan(struct lookups *lookups, lookup_id id)
{
	struct lookup *lookup = lookup_at(lookups, id);
	uint32_t slot = pool_at(&lookups->pool, id), key_slot;
	uint8_t key[KEY_SIZE];
	bool is_new;

	REQUIRE(lookup != NULL && lookup->waiting.head == 0);
	table_drop(&lookups->keys, lookups->key_slot[slot]);
	do {
		make_key(lookups, ORPHAN | (lookups->orphans++ & (ORPHAN - 1)),
		    &lookup->name, lookup->parts[0].type, key);
		key_slot = table_claim(&lookups->keys, key, &is_new);
		REQUIRE(key_slot != TABLE_NONE);
	} while (!is_new);
	lookups->ids[key_slot] = id;
	lookups->key_slot[slot] = key_slot;
	if (!lookup->own) {
		lookups->sandbox_open[lookup->sandbox]--;
		lookups->sandbox_open[0]++;
	}
	lookup->sandbox = 0;
	lookup->result.sandbox = 0;
}

struct lookup *
lookup_pop_due(struct lookups *lookups, uint64_t now_ms, lookup_id *ret_id)
{
	uint32_t slot;

	if (!deadlines_pop_due(&lookups->deadlines, now_ms, &slot))
		return NULL;
	*ret_id = pool_id(&lookups->pool, slot);
	return &lookups->lookup[slot];
}

bool
lookup_part_is_in(const struct lookup_part *part)
{
	return part->state == LOOKUP_ANSWERED || part->state == LOOKUP_FAILED;
}

bool
lookup_is_done(const struct lookup *lookup)
{
	for (uint8_t i = 0; i < lookup->part_count; i++)
		if (!lookup_part_is_in(&lookup->parts[i]))
			return false;
	return true;
}

bool
lookup_decides(const struct lookup *lookup, uint16_t type)
{
	uint8_t own = type == DNS_TYPE_AAAA ? 1 : 0;

	if (lookup_is_done(lookup))
		return true;
	if (type == DNS_TYPE_ANY)
		return false;
	/*
	 * A failure, or a name that does not exist, must not be told while
	 * the other family may still show that the name is alive: musl gives
	 * up a name whose one half fails.
	 */
	return lookup->parts[own].state == LOOKUP_ANSWERED &&
	    lookup->result.answers[own].outcome != ANSWER_NO_NAME;
}

uint32_t
lookup_ttl(const struct lookup *lookup, uint32_t floor_s, uint32_t cap_s,
    uint32_t negative_s)
{
	uint32_t ttl_s = cap_s;
	bool good = false;

	for (uint8_t i = 0; i < lookup->part_count; i++) {
		const struct answer *answer = &lookup->result.answers[i];

		if (lookup->result.failed[i])
			return negative_s;
		if (answer->outcome != ANSWER_OK)
			continue;
		good = true;
		if (answer->ttl_s < ttl_s)
			ttl_s = answer->ttl_s;
	}
	if (!good)
		return negative_s;
	return ttl_s < floor_s ? floor_s : ttl_s;
}

static bool
is_good(const struct cache_entry *entry, uint8_t part)
{
	return !entry->failed[part] &&
	    entry->answers[part].outcome == ANSWER_OK;
}

uint8_t
lookup_part_of(const struct cache_entry *entry, uint16_t type,
    const struct verdict *verdict)
{
	if (type == DNS_TYPE_AAAA)
		return 1;
	if (type != DNS_TYPE_ANY || (verdict->has4 && is_good(entry, 0)))
		return 0;
	return verdict->has6 && is_good(entry, 1) ? 1 : 0;
}

enum denial
lookup_judge(const struct cache_entry *entry, uint8_t part,
    const struct verdict *verdict, enum denial failure)
{
	uint8_t other = part == 0 ? 1 : 0;

	if (entry->failed[part])
		return is_good(entry, other) ? DENIAL_UPSTREAM_OTHER : failure;
	switch (entry->answers[part].outcome) {
	case ANSWER_OK:
		return DENIAL_NONE;
	case ANSWER_NO_DATA:
		return DENIAL_NO_DATA;
	case ANSWER_NO_NAME:
		if (!entry->failed[other] &&
		    entry->answers[other].outcome != ANSWER_NO_NAME)
			return DENIAL_NO_DATA;
		return verdict->lists_below ? DENIAL_NO_NAME_PARENT
					    : DENIAL_NO_NAME;
	case ANSWER_PROTECTED:
		return DENIAL_PROTECTED;
	case ANSWER_TRUNCATED:
	case ANSWER_BOGUS:
		return failure;
	}
	UNREACHABLE();
}

enum denial
lookup_failure_denial(enum ask_failure failure)
{
	switch (failure) {
	case ASK_SILENT:
		return DENIAL_UPSTREAM_SILENT;
	case ASK_BROKEN:
	case ASK_NOT_SENT:
		return DENIAL_UPSTREAM_BROKEN;
	case ASK_UNPAID:
		return DENIAL_BUDGET;
	}
	UNREACHABLE();
}
