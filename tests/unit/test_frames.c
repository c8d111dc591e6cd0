/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages come out of a stream whole and in order, wherever it is cut, and
 * nothing that a length can say makes the buffer grow.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "src/resolver/frames.h"
#include "tests/unit/unit.h"

#define STREAM_MAX (4 * 65537)

static uint8_t octets[STREAM_MAX];

/* A message of that many octets, numbered in its first one; no response. */
static size_t
put(size_t at, size_t size, uint8_t number)
{
	octets[at] = (uint8_t)(size >> 8);
	octets[at + 1] = (uint8_t)size;
	memset(octets + at + 2, number, size);
	if (size > 2)
		octets[at + 4] = 0;
	return at + 2 + size;
}

/* Feeds them in pieces of at most `piece`; checks each message that comes:
 * numbers from 1, lengths from the list. */
static enum frame
feed(size_t len, size_t piece, const size_t *sizes, size_t *ret_count)
{
	struct frames f;
	enum frame frame = FRAME_NONE;
	const uint8_t *wire = NULL;
	size_t at = 0, count = 0, size = 0;

	frames_init(&f);
	while (at < len && frame == FRAME_NONE) {
		uint8_t *room = frames_room(&f, &size);

		ck_assert_uint_gt(size, 0);
		size = size < piece ? size : piece;
		size = size < len - at ? size : len - at;
		memcpy(room, octets + at, size);
		frames_add(&f, size);
		at += size;
		while ((frame = frames_next(&f, &wire, &size)) == FRAME_QUERY) {
			size_t kept = sizes[count] < FRAME_QUERY_MAX
			    ? sizes[count]
			    : FRAME_QUERY_MAX;

			ck_assert_uint_eq(size, kept);
			ck_assert_uint_eq(wire[0], ++count);
			ck_assert_uint_eq(wire[size - 1], count);
		}
	}
	*ret_count = count;
	return frame;
}

START_TEST(comes_whole_however_it_is_cut)
{
	static const size_t sizes[] = { 12, 40, 2047, 13, 2048, 2049, 12, 4096,
		65535, 30, 65535, 12 };
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		len = put(len, sizes[i], (uint8_t)(i + 1));
	for (size_t piece = 1; piece < 5000; piece += piece < 70 ? 1 : 331) {
		size_t count;

		ck_assert_int_eq(feed(len, piece, sizes, &count), FRAME_NONE);
		ck_assert_uint_eq(count, ARRAY_LEN(sizes));
	}
}
END_TEST

START_TEST(a_piece_is_no_message)
{
	static const size_t sizes[] = { 30, 30 };
	size_t whole = put(put(0, 30, 1), 30, 2);

	for (size_t len = 0; len < whole; len++) {
		size_t count;

		ck_assert_int_eq(feed(len, 7, sizes, &count), FRAME_NONE);
		ck_assert_uint_eq(count, len / 32);
	}
}
END_TEST

START_TEST(what_cannot_be_a_question_ends_it)
{
	static const size_t sizes[] = { 30 };

	for (size_t size = 0; size < 12; size++) {
		size_t len = put(put(0, 30, 1), size, 2), count;

		ck_assert_int_eq(feed(len, 5, sizes, &count), FRAME_GARBAGE);
		ck_assert_uint_eq(count, 1);
	}
	for (unsigned flags = 0; flags < 256; flags++) {
		static const size_t least[] = { 12 };
		size_t len = put(0, 12, 1), count;

		octets[4] = (uint8_t)flags;
		ck_assert_int_eq(feed(len, len, least, &count) == FRAME_GARBAGE,
		    flags >= 128);
	}
}
END_TEST

/* The buffer is full and nothing is taken: only a bug adds more. */
START_TEST(does_not_take_more_than_there_is_room_for)
{
	struct frames f;
	size_t size;

	frames_init(&f);
	(void)frames_room(&f, &size);
	frames_add(&f, size + 1);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("frames", &all);

	tcase_add_test(all, comes_whole_however_it_is_cut);
	tcase_add_test(all, a_piece_is_no_message);
	tcase_add_test(all, what_cannot_be_a_question_ends_it);
	tcase_add_test_raise_signal(all,
	    does_not_take_more_than_there_is_room_for, SIGABRT);
	unit_covers("H103");
	return unit_run(suite);
}
