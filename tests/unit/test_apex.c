/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/apex.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

static const uint8_t SECRET[16] = { 7, 1, 4 };

static struct dname
name_of(const char *text)
{
	struct dname name;

	if (strcmp(text, ".") == 0)
		dname_root(&name);
	else
		ck_assert_msg(dname_from_text(text, strlen(text), &name), "%s",
		    text);
	return name;
}

/* A table of at most max rules in a block that the caller frees. */
static void *
make_table(struct apex_table *table, uint32_t max)
{
	struct arena arena;
	void *block;

	arena_init(&arena, NULL, 0);
	apex_table_init(table, &arena, max, SECRET);
	block = malloc(arena.used);
	ck_assert_ptr_nonnull(block);
	arena_init(&arena, block, arena.used);
	apex_table_init(table, &arena, max, SECRET);
	ck_assert(!arena.exhausted);
	return block;
}

static const struct {
	const char *suffix;
	enum apex_rule rule;
} RULES[] = {
	{ "com", APEX_NORMAL },
	{ "uk", APEX_NORMAL },
	{ "co.uk", APEX_NORMAL },
	{ "jp", APEX_NORMAL },
	{ "kobe.jp", APEX_WILDCARD },
	{ "city.kobe.jp", APEX_EXCEPTION },
	{ "ck", APEX_WILDCARD },
	{ "www.ck", APEX_EXCEPTION },
	{ "github.io", APEX_NORMAL },
	{ "compute.amazonaws.com", APEX_WILDCARD },
	/* One name with two kinds of rule. */
	{ "both.example", APEX_NORMAL },
	{ "both.example", APEX_WILDCARD },
};

static const struct {
	const char *name;
	uint8_t suffix, apex;
} CASES[] = {
	{ ".", 0, 0 },
	{ "com", 1, 1 },
	{ "example.com", 1, 2 },
	{ "a.b.example.com", 1, 2 },
	{ "co.uk", 2, 2 },
	{ "example.co.uk", 2, 3 },
	{ "www.example.co.uk", 2, 3 },
	{ "example.uk", 1, 2 },
	/* No rule: "*". */
	{ "corp", 1, 1 },
	{ "db.corp", 1, 2 },
	{ "x.db.corp", 1, 2 },
	/* Wildcards, and what they except. */
	{ "kobe.jp", 1, 2 },
	{ "c.kobe.jp", 3, 3 },
	{ "b.c.kobe.jp", 3, 4 },
	{ "a.b.c.kobe.jp", 3, 4 },
	{ "city.kobe.jp", 2, 3 },
	{ "www.city.kobe.jp", 2, 3 },
	{ "ck", 1, 1 },
	{ "test.ck", 2, 2 },
	{ "b.test.ck", 2, 3 },
	{ "www.ck", 1, 2 },
	{ "www.www.ck", 1, 2 },
	/* The private section counts. */
	{ "github.io", 2, 2 },
	{ "user.github.io", 2, 3 },
	{ "eu-1.compute.amazonaws.com", 4, 4 },
	{ "h.eu-1.compute.amazonaws.com", 4, 5 },
	{ "amazonaws.com", 1, 2 },
	{ "both.example", 2, 2 },
	{ "x.both.example", 3, 3 },
	{ "y.x.both.example", 3, 4 },
};

START_TEST(labels)
{
	struct apex_table table;
	void *block = make_table(&table, 16);
	struct dname name;
	size_t i;

	for (i = 0; i < sizeof(RULES) / sizeof(RULES[0]); i++) {
		name = name_of(RULES[i].suffix);
		ck_assert(apex_table_add(&table, &name, RULES[i].rule));
	}
	name = name_of(CASES[_i].name);
	ck_assert_uint_eq(apex_suffix_labels(&table, &name), CASES[_i].suffix);
	ck_assert_uint_eq(apex_labels(&table, &name), CASES[_i].apex);
	free(block);
}
END_TEST

START_TEST(full)
{
	struct apex_table table;
	void *block = make_table(&table, 2);
	struct dname first = name_of("one.example");
	struct dname second = name_of("two.example");
	struct dname third = name_of("three.example");

	ck_assert(apex_table_add(&table, &first, APEX_NORMAL));
	ck_assert(apex_table_add(&table, &second, APEX_NORMAL));
	ck_assert(!apex_table_add(&table, &third, APEX_NORMAL));
	/* One that is there needs no room. */
	ck_assert(apex_table_add(&table, &first, APEX_WILDCARD));
	ck_assert_uint_eq(apex_suffix_labels(&table, &third), 1);
	free(block);
}
END_TEST

/* A name of 127 labels under a deep wildcard: the count does not wrap. */
START_TEST(deep)
{
	struct apex_table table;
	void *block = make_table(&table, 2);
	struct dname name, suffix;
	const uint8_t label = 'a';

	dname_root(&name);
	while (dname_prepend(&name, &label, 1))
		continue;
	ck_assert_uint_eq(name.labels, 127);
	suffix = dname_suffix(&name, 126);
	ck_assert(apex_table_add(&table, &suffix, APEX_WILDCARD));
	ck_assert_uint_eq(apex_suffix_labels(&table, &name), 127);
	ck_assert_uint_eq(apex_labels(&table, &name), 127);
	ck_assert_uint_eq(apex_labels(&table, &suffix), 2);
	free(block);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("apex", &all);

	tcase_add_loop_test(all, labels, 0,
	    (int)(sizeof(CASES) / sizeof(CASES[0])));
	tcase_add_test(all, full);
	tcase_add_test(all, deep);
	return unit_run(suite);
}
