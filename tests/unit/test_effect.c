/* SPDX-License-Identifier: BSD-2-Clause */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "lib/effect.h"
#include "tests/unit/unit.h"

#define CAPACITY 3

static struct effects effects;
static struct effect out;
static void *block;

static void
setup(void)
{
	struct arena arena;

	arena_init(&arena, NULL, 0);
	effects_init(&effects, &arena, CAPACITY);
	block = calloc(1, arena.used);
	ck_assert_ptr_nonnull(block);
	arena_init(&arena, block, arena.used);
	effects_init(&effects, &arena, CAPACITY);
}

static void
teardown(void)
{
	free(block);
}

static void
add_record(uint32_t slot)
{
	effects_add(&effects, EFFECT_RECORD)->u.record.slot = slot;
}

START_TEST(comes_out_in_order)
{
	uint32_t in = 0, taken = 0;

	ck_assert(!effects_take(&effects, &out));
	/* Long enough for the ring to turn at every fill. */
	for (uint32_t round = 0; round < 50; round++) {
		while (effects_room(&effects) > round % CAPACITY)
			add_record(in++);
		ck_assert(effects_take(&effects, &out));
		ck_assert_int_eq(out.kind, EFFECT_RECORD);
		ck_assert_uint_eq(out.u.record.slot, taken++);
	}
	while (effects_take(&effects, &out))
		ck_assert_uint_eq(out.u.record.slot, taken++);
	ck_assert_uint_eq(in, taken);
	ck_assert_uint_eq(effects_room(&effects), CAPACITY);
}
END_TEST

START_TEST(copies_what_the_kind_uses)
{
	struct effect *in = effects_add(&effects, EFFECT_REPLY);

	in->u.reply.client.sandbox = 7;
	in->u.reply.len = 5;
	memcpy(in->u.reply.message, "reply", 5);
	in = effects_add(&effects, EFFECT_PIN);
	in->u.pin.op = 11;
	in->u.pin.slot = 12;
	in->u.pin.lifetime_ms = 13;
	in = effects_add(&effects, EFFECT_EVENT);
	memset(&in->u.event, 0, sizeof(in->u.event));
	memcpy(in->u.event.text, "text", 5);

	memset(&out, 0xee, sizeof(out));
	ck_assert(effects_take(&effects, &out));
	ck_assert_int_eq(out.kind, EFFECT_REPLY);
	ck_assert_uint_eq(out.u.reply.client.sandbox, 7);
	ck_assert_mem_eq(out.u.reply.message, "reply", 5);
	/* Nothing behind a reply is touched. */
	ck_assert_uint_eq(out.u.reply.message[5], 0xee);
	ck_assert(effects_take(&effects, &out));
	ck_assert_uint_eq(out.u.pin.op, 11);
	ck_assert_uint_eq(out.u.pin.slot, 12);
	ck_assert_uint_eq(out.u.pin.lifetime_ms, 13);
	ck_assert(effects_take(&effects, &out));
	ck_assert_str_eq(out.u.event.text, "text");
}
END_TEST

START_TEST(full_is_a_bug)
{
	for (uint32_t i = 0; i <= CAPACITY; i++)
		add_record(i);
}
END_TEST

START_TEST(a_reply_too_long_is_a_bug)
{
	effects_add(&effects, EFFECT_REPLY)->u.reply.len = REPLY_SIZE_MAX + 1;
	(void)effects_take(&effects, &out);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("effect", &all);

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, comes_out_in_order);
	tcase_add_test(all, copies_what_the_kind_uses);
	tcase_add_test_raise_signal(all, full_is_a_bug, SIGABRT);
	tcase_add_test_raise_signal(all, a_reply_too_long_is_a_bug, SIGABRT);
	return unit_run(suite);
}
