/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>

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
