/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "lib/text/fields.h"
#include "tests/unit/unit.h"

static const struct field *
field_of(const char *name)
{
	size_t count;
	const struct field *fields = fields_all(&count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(fields[i].name, name) == 0)
			return &fields[i];
	ck_abort_msg("no field %s", name);
}

static struct yaml_node *
read_map(const char *text)
{
	struct yaml_node *root = NULL;
	struct text_error error;

	ck_assert_int_eq(yaml_tree_read("t", text, strlen(text), &root, &error),
	    0);
	return root;
}

/* Every name is there once; what is kept has room and bounds that the room
 * can hold; what a later version reads has no meaning yet. */
START_TEST(the_table_is_sound)
{
	size_t count;
	const struct field *fields = fields_all(&count);

	for (size_t i = 0; i < count; i++) {
		const struct field *f = &fields[i];

		for (size_t j = 0; j < i; j++)
			ck_assert_str_ne(f->name, fields[j].name);
		ck_assert_msg((f->help == NULL) == (f->type == FIELD_LATER),
		    "%s", f->name);
		if (f->type <= FIELD_LATER)
			continue;
		ck_assert_ptr_nonnull(f->fallback);
		ck_assert_msg(f->offset + f->size <= sizeof(struct settings),
		    "%s", f->name);
		ck_assert_int_le(f->min, f->max);
		if (f->type == FIELD_U16)
			ck_assert_int_le(f->max, UINT16_MAX);
		if (f->type == FIELD_PATH)
			ck_assert_int_lt(f->max, (int64_t)f->size);
		else
			ck_assert_int_le(f->max, UINT32_MAX);
	}
}
END_TEST

START_TEST(keys_are_judged_by_the_map_they_stand_in)
{
	static const struct {
		const char *text, *prefix, *reason; /* NULL: good */
	} list[] = { { "floor: x", "pins.", NULL },
		{ "floor: x", "ttl.", NULL },
		{ "cap: x\ngrace: y", "pins.", NULL },
		{ "grace: x", "ttl.",
		    "unknown key \"grace\"; known here are: floor, cap, "
		    "negative" },
		{ "pins: x", "", NULL },
		{ "pins.floor: x", "",
		    "unknown key \"pins.floor\"; known here are: version, "
		    "listen, edge, upstream, forward, sandboxes, policies, "
		    "events, labels, include, attach, control, nft, pins, ttl, "
		    "bounds, protected, limits, public_suffixes, "
		    "state_dir, user" },
		{ "upload: x", "rule.", NULL }, { "each: x", "sandbox.", NULL },
		{ "xyz: x", "rule.",
		    "unknown key \"xyz\"; known here are: name, list, "
		    "ports, types, private, addresses, budget, until, reason, "
		    "force, accept, upload" },
		{ "nams: x", "rule.",
		    "unknown key \"nams\"; did you mean \"name\"?" } };

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		struct yaml_node *map = read_map(list[i].text);
		struct text_error error = { .reason = "" };
		int r = fields_check("t", map, list[i].prefix, &error);

		ck_assert_int_eq(r, list[i].reason != NULL ? -EINVAL : 0);
		ck_assert_str_eq(error.reason,
		    list[i].reason != NULL ? list[i].reason : "");
		yaml_tree_free(map);
	}
}
END_TEST

static const struct {
	const char *field, *text;
	bool good;
} values[] = { { "pins.floor", "1s", true }, { "pins.floor", "1d", true },
	{ "pins.floor", "999ms", false }, { "pins.floor", "86401s", false },
	{ "ttl.cap", "1s", true }, { "ttl.cap", "0s", false },
	{ "ttl.cap", "1d", true }, { "ttl.cap", "86401s", false },
	{ "ttl.cap", "1001ms", false }, { "nft.priority", "-101", true },
	{ "nft.priority", "-100", false }, { "nft.priority", "--150", false },
	{ "nft.priority", "-0150", false }, { "nft.priority", "150", false },
	{ "nft.log_group", "65535", true }, { "nft.log_group", "65536", false },
	{ "nft.log_group", "-1", false }, { "nft.log_rate", "1/second", true },
	{ "nft.log_rate", "10000/second", true },
	{ "nft.log_rate", "10001/second", false },
	{ "nft.log_rate", "0/second", false }, { "nft.log_rate", "10", false },
	{ "nft.log_rate", "/second", false },
	{ "nft.log_rate", "10/second/second", false },
	{ "nft.log_rate", "10000000000000000000000/second", false },
	{ "nft.masquerade", "true", true }, { "nft.masquerade", "True", false },
	{ "nft.masquerade", "\"true\"", false },
	{ "nft.table", "a234567890123456789012345678901", true },
	{ "nft.table", "a2345678901234567890123456789012", false },
	{ "state_dir", "/", false }, { "state_dir", "/x", true },
	{ "state_dir", "x", false }, { "state_dir", "[]", false },
	{ "limits.tcp_connections", "15", false },
	{ "limits.tcp_connections", "16", true },
	{ "limits.tcp_connections", "65536", true },
	{ "limits.tcp_connections", "65537", false },
	{ "limits.tcp_connections_per_sandbox", "1", true },
	{ "limits.tcp_connections_per_sandbox", "0", false },
	{ "bounds.sandbox", "8B/day", true },
	{ "bounds.sandbox", "7B/day", false },
	{ "bounds.sandbox", "1MiB/day", true },
	{ "bounds.sandbox", "2047KiB/day", true },
	{ "bounds.sandbox", "2048KiB/day", false },
	{ "bounds.sandbox", "18446744073709551615B/day", false },
	{ "bounds.sandbox", "4KiB", false }, { "limits.rules", "1", true },
	{ "limits.rules", "0", false }, { "limits.rules", "'1'", false } };

/* Bounds belong to the range; what is refused leaves the value alone. */
START_TEST(values_are_read_within_their_bounds)
{
	struct settings *settings = malloc(sizeof(*settings));
	struct settings *before = malloc(sizeof(*before));
	char text[64];

	memset(before, 0, sizeof(*before));
	fields_defaults(before);
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		const struct field *field = field_of(values[i].field);
		struct yaml_node *map;
		struct text_error error;
		int r;

		*settings = *before;
		snprintf(text, sizeof(text), "k: %s", values[i].text);
		map = read_map(text);
		r = fields_read("t", field, map->first, settings, &error);
		ck_assert_msg((r == 0) == values[i].good, "%s: %s",
		    values[i].field, values[i].text);
		ck_assert_msg((memcmp(settings, before, sizeof(*before)) !=
				  0) == values[i].good,
		    "%s: %s", values[i].field, values[i].text);
		yaml_tree_free(map);
	}
	free(settings);
	free(before);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("fields", &all);

	tcase_add_test(all, the_table_is_sound);
	tcase_add_test(all, keys_are_judged_by_the_map_they_stand_in);
	tcase_add_test(all, values_are_read_within_their_bounds);
	return unit_run(suite);
}
