/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rng - a deterministic random stream from a 32-byte seed.
 *
 * libsodium's deterministic generator, block by block. The shell draws the
 * seed from the system once; tests give their own and get the same run.
 */
#ifndef LIB_RNG_H
#define LIB_RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng {
	uint8_t key[32]; /* replaced with each block: no way back */
	uint8_t block[480];
	size_t used;
};

void rng_init(struct rng *, const uint8_t seed[32]);
void rng_bytes(struct rng *, void *dst, size_t n);
uint32_t rng_u32(struct rng *);
/* Uniform in 0 … bound - 1; bound at least 1 (REQUIREd). */
uint32_t rng_below(struct rng *, uint32_t bound);

#endif
