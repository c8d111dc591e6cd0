/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * simulate - runs the simulator over many seeds.
 *
 *   simulate [-v] [--from N] [--seeds N] [--plant INVARIANT]
 *
 * Each seed is run twice, and both runs must leave the same trace. A failure
 * prints the seed and the command that shows it again; -v prints all effects.
 * With --plant an error is made on purpose, outside the core, and it is a
 * failure when no seed shows that the oracle finds it: so each invariant is
 * seen to be able to fail.
 */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "tests/sim/world.h"

static struct options {
	uint64_t from, seeds;
	uint32_t plant;
	bool verbose;
} options = { .from = 1, .seeds = 200 };

/* For require_failed(): a bug of the core is shown with its seed. */
static uint64_t seed_now;

_Noreturn void
require_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr,
	    "%s:%d: %s\nseed %llu: ./simulate --from %llu --seeds 1\n", file,
	    line, condition, (unsigned long long)seed_now,
	    (unsigned long long)seed_now);
	abort();
}

static bool
read_options(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-v") == 0) {
			options.verbose = true;
			continue;
		}
		if (i + 1 == argc)
			return false;
		if (strcmp(argv[i], "--from") == 0)
			options.from = strtoull(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "--seeds") == 0)
			options.seeds = strtoull(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "--plant") == 0)
			options.plant = (uint32_t)strtoul(argv[++i], NULL, 10);
		else
			return false;
	}
	return options.seeds > 0;
}

/* The invariant that the seed breaks, 0: none. */
static uint32_t
run_seed(struct world *w, uint64_t seed, uint64_t *ret_replies)
{
	uint64_t trace;

	seed_now = seed;
	world_run(w, seed, options.plant, options.verbose);
	*ret_replies = w->addr_reply_count;
	trace = w->trace;
	if (w->failed != 0)
		return w->failed;
	world_run(w, seed, options.plant == 8 ? 9 : options.plant, false);
	if (trace != w->trace)
		oracle_fail(w, 8, "two runs leave two traces");
	return w->failed;
}

static void
show(const struct world *w, uint64_t seed)
{
	printf("seed %llu: invariant %u: %s\n"
	       "at %llu ms; again: ./simulate --from %llu --seeds 1\n",
	    (unsigned long long)seed, (unsigned)w->failed, w->why,
	    (unsigned long long)w->now_ms, (unsigned long long)seed);
}

int
main(int argc, char **argv)
{
	struct world *w = calloc(1, sizeof(*w));
	uint64_t replies, told = 0, failed = 0;

	if (!read_options(argc, argv)) {
		fprintf(stderr,
		    "usage: %s [-v] [--from N] [--seeds N] [--plant N]\n",
		    argv[0]);
		return 2;
	}
	if (w == NULL || sodium_init() < 0)
		return 3;
	for (uint64_t i = 0; i < options.seeds; i++) {
		uint64_t seed = options.from + i;
		uint32_t invariant = run_seed(w, seed, &replies);

		told += replies;
		if (invariant == 0)
			continue;
		if (options.plant != 0 && invariant != options.plant)
			continue;
		show(w, seed);
		failed++;
		break;
	}
	free(w);
	if (options.plant != 0) {
		printf("plant %u: %s\n", (unsigned)options.plant,
		    failed > 0 ? "found" : "NOT FOUND");
		return failed > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	printf("%llu seeds, %llu replies with addresses, %s\n",
	    (unsigned long long)options.seeds, (unsigned long long)told,
	    failed > 0 ? "FAILED" : "all held");
	/* A world in which nothing is told would prove nothing. */
	return failed == 0 && told >= options.seeds ? EXIT_SUCCESS
						    : EXIT_FAILURE;
}
