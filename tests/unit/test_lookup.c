/* SPDX-License-Identifier: BSD-2-Clause */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "lib/lookup.h"
#include "lib/require.h"
#include "tests/unit/unit.h"

#define LOOKUPS_MAX     4
#define PER_SANDBOX_MAX 3
#define OWN_MAX         2
#define SANDBOXES_MAX   3

/* Short names for the tables below. */
enum {
	ASKED = -1, /* nothing yet */
	FAILED = -2,
	OK = ANSWER_OK,
	NO_DATA = ANSWER_NO_DATA,
	NO_NAME = ANSWER_NO_NAME,
	PROTECTED = ANSWER_PROTECTED
};

static struct lookups lookups;
static void *block;

static void
setup(void)
{
	static const uint8_t secret[16] = { 1 };
	const struct lookup_limits limits = { LOOKUPS_MAX, PER_SANDBOX_MAX,
		OWN_MAX, SANDBOXES_MAX };
	struct arena arena;

	arena_init(&arena, NULL, 0);
	lookups_init(&lookups, &arena, &limits, secret);
	block = calloc(1, arena.used);
	ck_assert_ptr_nonnull(block);
	arena_init(&arena, block, arena.used);
	lookups_init(&lookups, &arena, &limits, secret);
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

/* 0 when there is no room. */
static lookup_id
open(uint32_t sandbox, const char *text, uint16_t type)
{
	struct dname name = name_of(text);
	lookup_id id = 0;

	if (lookup_open(&lookups, sandbox, &name, type, 1, &id) == NULL)
		return 0;
	return id;
}

static lookup_id
find(uint32_t sandbox, const char *text, uint16_t type)
{
	struct dname name = name_of(text);
	lookup_id id;

	if (lookup_find(&lookups, sandbox, &name, type, &id) == NULL)
		return 0;
	return id;
}

START_TEST(is_found_by_sandbox_name_and_group)
{
	lookup_id id = open(1, "a.example", DNS_TYPE_AAAA);

	ck_assert_uint_ne(id, 0);
	ck_assert_uint_eq(find(1, "A.Example.", DNS_TYPE_A), id);
	ck_assert_uint_eq(find(1, "a.example", DNS_TYPE_ANY), id);
	ck_assert_uint_eq(find(1, "a.example", DNS_TYPE_TXT), 0);
	ck_assert_uint_eq(find(2, "a.example", DNS_TYPE_A), 0);
	ck_assert_uint_eq(find(1, "b.example", DNS_TYPE_A), 0);
	lookup_close(&lookups, id);
	ck_assert_uint_eq(find(1, "a.example", DNS_TYPE_A), 0);
	ck_assert_ptr_null(lookup_at(&lookups, id));
}
END_TEST

START_TEST(addresses_are_a_pair)
{
	const struct lookup *lookup =
	    lookup_at(&lookups, open(1, "a.example", DNS_TYPE_ANY));

	ck_assert_uint_eq(lookup->part_count, 2);
	ck_assert_uint_eq(lookup->parts[0].type, DNS_TYPE_A);
	ck_assert_uint_eq(lookup->parts[1].type, DNS_TYPE_AAAA);
	lookup = lookup_at(&lookups, open(1, "a.example", DNS_TYPE_TXT));
	ck_assert_uint_eq(lookup->part_count, 1);
	ck_assert_uint_eq(lookup->parts[0].type, DNS_TYPE_TXT);
	ck_assert(lookup->result.failed[0] && lookup->result.failed[1]);
}
END_TEST

START_TEST(sandboxes_have_a_share)
{
	ck_assert_uint_ne(open(1, "a.example", DNS_TYPE_A), 0);
	ck_assert_uint_ne(open(1, "b.example", DNS_TYPE_A), 0);
	ck_assert_uint_ne(open(1, "c.example", DNS_TYPE_A), 0);
	ck_assert_uint_eq(open(1, "d.example", DNS_TYPE_A), 0);
	ck_assert_uint_ne(open(2, "a.example", DNS_TYPE_A), 0);
	ck_assert_uint_eq(open(2, "b.example", DNS_TYPE_A), 0);
	lookup_close(&lookups, find(1, "b.example", DNS_TYPE_A));
	ck_assert_uint_ne(open(1, "d.example", DNS_TYPE_A), 0);
}
END_TEST

START_TEST(deadlines_leave_it_open)
{
	lookup_id a = open(1, "a.example", DNS_TYPE_A), id;
	lookup_id b = open(1, "b.example", DNS_TYPE_A);

	lookup_set_deadline(&lookups, a, 20);
	lookup_set_deadline(&lookups, b, 10);
	ck_assert_ptr_null(lookup_pop_due(&lookups, 9, &id));
	ck_assert_ptr_nonnull(lookup_pop_due(&lookups, 30, &id));
	ck_assert_uint_eq(id, b);
	ck_assert_ptr_nonnull(lookup_at(&lookups, b));
	lookup_close(&lookups, a);
	ck_assert_ptr_null(lookup_pop_due(&lookups, 30, &id));
}
END_TEST

static void
set_part(struct lookup *lookup, uint8_t part, int state, uint32_t ttl_s)
{
	if (state == ASKED)
		return;
	lookup->parts[part].state =
	    state == FAILED ? LOOKUP_FAILED : LOOKUP_ANSWERED;
	lookup->result.failed[part] = state == FAILED;
	if (state == FAILED)
		return;
	lookup->result.answers[part].outcome = (enum answer_outcome)state;
	lookup->result.answers[part].ttl_s = ttl_s;
}

static const struct {
	int four, six;
	bool a, aaaa, any; /* decided */
} decisions[] = {
	{ ASKED, ASKED, false, false, false },
	{ OK, ASKED, true, false, false },
	{ NO_DATA, ASKED, true, false, false },
	{ PROTECTED, ASKED, true, false, false },
	{ NO_NAME, ASKED, false, false, false },
	{ FAILED, ASKED, false, false, false },
	{ ASKED, OK, false, true, false },
	{ ASKED, NO_NAME, false, false, false },
	{ FAILED, NO_NAME, true, true, true },
	{ OK, OK, true, true, true },
};

START_TEST(decides)
{
	const int i = _i;
	struct lookup *lookup =
	    lookup_at(&lookups, open(1, "a.example", DNS_TYPE_A));

	set_part(lookup, 0, decisions[i].four, 60);
	set_part(lookup, 1, decisions[i].six, 60);
	ck_assert_int_eq(lookup_decides(lookup, DNS_TYPE_A), decisions[i].a);
	ck_assert_int_eq(lookup_decides(lookup, DNS_TYPE_AAAA),
	    decisions[i].aaaa);
	ck_assert_int_eq(lookup_decides(lookup, DNS_TYPE_ANY),
	    decisions[i].any);
	ck_assert_int_eq(lookup_is_done(lookup), decisions[i].any);
}
END_TEST

static const struct {
	int own, other;
	bool lists_below;
	enum denial expected;
} judgements[] = {
	{ OK, OK, false, DENIAL_NONE },
	{ OK, FAILED, false, DENIAL_NONE },
	{ NO_DATA, OK, false, DENIAL_NO_DATA },
	{ NO_NAME, NO_NAME, false, DENIAL_NO_NAME },
	{ NO_NAME, NO_NAME, true, DENIAL_NO_NAME_PARENT },
	{ NO_NAME, FAILED, false, DENIAL_NO_NAME },
	{ NO_NAME, OK, false, DENIAL_NO_DATA },
	{ NO_NAME, NO_DATA, true, DENIAL_NO_DATA },
	{ PROTECTED, OK, false, DENIAL_PROTECTED },
	{ FAILED, OK, false, DENIAL_UPSTREAM_OTHER },
	{ FAILED, NO_DATA, false, DENIAL_UPSTREAM_SILENT },
	{ FAILED, FAILED, false, DENIAL_UPSTREAM_SILENT },
};

START_TEST(judges_both_halves)
{
	const int i = _i;
	struct lookup *lookup =
	    lookup_at(&lookups, open(1, "a.example", DNS_TYPE_A));
	struct verdict verdict = { .lists_below = judgements[i].lists_below };

	/* The same whichever family is asked for. */
	for (uint8_t own = 0; own < 2; own++) {
		set_part(lookup, own, judgements[i].own, 60);
		set_part(lookup, 1 - own, judgements[i].other, 60);
		ck_assert_int_eq(lookup_judge(&lookup->result, own, &verdict,
				     DENIAL_UPSTREAM_SILENT),
		    judgements[i].expected);
	}
}
END_TEST

static const struct {
	int four, six;
	uint32_t ttl4_s, ttl6_s, expected_s;
} lifetimes[] = {
	{ OK, OK, 60, 40, 40 },
	{ OK, NO_DATA, 60, 0, 60 },
	{ OK, OK, 1, 100, 5 }, /* floor */
	{ OK, OK, 0, 0, 5 },
	{ OK, OK, 4000, 9000, 300 }, /* cap */
	{ NO_DATA, NO_NAME, 1000, 1000, 7 },
	{ PROTECTED, NO_DATA, 1000, 1000, 7 },
	{ OK, FAILED, 60, 0, 7 },
	{ FAILED, OK, 0, 60, 7 },
};

START_TEST(lives_as_long_as_what_exists)
{
	const int i = _i;
	struct lookup *lookup =
	    lookup_at(&lookups, open(1, "a.example", DNS_TYPE_A));

	set_part(lookup, 0, lifetimes[i].four, lifetimes[i].ttl4_s);
	set_part(lookup, 1, lifetimes[i].six, lifetimes[i].ttl6_s);
	ck_assert_uint_eq(lookup_ttl(lookup, 5, 300, 7),
	    lifetimes[i].expected_s);
}
END_TEST

static const struct {
	uint16_t type;
	bool has4, has6;
	int four, six;
	uint8_t expected;
} parts[] = {
	{ DNS_TYPE_A, true, true, OK, OK, 0 },
	{ DNS_TYPE_AAAA, true, true, OK, OK, 1 },
	{ DNS_TYPE_TXT, true, true, OK, OK, 0 },
	{ DNS_TYPE_ANY, true, true, OK, OK, 0 },
	{ DNS_TYPE_ANY, true, true, NO_DATA, OK, 1 },
	{ DNS_TYPE_ANY, false, true, OK, OK, 1 },
	{ DNS_TYPE_ANY, true, false, NO_DATA, OK, 0 },
	{ DNS_TYPE_ANY, true, true, NO_DATA, FAILED, 0 },
};

START_TEST(finds_the_part)
{
	const int i = _i;
	struct lookup *lookup =
	    lookup_at(&lookups, open(1, "a.example", DNS_TYPE_A));
	struct verdict verdict = { .has4 = parts[i].has4,
		.has6 = parts[i].has6 };

	set_part(lookup, 0, parts[i].four, 60);
	set_part(lookup, 1, parts[i].six, 60);
	ck_assert_uint_eq(lookup_part_of(&lookup->result, parts[i].type,
			      &verdict),
	    parts[i].expected);
}
END_TEST

START_TEST(opening_twice_is_a_bug)
{
	(void)open(1, "a.example", DNS_TYPE_A);
	(void)open(1, "a.example", DNS_TYPE_AAAA);
}
END_TEST

START_TEST(closing_while_somebody_waits_is_a_bug)
{
	lookup_id id = open(1, "a.example", DNS_TYPE_A);

	lookup_at(&lookups, id)->waiting.head = 1;
	lookup_close(&lookups, id);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("lookup", &all);

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, is_found_by_sandbox_name_and_group);
	tcase_add_test(all, addresses_are_a_pair);
	tcase_add_test(all, sandboxes_have_a_share);
	tcase_add_test(all, deadlines_leave_it_open);
	tcase_add_loop_test(all, decides, 0, (int)ARRAY_LEN(decisions));
	tcase_add_loop_test(all, judges_both_halves, 0,
	    (int)ARRAY_LEN(judgements));
	tcase_add_loop_test(all, lives_as_long_as_what_exists, 0,
	    (int)ARRAY_LEN(lifetimes));
	tcase_add_loop_test(all, finds_the_part, 0, (int)ARRAY_LEN(parts));
	tcase_add_test_raise_signal(all, opening_twice_is_a_bug, SIGABRT);
	tcase_add_test_raise_signal(all, closing_while_somebody_waits_is_a_bug,
	    SIGABRT);
	return unit_run(suite);
}
