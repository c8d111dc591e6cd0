/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A binary heap in an array. `where` follows each slot through the heap, so
 * that a deadline can be moved or cancelled without a search.
 */
#include "lib/deadlines.h"

#include <stddef.h>

#include "lib/require.h"

#define NOWHERE UINT32_MAX

void
deadlines_init(struct deadlines *d, struct arena *arena, uint32_t capacity)
{
	REQUIRE(capacity <= UINT32_MAX / 2);
	*d = (struct deadlines){ 0 };
	d->heap = arena_take(arena, capacity, sizeof(*d->heap));
	d->where = arena_take(arena, capacity, sizeof(*d->where));
	if (d->heap == NULL || d->where == NULL)
		return;

	d->capacity = capacity;
	for (uint32_t slot = 0; slot < capacity; slot++)
		d->where[slot] = NOWHERE;
}

static bool
is_before(const struct deadline *a, const struct deadline *b)
{
	if (a->at_ms != b->at_ms)
		return a->at_ms < b->at_ms;
	return a->order < b->order;
}

static void
place(struct deadlines *d, uint32_t index, struct deadline item)
{
	d->heap[index] = item;
	d->where[item.slot] = index;
}

/* Finds the place for an item whose hole is at index: upward … */
static void
sift_up(struct deadlines *d, uint32_t index, struct deadline item)
{
	while (index > 0 && is_before(&item, &d->heap[(index - 1) / 2])) {
		place(d, index, d->heap[(index - 1) / 2]);
		index = (index - 1) / 2;
	}
	place(d, index, item);
}

/* … and downward. */
static void
sift_down(struct deadlines *d, uint32_t index, struct deadline item)
{
	for (;;) {
		uint32_t child = 2 * index + 1;

		if (child + 1 < d->count &&
		    is_before(&d->heap[child + 1], &d->heap[child]))
			child++;
		if (child >= d->count || is_before(&item, &d->heap[child]))
			break;
		place(d, index, d->heap[child]);
		index = child;
	}
	place(d, index, item);
}

static void
remove_at(struct deadlines *d, uint32_t index)
{
	struct deadline last = d->heap[d->count - 1];

	d->where[d->heap[index].slot] = NOWHERE;
	d->count--;
	if (index == d->count)
		return;
	if (index > 0 && is_before(&last, &d->heap[(index - 1) / 2]))
		sift_up(d, index, last);
	else
		sift_down(d, index, last);
}

void
deadlines_set(struct deadlines *d, uint32_t slot, uint64_t at_ms)
{
	deadlines_cancel(d, slot);
	if (at_ms == DEADLINE_NEVER)
		return;
	d->count++;
	sift_up(d, d->count - 1,
	    (struct deadline){ .at_ms = at_ms,
		.order = d->order_next++,
		.slot = slot });
}

void
deadlines_cancel(struct deadlines *d, uint32_t slot)
{
	REQUIRE(slot < d->capacity);
	if (d->where[slot] != NOWHERE)
		remove_at(d, d->where[slot]);
}

bool
deadlines_is_set(const struct deadlines *d, uint32_t slot)
{
	REQUIRE(slot < d->capacity);
	return d->where[slot] != NOWHERE;
}

uint64_t
deadlines_next(const struct deadlines *d)
{
	return d->count == 0 ? DEADLINE_NEVER : d->heap[0].at_ms;
}

bool
deadlines_pop_due(struct deadlines *d, uint64_t now_ms, uint32_t *ret_slot)
{
	if (d->count == 0 || d->heap[0].at_ms > now_ms)
		return false;
	*ret_slot = d->heap[0].slot;
	remove_at(d, 0);
	return true;
}
