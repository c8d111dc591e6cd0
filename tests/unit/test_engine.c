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
	ck_assert_uint_eq(n->asks, 2);
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
	tcase_add_test_raise_signal(all,
	    an_input_before_the_effects_are_pulled_is_a_bug, SIGABRT);
	tcase_add_test_raise_signal(all, time_that_goes_back_is_a_bug, SIGABRT);
	tcase_add_test_raise_signal(all, a_recall_after_the_start_is_a_bug,
	    SIGABRT);
	return unit_run(suite);
}
