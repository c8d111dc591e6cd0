/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_engine - what a question costs in the core alone.
 *
 *   bench_engine [MILLISECONDS]
 *
 * Drives one engine with one kind of question after the other and prints
 * questions a second, and what one costs in getppid(2) calls of the same run:
 * a number that can be compared between machines better than the first.
 */
#include "config.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/dns.h"
#include "lib/require.h"
#include "tests/rig/rig.h"

#define BATCH 1000

static const char rules[] = "policy agent\n"
			    "allow www.example.com\n"
			    "allow four.example.com\n"
			    "allow *.pages.example.net\n"
			    "sandbox box1 agent 10.200.1.2 2001:db8:200::2\n";
static const uint8_t seed[32] = "a seed for the bench of the core";

struct bench {
	struct engine *engine;
	struct policy *policy;
	struct effect effect;
	struct effect pending[64];
	uint64_t now_ms;
	uint64_t replies;
};

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

/* Answers the core's own requests at once, as a perfect world would. */
static void
serve(struct bench *b, const char *records)
{
	struct rig_response response = { .records = records };
	struct effect *pending = b->pending;
	uint32_t count = 0;
	uint8_t wire[1024];

	do {
		while (engine_next_effect(b->engine, &b->effect)) {
			if (b->effect.kind == EFFECT_ASK ||
			    b->effect.kind == EFFECT_PIN)
				pending[count++] = b->effect;
			b->replies += b->effect.kind == EFFECT_REPLY;
		}
		if (count == 0 && b->engine->departures.edge_ms > b->now_ms &&
		    b->engine->departures.edge_ms != DEADLINE_NEVER) {
			b->now_ms = b->engine->departures.edge_ms;
			engine_expire(b->engine, b->now_ms);
			continue;
		}
		if (count == 0)
			return;
		count--;
		if (pending[count].kind == EFFECT_PIN) {
			engine_pinned(b->engine, pending[count].u.pin.op, 0,
			    b->now_ms);
			continue;
		}
		if (pending[count].u.ask.ask.type == DNS_TYPE_AAAA)
			response.records = NULL;
		else
			response.records = records;
		engine_answer(b->engine, pending[count].u.ask.lookup,
		    pending[count].u.ask.part, wire,
		    rig_response(wire, sizeof(wire), &pending[count].u.ask.ask,
			&response),
		    b->now_ms);
	} while (true);
}

static void
ask(struct bench *b, const uint8_t *wire, size_t len)
{
	struct client client = { .sandbox = 1, .port = 1024 };

	engine_query(b->engine, &client, wire, len, b->now_ms);
	while (engine_next_effect(b->engine, &b->effect)) {
		REQUIRE(b->effect.kind != EFFECT_ASK &&
		    b->effect.kind != EFFECT_PIN);
		b->replies += b->effect.kind == EFFECT_REPLY;
	}
}

static double
syscall_cost(void)
{
	double begin = seconds();

	for (int i = 0; i < 200 * BATCH; i++)
		(void)syscall(SYS_getppid);
	return (seconds() - begin) / (200 * BATCH);
}

static void
run(struct bench *b, const char *what, const char *name, const char *records,
    double limit_s)
{
	double begin, took, per_syscall = syscall_cost();
	uint64_t before;
	uint8_t wire[512];
	size_t len = rig_query(wire, sizeof(wire), name, DNS_TYPE_A, 1, true);
	struct client client = { .sandbox = 1, .port = 1024 };

	/* Once for the cache and the ledger, where there is anything. */
	engine_query(b->engine, &client, wire, len, b->now_ms);
	serve(b, records);
	before = b->replies;
	begin = seconds();
	do {
		for (int i = 0; i < BATCH; i++)
			ask(b, wire, len);
		took = seconds() - begin;
	} while (took < limit_s);
	before = b->replies - before;
	printf("%-28s %9.0f a second, %6.0f ns, %5.1f getppid\n", what,
	    (double)before / took, took / (double)before * 1e9,
	    took / (double)before / per_syscall);
}

int
main(int argc, char **argv)
{
	double limit_s = argc > 1 ? strtod(argv[1], NULL) / 1000 : 0.5;
	struct engine_limits limits = rig_limits(1);
	struct bench *b = calloc(1, sizeof(*b));
	char error[RIG_ERROR_MAX];

	if (b == NULL || sodium_init() < 0)
		return 3;
	b->now_ms = 1000;
	b->engine = rig_engine(&limits, seed);
	b->policy = rig_policy(rules, error);
	if (b->engine == NULL || b->policy == NULL)
		return 3;
	engine_set_policy(b->engine, b->policy, b->now_ms);
	serve(b, NULL);
	engine_recalled(b->engine, b->now_ms);
	serve(b, NULL);
	engine_settled(b->engine, 0, b->now_ms);
	serve(b, NULL);

	run(b, "cached, 1 address", "www.example.com",
	    "www.example.com 300 A 192.0.2.1", limit_s);
	run(b, "cached, 4 addresses", "four.example.com",
	    "four.example.com 300 A 192.0.2.1; four.example.com 300 A "
	    "192.0.2.2; four.example.com 300 A 192.0.2.3; four.example.com "
	    "300 A 192.0.2.4",
	    limit_s);
	run(b, "cached, wildcard", "x.pages.example.net",
	    "x.pages.example.net 300 A 192.0.2.9", limit_s);
	run(b, "denied", "www.unlisted.example", NULL, limit_s);
	rig_engine_free(b->engine);
	rig_policy_free(b->policy);
	free(b);
	return 0;
}
