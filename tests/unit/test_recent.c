/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "src/resolver/recent.h"

static uint64_t
put(struct recent *r, uint32_t sandbox, size_t len)
{
	static uint64_t sequence;
	struct recent_tag tag = { .sequence = ++sequence, .sandbox = sandbox };
	static char line[EVENT_LINE_MAX];

	memset(line, 'a' + (int)(sequence % 26), sizeof(line));
	recent_put(r, &tag, line, len);
	return sequence;
}

/* Walks all entries; they must be in order and have the octets they had. */
static uint32_t
walk(const struct recent *r, uint32_t sandbox)
{
	uint64_t sequence = 0;
	uint32_t hint = RECENT_NONE, entry, count = 0;

	while ((entry = recent_after(r, sequence, hint)) != RECENT_NONE) {
		const struct recent_tag *tag = &r->entries[entry].tag;
		static char line[EVENT_LINE_MAX];
		size_t len = recent_line(r, entry, line, sizeof(line));

		ck_assert_uint_gt(tag->sequence, sequence);
		ck_assert_uint_gt(len, 0);
		for (size_t i = 0; i < len; i++)
			ck_assert_int_eq(line[i],
			    'a' + (int)(tag->sequence % 26));
		sequence = tag->sequence;
		hint = entry;
		count += tag->sandbox == sandbox;
	}
	return count;
}

START_TEST(who_has_gone_is_marked)
{
	struct recent r;
	uint32_t entry, parted = 0;

	ck_assert_int_eq(recent_open(&r, 10, 3), 0);
	for (int i = 0; i < 3; i++) {
		(void)put(&r, 1, 100);
		(void)put(&r, 2, 100);
	}
	recent_part(&r, 1);
	(void)put(&r, 1, 100);
	ck_assert_uint_eq(walk(&r, 1), 4);
	for (entry = r.oldest; entry != RECENT_NONE;
	     entry = r.entries[entry].newer) {
		parted += r.entries[entry].tag.parted;
		ck_assert(!r.entries[entry].tag.parted ||
		    r.entries[entry].tag.sandbox == 1);
	}
	ck_assert_uint_eq(parted, 3);
	/* They are forgotten in their turn like all others. */
	for (int i = 0; i < 10; i++)
		(void)put(&r, 1, 100);
	ck_assert_uint_eq(walk(&r, 1), 10);
	recent_close(&r);
}
END_TEST

START_TEST(oldest_goes)
{
	struct recent r;
	uint64_t last = 0;

	ck_assert_int_eq(recent_open(&r, 10, 3), 0);
	ck_assert_uint_eq(recent_after(&r, 0, RECENT_NONE), RECENT_NONE);
	for (int i = 0; i < 25; i++)
		last = put(&r, 1, 100);
	ck_assert_uint_eq(walk(&r, 1), 10);
	ck_assert_uint_eq(recent_after(&r, last, RECENT_NONE), RECENT_NONE);
	ck_assert_uint_ne(recent_after(&r, last - 1, RECENT_NONE), RECENT_NONE);
	recent_close(&r);
}
END_TEST

START_TEST(noisy_sandbox_pushes_out_itself)
{
	struct recent r;

	ck_assert_int_eq(recent_open(&r, 5000, 3), 0);
	for (int i = 0; i < 10; i++)
		put(&r, 1, 200);
	for (int i = 0; i < 20000; i++)
		put(&r, 2, 300);
	ck_assert_uint_eq(walk(&r, 1), 10);
	ck_assert_uint_eq(walk(&r, 2), RECENT_PER_SANDBOX_MAX);
	recent_close(&r);
}
END_TEST

START_TEST(long_lines_take_more_room)
{
	struct recent r;

	ck_assert_int_eq(recent_open(&r, 64, 2), 0);
	for (int i = 0; i < 64; i++)
		put(&r, 1, 1);
	ck_assert_uint_eq(walk(&r, 1), 64);
	put(&r, 0, EVENT_LINE_MAX);
	ck_assert_uint_eq(walk(&r, 0), 1);
	for (int i = 0; i < 500; i++)
		put(&r, (uint32_t)i % 2, (size_t)(i * 37 % EVENT_LINE_MAX) + 1);
	(void)walk(&r, 0);
	recent_close(&r);
}
END_TEST

/* A reader who was overtaken goes on at what is left. */
START_TEST(hint_may_be_stale)
{
	struct recent r;
	uint64_t first;
	uint32_t hint;

	ck_assert_int_eq(recent_open(&r, 4, 2), 0);
	first = put(&r, 1, 10);
	hint = recent_after(&r, first - 1, RECENT_NONE);
	for (int i = 0; i < 9; i++)
		put(&r, 1, 10);
	hint = recent_after(&r, first, hint);
	ck_assert_uint_ne(hint, RECENT_NONE);
	ck_assert_uint_eq(r.entries[hint].tag.sequence, first + 6);
	recent_close(&r);
}
END_TEST

START_TEST(small_buffer_gets_nothing)
{
	struct recent r;
	char line[9];

	ck_assert_int_eq(recent_open(&r, 4, 2), 0);
	put(&r, 1, 10);
	ck_assert_uint_eq(recent_line(&r, r.oldest, line, sizeof(line)), 0);
	recent_close(&r);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("recent", &all);

	tcase_add_test(all, oldest_goes);
	tcase_add_test(all, who_has_gone_is_marked);
	tcase_add_test(all, noisy_sandbox_pushes_out_itself);
	tcase_add_test(all, long_lines_take_more_room);
	tcase_add_test(all, hint_may_be_stale);
	tcase_add_test(all, small_buffer_gets_nothing);
	return unit_run(suite);
}
