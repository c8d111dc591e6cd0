/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tally - what the next of a few outcomes costs, by how often each came.
 *
 * The estimate of Krichevsky and Trofimov: each outcome counts half a time
 * more than it was seen. Prices are in 1/256 bit, rounded up, and 2^-price
 * over all outcomes adds up to at most 1 whatever was counted.
 */
#ifndef LIB_TALLY_H
#define LIB_TALLY_H

#include <stddef.h>
#include <stdint.h>

/* A count that gets there halves all of its tally. */
#ifndef TALLY_MAX
#define TALLY_MAX 65535
#endif

/* Of an outcome that came `count` times among `sum`, one of so many. */
uint32_t tally_price(uint32_t sum, uint32_t outcomes, uint16_t count);
/* Counts outcome i of len; *sum is the sum of all. */
void tally_note(uint16_t *counts, size_t len, uint32_t *sum, size_t i);

#endif
