/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recent - the last event lines, in memory, for `events`.
 *
 * At most so many in all and so many for each sandbox, so that a noisy
 * sandbox cannot push out what another did. Lines lie in chained blocks of a
 * fixed store; the oldest goes when there is no room. Nothing is allocated
 * after the start.
 */
#ifndef SRC_RESOLVER_RECENT_H
#define SRC_RESOLVER_RECENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/event.h"

#define RECENT_NONE             UINT32_MAX
#define RECENT_PER_SANDBOX_MAX  1000
#define RECENT_BLOCK_SIZE       256
#define RECENT_BLOCKS_FOR_EVENT 4 /* 1 KiB; most lines are shorter */

/* What a line is about, for filters. */
struct recent_tag {
	uint64_t sequence; /* grows from entry to entry */
	uint32_t sandbox;
	bool parted; /* who had this number has gone since */
	bool alert;
	bool denied;
};

struct recent_entry {
	struct recent_tag tag;
	bool used;
	uint16_t len;
	uint32_t block; /* the first */
	uint32_t older, newer; /* of all */
	uint32_t sandbox_newer; /* of the same sandbox */
};

struct recent_queue {
	uint32_t oldest, newest, count;
};

struct recent {
	struct recent_entry *entries;
	uint8_t (*blocks)[RECENT_BLOCK_SIZE];
	uint32_t *block_next;
	struct recent_queue *sandboxes; /* by number */
	uint32_t entries_max, blocks_max, sandboxes_max;
	uint32_t entry_free, block_free; /* heads of chains */
	uint32_t oldest, newest, count;
};

/* sandboxes_max: highest number + 1. 0 or -ENOMEM. */
int recent_open(struct recent *, uint32_t entries_max, uint32_t sandboxes_max);
void recent_close(struct recent *);
void recent_put(struct recent *, const struct recent_tag *, const char *line,
    size_t len);
/* Marks what there is of a sandbox: its number may become another one's. */
void recent_part(struct recent *, uint32_t sandbox);
/*
 * The next entry after a sequence, oldest first, RECENT_NONE when there is
 * none. hint is the entry that had that sequence when it was read; it saves
 * the search while it is still there.
 */
uint32_t recent_after(const struct recent *, uint64_t sequence, uint32_t hint);
/* Copies a line out; returns its length, 0 when buf is too small. */
size_t recent_line(const struct recent *, uint32_t entry, char *buf,
    size_t size);

#endif
