/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lookup - one upstream exchange of a sandbox, whoever caused it; queries
 * wait on it.
 *
 * For address types it always fetches A and AAAA, as two parts, so that the
 * client's choice of type carries nothing outward. A query for one family is
 * ready as soon as that part is in. The lookup is done when both are.
 */
#ifndef LIB_LOOKUP_H
#define LIB_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/answer.h"
#include "lib/arena.h"
#include "lib/deadlines.h"
#include "lib/dname.h"
#include "lib/pool.h"
#include "lib/table.h"
#include "lib/verdict.h"

typedef uint64_t lookup_id;

enum ask_failure {
	ASK_SILENT, /* nobody answered in time */
	ASK_BROKEN, /* answers that are none: SERVFAIL, REFUSED, connection */
	ASK_NOT_SENT /* no socket, queue full */
};

enum lookup_part_state { LOOKUP_ASKED, LOOKUP_ANSWERED, LOOKUP_FAILED };

struct lookup_part {
	uint16_t type;
	enum lookup_part_state state;
	enum ask_failure failure;
	bool stream; /* asked again over a stream already */
	struct answer answer;
};

struct lookup {
	uint32_t sandbox;
	struct dname name;
	struct verdict verdict; /* of the first query that caused it */
	uint8_t part_count; /* 1 or 2 */
	struct lookup_part parts[2];
	uint64_t waiting_head, waiting_tail; /* query ids */
	uint64_t opened_ms;
};

struct lookups {
	struct pool pool;
	struct lookup *lookup;
	struct table keys; /* sandbox, type group, name hash */
	lookup_id *ids; /* by slot of keys */
	uint32_t *key_slot; /* by slot of pool */
	uint32_t *sandbox_open;
	uint32_t per_sandbox_max, sandboxes_max;
	struct deadlines deadlines; /* a transport that stays silent */
	uint8_t secret[16];
};

void lookups_init(struct lookups *, struct arena *, uint32_t lookups_max,
    uint32_t per_sandbox_max, uint32_t sandboxes_max,
    const uint8_t secret[16]);
/* The running lookup of this sandbox, name and type group, NULL: none. */
struct lookup *lookup_find(struct lookups *, uint32_t sandbox,
    const struct dname *, uint16_t type, lookup_id *ret_id);
/* Opens one; NULL when pool or share is full. */
struct lookup *lookup_open(struct lookups *, uint32_t sandbox,
    const struct dname *, uint16_t type, const struct verdict *,
    uint64_t deadline_ms, uint64_t now_ms, lookup_id *ret_id);
struct lookup *lookup_at(struct lookups *, lookup_id); /* NULL: stale */
void lookup_close(struct lookups *, lookup_id);

#endif
