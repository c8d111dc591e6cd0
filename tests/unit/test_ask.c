/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/ask.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "tests/unit/unit.h"
#include "tests/unit/wire.h"

static const uint8_t seed[32] = { 7 };

static struct wire w;

static struct ask
ask_for(const char *text, uint16_t type)
{
	struct dname name;
	struct ask ask;
	struct rng rng;

	ck_assert(dname_from_text(text, strlen(text), &name));
	rng_init(&rng, seed);
	ask_build(&ask, &name, type, false, &rng);
	return ask;
}

START_TEST(build)
{
	struct ask first, second;
	struct dname name;
	struct rng rng;
	unsigned differing = 0;

	ck_assert(dname_from_text("Example.com", 11, &name));
	rng_init(&rng, seed);
	ask_build(&first, &name, 28, true, &rng);
	ck_assert(dname_equal(&first.name, &name));
	ck_assert_uint_eq(first.type, 28);
	ck_assert(first.stream);
	for (int i = 0; i < 100; i++) {
		ask_build(&second, &name, 28, false, &rng);
		ck_assert(!second.stream);
		differing += second.id != first.id;
	}
	ck_assert_uint_ge(differing, 98);
}
END_TEST

START_TEST(print)
{
	struct ask ask = ask_for("www.Example.com", 28);
	uint8_t buf[ASK_SIZE_MAX];

	ask.id = 0xabcd;
	size_t len = ask_print(&ask, buf, sizeof(buf));
	ck_assert_uint_eq(len, 128);
	ck_assert_mem_eq(buf, "\xab\xcd\1\0\0\1\0\0\0\0\0\1", 12);
	ck_assert_mem_eq(buf + 12, "\3www\7example\3com\0\0\34\0\1", 21);
	/* OPT: root, 41, 1232, no flags; one option, padding, zeroes. */
	ck_assert_mem_eq(buf + 33, "\0\0\51\4\320\0\0\0\0\0\124\0\14\0\120",
	    15);
	for (size_t i = 48; i < len; i++)
		ck_assert_uint_eq(buf[i], 0);
}
END_TEST

/* For every length of name: whole blocks, and the lengths in it agree. */
START_TEST(print_every_length)
{
	struct dname name;
	uint8_t octet = 'a';

	dname_root(&name);
	do {
		struct ask ask = { .name = name, .type = 1, .id = 5 };
		uint8_t buf[ASK_SIZE_MAX], again[ASK_SIZE_MAX];
		size_t len = ask_print(&ask, buf, sizeof(buf));
		size_t opt = 12 + (size_t)name.len + 4;

		ck_assert_uint_eq(len % 128, 0);
		ck_assert_uint_le(len, ASK_SIZE_MAX);
		ck_assert_uint_lt(len, opt + 15 + 128);
		ck_assert_uint_eq(wire_at(buf, opt + 9), len - opt - 11);
		ck_assert_uint_eq(wire_at(buf, opt + 13), len - opt - 15);
		ask.id = 6;
		ck_assert_uint_eq(ask_print(&ask, again, sizeof(again)), len);
		ck_assert_mem_eq(buf + 2, again + 2, len - 2);
	} while (dname_prepend(&name, &octet, 1));
	ck_assert_uint_eq(name.len, 255);
}
END_TEST

START_TEST(print_without_room)
{
	struct ask ask = ask_for("example.com", 1);
	uint8_t buf[ASK_SIZE_MAX];

	ask_print(&ask, buf, 127);
}
END_TEST

static void
respond(const struct ask *ask, uint16_t response_flags)
{
	wire_start(&w, ask->id, response_flags);
	wire_question(&w, "wWw.example.COM", 1);
	wire_record(&w, "www.example.com", 1, 60, "\300\0\2\1", 4);
}

static bool
matches(const struct ask *ask)
{
	uint8_t *copy = malloc(w.len == 0 ? 1 : w.len);

	memcpy(copy, w.buf, w.len);
	bool match = ask_matches(ask, copy, w.len);
	free(copy);
	return match;
}

static const struct {
	const char *what;
	size_t offset;
	uint8_t flip;
} flips[] = {
	{ "id", 0, 0x80 },
	{ "id", 1, 0x01 },
	{ "a query", 2, 0x80 },
	{ "opcode", 2, 0x08 },
	{ "no question", 5, 0x01 },
	{ "three questions", 5, 0x02 },
	{ "name", 13, 0x01 },
	{ "label length", 12, 0x01 },
	{ "pointer", 12, 0xc3 },
	{ "type", 30, 0x02 },
	{ "class", 32, 0x02 },
};

START_TEST(match)
{
	struct ask ask = ask_for("www.example.com", 1);

	respond(&ask, 0x8180);
	ck_assert(matches(&ask));
	for (size_t i = 0; i < ARRAY_LEN(flips); i++) {
		respond(&ask, 0x8180);
		w.buf[flips[i].offset] ^= flips[i].flip;
		ck_assert_msg(!matches(&ask), "%s", flips[i].what);
	}
	respond(&ask, 0x8182);
	ck_assert(matches(&ask));
	respond(&ask, 0x8380);
	ck_assert(matches(&ask));
}
END_TEST

START_TEST(match_without_question)
{
	struct ask ask = ask_for("www.example.com", 1);

	for (uint16_t rcode = 0; rcode < 16; rcode++) {
		wire_start(&w, ask.id, 0x8180 | rcode);
		ck_assert(matches(&ask) == (rcode != 0));
	}
	wire_start(&w, (uint16_t)(ask.id ^ 1), 0x8185);
	ck_assert(!matches(&ask));
}
END_TEST

START_TEST(match_truncations)
{
	struct ask ask = ask_for("www.example.com", 1);

	respond(&ask, 0x8180);
	for (size_t len = 0; len < 33; len++) {
		w.len = len;
		ck_assert(!matches(&ask));
	}
	w.len = 33;
	ck_assert(matches(&ask));
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("ask", &all);

	tcase_add_test(all, build);
	tcase_add_test(all, print);
	tcase_add_test(all, print_every_length);
	tcase_add_test_raise_signal(all, print_without_room, SIGABRT);
	tcase_add_test(all, match);
	tcase_add_test(all, match_without_question);
	tcase_add_test(all, match_truncations);
	return unit_run(suite);
}
