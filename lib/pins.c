/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pins - the ledger of what the kernel holds.
 *
 * Three indexes meet in an element: its own key, the names that hold it (each
 * name has a list of its holders) and its address (each has a list of its
 * elements). A number that is never used twice is given to every element when
 * it is made, and every request carries it: so the answer to a request that
 * was sent for an element that has gone since finds nothing, even where the
 * same element was made anew in the same slot.
 */
#include "lib/pins.h"

#include <string.h>

#include "lib/require.h"

#define ELEMENT_KEY_SIZE 24
#define NAME_KEY_SIZE    20
#define ADDR_KEY_SIZE    21

static void
put_u32(uint8_t *key, uint32_t number)
{
	memcpy(key, &number, sizeof(number));
}

static void
addr_key(uint32_t sandbox, const struct addr *addr, uint8_t *key)
{
	put_u32(key, sandbox);
	key[4] = addr->family;
	memcpy(key + 5, addr->bytes, sizeof(addr->bytes));
}

static void
element_key(const struct pin_element *element, uint8_t *key)
{
	addr_key(element->sandbox, &element->addr, key);
	key[21] = element->service.protocol;
	memcpy(key + 22, &element->service.port, 2);
}

static void
name_key(const struct pins *pins, uint32_t sandbox, const struct dname *name,
    uint8_t *key)
{
	put_u32(key, sandbox);
	dname_hash(name, pins->secret, key + 4);
}

void
pins_init(struct pins *pins, struct arena *arena,
    const struct pins_limits *limits, const uint8_t secret[16])
{
	uint32_t pins_max = limits->pins_max;

	REQUIRE(pins_max < TABLE_NONE / PINS_HOLDERS_MAX);
	memset(pins, 0, sizeof(*pins));
	pins->limits = *limits;
	table_init(&pins->elements, arena, pins_max, ELEMENT_KEY_SIZE, secret);
	pins->pins = arena_take(arena, pins_max, sizeof(*pins->pins));
	deadlines_init(&pins->deadlines, arena, pins_max);
	table_init(&pins->name_keys, arena, limits->names_max, NAME_KEY_SIZE,
	    secret);
	pins->names =
	    arena_take(arena, limits->names_max, sizeof(*pins->names));
	/* Every element has one address: this table cannot be full first. */
	table_init(&pins->addr_keys, arena, pins_max, ADDR_KEY_SIZE, secret);
	pins->addr_newest =
	    arena_take(arena, pins_max, sizeof(*pins->addr_newest));
	pool_init(&pins->ops, arena, limits->ops_max);
	pins->op = arena_take(arena, limits->ops_max, sizeof(*pins->op));
	pins->sandbox_pins = arena_take(arena,
	    (size_t)limits->sandboxes_max + 1, sizeof(*pins->sandbox_pins));
	memcpy(pins->secret, secret, sizeof(pins->secret));
}

uint32_t
pins_find(const struct pins *pins, const struct pin_element *element)
{
	uint8_t key[ELEMENT_KEY_SIZE];

	element_key(element, key);
	return table_find(&pins->elements, key);
}

static uint32_t
find_name(const struct pins *pins, uint32_t sandbox, const struct dname *name)
{
	uint8_t key[NAME_KEY_SIZE];

	name_key(pins, sandbox, name, key);
	return table_find(&pins->name_keys, key);
}

/* Holders: lists by name. A holder is named by element and index together. */

static struct pin_holder *
holder_at(const struct pins *pins, uint32_t place)
{
	return &pins->pins[place / PINS_HOLDERS_MAX]
		    .holders[place % PINS_HOLDERS_MAX];
}

/* Makes the neighbours of a holder (and its name) point to a place. */
static void
point_to_holder(struct pins *pins, const struct pin_holder *holder,
    uint32_t place)
{
	if (holder->newer == TABLE_NONE)
		pins->names[holder->name].newest = place;
	else
		holder_at(pins, holder->newer)->older = place;
	if (holder->older != TABLE_NONE)
		holder_at(pins, holder->older)->newer = place;
}

/* Takes a holder out of its name's list; a name without holders goes. */
static void
release_holder(struct pins *pins, const struct pin_holder *holder)
{
	if (holder->newer == TABLE_NONE)
		pins->names[holder->name].newest = holder->older;
	else
		holder_at(pins, holder->newer)->older = holder->older;
	if (holder->older != TABLE_NONE)
		holder_at(pins, holder->older)->newer = holder->newer;
	if (pins->names[holder->name].newest == TABLE_NONE)
		table_drop(&pins->name_keys, holder->name);
}

/* The last one moves to the freed index. */
static void
remove_holder(struct pins *pins, uint32_t slot, uint8_t index)
{
	struct pin *pin = &pins->pins[slot];
	uint8_t last = (uint8_t)(pin->holder_count - 1);

	release_holder(pins, &pin->holders[index]);
	pin->holder_count = last;
	if (index == last)
		return;
	pin->holders[index] = pin->holders[last];
	point_to_holder(pins, &pin->holders[index],
	    slot * PINS_HOLDERS_MAX + index);
}

static uint32_t
claim_name(struct pins *pins, uint32_t sandbox, const struct dname *name)
{
	uint8_t key[NAME_KEY_SIZE];
	uint32_t slot;
	bool is_new;

	name_key(pins, sandbox, name, key);
	slot = table_claim(&pins->name_keys, key, &is_new);
	if (slot != TABLE_NONE && is_new) {
		pins->names[slot].name = *name;
		pins->names[slot].newest = TABLE_NONE;
	}
	return slot;
}

static void
add_holder(struct pins *pins, uint32_t slot, uint32_t name, uint64_t until_ms)
{
	struct pin *pin = &pins->pins[slot];
	struct pin_holder *holder = &pin->holders[pin->holder_count];

	holder->until_ms = until_ms;
	holder->name = name;
	holder->newer = TABLE_NONE;
	holder->older = pins->names[name].newest;
	point_to_holder(pins, holder,
	    slot * PINS_HOLDERS_MAX + pin->holder_count);
	pin->holder_count++;
}

static struct pin_holder *
find_holder(struct pin *pin, uint32_t name)
{
	uint8_t i;

	for (i = 0; i < pin->holder_count; i++) {
		if (pin->holders[i].name == name)
			return &pin->holders[i];
	}
	return NULL;
}

static uint8_t
first_to_end(const struct pin *pin)
{
	uint8_t first = 0, i;

	for (i = 1; i < pin->holder_count; i++) {
		if (pin->holders[i].until_ms < pin->holders[first].until_ms)
			first = i;
	}
	return first;
}

/* Elements. */

static void
link_addr(struct pins *pins, uint32_t slot)
{
	struct pin *pin = &pins->pins[slot];
	uint8_t key[ADDR_KEY_SIZE];
	bool is_new;

	addr_key(pin->element.sandbox, &pin->element.addr, key);
	pin->addr = table_claim(&pins->addr_keys, key, &is_new);
	REQUIRE(pin->addr != TABLE_NONE);
	pin->newer = TABLE_NONE;
	pin->older = is_new ? TABLE_NONE : pins->addr_newest[pin->addr];
	if (pin->older != TABLE_NONE)
		pins->pins[pin->older].newer = slot;
	pins->addr_newest[pin->addr] = slot;
}

static void
unlink_addr(struct pins *pins, const struct pin *pin)
{
	if (pin->newer == TABLE_NONE)
		pins->addr_newest[pin->addr] = pin->older;
	else
		pins->pins[pin->newer].older = pin->older;
	if (pin->older != TABLE_NONE)
		pins->pins[pin->older].newer = pin->newer;
	if (pins->addr_newest[pin->addr] == TABLE_NONE)
		table_drop(&pins->addr_keys, pin->addr);
}

/* There is room: has_room() was asked. */
static uint32_t
make_element(struct pins *pins, const struct pin_element *element)
{
	uint8_t key[ELEMENT_KEY_SIZE];
	struct pin *pin;
	uint32_t slot;
	bool is_new;

	element_key(element, key);
	slot = table_claim(&pins->elements, key, &is_new);
	REQUIRE(slot != TABLE_NONE && is_new);
	pin = &pins->pins[slot];
	memset(pin, 0, sizeof(*pin));
	pin->element = *element;
	pin->state = PIN_ASKED;
	pin->born = ++pins->born_last;
	pins->sandbox_pins[element->sandbox]++;
	link_addr(pins, slot);
	return slot;
}

void
pins_drop(struct pins *pins, uint32_t slot)
{
	struct pin *pin = &pins->pins[slot];

	REQUIRE(slot < pins->limits.pins_max && pin->born != 0);
	while (pin->holder_count > 0)
		remove_holder(pins, slot, (uint8_t)(pin->holder_count - 1));
	unlink_addr(pins, pin);
	deadlines_cancel(&pins->deadlines, slot);
	pins->sandbox_pins[pin->element.sandbox]--;
	pin->born = 0;
	table_drop(&pins->elements, slot);
}

void
pins_drop_holder(struct pins *pins, uint32_t slot, uint8_t index)
{
	const struct pin *pin = &pins->pins[slot];

	REQUIRE(slot < pins->limits.pins_max && pin->born != 0);
	REQUIRE(index < pin->holder_count && pin->holder_count > 1);
	remove_holder(pins, slot, index);
}

static bool
has_room_for_element(const struct pins *pins, uint32_t sandbox)
{
	return table_in_use(&pins->elements) < pins->limits.pins_max &&
	    pins->sandbox_pins[sandbox] < pins->limits.pins_per_sandbox_max;
}

static bool
has_room(const struct pins *pins, const struct pin_wish *wish, uint32_t slot,
    bool ask)
{
	uint32_t sandbox = wish->element.sandbox;

	if (slot == TABLE_NONE && !has_room_for_element(pins, sandbox))
		return false;
	if (table_in_use(&pins->name_keys) == pins->limits.names_max &&
	    find_name(pins, sandbox, wish->name) == TABLE_NONE)
		return false;
	return !ask || pool_in_use(&pins->ops) < pins->limits.ops_max;
}

/* Notes the rule by which a name is held now; true when it was another. */
static bool
set_rule(struct pin_name *name, enum rule_kind kind, const struct dname *rule)
{
	if (name->kind == kind && dname_equal(&name->rule_name, rule))
		return false;
	name->kind = kind;
	name->rule_name = *rule;
	return true;
}

/* Returns true when the element's record changes by it. */
static bool
hold_by_name(struct pins *pins, uint32_t slot, const struct pin_wish *wish,
    uint64_t until_ms)
{
	struct pin *pin = &pins->pins[slot];
	uint32_t name = claim_name(pins, wish->element.sandbox, wish->name);
	struct pin_holder *holder = find_holder(pin, name);
	bool changed;

	REQUIRE(name != TABLE_NONE);
	changed = set_rule(&pins->names[name], wish->verdict->kind,
	    &wish->verdict->rule_name);
	if (holder != NULL) {
		if (holder->until_ms < until_ms)
			holder->until_ms = until_ms;
		return changed;
	}
	if (pin->holder_count == PINS_HOLDERS_MAX)
		remove_holder(pins, slot, first_to_end(pin));
	add_holder(pins, slot, name, until_ms);
	return true;
}

/*
 * The kernel keeps what it was told last, so a request must never ask for
 * less than an earlier one, acknowledged or still in flight, has promised to
 * somebody else.
 */
static void
open_op(struct pins *pins, uint32_t slot, const struct pin_wish *wish,
    uint64_t now_ms, struct pin_held *ret)
{
	struct pin *pin = &pins->pins[slot];
	uint64_t until_ms = now_ms + wish->lifetime_ms;
	struct pin_op *op;

	if (until_ms < pin->until_ms)
		until_ms = pin->until_ms;
	if (until_ms < pin->sent_ms)
		until_ms = pin->sent_ms;
	pin->sent_ms = until_ms;
	pin->state = PIN_ASKED;
	pin->ops++;
	ret->op = pool_take(&pins->ops);
	ret->lifetime_ms = (uint32_t)(until_ms - now_ms);
	op = &pins->op[pool_at(&pins->ops, ret->op)];
	op->element = pin->element;
	op->slot = slot;
	op->born = pin->born;
	op->query = wish->query;
	op->until_ms = until_ms;
}

/* What this kernel has acknowledged; a recalled element may be older than its
 * table. */
static uint64_t
known_until(const struct pin *pin)
{
	return pin->recalled ? 0 : pin->until_ms;
}

enum pins_hold
pins_hold(struct pins *pins, const struct pin_wish *wish, uint64_t now_ms,
    struct pin_held *ret)
{
	uint32_t slot = pins_find(pins, &wish->element);
	bool ask = slot == TABLE_NONE ||
	    known_until(&pins->pins[slot]) < now_ms + wish->need_ms;
	bool changed;

	REQUIRE(wish->element.sandbox > 0 &&
	    wish->element.sandbox <= pins->limits.sandboxes_max);
	if (!has_room(pins, wish, slot, ask))
		return PINS_FULL;
	if (slot == TABLE_NONE)
		slot = make_element(pins, &wish->element);
	changed = hold_by_name(pins, slot, wish, now_ms + wish->lifetime_ms);
	memset(ret, 0, sizeof(*ret));
	ret->slot = slot;
	ret->changed = changed || ask;
	if (!ask)
		return PINS_HELD;
	open_op(pins, slot, wish, now_ms, ret);
	return PINS_ASK;
}

/* After the last answer: what stands, lapses at its time (which may be over
 * already: then it is popped next). */
static void
settle(struct pins *pins, uint32_t slot)
{
	struct pin *pin = &pins->pins[slot];

	if (pin->ops > 0)
		return;
	pin->sent_ms = pin->until_ms;
	pin->state = PIN_HELD;
	deadlines_set(&pins->deadlines, slot, pin->until_ms);
}

/* An element of its own answer, or NULL when it has gone since. */
static struct pin *
pin_of_op(struct pins *pins, const struct pin_op *op)
{
	struct pin *pin = &pins->pins[op->slot];

	return pin->born == op->born ? pin : NULL;
}

bool
pins_acked(struct pins *pins, uint64_t id, int status, uint64_t now_ms,
    struct pin_ack *ret)
{
	uint32_t place = pool_at(&pins->ops, id);
	struct pin_op op;
	struct pin *pin;

	if (place == POOL_NONE)
		return false;
	op = pins->op[place];
	pool_give(&pins->ops, id);
	memset(ret, 0, sizeof(*ret));
	ret->query = op.query;
	ret->element = op.element;
	ret->slot = TABLE_NONE;
	pin = pin_of_op(pins, &op);
	if (pin == NULL)
		return true;
	ret->slot = op.slot;
	ret->ok = status == 0 && op.until_ms > now_ms;
	pin->ops--;
	if (status == 0)
		pin->recalled = false;
	if (status == 0 && op.until_ms > pin->until_ms)
		pin->until_ms = op.until_ms;
	if (pin->until_ms == 0 && pin->ops == 0) {
		pins_drop(pins, op.slot);
		ret->dropped = true;
	} else {
		settle(pins, op.slot);
	}
	return true;
}

bool
pins_hold_until(const struct pins *pins, const struct pin_element *element,
    uint64_t at_ms)
{
	uint64_t until_ms = pins_until(pins, element);

	return until_ms != 0 && until_ms >= at_ms;
}

uint64_t
pins_until(const struct pins *pins, const struct pin_element *element)
{
	uint32_t slot = pins_find(pins, element);

	return slot == TABLE_NONE ? 0 : known_until(&pins->pins[slot]);
}

bool
pins_name_holds(const struct pins *pins, uint32_t sandbox,
    const struct dname *dname, uint8_t family, uint64_t now_ms)
{
	uint32_t name = find_name(pins, sandbox, dname);
	uint32_t place = name == TABLE_NONE ? name : pins->names[name].newest;
	const struct pin_holder *holder;
	const struct pin *pin;

	while (place != TABLE_NONE) {
		holder = holder_at(pins, place);
		pin = &pins->pins[place / PINS_HOLDERS_MAX];
		if (pin->element.addr.family == family &&
		    known_until(pin) > now_ms && holder->until_ms > now_ms)
			return true;
		place = holder->older;
	}
	return false;
}

bool
pins_addr_held(const struct pins *pins, uint32_t sandbox,
    const struct addr *addr, uint64_t now_ms)
{
	uint8_t key[ADDR_KEY_SIZE];
	uint32_t slot;

	addr_key(sandbox, addr, key);
	slot = table_find(&pins->addr_keys, key);
	if (slot != TABLE_NONE)
		slot = pins->addr_newest[slot];
	while (slot != TABLE_NONE) {
		if (known_until(&pins->pins[slot]) > now_ms)
			return true;
		slot = pins->pins[slot].older;
	}
	return false;
}

/* A name that holds several elements of an address is one name. */
static void
add_name(struct pin_names *names, const struct dname *name)
{
	for (size_t i = 0; i < names->count; i++) {
		if (dname_equal(&names->names[i], name))
			return;
	}
	if (names->count < PIN_NAMES_MAX)
		names->names[names->count++] = *name;
}

uint64_t
pins_addr_names(const struct pins *pins, uint32_t sandbox,
    const struct addr *addr, uint64_t now_ms, struct pin_names *ret)
{
	uint8_t key[ADDR_KEY_SIZE];
	uint64_t first_ms = 0;
	uint32_t slot;

	ret->count = 0;
	addr_key(sandbox, addr, key);
	slot = table_find(&pins->addr_keys, key);
	if (slot != TABLE_NONE)
		slot = pins->addr_newest[slot];
	for (; slot != TABLE_NONE; slot = pins->pins[slot].older) {
		const struct pin *pin = &pins->pins[slot];
		uint64_t until_ms = known_until(pin);

		if (until_ms <= now_ms)
			continue;
		if (first_ms == 0 || until_ms < first_ms)
			first_ms = until_ms;
		for (uint8_t i = 0; i < pin->holder_count; i++)
			if (pin->holders[i].until_ms > now_ms)
				add_name(ret,
				    &pins->names[pin->holders[i].name].name);
	}
	return ret->count > 0 ? first_ms : 0;
}

bool
pins_pop_lapsed(struct pins *pins, uint64_t now_ms, uint32_t *ret_slot)
{
	uint32_t slot;

	while (deadlines_pop_due(&pins->deadlines, now_ms, &slot)) {
		/* The answer in flight will settle it. */
		if (pins->pins[slot].ops > 0)
			continue;
		pins->pins[slot].state = PIN_LAPSED;
		*ret_slot = slot;
		return true;
	}
	return false;
}

uint64_t
pins_deadline(const struct pins *pins)
{
	return deadlines_next(&pins->deadlines);
}

static bool
record_is_sound(const struct pins *pins, const struct pin_record *record,
    uint64_t now_ms)
{
	const struct pin_element *element = &record->element;

	return record->holder_count > 0 &&
	    record->holder_count <= PINS_HOLDERS_MAX && element->sandbox > 0 &&
	    element->sandbox <= pins->limits.sandboxes_max &&
	    (element->addr.family == 4 || element->addr.family == 6) &&
	    (record->until_ms <= now_ms ||
		record->until_ms - now_ms <= UINT32_MAX);
}

/* One holder of a record; a name that finds no room is left out. */
static void
recall_holder(struct pins *pins, uint32_t slot, const struct pin_record *record,
    uint8_t index)
{
	uint32_t name = claim_name(pins, record->element.sandbox,
	    &record->holders[index].name);

	if (name == TABLE_NONE || find_holder(&pins->pins[slot], name) != NULL)
		return;
	set_rule(&pins->names[name], record->holders[index].kind,
	    &record->holders[index].rule_name);
	add_holder(pins, slot, name, record->holders[index].until_ms);
}

bool
pins_recall(struct pins *pins, const struct pin_record *record, uint64_t now_ms,
    uint32_t *ret_slot)
{
	struct pin *pin;
	uint32_t slot;
	uint8_t i;

	if (!record_is_sound(pins, record, now_ms) ||
	    pins_find(pins, &record->element) != TABLE_NONE ||
	    !has_room_for_element(pins, record->element.sandbox))
		return false;
	slot = make_element(pins, &record->element);
	pin = &pins->pins[slot];
	for (i = 0; i < record->holder_count; i++)
		recall_holder(pins, slot, record, i);
	if (pin->holder_count == 0) {
		pins_drop(pins, slot);
		return false;
	}
	pin->recalled = true;
	/* 0 would say that it never held; it may have flows. */
	pin->until_ms = record->until_ms > 0 ? record->until_ms : 1;
	if (record->state == PIN_LAPSED || record->until_ms <= now_ms)
		pin->state = PIN_LAPSED;
	else
		settle(pins, slot);
	*ret_slot = slot;
	return true;
}

bool
pins_record(const struct pins *pins, uint32_t slot, struct pin_record *ret)
{
	const struct pin_name *name;
	const struct pin *pin;
	uint8_t i;

	if (slot >= pins->limits.pins_max || pins->pins[slot].born == 0)
		return false;
	pin = &pins->pins[slot];
	memset(ret, 0, sizeof(*ret));
	ret->element = pin->element;
	ret->state = pin->state;
	ret->until_ms = pin->until_ms;
	ret->holder_count = pin->holder_count;
	for (i = 0; i < pin->holder_count; i++) {
		name = &pins->names[pin->holders[i].name];
		ret->holders[i].name = name->name;
		ret->holders[i].kind = name->kind;
		ret->holders[i].rule_name = name->rule_name;
		ret->holders[i].until_ms = pin->holders[i].until_ms;
	}
	return true;
}

uint32_t
pins_each(const struct pins *pins, uint32_t slot)
{
	return slot == TABLE_NONE ? table_oldest(&pins->elements)
				  : table_next(&pins->elements, slot);
}

void
pins_forget_all(struct pins *pins, uint32_t sandbox)
{
	uint32_t slot = pins_each(pins, TABLE_NONE), next;

	while (slot != TABLE_NONE) {
		next = pins_each(pins, slot);
		if (sandbox == 0 || pins->pins[slot].element.sandbox == sandbox)
			pins_drop(pins, slot);
		slot = next;
	}
}

uint32_t
pins_in_use(const struct pins *pins)
{
	return table_in_use(&pins->elements);
}
