/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "lib/text/edge_follow.h"
#include "lib/text/edge_listeners.h"
#include "tests/unit/unit.h"

#define TOP                                                            \
	"version: 1\nlisten: [127.0.0.9, 10.200.1.1]\nedge: [veth1]\n" \
	"upstream: [9.9.9.9]\npolicies: {p: {}}\nsandboxes:\n"
#define A                                          \
	"  a: {policy: p, source: [10.200.1.2],\n" \
	"    listen: [127.0.0.3@5301, 127.0.0.3]}\n"
#define B "  b: {policy: p, source: [10.200.1.3], listen: []}\n"
#define C                                          \
	"  c: {policy: p, source: [10.200.1.4],\n" \
	"    listen: [127.0.0.2, \"fd00::1@5301\"]}\n"
#define C_OTHER                                    \
	"  c: {policy: p, source: [10.200.1.4],\n" \
	"    listen: [127.0.0.2, \"fd00::1@5302\"]}\n"

static struct yaml_node *
tree_of(const char *text)
{
	struct yaml_node *root = NULL;
	struct text_error error;

	ck_assert_int_eq(yaml_tree_read("t", text, strlen(text), &root, &error),
	    0);
	return root;
}

static struct edge_config *
read_config(const char *text)
{
	struct edge_config *config = NULL;
	struct yaml_node *root = tree_of(text);
	struct text_error error = { .line = 0 };

	ck_assert_msg(edge_config_read(&config, "t", root, &error) == 0, "%s",
	    error.reason);
	yaml_tree_free(root);
	return config;
}

static void
ck_listener(const struct edge_config *config, size_t at, const char *text,
    const char *owner)
{
	const struct endpoint *one = &config->settings.listen[at];
	uint32_t number = config->listen_of[at];
	struct endpoint expected;

	ck_assert(text_endpoint(text, 53, &expected));
	ck_assert(addr_equal(&one->addr, &expected.addr));
	ck_assert_uint_eq(one->port, expected.port);
	if (owner == NULL)
		ck_assert_uint_eq(number, 0);
	else
		ck_assert_str_eq(config->sandboxes[number - 1].name, owner);
}

START_TEST(those_of_sandboxes_stand_behind_by_address)
{
	static const char *const texts[] = { TOP A B C, TOP C B A, TOP B C A };
	struct edge_config *config = read_config(texts[_i]);

	ck_assert_uint_eq(config->settings.listen_count, 6);
	ck_listener(config, 0, "127.0.0.9", NULL);
	ck_listener(config, 1, "10.200.1.1", NULL);
	ck_listener(config, 2, "127.0.0.2", "c");
	ck_listener(config, 3, "127.0.0.3", "a");
	ck_listener(config, 4, "127.0.0.3@5301", "a");
	ck_listener(config, 5, "fd00::1@5301", "c");
	edge_config_free(config);
}
END_TEST

static int
follow(struct edge_config *next, const struct edge_config *before,
    const char *text, struct text_error *ret)
{
	struct edge_before held = { before, edge_numbers_max(before) };
	struct yaml_node *root = tree_of(text);
	int status = edge_follow(next, &held, "t", root, ret);

	yaml_tree_free(root);
	return status;
}

START_TEST(owners_keep_theirs_over_a_reload)
{
	struct edge_config *before = read_config(TOP A B C);
	struct edge_config *next = read_config(TOP C A);
	struct text_error error = { .line = 0 };

	ck_assert_int_eq(follow(next, before, TOP C A, &error), 0);
	ck_assert_uint_eq(next->listen_of[2], 3);
	ck_assert_uint_eq(next->listen_of[3], 1);
	ck_listener(next, 2, "127.0.0.2", "c");
	ck_listener(next, 4, "127.0.0.3@5301", "a");
	edge_config_free(next);
	edge_config_free(before);
}
END_TEST

START_TEST(another_listener_needs_a_restart)
{
	struct edge_config *before = read_config(TOP A B C);
	struct edge_config *next = read_config(TOP A B C_OTHER);
	struct text_error error = { .line = 0 };

	ck_assert_int_ne(follow(next, before, TOP A B C_OTHER, &error), 0);
	ck_assert_ptr_nonnull(strstr(error.reason, "\"listen\" needs"));
	edge_config_free(next);
	edge_config_free(before);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("edge_listeners", &all);

	tcase_add_loop_test(all, those_of_sandboxes_stand_behind_by_address, 0,
	    3);
	tcase_add_test(all, owners_keep_theirs_over_a_reload);
	tcase_add_test(all, another_listener_needs_a_restart);
	return unit_run(suite);
}
