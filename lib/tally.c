/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/tally.h"

#include "lib/log2.h"
#include "lib/require.h"

uint32_t
tally_price(uint32_t sum, uint32_t outcomes, uint16_t count)
{
	return log2_ratio(2 * (uint64_t)sum + outcomes,
	    2 * (uint64_t)count + 1);
}

/* Rounded up, so that what was seen stays seen. */
static void
halve(uint16_t *counts, size_t len, uint32_t *sum)
{
	*sum = 0;
	for (size_t i = 0; i < len; i++) {
		counts[i] = (uint16_t)((counts[i] + 1) / 2);
		*sum += counts[i];
	}
}

void
tally_note(uint16_t *counts, size_t len, uint32_t *sum, size_t i)
{
	REQUIRE(i < len);
	counts[i]++;
	(*sum)++;
	if (counts[i] >= TALLY_MAX)
		halve(counts, len, sum);
}
