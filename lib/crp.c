/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/crp.h"

#include <sodium.h>

#include "lib/log2.h"
#include "lib/require.h"

_Static_assert(CRP_SLOTS < CRP_NEW, "no slot is taken for a new member");
_Static_assert(crypto_shorthash_BYTES == 8, "a hash is a uint64_t");
_Static_assert(crypto_shorthash_KEYBYTES == 16, "size of the secret");

uint64_t
crp_hash(const void *octets, size_t len, const uint8_t secret[16])
{
	uint64_t hash;

	crypto_shorthash((uint8_t *)&hash, octets, len, secret);
	return hash;
}

uint8_t
crp_find(const struct crp *crp, uint64_t hash)
{
	for (uint8_t slot = 0; slot < crp->used; slot++) {
		if (crp->hash[slot] == hash)
			return slot;
	}
	return CRP_NEW;
}

uint32_t
crp_price(const struct crp *crp, uint8_t slot)
{
	uint64_t all = 4 * (uint64_t)crp->sum + 2;

	if (slot == CRP_NEW)
		return log2_ratio(all, UINT64_C(2) + crp->used);
	REQUIRE(slot < crp->used);
	return log2_ratio(all, 4 * (uint64_t)crp->count[slot] - 1);
}

/* Rounded up, so that nobody loses his seat by it. */
static void
halve_all(struct crp *crp)
{
	crp->sum = 0;
	for (uint8_t slot = 0; slot < crp->used; slot++) {
		crp->count[slot] = (uint16_t)((crp->count[slot] + 1) / 2);
		crp->sum += crp->count[slot];
	}
}

/* Ends, since the hand leaves every count smaller than it was. */
static uint8_t
make_room(struct crp *crp)
{
	uint8_t slot;
	uint16_t rest;

	for (;;) {
		slot = crp->hand;
		crp->hand = (uint8_t)((crp->hand + 1) % CRP_SLOTS);
		if (crp->count[slot] == 1) {
			crp->sum--;
			return slot;
		}
		rest = crp->count[slot] / 2;
		crp->sum -= (uint32_t)crp->count[slot] - rest;
		crp->count[slot] = rest;
	}
}

static void
seat(struct crp *crp, uint64_t hash)
{
	uint8_t slot = crp->used;

	if (slot == CRP_SLOTS)
		slot = make_room(crp);
	else
		crp->used++;
	crp->hash[slot] = hash;
	crp->count[slot] = 1;
	crp->sum++;
}

void
crp_note(struct crp *crp, uint64_t hash)
{
	uint8_t slot = crp_find(crp, hash);

	if (slot == CRP_NEW) {
		seat(crp, hash);
		return;
	}
	crp->count[slot]++;
	crp->sum++;
	if (crp->count[slot] >= CRP_COUNT_MAX)
		halve_all(crp);
}
