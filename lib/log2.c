/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log2 - binary logarithms in 1/256 bit.
 *
 * Up to the table's end they are exact to the rounding. Beyond, twelve bits
 * of the number are looked up, cut for the lower bound and rounded up for the
 * upper one.
 */
#include "lib/log2.h"

#include "lib/require.h"

/* By how much to shift until what is left is in the table. */
static uint32_t
shift_of(uint64_t x)
{
	uint32_t shift = 0;

	if (x <= LOG2_TABLE_MAX)
		return 0;
	while (x >> shift >= LOG2_TABLE_MAX)
		shift++;
	return shift;
}

uint32_t
log2_down(uint64_t x)
{
	uint32_t shift = shift_of(x);

	REQUIRE(x > 0);
	return log2_table[x >> shift] + shift * LOG2_BIT;
}

/* Only powers of two have a logarithm that needs no rounding: m to the 256th
 * is one if and only if m is. */
uint32_t
log2_up(uint64_t x)
{
	uint32_t shift = shift_of(x);
	uint64_t m = x >> shift;
	uint32_t price;

	REQUIRE(x > 0);
	if (m << shift != x)
		m++;
	price = log2_table[m] + shift * LOG2_BIT;
	return (m & (m - 1)) == 0 ? price : price + 1;
}

uint32_t
log2_ratio(uint64_t above, uint64_t below)
{
	REQUIRE(above >= below);
	return above == below ? 0 : log2_up(above) - log2_down(below);
}
