/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * query - opening, queueing and closing of questions in progress. What is
 * done about a question is the engine's business alone.
 */
#include "lib/query.h"

#include <string.h>

#include "lib/require.h"

void
queries_init(struct queries *queries, struct arena *arena, uint32_t queries_max,
    uint32_t per_sandbox_max, uint32_t sandboxes_max)
{
	memset(queries, 0, sizeof(*queries));
	pool_init(&queries->pool, arena, queries_max);
	queries->query =
	    arena_take(arena, queries_max, sizeof(*queries->query));
	deadlines_init(&queries->deadlines, arena, queries_max);
	queries->sandbox_open =
	    arena_take(arena, sandboxes_max, sizeof(*queries->sandbox_open));
	queries->per_sandbox_max = per_sandbox_max;
	queries->sandboxes_max = sandboxes_max;
}

static uint32_t
slot_of(const struct queries *queries, uint64_t id)
{
	uint32_t slot = pool_at(&queries->pool, id);

	REQUIRE(slot != POOL_NONE);
	return slot;
}

struct query *
query_open(struct queries *queries, const struct client *client,
    uint64_t deadline_ms, uint64_t now_ms, uint64_t *ret_id)
{
	struct query *query;
	uint32_t slot;
	uint64_t id;

	REQUIRE(client->sandbox < queries->sandboxes_max);
	if (queries->sandbox_open[client->sandbox] >= queries->per_sandbox_max)
		return NULL;
	id = pool_take(&queries->pool);
	if (id == 0)
		return NULL;
	queries->sandbox_open[client->sandbox]++;
	slot = slot_of(queries, id);
	query = &queries->query[slot];
	memset(query, 0, sizeof(*query));
	query->client = *client;
	query->opened_ms = now_ms;
	query->deadline_ms = deadline_ms;
	deadlines_set(&queries->deadlines, slot, deadline_ms);
	*ret_id = id;
	return query;
}

struct query *
query_at(struct queries *queries, uint64_t id)
{
	uint32_t slot = pool_at(&queries->pool, id);

	return slot == POOL_NONE ? NULL : &queries->query[slot];
}

static void
unlink_from_list(struct queries *queries, struct query *query)
{
	struct query_list *list = query->list;

	if (list == NULL)
		return;
	if (query->previous == 0)
		list->head = query->next;
	else
		query_at(queries, query->previous)->next = query->next;
	if (query->next == 0)
		list->tail = query->previous;
	else
		query_at(queries, query->next)->previous = query->previous;
	query->list = NULL;
	query->next = 0;
	query->previous = 0;
}

void
query_close(struct queries *queries, uint64_t id)
{
	uint32_t slot = slot_of(queries, id);
	struct query *query = &queries->query[slot];

	unlink_from_list(queries, query);
	deadlines_cancel(&queries->deadlines, slot);
	REQUIRE(queries->sandbox_open[query->client.sandbox] > 0);
	queries->sandbox_open[query->client.sandbox]--;
	pool_give(&queries->pool, id);
}

void
query_move(struct queries *queries, uint64_t id, struct query_list *list)
{
	struct query *query = &queries->query[slot_of(queries, id)];

	unlink_from_list(queries, query);
	query->list = list;
	query->previous = list->tail;
	if (list->tail == 0)
		list->head = id;
	else
		query_at(queries, list->tail)->next = id;
	list->tail = id;
}

void
query_hurry(struct queries *queries, uint64_t id, uint64_t deadline_ms)
{
	uint32_t slot = slot_of(queries, id);
	struct query *query = &queries->query[slot];

	if (deadline_ms >= query->deadline_ms)
		return;
	query->deadline_ms = deadline_ms;
	deadlines_set(&queries->deadlines, slot, deadline_ms);
}

struct query *
query_pop_due(struct queries *queries, uint64_t now_ms, uint64_t *ret_id)
{
	uint32_t slot;

	if (!deadlines_pop_due(&queries->deadlines, now_ms, &slot))
		return NULL;
	*ret_id = pool_id(&queries->pool, slot);
	return &queries->query[slot];
}

struct query *
query_take_ready(struct queries *queries, uint64_t *ret_id)
{
	struct query *query;

	if (queries->ready.head == 0)
		return NULL;
	*ret_id = queries->ready.head;
	query = query_at(queries, *ret_id);
	unlink_from_list(queries, query);
	return query;
}
