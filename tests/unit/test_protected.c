/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The intervals against the judge of single addresses, which made them: at
 * every place where something could begin or end, and in between.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "src/helper/protected.h"
#include "tests/unit/unit.h"

static struct protected_ranges ranges;
static struct interval *intervals;
static size_t interval_count;

static struct addr
addr_of(const char *text)
{
	struct addr addr = { .family = 0 };

	ck_assert_msg(addr_parse(text, strlen(text), &addr), "%s", text);
	return addr;
}

static struct prefix
prefix_of_text(const char *text)
{
	struct prefix prefix;

	ck_assert_msg(prefix_parse(text, strlen(text), &prefix), "%s", text);
	return prefix;
}

static void
setup(void)
{
	memset(&ranges, 0, sizeof(ranges));
	intervals = NULL;
	interval_count = 0;
}

static void
teardown(void)
{
	free(intervals);
}

static void
make(uint8_t family)
{
	free(intervals);
	intervals = NULL;
	ck_assert_int_eq(protected_intervals(&ranges, family, &intervals,
			     &interval_count),
	    0);
}

static bool
is_in(const struct addr *addr)
{
	for (size_t i = 0; i < interval_count; i++)
		if (addr_compare(&intervals[i].first, addr) <= 0 &&
		    addr_compare(addr, &intervals[i].last) <= 0)
			return true;
	return false;
}

static void
check(const struct addr *addr)
{
	bool closed = addr_protected(addr, &ranges, NULL, 0) != ADDR_GLOBAL;
	char text[ADDR_TEXT_MAX];

	(void)addr_print(addr, text);
	ck_assert_msg(is_in(addr) == closed, "%s: %s", text,
	    closed ? "protected, and in no interval"
		   : "in an interval, and not protected");
}

/* One step up or down, as far as there is one. */
static struct addr
step(struct addr addr, int by)
{
	for (size_t i = addr_size(&addr); i-- > 0;) {
		addr.bytes[i] = (uint8_t)(addr.bytes[i] + by);
		if (addr.bytes[i] != (by > 0 ? 0 : 0xff))
			return addr;
	}
	return addr;
}

static void
check_around(const struct addr *addr)
{
	struct addr before = step(*addr, -1), after = step(*addr, 1);

	check(&before);
	check(addr);
	check(&after);
}

/* In order, apart, and right at both ends. */
static void
check_intervals(void)
{
	for (size_t i = 0; i < interval_count; i++) {
		ck_assert_int_le(addr_compare(&intervals[i].first,
				     &intervals[i].last),
		    0);
		check_around(&intervals[i].first);
		check_around(&intervals[i].last);
		if (i == 0)
			continue;
		struct addr behind = step(intervals[i - 1].last, 1);

		ck_assert_int_lt(addr_compare(&behind, &intervals[i].first), 0);
	}
}

START_TEST(the_registries_alone)
{
	static const char *const closed[] = { "0.0.0.0", "10.0.0.0",
		"10.255.255.255", "169.254.169.254", "255.255.255.255",
		"168.63.129.16", "::", "::1", "fe80::1", "ff02::1",
		"64:ff9b::a00:1", "2002:a00:1::", "::ffff:9.9.9.9",
		"2001:0:1::1", "fd00:ec2::254" };
	static const char *const open[] = { "9.9.9.9", "11.0.0.0",
		"223.255.255.255", "168.63.129.17", "2606:4700::1",
		"64:ff9b::909:909", "2002:909:909::", "2001:4860::" };

	for (size_t i = 0; i < ARRAY_LEN(closed); i++) {
		struct addr addr = addr_of(closed[i]);

		make(addr.family);
		ck_assert_msg(is_in(&addr), "%s", closed[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(open); i++) {
		struct addr addr = addr_of(open[i]);

		make(addr.family);
		ck_assert_msg(!is_in(&addr), "%s", open[i]);
	}
	for (uint8_t family = 4; family <= 6; family += 2) {
		make(family);
		check_intervals();
	}
}
END_TEST

static void
fill_ranges(void)
{
	static const char *const except[] = { "10.5.0.0/16", "198.51.100.0/24",
		"2001:db8:100::/48", "0.0.0.0/4", "192.0.2.7/32" };
	static const char *const nat64[] = { "2001:db8:64::/96", "2606:64::/32",
		"2606:6464::/64", "2606:65:4000::/40" };
	static const char *const own[] = { "9.9.9.1", "198.51.100.9", "9.9.9.2",
		"2606:4700::9", "10.5.0.1" };

	for (size_t i = 0; i < ARRAY_LEN(except); i++)
		ranges.except[ranges.except_count++] =
		    prefix_of_text(except[i]);
	for (size_t i = 0; i < ARRAY_LEN(nat64); i++)
		ranges.nat64[ranges.nat64_count++] = prefix_of_text(nat64[i]);
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		ranges.own[ranges.own_count++] = addr_of(own[i]);
}

START_TEST(what_the_host_adds_and_takes)
{
	static const char *const places[] = { "9.9.9.1", "9.9.9.2", "9.9.9.3",
		"198.51.100.9", "198.51.100.10", "10.5.0.1", "10.5.0.2",
		"192.0.2.7", "1.1.1.1", "2606:4700::9", "2001:db8:64::a05:1",
		"2001:db8:64::a05:2", "2001:db8:64::909:901",
		"2001:db8:64::909:903", "2606:64:a00::", "2606:64:909:901::",
		"2606:64:909:903::", "2606:6464::9:909:900:0",
		"2606:6464:0:0:a:0:100:0", "2606:65:4009:909:1::",
		"2606:65:4009:909:3::", "64:ff9b::909:901", "2002:909:901::1",
		"2001:db8:100::5", "2001:db8:101::" };

	fill_ranges();
	for (uint8_t family = 4; family <= 6; family += 2) {
		make(family);
		check_intervals();
		for (size_t i = 0; i < ARRAY_LEN(places); i++) {
			struct addr addr = addr_of(places[i]);

			if (addr.family == family)
				check(&addr);
		}
	}
}
END_TEST

START_TEST(random_addresses)
{
	uint32_t word = 7;

	fill_ranges();
	make(4);
	for (int i = 0; i < 20000; i++) {
		word = word * 1664525 + 1013904223;
		struct addr addr = addr_v4((const uint8_t[]){
		    (uint8_t)(word >> 24), (uint8_t)(word >> 16),
		    (uint8_t)(word >> 8), (uint8_t)word });

		check(&addr);
	}
}
END_TEST

/* Any address could be one of the host's. */
START_TEST(too_many_addresses_close_all)
{
	ranges.own_overflow = true;
	make(4);
	ck_assert_uint_eq(interval_count, 1);
	ck_assert_uint_eq(intervals[0].first.bytes[0], 0);
	ck_assert_uint_eq(intervals[0].last.bytes[3], 255);
	make(6);
	ck_assert_uint_eq(interval_count, 1);
	ck_assert_uint_eq(intervals[0].last.bytes[15], 255);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("protected", &all);

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, the_registries_alone);
	tcase_add_test(all, what_the_host_adds_and_takes);
	tcase_add_test(all, random_addresses);
	tcase_add_test(all, too_many_addresses_close_all);
	return unit_run(suite);
}
