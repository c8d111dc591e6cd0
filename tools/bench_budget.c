/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_budget - what it costs to charge a question, and to keep a key.
 *
 *   bench_budget [MILLISECONDS]
 *
 * Prices and commits new names of several lengths, all tables full, and known
 * ones; prints nanoseconds, and getppid(2) calls of the same run.
 */
#include "config.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/budget.h"
#include "lib/require.h"

#define BATCH 1000
#define NAMES 4096 /* more than any table knows */
#define LIMIT METER_LIMIT_MAX

struct bench {
	struct budget budget;
	struct dname *names;
	void *block;
	uint32_t key;
	uint64_t now_ms;
};

static const uint8_t seed[32] = "a seed for the bench of a ledger";

_Noreturn void
require_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: %s\n", file, line, condition);
	abort();
}

static double
seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The lesser of a time for each of so many, and the least so far: what other
 * programs take away is no cost. */
static void
note_least(double *least, double begin, int count)
{
	double each = (seconds() - begin) / count;

	if (*least == 0 || each < *least)
		*least = each;
}

static void
open_budget(struct bench *b)
{
	struct budget_limits limits = { .keys_max = 1, .sums_max = 2 };
	struct budget_id box = budget_sum_id(BUDGET_SANDBOX, "box1");
	struct budget_id policy = budget_sum_id(BUDGET_POLICY, "agent");
	struct budget_id id = budget_key_id("box1", "*.example.com", 13);
	struct budget_terms terms = { .limit = LIMIT };
	struct arena arena;

	arena_init(&arena, NULL, 0);
	budget_init(&b->budget, &arena, &limits, seed);
	b->block = calloc(1, arena.used);
	REQUIRE(b->block != NULL);
	arena_init(&arena, b->block, arena.used);
	budget_init(&b->budget, &arena, &limits, seed);
	terms.sandbox_sum =
	    budget_open_sum(&b->budget, &box, BUDGET_SANDBOX, LIMIT, 0);
	terms.policy_sum =
	    budget_open_sum(&b->budget, &policy, BUDGET_POLICY, LIMIT, 0);
	b->key = budget_open_key(&b->budget, &id, &terms, 0);
	/* Nor a second one: the table refuses. */
	id = budget_key_id("box2", "*.example.com", 13);
	REQUIRE(budget_open_key(&b->budget, &id, &terms, 0) == BUDGET_NONE);
}

/* Names of so many characters below the parent, in labels of at most 50. */
static void
make_names(struct bench *b, size_t len, uint32_t distinct)
{
	static const char LETTERS[] = "etaoinshrdlucmfwypvbgkjqxz0123456789";
	uint64_t state = 88172645463325252;
	char text[256];
	size_t i;

	for (uint32_t n = 0; n < NAMES; n++) {
		if (n >= distinct) {
			b->names[n] = b->names[n % distinct];
			continue;
		}
		for (i = 0; i < len; i++) {
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			text[i] = i % 51 == 50 ? '.' : LETTERS[state % 36];
		}
		memcpy(text + len, ".example.com", 13);
		REQUIRE(dname_from_text(text, len + 12, &b->names[n]));
	}
}

static void
charge(struct bench *b, uint32_t n)
{
	struct budget_event event = { &b->names[n],
		(uint8_t)(b->names[n].labels - 2), 0, 3, 2 };
	struct budget_result result;

	b->now_ms += 60000;
	REQUIRE(budget_charge(&b->budget, b->key, &event, b->now_ms, &result) ==
	    BUDGET_PAY);
}

static void
run(struct bench *b, const char *what, size_t len, uint32_t distinct,
    double limit_s)
{
	double begin, end, least = 0, syscall_least = 0;
	uint32_t n = 0;

	make_names(b, len, distinct);
	while (n < NAMES)
		charge(b, n++);
	end = seconds() + limit_s;
	do {
		begin = seconds();
		for (int i = 0; i < BATCH; i++)
			(void)syscall(SYS_getppid);
		note_least(&syscall_least, begin, BATCH);
		begin = seconds();
		for (int i = 0; i < BATCH; i++)
			charge(b, n++ % NAMES);
		note_least(&least, begin, BATCH);
	} while (seconds() < end);
	printf("%-28s %6.0f ns, %5.1f getppid\n", what, least * 1e9,
	    least / syscall_least);
}

int
main(int argc, char **argv)
{
	double limit_s = argc > 1 ? strtod(argv[1], NULL) / 1000 : 0.5;
	struct bench *b = calloc(1, sizeof(*b));

	if (b == NULL || sodium_init() < 0)
		return 1;
	b->names = calloc(NAMES, sizeof(*b->names));
	if (b->names == NULL)
		return 1;
	open_budget(b);
	printf("%zu octets a key, %zu a sandbox or policy, %d a record\n",
	    sizeof(struct budget_key), sizeof(struct budget_sum),
	    BUDGET_RECORD_SIZE);
	run(b, "known name", 8, 32, limit_s);
	run(b, "new name, 8 characters", 8, NAMES, limit_s);
	run(b, "new name, 30 characters", 30, NAMES, limit_s);
	run(b, "new name, 66 characters", 66, NAMES, limit_s);
	run(b, "new name, 100 characters", 100, NAMES, limit_s);
	run(b, "new name, 230 characters", 230, NAMES, limit_s);
	free(b->names);
	free(b->block);
	free(b);
	return 0;
}
