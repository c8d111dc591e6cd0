/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text forms, with inet_pton and inet_ntop of the C library as an oracle:
 * both are strict in the same way.
 */
#include "lib/addr.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "tests/unit/unit.h"

static bool
oracle_parse(const char *text, struct addr *ret)
{
	uint8_t bytes[16];

	if (inet_pton(AF_INET, text, bytes) == 1) {
		*ret = addr_v4(bytes);
		return true;
	}
	if (inet_pton(AF_INET6, text, bytes) == 1) {
		*ret = addr_v6(bytes);
		return true;
	}
	return false;
}

/* Parses an exact copy on the heap, so that a sanitizer sees an overrun. */
static bool
parse(const char *text, struct addr *ret)
{
	size_t len = strlen(text);
	char *copy = malloc(len + 1);
	bool good;

	memcpy(copy, text, len + 1);
	copy = realloc(copy, len > 0 ? len : 1);
	good = addr_parse(copy, len, ret);
	free(copy);
	return good;
}

static void
check_against_oracle(const char *text)
{
	struct addr ours = { .family = 99 }, theirs = { .family = 0 };
	bool good = parse(text, &ours);

	if (good != oracle_parse(text, &theirs))
		ck_abort_msg("'%s'", text);
	if (good)
		UNIT_CHECK(addr_equal(&ours, &theirs));
	else
		UNIT_CHECK(ours.family == 99);
}

START_TEST(reads_what_the_oracle_reads)
{
	static const char *const texts[] = { "192.0.2.1", "0.0.0.0",
		"255.255.255.255", "256.0.0.1", "1.2.3", "1.2.3.4.5", "1..2.3",
		".1.2.3.4", "1.2.3.4.", "01.2.3.4", "1.2.3.00", "0x7f.0.0.1",
		"2130706433", "127.1", "1.2.3.4 ", " 1.2.3.4", "+1.2.3.4",
		"1.2.3.-4", "1.2.3.4294967297", "", ".", "::", ":",
		":::", "::1", "1::", "1::2", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7",
		"1:2:3:4:5:6:7:8:9", "::1:2:3:4:5:6:7",
		"1:2:3:4:5:6:7::", "::1:2:3:4:5:6:7:8",
		"1:2:3:4:5:6:7:8::", "1::2::3", "1:", ":1",
		"1:2:", "12345::", "00001::", "g::", "::g", "FE80::AbCd",
		"::1.2.3.4", "::ffff:1.2.3.4", "1:2:3:4:5:6:1.2.3.4",
		"1:2:3:4:5:6:7:1.2.3.4", "1:2:3:4:5:1.2.3.4", "::1.2.3.4:5",
		"::1.2.3", "::1.2.3.04", "::1.2.3.256",
		"1.2.3.4::", "1:2:3:4:5:6::1.2.3.4", "1:2:3:4:5::1.2.3.4",
		"fe80::1%1", "[::1]", "::1/64", "1::2:", "1:::2",
		"::1::", "64:ff9b::192.0.2.33", "::12345.1.1.1", "::a.1.1.1" };

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		check_against_oracle(texts[i]);
}
END_TEST

START_TEST(a_nul_is_no_end)
{
	struct addr a;

	ck_assert(!addr_parse("1.2.3.4\0", 8, &a));
	ck_assert(!addr_parse("::1\0", 4, &a));
	ck_assert(addr_parse("1.2.3.45", 7, &a));
	ck_assert_uint_eq(a.bytes[3], 4);
}
END_TEST

/* Text from the letters of addresses: short, so that some are good. */
START_TEST(reads_random_text_like_the_oracle)
{
	static const char letters[] = "::::....0123459aAfF%/ ";
	uint64_t state = unit_seed();

	for (int round = 0; round < 300000; round++) {
		char text[24];
		size_t len = unit_random(&state) % (sizeof(text) - 1);

		for (size_t i = 0; i < len; i++)
			text[i] = letters[unit_random(&state) %
			    (sizeof(letters) - 1)];
		text[len] = '\0';
		check_against_oracle(text);
	}
}
END_TEST

/* Good addresses with one octet changed, added or taken. */
START_TEST(reads_damaged_text_like_the_oracle)
{
	static const char letters[] = ":.0123456789abf";
	uint64_t state = unit_seed();

	for (int round = 0; round < 200000; round++) {
		char text[INET6_ADDRSTRLEN + 2];
		uint8_t bytes[16];
		size_t at, len;

		for (size_t i = 0; i < 16; i++)
			bytes[i] = unit_random(&state) % 2
			    ? (uint8_t)unit_random(&state)
			    : 0;
		inet_ntop(unit_random(&state) % 3 ? AF_INET6 : AF_INET, bytes,
		    text, INET6_ADDRSTRLEN);
		len = strlen(text);
		at = unit_random(&state) % len;
		switch (unit_random(&state) % 3) {
		case 0:
			memmove(text + at, text + at + 1, len - at);
			break;
		case 1:
			memmove(text + at + 1, text + at, len - at + 1);
			break;
		default:
			break;
		}
		if (text[at] != '\0')
			text[at] = letters[unit_random(&state) %
			    (sizeof(letters) - 1)];
		check_against_oracle(text);
	}
}
END_TEST

START_TEST(prints_like_the_oracle)
{
	uint64_t state = unit_seed();

	for (int round = 0; round < 200000; round++) {
		char ours[ADDR_TEXT_MAX], theirs[ADDR_TEXT_MAX];
		bool six = unit_random(&state) % 4 != 0;
		struct addr a = { .family = six ? 6 : 4 }, again;
		size_t len;

		/* Many zero groups, some of ones, some of anything. */
		for (size_t i = 0; i < addr_size(&a); i += 2) {
			uint32_t kind = unit_random(&state) % 6;
			uint32_t value = unit_random(&state);

			if (kind < 3)
				value = kind == 2 ? 0xffff : 0;
			a.bytes[i] = (uint8_t)(value >> 8);
			a.bytes[i + 1] = (uint8_t)value;
		}
		ck_assert_ptr_nonnull(inet_ntop(six ? AF_INET6 : AF_INET,
		    a.bytes, theirs, sizeof(theirs)));
		len = addr_print(&a, ours);
		ck_assert_str_eq(ours, theirs);
		ck_assert_uint_eq(len, strlen(theirs));
		ck_assert(addr_parse(ours, len, &again));
		ck_assert(addr_equal(&a, &again));
	}
}
END_TEST

/* The examples of RFC 5952. */
START_TEST(prints_canonical_text)
{
	static const struct {
		const char *text, *canonical;
	} cases[] = {
		{ "2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1" },
		{ "2001:0db8::0001", "2001:db8::1" },
		{ "2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1" },
		{ "2001:0:0:1:0:0:0:1", "2001:0:0:1::1" },
		{ "2001:DB8::AAAA", "2001:db8::aaaa" },
		{ "0:0:0:0:0:ffff:192.0.2.1", "::ffff:192.0.2.1" },
		{ "0:0:0:0:0:0:0:0", "::" },
		{ "1:0:0:0:0:0:0:0", "1::" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char text[ADDR_TEXT_MAX];
		struct addr a;

		ck_assert(parse(cases[i].text, &a));
		addr_print(&a, text);
		ck_assert_str_eq(text, cases[i].canonical);
	}
}
END_TEST

START_TEST(reads_prefixes)
{
	static const struct {
		const char *text, *printed; /* NULL: refused */
	} cases[] = {
		{ "10.0.0.0/8", "10.0.0.0/8" },
		{ "10.5.0.0/24", "10.5.0.0/24" },
		{ "10.0.0.1", "10.0.0.1/32" },
		{ "10.0.0.1/32", "10.0.0.1/32" },
		{ "0.0.0.0/0", "0.0.0.0/0" },
		{ "128.0.0.0/1", "128.0.0.0/1" },
		{ "fd00::/8", "fd00::/8" },
		{ "FD00:0::/17", "fd00::/17" },
		{ "::1", "::1/128" },
		{ "::/0", "::/0" },
		{ "10.0.0.1/31", NULL },
		{ "10.0.0.1/8", NULL },
		{ "192.0.0.0/1", NULL },
		{ "fd00::1/127", NULL },
		{ "10.0.0.0/33", NULL },
		{ "::/129", NULL },
		{ "::/256", NULL },
		{ "::/4294967296", NULL },
		{ "10.0.0.0/08", NULL },
		{ "10.0.0.0/", NULL },
		{ "10.0.0.0/8/8", NULL },
		{ "10.0.0.0/ 8", NULL },
		{ "10.0.0.0/8 ", NULL },
		{ "10.0.0.0/+8", NULL },
		{ "10.0.0.0/255.0.0.0", NULL },
		{ "10/8", NULL },
		{ "/8", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *text = cases[i].text;
		char printed[PREFIX_TEXT_MAX];
		struct prefix p;
		bool good = prefix_parse(text, strlen(text), &p);

		ck_assert_msg(good == (cases[i].printed != NULL), "%s", text);
		if (!good)
			continue;
		ck_assert_uint_eq(prefix_print(&p, printed),
		    strlen(cases[i].printed));
		ck_assert_str_eq(printed, cases[i].printed);
	}
}
END_TEST

START_TEST(the_longest_fit)
{
	char text[PREFIX_TEXT_MAX];
	struct addr a = { .family = 6 };
	struct prefix p;

	memset(a.bytes, 0xff, sizeof(a.bytes));
	p = prefix_of(&a);
	ck_assert_uint_eq(addr_print(&a, text), 39);
	ck_assert_uint_eq(prefix_print(&p, text), 43);
}
END_TEST

START_TEST(dies_of_no_family)
{
	struct addr none = { .family = 0 };
	char text[ADDR_TEXT_MAX];

	addr_print(&none, text);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("addr_text", &all);

	tcase_add_test(all, reads_what_the_oracle_reads);
	tcase_add_test(all, a_nul_is_no_end);
	tcase_add_test(all, reads_random_text_like_the_oracle);
	tcase_add_test(all, reads_damaged_text_like_the_oracle);
	tcase_add_test(all, prints_like_the_oracle);
	tcase_add_test(all, prints_canonical_text);
	tcase_add_test(all, reads_prefixes);
	tcase_add_test(all, the_longest_fit);
	tcase_add_test_raise_signal(all, dies_of_no_family, SIGABRT);
	return unit_run(suite);
}
