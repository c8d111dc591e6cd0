/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of the kernel: logged packets and ended flows, whole and cut off
 * anywhere.
 */
#include "config.h"

#include "src/resolver/netlink.h"

#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "src/resolver/flowlog.h"
#include "src/resolver/nflog.h"
#include "tests/unit/unit.h"

#define SIZE_MAX_OF_ONE 1024

struct builder {
	uint8_t buf[SIZE_MAX_OF_ONE];
	size_t len;
};

static void
put(struct builder *b, const void *octets, size_t len)
{
	UNIT_CHECK(b->len + len + 3 <= sizeof(b->buf));
	memcpy(b->buf + b->len, octets, len);
	b->len += (len + 3) & ~(size_t)3;
}

static void
begin(struct builder *b, uint16_t type)
{
	struct nlmsghdr header = { .nlmsg_type = type };
	struct nfgenmsg extra = { .nfgen_family = 2 };

	memset(b, 0, sizeof(*b));
	put(b, &header, sizeof(header));
	put(b, &extra, sizeof(extra));
}

static void
attr(struct builder *b, uint16_t type, const void *value, size_t len)
{
	struct nlattr header = { (uint16_t)(sizeof(header) + len), type };

	put(b, &header, sizeof(header));
	put(b, value, len);
}

/* A number in network order. */
static void
number(struct builder *b, uint16_t type, uint64_t value, size_t len)
{
	uint8_t octets[8];

	for (size_t i = 0; i < len; i++)
		octets[i] = (uint8_t)(value >> 8 * (len - 1 - i));
	attr(b, type, octets, len);
}

static size_t
open_nest(struct builder *b, uint16_t type)
{
	attr(b, (uint16_t)(type | NLA_F_NESTED), "", 0);
	return b->len - sizeof(struct nlattr);
}

static void
close_nest(struct builder *b, size_t at)
{
	uint16_t len = (uint16_t)(b->len - at);

	memcpy(b->buf + at, &len, sizeof(len));
}

static void
end(struct builder *b)
{
	uint32_t len = (uint32_t)b->len;

	memcpy(b->buf, &len, sizeof(len));
}

/* An IPv4 TCP packet. */
static const uint8_t octets[24] = { 0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0,
	192, 0, 2, 11, 198, 51, 100, 20, 0x9c, 0x40, 1, 0xbb };

static void
build_log(struct builder *b, const char *prefix, uint32_t sequence)
{
	begin(b, NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_PACKET);
	attr(b, NFULA_PREFIX, prefix, strlen(prefix) + 1);
	number(b, NFULA_IFINDEX_INDEV, 7, 4);
	number(b, NFULA_SEQ, sequence, 4);
	attr(b, NFULA_PAYLOAD, octets, sizeof(octets));
	end(b);
}

static void
build_flow(struct builder *b)
{
	size_t tuple, nest;

	begin(b, NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_DELETE);
	tuple = open_nest(b, CTA_TUPLE_ORIG);
	nest = open_nest(b, CTA_TUPLE_IP);
	attr(b, CTA_IP_V4_SRC, octets + 12, 4);
	attr(b, CTA_IP_V4_DST, octets + 16, 4);
	close_nest(b, nest);
	nest = open_nest(b, CTA_TUPLE_PROTO);
	number(b, CTA_PROTO_NUM, 6, 1);
	number(b, CTA_PROTO_SRC_PORT, 40000, 2);
	number(b, CTA_PROTO_DST_PORT, 443, 2);
	close_nest(b, nest);
	close_nest(b, tuple);
	nest = open_nest(b, CTA_COUNTERS_ORIG);
	number(b, CTA_COUNTERS_PACKETS, 5, 8);
	number(b, CTA_COUNTERS_BYTES, UINT64_C(1) << 40, 8);
	close_nest(b, nest);
	nest = open_nest(b, CTA_COUNTERS_REPLY);
	number(b, CTA_COUNTERS_PACKETS, 6, 8);
	number(b, CTA_COUNTERS_BYTES, 6000, 8);
	close_nest(b, nest);
	nest = open_nest(b, CTA_TIMESTAMP);
	number(b, CTA_TIMESTAMP_START, UINT64_C(1700000000000000000), 8);
	number(b, CTA_TIMESTAMP_STOP, UINT64_C(1700000001500000000), 8);
	close_nest(b, nest);
	end(b);
}

static bool
first_message(const uint8_t *at, size_t len, struct netlink_message *ret)
{
	struct netlink_bytes from = { at, len };

	return netlink_next_message(&from, ret);
}

START_TEST(reads_a_logged_packet)
{
	static const struct {
		const char *prefix;
		bool is_reject;
		enum rejected_kind kind;
	} cases[] = {
		{ "namewall refused", true, REJECTED_REFUSED },
		{ "namewall unsound", true, REJECTED_UNSOUND },
		{ "namewall spoofed", true, REJECTED_SPOOFED },
		{ "namewall audited", true, REJECTED_AUDITED },
		{ "namewall spoofe", false, 0 },
		{ "namewall refused ", false, 0 },
		{ "", false, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct netlink_message message;
		struct nflog_packet p;
		struct builder b;

		build_log(&b, cases[i].prefix, 4711);
		ck_assert(first_message(b.buf, b.len, &message));
		ck_assert(nflog_read(&message, &p));
		ck_assert(p.has_sequence && p.sequence == 4711);
		ck_assert(p.is_reject == cases[i].is_reject);
		ck_assert_uint_eq(p.rejected.ifindex, 7);
		ck_assert_uint_eq(p.rejected.packet.destination_port, 443);
		if (p.is_reject)
			ck_assert_int_eq(p.rejected.kind, cases[i].kind);
	}
}
END_TEST

START_TEST(reads_a_flow_that_ended)
{
	struct netlink_message message;
	struct ended_flow flow;
	struct builder b;

	build_flow(&b);
	ck_assert(first_message(b.buf, b.len, &message));
	ck_assert(flowlog_read(&message, &flow));
	ck_assert_uint_eq(flow.source.bytes[3], 11);
	ck_assert_uint_eq(flow.destination.bytes[3], 20);
	ck_assert_uint_eq(flow.source_port, 40000);
	ck_assert_uint_eq(flow.service.port, 443);
	ck_assert_uint_eq(flow.service.protocol, 6);
	ck_assert(flow.passed.counted && flow.passed.timed);
	ck_assert(flow.passed.octets_from == UINT64_C(1) << 40);
	ck_assert_uint_eq(flow.passed.packets_to, 6);
	ck_assert_uint_eq(flow.duration_ms, 1500);
}
END_TEST

START_TEST(takes_nothing_else)
{
	struct netlink_message message;
	struct nflog_packet packet;
	struct ended_flow flow;
	struct builder b;

	build_log(&b, "namewall refused", 1);
	ck_assert(first_message(b.buf, b.len, &message));
	ck_assert(!flowlog_read(&message, &flow));
	build_flow(&b);
	ck_assert(first_message(b.buf, b.len, &message));
	ck_assert(!nflog_read(&message, &packet));
	message.type = NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_NEW;
	ck_assert(!flowlog_read(&message, &flow));
	/* Without addresses. */
	begin(&b, NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_DELETE);
	end(&b);
	ck_assert(first_message(b.buf, b.len, &message));
	ck_assert(!flowlog_read(&message, &flow));
}
END_TEST

START_TEST(numbers_have_their_size)
{
	static const uint8_t value[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };

	for (size_t len = 0; len <= sizeof(value); len++) {
		struct netlink_attr a = { 1, { value, len } };
		uint8_t u8 = 0;
		uint16_t u16 = 0;
		uint32_t u32 = 0;
		uint64_t u64 = 0;

		ck_assert(netlink_u8(&a, &u8) == (len == 1));
		ck_assert(netlink_u16(&a, &u16) == (len == 2));
		ck_assert(netlink_u32(&a, &u32) == (len == 4));
		ck_assert(netlink_u64(&a, &u64) == (len == 8));
		ck_assert_uint_eq(u8, len == 1 ? 1 : 0);
		ck_assert_uint_eq(u16, len == 2 ? 0x102 : 0);
		ck_assert_uint_eq(u32, len == 4 ? 0x1020304 : 0);
		ck_assert(u64 == (len == 8 ? UINT64_C(0x102030405060708) : 0));
	}
}
END_TEST

START_TEST(several_messages_of_a_datagram)
{
	static uint8_t both[2 * SIZE_MAX_OF_ONE];
	struct netlink_bytes from = { both, 0 };
	struct netlink_message message;
	struct nflog_packet packet;
	struct builder b;

	for (uint32_t i = 1; i <= 2; i++) {
		build_log(&b, "namewall refused", i);
		memcpy(both + from.len, b.buf, b.len);
		from.len += b.len;
	}
	for (uint32_t i = 1; i <= 2; i++) {
		ck_assert(netlink_next_message(&from, &message));
		ck_assert(nflog_read(&message, &packet));
		ck_assert_uint_eq(packet.sequence, i);
	}
	ck_assert(!netlink_next_message(&from, &message));
}
END_TEST

/* Every prefix, in a block of just that size, its length field made to fit:
 * no read beyond it, and no reading that never ends. */
static void
read_cut(const struct builder *b, size_t len)
{
	uint8_t *copy = malloc(len + 1);
	struct netlink_bytes from = { copy, len };
	uint32_t claimed = (uint32_t)len;
	struct netlink_message message;
	struct nflog_packet packet;
	struct ended_flow flow;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, b->buf, len);
	if (len >= sizeof(claimed))
		memcpy(copy, &claimed, sizeof(claimed));
	while (netlink_next_message(&from, &message)) {
		(void)nflog_read(&message, &packet);
		(void)flowlog_read(&message, &flow);
	}
	free(copy);
}

START_TEST(whatever_is_cut_off_or_changed)
{
	uint64_t state = unit_seed();
	struct builder b;

	for (int round = 0; round < 4000; round++) {
		size_t at;

		if (round % 2 == 0)
			build_log(&b, "namewall refused", 1);
		else
			build_flow(&b);
		if (round >= 600) {
			at = unit_random(&state) % b.len;
			b.buf[at] = (uint8_t)unit_random(&state);
		}
		read_cut(&b,
		    round < 600 ? (size_t)round / 2 % (b.len + 1) : b.len);
	}
}
END_TEST

START_TEST(sees_gaps)
{
	struct nflog log = { .fd = -1 };

	ck_assert_uint_eq(nflog_gap(&log, 17), 0);
	ck_assert_uint_eq(nflog_gap(&log, 18), 0);
	ck_assert_uint_eq(nflog_gap(&log, 22), 3);
	ck_assert_uint_eq(nflog_gap(&log, UINT32_MAX), UINT32_MAX - 23);
	ck_assert_uint_eq(nflog_gap(&log, 0), 0);
	ck_assert_uint_eq(nflog_gap(&log, 2), 1);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("netlink", &all);

	tcase_add_test(all, reads_a_logged_packet);
	tcase_add_test(all, reads_a_flow_that_ended);
	tcase_add_test(all, takes_nothing_else);
	tcase_add_test(all, numbers_have_their_size);
	tcase_add_test(all, several_messages_of_a_datagram);
	tcase_add_test(all, whatever_is_cut_off_or_changed);
	tcase_add_test(all, sees_gaps);
	return unit_run(suite);
}
