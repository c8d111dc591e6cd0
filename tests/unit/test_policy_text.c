/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/dns.h"
#include "lib/event.h"
#include "lib/require.h"
#include "tests/unit/text_fixture.h"
#include "tests/unit/unit.h"

#define REQUIRED                                                \
	"version: 1\nlisten: [10.200.1.1]\nedge: [veth-box1]\n" \
	"upstream: [9.9.9.9]\n"
#define BOX REQUIRED "sandboxes: {box: {policy: p, source: [10.200.1.2]}}\n"

static struct config *
read_config(const char *text)
{
	struct config *config = NULL;
	struct text_error error;
	char line[1024];

	if (fixture_read(&config, "t.yaml", text, strlen(text), &error) != 0) {
		fixture_print(&error, line);
		ck_abort_msg("%s", line);
	}
	return config;
}

static struct verdict
ask_type(const struct config *config, const char *name, uint16_t type)
{
	struct question question = { .type = type, .class = DNS_CLASS_IN };
	size_t len = strlen(name);

	ck_assert_msg(dname_from_text(name, len, &question.name), "%s", name);
	return policy_match(config->policy, 1, &question);
}

static struct verdict
ask(const struct config *config, const char *name)
{
	return ask_type(config, name, DNS_TYPE_A);
}

START_TEST(audits_are_read_and_warned_of)
{
	struct config *config = read_config(BOX
	    "policies:\n  p: {mode: audit}\n  q: {mode: enforce, use: [p]}\n"
	    "  r: {}\n");
	bool warned = false;

	for (size_t i = 0; i < 3; i++) {
		ck_assert(config->policy->profiles[i].audit == (i == 0));
		ck_assert(config->edge->policies[i].audit == (i == 0));
	}
	for (size_t i = 0; i < config->warning_count; i++)
		warned = warned ||
		    strncmp(config->warnings[i].reason,
			"in audit nothing is "
			"bounded",
			27) == 0;
	ck_assert(warned);
	config_free(config);
}
END_TEST

START_TEST(names_the_alerts_that_cut_off)
{
	struct config *config = read_config(BOX
	    "policies: {p: {quarantine_on: [tunnel-suspected, "
	    "rebinding-blocked]}, q: {use: [p]}, r: {quarantine_on: []}}\n");
	const struct policy_profile *profiles = config->policy->profiles;

	ck_assert(profiles[0].quarantine_on ==
	    (UINT64_C(1) << EVENT_TUNNEL_SUSPECTED |
		UINT64_C(1) << EVENT_REBINDING_BLOCKED));
	/* Rules are what `use` adds, and nothing else. */
	ck_assert(profiles[1].quarantine_on == 0);
	ck_assert(profiles[2].quarantine_on == 0);
	config_free(config);
}
END_TEST

#define KIB (UINT32_C(1024) * TEXT_BUDGET_OCTET)

START_TEST(budgets_are_of_rules_or_their_policy)
{
	struct config *config = read_config(BOX
	    "bounds: {sandbox: 8KiB/day}\n"
	    "policies:\n"
	    "  p: {use: [q], allow: [\"*.a.example\", {name: \"*.b.example\","
	    " budget: 64B/day}], budget: 2KiB/day}\n"
	    "  q: {allow: [\"**.c.example\"], budget_sum: 3KiB/day}\n"
	    "  r: {budget: 1MiB/day}\n");
	const struct policy_profile *profiles = config->policy->profiles;

	ck_assert_uint_eq(ask(config, "x.a.example").budget, 2 * KIB);
	ck_assert_uint_eq(ask(config, "x.b.example").budget, KIB / 16);
	ck_assert_uint_eq(ask(config, "x.c.example").budget, KIB);
	ck_assert_uint_eq(profiles[0].budget, 2 * KIB);
	ck_assert_uint_eq(profiles[0].budget_sum, 32 * KIB);
	ck_assert_uint_eq(profiles[1].budget_sum, 3 * KIB);
	/* What is left out is never more than can be said. */
	ck_assert_uint_eq(profiles[2].budget_sum, 2047 * KIB);
	ck_assert_uint_eq(config->edge->settings.budget_sandbox, 8 * KIB);
	config_free(config);
}
END_TEST

/* The table of rules and questions in the manual. */
START_TEST(rules_mean_what_the_manual_says)
{
	static const struct {
		const char *rules, *name;
		bool allowed;
	} list[] = { { "allow: [example.com]", "EXAMPLE.com.", true },
		{ "allow: [example.com]", "www.example.com", false },
		{ "allow: [\"*.example.com\"]", "a.example.com", true },
		{ "allow: [\"*.example.com\"]", "a.b.example.com", false },
		{ "allow: [\"*.example.com\"]", "example.com", false },
		{ "allow: [\"**.example.com\"]", "a.b.example.com", true },
		{ "allow: [\"*.example.com\", \"**.example.com\"]",
		    "a.example.com", true },
		{ "allow: [\"**.example.com\"], deny: [\"**.b.example.com\"]",
		    "a.b.example.com", false },
		{ "allow: [a.example.com], deny: [\"**.example.com\"]",
		    "a.example.com", false },
		{ "allow: [\"*.example.com\"]", "a=b.example.com", false },
		{ "allow: [b\303\274cher.example]", "xn--bcher-kva.example",
		    true },
		/* Its first a is Cyrillic: another name, however it looks. */
		{ "allow: [paypal.example]", "xn--pypal-4ve.example", false },
		{ "allow: [p\320\260ypal.example]", "paypal.example", false },
		{ "allow: [p\320\260ypal.example]", "xn--pypal-4ve.example",
		    true },
		{ "allow: [EXAMPLE.Com]", "eXample.com", true },
		{ "allow: [{name: \"*.co.uk\", force: true}]", "a.co.uk",
		    true } };
	char text[512];

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		struct config *config;
		struct verdict verdict;

		snprintf(text, sizeof(text), BOX "policies:\n  p: {%s}\n",
		    list[i].rules);
		config = read_config(text);
		verdict = ask(config, list[i].name);
		ck_assert_msg((verdict.denial == DENIAL_NONE) ==
			list[i].allowed,
		    "%s: %s", list[i].rules, list[i].name);
		config_free(config);
	}
}
END_TEST

START_TEST(a_verdict_bears_the_terms_of_its_rule)
{
	struct config *config =
	    read_config(BOX "policies:\n"
			    "  p:\n"
			    "    denial: refused\n"
			    "    tell: code\n"
			    "    ports: [8443]\n"
			    "    types: [A, TXT]\n"
			    "    allow:\n"
			    "      - plain.example.com\n"
			    "      - short.example.com:22,udp/443\n"
			    "      - name: long.example.com\n"
			    "        ports: [tcp/80]\n"
			    "        types: [AAAA, MX]\n"
			    "        private: [10.5.0.0/24]\n"
			    "        addresses: [10.5.0.7, 192.88.100.1]\n"
			    "        reason: a note\n");
	struct verdict plain = ask(config, "plain.example.com");
	struct verdict brief = ask(config, "short.example.com");
	struct verdict full = ask_type(config, "long.example.com", DNS_TYPE_MX);
	struct policy_rule rule;

	ck_assert_int_eq(plain.style, DENIAL_REFUSED);
	ck_assert_int_eq(plain.tell, TELL_CODE);
	ck_assert_uint_eq(plain.service_count, 1);
	ck_assert_uint_eq(plain.services[0].port, 8443);
	ck_assert_uint_eq(plain.types, RULE_TYPE_A | RULE_TYPE_TXT);
	ck_assert_uint_eq(brief.service_count, 2);
	ck_assert_uint_eq(brief.services[0].port, 22);
	ck_assert_uint_eq(brief.services[1].protocol, PROTO_UDP);
	ck_assert_uint_eq(brief.types, RULE_TYPE_A | RULE_TYPE_TXT);
	ck_assert_int_eq(full.denial, DENIAL_NONE);
	ck_assert_uint_eq(full.service_count, 1);
	ck_assert_uint_eq(full.services[0].port, 80);
	ck_assert_uint_eq(full.types, RULE_TYPE_AAAA | RULE_TYPE_MX);
	ck_assert_uint_eq(full.private_count, 1);
	ck_assert_uint_eq(full.private_ok[0].bits, 24);
	ck_assert_uint_eq(full.addr_count, 2);
	policy_rule_at(config->policy, full.rule, &rule);
	ck_assert_uint_eq(rule.line, 15);
	ck_assert_uint_eq(rule.column, 15);
	ck_assert_str_eq(config->policy->files[rule.file], "t.yaml");
	config_free(config);
}
END_TEST

START_TEST(a_policy_that_says_nothing_has_the_defaults)
{
	struct config *config =
	    read_config(BOX "policies: {p: {allow: [a.example.com]}}\n");
	struct verdict verdict = ask(config, "a.example.com");

	ck_assert_int_eq(verdict.style, DENIAL_NXDOMAIN);
	ck_assert_int_eq(verdict.tell, TELL_FULL);
	ck_assert_uint_eq(verdict.service_count, 1);
	ck_assert_uint_eq(verdict.services[0].protocol, PROTO_TCP);
	ck_assert_uint_eq(verdict.services[0].port, 443);
	ck_assert_uint_eq(verdict.types, RULE_TYPE_A | RULE_TYPE_AAAA);
	ck_assert_uint_eq(verdict.private_count, 0);
	ck_assert_uint_eq(verdict.addr_count, 0);
	ck_assert_uint_eq(config->warning_count, 0);
	ck_assert_str_eq(config->suffixes_date, "2026-11-30_00-00-00_UTC");
	config_free(config);
}
END_TEST

START_TEST(lists_are_rules_with_the_terms_of_theirs)
{
	struct config *config = read_config(
	    BOX "policies:\n"
		"  p:\n"
		"    use: [other]\n"
		"    allow: [{list: small, ports: [80]}]\n"
		"    deny: [{list: blocks}]\n"
		"  other:\n"
		"    allow: [ads.example.com, x.ads.example.com]\n");
	struct verdict one = ask(config, "one.example.com");
	struct policy_rule rule;

	ck_assert_int_eq(one.denial, DENIAL_NONE);
	ck_assert_uint_eq(one.services[0].port, 80);
	policy_rule_at(config->policy, one.rule, &rule);
	ck_assert_str_eq(config->policy->files[rule.file], "small.zone");
	ck_assert_uint_eq(rule.line, 4);
	ck_assert_int_eq(ask(config, "a.b.two.example.com").denial,
	    DENIAL_NONE);
	ck_assert_int_ne(ask(config, "two.example.com").denial, DENIAL_NONE);
	ck_assert_int_eq(ask(config, "three.example.com").denial,
	    DENIAL_DENY_RULE);
	ck_assert_int_eq(ask(config, "x.ads.example.com").denial,
	    DENIAL_DENY_RULE);
	ck_assert_int_ne(ask(config, "ads.example.com").denial, DENIAL_NONE);
	config_free(config);
}
END_TEST

START_TEST(one_list_serves_two_policies)
{
	struct config *config = read_config(
	    REQUIRED "policies:\n"
		     "  p: {allow: [{list: small, ports: [80]}]}\n"
		     "  q: {allow: [{list: small, ports: [81]}]}\n"
		     "sandboxes:\n"
		     "  one: {policy: q, source: [10.200.1.2]}\n"
		     "  two: {policy: p, source: [10.200.1.3, \"fd00::3\"]}\n");
	const struct policy_sandbox *two = policy_sandbox(config->policy, 2);

	ck_assert_uint_eq(ask(config, "one.example.com").services[0].port, 81);
	ck_assert_uint_eq(config->policy->file_count, 2);
	ck_assert_str_eq(two->name, "two");
	ck_assert_uint_eq(two->profile, 0);
	ck_assert_uint_eq(two->source_count, 2);
	ck_assert(two->has4 && two->has6);
	ck_assert_uint_eq(policy_sandbox_by_name(config->policy, "one"), 1);
	config_free(config);
}
END_TEST

START_TEST(used_policies_keep_their_own_terms)
{
	struct config *config = read_config(
	    BOX "policies:\n"
		"  p: {use: [base], ports: [22], allow: [a.example.com]}\n"
		"  base: {ports: [80], allow: [b.example.com]}\n");

	ck_assert_uint_eq(ask(config, "a.example.com").services[0].port, 22);
	ck_assert_uint_eq(ask(config, "b.example.com").services[0].port, 80);
	config_free(config);
}
END_TEST

START_TEST(zones_that_are_asked_elsewhere_become_names)
{
	struct config *config = read_config(REQUIRED
	    "forward: {Corp.Example.: [10.1.1.1], b\303\274ro: [10.1.1.2]}\n");
	char text[DNAME_TEXT_MAX];

	dname_print(&config->forward_names[0], text);
	ck_assert_str_eq(text, "corp.example");
	dname_print(&config->forward_names[1], text);
	ck_assert_str_eq(text, "xn--bro-hoa");
	config_free(config);
}
END_TEST

START_TEST(an_absent_suffix_list_is_an_error)
{
	static const uint8_t secret[16] = { 1 };
	struct config *config = NULL;
	struct text_error error;

	ck_assert_int_eq(config_read(&config, "t", REQUIRED, strlen(REQUIRED),
			     NULL, 0, secret, &error),
	    -EINVAL);
	ck_assert_ptr_null(config);
	ck_assert_str_eq(error.reason,
	    "the public suffix list "
	    "\"/usr/share/publicsuffix/public_suffix_list.dat\" was not "
	    "found; install it (Debian: publicsuffix), or write where it is "
	    "in \"public_suffixes\"");
}
END_TEST

/* Wildcards at a suffix need force, those below do not. */
START_TEST(suffixes_bound_wildcards)
{
	static const struct {
		const char *rule;
		bool good;
	} list[] = { { "\"*.example.co.uk\"", true }, { "\"*.co.uk\"", false },
		{ "\"**.uk\"", false }, { "\"*.foo.ck\"", false },
		{ "\"*.www.ck\"", true }, { "\"*.ck\"", false },
		{ "\"*.bar.foo.ck\"", true }, { "\"*.unlisted\"", false },
		{ "\"*.example.unlisted\"", true },
		{ "\"*.amazonaws.com\"", false },
		{ "\"*.eu.amazonaws.com\"", true },
		{ "\"*.b.s3.amazonaws.com\"", true }, { "github.io", true },
		{ "co.uk", true } };
	char text[512];

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		struct config *config = NULL;
		struct text_error error;
		int len = snprintf(text, sizeof(text),
		    BOX "policies:\n  p: {allow: [%s]}\n", list[i].rule);
		int r = fixture_read(&config, "t", text, (size_t)len, &error);

		ck_assert_msg((r == 0) == list[i].good, "%s", list[i].rule);
		config_free(config);
	}
}
END_TEST

static const char warned[] =
    BOX "policies:\n"
	"  p:\n"
	"    denial: nodata\n"
	"    allow:\n"
	"      - a.b.example.com\n"
	"      - {name: c.b.example.com, accept: [denied]}\n"
	"      - ns.example.com:udp/53\n"
	"      - {name: dot.example.com, ports: [853], accept: [dns-port]}\n"
	"      - {name: \"*.example.org\", force: true}\n"
	"      - {name: \"*.example.net\", force: true, accept: "
	"[force-unneeded]}\n"
	"      - {name: \"*.co.uk\", force: true}\n"
	"    deny: [\"**.b.example.com\"]\n"
	"  q: {denial: refused}\n";

START_TEST(warnings_are_given_once_and_can_be_taken)
{
	static const char *const expected[] = {
		"t.yaml:14:16: \"force\" is not needed here [force-unneeded]",
		"t.yaml:8:13: NODATA ends the search lists of clients with "
		"musl at the first denied name; nxdomain does not",
		"t.yaml:18:15: REFUSED makes clients with musl wait 5 seconds "
		"for each denied name; nxdomain does not",
		"t.yaml:18:3: no sandbox has the policy \"q\", and none uses "
		"it",
		"t.yaml:10:9: \"a.b.example.com\" allows nothing: t.yaml:17 "
		"denies it [denied]",
		"t.yaml:12:9: port 53 leads to a resolver that this program "
		"does not govern [dns-port]",
	};
	struct config *config = read_config(warned);
	char line[1024];

	for (size_t i = 0; i < config->warning_count; i++) {
		ck_assert_uint_lt(i, ARRAY_LEN(expected));
		fixture_print(&config->warnings[i], line);
		ck_assert_str_eq(line, expected[i]);
	}
	ck_assert_uint_eq(config->warning_count, ARRAY_LEN(expected));
	config_free(config);
}
END_TEST

START_TEST(warnings_beyond_their_room_are_left_out)
{
	char *text = malloc(16384);
	size_t len = (size_t)snprintf(text, 16384, BOX "policies:\n  p: {}\n");
	struct config *config;

	for (size_t i = 0; i < 100; i++)
		len += (size_t)snprintf(text + len, 16384 - len,
		    "  unused%zu: {}\n", i);
	config = read_config(text);
	ck_assert_uint_eq(config->warning_count, CONFIG_WARNINGS_MAX);
	config_free(config);
	free(text);
}
END_TEST

/* Any prefix of a right file is read or refused, and nothing leaks. */
START_TEST(a_file_may_end_anywhere)
{
	for (size_t size = 0; size < sizeof(warned); size++) {
		struct config *config = NULL;
		struct text_error error;
		int r = fixture_read(&config, "t", warned, size, &error);

		ck_assert(r == 0 || r == -EINVAL);
		ck_assert((r == 0) == (config != NULL));
		config_free(config);
	}
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("policy_text", &all);

	tcase_add_test(all, audits_are_read_and_warned_of);
	tcase_add_test(all, budgets_are_of_rules_or_their_policy);
	tcase_add_test(all, names_the_alerts_that_cut_off);
	tcase_add_test(all, rules_mean_what_the_manual_says);
	tcase_add_test(all, a_verdict_bears_the_terms_of_its_rule);
	tcase_add_test(all, a_policy_that_says_nothing_has_the_defaults);
	tcase_add_test(all, lists_are_rules_with_the_terms_of_theirs);
	tcase_add_test(all, one_list_serves_two_policies);
	tcase_add_test(all, used_policies_keep_their_own_terms);
	tcase_add_test(all, zones_that_are_asked_elsewhere_become_names);
	tcase_add_test(all, an_absent_suffix_list_is_an_error);
	tcase_add_test(all, suffixes_bound_wildcards);
	tcase_add_test(all, warnings_are_given_once_and_can_be_taken);
	tcase_add_test(all, warnings_beyond_their_room_are_left_out);
	tcase_add_test(all, a_file_may_end_anywhere);
	unit_covers("E68 E71 E73 E74");
	return unit_run(suite);
}
