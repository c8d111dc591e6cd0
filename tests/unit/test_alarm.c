/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/alarm.h"

#include <string.h>

#include "lib/model.h"
#include "tests/unit/unit.h"

#define BUDGET (8192u * ALARM_BIT)

/* A new name by its score and volume, in bits. */
static bool
observe(struct alarm *alarm, int32_t score, uint32_t volume)
{
	const struct alarm_weight weight = { score * ALARM_BIT,
		volume * ALARM_BIT, true };

	return alarm_observe(alarm, &weight, BUDGET);
}

START_TEST(weighs_labels)
{
	struct alarm_weight weight = { 0 };

	alarm_weigh(&weight, 5000, 3000);
	ck_assert_int_eq(weight.score, 2000 - MODEL_MIXTURE_PRICE);
	ck_assert_uint_eq(weight.volume, 3000 + MODEL_MIXTURE_PRICE);
	ck_assert(weight.is_new);
	alarm_weigh(&weight, 1000, 3000);
	ck_assert_int_eq(weight.score, -2 * MODEL_MIXTURE_PRICE);
	ck_assert_uint_eq(weight.volume, 4000 + 2 * MODEL_MIXTURE_PRICE);
}
END_TEST

START_TEST(rings_where_both_are_high)
{
	struct alarm alarm = { 0 };

	/* 51 bits a name less 4: the score is over 100 at the third. */
	for (int i = 0; i < 3; i++)
		ck_assert(!observe(&alarm, 51, 200));
	ck_assert_int_eq(alarm.cusum, 3 * 47 * ALARM_BIT);
	ck_assert(!observe(&alarm, 0, 200));
	ck_assert(!observe(&alarm, 0, 223));
	/* 1,024 bits to the bit. */
	ck_assert(observe(&alarm, 0, 1));
	ck_assert_uint_eq(alarm.volume, 1024 * ALARM_BIT);
	ck_assert_uint_eq(alarm.nnew, 6);
}
END_TEST

START_TEST(score_must_pass_its_limit)
{
	struct alarm alarm = { 0 };

	ck_assert(!observe(&alarm, 104, 5000));
	ck_assert_int_eq(alarm.cusum, ALARM_SCORE * ALARM_BIT);
	ck_assert(observe(&alarm, 5, 0));
}
END_TEST

START_TEST(ordinary_names_take_it_back)
{
	struct alarm alarm = { 0 };

	ck_assert(observe(&alarm, 110, 1024));
	ck_assert(!observe(&alarm, -20, 30));
	ck_assert_uint_eq(alarm.volume, 1054 * ALARM_BIT);
	ck_assert(!observe(&alarm, -1000, 30));
	ck_assert_int_eq(alarm.cusum, 0);
	ck_assert_uint_eq(alarm.volume, 0);
	/* Volume counts from the name that lifts it from 0. */
	ck_assert(observe(&alarm, 110, 1024));
}
END_TEST

START_TEST(repeats_only_count)
{
	const struct alarm_weight repeat = { 0 };
	struct alarm alarm = { 0 }, before;

	ck_assert(observe(&alarm, 110, 1024));
	before = alarm;
	ck_assert(!alarm_observe(&alarm, &repeat, BUDGET));
	before.nrep = 1;
	ck_assert_mem_eq(&alarm, &before, sizeof(alarm));
}
END_TEST

START_TEST(sums_stop_before_they_overflow)
{
	struct alarm alarm = { 0 };

	for (int i = 0; i < 20000; i++)
		(void)observe(&alarm, 2000, 2000);
	ck_assert(observe(&alarm, 2000, 2000));
	ck_assert_int_gt(alarm.cusum, 1000000 * ALARM_BIT);
	for (int i = 0; i < 20000; i++)
		(void)observe(&alarm, -2000, 2000);
	ck_assert_int_eq(alarm.cusum, 0);
}
END_TEST

START_TEST(remembers_sixteen_labels)
{
	struct alarm alarm = { 0 };

	for (uint64_t h = 1; h <= 16; h++)
		ck_assert(!alarm_knows(&alarm, h));
	/* Asked again it is the youngest, so the second goes next. */
	ck_assert(alarm_knows(&alarm, 1));
	ck_assert(!alarm_knows(&alarm, 17));
	ck_assert(!alarm_knows(&alarm, 2));
	ck_assert(alarm_knows(&alarm, 1));
	ck_assert(!alarm_knows(&alarm, 3));
	for (uint64_t h = 5; h <= 16; h++)
		ck_assert(alarm_knows(&alarm, h));
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("alarm", &all);

	tcase_add_test(all, weighs_labels);
	tcase_add_test(all, rings_where_both_are_high);
	tcase_add_test(all, score_must_pass_its_limit);
	tcase_add_test(all, ordinary_names_take_it_back);
	tcase_add_test(all, repeats_only_count);
	tcase_add_test(all, sums_stop_before_they_overflow);
	tcase_add_test(all, remembers_sixteen_labels);
	return unit_run(suite);
}
