/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What becomes of the lists of other tools, a word, a line and a list at a
 * time; and dates of our own.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "src/cli/import.h"
#include "src/cli/lists.h"
#include "tests/unit/unit.h"

/* Rules in a line: "NAME:PORT,PORT" with "!" before what is denied and "?"
 * behind it where an entry named no port. */
static void
show(const struct import *import, char *ret, size_t size)
{
	size_t used = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < import->rule_count; i++) {
		const struct import_rule *rule = &import->rules[i];
		char name[DNAME_TEXT_MAX];

		policy_rule_print(rule->kind, &rule->name, name);
		used += (size_t)snprintf(ret + used, size - used, "%s%s%s%s",
		    i > 0 ? " " : "", rule->deny ? "!" : "", name,
		    rule->without_port ? "?" : "");
		for (uint8_t j = 0; j < rule->port_count; j++)
			used +=
			    (size_t)snprintf(ret + used, size - used, "%c%u",
				j == 0 ? ':' : ',', (unsigned)rule->ports[j]);
		ck_assert_uint_lt(used, size);
	}
}

static void
ck_import(const struct import *import, const char *rules, size_t notes)
{
	char text[2048];

	show(import, text, sizeof(text));
	ck_assert_str_eq(text, rules);
	ck_assert_uint_eq(import->note_count, notes);
	ck_assert(!import->no_memory);
}

static const struct {
	const char *word, *exact, *below;
	size_t exact_notes, below_notes;
} WORDS[] = {
	{ "a.example", "a.example?", "a.example? **.a.example?", 0, 0 },
	{ "A.Example.", "a.example?", "a.example? **.a.example?", 0, 0 },
	{ "a.example:22", "a.example:22", "a.example:22 **.a.example:22", 0,
	    0 },
	{ "a.example:65535", "a.example:65535",
	    "a.example:65535 **.a.example:65535", 0, 0 },
	{ "a.example:65536", "", "", 1, 1 },
	{ "a.example:0", "", "", 1, 1 },
	{ "a.example:022", "", "", 1, 1 },
	{ "a.example:", "", "", 1, 1 },
	{ "a.example:22:23", "", "", 1, 1 },
	{ "*.a.example", "*.a.example?", "**.a.example?", 0, 0 },
	{ "**.a.example", "**.a.example?", "**.a.example?", 0, 0 },
	{ ".a.example", "", "a.example? **.a.example?", 1, 0 },
	{ "a.*.example", "", "", 1, 1 },
	{ "*a.example", "", "", 1, 1 },
	{ "*", "", "", 1, 1 },
	{ ".", "", "", 1, 1 },
	{ "*.", "", "", 1, 1 },
	{ "**.", "", "", 1, 1 },
	{ "https://a.example", "a.example:443",
	    "a.example:443 **.a.example:443", 0, 0 },
	{ "http://a.example/", "a.example:80", "a.example:80 **.a.example:80",
	    0, 0 },
	{ "https://a.example:8443/x?y#z", "a.example:8443",
	    "a.example:8443 **.a.example:8443", 1, 1 },
	{ "a.example/x", "a.example?", "a.example? **.a.example?", 1, 1 },
	{ "a.example?x", "a.example?", "a.example? **.a.example?", 1, 1 },
	{ "https://user@a.example", "", "", 1, 1 },
	{ "https://", "", "", 1, 1 },
	{ "gopher://a.example", "", "", 1, 1 },
	{ "192.0.2.1", "", "", 1, 1 },
	{ "192.0.2.1:443", "", "", 1, 1 },
	{ "192.0.2.0/24", "", "", 1, 1 },
	{ "2001:db8::1", "", "", 1, 1 },
	{ "[2001:db8::1]:443", "", "", 1, 1 },
	{ "0x7f000001", "", "", 1, 1 },
	{ "localhost", "", "", 1, 1 },
	{ "||a.example^", "", "", 1, 1 },
	{ "b\xc3\xbc.example", "xn--b-eha.example?",
	    "xn--b-eha.example? **.xn--b-eha.example?", 0, 0 },
	{ "b\xc3.example", "", "", 1, 1 },
};

static void
ck_word(const char *word, enum import_sense sense, const char *rules,
    size_t notes)
{
	struct import import = { 0 };

	import_plain_entry(&import, 7, (struct span){ word, strlen(word) },
	    sense);
	ck_import(&import, rules, notes);
	if (notes > 0)
		ck_assert_uint_eq(import.notes[0].line, 7);
	import_free(&import);
}

START_TEST(reads_words)
{
	ck_word(WORDS[_i].word, IMPORT_EXACT, WORDS[_i].exact,
	    WORDS[_i].exact_notes);
	ck_word(WORDS[_i].word, IMPORT_BELOW, WORDS[_i].below,
	    WORDS[_i].below_notes);
}
END_TEST

#define K "allowed-endpoints:"

static const struct {
	const char *text;
	bool seen;
	const char *rules;
	size_t notes;
} WORKFLOWS[] = {
	{ "", false, "", 0 },
	{ "a.example:443\n", false, "", 0 },
	{ K, true, "", 0 },
	{ K " a.example:1", true, "a.example:1", 0 },
	{ K " a.example:1, b.example:2\nc.example:3\n", true,
	    "a.example:1 b.example:2", 0 },
	{ "  " K " |\n   a.example:1\n\n   b.example:2\n  c: d.example:3\n",
	    true, "a.example:1 b.example:2", 0 },
	{ "- - " K " >-\n     a.example:1\n    b.example:2\n", true,
	    "a.example:1", 0 },
	{ K " 'a.example:1\n  b.example:2'\n", true, "a.example:1 b.example:2",
	    0 },
	{ K "\n  a.example:1 # b.example:2\n  # c.example:3\n", true,
	    "a.example:1", 0 },
	{ "# " K " a.example:1\n", false, "", 0 },
	{ "with: {" K " a.example:1}\n", true, "", 1 },
	{ K " ${{ inputs.more }}\n  a.example:1\n", true, "a.example:1", 1 },
	{ K " a.example\n", true, "", 1 },
	{ K " a.example:1/x\n", true, "", 1 },
	{ K " *.a.example:1\r\n", true, "*.a.example:1", 0 },
	{ K " ''\n", true, "", 0 },
};

START_TEST(reads_workflows)
{
	const char *text = WORKFLOWS[_i].text;
	struct import import = { 0 };

	ck_assert_int_eq(import_workflow(&import,
			     (struct span){ text, strlen(text) }),
	    WORKFLOWS[_i].seen);
	ck_import(&import, WORKFLOWS[_i].rules, WORKFLOWS[_i].notes);
	import_free(&import);
}
END_TEST

/* Every prefix is read and never overrun: it stands alone in memory, so that a
 * sanitizer sees the first octet too far. */
START_TEST(reads_every_prefix)
{
	static const char text[] =
	    "\xef\xbb\xbf- \"https://a.example:443/x\",\n"
	    "**.b\xc3\xbc.example # c\n.c.example\n[::1]:1\n d e\n"
	    "  - " K " >-\n    *.a.example:1 'b.example:2'\n    ${{ x }}\n";

	for (size_t len = 0; len < sizeof(text); len++) {
		struct import import = { 0 };
		char *exact = malloc(len > 0 ? len : 1);

		ck_assert_ptr_nonnull(exact);
		memcpy(exact, text, len);
		struct span span = { exact, len };
		import_plain(&import, span, IMPORT_EXACT);
		import_plain(&import, span, IMPORT_BELOW);
		(void)import_workflow(&import, span);
		import_merge(&import);
		ck_assert(!import.no_memory);
		import_free(&import);
		free(exact);
	}
}
END_TEST

static void
add(struct import *import, uint32_t line, const char *name, uint16_t port,
    bool deny)
{
	struct import_entry entry = { .line = line,
		.port = port,
		.deny = deny };

	ck_assert(
	    import_add(import, &entry, (struct span){ name, strlen(name) }));
}

START_TEST(merges)
{
	struct import import = { 0 };

	add(&import, 1, "b.example", 443, false);
	add(&import, 2, "a.example", 22, false);
	add(&import, 3, "B.example", 22, false);
	add(&import, 4, "b.example", 443, false);
	add(&import, 5, "*.b.example", 443, false);
	add(&import, 6, "a.example", 0, false);
	add(&import, 7, "c.example", 0, false);
	add(&import, 8, "c.example", 0, true);
	import_merge(&import);
	ck_import(&import,
	    "b.example:22,443 a.example?:22,443 *.b.example:443 !c.example?",
	    1);
	ck_assert_uint_eq(import.notes[0].line, 7);
	import_free(&import);
}
END_TEST

START_TEST(keeps_as_many_ports_as_a_rule_has)
{
	struct import import = { 0 };

	for (uint16_t i = 0; i < RULE_SERVICES_MAX; i++)
		add(&import, i, "a.example", (uint16_t)(9000 - i), false);
	import_merge(&import);
	ck_assert_uint_eq(import.note_count, 0);
	ck_assert_uint_eq(import.rules[0].port_count, RULE_SERVICES_MAX);
	ck_assert_uint_eq(import.rules[0].ports[0],
	    9000 - RULE_SERVICES_MAX + 1);
	add(&import, 99, "a.example", 9001, false);
	import_merge(&import);
	ck_assert_uint_eq(import.note_count, 1);
	ck_assert_uint_eq(import.rules[0].port_count, RULE_SERVICES_MAX);
	import_free(&import);
}
END_TEST

static const struct {
	const char *name;
	bool deny, kept;
} WIDTHS[] = {
	{ "*.host", false, false }, /* at */
	{ "**.host", false, false },
	{ "*.net", false, false }, /* no rule: a suffix by itself */
	{ "**.shop", false, false }, /* above pages.shop */
	{ "*.my.shop", false, true },
	{ "*.pages.shop", false, false },
	{ "*.me.pages.shop", false, true },
	{ "*.x.city", false, false }, /* *.city */
	{ "*.town.city", false, true }, /* !town.city */
	{ "me.host", false, true },
	{ "pages.shop", false, true },
	{ "**.host", true, true },
};

/* The judgement that loading makes, on a list of our own. */
START_TEST(judges_wildcards)
{
	static const char suffixes[] =
	    "// VERSION: x\nhost\nshop\npages.shop\n*.city\n!town.city\n";
	static const uint8_t secret[16] = { 1 };
	static max_align_t block[1024];
	struct import import = { 0 };
	struct suffix_list list;
	struct text_error error;
	struct apex_table apex;
	struct arena arena;

	ck_assert_int_eq(suffix_text_read("s", suffixes, sizeof(suffixes) - 1,
			     &list, &error),
	    0);
	arena_init(&arena, block, sizeof(block));
	apex_table_init(&apex, &arena, (uint32_t)list.count, secret);
	ck_assert(!arena.exhausted);
	for (size_t i = 0; i < list.count; i++)
		ck_assert(apex_table_add(&apex, &list.entries[i].name,
		    list.entries[i].rule));
	suffix_list_sort(&list);
	add(&import, 1, WIDTHS[_i].name, 443, WIDTHS[_i].deny);
	import_judge(&import, &list, &apex);
	ck_assert_uint_eq(import.rule_count, WIDTHS[_i].kept);
	ck_assert_uint_eq(import.note_count, !WIDTHS[_i].kept);
	if (WIDTHS[_i].deny)
		ck_assert(import.rules[0].force);
	if (!WIDTHS[_i].kept)
		ck_assert_ptr_nonnull(strstr(import.notes[0].reason,
		    "ports: [tcp/443], force: true}"));
	import_free(&import);
	free(list.entries);
}
END_TEST

static const struct {
	uint32_t serial;
	const char *date;
} DATES[] = {
	{ 2026113000, "2026-11-30" },
	{ 1990010199, "1990-01-01" },
	{ 2026130101, "-" },
	{ 2026003101, "-" },
	{ 2026010001, "-" },
	{ 2026013201, "-" },
	{ 1, "-" },
	{ 0, "-" },
	{ UINT32_MAX, "-" },
};

START_TEST(dates_serials)
{
	char date[LIST_DATE_MAX];

	list_date(DATES[_i].serial, date);
	ck_assert_str_eq(date, DATES[_i].date);
}
END_TEST

int
main(void)
{
	TCase *cases;
	Suite *suite = unit_suite("import", &cases);

	tcase_add_loop_test(cases, reads_words, 0, ARRAY_LEN(WORDS));
	tcase_add_loop_test(cases, reads_workflows, 0, ARRAY_LEN(WORKFLOWS));
	tcase_add_test(cases, reads_every_prefix);
	tcase_add_test(cases, merges);
	tcase_add_test(cases, keeps_as_many_ports_as_a_rule_has);
	tcase_add_loop_test(cases, judges_wildcards, 0, ARRAY_LEN(WIDTHS));
	tcase_add_loop_test(cases, dates_serials, 0, ARRAY_LEN(DATES));
	return unit_run(suite);
}
