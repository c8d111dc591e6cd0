/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit - what all unit tests share: running a suite, and a require_failed()
 * that aborts, so that death tests can expect SIGABRT.
 */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include <check.h>
#include <signal.h>
#include <stdint.h>

/* Says which rows of tests/peer-issues.tsv this program stands for. */
void unit_covers(const char *rows);
/* Runs a suite and returns what main() should. The suite is freed. */
int unit_run(Suite *);
/* A suite with one test case, for the common shape. */
Suite *unit_suite(const char *name, TCase **ret_case);
/* For loops of many steps: ck_assert() writes to a pipe each time, even when
 * it holds. */
#define UNIT_CHECK(condition)                           \
	do {                                            \
		if (!(condition))                       \
			ck_abort_msg("%s", #condition); \
	} while (0)

/* A seed for a random loop: from $UNIT_SEED, else from the clock. Printed, so
 * that a failed run can be repeated. */
uint64_t unit_seed(void);
/* The next number of the sequence that a seed starts. */
uint32_t unit_random(uint64_t *state);

#endif
