/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What scenarios do not show of the engine: its contract with the shell. The
 * life of a query is in tests/scenarios, its invariants in tests/sim.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/dns.h"
#include "lib/require.h"
#include "tests/rig/rig.h"
#include "tests/unit/unit.h"

static const uint8_t seed[32] = "a seed for the tests of the core";
static const char rules[] =
    "policy agent\n"
    "allow www.example.com ports tcp/1 tcp/2 tcp/3 tcp/4 tcp/5 tcp/6 tcp/7 "
    "tcp/8 udp/1 udp/2 udp/3 udp/4 udp/5 udp/6 udp/7 udp/8\n"
    "sandbox box1 agent 10.200.1.2\n";

static struct engine *engine;
static struct policy *policy;
static struct effect effect;

static void
drain(void)
{
	while (engine_next_effect(engine, &effect))
		continue;
}

static void
setup(void)
{
	struct engine_limits limits = rig_limits(2);
	char error[RIG_ERROR_MAX];

	engine = rig_engine(&limits, seed);
	policy = rig_policy(rules, error);
	ck_assert_ptr_nonnull(engine);
	ck_assert_msg(policy != NULL, "%s", error);
	engine_set_policy(engine, policy, 1000);
	drain();
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
ask(uint32_t sandbox, const char *name, uint64_t now_ms)
{
	struct client client = { .sandbox = sandbox, .port = 1024 };
	uint8_t wire[512];
	size_t len = rig_query(wire, sizeof(wire), name, DNS_TYPE_A, 1, true);

	engine_query(engine, &client, wire, len, now_ms);
}

START_TEST(too_little_memory_is_told)
{
	struct engine_limits limits = rig_limits(2);
	struct engine *e = calloc(1, sizeof(*e));
	struct arena arena;
	size_t size;
	void *block;

	ck_assert_ptr_nonnull(e);
	arena_init(&arena, NULL, 0);
	ck_assert_int_eq(engine_init(e, &limits, &arena, seed), 0);
	size = arena.used;
	block = calloc(1, size);
	ck_assert_ptr_nonnull(block);
	arena_init(&arena, block, size);
	ck_assert_int_eq(engine_init(e, &limits, &arena, seed), 0);
	ck_assert_uint_eq(arena.used, size);
	arena_init(&arena, block, size - 16);
	ck_assert_int_eq(engine_init(e, &limits, &arena, seed), -ENOMEM);
	free(block);
	free(e);
}
END_TEST

/* The largest step: every address on every port, each with its record. */
START_TEST(the_largest_step_fits)
{
	char records[1024] = "";
	struct rig_response response = { .records = records };
	uint32_t pins = 0, records_seen = 0;
	uint8_t wire[2048];
	struct effect asked;
	size_t len;

	ask(1, "www.example.com", 2000);
	drain();
	engine_expire(engine, 2001);
	ck_assert(engine_next_effect(engine, &asked));
	ck_assert_int_eq(asked.kind, EFFECT_CHARGED);
	ck_assert(engine_next_effect(engine, &asked));
	ck_assert_int_eq(asked.kind, EFFECT_ASK);
	drain();
	for (uint32_t i = 1; i <= 20; i++)
		(void)snprintf(records + strlen(records),
		    sizeof(records) - strlen(records),
		    "%swww.example.com 60 A 192.0.2.%u", i == 1 ? "" : ";",
		    (unsigned)i);
	len = rig_response(wire, sizeof(wire), &asked.u.ask.ask, &response);
	ck_assert_uint_gt(len, 0);
	engine_answer(engine, asked.u.ask.lookup, asked.u.ask.part, wire, len,
	    2001);
	while (engine_next_effect(engine, &effect)) {
		pins += effect.kind == EFFECT_PIN;
		records_seen += effect.kind == EFFECT_RECORD;
	}
	ck_assert_uint_eq(pins, ANSWER_ADDRS_MAX * RULE_SERVICES_MAX);
	ck_assert_uint_eq(records_seen, pins);
	ck_assert_uint_eq(engine->counts.pins_asked, pins);
}
END_TEST

START_TEST(counts_each_question_once)
{
	const struct engine_counts *n = &engine->counts;
	struct client client = { .sandbox = 1 };
	uint8_t wire[12] = { 0, 1, 0x80 };

	ask(1, "unlisted.example", 2000);
	drain();
	ask(0, "www.example.com", 2000);
	drain();
	/* A response: nothing is said to it. */
	engine_query(engine, &client, wire, sizeof(wire), 2000);
	ck_assert(!engine_next_effect(engine, &effect));
	ask(1, "localhost", 2000);
	drain();
	ask(1, "www.example.com", 2000);
	drain();
	ck_assert_uint_eq(n->asks, 0);
	engine_expire(engine, 2001);
	drain();
	ck_assert_uint_eq(n->asks, 2);
	ck_assert_uint_eq(n->asks_late, 0);
	engine_expire(engine, 2000 + 2000);
	drain();
	ck_assert_uint_eq(n->queries, 5);
	ck_assert_uint_eq(n->denied, 2);
	ck_assert_uint_eq(n->dropped, 1);
	ck_assert_uint_eq(n->answered, 1);
	ck_assert_uint_eq(n->failed, 1);
}
END_TEST

START_TEST(has_no_deadline_at_rest)
{
	ck_assert_uint_eq(engine_deadline(engine), DEADLINE_NEVER);
	ask(1, "www.example.com", 5000);
	drain();
	ck_assert_uint_eq(engine_deadline(engine), 5001);
	engine_expire(engine, 5001);
	drain();
	ck_assert_uint_eq(engine_deadline(engine), 5000 + 1900);
	engine_expire(engine, 6899);
	ck_assert(!engine_next_effect(engine, &effect));
	engine_expire(engine, 6900);
	ck_assert(engine_next_effect(engine, &effect));
	ck_assert_int_eq(effect.kind, EFFECT_REPLY);
	drain();
	ck_assert_uint_eq(engine_deadline(engine), DEADLINE_NEVER);
}
END_TEST

START_TEST(late_and_foreign_ids_are_counted)
{
	const uint8_t wire[12] = { 0 };

	engine_answer(engine, 77, 0, wire, sizeof(wire), 2000);
	engine_answer(engine, 77, 255, wire, 0, 2000);
	engine_ask_failed(engine, 0, 0, ASK_SILENT, 2000);
	ck_assert_uint_eq(engine->counts.stale_answers, 3);
	engine_pinned(engine, 77, 0, 2000);
	engine_flows(engine, 3, 0, false, 2000);
	engine_flows(engine, UINT32_MAX, 0, false, 2000);
	ck_assert_uint_eq(engine->counts.stale_acks, 3);
	ck_assert(!engine_next_effect(engine, &effect));
}
END_TEST

START_TEST(a_grace_over_the_cap_is_cut)
{
	struct engine_limits limits = rig_limits(2);
	struct engine *e;

	limits.settings.pin_floor_ms = 30000;
	limits.settings.pin_cap_ms = 30000;
	limits.settings.pin_grace_ms = 60000;
	e = rig_engine(&limits, seed);
	ck_assert_ptr_nonnull(e);
	ck_assert_uint_eq(e->limits.settings.pin_grace_ms, 28000);
	rig_engine_free(e);
}
END_TEST

START_TEST(explains_without_touching_anything)
{
	struct verdict verdict;
	struct dname name;

	ck_assert(dname_from_text("www.example.com", 15, &name));
	verdict = engine_explain(policy, 1, &name, DNS_TYPE_A);
	ck_assert_int_eq(verdict.denial, DENIAL_NONE);
	ck_assert_uint_eq(verdict.service_count, 16);
	verdict = engine_explain(policy, 1, &name, DNS_TYPE_AAAA);
	ck_assert_int_eq(verdict.denial, DENIAL_FAMILY);
	verdict = engine_explain(policy, 9, &name, DNS_TYPE_A);
	ck_assert_int_eq(verdict.denial, DENIAL_UNKNOWN_SOURCE);
	ck_assert_uint_eq(engine->counts.queries, 0);
}
END_TEST

/* www.example.com is 192.0.2.1, held by the kernel from 2000 on. */
static void
pin_www(void)
{
	struct rig_response response = { .records =
					     "www.example.com 60 A 192.0.2.1" };
	uint64_t ops[RULE_SERVICES_MAX];
	uint8_t wire[512];
	struct effect asked;
	size_t len, count = 0;

	ask(1, "www.example.com", 1999);
	drain();
	engine_expire(engine, 2000);
	ck_assert(engine_next_effect(engine, &asked));
	ck_assert_int_eq(asked.kind, EFFECT_CHARGED);
	ck_assert(engine_next_effect(engine, &asked));
	ck_assert_int_eq(asked.kind, EFFECT_ASK);
	drain();
	len = rig_response(wire, sizeof(wire), &asked.u.ask.ask, &response);
	engine_answer(engine, asked.u.ask.lookup, asked.u.ask.part, wire, len,
	    2000);
	while (engine_next_effect(engine, &effect))
		if (effect.kind == EFFECT_PIN)
			ops[count++] = effect.u.pin.op;
	ck_assert_uint_eq(count, RULE_SERVICES_MAX);
	for (size_t i = 0; i < count; i++) {
		engine_pinned(engine, ops[i], 0, 2000);
		drain();
	}
}

/* The event of a rejected packet to 192.0.2.LAST at 10.200.1.FROM. */
static const struct event *
reject(enum rejected_kind kind, uint8_t from, uint8_t last, uint16_t port,
    uint64_t now_ms)
{
	struct rejected r = { .kind = kind,
		.ifindex = 7,
		.packet = { { 4, { 10, 200, 1, from } },
		    { 4, { 192, 0, 2, last } }, PROTO_TCP, 40000, port } };

	engine_rejected(engine, &r, now_ms);
	ck_assert(engine_next_effect(engine, &effect));
	ck_assert_int_eq(effect.kind, EFFECT_EVENT);
	return &effect.u.event;
}

/* What a question comes to: how it is denied, or that it is not. */
static enum denial
outcome(const char *name, uint16_t type, uint64_t now_ms)
{
	struct client client = { .sandbox = 1, .port = 1024 };
	enum denial denial = DENIAL_NONE;
	uint8_t wire[512];
	size_t len = rig_query(wire, sizeof(wire), name, type, 1, true);

	engine_query(engine, &client, wire, len, now_ms);
	while (engine_next_effect(engine, &effect))
		if (effect.kind == EFFECT_EVENT &&
		    (effect.u.event.action == EVENT_DNS_DENIED ||
			effect.u.event.action == EVENT_DNS_FAILED))
			denial = effect.u.event.denial;
	return denial;
}

/* At most five labels of a few, so that many names meet a rule. */
static void
some_name(uint64_t *state, char text[64])
{
	static const char *const labels[] = { "a", "b", "x-y", "a=b", "deny",
		"www", "example", "com", "localhost", "local" };
	uint32_t count = 1 + unit_random(state) % 4;

	text[0] = '\0';
	for (uint32_t i = 0; i < count; i++)
		(void)snprintf(text + strlen(text), 64 - strlen(text), "%s.",
		    labels[unit_random(state) % ARRAY_LEN(labels)]);
	if (unit_random(state) % 2 == 0)
		(void)snprintf(text + strlen(text), 64 - strlen(text),
		    "example.com.");
}

START_TEST(explains_what_it_does)
{
	static const uint16_t types[] = { DNS_TYPE_A, DNS_TYPE_AAAA,
		DNS_TYPE_TXT, DNS_TYPE_HTTPS };
	uint64_t state = unit_seed(), now_ms = 2000;
	char error[RIG_ERROR_MAX], text[64];
	struct policy *old = policy;
	uint32_t allowed = 0;

	policy = rig_policy("policy agent\n"
			    "allow www.example.com types A TXT\n"
			    "allow *.a.example.com\n"
			    "allow **.b.example.com\n"
			    "allow b.com\n"
			    "deny deny.b.example.com\n"
			    "deny *.deny.com\n"
			    "sandbox box1 agent 10.200.1.2\n",
	    error);
	ck_assert_msg(policy != NULL, "%s", error);
	engine_set_policy(engine, policy, now_ms);
	rig_policy_free(old);
	drain();
	for (int i = 0; i < 5000; i++) {
		uint16_t type = types[unit_random(&state) % ARRAY_LEN(types)];
		struct verdict verdict;
		enum denial denial;
		struct dname name;

		some_name(&state, text);
		UNIT_CHECK(dname_from_text(text, strlen(text), &name));
		verdict = engine_explain(policy, 1, &name, type);
		denial = outcome(text, type, now_ms);
		if (denial != verdict.denial)
			ck_abort_msg("%s type %u: %s, and explained as %s",
			    text, (unsigned)type, denial_name(denial),
			    denial_name(verdict.denial));
		allowed += denial == DENIAL_NONE;
		/* Long enough that nobody waits for it any more. */
		now_ms += 5000;
		engine_expire(engine, now_ms);
		drain();
	}
	ck_assert_uint_gt(allowed, 100);
	ck_assert_uint_lt(allowed, 4000);
}
END_TEST

START_TEST(says_why_a_packet_was_rejected)
{
	static const struct {
		enum rejected_kind kind;
		uint8_t from, last;
		uint16_t port;
		uint64_t now_ms;
		enum event_reject reject;
	} cases[] = {
		{ REJECTED_REFUSED, 2, 9, 1, 2100, REJECT_UNRESOLVED },
		{ REJECTED_REFUSED, 2, 1, 9, 2100, REJECT_OTHER_SERVICE },
		{ REJECTED_REFUSED, 2, 1, 0, 2100, REJECT_OTHER_SERVICE },
		{ REJECTED_REFUSED, 2, 1, 1, 2100, REJECT_NO_FLOW },
		{ REJECTED_UNSOUND, 2, 1, 1, 2100, REJECT_UNSOUND },
		{ REJECTED_REFUSED, 3, 1, 1, 2100, REJECT_UNRESOLVED },
		{ REJECTED_REFUSED, 2, 1, 1, 8000000, REJECT_LAPSED },
		{ REJECTED_REFUSED, 2, 1, 9, 8000000, REJECT_UNRESOLVED },
	};

	pin_www();
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct event *e = reject(cases[i].kind, cases[i].from,
		    cases[i].last, cases[i].port, cases[i].now_ms);

		ck_assert_int_eq(e->action, EVENT_DIRECT_IP_REJECTED);
		ck_assert_int_eq(e->reject, cases[i].reject);
		ck_assert_uint_eq(e->sandbox, cases[i].from == 2 ? 1 : 0);
		ck_assert_uint_eq(e->destination.bytes[3], cases[i].last);
		ck_assert_uint_eq(e->destination_port, cases[i].port);
		ck_assert_uint_eq(e->transport, PROTO_TCP);
		ck_assert_uint_eq(e->ifindex, 7);
		ck_assert(!e->has_question);
		drain();
	}
	ck_assert_uint_eq(engine->counts.rejects, ARRAY_LEN(cases));
}
END_TEST

START_TEST(ascribes_no_spoofed_packet)
{
	const struct event *e = reject(REJECTED_SPOOFED, 2, 9, 1, 2000);

	ck_assert_int_eq(e->action, EVENT_SOURCE_SPOOFED);
	ck_assert_int_eq(e->reject, REJECT_SPOOFED);
	ck_assert_uint_eq(e->sandbox, 0);
	ck_assert_uint_eq(e->source.bytes[3], 2);
	ck_assert(!engine_next_effect(engine, &effect));
	ck_assert_uint_eq(engine->counts.spoofed_packets, 1);
}
END_TEST

START_TEST(names_the_flow_that_ended)
{
	struct ended_flow flow = { .source = { 4, { 10, 200, 1, 2 } },
		.destination = { 4, { 192, 0, 2, 1 } },
		.source_port = 40000,
		.service = { PROTO_TCP, 1 },
		.passed = { true, 100, 2, 3000, 4, true },
		.duration_ms = 1500 };
	struct dname www;

	pin_www();
	ck_assert(dname_from_text("www.example.com", 15, &www));
	/* Long after the pin is over, too. */
	engine_flow_ended(engine, &flow, 8000000);
	ck_assert(engine_next_effect(engine, &effect));
	ck_assert_int_eq(effect.u.event.action, EVENT_FLOW_ENDED);
	ck_assert_uint_eq(effect.u.event.sandbox, 1);
	ck_assert_uint_eq(effect.u.event.name_count, 1);
	ck_assert(dname_equal(&effect.u.event.names[0], &www));
	ck_assert_uint_eq(effect.u.event.destination_port, 1);
	ck_assert_uint_eq(effect.u.event.flow.octets_to, 3000);
	ck_assert_uint_eq(effect.u.event.duration_ms, 1500);
	drain();
	/* Of nobody, and to where nothing was opened. */
	flow.source.bytes[3] = 3;
	engine_flow_ended(engine, &flow, 8000000);
	ck_assert(!engine_next_effect(engine, &effect));
	flow.source.bytes[3] = 2;
	flow.service.port = 9;
	engine_flow_ended(engine, &flow, 8000000);
	ck_assert(!engine_next_effect(engine, &effect));
	ck_assert_uint_eq(engine->counts.flows_ended, 1);
}
END_TEST

START_TEST(an_input_before_the_effects_are_pulled_is_a_bug)
{
	ask(1, "unlisted.example", 2000);
	ask(1, "unlisted.example", 2000);
}
END_TEST

START_TEST(time_that_goes_back_is_a_bug)
{
	engine_expire(engine, 2000);
	engine_expire(engine, 1999);
}
END_TEST

START_TEST(a_recall_after_the_start_is_a_bug)
{
	struct pin_record record;

	memset(&record, 0, sizeof(record));
	engine_recall(engine, &record, 2000);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("engine", &all);

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, too_little_memory_is_told);
	tcase_add_test(all, the_largest_step_fits);
	tcase_add_test(all, counts_each_question_once);
	tcase_add_test(all, has_no_deadline_at_rest);
	tcase_add_test(all, late_and_foreign_ids_are_counted);
	tcase_add_test(all, a_grace_over_the_cap_is_cut);
	tcase_add_test(all, explains_without_touching_anything);
	tcase_add_test(all, explains_what_it_does);
	tcase_add_test(all, says_why_a_packet_was_rejected);
	tcase_add_test(all, ascribes_no_spoofed_packet);
	tcase_add_test(all, names_the_flow_that_ended);
	tcase_add_test_raise_signal(all,
	    an_input_before_the_effects_are_pulled_is_a_bug, SIGABRT);
	tcase_add_test_raise_signal(all, time_that_goes_back_is_a_bug, SIGABRT);
	tcase_add_test_raise_signal(all, a_recall_after_the_start_is_a_bug,
	    SIGABRT);
	unit_covers("A13 M143");
	return unit_run(suite);
}
