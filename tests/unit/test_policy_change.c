/* SPDX-License-Identifier: BSD-2-Clause */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "lib/require.h"
#include "tests/unit/policy_rig.h"
#include "tests/unit/unit.h"

#define A DNS_TYPE_A

/* Numbers up to 8 are there; 4 are in use. */
enum {
	GUEST = 7
};

static struct rig world;

static struct policy_sandbox
guest(const char *name, uint32_t profile, const char *source)
{
	struct policy_sandbox sandbox = { .profile = profile,
		.source_count = 1 };

	(void)snprintf(sandbox.name, sizeof(sandbox.name), "%s", name);
	sandbox.sources[0] = rig_addr(source);
	return sandbox;
}

static void
open_world(const char *rules)
{
	rig_open(&world, &RIG_SMALL);
	rig_seal(&world, rules);
}

static void
attach(const char *name, uint32_t profile, const char *source)
{
	struct policy_sandbox sandbox = guest(name, profile, source);

	ck_assert_int_eq(policy_attach(&world.policy, GUEST, &sandbox),
	    POLICY_OK);
}

START_TEST(comes_and_goes)
{
	struct addr source = rig_addr("192.0.2.70");

	open_world("example.com");
	ck_assert_int_eq(rig_match(&world, GUEST, "example.com", A).denial,
	    DENIAL_UNKNOWN_SOURCE);
	for (int round = 0; round < 100; round++) {
		attach("guest", AGENT, "192.0.2.70");
		ck_assert_uint_eq(world.policy.sandbox_count, GUEST);
		ck_assert_uint_eq(policy_sandbox_by_name(&world.policy,
				      "guest"),
		    GUEST);
		ck_assert_uint_eq(policy_sandbox_by_source(&world.policy,
				      &source),
		    GUEST);
		ck_assert_int_eq(rig_match(&world, GUEST, "example.com", A)
				     .denial,
		    DENIAL_NONE);
		/* It has no address of the other family. */
		ck_assert_int_eq(rig_match(&world, GUEST, "example.com",
				     DNS_TYPE_AAAA)
				     .denial,
		    DENIAL_FAMILY);
		/* Between the last of the file and this one is nobody. */
		ck_assert_ptr_null(policy_sandbox(&world.policy, GUEST - 1));
		policy_detach(&world.policy, GUEST);
		ck_assert_uint_eq(policy_sandbox_by_name(&world.policy,
				      "guest"),
		    0);
		ck_assert_uint_eq(policy_sandbox_by_source(&world.policy,
				      &source),
		    0);
		ck_assert_int_eq(rig_match(&world, GUEST, "example.com", A)
				     .denial,
		    DENIAL_UNKNOWN_SOURCE);
	}
	/* The families are those of who has the number now. */
	attach("other", AGENT, "2001:db8::70");
	ck_assert(!policy_sandbox(&world.policy, GUEST)->has4);
	ck_assert(policy_sandbox(&world.policy, GUEST)->has6);
	rig_close(&world);
}
END_TEST

static const struct {
	const char *name, *first, *second;
} TAKEN[] = {
	{ "box4", "192.0.2.70", NULL }, /* the name */
	{ "guest", "192.0.2.4", NULL }, /* a source of the file */
	{ "guest", "192.0.2.70", "2001:db8::46" }, /* the second one */
	{ "guest", "192.0.2.70", "192.0.2.70" }, /* its own */
};

START_TEST(taken)
{
	struct policy_sandbox wanted =
	    guest(TAKEN[_i].name, AGENT, TAKEN[_i].first);
	struct addr source = rig_addr("192.0.2.70");

	open_world("");
	if (TAKEN[_i].second != NULL)
		wanted.sources[wanted.source_count++] =
		    rig_addr(TAKEN[_i].second);
	ck_assert_int_eq(policy_attach(&world.policy, GUEST, &wanted),
	    POLICY_NAME_TAKEN);
	ck_assert_ptr_null(policy_sandbox(&world.policy, GUEST));
	ck_assert_uint_eq(policy_sandbox_by_source(&world.policy, &source), 0);
	ck_assert_uint_eq(policy_sandbox_by_name(&world.policy, "box4"), BOX4);
	rig_close(&world);
}
END_TEST

START_TEST(assigned)
{
	struct dname name = rig_name("example.com");
	struct service web = { PROTO_TCP, 443 };
	struct addr addr = rig_addr("8.8.8.8");

	open_world("example.com");
	attach("guest", AGENT, "192.0.2.70");
	ck_assert(policy_grants(&world.policy, GUEST, &name, &web, &addr));
	policy_assign(&world.policy, GUEST, OTHER);
	ck_assert(!policy_grants(&world.policy, GUEST, &name, &web, &addr));
	ck_assert_int_eq(rig_match(&world, GUEST, "example.com", A).denial,
	    DENIAL_UNLISTED);
	policy_assign(&world.policy, GUEST, AGENT);
	ck_assert(policy_grants(&world.policy, GUEST, &name, &web, &addr));
	/* The others of that policy are what they were. */
	ck_assert(policy_grants(&world.policy, BOX4, &name, &web, &addr));
	rig_close(&world);
}
END_TEST

static enum policy_error
withdraw(const char *sandbox, enum rule_kind kind, const char *name)
{
	struct policy_withdrawal it = { .kind = kind, .name = rig_name(name) };

	(void)snprintf(it.sandbox, sizeof(it.sandbox), "%s", sandbox);
	return policy_withdraw(&world.policy, &it);
}

#define RULES "**.example.com a.example.com +base.example -*.b.example.com"

static const struct {
	const char *sandbox;
	enum rule_kind kind;
	const char *rule, *asked;
	enum denial box4, box6;
} WITHDRAWN[] = {
	{ "", RULE_EXACT, "a.example.com", "a.example.com", DENIAL_WITHDRAWN,
	    DENIAL_WITHDRAWN },
	{ "box4", RULE_EXACT, "a.example.com", "a.example.com",
	    DENIAL_WITHDRAWN, DENIAL_NONE },
	/* What another rule grants is left alone, and the name of a rule is
	 * not a name that it covers. */
	{ "", RULE_EXACT, "a.example.com", "c.example.com", DENIAL_NONE,
	    DENIAL_NONE },
	{ "", RULE_BELOW, "example.com", "c.example.com", DENIAL_WITHDRAWN,
	    DENIAL_WITHDRAWN },
	{ "", RULE_BELOW, "example.com", "a.example.com", DENIAL_NONE,
	    DENIAL_NONE },
	{ "", RULE_CHILD, "example.com", "c.example.com", DENIAL_NONE,
	    DENIAL_NONE },
	/* Of a policy that is used. */
	{ "", RULE_EXACT, "base.example", "base.example", DENIAL_WITHDRAWN,
	    DENIAL_WITHDRAWN },
	/* What is denied is denied for that reason. */
	{ "", RULE_BELOW, "example.com", "x.b.example.com", DENIAL_DENY_RULE,
	    DENIAL_DENY_RULE },
};

START_TEST(withdrawn)
{
	struct dname asked = rig_name(WITHDRAWN[_i].asked);
	struct service web = { PROTO_TCP, 443 };
	struct addr addr = rig_addr("8.8.8.8");
	struct verdict verdict;

	open_world(RULES);
	ck_assert_int_eq(withdraw(WITHDRAWN[_i].sandbox, WITHDRAWN[_i].kind,
			     WITHDRAWN[_i].rule),
	    POLICY_OK);
	verdict = rig_match(&world, BOX4, WITHDRAWN[_i].asked, A);
	ck_assert_int_eq(verdict.denial, WITHDRAWN[_i].box4);
	if (verdict.denial == DENIAL_WITHDRAWN)
		ck_assert_int_eq(verdict.kind, WITHDRAWN[_i].kind);
	ck_assert(policy_grants(&world.policy, BOX4, &asked, &web, &addr) ==
	    (WITHDRAWN[_i].box4 == DENIAL_NONE));
	ck_assert_int_eq(rig_match(&world, BOX46, WITHDRAWN[_i].asked, A)
			     .denial,
	    WITHDRAWN[_i].box6);
	rig_close(&world);
}
END_TEST

START_TEST(withdrawn_for_a_name_that_comes_back)
{
	open_world("example.com");
	ck_assert_int_eq(withdraw("guest", RULE_EXACT, "example.com"),
	    POLICY_OK);
	attach("guest", AGENT, "192.0.2.70");
	ck_assert_int_eq(rig_match(&world, GUEST, "example.com", A).denial,
	    DENIAL_WITHDRAWN);
	policy_detach(&world.policy, GUEST);
	attach("another", AGENT, "192.0.2.70");
	ck_assert_int_eq(rig_match(&world, GUEST, "example.com", A).denial,
	    DENIAL_NONE);
	rig_close(&world);
}
END_TEST

START_TEST(given_back)
{
	open_world("a.example.com b.example.com c.example.com");
	ck_assert_int_eq(withdraw("box4", RULE_EXACT, "a.example.com"),
	    POLICY_OK);
	ck_assert_int_eq(withdraw("", RULE_EXACT, "b.example.com"), POLICY_OK);
	ck_assert_int_eq(withdraw("box4", RULE_EXACT, "c.example.com"),
	    POLICY_OK);
	ck_assert(!policy_give_back(&world.policy, "box46"));
	ck_assert(policy_give_back(&world.policy, "box4"));
	ck_assert(!policy_give_back(&world.policy, "box4"));
	ck_assert_int_eq(rig_match(&world, BOX4, "a.example.com", A).denial,
	    DENIAL_NONE);
	ck_assert_int_eq(rig_match(&world, BOX4, "c.example.com", A).denial,
	    DENIAL_NONE);
	/* What was withdrawn from all is nobody's to give back. */
	ck_assert_int_eq(rig_match(&world, BOX4, "b.example.com", A).denial,
	    DENIAL_WITHDRAWN);
	ck_assert_uint_eq(world.policy.withdrawn_count, 1);
	rig_close(&world);
}
END_TEST

START_TEST(withdrawn_parent)
{
	/* NXDOMAIN would take the listed name below with it. */
	open_world("example.com a.example.com");
	ck_assert_int_eq(withdraw("", RULE_EXACT, "example.com"), POLICY_OK);
	ck_assert_int_eq(rig_match(&world, BOX4, "example.com", A).denial,
	    DENIAL_PARENT);
	ck_assert_int_eq(rig_match(&world, BOX4, "a.example.com", A).denial,
	    DENIAL_NONE);
	rig_close(&world);
}
END_TEST

START_TEST(withdrawn_table_is_full)
{
	char name[32];

	open_world("example.com");
	for (int i = 0; i < POLICY_WITHDRAWN_MAX; i++) {
		(void)snprintf(name, sizeof(name), "n%d.example", i);
		ck_assert_int_eq(withdraw("", RULE_EXACT, name), POLICY_OK);
		/* Again takes no place. */
		ck_assert_int_eq(withdraw("", RULE_EXACT, name), POLICY_OK);
	}
	ck_assert_int_eq(withdraw("", RULE_EXACT, "example.com"), POLICY_FULL);
	ck_assert_int_eq(rig_match(&world, BOX4, "example.com", A).denial,
	    DENIAL_NONE);
	rig_close(&world);
}
END_TEST

static const struct {
	uint32_t sandbox;
	enum rule_kind kind;
	const char *name;
	bool has;
} RULE_OF[] = {
	{ 0, RULE_EXACT, "a.example.com", true },
	{ BOX4, RULE_EXACT, "a.example.com", true },
	{ BOX4, RULE_BELOW, "example.com", true },
	{ BOX4, RULE_EXACT, "base.example", true },
	{ BOX4, RULE_CHILD, "example.com", false },
	{ BOX4, RULE_EXACT, "example.com", false },
	{ BOX4, RULE_EXACT, "b.example.com", false },
	/* A rule that denies cannot be withdrawn. */
	{ 0, RULE_CHILD, "b.example.com", false },
	{ BOX_OTHER, RULE_EXACT, "a.example.com", false },
	{ BOX_OTHER, RULE_EXACT, "base.example", false },
};

START_TEST(has_rule)
{
	struct dname name = rig_name(RULE_OF[_i].name);

	open_world(RULES);
	ck_assert(policy_has_rule(&world.policy, RULE_OF[_i].sandbox,
		      RULE_OF[_i].kind, &name) == RULE_OF[_i].has);
	rig_close(&world);
}
END_TEST

START_TEST(number_in_use)
{
	struct policy_sandbox sandbox = guest("guest", AGENT, "192.0.2.70");

	open_world("");
	(void)policy_attach(&world.policy, BOX4, &sandbox);
}
END_TEST

START_TEST(number_too_high)
{
	struct policy_sandbox sandbox = guest("guest", AGENT, "192.0.2.70");

	open_world("");
	(void)policy_attach(&world.policy, RIG_SMALL.sandboxes_max + 1,
	    &sandbox);
}
END_TEST

START_TEST(detach_of_nobody)
{
	open_world("");
	policy_detach(&world.policy, GUEST);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("policy_change");
	TCase *all = tcase_create("all");

	tcase_add_test(all, comes_and_goes);
	tcase_add_loop_test(all, taken, 0, (int)ARRAY_LEN(TAKEN));
	tcase_add_test(all, assigned);
	tcase_add_loop_test(all, withdrawn, 0, (int)ARRAY_LEN(WITHDRAWN));
	tcase_add_test(all, withdrawn_for_a_name_that_comes_back);
	tcase_add_test(all, given_back);
	tcase_add_test(all, withdrawn_parent);
	tcase_add_test(all, withdrawn_table_is_full);
	tcase_add_loop_test(all, has_rule, 0, (int)ARRAY_LEN(RULE_OF));
	tcase_add_test_raise_signal(all, number_in_use, SIGABRT);
	tcase_add_test_raise_signal(all, number_too_high, SIGABRT);
	tcase_add_test_raise_signal(all, detach_of_nobody, SIGABRT);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
