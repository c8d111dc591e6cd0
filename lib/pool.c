/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A generation is odd while its slot is taken and grows by one with each
 * take and each give: an id is live exactly when its generation is the
 * slot's and odd.
 */
#include "lib/pool.h"

#include <stdbool.h>
#include <stddef.h>

#include "lib/require.h"

void
pool_init(struct pool *p, struct arena *arena, uint32_t capacity)
{
	REQUIRE(capacity < POOL_NONE);
	*p = (struct pool){ .free_head = POOL_NONE };
	p->generation = arena_take(arena, capacity, sizeof(*p->generation));
	p->next_free = arena_take(arena, capacity, sizeof(*p->next_free));
	if (p->generation == NULL || p->next_free == NULL)
		return;

	p->capacity = capacity;
	for (uint32_t slot = capacity; slot > 0; slot--) {
		p->next_free[slot - 1] = p->free_head;
		p->free_head = slot - 1;
	}
}

static bool
is_taken(const struct pool *p, uint32_t slot)
{
	return slot < p->capacity && p->generation[slot] % 2 == 1;
}

uint64_t
pool_id(const struct pool *p, uint32_t slot)
{
	REQUIRE(is_taken(p, slot));
	return (uint64_t)p->generation[slot] << 32 | slot;
}

uint64_t
pool_take(struct pool *p)
{
	uint32_t slot = p->free_head;

	if (slot == POOL_NONE)
		return 0;
	p->free_head = p->next_free[slot];
	p->generation[slot]++;
	p->in_use++;
	return pool_id(p, slot);
}

uint32_t
pool_at(const struct pool *p, uint64_t id)
{
	uint32_t slot = (uint32_t)id;

	if (!is_taken(p, slot) || p->generation[slot] != id >> 32)
		return POOL_NONE;
	return slot;
}

void
pool_give(struct pool *p, uint64_t id)
{
	uint32_t slot = pool_at(p, id);

	REQUIRE(slot != POOL_NONE);
	p->generation[slot]++;
	p->next_free[slot] = p->free_head;
	p->free_head = slot;
	p->in_use--;
}

uint32_t
pool_next(const struct pool *p, uint32_t slot)
{
	for (; slot < p->capacity; slot++)
		if (is_taken(p, slot))
			return slot;
	return POOL_NONE;
}

uint32_t
pool_in_use(const struct pool *p)
{
	return p->in_use;
}
