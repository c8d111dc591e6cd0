/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/answer.h"

#include <string.h>

#include "lib/require.h"
#include "tests/unit/unit.h"
#include "tests/unit/vet.h"
#include "tests/unit/wire.h"

START_TEST(plain)
{
	respond("www.Example", 1);
	add_a("WWW.example", 300, 1);
	add_a("www.example", 200, 2);
	ck_assert_int_eq(vet("www.example", 1), ANSWER_OK);
	ck_assert_uint_eq(a.addr_count, 2);
	ck_assert(has_last(1) && has_last(2));
	ck_assert_uint_eq(a.addrs[0].family, 4);
	ck_assert_uint_eq(a.ttl_s, 200);
	ck_assert_uint_eq(a.rcode, 0);
	ck_assert_int_eq(a.left_out + a.protected_count, 0);
	check_end("www.example", 0);
}
END_TEST

START_TEST(plain_v6)
{
	uint8_t bytes[16] = { 0x20, 1, 0xd, 0xb8, [15] = 9 };

	respond("www.example", 28);
	wire_record(&w, "www.example", 28, 60, bytes, 16);
	add_a("www.example", 10, 1);
	ck_assert_int_eq(vet("www.example", 28), ANSWER_OK);
	ck_assert_uint_eq(a.addr_count, 1);
	ck_assert_uint_eq(a.addrs[0].family, 6);
	ck_assert_mem_eq(a.addrs[0].bytes, bytes, 16);
	ck_assert_uint_eq(a.ttl_s, 60);
}
END_TEST

/* The question of the response, and its header. */
static const struct {
	const char *what;
	size_t offset;
	uint8_t octet;
	enum answer_outcome outcome;
} heads[] = {
	{ "as it is", 3, 0x80, ANSWER_OK },
	{ "a query", 2, 0x01, ANSWER_BOGUS },
	{ "opcode", 2, 0x89, ANSWER_BOGUS },
	{ "truncated", 2, 0x83, ANSWER_TRUNCATED },
	{ "no RA, AA, AD, Z", 3, 0x70, ANSWER_OK },
	{ "FORMERR", 3, 0x81, ANSWER_BOGUS },
	{ "SERVFAIL", 3, 0x82, ANSWER_BOGUS },
	{ "NXDOMAIN", 3, 0x83, ANSWER_NO_NAME },
	{ "NOTIMP", 3, 0x84, ANSWER_BOGUS },
	{ "REFUSED", 3, 0x85, ANSWER_BOGUS },
	{ "YXDOMAIN", 3, 0x86, ANSWER_BOGUS },
	{ "no question", 5, 0, ANSWER_BOGUS },
	{ "two questions", 5, 2, ANSWER_BOGUS },
	{ "another name", 13, 'x', ANSWER_BOGUS },
	{ "another type", 16, 28, ANSWER_BOGUS },
	{ "another class", 18, 3, ANSWER_BOGUS },
	{ "fewer answers", 7, 0, ANSWER_NO_DATA },
	{ "more answers", 7, 2, ANSWER_BOGUS },
	{ "authority that is not there", 9, 9, ANSWER_OK },
	{ "additional that is not there", 11, 9, ANSWER_OK },
};

START_TEST(header_and_question)
{
	for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
		respond("a", 1);
		add_a("a", 60, 1);
		w.buf[heads[i].offset] = heads[i].octet;
		ck_assert_msg(vet("a", 1) == heads[i].outcome, "%s",
		    heads[i].what);
		if (heads[i].outcome == ANSWER_NO_NAME)
			ck_assert_uint_eq(a.rcode, 3);
	}
	/* Broken by its code, truncated or not. */
	respond("a", 1);
	w.buf[2] = 0x83;
	w.buf[3] = 0x82;
	ck_assert_int_eq(vet("a", 1), ANSWER_BOGUS);
}
END_TEST

START_TEST(types_that_are_not_for_us)
{
	static const uint16_t types[] = { 0, 2, 5, 6, 12, 65, 255 };

	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		respond("a", types[i]);
		ck_assert_int_eq(vet("a", types[i]), ANSWER_BOGUS);
	}
}
END_TEST

START_TEST(too_many_records)
{
	respond("a", 1);
	for (unsigned i = 0; i < ANSWER_WALK_MAX; i++)
		add_a("a", 60, (uint8_t)i);
	ck_assert_int_eq(vet("a", 1), ANSWER_OK);
	add_a("a", 60, 0);
	ck_assert_int_eq(vet("a", 1), ANSWER_BOGUS);
}
END_TEST

START_TEST(no_data)
{
	respond("a", 1);
	ck_assert_int_eq(vet("a", 1), ANSWER_NO_DATA);
	ck_assert_uint_eq(a.ttl_s, 0);
}
END_TEST

/* Who speaks about the end of a chain that has no record: SOA owners. */
static const struct {
	const char *owner;
	uint16_t type;
	enum answer_outcome outcome;
} ends[] = {
	{ "b.example", 6, ANSWER_NO_DATA },
	{ "example", 6, ANSWER_NO_DATA },
	{ "", 6, ANSWER_NO_DATA },
	{ "c.b.example", 6, ANSWER_BOGUS },
	{ "a", 6, ANSWER_BOGUS },
	{ "other.example", 6, ANSWER_BOGUS },
	{ "b.example", 2, ANSWER_BOGUS },
};

START_TEST(end_without_data)
{
	respond("a", 1);
	add_cname("a", 60, "b.example");
	/* Cut short: nobody has spoken about b.example. */
	ck_assert_int_eq(vet("a", 1), ANSWER_BOGUS);
	w.section = 2;
	wire_record_name(&w, ends[_i].owner, ends[_i].type, 60, 0, "ns.b");
	ck_assert_int_eq(vet("a", 1), ends[_i].outcome);
	if (ends[_i].outcome != ANSWER_NO_DATA)
		return;
	ck_assert_uint_eq(a.ttl_s, 60);
	check_end("b.example", 1);
}
END_TEST

START_TEST(no_name)
{
	respond("a", 1);
	w.buf[3] = 0x83;
	add_cname("a", 60, "b.example");
	add_a("b.example", 60, 1);
	ck_assert_int_eq(vet("a", 1), ANSWER_NO_NAME);
	check_end("b.example", 1);
	/* Without a question it is a guess of 16 bits. */
	wire_start(&w, 1, 0x8183);
	ck_assert_int_eq(vet("a", 1), ANSWER_BOGUS);
}
END_TEST

START_TEST(chain)
{
	respond("www.a", 1);
	add_cname("Www.a", 300, "cdn.B");
	add_cname("cdn.b", 30, "x.c");
	add_a("x.c", 60, 1);
	add_a("X.C", 60, 2);
	ck_assert_int_eq(vet("www.a", 1), ANSWER_OK);
	ck_assert_uint_eq(a.addr_count, 2);
	ck_assert_uint_eq(a.ttl_s, 30);
	check_end("x.c", 2);
}
END_TEST

START_TEST(chain_in_any_order)
{
	respond("www.a", 1);
	add_a("x.c", 60, 1);
	add_cname("cdn.b", 30, "x.c");
	add_cname("www.a", 300, "cdn.b");
	ck_assert_int_eq(vet("www.a", 1), ANSWER_OK);
	check_end("x.c", 2);
	ck_assert(has_last(1));
}
END_TEST

START_TEST(chain_lengths)
{
	for (unsigned links = 0; links <= 12; links++) {
		char owner[] = "a.x", target[] = "a.x";

		respond("a.x", 1);
		for (unsigned i = 0; i < links; i++) {
			owner[0] = (char)('a' + i);
			target[0] = (char)('b' + i);
			add_cname(owner, 60, target);
		}
		owner[0] = (char)('a' + links);
		add_a(owner, 60, 1);
		ck_assert_int_eq(vet("a.x", 1),
		    links <= ANSWER_LINKS_MAX ? ANSWER_OK : ANSWER_BOGUS);
		if (links <= ANSWER_LINKS_MAX)
			check_end(owner, (uint8_t)links);
	}
}
END_TEST

START_TEST(chain_that_has_no_end)
{
	respond("a", 1);
	add_cname("a", 60, "a");
	add_a("a", 60, 1);
	ck_assert_int_eq(vet("a", 1), ANSWER_BOGUS);
	respond("a", 1);
	add_cname("a", 60, "b");
	add_cname("b", 60, "c");
	add_cname("c", 60, "b");
	add_a("c", 60, 1);
	ck_assert_int_eq(vet("a", 1), ANSWER_BOGUS);
}
END_TEST

START_TEST(chain_that_forks)
{
	respond("a", 1);
	add_cname("a", 60, "b");
	add_cname("a", 60, "c");
	add_a("b", 60, 1);
	ck_assert_int_eq(vet("a", 1), ANSWER_BOGUS);
	/* The same link twice is one link. */
	respond("a", 1);
	add_cname("a", 60, "b");
	add_cname("a", 50, "B");
	add_a("b", 60, 1);
	ck_assert_int_eq(vet("a", 1), ANSWER_OK);
	check_end("b", 1);
	ck_assert_uint_eq(a.ttl_s, 50);
}
END_TEST

START_TEST(off_the_chain)
{
	respond("a", 1);
	add_a("a", 1, 1); /* beside an alias: not its end */
	add_cname("a", 60, "b");
	add_a("evil", 2, 2);
	add_cname("evil", 3, "b");
	add_a("b", 70, 3);
	add_a("sub.b", 4, 4);
	wire_record(&w, "b", 28, 5, "0123456789abcdef", 16);
	wire_record(&w, "b", 1, 6, "\300\0\2\5", 4);
	w.buf[w.len - 11] = 3; /* its class */
	w.section = 2;
	wire_record(&w, "b", 1, 7, "\300\0\2\6", 4);
	w.section = 3;
	wire_record(&w, "b", 1, 8, "\300\0\2\7", 4);
	ck_assert_int_eq(vet("a", 1), ANSWER_OK);
	ck_assert_uint_eq(a.addr_count, 1);
	ck_assert(has_last(3));
	ck_assert_uint_eq(a.ttl_s, 60);
	check_end("b", 1);
}
END_TEST

START_TEST(dname_by_its_cname)
{
	respond("www.old", 1);
	wire_record_name(&w, "old", 39, 10, 0, "new");
	add_cname("www.old", 60, "www.new");
	add_a("www.new", 60, 1);
	ck_assert_int_eq(vet("www.old", 1), ANSWER_OK);
	check_end("www.new", 1);
	/* Without the alias that it stands for it leads nowhere. */
	respond("www.old", 1);
	wire_record_name(&w, "old", 39, 10, 0, "new");
	add_a("www.new", 60, 1);
	ck_assert_int_eq(vet("www.old", 1), ANSWER_NO_DATA);
}
END_TEST

START_TEST(names_differ_by_label)
{
	/* a.b as one label is not the name a.b. */
	respond("a.b", 1);
	wire_bytes(&w, "\3a.b\0", 5);
	wire_bytes(&w, "\0\1\0\1\0\0\0\74\0\4\300\0\2\1", 14);
	wire_count(&w, 1, 1);
	ck_assert_int_eq(vet("a.b", 1), ANSWER_NO_DATA);
}
END_TEST

START_TEST(compressed)
{
	respond("www.example", 1);
	wire_pointer(&w, 12);
	wire_bytes(&w, "\0\5\0\1\0\0\0\74\0\6\3cdn", 14);
	wire_pointer(&w, 16);
	wire_bytes(&w, "\3CDN", 4);
	wire_pointer(&w, 16);
	wire_bytes(&w, "\0\1\0\1\0\0\0\74\0\4\300\0\2\1", 14);
	wire_count(&w, 1, 2);
	ck_assert_int_eq(vet("www.example", 1), ANSWER_OK);
	check_end("cdn.example", 1);
}
END_TEST

/* Data of an alias that is more, less or other than one name. */
START_TEST(alias_data)
{
	static const struct {
		const char *octets;
		size_t len;
	} data[] = { { "", 0 }, { "\1b", 2 }, { "\1b\0\0", 4 },
		{ "\300\377", 2 }, { "\100b\0", 3 }, { "\2b\0", 3 } };

	for (size_t i = 0; i < ARRAY_LEN(data); i++) {
		respond("a", 1);
		wire_record(&w, "a", 5, 60, data[i].octets, data[i].len);
		add_a("b", 60, 1);
		ck_assert_msg(vet("a", 1) == ANSWER_BOGUS, "%zu", i);
		/* Of somebody else: nobody looks. */
		respond("a", 1);
		wire_record(&w, "z", 5, 60, data[i].octets, data[i].len);
		add_a("a", 60, 1);
		ck_assert_msg(vet("a", 1) == ANSWER_OK, "%zu", i);
	}
}
END_TEST

START_TEST(truncations)
{
	static const uint16_t types[] = { 1, 15, 16, 33 };

	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		respond("a.example", types[i]);
		add_cname("a.example", 60, "b.example");
		if (types[i] == 1)
			add_a("b.example", 60, 1);
		else if (types[i] == 16)
			wire_record(&w, "b.example", 16, 60, "\2ab", 3);
		else
			wire_record_name(&w, "b.example", types[i], 60,
			    types[i] == 15 ? 2 : 6, "c.example");
		ck_assert_int_eq(vet("a.example", types[i]), ANSWER_OK);
		for (size_t whole = w.len; w.len > 0;) {
			w.len--;
			ck_assert_int_eq(vet("a.example", types[i]),
			    ANSWER_BOGUS);
			ck_assert_uint_lt(w.len, whole);
		}
	}
}
END_TEST

/* As many records as fit into a message: nobody has to walk them. */
START_TEST(huge)
{
	respond("a", 1);
	while (w.len + 17 < sizeof(w.buf))
		add_cname("z", 60, "y");
	ck_assert_int_eq(vet("a", 1), ANSWER_BOGUS);
	respond("a", 1);
	for (unsigned i = 0; i < ANSWER_WALK_MAX; i++)
		add_cname("z", 60, "y");
	ck_assert_int_eq(vet("a", 1), ANSWER_NO_DATA);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("answer", &all);

	tcase_add_checked_fixture(all, vet_setup, NULL);
	tcase_add_test(all, plain);
	tcase_add_test(all, plain_v6);
	tcase_add_test(all, header_and_question);
	tcase_add_test(all, types_that_are_not_for_us);
	tcase_add_test(all, too_many_records);
	tcase_add_test(all, no_data);
	tcase_add_loop_test(all, end_without_data, 0, (int)ARRAY_LEN(ends));
	tcase_add_test(all, no_name);
	tcase_add_test(all, chain);
	tcase_add_test(all, chain_in_any_order);
	tcase_add_test(all, chain_lengths);
	tcase_add_test(all, chain_that_has_no_end);
	tcase_add_test(all, chain_that_forks);
	tcase_add_test(all, off_the_chain);
	tcase_add_test(all, dname_by_its_cname);
	tcase_add_test(all, names_differ_by_label);
	tcase_add_test(all, compressed);
	tcase_add_test(all, alias_data);
	tcase_add_test(all, truncations);
	tcase_add_test(all, huge);
	return unit_run(suite);
}
