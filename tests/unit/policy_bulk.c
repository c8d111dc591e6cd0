/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits of a policy, very many rules, and random ones that are compared with
 * a naive evaluator.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/require.h"
#include "lib/rng.h"
#include "tests/unit/policy_rig.h"

START_TEST(limits_hold)
{
	struct policy_limits limits = RIG_SMALL;
	struct policy_profile profile = { .name = "agent" };
	struct policy_sandbox sandbox = { .name = "box4", .profile = AGENT };
	struct policy_terms terms = { .types = RULE_TYPE_A };
	static struct rig world;
	uint32_t index = 0;

	limits.rules_max = 2;
	limits.terms_max = TERMS_COUNT;
	limits.profiles_max = 3;
	limits.sandboxes_max = 4;
	limits.files_max = 1;
	rig_open(&world, &limits);
	ck_assert_int_eq(policy_builder_profile(&world.policy, &profile,
			     &index),
	    POLICY_NAME_TAKEN);
	memcpy(profile.name, "fresh", 6);
	ck_assert_int_eq(policy_builder_profile(&world.policy, &profile,
			     &index),
	    POLICY_FULL);
	ck_assert_int_eq(policy_builder_terms(&world.policy, &terms, &index),
	    POLICY_FULL);
	ck_assert_int_eq(policy_builder_sandbox(&world.policy, &sandbox),
	    POLICY_NAME_TAKEN);
	memcpy(sandbox.name, "fresh", 6);
	ck_assert_int_eq(policy_builder_sandbox(&world.policy, &sandbox),
	    POLICY_FULL);
	ck_assert_int_eq(policy_builder_file(&world.policy, "/etc/a", &index),
	    POLICY_OK);
	ck_assert_str_eq(world.policy.files[index], "/etc/a");
	ck_assert_int_eq(policy_builder_file(&world.policy, "/etc/b", &index),
	    POLICY_FULL);
	ck_assert_int_eq(rig_add_rule(&world.policy, "a.example", 9, 1),
	    POLICY_OK);
	ck_assert_int_eq(rig_add_rule(&world.policy, "b.example", 9, 1),
	    POLICY_OK);
	ck_assert_int_eq(rig_add_rule(&world.policy, "c.example", 9, 1),
	    POLICY_FULL);
	rig_close(&world);
}
END_TEST

START_TEST(limit_of_name_octets)
{
	struct policy_limits limits = RIG_SMALL;
	static struct rig world;

	limits.name_octets_max = 25;
	rig_open(&world, &limits);
	ck_assert_int_eq(rig_add_rule(&world.policy, "a.example", 9, 1),
	    POLICY_OK);
	ck_assert_int_eq(rig_add_rule(&world.policy, "b.example", 9, 1),
	    POLICY_OK);
	ck_assert_int_eq(rig_add_rule(&world.policy, "c.example", 9, 1),
	    POLICY_FULL);
	ck_assert_int_eq(rig_add_rule(&world.policy, "c.d", 3, 1), POLICY_OK);
	rig_close(&world);
}
END_TEST

/* Names over few letters, so that ancestors, equals and prefixes abound. */
static void
random_name(struct rng *rng, char *text, uint32_t max_labels)
{
	static const char *LABELS[] = { "a", "b", "aa", "ab", "b-", "a=" };
	uint32_t labels = 1 + rng_below(rng, max_labels), i;
	const char *label;
	size_t len = 0;

	for (i = 0; i < labels; i++) {
		label = LABELS[rng_below(rng, ARRAY_LEN(LABELS))];
		memcpy(text + len, label, strlen(label) + 1);
		len += strlen(text + len);
		text[len++] = '.';
	}
	memcpy(text + len, "zz", 3);
}

struct naive {
	struct policy_rule rules[16];
	int profile[16];
	int count;
};

static bool
naive_matches(const struct policy_rule *rule, const struct dname *name)
{
	const uint8_t *label;
	uint8_t i, len;

	if (rule->kind == RULE_EXACT)
		return dname_equal(&rule->name, name);
	if (!dname_is_below(name, &rule->name) ||
	    (rule->kind == RULE_CHILD && name->labels != rule->name.labels + 1))
		return false;
	for (i = 0; i < name->labels - rule->name.labels; i++) {
		label = dname_label(name, i, &len);
		if (!rule->deny && !dname_label_is_host(label, len))
			return false;
	}
	return true;
}

static int
naive_rank(const struct policy_rule *rule)
{
	return rule->name.labels * 4 + 3 - (int)rule->kind;
}

static uint32_t
naive_best(const struct naive *naive, const struct dname *name, bool deny)
{
	uint32_t best = RULE_NONE, i;

	for (i = 0; i < (uint32_t)naive->count; i++) {
		if (naive->rules[i].deny != deny ||
		    !naive_matches(&naive->rules[i], name))
			continue;
		if (best == RULE_NONE ||
		    naive_rank(&naive->rules[i]) >
			naive_rank(&naive->rules[best]))
			best = i;
	}
	return best;
}

static bool
naive_below(const struct naive *naive, const struct dname *name)
{
	int i;

	for (i = 0; i < naive->count; i++) {
		if (naive->rules[i].deny)
			continue;
		if (dname_is_below(&naive->rules[i].name, name) ||
		    (naive->rules[i].kind != RULE_EXACT &&
			dname_equal(&naive->rules[i].name, name)))
			return true;
	}
	return false;
}

/* Fills a policy with random rules, none of them equal. */
static void
naive_fill(struct naive *naive, struct rng *rng, struct policy *policy)
{
	struct policy_rule rule;
	char text[64];
	int i, tries;

	naive->count = 0;
	for (tries = 0; tries < 14; tries++) {
		memset(&rule, 0, sizeof(rule));
		random_name(rng, text, 4);
		rule.name = rig_name(text);
		rule.kind = (enum rule_kind)rng_below(rng, 3);
		rule.deny = rng_below(rng, 4) == 0;
		for (i = 0; i < naive->count; i++) {
			if (naive->rules[i].kind == rule.kind &&
			    naive->rules[i].deny == rule.deny &&
			    dname_equal(&naive->rules[i].name, &rule.name))
				break;
		}
		if (i < naive->count)
			continue;
		naive->rules[naive->count++] = rule;
		ck_assert_int_eq(policy_builder_rule(policy,
				     rng_below(rng, 2) == 0 ? AGENT : BASE,
				     &rule),
		    POLICY_OK);
	}
}

START_TEST(against_naive)
{
	uint8_t seed[32] = { (uint8_t)_i };
	struct rng rng;
	uint32_t allow, deny, first, second;
	struct verdict verdict;
	static struct naive naive;
	static struct rig world;
	struct dname name;
	char text[64];
	int i;

	rng_init(&rng, seed);
	rig_open(&world, &RIG_SMALL);
	naive_fill(&naive, &rng, &world.policy);
	ck_assert_int_eq(policy_builder_seal(&world.policy, &first, &second),
	    POLICY_OK);
	for (i = 0; i < 200; i++) {
		random_name(&rng, text, 6);
		name = rig_name(text);
		allow = naive_best(&naive, &name, false);
		deny = naive_best(&naive, &name, true);
		verdict = rig_match(&world, BOX4, text, DNS_TYPE_A);
		ck_assert_msg(verdict.listed == (allow != RULE_NONE),
		    "seed %d: %s", _i, text);
		ck_assert_msg(verdict.lists_below == naive_below(&naive, &name),
		    "seed %d: %s", _i, text);
		ck_assert_msg(verdict.rule ==
			(deny != RULE_NONE ? deny : allow),
		    "seed %d: %s: rule %u", _i, text, verdict.rule);
		ck_assert_msg((verdict.denial == DENIAL_NONE) ==
			(deny == RULE_NONE && allow != RULE_NONE),
		    "seed %d: %s", _i, text);
	}
	rig_close(&world);
}
END_TEST

/* 200,000 rules are sealed in seconds even where a sanitizer looks on, and the
 * first and last of them are found. */
START_TEST(many)
{
	struct policy_limits limits = RIG_SMALL;
	static struct rig world;
	clock_t start;
	char text[64];
	uint32_t i;
	int len;

	limits.rules_max = 200000;
	limits.name_octets_max = 200000 * 32;
	rig_open(&world, &limits);
	for (i = 0; i < limits.rules_max; i++) {
		len = snprintf(text, sizeof(text), "h%u.d%u.example.com",
		    i * 7919 % 200000, i % 1000);
		ck_assert_int_eq(rig_add_rule(&world.policy, text, (size_t)len,
				     i),
		    POLICY_OK);
	}
	start = clock();
	rig_seal(&world, "");
	ck_assert_int_lt(clock() - start, 3 * CLOCKS_PER_SEC);
	ck_assert_int_eq(rig_match(&world, BOX4, "h0.d0.example.com",
			     DNS_TYPE_A)
			     .denial,
	    DENIAL_NONE);
	ck_assert_int_eq(rig_match(&world, BOX4, text, DNS_TYPE_A).denial,
	    DENIAL_NONE);
	ck_assert_int_eq(rig_match(&world, BOX4, "d999.example.com", DNS_TYPE_A)
			     .denial,
	    DENIAL_PARENT);
	ck_assert_int_eq(rig_match(&world, BOX4, "h0.d1.example.com",
			     DNS_TYPE_A)
			     .denial,
	    DENIAL_UNLISTED);
	rig_close(&world);
}
END_TEST

void
policy_bulk_add(TCase *all)
{
	tcase_add_test(all, limits_hold);
	tcase_add_test(all, limit_of_name_octets);
	tcase_add_loop_test(all, against_naive, 0, 50);
	tcase_add_test(all, many);
}
