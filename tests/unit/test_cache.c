/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/cache.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "lib/rng.h"
#include "tests/unit/unit.h"

#define A    DNS_TYPE_A
#define AAAA DNS_TYPE_AAAA

static const uint8_t SECRET[16] = { 1, 6, 1, 8 };

static const struct cache_limits LIMITS = {
	.entries_max = 6,
	.entries_per_sandbox_max = 4,
	.sandboxes_max = 3,
};

static struct cache cache;
static struct cache_entry entry;

static void *
open_cache(const struct cache_limits *limits)
{
	struct arena arena;
	void *block;

	arena_init(&arena, NULL, 0);
	cache_init(&cache, &arena, limits, SECRET);
	block = malloc(arena.used);
	ck_assert_ptr_nonnull(block);
	arena_init(&arena, block, arena.used);
	cache_init(&cache, &arena, limits, SECRET);
	ck_assert(!arena.exhausted);
	return block;
}

static struct dname
name_of(const char *text)
{
	struct dname name;

	ck_assert(dname_from_text(text, strlen(text), &name));
	return name;
}

/* mark comes back by find(): it is kept in the entry's rcode. */
static void
put(uint32_t sandbox, const char *text, uint16_t type, uint8_t mark,
    uint32_t ttl_s, uint64_t now_ms)
{
	struct dname name = name_of(text);

	entry.answers[0].rcode = mark;
	cache_put(&cache, sandbox, &name, type, &entry, ttl_s, now_ms);
}

/* 0: not there. */
static uint8_t
find(uint32_t sandbox, const char *text, uint16_t type, uint64_t now_ms)
{
	struct dname name = name_of(text);
	const struct cache_entry *it =
	    cache_find(&cache, sandbox, &name, type, now_ms);

	return it == NULL ? 0 : it->answers[0].rcode;
}

/* All look for the one entry that sandbox 1 put for a.example at 1000 ms,
 * for 5 s. */
static const struct {
	uint32_t sandbox;
	const char *name;
	uint16_t put, type;
	uint64_t now_ms;
	bool found;
} FINDS[] = {
	{ 1, "a.example", A, A, 1000, true },
	{ 1, "A.Example.", A, A, 1000, true },
	{ 1, "a.example", A, A, 5999, true },
	{ 1, "a.example", A, A, 6000, false },
	{ 1, "b.example", A, A, 1000, false },
	{ 2, "a.example", A, A, 1000, false },
	{ 0, "a.example", A, A, 1000, false },
	{ 99, "a.example", A, A, 1000, false },
	/* The pair is one. */
	{ 1, "a.example", A, AAAA, 1000, true },
	{ 1, "a.example", AAAA, A, 1000, true },
	{ 1, "a.example", A, DNS_TYPE_ANY, 1000, true },
	{ 1, "a.example", DNS_TYPE_ANY, AAAA, 1000, true },
	{ 1, "a.example", A, DNS_TYPE_TXT, 1000, false },
	{ 1, "a.example", DNS_TYPE_TXT, A, 1000, false },
	{ 1, "a.example", DNS_TYPE_TXT, DNS_TYPE_TXT, 1000, true },
	{ 1, "a.example", DNS_TYPE_TXT, DNS_TYPE_ANY, 1000, false },
	{ 1, "a.example", DNS_TYPE_TXT, DNS_TYPE_MX, 1000, false },
};

START_TEST(finds)
{
	void *block = open_cache(&LIMITS);

	put(1, "a.example", FINDS[_i].put, 7, 5, 1000);
	ck_assert_uint_eq(find(FINDS[_i].sandbox, FINDS[_i].name,
			      FINDS[_i].type, FINDS[_i].now_ms),
	    FINDS[_i].found ? 7 : 0);
	free(block);
}
END_TEST

START_TEST(a_copy_with_its_times)
{
	void *block = open_cache(&LIMITS);
	struct dname name = name_of("a.example");
	const struct cache_entry *it;

	entry.failed[1] = true;
	entry.answers[1].addr_count = 3;
	entry.sandbox = 99;
	put(2, "a.example", A, 1, UINT32_MAX, 1000);
	entry.answers[1].addr_count = 4;
	it = cache_find(&cache, 2, &name, A, 2000);
	ck_assert_ptr_nonnull(it);
	ck_assert(it->failed[1] && !it->failed[0]);
	ck_assert_uint_eq(it->answers[1].addr_count, 3);
	ck_assert_uint_eq(it->sandbox, 2);
	ck_assert_uint_eq(it->from_ms, 1000);
	ck_assert_uint_eq(it->until_ms, 1000 + UINT64_C(4294967295) * 1000);
	free(block);
}
END_TEST

START_TEST(replaced)
{
	void *block = open_cache(&LIMITS);

	put(1, "a.example", A, 1, 5, 1000);
	put(1, "a.example", AAAA, 2, 9, 2000);
	ck_assert_uint_eq(cache_in_use(&cache), 1);
	ck_assert_uint_eq(find(1, "a.example", A, 10999), 2);
	/* No lifetime: it is gone, the old one too. */
	put(1, "a.example", A, 3, 0, 3000);
	ck_assert_uint_eq(find(1, "a.example", A, 3000), 0);
	ck_assert_uint_eq(cache_in_use(&cache), 0);
	free(block);
}
END_TEST

START_TEST(evicts)
{
	void *block = open_cache(&LIMITS);

	/* The share of one sandbox; its oldest goes, others stay. */
	put(2, "z.example", A, 9, 5, 1);
	put(1, "a.example", A, 1, 5, 1);
	put(1, "b.example", A, 2, 5, 1);
	put(1, "c.example", A, 3, 5, 1);
	put(1, "d.example", A, 4, 5, 1);
	/* Put anew it is the youngest, looked at it is not. */
	put(1, "a.example", A, 5, 5, 1);
	ck_assert_uint_eq(find(1, "b.example", A, 1), 2);
	put(1, "e.example", A, 6, 5, 1);
	ck_assert_uint_eq(find(1, "b.example", A, 1), 0);
	ck_assert_uint_eq(find(1, "a.example", A, 1), 5);
	ck_assert_uint_eq(find(2, "z.example", A, 1), 9);
	ck_assert_uint_eq(cache_in_use(&cache), 5);

	/* All are full: the oldest of all. */
	put(3, "y.example", A, 7, 5, 1);
	put(3, "x.example", A, 8, 5, 1);
	ck_assert_uint_eq(find(2, "z.example", A, 1), 0);
	put(3, "w.example", A, 8, 5, 1);
	ck_assert_uint_eq(find(1, "c.example", A, 1), 0);
	ck_assert_uint_eq(find(1, "d.example", A, 1), 4);
	ck_assert_uint_eq(cache_in_use(&cache), 6);

	cache_drop(&cache, 1);
	ck_assert_uint_eq(cache_in_use(&cache), 3);
	ck_assert_uint_eq(find(3, "w.example", A, 1), 8);
	cache_drop(&cache, 0);
	ck_assert_uint_eq(cache_in_use(&cache), 0);
	put(1, "a.example", A, 1, 5, 1);
	ck_assert_uint_eq(find(1, "a.example", A, 1), 1);
	free(block);
}
END_TEST

START_TEST(without_room)
{
	struct cache_limits limits = LIMITS;
	void *block;

	limits.entries_per_sandbox_max = 0;
	block = open_cache(&limits);
	put(1, "a.example", A, 1, 5, 1);
	ck_assert_uint_eq(cache_in_use(&cache), 0);
	free(block);
}
END_TEST

/* A naive cache: a list from the oldest to the youngest. */
enum {
	NAMES = 8,
	SANDBOXES = 3
};

struct naive_entry {
	uint32_t sandbox;
	uint8_t name, mark;
	uint64_t until_ms;
};

static struct naive_entry naive[6];
static int naive_count;

static void
naive_remove(int index)
{
	naive_count--;
	memmove(&naive[index], &naive[index + 1],
	    (size_t)(naive_count - index) * sizeof(naive[0]));
}

static int
naive_find(uint32_t sandbox, int name)
{
	int i;

	for (i = 0; i < naive_count; i++) {
		if (naive[i].sandbox == sandbox && naive[i].name == name)
			return i;
	}
	return -1;
}

static void
naive_put(const struct naive_entry *it)
{
	int i = naive_find(it->sandbox, it->name), oldest = -1, share = 0;

	if (i >= 0)
		naive_remove(i);
	for (i = naive_count - 1; i >= 0; i--) {
		if (naive[i].sandbox == it->sandbox) {
			oldest = i;
			share++;
		}
	}
	if (share == (int)LIMITS.entries_per_sandbox_max)
		naive_remove(oldest);
	else if (naive_count == (int)LIMITS.entries_max)
		naive_remove(0);
	naive[naive_count++] = *it;
}

static void
check_naive(const struct dname names[NAMES], uint64_t now_ms)
{
	const struct cache_entry *it;
	uint32_t sandbox;
	int name, i;

	for (sandbox = 1; sandbox <= SANDBOXES; sandbox++) {
		for (name = 0; name < NAMES; name++) {
			it = cache_find(&cache, sandbox, &names[name], A,
			    now_ms);
			i = naive_find(sandbox, name);
			if (i >= 0 && naive[i].until_ms <= now_ms)
				i = -1;
			REQUIRE((it != NULL) == (i >= 0));
			if (i >= 0)
				REQUIRE(it->answers[0].rcode == naive[i].mark);
		}
	}
	REQUIRE(cache_in_use(&cache) == (uint32_t)naive_count);
}

START_TEST(against_naive)
{
	uint8_t seed[32] = { (uint8_t)(_i + 1) };
	void *block = open_cache(&LIMITS);
	struct dname names[NAMES];
	struct naive_entry it;
	uint64_t now_ms = 1000;
	struct rng rng;
	uint32_t ttl_s;
	int i;

	rng_init(&rng, seed);
	for (i = 0; i < NAMES; i++) {
		names[i] = name_of("a.example");
		names[i].wire[1] = (uint8_t)('a' + i);
	}
	for (i = 0; i < 3000; i++) {
		now_ms += rng_below(&rng, 400);
		it.sandbox = 1 + rng_below(&rng, SANDBOXES);
		it.name = (uint8_t)rng_below(&rng, NAMES);
		it.mark = (uint8_t)(1 + rng_below(&rng, 255));
		ttl_s = 1 + rng_below(&rng, 4);
		it.until_ms = now_ms + 1000 * ttl_s;
		entry.answers[0].rcode = it.mark;
		cache_put(&cache, it.sandbox, &names[it.name], A, &entry, ttl_s,
		    now_ms);
		naive_put(&it);
		check_naive(names, now_ms);
	}
	free(block);
}
END_TEST

START_TEST(put_for_nobody)
{
	open_cache(&LIMITS);
	put(4, "a.example", A, 1, 5, 1);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("cache", &all);

	tcase_add_loop_test(all, finds, 0, (int)ARRAY_LEN(FINDS));
	tcase_add_test(all, a_copy_with_its_times);
	tcase_add_test(all, replaced);
	tcase_add_test(all, evicts);
	tcase_add_test(all, without_room);
	tcase_add_loop_test(all, against_naive, 0, 8);
	tcase_add_test_raise_signal(all, put_for_nobody, SIGABRT);
	unit_covers("K133 K135");
	return unit_run(suite);
}
