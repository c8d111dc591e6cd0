/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crp - what it costs to name one of an unbounded set again, or a new one.
 *
 * A Chinese restaurant process with strength 1/2 and discount 1/4 over the
 * hashes of at most CRP_SLOTS members. With n the sum of the counts and k the
 * members, one that came c times costs log2((4n+2)/(4c-1)), a new one
 * log2((4n+2)/(2+k)): since the counts add up to n, the weights of all
 * members and of "new" add up to exactly 1. Prices are in 1/256 bit, rounded
 * up.
 *
 * A new member of a full table takes the place of another: a hand goes round,
 * halves every count above 1 that it passes and stops at the first that is 1.
 * Which one goes depends on what was noted alone, so the decoder of the
 * outside could follow, and n follows each change.
 *
 * Hashes are SipHash-2-4 under a key that never leaves the process. A member
 * that was never noted passes for a known one with a chance of at most
 * CRP_SLOTS / 2^64, whoever chooses it.
 */
#ifndef LIB_CRP_H
#define LIB_CRP_H

#include <stddef.h>
#include <stdint.h>

#ifndef CRP_SLOTS
#define CRP_SLOTS 64
#endif
/* A count that gets there halves all counts of its table. */
#ifndef CRP_COUNT_MAX
#define CRP_COUNT_MAX 65535
#endif
#define CRP_NEW UINT8_MAX

struct crp {
	uint64_t hash[CRP_SLOTS];
	uint16_t count[CRP_SLOTS]; /* 1 or more */
	uint32_t sum; /* of the counts */
	uint8_t used; /* the first so many slots */
	uint8_t hand;
};

/* A table of zeroes is empty. */
uint64_t crp_hash(const void *octets, size_t len, const uint8_t secret[16]);
/* The slot of a member, or CRP_NEW. */
uint8_t crp_find(const struct crp *, uint64_t hash);
uint32_t crp_price(const struct crp *, uint8_t slot);
/* Counts a member, or seats a new one. */
void crp_note(struct crp *, uint64_t hash);

#endif
