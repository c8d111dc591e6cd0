/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/command.h"

#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "tests/unit/unit.h"

static struct command command;

/* Parses an exact copy on the heap, so that a sanitizer sees an overrun. */
static enum command_error
parse(const char *line, size_t len)
{
	char *copy = malloc(len > 0 ? len : 1);
	enum command_error error;

	memcpy(copy, line, len);
	error = command_parse(&command, copy, len);
	free(copy);
	return error;
}

START_TEST(splits_into_words)
{
	static const struct {
		const char *line;
		const char *words[5];
	} cases[] = {
		{ "status", { "status" } },
		{ "pins box1 --live", { "pins", "box1", "--live" } },
		{ "explain b\xc3\xbc"
		  "cher.example AAAA",
		    { "explain",
			"b\xc3\xbc"
			"cher.example",
			"AAAA" } },
		{ "\"two words\"", { "two words" } },
		{ "a \"\" b", { "a", "", "b" } },
		{ "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", { "\"\\/\b\f\n\r\t" } },
		{ "\"\\u0041\\u00e9\\u20ac\"", { "A\xc3\xa9\xe2\x82\xac" } },
		{ "\"\\ud83d\\ude00\"", { "\xf0\x9f\x98\x80" } },
		{ "\"\\uD83D\\uDE00\"", { "\xf0\x9f\x98\x80" } },
		{ "\"\\u0001\\u007f\"", { "\x01\x7f" } },
		{ "\"x\" \"y\"", { "x", "y" } },
		{ "{}[]:,'", { "{}[]:,'" } },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *line = cases[i].line;
		size_t count = 0;

		ck_assert_msg(parse(line, strlen(line)) == COMMAND_OK, "%s",
		    line);
		while (count < 5 && cases[i].words[count] != NULL) {
			ck_assert_str_eq(command.words[count],
			    cases[i].words[count]);
			count++;
		}
		ck_assert_uint_eq(command.word_count, count);
	}
}
END_TEST

START_TEST(refuses_bad_lines)
{
	static const struct {
		const char *line;
		enum command_error error;
	} cases[] = {
		{ "", COMMAND_EMPTY },
		{ " ", COMMAND_BAD_SPACING },
		{ " a", COMMAND_BAD_SPACING },
		{ "a ", COMMAND_BAD_SPACING },
		{ "a  b", COMMAND_BAD_SPACING },
		{ "\"a\" ", COMMAND_BAD_SPACING },
		{ "\"a\"b", COMMAND_BAD_SPACING },
		{ "\"a\"\"b\"", COMMAND_BAD_SPACING },
		{ "a\tb", COMMAND_BAD_STRING },
		{ "a\r", COMMAND_BAD_STRING },
		{ "a\nb", COMMAND_BAD_STRING },
		{ "a\x7f", COMMAND_BAD_STRING },
		{ "a\"b", COMMAND_BAD_STRING },
		{ "a\\b", COMMAND_BAD_STRING },
		{ "\"", COMMAND_BAD_STRING },
		{ "\"a", COMMAND_BAD_STRING },
		{ "\"\n\"", COMMAND_BAD_STRING },
		{ "\"\\", COMMAND_BAD_STRING },
		{ "\"\\\"", COMMAND_BAD_STRING },
		{ "\"\\x41\"", COMMAND_BAD_STRING },
		{ "\"\\0\"", COMMAND_BAD_STRING },
		{ "\"\\u\"", COMMAND_BAD_STRING },
		{ "\"\\u004\"", COMMAND_BAD_STRING },
		{ "\"\\u00g0\"", COMMAND_BAD_STRING },
		{ "\"\\u0000\"", COMMAND_BAD_STRING },
		{ "\"\\ud83d\"", COMMAND_BAD_STRING },
		{ "\"\\ud83dx\"", COMMAND_BAD_STRING },
		{ "\"\\ud83d\\n\"", COMMAND_BAD_STRING },
		{ "\"\\ud83d\\u0041\"", COMMAND_BAD_STRING },
		{ "\"\\ud83d\\ud83d\"", COMMAND_BAD_STRING },
		{ "\"\\ude00\"", COMMAND_BAD_STRING },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *line = cases[i].line;

		ck_assert_msg(parse(line, strlen(line)) == cases[i].error,
		    "%zu: %s", i, line);
		ck_assert_uint_eq(command.word_count, 0);
	}
	ck_assert_int_eq(parse("a\0b", 3), COMMAND_BAD_STRING);
	ck_assert_int_eq(parse("\"a\0b\"", 5), COMMAND_BAD_STRING);
}
END_TEST

START_TEST(has_limits)
{
	static char line[COMMAND_LINE_MAX];

	memset(line, 'a', sizeof(line));
	ck_assert_int_eq(parse(line, sizeof(line) - 1), COMMAND_OK);
	ck_assert_uint_eq(strlen(command.words[0]), sizeof(line) - 1);
	ck_assert_int_eq(parse(line, sizeof(line)), COMMAND_TOO_LONG);

	for (size_t i = 1; i < sizeof(line); i += 2)
		line[i] = ' ';
	ck_assert_int_eq(parse(line, 2 * COMMAND_WORDS_MAX - 1), COMMAND_OK);
	ck_assert_uint_eq(command.word_count, COMMAND_WORDS_MAX);
	ck_assert_int_eq(parse(line, 2 * COMMAND_WORDS_MAX + 1),
	    COMMAND_TOO_MANY_WORDS);
}
END_TEST

START_TEST(puts_words)
{
	static const struct {
		const char *word, *put;
	} cases[] = {
		{ "status", "status" },
		{ "b\xc3\xbc"
		  "cher",
		    "b\xc3\xbc"
		    "cher" },
		{ "", "\"\"" },
		{ "two words", "\"two words\"" },
		{ "a\"b\\c", "\"a\\\"b\\\\c\"" },
		{ "\n\x1f\x7f", "\"\\u000a\\u001f\\u007f\"" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		size_t len = strlen(cases[i].put);
		char buf[64];

		for (size_t size = 0; size < len; size++)
			ck_assert_uint_eq(command_put_word(buf, size,
					      cases[i].word),
			    0);
		ck_assert_uint_eq(command_put_word(buf, len, cases[i].word),
		    len);
		ck_assert_mem_eq(buf, cases[i].put, len);
	}
}
END_TEST

/* Any word without a NUL comes back as it went. */
START_TEST(words_survive_the_line)
{
	uint64_t state = unit_seed();

	for (int round = 0; round < 50000; round++) {
		char words[3][20], line[512];
		size_t len = 0;

		for (int i = 0; i < 3; i++) {
			size_t n = unit_random(&state) % 20;

			for (size_t at = 0; at < n; at++)
				words[i][at] =
				    (char)(1 + unit_random(&state) % 255);
			words[i][n] = '\0';
			if (i > 0)
				line[len++] = ' ';
			n = command_put_word(line + len, sizeof(line) - len,
			    words[i]);
			ck_assert_uint_gt(n, 0);
			len += n;
		}
		ck_assert_int_eq(parse(line, len), COMMAND_OK);
		ck_assert_uint_eq(command.word_count, 3);
		for (int i = 0; i < 3; i++)
			ck_assert_str_eq(command.words[i], words[i]);
	}
}
END_TEST

/* Whatever the octets: a known error, or words that end in the text. */
START_TEST(takes_any_octets)
{
	static const char letters[] =
	    "\"\"\\\\  uud8dc0019afbnrt/ \x01\x7f\xff";
	uint64_t state = unit_seed();

	for (int round = 0; round < 200000; round++) {
		char line[40];
		size_t len = unit_random(&state) % sizeof(line);

		for (size_t i = 0; i < len; i++)
			line[i] = letters[unit_random(&state) %
			    (sizeof(letters) - 1)];
		if (parse(line, len) != COMMAND_OK)
			continue;
		ck_assert_uint_ge(command.word_count, 1);
		for (size_t i = 0; i < command.word_count; i++)
			ck_assert_uint_le(strlen(command.words[i]), len);
	}
}
END_TEST

START_TEST(errors_have_texts)
{
	for (int i = COMMAND_OK; i <= COMMAND_BAD_SPACING; i++)
		ck_assert_uint_gt(strlen(command_error_text(
				      (enum command_error)i)),
		    0);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("command", &all);

	tcase_add_test(all, splits_into_words);
	tcase_add_test(all, refuses_bad_lines);
	tcase_add_test(all, has_limits);
	tcase_add_test(all, puts_words);
	tcase_add_test(all, words_survive_the_line);
	tcase_add_test(all, takes_any_octets);
	tcase_add_test(all, errors_have_texts);
	return unit_run(suite);
}
