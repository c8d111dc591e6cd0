/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules are written as in a policy, with a sign in front: "-" denies, "+"
 * stands in the policy that is used, "t" allows TXT alone.
 */
#include "lib/policy.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/rng.h"
#include "tests/unit/unit.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static const uint8_t SECRET[16] = { 3, 1, 4, 1, 5 };

enum {
	TERMS_WEB,
	TERMS_TXT,
	TERMS_COUNT
};
enum {
	BASE,
	AGENT,
	OTHER
};
enum {
	BOX4 = 1,
	BOX6,
	BOX46,
	BOX_OTHER
};

struct world {
	struct policy policy;
	void *block;
};

static struct dname
name_of(const char *text)
{
	struct dname name;

	if (strcmp(text, ".") == 0)
		dname_root(&name);
	else
		ck_assert_msg(dname_from_text(text, strlen(text), &name), "%s",
		    text);
	return name;
}

static struct addr
addr_of(const char *text)
{
	struct addr addr;

	ck_assert_msg(addr_parse(text, strlen(text), &addr), "%s", text);
	return addr;
}

static void
add_profile(struct policy *policy, const char *name, enum denial_style style,
    int use)
{
	struct policy_profile profile = { .style = style, .tell = TELL_CODE };
	uint32_t index;

	snprintf(profile.name, sizeof(profile.name), "%s", name);
	if (use >= 0) {
		profile.use_count = 1;
		profile.use[0] = (uint32_t)use;
	}
	ck_assert_int_eq(policy_builder_profile(policy, &profile, &index),
	    POLICY_OK);
}

static void
add_sandbox(struct policy *policy, const char *name, uint32_t profile,
    const char *source4, const char *source6)
{
	struct policy_sandbox sandbox = { .profile = profile };

	snprintf(sandbox.name, sizeof(sandbox.name), "%s", name);
	if (source4 != NULL)
		sandbox.sources[sandbox.source_count++] = addr_of(source4);
	if (source6 != NULL)
		sandbox.sources[sandbox.source_count++] = addr_of(source6);
	ck_assert_int_eq(policy_builder_sandbox(policy, &sandbox), POLICY_OK);
}

static void
add_terms(struct policy *policy)
{
	struct policy_terms web = {
		.service_count = 2,
		.services = { { PROTO_TCP, 443 }, { PROTO_UDP, 443 } },
		.types = RULE_TYPE_A | RULE_TYPE_AAAA,
	};
	struct policy_terms txt = { .types = RULE_TYPE_TXT };
	uint32_t index;

	ck_assert_int_eq(policy_builder_terms(policy, &web, &index), POLICY_OK);
	ck_assert_uint_eq(index, TERMS_WEB);
	ck_assert_int_eq(policy_builder_terms(policy, &txt, &index), POLICY_OK);
	ck_assert_uint_eq(index, TERMS_TXT);
}

static void
world_open(struct world *world, const struct policy_limits *limits)
{
	struct policy *policy = &world->policy;
	struct arena arena;
	struct dname com = name_of("com"), couk = name_of("co.uk");

	arena_init(&arena, NULL, 0);
	policy_builder_init(policy, &arena, limits, SECRET);
	world->block = malloc(arena.used);
	ck_assert_ptr_nonnull(world->block);
	arena_init(&arena, world->block, arena.used);
	policy_builder_init(policy, &arena, limits, SECRET);
	ck_assert(!arena.exhausted);
	ck_assert(apex_table_add(&policy->apex, &com, APEX_NORMAL));
	ck_assert(apex_table_add(&policy->apex, &couk, APEX_NORMAL));
	add_profile(policy, "base", DENIAL_NXDOMAIN, -1);
	add_profile(policy, "agent", DENIAL_REFUSED, BASE);
	add_profile(policy, "other", DENIAL_NODATA, -1);
	add_sandbox(policy, "box4", AGENT, "192.0.2.4", NULL);
	add_sandbox(policy, "box6", AGENT, NULL, "2001:db8::6");
	add_sandbox(policy, "box46", AGENT, "192.0.2.46", "2001:db8::46");
	add_sandbox(policy, "lone", OTHER, "192.0.2.9", NULL);
	add_terms(policy);
}

static const struct policy_limits SMALL = {
	.rules_max = 16,
	.terms_max = 8,
	.profiles_max = 8,
	.sandboxes_max = 8,
	.files_max = 2,
	.suffixes_max = 8,
};

static enum policy_error
add_rule(struct policy *policy, const char *text, size_t len, uint32_t line)
{
	struct policy_rule rule = { .line = line, .terms = TERMS_WEB };
	uint32_t profile = AGENT;

	for (; len > 0 && strchr("-+t", text[0]) != NULL; text++, len--) {
		if (text[0] == '-')
			rule.deny = true;
		else if (text[0] == '+')
			profile = BASE;
		else if (len > 1 && text[1] == ':')
			rule.terms = TERMS_TXT;
		else
			break;
		if (text[0] == 't') {
			text++;
			len--;
		}
	}
	if (len > 3 && memcmp(text, "**.", 3) == 0) {
		rule.kind = RULE_BELOW;
		text += 3;
		len -= 3;
	} else if (len > 2 && memcmp(text, "*.", 2) == 0) {
		rule.kind = RULE_CHILD;
		text += 2;
		len -= 2;
	}
	ck_assert(dname_from_text(text, len, &rule.name));
	return policy_builder_rule(policy, profile, &rule);
}

/* Adds rules that blanks separate; line is the number of the rule, from 1. */
static void
add_rules(struct policy *policy, const char *rules)
{
	uint32_t line = 1;
	size_t len;

	while (*rules != '\0') {
		len = strcspn(rules, " ");
		ck_assert_int_eq(add_rule(policy, rules, len, line++),
		    POLICY_OK);
		rules += len + strspn(rules + len, " ");
	}
}

static void
world_seal(struct world *world, const char *rules)
{
	uint32_t first = 0, second = 0;

	add_rules(&world->policy, rules);
	ck_assert_int_eq(policy_builder_seal(&world->policy, &first, &second),
	    POLICY_OK);
}

static void
world_close(struct world *world)
{
	free(world->block);
}

static struct verdict
match(const struct world *world, uint32_t sandbox, const char *name,
    uint16_t type)
{
	struct question question = { .type = type, .class = DNS_CLASS_IN };

	question.name = name_of(name);
	return policy_match(&world->policy, sandbox, &question);
}

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
	static struct world world;

	world_open(&world, &SMALL);
	world_seal(&world, it->rules);
	verdict = match(&world, BOX46, it->name, it->type);
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
	world_close(&world);
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
	static struct world world;

	world_open(&world, &SMALL);
	world_seal(&world, "-**.localhost");
	verdict = match(&world, BOX4, LOCALHOSTS[_i].name, LOCALHOSTS[_i].type);
	ck_assert_int_eq(verdict.denial, LOCALHOSTS[_i].denial);
	ck_assert(verdict.localhost);
	verdict = match(&world, BOX4, "localhost.example", A);
	ck_assert(!verdict.localhost);
	world_close(&world);
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
	static struct world world;

	world_open(&world, &SMALL);
	world_seal(&world, "example.com");
	verdict = match(&world, sandbox, "example.com", FAMILIES[_i].type);
	ck_assert_int_eq(verdict.denial, FAMILIES[_i].listed);
	ck_assert(verdict.has4 ==
	    (sandbox == BOX4 || sandbox == BOX46 || sandbox == BOX_OTHER));
	ck_assert(verdict.has6 == (sandbox == BOX6 || sandbox == BOX46));
	verdict = match(&world, sandbox, "b.example.com", FAMILIES[_i].type);
	ck_assert_int_eq(verdict.denial, FAMILIES[_i].unlisted);
	world_close(&world);
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
	static struct world world;
	uint32_t first, second;

	world_open(&world, &SMALL);
	terms.addrs[0] = addr_of("10.1.2.3");
	terms.private_ok[0] = prefix_of(&terms.addrs[0]);
	rule.name = name_of("proxy.example.co.uk");
	ck_assert_int_eq(policy_builder_terms(&world.policy, &terms,
			     &rule.terms),
	    POLICY_OK);
	ck_assert_int_eq(policy_builder_rule(&world.policy, AGENT, &rule),
	    POLICY_OK);
	ck_assert_int_eq(policy_builder_seal(&world.policy, &first, &second),
	    POLICY_OK);
	verdict = match(&world, BOX4, "a.b.proxy.example.co.uk", DNS_TYPE_MX);
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
	world_close(&world);
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
	static struct world world;
	uint32_t first = UINT32_MAX, second = UINT32_MAX;

	world_open(&world, &SMALL);
	add_rules(&world.policy, EQUALS[_i].rules);
	ck_assert_int_eq(policy_builder_seal(&world.policy, &first, &second),
	    EQUALS[_i].error);
	ck_assert_uint_eq(first + 1, EQUALS[_i].first);
	ck_assert_uint_eq(second + 1, EQUALS[_i].second);
	world_close(&world);
}
END_TEST

/* Two used policies are equal to each other; one that is named twice, or a
 * policy that uses itself, is not. */
START_TEST(equals_between_used)
{
	struct policy_profile profile = { .name = "top",
		.use_count = 3,
		.use = { BASE, BASE, 3 } };
	static struct world world;
	uint32_t index, first, second;

	world_open(&world, &SMALL);
	ck_assert_int_eq(policy_builder_profile(&world.policy, &profile,
			     &index),
	    POLICY_OK);
	ck_assert_uint_eq(index, 3);
	world_seal(&world, "+example.com");
	world_close(&world);

	profile.use[1] = AGENT;
	profile.use_count = 2;
	world_open(&world, &SMALL);
	world.policy.profiles[AGENT].use_count = 0;
	ck_assert_int_eq(policy_builder_profile(&world.policy, &profile,
			     &index),
	    POLICY_OK);
	add_rules(&world.policy, "+example.com a.example example.com");
	ck_assert_int_eq(policy_builder_seal(&world.policy, &first, &second),
	    POLICY_EQUAL);
	ck_assert_uint_eq(first, 0);
	ck_assert_uint_eq(second, 2);
	world_close(&world);
}
END_TEST

START_TEST(limits_hold)
{
	struct policy_limits limits = SMALL;
	struct policy_profile profile = { .name = "agent" };
	struct policy_sandbox sandbox = { .name = "box4", .profile = AGENT };
	struct policy_terms terms = { .types = RULE_TYPE_A };
	static struct world world;
	uint32_t index = 0;

	limits.rules_max = 2;
	limits.terms_max = TERMS_COUNT;
	limits.profiles_max = 3;
	limits.sandboxes_max = 4;
	limits.files_max = 1;
	world_open(&world, &limits);
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
	ck_assert_int_eq(add_rule(&world.policy, "a.example", 9, 1), POLICY_OK);
	ck_assert_int_eq(add_rule(&world.policy, "b.example", 9, 1), POLICY_OK);
	ck_assert_int_eq(add_rule(&world.policy, "c.example", 9, 1),
	    POLICY_FULL);
	world_close(&world);
}
END_TEST

START_TEST(limit_of_name_octets)
{
	struct policy_limits limits = SMALL;
	static struct world world;

	limits.name_octets_max = 25;
	world_open(&world, &limits);
	ck_assert_int_eq(add_rule(&world.policy, "a.example", 9, 1), POLICY_OK);
	ck_assert_int_eq(add_rule(&world.policy, "b.example", 9, 1), POLICY_OK);
	ck_assert_int_eq(add_rule(&world.policy, "c.example", 9, 1),
	    POLICY_FULL);
	ck_assert_int_eq(add_rule(&world.policy, "c.d", 3, 1), POLICY_OK);
	world_close(&world);
}
END_TEST

START_TEST(sandboxes)
{
	struct policy_sandbox twin = { .name = "twin", .source_count = 1 };
	struct addr box6 = addr_of("2001:db8::6");
	struct addr stranger = addr_of("192.0.2.5");
	static struct world world;

	world_open(&world, &SMALL);
	world_seal(&world, "");
	ck_assert_uint_eq(policy_sandbox_by_name(&world.policy, "box6"), BOX6);
	ck_assert_uint_eq(policy_sandbox_by_name(&world.policy, "box"), 0);
	ck_assert_uint_eq(policy_sandbox_by_name(&world.policy, "box66"), 0);
	ck_assert_uint_eq(policy_sandbox_by_source(&world.policy, &box6), BOX6);
	ck_assert_uint_eq(policy_sandbox_by_source(&world.policy, &stranger),
	    0);
	ck_assert_str_eq(policy_sandbox(&world.policy, BOX46)->name, "box46");
	ck_assert_ptr_null(policy_sandbox(&world.policy, 0));
	ck_assert_ptr_null(policy_sandbox(&world.policy, 5));
	world_close(&world);

	world_open(&world, &SMALL);
	twin.sources[0] = box6;
	ck_assert_int_eq(policy_builder_sandbox(&world.policy, &twin),
	    POLICY_NAME_TAKEN);
	world_close(&world);
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
	struct policy_rule rule = { .name = name_of(name) };

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
	struct dname name = name_of(GRANTS[_i].name);
	struct addr addr = addr_of(GRANTS[_i].addr);
	static struct world world;

	ck_assert(prefix_parse("10.5.0.0/24", 11, &db.private_ok[0]));
	fixed.addrs[0] = addr_of("10.9.9.9");
	fixed.addrs[1] = addr_of("8.8.4.4");
	world_open(&world, &SMALL);
	ranges = &world.policy.protected_ranges;
	ck_assert(prefix_parse("172.16.0.0/24", 13, &ranges->except[0]));
	ranges->except_count = 1;
	add_rule_with(&world.policy, "db.example", &db);
	add_rule_with(&world.policy, "fixed.example", &fixed);
	world_seal(&world,
	    "example.com -denied.example denied.example t:txt.example "
	    "use-application-dns.net");
	ck_assert(policy_grants(&world.policy, GRANTS[_i].sandbox, &name,
		      &GRANTS[_i].service, &addr) == GRANTS[_i].granted);
	world_close(&world);
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
	static struct world world;
	struct dname name = name_of(NEAREST[_i].name);

	world_open(&world, &SMALL);
	world_seal(&world, NEAREST[_i].rules);
	ck_assert_uint_eq(policy_nearest(&world.policy, BOX4, &name) + 1,
	    NEAREST[_i].nearest);
	ck_assert_uint_eq(policy_nearest(&world.policy, 0, &name), RULE_NONE);
	world_close(&world);
}
END_TEST

START_TEST(prints)
{
	char text[DNAME_TEXT_MAX];
	struct dname name = name_of("example.com");

	ck_assert_uint_eq(policy_rule_print(RULE_EXACT, &name, text), 11);
	ck_assert_str_eq(text, "example.com");
	ck_assert_uint_eq(policy_rule_print(RULE_CHILD, &name, text), 13);
	ck_assert_str_eq(text, "*.example.com");
	ck_assert_uint_eq(policy_rule_print(RULE_BELOW, &name, text), 14);
	ck_assert_str_eq(text, "**.example.com");
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
		label = LABELS[rng_below(rng, COUNT(LABELS))];
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
		rule.name = name_of(text);
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
	static struct world world;
	struct dname name;
	char text[64];
	int i;

	rng_init(&rng, seed);
	world_open(&world, &SMALL);
	naive_fill(&naive, &rng, &world.policy);
	ck_assert_int_eq(policy_builder_seal(&world.policy, &first, &second),
	    POLICY_OK);
	for (i = 0; i < 200; i++) {
		random_name(&rng, text, 6);
		name = name_of(text);
		allow = naive_best(&naive, &name, false);
		deny = naive_best(&naive, &name, true);
		verdict = match(&world, BOX4, text, A);
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
	world_close(&world);
}
END_TEST

/* 200,000 rules are sealed in seconds even where a sanitizer looks on, and the
 * first and last of them are found. */
START_TEST(many)
{
	struct policy_limits limits = SMALL;
	static struct world world;
	clock_t start;
	char text[64];
	uint32_t i;
	int len;

	limits.rules_max = 200000;
	limits.name_octets_max = 200000 * 32;
	world_open(&world, &limits);
	for (i = 0; i < limits.rules_max; i++) {
		len = snprintf(text, sizeof(text), "h%u.d%u.example.com",
		    i * 7919 % 200000, i % 1000);
		ck_assert_int_eq(add_rule(&world.policy, text, (size_t)len, i),
		    POLICY_OK);
	}
	start = clock();
	world_seal(&world, "");
	ck_assert_int_lt(clock() - start, 3 * CLOCKS_PER_SEC);
	ck_assert_int_eq(match(&world, BOX4, "h0.d0.example.com", A).denial,
	    DENIAL_NONE);
	ck_assert_int_eq(match(&world, BOX4, text, A).denial, DENIAL_NONE);
	ck_assert_int_eq(match(&world, BOX4, "d999.example.com", A).denial,
	    DENIAL_PARENT);
	ck_assert_int_eq(match(&world, BOX4, "h0.d1.example.com", A).denial,
	    DENIAL_UNLISTED);
	world_close(&world);
}
END_TEST

START_TEST(match_before_seal)
{
	static struct world world;

	world_open(&world, &SMALL);
	match(&world, BOX4, "example.com", A);
}
END_TEST

START_TEST(rule_after_the_last)
{
	struct policy_rule rule;
	static struct world world;

	world_open(&world, &SMALL);
	world_seal(&world, "example.com");
	policy_rule_at(&world.policy, 1, &rule);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("policy", &all);

	tcase_add_loop_test(all, matches, 0, COUNT(MATCHES));
	tcase_add_loop_test(all, localhost, 0, COUNT(LOCALHOSTS));
	tcase_add_loop_test(all, families, 0, COUNT(FAMILIES));
	tcase_add_test(all, verdict_in_full);
	tcase_add_loop_test(all, equals, 0, COUNT(EQUALS));
	tcase_add_test(all, equals_between_used);
	tcase_add_test(all, limits_hold);
	tcase_add_test(all, limit_of_name_octets);
	tcase_add_test(all, sandboxes);
	tcase_add_loop_test(all, grants, 0, COUNT(GRANTS));
	tcase_add_loop_test(all, nearest, 0, COUNT(NEAREST));
	tcase_add_test(all, prints);
	tcase_add_loop_test(all, against_naive, 0, 50);
	tcase_add_test(all, many);
	tcase_add_test_raise_signal(all, match_before_seal, SIGABRT);
	tcase_add_test_raise_signal(all, rule_after_the_last, SIGABRT);
	return unit_run(suite);
}
