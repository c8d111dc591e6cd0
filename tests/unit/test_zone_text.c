/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "lib/text/zone_text.h"
#include "tests/unit/unit.h"

#define SOA "$TTL 60\n@ SOA . . 1 2 3 4 5\n"

static void
ck_name(const struct dname *name, const char *expected)
{
	char text[DNAME_TEXT_MAX];

	dname_print(name, text);
	ck_assert_str_eq(text, expected);
}

/* Origins are stripped, also when a record is written in full; `*.N` is
 * `**.N`; comments, brackets and the name server of the zone mean nothing. */
START_TEST(a_list_is_a_policy_zone)
{
	static const char zone[] =
	    "; a comment\n"
	    "\n"
	    "$TTL 1h\n"
	    "$ORIGIN list.invalid.\n"
	    "@ IN SOA localhost. nobody.invalid. (\n"
	    "        1 2 3\n"
	    "        4 5 ) ; brackets\n"
	    "  NS localhost.\n"
	    "one.Example.COM CNAME rpz-passthru.\n"
	    "*.two.example.com 60 IN CNAME rpz-passthru. ; a star\n"
	    "three.example.com.list.invalid. CNAME .\n"
	    "$ORIGIN example.com.list.invalid.\n"
	    "*.four CNAME .";
	static const struct {
		const char *name;
		enum rule_kind kind;
		bool deny;
		uint32_t line;
	} expected[] = { { "one.example.com", RULE_EXACT, false, 9 },
		{ "two.example.com", RULE_BELOW, false, 10 },
		{ "three.example.com", RULE_EXACT, true, 11 },
		{ "four.example.com", RULE_BELOW, true, 13 } };
	struct zone_entry *entries = NULL;
	struct text_error error;
	size_t count = 0;

	ck_assert_int_eq(zone_text_read("z", zone, sizeof(zone) - 1, &entries,
			     &count, &error),
	    0);
	ck_assert_uint_eq(count, ARRAY_LEN(expected));
	for (size_t i = 0; i < count; i++) {
		ck_name(&entries[i].name, expected[i].name);
		ck_assert_int_eq(entries[i].kind, expected[i].kind);
		ck_assert_int_eq(entries[i].deny, expected[i].deny);
		ck_assert_uint_eq(entries[i].line, expected[i].line);
	}
	free(entries);
}
END_TEST

START_TEST(a_list_may_be_empty)
{
	struct zone_entry *entries = NULL;
	struct text_error error;
	size_t count = 9;

	ck_assert_int_eq(zone_text_read("z", SOA, strlen(SOA), &entries, &count,
			     &error),
	    0);
	ck_assert_uint_eq(count, 0);
	free(entries);
}
END_TEST

/* A survey goes on behind what a list that is obeyed would end at; what is no
 * zone at all ends both. */
START_TEST(a_survey_notes_what_has_no_meaning)
{
	static const char zone[] = "$TTL 60\n"
				   "@ SOA . . 2026113001 2 3 4 5\n"
				   "a.example CNAME rpz-passthru.\n"
				   "b.example A 192.0.2.1\n"
				   "$INCLUDE other.zone\n"
				   "32.1.2.0.192.rpz-ip CNAME .\n"
				   "* CNAME .\n"
				   "*.c.example CNAME .\n";
	static const uint32_t refused[] = { 4, 5, 6, 7 };
	struct text_error error;
	struct zone_list list;

	ck_assert_int_eq(zone_text_survey("z", zone, sizeof(zone) - 1, &list,
			     &error),
	    0);
	ck_assert_uint_eq(list.serial, 2026113001);
	ck_assert_uint_eq(list.count, 2);
	ck_name(&list.entries[0].name, "a.example");
	ck_assert_uint_eq(list.entries[0].line, 3);
	ck_name(&list.entries[1].name, "c.example");
	ck_assert_uint_eq(list.entries[1].line, 8);
	ck_assert_uint_eq(list.refusal_count, ARRAY_LEN(refused));
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		ck_assert_uint_eq(list.refusals[i].line, refused[i]);
		ck_assert_str_ne(list.refusals[i].reason, "");
	}
	zone_list_free(&list);
}
END_TEST

static const struct {
	const char *zone;
	uint32_t line;
} NO_ZONES[] = {
	{ "", 1 },
	{ "a.example CNAME .\n", 1 },
	{ "$INCLUDE other.zone\n", 1 },
	{ SOA "a.example CNAME .\nb.example BOGUS x\n", 4 },
};

START_TEST(a_survey_needs_a_zone)
{
	const char *zone = NO_ZONES[_i].zone;
	struct text_error error;
	struct zone_list list = { .count = 9 };

	ck_assert_int_eq(zone_text_survey("z", zone, strlen(zone), &list,
			     &error),
	    -EINVAL);
	ck_assert_uint_eq(error.line, NO_ZONES[_i].line);
	ck_assert_uint_eq(list.count, 9);
}
END_TEST

#define LOCAL_DATA                                                         \
	"local data is not read; write \"CNAME rpz-passthru.\" to allow, " \
	"\"CNAME .\" to deny"
#define OTHER_ACTION                                                         \
	"the actions NODATA, DROP and TCP-only are not read; write \"CNAME " \
	"rpz-passthru.\" to allow, \"CNAME .\" to deny"
#define OTHER_TRIGGER                                                 \
	"triggers other than the name asked (rpz-ip, rpz-client-ip, " \
	"rpz-nsip, rpz-nsdname) are not read"

static const struct {
	const char *zone;
	uint32_t line;
	const char *reason;
} BAD_ZONES[] = {
	{ "", 1,
	    "no SOA; the first record of a list is one, and its owner is the "
	    "zone's own name" },
	{ "a.example CNAME .\n", 1,
	    "a record before the SOA, whose owner is the zone's own name" },
	{ SOA "@ SOA . . 1 2 3 4 5\n", 3,
	    "a second SOA; a list has one, its first record" },
	{ SOA "a.example CNAME *.\n", 3, OTHER_ACTION },
	{ SOA "a.example CNAME rpz-drop.\n", 3, OTHER_ACTION },
	{ SOA "\n; two lines more\na.example CNAME rpz-tcp-only.\n", 5,
	    OTHER_ACTION },
	{ SOA "a.example CNAME b.example.\n", 3, LOCAL_DATA },
	{ SOA "a.example A 192.0.2.1\n", 3, LOCAL_DATA },
	{ SOA "\n  \n;\na.example A 192.0.2.1\n\n\n", 6, LOCAL_DATA },
	{ SOA "a.example (\n  CNAME\n  b.example.)\n\n", 3, LOCAL_DATA },
	{ SOA "a.example NS b.example.\n", 3, LOCAL_DATA },
	{ "$TTL 60\n$ORIGIN z.invalid.\n@ SOA . . 1 2 3 4 5\n"
	  "a.example CNAME rpz-passthru\n",
	    4,
	    "the target is below the zone's own name; write "
	    "\"rpz-passthru.\" with the dot at its end" },
	{ "$TTL 60\nz.invalid. SOA . . 1 2 3 4 5\na.example. CNAME .\n", 3,
	    "the record is not below the zone's own name, the owner of its "
	    "SOA" },
	{ "$TTL 60\nz.invalid. SOA . . 1 2 3 4 5\nz.invalid. CNAME .\n", 3,
	    "the record is not below the zone's own name, the owner of its "
	    "SOA" },
	{ SOA "32.1.2.0.192.rpz-ip CNAME .\n", 3, OTHER_TRIGGER },
	{ SOA "32.1.2.0.192.rpz-client-ip CNAME .\n", 3, OTHER_TRIGGER },
	{ SOA "32.1.2.0.192.rpz-nsip CNAME .\n", 3, OTHER_TRIGGER },
	{ SOA "ns.example.rpz-nsdname CNAME .\n", 3, OTHER_TRIGGER },
	{ SOA "* CNAME .\n", 3,
	    "a star alone is about every name; what no rule names is denied "
	    "anyway, and a list that allows all is none" },
	{ SOA "com CNAME .\n", 3,
	    "\"com\" is a single label; write the whole name, such as "
	    "com.example.com" },
	{ SOA "a.*.example CNAME .\n", 3,
	    "a star stands at the front alone: write \"*.NAME\" for one "
	    "label more, \"**.NAME\" for any number" },
	{ SOA "b\303\274cher.example CNAME .\n", 3,
	    "\"b\\195\\188cher.example\" is no host name; write a-z, 0-9, "
	    "\"-\" and \"_\" between dots" },
	{ SOA "192.0.2.1 CNAME .\n", 3,
	    "\"192.0.2.1\" could be read as an address; a rule is about a "
	    "name (one with \"addresses\" where no server knows it)" },
	{ SOA "a.example CH CNAME .\n", 3, "a record whose class is not IN" },
	{ SOA "$INCLUDE other.zone\n", 3,
	    "$INCLUDE is not read; put the records into this file" },
	{ SOA "a.example ALLOW\n", 3, NULL }, /* the words are ldns's */
	{ SOA "a.example CNAME\n", 3, NULL },
	{ SOA "a..example CNAME .\n", 3, NULL },
};

START_TEST(whatever_else_a_zone_says_is_an_error)
{
	for (size_t i = 0; i < ARRAY_LEN(BAD_ZONES); i++) {
		struct zone_entry *entries = NULL;
		struct text_error error;
		size_t count;

		ck_assert_msg(zone_text_read("z", BAD_ZONES[i].zone,
				  strlen(BAD_ZONES[i].zone), &entries, &count,
				  &error) == -EINVAL,
		    "%s", BAD_ZONES[i].zone);
		ck_assert_ptr_null(entries);
		ck_assert_msg(error.line == BAD_ZONES[i].line, "line %u: %s",
		    (unsigned)error.line, BAD_ZONES[i].zone);
		ck_assert_uint_eq(error.column, 1);
		if (BAD_ZONES[i].reason != NULL)
			ck_assert_str_eq(error.reason, BAD_ZONES[i].reason);
	}
}
END_TEST

START_TEST(a_zone_with_a_nul_is_refused_at_its_line)
{
	static const char zone[] = SOA "a.example CNAME .\nb\0.example CNAME .";
	struct zone_entry *entries = NULL;
	struct text_error error;
	size_t count;

	ck_assert_int_eq(zone_text_read("z", zone, sizeof(zone) - 1, &entries,
			     &count, &error),
	    -EINVAL);
	ck_assert_uint_eq(error.line, 4);
	ck_assert_str_eq(error.reason, "a NUL octet; this must be a text file");
}
END_TEST

START_TEST(suffixes_are_read_in_their_own_form)
{
	static const char list[] = "// ===BEGIN ICANN DOMAINS===\r\n"
				   "// VERSION: 2026-11-30_12-00-00_UTC\n"
				   "// VERSION: not the first\n"
				   "\n"
				   "com\n"
				   "*.ck trailing words are nothing\n"
				   "!www.ck\n"
				   "\345\205\254\345\217\270.cn\n"
				   "// ===BEGIN PRIVATE DOMAINS===\n"
				   "github.io";
	static const struct {
		const char *name;
		enum apex_rule rule;
	} expected[] = { { "com", APEX_NORMAL }, { "ck", APEX_WILDCARD },
		{ "www.ck", APEX_EXCEPTION }, { "xn--55qx5d.cn", APEX_NORMAL },
		{ "github.io", APEX_NORMAL } };
	struct suffix_list read = { .count = 0 };
	struct text_error error;

	ck_assert_int_eq(suffix_text_read("s", list, sizeof(list) - 1, &read,
			     &error),
	    0);
	ck_assert_str_eq(read.date, "2026-11-30_12-00-00_UTC");
	ck_assert_uint_eq(read.count, ARRAY_LEN(expected));
	for (size_t i = 0; i < read.count; i++) {
		ck_name(&read.entries[i].name, expected[i].name);
		ck_assert_int_eq(read.entries[i].rule, expected[i].rule);
	}
	free(read.entries);
}
END_TEST

START_TEST(what_is_no_suffix_list_is_refused)
{
	static const struct {
		const char *list;
		uint32_t line;
		const char *reason;
	} bad[] = { { "// nothing\n", 1,
			"no rule in this file; it must be the public suffix "
			"list" },
		{ "com\nb..c\n", 2,
		    "\"b..c\" has an empty label; write one dot between "
		    "labels" },
		{ "com\n<html>\n", 2, "\"<html>\" is no public suffix" },
		{ "com\nfoo.*.bar\n", 2,
		    "\"foo.*.bar\" is no public suffix" } };
	struct suffix_list read = { .count = 0 };
	struct text_error error;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		ck_assert_int_eq(suffix_text_read("s", bad[i].list,
				     strlen(bad[i].list), &read, &error),
		    -EINVAL);
		ck_assert_uint_eq(error.line, bad[i].line);
		ck_assert_str_eq(error.reason, bad[i].reason);
		ck_assert_ptr_null(read.entries);
	}
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("zone_text", &all);

	tcase_add_test(all, a_list_is_a_policy_zone);
	tcase_add_test(all, a_list_may_be_empty);
	tcase_add_test(all, a_survey_notes_what_has_no_meaning);
	tcase_add_loop_test(all, a_survey_needs_a_zone, 0, ARRAY_LEN(NO_ZONES));
	tcase_add_test(all, whatever_else_a_zone_says_is_an_error);
	tcase_add_test(all, a_zone_with_a_nul_is_refused_at_its_line);
	tcase_add_test(all, suffixes_are_read_in_their_own_form);
	tcase_add_test(all, what_is_no_suffix_list_is_refused);
	return unit_run(suite);
}
