/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "lib/dns.h"
#include "tests/unit/unit.h"

#define NAMES_MAX 4

static struct schedule schedule;
static void *block;

static void
setup_of(uint32_t names_max)
{
	static const uint8_t secret[16] = { 7 };
	struct arena arena;

	arena_init(&arena, NULL, 0);
	schedule_init(&schedule, &arena, names_max, secret);
	block = calloc(1, arena.used + 1);
	ck_assert_ptr_nonnull(block);
	arena_init(&arena, block, arena.used);
	schedule_init(&schedule, &arena, names_max, secret);
}

static void
setup(void)
{
	setup_of(NAMES_MAX);
}

static void
teardown(void)
{
	free(block);
}

static struct dname
name_of(const char *text)
{
	struct dname name;

	ck_assert(dname_from_text(text, strlen(text), &name));
	return name;
}

static bool
want(const char *text, uint16_t type, uint64_t now_ms)
{
	struct dname name = name_of(text);

	return schedule_want(&schedule, &name, type, now_ms);
}

static struct schedule_item *
find(const char *text, uint16_t type)
{
	struct dname name = name_of(text);

	return schedule_find(&schedule, &name, type);
}

START_TEST(the_two_families_are_one_name)
{
	ck_assert(want("a.example", DNS_TYPE_A, 0));
	ck_assert(want("a.example", DNS_TYPE_AAAA, 0));
	ck_assert(want("a.example", DNS_TYPE_TXT, 0));
	ck_assert_uint_eq(schedule_count(&schedule), 2);
	ck_assert_ptr_eq(find("a.example", DNS_TYPE_AAAA),
	    find("a.example", DNS_TYPE_A));
	ck_assert_ptr_ne(find("a.example", DNS_TYPE_TXT),
	    find("a.example", DNS_TYPE_A));
	ck_assert_ptr_null(find("b.example", DNS_TYPE_A));
	ck_assert_ptr_null(find("a.example", DNS_TYPE_MX));
}
END_TEST

START_TEST(a_full_schedule_says_so)
{
	ck_assert(want("a.example", DNS_TYPE_A, 0));
	ck_assert(want("b.example", DNS_TYPE_A, 0));
	ck_assert(want("c.example", DNS_TYPE_A, 0));
	ck_assert(want("d.example", DNS_TYPE_A, 0));
	ck_assert(!want("e.example", DNS_TYPE_A, 0));
	ck_assert(want("a.example", DNS_TYPE_A, 0));
}
END_TEST

START_TEST(no_room_at_all_is_no_schedule)
{
	uint32_t slot;

	teardown();
	setup_of(0);
	schedule_begin(&schedule);
	ck_assert(!want("a.example", DNS_TYPE_A, 0));
	ck_assert_ptr_null(find("a.example", DNS_TYPE_A));
	ck_assert_ptr_null(schedule_unwanted(&schedule, &slot));
	ck_assert_ptr_null(schedule_take(&schedule, 1));
	ck_assert_uint_eq(schedule_next(&schedule), DEADLINE_NEVER);
	ck_assert_uint_eq(schedule_count(&schedule), 0);
	ck_assert_uint_eq(schedule_count_known(&schedule, 0), 0);
}
END_TEST

/* Turns of a name that nobody answers: four soon, then fewer. */
START_TEST(an_unknown_name_is_tried_soon_and_then_seldom)
{
	static const uint64_t turns[] = { 1000, 1900, 2800, 3700, 8700, 13700 };

	ck_assert(want("a.example", DNS_TYPE_A, 1000));
	for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
		ck_assert_uint_eq(schedule_next(&schedule), turns[i]);
		ck_assert_ptr_null(schedule_take(&schedule, turns[i] - 1));
		ck_assert_ptr_nonnull(schedule_take(&schedule, turns[i]));
	}
}
END_TEST

/* Half of the lifetime after the turn, not after the answer. */
START_TEST(turns_keep_their_own_time)
{
	struct cache_entry entry = { .failed = { false, false } };
	struct schedule_item *item;

	ck_assert(want("a.example", DNS_TYPE_A, 1000));
	item = schedule_take(&schedule, 1003);
	ck_assert_ptr_nonnull(item);
	ck_assert(!schedule_holds(item, 1003));
	schedule_put(&schedule, item, &entry, 60, 1700);
	ck_assert_uint_eq(schedule_next(&schedule), 31000);
	ck_assert(schedule_holds(item, 61699));
	ck_assert(!schedule_holds(item, 61700));
	ck_assert_uint_eq(schedule_count_known(&schedule, 61699), 1);
	ck_assert_uint_eq(schedule_count_known(&schedule, 61700), 0);
	/* Nobody answers: the second turn comes before the end. */
	ck_assert_ptr_eq(schedule_take(&schedule, 31020), item);
	ck_assert_uint_eq(schedule_next(&schedule), 61000);
	/* After a long pause there is one turn, not many. */
	ck_assert_ptr_eq(schedule_take(&schedule, 500000), item);
	ck_assert_uint_eq(schedule_next(&schedule), 530000);
}
END_TEST

START_TEST(a_part_that_failed_leaves_what_is_known)
{
	struct cache_entry entry = { .failed = { false, false } };
	struct schedule_item *item;

	ck_assert(want("a.example", DNS_TYPE_A, 0));
	item = schedule_take(&schedule, 0);
	entry.answers[1].addr_count = 3;
	schedule_put(&schedule, item, &entry, 10, 0);
	entry.failed[1] = true;
	entry.answers[1].addr_count = 0;
	entry.answers[0].addr_count = 2;
	schedule_put(&schedule, item, &entry, 10, 9999);
	ck_assert(!item->result.failed[1]);
	ck_assert_uint_eq(item->result.answers[1].addr_count, 3);
	ck_assert_uint_eq(item->result.answers[0].addr_count, 2);
	/* But not beyond its end. */
	schedule_put(&schedule, item, &entry, 10, 19999);
	ck_assert(item->result.failed[1]);
}
END_TEST

START_TEST(what_nobody_wants_any_more_goes)
{
	struct schedule_item *item;
	uint32_t slot = 99;

	ck_assert(want("a.example", DNS_TYPE_A, 0));
	ck_assert(want("b.example", DNS_TYPE_A, 0));
	ck_assert_ptr_nonnull(schedule_take(&schedule, 0));
	schedule_begin(&schedule);
	ck_assert(want("b.example", DNS_TYPE_A, 50));
	item = schedule_unwanted(&schedule, &slot);
	ck_assert_ptr_eq(item, find("a.example", DNS_TYPE_A));
	schedule_drop(&schedule, slot);
	ck_assert_ptr_null(schedule_unwanted(&schedule, &slot));
	ck_assert_ptr_null(find("a.example", DNS_TYPE_A));
	/* What stays keeps its turn. */
	ck_assert_uint_eq(schedule_next(&schedule), 0);
	ck_assert_ptr_eq(schedule_take(&schedule, 60),
	    find("b.example", DNS_TYPE_A));
	ck_assert_uint_eq(schedule_next(&schedule), 900);
}
END_TEST

START_TEST(a_name_that_is_waited_for_is_not_dropped)
{
	ck_assert(want("a.example", DNS_TYPE_A, 0));
	find("a.example", DNS_TYPE_A)->waiting.head = 1;
	schedule_drop(&schedule, 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("schedule");
	TCase *all = tcase_create("schedule");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, the_two_families_are_one_name);
	tcase_add_test(all, a_full_schedule_says_so);
	tcase_add_test(all, no_room_at_all_is_no_schedule);
	tcase_add_test(all, an_unknown_name_is_tried_soon_and_then_seldom);
	tcase_add_test(all, turns_keep_their_own_time);
	tcase_add_test(all, a_part_that_failed_leaves_what_is_known);
	tcase_add_test(all, what_nobody_wants_any_more_goes);
	tcase_add_test_raise_signal(all,
	    a_name_that_is_waited_for_is_not_dropped, SIGABRT);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
