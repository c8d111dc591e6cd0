/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an audit makes of a verdict: the same rules in two policies, one of
 * which enforces.
 */
#include <string.h>

#include "lib/dns.h"
#include "lib/require.h"
#include "tests/rig/rig.h"
#include "tests/unit/unit.h"

#define RULES                                             \
	"allow www.example.com\n"                         \
	"allow *.pages.example.net private 10.5.0.0/24\n" \
	"allow leaf.top.example.org\n"                    \
	"allow fixed.example.com addresses 192.0.2.77\n"  \
	"deny bad.pages.example.net\n"

static struct policy *policy;

static void
setup(void)
{
	char error[RIG_ERROR_MAX];

	policy = rig_policy("policy calm audit\n" RULES "policy strict\n" RULES
			    "sandbox box1 calm 10.200.1.2 2001:db8:200::2\n"
			    "sandbox box2 strict 10.200.2.2 2001:db8:200::3\n"
			    "sandbox box3 calm 10.200.3.2\n",
	    error);
	ck_assert_msg(policy != NULL, "%s", error);
}

static void
teardown(void)
{
	rig_policy_free(policy);
}

static struct verdict
match(uint32_t sandbox, const char *name, uint16_t type)
{
	struct question question = { .type = type,
		.class = DNS_CLASS_IN,
		.has_header = true,
		.has_name = true };

	ck_assert(dname_from_text(name, strlen(name), &question.name));
	return policy_match(policy, sandbox, &question);
}

static const struct verdict_case {
	const char *name;
	uint16_t type;
	enum denial enforced, audited;
	bool lifted;
} cases[] = {
	{ "www.example.com", DNS_TYPE_A, DENIAL_NONE, DENIAL_NONE, false },
	{ "a.pages.example.net", DNS_TYPE_A, DENIAL_NONE, DENIAL_NONE, false },
	{ "fixed.example.com", DNS_TYPE_A, DENIAL_NONE, DENIAL_NONE, false },
	{ "www.evil.example", DNS_TYPE_A, DENIAL_UNLISTED, DENIAL_NONE, true },
	{ "www.evil.example", DNS_TYPE_TXT, DENIAL_UNLISTED, DENIAL_NONE,
	    true },
	{ "www.evil.example", DNS_TYPE_ANY, DENIAL_UNLISTED, DENIAL_NONE,
	    true },
	{ "bad.pages.example.net", DNS_TYPE_A, DENIAL_DENY_RULE, DENIAL_NONE,
	    true },
	{ "top.example.org", DNS_TYPE_A, DENIAL_PARENT, DENIAL_NONE, true },
	{ "www.example.com", DNS_TYPE_MX, DENIAL_TYPE, DENIAL_NONE, true },
	/* Types whose data is not read, and names that nobody may list. */
	{ "www.example.com", DNS_TYPE_HTTPS, DENIAL_TYPE, DENIAL_TYPE, false },
	{ "www.evil.example", DNS_TYPE_NULL, DENIAL_UNLISTED, DENIAL_UNLISTED,
	    false },
	{ "use-application-dns.net", DNS_TYPE_A, DENIAL_SPECIAL, DENIAL_SPECIAL,
	    false },
	{ "printer", DNS_TYPE_A, DENIAL_SPECIAL, DENIAL_SPECIAL, false },
	{ "4.3.2.1.in-addr.arpa", DNS_TYPE_PTR, DENIAL_PTR, DENIAL_PTR, false },
};

START_TEST(lifts_what_rules_deny)
{
	const struct verdict_case *c = &cases[_i];
	struct verdict enforced = match(2, c->name, c->type);
	struct verdict audited = match(1, c->name, c->type);

	ck_assert_int_eq(enforced.denial, c->enforced);
	ck_assert_int_eq(enforced.would, DENIAL_NONE);
	ck_assert(!enforced.audit);
	ck_assert_int_eq(audited.denial, c->audited);
	ck_assert_int_eq(audited.would, c->lifted ? c->enforced : DENIAL_NONE);
	ck_assert(audited.audit);
	/* Whose rule it was is told as ever. */
	ck_assert(enforced.rule == RULE_NONE ? audited.rule == RULE_NONE
					     : audited.rule != RULE_NONE);
}
END_TEST

/* Nothing is opened, and nothing protected told, by a rule that denies. */
START_TEST(takes_nothing_from_the_rule)
{
	struct verdict v = match(1, "bad.pages.example.net", DNS_TYPE_A);

	ck_assert_uint_eq(v.service_count, 0);
	ck_assert_uint_eq(v.private_count, 0);
	v = match(1, "a.pages.example.net", DNS_TYPE_MX);
	ck_assert_uint_eq(v.service_count, 0);
	ck_assert_uint_eq(v.private_count, 0);
	v = match(1, "fixed.example.com", DNS_TYPE_TXT);
	ck_assert_uint_eq(v.addr_count, 0);
	/* Where it grants, all of it. */
	v = match(1, "a.pages.example.net", DNS_TYPE_A);
	ck_assert_uint_eq(v.service_count, 1);
	ck_assert_uint_eq(v.private_count, 1);
}
END_TEST

START_TEST(a_family_that_it_has_not)
{
	struct verdict v = match(3, "www.evil.example", DNS_TYPE_AAAA);

	ck_assert_int_eq(v.denial, DENIAL_FAMILY);
	ck_assert_int_eq(v.would, DENIAL_UNLISTED);
}
END_TEST

/* Pins are granted by rules alone. */
START_TEST(grants_no_pin)
{
	const struct service https = { PROTO_TCP, 443 };
	const struct addr addr = { 4, { 192, 0, 2, 9 } };
	struct dname name;

	ck_assert(dname_from_text("www.evil.example", 16, &name));
	ck_assert(!policy_grants(policy, 1, &name, &https, &addr));
	ck_assert(dname_from_text("www.example.com", 15, &name));
	ck_assert(policy_grants(policy, 1, &name, &https, &addr));
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("policy_audit", &all);

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_loop_test(all, lifts_what_rules_deny, 0,
	    (int)ARRAY_LEN(cases));
	tcase_add_test(all, takes_nothing_from_the_rule);
	tcase_add_test(all, a_family_that_it_has_not);
	tcase_add_test(all, grants_no_pin);
	return unit_run(suite);
}
