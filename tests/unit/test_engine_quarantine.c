/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "lib/dns.h"
#include "lib/require.h"
#include "tests/rig/rig.h"
#include "tests/unit/unit.h"

static const uint8_t seed[32] = "a seed for the tests of the core";
static const char rules[] =
    "policy agent quarantine_on tunnel-suspected direct-ip-rejected "
    "upload-exceeded\n"
    "allow www.example.com\n"
    "policy calm quarantine_on rebinding-blocked\n"
    "allow www.example.com\n"
    "sandbox box1 agent 10.200.1.2\n"
    "sandbox box2 calm 10.200.2.2\n"
    "sandbox box3 agent 10.200.3.2\n";

static struct engine *engine;
static struct policy *policy;
static struct effect effect;

/* What came, by kind. */
static struct seen {
	uint32_t quarantines, releases, events_on, events_off;
	struct effect last; /* QUARANTINE or RELEASE */
	uint8_t rcode; /* of the last reply */
} seen;

static void
drain(void)
{
	memset(&seen, 0, sizeof(seen));
	while (engine_next_effect(engine, &effect)) {
		if (effect.kind == EFFECT_QUARANTINE)
			seen.quarantines++;
		if (effect.kind == EFFECT_RELEASE)
			seen.releases++;
		if (effect.kind == EFFECT_QUARANTINE ||
		    effect.kind == EFFECT_RELEASE)
			seen.last = effect;
		if (effect.kind == EFFECT_REPLY)
			seen.rcode = effect.u.reply.message[3] & 15;
		if (effect.kind != EFFECT_EVENT)
			continue;
		seen.events_on +=
		    effect.u.event.action == EVENT_SANDBOX_QUARANTINED;
		seen.events_off +=
		    effect.u.event.action == EVENT_SANDBOX_RELEASED;
	}
}

static void
setup(void)
{
	struct engine_limits limits = rig_limits(4);
	char error[RIG_ERROR_MAX];

	engine = rig_engine(&limits, seed);
	policy = rig_policy(rules, error);
	ck_assert_ptr_nonnull(engine);
	ck_assert_msg(policy != NULL, "%s", error);
	engine_set_policy(engine, policy, 1000);
	drain();
}

static void
settle(void)
{
	engine_recalled(engine, 1000);
	drain();
	engine_settled(engine, 0, 1000);
	drain();
}

static void
teardown(void)
{
	rig_engine_free(engine);
	rig_policy_free(policy);
}

static void
reject(uint8_t box, enum rejected_kind kind)
{
	struct rejected r = { .kind = kind,
		.packet = { .source = { 4, { 10, 200, box, 2 } },
		    .destination = { 4, { 192, 0, 2, 9 } },
		    .protocol = PROTO_TCP,
		    .destination_port = 22 } };

	engine_rejected(engine, &r, 2000);
	drain();
}

static void
ask(uint32_t sandbox, const char *name, uint16_t type)
{
	struct client client = { .sandbox = sandbox, .port = 1024 };
	uint8_t wire[512];
	size_t len = rig_query(wire, sizeof(wire), name, type, 1, true);

	engine_query(engine, &client, wire, len, 2000);
	drain();
}

START_TEST(is_done_once_and_undone_once)
{
	settle();
	engine_quarantine(engine, 1, false, 1000);
	drain();
	ck_assert(engine_is_quarantined(engine, 1));
	ck_assert(!engine_is_quarantined(engine, 2));
	ck_assert_uint_eq(seen.quarantines, 1);
	ck_assert_uint_eq(seen.events_on, 1);
	ck_assert_int_eq(seen.last.u.quarantine.by, QUARANTINE_BY_COMMAND);
	ck_assert_uint_eq(seen.last.u.quarantine.sandbox, 1);
	engine_quarantine(engine, 1, false, 1000);
	drain();
	ck_assert_uint_eq(seen.quarantines + seen.events_on, 0);
	engine_release(engine, 1, 1000);
	drain();
	ck_assert_uint_eq(seen.releases, 1);
	ck_assert_uint_eq(seen.events_off, 1);
	engine_release(engine, 1, 1000);
	drain();
	ck_assert_uint_eq(seen.releases + seen.events_off, 0);
	ck_assert(!engine_is_quarantined(engine, 1));
	ck_assert(!engine_is_quarantined(engine, UINT32_MAX));
}
END_TEST

START_TEST(a_record_is_not_told)
{
	engine_quarantine(engine, 2, true, 1000);
	drain();
	ck_assert_uint_eq(seen.quarantines, 1);
	ck_assert_uint_eq(seen.events_on, 0);
	ck_assert_int_eq(seen.last.u.quarantine.by, QUARANTINE_BY_RECORD);
	/* Before the start is settled already. */
	ask(2, "www.example.com", DNS_TYPE_A);
	ck_assert_uint_eq(seen.rcode, DNS_RCODE_NXDOMAIN);
	ask(1, "www.example.com", DNS_TYPE_A);
	ck_assert_uint_eq(seen.rcode, DNS_RCODE_SERVFAIL);
}
END_TEST

START_TEST(alerts_of_the_policy_do_it)
{
	settle();
	reject(1, REJECTED_REFUSED);
	ck_assert_uint_eq(seen.quarantines, 1);
	ck_assert_int_eq(seen.last.u.quarantine.by, QUARANTINE_BY_ALERT);
	ck_assert_int_eq(seen.last.u.quarantine.alert,
	    EVENT_DIRECT_IP_REJECTED);
	/* Those that come after are told, and change nothing. */
	reject(1, REJECTED_REFUSED);
	ck_assert_uint_eq(seen.quarantines, 0);
	/* Another policy's, and what nobody can be blamed for. */
	reject(2, REJECTED_REFUSED);
	reject(3, REJECTED_SPOOFED);
	ck_assert(!engine_is_quarantined(engine, 2));
	ck_assert(!engine_is_quarantined(engine, 3));
	/* The question that raises it is denied. */
	ask(3, "www.example.com", DNS_TYPE_NULL);
	ck_assert_uint_eq(seen.rcode, DNS_RCODE_NXDOMAIN);
	ck_assert(engine_is_quarantined(engine, 3));
	ck_assert_uint_eq(seen.quarantines, 1);
}
END_TEST

static void
upload(uint32_t sandbox, bool exceeded, bool has_rule)
{
	struct uploaded u = { .sandbox = sandbox,
		.exceeded = exceeded,
		.sum = !has_rule,
		.has_rule = has_rule,
		.kind = RULE_CHILD,
		.used = exceeded ? 1000 : 500,
		.limit = 1000 };

	engine_uploaded(engine, &u, 1000);
}

START_TEST(a_quota_that_is_spent_is_told_and_may_do_it)
{
	settle();
	upload(1, false, true);
	ck_assert(engine_next_effect(engine, &effect));
	ck_assert_int_eq(effect.kind, EFFECT_EVENT);
	ck_assert_int_eq(effect.u.event.action, EVENT_UPLOAD_NOTICE);
	ck_assert(effect.u.event.has_rule);
	ck_assert_int_eq(effect.u.event.rule_kind, RULE_CHILD);
	ck_assert_uint_eq(effect.u.event.upload.used, 500);
	ck_assert_uint_eq(effect.u.event.upload.limit, 1000);
	ck_assert(!engine_next_effect(engine, &effect));
	upload(2, true, false);
	ck_assert(engine_next_effect(engine, &effect));
	ck_assert_int_eq(effect.u.event.action, EVENT_UPLOAD_EXCEEDED);
	ck_assert(!effect.u.event.has_rule);
	ck_assert_str_eq(effect.u.event.text,
	    "of all that the sandbox may send in a day");
	ck_assert(!engine_next_effect(engine, &effect));
	ck_assert(!engine_is_quarantined(engine, 2));
	/* A policy that says so, and a number that is nobody's. */
	upload(1, true, true);
	drain();
	ck_assert(engine_is_quarantined(engine, 1));
	ck_assert_int_eq(seen.last.u.quarantine.alert, EVENT_UPLOAD_EXCEEDED);
	upload(99, true, true);
	ck_assert(!engine_next_effect(engine, &effect));
}
END_TEST

START_TEST(goes_with_its_sandbox)
{
	settle();
	engine_quarantine(engine, 3, false, 1000);
	drain();
	engine_detach(engine, 3, 1000);
	drain();
	ck_assert(!engine_is_quarantined(engine, 3));
	ck_assert_uint_eq(seen.releases, 0);
	engine_quarantine(engine, 2, false, 1000);
	drain();
	engine_set_policy(engine, policy, 1000);
	drain();
	ck_assert(engine_is_quarantined(engine, 2));
	engine_quarantine_forget(engine, 2);
	ck_assert(!engine_is_quarantined(engine, 2));
}
END_TEST

START_TEST(nobody_is_a_bug)
{
	engine_quarantine(engine, 0, false, 1000);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("engine_quarantine", &all);

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, is_done_once_and_undone_once);
	tcase_add_test(all, a_record_is_not_told);
	tcase_add_test(all, alerts_of_the_policy_do_it);
	tcase_add_test(all, a_quota_that_is_spent_is_told_and_may_do_it);
	tcase_add_test(all, goes_with_its_sandbox);
	tcase_add_test_raise_signal(all, nobody_is_a_bug, SIGABRT);
	return unit_run(suite);
}
