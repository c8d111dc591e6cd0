/* SPDX-License-Identifier: BSD-2-Clause */
/* Prices by hand, decisions, and the coming and going of keys. */
#include "lib/budget.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/log2.h"
#include "lib/model.h"
#include "lib/require.h"
#include "tests/unit/budget_rig.h"
#include "tests/unit/unit.h"

#define HOUR  UINT64_C(3600000)
#define HEX   "7f3a9c0e1b5d2846"
#define FIRST 1363 /* log2 40, rounded up: a gap of a key that has none yet */

static struct budget_rig rig;
static struct budget_result result;

static struct budget_price
price_of(const char *text, uint8_t labels, uint64_t now_ms)
{
	struct dname name = rig_name(text);
	struct budget_event event = {
		.name = &name,
		.labels = labels,
		.type_count = 1,
		.asks = 1,
	};
	struct budget_price price;

	budget_price(&rig.budget, rig.key, &event, now_ms, &price);
	return price;
}

static const struct {
	uint32_t tick_ms;
	uint64_t now_ms;
	uint32_t price;
} times[] = {
	{ 1, 0, FIRST },
	{ 1, 1, FIRST + 256 },
	{ 1, 2, FIRST + 256 },
	{ 1, 3, FIRST + 2 * 256 },
	{ 1, 1000, FIRST + 9 * 256 },
	{ 1, 1023, FIRST + 10 * 256 },
	{ 1, 24 * HOUR, FIRST + 26 * 256 },
	{ 1, (UINT64_C(1) << 40) - 2, FIRST + 39 * 256 },
	{ 10, 1000, FIRST + 6 * 256 },
	{ 10, 9, FIRST },
	{ 1000, 24 * HOUR, FIRST + 16 * 256 },
};

START_TEST(times_by_hand)
{
	for (size_t i = 0; i < ARRAY_LEN(times); i++) {
		struct budget_price price;

		rig_open(&rig, 8192);
		budget_set_tick(&rig.budget, times[i].tick_ms);
		price = price_of("www.example.com", 1, times[i].now_ms);
		ck_assert_msg(price.part[METER_TIME] ==
			times[i].price + BUDGET_FIRST,
		    "%zu: %u", i, price.part[METER_TIME]);
		rig_close(&rig);
	}
}
END_TEST

/* What is paid says when it was by the tick of then: the next gap begins
 * there. */
START_TEST(a_tick_may_change)
{
	struct budget_price price;

	rig_open(&rig, 8192);
	budget_set_tick(&rig.budget, 100);
	ck_assert_int_eq(rig_charge(&rig, "www.example.com", 1, 1099, &result),
	    BUDGET_PAY);
	budget_set_tick(&rig.budget, 1);
	/* 100 ticks from 1000 on, of a length that was not seen before. */
	price = price_of("www.example.com", 1, 1100);
	ck_assert_uint_eq(price.part[METER_TIME], 1381 + 6 * 256 + 2);
	budget_set_tick(&rig.budget, 1000);
	/* The same tick; as the first one was not. */
	price = price_of("www.example.com", 1, 1999);
	ck_assert_uint_eq(price.part[METER_TIME], 1381 + 2);
	rig_close(&rig);
}
END_TEST

START_TEST(times_are_learnt)
{
	rig_open(&rig, 8192);
	ck_assert_int_eq(rig_charge(&rig, "www.example.com", 1, 1000, &result),
	    BUDGET_PAY);
	/* As long again: log2 (42 / 3). Another gap: log2 42. */
	ck_assert_uint_eq(price_of("www.example.com", 1, 2000).part[METER_TIME],
	    976 + 9 * 256 + 2);
	ck_assert_uint_eq(price_of("www.example.com", 1, 1000).part[METER_TIME],
	    1381 + 2);
	/* A clock that goes back stands still. */
	ck_assert_int_eq(rig_charge(&rig, "www.example.com", 1, 5, &result),
	    BUDGET_PAY);
	ck_assert_uint_eq(result.price.part[METER_TIME], 1381 + 2);
	rig_close(&rig);
}
END_TEST

START_TEST(each_packet_pays_that_it_is_the_first)
{
	struct dname name = rig_name("www.example.com");
	struct budget_event event = { &name, 1, 0, 1, 2 };
	struct budget_price price;

	rig_open(&rig, 8192);
	budget_price(&rig.budget, rig.key, &event, 0, &price);
	ck_assert_uint_eq(price.part[METER_TIME], FIRST + 2 * 2);
	ck_assert_int_eq(budget_charge_retry(&rig.budget, rig.key, 0, &result),
	    BUDGET_PAY);
	ck_assert_uint_eq(budget_total(&result.price), 8 * 256);
	ck_assert_uint_eq(rig_used(&rig, BUDGET_KEY, 0), 8 * 256);
	rig_close(&rig);
}
END_TEST

START_TEST(types_by_hand)
{
	struct dname name = rig_name("www.example.com");
	struct budget_event event = { &name, 1, 2, 3, 1 };
	struct budget_price price;

	rig_open(&rig, 8192);
	budget_price(&rig.budget, rig.key, &event, 0, &price);
	ck_assert_uint_eq(price.part[METER_TYPE], 406); /* log2 3 */
	(void)budget_charge(&rig.budget, rig.key, &event, 0, &result);
	budget_price(&rig.budget, rig.key, &event, 0, &price);
	ck_assert_uint_eq(price.part[METER_TYPE], 190); /* log2 (5 / 3) */
	event.type = 0;
	budget_price(&rig.budget, rig.key, &event, 0, &price);
	ck_assert_uint_eq(price.part[METER_TYPE], 595); /* log2 5 */
	event.type_count = 1;
	budget_price(&rig.budget, rig.key, &event, 0, &price);
	ck_assert_uint_eq(price.part[METER_TYPE], 0);
	rig_close(&rig);
}
END_TEST

/* A label as the model has it, after those before it, or as 0-9 - etc. have
 * it: the smaller. */
static uint32_t
spelt(const char *labels[], size_t count)
{
	struct model_state state;
	uint32_t lm = 0, uniform;
	size_t i;

	model_begin(&state);
	for (i = 0; i < count; i++)
		lm = model_label_price(&state, (const uint8_t *)labels[i],
		    (uint8_t)strlen(labels[i]), i + 1 == count);
	uniform = model_uniform_price((const uint8_t *)labels[count - 1],
	    (uint8_t)strlen(labels[count - 1]));
	return 662 + (lm < uniform ? lm : uniform);
}

START_TEST(names_by_hand)
{
	const char *word[] = { "www" }, *second[] = { HEX, "mail" };
	struct budget_price price;

	rig_open(&rig, 8192);
	/* The first is new for nothing; what costs is its spelling. */
	price = price_of(HEX ".example.com", 1, 0);
	ck_assert(price.new_name);
	ck_assert_uint_eq(price.part[METER_NAME], 662 + 7 * 256 + 16 * 1024);
	ck_assert_uint_eq(price_of("www.example.com", 1, 0).part[METER_NAME],
	    spelt(word, 1));
	ck_assert_int_eq(rig_charge(&rig, HEX ".example.com", 1, 0, &result),
	    BUDGET_PAY);
	/* Again: log2 (6 / 3). */
	price = price_of(HEX ".example.com", 1, 0);
	ck_assert(!price.new_name);
	ck_assert_uint_eq(price.part[METER_NAME], 257);
	/* Another: new name, new label. */
	ck_assert_uint_eq(price_of("www.example.com", 1, 0).part[METER_NAME],
	    257 + 257 + spelt(word, 1));
	/* A known label and one bit; the model runs on behind it. */
	price = price_of(HEX ".mail.example.com", 2, 0);
	ck_assert(price.new_name);
	ck_assert_uint_eq(price.part[METER_NAME],
	    257 + (257 + 256) + 257 + spelt(second, 2));
	rig_close(&rig);
}
END_TEST

/* No rule covers its parent; still that name would be part of the code. */
START_TEST(the_parent_itself_has_a_price)
{
	const char *none[] = { "" };

	rig_open(&rig, 8192);
	ck_assert_uint_eq(price_of("example.com", 0, 0).part[METER_NAME],
	    spelt(none, 1));
	ck_assert_uint_ge(price_of("example.com", 0, 0).part[METER_NAME],
	    662 + 256);
	ck_assert_int_eq(rig_charge(&rig, "example.com", 0, 0, &result),
	    BUDGET_PAY);
	ck_assert_uint_eq(price_of("example.com", 0, 0).part[METER_NAME], 257);
	rig_close(&rig);
}
END_TEST

START_TEST(a_name_of_127_labels_has_a_price)
{
	char text[256];

	for (int i = 0; i < 127; i++)
		memcpy(text + i + i, "a.", 2);
	text[253] = '\0';
	rig_open(&rig, 8192);
	ck_assert_int_eq(rig_charge(&rig, text, 127, 0, &result), BUDGET_PAY);
	ck_assert_uint_eq(price_of(text, 127, 0).part[METER_NAME], 257);
	rig_close(&rig);
}
END_TEST

START_TEST(exact_sets_say_which)
{
	rig_open(&rig, 8192);
	rig.budget.key[rig.key].names = 50;
	ck_assert_uint_eq(price_of("api.example.com", 3, 0).part[METER_NAME],
	    log2_up(50));
	(void)rig_charge(&rig, "api.example.com", 3, 0, &result);
	ck_assert_uint_eq(price_of("api.example.com", 3, 0).part[METER_NAME],
	    257);
	ck_assert_uint_eq(price_of("www.example.com", 3, 0).part[METER_NAME],
	    257 + log2_up(50));
	rig_close(&rig);
}
END_TEST

START_TEST(stays_by_hand)
{
	rig_open(&rig, 8192);
	ck_assert(budget_charge_stay(&rig.budget, rig.key, true, 0, &result));
	ck_assert_uint_eq(budget_total(&result.price), 256);
	ck_assert(budget_charge_stay(&rig.budget, rig.key, true, 0, &result));
	ck_assert_uint_eq(budget_total(&result.price), 107); /* log2 (4/3) */
	ck_assert(!budget_charge_stay(&rig.budget, rig.key, false, 0, &result));
	ck_assert_uint_eq(budget_total(&result.price), 662); /* log2 6 */
	ck_assert_uint_eq(rig_used(&rig, BUDGET_KEY, 0), 256 + 107 + 662);
	/* Not an event: the gap of the next one is counted from the last. */
	ck_assert_uint_eq(price_of("www.example.com", 1, 3).part[METER_TIME],
	    FIRST + 514);
	rig_close(&rig);
}
END_TEST

/* Whatever a key went through, with all its seats and gaps: the weights of
 * what comes next. New names count as one; what they are is the toy's. */
START_TEST(weights_add_up_at_full_size)
{
	static char text[32];
	struct budget_key *key;
	uint64_t state = 11, now_ms = 0;

	rig_open(&rig, 1 << 16);
	key = &rig.budget.key[rig.key];
	for (int step = 0; step < 3000; step++) {
		double gaps = 0;

		(void)snprintf(text, sizeof(text), "h%u.n%u.example.com",
		    unit_random(&state) % (unit_random(&state) % 90 + 1),
		    unit_random(&state) % 3);
		now_ms += UINT64_C(1) << unit_random(&state) % 28;
		UNIT_CHECK(
		    rig_charge(&rig, text, 2, now_ms, &result) == BUDGET_PAY ||
		    step > 100);
		for (uint8_t b = 0; b < BUDGET_GAPS; b++) {
			uint64_t at = now_ms + (UINT64_C(1) << b) - 1;
			struct budget_price price = price_of(text, 2, at);

			gaps += exp2(b -
			    (double)(price.part[METER_TIME] - BUDGET_FIRST) /
				BUDGET_BIT);
		}
		UNIT_CHECK(step > 100 || (gaps <= 1 && gaps > 0.98));
	}
	/* That nothing follows costs less than is held back. */
	ck_assert_uint_lt(log2_ratio(2 * 40 * 65535 + 40, 13), METER_END);
	ck_assert_uint_le(key->gap_sum, 40 * 65535);
	rig_close(&rig);
}
END_TEST

START_TEST(each_meter_can_refuse)
{
	struct budget_id sandbox = budget_sum_id(BUDGET_SANDBOX, "box1");
	struct budget_id policy = budget_sum_id(BUDGET_POLICY, "agent");
	const uint32_t enough = BITS(8192), low = BITS(45);

	rig_open(&rig, 8192);
	for (int level = 0; level < BUDGET_LEVELS; level++) {
		rig.budget.key[rig.key].meter.limit =
		    level == BUDGET_KEY ? low : enough;
		(void)budget_open_sum(&rig.budget, &sandbox, BUDGET_SANDBOX,
		    level == BUDGET_SANDBOX ? low : enough, 0);
		(void)budget_open_sum(&rig.budget, &policy, BUDGET_POLICY,
		    level == BUDGET_POLICY ? low : enough, 0);
		ck_assert_int_eq(rig_charge(&rig, HEX ".example.com", 1, 0,
				     &result),
		    (int)BUDGET_REFUSE_KEY + level);
		ck_assert_uint_eq(result.refused, 1);
		ck_assert_int_eq(budget_charge_retry(&rig.budget, rig.key, 0,
				     &result),
		    BUDGET_PAY);
	}
	for (int level = 0; level < BUDGET_LEVELS; level++)
		ck_assert_uint_eq(rig_used(&rig, (enum budget_level)level, 0),
		    3 * 2048);
	rig_close(&rig);
}
END_TEST

START_TEST(the_last_bit_can_be_spent_and_not_more)
{
	uint32_t cost;

	rig_open(&rig, 8192);
	cost = FIRST + 2 + 662 + 7 * 256 + 16 * 1024;
	rig.budget.key[rig.key].meter.limit = METER_END + cost - 1;
	ck_assert_int_eq(rig_charge(&rig, HEX ".example.com", 1, 0, &result),
	    BUDGET_REFUSE_KEY);
	rig.budget.key[rig.key].meter.limit++;
	ck_assert_int_eq(rig_charge(&rig, HEX ".example.com", 1, 0, &result),
	    BUDGET_PAY);
	ck_assert_uint_eq(rig_used(&rig, BUDGET_KEY, 0), cost);
	ck_assert_int_eq(budget_charge_retry(&rig.budget, rig.key, 0, &result),
	    BUDGET_REFUSE_KEY);
	ck_assert(!budget_charge_stay(&rig.budget, rig.key, true, 0, &result));
	ck_assert_uint_eq(rig_used(&rig, BUDGET_KEY, 0), cost);
	rig_close(&rig);
}
END_TEST

START_TEST(reports_go_by_part)
{
	struct budget_report report;

	rig_open(&rig, 8192);
	(void)rig_charge(&rig, HEX ".example.com", 1, 0, &result);
	budget_report(&rig.budget, rig.key, BUDGET_SANDBOX, 0, &report);
	ck_assert_uint_eq(report.limit, BITS(1 << 20));
	ck_assert_uint_eq(report.part[METER_TIME], FIRST + 2);
	ck_assert_uint_eq(report.part[METER_TYPE], 0);
	ck_assert_uint_eq(report.part[METER_NAME], 662 + 7 * 256 + 16 * 1024);
	budget_report(&rig.budget, rig.key, BUDGET_KEY, 24 * HOUR, &report);
	ck_assert_uint_eq(report.left, BITS(8192 - 20) - report.used);
	ck_assert_uint_gt(report.used, 0);
	budget_report(&rig.budget, rig.key, BUDGET_KEY, 25 * HOUR, &report);
	ck_assert_uint_eq(report.used, 0);
	ck_assert_uint_eq(report.part[METER_NAME], 0);
	rig_close(&rig);
}
END_TEST

/* Long random labels ring; refused ones ring too, once each. */
START_TEST(the_alarm_sees_what_is_paid_and_what_is_refused)
{
	static char text[64];
	uint64_t state = 5;
	int asked = 0, again;

	rig_open(&rig, 8192);
	do {
		(void)snprintf(text, sizeof(text),
		    "%08x%08x%08x%08x.example.com", unit_random(&state),
		    unit_random(&state), unit_random(&state),
		    unit_random(&state));
		(void)rig_charge(&rig, text, 1, 1000, &result);
		asked++;
	} while (!result.alarm && asked < 20);
	ck_assert_int_eq(asked, 8);
	rig_close(&rig);

	rig_open(&rig, 0);
	for (again = 0; again < 100; again++) {
		ck_assert_int_eq(rig_charge(&rig, text, 1, 1000, &result),
		    BUDGET_REFUSE_KEY);
		ck_assert_uint_le(rig.budget.key[rig.key].alarm.nnew, 1);
		ck_assert_uint_eq(result.refused, again == 0 ? 1 : 0);
	}
	rig_close(&rig);
}
END_TEST

START_TEST(halves_are_told_by_level)
{
	uint8_t told = 0;
	uint64_t now_ms = 0;

	rig_open(&rig, 128);
	while (rig_charge(&rig, "www.example.com", 1, now_ms, &result) ==
	    BUDGET_PAY) {
		ck_assert_int_eq(told & result.half, 0);
		told |= result.half;
		now_ms += 1000;
	}
	ck_assert_uint_eq(told, 1 << BUDGET_KEY);
	rig_close(&rig);
}
END_TEST

START_TEST(a_key_is_found_again_for_25_hours)
{
	uint32_t again, used;

	rig_open(&rig, 8192);
	(void)rig_charge(&rig, HEX ".example.com", 1, 1000, &result);
	used = budget_total(&result.price);
	budget_close_key(&rig.budget, rig.key, 2000);
	budget_sweep(&rig.budget, 24 * HOUR);
	again = rig_key(&rig, "box1", "*.example.com", 8192, 24 * HOUR);
	ck_assert_uint_eq(again, rig.key);
	ck_assert_uint_eq(rig_used(&rig, BUDGET_KEY, 24 * HOUR), used);
	/* With all that it knew, and the time since then. */
	ck_assert_uint_eq(price_of(HEX ".example.com", 1, 24 * HOUR)
			      .part[METER_NAME],
	    257);
	ck_assert_uint_eq(price_of(HEX ".example.com", 1, 24 * HOUR)
			      .part[METER_TIME],
	    1381 + 26 * 256 + 2);
	budget_close_key(&rig.budget, again, 24 * HOUR);
	/* 25 hours later it begins anew, swept or not. */
	again = rig_key(&rig, "box1", "*.example.com", 8192, 49 * HOUR);
	ck_assert_uint_eq(price_of("www.example.com", 1, 49 * HOUR)
			      .part[METER_TIME],
	    FIRST + 2);
	budget_close_key(&rig.budget, again, 49 * HOUR);
	budget_sweep(&rig.budget, 74 * HOUR - 1);
	ck_assert_uint_eq(table_in_use(&rig.budget.keys), 1);
	budget_sweep(&rig.budget, 74 * HOUR);
	ck_assert_uint_eq(table_in_use(&rig.budget.keys), 0);
	ck_assert_uint_eq(table_in_use(&rig.budget.sums), 0);
	rig_close(&rig);
}
END_TEST

/* What is warm is charged after the close, and counts from then. */
START_TEST(a_closed_key_is_kept_while_it_owes)
{
	rig_open(&rig, 8192);
	budget_close_key(&rig.budget, rig.key, 0);
	(void)budget_charge_stay(&rig.budget, rig.key, false, 23 * HOUR,
	    &result);
	budget_sweep(&rig.budget, 47 * HOUR);
	ck_assert_uint_eq(table_in_use(&rig.budget.keys), 1);
	ck_assert_uint_eq(rig_used(&rig, BUDGET_POLICY, 47 * HOUR), 256);
	budget_sweep(&rig.budget, 48 * HOUR);
	ck_assert_uint_eq(table_in_use(&rig.budget.keys), 0);
	rig_close(&rig);
}
END_TEST

START_TEST(a_full_table_refuses_and_forgets_nothing)
{
	char box[16];
	uint32_t key = 0;

	rig_open(&rig, 8192);
	(void)rig_charge(&rig, "www.example.com", 1, 0, &result);
	for (int i = 2; i <= RIG_KEYS; i++) {
		(void)snprintf(box, sizeof(box), "box%d", i);
		key = rig_key(&rig, box, "*.example.com", 100, 0);
		ck_assert(key != BUDGET_NONE);
	}
	ck_assert(
	    rig_key(&rig, "box9", "*.example.com", 100, HOUR) == BUDGET_NONE);
	ck_assert_uint_eq(rig_key(&rig, "box1", "*.example.com", 8192, HOUR),
	    rig.key);
	ck_assert_uint_gt(rig_used(&rig, BUDGET_KEY, HOUR), 0);
	/* Nor is room made of one that was closed a day ago. */
	budget_close_key(&rig.budget, key, HOUR);
	ck_assert(rig_key(&rig, "box9", "*.example.com", 100, 25 * HOUR) ==
	    BUDGET_NONE);
	ck_assert(
	    rig_key(&rig, "box9", "*.example.com", 100, 26 * HOUR) == key);
	rig_close(&rig);
}
END_TEST

START_TEST(a_full_table_of_sums_refuses)
{
	char name[16];
	struct budget_id id;

	rig_open(&rig, 8192);
	for (int i = 2; i < RIG_SUMS; i++) {
		(void)snprintf(name, sizeof(name), "box%d", i);
		id = budget_sum_id(BUDGET_SANDBOX, name);
		ck_assert(budget_open_sum(&rig.budget, &id, BUDGET_SANDBOX, 1,
			      0) != BUDGET_NONE);
	}
	/* One that has the name of a policy is another. */
	id = budget_sum_id(BUDGET_SANDBOX, "agent");
	ck_assert(budget_open_sum(&rig.budget, &id, BUDGET_SANDBOX, 1, HOUR) ==
	    BUDGET_NONE);
	/* Those that nobody draws on go, those of the rig stay. */
	ck_assert(budget_open_sum(&rig.budget, &id, BUDGET_SANDBOX, 1,
		      25 * HOUR) != BUDGET_NONE);
	ck_assert_uint_eq(table_in_use(&rig.budget.sums), 3);
	rig_close(&rig);
}
END_TEST

/* Another policy for a sandbox: what it spends from now on is that one's. */
START_TEST(a_key_can_draw_on_other_sums)
{
	struct budget_id id = budget_sum_id(BUDGET_POLICY, "other");
	uint32_t before, first;

	rig_open(&rig, 8192);
	before = rig.policy;
	(void)rig_charge(&rig, "www.example.com", 1, 0, &result);
	first = budget_total(&result.price);
	rig.policy =
	    budget_open_sum(&rig.budget, &id, BUDGET_POLICY, BITS(100), 0);
	(void)rig_key(&rig, "box1", "*.example.com", 8192, 0);
	ck_assert_uint_eq(rig.budget.sum[before].users, 0);
	ck_assert_uint_eq(rig.budget.sum[rig.policy].users, 1);
	ck_assert_uint_eq(rig_used(&rig, BUDGET_POLICY, 0), 0);
	ck_assert_uint_eq(rig_used(&rig, BUDGET_SANDBOX, 0), first);
	ck_assert_uint_eq(rig.budget.sum[before].meter.used, first);
	rig_close(&rig);
}
END_TEST

START_TEST(names_and_rules_make_different_keys)
{
	struct budget_id a = budget_key_id("box1", "*.a", 3);
	struct budget_id b = budget_key_id("box1", "*.b", 3);
	struct budget_id c = budget_key_id("box2", "*.a", 3);

	ck_assert_mem_ne(&a, &b, sizeof(a));
	ck_assert_mem_ne(&a, &c, sizeof(a));
	b = budget_key_id("box1", "*.a", 3);
	ck_assert_mem_eq(&a, &b, sizeof(a));
}
END_TEST

START_TEST(a_key_that_is_not_open_cannot_be_closed)
{
	rig_open(&rig, 8192);
	budget_close_key(&rig.budget, rig.key, 0);
	budget_close_key(&rig.budget, rig.key, 0);
}
END_TEST

static void
add_prices(TCase *all)
{
	tcase_add_test(all, times_by_hand);
	tcase_add_test(all, a_tick_may_change);
	tcase_add_test(all, times_are_learnt);
	tcase_add_test(all, each_packet_pays_that_it_is_the_first);
	tcase_add_test(all, types_by_hand);
	tcase_add_test(all, names_by_hand);
	tcase_add_test(all, the_parent_itself_has_a_price);
	tcase_add_test(all, a_name_of_127_labels_has_a_price);
	tcase_add_test(all, exact_sets_say_which);
	tcase_add_test(all, stays_by_hand);
	tcase_add_test(all, weights_add_up_at_full_size);
}

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("budget", &all);

	add_prices(all);
	tcase_add_test(all, each_meter_can_refuse);
	tcase_add_test(all, the_last_bit_can_be_spent_and_not_more);
	tcase_add_test(all, reports_go_by_part);
	tcase_add_test(all, the_alarm_sees_what_is_paid_and_what_is_refused);
	tcase_add_test(all, halves_are_told_by_level);
	tcase_add_test(all, a_key_is_found_again_for_25_hours);
	tcase_add_test(all, a_closed_key_is_kept_while_it_owes);
	tcase_add_test(all, a_full_table_refuses_and_forgets_nothing);
	tcase_add_test(all, a_full_table_of_sums_refuses);
	tcase_add_test(all, a_key_can_draw_on_other_sums);
	tcase_add_test(all, names_and_rules_make_different_keys);
	tcase_add_test_raise_signal(all,
	    a_key_that_is_not_open_cannot_be_closed, SIGABRT);
	return unit_run(suite);
}
