/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/helper_msg.h"

#include <errno.h>
#include <string.h>

#include "lib/require.h"
#include "tests/unit/unit.h"

/* What each message may have, written down a second time. */
struct shape {
	uint8_t op;
	bool from_resolver;
	bool sandbox, status, lifetime, element, ifindex, count;
	bool address; /* alone */
	bool rule;
};

static const struct shape shapes[] = {
	{ HELPER_HELLO, .from_resolver = true, .count = true },
	{ HELPER_PIN, .from_resolver = true, .sandbox = true, .lifetime = true,
	    .element = true },
	{ HELPER_UNPIN, .from_resolver = true, .sandbox = true,
	    .element = true },
	{ HELPER_FLOWS, .from_resolver = true, .sandbox = true,
	    .element = true },
	{ HELPER_FLUSH, .from_resolver = true, .sandbox = true },
	{ HELPER_QUARANTINE, .from_resolver = true, .sandbox = true },
	{ HELPER_RELEASE, .from_resolver = true, .sandbox = true },
	{ HELPER_STATS, .from_resolver = true, .sandbox = true, .count = true },
	{ HELPER_RECALL, .from_resolver = true, .sandbox = true,
	    .lifetime = true, .element = true },
	{ HELPER_SETTLE, .from_resolver = true },
	{ HELPER_ASK_RELOAD, .from_resolver = true },
	{ HELPER_PARSED, .from_resolver = true, .count = true },
	{ HELPER_SWITCHED, .from_resolver = true },
	{ HELPER_SOURCE, .from_resolver = true, .sandbox = true,
	    .address = true },
	{ HELPER_ATTACH, .from_resolver = true, .sandbox = true,
	    .lifetime = true, .ifindex = true, .count = true },
	{ HELPER_DETACH, .from_resolver = true, .sandbox = true },
	{ HELPER_ASSIGN, .from_resolver = true, .sandbox = true,
	    .count = true },
	{ HELPER_UPLOAD, .from_resolver = true, .sandbox = true,
	    .lifetime = true, .address = true, .rule = true },
	{ HELPER_SPENT, .from_resolver = true, .sandbox = true, .count = true,
	    .rule = true },
	{ HELPER_HELLO + 1, .status = true, .count = true },
	{ HELPER_PIN + 1, .status = true, .count = true },
	{ HELPER_UNPIN + 1, .status = true, .count = true },
	{ HELPER_FLOWS + 1, .status = true, .count = true },
	{ HELPER_FLUSH + 1, .status = true, .count = true },
	{ HELPER_QUARANTINE + 1, .status = true, .count = true },
	{ HELPER_RELEASE + 1, .status = true, .count = true },
	{ HELPER_STATS + 1, .status = true, .count = true },
	{ HELPER_RECALL + 1, .status = true, .count = true },
	{ HELPER_SETTLE + 1, .status = true, .count = true },
	{ HELPER_ASK_RELOAD + 1, .status = true, .count = true },
	{ HELPER_PARSED + 1, .status = true, .count = true },
	{ HELPER_SWITCHED + 1, .status = true, .count = true },
	{ HELPER_SOURCE + 1, .status = true, .count = true },
	{ HELPER_ATTACH + 1, .status = true, .ifindex = true, .count = true },
	{ HELPER_DETACH + 1, .status = true, .count = true },
	{ HELPER_ASSIGN + 1, .status = true, .count = true },
	{ HELPER_UPLOAD + 1, .status = true, .count = true },
	{ HELPER_SPENT + 1, .status = true, .count = true },
	{ HELPER_RESET, .ifindex = true, .count = true },
	{ HELPER_RELOAD, .ifindex = true, .count = true },
	{ HELPER_REFUSED, .count = true },
	{ HELPER_STOP, .count = true },
	{ HELPER_BOUND, .sandbox = true, .ifindex = true, .count = true },
	{ HELPER_REOPEN, .count = true },
	{ HELPER_ADVICE, .count = true },
	{ HELPER_USED, .sandbox = true, .count = true, .rule = true },
};

/* A message with every field that its shape allows at its limit. */
static struct helper_msg
full_message(const struct shape *s)
{
	struct helper_msg m = { .op = s->op };

	m.id = s->op < HELPER_RESET ? UINT32_MAX : 0;
	m.sandbox = s->sandbox ? UINT32_MAX : 0;
	m.status = s->status ? INT32_MIN : 0;
	m.lifetime_ms = s->lifetime ? UINT32_MAX : 0;
	m.ifindex = s->ifindex ? UINT32_MAX : 0;
	m.count = s->count ? UINT64_MAX : 0;
	m.rule = s->rule ? UINT64_MAX : 0;
	if (s->element || s->address) {
		m.addr.family = 6;
		memset(m.addr.bytes, 0xff, sizeof(m.addr.bytes));
	}
	if (s->element) {
		m.service.protocol = PROTO_UDP;
		m.service.port = UINT16_MAX;
	}
	return m;
}

static void
check_equal(const struct helper_msg *a, const struct helper_msg *b)
{
	ck_assert_uint_eq(a->op, b->op);
	ck_assert_uint_eq(a->id, b->id);
	ck_assert_uint_eq(a->sandbox, b->sandbox);
	ck_assert_int_eq(a->status, b->status);
	ck_assert_uint_eq(a->lifetime_ms, b->lifetime_ms);
	ck_assert(addr_equal(&a->addr, &b->addr));
	ck_assert_uint_eq(a->service.protocol, b->service.protocol);
	ck_assert_uint_eq(a->service.port, b->service.port);
	ck_assert_uint_eq(a->ifindex, b->ifindex);
	ck_assert_uint_eq(a->count, b->count);
	ck_assert_uint_eq(a->rule, b->rule);
}

START_TEST(a_pin_looks_like_this)
{
	static const uint8_t expected[HELPER_MSG_SIZE] = { [0] = 'n',
		'w',
		1,
		4,
		[4] = 0x04,
		0x03,
		0x02,
		0x01,
		[8] = 7,
		[12] = 0x60,
		0xea,
		[16] = 4,
		6,
		0xbb,
		0x01,
		[20] = 192,
		0,
		2,
		1 };
	static const uint8_t address[4] = { 192, 0, 2, 1 };
	const struct helper_msg m = { .op = HELPER_PIN,
		.id = 0x01020304,
		.sandbox = 7,
		.lifetime_ms = 60000,
		.addr = addr_v4(address),
		.service = { .protocol = PROTO_TCP, .port = 443 } };
	uint8_t wire[HELPER_MSG_SIZE];

	helper_msg_encode(wire, &m);
	ck_assert_mem_eq(wire, expected, sizeof(wire));
}
END_TEST

START_TEST(other_fields_lie_where_they_should)
{
	const struct helper_msg response = { .op = HELPER_FLOWS + 1,
		.id = 1,
		.status = -ENFILE,
		.count = 0x0807060504030201u };
	const struct helper_msg notice = { .op = HELPER_BOUND,
		.sandbox = 2,
		.ifindex = 0x04030201 };
	const struct helper_msg used = { .op = HELPER_USED,
		.sandbox = 2,
		.rule = 0x0807060504030201u };
	uint8_t wire[HELPER_MSG_SIZE];

	helper_msg_encode(wire, &response);
	ck_assert_mem_eq(wire + 8, ((uint8_t[]){ 256 - ENFILE, 255, 255, 255 }),
	    4);
	ck_assert_mem_eq(wire + 40, "\1\2\3\4\5\6\7\10", 8);
	helper_msg_encode(wire, &notice);
	ck_assert_uint_eq(wire[3], 132);
	ck_assert_uint_eq(wire[8], 2);
	ck_assert_mem_eq(wire + 36, "\1\2\3\4", 4);
	helper_msg_encode(wire, &used);
	ck_assert_uint_eq(wire[3], 142);
	ck_assert_mem_eq(wire + 48, "\1\2\3\4\5\6\7\10", 8);
}
END_TEST

START_TEST(what_is_encoded_decodes)
{
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		struct helper_msg m = full_message(&shapes[i]), got;
		uint8_t wire[HELPER_MSG_SIZE];

		helper_msg_encode(wire, &m);
		ck_assert_msg(helper_msg_decode(&got, wire, sizeof(wire),
				  shapes[i].from_resolver),
		    "op %d", m.op);
		check_equal(&got, &m);
		/* Never from the other side. */
		ck_assert(!helper_msg_decode(&got, wire, sizeof(wire),
		    !shapes[i].from_resolver));
	}
}
END_TEST

START_TEST(only_64_octets_are_a_message)
{
	struct helper_msg m = full_message(&shapes[1]), got;
	uint8_t wire[HELPER_MSG_SIZE + 1] = { 0 };

	helper_msg_encode(wire, &m);
	for (size_t len = 0; len <= sizeof(wire); len++)
		ck_assert_int_eq(helper_msg_decode(&got, wire, len, true),
		    len == HELPER_MSG_SIZE);
}
END_TEST

START_TEST(unknown_ops_are_refused)
{
	for (int op = 0; op < 256; op++) {
		struct helper_msg m = full_message(&shapes[7]), got;
		uint8_t wire[HELPER_MSG_SIZE];
		size_t known = 0;

		helper_msg_encode(wire, &m);
		wire[3] = (uint8_t)op;
		while (known < ARRAY_LEN(shapes) && shapes[known].op != op)
			known++;
		if (known < ARRAY_LEN(shapes))
			continue;
		ck_assert(!helper_msg_decode(&got, wire, sizeof(wire), true));
		ck_assert(!helper_msg_decode(&got, wire, sizeof(wire), false));
		ck_assert_int_eq(op % 2 == 0 &&
			strcmp(helper_op_name((uint8_t)op), "unknown") != 0,
		    0);
	}
}
END_TEST

/* Which octets a message may have other than zero, by shape. */
static bool
may_be_set(const struct shape *s, size_t at)
{
	if (at < 4)
		return true;
	if (at < 8)
		return s->op < HELPER_RESET;
	if (at < 12)
		return s->sandbox || s->status;
	if (at < 16)
		return s->lifetime;
	if (at == 16 || (at >= 20 && at < 36))
		return s->element || s->address;
	if (at < 20)
		return s->element;
	if (at < 40)
		return s->ifindex;
	if (at < 48)
		return s->count;
	return at < 56 && s->rule;
}

/* Every octet of every message that it must not have, one bit at a time. */
START_TEST(fields_out_of_place_are_refused)
{
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		struct helper_msg m = full_message(&shapes[i]), got;
		uint8_t wire[HELPER_MSG_SIZE];

		helper_msg_encode(wire, &m);
		for (size_t bit = 0; bit < 8 * sizeof(wire); bit++) {
			if (may_be_set(&shapes[i], bit / 8))
				continue;
			wire[bit / 8] ^= (uint8_t)(1 << bit % 8);
			ck_assert_msg(!helper_msg_decode(&got, wire,
					  sizeof(wire),
					  shapes[i].from_resolver),
			    "op %d, octet %zu", m.op, bit / 8);
			wire[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
	}
}
END_TEST

/* One octet of a good PIN to an IPv4 address replaced. */
START_TEST(values_at_their_boundaries)
{
	static const struct {
		size_t at;
		uint8_t value;
		bool good;
	} cases[] = {
		{ 0, 'm', false }, /* magic */
		{ 1, 'v', false },
		{ 2, 0, false }, /* version */
		{ 2, 2, false },
		{ 12, 1, true }, /* lifetime 1 */
		{ 12, 0, false }, /* lifetime 0 */
		{ 15, 0x80, true },
		{ 16, 0, false }, /* family */
		{ 16, 3, false },
		{ 16, 5, false },
		{ 16, 6, true },
		{ 16, 7, false },
		{ 17, 0, false }, /* protocol */
		{ 17, 1, false },
		{ 17, 5, false },
		{ 17, 7, false },
		{ 17, 16, false },
		{ 17, 17, true },
		{ 17, 18, false },
		{ 17, 132, false },
		{ 18, 0, false }, /* port 0 */
		{ 18, 1, true },
		{ 19, 1, true },
		{ 23, 0, true }, /* last octet of an IPv4 address */
		{ 24, 1, false }, /* behind it */
		{ 35, 1, false },
	};
	static const uint8_t address[4] = { 192, 0, 2, 1 };
	const struct helper_msg m = { .op = HELPER_PIN,
		.lifetime_ms = 2,
		.addr = addr_v4(address),
		.service = { .protocol = PROTO_TCP, .port = 80 } };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint8_t wire[HELPER_MSG_SIZE];
		struct helper_msg got = { .op = 99 };

		helper_msg_encode(wire, &m);
		wire[cases[i].at] = cases[i].value;
		ck_assert_msg(helper_msg_decode(&got, wire, sizeof(wire),
				  true) == cases[i].good,
		    "octet %zu = %d", cases[i].at, cases[i].value);
		ck_assert_uint_eq(got.op, cases[i].good ? HELPER_PIN : 99);
	}
}
END_TEST

/* An address without anything else, of either family. */
START_TEST(a_source_has_an_address_alone)
{
	static const uint8_t address[4] = { 192, 0, 2, 1 };
	const struct helper_msg m = { .op = HELPER_SOURCE,
		.sandbox = 7,
		.addr = addr_v4(address) };
	static const struct {
		size_t at;
		uint8_t value;
		bool good;
	} cases[] = {
		{ 16, 0, false }, /* family */
		{ 16, 4, true }, { 16, 5, false }, { 16, 6, true },
		{ 17, 6, false }, /* protocol */
		{ 18, 1, false }, /* port */
		{ 19, 1, false }, { 23, 9, true },
		{ 24, 1, false }, /* behind an IPv4 address */
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint8_t wire[HELPER_MSG_SIZE];
		struct helper_msg got;

		helper_msg_encode(wire, &m);
		wire[cases[i].at] = cases[i].value;
		ck_assert_msg(helper_msg_decode(&got, wire, sizeof(wire),
				  true) == cases[i].good,
		    "octet %zu = %d", cases[i].at, cases[i].value);
	}
}
END_TEST

START_TEST(recall_may_be_of_something_lapsed)
{
	struct helper_msg m = full_message(&shapes[8]), got;
	uint8_t wire[HELPER_MSG_SIZE];

	m.lifetime_ms = 0;
	helper_msg_encode(wire, &m);
	ck_assert(helper_msg_decode(&got, wire, sizeof(wire), true));
}
END_TEST

START_TEST(status_is_never_positive)
{
	static const int32_t good[] = { 0, -1, INT32_MIN };
	static const int32_t bad[] = { 1, INT32_MAX };
	struct helper_msg m = { .op = HELPER_PIN + 1 }, got;
	uint8_t wire[HELPER_MSG_SIZE];

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		m.status = good[i];
		helper_msg_encode(wire, &m);
		ck_assert(helper_msg_decode(&got, wire, sizeof(wire), false));
		ck_assert_int_eq(got.status, good[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		m.status = bad[i];
		helper_msg_encode(wire, &m);
		ck_assert(!helper_msg_decode(&got, wire, sizeof(wire), false));
	}
}
END_TEST

/* Each message has one encoding: what decodes encodes to the same octets. */
START_TEST(decoding_has_one_inverse)
{
	uint64_t state = unit_seed();
	int good = 0;

	for (int round = 0; round < 200000; round++) {
		const struct shape *s =
		    &shapes[unit_random(&state) % ARRAY_LEN(shapes)];
		struct helper_msg m = full_message(s), got;
		uint8_t wire[HELPER_MSG_SIZE], again[HELPER_MSG_SIZE];

		helper_msg_encode(wire, &m);
		for (uint32_t n = unit_random(&state) % 4; n > 0; n--)
			wire[unit_random(&state) % sizeof(wire)] =
			    (uint8_t)unit_random(&state);
		if (!helper_msg_decode(&got, wire, sizeof(wire),
			s->from_resolver))
			continue;
		good++;
		helper_msg_encode(again, &got);
		ck_assert_mem_eq(wire, again, sizeof(wire));
	}
	ck_assert_int_gt(good, 1000);
}
END_TEST

START_TEST(ops_have_names)
{
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		ck_assert_str_ne(helper_op_name(shapes[i].op), "unknown");
	ck_assert_str_eq(helper_op_name(HELPER_PIN), "pin");
	ck_assert_str_eq(helper_op_name(HELPER_PIN + 1), "pin");
	ck_assert_str_eq(helper_op_name(HELPER_BOUND), "bound");
	ck_assert_str_eq(helper_op_name(HELPER_REOPEN), "reopen");
	ck_assert_str_eq(helper_op_name(HELPER_ADVICE), "advice");
	ck_assert_str_eq(helper_op_name(HELPER_BOUND + 1), "unknown");
}
END_TEST

START_TEST(dies_encoding_no_op)
{
	const struct helper_msg m = { .op = HELPER_BOUND + 1 };
	uint8_t wire[HELPER_MSG_SIZE];

	helper_msg_encode(wire, &m);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("helper_msg", &all);

	tcase_add_test(all, a_pin_looks_like_this);
	tcase_add_test(all, other_fields_lie_where_they_should);
	tcase_add_test(all, what_is_encoded_decodes);
	tcase_add_test(all, only_64_octets_are_a_message);
	tcase_add_test(all, unknown_ops_are_refused);
	tcase_add_test(all, fields_out_of_place_are_refused);
	tcase_add_test(all, values_at_their_boundaries);
	tcase_add_test(all, a_source_has_an_address_alone);
	tcase_add_test(all, recall_may_be_of_something_lapsed);
	tcase_add_test(all, status_is_never_positive);
	tcase_add_test(all, decoding_has_one_inverse);
	tcase_add_test(all, ops_have_names);
	tcase_add_test_raise_signal(all, dies_encoding_no_op, SIGABRT);
	return unit_run(suite);
}
