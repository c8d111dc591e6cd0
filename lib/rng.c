/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One call of the generator makes a block and the key of the next one; what
 * was handed out is wiped. So the state at one time says nothing about what
 * came before it.
 */
#include "lib/rng.h"

#include <sodium.h>
#include <string.h>

#include "lib/require.h"

_Static_assert(sizeof(((struct rng *)0)->key) == randombytes_SEEDBYTES,
    "the key is the generator's seed");

static void
refill(struct rng *r)
{
	uint8_t fresh[sizeof(r->key) + sizeof(r->block)];

	randombytes_buf_deterministic(fresh, sizeof(fresh), r->key);
	memcpy(r->key, fresh, sizeof(r->key));
	memcpy(r->block, fresh + sizeof(r->key), sizeof(r->block));
	sodium_memzero(fresh, sizeof(fresh));
	r->used = 0;
}

void
rng_init(struct rng *r, const uint8_t seed[32])
{
	memcpy(r->key, seed, sizeof(r->key));
	refill(r);
}

void
rng_bytes(struct rng *r, void *dst, size_t n)
{
	uint8_t *out = dst;

	while (n > 0) {
		size_t part = sizeof(r->block) - r->used;

		if (part > n)
			part = n;
		memcpy(out, r->block + r->used, part);
		sodium_memzero(r->block + r->used, part);
		r->used += part;
		out += part;
		n -= part;
		if (r->used == sizeof(r->block))
			refill(r);
	}
}

uint32_t
rng_u32(struct rng *r)
{
	uint8_t b[4];

	rng_bytes(r, b, sizeof(b));
	return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
	    (uint32_t)b[3] << 24;
}

uint32_t
rng_below(struct rng *r, uint32_t bound)
{
	uint32_t value, bias;

	REQUIRE(bound >= 1);
	/* 2^32 mod bound: as many values of the lowest would come too often. */
	bias = (UINT32_MAX - bound + 1) % bound;
	do
		value = rng_u32(r);
	while (value < bias);
	return value % bound;
}
