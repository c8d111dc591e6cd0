/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pins_model - thousands of random steps, compared with a naive ledger and
 * with a kernel that is told, late, what the ledger's owner would send.
 *
 * The model uses REQUIRE instead of Check's assertions, which cost a system
 * call each; the loop's number in a report is the seed.
 */
#include "tests/unit/pins_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "lib/rng.h"

static const uint8_t SECRET[16] = { 2, 7, 1, 8 };

const struct pins_limits PINS_MODEL_LIMITS = {
	.pins_max = 12,
	.pins_per_sandbox_max = 8,
	.names_max = 14,
	.ops_max = 6,
	.sandboxes_max = 2,
};

void *
pins_model_open(struct pins *pins, const struct pins_limits *limits)
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

struct dname
pins_model_name(const char *text)
{
	struct dname name;

	ck_assert(dname_from_text(text, strlen(text), &name));
	return name;
}

struct pin_element
pins_model_element(uint32_t sandbox, const char *addr, uint16_t port)
{
	struct pin_element element = { .sandbox = sandbox };

	ck_assert(addr_parse(addr, strlen(addr), &element.addr));
	element.service.protocol = PROTO_TCP;
	element.service.port = port;
	return element;
}

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
		    pins_model_element((uint32_t)(i / (ADDRS * PORTS)) + 1,
			ADDR[i / PORTS % ADDRS], (uint16_t)(443 + i % PORTS));
	for (i = 0; i < NAMES; i++) {
		text[0] = (char)('a' + i);
		numbered_names[i] = pins_model_name(text);
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
	    (naive_count(world, -1) == (int)PINS_MODEL_LIMITS.pins_max ||
		naive_count(world, sandbox) ==
		    (int)PINS_MODEL_LIMITS.pins_per_sandbox_max))
		return false;
	if (!naive_name_known(world, sandbox, name) &&
	    naive_names(world) == (int)PINS_MODEL_LIMITS.names_max)
		return false;
	return !ask || world->ops < (int)PINS_MODEL_LIMITS.ops_max;
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
	void *block = pins_model_open(&world.pins, &PINS_MODEL_LIMITS);
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

void
pins_model_add(TCase *all)
{
	tcase_add_loop_test(all, against_naive, 0, 12);
}
