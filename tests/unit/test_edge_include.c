/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "lib/text/edge_include.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/text/edge_text.h"
#include "tests/unit/unit.h"

#define REQUIRED                                            \
	"version: 1\nlisten: [10.200.1.1]\nedge: [veth0]\n" \
	"upstream: [9.9.9.9]\n"
#define BOX(name, last) "  " name ": {policy: p, source: [10.200.2." last "]}\n"

static char dir[64];

static void
make_dir(void)
{
	snprintf(dir, sizeof(dir), "/tmp/namewall-include-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void
write_file(const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static void
remove_files(const char *const *names)
{
	char path[128];

	for (; *names != NULL; names++) {
		snprintf(path, sizeof(path), "%s/%s", dir, *names);
		ck_assert_int_eq(unlink(path), 0);
	}
	ck_assert_int_eq(rmdir(dir), 0);
}

/* Reads a text as DIR/main with all that it includes. */
static int
read_text(const char *text, struct edge_config **ret, struct text_error *error,
    size_t *ret_files)
{
	struct includes includes = { .count = 0 };
	struct yaml_node *root = NULL;
	char path[128];
	int r;

	snprintf(path, sizeof(path), "%s/main", dir);
	r = yaml_tree_read(path, text, strlen(text), &root, error);
	if (r == 0)
		r = edge_includes_read(&includes, path, root, error);
	if (r == 0)
		r = edge_config_read(ret, path, root, error);
	yaml_tree_free(root);
	*ret_files = includes.count;
	edge_includes_free(&includes);
	return r;
}

START_TEST(files_are_read_in_their_order)
{
	static const char *const names[] = { "a.yaml", "b.yaml", "c.txt",
		NULL };
	struct edge_config *config = NULL;
	struct text_error error;
	size_t files;

	make_dir();
	write_file("b.yaml", "sandboxes:\n" BOX("box3", "3"));
	write_file("a.yaml",
	    "policies: {q: {}}\nsandboxes:\n" BOX("box2", "2"));
	write_file("c.txt", "no file of ours: [\n");
	ck_assert_int_eq(read_text(REQUIRED
			     "include: [\"*.yaml\", \"none/*.yaml\"]\n"
			     "policies: {p: {}}\nsandboxes:\n" BOX("box1", "1"),
			     &config, &error, &files),
	    0);
	ck_assert_uint_eq(files, 2);
	ck_assert_uint_eq(config->policy_count, 2);
	ck_assert_uint_eq(config->sandbox_count, 3);
	ck_assert_str_eq(config->sandboxes[0].name, "box1");
	ck_assert_str_eq(config->sandboxes[1].name, "box2");
	ck_assert_str_eq(config->sandboxes[2].name, "box3");
	edge_config_free(config);
	remove_files(names);
}
END_TEST

START_TEST(maps_that_are_only_included_are_there)
{
	static const char *const names[] = { "all", NULL };
	struct edge_config *config = NULL;
	struct text_error error;
	size_t files;

	make_dir();
	write_file("all", "policies: {p: {}}\nsandboxes:\n" BOX("box1", "1"));
	ck_assert_int_eq(read_text(REQUIRED "include: [all]\n", &config, &error,
			     &files),
	    0);
	ck_assert_uint_eq(config->policy_count, 1);
	ck_assert_uint_eq(config->sandbox_count, 1);
	edge_config_free(config);
	remove_files(names);
}
END_TEST

/* Each with the file that it is found in, and what is said; %s is the
 * folder. */
static const struct {
	const char *main, *included, *place, *reason;
} wrong[] = {
	{ "include: [part]\n", "listen: [10.0.0.1]\n", "part:1:1",
	    "\"listen\" does not belong into an included file; only policies "
	    "and sandboxes do" },
	{ "include: [part]\n", "include: [other]\n", "part:1:1",
	    "\"include\" does not belong into an included file; only policies "
	    "and sandboxes do" },
	{ "include: [part]\n", "- policies\n", "part:1:1",
	    "an included file has \"policies\" and \"sandboxes\"" },
	{ "include: [part]\n", "policies: {p: {alow: []}}\n", "part:1:16",
	    "unknown key \"alow\"; did you mean \"allow\"?" },
	{ "include: [part]\n", "policies: [\n", "part:2:1", NULL },
	{ "include: [part]\npolicies: {p: {}}\n", "policies:\n  p: {}\n",
	    "part:2:3", "\"p\" is here twice; the first is at %s/main:6" },
	{ "include: [part]\npolicies: {p: {}}\n", "policies: []\n", "part:1:11",
	    "\"policies\" is a map of names here and in the file that "
	    "includes this one" },
	{ "include: [part]\npolicies: {p: {}}\nsandboxes:\n" BOX("box1", "1"),
	    "sandboxes:\n" BOX("box2", "1"), "part:2:30",
	    "\"10.200.2.1\" is a source at %s/main:8 already; a source is an "
	    "address that only this sandbox has" },
	{ "include: [part, \"p*\"]\n", "policies: {}\n", "main:5:17",
	    "%s/part is included twice" },
	{ "include: [gone]\n", "policies: {}\n", "main:5:11",
	    "%s/gone: No such file or directory" },
	{ "include: part\n", "policies: {}\n", "main:5:10", NULL },
};

START_TEST(errors_name_their_file)
{
	static const char *const names[] = { "part", NULL };
	struct edge_config *config = NULL;
	char text[1024], expected[1024], place[640];
	struct text_error error;
	size_t files;

	make_dir();
	write_file("part", wrong[_i].included);
	snprintf(text, sizeof(text), REQUIRED "%s", wrong[_i].main);
	ck_assert_int_eq(read_text(text, &config, &error, &files), -EINVAL);
	snprintf(place, sizeof(place), "%s:%u:%u", error.file,
	    (unsigned)error.line, (unsigned)error.column);
	snprintf(expected, sizeof(expected), "%s/%s", dir, wrong[_i].place);
	ck_assert_str_eq(place, expected);
	if (wrong[_i].reason != NULL) {
		const char *at = strstr(wrong[_i].reason, "%s");
		size_t len = at != NULL ? (size_t)(at - wrong[_i].reason)
					: strlen(wrong[_i].reason);

		snprintf(expected, sizeof(expected), "%.*s%s%s", (int)len,
		    wrong[_i].reason, at != NULL ? dir : "",
		    at != NULL ? at + 2 : "");
		ck_assert_str_eq(error.reason, expected);
	}
	remove_files(names);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("edge_include", &all);

	tcase_add_test(all, files_are_read_in_their_order);
	tcase_add_test(all, maps_that_are_only_included_are_there);
	tcase_add_loop_test(all, errors_name_their_file, 0,
	    sizeof(wrong) / sizeof(wrong[0]));
	return unit_run(suite);
}
