/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What was spent is found again: after a kill, after a stop, in another boot,
 * after a write that was cut short, and by a table of another size.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/resolver/ledger.h"
#include "tests/unit/budget_rig.h"

#define BOOT         "11111111-2222-3333-4444-555555555555"
#define OTHER        "22222222-2222-3333-4444-555555555555"
#define LIMIT        8192 /* bits */
#define SUMS         (UINT32_C(1) << 20)
#define END          METER_END
#define SHARE(limit) BITS((limit) / METER_SHARE)

struct life {
	struct budget_rig rig;
	struct ledger ledger;
};

static char folder[64];
static int dir;
static unsigned names; /* asked so far */

static void
setup(void)
{
	snprintf(folder, sizeof(folder), "/tmp/namewall-ledger-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	dir = open(folder, O_RDONLY | O_DIRECTORY);
	ck_assert_int_ge(dir, 0);
}

static void
teardown(void)
{
	(void)unlinkat(dir, LEDGER_FILE, 0);
	(void)unlinkat(dir, LEDGER_FILE ".new", 0);
	(void)close(dir);
	(void)rmdir(folder);
}

static int
wake(struct life *life, const char *boot, uint32_t keys_max, uint64_t now_ms)
{
	rig_open_empty(&life->rig, keys_max);
	return ledger_open(&life->ledger, &life->rig.budget, dir, boot, now_ms);
}

static void
begin(struct life *life, const char *boot, uint64_t now_ms)
{
	struct budget_rig *rig = &life->rig;

	ck_assert_int_eq(wake(life, boot, 0, now_ms), 0);
	ck_assert_int_eq(ledger_settle(&life->ledger), 0);
	rig->sandbox = rig_sum(rig, BUDGET_SANDBOX, "box1", now_ms);
	rig->policy = rig_sum(rig, BUDGET_POLICY, "agent", now_ms);
	rig->key = rig_key(rig, "box1", "*.example.com", LIMIT, now_ms);
	ck_assert(rig->key != BUDGET_NONE);
}

/* As a kill leaves it. */
static void
die(struct life *life)
{
	records_close(&life->ledger.file);
	free(life->ledger.turn);
	rig_close(&life->rig);
}

static void
stop(struct life *life, uint64_t now_ms)
{
	ledger_close(&life->ledger, now_ms);
	rig_close(&life->rig);
}

static enum budget_decision
charge(struct life *life, uint64_t now_ms)
{
	struct budget_result result;
	enum budget_decision decision;
	char name[64];

	snprintf(name, sizeof(name), "n%u.example.com", names++);
	decision = rig_charge(&life->rig, name, 1, now_ms, &result);
	if (decision == BUDGET_PAY)
		ledger_charged(&life->ledger, life->rig.key, now_ms);
	return decision;
}

static void
used(const struct life *life, uint64_t now_ms, uint64_t ret[BUDGET_LEVELS])
{
	for (int i = 0; i < BUDGET_LEVELS; i++)
		ret[i] = rig_used(&life->rig, (enum budget_level)i, now_ms);
}

/* What a key pays for a start, and, where something may be missing, all three
 * for that. */
static void
check_used(const struct life *life, uint64_t now_ms,
    const uint64_t before[BUDGET_LEVELS], bool whole)
{
	uint64_t now[BUDGET_LEVELS];

	used(life, now_ms, now);
	ck_assert_uint_eq(now[BUDGET_KEY],
	    before[BUDGET_KEY] + END + (whole ? 0 : SHARE(LIMIT)));
	for (int i = BUDGET_SANDBOX; i < BUDGET_LEVELS; i++)
		ck_assert_uint_eq(now[i],
		    before[i] + (whole ? 0 : SHARE(SUMS)));
}

START_TEST(a_kill_loses_nothing)
{
	uint64_t before[BUDGET_LEVELS];
	static struct life life;

	begin(&life, BOOT, 1000);
	for (uint64_t round = 1; round <= 20; round++) {
		uint64_t now_ms = round * 10000;

		for (int i = 0; i < 5; i++)
			(void)charge(&life, now_ms);
		used(&life, now_ms, before);
		ck_assert_uint_gt(before[BUDGET_POLICY], 0);
		die(&life);
		begin(&life, BOOT, now_ms);
		check_used(&life, now_ms, before, true);
	}
	stop(&life, 210000);
}
END_TEST

START_TEST(lives_have_one_budget)
{
	static struct life life;
	uint64_t last[BUDGET_LEVELS];
	unsigned paid = 0;

	for (uint64_t round = 1; round <= 100; round++) {
		begin(&life, BOOT, round * 1000);
		while (paid < 3 * round &&
		    charge(&life, round * 1000) == BUDGET_PAY)
			paid++;
		used(&life, round * 1000, last);
		if (round % 2 == 0)
			stop(&life, round * 1000);
		else
			die(&life);
	}
	ck_assert_uint_lt(paid, 300);
	ck_assert_uint_gt(last[BUDGET_KEY], BITS(LIMIT - 100));
	/* The sums have seen what was asked; a start costs them nothing. */
	ck_assert_uint_lt(last[BUDGET_SANDBOX], BITS(LIMIT));
}
END_TEST

START_TEST(another_boot_goes_by_the_header)
{
	uint64_t before[BUDGET_LEVELS];
	static struct life life;

	begin(&life, BOOT, 1000);
	for (int i = 0; i < 30; i++)
		ck_assert_int_eq(charge(&life, 2000), BUDGET_PAY);
	used(&life, 2000, before);
	stop(&life, 2000);
	begin(&life, OTHER, 10);
	check_used(&life, 10, before, true);
	ck_assert_int_eq(charge(&life, 20), BUDGET_PAY);
	used(&life, 20, before);
	die(&life);
	begin(&life, BOOT, 10);
	check_used(&life, 10, before, false);
	stop(&life, 10);
}
END_TEST

/* The clock goes on in the same boot: a day later all is over. */
START_TEST(hours_pass_while_it_is_down)
{
	const uint64_t day_ms = UINT64_C(25) * METER_HOUR_MS;
	uint64_t before[BUDGET_LEVELS];
	static struct life life;

	begin(&life, BOOT, 1000);
	ck_assert_int_eq(charge(&life, 2000), BUDGET_PAY);
	stop(&life, 2000);
	begin(&life, BOOT, day_ms - 10);
	used(&life, day_ms - 10, before);
	ck_assert_uint_gt(before[BUDGET_SANDBOX], 0);
	stop(&life, day_ms - 10);
	begin(&life, BOOT, day_ms + 10);
	used(&life, day_ms + 10, before);
	ck_assert_uint_eq(before[BUDGET_SANDBOX], 0);
	stop(&life, day_ms + 10);
}
END_TEST

static void
spoil(uint32_t record)
{
	int fd = openat(dir, LEDGER_FILE, O_WRONLY);
	off_t at = (off_t)(record + 1) * RECORDS_SIZE + 16 + 100;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, "\xa5\x5a\xa5", 3, at), 3);
	close(fd);
}

/* Whatever was being written: the charge that it was for has not left, all
 * before it are there. */
START_TEST(a_write_cut_short_leaves_the_one_before)
{
	uint64_t before[BUDGET_LEVELS], last[BUDGET_LEVELS];
	static struct life life;
	uint32_t place;

	begin(&life, BOOT, 1000);
	for (int i = 0; i < 7; i++)
		ck_assert_int_eq(charge(&life, 2000), BUDGET_PAY);
	used(&life, 2000, before);
	ck_assert_int_eq(charge(&life, 2000), BUDGET_PAY);
	used(&life, 2000, last);
	place = budget_place(&life.rig.budget, life.rig.key, BUDGET_KEY);
	spoil(2 + 2 * place + (life.ledger.turn[place] ^ 1));
	spoil(life.ledger.turn[budget_places(&life.rig.budget)] ^ 1);
	die(&life);
	begin(&life, BOOT, 2000);
	ck_assert_uint_eq(rig_used(&life.rig, BUDGET_KEY, 2000),
	    before[BUDGET_KEY] + END);
	ck_assert_uint_eq(rig_used(&life.rig, BUDGET_SANDBOX, 2000),
	    last[BUDGET_SANDBOX]);
	stop(&life, 2000);
}
END_TEST

START_TEST(a_table_of_another_size_finds_all)
{
	uint64_t before[BUDGET_LEVELS];
	static struct life life;
	uint32_t first;

	begin(&life, BOOT, 1000);
	first = life.rig.key;
	for (char rule[] = "*.a.example"; rule[2] <= 'f'; rule[2]++) {
		life.rig.key = rig_key(&life.rig, "box1", rule, LIMIT, 1000);
		ck_assert_int_eq(charge(&life, 2000), BUDGET_PAY);
	}
	life.rig.key = first;
	ck_assert_int_eq(charge(&life, 2000), BUDGET_PAY);
	used(&life, 2000, before);
	die(&life);
	/* Seven keys have no room in six places, and are kept. */
	ck_assert_int_eq(wake(&life, BOOT, 6, 2000), -ENOSPC);
	stop(&life, 2000);
	ck_assert_int_eq(wake(&life, BOOT, 100, 2000), 0);
	ck_assert_int_eq(ledger_settle(&life.ledger), 0);
	die(&life);
	begin(&life, BOOT, 2000);
	before[BUDGET_KEY] += END;
	check_used(&life, 2000, before, true);
	stop(&life, 2000);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("ledger", &all);

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, a_kill_loses_nothing);
	tcase_add_test(all, lives_have_one_budget);
	tcase_add_test(all, another_boot_goes_by_the_header);
	tcase_add_test(all, hours_pass_while_it_is_down);
	tcase_add_test(all, a_write_cut_short_leaves_the_one_before);
	tcase_add_test(all, a_table_of_another_size_finds_all);
	return unit_run(suite);
}
