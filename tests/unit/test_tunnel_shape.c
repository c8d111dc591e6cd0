/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/tunnel_shape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/model.h"
#include "tests/unit/unit.h"

static const uint8_t SECRET[16] = { 2, 7, 1, 8 };

static const struct tunnel_limits LIMITS = {
	.keys_max = 6,
	.keys_per_sandbox_max = 4,
	.sandboxes_max = 2,
};

static struct tunnel_shape shape;
static struct tunnel_shape_result result;

static void *
open_shape(void)
{
	struct arena arena;
	void *block;

	arena_init(&arena, NULL, 0);
	tunnel_shape_init(&shape, &arena, &LIMITS, SECRET);
	block = malloc(arena.used);
	ck_assert_ptr_nonnull(block);
	arena_init(&arena, block, arena.used);
	tunnel_shape_init(&shape, &arena, &LIMITS, SECRET);
	ck_assert(!arena.exhausted);
	return block;
}

/* True where the alarm rings. All suffixes have one label. */
static bool
observe(uint32_t sandbox, const char *text)
{
	struct dname name, apex;

	ck_assert(dname_from_text(text, strlen(text), &name));
	apex = dname_suffix(&name, name.labels < 2 ? name.labels : 2);
	tunnel_shape_observe(&shape, sandbox, &name, &apex, &result);
	return result.rings;
}

/* Thirty-two hexadecimal digits that are all over the place. */
static void
noise(char text[64], uint32_t number, const char *domain)
{
	uint64_t state = number + 1;
	int at = 0;

	while (at < 32)
		at += snprintf(text + at, 64 - (size_t)at, "%08x",
		    (unsigned)unit_random(&state));
	snprintf(text + 32, 32, ".%s", domain);
}

/* How many names until the alarm rings, 0: not within a hundred. */
static uint32_t
ring(uint32_t sandbox, const char *domain, uint32_t first)
{
	char text[64];

	for (uint32_t i = 0; i < 100; i++) {
		noise(text, first + i, domain);
		if (observe(sandbox, text))
			return i + 1;
	}
	return 0;
}

START_TEST(noise_rings)
{
	void *block = open_shape();

	/* 128 bits a name and their price: 1,024 bits at the eighth. */
	ck_assert_uint_eq(ring(1, "example.net", 0), 8);
	ck_assert_uint_gt(result.score, ALARM_SCORE);
	ck_assert_uint_ge(result.volume, ALARM_BUDGET / ALARM_SHARE);
	ck_assert_uint_eq(result.nnew, 8);
	ck_assert_uint_eq(result.nrep, 0);
	ck_assert_uint_eq(result.sample_count, 2);
	/* Another domain and another sandbox begin anew. */
	ck_assert_uint_eq(ring(1, "example.org", 0), 8);
	ck_assert_uint_eq(ring(2, "example.net", 0), 8);
	ck_assert(!result.is_full);
	free(block);
}
END_TEST

START_TEST(samples_are_the_names_before)
{
	void *block = open_shape();
	struct dname name;
	char text[64];

	ck_assert_uint_eq(ring(1, "example.net", 0), 8);
	for (uint32_t i = 0; i < 2; i++) {
		noise(text, 5 + i, "example.net");
		ck_assert(dname_from_text(text, strlen(text), &name));
		ck_assert(dname_equal(&result.samples[0], &name) ||
		    dname_equal(&result.samples[1], &name));
	}
	free(block);
}
END_TEST

START_TEST(words_leave_no_trace)
{
	static const char *const words[] = { "www", "api", "mail", "static",
		"images", "login", "docs", "media", "news", "support" };
	void *block = open_shape();
	char text[64];

	for (size_t i = 0; i < 10; i++) {
		for (size_t k = 0; k < 10; k++) {
			snprintf(text, sizeof(text), "%s.%s.example.net",
			    words[i], words[k]);
			ck_assert(!observe(1, text));
		}
	}
	ck_assert(!observe(1, "example.net"));
	ck_assert(!observe(1, "net"));
	ck_assert_uint_eq(table_in_use(&shape.keys), 0);
	free(block);
}
END_TEST

START_TEST(asking_again_does_not_ring)
{
	void *block = open_shape();
	char text[64];

	for (uint32_t round = 0; round < 50; round++) {
		for (uint32_t i = 0; i < 5; i++) {
			noise(text, i, "example.net");
			ck_assert(!observe(1, text));
		}
	}
	/* Three more new ones do, and the repeats are counted. */
	ck_assert_uint_eq(ring(1, "example.net", 5), 3);
	ck_assert_uint_eq(result.nnew, 8);
	ck_assert_uint_eq(result.nrep, 245);
	free(block);
}
END_TEST

START_TEST(back_at_the_start_is_dropped)
{
	void *block = open_shape();
	char text[64];

	noise(text, 0, "example.net");
	ck_assert(!observe(1, text));
	ck_assert_uint_eq(table_in_use(&shape.keys), 1);
	for (int i = 0; i < 20; i++) {
		snprintf(text, sizeof(text), "www.api%d.static.example.net", i);
		ck_assert(!observe(1, text));
	}
	ck_assert_uint_eq(table_in_use(&shape.keys), 0);
	ck_assert_uint_eq(shape.sandbox_keys[1], 0);
	free(block);
}
END_TEST

/* Takes all places of a sandbox. */
static void
fill(uint32_t sandbox, uint32_t count)
{
	char domain[32], text[64];

	for (uint32_t i = 0; i < count; i++) {
		snprintf(domain, sizeof(domain), "d%u.net", i);
		noise(text, i, domain);
		ck_assert(!observe(sandbox, text));
		ck_assert(!result.is_full);
	}
}

START_TEST(full)
{
	void *block = open_shape();
	char text[64];

	fill(1, 4);
	/* The first that has no place is told, once. */
	noise(text, 10, "one.net");
	ck_assert(!observe(1, text));
	ck_assert(result.is_full);
	noise(text, 11, "two.net");
	ck_assert(!observe(1, text));
	ck_assert(!result.is_full);
	/* They have one alarm, so spreading over domains does not help. */
	ck_assert_uint_eq(ring(1, "three.net", 20), 6);
	ck_assert_uint_eq(result.nnew, 8);
	/* Nothing was taken out: what has a place goes on. */
	ck_assert_uint_eq(ring(1, "d0.net", 30), 7);
	/* Ordinary names need no place. */
	ck_assert(!observe(1, "www.four.net"));
	ck_assert_uint_eq(table_in_use(&shape.keys), 4);

	/* The rest is for others. */
	fill(2, 2);
	noise(text, 12, "one.net");
	ck_assert(!observe(2, text));
	ck_assert(result.is_full);
	free(block);
}
END_TEST

START_TEST(forgiven)
{
	void *block = open_shape();
	char text[64];

	fill(1, 4);
	noise(text, 10, "one.net");
	ck_assert(!observe(1, text));
	ck_assert(result.is_full);
	fill(2, 1);
	tunnel_shape_forgive(&shape, 1);
	ck_assert_uint_eq(table_in_use(&shape.keys), 1);
	ck_assert_uint_eq(ring(1, "one.net", 10), 8);
	fill(1, 3);
	noise(text, 10, "two.net");
	ck_assert(!observe(1, text));
	ck_assert(result.is_full);
	ck_assert_uint_eq(ring(2, "d0.net", 1), 7);
	free(block);
}
END_TEST

START_TEST(no_such_sandbox)
{
	void *block = open_shape();

	(void)observe(3, "www.example.net");
	free(block);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("tunnel_shape", &all);

	tcase_add_test(all, noise_rings);
	tcase_add_test(all, samples_are_the_names_before);
	tcase_add_test(all, words_leave_no_trace);
	tcase_add_test(all, asking_again_does_not_ring);
	tcase_add_test(all, back_at_the_start_is_dropped);
	tcase_add_test(all, full);
	tcase_add_test(all, forgiven);
	tcase_add_test_raise_signal(all, no_such_sandbox, SIGABRT);
	return unit_run(suite);
}
