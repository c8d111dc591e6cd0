/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pins - the ledger of what the kernel holds: for which sandbox, until when,
 * and by which names.
 *
 * An element is (sandbox, address, protocol, port); the helper makes it one
 * kernel element for each source address. An element has up to 8 holders
 * (name, rule kind and name): it lives as long as the latest of them and is
 * revoked when the last one goes. The ledger counts a pin's life from when it
 * was sent, the kernel from when it arrived, so the ledger is never the more
 * optimistic. Past its deadline an element becomes LAPSED: no new flow may
 * start, but its record stays as long as connection tracking may know a flow.
 * The table refuses when it is full; it never evicts.
 */
#ifndef LIB_PINS_H
#define LIB_PINS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/addr.h"
#include "lib/arena.h"
#include "lib/deadlines.h"
#include "lib/dname.h"
#include "lib/pool.h"
#include "lib/table.h"
#include "lib/verdict.h"

#define PINS_HOLDERS_MAX 8

enum pin_state {
	PIN_ASKED, /* sent, no ack yet (it may hold from before, see until) */
	PIN_HELD,
	PIN_LAPSED /* over; kept for its flows */
};

struct pin_element {
	uint32_t sandbox;
	struct addr addr;
	struct service service;
};

struct pin_holder {
	uint64_t name; /* id in the ledger's pool of names */
	uint64_t until_ms;
};

struct pin {
	struct pin_element element;
	enum pin_state state;
	uint64_t until_ms; /* that the kernel has acknowledged, 0: none */
	uint8_t holder_count;
	struct pin_holder holders[PINS_HOLDERS_MAX];
};

/* A name that holds elements of a sandbox; shared by them. */
struct pin_name {
	struct dname name;
	uint32_t sandbox;
	uint32_t refs;
	enum rule_kind kind;
	struct dname rule_name;
};

/* A record by value: what the state directory keeps, and `pins` shows. */
struct pin_record {
	struct pin_element element;
	enum pin_state state;
	uint64_t until_ms;
	uint8_t holder_count;
	struct {
		struct dname name;
		enum rule_kind kind;
		struct dname rule_name;
		uint64_t until_ms;
	} holders[PINS_HOLDERS_MAX];
};

struct pins_limits {
	uint32_t pins_max;
	uint32_t pins_per_sandbox_max;
	uint32_t names_max;
	uint32_t ops_max; /* requests in flight */
	uint32_t sandboxes_max;
};

/* A request in flight: which element, for which query. */
struct pin_op {
	uint32_t slot; /* of the element */
	uint64_t query; /* pool id, 0: nobody waits */
	uint64_t until_ms; /* what the ack will make true */
	uint64_t generation; /* of pins_forget_all(): an older ack is stale */
	struct pin_element element; /* to tell a slot that was reused */
};

struct pins {
	struct pins_limits limits;
	struct table elements; /* key: sandbox, addr, protocol, port */
	struct pin *pins; /* by slot */
	struct deadlines deadlines; /* by slot: lapse */
	struct pool names;
	struct pin_name *name;
	struct table name_keys; /* sandbox, name hash -> slot */
	uint64_t *name_ids; /* by slot of name_keys: id in names */
	struct pool ops;
	struct pin_op *op;
	uint32_t *sandbox_pins; /* by number */
	uint64_t generation;
	uint32_t rejudge_next; /* slot of the walk, TABLE_NONE: none */
	uint8_t secret[16];
};

enum pins_hold { PINS_HELD, PINS_ASK, PINS_FULL };

void pins_init(struct pins *, struct arena *, const struct pins_limits *,
    const uint8_t secret[16]);
/*
 * Makes (name, rule) of the verdict a holder of an element until
 * now_ms + lifetime_ms. HELD: the kernel has acknowledged at least until
 * now_ms + need_ms. ASK: send a pin of lifetime_ms, *ret_op is its id, query
 * waits for it. FULL: no room for element, name, holder or op, or over the
 * sandbox's share. *ret_slot names the element unless FULL; *ret_changed says
 * that its record should be written anew.
 */
enum pins_hold pins_hold(struct pins *, const struct pin_element *,
    const struct dname *name, const struct verdict *, uint64_t query,
    uint32_t need_ms, uint32_t lifetime_ms, uint64_t now_ms,
    uint64_t *ret_op, uint32_t *ret_slot, bool *ret_changed);
/*
 * The kernel's answer to an op: status 0 or a negative errno. False for an
 * unknown op. *ret_query is who waits (0: nobody), *ret_slot the element or
 * TABLE_NONE when it is gone (then the ack counts as a failure), *ret_ok
 * whether the pin may be relied on.
 */
bool pins_acked(struct pins *, uint64_t op, int status, uint64_t now_ms,
    uint64_t *ret_query, struct pin_element *ret_element, uint32_t *ret_slot,
    bool *ret_ok);
/* Whether the kernel is known to hold an element until at_ms. */
bool pins_hold_until(const struct pins *, const struct pin_element *,
    uint64_t at_ms);
/* When the acknowledged pin of an element ends; 0: none. */
uint64_t pins_until(const struct pins *, const struct pin_element *);
/* Whether this name holds a live element of a family for a sandbox. */
bool pins_name_holds(const struct pins *, uint32_t sandbox,
    const struct dname *, uint8_t family, uint64_t now_ms);
/* Whether any live element of a sandbox has this address (for PTR). */
bool pins_addr_held(const struct pins *, uint32_t sandbox,
    const struct addr *, uint64_t now_ms);
/* Pops one element whose pin is over and marks it LAPSED. */
bool pins_pop_lapsed(struct pins *, uint64_t now_ms, uint32_t *ret_slot);
uint64_t pins_deadline(const struct pins *);
/* Puts a record back at start, as HELD or LAPSED without an op; false when
 * there is no room or the record has no holder. */
bool pins_recall(struct pins *, const struct pin_record *, uint64_t now_ms,
    uint32_t *ret_slot);
/* Reads an element in use. */
bool pins_record(const struct pins *, uint32_t slot, struct pin_record *ret);
/* Walk from the oldest: first with TABLE_NONE, TABLE_NONE at the end. */
uint32_t pins_each(const struct pins *, uint32_t slot);
/* Removes one holder by index, or a whole element; names are released. An op
 * in flight for it finds nothing. */
void pins_drop_holder(struct pins *, uint32_t slot, uint8_t holder);
void pins_drop(struct pins *, uint32_t slot);
/* The kernel lost everything (0), or everything of one sandbox. Ops in
 * flight become stale: their acks count as failures. Records go. */
void pins_forget_all(struct pins *, uint32_t sandbox);
uint32_t pins_in_use(const struct pins *);

#endif
