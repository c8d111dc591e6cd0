/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/answer.h"

#include <signal.h>
#include <string.h>

#include "lib/require.h"
#include "tests/unit/unit.h"
#include "tests/unit/vet.h"
#include "tests/unit/wire.h"

START_TEST(address_sizes)
{
	for (size_t len = 0; len <= 20; len++) {
		uint8_t bytes[20] = { 0x20, 1, 0xd, 0xb8 };

		respond("a", 28);
		wire_record(&w, "a", 28, 60, bytes, len);
		ck_assert_int_eq(vet("a", 28),
		    len == 16 ? ANSWER_OK : ANSWER_BOGUS);
		bytes[0] = 192;
		bytes[1] = 0;
		bytes[2] = 2;
		respond("a", 1);
		wire_record(&w, "a", 1, 60, bytes, len);
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
	wire_record(&w, "a", 1, 60, "\300\0\2", 3);
	ck_assert_int_eq(vet("a", 1), ANSWER_BOGUS);
	respond("a", 16);
	wire_record(&w, "a", 16, 60, "\1x", 2);
	wire_record(&w, "a", 16, 60, "\2x", 2);
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
	vet_setup();
	vet("a", 1);
	for (unsigned i = 0; i < ANSWER_ADDRS_MAX; i++)
		ck_assert(addr_equal(&once.addrs[i], &a.addrs[i]));
}
END_TEST

START_TEST(protected_addresses)
{
	respond("a", 1);
	wire_record(&w, "a", 1, 60, "\12\1\2\3", 4);
	wire_record(&w, "a", 1, 60, "\177\0\0\1", 4);
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
		wire_record(&w, "a", 28, 60, addr.bytes, 16);
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

		wire_record(&w, "a", 1, 60, bytes, 4);
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
		wire_record(&w, "a", datas[i].type, 60, datas[i].data,
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
	wire_record(&w, "a", 257, 60, data, sizeof(data));
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
		wire_record(&w, "a", 16, 60, data, sizeof(data));
	wire_record(&w, "a", 16, 60, "\0", 1);
	ck_assert_int_eq(vet("a", 16), ANSWER_OK);
	ck_assert_uint_eq(a.record_count, 4);
	ck_assert_uint_eq(a.data_len, 1024);
	/* One that is too long does not keep out the next. */
	respond("a", 16);
	uint8_t longer[1025];
	memset(longer, 0, sizeof(longer));
	wire_record(&w, "a", 16, 60, longer, sizeof(longer));
	wire_record(&w, "a", 16, 60, "\1x", 2);
	ck_assert_int_eq(vet("a", 16), ANSWER_OK);
	ck_assert_uint_eq(a.record_count, 1);
	ck_assert_mem_eq(a.data, "\1x", 2);
	/* By number. */
	respond("a", 16);
	for (unsigned i = 0; i < 40; i++)
		wire_record(&w, "a", 16, 60, "\1x", 2);
	ck_assert_int_eq(vet("a", 16), ANSWER_OK);
	ck_assert_uint_eq(a.record_count, ANSWER_RECORDS_MAX);
	/* None fits: that is no data, as far as a client can tell. */
	respond("a", 16);
	wire_record(&w, "a", 16, 60, longer, sizeof(longer));
	ck_assert_int_eq(vet("a", 16), ANSWER_NO_DATA);
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
	Suite *suite = unit_suite("answer_records", &all);

	tcase_add_checked_fixture(all, vet_setup, NULL);
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
	tcase_add_test(all, fixed);
	tcase_add_test_raise_signal(all, fixed_of_no_family, SIGABRT);
	tcase_add_test(all, drop_addr);
	tcase_add_test_raise_signal(all, drop_addr_of_none, SIGABRT);
	unit_covers("C46");
	return unit_run(suite);
}
