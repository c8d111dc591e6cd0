/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "lib/require.h"
#include "lib/text/name_text.h"
#include "tests/unit/unit.h"

#define A49 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define A63 A49 "aaaaaaaaaaaaaa"

START_TEST(names_are_read_in_both_of_their_forms)
{
	static const struct {
		const char *text, *name;
	} list[] = { { "example.com", "example.com" },
		{ "EXAMPLE.Com.", "example.com" },
		{ "b\303\274cher.example", "xn--bcher-kva.example" },
		{ "B\303\234CHER.example", "xn--bcher-kva.example" },
		{ "bu\314\210cher.example", "xn--bcher-kva.example" },
		{ "xn--bcher-kva.example", "xn--bcher-kva.example" },
		{ "XN--BCHER-KVA.example", "xn--bcher-kva.example" },
		/* Not "strasse": IDNA 2008 keeps the letter. */
		{ "stra\303\237e.example", "xn--strae-oqa.example" },
		{ "_dmarc.example.com", "_dmarc.example.com" },
		{ "r3---sn-x.example.com", "r3---sn-x.example.com" },
		{ "a_b.example.com", "a_b.example.com" },
		{ "localhost", "localhost" },
		{ "a=b.example", "a\\061b.example" },
		{ A63 ".example", A63 ".example" } };
	char reason[TEXT_ERROR_MAX], text[DNAME_TEXT_MAX];
	struct dname name;

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		ck_assert_msg(text_name_read(list[i].text, strlen(list[i].text),
				  &name, reason),
		    "%s: %s", list[i].text, reason);
		dname_print(&name, text);
		ck_assert_str_eq(text, list[i].name);
	}
}
END_TEST

START_TEST(what_is_no_name_is_refused_with_its_reason)
{
	static const struct {
		const char *text, *reason;
	} list[] = { { "", "the name is empty" }, { ".", "the name is empty" },
		{ "a..b",
		    "\"a..b\" has an empty label; write one dot between "
		    "labels" },
		{ "a.b..",
		    "\"a.b.\" has an empty label; write one dot between "
		    "labels" },
		{ "a b", "\"a b\" has an octet that no name has" },
		{ "a\\032b.example",
		    "\"a\\032b.example\" has an octet that no name has" },
		{ A63 "a.example",
		    "a label of 64 octets; at most 63 are allowed between "
		    "dots" },
		{ A63 "." A63 "." A63 "." A63,
		    "a name of 257 octets on the wire; at most 255 are "
		    "allowed" },
		{ "\342\231\245.example",
		    "\"\342\231\245.example\" is not a name of IDNA 2008: "
		    "string contains a disallowed character" } };
	char reason[TEXT_ERROR_MAX];
	struct dname name;

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		ck_assert_msg(!text_name_read(list[i].text,
				  strlen(list[i].text), &name, reason),
		    "%s", list[i].text);
		ck_assert_str_eq(reason, list[i].reason);
	}
}
END_TEST

START_TEST(rules_are_names_with_stars_in_front)
{
	static const struct {
		const char *text, *name;
		enum rule_kind kind;
	} list[] = { { "example.com", "example.com", RULE_EXACT },
		{ "*.example.com", "example.com", RULE_CHILD },
		{ "**.example.com", "example.com", RULE_BELOW },
		{ "**.b\303\274cher.example", "xn--bcher-kva.example",
		    RULE_BELOW },
		{ "**.com", "com", RULE_BELOW },
		{ "0x.example.com", "0x.example.com", RULE_EXACT },
		{ "1.2.3.4.example", "1.2.3.4.example", RULE_EXACT },
		{ "x0", NULL, 0 }, { "*.1", NULL, 0 },
		{ "a.0xfg", "a.0xfg", RULE_EXACT }, { "127.1", NULL, 0 },
		{ "127.0.0.0x1", NULL, 0 }, { "1.2.3.4", NULL, 0 },
		{ "1.2.3.4.", NULL, 0 }, { "0x7F000001", NULL, 0 },
		{ "0x", NULL, 0 }, { "a.0x", NULL, 0 }, { "**.0177", NULL, 0 },
		{ "*", NULL, 0 }, { "**", NULL, 0 }, { "*.", NULL, 0 },
		{ "*.*.example.com", NULL, 0 }, { "**.*.example.com", NULL, 0 },
		{ "example.*", NULL, 0 }, { "*a.example.com", NULL, 0 },
		{ "***.example.com", NULL, 0 }, { "a=b.example.com", NULL, 0 },
		{ "user@example.com", NULL, 0 } };
	char reason[TEXT_ERROR_MAX];
	struct dname name, expected;
	enum rule_kind kind;

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		bool good = text_rule_name_read(list[i].text,
		    strlen(list[i].text), &kind, &name, reason);

		ck_assert_msg(good == (list[i].name != NULL), "%s",
		    list[i].text);
		if (!good)
			continue;
		ck_assert(dname_from_text(list[i].name, strlen(list[i].name),
		    &expected));
		ck_assert(dname_equal(&name, &expected));
		ck_assert_int_eq(kind, list[i].kind);
	}
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("name_text", &all);

	tcase_add_test(all, names_are_read_in_both_of_their_forms);
	tcase_add_test(all, what_is_no_name_is_refused_with_its_reason);
	tcase_add_test(all, rules_are_names_with_stars_in_front);
	unit_covers("E69 E74 E75 E79");
	return unit_run(suite);
}
