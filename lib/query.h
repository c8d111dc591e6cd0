/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * query - one client's question in progress, from a fixed pool.
 *
 * Owns everything about the question by value. Its deadline is set when it is
 * opened and never moves.
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
	QUERY_LOOKING_UP, /* waits for the upstream */
	QUERY_READY, /* has an answer, to be pinned at our own pace */
	QUERY_PINNING /* waits for the kernel */
};

struct query {
	struct client client;
	struct question question;
	struct verdict verdict;
	enum denial denial;
	enum query_stage stage;
	struct answer answer;
	bool cached;
	bool lookup_failed_other; /* the other family has addresses */
	uint32_t ttl_s; /* what is left of the answer's */
	uint64_t opened_ms;
	uint64_t lookup; /* id, 0: none */
	uint64_t next_waiting; /* in the lookup's or the ready list, 0: end */
	uint16_t pins_waiting;
	bool addr_failed[ANSWER_ADDRS_MAX];
	int pin_status; /* the last failure, for the event */
};

struct queries {
	struct pool pool;
	struct query *query;
	struct deadlines deadlines;
	uint32_t *sandbox_open; /* by number */
	uint32_t per_sandbox_max, sandboxes_max;
	uint64_t ready_head, ready_tail; /* ids */
};

void queries_init(struct queries *, struct arena *, uint32_t queries_max,
    uint32_t per_sandbox_max, uint32_t sandboxes_max);
/* NULL when the pool or the sandbox's share is full. */
struct query *query_open(struct queries *, const struct client *,
    uint64_t deadline_ms, uint64_t now_ms, uint64_t *ret_id);
struct query *query_at(struct queries *, uint64_t id); /* NULL: stale */
void query_close(struct queries *, uint64_t id);
void query_make_ready(struct queries *, uint64_t id);
/* The next ready query, oldest first; NULL when there is none. */
struct query *query_take_ready(struct queries *, uint64_t *ret_id);

#endif
