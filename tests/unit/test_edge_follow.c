/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/text/edge_follow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/edge_attach.h"
#include "tests/unit/unit.h"

#define FIXED                                                           \
	"version: 1\nlisten: [10.200.1.1]\nedge: [\"tap*\"]\nuser: u\n" \
	"control: {path: /run/c}\nnft: {table: t}\nstate_dir: /s\n"     \
	"limits: {queries: 2000}\n"
#define REQUIRED FIXED "upstream: [9.9.9.9]\n"

static struct edge_config *
read_text(const char *text, const struct edge_before *before, int expected,
    struct text_error *error)
{
	struct edge_config *config = NULL;
	struct yaml_node *root = NULL;
	int r = yaml_tree_read("t", text, strlen(text), &root, error);

	if (r == 0)
		r = edge_config_read(&config, "t", root, error);
	ck_assert_msg(r == 0, "%u:%u: %s", (unsigned)error->line,
	    (unsigned)error->column, error->reason);
	if (before != NULL)
		r = edge_follow(config, before, "t", root, error);
	ck_assert_int_eq(r, expected);
	yaml_tree_free(root);
	return config;
}

/* A configuration with these sandboxes, each a letter with an address of its
 * own, after another one. */
static struct edge_config *
read_boxes(const char *letters, const struct edge_config *after)
{
	const struct edge_before before = { after, 8 };
	struct text_error error;
	char text[2048];
	int len = snprintf(text, sizeof(text),
	    REQUIRED "policies: {p: {}}\nsandboxes:%s\n",
	    *letters == '\0' ? " {}" : "");

	for (; *letters != '\0'; letters++)
		len += snprintf(text + len, sizeof(text) - (size_t)len,
		    "  %c: {policy: p, source: [10.200.2.%d]}\n", *letters,
		    *letters);
	return read_text(text, after != NULL ? &before : NULL, 0, &error);
}

static void
ck_numbers(const struct edge_config *config, const char *expected)
{
	char text[64] = "";

	for (size_t i = 0; i < config->sandbox_count; i++) {
		const struct edge_sandbox *sandbox = &config->sandboxes[i];

		ck_assert(edge_sandbox_exists(sandbox) ==
		    (sandbox->source_count > 0));
		text[i] = edge_sandbox_exists(sandbox) ? sandbox->name[0] : '-';
		if (text[i] != '-')
			ck_assert_uint_eq(sandbox->sources[0].bytes[3],
			    (uint8_t)text[i]);
	}
	ck_assert_str_eq(text, expected);
}

/* Each step's file, and who has the numbers 1, 2, … after it. */
static const struct step {
	const char *file, *numbers;
} steps[][6] = {
	{ { "abc", "abc" }, { "cba", "abc" }, { "abc", "abc" } },
	{ { "abc", "abc" }, { "ac", "a-c" }, { "abc", "abc" } },
	{ { "ab", "ab" }, { "xab", "abx" }, { "ba", "ab" }, { "yb", "-by" },
	    { "zyb", "zby" } },
	/* Who goes and who comes at once never share a number. */
	{ { "abc", "abc" }, { "xbc", "-bcx" }, { "xbcd", "dbcx" } },
	{ { "ab", "ab" }, { "xy", "--xy" }, { "ab", "ab" } },
	{ { "ab", "ab" }, { "", "" }, { "ba", "ba" } },
	{ { "", "" }, { "a", "a" } },
	{ { "abcd", "abcd" }, { "efgh", "----efgh" }, { "abcd", "abcd" } },
};

START_TEST(a_number_stays_with_its_name)
{
	struct edge_config *config = NULL;

	for (size_t i = 0; i < 6 && steps[_i][i].file != NULL; i++) {
		struct edge_config *next =
		    read_boxes(steps[_i][i].file, config);

		edge_config_free(config);
		config = next;
		ck_numbers(config, steps[_i][i].numbers);
	}
	edge_config_free(config);
}
END_TEST

START_TEST(there_are_no_more_numbers_than_there_is_room)
{
	struct edge_config *first = read_boxes("abcdefgh", NULL);
	const struct edge_before before = { first, 8 };
	struct text_error error;
	struct edge_config *next =
	    read_text(REQUIRED "policies: {p: {}}\nsandboxes:\n"
			       "  x: {policy: p, source: [10.200.2.1]}\n",
		&before, -EINVAL, &error);

	ck_assert_uint_eq(error.line, 12);
	ck_assert_ptr_nonnull(strstr(error.reason, "restart"));
	ck_assert_uint_eq(next->sandbox_count, 1);
	edge_config_free(next);
	edge_config_free(first);
}
END_TEST

static const struct {
	const char *text;
	const char *key; /* NULL: may change */
	unsigned line;
} changes[] = {
	{ REQUIRED, NULL, 0 },
	{ FIXED "upstream: [9.9.9.10]\n", NULL, 0 },
	{ REQUIRED "ttl: {floor: 9s}\npins: {floor: 90s}\n", NULL, 0 },
	{ REQUIRED "labels: {a: b}\n", NULL, 0 },
	{ REQUIRED "events: [{file: /e}]\n", NULL, 0 },
	{ "version: 1\nlisten: [10.200.1.2]\nedge: [\"tap*\"]\nuser: u\n"
	  "upstream: [9.9.9.9]\n",
	    "listen", 2 },
	{ "version: 1\nlisten: [10.200.1.1@54]\nedge: [\"tap*\"]\n"
	  "upstream: [9.9.9.9]\n",
	    "listen", 2 },
	{ "version: 1\nlisten: [10.200.1.1]\nedge: [\"tap*\", x]\n"
	  "upstream: [9.9.9.9]\n",
	    "edge", 3 },
	{ "version: 1\nlisten: [10.200.1.1]\nedge: [\"tap*\"]\n"
	  "upstream: [9.9.9.9]\ncontrol: {path: /run/d}\n",
	    "control", 5 },
	{ "version: 1\nlisten: [10.200.1.1]\nedge: [\"tap*\"]\n"
	  "upstream: [9.9.9.9]\ncontrol: {path: /run/c}\nuser: v\n",
	    "user", 6 },
	{ "version: 1\nlisten: [10.200.1.1]\nedge: [\"tap*\"]\nuser: u\n"
	  "upstream: [9.9.9.9]\ncontrol: {path: /run/c}\nnft: {table: s}\n",
	    "nft", 7 },
	{ "version: 1\nlisten: [10.200.1.1]\nedge: [\"tap*\"]\nuser: u\n"
	  "upstream: [9.9.9.9]\ncontrol: {path: /run/c}\nnft: {table: t}\n"
	  "limits: {queries: 2001}\n",
	    "limits", 8 },
	/* A key that was taken out: the file as a whole is where it stands. */
	{ "version: 1\nlisten: [10.200.1.1]\nedge: [\"tap*\"]\nuser: u\n"
	  "upstream: [9.9.9.9]\ncontrol: {path: /run/c}\nnft: {table: t}\n",
	    "limits", 1 },
	{ "version: 1\nlisten: [10.200.1.1]\nedge: [\"tap*\"]\nuser: u\n"
	  "upstream: [9.9.9.9]\ncontrol: {path: /run/c}\nnft: {table: t}\n"
	  "limits: {queries: 2000}\nstate_dir: /r\n",
	    "state_dir", 9 },
};

START_TEST(what_needs_a_restart_is_refused_by_its_key)
{
	struct text_error error = { .line = 0 };
	struct edge_config *first = read_text(REQUIRED, NULL, 0, &error);
	const struct edge_before before = { first, 8 };
	const char *key = changes[_i].key;
	char expected[128];
	struct edge_config *next = read_text(changes[_i].text, &before,
	    key != NULL ? -EINVAL : 0, &error);

	if (key != NULL) {
		(void)snprintf(expected, sizeof(expected),
		    "\"%s\" needs a restart to change; nothing was changed",
		    key);
		ck_assert_str_eq(error.reason, expected);
		ck_assert_uint_eq(error.line, changes[_i].line);
	}
	edge_config_free(next);
	edge_config_free(first);
}
END_TEST

START_TEST(a_run_has_room_for_all_to_be_replaced)
{
	static struct edge_config config = { .sandbox_count = 4096 };

	ck_assert_uint_ge(edge_numbers_max(&config), 2 * 4096);
	config.sandbox_count = 0;
	ck_assert_uint_ge(edge_numbers_max(&config), 100);
}
END_TEST

/* Whoever is attached has no name that a file could mean, and more of them
 * than there is room for need a restart. */
START_TEST(attached_ones_are_no_part_of_it)
{
	static const char attach[] =
	    "policies: {p: {}}\nattach: {policies: [p], prefixes:"
	    " [10.200.9.0/24], count_max: %d}\nsandboxes:\n"
	    "  %s: {policy: p, source: [10.200.2.2]}\n";
	struct edge_attach request = { .name = "z", .source_count = 1 };
	struct edge_config *config, *next;
	struct edge_before before;
	struct text_error error;
	char text[1024];
	uint32_t number;

	snprintf(text, sizeof(text), "%s", REQUIRED);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), attach, 5,
	    "a");
	config = read_text(text, NULL, 0, &error);
	ck_assert_int_eq(edge_attach_reserve(config), 0);
	before = (struct edge_before){ config, config->file_numbers_max };
	number = edge_attach_number(config);
	edge_attach_put(config, number, &request);
	snprintf(text, sizeof(text), "%s", REQUIRED);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), attach, 5,
	    "z");
	next = read_text(text, &before, 0, &error);
	ck_assert_uint_eq(next->sandbox_count, 2);
	ck_assert_str_eq(next->sandboxes[1].name, "z");
	ck_assert(!next->sandboxes[1].attached);
	edge_config_free(next);
	snprintf(text, sizeof(text), "%s", REQUIRED);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), attach, 6,
	    "z");
	next = read_text(text, &before, -EINVAL, &error);
	ck_assert_str_eq(error.reason,
	    "there is room for 5 attached sandboxes since the start, not for "
	    "6; restart, or lower attach.count_max");
	edge_config_free(next);
	edge_config_free(config);
}
END_TEST

int
main(void)
{
	TCase *tests;
	Suite *suite = unit_suite("edge_follow", &tests);

	tcase_add_loop_test(tests, a_number_stays_with_its_name, 0,
	    sizeof(steps) / sizeof(steps[0]));
	tcase_add_test(tests, there_are_no_more_numbers_than_there_is_room);
	tcase_add_loop_test(tests, what_needs_a_restart_is_refused_by_its_key,
	    0, sizeof(changes) / sizeof(changes[0]));
	tcase_add_test(tests, a_run_has_room_for_all_to_be_replaced);
	tcase_add_test(tests, attached_ones_are_no_part_of_it);
	return unit_run(suite);
}
