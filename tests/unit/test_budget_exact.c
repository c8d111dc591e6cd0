/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ledger built small: two seats a table, four gaps, counts that halve at
 * four, and a toy of the model whose six codes have no word in common, so
 * that nothing is left over. Small enough to go through everything that can
 * happen, tight enough to see a price that is 1/256 bit too low.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/budget_parts.h"
#include "lib/log2.h"
#include "lib/model.h"
#include "lib/require.h"
#include "tests/unit/budget_rig.h"
#include "tests/unit/unit.h"

/* tests/unit/Makefile.inc says how small. */
_Static_assert(CRP_SLOTS == 2 && CRP_COUNT_MAX == 4, "small tables");
_Static_assert(TALLY_MAX == 4 && BUDGET_GAPS == 4, "small tallies");

#define EPSILON   1e-9
#define LABELS    8
#define ALL_GAPS  ((1 << BUDGET_GAPS) - 1) /* 0 … 14 */
#define DAY_TICKS 7 /* a day of which the last gap cannot be part */
#define DAY_GAPS  (BUDGET_GAPS - 1)
#define NEVER     BITS(60)
#define END_BITS  5 /* what the toy holds back */
/* What rounding up may lose in one state: up to 3/256 bit a logarithm, and a
 * row of new labels loses it again and again. */
#define TIGHT 0.88

static struct budget_rig rig;
static struct budget_key *key;
static uint64_t states;

/*
 * The toy: one-letter labels. a, b, c are words of the "model", with 1/2,
 * 1/4, 1/4; d, e, f, g, h are each the only word of an "alphabet". Half of
 * each is for "more", half for "end".
 */
void
model_begin(struct model_state *state)
{
	state->before = state->last = MODEL_BEGIN;
}

uint32_t
model_label_price(struct model_state *state, const uint8_t *label, uint8_t len,
    bool last)
{
	(void)state;
	(void)len;
	(void)last;
	switch (label[0]) {
	case 'a':
		return BITS(1) + BITS(1);
	case 'b':
	case 'c':
		return BITS(2) + BITS(1);
	default:
		return NEVER;
	}
}

uint32_t
model_uniform_price(const uint8_t *label, uint8_t len)
{
	(void)len;
	return label[0] >= 'd' && label[0] <= 'h' ? BITS(1) : NEVER;
}

static double
weight(double price)
{
	return exp2(-price / BUDGET_BIT);
}

/* A name of these letters, "ab": a.b.example.com. */
static struct dname
name_of(const char *letters)
{
	char text[64] = "";
	size_t len = 0;

	for (; *letters != '\0'; letters++) {
		text[len++] = *letters;
		text[len++] = '.';
	}
	memcpy(text + len, "example.com", sizeof("example.com"));
	return rig_name(text);
}

struct choice {
	uint32_t gap;
	uint8_t type;
	const char *letters;
};

static struct budget_event
event_of(const struct choice *choice, uint8_t types, struct dname *ret_name)
{
	*ret_name = name_of(choice->letters);
	return (struct budget_event){
		.name = ret_name,
		.labels = (uint8_t)strlen(choice->letters),
		.type = choice->type,
		.type_count = types,
	};
}

static struct budget_price
price_of(const struct choice *choice)
{
	struct dname name;
	struct budget_event event = event_of(choice, 2, &name);
	struct budget_price price;

	budget_price(&rig.budget, rig.key, &event, key->last_ms + choice->gap,
	    &price);
	return price;
}

static enum budget_decision
charge(const struct choice *choice, uint8_t types)
{
	struct dname name;
	struct budget_event event = event_of(choice, types, &name);
	struct budget_result result;

	return budget_charge(&rig.budget, rig.key, &event,
	    key->last_ms + choice->gap, &result);
}

/* Everything that a charge may change. */
struct saved {
	struct budget_key key;
	struct budget_sum sums[2];
	uint64_t now_ms;
};

static void
save(struct saved *saved)
{
	saved->key = *key;
	memcpy(saved->sums, rig.budget.sum, sizeof(saved->sums));
	saved->now_ms = rig.budget.now_ms;
}

static void
put_back(const struct saved *saved)
{
	*key = saved->key;
	memcpy(rig.budget.sum, saved->sums, sizeof(saved->sums));
	rig.budget.now_ms = saved->now_ms;
}

static void
open_toy(uint32_t limit)
{
	rig_open(&rig, limit);
	key = &rig.budget.key[rig.key];
	states = 0;
}

/* What a letter costs as a label of a new name: of so many times that letter,
 * enough that the name is new. In the toy "more" costs what "end" does. */
static double
label_price(char letter)
{
	char letters[8] = { letter };
	struct choice choice = { .letters = letters };
	struct budget_price price = price_of(&choice);
	size_t count = 1;

	while (!price.new_name) {
		letters[count++] = letter;
		price = price_of(&choice);
	}
	return (price.part[METER_NAME] - crp_price(&key->name, CRP_NEW)) /
	    (double)count;
}

/* The weight of all new names together, of any number of labels: a row of
 * them, each with "more", and one with "end". */
static double
new_names_weight(void)
{
	double one = 0;

	for (char letter = 'a'; letter < 'a' + LABELS; letter++)
		one += weight(label_price(letter));
	/* All labels with "more" and all with "end": no more than 1. */
	UNIT_CHECK(2 * one <= 1 + EPSILON);
	return weight(crp_price(&key->name, CRP_NEW)) * one / (1 - one);
}

/* The names of the menu that are known; a name that is not is part of the
 * row of new ones. */
static double
names_weight(const char *const *menu, size_t count, struct choice *choice)
{
	struct budget_price price;
	double sum = 0, base = 0;
	bool found = false;

	for (size_t i = 0; i < count; i++) {
		choice->letters = menu[i];
		price = price_of(choice);
		if (!price.new_name) {
			sum += weight(budget_total(&price));
			continue;
		}
		base = budget_total(&price) - (double)price.part[METER_NAME];
		found = true;
	}
	UNIT_CHECK(found);
	return sum + weight(base) * new_names_weight();
}

static const char *const MENU[] = { "a", "d", "e", "ad", "dd", "bcf", "h" };

/*
 * What the outside could see next, from this state: the weights of it all add
 * up to at most 1, and to little less. Without the last gap, in a day, what is
 * left is worth the price of the end.
 */
static void
check_state(void)
{
	double all = 0, in_day = 0, sum;
	uint32_t out = 2 * key->gap_sum + BUDGET_GAPS;

	for (uint32_t gap = 0; gap < ALL_GAPS; gap++) {
		sum = 0;
		for (uint8_t type = 0; type < 2; type++) {
			struct choice choice = { .gap = gap, .type = type };

			sum += names_weight(MENU, ARRAY_LEN(MENU), &choice);
		}
		all += sum;
		if (gap + 1 < 1u << DAY_GAPS)
			in_day += sum;
	}
	if (all > 1 + EPSILON || all < TIGHT)
		ck_abort_msg("state %ju: all weights are %.6f",
		    (uintmax_t)states, all);
	if (in_day + weight(log2_ratio(out, 1)) > 1 + EPSILON)
		ck_abort_msg("state %ju: with the end %.6f", (uintmax_t)states,
		    in_day + weight(log2_ratio(out, 1)));
	states++;
}

struct menu {
	const struct choice *choices;
	size_t count;
};

/* Checks every state that so many events of the menu lead to. */
static void
check_all(const struct menu *menu, unsigned depth)
{
	struct saved saved;

	check_state();
	if (depth == 0)
		return;
	save(&saved);
	for (size_t i = 0; i < menu->count; i++) {
		UNIT_CHECK(charge(&menu->choices[i], 2) == BUDGET_PAY);
		check_all(menu, depth - 1);
		put_back(&saved);
	}
}

START_TEST(names_are_a_proper_code_in_every_state)
{
	static const struct choice CHOICES[] = { { 0, 0, "a" }, { 0, 0, "d" },
		{ 0, 0, "ad" }, { 0, 0, "dd" }, { 0, 0, "bcf" } };
	static const struct menu NAMES = { CHOICES, ARRAY_LEN(CHOICES) };

	/* Three names evict, four equal ones halve. */
	open_toy(1 << 20);
	check_all(&NAMES, 5);
	ck_assert_uint_eq(states, 3906);
	rig_close(&rig);
}
END_TEST

START_TEST(times_and_types_are_a_proper_code_in_every_state)
{
	static const struct choice CHOICES[] = { { 0, 0, "a" }, { 2, 0, "a" },
		{ 5, 1, "a" }, { 14, 1, "a" } };
	static const struct menu TIMES = { CHOICES, ARRAY_LEN(CHOICES) };

	open_toy(1 << 20);
	check_all(&TIMES, 5);
	ck_assert_uint_eq(states, 1365);
	rig_close(&rig);
}
END_TEST

START_TEST(all_together_are_a_proper_code_in_every_state)
{
	struct choice choices[4 * 2 * 4];
	struct menu menu = { choices, ARRAY_LEN(choices) };

	for (size_t i = 0; i < menu.count; i++)
		choices[i] = (struct choice){ .gap = (1u << (i % 4)) - 1,
			.type = i / 4 % 2,
			.letters = MENU[i / 8] };
	open_toy(1 << 20);
	check_all(&menu, 2);
	ck_assert_uint_eq(states, 1057);
	rig_close(&rig);
}
END_TEST

/* What the weight of all new names was made of: labels add up. */
START_TEST(labels_of_a_new_name_add_up)
{
	static const struct choice LEARNT[] = { { 0, 0, "a" }, { 0, 0, "dd" },
		{ 1, 0, "a" } };
	struct budget_price price;
	double sum;

	open_toy(1 << 20);
	for (size_t n = 0; n <= ARRAY_LEN(LEARNT); n++) {
		for (int i = 0; i < LABELS * LABELS; i++) {
			char letters[3] = { (char)('a' + i % LABELS),
				(char)('a' + i / LABELS) };
			struct choice choice = { .letters = letters };

			price = price_of(&choice);
			if (!price.new_name)
				continue;
			sum = crp_price(&key->name, CRP_NEW) +
			    label_price(letters[0]) + label_price(letters[1]);
			UNIT_CHECK(fabs(price.part[METER_NAME] - sum) < 0.01);
		}
		if (n < ARRAY_LEN(LEARNT))
			UNIT_CHECK(charge(&LEARNT[n], 2) == BUDGET_PAY);
	}
	rig_close(&rig);
}
END_TEST

/* Each packet of an ask is the last one, or another follows. The rest of this
 * file has no packets, so that it need not count with retries. */
START_TEST(retries_are_a_proper_code)
{
	struct choice choice = { 1, 0, "a" };
	struct dname name;
	struct budget_event event = event_of(&choice, 2, &name);
	struct budget_price without, with;
	struct budget_result retry;
	double one;

	open_toy(1 << 20);
	budget_price(&rig.budget, rig.key, &event, 1, &without);
	for (event.asks = 1; event.asks <= 2; event.asks++) {
		budget_price(&rig.budget, rig.key, &event, 1, &with);
		one = (budget_total(&with) - budget_total(&without)) /
		    (double)event.asks;
		UNIT_CHECK(budget_charge_retry(&rig.budget, rig.key, 1,
			       &retry) == BUDGET_PAY);
		/* None, one, two … more. */
		UNIT_CHECK(
		    weight(one) / (1 - weight(budget_total(&retry.price))) <=
		    1 + EPSILON);
	}
	rig_close(&rig);
}
END_TEST

/* A set of exact names: which one, and then that one again. */
static void
check_exact_set(unsigned depth)
{
	static const char *const SET[] = { "a", "d", "e" };
	struct saved saved;
	double sum = 0;

	for (size_t i = 0; i < ARRAY_LEN(SET); i++) {
		struct choice choice = { .letters = SET[i] };
		struct budget_price price = price_of(&choice);

		sum += weight(price.part[METER_NAME]);
	}
	UNIT_CHECK(sum <= 1 + EPSILON);
	save(&saved);
	for (size_t i = 0; depth > 0 && i < ARRAY_LEN(SET); i++) {
		struct choice choice = { .letters = SET[i] };

		UNIT_CHECK(charge(&choice, 2) == BUDGET_PAY);
		check_exact_set(depth - 1);
		put_back(&saved);
	}
}

START_TEST(exact_sets_are_a_proper_code_in_every_state)
{
	open_toy(1 << 20);
	key->names = 3;
	check_exact_set(7);
	rig_close(&rig);
}
END_TEST

static double
stay_weight(bool stay)
{
	struct budget_result result;

	UNIT_CHECK(budget_charge_stay(&rig.budget, rig.key, stay,
		       rig.budget.now_ms, &result) == stay);
	return weight(budget_total(&result.price));
}

static void
check_stays(unsigned depth)
{
	struct saved saved;
	double sum = 0;

	save(&saved);
	for (int stay = 0; stay < 2; stay++) {
		sum += stay_weight(stay);
		if (depth > 0)
			check_stays(depth - 1);
		put_back(&saved);
	}
	UNIT_CHECK(sum <= 1 + EPSILON && sum >= TIGHT);
}

START_TEST(stays_are_a_proper_code_in_every_state)
{
	open_toy(1 << 20);
	check_stays(9);
	rig_close(&rig);
}
END_TEST

/* When the dearer outcome cannot be paid there is one outcome only. */
START_TEST(a_stay_that_cannot_be_paid_is_no_choice)
{
	struct budget_result result;
	struct saved saved;

	open_toy(0);
	save(&saved);
	ck_assert(!budget_charge_stay(&rig.budget, rig.key, true, 0, &result));
	ck_assert_uint_eq(budget_total(&result.price), 0);
	ck_assert_int_eq(memcmp(&saved.key, key, sizeof(*key)), 0);
	rig_close(&rig);
}
END_TEST

/*
 * A day of DAY_TICKS, one name, two types: every history of at most so many
 * events, with its end paid or not; those that are longer count with what
 * they have paid so far, which bounds all that follows.
 */
static double
sum_of_histories(uint64_t tick, unsigned depth, bool with_end)
{
	struct saved saved;
	double sum = 1;

	states++;
	if (depth == 0)
		return 1;
	if (with_end)
		sum = weight(log2_ratio(2 * key->gap_sum + BUDGET_GAPS, 1));
	save(&saved);
	for (uint32_t gap = 0; tick + gap < DAY_TICKS; gap++) {
		for (uint8_t type = 0; type < 2; type++) {
			struct choice choice = { gap, type, "a" };
			struct budget_price price = price_of(&choice);

			UNIT_CHECK(charge(&choice, 2) == BUDGET_PAY);
			sum += weight(budget_total(&price)) *
			    sum_of_histories(tick + gap, depth - 1, with_end);
			put_back(&saved);
		}
	}
	return sum;
}

START_TEST(histories_of_all_lengths_with_their_end_add_up_to_1)
{
	double sum;

	open_toy(1 << 20);
	key->names = 1;
	for (unsigned depth = 0; depth <= 4; depth++) {
		sum = sum_of_histories(0, depth, true);
		ck_assert_double_le(sum, 1 + EPSILON);
		ck_assert_double_ge(sum, 0.2);
	}
	ck_assert_uint_ge(states, 1000);
	/* Where the end costs nothing they do not: why it is held back. */
	ck_assert_double_gt(sum_of_histories(0, 4, false), 1.5);
	rig_close(&rig);
}
END_TEST

/* How many histories of a day the ledger lets through. */
static uint64_t
count_histories(uint64_t tick)
{
	struct saved saved;
	uint64_t count = 1;

	save(&saved);
	for (uint32_t gap = 0; tick + gap < DAY_TICKS; gap++) {
		for (uint8_t type = 0; type < 2; type++) {
			struct choice choice = { gap, type, "a" };

			if (charge(&choice, 2) == BUDGET_PAY)
				count += count_histories(tick + gap);
			put_back(&saved);
		}
	}
	return count;
}

/* How many cost no more than this, by their prices alone. */
static uint64_t
count_priced(uint64_t tick, int64_t left)
{
	struct saved saved;
	uint64_t count = 1;

	save(&saved);
	for (uint32_t gap = 0; tick + gap < DAY_TICKS; gap++) {
		for (uint8_t type = 0; type < 2; type++) {
			struct choice choice = { gap, type, "a" };
			struct budget_price price = price_of(&choice);
			int64_t rest = left - budget_total(&price);

			if (rest < 0)
				continue;
			UNIT_CHECK(charge(&choice, 2) == BUDGET_PAY);
			count += count_priced(tick + gap, rest);
			put_back(&saved);
		}
	}
	return count;
}

/* The bound itself: what is let through at B bits are at most 2^B. */
START_TEST(the_ledger_lets_no_more_than_2_to_the_B_histories_through)
{
	uint64_t count = 0, priced;

	for (uint32_t bits = 5; bits <= 17; bits++) {
		open_toy(1 << 20);
		key->names = 1;
		priced = count_priced(0, BITS(bits - END_BITS));
		rig_close(&rig);
		open_toy(bits);
		key->names = 1;
		count = count_histories(0);
		rig_close(&rig);
		printf("B = %2u bits: %ju of %u histories\n", bits,
		    (uintmax_t)count, 1u << bits);
		ck_assert_uint_eq(count, priced);
		ck_assert_uint_le(count, UINT64_C(1) << bits);
	}
	/* Nor is it idle. */
	ck_assert_uint_gt(count, 200);
}
END_TEST

START_TEST(a_refusal_leaves_no_trace)
{
	static const struct choice CHOICE = { 3, 1, "bcf" };
	struct budget_key before;

	open_toy(METER_END / BUDGET_BIT + 1);
	before = *key;
	ck_assert_int_eq(charge(&CHOICE, 2), BUDGET_REFUSE_KEY);
	/* But for what is told of it. */
	before.alarm = key->alarm;
	before.meter.refused = key->meter.refused;
	before.meter.told_hour = key->meter.told_hour;
	ck_assert_int_eq(memcmp(&before, key, sizeof(before)), 0);
	rig_close(&rig);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("budget_exact", &all);

	tcase_add_test(all, names_are_a_proper_code_in_every_state);
	tcase_add_test(all, times_and_types_are_a_proper_code_in_every_state);
	tcase_add_test(all, all_together_are_a_proper_code_in_every_state);
	tcase_add_test(all, labels_of_a_new_name_add_up);
	tcase_add_test(all, retries_are_a_proper_code);
	tcase_add_test(all, exact_sets_are_a_proper_code_in_every_state);
	tcase_add_test(all, stays_are_a_proper_code_in_every_state);
	tcase_add_test(all, a_stay_that_cannot_be_paid_is_no_choice);
	tcase_add_test(all,
	    histories_of_all_lengths_with_their_end_add_up_to_1);
	tcase_add_test(all,
	    the_ledger_lets_no_more_than_2_to_the_B_histories_through);
	tcase_add_test(all, a_refusal_leaves_no_trace);
	return unit_run(suite);
}
