/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "tests/unit/unit.h"

#include <string.h>

#include "lib/require.h"
#include "src/helper/quotas.h"

static struct addr
addr_of(const char *name)
{
	struct addr addr = { .family = 0 };

	ck_assert(addr_parse(name, strlen(name), &addr));
	return addr;
}

START_TEST(a_name_says_whose_it_is)
{
	static const struct {
		const char *source;
		uint64_t rule;
		uint32_t day, serial;
		const char *name;
	} list[] = {
		{ "10.200.1.2", 0, 20000, 1,
		    "u_0ac80102_0000000000000000_20000_1" },
		{ "0.0.0.0", UINT64_MAX, UINT32_MAX, UINT32_MAX,
		    "u_00000000_ffffffffffffffff_4294967295_4294967295" },
		{ "2001:db8::12", 0x1234, 0, 7,
		    "u_20010db8000000000000000000000012_"
		    "0000000000001234_0_7" },
	};

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		struct quota_key key = { addr_of(list[i].source), list[i].rule,
			list[i].day, list[i].serial },
				 read;
		char name[QUOTA_NAME_MAX];

		quota_name_print(name, &key);
		ck_assert_str_eq(name, list[i].name);
		ck_assert(quota_name_read(name, &read));
		ck_assert(addr_equal(&read.source, &key.source));
		ck_assert_uint_eq(read.rule, key.rule);
		ck_assert_uint_eq(read.day, key.day);
		ck_assert_uint_eq(read.serial, key.serial);
	}
}
END_TEST

START_TEST(other_names_are_not_ours)
{
	static const char *const list[] = { "", "u_", "refused",
		"u_0ac80102_0000000000000000_20000",
		"u_0ac80102_0000000000000000_20000_1 ",
		"u_0ac80102_0000000000000000_20000_01",
		"u_0ac80102_0000000000000000_20000_-1",
		"u_0ac80102_000000000000000_20000_1",
		"u_0AC80102_0000000000000000_20000_1",
		"u_0ac801_0000000000000000_20000_1",
		"u_0ac8010_0000000000000000_20000_1",
		"u_0ac80102_00000000000000000_20000_1",
		"u_0ac80102_0000000000000000_99999999999_1",
		"u_20010db800000000000000000000001_0000000000000000_1_1",
		"u_20010db80000000000000000000000122_0000000000000000_1_1" };

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		struct quota_key key = { .serial = 99 };

		ck_assert_msg(!quota_name_read(list[i], &key), "%s", list[i]);
		ck_assert_uint_eq(key.serial, 99);
	}
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("quotas", &all);

	tcase_add_test(all, a_name_says_whose_it_is);
	tcase_add_test(all, other_names_are_not_ours);
	return unit_run(suite);
}
