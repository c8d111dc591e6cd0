/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Besides the cases, thousands of random steps are compared with a naive
 * ledger and with a kernel that is told what the ledger's owner would send.
 */
#include "lib/pins.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "lib/rng.h"
#include "tests/unit/unit.h"

static const uint8_t SECRET[16] = { 2, 7, 1, 8 };

static const struct pins_limits LIMITS = {
	.pins_max = 12,
	.pins_per_sandbox_max = 8,
	.names_max = 14,
	.ops_max = 6,
	.sandboxes_max = 2,
};

static void *
open_ledger(struct pins *pins, const struct pins_limits *limits)
{
	struct arena arena;
	void *block;

	arena_init(&arena, NULL, 0);
	pins_init(pins, &arena, limits, SECRET);
	block = malloc(arena.used);
	ck_assert_ptr_nonnull(block);
	arena_init(&arena, block, arena.used);
	pins_init(pins, &arena, limits, SECRET);
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

static struct pin_element
element_of(uint32_t sandbox, const char *addr, uint16_t port)
{
	struct pin_element element = { .sandbox = sandbox };

	ck_assert(addr_parse(addr, strlen(addr), &element.addr));
	element.service.protocol = PROTO_TCP;
	element.service.port = port;
	return element;
}

/* One hold by a rule that is the name itself. */
static enum pins_hold
hold(struct pins *pins, const struct pin_element *element, const char *text,
    uint32_t need_ms, uint64_t now_ms, struct pin_held *ret)
{
	static struct verdict verdict;
	struct dname name = name_of(text);
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
	struct pin_element element = element_of(1, "192.0.2.1", 443);
	struct pin_held held;
	struct pin_ack ack;
	struct pin_record record;
	struct pins pins;
	void *block = open_ledger(&pins, &LIMITS);
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
	struct pin_element element = element_of(1, "192.0.2.1", 443);
	struct pin_held first, second;
	struct pin_ack ack;
	struct pins pins;
	void *block = open_ledger(&pins, &LIMITS);

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
	struct pin_element element = element_of(1, "192.0.2.1", 443);
	struct pin_held held;
	struct pin_ack ack;
	struct pin_record record;
	struct pins pins;
	void *block = open_ledger(&pins, &LIMITS);
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
	struct pin_element element = element_of(1, "192.0.2.1", 443);
	struct dname name = name_of("b.example");
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
	void *block = open_ledger(&pins, &LIMITS);

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
	struct pin_element element = element_of(1, "192.0.2.1", 443);
	struct pin_held held, again;
	struct pin_ack ack;
	struct pins pins;
	void *block = open_ledger(&pins, &LIMITS);

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
	struct pin_element first = element_of(1, "192.0.2.1", 443);
	struct pin_element other = element_of(1, "192.0.2.2", 443);
	struct dname shared = name_of("a.example"),
		     alone = name_of("b.example");
	struct pin_record record;
	struct pin_held held;
	struct pins pins;
	void *block = open_ledger(&pins, &LIMITS);
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
	struct pin_element element = element_of(1, "192.0.2.1", 443);
	char text[] = "a.example";
	struct dname first = name_of(text), last;
	struct pin_record record;
	struct pin_held held;
	struct pins pins;
	void *block = open_ledger(&pins, &LIMITS);
	uint32_t slot = hold_acked(&pins, &element, text, 1);
	uint8_t i;

	for (i = 1; i <= PINS_HOLDERS_MAX; i++) {
		text[0] = (char)('a' + i);
		ck_assert_int_eq(hold(&pins, &element, text, 1, 1u + i, &held),
		    PINS_HELD);
		ck_assert(held.changed);
	}
	last = name_of(text);
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
	struct pin_element element = element_of(1, "192.0.2.1", 443);
	struct dname name = name_of("a.example"), parent = name_of("example");
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
	void *block = open_ledger(&pins, &LIMITS);

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
	struct pins_limits limits = LIMITS;
	struct pin_element element = element_of(1, "192.0.2.1", 443);
	struct pin_held held;
	struct pin_ack ack;
	struct pins pins;
	void *block;

	limits.pins_max = 3;
	limits.pins_per_sandbox_max = 2;
	limits.names_max = 3;
	limits.ops_max = 1;
	block = open_ledger(&pins, &limits);

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
	struct pin_element element = element_of(2, "2001:db8::1", 443);
	static struct pin_record record, again, broken;
	struct pins pins;
	void *block = open_ledger(&pins, &LIMITS);
	uint32_t slot = 99;

	record.element = element;
	record.state = PIN_HELD;
	record.until_ms = 5000;
	record.holder_count = 2;
	record.holders[0].name = name_of("a.example");
	record.holders[0].kind = RULE_CHILD;
	record.holders[0].rule_name = name_of("example");
	record.holders[0].until_ms = 6000;
	record.holders[1].name = name_of("b.example");
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

/* The naive ledger. REQUIRE instead of Check's assertions, which cost a system
 * call each; the loop's number in the report is the seed. */

enum {
	SANDBOXES = 2,
	ADDRS = 4,
	PORTS = 2,
	NAMES = 12,
	QUEUE = 64
};
enum {
	COMBOS = SANDBOXES * ADDRS * PORTS
};

struct naive_holder {
	int name;
	uint64_t until_ms;
};

struct naive_pin {
	bool there, recalled;
	enum pin_state state;
	uint64_t born, until_ms, sent_ms;
	int ops, holder_count;
	struct naive_holder holders[PINS_HOLDERS_MAX];
};

/* What was sent to the kernel and not done, or done and not answered. */
struct message {
	bool unpin, done;
	int combo, status;
	uint64_t op, born, until_ms;
	uint32_t lifetime_ms;
};

struct world {
	struct pins pins;
	struct rng rng;
	uint64_t now_ms, born;
	struct naive_pin naive[COMBOS];
	enum rule_kind rules[SANDBOXES][NAMES];
	uint64_t kernel[COMBOS]; /* when it ends there */
	struct message queue[QUEUE];
	int queued, ops;
	long held, asked, full, stale;
};

static struct pin_element combo_elements[COMBOS];
static struct dname numbered_names[NAMES];

static void
make_names(void)
{
	static const char *ADDR[ADDRS] = { "192.0.2.1", "192.0.2.2",
		"2001:db8::1", "2001:db8::2" };
	char text[] = "a.example";
	int i;

	for (i = 0; i < COMBOS; i++)
		combo_elements[i] =
		    element_of((uint32_t)(i / (ADDRS * PORTS)) + 1,
			ADDR[i / PORTS % ADDRS], (uint16_t)(443 + i % PORTS));
	for (i = 0; i < NAMES; i++) {
		text[0] = (char)('a' + i);
		numbered_names[i] = name_of(text);
	}
}

static int
sandbox_of(int combo)
{
	return combo / (ADDRS * PORTS);
}

static uint64_t
naive_until(const struct naive_pin *pin)
{
	return pin->there && !pin->recalled ? pin->until_ms : 0;
}

static int
naive_count(const struct world *world, int sandbox)
{
	int i, count = 0;

	for (i = 0; i < COMBOS; i++) {
		if (world->naive[i].there &&
		    (sandbox < 0 || sandbox_of(i) == sandbox))
			count++;
	}
	return count;
}

static int
naive_holder_of(const struct naive_pin *pin, int name)
{
	int i;

	for (i = 0; i < pin->holder_count; i++) {
		if (pin->holders[i].name == name)
			return i;
	}
	return -1;
}

static bool
naive_name_known(const struct world *world, int sandbox, int name)
{
	int i;

	for (i = 0; i < COMBOS; i++) {
		if (world->naive[i].there && sandbox_of(i) == sandbox &&
		    naive_holder_of(&world->naive[i], name) >= 0)
			return true;
	}
	return false;
}

static int
naive_names(const struct world *world)
{
	int sandbox, name, count = 0;

	for (sandbox = 0; sandbox < SANDBOXES; sandbox++) {
		for (name = 0; name < NAMES; name++)
			count += naive_name_known(world, sandbox, name);
	}
	return count;
}

static void
naive_remove(struct naive_pin *pin, int holder)
{
	pin->holders[holder] = pin->holders[--pin->holder_count];
}

static bool
naive_has_room(const struct world *world, int combo, int name, bool ask)
{
	int sandbox = sandbox_of(combo);

	if (!world->naive[combo].there &&
	    (naive_count(world, -1) == (int)LIMITS.pins_max ||
		naive_count(world, sandbox) ==
		    (int)LIMITS.pins_per_sandbox_max))
		return false;
	if (!naive_name_known(world, sandbox, name) &&
	    naive_names(world) == (int)LIMITS.names_max)
		return false;
	return !ask || world->ops < (int)LIMITS.ops_max;
}

/* Returns whether a holder came that was not there. */
static bool
naive_hold(struct naive_pin *pin, int name, uint64_t until_ms)
{
	int holder = naive_holder_of(pin, name), i;

	if (holder >= 0) {
		if (pin->holders[holder].until_ms < until_ms)
			pin->holders[holder].until_ms = until_ms;
		return false;
	}
	if (pin->holder_count == PINS_HOLDERS_MAX) {
		holder = 0;
		for (i = 1; i < pin->holder_count; i++) {
			if (pin->holders[i].until_ms <
			    pin->holders[holder].until_ms)
				holder = i;
		}
		naive_remove(pin, holder);
	}
	pin->holders[pin->holder_count++] =
	    (struct naive_holder){ name, until_ms };
	return true;
}

static uint64_t
max_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void
send_message(struct world *world, const struct message *message)
{
	REQUIRE(world->queued < QUEUE);
	world->queue[world->queued++] = *message;
}

static void
send_pin(struct world *world, int combo, const struct pin_held *held,
    uint32_t lifetime_ms)
{
	struct naive_pin *pin = &world->naive[combo];
	struct message message = { .combo = combo, .op = held->op };

	pin->sent_ms = max_of(world->now_ms + lifetime_ms,
	    max_of(pin->until_ms, pin->sent_ms));
	pin->state = PIN_ASKED;
	pin->ops++;
	world->ops++;
	message.born = pin->born;
	message.until_ms = pin->sent_ms;
	message.lifetime_ms = held->lifetime_ms;
	REQUIRE(held->lifetime_ms == pin->sent_ms - world->now_ms);
	send_message(world, &message);
}

static void
step_hold(struct world *world)
{
	int combo = (int)rng_below(&world->rng, COMBOS);
	int name = (int)rng_below(&world->rng, NAMES);
	enum rule_kind kind = (enum rule_kind)rng_below(&world->rng, 2);
	struct naive_pin *pin = &world->naive[combo];
	struct dname dname = numbered_names[name];
	struct verdict verdict = { .kind = kind, .rule_name = dname };
	struct pin_wish wish = {
		.element = combo_elements[combo],
		.name = &dname,
		.verdict = &verdict,
		.query = rng_u32(&world->rng),
		.lifetime_ms = 1 + rng_below(&world->rng, 200),
	};
	struct pin_held held;
	bool ask, changed,
	    known = naive_name_known(world, sandbox_of(combo), name);
	enum pins_hold result, expected;

	wish.need_ms = rng_below(&world->rng, wish.lifetime_ms + 1);
	ask = !pin->there || naive_until(pin) < world->now_ms + wish.need_ms;
	expected = ask ? PINS_ASK : PINS_HELD;
	if (!naive_has_room(world, combo, name, ask))
		expected = PINS_FULL;
	result = pins_hold(&world->pins, &wish, world->now_ms, &held);
	REQUIRE(result == expected);
	if (result == PINS_FULL) {
		world->full++;
		return;
	}
	if (!pin->there) {
		memset(pin, 0, sizeof(*pin));
		pin->there = true;
		pin->born = ++world->born;
	}
	changed =
	    ask || !known || world->rules[sandbox_of(combo)][name] != kind;
	world->rules[sandbox_of(combo)][name] = kind;
	changed |= naive_hold(pin, name, world->now_ms + wish.lifetime_ms);
	REQUIRE(held.changed == changed);
	if (ask)
		send_pin(world, combo, &held, wish.lifetime_ms);
	world->asked += ask;
	world->held += !ask;
}

/* The kernel does the oldest thing that is not done. */
static void
step_kernel(struct world *world)
{
	struct message *message = NULL;
	int i;

	for (i = 0; i < world->queued && message == NULL; i++) {
		if (!world->queue[i].done)
			message = &world->queue[i];
	}
	if (message == NULL)
		return;
	message->done = true;
	if (message->unpin) {
		world->kernel[message->combo] = 0;
		return;
	}
	message->status = rng_below(&world->rng, 4) == 0 ? -EIO : 0;
	if (message->status == 0)
		world->kernel[message->combo] =
		    world->now_ms + message->lifetime_ms;
}

static void
naive_ack(struct world *world, const struct message *message,
    const struct pin_ack *ack)
{
	struct naive_pin *pin = &world->naive[message->combo];

	if (!pin->there || pin->born != message->born) {
		REQUIRE(ack->slot == TABLE_NONE);
		REQUIRE(!ack->ok && !ack->dropped);
		world->stale++;
		return;
	}
	pin->ops--;
	if (message->status == 0) {
		pin->recalled = false;
		pin->until_ms = max_of(pin->until_ms, message->until_ms);
	}
	REQUIRE(ack->ok ==
	    (message->status == 0 && message->until_ms > world->now_ms));
	REQUIRE(ack->dropped == (pin->until_ms == 0 && pin->ops == 0));
	if (ack->dropped) {
		pin->there = false;
	} else if (pin->ops == 0) {
		pin->sent_ms = pin->until_ms;
		pin->state = PIN_HELD;
	}
}

static void
take_first(struct world *world)
{
	world->queued--;
	memmove(world->queue, world->queue + 1,
	    (size_t)world->queued * sizeof(world->queue[0]));
}

/* The oldest answer arrives. An element that the kernel got and the ledger
 * has forgotten is taken back, as pins.h says. */
static void
step_answer(struct world *world)
{
	struct message message = world->queue[0];
	struct pin_element element;
	struct pin_ack ack;

	if (world->queued == 0 || !message.done)
		return;
	take_first(world);
	if (message.unpin)
		return;
	world->ops--;
	REQUIRE(pins_acked(&world->pins, message.op, message.status,
	    world->now_ms, &ack));
	element = combo_elements[message.combo];
	REQUIRE(memcmp(&ack.element.addr, &element.addr,
		    sizeof(element.addr)) == 0);
	naive_ack(world, &message, &ack);
	if (ack.slot == TABLE_NONE && message.status == 0 &&
	    pins_find(&world->pins, &element) == TABLE_NONE)
		send_message(world,
		    &(struct message){ .unpin = true, .combo = message.combo });
}

static void
step_drop(struct world *world)
{
	int combo = (int)rng_below(&world->rng, COMBOS), holder;
	struct naive_pin *pin = &world->naive[combo];
	struct pin_element element = combo_elements[combo];
	uint32_t slot = pins_find(&world->pins, &element);

	if (!pin->there)
		return;
	holder = (int)rng_below(&world->rng, (uint32_t)pin->holder_count);
	if (pin->holder_count > 1) {
		pins_drop_holder(&world->pins, slot, (uint8_t)holder);
		naive_remove(pin, holder);
		return;
	}
	pins_drop(&world->pins, slot);
	pin->there = false;
	send_message(world, &(struct message){ .unpin = true, .combo = combo });
}

/* The kernel loses everything, and says so behind the answers before it. */
static void
step_loss(struct world *world)
{
	int sandbox = (int)rng_below(&world->rng, SANDBOXES + 1), i;

	while (world->queued > 0 && world->queue[0].done)
		step_answer(world);
	for (i = 0; i < COMBOS; i++) {
		if (sandbox > 0 && sandbox_of(i) != sandbox - 1)
			continue;
		world->naive[i].there = false;
		world->kernel[i] = 0;
	}
	pins_forget_all(&world->pins, (uint32_t)sandbox);
}

static void
step_lapse(struct world *world)
{
	uint32_t slot;
	int i, due = 0;

	for (i = 0; i < COMBOS; i++) {
		if (world->naive[i].there && world->naive[i].ops == 0 &&
		    world->naive[i].state == PIN_HELD &&
		    world->naive[i].until_ms <= world->now_ms) {
			world->naive[i].state = PIN_LAPSED;
			due++;
		}
	}
	for (; due > 0; due--)
		REQUIRE(pins_pop_lapsed(&world->pins, world->now_ms, &slot));
	REQUIRE(!pins_pop_lapsed(&world->pins, world->now_ms, &slot));
}

/* A record goes through the state directory and comes back. */
static void
step_recall(struct world *world)
{
	int combo = (int)rng_below(&world->rng, COMBOS);
	struct naive_pin *pin = &world->naive[combo];
	struct pin_element element = combo_elements[combo];
	uint32_t slot = pins_find(&world->pins, &element);
	static struct pin_record record, again;

	if (!pin->there || pin->ops > 0)
		return;
	REQUIRE(pins_record(&world->pins, slot, &record));
	pins_drop(&world->pins, slot);
	REQUIRE(pins_recall(&world->pins, &record, world->now_ms, &slot));
	REQUIRE(pins_record(&world->pins, slot, &again));
	pin->born = ++world->born;
	pin->recalled = true;
	if (pin->until_ms <= world->now_ms)
		pin->state = PIN_LAPSED;
	record.state = pin->state;
	REQUIRE(memcmp(&record, &again, sizeof(record)) == 0);
}

static void
check_record(const struct world *world, int combo, uint32_t slot)
{
	const struct naive_pin *pin = &world->naive[combo];
	struct pin_record record;
	struct dname name;
	int i;

	REQUIRE(pins_record(&world->pins, slot, &record));
	REQUIRE(record.state == pin->state);
	REQUIRE(record.until_ms == pin->until_ms);
	REQUIRE(record.holder_count == pin->holder_count);
	for (i = 0; i < pin->holder_count; i++) {
		name = numbered_names[pin->holders[i].name];
		REQUIRE(dname_equal(&record.holders[i].name, &name));
		REQUIRE(record.holders[i].kind ==
		    world->rules[sandbox_of(combo)][pin->holders[i].name]);
		REQUIRE(record.holders[i].until_ms == pin->holders[i].until_ms);
	}
}

static void
check_combo(const struct world *world, int combo)
{
	const struct naive_pin *pin = &world->naive[combo];
	struct pin_element element = combo_elements[combo];
	uint32_t slot = pins_find(&world->pins, &element);
	uint64_t until_ms = pins_until(&world->pins, &element);

	REQUIRE((slot != TABLE_NONE) == pin->there);
	REQUIRE(until_ms == naive_until(pin));
	/* Never more optimistic than the kernel. */
	if (until_ms > world->now_ms)
		REQUIRE(until_ms <= world->kernel[combo]);
	if (pin->there)
		check_record(world, combo, slot);
}

static bool
naive_name_holds(const struct world *world, int sandbox, int name, int family)
{
	const struct naive_pin *pin;
	int i, holder;

	for (i = 0; i < COMBOS; i++) {
		pin = &world->naive[i];
		if (!pin->there || sandbox_of(i) != sandbox ||
		    combo_elements[i].addr.family != family ||
		    naive_until(pin) <= world->now_ms)
			continue;
		holder = naive_holder_of(pin, name);
		if (holder >= 0 &&
		    pin->holders[holder].until_ms > world->now_ms)
			return true;
	}
	return false;
}

static void
check_names(const struct world *world, int sandbox)
{
	struct dname dname;
	int name, family;

	for (name = 0; name < NAMES; name++) {
		dname = numbered_names[name];
		for (family = 4; family <= 6; family += 2)
			REQUIRE(
			    pins_name_holds(&world->pins, (uint32_t)sandbox + 1,
				&dname, (uint8_t)family, world->now_ms) ==
			    naive_name_holds(world, sandbox, name, family));
	}
}

static void
check_addrs(const struct world *world)
{
	struct pin_element element;
	bool held;
	int i, port;

	for (i = 0; i < COMBOS; i += PORTS) {
		held = false;
		for (port = 0; port < PORTS; port++)
			held |= naive_until(&world->naive[i + port]) >
			    world->now_ms;
		element = combo_elements[i];
		REQUIRE(pins_addr_held(&world->pins, element.sandbox,
			    &element.addr, world->now_ms) == held);
	}
}

/* Oldest first. */
static void
check_walk(const struct world *world)
{
	uint32_t slot = pins_each(&world->pins, TABLE_NONE);
	uint64_t born = 0;
	uint32_t count = 0;

	for (; slot != TABLE_NONE; slot = pins_each(&world->pins, slot)) {
		REQUIRE(world->pins.pins[slot].born > born);
		born = world->pins.pins[slot].born;
		count++;
	}
	REQUIRE(count == pins_in_use(&world->pins));
}

static void
check(const struct world *world)
{
	int i;

	for (i = 0; i < COMBOS; i++)
		check_combo(world, i);
	for (i = 0; i < SANDBOXES; i++) {
		check_names(world, i);
		REQUIRE(world->pins.sandbox_pins[i + 1] ==
		    (uint32_t)naive_count(world, i));
	}
	check_addrs(world);
	check_walk(world);
	REQUIRE((int)pins_in_use(&world->pins) == naive_count(world, -1));
	REQUIRE(
	    (int)table_in_use(&world->pins.name_keys) == naive_names(world));
	REQUIRE((int)pool_in_use(&world->pins.ops) == world->ops);
}

static void
step(struct world *world)
{
	switch (rng_below(&world->rng, 24)) {
	case 0:
	case 1:
		step_drop(world);
		break;
	case 2:
		step_lapse(world);
		break;
	case 3:
		step_recall(world);
		break;
	case 4:
		if (rng_below(&world->rng, 20) == 0)
			step_loss(world);
		break;
	case 5:
	case 6:
	case 7:
		world->now_ms += rng_below(&world->rng, 40);
		break;
	case 8:
	case 9:
	case 10:
	case 11:
	case 12:
		step_kernel(world);
		break;
	case 13:
	case 14:
	case 15:
	case 16:
	case 17:
		step_answer(world);
		break;
	default:
		step_hold(world);
		break;
	}
}

START_TEST(against_naive)
{
	static struct world world;
	uint8_t seed[32] = { (uint8_t)(_i + 1) };
	void *block = open_ledger(&world.pins, &LIMITS);
	int i;

	make_names();
	rng_init(&world.rng, seed);
	world.now_ms = 1000;
	for (i = 0; i < 4000; i++) {
		step(&world);
		check(&world);
	}
	/* All that can happen did. */
	ck_assert_int_gt(world.held, 20);
	ck_assert_int_gt(world.asked, 200);
	ck_assert_int_gt(world.full, 50);
	ck_assert_int_gt(world.stale, 5);
	while (world.queued > 0) {
		step_kernel(&world);
		step_answer(&world);
		check(&world);
	}
	pins_forget_all(&world.pins, 0);
	ck_assert_uint_eq(table_in_use(&world.pins.name_keys), 0);
	ck_assert_uint_eq(table_in_use(&world.pins.addr_keys), 0);
	ck_assert_uint_eq(pool_in_use(&world.pins.ops), 0);
	ck_assert_uint_eq(pins_deadline(&world.pins), DEADLINE_NEVER);
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
	struct pin_element element = element_of(1, "192.0.2.1", 443);
	struct pin_held held;
	struct pins pins;
	uint32_t slot;

	open_ledger(&pins, &LIMITS);
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
	tcase_add_loop_test(all, against_naive, 0, 12);
	tcase_add_loop_test_raise_signal(all, abuses, SIGABRT, 0,
	    HOLD_FOR_NOBODY + 1);
	return unit_run(suite);
}
