/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "lib/text/yaml_tree.h"
#include "tests/unit/unit.h"

static struct yaml_node *
read_text(const char *text)
{
	struct yaml_node *root = NULL;
	struct text_error error;
	int r = yaml_tree_read("t", text, strlen(text), &root, &error);

	ck_assert_msg(r == 0, "%s: %u:%u: %s", text, (unsigned)error.line,
	    (unsigned)error.column, error.reason);
	return root;
}

static void
ck_place(const struct yaml_node *node, uint32_t line, uint32_t column)
{
	ck_assert_uint_eq(node->line, line);
	ck_assert_uint_eq(node->column, column);
}

START_TEST(a_tree_remembers_order_kinds_and_places)
{
	struct yaml_node *root = read_text("b: [x, \"y\"]\n"
					   "a:\n"
					   "  - {k: v}\n"
					   "\303\274: ''\n");
	const struct yaml_node *list = root->first, *map, *last;

	ck_assert_int_eq(root->kind, YAML_MAPPING);
	ck_assert_uint_eq(root->count, 3);
	ck_assert_str_eq(list->key->text, "b");
	ck_assert_int_eq(list->kind, YAML_SEQUENCE);
	ck_place(list, 1, 4);
	ck_assert_str_eq(list->first->text, "x");
	ck_assert(!list->first->quoted);
	ck_assert_str_eq(list->first->next->text, "y");
	ck_assert(list->first->next->quoted);
	ck_place(list->first->next, 1, 8);
	map = yaml_tree_get(root, "a")->first;
	ck_assert_int_eq(map->kind, YAML_MAPPING);
	ck_place(map, 3, 5);
	ck_assert_str_eq(yaml_tree_get(map, "k")->text, "v");
	ck_assert_ptr_null(yaml_tree_get(map, "b"));
	ck_assert_ptr_null(yaml_tree_get(list, "b"));
	last = list->next->next;
	ck_assert_str_eq(last->key->text, "\303\274");
	ck_place(last, 4, 4); /* characters, not octets */
	ck_assert_uint_eq(last->len, 0);
	ck_assert(last->quoted);
	ck_assert_ptr_null(last->next);
	yaml_tree_free(root);
}
END_TEST

START_TEST(a_mark_and_line_ends_change_no_place)
{
	struct yaml_node *root =
	    read_text("\xef\xbb\xbfk: v\r\nlist:\r\n  - w\r\n");
	const struct yaml_node *word = yaml_tree_get(root, "list")->first;

	ck_place(root->first->key, 1, 1);
	ck_assert_str_eq(root->first->text, "v");
	ck_assert_str_eq(word->text, "w");
	ck_place(word, 3, 5);
	yaml_tree_free(root);
}
END_TEST

START_TEST(a_line_of_4096_octets_is_read)
{
	char text[4200];
	struct yaml_node *root;

	memcpy(text, "key: ", 5);
	memset(text + 5, 'x', 4091);
	text[4096] = '\n';
	text[4097] = '\0';
	root = read_text(text);
	ck_assert_uint_eq(root->first->len, 4091);
	yaml_tree_free(root);
}
END_TEST

START_TEST(more_than_16_mib_is_refused_unread)
{
	struct yaml_node *root = NULL;
	struct text_error error;

	ck_assert_int_eq(yaml_tree_read("big", "", YAML_FILE_SIZE_MAX + 1,
			     &root, &error),
	    -EINVAL);
	ck_assert_str_eq(error.file, "big");
	ck_assert_str_eq(error.reason,
	    "a file of more than 16 MiB; that is no configuration");
	ck_assert_ptr_null(root);
}
END_TEST

static size_t
put_entry(char *text, size_t i)
{
	return (size_t)snprintf(text, 16, "k%zu: v\n", i);
}

START_TEST(keys_are_unique_in_a_map_of_any_size)
{
	size_t count = 3000, size = 0;
	char *text = malloc(count * 16);
	struct yaml_node *root = NULL;
	struct text_error error;

	for (size_t i = 0; i < count; i++)
		size += put_entry(text + size, i);
	ck_assert_int_eq(yaml_tree_read("t", text, size, &root, &error), 0);
	ck_assert_uint_eq(root->count, count);
	yaml_tree_free(root);
	size += put_entry(text + size, 1234);
	ck_assert_int_eq(yaml_tree_read("t", text, size, &root, &error),
	    -EINVAL);
	ck_assert_uint_eq(error.line, 3001);
	ck_assert_str_eq(error.reason,
	    "\"k1234\" is here twice; the first is on line 1235");
	free(text);
}
END_TEST

/* Sequences of octets that look like UTF-8 and are not. */
START_TEST(only_utf8_is_read)
{
	static const char *const bad[] = { "\xc0\xaf", "\xe0\x80\xaf",
		"\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xff",
		"\x80", "\xc3", "\xe2\x82", "\xf5\x80\x80\x80" };
	static const char *const good[] = { "\xc2\xa0", "\xdf\xbf",
		"\xe0\xa0\x80", "\xed\x9f\xbf", "\xf0\x90\x80\x80",
		"\xf4\x8f\xbf\xbd" };
	struct yaml_node *root = NULL;
	struct text_error error;
	char text[32];

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		snprintf(text, sizeof(text), "k: a%s", bad[i]);
		ck_assert_int_eq(yaml_tree_read("t", text, strlen(text), &root,
				     &error),
		    -EINVAL);
		ck_assert_str_eq(error.reason,
		    "an octet that is not UTF-8; save the file as UTF-8");
		ck_assert_uint_eq(error.column, 5);
	}
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		snprintf(text, sizeof(text), "k: a%s", good[i]);
		root = read_text(text);
		ck_assert_str_eq(root->first->text + 1, good[i]);
		yaml_tree_free(root);
	}
}
END_TEST

START_TEST(an_error_is_printed_into_its_place)
{
	struct yaml_node node = { .line = 7, .column = 9 };
	struct text_error error;
	char name[300], reason[600];

	ck_assert_int_eq(text_error_at(&error, "f", &node, "%s %d", "a", 1),
	    -EINVAL);
	ck_assert_str_eq(error.file, "f");
	ck_assert_str_eq(error.reason, "a 1");
	ck_assert_uint_eq(error.line, 7);
	ck_assert_uint_eq(error.column, 9);
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	memset(reason, 'r', sizeof(reason));
	reason[sizeof(reason) - 1] = '\0';
	text_error_at(&error, name, NULL, "%s", reason);
	ck_assert_uint_eq(strlen(error.file), sizeof(error.file) - 1);
	ck_assert_uint_eq(strlen(error.reason), TEXT_ERROR_MAX - 1);
	ck_assert_uint_eq(error.line, 1);
	ck_assert_uint_eq(error.column, 1);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("yaml_tree", &all);

	tcase_add_test(all, a_tree_remembers_order_kinds_and_places);
	tcase_add_test(all, a_mark_and_line_ends_change_no_place);
	tcase_add_test(all, a_line_of_4096_octets_is_read);
	tcase_add_test(all, more_than_16_mib_is_refused_unread);
	tcase_add_test(all, keys_are_unique_in_a_map_of_any_size);
	tcase_add_test(all, only_utf8_is_read);
	tcase_add_test(all, an_error_is_printed_into_its_place);
	unit_covers("C45");
	return unit_run(suite);
}
