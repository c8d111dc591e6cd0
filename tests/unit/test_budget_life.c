/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ledger through a life of stops, crashes, boots, suspends, reloads,
 * detaches and steps of the wall clock, beside a plain list of all that was
 * sent: no 24 hours of true time, at any offset, hold more than the budget.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "tests/unit/budget_rig.h"
#include "tests/unit/unit.h"

#define HOUR   UINT64_C(3600000)
#define DAY    (24 * HOUR)
#define KEYS   3
#define BOXES  2
#define METERS (KEYS + BOXES + 1)
#define PLACES (RIG_KEYS + RIG_SUMS)
#define STEPS  1500
#define EPOCH  UINT64_C(1800000000000)

static const uint32_t KEY_BITS = 1500, SANDBOX_BITS = 2200, POLICY_BITS = 3000;

/* What was sent: when, by true time, and for how much. */
struct sent {
	uint64_t at_ms;
	uint32_t cost, key;
};

static struct life {
	struct budget_rig rig;
	uint32_t key[KEYS], sandbox[BOXES];
	bool attached[KEYS];
	uint64_t true_ms, boot_ms; /* the boot by true time */
	uint64_t wall_behind_ms; /* the wall clock, behind true time */
	uint8_t disk[PLACES][BUDGET_RECORD_SIZE];
	uint8_t header[BUDGET_HEADER_SIZE];
	struct sent sent[STEPS];
	size_t count;
	uint64_t random;
	unsigned refused, crashes, boots;
} life;

static uint64_t
now(void)
{
	return life.true_ms - life.boot_ms;
}

static uint64_t
wall(void)
{
	return EPOCH + life.true_ms - life.wall_behind_ms;
}

static uint32_t
draw(uint32_t bound)
{
	return unit_random(&life.random) % bound;
}

static void
write_header(bool clean)
{
	budget_header(&life.rig.budget, clean, now(), wall(), life.header);
}

static void
write_place(uint32_t place)
{
	budget_record(&life.rig.budget, place, life.disk[place]);
	budget_saved(&life.rig.budget, place);
}

static int
box_of(int key)
{
	return key == 2 ? 1 : 0;
}

/* As after a reload or an attach. */
static void
attach(int i)
{
	static const char *const BOX[BOXES] = { "box1", "box2" };
	static const char *const RULE[KEYS] = { "*.a", "*.b", "*.a" };
	struct budget *budget = &life.rig.budget;
	struct budget_id sandbox =
	    budget_sum_id(BUDGET_SANDBOX, BOX[box_of(i)]);
	struct budget_id policy = budget_sum_id(BUDGET_POLICY, "agent");

	life.rig.sandbox = budget_open_sum(budget, &sandbox, BUDGET_SANDBOX,
	    BITS(SANDBOX_BITS), now());
	life.rig.policy = budget_open_sum(budget, &policy, BUDGET_POLICY,
	    BITS(POLICY_BITS), now());
	life.sandbox[box_of(i)] = life.rig.sandbox;
	/* Now and then the budget is less for a while. */
	life.key[i] = rig_key(&life.rig, BOX[box_of(i)], RULE[i],
	    KEY_BITS - draw(3) * 200, now());
	UNIT_CHECK(life.key[i] != BUDGET_NONE);
	life.attached[i] = true;
}

static void
start(bool same_boot, bool trust_wall)
{
	bool clean;
	int r;

	rig_open_empty(&life.rig, 0);
	UNIT_CHECK(budget_resume(&life.rig.budget, life.header, same_boot,
	    now(), trust_wall ? wall() : 0, &clean));
	for (uint32_t place = 0; place < PLACES; place++) {
		r = budget_restore(&life.rig.budget, life.disk[place], clean);
		UNIT_CHECK(r == 0 || r == -ENOENT);
	}
	write_header(false);
	for (int i = 0; i < KEYS; i++)
		attach(i);
	/* Slots are other ones now. */
	memset(life.disk, 0, sizeof(life.disk));
	for (uint32_t place = 0; place < PLACES; place++)
		budget_record(&life.rig.budget, place, life.disk[place]);
}

static void
stop(bool clean)
{
	for (uint32_t place = 0; clean && place < PLACES; place++)
		write_place(place);
	if (clean)
		write_header(true);
	rig_close(&life.rig);
}

static bool
counts(const struct sent *sent, int meter)
{
	if (meter < KEYS)
		return sent->key == (uint32_t)meter;
	if (meter < KEYS + BOXES)
		return box_of((int)sent->key) == meter - KEYS;
	return true;
}

/* By the list: in the 24 hours that end now. */
static uint64_t
truly_used(int meter)
{
	uint64_t sum = 0;

	for (size_t i = life.count; i-- > 0;) {
		if (life.sent[i].at_ms + DAY <= life.true_ms)
			break;
		if (counts(&life.sent[i], meter))
			sum += life.sent[i].cost;
	}
	return sum;
}

static uint64_t
ledger_used(int meter)
{
	struct budget_report report;
	uint32_t key = life.key[0];
	enum budget_level level = BUDGET_POLICY;

	if (meter < KEYS) {
		key = life.key[meter];
		level = BUDGET_KEY;
	} else if (meter < KEYS + BOXES) {
		key = life.key[meter == KEYS ? 0 : 2];
		level = BUDGET_SANDBOX;
	}
	budget_report(&life.rig.budget, key, level, now(), &report);
	return report.used;
}

static void
check(void)
{
	static const uint32_t *const BITS_OF[METERS] = { &KEY_BITS, &KEY_BITS,
		&KEY_BITS, &SANDBOX_BITS, &SANDBOX_BITS, &POLICY_BITS };

	for (int meter = 0; meter < METERS; meter++) {
		UNIT_CHECK(
		    truly_used(meter) + METER_END <= BITS(*BITS_OF[meter]));
		UNIT_CHECK(ledger_used(meter) >= truly_used(meter));
	}
}

static void
save(uint32_t key)
{
	uint8_t levels = budget_must_save(&life.rig.budget, key);

	for (int level = 0; level < BUDGET_LEVELS; level++) {
		if ((levels >> level & 1) != 0)
			write_place(budget_place(&life.rig.budget, key,
			    (enum budget_level)level));
	}
	if (levels != 0)
		write_header(false);
	ck_assert_uint_eq(budget_must_save(&life.rig.budget, key), 0);
}

static void
send_one(void)
{
	char text[40];
	struct budget_result result;
	uint32_t i = draw(KEYS);

	(void)snprintf(text, sizeof(text), "%x.example.com",
	    draw(2) == 0 ? draw(4) : unit_random(&life.random));
	life.rig.key = life.key[i];
	if (rig_charge(&life.rig, text, 1, now(), &result) != BUDGET_PAY) {
		life.refused++;
		return;
	}
	/* A crash between the charge and the disk sends nothing. */
	save(life.key[i]);
	life.sent[life.count++] = (struct sent){ .at_ms = life.true_ms,
		.cost = budget_total(&result.price),
		.key = i };
}

static void
restart(bool same_boot, bool clean)
{
	uint64_t before[METERS];

	for (int meter = 0; meter < METERS; meter++)
		before[meter] = ledger_used(meter);
	stop(clean);
	if (!same_boot) {
		life.true_ms += draw(3) * HOUR / 2;
		life.boot_ms = life.true_ms - draw(60000);
		life.wall_behind_ms += draw(2) * draw(100) * HOUR;
		life.boots++;
	}
	life.crashes += clean ? 0 : 1;
	start(same_boot, draw(4) != 0);
	for (int meter = 0; same_boot && meter < METERS; meter++) {
		before[meter] += meter < KEYS ? METER_END : 0;
		UNIT_CHECK(clean ? ledger_used(meter) == before[meter]
				 : ledger_used(meter) >= before[meter]);
	}
}

static void
step(void)
{
	uint32_t what = draw(100), i = draw(KEYS);

	if (what < 60)
		send_one();
	else if (what < 80)
		life.true_ms += draw(1000) * draw(2000);
	else if (what < 88)
		life.true_ms += draw(4) * HOUR - draw(2);
	else if (what < 90)
		life.true_ms += draw(27) * HOUR; /* suspended */
	else if (what < 92)
		life.wall_behind_ms += draw(10000000);
	else if (what < 94)
		restart(true, true);
	else if (what < 95)
		restart(true, false);
	else if (what < 96)
		restart(false, draw(2) == 0);
	else if (what < 98)
		attach((int)i);
	else if (life.attached[i]) {
		budget_close_key(&life.rig.budget, life.key[i], now());
		life.true_ms += draw(30) * HOUR;
		budget_sweep(&life.rig.budget, now());
		attach((int)i);
	}
}

START_TEST(no_day_holds_more_than_the_budget)
{
	unsigned refused = 0, crashes = 0, boots = 0;
	size_t sent = 0;

	for (uint64_t seed = 1; seed <= 60; seed++) {
		memset(&life, 0, sizeof(life));
		life.random = seed;
		life.true_ms = 100 * DAY + draw(HOUR);
		life.boot_ms = life.true_ms - draw(100 * HOUR);
		rig_open_empty(&life.rig, 0);
		write_header(true);
		rig_close(&life.rig);
		start(true, true);
		for (int i = 0; i < STEPS; i++) {
			step();
			check();
		}
		stop(true);
		refused += life.refused;
		crashes += life.crashes;
		boots += life.boots;
		sent += life.count;
	}
	printf("%zu sent, %u refused, %u crashes, %u boots\n", sent, refused,
	    crashes, boots);
	ck_assert_uint_gt(sent, 5000);
	ck_assert_uint_gt(refused, 1000);
	ck_assert_uint_gt(crashes, 500);
	ck_assert_uint_gt(boots, 500);
}
END_TEST

/* The same without anything happening: every offset within the hour, asked
 * as often as it goes. */
START_TEST(a_window_holds_at_every_offset)
{
	struct budget_result result;
	uint64_t random = 9, sum;

	memset(&life, 0, sizeof(life));
	for (uint64_t offset = 0; offset < HOUR; offset += HOUR / 13) {
		rig_open(&life.rig, KEY_BITS);
		life.count = 0;
		for (uint64_t at = offset;
		     at < offset + 3 * DAY && life.count < STEPS;
		     at += unit_random(&random) % (HOUR / 2)) {
			life.true_ms = at;
			if (rig_charge(&life.rig, "www.example.com", 1, at,
				&result) == BUDGET_PAY)
				life.sent[life.count++] = (struct sent){ at,
					budget_total(&result.price), 0 };
			sum = truly_used(0);
			UNIT_CHECK(sum + METER_END <= BITS(KEY_BITS));
		}
		rig_close(&life.rig);
	}
}
END_TEST

/* A rig that has spent, closed one key, and its records. */
static uint32_t
spend(struct budget_rig *rig, uint8_t records[PLACES][BUDGET_RECORD_SIZE])
{
	struct budget_result result;

	rig_open(rig, 8192);
	ck_assert_int_eq(rig_charge(rig, "www.example.com", 1, HOUR, &result),
	    BUDGET_PAY);
	ck_assert_uint_eq(budget_places(&rig->budget), PLACES);
	for (uint32_t place = 0; place < PLACES; place++)
		budget_record(&rig->budget, place, records[place]);
	return budget_total(&result.price);
}

START_TEST(a_torn_record_is_none)
{
	static uint8_t records[PLACES][BUDGET_RECORD_SIZE];
	struct budget_rig rig, other;
	uint8_t *octet;
	int r;

	(void)spend(&rig, records);
	rig_open_empty(&other, 0);
	for (size_t i = 0; i < BUDGET_RECORD_SIZE; i++) {
		octet = &records[rig.key][i];
		for (int bit = 0; bit < 8; bit++) {
			*octet ^= (uint8_t)(1 << bit);
			r = budget_restore(&other.budget, records[rig.key],
			    true);
			UNIT_CHECK(r == -EBADMSG);
			*octet ^= (uint8_t)(1 << bit);
		}
	}
	ck_assert_uint_eq(table_in_use(&other.budget.keys), 0);
	ck_assert_int_eq(budget_restore(&other.budget, records[rig.key], true),
	    0);
	ck_assert_int_eq(budget_restore(&other.budget, records[rig.key + 1],
			     true),
	    -ENOENT);
	rig_close(&other);
	rig_close(&rig);
}
END_TEST

START_TEST(a_torn_header_is_unclean_and_stands_still)
{
	static uint8_t records[PLACES][BUDGET_RECORD_SIZE];
	uint8_t header[BUDGET_HEADER_SIZE];
	struct budget_rig rig, other;
	uint32_t cost = spend(&rig, records);
	bool clean = true;

	budget_header(&rig.budget, true, HOUR, EPOCH, header);
	header[20] ^= 1;
	rig_open_empty(&other, 0);
	ck_assert(!budget_resume(&other.budget, header, false, 0,
	    EPOCH + 100 * DAY, &clean));
	ck_assert(!clean);
	for (uint32_t place = 0; place < PLACES; place++)
		(void)budget_restore(&other.budget, records[place], clean);
	other.sandbox = other.policy = 0;
	other.key = rig_key(&other, "box1", "*.example.com", 8192, 0);
	ck_assert_uint_eq(rig_used(&other, BUDGET_KEY, 0),
	    cost + METER_END + BITS(8192 / METER_SHARE));
	ck_assert_uint_eq(rig_used(&other, BUDGET_KEY, DAY - 1),
	    cost + METER_END + BITS(8192 / METER_SHARE));
	rig_close(&other);
	rig_close(&rig);
}
END_TEST

static const struct {
	bool same_boot, clean;
	int64_t now_ms, wall_ms; /* after the stop; the boot is at its now 0 */
	bool spent; /* what was, still counts */
	bool more; /* a sixteenth is added */
} ends[] = {
	{ true, true, 0, 0, true, false },
	{ true, true, 22 * 3600000, 0, true, false },
	{ true, true, 25 * 3600000, 0, false, false },
	/* In the same boot the wall clock is nothing. */
	{ true, true, 0, 900 * 3600000LL, true, false },
	{ true, false, 25 * 3600000, 0, false, true },
	{ true, false, 0, 0, true, true },
	{ false, true, 0, 0, true, false },
	{ false, true, 0, -900 * 3600000LL, true, false },
	{ false, true, 0, 23 * 3600000, true, false },
	{ false, true, 0, 25 * 3600000, false, false },
	{ false, false, 0, -900 * 3600000LL, true, true },
	/* A long uptime is no time passed. */
	{ false, true, 900 * 3600000LL, 0, true, false },
};

START_TEST(hours_age_by_the_right_clock)
{
	static uint8_t records[PLACES][BUDGET_RECORD_SIZE];
	uint8_t header[BUDGET_HEADER_SIZE];
	struct budget_rig rig, other;
	uint32_t cost;
	uint64_t used, now_ms;
	bool clean;

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		cost = spend(&rig, records);
		budget_header(&rig.budget, ends[i].clean, HOUR, EPOCH, header);
		rig_open_empty(&other, 0);
		now_ms =
		    (uint64_t)ends[i].now_ms + (ends[i].same_boot ? HOUR : 0);
		ck_assert(
		    budget_resume(&other.budget, header, ends[i].same_boot,
			now_ms, EPOCH + (uint64_t)ends[i].wall_ms, &clean));
		ck_assert_int_eq(clean, ends[i].clean);
		for (uint32_t place = 0; place < PLACES; place++)
			(void)budget_restore(&other.budget, records[place],
			    clean);
		other.sandbox = rig_sum(&other, BUDGET_SANDBOX, "box1", now_ms);
		other.policy = rig_sum(&other, BUDGET_POLICY, "agent", now_ms);
		other.key =
		    rig_key(&other, "box1", "*.example.com", 8192, now_ms);
		used = METER_END + (ends[i].spent ? cost : 0) +
		    (ends[i].more ? BITS(8192 / METER_SHARE) : 0);
		ck_assert_msg(rig_used(&other, BUDGET_KEY, now_ms) == used,
		    "%zu", i);
		used = (ends[i].spent ? cost : 0) +
		    (ends[i].more ? BITS((1 << 20) / METER_SHARE) : 0);
		ck_assert_msg(rig_used(&other, BUDGET_POLICY, now_ms) == used,
		    "%zu", i);
		/* The gap of the first event starts now. */
		ck_assert_uint_eq(other.budget.key[other.key].last_ms, now_ms);
		rig_close(&other);
		rig_close(&rig);
	}
}
END_TEST

/* After a start, the first charge waits for its record. */
START_TEST(nothing_is_sent_before_the_first_record)
{
	struct budget_rig rig;
	struct budget_result result;

	rig_open(&rig, 8192);
	ck_assert_uint_eq(budget_must_save(&rig.budget, rig.key), 0);
	(void)rig_charge(&rig, "www.example.com", 1, 0, &result);
	ck_assert_uint_eq(budget_must_save(&rig.budget, rig.key), 7);
	budget_saved(&rig.budget,
	    budget_place(&rig.budget, rig.key, BUDGET_SANDBOX));
	ck_assert_uint_eq(budget_must_save(&rig.budget, rig.key), 5);
	budget_saved(&rig.budget,
	    budget_place(&rig.budget, rig.key, BUDGET_POLICY));
	budget_saved(&rig.budget, rig.key);
	ck_assert_uint_eq(budget_must_save(&rig.budget, rig.key), 0);
	(void)rig_charge(&rig, "www.example.com", 1, 0, &result);
	ck_assert_uint_eq(budget_must_save(&rig.budget, rig.key), 0);
	rig_close(&rig);
}
END_TEST

START_TEST(a_record_without_room_is_an_error)
{
	static uint8_t records[PLACES][BUDGET_RECORD_SIZE];
	struct budget_rig rig, other;

	(void)spend(&rig, records);
	rig_open_empty(&other, 1);
	other.sandbox = other.policy =
	    rig_sum(&other, BUDGET_SANDBOX, "box7", 0);
	(void)rig_key(&other, "box7", "*.example.com", 1, 0);
	ck_assert_int_eq(budget_restore(&other.budget, records[rig.key], true),
	    -ENOSPC);
	rig_close(&other);
	rig_close(&rig);
}
END_TEST

/* A key that was closed, and has nothing left, needs no room. */
START_TEST(a_record_that_is_over_is_left_out)
{
	uint8_t record[BUDGET_RECORD_SIZE], header[BUDGET_HEADER_SIZE];
	struct budget_rig rig, other;
	bool clean;

	for (uint64_t hours = 24; hours <= 25; hours++) {
		rig_open(&rig, 8192);
		budget_close_key(&rig.budget, rig.key, 0);
		budget_record(&rig.budget, rig.key, record);
		budget_header(&rig.budget, true, 0, EPOCH, header);
		rig_open_empty(&other, 0);
		ck_assert(budget_resume(&other.budget, header, true,
		    hours * HOUR, EPOCH, &clean));
		ck_assert_int_eq(budget_restore(&other.budget, record, clean),
		    hours == 24 ? 0 : -ENOENT);
		rig_close(&other);
		rig_close(&rig);
	}
}
END_TEST

/* Twice the same key: the one that has spent more. */
START_TEST(a_record_never_lowers_a_meter)
{
	static uint8_t less[PLACES][BUDGET_RECORD_SIZE];
	uint8_t more[BUDGET_RECORD_SIZE];
	struct budget_rig rig, other;
	struct budget_result result;

	(void)spend(&rig, less);
	(void)rig_charge(&rig, "mail.example.com", 1, HOUR, &result);
	budget_record(&rig.budget, rig.key, more);
	for (int order = 0; order < 2; order++) {
		rig_open_empty(&other, 0);
		ck_assert_int_eq(budget_restore(&other.budget,
				     order == 0 ? more : less[rig.key], true),
		    0);
		ck_assert_int_eq(budget_restore(&other.budget,
				     order == 1 ? more : less[rig.key], true),
		    0);
		ck_assert_uint_eq(other.budget.key[0].meter.used,
		    rig.budget.key[rig.key].meter.used + METER_END);
		rig_close(&other);
	}
	rig_close(&rig);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("budget_life", &all);

	tcase_add_test(all, no_day_holds_more_than_the_budget);
	tcase_add_test(all, a_window_holds_at_every_offset);
	tcase_add_test(all, a_torn_record_is_none);
	tcase_add_test(all, a_torn_header_is_unclean_and_stands_still);
	tcase_add_test(all, hours_age_by_the_right_clock);
	tcase_add_test(all, nothing_is_sent_before_the_first_record);
	tcase_add_test(all, a_record_without_room_is_an_error);
	tcase_add_test(all, a_record_that_is_over_is_left_out);
	tcase_add_test(all, a_record_never_lowers_a_meter);
	return unit_run(suite);
}
