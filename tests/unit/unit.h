/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit - what all unit tests share: running a suite, and a require_failed()
 * that aborts, so that death tests can expect SIGABRT.
 */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include <check.h>

/* Runs a suite and returns what main() should. The suite is freed. */
int unit_run(Suite *);
/* A suite with one test case, for the common shape. */
Suite *unit_suite(const char *name, TCase **ret_case);

#endif
