/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/question.h"

#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "tests/unit/unit.h"
#include "tests/unit/wire.h"

static struct wire w;
static struct question q;

/* The message in a block of its own size, so that overruns are seen. */
static enum denial
parse(void)
{
	uint8_t *copy = malloc(w.len == 0 ? 1 : w.len);

	memcpy(copy, w.buf, w.len);
	memset(&q, 0xa5, sizeof(q));
	enum denial denial = question_parse(&q, copy, w.len);
	free(copy);
	return denial;
}

static void
start_query(uint16_t type)
{
	wire_start(&w, 0x1234, 0x0110);
	wire_question(&w, "wWw.Example.com", type);
}

START_TEST(plain)
{
	start_query(1);
	ck_assert_int_eq(parse(), DENIAL_NONE);
	ck_assert_uint_eq(q.id, 0x1234);
	ck_assert_uint_eq(q.flags, 0x0110);
	ck_assert_uint_eq(q.type, 1);
	ck_assert_uint_eq(q.class, 1);
	ck_assert_uint_eq(q.udp_size, 512);
	ck_assert(q.has_header && q.has_name && !q.edns && !q.dnssec_ok);
	ck_assert(!q.over_tcp);
	ck_assert_uint_eq(q.name.len, 17);
	ck_assert_uint_eq(q.name.labels, 3);
	ck_assert_mem_eq(q.name.wire, "\3www\7example\3com", 17);
	ck_assert_mem_eq(q.spelling, "\3wWw\7Example\3com", 17);
}
END_TEST

START_TEST(root_and_longest)
{
	char text[256];

	wire_start(&w, 1, 0);
	wire_question(&w, "", 2);
	ck_assert_int_eq(parse(), DENIAL_NONE);
	ck_assert_uint_eq(q.name.len, 1);

	memset(text, 'a', sizeof(text));
	for (size_t i = 63; i < 253; i += 64)
		text[i] = '.';
	text[253] = '\0';
	wire_start(&w, 1, 0);
	wire_question(&w, text, 1);
	ck_assert_int_eq(parse(), DENIAL_NONE);
	ck_assert_uint_eq(q.name.len, 255);
	text[253] = 'a';
	text[254] = '\0';
	wire_start(&w, 1, 0);
	wire_question(&w, text, 1);
	ck_assert_int_eq(parse(), DENIAL_MALFORMED);
	ck_assert(q.has_header && !q.has_name);
}
END_TEST

static const struct {
	uint16_t udp_size, expected;
} sizes[] = { { 0, 512 }, { 511, 512 }, { 512, 512 }, { 1232, 1232 },
	{ 65535, 65535 } };

START_TEST(edns)
{
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		start_query(28);
		wire_opt(&w, sizes[i].udp_size, 0x8000, "\0\12\0\2ab\0\14\0\0",
		    10);
		ck_assert_int_eq(parse(), DENIAL_NONE);
		ck_assert(q.edns && q.dnssec_ok);
		ck_assert_uint_eq(q.udp_size, sizes[i].expected);
		ck_assert_uint_eq(q.edns_version, 0);
	}
	start_query(28);
	wire_opt(&w, 1232, 0x7fff, "", 0);
	ck_assert_int_eq(parse(), DENIAL_NONE);
	ck_assert(q.edns && !q.dnssec_ok);
}
END_TEST

START_TEST(edns_version)
{
	start_query(1);
	wire_opt(&w, 1232, 0x00010000, "", 0);
	ck_assert_int_eq(parse(), DENIAL_BAD_VERSION);
	ck_assert(q.has_name && q.edns);
	ck_assert_uint_eq(q.edns_version, 1);
	/* What its data means is not known, but that it is whole is. */
	start_query(1);
	wire_opt(&w, 1232, 0x00ff0000, "\1\2\3", 3);
	ck_assert_int_eq(parse(), DENIAL_BAD_VERSION);
	wire_u8(&w, 0);
	ck_assert_int_eq(parse(), DENIAL_MALFORMED);
}
END_TEST

static const struct {
	const char *octets;
	size_t len;
	bool whole;
} options[] = {
	{ "", 0, true },
	{ "\0\1\0\0", 4, true },
	{ "\0\1\0\1x", 5, true },
	{ "\0", 1, false },
	{ "\0\1\0", 3, false },
	{ "\0\1\0\1", 4, false },
	{ "\0\1\377\377", 4, false },
	{ "\0\1\0\0\0", 5, false },
	{ "\0\1\0\1x\0\2\0\2y", 10, false },
};

START_TEST(edns_options)
{
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		start_query(1);
		wire_opt(&w, 1232, 0, options[i].octets, options[i].len);
		ck_assert_msg(parse() ==
			(options[i].whole ? DENIAL_NONE : DENIAL_MALFORMED),
		    "%zu", i);
		ck_assert(q.edns);
	}
}
END_TEST

START_TEST(opt_that_is_none)
{
	/* Data that is longer or shorter than it says. */
	start_query(1);
	wire_opt(&w, 1232, 0, "\0\1\0\0", 4);
	w.buf[w.len - 5] = 3;
	ck_assert_int_eq(parse(), DENIAL_MALFORMED);
	w.buf[w.len - 5] = 5;
	ck_assert_int_eq(parse(), DENIAL_MALFORMED);
	/* An owner other than the root. */
	start_query(1);
	w.section = 3;
	wire_record(&w, "a", 41, 0, "", 0);
	ck_assert_int_eq(parse(), DENIAL_MALFORMED);
	start_query(1);
	wire_opt(&w, 1232, 0, "", 0);
	w.buf[w.len - 11] = 1;
	ck_assert_int_eq(parse(), DENIAL_MALFORMED);
	ck_assert(!q.edns);
	/* Another type. */
	start_query(1);
	w.section = 3;
	wire_record(&w, "", 1, 0, "\1\2\3\4", 4);
	ck_assert_int_eq(parse(), DENIAL_MALFORMED);
	ck_assert(!q.edns && q.has_name);
	/* Two. */
	start_query(1);
	wire_opt(&w, 1232, 0, "", 0);
	wire_opt(&w, 1232, 0, "", 0);
	ck_assert_int_eq(parse(), DENIAL_MALFORMED);
}
END_TEST

START_TEST(counts)
{
	for (unsigned section = 0; section < 4; section++)
		for (unsigned count = 0; count < 4; count++) {
			start_query(1);
			wire_count(&w, section, (uint16_t)count);
			bool right = count == (section == 0 ? 1 : 0);
			ck_assert_msg(parse() ==
				(right ? DENIAL_NONE : DENIAL_MALFORMED),
			    "%u %u", section, count);
			ck_assert(q.has_name == (section != 0 || right));
		}
	/* Two questions that are there, answer and authority that are. */
	start_query(1);
	wire_question(&w, "b.example", 1);
	ck_assert_int_eq(parse(), DENIAL_MALFORMED);
	for (unsigned section = 1; section <= 2; section++) {
		start_query(1);
		w.section = section;
		wire_record(&w, "a", 1, 0, "\1\2\3\4", 4);
		ck_assert_int_eq(parse(), DENIAL_MALFORMED);
		ck_assert(q.has_name);
	}
}
END_TEST

START_TEST(trailing)
{
	start_query(1);
	wire_u8(&w, 0);
	ck_assert_int_eq(parse(), DENIAL_MALFORMED);
	start_query(1);
	wire_opt(&w, 1232, 0, "", 0);
	wire_u8(&w, 0);
	ck_assert_int_eq(parse(), DENIAL_MALFORMED);
}
END_TEST

START_TEST(compressed_name)
{
	wire_start(&w, 1, 0);
	wire_count(&w, 0, 1);
	wire_u8(&w, 1);
	wire_u8(&w, 'a');
	wire_pointer(&w, 12);
	wire_u16(&w, 1);
	wire_u16(&w, 1);
	ck_assert_int_eq(parse(), DENIAL_MALFORMED);
	ck_assert(!q.has_name);
}
END_TEST

static const struct {
	uint16_t type, class;
	enum denial denial;
} kinds[] = {
	{ 1, 1, DENIAL_NONE },
	{ 0, 1, DENIAL_NONE },
	{ 65, 1, DENIAL_NONE },
	{ 255, 1, DENIAL_NONE },
	{ 65535, 1, DENIAL_NONE },
	{ 41, 1, DENIAL_MALFORMED },
	{ 249, 1, DENIAL_MALFORMED },
	{ 250, 1, DENIAL_MALFORMED },
	{ 41, 3, DENIAL_MALFORMED },
	{ 1, 0, DENIAL_CLASS },
	{ 1, 3, DENIAL_CLASS },
	{ 1, 255, DENIAL_CLASS },
	{ 252, 3, DENIAL_CLASS },
	{ 251, 1, DENIAL_TRANSFER },
	{ 252, 1, DENIAL_TRANSFER },
};

START_TEST(types_and_classes)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		start_query(kinds[i].type);
		w.buf[w.len - 1] = (uint8_t)kinds[i].class;
		ck_assert_msg(parse() == kinds[i].denial, "%u %u",
		    kinds[i].type, kinds[i].class);
		ck_assert(q.has_name);
		ck_assert_uint_eq(q.type, kinds[i].type);
		ck_assert_uint_eq(q.class, kinds[i].class);
	}
}
END_TEST

START_TEST(header_flags)
{
	for (unsigned flags = 0; flags < 0x10000; flags += 0x10) {
		start_query(1);
		w.buf[2] = (uint8_t)(flags >> 8);
		w.buf[3] = (uint8_t)flags;
		enum denial expected = (flags & 0x8000) != 0 ? DENIAL_DROP
		    : (flags & 0x7800) != 0                  ? DENIAL_OPCODE
							     : DENIAL_NONE;
		ck_assert_int_eq(parse(), expected);
		ck_assert_uint_eq(q.flags, flags);
		ck_assert(q.has_header == (expected != DENIAL_DROP));
		ck_assert(q.has_name == (expected == DENIAL_NONE));
	}
}
END_TEST

START_TEST(truncations)
{
	start_query(1);
	size_t name_end = w.len;
	wire_opt(&w, 1232, 0, "\0\12\0\2ab", 6);
	for (size_t len = w.len - 1;; len--) {
		w.len = len;
		ck_assert_int_eq(parse(),
		    len < 12 ? DENIAL_DROP : DENIAL_MALFORMED);
		ck_assert(q.has_header == (len >= 12));
		ck_assert(q.has_name == (len >= name_end));
		if (len == 0)
			break;
	}
}
END_TEST

/* Whatever could not be read has a value that can do no harm. */
START_TEST(always_filled)
{
	w.len = 0;
	ck_assert_int_eq(parse(), DENIAL_DROP);
	ck_assert_uint_eq(q.name.len, 1);
	ck_assert_uint_eq(q.spelling[0], 0);
	ck_assert_uint_eq(q.udp_size, 512);
	ck_assert_uint_eq(q.id | q.flags | q.type | q.class, 0);
	ck_assert(!q.edns && !q.over_tcp && !q.dnssec_ok);
	wire_start(&w, 7, 0x2800);
	ck_assert_int_eq(parse(), DENIAL_OPCODE);
	ck_assert_uint_eq(q.id, 7);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("question", &all);

	tcase_add_test(all, plain);
	tcase_add_test(all, root_and_longest);
	tcase_add_test(all, edns);
	tcase_add_test(all, edns_version);
	tcase_add_test(all, edns_options);
	tcase_add_test(all, opt_that_is_none);
	tcase_add_test(all, counts);
	tcase_add_test(all, trailing);
	tcase_add_test(all, compressed_name);
	tcase_add_test(all, types_and_classes);
	tcase_add_test(all, header_flags);
	tcase_add_test(all, truncations);
	tcase_add_test(all, always_filled);
	return unit_run(suite);
}
