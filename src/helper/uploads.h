/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uploads - how much sandboxes send, bounded by quotas in the kernel.
 *
 * A quota is that of a rule for one sandbox, or of a sandbox in sum; how much
 * it is, is read in the file. The resolver says by which rules an address is
 * held (UPLOAD): a claim, which lasts as long as it was asked for, and then as
 * long as a flow goes there. Of several claims to an address the smallest
 * quota counts. A day is one of UTC; at its end all begins at nothing.
 *
 * The kernel counts. What it has counted is read every few seconds, and when
 * it says that a quota is spent; the resolver is told, and keeps it for the
 * next boot. From one run to the next the kernel keeps it itself.
 */
#ifndef SRC_HELPER_UPLOADS_H
#define SRC_HELPER_UPLOADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/addr.h"
#include "src/helper/elements.h"
#include "src/helper/quotas.h"

struct helper;
struct request;

struct upload_quota {
	uint32_t sandbox;
	uint64_t rule; /* EDGE_UPLOAD_SUM: over all */
	uint64_t limit; /* as the kernel has it */
	uint64_t used; /* of this day, as last known */
	uint64_t told; /* to the resolver */
	bool there; /* in the kernel, by its name */
	char name[QUOTA_NAME_MAX];
};

struct upload_claim {
	uint32_t sandbox;
	struct addr addr;
	uint64_t rule;
	uint64_t expires_ms;
	bool bound; /* the kernel's element leads to the quota of this one */
	bool flows; /* seen at the last look */
};

/* What an earlier run has left in the table. */
struct upload_left {
	struct quota_key key;
	uint64_t used;
	bool taken;
};

struct upload_element {
	struct element element;
	const char *map;
	bool gone;
};

struct uploads {
	struct upload_quota *quotas; /* sorted by sandbox and rule */
	size_t quota_count;
	struct upload_claim *claims; /* by sandbox, address and rule */
	size_t claim_count;
	size_t max; /* of either */
	struct upload_left *left;
	size_t left_count;
	struct upload_element *elements; /* sorted by key, while starting */
	size_t element_count;
	uint32_t day, serial;
	uint64_t poll_ms, sweep_ms;
};

/* After the table was installed, or was made anew. Errors are logged. */
void uploads_begin(struct helper *);
void uploads_lost(struct helper *);
void uploads_close(struct helper *);
/* What the file says has changed, of all sandboxes or of one. */
void uploads_follow(struct helper *);
void uploads_follow_one(struct helper *, uint32_t sandbox);
/* Its addresses are left: nothing of it stays in the kernel; nor here, where
 * the number is to be forgotten. */
void uploads_leave(struct helper *, uint32_t sandbox, bool forget);
/* The end of the start: what nobody has claimed goes. */
void uploads_settle(struct helper *);

void uploads_claim(struct helper *, struct request *, uint64_t now_ms);
void uploads_spent(struct helper *, struct request *);
/* Whether what is sent to an address counts against some rule. */
bool uploads_covers(const struct helper *, uint32_t sandbox,
    const struct addr *);

/* The kernel says that a quota is spent. */
void uploads_hurry(struct helper *);
/* Reads what is used now, and tells the resolver what is new. */
void uploads_read(struct helper *);
uint64_t uploads_due(const struct helper *);
void uploads_tick(struct helper *, uint64_t now_ms);

#endif
