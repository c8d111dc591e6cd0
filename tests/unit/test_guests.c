/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is kept of attached sandboxes and of withdrawn rules: records to octets
 * and back, and the file around them over a restart.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/require.h"
#include "src/resolver/guests_file.h"
#include "src/resolver/members.h"
#include "src/resolver/withdrawn.h"

#define BOOT  "11111111-2222-3333-4444-555555555555"
#define OTHER "99999999-2222-3333-4444-555555555555"

static struct guest_record
make_record(uint8_t sources)
{
	struct guest_record r = { .ifindex = 0x12345678,
		.source_count = sources };

	(void)snprintf(r.name, sizeof(r.name), "%063d", 7);
	(void)snprintf(r.policy, sizeof(r.policy), "agent");
	(void)snprintf(r.each, sizeof(r.each), "runners");
	(void)snprintf(r.interface, sizeof(r.interface), "veth-box1234567");
	for (uint8_t i = 0; i < sources; i++) {
		r.sources[i].family = i % 2 == 0 ? 4 : 6;
		memset(r.sources[i].bytes, i + 1, i % 2 == 0 ? 4 : 16);
	}
	return r;
}

START_TEST(guest_there_and_back)
{
	uint8_t body[RECORDS_BODY];
	struct guest_record in = make_record((uint8_t)_i), out;

	guest_record_print(body, &in);
	ck_assert(guest_record_read(&out, body));
	ck_assert_str_eq(out.name, in.name);
	ck_assert_str_eq(out.policy, "agent");
	ck_assert_str_eq(out.each, "runners");
	ck_assert_str_eq(out.interface, "veth-box1234567");
	ck_assert_uint_eq(out.ifindex, 0x12345678);
	ck_assert_uint_eq(out.source_count, (unsigned)_i);
	for (int i = 0; i < _i; i++)
		ck_assert(addr_equal(&out.sources[i], &in.sources[i]));
}
END_TEST

/* What the program that wrote it could not have written. */
static const struct {
	size_t at;
	uint8_t octet;
} BAD_GUEST[] = {
	{ 0, 0 }, /* no source */
	{ 0, EDGE_SOURCES_MAX + 1 }, { 216, 5 }, /* no such family */
	{ 8, 0 }, /* no name */
};

START_TEST(bad_guest)
{
	uint8_t body[RECORDS_BODY];
	struct guest_record in = make_record(2), out;

	guest_record_print(body, &in);
	body[BAD_GUEST[_i].at] = BAD_GUEST[_i].octet;
	ck_assert(!guest_record_read(&out, body));
}
END_TEST

START_TEST(withdrawal_there_and_back)
{
	struct policy_withdrawal in = { .kind = RULE_BELOW }, out;
	uint8_t body[RECORDS_BODY];
	char text[256];

	(void)snprintf(in.sandbox, sizeof(in.sandbox), "%063d", 7);
	/* As long as a name can be. */
	for (size_t i = 0; i < 253; i++)
		text[i] = i % 64 == 63 ? '.' : 'x';
	ck_assert(dname_from_text(text, 253, &in.name));
	withdrawal_print(body, &in);
	ck_assert(withdrawal_read(&out, body));
	ck_assert_int_eq(out.kind, RULE_BELOW);
	ck_assert_str_eq(out.sandbox, in.sandbox);
	ck_assert(dname_equal(&out.name, &in.name));
	body[0] = RULE_BELOW + 1;
	ck_assert(!withdrawal_read(&out, body));
	body[0] = RULE_BELOW;
	body[1] = 0;
	ck_assert(!withdrawal_read(&out, body));
}
END_TEST

static int dir;
static char path[64];

static void
make_dir(void)
{
	(void)snprintf(path, sizeof(path), "/tmp/records.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(path));
	dir = open(path, O_RDONLY | O_DIRECTORY);
	ck_assert_int_ge(dir, 0);
}

static void
remove_dir(void)
{
	(void)unlinkat(dir, "things", 0);
	(void)unlinkat(dir, "things.new", 0);
	(void)close(dir);
	(void)rmdir(path);
}

static void
fill(uint8_t body[RECORDS_BODY], uint8_t octet)
{
	memset(body, octet, RECORDS_BODY);
}

/* A run that writes the records 1 and 3 and is killed without a word. */
static void
first_run(bool settled)
{
	uint8_t body[RECORDS_BODY];
	struct records r;

	ck_assert_int_eq(records_open(&r, dir, "things", BOOT, 4), 0);
	for (uint8_t i = 0; i < 4; i++) {
		fill(body, i);
		records_write(&r, i, body);
	}
	records_clear(&r, 0);
	records_clear(&r, 2);
	if (settled)
		ck_assert_int_eq(records_settle(&r), 0);
	records_close(&r);
}

START_TEST(file_over_a_restart)
{
	const uint8_t *body;
	struct records r;
	uint32_t index = 0;

	make_dir();
	first_run(true);
	ck_assert_int_eq(records_open(&r, dir, "things", _i ? OTHER : BOOT, 4),
	    0);
	ck_assert(r.same_boot == (_i == 0));
	body = records_next(&r, &index);
	ck_assert_ptr_nonnull(body);
	ck_assert_uint_eq(body[RECORDS_BODY - 1], 1);
	body = records_next(&r, &index);
	ck_assert_ptr_nonnull(body);
	ck_assert_uint_eq(body[0], 3);
	ck_assert_ptr_null(records_next(&r, &index));
	ck_assert_uint_eq(r.torn, 0);
	records_close(&r);
	remove_dir();
}
END_TEST

START_TEST(start_that_was_not_settled)
{
	struct records r;
	uint32_t index = 0;

	make_dir();
	first_run(true);
	/* Another one begins, writes nothing, and dies: the old file holds. */
	ck_assert_int_eq(records_open(&r, dir, "things", BOOT, 4), 0);
	records_close(&r);
	ck_assert_int_eq(records_open(&r, dir, "things", BOOT, 4), 0);
	ck_assert_ptr_nonnull(records_next(&r, &index));
	ck_assert_int_eq(records_settle(&r), 0);
	records_close(&r);
	/* But once it is settled, nothing is what it wrote. */
	index = 0;
	ck_assert_int_eq(records_open(&r, dir, "things", BOOT, 4), 0);
	ck_assert_ptr_null(records_next(&r, &index));
	records_close(&r);
	remove_dir();
}
END_TEST

START_TEST(torn_and_foreign_files)
{
	const uint8_t *body;
	struct records r;
	uint32_t index = 0;
	int fd;

	make_dir();
	first_run(true);
	fd = openat(dir, "things", O_RDWR);
	ck_assert_int_ge(fd, 0);
	/* An octet in the middle of record 1. */
	ck_assert_int_eq(pwrite(fd, "x", 1, 2 * RECORDS_SIZE + 100), 1);
	ck_assert_int_eq(records_open(&r, dir, "things", BOOT, 4), 0);
	body = records_next(&r, &index);
	ck_assert_ptr_nonnull(body);
	ck_assert_uint_eq(body[0], 3);
	ck_assert_uint_eq(r.torn, 1);
	records_close(&r);
	/* Cut off in the middle of the last one, then of another kind. */
	ck_assert_int_eq(ftruncate(fd, 5 * RECORDS_SIZE - 1), 0);
	index = 0;
	ck_assert_int_eq(records_open(&r, dir, "things", BOOT, 4), 0);
	ck_assert_ptr_null(records_next(&r, &index));
	records_close(&r);
	ck_assert_int_eq(pwrite(fd, "N", 1, 0), 1);
	index = 0;
	ck_assert_int_eq(records_open(&r, dir, "things", BOOT, 4), 0);
	ck_assert_ptr_null(records_next(&r, &index));
	records_close(&r);
	(void)close(fd);
	remove_dir();
}
END_TEST

/* A day after its last question, unless something is held for it. */
START_TEST(a_member_is_idle_after_a_day)
{
	static const uint64_t day = MEMBERS_IDLE_MS;

	ck_assert_uint_eq(day, 24 * 3600 * 1000);
	ck_assert(!members_is_idle(1000, 0, MEMBERS_IDLE_MS, 1000));
	ck_assert(!members_is_idle(1000, 0, MEMBERS_IDLE_MS, 1000 + day - 1));
	ck_assert(members_is_idle(1000, 0, MEMBERS_IDLE_MS, 1000 + day));
	ck_assert(!members_is_idle(1000, 1, MEMBERS_IDLE_MS, 1000 + 2 * day));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("guests");
	TCase *all = tcase_create("all");

	tcase_add_loop_test(all, guest_there_and_back, 1, EDGE_SOURCES_MAX + 1);
	tcase_add_loop_test(all, bad_guest, 0, (int)ARRAY_LEN(BAD_GUEST));
	tcase_add_test(all, a_member_is_idle_after_a_day);
	tcase_add_test(all, withdrawal_there_and_back);
	tcase_add_loop_test(all, file_over_a_restart, 0, 2);
	tcase_add_test(all, start_that_was_not_settled);
	tcase_add_test(all, torn_and_foreign_files);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
