/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lib/require.h"

_Noreturn void
require_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: %s\n", file, line, condition);
	abort();
}

Suite *
unit_suite(const char *name, TCase **ret_case)
{
	Suite *suite = suite_create(name);
	TCase *all = tcase_create(name);

	tcase_set_timeout(all, 60);
	suite_add_tcase(suite, all);
	*ret_case = all;
	return suite;
}

void
unit_covers(const char *rows)
{
	printf("covers: %s\n", rows);
	fflush(stdout);
}

int
unit_run(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

uint64_t
unit_seed(void)
{
	const char *given = getenv("UNIT_SEED");
	uint64_t seed =
	    given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);

	printf("seed %" PRIu64 " (repeat with UNIT_SEED)\n", seed);
	fflush(stdout);
	return seed;
}

/* SplitMix64. */
uint32_t
unit_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)(z >> 32);
}
