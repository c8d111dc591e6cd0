/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/unit.h"

#include "src/resolver/upstream_choice.h"

#define NO_EXPLORING 1 /* a draw that is not divisible by 32 */

static uint32_t
choose(const struct server_health *servers, uint32_t count, uint32_t tried,
    uint32_t draw, uint64_t now_ms)
{
	const struct server_health *pointers[CHOICE_MAX];

	for (uint32_t i = 0; i < count; i++)
		pointers[i] = &servers[i];
	return upstream_choose(pointers, count, tried, draw, now_ms);
}

START_TEST(fastest_first)
{
	struct server_health servers[] = { { .srtt_ms = 20 }, { .srtt_ms = 5 },
		{ .srtt_ms = 9 } };

	ck_assert_uint_eq(choose(servers, 3, 0, NO_EXPLORING, 0), 1);
	ck_assert_uint_eq(choose(servers, 3, 2, NO_EXPLORING, 0), 2);
	ck_assert_uint_eq(choose(servers, 3, 6, NO_EXPLORING, 0), 0);
	ck_assert_uint_eq(choose(servers, 3, 7, NO_EXPLORING, 0), CHOICE_NONE);
	ck_assert_uint_eq(choose(servers, 0, 0, NO_EXPLORING, 0), CHOICE_NONE);
}
END_TEST

START_TEST(unknown_is_measured)
{
	struct server_health servers[] = { { .srtt_ms = 1 }, { .srtt_ms = 0 } };

	ck_assert_uint_eq(choose(servers, 2, 0, NO_EXPLORING, 0), 1);
	health_answered(&servers[1], 0);
	ck_assert_uint_eq(servers[1].srtt_ms, 1);
	ck_assert_uint_eq(choose(servers, 2, 0, NO_EXPLORING, 0), 0);
}
END_TEST

START_TEST(round_trip_is_smoothed)
{
	struct server_health health = { 0 };

	health_answered(&health, 80);
	ck_assert_uint_eq(health.srtt_ms, 80);
	health_answered(&health, 160);
	ck_assert_uint_eq(health.srtt_ms, 90);
	for (int i = 0; i < 100; i++)
		health_answered(&health, 10);
	ck_assert_uint_le(health.srtt_ms, 14);
}
END_TEST

START_TEST(failed_is_held_back)
{
	struct server_health servers[] = { { .srtt_ms = 1 },
		{ .srtt_ms = 500 } };
	uint64_t now_ms = 1000;

	health_failed(&servers[0], now_ms);
	ck_assert_uint_eq(servers[0].hold_until_ms, now_ms + HOLD_FIRST_MS);
	ck_assert_uint_eq(choose(servers, 2, 0, NO_EXPLORING, now_ms), 1);
	now_ms += HOLD_FIRST_MS;
	ck_assert_uint_eq(choose(servers, 2, 0, NO_EXPLORING, now_ms), 0);
}
END_TEST

START_TEST(hold_doubles_to_a_limit)
{
	struct server_health health = { .srtt_ms = 1 };
	uint64_t now_ms = 5, expected_ms = HOLD_FIRST_MS;

	for (int i = 0; i < 100; i++) {
		health_failed(&health, now_ms);
		ck_assert_uint_eq(health.hold_until_ms, now_ms + expected_ms);
		now_ms = health.hold_until_ms;
		expected_ms *= 2;
		if (expected_ms > HOLD_LONGEST_MS)
			expected_ms = HOLD_LONGEST_MS;
	}
	health_answered(&health, 7);
	ck_assert_uint_eq(health.failures, 0);
	ck_assert_uint_eq(health.hold_until_ms, 0);
}
END_TEST

START_TEST(one_outage_counts_once)
{
	struct server_health health = { 0 };

	for (int i = 0; i < 50; i++)
		health_failed(&health, 100);
	ck_assert_uint_eq(health.failures, 1);
	ck_assert_uint_eq(health.hold_until_ms, 100 + HOLD_FIRST_MS);
}
END_TEST

START_TEST(there_is_always_a_choice)
{
	struct server_health servers[] = { { .hold_until_ms = 900 },
		{ .hold_until_ms = 300 }, { .hold_until_ms = 600 } };

	ck_assert_uint_eq(choose(servers, 3, 0, NO_EXPLORING, 100), 1);
	/* Exploring never picks one that is held back for that alone. */
	ck_assert_uint_eq(choose(servers, 3, 0, 0, 100), 1);
	ck_assert_uint_eq(choose(servers, 3, 2, 0, 100), 2);
}
END_TEST

START_TEST(exploring_reaches_the_slow)
{
	struct server_health servers[CHOICE_MAX];
	uint32_t seen = 0;

	for (uint32_t i = 0; i < CHOICE_MAX; i++)
		servers[i] = (struct server_health){ .srtt_ms = 1 + i };
	for (uint32_t draw = 0; draw < 32 * CHOICE_MAX; draw++)
		seen |= 1u << choose(servers, CHOICE_MAX, 0, draw, 0);
	ck_assert_uint_eq(seen, (1u << CHOICE_MAX) - 1);
	/* But what was tried stays out. */
	ck_assert_uint_ne(choose(servers, 2, 1, 0, 0), 0);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("upstream_choice", &all);

	tcase_add_test(all, fastest_first);
	tcase_add_test(all, unknown_is_measured);
	tcase_add_test(all, round_trip_is_smoothed);
	tcase_add_test(all, failed_is_held_back);
	tcase_add_test(all, hold_doubles_to_a_limit);
	tcase_add_test(all, one_outage_counts_once);
	tcase_add_test(all, there_is_always_a_choice);
	tcase_add_test(all, exploring_reaches_the_slow);
	return unit_run(suite);
}
