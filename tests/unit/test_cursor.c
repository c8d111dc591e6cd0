/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/cursor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "tests/unit/unit.h"

START_TEST(reads_in_both_orders)
{
	static const uint8_t wire[] = { 0x01, 0x02, 0x03, 0x04, 0x05, 0x06,
		0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d };
	struct cursor c = cursor_read_of(wire, sizeof(wire));

	ck_assert_uint_eq(cursor_u8(&c), 0x01);
	ck_assert_uint_eq(cursor_u16(&c), 0x0203);
	ck_assert_uint_eq(cursor_u32(&c), 0x04050607);
	ck_assert_uint_eq(cursor_u16_le(&c), 0x0908);
	ck_assert_uint_eq(cursor_u32_le(&c), 0x0d0c0b0a);
	ck_assert(!c.error);
	ck_assert_uint_eq(cursor_left(&c), 0);
}
END_TEST

START_TEST(high_octets_stay_unsigned)
{
	static const uint8_t wire[] = { 0xff, 0xfe, 0xfd, 0xfc };
	struct cursor c = cursor_read_of(wire, sizeof(wire));

	ck_assert_uint_eq(cursor_u32(&c), 0xfffefdfcu);
	cursor_seek(&c, 0);
	ck_assert_uint_eq(cursor_u32_le(&c), 0xfcfdfeffu);
	cursor_seek(&c, 0);
	ck_assert_uint_eq(cursor_u16(&c), 0xfffe);
	ck_assert_uint_eq(cursor_u16_le(&c), 0xfcfd);
}
END_TEST

/* Each kind of read, one octet short. */
START_TEST(a_short_read_gives_zero_and_sticks)
{
	static const uint8_t wire[] = { 0xff, 0xff, 0xff, 0xff };
	static const size_t sizes[] = { 0, 1, 3, 1, 3, 4, 4 };
	uint8_t out[5];

	for (int kind = 0; kind < 7; kind++) {
		struct cursor c = cursor_read_of(wire, sizes[kind]);
		uint32_t value = 0;

		memset(out, 0xee, sizeof(out));
		switch (kind) {
		case 0:
			value = cursor_u8(&c);
			break;
		case 1:
			value = cursor_u16(&c);
			break;
		case 2:
			value = cursor_u32(&c);
			break;
		case 3:
			value = cursor_u16_le(&c);
			break;
		case 4:
			value = cursor_u32_le(&c);
			break;
		case 5:
			cursor_bytes(&c, out, sizeof(out));
			value = out[0] | out[4];
			break;
		default:
			cursor_skip(&c, 5);
			break;
		}
		ck_assert_msg(c.error, "kind %d", kind);
		ck_assert_uint_eq(value, 0);
		ck_assert_uint_eq(c.pos, 0);
		ck_assert_uint_eq(cursor_left(&c), 0);
		ck_assert_uint_eq(cursor_u8(&c), 0);
		cursor_seek(&c, 0);
		ck_assert(c.error);
	}
}
END_TEST

START_TEST(nothing_wraps)
{
	static const uint8_t wire[4] = { 1, 2, 3, 4 };
	struct cursor c = cursor_read_of(wire, sizeof(wire));

	cursor_skip(&c, 2);
	cursor_skip(&c, SIZE_MAX);
	ck_assert(c.error);
	ck_assert_uint_eq(c.pos, 2);

	c = cursor_read_of(wire, sizeof(wire));
	cursor_seek(&c, 4);
	ck_assert(!c.error);
	cursor_seek(&c, 5);
	ck_assert(c.error);
}
END_TEST

START_TEST(no_octets_need_no_memory)
{
	struct cursor c = cursor_read_of(NULL, 0);

	cursor_bytes(&c, NULL, 0);
	cursor_skip(&c, 0);
	ck_assert(!c.error);
	c = cursor_write_of(NULL, 0);
	cursor_put_bytes(&c, NULL, 0);
	ck_assert(!c.error);
	cursor_put_u8(&c, 1);
	ck_assert(c.error);
}
END_TEST

START_TEST(what_is_written_reads_back)
{
	uint8_t wire[17];
	uint8_t tail[3];
	struct cursor c = cursor_write_of(wire, sizeof(wire));

	cursor_put_u8(&c, 0x80);
	cursor_put_u16(&c, 0x8182);
	cursor_put_u32(&c, 0x83848586u);
	cursor_put_u16_le(&c, 0x8788);
	cursor_put_u32_le(&c, 0x898a8b8cu);
	cursor_put_bytes(&c, "xyz", 3);
	cursor_put_u8(&c, 0);
	ck_assert(!c.error);
	cursor_patch_u16(&c, 1, 0x1234);

	c = cursor_read_of(wire, sizeof(wire));
	ck_assert_uint_eq(cursor_u8(&c), 0x80);
	ck_assert_uint_eq(cursor_u16(&c), 0x1234);
	ck_assert_uint_eq(cursor_u32(&c), 0x83848586u);
	ck_assert_uint_eq(cursor_u16_le(&c), 0x8788);
	ck_assert_uint_eq(cursor_u32_le(&c), 0x898a8b8cu);
	cursor_bytes(&c, tail, sizeof(tail));
	ck_assert_mem_eq(tail, "xyz", 3);
}
END_TEST

/* A write that does not fit leaves no part of itself, nor does a later one. */
START_TEST(a_write_is_whole_or_not_at_all)
{
	for (size_t size = 0; size < 4; size++) {
		uint8_t wire[8] = { 0 };
		static const uint8_t untouched[8] = { 0 };
		struct cursor c = cursor_write_of(wire, size);

		cursor_put_u32(&c, 0xffffffffu);
		ck_assert(c.error);
		cursor_put_u8(&c, 0xff);
		cursor_put_u16_le(&c, 0xffff);
		cursor_put_bytes(&c, "abcdefgh", 8);
		cursor_patch_u16(&c, 0, 0xffff);
		ck_assert_mem_eq(wire, untouched, sizeof(wire));
	}
}
END_TEST

START_TEST(prints_decimals)
{
	static const uint64_t values[] = { 0, 9, 10, 255, 65535, 4294967295u,
		10000000000000000000u, UINT64_MAX };

	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		char expected[32], out[32];
		struct cursor c = cursor_write_of((uint8_t *)out, sizeof(out));
		int len = snprintf(expected, sizeof(expected), "%llu",
		    (unsigned long long)values[i]);

		cursor_put_decimal(&c, values[i]);
		ck_assert_uint_eq(c.pos, (size_t)len);
		ck_assert_mem_eq(out, expected, c.pos);
	}
}
END_TEST

START_TEST(puts_text_without_its_nul)
{
	uint8_t out[4] = { 0, 0, 0, 0xee };
	struct cursor c = cursor_write_of(out, 3);

	cursor_put_text(&c, "abc");
	ck_assert(!c.error);
	ck_assert_mem_eq(out, "abc\xee", 4);
	cursor_put_text(&c, "");
	ck_assert(!c.error);
	cursor_put_text(&c, "d");
	ck_assert(c.error);
}
END_TEST

START_TEST(dies_patching_what_was_not_written)
{
	uint8_t out[8] = { 0 };
	struct cursor c = cursor_write_of(out, sizeof(out));

	cursor_put_u16(&c, 1);
	cursor_patch_u16(&c, 1, 1);
}
END_TEST

START_TEST(dies_writing_to_a_reader)
{
	static const uint8_t wire[8] = { 0 };
	struct cursor c = cursor_read_of(wire, sizeof(wire));

	cursor_put_u8(&c, 1);
}
END_TEST

/* Random walks: a cursor never leaves its bytes (the sanitizers watch), and
 * reads what an index of our own says. */
START_TEST(walks_at_random)
{
	uint64_t state = unit_seed();

	for (int round = 0; round < 20000; round++) {
		size_t size = unit_random(&state) % 24, pos = 0;
		uint8_t *bytes = malloc(size + 1);
		struct cursor c = cursor_read_of(bytes, size);

		for (size_t i = 0; i < size; i++)
			bytes[i] = (uint8_t)unit_random(&state);
		while (!c.error) {
			size_t n = unit_random(&state) % 6;
			uint8_t got[6] = { 0 };

			cursor_bytes(&c, got, n);
			ck_assert_int_eq(c.error, pos + n > size);
			if (c.error)
				break;
			ck_assert_int_eq(memcmp(got, bytes + pos, n), 0);
			pos += n;
			if (n == 0 && unit_random(&state) % 4 == 0)
				break;
		}
		free(bytes);
	}
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("cursor", &all);

	tcase_add_test(all, reads_in_both_orders);
	tcase_add_test(all, high_octets_stay_unsigned);
	tcase_add_test(all, a_short_read_gives_zero_and_sticks);
	tcase_add_test(all, nothing_wraps);
	tcase_add_test(all, no_octets_need_no_memory);
	tcase_add_test(all, what_is_written_reads_back);
	tcase_add_test(all, a_write_is_whole_or_not_at_all);
	tcase_add_test(all, prints_decimals);
	tcase_add_test(all, puts_text_without_its_nul);
	tcase_add_test(all, walks_at_random);
	tcase_add_test_raise_signal(all, dies_patching_what_was_not_written,
	    SIGABRT);
	tcase_add_test_raise_signal(all, dies_writing_to_a_reader, SIGABRT);
	return unit_run(suite);
}
