/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replays a sample of questions against the ledger, once, and over and over
 * for three days: nobody is refused. The sample is the one in data/; a larger
 * one may lie in $NAMEWALL_SAMPLES as benign_stream.tsv.gz.
 *
 * Conventions: a key for each client and registrable domain, 1,024 octets a
 * day; 32,768 bits for a client; 16 types of which A and AAAA are one;
 * answers live 300 s; no retries.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/require.h"
#include "tests/unit/budget_warm.h"
#include "tests/unit/unit.h"
#include "tools/eval/eval.h"

#define SKIPPED  77
#define SUFFIXES "/usr/share/publicsuffix/public_suffix_list.dat"
#define BITS(n)  ((uint32_t)(n)*BUDGET_BIT)
#define KEYS     4096
#define CLIENTS  64
#define HOUR     UINT64_C(3600000)
#define LOOPS    68 /* of the sample, in a day */
#define LATE_MS  60000

static char path[4096];
static struct sample sample;
static uint32_t *question_of; /* by item */
static struct warm_question *questions;
static uint32_t question_count, key_count;
static uint64_t most[KEYS]; /* used at once, by key */
static struct budget budget;
static void *block;

struct moment {
	uint64_t at_ms;
	uint32_t question;
};

static void
open_budget(void)
{
	static const uint8_t SEED[32] = "a seed for a replay";
	struct budget_limits limits = { .keys_max = KEYS,
		.sums_max = CLIENTS + 1 };
	struct arena arena;
	size_t size;

	arena_init(&arena, NULL, 0);
	budget_init(&budget, &arena, &limits, SEED);
	size = arena.used;
	block = zeroes(1, size);
	arena_init(&arena, block, size);
	budget_init(&budget, &arena, &limits, SEED);
	memset(most, 0, sizeof(most));
}

/* The key of an item's client and zone. */
static uint32_t
open_key(const struct item *item)
{
	const char *client = sample.labels[item->stream];
	struct dname zone = dname_suffix(&item->name, item->zone_labels);
	struct budget_id box = budget_sum_id(BUDGET_SANDBOX, client);
	struct budget_id policy = budget_sum_id(BUDGET_POLICY, "all");
	struct budget_id id = budget_key_id(client, zone.wire, zone.len);
	struct budget_terms terms = {
		.limit = BITS(8192),
		.sandbox_sum = budget_open_sum(&budget, &box, BUDGET_SANDBOX,
		    BITS(32768), 0),
		.policy_sum = budget_open_sum(&budget, &policy, BUDGET_POLICY,
		    METER_LIMIT_MAX, 0),
	};

	return budget_open_key(&budget, &id, &terms, 0);
}

/* The types of a sample in the order in which they come; A and AAAA are 0. */
static uint8_t
type_index(uint16_t type)
{
	static uint16_t types[BUDGET_TYPES] = { 1 };
	static uint8_t count = 1;
	uint8_t i = 0;

	if (type == 28)
		return 0;
	while (i < count && types[i] != type)
		i++;
	if (i == count && count < BUDGET_TYPES)
		types[count++] = type;
	return i < BUDGET_TYPES ? i : BUDGET_TYPES - 1;
}

static void
number_questions(void)
{
	struct map map = { 0 };
	uint8_t octets[4 + 1 + DNS_NAME_MAX];
	bool is_new;
	uint8_t type;

	question_of = zeroes(sample.count, sizeof(*question_of));
	questions = zeroes(sample.count, sizeof(*questions));
	for (size_t i = 0; i < sample.count; i++) {
		const struct item *item = &sample.items[i];
		struct warm_question *q;

		type = type_index(item->type);
		memcpy(octets, &item->stream, 4);
		octets[4] = type;
		memcpy(octets + 5, item->name.wire, item->name.len);
		question_of[i] =
		    map_put(&map, octets, 5 + (size_t)item->name.len, &is_new);
		q = &questions[question_of[i]];
		if (!is_new)
			continue;
		q->name = &item->name;
		q->labels = labels_below(item);
		q->type = type;
		q->type_count = BUDGET_TYPES;
	}
	question_count = map.count;
	map_free(&map);
}

static int
by_time(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	if (x->at_ms != y->at_ms)
		return x->at_ms < y->at_ms ? -1 : 1;
	return x->question < y->question ? -1 : x->question > y->question;
}

static int
by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Replays the sample once; late: each event up to a minute late. */
static void
replay(struct warm *warm, uint64_t start_ms, uint64_t *random)
{
	struct moment *moments = zeroes(sample.count, sizeof(*moments));
	uint64_t used;

	for (size_t i = 0; i < sample.count; i++) {
		moments[i].question = question_of[i];
		moments[i].at_ms =
		    start_ms + (uint64_t)(sample.items[i].at * 1000);
		if (random != NULL)
			moments[i].at_ms += unit_random(random) % LATE_MS;
	}
	qsort(moments, sample.count, sizeof(*moments), by_time);
	for (size_t i = 0; i < sample.count; i++) {
		uint32_t key = questions[moments[i].question].key;

		(void)warm_ask(warm, moments[i].question, moments[i].at_ms);
		used = budget.key[key].meter.used;
		most[key] = used > most[key] ? used : most[key];
	}
	free(moments);
}

static void
run(const char *what, uint64_t keep_ms, unsigned days)
{
	struct warm warm = { .budget = &budget,
		.questions = questions,
		.count = question_count,
		.keep_ms = keep_ms,
		.life_ms = 300000 };
	uint64_t random = 2024;

	open_budget();
	for (size_t i = 0; i < sample.count; i++) {
		struct warm_question *q = &questions[question_of[i]];

		q->key = open_key(&sample.items[i]);
		q->known_ms = q->warm_ms = 0;
		UNIT_CHECK(q->key != BUDGET_NONE);
	}
	key_count = table_in_use(&budget.keys);
	warm.queue = zeroes(question_count, sizeof(*warm.queue));
	if (days == 0)
		replay(&warm, 0, NULL);
	for (unsigned loop = 0; loop < days * LOOPS; loop++)
		replay(&warm, loop * 24 * HOUR / LOOPS, &random);
	qsort(most, key_count, sizeof(most[0]), by_size);
	printf("%s: %u keys, bits of each at most: p50 %ju, p90 %ju, p99 %ju, "
	       "max %ju; %ju paid, %ju free, %ju stays, %ju lapses, "
	       "%ju refused\n",
	    what, key_count, (uintmax_t)(most[key_count / 2] / BUDGET_BIT),
	    (uintmax_t)(most[key_count * 9 / 10] / BUDGET_BIT),
	    (uintmax_t)(most[key_count * 99 / 100] / BUDGET_BIT),
	    (uintmax_t)(most[key_count - 1] / BUDGET_BIT), (uintmax_t)warm.paid,
	    (uintmax_t)warm.free, (uintmax_t)warm.stayed,
	    (uintmax_t)warm.lapsed, (uintmax_t)warm.refused);
	ck_assert_uint_eq(warm.refused, 0);
	ck_assert_uint_gt(warm.paid, question_count / 2);
	free(warm.queue);
	free(block);
}

START_TEST(once)
{
	run("once", 0, 0);
}
END_TEST

START_TEST(three_days_kept_warm_for_a_day)
{
	run("three days, warm 24 h", 24 * HOUR, 3);
}
END_TEST

START_TEST(three_days_kept_warm_for_an_hour)
{
	run("three days, warm 1 h", HOUR, 3);
}
END_TEST

/* The sample of $NAMEWALL_SAMPLES, or the one in the tree. */
static bool
find_sample(void)
{
	const char *samples = getenv("NAMEWALL_SAMPLES");

	if (samples != NULL)
		(void)snprintf(path, sizeof(path), "%s/benign_stream.tsv.gz",
		    samples);
	else
		(void)snprintf(path, sizeof(path),
		    SRCDIR "/data/benign-stream.tsv");
	return access(path, R_OK) == 0 && access(SUFFIXES, R_OK) == 0;
}

int
main(void)
{
	static struct apex_table suffixes; /* its block lives as long */
	TCase *all;
	Suite *suite = unit_suite("budget_stream", &all);

	if (!find_sample()) {
		fprintf(stderr,
		    "SKIPPED: no %s or no %s: the replay of honest traffic "
		    "was NOT run\n",
		    path, SUFFIXES);
		return SKIPPED;
	}
	suffixes_read(&suffixes, SUFFIXES);
	sample_read_stream(&sample, path, &suffixes);
	number_questions();
	tcase_add_test(all, once);
	tcase_add_test(all, three_days_kept_warm_for_a_day);
	tcase_add_test(all, three_days_kept_warm_for_an_hour);
	return unit_run(suite);
}
