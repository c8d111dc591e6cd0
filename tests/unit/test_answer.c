/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/answer.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "tests/unit/unit.h"
#include "tests/unit/wire.h"

static struct wire w;
static struct answer a;
static struct verdict verdict;
static struct protected_ranges ranges;
static struct rng rng;

/* Documentation addresses pass here; everything else is as it is. */
static void
setup(void)
{
	static const uint8_t seed[32] = { 1 };
	static const char *const passing[] = { "192.0.2.0/24",
		"2001:db8::/32" };

	memset(&verdict, 0, sizeof(verdict));
	memset(&ranges, 0, sizeof(ranges));
	for (size_t i = 0; i < ARRAY_LEN(passing); i++)
		ck_assert(prefix_parse(passing[i], strlen(passing[i]),
		    &ranges.except[ranges.except_count++]));
	rng_init(&rng, seed);
}

static struct dname
name_of(const char *text)
{
	struct dname name;

	ck_assert(dname_from_text(text, strlen(text), &name));
	return name;
}

static enum answer_outcome
vet(const char *name, uint16_t type)
{
	struct dname asked = name_of(name);
	uint8_t *copy = malloc(w.len == 0 ? 1 : w.len);

	memcpy(copy, w.buf, w.len);
	memset(&a, 0xa5, sizeof(a));
	enum answer_outcome outcome =
	    answer_vet(&a, &asked, type, &verdict, &ranges, &rng, copy, w.len);
	free(copy);
	ck_assert_int_eq(outcome, a.outcome);
	ck_assert_uint_eq(a.type, type);
	if (outcome != ANSWER_OK)
		ck_assert_int_eq(a.addr_count + a.record_count + a.data_len, 0);
	return outcome;
}

static void
respond(const char *name, uint16_t type)
{
	wire_start(&w, 1, 0x8180);
	wire_question(&w, name, type);
}

static void
add_a(const char *owner, uint32_t ttl, uint8_t last)
{
	uint8_t bytes[4] = { 192, 0, 2, last };

	wire_record(&w, 1, owner, 1, ttl, bytes, 4);
}

static void
add_cname(const char *owner, uint32_t ttl, const char *target)
{
	wire_record_name(&w, owner, 5, ttl, 0, target);
}

static bool
has_last(uint8_t last)
{
	for (unsigned i = 0; i < a.addr_count; i++)
		if (a.addrs[i].bytes[3] == last)
			return true;
	return false;
}

static void
check_end(const char *name, uint8_t links)
{
	struct dname expected = name_of(name);

	ck_assert(dname_equal(&a.end, &expected));
	ck_assert_uint_eq(a.link_count, links);
}

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
	wire_record(&w, 1, "www.example", 28, 60, bytes, 16);
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

START_TEST(no_data)
{
	respond("a", 1);
	ck_assert_int_eq(vet("a", 1), ANSWER_NO_DATA);
	ck_assert_uint_eq(a.ttl_s, 0);
	/* A whole chain to a name that has nothing of the type. */
	respond("a", 1);
	add_cname("a", 60, "b.example");
	ck_assert_int_eq(vet("a", 1), ANSWER_NO_DATA);
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
	wire_record(&w, 1, "b", 28, 5, "0123456789abcdef", 16);
	wire_record(&w, 1, "b", 1, 6, "\300\0\2\5", 4);
	w.buf[w.len - 11] = 3; /* its class */
	wire_record(&w, 2, "b", 1, 7, "\300\0\2\6", 4);
	wire_record(&w, 3, "b", 1, 8, "\300\0\2\7", 4);
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
		wire_record(&w, 1, "a", 5, 60, data[i].octets, data[i].len);
		add_a("b", 60, 1);
		ck_assert_msg(vet("a", 1) == ANSWER_BOGUS, "%zu", i);
		/* Of somebody else: nobody looks. */
		respond("a", 1);
		wire_record(&w, 1, "z", 5, 60, data[i].octets, data[i].len);
		add_a("a", 60, 1);
		ck_assert_msg(vet("a", 1) == ANSWER_OK, "%zu", i);
	}
}
END_TEST

START_TEST(address_sizes)
{
	for (size_t len = 0; len <= 20; len++) {
		uint8_t bytes[20] = { 0x20, 1, 0xd, 0xb8 };

		respond("a", 28);
		wire_record(&w, 1, "a", 28, 60, bytes, len);
		ck_assert_int_eq(vet("a", 28),
		    len == 16 ? ANSWER_OK : ANSWER_BOGUS);
		bytes[0] = 192;
		bytes[1] = 0;
		bytes[2] = 2;
		respond("a", 1);
		wire_record(&w, 1, "a", 1, 60, bytes, len);
		ck_assert_int_eq(vet("a", 1),
		    len == 4 ? ANSWER_OK : ANSWER_BOGUS);
	}
}
END_TEST

/* One that is broken spoils those before it too. */
START_TEST(broken_after_good)
{
	respond("a", 1);
	add_a("a", 60, 1);
	wire_record(&w, 1, "a", 1, 60, "\300\0\2", 3);
	ck_assert_int_eq(vet("a", 1), ANSWER_BOGUS);
	respond("a", 16);
	wire_record(&w, 1, "a", 16, 60, "\1x", 2);
	wire_record(&w, 1, "a", 16, 60, "\2x", 2);
	ck_assert_int_eq(vet("a", 16), ANSWER_BOGUS);
}
END_TEST

START_TEST(duplicates)
{
	respond("a", 1);
	for (uint8_t i = 0; i < 40; i++)
		add_a("a", 60, i % 3);
	ck_assert_int_eq(vet("a", 1), ANSWER_OK);
	ck_assert_uint_eq(a.addr_count, 3);
	ck_assert_uint_eq(a.left_out, 0);
}
END_TEST

START_TEST(ttls)
{
	static const struct {
		uint32_t sent, seen;
	} rows[] = { { 0, 0 }, { 1, 1 }, { 0x7fffffff, 0x7fffffff },
		{ 0x80000000, 0 }, { 0xffffffff, 0 } };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		respond("a", 1);
		add_a("a", rows[i].sent, 1);
		ck_assert_int_eq(vet("a", 1), ANSWER_OK);
		ck_assert_uint_eq(a.ttl_s, rows[i].seen);
	}
}
END_TEST

/* Each of 30 is kept about as often as any other, in about any place. */
START_TEST(random_choice)
{
	unsigned kept[30] = { 0 }, first[30] = { 0 };

	respond("a", 1);
	for (unsigned i = 0; i < 30; i++)
		add_a("a", 60, (uint8_t)i);
	for (unsigned run = 0; run < 3000; run++) {
		ck_assert_int_eq(vet("a", 1), ANSWER_OK);
		ck_assert_uint_eq(a.addr_count, ANSWER_ADDRS_MAX);
		ck_assert_uint_eq(a.left_out, 30 - ANSWER_ADDRS_MAX);
		for (unsigned i = 0; i < a.addr_count; i++)
			kept[a.addrs[i].bytes[3]]++;
		first[a.addrs[0].bytes[3]]++;
	}
	for (unsigned i = 0; i < 30; i++) {
		ck_assert_uint_gt(kept[i], 1200 - 200);
		ck_assert_uint_lt(kept[i], 1200 + 200);
		ck_assert_uint_gt(first[i], 100 - 60);
		ck_assert_uint_lt(first[i], 100 + 60);
	}
}
END_TEST

START_TEST(random_order_of_few)
{
	unsigned first[3] = { 0 };

	respond("a", 1);
	for (unsigned i = 0; i < 3; i++)
		add_a("a", 60, (uint8_t)i);
	for (unsigned run = 0; run < 300; run++) {
		vet("a", 1);
		ck_assert(has_last(0) && has_last(1) && has_last(2));
		first[a.addrs[0].bytes[3]]++;
	}
	for (unsigned i = 0; i < 3; i++)
		ck_assert_uint_gt(first[i], 60);
}
END_TEST

START_TEST(same_seed_same_choice)
{
	struct answer once;

	respond("a", 1);
	for (unsigned i = 0; i < 40; i++)
		add_a("a", 60, (uint8_t)i);
	vet("a", 1);
	once = a;
	setup();
	vet("a", 1);
	for (unsigned i = 0; i < ANSWER_ADDRS_MAX; i++)
		ck_assert(addr_equal(&once.addrs[i], &a.addrs[i]));
}
END_TEST

START_TEST(protected_addresses)
{
	respond("a", 1);
	wire_record(&w, 1, "a", 1, 60, "\12\1\2\3", 4);
	wire_record(&w, 1, "a", 1, 60, "\177\0\0\1", 4);
	ck_assert_int_eq(vet("a", 1), ANSWER_PROTECTED);
	ck_assert_uint_eq(a.protected_count, 2);
	ck_assert_int_eq(a.protected_class, ADDR_PRIVATE);
	ck_assert_mem_eq(a.protected_first.bytes, "\12\1\2\3", 4);
	add_a("a", 60, 1);
	ck_assert_int_eq(vet("a", 1), ANSWER_OK);
	ck_assert_uint_eq(a.addr_count, 1);
	ck_assert_uint_eq(a.protected_count, 2);
	/* The rule's `private` lifts one of them. */
	verdict.private_count = 1;
	ck_assert(prefix_parse("10.1.0.0/16", 11, &verdict.private_ok[0]));
	ck_assert_int_eq(vet("a", 1), ANSWER_OK);
	ck_assert_uint_eq(a.addr_count, 2);
	ck_assert_uint_eq(a.protected_count, 1);
	ck_assert_int_eq(a.protected_class, ADDR_LOOPBACK);
}
END_TEST

START_TEST(protected_in_hiding)
{
	static const char *const hidden[] = { "::ffff:10.0.0.1",
		"64:ff9b::a00:1", "2002:a00:1::1", "::1", "fe80::1",
		"fd00::1" };

	for (size_t i = 0; i < ARRAY_LEN(hidden); i++) {
		struct addr addr;

		ck_assert(addr_parse(hidden[i], strlen(hidden[i]), &addr));
		respond("a", 28);
		wire_record(&w, 1, "a", 28, 60, addr.bytes, 16);
		ck_assert_msg(vet("a", 28) == ANSWER_PROTECTED, "%s",
		    hidden[i]);
	}
}
END_TEST

/* Protected ones do not count for the twelve. */
START_TEST(protected_are_not_chosen)
{
	respond("a", 1);
	for (uint8_t i = 0; i < 40; i++) {
		uint8_t bytes[4] = { 10, 0, 0, i };

		wire_record(&w, 1, "a", 1, 60, bytes, 4);
	}
	for (uint8_t i = 0; i < 12; i++)
		add_a("a", 60, i);
	ck_assert_int_eq(vet("a", 1), ANSWER_OK);
	ck_assert_uint_eq(a.addr_count, 12);
	ck_assert_uint_eq(a.left_out, 0);
	ck_assert_uint_eq(a.protected_count, 40);
	for (uint8_t i = 0; i < 12; i++)
		ck_assert(has_last(i));
}
END_TEST

/* Data of other types, and what it is rebuilt to; NULL: bogus. */
static const struct {
	uint16_t type;
	const char *data;
	size_t len;
	const char *rebuilt;
	size_t rebuilt_len;
} datas[] = {
	{ 16, "\2hi", 3, "\2hi", 3 },
	{ 16, "\0", 1, "\0", 1 },
	{ 16, "\2hi\0\1x", 6, "\2hi\0\1x", 6 },
	{ 16, "", 0, NULL, 0 },
	{ 16, "\3hi", 3, NULL, 0 },
	{ 16, "\2hi\1", 4, NULL, 0 },
	{ 15, "\0\12\4Mail\0", 8, "\0\12\4mail\0", 8 },
	{ 15, "\0\12\4mail\300\14", 9, "\0\12\4mail\1a\0", 10 },
	{ 15, "\0\0\0", 3, "\0\0\0", 3 },
	{ 15, "\0\12", 2, NULL, 0 },
	{ 15, "\0", 1, NULL, 0 },
	{ 15, "\0\12\4mail\0x", 9, NULL, 0 },
	{ 15, "\0\12\4mail", 7, NULL, 0 },
	{ 33, "\0\1\0\2\1\273\1x\0", 9, "\0\1\0\2\1\273\1x\0", 9 },
	{ 33, "\0\1\0\2\1\273\300\14", 8, "\0\1\0\2\1\273\1a\0", 9 },
	{ 33, "\0\1\0\2\1\273", 6, NULL, 0 },
	{ 33, "\0\1\0\2\1\273\0\0", 8, NULL, 0 },
	{ 257, "\200\5issueca.example", 17, "\200\5issueca.example", 17 },
	{ 257, "\0\1x", 3, "\0\1x", 3 },
	{ 257, "\0\1xv", 4, "\0\1xv", 4 },
	{ 257, "\0\0x", 3, NULL, 0 },
	{ 257, "\0\2x", 3, NULL, 0 },
	{ 257, "\0\2x-y", 5, NULL, 0 },
	{ 257, "\0", 1, NULL, 0 },
	{ 257, "", 0, NULL, 0 },
};

START_TEST(other_types)
{
	for (size_t i = 0; i < ARRAY_LEN(datas); i++) {
		respond("a", datas[i].type);
		wire_record(&w, 1, "a", datas[i].type, 60, datas[i].data,
		    datas[i].len);
		bool ok = datas[i].rebuilt != NULL;
		ck_assert_msg(vet("a", datas[i].type) ==
			(ok ? ANSWER_OK : ANSWER_BOGUS),
		    "%zu", i);
		if (!ok)
			continue;
		ck_assert_uint_eq(a.record_count, 1);
		ck_assert_uint_eq(a.records[0].offset, 0);
		ck_assert_uint_eq(a.records[0].len, datas[i].rebuilt_len);
		ck_assert_uint_eq(a.data_len, datas[i].rebuilt_len);
		ck_assert_mem_eq(a.data, datas[i].rebuilt,
		    datas[i].rebuilt_len);
		ck_assert_uint_eq(a.ttl_s, 60);
	}
}
END_TEST

START_TEST(long_caa)
{
	uint8_t data[600] = { 0, 5, 'i', 's', 's', 'u', 'e' };

	memset(data + 7, 'v', sizeof(data) - 7);
	respond("a", 257);
	wire_record(&w, 1, "a", 257, 60, data, sizeof(data));
	ck_assert_int_eq(vet("a", 257), ANSWER_OK);
	ck_assert_uint_eq(a.data_len, sizeof(data));
	ck_assert_mem_eq(a.data, data, sizeof(data));
}
END_TEST

START_TEST(records_that_do_not_fit)
{
	uint8_t data[256] = { 255 };

	/* Four of 256 are all there is room for; a small one is too late. */
	respond("a", 16);
	for (unsigned i = 0; i < 5; i++)
		wire_record(&w, 1, "a", 16, 60, data, sizeof(data));
	wire_record(&w, 1, "a", 16, 60, "\0", 1);
	ck_assert_int_eq(vet("a", 16), ANSWER_OK);
	ck_assert_uint_eq(a.record_count, 4);
	ck_assert_uint_eq(a.data_len, 1024);
	/* One that is too long does not keep out the next. */
	respond("a", 16);
	uint8_t longer[1025];
	memset(longer, 0, sizeof(longer));
	wire_record(&w, 1, "a", 16, 60, longer, sizeof(longer));
	wire_record(&w, 1, "a", 16, 60, "\1x", 2);
	ck_assert_int_eq(vet("a", 16), ANSWER_OK);
	ck_assert_uint_eq(a.record_count, 1);
	ck_assert_mem_eq(a.data, "\1x", 2);
	/* By number. */
	respond("a", 16);
	for (unsigned i = 0; i < 40; i++)
		wire_record(&w, 1, "a", 16, 60, "\1x", 2);
	ck_assert_int_eq(vet("a", 16), ANSWER_OK);
	ck_assert_uint_eq(a.record_count, ANSWER_RECORDS_MAX);
	/* None fits: that is no data, as far as a client can tell. */
	respond("a", 16);
	wire_record(&w, 1, "a", 16, 60, longer, sizeof(longer));
	ck_assert_int_eq(vet("a", 16), ANSWER_NO_DATA);
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
			wire_record(&w, 1, "b.example", 16, 60, "\2ab", 3);
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

/* As many records as fit into a message, each a link to nowhere. */
START_TEST(huge)
{
	respond("a", 1);
	while (w.len + 17 < sizeof(w.buf))
		add_cname("z", 60, "y");
	ck_assert_int_eq(vet("a", 1), ANSWER_NO_DATA);
	respond("a", 1);
	while (w.len + 17 < sizeof(w.buf)) {
		uint8_t bytes[4] = { 192, 0, 2, (uint8_t)(w.len * 7) };

		wire_record(&w, 1, "a", 1, 60, bytes, 4);
	}
	ck_assert_int_eq(vet("a", 1), ANSWER_OK);
	ck_assert_uint_eq(a.addr_count, ANSWER_ADDRS_MAX);
}
END_TEST

static void
add_fixed(const char *text)
{
	ck_assert(addr_parse(text, strlen(text),
	    &verdict.addrs[verdict.addr_count++]));
}

START_TEST(fixed)
{
	struct dname name = name_of("llm.internal");

	add_fixed("192.0.2.7");
	add_fixed("2001:db8::7");
	add_fixed("192.0.2.6");
	add_fixed("192.0.2.7");
	add_fixed("10.9.9.9");
	answer_fixed(&a, &name, 1, &verdict, &ranges, 33);
	ck_assert_int_eq(a.outcome, ANSWER_OK);
	ck_assert_uint_eq(a.addr_count, 2);
	ck_assert_uint_eq(a.addrs[0].bytes[3], 7);
	ck_assert_uint_eq(a.addrs[1].bytes[3], 6);
	ck_assert_uint_eq(a.protected_count, 1);
	ck_assert_uint_eq(a.ttl_s, 33);
	ck_assert_uint_eq(a.rcode, 0);
	ck_assert_uint_eq(a.record_count, 0);
	check_end("llm.internal", 0);
	answer_fixed(&a, &name, 28, &verdict, &ranges, 33);
	ck_assert_int_eq(a.outcome, ANSWER_OK);
	ck_assert_uint_eq(a.addr_count, 1);
	ck_assert_uint_eq(a.addrs[0].family, 6);

	verdict.addr_count = 0;
	answer_fixed(&a, &name, 1, &verdict, &ranges, 33);
	ck_assert_int_eq(a.outcome, ANSWER_NO_DATA);
	add_fixed("10.9.9.9");
	answer_fixed(&a, &name, 1, &verdict, &ranges, 33);
	ck_assert_int_eq(a.outcome, ANSWER_PROTECTED);
	answer_fixed(&a, &name, 28, &verdict, &ranges, 33);
	ck_assert_int_eq(a.outcome, ANSWER_NO_DATA);
}
END_TEST

START_TEST(fixed_of_no_family)
{
	struct dname name = name_of("a");

	answer_fixed(&a, &name, 16, &verdict, &ranges, 33);
}
END_TEST

START_TEST(drop_addr)
{
	struct dname name = name_of("a");

	add_fixed("192.0.2.1");
	add_fixed("192.0.2.2");
	add_fixed("192.0.2.3");
	answer_fixed(&a, &name, 1, &verdict, &ranges, 33);
	answer_drop_addr(&a, 1);
	ck_assert_uint_eq(a.addr_count, 2);
	ck_assert_uint_eq(a.addrs[0].bytes[3], 1);
	ck_assert_uint_eq(a.addrs[1].bytes[3], 3);
	answer_drop_addr(&a, 1);
	answer_drop_addr(&a, 0);
	ck_assert_uint_eq(a.addr_count, 0);
}
END_TEST

START_TEST(drop_addr_of_none)
{
	a.addr_count = 1;
	answer_drop_addr(&a, 1);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("answer", &all);

	tcase_add_checked_fixture(all, setup, NULL);
	tcase_add_test(all, plain);
	tcase_add_test(all, plain_v6);
	tcase_add_test(all, header_and_question);
	tcase_add_test(all, types_that_are_not_for_us);
	tcase_add_test(all, no_data);
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
	tcase_add_test(all, address_sizes);
	tcase_add_test(all, broken_after_good);
	tcase_add_test(all, duplicates);
	tcase_add_test(all, ttls);
	tcase_add_test(all, random_choice);
	tcase_add_test(all, random_order_of_few);
	tcase_add_test(all, same_seed_same_choice);
	tcase_add_test(all, protected_addresses);
	tcase_add_test(all, protected_in_hiding);
	tcase_add_test(all, protected_are_not_chosen);
	tcase_add_test(all, other_types);
	tcase_add_test(all, long_caa);
	tcase_add_test(all, records_that_do_not_fit);
	tcase_add_test(all, truncations);
	tcase_add_test(all, huge);
	tcase_add_test(all, fixed);
	tcase_add_test_raise_signal(all, fixed_of_no_family, SIGABRT);
	tcase_add_test(all, drop_addr);
	tcase_add_test_raise_signal(all, drop_addr_of_none, SIGABRT);
	return unit_run(suite);
}
