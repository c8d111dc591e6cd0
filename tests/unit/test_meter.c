/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/meter.h"

#include <string.h>

#include "lib/require.h"
#include "tests/unit/unit.h"

#define BITS(n) ((uint32_t)(n)*METER_BIT)
#define STEPS   4000

static struct meter meter;

static void
open_meter(uint32_t bits)
{
	memset(&meter, 0, sizeof(meter));
	meter_limit(&meter, BITS(bits));
}

START_TEST(twenty_bits_are_held_back)
{
	open_meter(100);
	ck_assert_uint_eq(meter_left(&meter, 0), BITS(80));
	ck_assert(meter_fits(&meter, BITS(80)));
	ck_assert(!meter_fits(&meter, BITS(80) + 1));
	meter_spend(&meter, METER_NAME, BITS(80) - 1);
	ck_assert(meter_fits(&meter, 1));
	ck_assert(!meter_fits(&meter, 2));
	/* A smaller limit than what is spent leaves nothing, not much. */
	meter_limit(&meter, BITS(10));
	ck_assert_uint_eq(meter_left(&meter, 0), 0);
	ck_assert(!meter_fits(&meter, 1));
	meter_limit(&meter, 0);
	ck_assert(!meter_fits(&meter, 1));
}
END_TEST

START_TEST(an_hour_counts_until_24_more_are_over)
{
	open_meter(100);
	meter_advance(&meter, 7);
	meter_spend(&meter, METER_TIME, 3);
	meter_advance(&meter, 8);
	meter_spend(&meter, METER_TYPE, 5);
	for (uint32_t hour = 8; hour <= 31; hour++)
		ck_assert_uint_eq(meter_used(&meter, hour), 8);
	ck_assert_uint_eq(meter_used(&meter, 32), 5);
	ck_assert_uint_eq(meter_used(&meter, 33), 0);
	ck_assert_uint_eq(meter_part(&meter, METER_TIME, 31), 3);
	ck_assert_uint_eq(meter_part(&meter, METER_TIME, 32), 0);
	meter_advance(&meter, 31);
	ck_assert_uint_eq(meter.used, 8);
	meter_advance(&meter, 32);
	ck_assert_uint_eq(meter.used, 5);
	/* An hour that is over changes nothing. */
	meter_advance(&meter, 3);
	ck_assert_uint_eq(meter.used, 5);
	ck_assert_uint_eq(meter.hour, 32);
	meter_advance(&meter, 1000000);
	ck_assert_uint_eq(meter.used, 0);
}
END_TEST

/* Against a list of all that was ever spent. */
START_TEST(the_ring_is_what_a_list_says)
{
	static uint32_t hours[STEPS], costs[STEPS];
	uint64_t state = 3, sum;
	uint32_t hour = 0;

	open_meter(1 << 20);
	for (int i = 0; i < STEPS; i++) {
		if (unit_random(&state) % 4 == 0)
			hour += unit_random(&state) % 3;
		if (unit_random(&state) % 200 == 0)
			hour += unit_random(&state) % 60;
		meter_advance(&meter, hour);
		hours[i] = hour;
		costs[i] = unit_random(&state) % 1000;
		meter_spend(&meter,
		    (enum meter_part)(unit_random(&state) % METER_PARTS),
		    costs[i]);
		for (uint32_t later = hour; later < hour + 30; later += 7) {
			sum = 0;
			for (int j = i; j >= 0 && hours[j] + 24 >= later; j--)
				sum += costs[j];
			UNIT_CHECK(meter_used(&meter, later) == sum);
		}
	}
}
END_TEST

START_TEST(amounts_do_not_wrap)
{
	open_meter(100);
	meter_spend(&meter, METER_TIME, UINT32_MAX - 5);
	meter_spend(&meter, METER_TIME, 10);
	ck_assert_uint_eq(meter.used, UINT32_MAX);
	meter_spend(&meter, METER_NAME, UINT32_MAX);
	ck_assert_uint_eq(meter.used, 2 * (uint64_t)UINT32_MAX);
	ck_assert_uint_eq(meter_left(&meter, 0), 0);
	ck_assert_uint_eq(meter.unsaved, UINT32_MAX);
	meter_advance(&meter, 25);
	ck_assert_uint_eq(meter.used, 0);
}
END_TEST

/* A sixteenth of the limit may be on no disk; before the first record
 * nothing may. */
START_TEST(records_come_before_a_sixteenth)
{
	open_meter(160);
	ck_assert(!meter_must_save(&meter));
	meter_spend(&meter, METER_TIME, 1);
	ck_assert(meter_must_save(&meter));
	meter_saved(&meter);
	ck_assert(!meter_must_save(&meter));
	meter_spend(&meter, METER_TIME, BITS(10));
	ck_assert(!meter_must_save(&meter));
	meter_spend(&meter, METER_TIME, 1);
	ck_assert(meter_must_save(&meter));
	meter_saved(&meter);
	/* A limit that was raised holds on disk only with the next record. */
	meter_limit(&meter, BITS(320));
	meter_spend(&meter, METER_TIME, BITS(10) + 1);
	ck_assert(meter_must_save(&meter));
	meter_saved(&meter);
	meter_spend(&meter, METER_TIME, BITS(20));
	ck_assert(!meter_must_save(&meter));
	meter_limit(&meter, BITS(160));
	ck_assert(meter_must_save(&meter));
}
END_TEST

START_TEST(half_is_told_once)
{
	open_meter(100);
	meter_spend(&meter, METER_TIME, BITS(50) - 1);
	ck_assert(!meter_tell_half(&meter));
	meter_spend(&meter, METER_TIME, 1);
	ck_assert(meter_tell_half(&meter));
	ck_assert(!meter_tell_half(&meter));
	meter_advance(&meter, 24);
	meter_spend(&meter, METER_TIME, 1);
	ck_assert(!meter_tell_half(&meter));
	meter_advance(&meter, 25);
	ck_assert(!meter_tell_half(&meter));
	meter_spend(&meter, METER_TIME, BITS(50));
	ck_assert(meter_tell_half(&meter));
}
END_TEST

START_TEST(refusals_are_told_once_an_hour)
{
	uint32_t count = 77;

	open_meter(100);
	ck_assert(meter_tell_refused(&meter, &count));
	ck_assert_uint_eq(count, 1);
	for (int i = 0; i < 9; i++)
		ck_assert(!meter_tell_refused(&meter, &count));
	ck_assert_uint_eq(count, 1);
	meter_advance(&meter, 1);
	ck_assert(meter_tell_refused(&meter, &count));
	ck_assert_uint_eq(count, 10);
}
END_TEST

START_TEST(a_part_that_is_none)
{
	open_meter(100);
	meter_spend(&meter, METER_PARTS, 1);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("meter", &all);

	tcase_add_test(all, twenty_bits_are_held_back);
	tcase_add_test(all, an_hour_counts_until_24_more_are_over);
	tcase_add_test(all, the_ring_is_what_a_list_says);
	tcase_add_test(all, amounts_do_not_wrap);
	tcase_add_test(all, records_come_before_a_sixteenth);
	tcase_add_test(all, half_is_told_once);
	tcase_add_test(all, refusals_are_told_once_an_hour);
	tcase_add_test_raise_signal(all, a_part_that_is_none, SIGABRT);
	return unit_run(suite);
}
