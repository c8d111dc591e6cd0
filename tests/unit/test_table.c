/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/table.h"

#include <string.h>

#include "tests/unit/unit.h"

#define CAPACITY 13
#define KEY_SIZE 5

static _Alignas(16) uint8_t block[8192];
static const uint8_t secret[16] = "a secret to hash";

static struct table
fresh_table(uint32_t capacity, uint32_t key_size)
{
	struct arena a;
	struct table t;

	arena_init(&a, block, sizeof(block));
	table_init(&t, &a, capacity, key_size, secret);
	ck_assert(!a.exhausted);
	return t;
}

static void
key_of(uint8_t key[KEY_SIZE], uint32_t number)
{
	memset(key, 0, KEY_SIZE);
	/* NULs first: keys are octets, not text. */
	memcpy(key + 1, &number, sizeof(number));
}

START_TEST(finds_what_was_claimed)
{
	struct table t = fresh_table(CAPACITY, KEY_SIZE);
	uint8_t key[KEY_SIZE];
	bool is_new = false;
	uint32_t slot;

	key_of(key, 1);
	ck_assert_uint_eq(table_find(&t, key), TABLE_NONE);
	slot = table_claim(&t, key, &is_new);
	ck_assert_uint_lt(slot, CAPACITY);
	ck_assert(is_new);
	ck_assert_uint_eq(table_claim(&t, key, &is_new), slot);
	ck_assert(!is_new);
	ck_assert_uint_eq(table_find(&t, key), slot);
	ck_assert_mem_eq(table_key(&t, slot), key, KEY_SIZE);
	table_drop(&t, slot);
	ck_assert_uint_eq(table_find(&t, key), TABLE_NONE);
	ck_assert_uint_eq(table_in_use(&t), 0);
}
END_TEST

START_TEST(a_full_table_refuses_new_keys_only)
{
	struct table t = fresh_table(CAPACITY, KEY_SIZE);
	uint8_t key[KEY_SIZE];
	bool is_new = false;

	for (uint32_t i = 0; i < CAPACITY; i++) {
		key_of(key, i);
		ck_assert_uint_ne(table_claim(&t, key, &is_new), TABLE_NONE);
	}
	key_of(key, CAPACITY);
	ck_assert_uint_eq(table_claim(&t, key, &is_new), TABLE_NONE);
	key_of(key, 0);
	ck_assert_uint_ne(table_claim(&t, key, &is_new), TABLE_NONE);
	ck_assert(!is_new);
}
END_TEST

START_TEST(without_memory_it_is_full)
{
	struct arena a;
	struct table t;
	bool is_new = false;

	arena_init(&a, NULL, 0);
	table_init(&t, &a, CAPACITY, KEY_SIZE, secret);
	ck_assert_uint_eq(table_claim(&t, "12345", &is_new), TABLE_NONE);
	ck_assert_uint_eq(table_find(&t, "12345"), TABLE_NONE);
	ck_assert_uint_eq(table_oldest(&t), TABLE_NONE);
	arena_init(&a, block, 100);
	table_init(&t, &a, CAPACITY, KEY_SIZE, secret);
	ck_assert(a.exhausted);
	ck_assert_uint_eq(table_claim(&t, "12345", &is_new), TABLE_NONE);
	t = fresh_table(0, KEY_SIZE);
	ck_assert_uint_eq(table_claim(&t, "12345", &is_new), TABLE_NONE);
}
END_TEST

START_TEST(every_key_size_works)
{
	for (uint32_t size = 1; size <= TABLE_KEY_MAX; size++) {
		struct table t = fresh_table(2, size);
		uint8_t a[TABLE_KEY_MAX] = { 0 }, b[TABLE_KEY_MAX] = { 0 };
		bool is_new = false;
		uint32_t slot;

		/* They differ in the last octet alone. */
		b[size - 1] = 1;
		slot = table_claim(&t, a, &is_new);
		ck_assert_uint_ne(table_claim(&t, b, &is_new), slot);
		ck_assert(is_new);
		ck_assert_uint_eq(table_find(&t, a), slot);
	}
}
END_TEST

/* The model: the keys in order of age. */
struct model {
	uint32_t keys[CAPACITY], slots[CAPACITY], count;
};

static uint32_t
model_find(const struct model *m, uint32_t key)
{
	uint32_t i = 0;

	while (i < m->count && m->keys[i] != key)
		i++;
	return i;
}

static void
model_remove(struct model *m, uint32_t index)
{
	for (m->count--; index < m->count; index++) {
		m->keys[index] = m->keys[index + 1];
		m->slots[index] = m->slots[index + 1];
	}
}

static void
model_append(struct model *m, uint32_t key, uint32_t slot)
{
	m->keys[m->count] = key;
	m->slots[m->count++] = slot;
}

static void
check_order(const struct table *t, const struct model *m)
{
	uint32_t slot = table_oldest(t);

	for (uint32_t i = 0; i < m->count; i++) {
		UNIT_CHECK(slot == m->slots[i]);
		slot = table_next(t, slot);
	}
	ck_assert_uint_eq(slot, TABLE_NONE);
	ck_assert_uint_eq(table_in_use(t), m->count);
}

static void
claim_both(struct table *t, struct model *m, uint32_t number)
{
	uint8_t key[KEY_SIZE];
	uint32_t index = model_find(m, number), slot;
	bool is_new = false;

	key_of(key, number);
	slot = table_claim(t, key, &is_new);
	if (index < m->count) {
		ck_assert_uint_eq(slot, m->slots[index]);
		ck_assert(!is_new);
	} else if (m->count == CAPACITY) {
		ck_assert_uint_eq(slot, TABLE_NONE);
	} else {
		ck_assert(is_new);
		model_append(m, number, slot);
	}
}

START_TEST(behaves_like_a_list)
{
	uint64_t state = unit_seed();
	struct table t = fresh_table(CAPACITY, KEY_SIZE);
	struct model m = { .count = 0 };

	for (int step = 0; step < 100000; step++) {
		uint32_t number = unit_random(&state) % (2 * CAPACITY);
		uint32_t index = model_find(&m, number), slot;
		uint8_t key[KEY_SIZE];

		key_of(key, number);
		slot = table_find(&t, key);
		if (index == m.count)
			ck_assert_uint_eq(slot, TABLE_NONE);
		else
			ck_assert_uint_eq(slot, m.slots[index]);
		switch (unit_random(&state) % 3) {
		case 0:
			if (slot == TABLE_NONE)
				break;
			table_drop(&t, slot);
			model_remove(&m, index);
			break;
		case 1:
			if (slot == TABLE_NONE)
				break;
			table_touch(&t, slot);
			model_remove(&m, index);
			model_append(&m, number, slot);
			break;
		default:
			claim_both(&t, &m, number);
			break;
		}
		check_order(&t, &m);
	}
}
END_TEST

START_TEST(dies_dropping_a_free_slot)
{
	struct table t = fresh_table(CAPACITY, KEY_SIZE);

	table_drop(&t, 0);
}
END_TEST

START_TEST(dies_dropping_what_is_none)
{
	struct table t = fresh_table(CAPACITY, KEY_SIZE);

	table_drop(&t, TABLE_NONE);
}
END_TEST

START_TEST(dies_dropping_twice)
{
	struct table t = fresh_table(CAPACITY, KEY_SIZE);
	bool is_new;
	uint32_t slot = table_claim(&t, "12345", &is_new);

	(void)table_claim(&t, "67890", &is_new);
	table_drop(&t, slot);
	table_drop(&t, slot);
}
END_TEST

START_TEST(dies_of_a_long_key)
{
	(void)fresh_table(CAPACITY, TABLE_KEY_MAX + 1);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("table", &all);

	tcase_add_test(all, finds_what_was_claimed);
	tcase_add_test(all, a_full_table_refuses_new_keys_only);
	tcase_add_test(all, without_memory_it_is_full);
	tcase_add_test(all, every_key_size_works);
	tcase_add_test(all, behaves_like_a_list);
	tcase_add_test_raise_signal(all, dies_dropping_a_free_slot, SIGABRT);
	tcase_add_test_raise_signal(all, dies_dropping_what_is_none, SIGABRT);
	tcase_add_test_raise_signal(all, dies_dropping_twice, SIGABRT);
	tcase_add_test_raise_signal(all, dies_of_a_long_key, SIGABRT);
	return unit_run(suite);
}
