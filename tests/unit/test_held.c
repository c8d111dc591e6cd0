/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of what is held, against a plain array that does the same.
 */
#include "tests/unit/unit.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "src/helper/held.h"

#define PINS      64
#define SANDBOXES 4
#define KEYS      160
#define STEPS     20000

static struct held held;

static void
setup(void)
{
	ck_assert_int_eq(held_init(&held, PINS, SANDBOXES, 7), 0);
}

static void
teardown(void)
{
	held_free(&held);
}

static struct addr
addr_of(unsigned int key)
{
	const uint8_t bytes[4] = { 198, 51, 100, (uint8_t)(key / SANDBOXES) };

	return addr_v4(bytes);
}

static uint32_t
sandbox_of(unsigned int key)
{
	return key % SANDBOXES + 1;
}

static const struct service https = { PROTO_TCP, 443 };

/* The model: when each key expires, and whether it is there. */
struct model {
	bool there[KEYS];
	uint64_t expires_ms[KEYS];
	unsigned int count;
};

static void
model_drop(struct model *model, unsigned int key)
{
	model->there[key] = false;
	model->count--;
}

static void
compare(const struct model *model)
{
	uint32_t counts[SANDBOXES + 1] = { 0 };
	size_t at = 0, walked = 0;

	for (unsigned int key = 0; key < KEYS; key++) {
		struct addr addr = addr_of(key);
		const struct held_pin *pin =
		    held_find(&held, sandbox_of(key), &addr, https);

		ck_assert_int_eq(pin != NULL, model->there[key]);
		if (pin == NULL)
			continue;
		ck_assert_uint_eq(pin->expires_ms, model->expires_ms[key]);
		counts[sandbox_of(key)]++;
	}
	for (uint32_t i = 1; i <= SANDBOXES; i++)
		ck_assert_uint_eq(held.counts[i], counts[i]);
	while (held_next(&held, &at) != NULL)
		walked++;
	ck_assert_uint_eq(walked, model->count);
	ck_assert_uint_eq(held.pins, model->count);
}

static void
put(struct model *model, unsigned int key, uint64_t expires_ms)
{
	struct addr addr = addr_of(key);
	struct held_pin *pin = held_put(&held, sandbox_of(key), &addr, https);

	if (!model->there[key] && model->count == PINS) {
		ck_assert_ptr_null(pin);
		return;
	}
	ck_assert_ptr_nonnull(pin);
	pin->expires_ms = expires_ms;
	model->count += model->there[key] ? 0 : 1;
	model->there[key] = true;
	model->expires_ms[key] = expires_ms;
}

static void
drop_where(struct model *model, uint32_t sandbox, uint64_t from, uint64_t to)
{
	for (unsigned int key = 0; key < KEYS; key++)
		if (model->there[key] &&
		    (sandbox == 0 || sandbox_of(key) == sandbox) &&
		    model->expires_ms[key] >= from &&
		    model->expires_ms[key] <= to)
			model_drop(model, key);
}

static uint32_t
next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

START_TEST(does_as_the_model)
{
	struct model model = { .count = 0 };
	uint32_t state = (uint32_t)_i + 1;

	for (unsigned int step = 0; step < STEPS; step++) {
		unsigned int key = next_random(&state) % KEYS;
		struct addr addr = addr_of(key);
		uint32_t what = next_random(&state) % 100;

		if (what < 60) {
			put(&model, key, next_random(&state) % 50);
		} else if (what < 96 && model.there[key]) {
			held_drop(&held,
			    held_find(&held, sandbox_of(key), &addr, https));
			model_drop(&model, key);
		} else if (what == 96) {
			uint64_t now_ms = next_random(&state) % 50;

			held_expire(&held, now_ms);
			drop_where(&model, 0, 1, now_ms);
		} else if (what == 97) {
			held_forget_lapsed(&held);
			drop_where(&model, 0, 0, 0);
		} else if (what == 98) {
			held_clear(&held, sandbox_of(key));
			drop_where(&model, sandbox_of(key), 0, UINT64_MAX);
		}
		if (step % 50 == 0)
			compare(&model);
	}
	compare(&model);
}
END_TEST

START_TEST(keys_differ_by_each_part)
{
	struct addr a = addr_of(0), b = addr_of(8);
	const struct service dns = { PROTO_UDP, 443 }, ssh = { PROTO_TCP, 22 };

	ck_assert_ptr_nonnull(held_put(&held, 1, &a, https));
	ck_assert_ptr_null(held_find(&held, 2, &a, https));
	ck_assert_ptr_null(held_find(&held, 1, &b, https));
	ck_assert_ptr_null(held_find(&held, 1, &a, dns));
	ck_assert_ptr_null(held_find(&held, 1, &a, ssh));
}
END_TEST

START_TEST(nobody_aborts)
{
	struct addr a = addr_of(0);

	(void)held_put(&held, 0, &a, https);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("held", &all);

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_loop_test(all, does_as_the_model, 0, 10);
	tcase_add_test(all, keys_differ_by_each_part);
	tcase_add_test_raise_signal(all, nobody_aborts, SIGABRT);
	return unit_run(suite);
}
