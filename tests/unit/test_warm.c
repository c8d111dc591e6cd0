/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/warm.h"

#include <stdlib.h>
#include <string.h>

#include "lib/dns.h"
#include "tests/unit/unit.h"

static struct warm warm;
static void *block;

static void
setup_of(uint32_t names_max, uint32_t per_sandbox)
{
	static const uint8_t secret[16] = { 7 };
	const struct warm_limits limits = { names_max, per_sandbox, 4 };
	struct arena arena;

	arena_init(&arena, NULL, 0);
	warm_init(&warm, &arena, &limits, secret);
	block = calloc(1, arena.used + 1);
	ck_assert_ptr_nonnull(block);
	arena_init(&arena, block, arena.used);
	warm_init(&warm, &arena, &limits, secret);
}

static void
setup(void)
{
	setup_of(4, 2);
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

static void
put(uint32_t sandbox, const char *text, uint32_t ttl_s, uint64_t now_ms)
{
	struct dname name = name_of(text);
	const struct warm_question question = { .sandbox = sandbox,
		.key = sandbox * 10,
		.name = &name,
		.type = DNS_TYPE_AAAA,
		.ends_ms = now_ms + 100000 };

	warm_put(&warm, &question, ttl_s, now_ms);
}

static struct warm_item *
find(uint32_t sandbox, const char *text)
{
	struct dname name = name_of(text);

	return warm_find(&warm, sandbox, &name, DNS_TYPE_A);
}

START_TEST(it_is_refreshed_until_its_end)
{
	struct warm_item *item;

	ck_assert_uint_eq(warm_next(&warm), DEADLINE_NEVER);
	put(1, "a.example", 40, 1000);
	item = find(1, "a.example");
	ck_assert_ptr_nonnull(item);
	ck_assert_ptr_null(find(2, "a.example"));
	ck_assert_uint_eq(item->key, 10);
	ck_assert_uint_eq(warm_next(&warm), 36000);
	ck_assert_ptr_null(warm_due(&warm, 35999));
	ck_assert_ptr_eq(warm_due(&warm, 36000), item);
	/* Nobody answers: the next turn comes all the same. */
	ck_assert_uint_eq(warm_next(&warm), 71000);
	ck_assert_ptr_eq(warm_due(&warm, 71000), item);
	warm_refreshed(&warm, item, 300, 71020);
	ck_assert_uint_eq(warm_next(&warm), 101000);
	item->asked = true;
	ck_assert_ptr_eq(warm_due(&warm, 101000), item);
	warm_stay(&warm, item, 201000);
	ck_assert(!item->asked);
	ck_assert_uint_eq(warm_next(&warm), 201000);
	ck_assert_ptr_eq(warm_due(&warm, 201000), item);
	warm_drop(&warm, item);
	ck_assert_uint_eq(warm_count(&warm), 0);
	ck_assert_uint_eq(warm_next(&warm), DEADLINE_NEVER);
}
END_TEST

START_TEST(short_lifetimes_have_a_floor)
{
	put(1, "a.example", 0, 1000);
	ck_assert_uint_eq(warm_next(&warm), 1000 + 5000 - 625);
}
END_TEST

START_TEST(what_is_paid_again_begins_anew)
{
	put(1, "a.example", 40, 1000);
	find(1, "a.example")->asked = true;
	put(1, "a.example", 80, 5000);
	ck_assert_uint_eq(warm_count(&warm), 1);
	ck_assert(!find(1, "a.example")->asked);
	ck_assert_uint_eq(find(1, "a.example")->ends_ms, 105000);
}
END_TEST

/* Of one sandbox the one that was paid first goes, however it is used. */
START_TEST(the_oldest_of_a_sandbox_goes)
{
	put(1, "a.example", 40, 1000);
	put(1, "b.example", 40, 1001);
	find(1, "a.example")->asked = true;
	warm_refreshed(&warm, find(1, "a.example"), 40, 2000);
	put(1, "c.example", 40, 1002);
	ck_assert_ptr_null(find(1, "a.example"));
	ck_assert_ptr_nonnull(find(1, "b.example"));
	ck_assert_ptr_nonnull(find(1, "c.example"));
}
END_TEST

START_TEST(a_full_table_takes_nothing_from_others)
{
	put(1, "a.example", 40, 1000);
	put(1, "b.example", 40, 1000);
	put(2, "a.example", 40, 1000);
	put(2, "b.example", 40, 1000);
	put(3, "a.example", 40, 1000);
	ck_assert_ptr_null(find(3, "a.example"));
	ck_assert_uint_eq(warm_count(&warm), 4);
}
END_TEST

START_TEST(names_of_a_sandbox_that_went_are_nobodys)
{
	struct warm_item *item;
	uint32_t slot = 0;
	int count = 0;

	put(1, "a.example", 40, 1000);
	put(1, "b.example", 40, 1000);
	put(2, "a.example", 40, 1000);
	find(1, "a.example")->asked = true;
	warm_orphan(&warm, 1);
	ck_assert_ptr_null(find(1, "a.example"));
	ck_assert_ptr_null(find(1, "b.example"));
	ck_assert_ptr_nonnull(find(2, "a.example"));
	/* They go on, for whom the ledger knows. */
	ck_assert_uint_eq(warm_count(&warm), 3);
	for (; (item = warm_walk(&warm, &slot)) != NULL; slot++)
		if (item->sandbox == 0) {
			ck_assert_uint_eq(item->key, 10);
			ck_assert(!item->asked);
			ck_assert_uint_eq(item->due_ms, 36000);
			count++;
		}
	ck_assert_int_eq(count, 2);
	/* The number's next holder has its own. */
	put(1, "a.example", 40, 1000);
	ck_assert_uint_eq(warm_count(&warm), 4);
	/* What was paid before it went, and answered after. */
	put(2, "c.example", 40, 1000);
	ck_assert_ptr_null(find(2, "c.example"));
	warm_drop(&warm, find(2, "a.example"));
	put(0, "d.example", 40, 1000);
	ck_assert_uint_eq(warm_count(&warm), 4);
}
END_TEST

START_TEST(without_room_nothing_is_warm)
{
	uint32_t slot = 0;

	teardown();
	setup_of(0, 0);
	put(1, "a.example", 40, 1000);
	ck_assert_ptr_null(find(1, "a.example"));
	ck_assert_ptr_null(warm_due(&warm, 90000));
	ck_assert_ptr_null(warm_walk(&warm, &slot));
	warm_orphan(&warm, 1);
	ck_assert_uint_eq(warm_count(&warm), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("warm");
	TCase *all = tcase_create("warm");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, it_is_refreshed_until_its_end);
	tcase_add_test(all, short_lifetimes_have_a_floor);
	tcase_add_test(all, what_is_paid_again_begins_anew);
	tcase_add_test(all, the_oldest_of_a_sandbox_goes);
	tcase_add_test(all, a_full_table_takes_nothing_from_others);
	tcase_add_test(all, names_of_a_sandbox_that_went_are_nobodys);
	tcase_add_test(all, without_room_nothing_is_warm);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
