/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tunnel_shape - the alarm of the names that a sandbox asks below a domain.
 *
 * Each (sandbox, registrable domain) whose names weigh has an alarm; a name
 * that leaves none at its start costs no memory. Nothing else is ever taken
 * out, so nobody flushes his own evidence: where a sandbox's share is full,
 * its other domains have one alarm in common, and the first time that this
 * happens is a sign of its own.
 */
#ifndef LIB_TUNNEL_SHAPE_H
#define LIB_TUNNEL_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/alarm.h"
#include "lib/arena.h"
#include "lib/dname.h"
#include "lib/table.h"

#define TUNNEL_SHAPE_SAMPLES 2 /* beside the name that is asked now */

struct tunnel_limits {
	uint32_t keys_max; /* (sandbox, domain) pairs in all */
	uint32_t keys_per_sandbox_max;
	uint32_t sandboxes_max;
};

struct tunnel_shape_entry {
	struct alarm alarm;
	uint32_t sandbox;
	bool told_full; /* of a sandbox's common one */
	uint8_t sample_count, sample_next;
	struct dname samples[TUNNEL_SHAPE_SAMPLES]; /* the last new ones */
};

struct tunnel_shape {
	struct tunnel_limits limits;
	struct table keys; /* sandbox, apex hash */
	struct tunnel_shape_entry *entries; /* by slot */
	struct tunnel_shape_entry *common; /* by sandbox */
	uint32_t *sandbox_keys; /* how many each sandbox holds */
	uint8_t secret[16];
};

/* What a name's alarm says; the rest holds where it rings. */
struct tunnel_shape_result {
	bool rings;
	bool is_full; /* no place for one of its own, for the first time */
	uint32_t score, volume; /* S and V, in whole bits */
	uint32_t nnew, nrep; /* names, new and asked before */
	uint8_t sample_count;
	struct dname samples[TUNNEL_SHAPE_SAMPLES]; /* new ones before it */
};

void tunnel_shape_init(struct tunnel_shape *, struct arena *,
    const struct tunnel_limits *, const uint8_t secret[16]);
/* The sandbox is a number that limits allow (REQUIREd). */
void tunnel_shape_observe(struct tunnel_shape *, uint32_t sandbox,
    const struct dname *name, const struct dname *apex,
    struct tunnel_shape_result *ret);
/* Forgets all of a sandbox. */
void tunnel_shape_forgive(struct tunnel_shape *, uint32_t sandbox);

#endif
