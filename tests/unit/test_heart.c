/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When a heart beats, and what its beats add up to.
 */
#include "src/resolver/heart.h"

#include <signal.h>

#include "lib/deadlines.h"
#include "lib/require.h"
#include "tests/unit/unit.h"

static struct heart heart;
static struct event event;

static void
setup(void)
{
	ck_assert_int_eq(heart_open(&heart, 2, 1000), 0);
}

static void
teardown(void)
{
	heart_close(&heart);
}

static void
count(enum event_action action, uint32_t sandbox)
{
	event.action = action;
	event.sandbox = sandbox;
	heart_count(&heart, &event);
}

START_TEST(beats_by_the_clock)
{
	ck_assert(heart_deadline(&heart) == DEADLINE_NEVER);
	ck_assert(!heart_is_due(&heart, 50000));
	heart_start(&heart, 500);
	ck_assert_uint_eq(heart_deadline(&heart), 1500);
	ck_assert(!heart_is_due(&heart, 1499));
	ck_assert(heart_is_due(&heart, 1510));
	/* It keeps its step. */
	ck_assert_uint_eq(heart_deadline(&heart), 2500);
	ck_assert(!heart_is_due(&heart, 1510));
	/* A host that slept has one beat. */
	ck_assert(heart_is_due(&heart, 900000));
	ck_assert_uint_eq(heart_deadline(&heart), 901000);
}
END_TEST

START_TEST(a_minute_where_nothing_else_is_said)
{
	struct heart other;

	ck_assert_int_eq(heart_open(&other, 0, 0), 0);
	heart_start(&other, 1);
	ck_assert_uint_eq(heart_deadline(&other), 60001);
	heart_close(&other);
}
END_TEST

START_TEST(counts_by_sandbox_and_starts_anew)
{
	struct event_counts counts;

	count(EVENT_DNS_DENIED, 1);
	count(EVENT_DNS_DENIED, 1);
	count(EVENT_DNS_DENIED, 2);
	count(EVENT_STARTED, 0);
	counts = heart_take(&heart, 1, false, 0);
	ck_assert_uint_eq(counts.actions[EVENT_DNS_DENIED], 2);
	ck_assert_uint_eq(counts.actions[EVENT_DNS_ANSWERED], 0);
	counts = heart_take(&heart, 1, false, 0);
	ck_assert_uint_eq(counts.actions[EVENT_DNS_DENIED], 0);
	counts = heart_take(&heart, 2, false, 0);
	ck_assert_uint_eq(counts.actions[EVENT_DNS_DENIED], 1);
	counts = heart_take(&heart, 0, false, 0);
	ck_assert_uint_eq(counts.actions[EVENT_STARTED], 0);
}
END_TEST

/* The parent's numbers go on; a beat that has none leaves them to the next. */
START_TEST(packets_add_up)
{
	struct event_counts counts = heart_take(&heart, 1, true, 40);

	ck_assert(counts.has_packets);
	ck_assert_uint_eq(counts.packets_refused, 40);
	ck_assert_uint_eq(counts.packets_spoofed, 0);
	counts = heart_take(&heart, 1, false, 0);
	ck_assert(!counts.has_packets);
	counts = heart_take(&heart, 1, true, 100);
	ck_assert_uint_eq(counts.packets_refused, 60);
	counts = heart_take(&heart, 0, true, 7);
	ck_assert_uint_eq(counts.packets_spoofed, 7);
	ck_assert_uint_eq(counts.packets_refused, 0);
}
END_TEST

START_TEST(audits_are_counted)
{
	struct event_counts counts;

	event.would = WOULD_DENY;
	count(EVENT_DNS_ANSWERED, 1);
	count(EVENT_DIRECT_IP_REJECTED, 1);
	event.would = WOULD_ALLOW;
	count(EVENT_DNS_ANSWERED, 1);
	event.would = WOULD_NOTHING_ELSE;
	heart_audited(&heart, 1, 30);
	counts = heart_take(&heart, 1, true, 0);
	ck_assert_uint_eq(counts.would_deny, 2);
	ck_assert_uint_eq(counts.packets_audited, 30);
	heart_audited(&heart, 1, 35);
	counts = heart_take(&heart, 1, true, 0);
	ck_assert_uint_eq(counts.would_deny, 0);
	ck_assert_uint_eq(counts.packets_audited, 5);
}
END_TEST

START_TEST(knows_since_when)
{
	heart_start(&heart, 500);
	ck_assert_uint_eq(heart_span(&heart, 1, 1510), 1010);
	ck_assert_uint_eq(heart_span(&heart, 1, 2500), 990);
	ck_assert_uint_eq(heart_span(&heart, 2, 2500), 2000);
}
END_TEST

START_TEST(drops_are_ascribed)
{
	struct event_counts counts;

	heart_dropped(&heart, 2, 3);
	heart_dropped(&heart, 1, 1);
	ck_assert_uint_eq(heart.dropped, 4);
	counts = heart_take(&heart, 2, false, 0);
	ck_assert_uint_eq(counts.events_dropped, 3);
	counts = heart_take(&heart, 2, false, 0);
	ck_assert_uint_eq(counts.events_dropped, 0);
}
END_TEST

START_TEST(another_sandbox_of_the_number_has_no_past)
{
	struct event_counts counts;

	heart_start(&heart, 500);
	count(EVENT_DNS_DENIED, 1);
	(void)heart_take(&heart, 1, true, 40);
	count(EVENT_DNS_DENIED, 1);
	heart_anew(&heart, 1, 700);
	counts = heart_take(&heart, 1, true, 3);
	ck_assert_uint_eq(counts.actions[EVENT_DNS_DENIED], 0);
	ck_assert_uint_eq(counts.packets_refused, 3);
	ck_assert_uint_eq(heart_span(&heart, 1, 1000), 300);
}
END_TEST

START_TEST(dies_of_an_unknown_sandbox)
{
	count(EVENT_DNS_DENIED, 3);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("heart", &all);

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, beats_by_the_clock);
	tcase_add_test(all, a_minute_where_nothing_else_is_said);
	tcase_add_test(all, counts_by_sandbox_and_starts_anew);
	tcase_add_test(all, packets_add_up);
	tcase_add_test(all, audits_are_counted);
	tcase_add_test(all, knows_since_when);
	tcase_add_test(all, drops_are_ascribed);
	tcase_add_test(all, another_sandbox_of_the_number_has_no_past);
	tcase_add_test_raise_signal(all, dies_of_an_unknown_sandbox, SIGABRT);
	return unit_run(suite);
}
