/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * warm - bookkeeping of names and times. Neither asks nor pays: the engine
 * does.
 */
#include "lib/warm.h"

#include <string.h>

#include "lib/dns.h"
#include "lib/lookup.h"
#include "lib/require.h"

/* owner, type group, hash of the name */
#define KEY_SIZE (sizeof(uint32_t) + sizeof(uint16_t) + 16)
#define ORPHAN   UINT32_C(0x80000000)
/* A refresh leads the end of a lifetime by an eighth of it, so that no client
 * finds the moment between the two. */
#define LEAD      8
#define TTL_MIN_S 5

void
warm_init(struct warm *warm, struct arena *arena,
    const struct warm_limits *limits, const uint8_t secret[16])
{
	REQUIRE(limits->sandboxes_max < ORPHAN);
	memset(warm, 0, sizeof(*warm));
	warm->limits = *limits;
	table_init(&warm->keys, arena, limits->names_max, KEY_SIZE, secret);
	warm->items =
	    arena_take(arena, limits->names_max, sizeof(*warm->items));
	warm->shares =
	    arena_take(arena, limits->sandboxes_max, sizeof(*warm->shares));
	deadlines_init(&warm->deadlines, arena, limits->names_max);
	memcpy(warm->secret, secret, sizeof(warm->secret));
	if (warm->shares == NULL)
		return;
	for (uint32_t i = 0; i < limits->sandboxes_max; i++)
		warm->shares[i] =
		    (struct warm_share){ TABLE_NONE, TABLE_NONE, 0 };
}

static uint16_t
group_of(uint16_t type)
{
	return lookup_is_pair(type) ? DNS_TYPE_A : type;
}

static void
make_key(const struct warm *warm, uint32_t owner, const struct dname *name,
    uint16_t group, uint8_t ret_key[KEY_SIZE])
{
	memcpy(ret_key, &owner, sizeof(owner));
	memcpy(ret_key + sizeof(owner), &group, sizeof(group));
	dname_hash(name, warm->secret, ret_key + sizeof(owner) + sizeof(group));
}

/* An owner that no sandbox is. */
static uint32_t
new_orphan(struct warm *warm)
{
	return ORPHAN | (warm->orphans++ & (ORPHAN - 1));
}

static uint32_t
slot_of(const struct warm *warm, const struct warm_item *item)
{
	uint32_t slot = (uint32_t)(item - warm->items);

	REQUIRE(slot < warm->limits.names_max);
	return slot;
}

struct warm_item *
warm_find(struct warm *warm, uint32_t sandbox, const struct dname *name,
    uint16_t type)
{
	uint8_t key[KEY_SIZE];
	uint32_t slot;

	if (warm->limits.names_max == 0)
		return NULL;
	make_key(warm, sandbox, name, group_of(type), key);
	slot = table_find(&warm->keys, key);
	return slot == TABLE_NONE ? NULL : &warm->items[slot];
}

static void
leave_share(struct warm *warm, struct warm_item *item)
{
	struct warm_share *share = &warm->shares[item->sandbox];

	if (item->older == TABLE_NONE)
		share->oldest = item->younger;
	else
		warm->items[item->older].younger = item->younger;
	if (item->younger == TABLE_NONE)
		share->youngest = item->older;
	else
		warm->items[item->younger].older = item->older;
	share->count--;
}

static void
join_share(struct warm *warm, struct warm_item *item)
{
	struct warm_share *share = &warm->shares[item->sandbox];
	uint32_t slot = slot_of(warm, item);

	item->older = share->youngest;
	item->younger = TABLE_NONE;
	if (share->youngest == TABLE_NONE)
		share->oldest = slot;
	else
		warm->items[share->youngest].younger = slot;
	share->youngest = slot;
	share->count++;
}

void
warm_drop(struct warm *warm, struct warm_item *item)
{
	uint32_t slot = slot_of(warm, item);

	if (item->sandbox != 0)
		leave_share(warm, item);
	deadlines_cancel(&warm->deadlines, slot);
	table_drop(&warm->keys, slot);
}

static void
set_deadline(struct warm *warm, const struct warm_item *item)
{
	deadlines_set(&warm->deadlines, slot_of(warm, item),
	    item->due_ms < item->ends_ms ? item->due_ms : item->ends_ms);
}

/* The place of a question, its oldest sister's if need be; NULL: none. */
static struct warm_item *
claim(struct warm *warm, const struct warm_question *question)
{
	struct warm_share *share = &warm->shares[question->sandbox];
	uint8_t key[KEY_SIZE];
	uint32_t slot;
	bool is_new;

	if (warm->limits.names_per_sandbox_max == 0)
		return NULL;
	if (question->sandbox != 0 &&
	    share->count >= warm->limits.names_per_sandbox_max)
		warm_drop(warm, &warm->items[share->oldest]);
	make_key(warm,
	    question->sandbox != 0 ? question->sandbox : new_orphan(warm),
	    question->name, group_of(question->type), key);
	slot = table_claim(&warm->keys, key, &is_new);
	return slot == TABLE_NONE || !is_new ? NULL : &warm->items[slot];
}

void
warm_put(struct warm *warm, const struct warm_question *question,
    uint32_t ttl_s, uint64_t now_ms)
{
	struct warm_item *item;

	REQUIRE(question->sandbox < warm->limits.sandboxes_max);
	item = question->sandbox == 0 ? NULL
				      : warm_find(warm, question->sandbox,
					    question->name, question->type);
	if (item != NULL)
		warm_drop(warm, item);
	item = warm->limits.names_max == 0 ? NULL : claim(warm, question);
	if (item == NULL)
		return;
	memset(item, 0, sizeof(*item));
	item->sandbox = question->sandbox;
	item->key = question->key;
	item->name = *question->name;
	item->type = group_of(question->type);
	item->ends_ms = question->ends_ms;
	if (item->sandbox != 0)
		join_share(warm, item);
	warm_refreshed(warm, item, ttl_s, now_ms);
}

void
warm_refreshed(struct warm *warm, struct warm_item *item, uint32_t ttl_s,
    uint64_t now_ms)
{
	uint32_t ttl_ms = (ttl_s < TTL_MIN_S ? TTL_MIN_S : ttl_s) * 1000;

	item->period_ms = ttl_ms - ttl_ms / LEAD;
	item->due_ms = now_ms + item->period_ms;
	set_deadline(warm, item);
}

uint64_t
warm_next(const struct warm *warm)
{
	return deadlines_next(&warm->deadlines);
}

struct warm_item *
warm_due(struct warm *warm, uint64_t now_ms)
{
	struct warm_item *item;
	uint32_t slot;

	if (!deadlines_pop_due(&warm->deadlines, now_ms, &slot))
		return NULL;
	item = &warm->items[slot];
	if (now_ms < item->ends_ms)
		item->due_ms = now_ms + item->period_ms;
	set_deadline(warm, item);
	return item;
}

void
warm_stay(struct warm *warm, struct warm_item *item, uint64_t ends_ms)
{
	item->ends_ms = ends_ms;
	item->asked = false;
	set_deadline(warm, item);
}

/* Whoever has the number next is not to find them. */
static void
make_orphan(struct warm *warm, struct warm_item *item)
{
	struct warm_item kept = *item;
	uint8_t key[KEY_SIZE];
	uint32_t slot;
	bool is_new;

	warm_drop(warm, item);
	make_key(warm, new_orphan(warm), &kept.name, kept.type, key);
	slot = table_claim(&warm->keys, key, &is_new);
	/* One was dropped a moment ago. */
	REQUIRE(slot != TABLE_NONE);
	if (!is_new)
		return;
	kept.sandbox = 0;
	kept.asked = false;
	warm->items[slot] = kept;
	set_deadline(warm, &warm->items[slot]);
}

void
warm_orphan(struct warm *warm, uint32_t sandbox)
{
	struct warm_share *share = &warm->shares[sandbox];

	while (share->oldest != TABLE_NONE)
		make_orphan(warm, &warm->items[share->oldest]);
}

struct warm_item *
warm_walk(struct warm *warm, uint32_t *slot)
{
	for (; *slot < warm->limits.names_max; ++*slot)
		if (deadlines_is_set(&warm->deadlines, *slot))
			return &warm->items[*slot];
	return NULL;
}

uint32_t
warm_count(const struct warm *warm)
{
	return warm->limits.names_max == 0 ? 0 : table_in_use(&warm->keys);
}
