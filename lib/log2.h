/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log2 - binary logarithms in 1/256 bit, rounded to a known side.
 *
 * Integers alone, so that a price is the same number on every machine. The
 * table is written at build time by tools/mkmodel.
 */
#ifndef LIB_LOG2_H
#define LIB_LOG2_H

#include <stdint.h>

#define LOG2_BIT       256 /* one bit */
#define LOG2_TABLE_MAX 4096

/* floor(256 log2 m), by m; 0 at 0. */
extern const uint16_t log2_table[LOG2_TABLE_MAX + 1];

/* Never below 256 log2 x, and at most 2 above it; x at least 1 (REQUIREd). */
uint32_t log2_up(uint64_t x);
/* Never above 256 log2 x, and at most 2 below it; x at least 1 (REQUIREd). */
uint32_t log2_down(uint64_t x);
/* Of a fraction that is at least 1 (REQUIREd): never below, 0 if it is 1, and
 * otherwise at least 1. */
uint32_t log2_ratio(uint64_t above, uint64_t below);

#endif
