/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/pool.h"

#include <string.h>

#include "tests/unit/unit.h"

#define CAPACITY 7

static _Alignas(16) uint8_t block[1024];

static struct pool
fresh_pool(uint32_t capacity)
{
	struct arena a;
	struct pool p;

	arena_init(&a, block, sizeof(block));
	pool_init(&p, &a, capacity);
	ck_assert(!a.exhausted);
	return p;
}

START_TEST(takes_in_ascending_order_until_full)
{
	struct pool p = fresh_pool(CAPACITY);

	for (uint32_t i = 0; i < CAPACITY; i++) {
		uint64_t id = pool_take(&p);

		ck_assert_uint_ne(id, 0);
		ck_assert_uint_eq(pool_at(&p, id), i);
		ck_assert_uint_eq(pool_id(&p, i), id);
	}
	ck_assert_uint_eq(pool_take(&p), 0);
	ck_assert_uint_eq(pool_in_use(&p), CAPACITY);
}
END_TEST

START_TEST(walks_over_what_is_taken)
{
	struct pool p = fresh_pool(CAPACITY);
	uint64_t ids[CAPACITY];

	ck_assert_uint_eq(pool_next(&p, 0), POOL_NONE);
	for (uint32_t i = 0; i < CAPACITY; i++)
		ids[i] = pool_take(&p);
	pool_give(&p, ids[0]);
	pool_give(&p, ids[3]);
	pool_give(&p, ids[CAPACITY - 1]);
	ck_assert_uint_eq(pool_next(&p, 0), 1);
	ck_assert_uint_eq(pool_next(&p, 1), 1);
	ck_assert_uint_eq(pool_next(&p, 3), 4);
	ck_assert_uint_eq(pool_next(&p, CAPACITY - 1), POOL_NONE);
	ck_assert_uint_eq(pool_next(&p, CAPACITY), POOL_NONE);
}
END_TEST

START_TEST(last_given_is_first_taken)
{
	struct pool p = fresh_pool(CAPACITY);
	uint64_t a = pool_take(&p), b = pool_take(&p);

	pool_give(&p, a);
	pool_give(&p, b);
	ck_assert_uint_eq(pool_at(&p, pool_take(&p)), 1);
	ck_assert_uint_eq(pool_at(&p, pool_take(&p)), 0);
	ck_assert_uint_eq(pool_at(&p, pool_take(&p)), 2);
}
END_TEST

START_TEST(foreign_ids_find_nothing)
{
	struct pool p = fresh_pool(CAPACITY);
	uint64_t id = pool_take(&p), again;

	ck_assert_uint_eq(pool_at(&p, 0), POOL_NONE);
	ck_assert_uint_eq(pool_at(&p, UINT64_MAX), POOL_NONE);
	ck_assert_uint_eq(pool_at(&p, id + CAPACITY), POOL_NONE);
	ck_assert_uint_eq(pool_at(&p, id + 1), POOL_NONE);
	pool_give(&p, id);
	ck_assert_uint_eq(pool_at(&p, id), POOL_NONE);
	/* The id that a free slot's generation would make. */
	ck_assert_uint_eq(pool_at(&p, (uint64_t)p.generation[0] << 32),
	    POOL_NONE);
	again = pool_take(&p);
	ck_assert_uint_eq((uint32_t)again, (uint32_t)id);
	ck_assert_uint_ne(again, id);
	ck_assert_uint_eq(pool_at(&p, id), POOL_NONE);
}
END_TEST

START_TEST(without_memory_it_is_full)
{
	struct arena a;
	struct pool p;

	arena_init(&a, NULL, 0);
	pool_init(&p, &a, CAPACITY);
	ck_assert_uint_gt(a.used, 0);
	ck_assert_uint_eq(pool_take(&p), 0);
	ck_assert_uint_eq(pool_at(&p, UINT64_C(1) << 32), POOL_NONE);
	p = fresh_pool(0);
	ck_assert_uint_eq(pool_take(&p), 0);
}
END_TEST

/* Against a list of live ids and one of dead ones. */
START_TEST(behaves_like_a_list)
{
	uint64_t state = unit_seed();
	uint64_t live[CAPACITY], dead[64] = { 0 };
	struct pool p = fresh_pool(CAPACITY);
	uint32_t count = 0;

	for (int step = 0; step < 100000; step++) {
		uint32_t pick = unit_random(&state);

		if (pick % 2 == 0) {
			uint64_t id = pool_take(&p);

			ck_assert_int_eq(id == 0, count == CAPACITY);
			if (id != 0)
				live[count++] = id;
		} else if (count > 0) {
			uint32_t i = pick / 2 % count;

			pool_give(&p, live[i]);
			dead[step % 64] = live[i];
			live[i] = live[--count];
		}
		ck_assert_uint_eq(pool_in_use(&p), count);
		for (uint32_t i = 0; i < count; i++)
			ck_assert_uint_eq(pool_at(&p, live[i]),
			    (uint32_t)live[i]);
		ck_assert_uint_eq(pool_at(&p, dead[unit_random(&state) % 64]),
		    POOL_NONE);
	}
}
END_TEST

START_TEST(dies_giving_twice)
{
	struct pool p = fresh_pool(CAPACITY);
	uint64_t id = pool_take(&p);

	pool_give(&p, id);
	pool_give(&p, id);
}
END_TEST

START_TEST(dies_naming_a_free_slot)
{
	struct pool p = fresh_pool(CAPACITY);

	(void)pool_id(&p, 0);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("pool", &all);

	tcase_add_test(all, takes_in_ascending_order_until_full);
	tcase_add_test(all, walks_over_what_is_taken);
	tcase_add_test(all, last_given_is_first_taken);
	tcase_add_test(all, foreign_ids_find_nothing);
	tcase_add_test(all, without_memory_it_is_full);
	tcase_add_test(all, behaves_like_a_list);
	tcase_add_test_raise_signal(all, dies_giving_twice, SIGABRT);
	tcase_add_test_raise_signal(all, dies_naming_a_free_slot, SIGABRT);
	return unit_run(suite);
}
