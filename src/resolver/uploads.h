/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uploads - how much sandboxes have sent today, by name and rule.
 *
 * The kernel counts and refuses, the parent reads and tells. Here it is said
 * by which rules an address is held, and kept what was told: in a small file
 * of the state directory that is replaced as a whole, every few seconds while
 * something changes. From one run to the next the kernel's own counts go on;
 * the file is for the next boot, and for sandboxes that go and come back.
 */
#ifndef SRC_RESOLVER_UPLOADS_H
#define SRC_RESOLVER_UPLOADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/dname.h"
#include "lib/pins.h"
#include "lib/policy.h"

struct daemon;

struct upload {
	char sandbox[POLICY_NAME_MAX];
	uint64_t rule; /* by number; 0: all that it sends */
	uint64_t used;
	uint32_t day; /* of UTC, since 1970 */
	uint8_t told; /* the alert that was raised: 0, half of it, all */
};

struct uploads {
	int dir;
	struct upload *list;
	size_t count;
	bool wanted; /* some rule or sandbox has a quota */
	bool changed; /* since the file was written */
	uint64_t write_ms; /* when to write it next */
};

/* What is known of a quota. */
struct upload_use {
	uint64_t used, limit; /* limit 0: no bound */
};

/* The directory's descriptor is borrowed. 0 or a negative errno, logged. */
int uploads_open(struct uploads *, int dir);
void uploads_close(struct uploads *);

/* Tells the parent what is on record: of a sandbox that has come, or of all
 * (0). */
void uploads_recall(struct daemon *, uint32_t sandbox);
/* The configuration is another one, or a sandbox has another policy: every
 * address that is held is claimed anew. */
void uploads_follow(struct daemon *);
/* Says by which rules an element is held. */
void uploads_claim(struct daemon *, const struct pin_record *);
/* The parent has read a count. */
void uploads_used(struct daemon *, uint32_t sandbox, uint64_t rule,
    uint64_t used);

/* In sum: against the sandbox's own bound, or over its rules. False: nothing
 * of it is counted. */
bool uploads_sum(const struct daemon *, uint32_t sandbox,
    struct upload_use *ret);
/* Of the rule that a name has. False: it has no quota. */
bool uploads_of_name(const struct daemon *, uint32_t sandbox,
    const struct dname *, struct upload_use *ret);

uint64_t uploads_deadline(const struct uploads *);
void uploads_expire(struct daemon *);
/* At the end: what is not written yet, onto the disk. */
void uploads_save(struct daemon *);

#endif
