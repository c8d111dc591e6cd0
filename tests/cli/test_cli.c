/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the command line does with text from elsewhere: JSON lines, words of
 * its own, and printing that a terminal cannot be tricked by.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "src/cli/cli.h"
#include "src/cli/json.h"
#include "tests/unit/unit.h"

static const struct {
	const char *name, *text, *path, *expected; /* NULL: refused */
} readings[] = {
	{ "flat", "{\"a\":1}", "a", "1" },
	{ "nested", "{\"a\":{\"b\":[7,{\"c\":\"x\"}]}}", "a.b.1.c", "x" },
	{ "array of arrays", "[[1,2],[3]]", "1.0", "3" },
	{ "after an inner end", "{\"a\":{\"b\":1},\"c\":2}", "c", "2" },
	{ "empty inside", "{\"a\":{},\"b\":[],\"c\":true}", "c", "true" },
	{ "spaces", " { \"a\" : [ 1 , 2 ] } \n", "a.1", "2" },
	{ "escapes", "{\"a\":\"\\\"\\\\\\/\\n\\u0041\"}", "a", "\"\\/\nA" },
	{ "two octets", "{\"a\":\"\\u00fc\"}", "a", "\xc3\xbc" },
	{ "pair", "{\"a\":\"\\ud83d\\ude00\"}", "a", "\xf0\x9f\x98\x80" },
	{ "half a pair", "{\"a\":\"\\ud83dx\"}", "a", "\xef\xbf\xbdx" },
	{ "lone low half", "{\"a\":\"\\ude00\"}", "a", "\xef\xbf\xbd" },
	{ "negative", "{\"a\":-1.5e3}", "a", "-1.5e3" },
	{ "bare value", "\"x\"", "", "x" },
	{ "nothing", "", "", NULL },
	{ "no end", "{\"a\":1", "", NULL },
	{ "trailing", "{\"a\":1}x", "", NULL },
	{ "trailing comma", "{\"a\":1,}", "", NULL },
	{ "comma first", "[,1]", "", NULL },
	{ "no colon", "{\"a\" 1}", "", NULL },
	{ "wrong end", "{\"a\":[1}", "", NULL },
	{ "open string", "{\"a\":\"x", "", NULL },
	{ "bad escape", "{\"a\":\"\\x\"}", "", NULL },
	{ "short escape", "{\"a\":\"\\u00", "", NULL },
	{ "a word", "{\"a\":yes}", "", NULL },
	{ "too deep", "[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]", "", NULL },
};

START_TEST(reads_json)
{
	struct json json;
	const char *text = readings[_i].text;
	bool ok = json_read(&json, text, strlen(text));

	ck_assert_msg(ok == (readings[_i].expected != NULL), "%s",
	    readings[_i].name);
	if (!ok)
		return;
	ck_assert_str_eq(json_show(&json, readings[_i].path, "(none)"),
	    readings[_i].expected);
	json_free(&json);
}
END_TEST

/* Every prefix of a text is read or refused, never overrun: it stands alone
 * in memory, so that a sanitizer sees the first octet too far. */
START_TEST(reads_every_prefix)
{
	static const char text[] =
	    "{\"a\":[1,true,null,{\"b\":\"\\ud83d\\ude00\"}],\"c\":{}}";

	for (size_t len = 0; len < sizeof(text); len++) {
		char *copy = malloc(len + 1);
		struct json json;

		ck_assert_ptr_nonnull(copy);
		memcpy(copy, text, len);
		char *exact = realloc(copy, len > 0 ? len : 1);
		ck_assert_ptr_nonnull(exact);
		bool ok = json_read(&json, exact, len);
		ck_assert_int_eq(ok, len == sizeof(text) - 1);
		if (ok)
			json_free(&json);
		free(exact);
	}
}
END_TEST

START_TEST(finds_by_path)
{
	static const char text[] =
	    "{\"a\":{\"b\":1},\"ab\":null,\"t\":true,\"s\":\"true\"}";
	struct json json;

	ck_assert(json_read(&json, text, sizeof(text) - 1));
	ck_assert(json_has(&json, "a"));
	ck_assert(json_has(&json, "a.b"));
	ck_assert(!json_has(&json, "b"));
	ck_assert_ptr_null(json_get(&json, "a"));
	ck_assert_ptr_null(json_get(&json, "ab"));
	ck_assert(json_true(&json, "t"));
	ck_assert(!json_true(&json, "s"));
	json_free(&json);
}
END_TEST

static const struct {
	const char *text, *safe, *json;
	size_t columns;
} printings[] = {
	{ "plain", "plain", "\"plain\"", 5 },
	{ "\x1b[31m", "\\x1b[31m", "\"\\u001b[31m\"", 8 },
	{ "a\nb\r", "a\\x0ab\\x0d", "\"a\\u000ab\\u000d\"", 10 },
	{ "b\xc3\xbc", "b\xc3\xbc", "\"b\xc3\xbc\"", 2 },
	{ "\xc2\x9b", "\\xc2\\x9b", "\"\xc2\x9b\"", 8 },
	{ "\xe2\x80\xae", "\\xe2\\x80\\xae", "\"\xe2\x80\xae\"", 12 },
	{ "\xef\xbb\xbf", "\\xef\\xbb\\xbf", "\"\xef\xbb\xbf\"", 12 },
	{ "\xef\xbf\xbf", "\\xef\\xbf\\xbf", "\"\xef\xbf\xbf\"", 12 },
	{ "\xc0\x80", "\\xc0\\x80", "\"\\ufffd\\ufffd\"", 8 },
	{ "\xed\xa0\x80", "\\xed\\xa0\\x80", "\"\\ufffd\\ufffd\\ufffd\"", 12 },
	{ "\xe2\x82", "\\xe2\\x82", "\"\\ufffd\\ufffd\"", 8 },
	{ "\"\\", "\"\\", "\"\\\"\\\\\"", 2 },
};

START_TEST(prints_safely)
{
	char *text = NULL;
	size_t size = 0;

	FILE *out = open_memstream(&text, &size);
	ck_assert_ptr_nonnull(out);
	size_t columns = put_safe(out, printings[_i].text);
	fclose(out);
	ck_assert_str_eq(text, printings[_i].safe);
	ck_assert_uint_eq(columns, printings[_i].columns);
	free(text);

	out = open_memstream(&text, &size);
	ck_assert_ptr_nonnull(out);
	put_json(out, printings[_i].text);
	fclose(out);
	ck_assert_str_eq(text, printings[_i].json);
	free(text);
}
END_TEST

START_TEST(takes_words_apart)
{
	char *words[] = { (char[]){ "--json" }, (char[]){ "name" },
		(char[]){ "--sandbox" }, (char[]){ "box1" },
		(char[]){ "--config=f" }, (char[]){ "--odd" } };
	struct args args = { .count = 6, .words = words };

	ck_assert(args_take_flag(&args, "--json"));
	ck_assert(!args_take_flag(&args, "--json"));
	ck_assert_str_eq(args_take_value(&args, "--sandbox"), "box1");
	ck_assert_str_eq(args_take_value(&args, "--config"), "f");
	ck_assert_ptr_null(args_take_value(&args, "--socket"));
	ck_assert_str_eq(args_take_word(&args), "name");
	ck_assert_ptr_null(args_take_word(&args));
	ck_assert(!args_done(&args));
	ck_assert(args_take_flag(&args, "--odd"));
	ck_assert(args_done(&args));
}
END_TEST

START_TEST(misses_a_value)
{
	char *words[] = { (char[]){ "--sandbox" } };
	struct args args = { .count = 1, .words = words };

	ck_assert_ptr_null(args_take_value(&args, "--sandbox"));
	ck_assert(args.bad);
	ck_assert(!args_done(&args));
}
END_TEST

int
main(void)
{
	TCase *cases;
	Suite *suite = unit_suite("cli", &cases);

	tcase_add_loop_test(cases, reads_json, 0, ARRAY_LEN(readings));
	tcase_add_test(cases, reads_every_prefix);
	tcase_add_test(cases, finds_by_path);
	tcase_add_loop_test(cases, prints_safely, 0, ARRAY_LEN(printings));
	tcase_add_test(cases, takes_words_apart);
	tcase_add_test(cases, misses_a_value);
	return unit_run(suite);
}
