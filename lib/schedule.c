/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * schedule - bookkeeping of names and turns. Neither asks nor answers: the
 * engine does.
 */
#include "lib/schedule.h"

#include <string.h>

#include "lib/dns.h"
#include "lib/lookup.h"
#include "lib/require.h"

/* type group, hash of the name */
#define KEY_SIZE (sizeof(uint16_t) + 16)

void
schedule_init(struct schedule *s, struct arena *arena, uint32_t names_max,
    const uint8_t secret[16])
{
	memset(s, 0, sizeof(*s));
	s->names_max = names_max;
	table_init(&s->keys, arena, names_max, KEY_SIZE, secret);
	s->items = arena_take(arena, names_max, sizeof(*s->items));
	deadlines_init(&s->turns, arena, names_max);
	memcpy(s->secret, secret, sizeof(s->secret));
}

static uint16_t
group_of(uint16_t type)
{
	return lookup_is_pair(type) ? DNS_TYPE_A : type;
}

static void
make_key(const struct schedule *s, const struct dname *name, uint16_t type,
    uint8_t ret_key[KEY_SIZE])
{
	uint16_t group = group_of(type);

	memcpy(ret_key, &group, sizeof(group));
	dname_hash(name, s->secret, ret_key + sizeof(group));
}

struct schedule_item *
schedule_find(struct schedule *s, const struct dname *name, uint16_t type)
{
	uint8_t key[KEY_SIZE];
	uint32_t slot;

	if (s->names_max == 0)
		return NULL;
	make_key(s, name, type, key);
	slot = table_find(&s->keys, key);
	return slot == TABLE_NONE ? NULL : &s->items[slot];
}

void
schedule_begin(struct schedule *s)
{
	for (uint32_t slot = s->names_max == 0 ? TABLE_NONE
					       : table_oldest(&s->keys);
	     slot != TABLE_NONE; slot = table_next(&s->keys, slot))
		s->items[slot].wanted = false;
}

static void
set_due(struct schedule *s, struct schedule_item *item, uint64_t due_ms)
{
	item->due_ms = due_ms;
	deadlines_set(&s->turns, (uint32_t)(item - s->items), due_ms);
}

/* The next turn counts from the last one, not from when that was dealt with:
 * how busy we are is not to be seen in it. */
static void
set_next(struct schedule *s, struct schedule_item *item, uint64_t now_ms)
{
	uint64_t due_ms = item->turn_ms + item->period_ms;

	set_due(s, item, due_ms > now_ms ? due_ms : now_ms + item->period_ms);
}

bool
schedule_want(struct schedule *s, const struct dname *name, uint16_t type,
    uint64_t now_ms)
{
	struct schedule_item *item;
	uint8_t key[KEY_SIZE];
	uint32_t slot;
	bool is_new;

	if (s->names_max == 0)
		return false;
	make_key(s, name, type, key);
	slot = table_claim(&s->keys, key, &is_new);
	if (slot == TABLE_NONE)
		return false;
	item = &s->items[slot];
	if (is_new) {
		memset(item, 0, sizeof(*item));
		item->name = *name;
		item->type = group_of(type);
		item->period_ms = SCHEDULE_FIRST_MS;
		set_due(s, item, now_ms);
	}
	item->wanted = true;
	return true;
}

struct schedule_item *
schedule_unwanted(struct schedule *s, uint32_t *slot)
{
	uint32_t at = s->names_max == 0 ? TABLE_NONE : table_oldest(&s->keys);

	for (; at != TABLE_NONE; at = table_next(&s->keys, at)) {
		if (s->items[at].wanted)
			continue;
		*slot = at;
		return &s->items[at];
	}
	return NULL;
}

void
schedule_drop(struct schedule *s, uint32_t slot)
{
	REQUIRE(slot < s->names_max && s->items[slot].waiting.head == 0);
	deadlines_cancel(&s->turns, slot);
	table_drop(&s->keys, slot);
}

uint64_t
schedule_next(const struct schedule *s)
{
	return deadlines_next(&s->turns);
}

struct schedule_item *
schedule_take(struct schedule *s, uint64_t now_ms)
{
	struct schedule_item *item;
	uint32_t slot;

	if (!deadlines_pop_due(&s->turns, now_ms, &slot))
		return NULL;
	item = &s->items[slot];
	if (!item->known && ++item->turns == SCHEDULE_FIRST)
		item->period_ms = SCHEDULE_LATER_MS;
	item->turn_ms = item->due_ms;
	set_next(s, item, now_ms);
	return item;
}

/* What is known of a part outlives a turn that failed for it. */
static void
keep_part(const struct schedule_item *item, uint8_t part,
    struct cache_entry *entry, uint64_t now_ms)
{
	if (!entry->failed[part] || !schedule_holds(item, now_ms) ||
	    item->result.failed[part])
		return;
	entry->failed[part] = false;
	entry->answers[part] = item->result.answers[part];
}

void
schedule_put(struct schedule *s, struct schedule_item *item,
    const struct cache_entry *entry, uint32_t ttl_s, uint64_t now_ms)
{
	uint32_t slot = (uint32_t)(item - s->items);
	struct cache_entry merged = *entry;

	REQUIRE(slot < s->names_max && ttl_s > 0);
	keep_part(item, 0, &merged, now_ms);
	keep_part(item, 1, &merged, now_ms);
	item->result = merged;
	item->known = true;
	item->until_ms = now_ms + (uint64_t)ttl_s * 1000;
	item->period_ms = ttl_s * 500;
	set_next(s, item, now_ms);
}

bool
schedule_holds(const struct schedule_item *item, uint64_t now_ms)
{
	return item->known && now_ms < item->until_ms;
}

uint32_t
schedule_count(const struct schedule *s)
{
	return s->names_max == 0 ? 0 : table_in_use(&s->keys);
}

uint32_t
schedule_count_known(const struct schedule *s, uint64_t now_ms)
{
	uint32_t count = 0;

	if (s->names_max == 0)
		return 0;
	for (uint32_t slot = table_oldest(&s->keys); slot != TABLE_NONE;
	     slot = table_next(&s->keys, slot))
		count += schedule_holds(&s->items[slot], now_ms);
	return count;
}
