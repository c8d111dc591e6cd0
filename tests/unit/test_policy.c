/* SPDX-License-Identifier: BSD-2-Clause */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "tests/unit/policy_rig.h"
#include "tests/unit/unit.h"

#define A    DNS_TYPE_A
#define AAAA DNS_TYPE_AAAA

/* rule: the number of the rule that decides, 0: none. */
static const struct match_case {
	const char *rules, *name;
	uint16_t type;
	enum denial denial;
	uint32_t rule;
	bool listed, below;
} MATCHES[] = {
	/* What the contract promises, line by line. */
	{ "example.com", "EXAMPLE.com.", A, DENIAL_NONE, 1, true, false },
	{ "example.com", "www.example.com", A, DENIAL_UNLISTED, 0, false,
	    false },
	{ "*.example.com", "a.example.com", A, DENIAL_NONE, 1, true, false },
	{ "*.example.com", "a.b.example.com", A, DENIAL_UNLISTED, 0, false,
	    false },
	{ "*.example.com", "example.com", A, DENIAL_PARENT, 0, false, true },
	{ "**.example.com", "a.b.example.com", A, DENIAL_NONE, 1, true, false },
	{ "*.example.com **.example.com", "a.example.com", A, DENIAL_NONE, 1,
	    true, false },
	{ "**.example.com *.example.com", "a.example.com", A, DENIAL_NONE, 2,
	    true, false },
	{ "**.example.com -**.b.example.com", "a.b.example.com", A,
	    DENIAL_DENY_RULE, 2, true, false },
	{ "a.example.com -**.example.com", "a.example.com", A, DENIAL_DENY_RULE,
	    2, true, false },
	{ "api.example.com", "example.com", A, DENIAL_PARENT, 0, false, true },
	{ "*.example.com", "a=b.example.com", A, DENIAL_UNLISTED, 0, false,
	    false },
	{ "xn--bcher-kva.example", "xn--bcher-kva.example", A, DENIAL_NONE, 1,
	    true, false },

	/* The most specific rule. */
	{ "**.com **.example.com", "a.b.example.com", A, DENIAL_NONE, 2, true,
	    false },
	{ "**.example.com **.com", "a.b.example.com", A, DENIAL_NONE, 1, true,
	    false },
	{ "**.com a.example.com *.example.com", "a.example.com", A, DENIAL_NONE,
	    2, true, false },
	{ "**.b.example.com *.example.com", "b.example.com", A, DENIAL_NONE, 2,
	    true, true },
	{ "**.example.com zzz.example.com", "a.example.com", A, DENIAL_NONE, 1,
	    true, false },
	{ "**.example.com aaa.example.com a.example.comm", "b.example.com", A,
	    DENIAL_NONE, 1, true, false },
	/* The neighbour in the order is no ancestor, its ancestor is. */
	{ "**.example.com a.aa.example.com", "z.aa.example.com", A, DENIAL_NONE,
	    1, true, false },
	{ "*.example.com ab.x.example.com", "x.example.com", A, DENIAL_NONE, 1,
	    true, true },

	/* Labels, not characters. */
	{ "example.com", "notexample.com", A, DENIAL_UNLISTED, 0, false,
	    false },
	{ "**.example.com", "a.notexample.com", A, DENIAL_UNLISTED, 0, false,
	    false },
	{ "**.example.com", "example.com.evil.example", A, DENIAL_UNLISTED, 0,
	    false, false },
	{ "*.a.example", "aa.example", A, DENIAL_UNLISTED, 0, false, false },

	/* Foreign octets. */
	{ "**.example.com", "a.b!c.example.com", A, DENIAL_UNLISTED, 0, false,
	    false },
	{ "**.example.com", "b!c.a.example.com", A, DENIAL_UNLISTED, 0, false,
	    false },
	{ "**.example.com", "_dmarc.ex_-1.example.com", A, DENIAL_NONE, 1, true,
	    false },
	{ "**.example.com", "r3---sn-x.example.com", A, DENIAL_NONE, 1, true,
	    false },
	{ "*.example.com", "xn--bcher-kva.example.com", A, DENIAL_NONE, 1, true,
	    false },
	{ "a=b.example.com", "a=b.example.com", A, DENIAL_NONE, 1, true,
	    false },
	{ "**.a=b.example", "x.a=b.example", A, DENIAL_NONE, 1, true, false },
	{ "a=b.example.com -**.example.com", "a=b.example.com", A,
	    DENIAL_DENY_RULE, 2, true, false },

	/* Deny. */
	{ "**.example.com -example.com", "a.example.com", A, DENIAL_NONE, 1,
	    true, false },
	{ "**.example.com -*.example.com", "a.b.example.com", A, DENIAL_NONE, 1,
	    true, false },
	{ "**.example.com -*.example.com", "b.example.com", A, DENIAL_DENY_RULE,
	    2, true, false },
	{ "-gist.github.com", "gist.github.com", A, DENIAL_DENY_RULE, 1, false,
	    false },
	{ "-**.github.com -gist.github.com", "gist.github.com", A,
	    DENIAL_DENY_RULE, 2, false, false },
	{ "example.com -example.com", "example.com", A, DENIAL_DENY_RULE, 2,
	    true, false },
	{ "-www.example.com", "example.com", A, DENIAL_UNLISTED, 0, false,
	    false },
	/* A denied parent must not take its listed children along. */
	{ "www.example.com -example.com", "example.com", A, DENIAL_PARENT, 2,
	    false, true },

	/* What the policy uses. */
	{ "+example.com", "example.com", A, DENIAL_NONE, 1, true, false },
	{ "+example.com **.com", "example.com", A, DENIAL_NONE, 1, true,
	    false },
	{ "**.com +example.com", "example.com", A, DENIAL_NONE, 2, true,
	    false },
	{ "+-example.com example.com", "example.com", A, DENIAL_DENY_RULE, 1,
	    true, false },
	{ "+a.example.com", "example.com", A, DENIAL_PARENT, 0, false, true },

	/* Parents. */
	{ "a.b.example.com", "com", A, DENIAL_PARENT, 0, false, true },
	{ "a.b.example.com", "b.example.com", A, DENIAL_PARENT, 0, false,
	    true },
	{ "a.b.example.com", ".", DNS_TYPE_NS, DENIAL_PARENT, 0, false, true },
	{ "**.b.example.com", "b.example.com", DNS_TYPE_TXT, DENIAL_PARENT, 0,
	    false, true },
	{ "-a.b.example.com b.b.example.com", "b.example.com", A, DENIAL_PARENT,
	    0, false, true },
	{ "-z.example.com zz.exampleb.com", "example.com", A, DENIAL_UNLISTED,
	    0, false, false },
	{ "example.com www.example.com", "example.com", A, DENIAL_NONE, 1, true,
	    true },
	{ "", ".", DNS_TYPE_NS, DENIAL_SPECIAL_NODATA, 0, false, false },

	/* Types. */
	{ "example.com", "example.com", DNS_TYPE_HTTPS, DENIAL_TYPE, 1, true,
	    false },
	{ "example.com", "example.com", DNS_TYPE_TXT, DENIAL_TYPE, 1, true,
	    false },
	{ "example.com", "example.com", DNS_TYPE_NULL, DENIAL_TYPE, 1, true,
	    false },
	{ "example.com", "example.com", DNS_TYPE_PTR, DENIAL_TYPE, 1, true,
	    false },
	{ "example.com", "example.com", DNS_TYPE_ANY, DENIAL_NONE, 1, true,
	    false },
	{ "example.com", "other.example", DNS_TYPE_ANY, DENIAL_UNLISTED, 0,
	    false, false },
	{ "t:example.com", "example.com", DNS_TYPE_TXT, DENIAL_NONE, 1, true,
	    false },
	{ "t:example.com", "example.com", A, DENIAL_TYPE, 1, true, false },
	{ "t:example.com", "example.com", DNS_TYPE_ANY, DENIAL_TYPE, 1, true,
	    false },

	/* Services before a listed name. */
	{ "deb.example.com", "_http._tcp.deb.example.com", DNS_TYPE_SRV,
	    DENIAL_TYPE, 1, true, false },
	{ "deb.example.com", "_http._tcp.deb.example.com", A, DENIAL_UNLISTED,
	    0, false, false },
	{ "deb.example.com", "http._tcp.deb.example.com", DNS_TYPE_SRV,
	    DENIAL_UNLISTED, 0, false, false },
	{ "deb.example.com", "_tcp.deb.example.com", DNS_TYPE_SRV,
	    DENIAL_UNLISTED, 0, false, false },
	{ "deb.example.com", "_a._b._c.deb.example.com", DNS_TYPE_SRV,
	    DENIAL_UNLISTED, 0, false, false },
	{ "*.example.com", "_http._tcp.deb.example.com", DNS_TYPE_SRV,
	    DENIAL_TYPE, 1, true, false },
	{ "*.example.com", "_http._tcp.a=b.example.com", DNS_TYPE_SRV,
	    DENIAL_UNLISTED, 0, false, false },
	{ "**.example.com", "_http._tcp.deb.example.com", DNS_TYPE_SRV,
	    DENIAL_TYPE, 1, true, false },
	{ "*.example.com -deb.example.com", "_http._tcp.deb.example.com",
	    DNS_TYPE_SRV, DENIAL_UNLISTED, 0, false, false },
	{ "example.com", "_http._tcp", DNS_TYPE_SRV, DENIAL_UNLISTED, 0, false,
	    false },

	/* Special names. */
	{ "", "invalid", A, DENIAL_SPECIAL, 0, false, false },
	{ "", "a.b.invalid", A, DENIAL_SPECIAL, 0, false, false },
	{ "", "printer.local", A, DENIAL_SPECIAL, 0, false, false },
	{ "", "x.onion", AAAA, DENIAL_SPECIAL, 0, false, false },
	{ "", "com", A, DENIAL_SPECIAL, 0, false, false },
	{ "", "notlocal", A, DENIAL_SPECIAL, 0, false, false },
	{ "", "a.notlocal", A, DENIAL_UNLISTED, 0, false, false },
	{ "", "local.example", A, DENIAL_UNLISTED, 0, false, false },
	{ "db.local", "db.local", A, DENIAL_NONE, 1, true, false },
	{ "db.local", "local", A, DENIAL_PARENT, 0, false, true },
	{ "db.local", "other.local", A, DENIAL_SPECIAL, 0, false, false },
	{ "**.onion", "a.onion", A, DENIAL_NONE, 1, true, false },
	{ "", "use-application-dns.net", A, DENIAL_SPECIAL, 0, false, false },
	{ "use-application-dns.net", "use-application-dns.net", A,
	    DENIAL_SPECIAL, 1, true, false },
	{ "*.net", "use-application-dns.net", AAAA, DENIAL_SPECIAL, 1, true,
	    false },
	{ "*.use-application-dns.net", "a.use-application-dns.net", A,
	    DENIAL_NONE, 1, true, false },
	{ "", "resolver.arpa", A, DENIAL_SPECIAL_NODATA, 0, false, false },
	{ "", "_dns.resolver.arpa", DNS_TYPE_SVCB, DENIAL_SPECIAL_NODATA, 0,
	    false, false },
	{ "_dns.resolver.arpa", "_dns.resolver.arpa", A, DENIAL_SPECIAL_NODATA,
	    1, true, false },

	/* Reverse names. */
	{ "", "4.3.2.1.in-addr.arpa", DNS_TYPE_PTR, DENIAL_PTR, 0, false,
	    false },
	{ "", "4.3.2.1.in-addr.arpa", A, DENIAL_PTR, 0, false, false },
	{ "", "3.2.1.in-addr.arpa", DNS_TYPE_PTR, DENIAL_SPECIAL_NODATA, 0,
	    false, false },
	{ "", "in-addr.arpa", DNS_TYPE_NS, DENIAL_SPECIAL_NODATA, 0, false,
	    false },
	{ "", "0.8.b.d.0.1.0.0.2.ip6.arpa", DNS_TYPE_PTR, DENIAL_SPECIAL_NODATA,
	    0, false, false },
	{ "",
	    "6.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2."
	    "ip6.arpa",
	    DNS_TYPE_PTR, DENIAL_PTR, 0, false, false },
	{ "**.arpa", "4.3.2.1.in-addr.arpa", DNS_TYPE_PTR, DENIAL_PTR, 1, true,
	    false },
	{ "**.arpa", "4.3.2.1.in-addr.arpa", A, DENIAL_NONE, 1, true, false },
	{ "-**.arpa", "4.3.2.1.in-addr.arpa", DNS_TYPE_PTR, DENIAL_DENY_RULE, 1,
	    false, false },
};

START_TEST(matches)
{
	const struct match_case *it = &MATCHES[_i];
	struct verdict verdict;
	static struct rig world;

	rig_open(&world, &RIG_SMALL);
	rig_seal(&world, it->rules);
	verdict = rig_match(&world, BOX46, it->name, it->type);
	ck_assert_msg(verdict.denial == it->denial, "[%s] %s: %s", it->rules,
	    it->name, denial_name(verdict.denial));
	ck_assert_msg(verdict.rule + 1 == it->rule, "[%s] %s: rule %u",
	    it->rules, it->name, verdict.rule + 1);
	ck_assert_msg(verdict.listed == it->listed, "[%s] %s", it->rules,
	    it->name);
	ck_assert_msg(verdict.lists_below == it->below, "[%s] %s", it->rules,
	    it->name);
	ck_assert(!verdict.localhost);
	ck_assert_int_eq(verdict.style, DENIAL_REFUSED);
	ck_assert_int_eq(verdict.tell, TELL_CODE);
	ck_assert_uint_eq(verdict.policy, AGENT);
	rig_close(&world);
}
END_TEST

/* Whatever is put in front of a rule's name is another name, but for labels
 * of its own where the rule has a star. */
START_TEST(rules_end_at_a_label)
{
	static const char *const rules[] = { "example.com", "*.example.com",
		"**.example.com" };
	static const char octets[] = "abz019-_";
	struct verdict verdict;
	static struct rig world;
	char text[64];

	for (size_t r = 0; r < ARRAY_LEN(rules); r++) {
		rig_open(&world, &RIG_SMALL);
		rig_seal(&world, rules[r]);
		for (size_t i = 0; i < 64; i++) {
			snprintf(text, sizeof(text), "%c%cexample.com",
			    octets[i / 8], octets[i % 8]);
			verdict = rig_match(&world, BOX46, text, A);
			ck_assert_msg(!verdict.listed, "%s: %s", rules[r],
			    text);
			snprintf(text, sizeof(text), "%c.%cexample.com",
			    octets[i / 8], octets[i % 8]);
			verdict = rig_match(&world, BOX46, text, A);
			ck_assert_msg(!verdict.listed, "%s: %s", rules[r],
			    text);
			snprintf(text, sizeof(text), "%c%c.example.com",
			    octets[i / 8], octets[i % 8]);
			verdict = rig_match(&world, BOX46, text, A);
			ck_assert_msg(verdict.listed == (r > 0), "%s: %s",
			    rules[r], text);
		}
		rig_close(&world);
	}
}
END_TEST

static const struct {
	const char *name;
	uint16_t type;
	enum denial denial;
} LOCALHOSTS[] = {
	{ "localhost", A, DENIAL_NONE },
	{ "LOCALHOST.", AAAA, DENIAL_NONE },
	{ "a.b.localhost", A, DENIAL_NONE },
	{ "localhost", DNS_TYPE_ANY, DENIAL_NONE },
	{ "localhost", DNS_TYPE_TXT, DENIAL_SPECIAL_NODATA },
};

START_TEST(localhost)
{
	struct verdict verdict;
	static struct rig world;

	rig_open(&world, &RIG_SMALL);
	rig_seal(&world, "-**.localhost");
	verdict =
	    rig_match(&world, BOX4, LOCALHOSTS[_i].name, LOCALHOSTS[_i].type);
	ck_assert_int_eq(verdict.denial, LOCALHOSTS[_i].denial);
	ck_assert(verdict.localhost);
	verdict = rig_match(&world, BOX4, "localhost.example", A);
	ck_assert(!verdict.localhost);
	rig_close(&world);
}
END_TEST

static const struct {
	uint32_t sandbox;
	uint16_t type;
	enum denial listed, unlisted;
} FAMILIES[] = {
	{ BOX4, A, DENIAL_NONE, DENIAL_UNLISTED },
	{ BOX4, AAAA, DENIAL_FAMILY, DENIAL_UNLISTED },
	{ BOX6, A, DENIAL_FAMILY, DENIAL_UNLISTED },
	{ BOX6, AAAA, DENIAL_NONE, DENIAL_UNLISTED },
	{ BOX46, A, DENIAL_NONE, DENIAL_UNLISTED },
	{ BOX46, AAAA, DENIAL_NONE, DENIAL_UNLISTED },
	{ BOX6, DNS_TYPE_ANY, DENIAL_NONE, DENIAL_UNLISTED },
	{ BOX4, DNS_TYPE_MX, DENIAL_TYPE, DENIAL_UNLISTED },
	/* Another policy, and nobody at all. */
	{ BOX_OTHER, A, DENIAL_UNLISTED, DENIAL_UNLISTED },
	{ 0, A, DENIAL_UNKNOWN_SOURCE, DENIAL_UNKNOWN_SOURCE },
	{ 5, A, DENIAL_UNKNOWN_SOURCE, DENIAL_UNKNOWN_SOURCE },
	{ UINT32_MAX, A, DENIAL_UNKNOWN_SOURCE, DENIAL_UNKNOWN_SOURCE },
};

START_TEST(families)
{
	uint32_t sandbox = FAMILIES[_i].sandbox;
	struct verdict verdict;
	static struct rig world;

	rig_open(&world, &RIG_SMALL);
	rig_seal(&world, "example.com");
	verdict = rig_match(&world, sandbox, "example.com", FAMILIES[_i].type);
	ck_assert_int_eq(verdict.denial, FAMILIES[_i].listed);
	ck_assert(verdict.has4 ==
	    (sandbox == BOX4 || sandbox == BOX46 || sandbox == BOX_OTHER));
	ck_assert(verdict.has6 == (sandbox == BOX6 || sandbox == BOX46));
	verdict =
	    rig_match(&world, sandbox, "b.example.com", FAMILIES[_i].type);
	ck_assert_int_eq(verdict.denial, FAMILIES[_i].unlisted);
	rig_close(&world);
}
END_TEST

START_TEST(verdict_in_full)
{
	struct policy_terms terms = {
		.service_count = 1,
		.private_count = 1,
		.addr_count = 1,
		.services = { { PROTO_TCP, 8080 } },
		.types = RULE_TYPE_A | RULE_TYPE_MX,
	};
	struct policy_rule rule = { .kind = RULE_BELOW, .line = 9 }, again;
	struct verdict verdict;
	static struct rig world;
	uint32_t first, second;

	rig_open(&world, &RIG_SMALL);
	terms.addrs[0] = rig_addr("10.1.2.3");
	terms.private_ok[0] = prefix_of(&terms.addrs[0]);
	rule.name = rig_name("proxy.example.co.uk");
	ck_assert_int_eq(policy_builder_terms(&world.policy, &terms,
			     &rule.terms),
	    POLICY_OK);
	ck_assert_int_eq(policy_builder_rule(&world.policy, AGENT, &rule),
	    POLICY_OK);
	ck_assert_int_eq(policy_builder_seal(&world.policy, &first, &second),
	    POLICY_OK);
	verdict =
	    rig_match(&world, BOX4, "a.b.proxy.example.co.uk", DNS_TYPE_MX);
	ck_assert_int_eq(verdict.denial, DENIAL_NONE);
	ck_assert_int_eq(verdict.kind, RULE_BELOW);
	ck_assert(dname_equal(&verdict.rule_name, &rule.name));
	ck_assert_uint_eq(verdict.rule_name.labels, 4);
	ck_assert_uint_eq(verdict.apex_labels, 3);
	ck_assert_uint_eq(verdict.types, terms.types);
	ck_assert_uint_eq(verdict.service_count, 1);
	ck_assert_uint_eq(verdict.services[0].port, 8080);
	ck_assert_uint_eq(verdict.private_count, 1);
	ck_assert_uint_eq(verdict.private_ok[0].bits, 32);
	ck_assert_uint_eq(verdict.addr_count, 1);
	ck_assert(addr_equal(&verdict.addrs[0], &terms.addrs[0]));
	policy_rule_at(&world.policy, verdict.rule, &again);
	ck_assert(dname_equal(&again.name, &rule.name));
	ck_assert_int_eq(again.kind, RULE_BELOW);
	ck_assert_uint_eq(again.line, 9);
	ck_assert_uint_eq(again.terms, rule.terms);
	ck_assert(!again.deny);
	rig_close(&world);
}
END_TEST

static const struct {
	const char *rules;
	enum policy_error error;
	uint32_t first, second; /* numbers of the rules, from 1 */
} EQUALS[] = {
	{ "example.com example.com", POLICY_EQUAL, 1, 2 },
	{ "a.example example.com b.example example.com", POLICY_EQUAL, 2, 4 },
	{ "*.example.com *.example.com", POLICY_EQUAL, 1, 2 },
	{ "-example.com -EXAMPLE.com.", POLICY_EQUAL, 1, 2 },
	{ "*.example.com **.example.com example.com", POLICY_OK, 0, 0 },
	{ "example.com -example.com", POLICY_OK, 0, 0 },
	{ "+example.com example.com", POLICY_EQUAL, 1, 2 },
	{ "a.example b.example c.example +b.example", POLICY_EQUAL, 2, 4 },
	{ "+a.example +b.example +c.example b.example", POLICY_EQUAL, 2, 4 },
	{ "+-example.com example.com", POLICY_OK, 0, 0 },
	{ "+**.example.com *.example.com", POLICY_OK, 0, 0 },
	{ "", POLICY_OK, 0, 0 },
};

START_TEST(equals)
{
	static struct rig world;
	uint32_t first = UINT32_MAX, second = UINT32_MAX;

	rig_open(&world, &RIG_SMALL);
	rig_add_rules(&world.policy, EQUALS[_i].rules);
	ck_assert_int_eq(policy_builder_seal(&world.policy, &first, &second),
	    EQUALS[_i].error);
	ck_assert_uint_eq(first + 1, EQUALS[_i].first);
	ck_assert_uint_eq(second + 1, EQUALS[_i].second);
	rig_close(&world);
}
END_TEST

/* Two used policies are equal to each other; one that is named twice, or a
 * policy that uses itself, is not. */
START_TEST(equals_between_used)
{
	struct policy_profile profile = { .name = "top",
		.use_count = 3,
		.use = { BASE, BASE, 3 } };
	static struct rig world;
	uint32_t index, first, second;

	rig_open(&world, &RIG_SMALL);
	ck_assert_int_eq(policy_builder_profile(&world.policy, &profile,
			     &index),
	    POLICY_OK);
	ck_assert_uint_eq(index, 3);
	rig_seal(&world, "+example.com");
	rig_close(&world);

	profile.use[1] = AGENT;
	profile.use_count = 2;
	rig_open(&world, &RIG_SMALL);
	world.policy.profiles[AGENT].use_count = 0;
	ck_assert_int_eq(policy_builder_profile(&world.policy, &profile,
			     &index),
	    POLICY_OK);
	rig_add_rules(&world.policy, "+example.com a.example example.com");
	ck_assert_int_eq(policy_builder_seal(&world.policy, &first, &second),
	    POLICY_EQUAL);
	ck_assert_uint_eq(first, 0);
	ck_assert_uint_eq(second, 2);
	rig_close(&world);
}
END_TEST

START_TEST(sandboxes)
{
	struct policy_sandbox twin = { .name = "twin", .source_count = 1 };
	struct addr box6 = rig_addr("2001:db8::6");
	struct addr stranger = rig_addr("192.0.2.5");
	static struct rig world;

	rig_open(&world, &RIG_SMALL);
	rig_seal(&world, "");
	ck_assert_uint_eq(policy_sandbox_by_name(&world.policy, "box6"), BOX6);
	ck_assert_uint_eq(policy_sandbox_by_name(&world.policy, "box"), 0);
	ck_assert_uint_eq(policy_sandbox_by_name(&world.policy, "box66"), 0);
	ck_assert_uint_eq(policy_sandbox_by_source(&world.policy, &box6), BOX6);
	ck_assert_uint_eq(policy_sandbox_by_source(&world.policy, &stranger),
	    0);
	ck_assert_str_eq(policy_sandbox(&world.policy, BOX46)->name, "box46");
	ck_assert_ptr_null(policy_sandbox(&world.policy, 0));
	ck_assert_ptr_null(policy_sandbox(&world.policy, 5));
	rig_close(&world);

	rig_open(&world, &RIG_SMALL);
	twin.sources[0] = box6;
	ck_assert_int_eq(policy_builder_sandbox(&world.policy, &twin),
	    POLICY_NAME_TAKEN);
	rig_close(&world);
}
END_TEST

/* Whether a rule grants: its services, and addresses that are not protected
 * or are excepted. */
static const struct {
	const char *name;
	uint32_t sandbox;
	struct service service;
	const char *addr;
	bool granted;
} GRANTS[] = {
	{ "example.com", BOX46, { PROTO_TCP, 443 }, "8.8.8.8", true },
	{ "example.com", BOX46, { PROTO_UDP, 443 }, "8.8.8.8", true },
	{ "example.com", BOX46, { PROTO_TCP, 80 }, "8.8.8.8", false },
	{ "example.com", BOX46, { PROTO_TCP, 443 }, "2606:4700::1", true },
	{ "example.com", BOX4, { PROTO_TCP, 443 }, "2606:4700::1", false },
	{ "example.com", BOX_OTHER, { PROTO_TCP, 443 }, "8.8.8.8", false },
	{ "example.com", 0, { PROTO_TCP, 443 }, "8.8.8.8", false },
	{ "example.com", 99, { PROTO_TCP, 443 }, "8.8.8.8", false },
	{ "b.example.com", BOX46, { PROTO_TCP, 443 }, "8.8.8.8", false },
	{ "denied.example", BOX46, { PROTO_TCP, 443 }, "8.8.8.8", false },
	{ "example.com", BOX46, { PROTO_TCP, 443 }, "10.5.0.1", false },
	{ "example.com", BOX46, { PROTO_TCP, 443 }, "127.0.0.1", false },
	{ "example.com", BOX46, { PROTO_TCP, 443 }, "172.16.0.9", true },
	{ "localhost", BOX46, { PROTO_TCP, 443 }, "127.0.0.1", false },
	{ "use-application-dns.net", BOX46, { PROTO_TCP, 443 }, "8.8.8.8",
	    false },
	/* TXT alone. */
	{ "txt.example", BOX46, { PROTO_TCP, 443 }, "8.8.8.8", false },
	/* A private prefix, and fixed addresses. */
	{ "db.example", BOX46, { PROTO_TCP, 5432 }, "10.5.0.1", true },
	{ "db.example", BOX46, { PROTO_TCP, 5432 }, "10.6.0.1", false },
	{ "db.example", BOX46, { PROTO_TCP, 443 }, "10.5.0.1", false },
	{ "fixed.example", BOX46, { PROTO_TCP, 443 }, "8.8.4.4", true },
	{ "fixed.example", BOX46, { PROTO_TCP, 443 }, "8.8.8.8", false },
	{ "fixed.example", BOX46, { PROTO_TCP, 443 }, "10.9.9.9", false },
};

static void
add_rule_with(struct policy *policy, const char *name,
    const struct policy_terms *terms)
{
	struct policy_rule rule = { .name = rig_name(name) };

	ck_assert_int_eq(policy_builder_terms(policy, terms, &rule.terms),
	    POLICY_OK);
	ck_assert_int_eq(policy_builder_rule(policy, AGENT, &rule), POLICY_OK);
}

START_TEST(grants)
{
	struct policy_terms db = { .service_count = 1,
		.services = { { PROTO_TCP, 5432 } },
		.private_count = 1,
		.types = RULE_TYPE_A };
	struct policy_terms fixed = { .service_count = 1,
		.services = { { PROTO_TCP, 443 } },
		.addr_count = 2,
		.types = RULE_TYPE_A };
	struct protected_ranges *ranges;
	struct dname name = rig_name(GRANTS[_i].name);
	struct addr addr = rig_addr(GRANTS[_i].addr);
	static struct rig world;

	ck_assert(prefix_parse("10.5.0.0/24", 11, &db.private_ok[0]));
	fixed.addrs[0] = rig_addr("10.9.9.9");
	fixed.addrs[1] = rig_addr("8.8.4.4");
	rig_open(&world, &RIG_SMALL);
	ranges = &world.policy.protected_ranges;
	ck_assert(prefix_parse("172.16.0.0/24", 13, &ranges->except[0]));
	ranges->except_count = 1;
	add_rule_with(&world.policy, "db.example", &db);
	add_rule_with(&world.policy, "fixed.example", &fixed);
	rig_seal(&world,
	    "example.com -denied.example denied.example t:txt.example "
	    "use-application-dns.net");
	ck_assert(policy_grants(&world.policy, GRANTS[_i].sandbox, &name,
		      &GRANTS[_i].service, &addr) == GRANTS[_i].granted);
	rig_close(&world);
}
END_TEST

static const struct {
	const char *rules, *name;
	uint32_t nearest; /* number of the rule, 0: none */
} NEAREST[] = {
	{ "api.example.com www.example.org", "pip.example.com", 1 },
	{ "api.example.com www.example.org", "x.example.org", 2 },
	{ "api.example.com -b.a.example.com", "c.a.example.com", 1 },
	{ "-api.example.com", "x.example.com", 0 },
	{ "api.example.com", "example.net", 0 },
	{ "", "example.net", 0 },
	{ "a.com **.b.example.com +x.c.example.com", "c.example.com", 3 },
	{ "a.com z.com", "m.com", 1 },
	{ "example.com -a.example.com -b.example.com", "c.example.com", 1 },
	{ "-e.example.com -f.example.com zz.example.com", "d.example.com", 3 },
};

START_TEST(nearest)
{
	static struct rig world;
	struct dname name = rig_name(NEAREST[_i].name);

	rig_open(&world, &RIG_SMALL);
	rig_seal(&world, NEAREST[_i].rules);
	ck_assert_uint_eq(policy_nearest(&world.policy, BOX4, &name) + 1,
	    NEAREST[_i].nearest);
	ck_assert_uint_eq(policy_nearest(&world.policy, 0, &name), RULE_NONE);
	rig_close(&world);
}
END_TEST

START_TEST(prints)
{
	char text[DNAME_TEXT_MAX];
	struct dname name = rig_name("example.com");

	ck_assert_uint_eq(policy_rule_print(RULE_EXACT, &name, text), 11);
	ck_assert_str_eq(text, "example.com");
	ck_assert_uint_eq(policy_rule_print(RULE_CHILD, &name, text), 13);
	ck_assert_str_eq(text, "*.example.com");
	ck_assert_uint_eq(policy_rule_print(RULE_BELOW, &name, text), 14);
	ck_assert_str_eq(text, "**.example.com");
}
END_TEST

START_TEST(match_before_seal)
{
	static struct rig world;

	rig_open(&world, &RIG_SMALL);
	rig_match(&world, BOX4, "example.com", A);
}
END_TEST

START_TEST(rule_after_the_last)
{
	struct policy_rule rule;
	static struct rig world;

	rig_open(&world, &RIG_SMALL);
	rig_seal(&world, "example.com");
	policy_rule_at(&world.policy, 1, &rule);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("policy", &all);

	tcase_add_loop_test(all, matches, 0, (int)ARRAY_LEN(MATCHES));
	tcase_add_test(all, rules_end_at_a_label);
	tcase_add_loop_test(all, localhost, 0, (int)ARRAY_LEN(LOCALHOSTS));
	tcase_add_loop_test(all, families, 0, (int)ARRAY_LEN(FAMILIES));
	tcase_add_test(all, verdict_in_full);
	tcase_add_loop_test(all, equals, 0, (int)ARRAY_LEN(EQUALS));
	tcase_add_test(all, equals_between_used);
	tcase_add_test(all, sandboxes);
	tcase_add_loop_test(all, grants, 0, (int)ARRAY_LEN(GRANTS));
	tcase_add_loop_test(all, nearest, 0, (int)ARRAY_LEN(NEAREST));
	tcase_add_test(all, prints);
	policy_bulk_add(all);
	tcase_add_test_raise_signal(all, match_before_seal, SIGABRT);
	tcase_add_test_raise_signal(all, rule_after_the_last, SIGABRT);
	unit_covers("C44 C45 E67 E68 E75 E80 F87");
	return unit_run(suite);
}
