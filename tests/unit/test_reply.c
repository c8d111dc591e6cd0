/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/reply.h"

#include <signal.h>
#include <string.h>

#include "lib/require.h"
#include "tests/unit/unit.h"
#include "tests/unit/wire.h"

static uint8_t buf[REPLY_SIZE_MAX];
static struct question q;
static struct answer answer;

/* A question as the parser leaves it; name_len is that of the wire form. */
static void
ask_of(size_t name_len, uint16_t type, uint16_t udp_size)
{
	static struct wire w;
	char text[256];

	memset(text, 'A', sizeof(text));
	for (size_t i = 60; i < name_len; i += 60)
		text[i] = '.';
	text[name_len < 2 ? 0 : name_len - 2] = '\0';
	wire_start(&w, 0x4711, 0x0110);
	wire_question(&w, text, type);
	if (udp_size != 0)
		wire_opt(&w, udp_size, 0x8000, "", 0);
	ck_assert_int_eq(question_parse(&q, w.buf, w.len), DENIAL_NONE);
	ck_assert_uint_eq(q.name.len, name_len);
}

static void
answer_addrs(uint16_t type, uint8_t count)
{
	memset(&answer, 0, sizeof(answer));
	answer.outcome = ANSWER_OK;
	answer.type = type;
	answer.addr_count = count;
	for (uint8_t i = 0; i < count; i++) {
		uint8_t bytes[16] = { 0x20, 1, 0xd, 0xb8, 5, 6, 7, 8, i };

		answer.addrs[i] = type == 1 ? addr_v4(bytes) : addr_v6(bytes);
		answer.addrs[i].bytes[3] = i;
	}
}

static void
answer_records(uint16_t type, uint8_t count, uint16_t len)
{
	memset(&answer, 0, sizeof(answer));
	answer.outcome = ANSWER_OK;
	answer.type = type;
	answer.record_count = count;
	for (uint8_t i = 0; i < count; i++) {
		answer.records[i].offset = answer.data_len;
		answer.records[i].len = len;
		memset(answer.data + answer.data_len, i + 1, len);
		answer.data_len = (uint16_t)(answer.data_len + len);
	}
}

/* The parts that every reply has; gives the offset behind the question. */
static size_t
check_head(size_t len, uint16_t flags, unsigned an, unsigned ns)
{
	ck_assert_uint_ge(len, 12);
	ck_assert_uint_eq(wire_at(buf, 0), q.id);
	ck_assert_msg(wire_at(buf, 2) == flags, "%04x", wire_at(buf, 2));
	ck_assert_uint_eq(wire_at(buf, 4), q.has_name);
	ck_assert_uint_eq(wire_at(buf, 6), an);
	ck_assert_uint_eq(wire_at(buf, 8), ns);
	ck_assert_uint_eq(wire_at(buf, 10), q.edns);
	if (!q.has_name)
		return 12;
	ck_assert_mem_eq(buf + 12, q.spelling, q.name.len);
	ck_assert_uint_eq(wire_at(buf, 12u + q.name.len), q.type);
	ck_assert_uint_eq(wire_at(buf, 14u + q.name.len), q.class);
	return 16u + q.name.len;
}

/* OPT without data at the very end. */
static void
check_bare_opt(size_t at, size_t len)
{
	ck_assert_uint_eq(len, at + 11);
	ck_assert_mem_eq(buf + at, "\0\0\51\4\320\0\0\0\0\0\0", 11);
}

START_TEST(addresses)
{
	for (int edns = 0; edns <= 1; edns++) {
		uint8_t addrs = 99;

		ask_of(17, 1, edns != 0 ? 1232 : 0);
		answer_addrs(1, 2);
		size_t len =
		    reply_build(buf, sizeof(buf), &q, &answer, 0x10203, &addrs);
		ck_assert_uint_eq(addrs, 2);
		size_t at = check_head(len, 0x8190, 2, 0);
		for (uint8_t i = 0; i < 2; i++, at += 16) {
			ck_assert_mem_eq(buf + at,
			    "\300\14\0\1\0\1\0\1\2\3\0\4\40\1\15", 15);
			ck_assert_uint_eq(buf[at + 15], i);
		}
		if (edns != 0)
			check_bare_opt(at, len);
		else
			ck_assert_uint_eq(at, len);
	}
}
END_TEST

START_TEST(addresses_v6)
{
	uint8_t addrs;

	ask_of(17, 28, 0);
	answer_addrs(28, 1);
	size_t len = reply_build(buf, sizeof(buf), &q, &answer, 5, &addrs);
	size_t at = check_head(len, 0x8190, 1, 0);
	ck_assert_uint_eq(len, at + 28);
	ck_assert_mem_eq(buf + at, "\300\14\0\34\0\1\0\0\0\5\0\20", 12);
	ck_assert_mem_eq(buf + at + 12, answer.addrs[0].bytes, 16);
}
END_TEST

START_TEST(addresses_for_any)
{
	uint8_t addrs;

	ask_of(17, 255, 0);
	answer_addrs(28, 2);
	answer.addrs[0] = addr_v4((const uint8_t *)"\1\2\3\4");
	size_t len = reply_build(buf, sizeof(buf), &q, &answer, 5, &addrs);
	size_t at = check_head(len, 0x8190, 2, 0);
	ck_assert_uint_eq(addrs, 2);
	ck_assert_uint_eq(wire_at(buf, at + 2), 1);
	ck_assert_uint_eq(wire_at(buf, at + 16 + 2), 28);
	ck_assert_uint_eq(len, at + 16 + 28);
}
END_TEST

START_TEST(no_addresses)
{
	uint8_t addrs = 99;

	ask_of(1, 1, 0);
	answer_addrs(1, 0);
	size_t len = reply_build(buf, sizeof(buf), &q, &answer, 5, &addrs);
	ck_assert_uint_eq(check_head(len, 0x8190, 0, 0), len);
	ck_assert_uint_eq(addrs, 0);
}
END_TEST

/* Twelve for every name and client, as many as fit for IPv6; never TC. */
START_TEST(addresses_for_every_length)
{
	static const uint16_t udp_sizes[] = { 0, 512, 600, 1232, 4096 };

	for (size_t i = 0; i < ARRAY_LEN(udp_sizes); i++)
		for (size_t name_len = 3; name_len <= 255; name_len++) {
			if ((name_len - 2) % 60 == 0 ||
			    (name_len - 2) % 60 == 1)
				continue; /* ends in a dot */
			size_t limit = udp_sizes[i] < 512 ? 512
			    : udp_sizes[i] > 1232         ? 1232
							  : udp_sizes[i];
			size_t room = limit - 16 - name_len -
			    (udp_sizes[i] != 0 ? 11 : 0);
			uint8_t addrs;

			ask_of(name_len, 1, udp_sizes[i]);
			answer_addrs(1, 12);
			size_t len = reply_build(buf, sizeof(buf), &q, &answer,
			    5, &addrs);
			check_head(len, 0x8190, 12, 0);
			ck_assert_uint_eq(addrs, 12);
			ck_assert_uint_le(len, limit);

			unsigned fit =
			    room / 28 > 12 ? 12 : (unsigned)room / 28;
			ask_of(name_len, 28, udp_sizes[i]);
			answer_addrs(28, 12);
			len = reply_build(buf, sizeof(buf), &q, &answer, 5,
			    &addrs);
			check_head(len, 0x8190, fit, 0);
			ck_assert_uint_eq(addrs, fit);
			ck_assert_uint_le(len, limit);
		}
}
END_TEST

START_TEST(records)
{
	uint8_t addrs = 99;

	ask_of(17, 16, 1232);
	answer_records(16, 3, 9);
	size_t len = reply_build(buf, sizeof(buf), &q, &answer, 7, &addrs);
	size_t at = check_head(len, 0x8190, 3, 0);
	ck_assert_uint_eq(addrs, 0);
	for (uint8_t i = 0; i < 3; i++, at += 21) {
		ck_assert_mem_eq(buf + at, "\300\14\0\20\0\1\0\0\0\7\0\11", 12);
		for (size_t j = 12; j < 21; j++)
			ck_assert_uint_eq(buf[at + j], i + 1);
	}
	check_bare_opt(at, len);
}
END_TEST

START_TEST(records_truncated)
{
	uint8_t addrs;

	/* 512 - 33 - 11 = 468: four of 112, not the fifth. */
	ask_of(17, 16, 512);
	answer_records(16, 5, 100);
	size_t len = reply_build(buf, sizeof(buf), &q, &answer, 7, &addrs);
	size_t at = check_head(len, 0x8390, 4, 0);
	check_bare_opt(at + 4 * 112, len);
	/* The same over TCP is whole. */
	q.over_tcp = true;
	len = reply_build(buf, sizeof(buf), &q, &answer, 7, &addrs);
	at = check_head(len, 0x8190, 5, 0);
	check_bare_opt(at + 5 * 112, len);
	/* To the octet: 431 + 37 = 468 fits, one more does not. */
	ask_of(17, 16, 512);
	answer_records(16, 1, 456);
	len = reply_build(buf, sizeof(buf), &q, &answer, 7, &addrs);
	ck_assert_uint_eq(len, 512);
	check_head(len, 0x8190, 1, 0);
	answer_records(16, 1, 457);
	len = reply_build(buf, sizeof(buf), &q, &answer, 7, &addrs);
	check_head(len, 0x8390, 0, 0);
}
END_TEST

/* More than we announce ourselves is sent to nobody. */
START_TEST(records_over_our_size)
{
	uint8_t addrs;

	ask_of(17, 16, 4096);
	answer_records(16, 32, 32);
	size_t len = reply_build(buf, sizeof(buf), &q, &answer, 7, &addrs);
	ck_assert_uint_le(len, 1232);
	check_head(len, 0x8390, (1232 - 33 - 11) / 44, 0);
	/* Over TCP there is nothing else to ask by: never TC. */
	q.over_tcp = true;
	len = reply_build(buf, 1000, &q, &answer, 7, &addrs);
	ck_assert_uint_le(len, 1000);
	check_head(len, 0x8190, (1000 - 33 - 11) / 44, 0);
}
END_TEST

/* Everything that an answer can hold, for the longest name, over TCP. */
START_TEST(records_most)
{
	uint8_t addrs;

	ask_of(255, 16, 1232);
	answer_records(16, ANSWER_RECORDS_MAX,
	    ANSWER_DATA_MAX / ANSWER_RECORDS_MAX);
	q.over_tcp = true;
	size_t len = reply_build(buf, sizeof(buf), &q, &answer, 7, &addrs);
	check_head(len, 0x8190, ANSWER_RECORDS_MAX, 0);
}
END_TEST

static const uint8_t soa[] =
    "\0\0\6\0\1\0\0\0\5\0\66\10namewall\7invalid\0\6nobody\7invalid\0"
    "\0\0\0\1\0\0\16\20\0\0\2\130\0\1\121\200\0\0\0\5";
#define SOA_SIZE (sizeof(soa) - 1)

static size_t
deny(enum denial denial, const char *text, enum tell tell)
{
	struct denial_form form = denial_form_of(denial, DENIAL_NXDOMAIN);

	if (text != NULL)
		form.text = text;
	return reply_deny(buf, sizeof(buf), &q, &form, 5, tell);
}

START_TEST(denial_plain)
{
	ask_of(17, 1, 0);
	size_t len = deny(DENIAL_UNLISTED, NULL, TELL_FULL);
	size_t at = check_head(len, 0x8193, 0, 1);
	ck_assert_uint_eq(len, at + SOA_SIZE);
	ck_assert_mem_eq(buf + at, soa, SOA_SIZE);

	len = deny(DENIAL_UPSTREAM_SILENT, NULL, TELL_FULL);
	ck_assert_uint_eq(check_head(len, 0x8192, 0, 0), len);
	len = deny(DENIAL_UNKNOWN_SOURCE, NULL, TELL_FULL);
	ck_assert_uint_eq(check_head(len, 0x8195, 0, 0), len);
	len = deny(DENIAL_TYPE, NULL, TELL_FULL);
	ck_assert_uint_eq(check_head(len, 0x8190, 0, 1) + SOA_SIZE, len);
}
END_TEST

/* Checks OPT with an extended error at the end. */
static void
check_error(size_t at, size_t len, uint16_t code, const char *text,
    size_t text_len)
{
	ck_assert_uint_eq(len, at + 17 + text_len);
	ck_assert_mem_eq(buf + at, "\0\0\51\4\320\0\0\0\0", 9);
	ck_assert_uint_eq(wire_at(buf, at + 9), 6 + text_len);
	ck_assert_uint_eq(wire_at(buf, at + 11), 15);
	ck_assert_uint_eq(wire_at(buf, at + 13), 2 + text_len);
	ck_assert_uint_eq(wire_at(buf, at + 15), code);
	ck_assert_mem_eq(buf + at + 17, text, text_len);
}

START_TEST(denial_tells)
{
	const char *form_text =
	    denial_form_of(DENIAL_UNLISTED, DENIAL_NXDOMAIN).text;
	size_t at = 16 + 17 + SOA_SIZE, len;

	ask_of(17, 1, 512);
	len = deny(DENIAL_UNLISTED, NULL, TELL_FULL);
	check_error(at, len, 15, form_text, strlen(form_text));
	len = deny(DENIAL_UNLISTED, "because", TELL_FULL);
	check_error(at, len, 15, "because", 7);
	len = deny(DENIAL_UNLISTED, "", TELL_FULL);
	check_error(at, len, 15, "", 0);
	len = deny(DENIAL_UNLISTED, "because", TELL_CODE);
	check_error(at, len, 15, "", 0);
	len = deny(DENIAL_UNLISTED, "because", TELL_NOTHING);
	check_bare_opt(at, len);
	/* No code, no text, whoever wants to say something. */
	len = deny(DENIAL_NO_NAME, "because", TELL_FULL);
	check_bare_opt(at, len);
	/* Code 0 is a code. */
	len = deny(DENIAL_UNPINNED, "because", TELL_FULL);
	check_error(at - SOA_SIZE, len, 0, "because", 7);
}
END_TEST

START_TEST(denial_long_text)
{
	char text[200];
	size_t at = 16 + 255 + SOA_SIZE;

	/* The longest of everything is within what everybody can take. */
	memset(text, 't', sizeof(text));
	text[199] = '\0';
	ask_of(255, 1, 512);
	size_t len = deny(DENIAL_UNLISTED, text, TELL_FULL);
	check_error(at, len, 15, text, 120);
	ck_assert_uint_le(len, 512);
	/* Exactly as much as may be, ending in a character of three. */
	memcpy(text + 117, "\342\202\254", 4);
	len = deny(DENIAL_UNLISTED, text, TELL_FULL);
	check_error(at, len, 15, text, 120);
	/* A character that would be cut goes as a whole. */
	memcpy(text + 118, "\342\202\254", 4);
	len = deny(DENIAL_UNLISTED, text, TELL_FULL);
	check_error(at, len, 15, text, 118);
	memcpy(text + 118, "t\342\202\254", 5);
	len = deny(DENIAL_UNLISTED, text, TELL_FULL);
	check_error(at, len, 15, text, 119);
	/* Nonsense of nothing but continuations is nothing. */
	memset(text, 0x80, 150);
	len = deny(DENIAL_UNLISTED, text, TELL_FULL);
	check_error(at, len, 15, "", 0);
}
END_TEST

START_TEST(denial_bad_version)
{
	static struct wire w;

	wire_start(&w, 9, 0x0100);
	wire_question(&w, "a", 1);
	wire_opt(&w, 4096, 0x00010000, "", 0);
	ck_assert_int_eq(question_parse(&q, w.buf, w.len), DENIAL_BAD_VERSION);
	size_t len = deny(DENIAL_BAD_VERSION, NULL, TELL_FULL);
	size_t at = check_head(len, 0x8180, 0, 0);
	ck_assert_uint_eq(len, at + 11);
	ck_assert_mem_eq(buf + at, "\0\0\51\4\320\1\0\0\0\0\0", 11);
}
END_TEST

START_TEST(denial_of_fragments)
{
	static struct wire w;

	/* Only a header: nothing to echo, nothing to cache. */
	wire_start(&w, 9, 0x2900);
	ck_assert_int_eq(question_parse(&q, w.buf, w.len), DENIAL_OPCODE);
	size_t len = deny(DENIAL_OPCODE, NULL, TELL_FULL);
	ck_assert_uint_eq(check_head(len, 0xa984, 0, 0), len);
	len = deny(DENIAL_UNLISTED, NULL, TELL_FULL);
	ck_assert_uint_eq(check_head(len, 0xa983, 0, 0), len);
	w.len = 11;
	ck_assert_int_eq(question_parse(&q, w.buf, w.len), DENIAL_DROP);
	ck_assert_uint_eq(deny(DENIAL_MALFORMED, NULL, TELL_FULL), 0);
	/* A response gets none. */
	wire_start(&w, 9, 0x8100);
	wire_question(&w, "a", 1);
	ck_assert_int_eq(question_parse(&q, w.buf, w.len), DENIAL_DROP);
	ck_assert_uint_eq(deny(DENIAL_MALFORMED, NULL, TELL_FULL), 0);
}
END_TEST

/* RD and CD as asked; QR and RA set; AA, TC, AD and the reserved bit clear. */
START_TEST(flags_of_all)
{
	for (unsigned asked = 0; asked < 0x800; asked += 0x10) {
		uint8_t addrs;
		uint16_t kept = asked & 0x0110;

		ask_of(3, 1, 0);
		q.flags = (uint16_t)asked;
		answer_addrs(1, 1);
		reply_build(buf, sizeof(buf), &q, &answer, 5, &addrs);
		ck_assert_uint_eq(wire_at(buf, 2), 0x8080 | kept);
		deny(DENIAL_UNLISTED, NULL, TELL_FULL);
		ck_assert_uint_eq(wire_at(buf, 2), 0x8083 | kept);
	}
}
END_TEST

START_TEST(build_without_name)
{
	uint8_t addrs;

	ask_of(3, 1, 0);
	q.has_name = false;
	answer_addrs(1, 1);
	reply_build(buf, sizeof(buf), &q, &answer, 5, &addrs);
}
END_TEST

START_TEST(build_without_room)
{
	uint8_t addrs;

	ask_of(3, 1, 0);
	answer_addrs(1, 1);
	reply_build(buf, 511, &q, &answer, 5, &addrs);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("reply", &all);

	tcase_add_test(all, addresses);
	tcase_add_test(all, addresses_v6);
	tcase_add_test(all, addresses_for_any);
	tcase_add_test(all, no_addresses);
	tcase_add_test(all, addresses_for_every_length);
	tcase_add_test(all, records);
	tcase_add_test(all, records_truncated);
	tcase_add_test(all, records_over_our_size);
	tcase_add_test(all, records_most);
	tcase_add_test(all, denial_plain);
	tcase_add_test(all, denial_tells);
	tcase_add_test(all, denial_long_text);
	tcase_add_test(all, denial_bad_version);
	tcase_add_test(all, denial_of_fragments);
	tcase_add_test(all, flags_of_all);
	tcase_add_test_raise_signal(all, build_without_name, SIGABRT);
	tcase_add_test_raise_signal(all, build_without_room, SIGABRT);
	unit_covers("G98 H105 H107");
	return unit_run(suite);
}
