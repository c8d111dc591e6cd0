/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/crp.h"

#include <math.h>
#include <string.h>

#include "lib/require.h"
#include "tests/unit/unit.h"

static struct crp crp;

static void
note(uint64_t hash, int times)
{
	while (times-- > 0)
		crp_note(&crp, hash);
}

static uint32_t
price(uint64_t hash)
{
	return crp_price(&crp, crp_find(&crp, hash));
}

START_TEST(prices_by_hand)
{
	memset(&crp, 0, sizeof(crp));
	ck_assert_uint_eq(price(1), 0); /* the first is certainly new */
	note(1, 1);
	ck_assert_uint_eq(price(1), 257); /* log2 (6 / 3), rounded */
	ck_assert_uint_eq(price(2), 257); /* log2 (6 / 3): k is 1 */
	note(1, 1);
	ck_assert_uint_eq(price(1), 133); /* log2 (10 / 7) = 0.5146 */
	ck_assert_uint_eq(price(2), 446); /* log2 (10 / 3) = 1.7370 */
	note(2, 1);
	ck_assert_uint_eq(price(1), 257); /* log2 (14 / 7) */
	ck_assert_uint_eq(price(2), 570); /* log2 (14 / 3) = 2.2224 */
	ck_assert_uint_eq(price(3), 463); /* log2 (14 / 4) = 1.8074 */
}
END_TEST

/* The weights of all members and of "new", and the sum of the counts. */
static void
check_weights(void)
{
	double all = exp2(-(double)crp_price(&crp, CRP_NEW) / 256);
	uint32_t sum = 0;

	for (uint8_t slot = 0; slot < crp.used; slot++) {
		all += exp2(-(double)crp_price(&crp, slot) / 256);
		UNIT_CHECK(crp.count[slot] >= 1);
		sum += crp.count[slot];
	}
	UNIT_CHECK(sum == crp.sum);
	UNIT_CHECK(all <= 1 && all > 0.98);
}

/* Long runs over few and many members, through evictions and halving. */
START_TEST(weights_add_up_to_no_more_than_1)
{
	static const uint32_t MEMBERS[] = { 2, 63, 64, 65, 200, 100000 };
	uint64_t state = 7;

	for (size_t i = 0; i < ARRAY_LEN(MEMBERS); i++) {
		memset(&crp, 0, sizeof(crp));
		for (int step = 0; step < 150000; step++) {
			uint32_t range = unit_random(&state) % MEMBERS[i] + 1;

			note(unit_random(&state) % range, 1);
			if (step < 300 || step % 499 == 0)
				check_weights();
		}
	}
}
END_TEST

/* The hand halves what it passes and takes the first that came once. */
START_TEST(the_hand_takes_the_first_of_count_one)
{
	memset(&crp, 0, sizeof(crp));
	for (uint64_t i = 0; i < CRP_SLOTS; i++)
		note(i, i == 0 ? 5 : i == 1 ? 2 : i == 2 ? 1 : 9);
	note(1000, 1);
	ck_assert_uint_eq(crp_find(&crp, 1000), 2);
	ck_assert_uint_eq(crp_find(&crp, 2), CRP_NEW);
	ck_assert_uint_eq(crp.count[0], 2);
	ck_assert_uint_eq(crp.count[1], 1);
	ck_assert_uint_eq(crp.count[3], 9);
	ck_assert_uint_eq(crp.hand, 3);
	check_weights();
	/* On from there: 61 nines become fours, then 2 becomes 1, 1 goes. */
	note(1001, 1);
	ck_assert_uint_eq(crp.count[3], 4);
	ck_assert_uint_eq(crp.count[63], 4);
	ck_assert_uint_eq(crp.count[0], 1);
	ck_assert_uint_eq(crp_find(&crp, 1001), 1);
	ck_assert_uint_eq(crp_find(&crp, 1000), 2);
	check_weights();
}
END_TEST

START_TEST(full_counts_are_halved_rounding_up)
{
	memset(&crp, 0, sizeof(crp));
	note(1, 65534);
	note(2, 1);
	note(3, 7);
	ck_assert_uint_eq(crp.count[0], 65534);
	note(1, 1);
	ck_assert_uint_eq(crp.count[0], 32768);
	ck_assert_uint_eq(crp.count[1], 1);
	ck_assert_uint_eq(crp.count[2], 4);
	ck_assert_uint_eq(crp.sum, 32773);
	check_weights();
}
END_TEST

/* SipHash-2-4 of its authors' test vector: 15 octets under 00 … 0f. */
START_TEST(the_hash_is_siphash)
{
	static const uint8_t EXPECTED[8] = { 0xe5, 0x45, 0xbe, 0x49, 0x61, 0xca,
		0x29, 0xa1 };
	uint8_t secret[16], octets[15];
	uint64_t hash;

	for (uint8_t i = 0; i < 16; i++)
		secret[i] = i;
	memcpy(octets, secret, sizeof(octets));
	hash = crp_hash(octets, sizeof(octets), secret);
	ck_assert_mem_eq(&hash, EXPECTED, sizeof(hash));
	secret[0] = 1;
	ck_assert_uint_ne(crp_hash(octets, sizeof(octets), secret), hash);
}
END_TEST

START_TEST(a_slot_that_is_none)
{
	memset(&crp, 0, sizeof(crp));
	(void)crp_price(&crp, 0);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("crp", &all);

	tcase_add_test(all, prices_by_hand);
	tcase_add_test(all, weights_add_up_to_no_more_than_1);
	tcase_add_test(all, the_hand_takes_the_first_of_count_one);
	tcase_add_test(all, full_counts_are_halved_rounding_up);
	tcase_add_test(all, the_hash_is_siphash);
	tcase_add_test_raise_signal(all, a_slot_that_is_none, SIGABRT);
	return unit_run(suite);
}
