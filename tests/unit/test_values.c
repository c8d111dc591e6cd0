/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "lib/text/values.h"
#include "tests/unit/unit.h"

#define NOT_READ UINT64_MAX

struct quantity {
	const char *text;
	uint64_t value; /* NOT_READ: refused */
};

static void
check_quantities(const struct quantity *list, size_t count,
    bool (*parse)(const char *, uint64_t *))
{
	for (size_t i = 0; i < count; i++) {
		uint64_t value = 77;
		bool good = parse(list[i].text, &value);

		ck_assert_msg(good == (list[i].value != NOT_READ), "\"%s\"",
		    list[i].text);
		ck_assert_msg(value == (good ? list[i].value : 77), "\"%s\"",
		    list[i].text);
	}
}

START_TEST(durations_have_one_unit)
{
	static const struct quantity list[] = { { "5s", 5000 },
		{ "10m", 600000 }, { "1h", 3600000 }, { "1d", 86400000 },
		{ "1ms", 1 }, { "0s", 0 }, { "300s", 300000 }, { "", NOT_READ },
		{ "s", NOT_READ }, { "5", NOT_READ }, { "5S", NOT_READ },
		{ "5 s", NOT_READ }, { " 5s", NOT_READ }, { "+5s", NOT_READ },
		{ "-5s", NOT_READ }, { "05s", NOT_READ }, { "5ss", NOT_READ },
		{ "1h30m", NOT_READ }, { "1.5h", NOT_READ }, { "5w", NOT_READ },
		{ "9999999999999999999d", NOT_READ },
		{ "99999999999999999999s", NOT_READ } };

	check_quantities(list, ARRAY_LEN(list), text_duration_ms);
}
END_TEST

START_TEST(octets_have_binary_units)
{
	static const struct quantity list[] = { { "1B", 1 }, { "1KiB", 1024 },
		{ "50MiB", 52428800 }, { "2GiB", 2147483648 }, { "0B", 0 },
		{ "1", NOT_READ }, { "1KB", NOT_READ }, { "1kib", NOT_READ },
		{ "1 KiB", NOT_READ }, { "1KiB/day", NOT_READ },
		{ "9999999999999999999GiB", NOT_READ } };

	check_quantities(list, ARRAY_LEN(list), text_octets);
}
END_TEST

START_TEST(budgets_are_octets_a_day)
{
	static const struct quantity list[] = { { "8B/day", 8 },
		{ "2KiB/day", 2048 }, { "1MiB/day", 1 << 20 }, { "0B/day", 0 },
		{ "1GiB/day", NOT_READ }, { "1KiB", NOT_READ },
		{ "1KiB/hour", NOT_READ }, { "1KiB/days", NOT_READ },
		{ "1 KiB/day", NOT_READ }, { "KiB/day", NOT_READ },
		{ "-1KiB/day", NOT_READ }, { "", NOT_READ } };

	check_quantities(list, ARRAY_LEN(list), text_budget);
}
END_TEST

static bool
number_1_to_100(const char *text, uint64_t *ret)
{
	return text_number(text, 1, 100, ret);
}

START_TEST(numbers_are_plain_and_in_range)
{
	static const struct quantity list[] = { { "1", 1 }, { "100", 100 },
		{ "0", NOT_READ }, { "101", NOT_READ }, { "007", NOT_READ },
		{ "0x10", NOT_READ }, { "1e1", NOT_READ }, { "1_0", NOT_READ },
		{ "", NOT_READ }, { "-1", NOT_READ }, { "+1", NOT_READ },
		{ "1 ", NOT_READ }, { "18446744073709551617", NOT_READ } };

	check_quantities(list, ARRAY_LEN(list), number_1_to_100);
}
END_TEST

START_TEST(dates_are_days_or_moments_in_utc)
{
	static const struct {
		const char *text;
		uint64_t seconds; /* 0: not one */
	} cases[] = {
		{ "1970-01-01", 86400 },
		{ "1970-01-01T00:00:01Z", 1 },
		{ "2000-02-29", 951868800 },
		{ "2024-02-29T12:00:00Z", 1709208000 },
		{ "2026-12-31", 1798761600 },
		{ "2099-12-31T23:59:59Z", 4102444799 },
		{ "2100-02-28", 4107542400 },
		{ "2100-02-29", 0 },
		{ "2023-02-29", 0 },
		{ "2026-13-01", 0 },
		{ "2026-00-01", 0 },
		{ "2026-04-31", 0 },
		{ "2026-04-00", 0 },
		{ "1969-12-31", 0 },
		{ "2026-4-30", 0 },
		{ "2026-04-30 ", 0 },
		{ "2026-04-30T", 0 },
		{ "2026-04-30T10:00Z", 0 },
		{ "2026-04-30T10:60:00Z", 0 },
		{ "2026-04-30T10:00:00", 0 },
		{ "2026-04-30T10:00:00ZZ", 0 },
		{ "", 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint64_t ms = 77;
		bool ok = text_date(cases[i].text, &ms);

		ck_assert_msg(ok == (cases[i].seconds != 0), "%s",
		    cases[i].text);
		ck_assert_msg(ms == (ok ? cases[i].seconds * 1000 : 77), "%s",
		    cases[i].text);
	}
}
END_TEST

START_TEST(endpoints_are_an_address_and_perhaps_a_port)
{
	static const struct {
		const char *text, *addr;
		uint16_t port; /* 0: refused */
	} list[] = { { "192.0.2.1", "192.0.2.1", 53 },
		{ "192.0.2.1@5353", "192.0.2.1", 5353 },
		{ "2001:db8::1", "2001:db8::1", 53 },
		{ "2001:DB8::1@65535", "2001:db8::1", 65535 },
		{ "192.0.2.1@0", "", 0 }, { "192.0.2.1@65536", "", 0 },
		{ "192.0.2.1@", "", 0 }, { "@53", "", 0 },
		{ "192.0.2.1@53@53", "", 0 }, { "192.0.2.1:53", "", 0 },
		{ "192.0.2.1/32", "", 0 }, { "localhost", "", 0 },
		{ "[2001:db8::1]@53", "", 0 }, { "fe80::1%eth0", "", 0 } };

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		struct endpoint endpoint = { .port = 1 };
		char text[ADDR_TEXT_MAX];
		bool good = text_endpoint(list[i].text, 53, &endpoint);

		ck_assert_msg(good == (list[i].port != 0), "%s", list[i].text);
		ck_assert_uint_eq(endpoint.port, good ? list[i].port : 1);
		if (!good)
			continue;
		addr_print(&endpoint.addr, text);
		ck_assert_str_eq(text, list[i].addr);
	}
}
END_TEST

START_TEST(destinations_are_an_address_and_perhaps_a_port)
{
	static const struct {
		const char *text, *addr; /* NULL: none */
		uint16_t port;
	} list[] = { { "192.0.2.1:443", "192.0.2.1", 443 },
		{ "192.0.2.1", "192.0.2.1", 0 },
		{ "[2001:db8::1]:443", "2001:db8::1", 443 },
		{ "2001:db8::1", "2001:db8::1", 0 },
		{ "2001:db8::1:443", "2001:db8::1:443", 0 },
		{ "[192.0.2.1]:443", NULL, 0 }, { "[2001:db8::1]", NULL, 0 },
		{ "192.0.2.1:0", NULL, 0 }, { "192.0.2.1:65536", NULL, 0 },
		{ "192.0.2.1:", NULL, 0 }, { ":443", NULL, 0 },
		{ "example.com:443", NULL, 0 }, { "[]:443", NULL, 0 },
		{ "", NULL, 0 } };

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		struct addr addr = { .family = 0 }, expected;
		uint16_t port = 9;
		bool right = text_destination(list[i].text, &addr, &port);

		ck_assert_msg(right == (list[i].addr != NULL), "\"%s\"",
		    list[i].text);
		if (!right) {
			ck_assert_uint_eq(addr.family, 0);
			continue;
		}
		ck_assert(
		    addr_parse(list[i].addr, strlen(list[i].addr), &expected));
		ck_assert(addr_equal(&addr, &expected));
		ck_assert_uint_eq(port, list[i].port);
	}
}
END_TEST

START_TEST(hardware_addresses_are_of_one_interface)
{
	static const struct {
		const char *text;
		uint8_t mac[TEXT_MAC_SIZE]; /* zero: refused */
	} list[] = { { "02:00:00:00:00:01", { 2, 0, 0, 0, 0, 1 } },
		{ "aA:bB:0c:D9:f0:0F", { 0xaa, 0xbb, 0xc, 0xd9, 0xf0, 0xf } },
		{ "", { 0 } }, { "02:00:00:00:00", { 0 } },
		{ "02:00:00:00:00:0", { 0 } }, { "02:00:00:00:00:001", { 0 } },
		{ "02:00:00:00:00:01:", { 0 } }, { "02-00-00-00-00-01", { 0 } },
		{ "02:00:00:00:00:0g", { 0 } }, { "02:00:00:00:00.01", { 0 } },
		{ "2:0:0:0:0:1:0:0:0", { 0 } }, { "0200.0000.0001abc", { 0 } },
		{ "00:00:00:00:00:00", { 0 } }, { "01:00:00:00:00:01", { 0 } },
		{ "ff:ff:ff:ff:ff:ff", { 0 } } };
	static const uint8_t zero[TEXT_MAC_SIZE];

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		uint8_t mac[TEXT_MAC_SIZE] = { 0 };
		bool right = memcmp(list[i].mac, zero, sizeof(zero)) != 0;

		ck_assert_msg(text_mac(list[i].text, mac) == right, "%s",
		    list[i].text);
		ck_assert_mem_eq(mac, list[i].mac, sizeof(mac));
	}
}
END_TEST

START_TEST(the_nearest_word_is_found_where_one_is_near)
{
	static const char *const words[] = { "ports", "policies", "pins",
		"sandboxes", "a-word-that-is-longer-than-anybody-would-type" };
	static const struct {
		const char *text, *nearest;
	} list[] = { { "port", "ports" }, { "prots", "ports" },
		{ "policy", NULL }, { "polices", "policies" },
		{ "pin", "pins" }, { "sandboxs", "sandboxes" }, { "x", NULL },
		{ "", NULL }, { "firewall", NULL },
		{ "a-word-that-is-longer-than-anybody-would-typ", NULL } };

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		const char *nearest =
		    text_nearest(list[i].text, words, ARRAY_LEN(words));

		ck_assert_msg((nearest == NULL) == (list[i].nearest == NULL),
		    "%s: %s", list[i].text, nearest != NULL ? nearest : "none");
		if (nearest != NULL)
			ck_assert_str_eq(nearest, list[i].nearest);
	}
}
END_TEST

START_TEST(words_fit_or_are_refused)
{
	char text[] = "12345678", buf[9] = "before";
	struct yaml_node node = { .kind = YAML_SCALAR,
		.line = 3,
		.column = 5,
		.text = text,
		.len = 8 };
	struct text_error error;

	ck_assert_int_eq(value_word("f", &node, buf, 8, &error), -EINVAL);
	ck_assert_str_eq(error.reason, "8 octets; at most 7 are allowed here");
	ck_assert_str_eq(buf, "before");
	ck_assert_int_eq(value_word("f", &node, buf, 9, &error), 0);
	ck_assert_str_eq(buf, "12345678");
}
END_TEST

START_TEST(arrays_grow_and_keep_what_they_have)
{
	size_t *items = NULL;

	for (size_t i = 0; i < 1000; i++) {
		items = text_grow(items, i, sizeof(*items));
		ck_assert_ptr_nonnull(items);
		items[i] = i;
	}
	for (size_t i = 0; i < 1000; i++)
		ck_assert_uint_eq(items[i], i);
	ck_assert_ptr_null(text_grow(items, SIZE_MAX / 2 + 1, 16));
	free(items);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("values", &all);

	tcase_add_test(all, durations_have_one_unit);
	tcase_add_test(all, octets_have_binary_units);
	tcase_add_test(all, budgets_are_octets_a_day);
	tcase_add_test(all, numbers_are_plain_and_in_range);
	tcase_add_test(all, dates_are_days_or_moments_in_utc);
	tcase_add_test(all, endpoints_are_an_address_and_perhaps_a_port);
	tcase_add_test(all, destinations_are_an_address_and_perhaps_a_port);
	tcase_add_test(all, hardware_addresses_are_of_one_interface);
	tcase_add_test(all, the_nearest_word_is_found_where_one_is_near);
	tcase_add_test(all, words_fit_or_are_refused);
	tcase_add_test(all, arrays_grow_and_keep_what_they_have);
	return unit_run(suite);
}
