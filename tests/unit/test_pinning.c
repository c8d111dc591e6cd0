/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests of one wake-up: the same element must be in a transaction once.
 */
#include "tests/unit/unit.h"

#include <errno.h>
#include <string.h>

#include "lib/require.h"
#include "src/helper/elements.h"
#include "src/helper/pinning.h"

#define A "198.51.100.1"
#define B "198.51.100.2"

static const struct merge_case {
	size_t count;
	struct {
		uint32_t sandbox;
		const char *addr;
		uint16_t port;
		uint32_t lifetime_ms;
		int status;
		size_t leader;
		uint32_t merged_ms;
	} requests[4];
} merges[] = {
	{ 1, { { 1, A, 443, 5, 0, 0, 5 } } },
	{ 2, { { 1, A, 443, 5, 0, 0, 5 }, { 2, A, 443, 9, 0, 1, 9 } } },
	{ 2, { { 1, A, 443, 5, 0, 0, 5 }, { 1, A, 80, 9, 0, 1, 9 } } },
	{ 2, { { 1, A, 443, 5, 0, 0, 5 }, { 1, B, 443, 9, 0, 1, 9 } } },
	/* the longest lifetime wins, wherever it stands */
	{ 2, { { 1, A, 443, 5, 0, 0, 9 }, { 1, A, 443, 9, 0, 0, 9 } } },
	{ 2, { { 1, A, 443, 9, 0, 0, 9 }, { 1, A, 443, 5, 0, 0, 5 } } },
	{ 4,
	    { { 1, A, 443, 5, 0, 0, 8 }, { 1, B, 443, 6, 0, 1, 7 },
		{ 1, A, 443, 8, 0, 0, 8 }, { 1, B, 443, 7, 0, 1, 7 } } },
	/* a record without an element, and then with one */
	{ 2, { { 1, A, 443, 0, 0, 0, 9 }, { 1, A, 443, 9, 0, 0, 9 } } },
	/* what was refused neither leads nor follows */
	{ 3,
	    { { 1, A, 443, 99, -EACCES, 0, 99 }, { 1, A, 443, 5, 0, 1, 7 },
		{ 1, A, 443, 7, 0, 1, 7 } } },
	{ 2, { { 1, A, 443, 5, 0, 0, 5 }, { 1, A, 443, 9, -EAGAIN, 1, 9 } } },
};

START_TEST(merges_the_same_element)
{
	const struct merge_case *c = &merges[_i];
	struct request requests[4];

	memset(requests, 0, sizeof(requests));
	for (size_t i = 0; i < c->count; i++) {
		struct helper_msg *msg = &requests[i].msg;

		ck_assert(addr_parse(c->requests[i].addr,
		    strlen(c->requests[i].addr), &msg->addr));
		msg->sandbox = c->requests[i].sandbox;
		msg->service =
		    (struct service){ PROTO_TCP, c->requests[i].port };
		msg->lifetime_ms = c->requests[i].lifetime_ms;
		requests[i].status = c->requests[i].status;
	}
	pinning_merge(requests, c->count);
	for (size_t i = 0; i < c->count; i++) {
		ck_assert_uint_eq(requests[i].leader, c->requests[i].leader);
		ck_assert_uint_eq(requests[i].msg.lifetime_ms,
		    c->requests[i].merged_ms);
	}
}
END_TEST

/* Keys as nft itself writes them. */
START_TEST(keys_are_padded_to_words)
{
	const uint8_t source[4] = { 192, 0, 2, 11 };
	const uint8_t dest[4] = { 198, 51, 100, 11 };
	const uint8_t wanted[16] = { 192, 0, 2, 11, 198, 51, 100, 11, 6, 0, 0,
		0, 1, 187, 0, 0 };
	struct addr from = addr_v4(source), to = addr_v4(dest), a, b;
	struct service service = { PROTO_TCP, 443 }, c;
	struct element pin = element_pin(&from, &to, service, 1000);

	ck_assert_uint_eq(pin.key_len, sizeof(wanted));
	ck_assert_mem_eq(pin.key, wanted, sizeof(wanted));
	ck_assert(element_read_pin(&pin, &a, &b, &c));
	ck_assert(addr_equal(&a, &from) && addr_equal(&b, &to));
	ck_assert_uint_eq(c.protocol, service.protocol);
	ck_assert_uint_eq(c.port, service.port);
	pin.key_len = 12;
	ck_assert(!element_read_pin(&pin, &a, &b, &c));
	pin.key_len = 0;
	ck_assert(!element_read_pin(&pin, &a, &b, &c));
}
END_TEST

START_TEST(homes_sort_by_octets)
{
	const uint8_t source[4] = { 192, 0, 2, 11 };
	const uint8_t wanted[8] = { 0, 0, 1, 2, 192, 0, 2, 11 };
	struct addr from = addr_v4(source), read;
	uint32_t index;
	struct element home = element_home(258, &from);

	ck_assert(home.ranged);
	ck_assert_uint_eq(home.key_len, sizeof(wanted));
	ck_assert_mem_eq(home.key, wanted, sizeof(wanted));
	ck_assert(element_read_home(&home, &index, &read));
	ck_assert_uint_eq(index, 258);
	ck_assert(addr_equal(&read, &from));
	home.key_len = 16;
	ck_assert(!element_read_home(&home, &index, &read));
}
END_TEST

START_TEST(names_become_intervals)
{
	struct element ends[2];
	uint8_t begin[16] = "tap", end[16] = "taq";

	element_interface("tap*", ends);
	ck_assert_mem_eq(ends[0].key, begin, 16);
	ck_assert_mem_eq(ends[1].key, end, 16);
	ck_assert(!ends[0].interval_end && ends[1].interval_end);
	memcpy(end, begin, 16);
	end[15] = 1;
	element_interface("tap", ends);
	ck_assert_mem_eq(ends[0].key, begin, 16);
	ck_assert_mem_eq(ends[1].key, end, 16);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("pinning", &all);

	tcase_add_loop_test(all, merges_the_same_element, 0,
	    (int)ARRAY_LEN(merges));
	tcase_add_test(all, keys_are_padded_to_words);
	tcase_add_test(all, homes_sort_by_octets);
	tcase_add_test(all, names_become_intervals);
	return unit_run(suite);
}
