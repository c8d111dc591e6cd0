/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rng.h"

#include <sodium.h>
#include <string.h>

#include "tests/unit/unit.h"

static const uint8_t seed[32] = "thirty-two octets of a test seed";

/* The stream, block by block, straight from the generator. */
START_TEST(follows_the_generator)
{
	uint8_t key[32], fresh[512], out[480];
	struct rng r;

	rng_init(&r, seed);
	memcpy(key, seed, sizeof(key));
	for (int block = 0; block < 5; block++) {
		randombytes_buf_deterministic(fresh, sizeof(fresh), key);
		memcpy(key, fresh, sizeof(key));
		rng_bytes(&r, out, sizeof(out));
		ck_assert_mem_eq(out, fresh + 32, sizeof(out));
	}
}
END_TEST

START_TEST(pieces_make_the_same_stream)
{
	uint64_t state = unit_seed();
	static uint8_t whole[100000], pieces[100000];
	struct rng r;

	rng_init(&r, seed);
	rng_bytes(&r, whole, sizeof(whole));
	rng_init(&r, seed);
	for (size_t at = 0; at < sizeof(pieces);) {
		size_t n = unit_random(&state) % 1500;

		if (n > sizeof(pieces) - at)
			n = sizeof(pieces) - at;
		rng_bytes(&r, pieces + at, n);
		at += n;
	}
	ck_assert_mem_eq(whole, pieces, sizeof(whole));
}
END_TEST

START_TEST(forgets_what_it_handed_out)
{
	static const uint8_t nothing[100];
	uint8_t out[100];
	struct rng r;

	rng_init(&r, seed);
	ck_assert_mem_ne(r.key, seed, sizeof(seed));
	rng_bytes(&r, out, sizeof(out));
	ck_assert_mem_ne(out, nothing, sizeof(out));
	ck_assert_mem_eq(r.block, nothing, sizeof(nothing));
}
END_TEST

START_TEST(other_seeds_are_other_streams)
{
	uint8_t other[32];
	struct rng a, b;

	memcpy(other, seed, sizeof(other));
	other[31] ^= 1;
	rng_init(&a, seed);
	rng_init(&b, other);
	ck_assert_uint_ne(rng_u32(&a), rng_u32(&b));
}
END_TEST

START_TEST(stays_below_the_bound)
{
	static const uint32_t bounds[] = { 1, 2, 3, 7, 1000, 0x80000000u,
		0x80000001u, UINT32_MAX };
	struct rng r;

	rng_init(&r, seed);
	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
		for (int n = 0; n < 2000; n++)
			ck_assert_uint_lt(rng_below(&r, bounds[i]), bounds[i]);
}
END_TEST

/* Without the rejection a bound of 3 << 30 would give the lowest third twice
 * as often as each of the others. */
START_TEST(is_uniform)
{
	uint32_t thirds[3] = { 0 };
	struct rng r;

	rng_init(&r, seed);
	for (int n = 0; n < 30000; n++)
		thirds[rng_below(&r, 3u << 30) >> 30]++;
	for (int i = 0; i < 3; i++) {
		ck_assert_uint_gt(thirds[i], 9500);
		ck_assert_uint_lt(thirds[i], 10500);
	}
}
END_TEST

START_TEST(dies_of_nothing_to_choose_from)
{
	struct rng r;

	rng_init(&r, seed);
	(void)rng_below(&r, 0);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("rng", &all);

	tcase_add_test(all, follows_the_generator);
	tcase_add_test(all, pieces_make_the_same_stream);
	tcase_add_test(all, forgets_what_it_handed_out);
	tcase_add_test(all, other_seeds_are_other_streams);
	tcase_add_test(all, stays_below_the_bound);
	tcase_add_test(all, is_uniform);
	tcase_add_test_raise_signal(all, dies_of_nothing_to_choose_from,
	    SIGABRT);
	return unit_run(suite);
}
