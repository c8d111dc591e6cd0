/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ways to tell the outside something by questions under one wildcard, each
 * with how many bits it really tells a question. Whatever the way: it is
 * charged at least what it tells, and it tells at most the budget.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/require.h"
#include "tests/unit/budget_rig.h"
#include "tests/unit/unit.h"

#define BUDGET  8192
#define NAMES   256
#define SEEDS   5
#define SECOND  1000
#define MISSING 0

/* A question: how long after the last one, and what is told by it. */
struct question {
	char name[128];
	uint8_t labels;
	uint8_t type, type_count;
	uint64_t after_ms;
	double told; /* bits */
	bool retry, exact;
};

static uint64_t random_state;
static uint64_t counter;
static char codebook[NAMES][8];

static uint32_t
draw(uint32_t bound)
{
	return unit_random(&random_state) % bound;
}

static const char *const WORDS[32] = { "river", "table", "garden", "silver",
	"mountain", "window", "market", "summer", "bridge", "forest", "castle",
	"island", "winter", "letter", "orange", "planet", "school", "street",
	"travel", "animal", "butter", "doctor", "engine", "family", "guitar",
	"health", "jacket", "kitchen", "ladder", "mirror", "number", "office" };

static void
name_it(struct question *q, const char *label)
{
	(void)snprintf(q->name, sizeof(q->name), "%s.example.com", label);
}

static void
from_codebook(struct question *q, uint32_t names)
{
	q->after_ms = SECOND;
	q->told = log2(names);
	name_it(q, codebook[draw(names)]);
}

static void
codebook_of_32(struct question *q)
{
	from_codebook(q, 32);
}

static void
codebook_of_256(struct question *q)
{
	from_codebook(q, 256);
}

static void
words_of_32(struct question *q)
{
	q->after_ms = SECOND;
	q->told = 5;
	name_it(q, WORDS[draw(32)]);
}

static void
types_of_8(struct question *q)
{
	q->after_ms = SECOND;
	q->told = 3;
	q->type = (uint8_t)draw(8);
	name_it(q, "www");
}

static void
whole_seconds(struct question *q)
{
	q->after_ms = (uint64_t)(draw(64) + 1) * SECOND;
	q->told = 6;
	name_it(q, "www");
}

static void
ticks(struct question *q)
{
	q->after_ms = draw(64000) + 1;
	q->told = log2(64000);
	name_it(q, "www");
}

static void
hex_of_128(struct question *q)
{
	char label[40];

	q->after_ms = 10 * SECOND;
	q->told = 128;
	(void)snprintf(label, sizeof(label), "%08x%08x%08x%08x",
	    unit_random(&random_state), unit_random(&random_state),
	    unit_random(&random_state), unit_random(&random_state));
	name_it(q, label);
}

static void
hex_of_32(struct question *q)
{
	char label[40];

	q->after_ms = 60 * SECOND;
	q->told = 32;
	(void)snprintf(label, sizeof(label), "%08x",
	    unit_random(&random_state));
	name_it(q, label);
}

static void
counter_steps(struct question *q)
{
	char label[40];

	q->after_ms = 60 * SECOND;
	q->told = 10;
	counter += draw(1024) + 1;
	(void)snprintf(label, sizeof(label), "%ju", (uintmax_t)counter);
	name_it(q, label);
}

static void
four_words(struct question *q)
{
	char label[64];

	q->after_ms = 10 * SECOND;
	q->told = 20;
	q->labels = 2;
	(void)snprintf(label, sizeof(label), "%s-%s.%s-%s", WORDS[draw(32)],
	    WORDS[draw(32)], WORDS[draw(32)], WORDS[draw(32)]);
	name_it(q, label);
}

/* Labels that are paid once, in new rows each time. */
static void
rows_of_labels(struct question *q)
{
	char label[64];

	q->after_ms = 0;
	q->told = 24;
	q->labels = 8;
	(void)snprintf(label, sizeof(label), "%c.%c.%c.%c.%c.%c.%c.%c",
	    'a' + draw(8), 'a' + draw(8), 'a' + draw(8), 'a' + draw(8),
	    'a' + draw(8), 'a' + draw(8), 'a' + draw(8), 'a' + draw(8));
	name_it(q, label);
}

/* How many labels: a length in unary. */
static void
depth(struct question *q)
{
	uint32_t count = draw(32) + 1;

	q->after_ms = SECOND;
	q->told = 5;
	q->labels = (uint8_t)count;
	q->name[0] = '\0';
	for (uint32_t i = 0; i < count; i++)
		memcpy(q->name + 2 * i, "a.", 3);
	memcpy(q->name + 2 * (size_t)count, "example.com", 12);
}

static void
retries(struct question *q)
{
	q->after_ms = SECOND;
	q->told = 1;
	q->retry = draw(2) == 1;
	name_it(q, "www");
}

/* A retry is rare, so that its price is least for what it tells. */
static void
rare_retries(struct question *q)
{
	q->after_ms = SECOND;
	q->retry = draw(256) == 0;
	q->told = q->retry ? 8 : -log2(255 / 256.0);
	name_it(q, "www");
}

/* Names that are listed, asked on demand, by name and by millisecond. */
static void
exact_names(struct question *q)
{
	q->exact = true;
	q->labels = 3;
	q->after_ms = draw(1000) + 1;
	q->told = log2(32) + log2(1000);
	name_it(q, WORDS[draw(32)]);
}

/* Everything at once. */
static void
all_of_it(struct question *q)
{
	hex_of_128(q);
	q->after_ms = draw(1 << 20) + 1;
	q->type = (uint8_t)draw(16);
	q->told += 20 + 4;
}

static const struct {
	const char *what;
	void (*next)(struct question *);
	/* As measured by the design's own program: bits a question charged,
	 * bits out until the refusal; within an eighth. */
	double charged, out;
} ways[] = {
	{ "32 names", codebook_of_32, 17, 2405 },
	{ "32 words", words_of_32, 16, 2505 },
	{ "256 names", codebook_of_256, 46, 1416 },
	{ "8 types", types_of_8, 12.3, 1998 },
	{ "whole seconds", whole_seconds, 16.2, 3018 },
	{ "ticks", ticks, 16.3, 8015 },
	{ "128 bits in hex", hex_of_128, 155, 6656 },
	{ "32 bits in hex", hex_of_32, 61, 4288 },
	{ "counter", counter_steps, 53, 1530 },
	{ "four words", four_words, MISSING, MISSING },
	{ "rows of labels", rows_of_labels, MISSING, MISSING },
	{ "depth", depth, MISSING, MISSING },
	{ "retries", retries, MISSING, MISSING },
	{ "rare retries", rare_retries, MISSING, MISSING },
	{ "exact names", exact_names, MISSING, MISSING },
	{ "all of it", all_of_it, MISSING, MISSING },
};

struct outcome {
	double told, charged;
	int questions, rings; /* the first ring; 0: none */
};

/* Asks one question; false where it is refused. */
static bool
ask(struct budget_rig *rig, const struct question *q, uint64_t now_ms,
    struct outcome *outcome)
{
	struct dname name = rig_name(q->name);
	struct budget_event event = { &name, q->labels, q->type, q->type_count,
		1 };
	struct budget_result result;

	rig->budget.key[rig->key].names = q->exact ? 32 : 0;
	if (budget_charge(&rig->budget, rig->key, &event, now_ms, &result) !=
	    BUDGET_PAY)
		return false;
	outcome->charged += budget_total(&result.price) / (double)BUDGET_BIT;
	outcome->questions++;
	if (result.alarm && outcome->rings == 0)
		outcome->rings = outcome->questions;
	if (!q->retry)
		return true;
	if (budget_charge_retry(&rig->budget, rig->key, now_ms, &result) !=
	    BUDGET_PAY)
		return false;
	outcome->charged += budget_total(&result.price) / (double)BUDGET_BIT;
	return true;
}

static void
run(void (*next)(struct question *), uint64_t seed, struct outcome *outcome)
{
	struct budget_rig rig;
	struct question q;
	uint64_t now_ms = 0;

	random_state = seed;
	counter = 1000000;
	for (int i = 0; i < NAMES; i++) {
		for (int j = 0; j < 6; j++)
			codebook[i][j] =
			    "abcdefghijklmnopqrstuvwxyz234567"[draw(32)];
	}
	*outcome = (struct outcome){ 0 };
	rig_open(&rig, BUDGET);
	do {
		q = (struct question){ .labels = 1, .type_count = 16 };
		next(&q);
		now_ms += q.after_ms;
		if (!ask(&rig, &q, now_ms, outcome))
			break;
		outcome->told += q.told;
	} while (now_ms < UINT64_C(86400000));
	rig_close(&rig);
}

static bool
is_near(double value, double expected)
{
	return expected == MISSING || fabs(value - expected) <= expected / 8;
}

START_TEST(no_way_tells_more_than_it_is_charged)
{
	struct outcome outcome;

	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		double charged = 0, told = 0, questions = 0;

		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			run(ways[i].next, seed, &outcome);
			ck_assert_double_ge(outcome.charged, outcome.told);
			ck_assert_double_le(outcome.told, BUDGET);
			ck_assert_double_le(outcome.charged, BUDGET - 20);
			charged += outcome.charged;
			questions += outcome.questions;
			told += outcome.told;
		}
		printf("%-16s %6.1f bits a question, %5.0f out, rings at %d\n",
		    ways[i].what, charged / questions, told / SEEDS,
		    outcome.rings);
		ck_assert_msg(is_near(charged / questions, ways[i].charged) &&
			is_near(told / SEEDS, ways[i].out),
		    "%s is not as designed", ways[i].what);
	}
}
END_TEST

/* Refused names, cached ones and those of other keys teach it nothing. */
START_TEST(prices_follow_from_what_was_charged)
{
	struct budget_rig quiet, busy;
	struct budget_result a, b;
	struct question q;
	uint32_t other;
	uint64_t now_ms = 0;
	enum budget_decision decision;

	random_state = 77;
	rig_open(&quiet, BUDGET);
	rig_open(&busy, BUDGET);
	other = rig_key(&busy, "box1", "*.example.org", 500, 0);
	for (int i = 0; i < 400; i++) {
		struct dname name;
		struct budget_event event = { &name, 1, 0, 1, 1 };
		struct budget_price price;

		q = (struct question){ .labels = 1, .type_count = 1 };
		hex_of_32(&q);
		now_ms += draw(100000);
		name = rig_name(q.name);
		/* Spends its own budget, and then is refused. */
		(void)budget_charge(&busy.budget, other, &event, now_ms, &b);
		budget_price(&busy.budget, busy.key, &event, now_ms, &price);
		busy.budget.key[busy.key].meter.limit = 0;
		(void)budget_charge(&busy.budget, busy.key, &event, now_ms, &b);
		busy.budget.key[busy.key].meter.limit = BITS(BUDGET);
		(void)snprintf(q.name, sizeof(q.name), "h%u.example.com",
		    draw(40));
		name = rig_name(q.name);
		decision =
		    budget_charge(&quiet.budget, quiet.key, &event, now_ms, &a);
		ck_assert_int_eq(budget_charge(&busy.budget, busy.key, &event,
				     now_ms, &b),
		    decision);
		ck_assert_mem_eq(a.price.part, b.price.part,
		    sizeof(a.price.part));
	}
	rig_close(&busy);
	rig_close(&quiet);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("budget_adversary", &all);

	tcase_add_test(all, no_way_tells_more_than_it_is_charged);
	tcase_add_test(all, prices_follow_from_what_was_charged);
	return unit_run(suite);
}
