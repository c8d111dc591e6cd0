/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * warm - questions that were paid for, and are asked again on our own clock
 * for as long as that was paid.
 *
 * Without this each end of a lifetime would have to be paid anew: whoever uses
 * one name all day would spend a day's budget on it. When a question was paid,
 * and the answers to it, say when it is refreshed: no client has a part in
 * that, so refreshes are free. At the end of its time it stays for another if
 * a client asked meanwhile, which is paid. What has no place is not kept warm;
 * of one sandbox the oldest goes, in the order in which they were paid, never
 * by use. This module keeps names and times; the engine asks and pays.
 */
#ifndef LIB_WARM_H
#define LIB_WARM_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/arena.h"
#include "lib/deadlines.h"
#include "lib/dname.h"
#include "lib/table.h"

struct warm_item {
	uint32_t sandbox; /* 0: it has gone; its names run out their time */
	uint32_t key; /* of the ledger, that pays */
	struct dname name;
	uint16_t type; /* A: the pair */
	bool asked; /* by a client, since it was paid */
	uint32_t period_ms; /* to the next refresh */
	uint64_t due_ms; /* of the next refresh */
	uint64_t ends_ms; /* of the time that was paid */
	uint32_t older, younger; /* of the same sandbox */
};

struct warm_limits {
	uint32_t names_max; /* 0: nothing is kept warm */
	uint32_t names_per_sandbox_max;
	uint32_t sandboxes_max;
};

struct warm_share {
	uint32_t oldest, youngest, count;
};

struct warm {
	struct warm_limits limits;
	struct table keys; /* owner, type group, hash of the name */
	struct warm_item *items; /* by slot */
	struct warm_share *shares; /* by sandbox */
	struct deadlines deadlines; /* by slot: refresh or end */
	uint32_t orphans; /* how many there ever were */
	uint8_t secret[16];
};

void warm_init(struct warm *, struct arena *, const struct warm_limits *,
    const uint8_t secret[16]);
/* NULL: it is not warm. A and AAAA are one. */
struct warm_item *warm_find(struct warm *, uint32_t sandbox,
    const struct dname *, uint16_t type);

struct warm_question {
	uint32_t sandbox; /* 0: it has gone meanwhile */
	uint32_t key;
	const struct dname *name;
	uint16_t type;
	uint64_t ends_ms;
};

/* Keeps a question that was paid, and answered for ttl_s from now on; one that
 * is warm already begins anew. */
void warm_put(struct warm *, const struct warm_question *, uint32_t ttl_s,
    uint64_t now_ms);
/* What a refresh has brought. */
void warm_refreshed(struct warm *, struct warm_item *, uint32_t ttl_s,
    uint64_t now_ms);
/* When something is due. */
uint64_t warm_next(const struct warm *);
/* An item of which something is due: its end, or else its refresh, of which
 * the next is set. It stays where it is. */
struct warm_item *warm_due(struct warm *, uint64_t now_ms);
/* For another time, not asked for yet. */
void warm_stay(struct warm *, struct warm_item *, uint64_t ends_ms);
void warm_drop(struct warm *, struct warm_item *);
/* A sandbox goes: its names are nobody's from here on. */
void warm_orphan(struct warm *, uint32_t sandbox);
/* Walks over all: the first from a slot on; NULL: none. Others may be dropped
 * meanwhile, this one too. */
struct warm_item *warm_walk(struct warm *, uint32_t *slot);
uint32_t warm_count(const struct warm *);

#endif
