/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/pins_model.h"
#include "tests/unit/unit.h"

/* One hold by a rule that is the name itself. */
static enum pins_hold
hold(struct pins *pins, const struct pin_element *element, const char *text,
    uint32_t need_ms, uint64_t now_ms, struct pin_held *ret)
{
	static struct verdict verdict;
	struct dname name = pins_model_name(text);
	struct pin_wish wish = {
		.element = *element,
		.name = &name,
		.verdict = &verdict,
		.query = 77,
		.need_ms = need_ms,
		.lifetime_ms = 1000,
	};

	verdict.rule_name = name;
	return pins_hold(pins, &wish, now_ms, ret);
}

/* Holds and lets the kernel agree at once. */
static uint32_t
hold_acked(struct pins *pins, const struct pin_element *element,
    const char *name, uint64_t now_ms)
{
	struct pin_held held;
	struct pin_ack ack;

	ck_assert_int_eq(hold(pins, element, name, 1000, now_ms, &held),
	    PINS_ASK);
	ck_assert(pins_acked(pins, held.op, 0, now_ms, &ack));
	ck_assert(ack.ok);
	return held.slot;
}

START_TEST(life_of_a_pin)
{
	struct pin_element element = pins_model_element(1, "192.0.2.1", 443);
	struct pin_held held;
	struct pin_ack ack;
	struct pin_record record;
	struct pins pins;
	void *block = pins_model_open(&pins, &PINS_MODEL_LIMITS);
	uint32_t slot;

	ck_assert_int_eq(hold(&pins, &element, "a.example", 500, 10000, &held),
	    PINS_ASK);
	ck_assert(held.changed);
	ck_assert_uint_eq(held.lifetime_ms, 1000);
	/* Sent is not held. */
	ck_assert_uint_eq(pins_until(&pins, &element), 0);
	ck_assert(!pins_hold_until(&pins, &element, 0));
	ck_assert(pins_record(&pins, held.slot, &record));
	ck_assert_int_eq(record.state, PIN_ASKED);
	ck_assert_uint_eq(pins_deadline(&pins), DEADLINE_NEVER);

	/* It counts from when it was sent. */
	ck_assert(pins_acked(&pins, held.op, 0, 10300, &ack));
	ck_assert(ack.ok && !ack.dropped);
	ck_assert_uint_eq(ack.query, 77);
	ck_assert_uint_eq(ack.slot, held.slot);
	ck_assert_uint_eq(pins_until(&pins, &element), 11000);
	ck_assert(pins_hold_until(&pins, &element, 11000));
	ck_assert(!pins_hold_until(&pins, &element, 11001));
	ck_assert(!pins_acked(&pins, held.op, 0, 10300, &ack));

	/* Held as long as somebody needs no more than is left. */
	ck_assert_int_eq(hold(&pins, &element, "a.example", 500, 10500, &held),
	    PINS_HELD);
	ck_assert(!held.changed);
	ck_assert_int_eq(hold(&pins, &element, "b.example", 500, 10500, &held),
	    PINS_HELD);
	ck_assert(held.changed);
	ck_assert_int_eq(hold(&pins, &element, "a.example", 500, 10501, &held),
	    PINS_ASK);
	ck_assert(pins_acked(&pins, held.op, 0, 10600, &ack));
	ck_assert_uint_eq(pins_deadline(&pins), 11501);

	ck_assert(!pins_pop_lapsed(&pins, 11500, &slot));
	ck_assert(pins_pop_lapsed(&pins, 11501, &slot));
	ck_assert_uint_eq(slot, held.slot);
	ck_assert(!pins_pop_lapsed(&pins, 99999, &slot));
	ck_assert(pins_record(&pins, slot, &record));
	ck_assert_int_eq(record.state, PIN_LAPSED);
	ck_assert_uint_eq(record.holder_count, 2);
	ck_assert_uint_eq(pins_in_use(&pins), 1);

	/* A lapsed one lives again. */
	ck_assert_int_eq(hold(&pins, &element, "a.example", 0, 12000, &held),
	    PINS_ASK);
	ck_assert(pins_acked(&pins, held.op, 0, 12001, &ack));
	ck_assert_uint_eq(pins_until(&pins, &element), 13000);

	pins_drop(&pins, slot);
	ck_assert_uint_eq(pins_in_use(&pins), 0);
	ck_assert(!pins_record(&pins, slot, &record));
	ck_assert_uint_eq(pins_deadline(&pins), DEADLINE_NEVER);
	free(block);
}
END_TEST

START_TEST(failed_at_first)
{
	struct pin_element element = pins_model_element(1, "192.0.2.1", 443);
	struct pin_held first, second;
	struct pin_ack ack;
	struct pins pins;
	void *block = pins_model_open(&pins, &PINS_MODEL_LIMITS);

	/* The only request: as if it never was. */
	hold(&pins, &element, "a.example", 500, 1, &first);
	ck_assert(pins_acked(&pins, first.op, -ENFILE, 2, &ack));
	ck_assert(!ack.ok && ack.dropped);
	ck_assert_uint_eq(ack.slot, first.slot);
	ck_assert_uint_eq(pins_find(&pins, &element), TABLE_NONE);
	ck_assert_uint_eq(table_in_use(&pins.name_keys), 0);

	/* Another is in flight: it decides. */
	hold(&pins, &element, "a.example", 500, 1, &first);
	hold(&pins, &element, "b.example", 500, 1, &second);
	ck_assert(pins_acked(&pins, first.op, -ENFILE, 2, &ack));
	ck_assert(!ack.ok && !ack.dropped);
	ck_assert(pins_acked(&pins, second.op, 0, 2, &ack));
	ck_assert(ack.ok);
	ck_assert_uint_eq(pins_until(&pins, &element), 1001);

	/* A renewal that fails leaves what was there. */
	ck_assert_int_eq(hold(&pins, &element, "a.example", 600, 500, &first),
	    PINS_ASK);
	ck_assert(pins_acked(&pins, first.op, -EIO, 501, &ack));
	ck_assert(!ack.ok && !ack.dropped);
	ck_assert_uint_eq(ack.slot, first.slot);
	ck_assert(pins_hold_until(&pins, &element, 1001));
	ck_assert_uint_eq(pins_deadline(&pins), 1001);
	free(block);
}
END_TEST

/* The pin ends while a renewal is in flight, which then fails: the record
 * stays for its flows. */
START_TEST(failed_after_the_end)
{
	struct pin_element element = pins_model_element(1, "192.0.2.1", 443);
	struct pin_held held;
	struct pin_ack ack;
	struct pin_record record;
	struct pins pins;
	void *block = pins_model_open(&pins, &PINS_MODEL_LIMITS);
	uint32_t slot = hold_acked(&pins, &element, "a.example", 1), popped;

	hold(&pins, &element, "a.example", 600, 900, &held);
	ck_assert(!pins_pop_lapsed(&pins, 1500, &popped));
	ck_assert(pins_acked(&pins, held.op, -EIO, 1501, &ack));
	ck_assert(!ack.ok && !ack.dropped);
	ck_assert(pins_pop_lapsed(&pins, 1501, &popped));
	ck_assert_uint_eq(popped, slot);
	ck_assert(pins_record(&pins, slot, &record));
	ck_assert_int_eq(record.state, PIN_LAPSED);

	/* An answer so late that nothing is left of it is none. */
	hold(&pins, &element, "a.example", 600, 2000, &held);
	ck_assert(pins_acked(&pins, held.op, 0, 3000, &ack));
	ck_assert(!ack.ok);
	ck_assert(pins_pop_lapsed(&pins, 3000, &popped));
	free(block);
}
END_TEST

/* A short wish behind a long one that is still in flight must not cut the
 * long one short. */
START_TEST(never_shortened)
{
	struct pin_element element = pins_model_element(1, "192.0.2.1", 443);
	struct dname name = pins_model_name("b.example");
	struct verdict verdict = { .rule_name = name };
	struct pin_wish wish = {
		.element = element,
		.name = &name,
		.verdict = &verdict,
		.need_ms = 10,
		.lifetime_ms = 10,
	};
	struct pin_held held, shorter;
	struct pin_ack ack;
	struct pins pins;
	void *block = pins_model_open(&pins, &PINS_MODEL_LIMITS);

	hold(&pins, &element, "a.example", 1000, 100, &held);
	ck_assert_int_eq(pins_hold(&pins, &wish, 200, &shorter), PINS_ASK);
	ck_assert_uint_eq(shorter.lifetime_ms, 900);
	ck_assert(pins_acked(&pins, held.op, -EIO, 300, &ack));
	ck_assert(pins_acked(&pins, shorter.op, 0, 300, &ack));
	ck_assert_uint_eq(pins_until(&pins, &element), 1100);
	/* Need beyond what is held, though the wish is shorter. */
	wish.need_ms = 900;
	ck_assert_int_eq(pins_hold(&pins, &wish, 400, &shorter), PINS_ASK);
	ck_assert_uint_eq(shorter.lifetime_ms, 700);
	free(block);
}
END_TEST

enum vanishing {
	BY_DROP,
	BY_LOSS,
	BY_LOSS_OF_ALL,
	BY_DROP_AND_RENEWAL
};

/* An answer to a request whose element has gone is a failure, also where the
 * same element was made again in the same slot. */
START_TEST(stale_answers)
{
	struct pin_element element = pins_model_element(1, "192.0.2.1", 443);
	struct pin_held held, again;
	struct pin_ack ack;
	struct pins pins;
	void *block = pins_model_open(&pins, &PINS_MODEL_LIMITS);

	hold(&pins, &element, "a.example", 500, 1, &held);
	switch ((enum vanishing)_i) {
	case BY_DROP:
		pins_drop(&pins, held.slot);
		break;
	case BY_LOSS:
		pins_forget_all(&pins, 2);
		ck_assert_uint_eq(pins_in_use(&pins), 1);
		pins_forget_all(&pins, 1);
		break;
	case BY_LOSS_OF_ALL:
		pins_forget_all(&pins, 0);
		break;
	case BY_DROP_AND_RENEWAL:
		pins_drop(&pins, held.slot);
		hold(&pins, &element, "a.example", 500, 1, &again);
		ck_assert_uint_eq(again.slot, held.slot);
		break;
	}
	ck_assert(pins_acked(&pins, held.op, 0, 2, &ack));
	ck_assert(!ack.ok && !ack.dropped);
	ck_assert_uint_eq(ack.slot, TABLE_NONE);
	ck_assert_uint_eq(ack.query, 77);
	ck_assert_uint_eq(pins_until(&pins, &element), 0);
	ck_assert((pins_find(&pins, &element) != TABLE_NONE) ==
	    (_i == BY_DROP_AND_RENEWAL));
	if (_i == BY_DROP_AND_RENEWAL) {
		ck_assert(pins_acked(&pins, again.op, 0, 2, &ack));
		ck_assert(ack.ok);
	}
	ck_assert_uint_eq(pool_in_use(&pins.ops), 0);
	free(block);
}
END_TEST

START_TEST(holders)
{
	struct pin_element first = pins_model_element(1, "192.0.2.1", 443);
	struct pin_element other = pins_model_element(1, "192.0.2.2", 443);
	struct dname shared = pins_model_name("a.example"),
		     alone = pins_model_name("b.example");
	struct pin_record record;
	struct pin_held held;
	struct pins pins;
	void *block = pins_model_open(&pins, &PINS_MODEL_LIMITS);
	uint32_t slot = hold_acked(&pins, &first, "a.example", 1);

	hold_acked(&pins, &other, "a.example", 1);
	ck_assert_int_eq(hold(&pins, &first, "b.example", 1, 2, &held),
	    PINS_HELD);
	ck_assert_uint_eq(table_in_use(&pins.name_keys), 2);
	ck_assert(pins_name_holds(&pins, 1, &alone, 4, 2));
	ck_assert(!pins_name_holds(&pins, 1, &alone, 6, 2));
	ck_assert(!pins_name_holds(&pins, 2, &alone, 4, 2));
	pins_drop_holder(&pins, slot, 0);
	ck_assert(pins_record(&pins, slot, &record));
	ck_assert_uint_eq(record.holder_count, 1);
	ck_assert(dname_equal(&record.holders[0].name, &alone));
	/* The other element still holds by it. */
	ck_assert(pins_name_holds(&pins, 1, &shared, 4, 2));
	pins_drop(&pins, pins_find(&pins, &other));
	ck_assert(!pins_name_holds(&pins, 1, &shared, 4, 2));
	ck_assert_uint_eq(table_in_use(&pins.name_keys), 1);
	free(block);
}
END_TEST

START_TEST(ninth_holder)
{
	struct pin_element element = pins_model_element(1, "192.0.2.1", 443);
	char text[] = "a.example";
	struct dname first = pins_model_name(text), last;
	struct pin_record record;
	struct pin_held held;
	struct pins pins;
	void *block = pins_model_open(&pins, &PINS_MODEL_LIMITS);
	uint32_t slot = hold_acked(&pins, &element, text, 1);
	uint8_t i;

	for (i = 1; i <= PINS_HOLDERS_MAX; i++) {
		text[0] = (char)('a' + i);
		ck_assert_int_eq(hold(&pins, &element, text, 1, 1u + i, &held),
		    PINS_HELD);
		ck_assert(held.changed);
	}
	last = pins_model_name(text);
	ck_assert(pins_record(&pins, slot, &record));
	ck_assert_uint_eq(record.holder_count, PINS_HOLDERS_MAX);
	for (i = 0; i < record.holder_count; i++)
		ck_assert(!dname_equal(&record.holders[i].name, &first));
	ck_assert(pins_name_holds(&pins, 1, &last, 4, 10));
	ck_assert(!pins_name_holds(&pins, 1, &first, 4, 10));
	free(block);
}
END_TEST

START_TEST(changed_rule)
{
	struct pin_element element = pins_model_element(1, "192.0.2.1", 443);
	struct dname name = pins_model_name("a.example"),
		     parent = pins_model_name("example");
	struct verdict verdict = { .kind = RULE_BELOW, .rule_name = parent };
	struct pin_wish wish = {
		.element = element,
		.name = &name,
		.verdict = &verdict,
		.lifetime_ms = 1000,
	};
	struct pin_record record;
	struct pin_held held;
	struct pins pins;
	void *block = pins_model_open(&pins, &PINS_MODEL_LIMITS);

	hold_acked(&pins, &element, "a.example", 1);
	ck_assert_int_eq(pins_hold(&pins, &wish, 2, &held), PINS_HELD);
	ck_assert(held.changed);
	ck_assert_int_eq(pins_hold(&pins, &wish, 2, &held), PINS_HELD);
	ck_assert(!held.changed);
	ck_assert(pins_record(&pins, held.slot, &record));
	ck_assert_uint_eq(record.holder_count, 1);
	ck_assert_int_eq(record.holders[0].kind, RULE_BELOW);
	ck_assert(dname_equal(&record.holders[0].rule_name, &parent));
	free(block);
}
END_TEST

START_TEST(shares)
{
	struct pins_limits limits = PINS_MODEL_LIMITS;
	struct pin_element element = pins_model_element(1, "192.0.2.1", 443);
	struct pin_held held;
	struct pin_ack ack;
	struct pins pins;
	void *block;

	limits.pins_max = 3;
	limits.pins_per_sandbox_max = 2;
	limits.names_max = 3;
	limits.ops_max = 1;
	block = pins_model_open(&pins, &limits);

	/* Requests: what is held already needs none. */
	hold(&pins, &element, "a.example", 500, 1, &held);
	element.service.port = 80;
	ck_assert_int_eq(hold(&pins, &element, "a.example", 500, 1, &held),
	    PINS_FULL);
	ck_assert_uint_eq(pins_in_use(&pins), 1);
	ck_assert(pins_acked(&pins, held.op, 0, 1, &ack));
	hold_acked(&pins, &element, "a.example", 1);
	/* The sandbox's share. */
	element.service.port = 22;
	ck_assert_int_eq(hold(&pins, &element, "a.example", 500, 1, &held),
	    PINS_FULL);
	/* Everybody's. */
	element.sandbox = 2;
	hold_acked(&pins, &element, "a.example", 1);
	element.service.port = 23;
	ck_assert_int_eq(hold(&pins, &element, "a.example", 500, 1, &held),
	    PINS_FULL);
	/* Names: two of one text in two sandboxes are two. */
	element.service.port = 22;
	ck_assert_int_eq(hold(&pins, &element, "b.example", 500, 1, &held),
	    PINS_HELD);
	ck_assert_int_eq(hold(&pins, &element, "c.example", 500, 1, &held),
	    PINS_FULL);
	ck_assert_int_eq(hold(&pins, &element, "b.example", 500, 1, &held),
	    PINS_HELD);
	/* What goes makes room. */
	pins_drop(&pins, pins_find(&pins, &element));
	hold_acked(&pins, &element, "c.example", 1);
	free(block);
}
END_TEST

START_TEST(recall)
{
	struct pin_element element = pins_model_element(2, "2001:db8::1", 443);
	static struct pin_record record, again, broken;
	struct pins pins;
	void *block = pins_model_open(&pins, &PINS_MODEL_LIMITS);
	uint32_t slot = 99;

	record.element = element;
	record.state = PIN_HELD;
	record.until_ms = 5000;
	record.holder_count = 2;
	record.holders[0].name = pins_model_name("a.example");
	record.holders[0].kind = RULE_CHILD;
	record.holders[0].rule_name = pins_model_name("example");
	record.holders[0].until_ms = 6000;
	record.holders[1].name = pins_model_name("b.example");
	record.holders[1].rule_name = record.holders[1].name;
	record.holders[1].until_ms = 7000;

	broken = record;
	broken.holder_count = 0;
	ck_assert(!pins_recall(&pins, &broken, 1000, &slot));
	broken.holder_count = PINS_HOLDERS_MAX + 1;
	ck_assert(!pins_recall(&pins, &broken, 1000, &slot));
	broken = record;
	broken.element.sandbox = 3;
	ck_assert(!pins_recall(&pins, &broken, 1000, &slot));
	broken.element.sandbox = 0;
	ck_assert(!pins_recall(&pins, &broken, 1000, &slot));
	broken = record;
	broken.element.addr.family = 5;
	ck_assert(!pins_recall(&pins, &broken, 1000, &slot));
	broken = record;
	broken.until_ms = UINT64_MAX;
	ck_assert(!pins_recall(&pins, &broken, 1000, &slot));
	ck_assert_uint_eq(slot, 99);
	ck_assert_uint_eq(pins_in_use(&pins), 0);

	ck_assert(pins_recall(&pins, &record, 1000, &slot));
	ck_assert(pins_record(&pins, slot, &again));
	ck_assert(memcmp(&again, &record, sizeof(record)) == 0);
	/* It lapses at its time, but today's kernel has not been asked. */
	ck_assert_uint_eq(pins_deadline(&pins), 5000);
	ck_assert(!pins_hold_until(&pins, &element, 1000));
	ck_assert(!pins_addr_held(&pins, 2, &element.addr, 1000));
	ck_assert(!pins_name_holds(&pins, 2, &record.holders[0].name, 6, 1000));
	hold_acked(&pins, &element, "a.example", 1000);
	ck_assert(pins_hold_until(&pins, &element, 5000));
	ck_assert(pins_addr_held(&pins, 2, &element.addr, 4999));
	ck_assert(pins_name_holds(&pins, 2, &record.holders[0].name, 6, 1000));
	ck_assert(!pins_recall(&pins, &record, 1000, &slot));
	pins_forget_all(&pins, 2);

	/* Over meanwhile: it is there for its flows. */
	ck_assert(pins_recall(&pins, &record, 5000, &slot));
	ck_assert(pins_record(&pins, slot, &again));
	ck_assert_int_eq(again.state, PIN_LAPSED);
	ck_assert(!pins_addr_held(&pins, 2, &element.addr, 5000));
	ck_assert_uint_eq(pins_deadline(&pins), DEADLINE_NEVER);
	pins_forget_all(&pins, 0);

	/* Never acknowledged, but a flow may run: a failure keeps it. */
	record.state = PIN_ASKED;
	record.until_ms = 0;
	ck_assert(pins_recall(&pins, &record, 1000, &slot));
	{
		struct pin_held held;
		struct pin_ack ack;

		hold(&pins, &element, "a.example", 1, 1000, &held);
		ck_assert(pins_acked(&pins, held.op, -EIO, 1000, &ack));
		ck_assert(!ack.dropped);
		ck_assert_uint_eq(ack.slot, slot);
	}
	free(block);
}
END_TEST

enum abuse {
	DROP_FREE,
	DROP_LAST_HOLDER,
	DROP_NO_HOLDER,
	HOLD_FOR_NOBODY
};

START_TEST(abuses)
{
	struct pin_element element = pins_model_element(1, "192.0.2.1", 443);
	struct pin_held held;
	struct pins pins;
	uint32_t slot;

	pins_model_open(&pins, &PINS_MODEL_LIMITS);
	slot = hold_acked(&pins, &element, "a.example", 1);
	switch ((enum abuse)_i) {
	case DROP_FREE:
		pins_drop(&pins, slot + 1);
		break;
	case DROP_LAST_HOLDER:
		pins_drop_holder(&pins, slot, 0);
		break;
	case DROP_NO_HOLDER:
		hold(&pins, &element, "b.example", 1, 2, &held);
		pins_drop_holder(&pins, slot, 2);
		break;
	case HOLD_FOR_NOBODY:
		element.sandbox = 0;
		hold(&pins, &element, "a.example", 1, 2, &held);
		break;
	}
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("pins", &all);

	tcase_add_test(all, life_of_a_pin);
	tcase_add_test(all, failed_at_first);
	tcase_add_test(all, failed_after_the_end);
	tcase_add_test(all, never_shortened);
	tcase_add_loop_test(all, stale_answers, 0, BY_DROP_AND_RENEWAL + 1);
	tcase_add_test(all, holders);
	tcase_add_test(all, ninth_holder);
	tcase_add_test(all, changed_rule);
	tcase_add_test(all, shares);
	tcase_add_test(all, recall);
	pins_model_add(all);
	tcase_add_loop_test_raise_signal(all, abuses, SIGABRT, 0,
	    HOLD_FOR_NOBODY + 1);
	return unit_run(suite);
}
