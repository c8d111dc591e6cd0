/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * held - what the kernel holds for whom, until when.
 *
 * Not the ledger of names and rules, which is the resolver's: only enough to
 * count a sandbox's pins, to flush them, and to know at the start which
 * elements and flows a record explains. Fixed size, made at the start; when
 * it is full, pins are refused.
 */
#ifndef SRC_HELPER_HELD_H
#define SRC_HELPER_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/addr.h"

struct held_pin {
	uint32_t sandbox; /* 0: the slot is free */
	struct addr addr;
	struct service service;
	uint64_t expires_ms; /* 0: a record of a lapsed one */
};

struct held {
	struct held_pin *slots; /* open addressing */
	size_t slot_count; /* a power of two, twice the pins at least */
	size_t pins, pins_max;
	uint32_t *counts; /* by sandbox */
	uint32_t sandboxes;
	uint64_t seed; /* addresses come from outside: not to be foreseen */
};

/* 0 or -ENOMEM. */
int held_init(struct held *ret, size_t pins_max, uint32_t sandboxes,
    uint64_t seed);
void held_free(struct held *);
struct held_pin *held_find(const struct held *, uint32_t sandbox,
    const struct addr *, struct service);
/* Finds or makes it; NULL when full. A new one has expires_ms 0. Pointers
 * into the table end with the next put, drop or expiry. */
struct held_pin *held_put(struct held *, uint32_t sandbox, const struct addr *,
    struct service);
void held_drop(struct held *, struct held_pin *);
/* Forgets what has expired; lapsed records stay. */
void held_expire(struct held *, uint64_t now_ms);
/* Forgets lapsed records. */
void held_forget_lapsed(struct held *);
/* Forgets all of a sandbox; all of everybody with sandbox 0. */
void held_clear(struct held *, uint32_t sandbox);
/* Walks: start with *at 0; NULL at the end. Nothing may change meanwhile. */
const struct held_pin *held_next(const struct held *, size_t *at);

#endif
