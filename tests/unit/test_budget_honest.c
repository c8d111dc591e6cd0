/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an honest sandbox pays: fifty names under one wildcard, asked every 20
 * seconds for a day, with answers that live 20 to 300 seconds.
 */
#include <stdio.h>
#include <string.h>

#include "lib/require.h"
#include "tests/unit/budget_rig.h"
#include "tests/unit/budget_warm.h"
#include "tests/unit/unit.h"

#define SECOND UINT64_C(1000)
#define HOUR   (3600 * SECOND)
#define NAMES  50

static const char *const LABELS[NAMES] = { "api", "www", "static", "images",
	"cdn", "assets", "auth", "login", "media", "files", "docs", "blog",
	"status", "search", "mail", "shop", "support", "raw", "avatars",
	"objects", "events", "metrics", "logs", "data", "download", "upload",
	"video", "news", "help", "account", "m", "app", "web", "edge", "img1",
	"img2", "img3", "eu", "us-east-1", "us-west-2", "api-v2", "test", "dev",
	"staging", "git", "feeds", "maps", "graph", "push", "sync" };

static struct dname names[NAMES];
static struct warm_question questions[NAMES];
static uint32_t queue[NAMES];
static struct budget_rig rig;
static struct warm warm;

static void
open_day(uint64_t keep_ms, uint64_t life_ms)
{
	char text[64];

	rig_open(&rig, 8192);
	warm = (struct warm){ .budget = &rig.budget,
		.questions = questions,
		.count = NAMES,
		.keep_ms = keep_ms,
		.life_ms = life_ms,
		.queue = queue };
	for (int i = 0; i < NAMES; i++) {
		(void)snprintf(text, sizeof(text), "%s.example.com", LABELS[i]);
		names[i] = rig_name(text);
		questions[i] = (struct warm_question){ .name = &names[i],
			.key = rig.key,
			.labels = 1,
			.type_count = 1 };
	}
}

/* Asks all names every 20 s, spread over them; the most that was used. */
static uint64_t
live(uint64_t hours)
{
	uint64_t most = 0, used, at, random = 4;

	for (at = HOUR; at < (hours + 1) * HOUR; at += 20 * SECOND) {
		for (uint32_t i = 0; i < NAMES; i++)
			(void)warm_ask(&warm, i,
			    at + i * 397 + unit_random(&random) % 97);
		used = rig_used(&rig, BUDGET_KEY, at);
		most = used > most ? used : most;
	}
	return most / BUDGET_BIT;
}

static const struct {
	uint64_t keep_ms, life_ms, hours;
} days[] = {
	{ 24 * HOUR, 20 * SECOND, 24 },
	{ 24 * HOUR, 300 * SECOND, 24 },
	{ HOUR, 20 * SECOND, 24 },
	{ HOUR, 300 * SECOND, 72 },
	{ 24 * HOUR, 20 * SECOND, 72 },
};

START_TEST(fifty_names_for_a_day)
{
	for (size_t i = 0; i < ARRAY_LEN(days); i++) {
		uint64_t most;

		open_day(days[i].keep_ms, days[i].life_ms);
		most = live(days[i].hours);
		printf("warm %2ju h, ttl %3ju s, %ju h: %ju bits, "
		       "%ju paid, %ju stayed, %ju refused\n",
		    (uintmax_t)(days[i].keep_ms / HOUR),
		    (uintmax_t)(days[i].life_ms / SECOND),
		    (uintmax_t)days[i].hours, (uintmax_t)most,
		    (uintmax_t)warm.paid, (uintmax_t)warm.stayed,
		    (uintmax_t)warm.refused);
		ck_assert_uint_le(most, 3000);
		ck_assert_uint_eq(warm.refused, 0);
		ck_assert_uint_eq(warm.paid, NAMES);
		rig_close(&rig);
	}
}
END_TEST

/* Why names are kept warm: without it the same day ends in an hour or so. */
START_TEST(without_warm_names_the_day_is_not_enough)
{
	open_day(0, 60 * SECOND);
	(void)live(24);
	ck_assert_uint_gt(warm.refused, 10000);
	rig_close(&rig);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("budget_honest", &all);

	tcase_add_test(all, fifty_names_for_a_day);
	tcase_add_test(all, without_warm_names_the_day_is_not_enough);
	return unit_run(suite);
}
