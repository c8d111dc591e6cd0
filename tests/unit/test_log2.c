/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/log2.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "tests/unit/unit.h"

#define LIMBS 520 /* 64 bits to the power of 256, and room */

/* Powers by plain multiplication, unlike the generator's by squaring. */
static size_t
multiply(uint32_t *limbs, size_t used, uint64_t by)
{
	static uint32_t product[LIMBS];
	const uint32_t half[2] = { (uint32_t)by, (uint32_t)(by >> 32) };
	size_t i, h;

	memset(product, 0, sizeof(product));
	for (h = 0; h < 2; h++) {
		uint64_t carry = 0;

		for (i = 0; i < used; i++) {
			carry += (uint64_t)limbs[i] * half[h] + product[i + h];
			product[i + h] = (uint32_t)carry;
			carry >>= 32;
		}
		product[used + h] = (uint32_t)carry;
	}
	used += 2;
	while (product[used - 1] == 0)
		used--;
	memcpy(limbs, product, used * sizeof(limbs[0]));
	return used;
}

/* floor(256 log2 x), from the length of x to the power of 256. */
static uint32_t
exact(uint64_t x)
{
	static uint32_t limbs[LIMBS];
	size_t used = 1;
	uint32_t bits = 0;
	int i;

	limbs[0] = 1;
	for (i = 0; i < 256; i++)
		used = multiply(limbs, used, x);
	for (uint32_t top = limbs[used - 1]; top > 1; top >>= 1)
		bits++;
	return (uint32_t)(used - 1) * 32 + bits;
}

static bool
is_power(uint64_t x)
{
	return (x & (x - 1)) == 0;
}

START_TEST(table_is_exact)
{
	for (uint64_t m = 1; m <= LOG2_TABLE_MAX; m++) {
		uint32_t floor = exact(m);

		UNIT_CHECK(log2_down(m) == floor);
		UNIT_CHECK(log2_up(m) == floor + (is_power(m) ? 0 : 1));
	}
}
END_TEST

static void
check_bounds(uint64_t x)
{
	uint32_t floor = exact(x), ceiling = floor + (is_power(x) ? 0 : 1);

	UNIT_CHECK(log2_down(x) <= floor && floor - log2_down(x) <= 2);
	UNIT_CHECK(log2_up(x) >= ceiling && log2_up(x) - ceiling <= 2);
}

START_TEST(large_numbers_keep_their_side)
{
	uint64_t state = unit_seed();

	for (uint32_t bit = 12; bit < 64; bit++) {
		uint64_t power = (uint64_t)1 << bit;

		check_bounds(power - 1);
		check_bounds(power);
		check_bounds(power + 1);
		check_bounds(power | (power - 1));
	}
	for (int i = 0; i < 500; i++) {
		uint64_t x =
		    (uint64_t)unit_random(&state) << 32 | unit_random(&state);

		check_bounds((x >> unit_random(&state) % 52) | 1);
	}
}
END_TEST

START_TEST(never_falls)
{
	for (uint64_t x = 2; x < 40000; x++) {
		UNIT_CHECK(log2_up(x) >= log2_up(x - 1));
		UNIT_CHECK(log2_down(x) >= log2_down(x - 1));
		UNIT_CHECK(log2_up(x) >= log2_down(x));
	}
}
END_TEST

START_TEST(nothing_has_no_logarithm_above)
{
	(void)log2_up(0);
}
END_TEST

START_TEST(nothing_has_no_logarithm_below)
{
	(void)log2_down(0);
}
END_TEST

START_TEST(fractions_are_never_below)
{
	uint64_t above, below;

	for (above = 1; above <= 300; above++) {
		for (below = 1; below < above; below++) {
			double true_price =
			    256 * log2((double)above / (double)below);

			UNIT_CHECK(log2_ratio(above, below) >= true_price);
			UNIT_CHECK(log2_ratio(above, below) < true_price + 2);
			UNIT_CHECK(log2_ratio(above, below) > 0);
		}
		UNIT_CHECK(log2_ratio(above, above) == 0);
	}
	UNIT_CHECK(
	    log2_ratio(UINT64_C(1) << 62, UINT64_C(1) << 22) == 40 * LOG2_BIT);
}
END_TEST

START_TEST(fraction_below_1)
{
	(void)log2_ratio(3, 4);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("log2", &all);

	tcase_set_timeout(all, 60);
	tcase_add_test(all, table_is_exact);
	tcase_add_test(all, large_numbers_keep_their_side);
	tcase_add_test(all, never_falls);
	tcase_add_test_raise_signal(all, nothing_has_no_logarithm_above,
	    SIGABRT);
	tcase_add_test_raise_signal(all, nothing_has_no_logarithm_below,
	    SIGABRT);
	tcase_add_test(all, fractions_are_never_below);
	tcase_add_test_raise_signal(all, fraction_below_1, SIGABRT);
	return unit_run(suite);
}
