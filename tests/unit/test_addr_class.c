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

/* First and last of each range, and what lies beside it. */
static const struct {
	const char *text;
	enum addr_class class;
} classes[] = {
	{ "0.0.0.0", ADDR_UNSPECIFIED },
	{ "0.255.255.255", ADDR_UNSPECIFIED },
	{ "1.0.0.0", ADDR_GLOBAL },
	{ "9.255.255.255", ADDR_GLOBAL },
	{ "10.0.0.0", ADDR_PRIVATE },
	{ "10.255.255.255", ADDR_PRIVATE },
	{ "11.0.0.0", ADDR_GLOBAL },
	{ "100.63.255.255", ADDR_GLOBAL },
	{ "100.64.0.0", ADDR_SHARED },
	{ "100.127.255.255", ADDR_SHARED },
	{ "100.128.0.0", ADDR_GLOBAL },
	{ "100.100.100.200", ADDR_METADATA },
	{ "100.100.100.201", ADDR_SHARED },
	{ "100.96.0.96", ADDR_METADATA },
	{ "126.255.255.255", ADDR_GLOBAL },
	{ "127.0.0.0", ADDR_LOOPBACK },
	{ "127.255.255.255", ADDR_LOOPBACK },
	{ "128.0.0.0", ADDR_GLOBAL },
	{ "168.63.129.15", ADDR_GLOBAL },
	{ "168.63.129.16", ADDR_METADATA },
	{ "168.63.129.17", ADDR_GLOBAL },
	{ "169.253.255.255", ADDR_GLOBAL },
	{ "169.254.0.0", ADDR_LINK_LOCAL },
	{ "169.254.169.254", ADDR_METADATA },
	{ "169.254.169.253", ADDR_METADATA },
	{ "169.254.170.2", ADDR_METADATA },
	{ "169.254.170.23", ADDR_METADATA },
	{ "169.254.42.42", ADDR_METADATA },
	{ "169.254.0.23", ADDR_METADATA },
	{ "169.254.255.255", ADDR_LINK_LOCAL },
	{ "169.255.0.0", ADDR_GLOBAL },
	{ "172.15.255.255", ADDR_GLOBAL },
	{ "172.16.0.0", ADDR_PRIVATE },
	{ "172.31.255.255", ADDR_PRIVATE },
	{ "172.32.0.0", ADDR_GLOBAL },
	{ "191.255.255.255", ADDR_GLOBAL },
	{ "192.0.0.0", ADDR_RESERVED },
	{ "192.0.0.9", ADDR_RESERVED },
	{ "192.0.0.170", ADDR_RESERVED },
	{ "192.0.0.192", ADDR_METADATA },
	{ "192.0.0.255", ADDR_RESERVED },
	{ "192.0.1.0", ADDR_GLOBAL },
	{ "192.0.2.0", ADDR_DOCUMENTATION },
	{ "192.0.2.255", ADDR_DOCUMENTATION },
	{ "192.0.3.0", ADDR_GLOBAL },
	{ "192.31.196.1", ADDR_GLOBAL },
	{ "192.88.98.255", ADDR_GLOBAL },
	{ "192.88.99.1", ADDR_RESERVED },
	{ "192.88.100.0", ADDR_GLOBAL },
	{ "192.167.255.255", ADDR_GLOBAL },
	{ "192.168.0.0", ADDR_PRIVATE },
	{ "192.168.255.255", ADDR_PRIVATE },
	{ "192.169.0.0", ADDR_GLOBAL },
	{ "198.17.255.255", ADDR_GLOBAL },
	{ "198.18.0.0", ADDR_BENCHMARK },
	{ "198.19.255.255", ADDR_BENCHMARK },
	{ "198.20.0.0", ADDR_GLOBAL },
	{ "198.51.100.7", ADDR_DOCUMENTATION },
	{ "203.0.113.7", ADDR_DOCUMENTATION },
	{ "223.255.255.255", ADDR_GLOBAL },
	{ "224.0.0.0", ADDR_MULTICAST },
	{ "239.255.255.255", ADDR_MULTICAST },
	{ "240.0.0.0", ADDR_RESERVED },
	{ "255.255.255.254", ADDR_RESERVED },
	{ "255.255.255.255", ADDR_MULTICAST },
	{ "::", ADDR_UNSPECIFIED },
	{ "::1", ADDR_LOOPBACK },
	{ "::2", ADDR_RESERVED },
	{ "::192.0.2.1", ADDR_RESERVED },
	{ "::ffff:8.8.8.8", ADDR_RESERVED },
	{ "64:ff9b::8.8.8.8", ADDR_GLOBAL },
	{ "64:ff9b:0:0:0:1::", ADDR_RESERVED },
	{ "64:ff9b:1::1", ADDR_RESERVED },
	{ "100::1", ADDR_RESERVED },
	{ "100:0:0:1::1", ADDR_RESERVED },
	{ "1fff:ffff::", ADDR_RESERVED },
	{ "2001::1", ADDR_GLOBAL },
	{ "2001:1::1", ADDR_RESERVED },
	{ "2001:2::1", ADDR_BENCHMARK },
	{ "2001:2:1::1", ADDR_RESERVED },
	{ "2001:3::1", ADDR_GLOBAL },
	{ "2001:4:112::1", ADDR_GLOBAL },
	{ "2001:4:113::1", ADDR_RESERVED },
	{ "2001:10::1", ADDR_RESERVED },
	{ "2001:1f::1", ADDR_RESERVED },
	{ "2001:20::1", ADDR_GLOBAL },
	{ "2001:2f::1", ADDR_GLOBAL },
	{ "2001:3f::1", ADDR_GLOBAL },
	{ "2001:40::1", ADDR_RESERVED },
	{ "2001:1ff::1", ADDR_RESERVED },
	{ "2001:200::1", ADDR_GLOBAL },
	{ "2001:4860:4860::8888", ADDR_GLOBAL },
	{ "2001:db7:ffff::", ADDR_GLOBAL },
	{ "2001:db8::1", ADDR_DOCUMENTATION },
	{ "2001:db8:ffff::", ADDR_DOCUMENTATION },
	{ "2001:db9::", ADDR_GLOBAL },
	{ "2002:808:808::1", ADDR_GLOBAL },
	{ "2620:4f:8000::1", ADDR_GLOBAL },
	{ "3ffe:ffff::", ADDR_GLOBAL },
	{ "3fff::", ADDR_DOCUMENTATION },
	{ "3fff:fff::1", ADDR_DOCUMENTATION },
	{ "3fff:1000::1", ADDR_GLOBAL },
	{ "4000::", ADDR_RESERVED },
	{ "5f00::1", ADDR_RESERVED },
	{ "fc00::1", ADDR_PRIVATE },
	{ "fdff:ffff::1", ADDR_PRIVATE },
	{ "fd00:ec2::254", ADDR_METADATA },
	{ "fd00:ec2::23", ADDR_METADATA },
	{ "fd20:ce::254", ADDR_METADATA },
	{ "fd00:c1::a9fe:a9fe", ADDR_METADATA },
	{ "fd00:42::42", ADDR_METADATA },
	{ "fd00:42::43", ADDR_PRIVATE },
	{ "fd00:a9fe:a9fe::1", ADDR_METADATA },
	{ "fe00::1", ADDR_RESERVED },
	{ "fe80::1", ADDR_LINK_LOCAL },
	{ "fe80::a9fe:a9fe", ADDR_METADATA },
	{ "febf:ffff::1", ADDR_LINK_LOCAL },
	{ "fec0::1", ADDR_PRIVATE },
	{ "feff:ffff::1", ADDR_PRIVATE },
	{ "ff00::", ADDR_MULTICAST },
	{ "ff02::1", ADDR_MULTICAST },
};

START_TEST(classifies)
{
	for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
		struct addr a = addr_of(classes[i].text);

		ck_assert_msg(addr_classify(&a) == classes[i].class, "%s is %s",
		    classes[i].text, addr_class_name(addr_classify(&a)));
	}
}
END_TEST

START_TEST(class_names_differ)
{
	for (int i = ADDR_GLOBAL; i <= ADDR_RESERVED; i++)
		for (int j = ADDR_GLOBAL; j < i; j++)
			ck_assert_str_ne(addr_class_name((enum addr_class)i),
			    addr_class_name((enum addr_class)j));
}
END_TEST

START_TEST(finds_hidden_addresses)
{
	static const struct {
		const char *nat64, *text, *inner; /* NULL: none */
	} cases[] = {
		{ NULL, "10.0.0.1", NULL },
		{ NULL, "2001:db8::10.0.0.1", NULL },
		{ NULL, "::", NULL },
		{ NULL, "::1", NULL },
		{ NULL, "::ffff:10.0.0.1", "10.0.0.1" },
		{ NULL, "::10.0.0.1", "10.0.0.1" },
		{ NULL, "64:ff9b::10.0.0.1", "10.0.0.1" },
		{ NULL, "64:ff9b::1:0:10.0.0.1", NULL },
		{ NULL, "64:ff9b:1:0a00:0:100::", "10.0.0.1" },
		{ NULL, "2002:a00:1::1", "10.0.0.1" },
		{ NULL, "2001:0:808:808:0:0:f5ff:fffe", "10.0.0.1" },
		{ NULL, "fe80::5efe:10.0.0.1", "10.0.0.1" },
		{ NULL, "2001:db8::200:5efe:10.0.0.1", "10.0.0.1" },
		{ NULL, "2001:db8::100:5efe:10.0.0.1", NULL },
		/* RFC 6052 2.4. */
		{ "2001:db8::/32", "2001:db8:c000:221::", "192.0.2.33" },
		{ "2001:db8:100::/40", "2001:db8:1c0:2:21::", "192.0.2.33" },
		{ "2001:db8:122::/48",
		    "2001:db8:122:c000:2:2100::", "192.0.2.33" },
		{ "2001:db8:122:300::/56",
		    "2001:db8:122:3c0:0:221::", "192.0.2.33" },
		{ "2001:db8:122:344::/64",
		    "2001:db8:122:344:c0:2:2100::", "192.0.2.33" },
		{ "2001:db8:122:344::/96", "2001:db8:122:344::192.0.2.33",
		    "192.0.2.33" },
		/* No length of a translator. */
		{ "2001:db8::/36", "2001:db8:c000:221::", NULL },
		{ "2001:db8::/72", "2001:db8::192.0.2.33", NULL },
		/* The operator knows better than our guess. */
		{ "64:ff9b:1::/96", "64:ff9b:1::10.0.0.1", "10.0.0.1" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct protected_ranges ranges = { 0 };
		struct addr a = addr_of(cases[i].text), inner, expected;
		bool found;

		if (cases[i].nat64 != NULL) {
			ranges.nat64[0] = prefix_from(cases[i].nat64);
			ranges.nat64_count = 1;
		}
		found = addr_hidden_v4(&a, &ranges, &inner);
		ck_assert_msg(found == (cases[i].inner != NULL), "%s",
		    cases[i].text);
		if (!found)
			continue;
		expected = addr_of(cases[i].inner);
		ck_assert_msg(addr_equal(&inner, &expected), "%s",
		    cases[i].text);
	}
}
END_TEST

START_TEST(the_longest_translator_counts)
{
	struct protected_ranges ranges = { .nat64_count = 3 };
	struct addr a = addr_of("2001:db8::10.0.0.1"), inner;
	struct addr expected = addr_of("10.0.0.1");

	ranges.nat64[0] = prefix_from("2001:db8::/32");
	ranges.nat64[1] = prefix_from("2001:db8::/96");
	ranges.nat64[2] = prefix_from("2001:db8::/64");
	ck_assert(addr_hidden_v4(&a, &ranges, &inner));
	ck_assert(addr_equal(&inner, &expected));
}
END_TEST

struct judgement {
	const char *addr, *allowed, *except, *nat64, *own; /* or NULL */
	enum addr_class class;
};

static const struct judgement judgements[] = {
	{ "8.8.8.8", NULL, NULL, NULL, NULL, ADDR_GLOBAL },
	{ "2001:4860::1", NULL, NULL, NULL, NULL, ADDR_GLOBAL },
	{ "10.0.0.1", NULL, NULL, NULL, NULL, ADDR_PRIVATE },
	{ "10.0.0.1", "10.0.0.0/24", NULL, NULL, NULL, ADDR_GLOBAL },
	{ "10.0.1.1", "10.0.0.0/24", NULL, NULL, NULL, ADDR_PRIVATE },
	{ "10.0.0.1", NULL, "10.0.0.0/24", NULL, NULL, ADDR_GLOBAL },
	{ "169.254.169.254", NULL, NULL, NULL, NULL, ADDR_METADATA },
	{ "169.254.169.254", "169.254.169.254", NULL, NULL, NULL, ADDR_GLOBAL },
	{ "127.0.0.1", "127.0.0.0/8", NULL, NULL, NULL, ADDR_GLOBAL },

	/* Never lifted. */
	{ "0.0.0.0", "0.0.0.0/0", "0.0.0.0/0", NULL, NULL, ADDR_UNSPECIFIED },
	{ "::", "::/0", "::/0", NULL, NULL, ADDR_UNSPECIFIED },
	{ "224.0.0.251", "0.0.0.0/0", "0.0.0.0/0", NULL, NULL, ADDR_MULTICAST },
	{ "255.255.255.255", "0.0.0.0/0", NULL, NULL, NULL, ADDR_MULTICAST },
	{ "ff02::fb", "::/0", NULL, NULL, NULL, ADDR_MULTICAST },
	{ "::ffff:0.0.0.0", "::/0", NULL, NULL, NULL, ADDR_UNSPECIFIED },
	{ "64:ff9b::224.0.0.1", "224.0.0.0/4", "::/0", NULL, NULL,
	    ADDR_MULTICAST },

	/* Mapped and compatible forms are never of use, whatever is inside. */
	{ "::ffff:8.8.8.8", NULL, NULL, NULL, NULL, ADDR_RESERVED },
	{ "::ffff:10.0.0.1", NULL, NULL, NULL, NULL, ADDR_PRIVATE },
	{ "::ffff:10.0.0.1", "10.0.0.0/8", NULL, NULL, NULL, ADDR_PRIVATE },
	{ "::ffff:10.0.0.1", "::ffff:10.0.0.0/104", NULL, NULL, NULL,
	    ADDR_GLOBAL },
	{ "::127.0.0.1", NULL, NULL, NULL, NULL, ADDR_LOOPBACK },

	/* Tunnels: both the form and the inside count. */
	{ "2002:808:808::1", NULL, NULL, NULL, NULL, ADDR_GLOBAL },
	{ "2002:a9fe:a9fe::1", NULL, NULL, NULL, NULL, ADDR_METADATA },
	{ "2002:a00:1::1", "10.0.0.0/8", NULL, NULL, NULL, ADDR_PRIVATE },
	{ "2001:0:808:808::f5ff:fffe", NULL, NULL, NULL, NULL, ADDR_PRIVATE },
	{ "2001:0:808:808::f7f7:f7f7", NULL, NULL, NULL, NULL, ADDR_GLOBAL },
	{ "2a00::5efe:192.168.0.1", NULL, NULL, NULL, NULL, ADDR_PRIVATE },

	/* NAT64: the inside alone. */
	{ "64:ff9b::8.8.8.8", NULL, NULL, NULL, NULL, ADDR_GLOBAL },
	{ "64:ff9b::10.0.0.1", NULL, NULL, NULL, NULL, ADDR_PRIVATE },
	{ "64:ff9b::10.0.0.1", "10.0.0.0/8", NULL, NULL, NULL, ADDR_GLOBAL },
	{ "64:ff9b::10.0.0.1", NULL, "10.0.0.0/8", NULL, NULL, ADDR_GLOBAL },
	{ "64:ff9b::10.0.0.1", NULL, "64:ff9b::/96", NULL, NULL, ADDR_GLOBAL },
	{ "64:ff9b::168.63.129.16", NULL, NULL, NULL, NULL, ADDR_METADATA },
	{ "64:ff9b:1:808:8:800::", NULL, NULL, NULL, NULL, ADDR_RESERVED },
	{ "64:ff9b:1:a00:0:100::", NULL, NULL, NULL, NULL, ADDR_PRIVATE },
	{ "64:ff9b:1::8.8.8.8", NULL, NULL, "64:ff9b:1::/96", NULL,
	    ADDR_GLOBAL },
	{ "fd00:64::8.8.8.8", NULL, NULL, "fd00:64::/96", NULL, ADDR_GLOBAL },
	{ "fd00:64::10.0.0.1", NULL, NULL, "fd00:64::/96", NULL, ADDR_PRIVATE },
	{ "fd00:65::8.8.8.8", NULL, NULL, "fd00:64::/96", NULL, ADDR_PRIVATE },
	{ "fd00:ec2::254", NULL, NULL, "fd00:ec2::/96", NULL,
	    ADDR_UNSPECIFIED },

	/* The host's own addresses. */
	{ "9.9.9.1", NULL, NULL, NULL, "9.9.9.1", ADDR_LOOPBACK },
	{ "9.9.9.2", NULL, NULL, NULL, "9.9.9.1", ADDR_GLOBAL },
	{ "9.9.9.1", "9.9.9.1", NULL, NULL, "9.9.9.1", ADDR_GLOBAL },
	{ "9.9.9.1", NULL, "9.9.9.1", NULL, "9.9.9.1", ADDR_LOOPBACK },
	{ "10.0.0.1", NULL, "10.0.0.0/8", NULL, "10.0.0.1", ADDR_PRIVATE },
	{ "64:ff9b::9.9.9.1", NULL, NULL, NULL, "9.9.9.1", ADDR_LOOPBACK },
	{ "64:ff9b::9.9.9.1", "9.9.9.1", NULL, NULL, "9.9.9.1", ADDR_GLOBAL },
	{ "2002:909:901::", NULL, NULL, NULL, "9.9.9.1", ADDR_LOOPBACK },
};

static enum addr_class
judge(const struct judgement *j)
{
	struct protected_ranges ranges = { 0 };
	struct prefix allowed[2] = { prefix_from("192.0.2.0/24") };
	size_t allowed_count = 1;
	struct addr a = addr_of(j->addr);

	if (j->allowed != NULL)
		allowed[allowed_count++] = prefix_from(j->allowed);
	if (j->except != NULL)
		ranges.except[ranges.except_count++] = prefix_from(j->except);
	if (j->nat64 != NULL)
		ranges.nat64[ranges.nat64_count++] = prefix_from(j->nat64);
	if (j->own != NULL)
		ranges.own[ranges.own_count++] = addr_of(j->own);
	return addr_protected(&a, &ranges, allowed, allowed_count);
}

START_TEST(judges)
{
	for (size_t i = 0; i < ARRAY_LEN(judgements); i++) {
		enum addr_class class = judge(&judgements[i]);

		ck_assert_msg(class == judgements[i].class, "%zu: %s is %s", i,
		    judgements[i].addr, addr_class_name(class));
	}
}
END_TEST

START_TEST(too_many_own_addresses_close_all)
{
	struct protected_ranges ranges = { .own_overflow = true,
		.except_count = 1 };
	struct prefix allowed = prefix_from("8.8.8.0/24");
	struct addr a = addr_of("8.8.8.8"), b = addr_of("8.8.4.4");

	ranges.except[0] = prefix_from("0.0.0.0/0");
	ck_assert_int_eq(addr_protected(&a, &ranges, &allowed, 1), ADDR_GLOBAL);
	ck_assert_int_eq(addr_protected(&b, &ranges, &allowed, 1),
	    ADDR_RESERVED);
}
END_TEST

/* Without any permission nothing passes that is not global both outside and
 * inside: a second reading of the rules, kept apart from the first. */
START_TEST(lets_nothing_through_at_random)
{
	static const uint8_t starts[][4] = { { 0x20, 0x02, 10 }, { 0x20, 0x01 },
		{ 0, 0x64, 0xff, 0x9b }, { 0 }, { 0xfe, 0x80 }, { 0x2a, 0 } };
	struct protected_ranges ranges = { 0 };
	uint64_t state = unit_seed();

	for (int round = 0; round < 200000; round++) {
		struct addr a = { .family = 6 }, inner;
		bool hidden;

		for (size_t i = 4; i < 16; i++)
			a.bytes[i] = unit_random(&state) % 2
			    ? (uint8_t)unit_random(&state)
			    : 0;
		memcpy(a.bytes, starts[unit_random(&state) % 6], 4);
		hidden = addr_hidden_v4(&a, &ranges, &inner);
		if (addr_protected(&a, &ranges, NULL, 0) != ADDR_GLOBAL)
			continue;
		ck_assert_int_eq(addr_classify(&a), ADDR_GLOBAL);
		if (hidden)
			ck_assert_int_eq(addr_classify(&inner), ADDR_GLOBAL);
	}
}
END_TEST

START_TEST(dies_of_no_family)
{
	struct addr none = { .family = 0 };

	(void)addr_classify(&none);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("addr_class", &all);

	tcase_add_test(all, classifies);
	tcase_add_test(all, class_names_differ);
	tcase_add_test(all, finds_hidden_addresses);
	tcase_add_test(all, the_longest_translator_counts);
	tcase_add_test(all, judges);
	tcase_add_test(all, too_many_own_addresses_close_all);
	tcase_add_test(all, lets_nothing_through_at_random);
	tcase_add_test_raise_signal(all, dies_of_no_family, SIGABRT);
	unit_covers("J128");
	return unit_run(suite);
}
