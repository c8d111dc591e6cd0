/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/text/edge_attach.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "lib/text/edge_follow.h"
#include "tests/unit/unit.h"

#define HEAD                                                              \
	"version: 1\nlisten: [10.200.1.1]\nedge: [veth-box1, \"tap*\"]\n" \
	"upstream: [9.9.9.9, 10.200.9.53]\n"                              \
	"forward: {corp.example: [10.200.9.54]}\n"                        \
	"events: [{syslog: \"udp://10.200.9.55\"}]\n"
#define ATTACH                                                               \
	"attach: {prefixes: [10.200.9.0/24, \"fd00:9::/64\", 10.200.1.0/28," \
	" 169.254.0.0/16], policies: [agent, ci], count_max: 3}\n"
#define REST                                          \
	"policies: {agent: {}, closed: {}, ci: {}}\n" \
	"sandboxes:\n"                                \
	"  box1: {policy: closed, source: [10.200.9.2], labels: {a: b}}\n"

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

/* A request for addresses that are separated by spaces. */
static struct edge_attach
request_of(uint32_t policy, const char *sources, const char *interface)
{
	struct edge_attach request = { .name = "x", .policy = policy };

	snprintf(request.interface, sizeof(request.interface), "%s", interface);
	while (*sources != '\0') {
		size_t len = strcspn(sources, " ");

		ck_assert(addr_parse(sources, len,
		    &request.sources[request.source_count++]));
		sources += len + strspn(sources + len, " ");
	}
	return request;
}

/* Policies by their place: agent 0, closed 1, ci 2. */
static const struct {
	uint32_t policy;
	const char *sources, *interface;
	enum edge_attach_error expected;
} cases[] = {
	{ 0, "10.200.9.3", "tap0", EDGE_ATTACH_OK },
	{ 2, "10.200.9.3 fd00:9::3", "veth-box1", EDGE_ATTACH_OK },
	{ 0, "10.200.9.3", "", EDGE_ATTACH_OK },
	{ 0, "", "tap0", EDGE_ATTACH_SOURCES },
	{ 0, "10.200.9.3 10.200.9.4 10.200.9.3", "tap0", EDGE_ATTACH_SOURCES },
	{ 1, "10.200.9.3", "tap0", EDGE_ATTACH_POLICY },
	{ 3, "10.200.9.3", "tap0", EDGE_ATTACH_POLICY },
	{ UINT32_MAX, "10.200.9.3", "tap0", EDGE_ATTACH_POLICY },
	{ 0, "10.200.10.3", "tap0", EDGE_ATTACH_PREFIX },
	{ 0, "10.200.9.3 fd00:9:0:1::3", "tap0", EDGE_ATTACH_PREFIX },
	{ 0, "10.200.9.2", "tap0", EDGE_ATTACH_TAKEN },
	{ 0, "fd00:9::3 10.200.9.2", "tap0", EDGE_ATTACH_TAKEN },
	{ 0, "10.200.1.1", "tap0", EDGE_ATTACH_OWN }, /* listens */
	{ 0, "10.200.9.53", "tap0", EDGE_ATTACH_OWN }, /* is asked */
	{ 0, "10.200.9.54", "tap0", EDGE_ATTACH_OWN },
	{ 0, "10.200.9.55", "tap0", EDGE_ATTACH_OWN }, /* receives */
	{ 0, "10.200.1.2", "tap0", EDGE_ATTACH_OWN }, /* this host's */
	{ 0, "169.254.169.254", "tap0", EDGE_ATTACH_OWN },
	{ 0, "10.200.9.3", "eth0", EDGE_ATTACH_INTERFACE },
	{ 0, "10.200.9.3", "veth-box10", EDGE_ATTACH_INTERFACE },
};

START_TEST(each_request_is_judged)
{
	struct edge_config *config = start(HEAD ATTACH REST);
	struct protected_ranges own = { .own = { addr_of("10.200.1.2") },
		.own_count = 1 };
	struct edge_attach request = request_of(cases[_i].policy,
	    cases[_i].sources, cases[_i].interface);

	ck_assert_int_eq(edge_attach_check(config, &own,
			     edge_attach_number(config), &request),
	    cases[_i].expected);
	edge_config_free(config);
}
END_TEST

START_TEST(nine_sources_are_too_many)
{
	struct edge_config *config = start(HEAD ATTACH REST);
	struct edge_attach request = request_of(0,
	    "10.200.9.11 10.200.9.12 10.200.9.13 10.200.9.14 "
	    "10.200.9.15 10.200.9.16 10.200.9.17 10.200.9.18",
	    "tap0");
	uint32_t number = edge_attach_number(config);

	ck_assert_int_eq(edge_attach_check(config, NULL, number, &request),
	    EDGE_ATTACH_OK);
	request.source_count = EDGE_SOURCES_MAX + 1;
	ck_assert_int_eq(edge_attach_check(config, NULL, number, &request),
	    EDGE_ATTACH_SOURCES);
	edge_config_free(config);
}
END_TEST

START_TEST(an_overflow_of_own_addresses_closes)
{
	struct edge_config *config = start(HEAD ATTACH REST);
	struct protected_ranges own = { .own_overflow = true };
	struct edge_attach request = request_of(0, "10.200.9.3", "tap0");

	ck_assert_int_eq(edge_attach_check(config, &own,
			     edge_attach_number(config), &request),
	    EDGE_ATTACH_OWN);
	edge_config_free(config);
}
END_TEST

START_TEST(without_attach_nobody_is)
{
	struct edge_config *config = start(HEAD REST);
	struct edge_attach request = request_of(0, "10.200.9.3", "tap0");

	ck_assert_uint_eq(config->numbers_max, config->file_numbers_max);
	ck_assert_uint_eq(edge_attach_number(config), 0);
	ck_assert_int_eq(edge_attach_check(config, NULL, 1000, &request),
	    EDGE_ATTACH_OFF);
	edge_config_free(config);
}
END_TEST

START_TEST(numbers_are_behind_those_of_the_file)
{
	struct edge_config *config = start(HEAD ATTACH REST);
	struct edge_attach request = request_of(0, "10.200.9.3", "tap0");
	uint32_t first = edge_attach_number(config);

	ck_assert_uint_eq(first, config->file_numbers_max + 1);
	ck_assert_uint_eq(config->numbers_max, config->file_numbers_max + 3);
	ck_assert_uint_ge(config->file_numbers_max, 2);
	ck_assert_int_eq(edge_attach_check(config, NULL, 0, &request),
	    EDGE_ATTACH_NUMBER);
	ck_assert_int_eq(edge_attach_check(config, NULL, 1, &request),
	    EDGE_ATTACH_NUMBER);
	ck_assert_int_eq(edge_attach_check(config, NULL, first - 1, &request),
	    EDGE_ATTACH_NUMBER);
	ck_assert_int_eq(edge_attach_check(config, NULL, first + 3, &request),
	    EDGE_ATTACH_NUMBER);
	ck_assert_int_eq(edge_attach_check(config, NULL, UINT32_MAX, &request),
	    EDGE_ATTACH_NUMBER);
	edge_attach_put(config, first, &request);
	request = request_of(0, "10.200.9.4", "tap0");
	ck_assert_int_eq(edge_attach_check(config, NULL, first, &request),
	    EDGE_ATTACH_NUMBER);
	edge_config_free(config);
}
END_TEST

START_TEST(they_come_and_go)
{
	struct edge_config *config = start(HEAD ATTACH REST);
	struct edge_attach one = request_of(2, "10.200.9.3 fd00:9::3", "tap0");
	struct edge_attach two = request_of(0, "fd00:9::4 fd00:9::3", "");
	uint32_t first = edge_attach_number(config);
	const struct edge_sandbox *there;

	edge_attach_put(config, first, &one);
	there = &config->sandboxes[first - 1];
	ck_assert(there->attached && edge_sandbox_exists(there));
	ck_assert_uint_eq(there->policy, 2);
	ck_assert_uint_eq(there->source_count, 2);
	ck_assert_str_eq(there->interface, "tap0");
	ck_assert_uint_eq(config->sandbox_count, first);
	ck_assert_uint_eq(edge_attach_number(config), first + 1);
	ck_assert_int_eq(edge_attach_check(config, NULL, first + 1, &two),
	    EDGE_ATTACH_TAKEN);
	edge_attach_drop(config, first);
	ck_assert(!edge_sandbox_exists(there));
	ck_assert_uint_eq(edge_attach_number(config), first);
	ck_assert_int_eq(edge_attach_check(config, NULL, first + 1, &two),
	    EDGE_ATTACH_OK);
	edge_config_free(config);
}
END_TEST

START_TEST(the_count_is_bounded)
{
	struct edge_config *config = start(HEAD ATTACH REST);
	struct edge_attach request = request_of(0, "10.200.9.10", "tap0");
	uint32_t first = edge_attach_number(config);

	config->numbers_max++; /* not for want of a number */
	for (uint32_t i = 0; i < 3; i++) {
		request.sources[0].bytes[3]++;
		ck_assert_int_eq(edge_attach_check(config, NULL, first + i,
				     &request),
		    EDGE_ATTACH_OK);
		edge_attach_put(config, first + i, &request);
	}
	request.sources[0].bytes[3]++;
	ck_assert_int_eq(edge_attach_check(config, NULL, first + 3, &request),
	    EDGE_ATTACH_COUNT);
	edge_attach_drop(config, first + 1);
	ck_assert_int_eq(edge_attach_check(config, NULL, first + 3, &request),
	    EDGE_ATTACH_OK);
	config->numbers_max--;
	edge_config_free(config);
}
END_TEST

START_TEST(policies_to_be_assigned)
{
	struct edge_config *config = start(HEAD ATTACH REST);
	static const enum edge_attach_error expected[] = { EDGE_ATTACH_OK,
		EDGE_ATTACH_POLICY, EDGE_ATTACH_OK, EDGE_ATTACH_POLICY };

	for (uint32_t i = 0; i < ARRAY_LEN(expected); i++)
		ck_assert_int_eq(edge_attach_check_policy(config, 0, i),
		    expected[i]);
	edge_config_free(config);
}
END_TEST

START_TEST(what_could_be_attached)
{
	struct edge_config *config = start(HEAD ATTACH REST);
	static const struct {
		const char *addr;
		bool expected;
	} addrs[] = { { "10.200.9.200", true }, { "fd00:9::ffff", true },
		{ "10.200.10.0", false }, { "10.200.1.1", false },
		{ "10.200.9.53", false } };

	for (size_t i = 0; i < ARRAY_LEN(addrs); i++) {
		struct addr addr = addr_of(addrs[i].addr);

		ck_assert(
		    edge_attach_covers(config, &addr) == addrs[i].expected);
	}
	edge_config_free(config);
}
END_TEST

/* Two that are attached, to agent and to ci, and what the next file makes of
 * the first. */
static const struct {
	const char *attach, *rest;
	enum edge_attach_error expected;
	uint32_t policy; /* where it is carried */
} carried[] = {
	{ ATTACH, REST, EDGE_ATTACH_OK, 0 },
	/* by name, not by place */
	{ ATTACH, "policies: {new: {}, ci: {}, agent: {}}\n", EDGE_ATTACH_OK,
	    2 },
	{ "", REST, EDGE_ATTACH_OFF, 0 },
	{ "", "policies: {}\n", EDGE_ATTACH_OFF, 0 },
	{ "attach: {prefixes: [10.200.9.0/24], policies: [ci]}\n", REST,
	    EDGE_ATTACH_POLICY, 0 },
	{ "attach: {prefixes: [10.200.9.0/24], policies: [ci], count_max: 3}\n",
	    "policies: {ci: {}}\n", EDGE_ATTACH_POLICY, 0 },
	{ "attach: {prefixes: [10.200.8.0/24], policies: [agent],"
	  " count_max: 3}\n",
	    REST, EDGE_ATTACH_PREFIX, 0 },
	{ ATTACH, REST "  box2: {policy: ci, source: [10.200.9.3]}\n",
	    EDGE_ATTACH_TAKEN, 0 },
};

START_TEST(a_reload_carries_who_may_stay)
{
	struct edge_config *config = start(HEAD ATTACH REST), *next;
	const struct edge_before before = { config, config->file_numbers_max };
	uint32_t first = edge_attach_number(config);
	struct edge_attach request = request_of(0, "10.200.9.3", "tap0");
	char text[2048];

	edge_attach_put(config, first, &request);
	/* With more room than these files ask for where they name none. */
	config->numbers_max = config->file_numbers_max + 4096;
	snprintf(text, sizeof(text), HEAD "%s%s", carried[_i].attach,
	    carried[_i].rest);
	next = read_text(text, &before);
	ck_assert_uint_eq(next->file_numbers_max, config->file_numbers_max);
	ck_assert_uint_eq(next->numbers_max, config->numbers_max);
	ck_assert_int_eq(edge_attach_carry(next, config, first),
	    carried[_i].expected);
	ck_assert_uint_eq(next->attached_count,
	    carried[_i].expected == EDGE_ATTACH_OK ? 1 : 0);
	if (carried[_i].expected == EDGE_ATTACH_OK) {
		const struct edge_sandbox *there = &next->sandboxes[first - 1];

		ck_assert_uint_eq(there->policy, carried[_i].policy);
		ck_assert_str_eq(there->interface, "tap0");
		ck_assert(addr_equal(&there->sources[0], &request.sources[0]));
	}
	config->numbers_max = config->file_numbers_max + 3;
	edge_config_free(config);
	edge_config_free(next);
}
END_TEST

/* Whoever has the lower number stays where not all can. */
START_TEST(a_lower_count_carries_the_first_ones)
{
	struct edge_config *config = start(HEAD ATTACH REST), *next;
	const struct edge_before before = { config, config->file_numbers_max };
	struct edge_attach request = request_of(0, "10.200.9.10", "tap0");
	uint32_t first = edge_attach_number(config);

	for (uint32_t i = 0; i < 3; i++) {
		request.sources[0].bytes[3]++;
		edge_attach_put(config, first + i, &request);
	}
	next = read_text(HEAD "attach: {prefixes: [10.200.9.0/24], policies:"
			      " [agent], count_max: 2}\n" REST,
	    &before);
	ck_assert_int_eq(edge_attach_carry(next, config, first),
	    EDGE_ATTACH_OK);
	ck_assert_int_eq(edge_attach_carry(next, config, first + 1),
	    EDGE_ATTACH_OK);
	ck_assert_int_eq(edge_attach_carry(next, config, first + 2),
	    EDGE_ATTACH_COUNT);
	edge_config_free(config);
	edge_config_free(next);
}
END_TEST

START_TEST(every_error_has_a_sentence)
{
	for (int i = EDGE_ATTACH_OK; i <= EDGE_ATTACH_COUNT; i++)
		ck_assert_uint_gt(strlen(edge_attach_text(
				      (enum edge_attach_error)i)),
		    10);
}
END_TEST

START_TEST(dies_putting_into_the_files_range)
{
	struct edge_config *config = start(HEAD ATTACH REST);
	struct edge_attach request = request_of(0, "10.200.9.3", "tap0");

	edge_attach_put(config, 2, &request);
}
END_TEST

START_TEST(dies_dropping_one_of_the_file)
{
	edge_attach_drop(start(HEAD ATTACH REST), 1);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("edge_attach", &all);

	tcase_add_loop_test(all, each_request_is_judged, 0,
	    (int)ARRAY_LEN(cases));
	tcase_add_test(all, nine_sources_are_too_many);
	tcase_add_test(all, an_overflow_of_own_addresses_closes);
	tcase_add_test(all, without_attach_nobody_is);
	tcase_add_test(all, numbers_are_behind_those_of_the_file);
	tcase_add_test(all, they_come_and_go);
	tcase_add_test(all, the_count_is_bounded);
	tcase_add_test(all, policies_to_be_assigned);
	tcase_add_test(all, what_could_be_attached);
	tcase_add_loop_test(all, a_reload_carries_who_may_stay, 0,
	    (int)ARRAY_LEN(carried));
	tcase_add_test(all, a_lower_count_carries_the_first_ones);
	tcase_add_test(all, every_error_has_a_sentence);
	tcase_add_test_raise_signal(all, dies_putting_into_the_files_range,
	    SIGABRT);
	tcase_add_test_raise_signal(all, dies_dropping_one_of_the_file,
	    SIGABRT);
	return unit_run(suite);
}
