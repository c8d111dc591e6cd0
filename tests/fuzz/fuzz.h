/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz - what all fuzz targets share.
 *
 * A target is a program with LLVMFuzzerTestOneInput(). Linked with libFuzzer
 * (--enable-fuzzing, clang) it looks for new inputs; otherwise with main.c,
 * which runs the files and directories that it is given, once each. Inputs to
 * begin with are in <target>.in/, those that once failed in <target>.repro/.
 * Whatever a target finds ends in abort().
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include <ldns/ldns.h>

#include "lib/dname.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Aborts, and says why, when the two sides do not agree. */
#define AGREE(condition) REQUIRE(condition)

/* The oracle's name as ours: every name that it has read must be one. */
struct dname fuzz_name(const ldns_rdf *);

#endif
