/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/text/edge_uploads.h"

#include <stdlib.h>
#include <string.h>

#include "lib/policy.h"
#include "lib/require.h"
#include "tests/unit/text_fixture.h"
#include "tests/unit/unit.h"

static const char text[] =
    "version: 1\n"
    "listen: [10.200.1.1]\n"
    "edge: [veth1]\n"
    "upstream: [9.9.9.9]\n"
    "policies:\n"
    "  base:\n"
    "    upload: 3MiB/day\n"
    "    allow: [own.example.com, {list: small, ports: [tcp/80]}]\n"
    "  agent:\n"
    "    use: [base]\n"
    "    ports: [tcp/22]\n"
    "    allow:\n"
    "      - {name: two.example.net, upload: 50MiB/day}\n"
    "      - {name: '*.wild.example.net', upload: 1GiB/day,\n"
    "         ports: [udp/443]}\n"
    "      - free.example.net:22,2222\n"
    "  free: {allow: [one.example.com]}\n"
    "  ci: {mode: audit, allow: [{name: a.example.net, upload: 1KiB/day}]}\n"
    "sandboxes:\n"
    "  box1: {policy: agent, source: [10.200.1.2], upload: 2GiB/day}\n"
    "  box2: {policy: free, source: [10.200.1.3]}\n"
    "  box3: {policy: ci, source: [10.200.1.4], upload: 1MiB/day}\n";

#define MIB (UINT64_C(1) << 20)

static struct config *config;
static struct edge_config *edge;

static void
setup(void)
{
	struct text_error error = { .line = 0 };
	char line[1024] = "";
	int r = fixture_read(&config, "t", text, strlen(text), &error);

	if (r != 0)
		fixture_print(&error, line);
	ck_assert_msg(r == 0, "%d %s", r, line);
	edge = config->edge;
}

static void
teardown(void)
{
	config_free(config);
}

static uint64_t
named(const char *name)
{
	return edge_upload_rule(name, strlen(name), false);
}

START_TEST(a_rule_is_known_by_its_text)
{
	static const char *const same[] = { "a.example.com", "A.Example.COM",
		"a.example.com." };
	static const char *const others[] = { "b.example.com", "*.example.com",
		"**.example.com", "example.com", "a.example.com..", "" };

	for (size_t i = 0; i < ARRAY_LEN(same); i++)
		ck_assert_uint_eq(named(same[i]), named(same[0]));
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		ck_assert_uint_ne(named(others[i]), named(same[0]));
	ck_assert_uint_ne(edge_upload_rule("small", 5, true), named("small"));
	/* What was written to a state directory means the same for ever. */
	ck_assert_uint_eq(named("a.example.com"), UINT64_C(0xd42196d4fb09c3df));
}
END_TEST

START_TEST(each_rule_has_its_own_or_its_policys)
{
	const struct {
		uint32_t sandbox;
		uint64_t rule, octets;
	} list[] = {
		{ 1, named("two.example.net"), 50 * MIB },
		{ 1, named("*.wild.example.net"), 1024 * MIB },
		{ 1, named("own.example.com"), 3 * MIB },
		{ 1, edge_upload_rule("small", 5, true), 3 * MIB },
		{ 1, named("free.example.net"), 0 },
		{ 1, named("wild.example.net"), 0 },
		{ 1, EDGE_UPLOAD_SUM, 2048 * MIB },
		{ 2, named("one.example.com"), 0 },
		{ 2, EDGE_UPLOAD_SUM, 0 },
		/* an audit bounds nothing */
		{ 3, named("a.example.net"), 0 },
		{ 3, EDGE_UPLOAD_SUM, 0 },
		{ 0, EDGE_UPLOAD_SUM, 0 },
		{ 4, EDGE_UPLOAD_SUM, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		ck_assert_msg(edge_upload_limit(edge, list[i].sandbox,
				  list[i].rule) == list[i].octets,
		    "%zu", i);
}
END_TEST

START_TEST(a_service_is_covered_where_no_rule_opens_it_without)
{
	const struct {
		uint32_t policy;
		struct service service;
		bool covered;
	} list[] = {
		{ 1, { PROTO_TCP, 443 }, true },
		{ 1, { PROTO_TCP, 80 }, true },
		{ 1, { PROTO_UDP, 443 }, true },
		{ 1, { PROTO_TCP, 22 }, false },
		{ 1, { PROTO_TCP, 2222 }, false },
		{ 2, { PROTO_TCP, 443 }, false },
	};

	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		ck_assert_msg(edge_upload_covers(&edge->policies[list[i]
								     .policy],
				  list[i].service) == list[i].covered,
		    "%zu", i);
}
END_TEST

/* Both readings of the file give a name the same quota. */
START_TEST(the_compiled_rules_say_the_same)
{
	const struct policy *policy = config->policy;
	size_t seen = 0;

	for (uint32_t i = 0; i < policy->rule_count; i++) {
		const struct policy_entry *entry = &policy->entries[i];
		const struct policy_terms *terms = &policy->terms[entry->terms];
		const struct edge_upload *upload =
		    edge_upload_find(&edge->policies[entry->profile],
			terms->upload_rule);

		if (entry->deny)
			continue;
		ck_assert_int_eq(upload != NULL, terms->upload != 0);
		if (upload == NULL)
			continue;
		ck_assert_uint_eq(upload->octets, terms->upload);
		seen++;
	}
	/* own.example.com, two of the list, two rules, and the audit's. */
	ck_assert_uint_eq(seen, 6);
}
END_TEST

START_TEST(the_smaller_of_two_holds)
{
	struct edge_policy policy = { .line = 0 };
	struct edge_upload large = { 7, 100 }, small = { 7, 10 };

	ck_assert_int_eq(edge_upload_insert(&policy, &large), 0);
	ck_assert_int_eq(edge_upload_insert(&policy, &small), 0);
	ck_assert_int_eq(edge_upload_insert(&policy, &large), 0);
	ck_assert_uint_eq(policy.upload_count, 1);
	ck_assert_uint_eq(edge_upload_find(&policy, 7)->octets, 10);
	ck_assert_ptr_null(edge_upload_find(&policy, 8));
	free(policy.uploads);
}
END_TEST

START_TEST(a_member_has_a_sum_of_its_own)
{
	edge->sandboxes[1].each = 1;
	ck_assert_uint_eq(edge_upload_limit(edge, 2, EDGE_UPLOAD_SUM),
	    2048 * MIB);
	edge->sandboxes[1].each = 0;
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("edge_uploads", &all);

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, a_rule_is_known_by_its_text);
	tcase_add_test(all, each_rule_has_its_own_or_its_policys);
	tcase_add_test(all,
	    a_service_is_covered_where_no_rule_opens_it_without);
	tcase_add_test(all, the_compiled_rules_say_the_same);
	tcase_add_test(all, the_smaller_of_two_holds);
	tcase_add_test(all, a_member_has_a_sum_of_its_own);
	return unit_run(suite);
}
