/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Headers of packets, whole, odd and cut off at every octet.
 */
#include "lib/packet.h"

#include <stdlib.h>
#include <string.h>

#include "lib/cursor.h"
#include "lib/require.h"
#include "tests/unit/unit.h"

#define PACKET_MAX 256

/* Octets of IPv6's chain of headers, the numbers of which are given. */
struct chain {
	uint8_t first;
	uint8_t octets[64];
	size_t len;
};

static size_t
put_v4(uint8_t *buf, uint8_t words, uint16_t fragment, uint8_t protocol)
{
	static const uint8_t from[] = { 192, 0, 2, 11 };
	static const uint8_t to[] = { 198, 51, 100, 20 };
	struct cursor c = cursor_write_of(buf, PACKET_MAX);

	memset(buf, 0, PACKET_MAX);
	cursor_put_u8(&c, (uint8_t)(0x40 | words));
	cursor_seek(&c, 6);
	cursor_put_u16(&c, fragment);
	cursor_put_u8(&c, 64);
	cursor_put_u8(&c, protocol);
	cursor_put_u16(&c, 0);
	cursor_put_bytes(&c, from, 4);
	cursor_put_bytes(&c, to, 4);
	cursor_seek(&c, words < 5 ? 20 : words * 4u);
	cursor_put_u16(&c, 40000);
	cursor_put_u16(&c, 443);
	UNIT_CHECK(!c.error);
	return c.pos;
}

static size_t
put_v6(uint8_t *buf, const struct chain *chain)
{
	struct cursor c = cursor_write_of(buf, PACKET_MAX);

	memset(buf, 0, PACKET_MAX);
	cursor_put_u8(&c, 0x60);
	cursor_seek(&c, 6);
	cursor_put_u8(&c, chain->first);
	cursor_seek(&c, 23);
	cursor_put_u8(&c, 1);
	cursor_seek(&c, 39);
	cursor_put_u8(&c, 2);
	cursor_put_bytes(&c, chain->octets, chain->len);
	cursor_put_u16(&c, 40000);
	cursor_put_u16(&c, 443);
	UNIT_CHECK(!c.error);
	return c.pos;
}

/* Read from a block of just that size, so that a sanitizer sees more. */
static bool
read_exactly(struct packet *ret, const uint8_t *bytes, size_t len)
{
	uint8_t *copy = malloc(len + 1);
	bool ok;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy + 1, bytes, len);
	ok = packet_read(ret, copy + 1, len);
	free(copy);
	return ok;
}

START_TEST(reads_ipv4)
{
	static const struct {
		uint8_t words;
		uint16_t fragment;
		uint8_t protocol;
		bool ok, ports;
	} cases[] = {
		{ 5, 0, 6, true, true },
		{ 5, 0, 17, true, true },
		{ 5, 0x4000, 17, true, true }, /* do not fragment */
		{ 5, 0x2000, 17, true, true }, /* the first fragment */
		{ 5, 0x2001, 17, true, false },
		{ 5, 0x0010, 6, true, false },
		{ 15, 0, 6, true, true },
		{ 5, 0, 1, true, false },
		{ 5, 0, 47, true, false },
		{ 5, 0, 132, true, true },
		{ 4, 0, 6, false, false },
		{ 0, 0, 6, false, false },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct packet p = { .protocol = 255 };
		uint8_t buf[PACKET_MAX];
		size_t len = put_v4(buf, cases[i].words, cases[i].fragment,
		    cases[i].protocol);

		UNIT_CHECK(read_exactly(&p, buf, len) == cases[i].ok);
		ck_assert_uint_eq(p.protocol,
		    cases[i].ok ? cases[i].protocol : 255);
		ck_assert_uint_eq(p.destination_port, cases[i].ports ? 443 : 0);
		ck_assert_uint_eq(p.source_port, cases[i].ports ? 40000 : 0);
		if (!cases[i].ok)
			continue;
		ck_assert_uint_eq(p.source.bytes[3], 11);
		ck_assert_uint_eq(p.destination.bytes[3], 20);
	}
}
END_TEST

START_TEST(reads_ipv6)
{
	static const struct {
		struct chain chain;
		uint8_t protocol; /* 0: it cannot be told */
		bool ports;
	} cases[] = {
		{ { 6, { 0 }, 0 }, 6, true },
		{ { 58, { 0 }, 0 }, 58, false },
		{ { 59, { 0 }, 0 }, 59, false },
		{ { 0, { 6 }, 8 }, 6, true },
		{ { 60, { 17, 1 }, 16 }, 17, true },
		{ { 43, { 60, 0, 0, 0, 0, 0, 0, 0, 6 }, 16 }, 6, true },
		{ { 51, { 17, 4 }, 24 }, 17, true },
		/* Fragments: an only one, a first one, a later one. */
		{ { 44, { 17 }, 8 }, 17, true },
		{ { 44, { 17, 0, 0, 1 }, 8 }, 17, true },
		{ { 44, { 17, 0, 0, 8 }, 8 }, 17, false },
		/* A later fragment of something that has more headers. */
		{ { 44, { 60, 0, 1, 0 }, 8 }, 0, false },
		/* A header that is longer than the packet. */
		{ { 60, { 6, 255 }, 8 }, 0, false },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct packet p = { .protocol = 255 };
		uint8_t buf[PACKET_MAX];
		size_t len = put_v6(buf, &cases[i].chain);

		UNIT_CHECK(read_exactly(&p, buf, len));
		ck_assert_uint_eq(p.source.bytes[15], 1);
		ck_assert_uint_eq(p.destination.bytes[15], 2);
		ck_assert_uint_eq(p.protocol, cases[i].protocol);
		ck_assert_uint_eq(p.destination_port, cases[i].ports ? 443 : 0);
	}
}
END_TEST

/* As many headers as the chain may have, and one more. */
START_TEST(follows_no_endless_chain)
{
	for (size_t count = PACKET_EXTENSIONS_MAX;
	     count <= PACKET_EXTENSIONS_MAX + 1; count++) {
		struct packet p;
		uint8_t buf[PACKET_MAX];
		size_t len = 40 + count * 8 + 4;

		memset(buf, 0, sizeof(buf));
		buf[0] = 0x60;
		buf[6] = 60;
		for (size_t i = 0; i < count; i++)
			buf[40 + i * 8] = i + 1 < count ? 60 : 6;
		buf[len - 1] = 80;
		UNIT_CHECK(read_exactly(&p, buf, len));
		ck_assert_uint_eq(p.protocol,
		    count == PACKET_EXTENSIONS_MAX ? 6 : 0);
		ck_assert_uint_eq(p.destination_port,
		    count == PACKET_EXTENSIONS_MAX ? 80 : 0);
	}
}
END_TEST

START_TEST(leaves_out_what_is_cut_off)
{
	static const struct chain options = { 60, { 6 }, 8 };
	uint8_t buf[PACKET_MAX];
	struct packet p;
	size_t len = put_v4(buf, 5, 0, 6);

	for (size_t i = 0; i <= len; i++) {
		UNIT_CHECK(read_exactly(&p, buf, i) == (i >= 20));
		if (i >= 20)
			ck_assert_uint_eq(p.destination_port,
			    i == len ? 443 : 0);
	}
	len = put_v6(buf, &options);
	for (size_t i = 0; i <= len; i++) {
		UNIT_CHECK(read_exactly(&p, buf, i) == (i >= 40));
		if (i < 40)
			continue;
		ck_assert_uint_eq(p.protocol, i >= 48 ? 6 : 0);
		ck_assert_uint_eq(p.destination_port, i == len ? 443 : 0);
	}
}
END_TEST

START_TEST(refuses_other_versions)
{
	for (unsigned version = 0; version < 16; version++) {
		struct packet p = { .protocol = 255 };
		uint8_t buf[PACKET_MAX] = { 0 };

		if (version == 4 || version == 6)
			continue;
		buf[0] = (uint8_t)(version << 4 | 5);
		UNIT_CHECK(!read_exactly(&p, buf, sizeof(buf)));
		ck_assert_uint_eq(p.protocol, 255);
	}
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("packet", &all);

	tcase_add_test(all, reads_ipv4);
	tcase_add_test(all, reads_ipv6);
	tcase_add_test(all, follows_no_endless_chain);
	tcase_add_test(all, leaves_out_what_is_cut_off);
	tcase_add_test(all, refuses_other_versions);
	return unit_run(suite);
}
