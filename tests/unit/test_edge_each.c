/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/text/edge_each.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "lib/text/edge_attach.h"
#include "lib/text/edge_follow.h"
#include "tests/unit/unit.h"

#define HEAD                                                              \
	"version: 1\nlisten: [10.200.1.1]\nedge: [veth-box1, \"tap*\"]\n" \
	"upstream: [9.9.9.9]\n"                                           \
	"policies: {agent: {}, closed: {}, ci: {}}\n"
#define BOX "sandboxes:\n  box1: {policy: closed, source: [10.200.9.2]}\n"
#define RUNNERS \
	"  runners: {policy: ci, source: [10.200.8.0/24, \
\"fd00:8::/64\"], each: true}\n"
#define TIED \
	"  tied: {policy: closed, source: [10.200.7.0/31], each: true, \
interface: veth-box1}\n"

static struct edge_config *
read_text(const char *text, const struct edge_before *before)
{
	struct edge_config *config = NULL;
	struct yaml_node *root = NULL;
	struct text_error error = { .line = 0 };
	int r = yaml_tree_read("t", text, strlen(text), &root, &error);

	if (r == 0)
		r = edge_config_read(&config, "t", root, &error);
	if (r == 0 && before != NULL)
		r = edge_follow(config, before, "t", root, &error);
	ck_assert_msg(r == 0, "%u:%u: %s", (unsigned)error.line,
	    (unsigned)error.column, error.reason);
	yaml_tree_free(root);
	return config;
}

static struct edge_config *
start(const char *text)
{
	struct edge_config *config = read_text(text, NULL);

	ck_assert_int_eq(edge_attach_reserve(config), 0);
	return config;
}

static struct addr
addr_of(const char *text)
{
	struct addr addr;

	ck_assert(addr_parse(text, strlen(text), &addr));
	return addr;
}

static struct edge_attach
member_of(uint32_t each, uint32_t policy, const char *source,
    const char *interface)
{
	struct edge_attach request = { .name = "x",
		.policy = policy,
		.each = each,
		.sources = { addr_of(source) },
		.source_count = 1 };

	snprintf(request.interface, sizeof(request.interface), "%s", interface);
	return request;
}

START_TEST(prefixes_are_read)
{
	struct edge_config *config = start(HEAD BOX RUNNERS TIED);
	const struct edge_sandbox *runners = &config->sandboxes[1];

	ck_assert(edge_each_any(config));
	ck_assert_uint_eq(config->each_count, 2);
	ck_assert_uint_eq(runners->source_count, 0);
	ck_assert_uint_eq(runners->prefix_count, 2);
	ck_assert_uint_eq(runners->prefixes[0].bits, 24);
	ck_assert_uint_eq(runners->prefixes[1].addr.family, 6);
	ck_assert(edge_sandbox_exists(runners));
	edge_config_free(config);
	config = start(HEAD BOX);
	ck_assert(!edge_each_any(config));
	edge_config_free(config);
}
END_TEST

/* Boxes 1, runners 2, tied 3. */
static const struct {
	const char *addr;
	uint32_t expected;
} whose[] = {
	{ "10.200.8.0", 2 },
	{ "10.200.8.255", 2 },
	{ "10.200.9.0", 0 },
	{ "10.200.7.255", 0 },
	{ "10.200.7.1", 3 },
	{ "10.200.7.2", 0 },
	{ "fd00:8::1", 2 },
	{ "fd00:8:0:1::1", 0 },
	{ "10.200.9.2", 0 },
};

START_TEST(an_address_is_in_one_of_them)
{
	struct edge_config *config = start(HEAD BOX RUNNERS TIED);
	struct addr addr = addr_of(whose[_i].addr);

	ck_assert_uint_eq(edge_each_of(config, &addr), whose[_i].expected);
	ck_assert(
	    edge_attach_covers(config, &addr) == (whose[_i].expected != 0));
	edge_config_free(config);
}
END_TEST

static const struct {
	uint32_t each, policy;
	const char *source, *interface;
	enum edge_attach_error expected;
} cases[] = {
	{ 2, 2, "10.200.8.7", "tap0", EDGE_ATTACH_OK },
	{ 2, 2, "fd00:8::7", "veth-box1", EDGE_ATTACH_OK },
	{ 2, 2, "10.200.8.7", "", EDGE_ATTACH_OK },
	{ 3, 1, "10.200.7.0", "veth-box1", EDGE_ATTACH_OK },
	{ 3, 1, "10.200.7.0", "tap0", EDGE_ATTACH_INTERFACE },
	{ 2, 2, "10.200.8.7", "eth0", EDGE_ATTACH_INTERFACE },
	{ 2, 0, "10.200.8.7", "tap0", EDGE_ATTACH_POLICY },
	{ 2, 3, "10.200.8.7", "tap0", EDGE_ATTACH_POLICY },
	{ 2, UINT32_MAX, "10.200.8.7", "tap0", EDGE_ATTACH_POLICY },
	{ 2, 2, "10.200.7.1", "tap0", EDGE_ATTACH_PREFIX },
	{ 2, 2, "10.200.9.2", "tap0", EDGE_ATTACH_PREFIX },
	{ 2, 2, "10.200.8.200", "tap0", EDGE_ATTACH_OWN },
	{ 1, 1, "10.200.9.2", "tap0", EDGE_ATTACH_POLICY },
	{ 4, 2, "10.200.8.7", "tap0", EDGE_ATTACH_POLICY },
	{ UINT32_MAX, 2, "10.200.8.7", "tap0", EDGE_ATTACH_POLICY },
	/* Without `attach`, who is no member is nobody. */
	{ 0, 2, "10.200.8.7", "tap0", EDGE_ATTACH_OFF },
};

START_TEST(each_request_is_judged)
{
	struct edge_config *config = start(HEAD BOX RUNNERS TIED);
	struct protected_ranges own = { .own = { addr_of("10.200.8.200") },
		.own_count = 1 };
	struct edge_attach request = member_of(cases[_i].each, cases[_i].policy,
	    cases[_i].source, cases[_i].interface);

	ck_assert_int_eq(edge_attach_check(config, &own,
			     edge_attach_number(config), &request),
	    cases[_i].expected);
	edge_config_free(config);
}
END_TEST

/* A policy that anybody may have makes nobody a member. */
START_TEST(a_member_is_of_one_with_prefixes)
{
	struct edge_config *config = start(
	    HEAD "attach: {prefixes: [10.200.6.0/24], policies: [agent]}\n" BOX
		RUNNERS);
	struct edge_attach request = member_of(1, 0, "10.200.6.1", "tap0");
	uint32_t number = edge_attach_number(config);

	ck_assert_int_eq(edge_attach_check(config, NULL, number, &request),
	    EDGE_ATTACH_EACH);
	request.each = UINT32_MAX;
	ck_assert_int_eq(edge_attach_check(config, NULL, number, &request),
	    EDGE_ATTACH_EACH);
	request = member_of(2, 0, "10.200.8.1", "tap0");
	ck_assert_int_eq(edge_attach_check(config, NULL, number, &request),
	    EDGE_ATTACH_OK); /* assigned to it */
	request.sources[request.source_count++] = addr_of("10.200.8.2");
	ck_assert_int_eq(edge_attach_check(config, NULL, number, &request),
	    EDGE_ATTACH_SOURCES);
	request = member_of(0, 0, "10.200.8.1", "tap0");
	ck_assert_int_eq(edge_attach_check(config, NULL, number, &request),
	    EDGE_ATTACH_PREFIX);
	edge_config_free(config);
}
END_TEST

START_TEST(an_address_has_one_member_and_they_are_counted)
{
	struct edge_config *config = start(HEAD BOX RUNNERS);
	struct edge_attach request = member_of(2, 2, "10.200.8.7", "tap0");
	uint32_t first = edge_attach_number(config);

	ck_assert_uint_eq(config->numbers_max - config->file_numbers_max, 4096);
	edge_attach_put(config, first, &request);
	ck_assert_uint_eq(config->sandboxes[first - 1].each, 2);
	ck_assert_int_eq(edge_attach_check(config, NULL, first + 1, &request),
	    EDGE_ATTACH_TAKEN);
	request.sources[0].bytes[3]++;
	ck_assert_int_eq(edge_attach_check(config, NULL, first + 1, &request),
	    EDGE_ATTACH_OK);
	config->settings.attach_count_max = 1;
	ck_assert_int_eq(edge_attach_check(config, NULL, first + 1, &request),
	    EDGE_ATTACH_COUNT);
	edge_config_free(config);
}
END_TEST

START_TEST(names)
{
	struct edge_config *config =
	    start(HEAD BOX "  a-name-of-23-letters-xx: {policy: ci, source: "
			   "[\"fd00:8::/64\", 10.200.8.0/24], each: true}\n");
	struct addr four = addr_of("10.200.8.7");
	struct addr six = addr_of("fd00:8:0:0:1234:5678:9abc:def0");
	char name[EDGE_NAME_MAX];

	edge_each_name(&config->sandboxes[1], &four, name);
	ck_assert_str_eq(name, "a-name-of-23-letters-xx/10.200.8.7");
	edge_each_name(&config->sandboxes[1], &six, name);
	ck_assert_str_eq(name,
	    "a-name-of-23-letters-xx/fd00:8::1234:5678:9abc:def0");
	edge_config_free(config);
}
END_TEST

START_TEST(where_routes_are_asked_for)
{
	static const struct {
		const char *prefix, *expected;
	} firsts[] = { { "10.200.8.0/24", "10.200.8.1" },
		{ "10.200.8.2/31", "10.200.8.2" },
		{ "10.200.8.7/32", "10.200.8.7" },
		{ "10.200.8.4/30", "10.200.8.5" },
		{ "fd00:8::/64", "fd00:8::1" },
		{ "fd00:8::/127", "fd00:8::" } };

	for (size_t i = 0; i < ARRAY_LEN(firsts); i++) {
		struct prefix prefix;
		struct addr first;
		char text[ADDR_TEXT_MAX];

		ck_assert(prefix_parse(firsts[i].prefix,
		    strlen(firsts[i].prefix), &prefix));
		first = edge_each_first(&prefix);
		addr_print(&first, text);
		ck_assert_str_eq(text, firsts[i].expected);
	}
}
END_TEST

/* A member that has its sandbox's policy, and what the next file makes of
 * it. */
static const struct {
	const char *rest;
	enum edge_attach_error expected;
	uint32_t policy;
} carried[] = {
	{ BOX RUNNERS, EDGE_ATTACH_OK, 2 },
	{ BOX "  runners: {policy: agent, source: [10.200.8.0/25], each: "
	      "true}\n",
	    EDGE_ATTACH_OK, 0 },
	{ BOX "  runners: {policy: ci, source: [10.200.8.128/25], each: "
	      "true}\n",
	    EDGE_ATTACH_PREFIX, 0 },
	{ BOX "  runners: {policy: ci, source: [10.200.8.0/24], each: true, "
	      "interface: veth-box1}\n",
	    EDGE_ATTACH_INTERFACE, 0 },
	{ BOX "  runners: {policy: ci, source: [10.200.8.7]}\n",
	    EDGE_ATTACH_OFF, 0 },
	{ BOX "  others: {policy: ci, source: [10.200.8.0/24], each: true}\n",
	    EDGE_ATTACH_OFF, 0 },
	{ BOX, EDGE_ATTACH_OFF, 0 },
};

START_TEST(a_reload_carries_members)
{
	struct edge_config *config = start(HEAD BOX RUNNERS), *next;
	const struct edge_before before = { config, config->file_numbers_max };
	uint32_t first = edge_attach_number(config);
	struct edge_attach request = member_of(2, 2, "10.200.8.7", "tap0");
	char text[2048];

	edge_attach_put(config, first, &request);
	snprintf(text, sizeof(text), HEAD "%s", carried[_i].rest);
	next = read_text(text, &before);
	if (carried[_i].expected == EDGE_ATTACH_OFF)
		ck_assert_int_ne(edge_attach_carry(next, config, first),
		    EDGE_ATTACH_OK);
	else
		ck_assert_int_eq(edge_attach_carry(next, config, first),
		    carried[_i].expected);
	if (carried[_i].expected == EDGE_ATTACH_OK) {
		ck_assert_uint_eq(next->sandboxes[first - 1].policy,
		    carried[_i].policy);
		ck_assert_uint_eq(next->sandboxes[first - 1].each, 2);
	}
	edge_config_free(config);
	edge_config_free(next);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("edge_each");
	TCase *tcase = tcase_create("each");

	tcase_add_test(tcase, prefixes_are_read);
	tcase_add_loop_test(tcase, an_address_is_in_one_of_them, 0,
	    ARRAY_LEN(whose));
	tcase_add_loop_test(tcase, each_request_is_judged, 0, ARRAY_LEN(cases));
	tcase_add_test(tcase, a_member_is_of_one_with_prefixes);
	tcase_add_test(tcase, an_address_has_one_member_and_they_are_counted);
	tcase_add_test(tcase, names);
	tcase_add_test(tcase, where_routes_are_asked_for);
	tcase_add_loop_test(tcase, a_reload_carries_members, 0,
	    ARRAY_LEN(carried));
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
