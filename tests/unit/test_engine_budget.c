/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is said of budgets, before and after: prices that are quoted are those
 * that are charged, and nothing that happens to a sandbox gives it a budget
 * anew.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/dns.h"
#include "lib/require.h"
#include "tests/rig/rig.h"
#include "tests/unit/unit.h"

#define BITS(n) ((uint32_t)(n)*BUDGET_BIT)

static const uint8_t seed[32] = "a seed for the budgets";
static const char rules[] = "policy agent sum=9000\n"
			    "allow *.wild.example types A AAAA TXT budget 700\n"
			    "allow **.deep.example budget 8192\n"
			    "allow fixed.example addresses 198.51.100.7\n"
			    "allow exact.example\n"
			    "policy other scheduled\n"
			    "allow clock.example\n"
			    "allow *.wild.example budget 300\n"
			    "sandbox box1 agent 10.200.1.2\n"
			    "sandbox box2 other 10.200.1.3\n";

static struct engine *engine;
static struct policy *policy;
static struct effect effect;
static unsigned charges;
static struct ask asks[2];
static lookup_id lookup;
static unsigned ask_count;

static void
drain(void)
{
	charges = ask_count = 0;
	while (engine_next_effect(engine, &effect)) {
		charges += effect.kind == EFFECT_CHARGED ? 1 : 0;
		/* Not those of the schedule. */
		if (effect.kind != EFFECT_ASK ||
		    lookup_at(&engine->lookups, effect.u.ask.lookup)->own)
			continue;
		ck_assert_uint_lt(ask_count, 2);
		lookup = effect.u.ask.lookup;
		asks[ask_count++] = effect.u.ask.ask;
	}
}

static struct policy *
read_policy(const char *text)
{
	char error[RIG_ERROR_MAX];
	struct policy *one = rig_policy(text, error);

	ck_assert_msg(one != NULL, "%s", error);
	return one;
}

static void
setup(void)
{
	struct engine_limits limits = rig_limits(3);

	limits.settings.budget_sandbox = BITS(2000);
	engine = rig_engine(&limits, seed);
	policy = read_policy(rules);
	ck_assert_ptr_nonnull(engine);
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

static enum engine_cost
price(uint32_t sandbox, const char *text, uint16_t type, uint64_t now_ms,
    struct engine_quote *ret)
{
	struct dname name;

	ck_assert(dname_from_text(text, strlen(text), &name));
	return engine_price(engine, sandbox, &name, type, now_ms, ret);
}

/* Asks, and is on the next edge. True: it was charged. */
static bool
ask(const char *name, uint16_t type, uint64_t now_ms)
{
	struct client client = { .sandbox = 1, .port = 1024 };
	uint8_t wire[512];
	size_t len = rig_query(wire, sizeof(wire), name, type, 1, true);

	engine_query(engine, &client, wire, len, now_ms);
	drain();
	engine_expire(engine, now_ms + 1);
	drain();
	return charges > 0;
}

static void
answer(uint64_t now_ms)
{
	struct rig_response response = { .rcode = DNS_RCODE_NXDOMAIN };
	unsigned count = ask_count;
	struct ask sent[2];
	uint8_t wire[512];

	memcpy(sent, asks, sizeof(sent));
	for (uint8_t i = 0; i < count; i++) {
		size_t len =
		    rig_response(wire, sizeof(wire), &sent[i], &response);

		engine_answer(engine, lookup, i, wire, len, now_ms);
		drain();
	}
}

static uint64_t
used_by(uint32_t rule, uint64_t now_ms)
{
	struct budget_report report;

	(void)engine_budget_of_rule(engine, 1, rule, now_ms, &report);
	return report.used;
}

static uint64_t
used_of(uint32_t sandbox, enum budget_level level, uint64_t now_ms)
{
	struct budget_report report;

	(void)engine_budget_of_sum(engine, sandbox, level, now_ms, &report);
	return report.used;
}

START_TEST(a_quote_is_what_is_charged)
{
	static const struct {
		const char *name;
		uint16_t type;
		uint32_t rule;
	} list[] = { { "www.wild.example", DNS_TYPE_A, 0 },
		{ "mail.wild.example", DNS_TYPE_TXT, 0 },
		{ "www.wild.example", DNS_TYPE_TXT, 0 },
		{ "a.b.deep.example", DNS_TYPE_A, 1 },
		{ "a.c.deep.example", DNS_TYPE_A, 1 },
		{ "exact.example", DNS_TYPE_A, RULE_NONE } };

	for (unsigned i = 0; i < ARRAY_LEN(list); i++) {
		uint64_t now_ms = 5000 + 7000 * i;
		uint64_t sum = used_of(1, BUDGET_SANDBOX, now_ms);
		uint64_t all = used_of(1, BUDGET_POLICY, now_ms);
		uint64_t before = used_by(list[i].rule, now_ms);
		struct engine_quote quote;
		uint32_t total;

		/* It leaves on the edge behind it. */
		ck_assert_int_eq(price(1, list[i].name, list[i].type,
				     now_ms + 1, &quote),
		    COST_PRICE);
		total = budget_total(&quote.price);
		ck_assert_uint_gt(total, BITS(4));
		ck_assert(ask(list[i].name, list[i].type, now_ms));
		ck_assert_uint_eq(used_by(list[i].rule, now_ms),
		    before + total);
		ck_assert_uint_eq(used_of(1, BUDGET_SANDBOX, now_ms),
		    sum + total);
		ck_assert_uint_eq(used_of(1, BUDGET_POLICY, now_ms),
		    all + total);
		ck_assert_uint_eq(used_of(2, BUDGET_POLICY, now_ms), 0);
		answer(now_ms + 10);
	}
}
END_TEST

START_TEST(what_costs_nothing_says_why)
{
	struct engine_quote quote;

	ck_assert_int_eq(price(1, "fixed.example", DNS_TYPE_A, 2000, &quote),
	    COST_LOCAL);
	ck_assert_int_eq(price(1, "not.listed", DNS_TYPE_A, 2000, &quote),
	    COST_DENIED);
	ck_assert_int_eq(price(2, "clock.example", DNS_TYPE_A, 2000, &quote),
	    COST_SCHEDULED);
	ck_assert_int_eq(price(1, "www.wild.example", DNS_TYPE_A, 2000, &quote),
	    COST_PRICE);
	ck_assert_uint_eq(quote.left, BITS(700) - METER_END);
	ck_assert(ask("www.wild.example", DNS_TYPE_A, 2000));
	answer(2010);
	ck_assert_int_eq(price(1, "www.wild.example", DNS_TYPE_A, 2020, &quote),
	    COST_CACHED);
	ck_assert_int_eq(price(2, "www.wild.example", DNS_TYPE_A, 2020, &quote),
	    COST_PRICE);
	engine_quarantine(engine, 1, false, 2030);
	drain();
	ck_assert_int_eq(price(1, "a.wild.example", DNS_TYPE_A, 2040, &quote),
	    COST_DENIED);
}
END_TEST

/* Spends by random names what a rule has. */
static uint64_t
exhaust(uint64_t now_ms)
{
	static const char digits[] = "0123456789abcdef";
	uint64_t state = 7;
	char name[] = "xxxxxxxxxxxx.wild.example";

	for (int round = 0; round < 30; round++) {
		for (int i = 0; i < 12; i++)
			name[i] = digits[unit_random(&state) % 16];
		if (!ask(name, DNS_TYPE_A, now_ms))
			return now_ms + 10;
		answer(now_ms + 5);
		now_ms += 10;
	}
	ck_abort_msg("a budget without an end");
}

START_TEST(nothing_gives_a_budget_anew)
{
	struct policy_sandbox box = *policy_sandbox(policy, 1);
	struct policy *old = policy;
	uint64_t now_ms = exhaust(10000), used = used_by(0, now_ms);
	struct engine_quote quote;

	ck_assert_uint_gt(used, BITS(600));
	/* Detached, and back. */
	engine_detach(engine, 1, now_ms);
	drain();
	policy_detach(policy, 1);
	policy_attach(policy, 1, &box);
	engine_attach(engine, 1, now_ms + 5000);
	drain();
	ck_assert_uint_eq(used_by(0, now_ms + 5000), used);
	ck_assert(!ask("0a1b2c3d4e5f.wild.example", DNS_TYPE_A, now_ms + 5000));
	/* A reload with the same rules, elsewhere in the file. */
	policy = read_policy("policy zero\n"
			     "policy agent sum=9000\n"
			     "allow first.example\n"
			     "allow *.wild.example budget 700\n"
			     "sandbox box1 agent 10.200.1.2\n");
	engine_set_policy(engine, policy, now_ms + 6000);
	rig_policy_free(old);
	drain();
	ck_assert_uint_eq(used_by(1, now_ms + 6000), used);
	ck_assert_int_eq(price(1, "0a1b2c3d4e5f.wild.example", DNS_TYPE_A,
			     now_ms + 6001, &quote),
	    COST_PRICE);
	ck_assert_uint_gt(budget_total(&quote.price), quote.left);
	ck_assert(!ask("0a1b2c3d4e5f.wild.example", DNS_TYPE_A, now_ms + 6000));
	/* More is more, at once. */
	old = policy;
	policy = read_policy("policy agent sum=9000\n"
			     "allow *.wild.example budget 1400\n"
			     "sandbox box1 agent 10.200.1.2\n");
	engine_set_policy(engine, policy, now_ms + 7000);
	rig_policy_free(old);
	drain();
	ck_assert_int_eq(price(1, "0a1b2c3d4e5f.wild.example", DNS_TYPE_A,
			     now_ms + 7001, &quote),
	    COST_PRICE);
	ck_assert_uint_eq(quote.left, BITS(1400) - METER_END - used);
	ck_assert(ask("0a1b2c3d4e5f.wild.example", DNS_TYPE_A, now_ms + 7000));
	ck_assert_uint_gt(used_by(0, now_ms + 7000), used);
}
END_TEST

START_TEST(wildcards_are_listed)
{
	uint32_t all = UINT32_MAX;

	ck_assert_uint_eq(policy_next_wildcard(policy, 1, 0, all), 0);
	ck_assert_uint_eq(policy_next_wildcard(policy, 1, 1, all), 1);
	ck_assert_uint_eq(policy_next_wildcard(policy, 1, 2, all), RULE_NONE);
	ck_assert_uint_eq(policy_next_wildcard(policy, 2, 0, 5), RULE_NONE);
	ck_assert_uint_eq(policy_next_wildcard(policy, 2, 0, 6), 5);
	ck_assert_uint_eq(policy_next_wildcard(policy, 2, 6, all), RULE_NONE);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("engine_budget", &all);

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, a_quote_is_what_is_charged);
	tcase_add_test(all, what_costs_nothing_says_why);
	tcase_add_test(all, nothing_gives_a_budget_anew);
	tcase_add_test(all, wildcards_are_listed);
	return unit_run(suite);
}
