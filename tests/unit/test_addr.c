/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/addr.h"

#include <string.h>

#include "lib/require.h"
#include "tests/unit/unit.h"

static struct addr
addr_of(const char *text)
{
	struct addr a;

	ck_assert_msg(addr_parse(text, strlen(text), &a), "%s", text);
	return a;
}

static struct prefix
prefix_from(const char *text)
{
	struct prefix p;

	ck_assert_msg(prefix_parse(text, strlen(text), &p), "%s", text);
	return p;
}

START_TEST(values_are_complete)
{
	static const uint8_t bytes[16] = { 192, 0, 2, 1, 5, 6, 7, 8, 9, 10, 11,
		12, 13, 14, 15, 16 };
	static const uint8_t nothing[12];
	struct addr four = addr_v4(bytes), six = addr_v6(bytes);

	ck_assert_uint_eq(four.family, 4);
	ck_assert_mem_eq(four.bytes, bytes, 4);
	ck_assert_mem_eq(four.bytes + 4, nothing, 12);
	ck_assert_uint_eq(addr_size(&four), 4);
	ck_assert_uint_eq(six.family, 6);
	ck_assert_mem_eq(six.bytes, bytes, 16);
	ck_assert_uint_eq(addr_size(&six), 16);
}
END_TEST

START_TEST(order_is_total)
{
	static const char *const ascending[] = { "0.0.0.0", "1.2.3.4",
		"127.255.255.255", "128.0.0.0", "255.255.255.255", "::", "::1",
		"1::", "8000::", "ffff::" };

	for (size_t i = 0; i < ARRAY_LEN(ascending); i++) {
		for (size_t j = 0; j < ARRAY_LEN(ascending); j++) {
			struct addr a = addr_of(ascending[i]);
			struct addr b = addr_of(ascending[j]);
			int order = addr_compare(&a, &b);

			ck_assert_int_eq(order < 0, i < j);
			ck_assert_int_eq(order > 0, i > j);
			ck_assert_int_eq(addr_equal(&a, &b), i == j);
		}
	}
}
END_TEST

START_TEST(prefixes_contain)
{
	static const struct {
		const char *prefix, *addr;
		bool contains;
	} cases[] = {
		{ "192.0.2.0/24", "192.0.2.0", true },
		{ "192.0.2.0/24", "192.0.2.255", true },
		{ "192.0.2.0/24", "192.0.3.0", false },
		{ "192.0.2.0/24", "192.0.1.255", false },
		{ "100.64.0.0/10", "100.127.255.255", true },
		{ "100.64.0.0/10", "100.128.0.0", false },
		{ "192.0.2.7", "192.0.2.7", true },
		{ "192.0.2.7/32", "192.0.2.6", false },
		{ "0.0.0.0/0", "255.255.255.255", true },
		{ "0.0.0.0/0", "::", false },
		{ "::/0", "0.0.0.0", false },
		{ "::/0", "ffff::", true },
		{ "2001:db8::/29", "2001:dbf::", true },
		{ "2001:db8::/29", "2001:dc0::", false },
		{ "2001:db8::1", "2001:db8::1", true },
		{ "2001:db8::1/128", "2001:db8::", false },
		{ "2001:db8::/127", "2001:db8::1", true },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct prefix p = prefix_from(cases[i].prefix);
		struct addr a = addr_of(cases[i].addr);

		ck_assert_msg(prefix_contains(&p, &a) == cases[i].contains,
		    "%s %s", cases[i].prefix, cases[i].addr);
	}
}
END_TEST

START_TEST(prefixes_overlap)
{
	static const struct {
		const char *a, *b;
		bool overlaps;
	} cases[] = {
		{ "10.0.0.0/8", "10.5.0.0/24", true },
		{ "10.0.0.0/8", "11.0.0.0/8", false },
		{ "10.0.0.0/24", "10.0.1.0/24", false },
		{ "0.0.0.0/0", "10.0.0.1", true },
		{ "0.0.0.0/0", "::/0", false },
		{ "fd00::/8", "fd00:1::/64", true },
		{ "fd00:1::/64", "fd00:1::/64", true },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct prefix a = prefix_from(cases[i].a);
		struct prefix b = prefix_from(cases[i].b);

		ck_assert_int_eq(prefix_overlaps(&a, &b), cases[i].overlaps);
		ck_assert_int_eq(prefix_overlaps(&b, &a), cases[i].overlaps);
	}
}
END_TEST

/* Bit by bit, for every length. */
START_TEST(lengths_cut_where_they_say)
{
	uint64_t state = unit_seed();

	for (int round = 0; round < 5000; round++) {
		struct addr a = { .family = 6 }, b;
		struct prefix p;
		uint32_t flip = unit_random(&state) % 128;

		for (size_t i = 0; i < 16; i++)
			a.bytes[i] = (uint8_t)unit_random(&state);
		b = a;
		b.bytes[flip / 8] ^= (uint8_t)(0x80 >> flip % 8);
		p = prefix_of(&a);
		ck_assert_uint_eq(p.bits, 128);
		p.bits = (uint8_t)(unit_random(&state) % 129);
		ck_assert(prefix_contains(&p, &a));
		ck_assert_int_eq(prefix_contains(&p, &b), p.bits <= flip);
	}
}
END_TEST

START_TEST(dies_of_no_family)
{
	struct addr none = { .family = 0 };

	(void)addr_size(&none);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("addr", &all);

	tcase_add_test(all, values_are_complete);
	tcase_add_test(all, order_is_total);
	tcase_add_test(all, prefixes_contain);
	tcase_add_test(all, prefixes_overlap);
	tcase_add_test(all, lengths_cut_where_they_say);
	tcase_add_test_raise_signal(all, dies_of_no_family, SIGABRT);
	return unit_run(suite);
}
