/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/arena.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

static _Alignas(16) uint8_t block[1024];

START_TEST(hands_out_zeroed_aligned_memory)
{
	struct arena a;
	uint8_t *first, *second;

	memset(block, 0xee, sizeof(block));
	arena_init(&a, block, sizeof(block));
	first = arena_take(&a, 3, 1);
	second = arena_take(&a, 5, 7);
	ck_assert_ptr_eq(first, block);
	ck_assert_ptr_eq(second, block + 16);
	for (size_t i = 0; i < 35; i++)
		ck_assert_uint_eq(second[i], 0);
	ck_assert_uint_eq(block[16 + 35], 0xee);
	ck_assert(!a.exhausted);
}
END_TEST

START_TEST(exhaustion_sticks)
{
	struct arena a;

	arena_init(&a, block, 64);
	ck_assert_ptr_nonnull(arena_take(&a, 1, 64));
	ck_assert(!a.exhausted);
	ck_assert_ptr_null(arena_take(&a, 1, 1));
	ck_assert(a.exhausted);

	arena_init(&a, block, 64);
	ck_assert_ptr_null(arena_take(&a, 1, 65));
	ck_assert_ptr_null(arena_take(&a, 1, 1));

	/* No room for the padding itself. */
	arena_init(&a, block, 20);
	ck_assert_ptr_nonnull(arena_take(&a, 17, 1));
	ck_assert_ptr_null(arena_take(&a, 1, 1));
	ck_assert(a.exhausted);
}
END_TEST

START_TEST(products_do_not_wrap)
{
	struct arena a;

	arena_init(&a, block, sizeof(block));
	ck_assert_ptr_null(arena_take(&a, SIZE_MAX / 2, 4));
	ck_assert(a.exhausted);
	arena_init(&a, NULL, 0);
	ck_assert_ptr_null(arena_take(&a, SIZE_MAX / 2, 4));
	ck_assert(a.exhausted);
	arena_init(&a, NULL, 0);
	(void)arena_take(&a, SIZE_MAX - 8, 1);
	ck_assert(!a.exhausted);
	(void)arena_take(&a, 1, 1);
	ck_assert(a.exhausted);
}
END_TEST

/* A block of the measured size is enough, one octet less is not. */
START_TEST(measures_exactly)
{
	uint64_t state = unit_seed();

	for (int round = 0; round < 2000; round++) {
		size_t counts[8], sizes[8];
		struct arena measure, real;
		uint8_t *base;

		arena_init(&measure, NULL, 0);
		for (int i = 0; i < 8; i++) {
			counts[i] = unit_random(&state) % 9;
			sizes[i] = 1 + unit_random(&state) % 40;
			ck_assert_ptr_null(
			    arena_take(&measure, counts[i], sizes[i]));
		}
		ck_assert(!measure.exhausted);
		base = aligned_alloc(16, (measure.used + 31) / 16 * 16);
		for (size_t less = 0; less <= 1 && less <= measure.used;
		     less++) {
			arena_init(&real, base, measure.used - less);
			for (int i = 0; i < 8; i++)
				(void)arena_take(&real, counts[i], sizes[i]);
			ck_assert_int_eq(real.exhausted, less == 1);
		}
		free(base);
	}
}
END_TEST

START_TEST(dies_of_a_crooked_block)
{
	struct arena a;

	arena_init(&a, block + 1, 16);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("arena", &all);

	tcase_add_test(all, hands_out_zeroed_aligned_memory);
	tcase_add_test(all, exhaustion_sticks);
	tcase_add_test(all, products_do_not_wrap);
	tcase_add_test(all, measures_exactly);
	tcase_add_test_raise_signal(all, dies_of_a_crooked_block, SIGABRT);
	return unit_run(suite);
}
