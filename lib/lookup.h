/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lookup - one upstream exchange of a sandbox, whoever caused it; queries
 * wait on it.
 *
 * For address types it always fetches A and AAAA, as two parts, so that the
 * client's choice of type carries nothing outward. A query for one family is
 * decided as soon as that part is in, unless what came in (a failure, a name
 * that does not exist) may look different once the other part is there. The
 * lookup is done when both are. It has a deadline of its own and is never
 * cancelled because a client went away.
 */
#ifndef LIB_LOOKUP_H
#define LIB_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/answer.h"
#include "lib/arena.h"
#include "lib/ask.h"
#include "lib/cache.h"
#include "lib/deadlines.h"
#include "lib/dname.h"
#include "lib/pool.h"
#include "lib/query.h"
#include "lib/table.h"
#include "lib/verdict.h"

#define LOOKUP_PARTS_MAX 2

typedef uint64_t lookup_id;

enum ask_failure {
	ASK_SILENT, /* nobody answered in time */
	ASK_BROKEN, /* answers that are none: SERVFAIL, REFUSED, connection */
	ASK_NOT_SENT, /* no socket, queue full */
	ASK_UNPAID /* the ledger refused it */
};

enum lookup_part_state {
	LOOKUP_LEAVING, /* at the next edge */
	LOOKUP_ASKED,
	LOOKUP_ANSWERED,
	LOOKUP_FAILED
};

struct lookup_part {
	uint16_t type;
	uint16_t ask_id; /* of the message that is under way */
	enum lookup_part_state state;
	enum ask_failure failure;
	bool stream; /* asked again over a stream already */
	struct ask_trail trail; /* of the tries that are over */
};

/* What the ledger said of it. */
enum lookup_price {
	LOOKUP_UNPRICED, /* it was not asked yet */
	LOOKUP_PAID,
	LOOKUP_REFUSED,
	LOOKUP_FREE /* ours: no client has a part in it */
};

struct lookup {
	uint32_t sandbox;
	struct dname name;
	struct verdict verdict; /* of the first query that caused it */
	uint64_t policy_generation; /* of the verdict */
	uint8_t part_count; /* 1 or 2 */
	struct lookup_part parts[LOOKUP_PARTS_MAX];
	struct cache_entry result; /* by part; failed until it is in */
	struct query_list waiting;
	enum lookup_price price;
	uint32_t key; /* PAID: of the ledger */
	uint64_t paid_ms;
	bool own; /* ours, whoever's cache it fills */
	bool warm; /* own: a refresh of what was paid, else scheduled */
	uint64_t opened_ms;
};

struct lookup_limits {
	uint32_t lookups_max; /* of sandboxes */
	uint32_t per_sandbox_max;
	uint32_t own_max; /* of ours, beside those */
	uint32_t sandboxes_max;
};

struct lookups {
	struct pool pool;
	struct lookup *lookup; /* by slot of pool */
	struct table keys; /* sandbox, type group, name hash */
	lookup_id *ids; /* by slot of keys */
	uint32_t *key_slot; /* by slot of pool */
	uint32_t *sandbox_open; /* by number, without ours */
	uint32_t own_open;
	uint32_t orphans; /* how many there ever were */
	struct lookup_limits limits;
	struct deadlines deadlines; /* by slot of pool */
	uint8_t secret[16];
};

void lookups_init(struct lookups *, struct arena *,
    const struct lookup_limits *, const uint8_t secret[16]);
/* How many more of ours there may be. */
uint32_t lookup_own_room(const struct lookups *);
/* The running lookup of this sandbox, name and type group, NULL: none. */
struct lookup *lookup_find(struct lookups *, uint32_t sandbox,
    const struct dname *, uint16_t type, lookup_id *ret_id);
/* Opens one that does not run yet (REQUIREd), its parts asked for; NULL when
 * pool or share is full. The deadline is the caller's to set. */
struct lookup *lookup_open(struct lookups *, uint32_t sandbox,
    const struct dname *, uint16_t type, uint64_t now_ms, lookup_id *ret_id);
/* The same for one of ours, which is FREE. */
struct lookup *lookup_open_own(struct lookups *, uint32_t sandbox,
    const struct dname *, uint16_t type, uint64_t now_ms, lookup_id *ret_id);
void lookup_set_deadline(struct lookups *, lookup_id, uint64_t at_ms);
struct lookup *lookup_at(struct lookups *, lookup_id); /* NULL: stale */
/* Its sandbox has gone: it goes on for nobody, and nobody joins it. Nobody may
 * wait any more (REQUIREd). */
void lookup_orphan(struct lookups *, lookup_id);
/* Nobody may wait any more (REQUIREd). */
void lookup_close(struct lookups *, lookup_id);
/* Takes the next lookup whose deadline is over; it stays open. */
struct lookup *lookup_pop_due(struct lookups *, uint64_t now_ms,
    lookup_id *ret_id);

/* Whether A, AAAA or ANY, which are fetched together. */
bool lookup_is_pair(uint16_t type);
/* Answered or failed. */
bool lookup_part_is_in(const struct lookup_part *);
/* Every part is in. */
bool lookup_is_done(const struct lookup *);
/* A query of this type can be decided now. */
bool lookup_decides(const struct lookup *, uint16_t type);
/* How long the result is kept, as one entry: at most as long as what exists
 * says, within floor and cap; negative_s when nothing does, or when one half
 * failed, which is tried again soon. */
uint32_t lookup_ttl(const struct lookup *, uint32_t floor_s, uint32_t cap_s,
    uint32_t negative_s);

/* Why a part that failed has nothing to tell. */
enum denial lookup_failure_denial(enum ask_failure);
/* The part of a result that a question of this type is about. */
uint8_t lookup_part_of(const struct cache_entry *, uint16_t type,
    const struct verdict *);
/*
 * What both parts together mean for a question about one: DENIAL_NONE, or why
 * there is nothing to tell. A family that failed, or whose name "does not
 * exist" while the other family knows it, is NODATA: anything else would take
 * the working family down with it. failure: what a failed part is called.
 */
enum denial lookup_judge(const struct cache_entry *, uint8_t part,
    const struct verdict *, enum denial failure);

#endif
