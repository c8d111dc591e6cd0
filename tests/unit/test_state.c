/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/resolver/state.h"

#define BOOT "11111111-2222-3333-4444-555555555555"

/* Records are large: the tests share these. */
static struct pin_record in, out, record;

static void
make_record(struct pin_record *ret, uint8_t holders, size_t label_len)
{
	char text[256];

	memset(ret, 0, sizeof(*ret));
	ret->element.addr = addr_v4((const uint8_t[]){ 198, 51, 100, 7 });
	ret->element.service =
	    (struct service){ .protocol = PROTO_UDP, .port = 8443 };
	ret->state = PIN_HELD;
	ret->until_ms = 0x123456789abc;
	ret->holder_count = holders;
	for (uint8_t i = 0; i < holders; i++) {
		memset(text, 'x', label_len);
		snprintf(text + label_len, sizeof(text) - label_len,
		    "%u.example.com", (unsigned)i);
		ck_assert(
		    dname_from_text(text, strlen(text), &ret->holders[i].name));
		ret->holders[i].kind = i % 2 ? RULE_CHILD : RULE_EXACT;
		ret->holders[i].rule_name =
		    dname_suffix(&ret->holders[i].name, i % 2 ? 2 : 3);
		ret->holders[i].until_ms = 1000u + i;
	}
}

START_TEST(record_round_trip)
{
	uint8_t octets[STATE_RECORD_SIZE];
	char sandbox[POLICY_NAME_MAX];

	make_record(&in, PINS_HOLDERS_MAX, 10);
	state_record_print(octets, &in, "box1");
	ck_assert(state_record_read(octets, &out, sandbox));
	ck_assert_str_eq(sandbox, "box1");
	ck_assert(addr_equal(&out.element.addr, &in.element.addr));
	ck_assert_uint_eq(out.element.service.port, 8443);
	ck_assert_uint_eq(out.element.service.protocol, PROTO_UDP);
	ck_assert_uint_eq(out.until_ms, in.until_ms);
	ck_assert_int_eq(out.state, PIN_HELD);
	ck_assert_uint_eq(out.holder_count, PINS_HOLDERS_MAX);
	for (uint8_t i = 0; i < PINS_HOLDERS_MAX; i++) {
		/* The longest lived come first. */
		uint8_t from = (uint8_t)(PINS_HOLDERS_MAX - 1 - i);

		ck_assert(
		    dname_equal(&out.holders[i].name, &in.holders[from].name));
		ck_assert(dname_equal(&out.holders[i].rule_name,
		    &in.holders[from].rule_name));
		ck_assert_int_eq(out.holders[i].kind, in.holders[from].kind);
		ck_assert_uint_eq(out.holders[i].until_ms,
		    in.holders[from].until_ms);
	}
}
END_TEST

START_TEST(long_names_crowd_out_the_short_lived)
{
	uint8_t octets[STATE_RECORD_SIZE];
	char sandbox[POLICY_NAME_MAX];

	make_record(&in, PINS_HOLDERS_MAX, 60);
	state_record_print(octets, &in, "box1");
	ck_assert(state_record_read(octets, &out, sandbox));
	ck_assert_uint_lt(out.holder_count, PINS_HOLDERS_MAX);
	ck_assert_uint_gt(out.holder_count, 2);
	ck_assert_uint_eq(out.holders[0].until_ms,
	    1000u + PINS_HOLDERS_MAX - 1);
}
END_TEST

/* Whatever octet is torn, the record is not believed. */
START_TEST(torn_record_is_none)
{
	uint8_t octets[STATE_RECORD_SIZE];
	char sandbox[POLICY_NAME_MAX];

	make_record(&in, 3, 10);
	for (size_t i = 0; i < STATE_RECORD_SIZE; i++) {
		state_record_print(octets, &in, "box1");
		octets[i] ^= 0x55;
		ck_assert(!state_record_read(octets, &out, sandbox));
	}
	memset(octets, 0, sizeof(octets));
	ck_assert(!state_record_read(octets, &out, sandbox));
}
END_TEST

/* A policy in which box1 and box2 are known. */
static struct policy *
make_policy(void **ret_block)
{
	struct policy_limits limits = { .rules_max = 1,
		.terms_max = 1,
		.profiles_max = 1,
		.sandboxes_max = 2,
		.files_max = 1,
		.suffixes_max = 1 };
	struct policy *policy = calloc(1, sizeof(*policy));
	struct policy_profile profile = { .name = "p" };
	struct policy_sandbox sandbox = { .source_count = 1 };
	uint8_t secret[16] = { 1 };
	struct arena arena;
	uint32_t index;

	arena_init(&arena, NULL, 0);
	policy_builder_init(policy, &arena, &limits, secret);
	*ret_block = calloc(1, arena.used);
	arena_init(&arena, *ret_block, arena.used);
	policy_builder_init(policy, &arena, &limits, secret);
	ck_assert_int_eq(policy_builder_profile(policy, &profile, &index),
	    POLICY_OK);
	for (uint8_t i = 1; i <= 2; i++) {
		snprintf(sandbox.name, sizeof(sandbox.name), "box%u",
		    (unsigned)i);
		sandbox.sources[0] = addr_v4((const uint8_t[]){ 192, 0, 2, i });
		ck_assert_int_eq(policy_builder_sandbox(policy, &sandbox),
		    POLICY_OK);
	}
	return policy;
}

static int
open_dir(char *path)
{
	snprintf(path, 64, "/tmp/namewall-state-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(path));
	return open(path, O_RDONLY | O_DIRECTORY);
}

static void
remove_dir(const char *path, int dir)
{
	(void)unlinkat(dir, "pins", 0);
	(void)unlinkat(dir, "pins.new", 0);
	close(dir);
	ck_assert_int_eq(rmdir(path), 0);
}

static uint32_t
count_old(struct state *s, const struct policy *policy)
{
	uint32_t index = 0, count = 0;

	while (state_next(s, &index, policy, &out))
		count++;
	return count;
}

START_TEST(survives)
{
	struct policy *policy;
	struct state s;
	char path[64];
	void *block;
	int dir = open_dir(path);

	make_record(&record, 2, 5);
	policy = make_policy(&block);
	ck_assert_int_eq(state_open(&s, dir, BOOT, 16), 0);
	ck_assert_uint_eq(count_old(&s, policy), 0);
	state_write(&s, 0, &record, "box1");
	state_write(&s, 7, &record, "box2");
	state_write(&s, 9, &record, "gone");
	state_write(&s, 15, &record, "box2");
	state_clear(&s, 15);
	ck_assert_int_eq(state_settle(&s), 0);
	state_close(&s);

	/* A start that does not settle changes nothing. */
	ck_assert_int_eq(state_open(&s, dir, BOOT, 16), 0);
	ck_assert_uint_eq(count_old(&s, policy), 2);
	state_close(&s);
	ck_assert_int_eq(state_open(&s, dir, BOOT, 4), 0);
	ck_assert_uint_eq(count_old(&s, policy), 2);
	ck_assert_uint_eq(s.torn, 0);
	ck_assert_int_eq(state_settle(&s), 0);
	state_close(&s);

	/* One that settles has only its own. */
	ck_assert_int_eq(state_open(&s, dir, BOOT, 16), 0);
	ck_assert_uint_eq(count_old(&s, policy), 0);
	state_close(&s);
	remove_dir(path, dir);
	free(policy);
	free(block);
}
END_TEST

START_TEST(clears_by_sandbox)
{
	struct policy *policy;
	struct state s;
	char path[64];
	void *block;
	int dir = open_dir(path);

	make_record(&record, 1, 5);
	policy = make_policy(&block);
	ck_assert_int_eq(state_open(&s, dir, BOOT, 8), 0);
	for (uint32_t i = 0; i < 8; i++)
		state_write(&s, i, &record, i < 3 ? "box1" : "box2");
	state_clear_all(&s, "box2");
	ck_assert_int_eq(state_settle(&s), 0);
	state_close(&s);
	ck_assert_int_eq(state_open(&s, dir, BOOT, 8), 0);
	ck_assert_uint_eq(count_old(&s, policy), 3);
	state_write(&s, 0, &record, "box1");
	state_clear_all(&s, NULL);
	ck_assert_int_eq(state_settle(&s), 0);
	state_close(&s);
	ck_assert_int_eq(state_open(&s, dir, BOOT, 8), 0);
	ck_assert_uint_eq(count_old(&s, policy), 0);
	state_close(&s);
	remove_dir(path, dir);
	free(policy);
	free(block);
}
END_TEST

START_TEST(other_boot_is_ignored)
{
	struct policy *policy;
	struct state s;
	char path[64];
	void *block;
	int dir = open_dir(path);

	make_record(&record, 1, 5);
	policy = make_policy(&block);
	ck_assert_int_eq(state_open(&s, dir, BOOT, 8), 0);
	state_write(&s, 0, &record, "box1");
	ck_assert_int_eq(state_settle(&s), 0);
	state_close(&s);
	ck_assert_int_eq(state_open(&s, dir, "other", 8), 0);
	ck_assert_uint_eq(count_old(&s, policy), 0);
	state_close(&s);
	remove_dir(path, dir);
	free(policy);
	free(block);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("state", &all);

	tcase_add_test(all, record_round_trip);
	tcase_add_test(all, long_names_crowd_out_the_short_lived);
	tcase_add_test(all, torn_record_is_none);
	tcase_add_test(all, survives);
	tcase_add_test(all, clears_by_sandbox);
	tcase_add_test(all, other_boot_is_ignored);
	return unit_run(suite);
}
