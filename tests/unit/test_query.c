/* SPDX-License-Identifier: BSD-2-Clause */
#include <signal.h>
#include <stdlib.h>

#include "lib/query.h"
#include "lib/require.h"
#include "tests/unit/unit.h"

#define QUERIES_MAX     6
#define PER_SANDBOX_MAX 4
#define SANDBOXES_MAX   3

static struct queries queries;
static void *block;

static void
setup(void)
{
	struct arena arena;

	arena_init(&arena, NULL, 0);
	queries_init(&queries, &arena, QUERIES_MAX, PER_SANDBOX_MAX,
	    SANDBOXES_MAX);
	block = calloc(1, arena.used);
	ck_assert_ptr_nonnull(block);
	arena_init(&arena, block, arena.used);
	queries_init(&queries, &arena, QUERIES_MAX, PER_SANDBOX_MAX,
	    SANDBOXES_MAX);
}

static void
teardown(void)
{
	free(block);
}

/* 0 when there is no room. */
static uint64_t
open(uint32_t sandbox, uint64_t deadline_ms)
{
	struct client client = { .sandbox = sandbox };
	uint64_t id = 0;

	if (query_open(&queries, &client, deadline_ms, 1, &id) == NULL)
		return 0;
	ck_assert_uint_ne(id, 0);
	return id;
}

START_TEST(sandboxes_have_a_share)
{
	uint64_t ids[QUERIES_MAX];

	for (uint32_t i = 0; i < PER_SANDBOX_MAX; i++)
		ck_assert_uint_ne(ids[i] = open(1, 100), 0);
	ck_assert_uint_eq(open(1, 100), 0);
	ck_assert_uint_ne(ids[4] = open(2, 100), 0);
	ck_assert_uint_ne(ids[5] = open(2, 100), 0);
	/* Nobody has a share left to take, but the pool is full. */
	ck_assert_uint_eq(open(2, 100), 0);
	ck_assert_uint_eq(open(0, 100), 0);
	query_close(&queries, ids[0]);
	ck_assert_uint_ne(open(1, 100), 0);
}
END_TEST

START_TEST(a_stale_id_finds_nothing)
{
	uint64_t id = open(1, 100), other;

	ck_assert_ptr_nonnull(query_at(&queries, id));
	query_close(&queries, id);
	ck_assert_ptr_null(query_at(&queries, id));
	other = open(1, 100);
	ck_assert_uint_ne(id, other);
	ck_assert_ptr_null(query_at(&queries, id));
	ck_assert_ptr_null(query_at(&queries, 0));
}
END_TEST

static void
expect_list(const struct query_list *list, const uint64_t *ids, size_t count)
{
	uint64_t id = list->head, last = 0;

	for (size_t i = 0; i < count; i++) {
		const struct query *query = query_at(&queries, id);

		ck_assert_uint_eq(id, ids[i]);
		ck_assert_uint_eq(query->previous, last);
		ck_assert_ptr_eq(query->list, list);
		last = id;
		id = query->next;
	}
	ck_assert_uint_eq(id, 0);
	ck_assert_uint_eq(list->tail, last);
}

/* Closing and moving from every place of a list leaves the others in it. */
START_TEST(lists_hold_together)
{
	for (uint32_t gone = 0; gone < 3; gone++) {
		struct query_list list = { 0, 0 };
		uint64_t ids[3], left[2];
		size_t count = 0;

		for (uint32_t i = 0; i < 3; i++) {
			ids[i] = open(1, 100);
			query_move(&queries, ids[i], &list);
			if (i != gone)
				left[count++] = ids[i];
		}
		expect_list(&list, ids, 3);
		query_move(&queries, ids[gone], &queries.pinning);
		expect_list(&list, left, 2);
		expect_list(&queries.pinning, &ids[gone], 1);
		query_move(&queries, ids[gone], &list);
		expect_list(&queries.pinning, NULL, 0);
		query_close(&queries, ids[gone]);
		expect_list(&list, left, 2);
		query_close(&queries, left[0]);
		expect_list(&list, &left[1], 1);
		query_close(&queries, left[1]);
		expect_list(&list, NULL, 0);
	}
}
END_TEST

START_TEST(ready_ones_come_in_order)
{
	uint64_t a = open(1, 100), b = open(2, 100), id;

	ck_assert_ptr_null(query_take_ready(&queries, &id));
	query_move(&queries, b, &queries.ready);
	query_move(&queries, a, &queries.ready);
	ck_assert_ptr_eq(query_take_ready(&queries, &id),
	    query_at(&queries, b));
	ck_assert_uint_eq(id, b);
	ck_assert_ptr_nonnull(query_take_ready(&queries, &id));
	ck_assert_uint_eq(id, a);
	ck_assert_ptr_null(query_take_ready(&queries, &id));
}
END_TEST

START_TEST(deadlines_only_move_nearer)
{
	uint64_t a = open(1, 100), b = open(1, 200), id;

	query_hurry(&queries, b, 300);
	ck_assert_uint_eq(deadlines_next(&queries.deadlines), 100);
	query_hurry(&queries, b, 50);
	ck_assert_uint_eq(deadlines_next(&queries.deadlines), 50);
	ck_assert_ptr_null(query_pop_due(&queries, 49, &id));
	ck_assert_ptr_nonnull(query_pop_due(&queries, 50, &id));
	ck_assert_uint_eq(id, b);
	/* Popped, it is still open, and has no deadline any more. */
	ck_assert_ptr_nonnull(query_at(&queries, b));
	query_close(&queries, a);
	ck_assert_uint_eq(deadlines_next(&queries.deadlines), DEADLINE_NEVER);
}
END_TEST

START_TEST(a_sandbox_out_of_range_is_a_bug)
{
	(void)open(SANDBOXES_MAX, 100);
}
END_TEST

START_TEST(closing_twice_is_a_bug)
{
	uint64_t id = open(1, 100);

	query_close(&queries, id);
	query_close(&queries, id);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("query", &all);

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, sandboxes_have_a_share);
	tcase_add_test(all, a_stale_id_finds_nothing);
	tcase_add_test(all, lists_hold_together);
	tcase_add_test(all, ready_ones_come_in_order);
	tcase_add_test(all, deadlines_only_move_nearer);
	tcase_add_test_raise_signal(all, a_sandbox_out_of_range_is_a_bug,
	    SIGABRT);
	tcase_add_test_raise_signal(all, closing_twice_is_a_bug, SIGABRT);
	return unit_run(suite);
}
