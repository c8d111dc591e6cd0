/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * query - one client's question in progress, from a fixed pool.
 *
 * Owns everything about the question by value. Its deadline is set when it is
 * opened and only ever moves nearer. A query is in at most one list at a
 * time: of the lookup it waits for, of those whose pins the kernel is asked
 * for, or of those that are ready for the next step; closing it takes it out.
 */
#ifndef LIB_QUERY_H
#define LIB_QUERY_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/answer.h"
#include "lib/arena.h"
#include "lib/deadlines.h"
#include "lib/effect.h"
#include "lib/pool.h"
#include "lib/question.h"
#include "lib/verdict.h"

enum query_stage {
	QUERY_JUDGED, /* just opened */
	QUERY_LOOKING_UP, /* waits for the upstream */
	QUERY_READY, /* has an answer or a denial; its pins come next */
	QUERY_PINNING, /* waits for the kernel */
	QUERY_PINNED /* every pin is in, or there is no more time */
};

/* Ids of queries in the order in which they came; 0, 0 is empty. */
struct query_list {
	uint64_t head, tail;
};

struct query {
	struct client client;
	struct question question;
	struct verdict verdict;
	uint64_t policy_generation; /* of the verdict */
	enum denial denial;
	enum query_stage stage;
	struct answer answer;
	uint64_t answer_until_ms; /* when the answer's TTL has run down */
	bool cached;
	uint64_t need_until_ms; /* how long each of its pins must hold */
	uint16_t pins_waiting; /* requests that the kernel has not answered */
	uint64_t opened_ms, deadline_ms;
	struct query_list *list; /* where it is, NULL: nowhere */
	uint64_t next, previous; /* there; 0: end */
};

struct queries {
	struct pool pool;
	struct query *query; /* by slot */
	struct deadlines deadlines; /* by slot */
	uint32_t *sandbox_open; /* by number */
	uint32_t per_sandbox_max, sandboxes_max;
	struct query_list ready, pinning;
};

void queries_init(struct queries *, struct arena *, uint32_t queries_max,
    uint32_t per_sandbox_max, uint32_t sandboxes_max);
/* NULL when the pool or the sandbox's share is full. */
struct query *query_open(struct queries *, const struct client *,
    uint64_t deadline_ms, uint64_t now_ms, uint64_t *ret_id);
struct query *query_at(struct queries *, uint64_t id); /* NULL: stale */
void query_close(struct queries *, uint64_t id);

/* Moves a query to the end of a list, out of the one where it was. */
void query_move(struct queries *, uint64_t id, struct query_list *);
/* Moves the deadline nearer, never further. */
void query_hurry(struct queries *, uint64_t id, uint64_t deadline_ms);
/* Takes the next query whose deadline is over; it stays open and has none
 * from then on. NULL when there is none. */
struct query *query_pop_due(struct queries *, uint64_t now_ms,
    uint64_t *ret_id);
/* Takes the next ready query, oldest first; NULL when there is none. */
struct query *query_take_ready(struct queries *, uint64_t *ret_id);

#endif
