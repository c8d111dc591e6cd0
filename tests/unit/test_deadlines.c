/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/deadlines.h"

#include <string.h>

#include "tests/unit/unit.h"

#define CAPACITY 40

static _Alignas(16) uint8_t block[4096];

static struct deadlines
fresh_deadlines(uint32_t capacity)
{
	struct arena a;
	struct deadlines d;

	arena_init(&a, block, sizeof(block));
	deadlines_init(&d, &a, capacity);
	ck_assert(!a.exhausted);
	return d;
}

START_TEST(pops_what_is_due_in_order)
{
	struct deadlines d = fresh_deadlines(CAPACITY);
	uint32_t slot = 99;

	ck_assert_uint_eq(deadlines_next(&d), DEADLINE_NEVER);
	deadlines_set(&d, 3, 30);
	deadlines_set(&d, 1, 10);
	deadlines_set(&d, 2, 20);
	ck_assert_uint_eq(deadlines_next(&d), 10);
	ck_assert(!deadlines_pop_due(&d, 9, &slot));
	ck_assert_uint_eq(slot, 99);
	ck_assert(deadlines_pop_due(&d, 20, &slot));
	ck_assert_uint_eq(slot, 1);
	ck_assert(deadlines_pop_due(&d, 20, &slot));
	ck_assert_uint_eq(slot, 2);
	ck_assert(!deadlines_pop_due(&d, 20, &slot));
	ck_assert_uint_eq(deadlines_next(&d), 30);
}
END_TEST

START_TEST(ties_go_in_the_order_of_setting)
{
	struct deadlines d = fresh_deadlines(CAPACITY);
	uint32_t slot;

	for (uint32_t i = CAPACITY; i > 0; i--)
		deadlines_set(&d, i - 1, 5);
	/* Setting again counts anew. */
	deadlines_set(&d, CAPACITY - 1, 5);
	for (uint32_t i = CAPACITY - 1; i > 0; i--) {
		ck_assert(deadlines_pop_due(&d, 5, &slot));
		ck_assert_uint_eq(slot, i - 1);
	}
	ck_assert(deadlines_pop_due(&d, 5, &slot));
	ck_assert_uint_eq(slot, CAPACITY - 1);
}
END_TEST

START_TEST(never_is_no_deadline)
{
	struct deadlines d = fresh_deadlines(CAPACITY);
	uint32_t slot;

	deadlines_cancel(&d, 0);
	deadlines_set(&d, 0, DEADLINE_NEVER);
	ck_assert(!deadlines_pop_due(&d, UINT64_MAX, &slot));
	deadlines_set(&d, 0, 1);
	deadlines_set(&d, 0, DEADLINE_NEVER);
	ck_assert_uint_eq(deadlines_next(&d), DEADLINE_NEVER);
	deadlines_set(&d, 0, DEADLINE_NEVER - 1);
	ck_assert(deadlines_pop_due(&d, UINT64_MAX, &slot));
}
END_TEST

/* The model: for each slot when it is due, and when that was set. */
struct model {
	uint64_t at_ms[CAPACITY], order[CAPACITY];
};

static uint32_t
model_first(const struct model *m)
{
	uint32_t first = 0;

	for (uint32_t i = 1; i < CAPACITY; i++)
		if (m->at_ms[i] < m->at_ms[first] ||
		    (m->at_ms[i] == m->at_ms[first] &&
			m->order[i] < m->order[first]))
			first = i;
	return first;
}

START_TEST(behaves_like_a_list)
{
	uint64_t state = unit_seed(), now_ms = 0;
	struct deadlines d = fresh_deadlines(CAPACITY);
	struct model m;

	memset(m.at_ms, 0xff, sizeof(m.at_ms));
	for (uint64_t step = 0; step < 200000; step++) {
		uint32_t slot = unit_random(&state) % CAPACITY, first;

		switch (unit_random(&state) % 8) {
		case 0:
			deadlines_cancel(&d, slot);
			m.at_ms[slot] = DEADLINE_NEVER;
			break;
		case 1:
			now_ms += unit_random(&state) % 8;
			first = model_first(&m);
			if (m.at_ms[first] > now_ms) {
				ck_assert(
				    !deadlines_pop_due(&d, now_ms, &slot));
				break;
			}
			ck_assert(deadlines_pop_due(&d, now_ms, &slot));
			ck_assert_uint_eq(slot, first);
			m.at_ms[first] = DEADLINE_NEVER;
			break;
		default:
			m.at_ms[slot] = now_ms + unit_random(&state) % 16;
			m.order[slot] = step;
			deadlines_set(&d, slot, m.at_ms[slot]);
			break;
		}
		ck_assert_uint_eq(deadlines_next(&d), m.at_ms[model_first(&m)]);
	}
}
END_TEST

START_TEST(dies_of_a_slot_that_is_none)
{
	struct deadlines d = fresh_deadlines(CAPACITY);

	deadlines_set(&d, CAPACITY, 1);
}
END_TEST

START_TEST(dies_without_memory)
{
	struct arena a;
	struct deadlines d;

	arena_init(&a, NULL, 0);
	deadlines_init(&d, &a, CAPACITY);
	deadlines_set(&d, 0, 1);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("deadlines", &all);

	tcase_add_test(all, pops_what_is_due_in_order);
	tcase_add_test(all, ties_go_in_the_order_of_setting);
	tcase_add_test(all, never_is_no_deadline);
	tcase_add_test(all, behaves_like_a_list);
	tcase_add_test_raise_signal(all, dies_of_a_slot_that_is_none, SIGABRT);
	tcase_add_test_raise_signal(all, dies_without_memory, SIGABRT);
	return unit_run(suite);
}
