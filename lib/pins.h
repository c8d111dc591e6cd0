/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pins - the ledger of what the kernel holds: for which sandbox, until when,
 * and by which names.
 *
 * An element is (sandbox, address, protocol, port); the helper makes it one
 * kernel element for each source address. An element has up to 8 holders
 * (name, rule kind and name): it lives as long as the latest of them and is
 * revoked when the last one goes. Where a ninth name comes, the holder that
 * ends first is forgotten: that never opens anything, it may only cut the
 * element earlier than the forgotten name would have. The ledger counts a
 * pin's life from when it was sent, the kernel from when it arrived, so the
 * ledger is never the more optimistic. Past its deadline an element becomes
 * LAPSED: no new flow may start, but its record stays as long as connection
 * tracking may know a flow. The table refuses when it is full; it never
 * evicts.
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
	PIN_ASKED, /* a request is in flight (it may hold from before, see
		      until_ms) */
	PIN_HELD,
	PIN_LAPSED /* over; kept for its flows */
};

struct pin_element {
	uint32_t sandbox;
	struct addr addr;
	struct service service;
};

/* Private. */
struct pin_holder {
	uint64_t until_ms;
	uint32_t name; /* slot in name_keys */
	uint32_t newer, older; /* in the name's list: slot of element *
				  PINS_HOLDERS_MAX + index, TABLE_NONE: end */
};

/* Private. */
struct pin {
	struct pin_element element;
	enum pin_state state;
	uint64_t until_ms; /* that the kernel has acknowledged, 0: none */
	bool recalled; /* until_ms is from before the start */
	uint64_t sent_ms; /* the latest until of the requests in flight */
	uint64_t born; /* tells elements of one slot or key apart; 0: free */
	uint32_t ops; /* requests in flight */
	uint32_t addr; /* slot in addr_keys */
	uint32_t newer, older; /* of the same sandbox and address */
	uint8_t holder_count;
	struct pin_holder holders[PINS_HOLDERS_MAX];
};

/* A name that holds elements of a sandbox; shared by them. Private. */
struct pin_name {
	struct dname name;
	enum rule_kind kind;
	struct dname rule_name;
	uint32_t newest; /* of its holders */
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

/* A request in flight: which element, for which query. Private. */
struct pin_op {
	struct pin_element element;
	uint32_t slot; /* of the element */
	uint64_t born; /* of the element: another one there is a stranger */
	uint64_t query; /* pool id, 0: nobody waits */
	uint64_t until_ms; /* what the ack will make true */
};

struct pins {
	struct pins_limits limits;
	struct table elements; /* key: sandbox, addr, protocol, port */
	struct pin *pins; /* by slot */
	struct deadlines deadlines; /* by slot: lapse */
	struct table name_keys; /* sandbox, name hash */
	struct pin_name *names; /* by slot */
	struct table addr_keys; /* sandbox, addr */
	uint32_t *addr_newest; /* by slot: of the elements with this address */
	struct pool ops;
	struct pin_op *op;
	uint32_t *sandbox_pins; /* by number */
	uint64_t born_last;
	uint8_t secret[16];
};

/* What a question wants held. */
struct pin_wish {
	struct pin_element element;
	const struct dname *name; /* as asked */
	const struct verdict *verdict; /* for kind and rule_name */
	uint64_t query; /* who waits, 0: nobody */
	uint32_t need_ms; /* how long the client will rely on it */
	uint32_t lifetime_ms; /* how long to ask for */
};

enum pins_hold {
	PINS_HELD,
	PINS_ASK,
	PINS_FULL
};

struct pin_held {
	uint32_t slot; /* of the element */
	bool changed; /* its record should be written anew */
	uint64_t op; /* ASK: the request's id */
	uint32_t lifetime_ms; /* ASK: what to ask for; at least the wish's, and
				 never less than others were promised */
};

/* By whom an address is held. */
#define PIN_NAMES_MAX 8
struct pin_names {
	size_t count;
	struct dname names[PIN_NAMES_MAX];
};

struct pin_ack {
	uint64_t query; /* who waits, 0: nobody */
	struct pin_element element;
	uint32_t slot; /* of the element; TABLE_NONE: it went before */
	bool ok; /* the pin may be relied on for what was asked */
	bool dropped; /* the failure removed the element: forget its record */
};

void pins_init(struct pins *, struct arena *, const struct pins_limits *,
    const uint8_t secret[16]);
/*
 * Makes (name, rule) of the verdict a holder of an element until
 * now_ms + lifetime_ms. HELD: the kernel has acknowledged at least until
 * now_ms + need_ms. ASK: send a pin of ret->lifetime_ms; the query waits for
 * ret->op. FULL: no room for element, name or op, or over the sandbox's
 * share; nothing has changed and *ret is untouched.
 */
enum pins_hold pins_hold(struct pins *, const struct pin_wish *,
    uint64_t now_ms, struct pin_held *ret);
/*
 * The kernel's answer to an op: status 0 or a negative errno. False for an
 * unknown op. An op whose element has gone meanwhile counts as a failure
 * (slot TABLE_NONE); if status is 0 and pins_find() knows no newer one, the
 * kernel may hold what the ledger does not: send an UNPIN. After a failure
 * what was acknowledged before stands; an element that never was, and for
 * which no other op is in flight, is dropped.
 */
bool pins_acked(struct pins *, uint64_t op, int status, uint64_t now_ms,
    struct pin_ack *ret);
/* The slot of an element, TABLE_NONE when the ledger has none. */
uint32_t pins_find(const struct pins *, const struct pin_element *);
/* Whether the kernel is known to hold an element until at_ms. */
bool pins_hold_until(const struct pins *, const struct pin_element *,
    uint64_t at_ms);
/* When the acknowledged pin of an element ends; 0: none. */
uint64_t pins_until(const struct pins *, const struct pin_element *);
/* Whether this name still holds an acknowledged element of a family. */
bool pins_name_holds(const struct pins *, uint32_t sandbox,
    const struct dname *, uint8_t family, uint64_t now_ms);
/* Whether any live element of a sandbox has this address. */
bool pins_addr_held(const struct pins *, uint32_t sandbox, const struct addr *,
    uint64_t now_ms);
/* The names that hold live elements of a sandbox at an address, each once.
 * Returns when the first of these elements ends; 0: there is none. */
uint64_t pins_addr_names(const struct pins *, uint32_t sandbox,
    const struct addr *, uint64_t now_ms, struct pin_names *ret);
/* Pops one element whose pin is over and marks it LAPSED; one for which an op
 * is in flight waits for that. */
bool pins_pop_lapsed(struct pins *, uint64_t now_ms, uint32_t *ret_slot);
uint64_t pins_deadline(const struct pins *);
/* Puts a record back at start, as HELD or LAPSED without an op. It lapses at
 * its time, but nothing is said to be held by it: the next pins_hold() asks
 * the kernel of today. False when there is no room or the record has no
 * holder. */
bool pins_recall(struct pins *, const struct pin_record *, uint64_t now_ms,
    uint32_t *ret_slot);
/* Reads an element; false where the slot is free. */
bool pins_record(const struct pins *, uint32_t slot, struct pin_record *ret);
/* Walk from the oldest: first with TABLE_NONE, TABLE_NONE at the end. */
uint32_t pins_each(const struct pins *, uint32_t slot);
/* Removes one holder of several by index (the next ones may change places: go
 * from the last to the first), or a whole element; names are released. An op
 * in flight for it finds nothing. The last holder goes only with its element
 * (REQUIREd), so that nobody forgets the UNPIN. */
void pins_drop_holder(struct pins *, uint32_t slot, uint8_t holder);
void pins_drop(struct pins *, uint32_t slot);
/* The kernel lost everything (0), or everything of one sandbox. Ops in
 * flight become stale: their acks count as failures. Records go. */
void pins_forget_all(struct pins *, uint32_t sandbox);
uint32_t pins_in_use(const struct pins *);

#endif
