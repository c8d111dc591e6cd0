/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/json.h"

#include <string.h>

#include "lib/require.h"
#include "tests/unit/unit.h"

START_TEST(prints_strings)
{
	static const struct {
		const char *text, *json;
	} cases[] = {
		{ "", "\"\"" },
		{ "plain text.", "\"plain text.\"" },
		{ "\"\\/", "\"\\\"\\\\/\"" },
		{ "\x01\n\r\t\x1b[31m",
		    "\"\\u0001\\u000a\\u000d\\u0009"
		    "\\u001b[31m\"" },
		{ "\x7f", "\"\\u007f\"" },
		{ "b\xc3\xbc"
		  "cher",
		    "\"b\xc3\xbc"
		    "cher\"" },
		{ "\xe2\x82\xac", "\"\xe2\x82\xac\"" },
		{ "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"" },
		{ "\xef\xbf\xbd", "\"\xef\xbf\xbd\"" },
		/* NEL, line and paragraph separators, turned text. */
		{ "\xc2\x85", "\"\\u0085\"" },
		{ "\xc2\xa0", "\"\xc2\xa0\"" },
		{ "\xe2\x80\xa8\xe2\x80\xa9", "\"\\u2028\\u2029\"" },
		{ "\xe2\x80\xae", "\"\\u202e\"" },
		{ "\xe2\x81\xa6", "\"\\u2066\"" },
		/* No UTF-8: alone, cut, too long, surrogate, too high. */
		{ "\x80", "\"\\ufffd\"" },
		{ "\xff", "\"\\ufffd\"" },
		{ "\xc3", "\"\\ufffd\"" },
		{ "\xc3(", "\"\\ufffd(\"" },
		{ "\xe2\x82", "\"\\ufffd\\ufffd\"" },
		{ "\xc0\x80", "\"\\ufffd\\ufffd\"" },
		{ "\xc1\xbf", "\"\\ufffd\\ufffd\"" },
		{ "\xe0\x9f\xbf", "\"\\ufffd\\ufffd\\ufffd\"" },
		{ "\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"" },
		{ "\xf0\x8f\xbf\xbf", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"" },
		{ "\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"" },
		{ "\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\"" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char buf[128];
		struct cursor c =
		    cursor_write_of((uint8_t *)buf, sizeof(buf) - 1);

		json_put_text(&c, cases[i].text);
		ck_assert(!c.error);
		buf[c.pos] = '\0';
		ck_assert_str_eq(buf, cases[i].json);
	}
}
END_TEST

START_TEST(a_nul_is_an_octet)
{
	char buf[32] = "";
	struct cursor c = cursor_write_of((uint8_t *)buf, sizeof(buf));

	json_put_string(&c, "a\0b", 3);
	ck_assert_str_eq(buf, "\"a\\u0000b\"");
}
END_TEST

START_TEST(nothing_is_the_empty_string)
{
	char buf[8] = "";
	struct cursor c = cursor_write_of((uint8_t *)buf, sizeof(buf));

	json_put_text(&c, NULL);
	ck_assert_str_eq(buf, "\"\"");
}
END_TEST

START_TEST(too_small_is_an_error)
{
	for (size_t size = 0; size < 8; size++) {
		char buf[8];
		struct cursor c = cursor_write_of((uint8_t *)buf, size);

		json_put_text(&c, "sixoct");
		ck_assert(c.error);
	}
}
END_TEST

/* Any octets: printable, and no more quotes than the two. */
START_TEST(stays_inside_its_quotes)
{
	uint64_t state = unit_seed();

	for (int round = 0; round < 50000; round++) {
		char text[24], buf[256];
		size_t len = unit_random(&state) % sizeof(text);
		struct cursor c = cursor_write_of((uint8_t *)buf, sizeof(buf));

		for (size_t i = 0; i < len; i++)
			text[i] = (char)unit_random(&state);
		json_put_string(&c, text, len);
		ck_assert(!c.error);
		for (size_t i = 1; i + 1 < c.pos; i++) {
			UNIT_CHECK((uint8_t)buf[i] >= 0x20);
			UNIT_CHECK(buf[i] != '"');
			if (buf[i] == '\\')
				i++;
			UNIT_CHECK(i < c.pos - 1);
		}
	}
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("json", &all);

	tcase_add_test(all, prints_strings);
	tcase_add_test(all, a_nul_is_an_octet);
	tcase_add_test(all, nothing_is_the_empty_string);
	tcase_add_test(all, too_small_is_an_error);
	tcase_add_test(all, stays_inside_its_quotes);
	return unit_run(suite);
}
