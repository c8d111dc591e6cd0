/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Repeats: what is the same, when it is told, and that nothing is lost.
 */
#include "lib/fold.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "lib/deadlines.h"
#include "lib/dns.h"
#include "lib/require.h"
#include "tests/unit/unit.h"

static const uint8_t SECRET[16] = { 3, 1, 4 };

static const struct fold_limits LIMITS = { .windows_max = 8,
	.windows_per_sandbox_max = 5,
	.sandboxes_max = 4,
	.window_ms = 10000 };

static struct fold fold;
static struct event e, first, told;
static void *block;

static void
open_fold(void)
{
	struct arena arena;

	arena_init(&arena, NULL, 0);
	fold_init(&fold, &arena, &LIMITS, SECRET);
	block = malloc(arena.used);
	ck_assert_ptr_nonnull(block);
	memset(block, 0xa5, arena.used);
	arena_init(&arena, block, arena.used);
	fold_init(&fold, &arena, &LIMITS, SECRET);
	ck_assert(!arena.exhausted);
}

static void
close_fold(void)
{
	free(block);
}

/* Events are large: these make e one, and return it. */
static struct event *
question(uint32_t sandbox, const char *name)
{
	e = (struct event){ .action = EVENT_DNS_DENIED,
		.sandbox = sandbox,
		.has_question = true,
		.type = DNS_TYPE_A,
		.denial = DENIAL_UNLISTED,
		.rcode = DNS_RCODE_NXDOMAIN };

	ck_assert(dname_from_text(name, strlen(name), &e.name));
	return &e;
}

static struct event *
packet(uint32_t sandbox, uint16_t port)
{
	e = (struct event){ .action = EVENT_DIRECT_IP_REJECTED,
		.sandbox = sandbox,
		.source = { 4, { 192, 0, 2, 11 } },
		.source_port = 40000,
		.destination = { 4, { 198, 51, 100, 20 } },
		.destination_port = port,
		.transport = PROTO_TCP,
		.reject = REJECT_UNRESOLVED };
	return &e;
}

START_TEST(repeats_are_one_line_at_the_end)
{
	(void)question(1, "a.example");
	ck_assert(fold_deadline(&fold) == DEADLINE_NEVER);
	ck_assert(fold_put(&fold, &e, 1000));
	ck_assert_uint_eq(fold_deadline(&fold), 11000);
	for (uint16_t i = 0; i < 41; i++) {
		e.source_port = i;
		ck_assert(!fold_put(&fold, &e, 1000 + i));
	}
	ck_assert(!fold_pop(&fold, 10999, &told));
	ck_assert(fold_pop(&fold, 11000, &told));
	ck_assert_uint_eq(told.count, 41);
	ck_assert_uint_eq(told.source_port, 40);
	ck_assert(dname_equal(&told.name, &e.name));
	ck_assert(!fold_pop(&fold, 11000, &told));
	ck_assert(fold_deadline(&fold) == DEADLINE_NEVER);
	/* Then it is the first again. */
	ck_assert(fold_put(&fold, &e, 11000));
}
END_TEST

START_TEST(what_came_once_is_told_once)
{
	(void)question(1, "a.example");
	ck_assert(fold_put(&fold, &e, 0));
	ck_assert(!fold_pop(&fold, 10000, &told));
	ck_assert(fold_deadline(&fold) == DEADLINE_NEVER);
	ck_assert(fold_put(&fold, &e, 10000));
}
END_TEST

START_TEST(windows_of_who_goes_end)
{
	for (uint32_t sandbox = 1; sandbox <= 2; sandbox++) {
		(void)question(sandbox, "a.example");
		ck_assert(fold_put(&fold, &e, 0));
		ck_assert(!fold_put(&fold, &e, 0));
		(void)question(sandbox, "b.example");
		ck_assert(fold_put(&fold, &e, 0));
		(void)question(sandbox, "c.example");
		ck_assert(fold_put(&fold, &e, 0));
		ck_assert(!fold_put(&fold, &e, 0));
		ck_assert(!fold_put(&fold, &e, 0));
	}
	ck_assert(fold_part(&fold, 1, &told));
	ck_assert_uint_eq(told.sandbox, 1);
	ck_assert_uint_eq(told.count, 1);
	ck_assert(fold_part(&fold, 1, &told));
	ck_assert_uint_eq(told.count, 2);
	ck_assert(!fold_part(&fold, 1, &told));
	/* It is told anew; the other one's go on. */
	(void)question(1, "b.example");
	ck_assert(fold_put(&fold, &e, 0));
	(void)question(2, "b.example");
	ck_assert(!fold_put(&fold, &e, 0));
}
END_TEST

/* Each differs from the first in one thing that makes it another. */
START_TEST(other_questions_are_no_repeats)
{
	first = *question(1, "a.example");
	ck_assert(fold_put(&fold, &first, 0));
	(void)question(2, "a.example");
	ck_assert(fold_put(&fold, &e, 0));
	(void)question(1, "b.example");
	ck_assert(fold_put(&fold, &e, 0));
	e = first;
	e.type = DNS_TYPE_AAAA;
	ck_assert(fold_put(&fold, &e, 0));
	e = first;
	e.action = EVENT_DNS_FAILED;
	ck_assert(fold_put(&fold, &e, 0));
	e = first;
	e.denial = DENIAL_DENY_RULE;
	ck_assert(fold_put(&fold, &e, 0));
	e = first;
	e.duration_ms = 7;
	e.cached = true;
	ck_assert(!fold_put(&fold, &e, 0));
}
END_TEST

START_TEST(packets_go_by_destination)
{
	first = *packet(1, 443);
	ck_assert(fold_put(&fold, &first, 0));
	(void)packet(1, 80);
	ck_assert(fold_put(&fold, &e, 0));
	e = first;
	e.transport = PROTO_UDP;
	ck_assert(fold_put(&fold, &e, 0));
	e = first;
	e.destination.bytes[3]++;
	ck_assert(fold_put(&fold, &e, 0));
	e = first;
	e.source_port++;
	e.source.bytes[3]++;
	ck_assert(!fold_put(&fold, &e, 0));
	/* The source of a spoofed one is what it is about. */
	e = first;
	e.action = EVENT_SOURCE_SPOOFED;
	e.sandbox = 0;
	ck_assert(fold_put(&fold, &e, 0));
	ck_assert(!fold_put(&fold, &e, 0));
	e.source.bytes[3]++;
	ck_assert(fold_put(&fold, &e, 0));
}
END_TEST

START_TEST(other_alerts_are_told_each_time)
{
	static const enum event_action actions[] = { EVENT_TUNNEL_SUSPECTED,
		EVENT_REBINDING_BLOCKED, EVENT_FLOW_ENDED, EVENT_PINS_LOST,
		EVENT_HEARTBEAT, EVENT_STARTED };

	for (size_t i = 0; i < ARRAY_LEN(actions) * 3; i++) {
		(void)question(1, "a.example");
		e.action = actions[i / 3];
		ck_assert(fold_put(&fold, &e, 0));
	}
	ck_assert(fold_deadline(&fold) == DEADLINE_NEVER);
}
END_TEST

/* A sandbox that fills its share leaves room to the others. */
START_TEST(without_room_all_are_told)
{
	for (uint16_t port = 1; port <= 100; port++) {
		(void)packet(1, port);
		ck_assert(fold_put(&fold, &e, 0));
	}
	for (uint16_t port = 1; port <= 100; port++) {
		(void)packet(1, port);
		ck_assert(fold_put(&fold, &e, 0) == (port > 5));
	}
	(void)packet(2, 1);
	ck_assert(fold_put(&fold, &e, 0));
	ck_assert(!fold_put(&fold, &e, 0));
	/* When the windows end, the share is free again. */
	for (int i = 0; i < 6; i++)
		ck_assert(fold_pop(&fold, 10000, &told));
	ck_assert(!fold_pop(&fold, 10000, &told));
	(void)packet(1, 50);
	ck_assert(fold_put(&fold, &e, 10000));
	ck_assert(!fold_put(&fold, &e, 10000));
}
END_TEST

START_TEST(a_full_table_tells_all)
{
	for (uint16_t i = 0; i < 8; i++) {
		(void)packet(1 + i / 4, i);
		ck_assert(fold_put(&fold, &e, 0));
	}
	(void)packet(3, 1);
	ck_assert(fold_put(&fold, &e, 0));
	ck_assert(fold_put(&fold, &e, 0));
}
END_TEST

/* At any time and in any order: the numbers add up. */
START_TEST(nothing_is_lost)
{
	uint64_t state = unit_seed(), now_ms = 0, in = 0, out = 0;

	for (int i = 0; i < 100000; i++) {
		uint64_t draw = unit_random(&state);

		(void)packet((uint32_t)(draw % 4), (uint16_t)(draw >> 8 & 7));
		e.count = draw >> 16 & 3;
		in += e.count > 0 ? e.count : 1;
		now_ms += draw >> 24 & 0x3ff;
		if (fold_put(&fold, &e, now_ms))
			out += e.count > 0 ? e.count : 1;
		while (draw >> 40 & 1 && fold_pop(&fold, now_ms, &told))
			out += told.count;
	}
	while (fold_pop(&fold, DEADLINE_NEVER, &told))
		out += told.count;
	ck_assert_uint_eq(in, out);
	ck_assert(fold_deadline(&fold) == DEADLINE_NEVER);
}
END_TEST

START_TEST(dies_of_an_unknown_sandbox)
{
	(void)packet(4, 1);
	(void)fold_put(&fold, &e, 0);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("fold", &all);

	tcase_add_checked_fixture(all, open_fold, close_fold);
	tcase_add_test(all, repeats_are_one_line_at_the_end);
	tcase_add_test(all, what_came_once_is_told_once);
	tcase_add_test(all, windows_of_who_goes_end);
	tcase_add_test(all, other_questions_are_no_repeats);
	tcase_add_test(all, packets_go_by_destination);
	tcase_add_test(all, other_alerts_are_told_each_time);
	tcase_add_test(all, without_room_all_are_told);
	tcase_add_test(all, a_full_table_tells_all);
	tcase_add_test(all, nothing_is_lost);
	tcase_add_test_raise_signal(all, dies_of_an_unknown_sandbox, SIGABRT);
	return unit_run(suite);
}
