/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/tally.h"

#include <math.h>
#include <string.h>

#include "lib/require.h"
#include "tests/unit/unit.h"

#define OUTCOMES 40

static const struct {
	uint32_t sum, outcomes;
	uint16_t count;
	uint32_t price; /* worked out by hand: up of one, down of the other */
} prices[] = {
	{ 0, 40, 0, 1363 }, /* log2 40 = 5.3219 */
	{ 1, 40, 1, 976 }, /* log2 (42 / 3) = 3.8074 */
	{ 1, 40, 0, 1381 }, /* log2 42 */
	{ 0, 2, 0, 256 }, /* even */
	{ 1, 2, 1, 107 }, /* log2 (4 / 3) = 0.4150: 512 - 405 */
	{ 0, 1, 0, 0 }, /* the only one */
	{ 7, 1, 7, 0 },
	{ 1000, 2, 1000, 1 }, /* never nothing: log2 (2002 / 2001) */
};

START_TEST(prices_by_hand)
{
	for (size_t i = 0; i < ARRAY_LEN(prices); i++)
		ck_assert_msg(tally_price(prices[i].sum, prices[i].outcomes,
				  prices[i].count) == prices[i].price,
		    "%zu: %u", i,
		    tally_price(prices[i].sum, prices[i].outcomes,
			prices[i].count));
}
END_TEST

/* Over a long run of any outcomes, halved now and then. */
START_TEST(weights_add_up_to_no_more_than_1)
{
	static uint16_t counts[OUTCOMES];
	uint64_t state = 1;
	uint32_t sum = 0, total;
	double all;

	memset(counts, 0, sizeof(counts));
	for (int step = 0; step < 300000; step++) {
		tally_note(counts, OUTCOMES, &sum,
		    unit_random(&state) % (unit_random(&state) % OUTCOMES + 1));
		if (step % 997 != 0 && step > 100)
			continue;
		all = 0;
		total = 0;
		for (int i = 0; i < OUTCOMES; i++) {
			all += exp2(
			    -(double)tally_price(sum, OUTCOMES, counts[i]) /
			    256);
			total += counts[i];
		}
		UNIT_CHECK(total == sum);
		UNIT_CHECK(all <= 1 && all > 0.985);
	}
}
END_TEST

START_TEST(full_counts_are_halved_rounding_up)
{
	uint16_t counts[4] = { 65533, 1, 0, 7 };
	uint32_t sum = 65541;

	tally_note(counts, 4, &sum, 0);
	ck_assert_uint_eq(counts[0], 65534);
	ck_assert_uint_eq(sum, 65542);
	tally_note(counts, 4, &sum, 0);
	ck_assert_uint_eq(counts[0], 32768);
	ck_assert_uint_eq(counts[1], 1);
	ck_assert_uint_eq(counts[2], 0);
	ck_assert_uint_eq(counts[3], 4);
	ck_assert_uint_eq(sum, 32773);
}
END_TEST

/* How many rows of two outcomes, of any length, cost no more than this. */
static uint32_t
count_rows(uint16_t counts[2], int32_t left)
{
	uint32_t count = 1, sum = (uint32_t)counts[0] + counts[1];
	int32_t price;

	for (int i = 0; i < 2; i++) {
		price = (int32_t)tally_price(sum, 2, counts[i]);
		if (price > left)
			continue;
		counts[i]++;
		count += count_rows(counts, left - price);
		counts[i]--;
	}
	return count;
}

/* Of one length 16 at most, of all lengths 121: the end has to be paid. */
START_TEST(a_price_alone_bounds_no_histories)
{
	uint16_t counts[2] = { 0, 0 };

	ck_assert_uint_eq(count_rows(counts, 4 * 256), 121);
}
END_TEST

START_TEST(an_outcome_that_is_none)
{
	uint16_t counts[2] = { 0, 0 };
	uint32_t sum = 0;

	tally_note(counts, 2, &sum, 2);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("tally", &all);

	tcase_add_test(all, prices_by_hand);
	tcase_add_test(all, weights_add_up_to_no_more_than_1);
	tcase_add_test(all, full_counts_are_halved_rounding_up);
	tcase_add_test(all, a_price_alone_bounds_no_histories);
	tcase_add_test_raise_signal(all, an_outcome_that_is_none, SIGABRT);
	return unit_run(suite);
}
