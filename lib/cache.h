/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache - vetted answers by (sandbox, name, type group).
 *
 * Sandboxes share nothing: otherwise the cache would be a channel between
 * them. A and AAAA are fetched as a pair and kept as one entry under one
 * lifetime, so that the choice of type never decides what leaves. TTLs
 * count down. The only table that evicts: the oldest of the same sandbox
 * once it has its share, otherwise the oldest of all.
 */
#ifndef LIB_CACHE_H
#define LIB_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/answer.h"
#include "lib/arena.h"
#include "lib/dname.h"
#include "lib/table.h"

struct cache_entry {
	struct answer answers[2]; /* A, AAAA; or [0] for another type */
	bool failed[2]; /* this half of a pair got no answer */
	uint64_t from_ms, until_ms;
	uint32_t sandbox;
};

struct cache_limits {
	uint32_t entries_max;
	uint32_t entries_per_sandbox_max;
	uint32_t sandboxes_max;
};

/* A sandbox's entries by age. Private. */
struct cache_share {
	uint32_t oldest, youngest, count;
};

struct cache {
	struct cache_limits limits;
	struct table keys; /* sandbox, type group, name hash */
	struct cache_entry *entries; /* by slot */
	uint32_t *older, *younger; /* by slot: in the sandbox's list */
	struct cache_share *shares; /* by number of sandbox */
	uint8_t secret[16];
};

void cache_init(struct cache *, struct arena *, const struct cache_limits *,
    const uint8_t secret[16]);
/* type: A and AAAA (and ANY) name the same entry. NULL when there is none or
 * it is over. */
const struct cache_entry *cache_find(const struct cache *, uint32_t sandbox,
    const struct dname *, uint16_t type, uint64_t now_ms);
/* Keeps an entry from now_ms for ttl_s; replaces one that is there. A copy is
 * made; from_ms, until_ms and sandbox are set in it. With ttl_s 0 nothing is
 * kept. */
void cache_put(struct cache *, uint32_t sandbox, const struct dname *,
    uint16_t type, const struct cache_entry *, uint32_t ttl_s,
    uint64_t now_ms);
/* Drops everything of a sandbox; 0: of all. */
void cache_drop(struct cache *, uint32_t sandbox);
uint32_t cache_in_use(const struct cache *);

#endif
