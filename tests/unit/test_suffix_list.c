/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "lib/text/suffix_list.h"
#include "tests/unit/unit.h"

/* Out of order, so that sorting shows. */
static const char suffixes[] = "shop\n"
			       "*.city\n"
			       "pages.shop\n"
			       "host\n"
			       "!town.city\n"
			       "*.deep.cloud\n";

static const struct {
	const char *name;
	enum suffix_width width;
	const char *suffix;
} WIDTHS[] = {
	{ "host", SUFFIX_AT, "host" },
	{ "net", SUFFIX_AT, "net" }, /* by the list's own rule "*" */
	{ "shop", SUFFIX_AT, "shop" },
	{ "pages.shop", SUFFIX_AT, "pages.shop" },
	{ "x.city", SUFFIX_AT, "x.city" },
	{ "a.host", SUFFIX_NARROW, "" },
	{ "town.city", SUFFIX_NARROW, "" },
	{ "me.pages.shop", SUFFIX_NARROW, "" },
	{ "agespages.shop", SUFFIX_NARROW, "" },
	{ "a.x.city", SUFFIX_NARROW, "" },
	/* No suffix itself, but all that is right below it is one. */
	{ "deep.cloud", SUFFIX_ABOVE, "*.deep.cloud" },
	{ "x.deep.cloud", SUFFIX_AT, "x.deep.cloud" },
	{ "cloud", SUFFIX_AT, "cloud" },
};

static max_align_t block[1024];

static void
load(const char *text, struct suffix_list *list, struct apex_table *apex)
{
	static const uint8_t secret[16] = { 1 };
	struct text_error error;
	struct arena arena;

	ck_assert_int_eq(suffix_text_read("s", text, strlen(text), list,
			     &error),
	    0);
	arena_init(&arena, block, sizeof(block));
	apex_table_init(apex, &arena, (uint32_t)list->count, secret);
	ck_assert(!arena.exhausted);
	for (size_t i = 0; i < list->count; i++)
		ck_assert(apex_table_add(apex, &list->entries[i].name,
		    list->entries[i].rule));
	suffix_list_sort(list);
}

static void
ck_width(const char *list_text, const char *text, enum suffix_width width,
    const char *suffix)
{
	char printed[DNAME_TEXT_MAX] = "";
	struct dname name;
	struct suffix_list list;
	struct apex_table apex;

	load(list_text, &list, &apex);
	ck_assert(dname_from_text(text, strlen(text), &name));
	ck_assert_int_eq(suffix_width(&list, &apex, &name, printed), width);
	ck_assert_str_eq(printed, suffix);
	free(list.entries);
}

START_TEST(tells_how_wide_a_wildcard_is)
{
	ck_width(suffixes, WIDTHS[_i].name, WIDTHS[_i].width,
	    WIDTHS[_i].suffix);
}
END_TEST

/* A name of several labels with suffixes further down, as clouds have them;
 * exceptions alone make nothing wide. */
START_TEST(sees_suffixes_further_down)
{
	static const char below[] =
	    "com\ns3.eu.cloud.com\n!one.two.com\n!a.two.com\n";

	ck_width(below, "cloud.com", SUFFIX_ABOVE, "s3.eu.cloud.com");
	ck_width(below, "eu.cloud.com", SUFFIX_ABOVE, "s3.eu.cloud.com");
	ck_width(below, "s3.eu.cloud.com", SUFFIX_AT, "s3.eu.cloud.com");
	ck_width(below, "x.s3.eu.cloud.com", SUFFIX_NARROW, "");
	ck_width(below, "two.com", SUFFIX_NARROW, "");
	ck_width("com\n*.a.b.com\n", "b.com", SUFFIX_ABOVE, "*.a.b.com");
}
END_TEST

int
main(void)
{
	TCase *cases;
	Suite *suite = unit_suite("suffix_list", &cases);

	tcase_add_loop_test(cases, tells_how_wide_a_wildcard_is, 0,
	    ARRAY_LEN(WIDTHS));
	tcase_add_test(cases, sees_suffixes_further_down);
	return unit_run(suite);
}
