/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync - brings the members of sets that stay to what they should be.
 *
 * By difference, never by emptying or making a set anew: between the moment
 * at which a transaction takes hold and the one at which a new set of names
 * or intervals is published to lookups, packets find it empty. For the set
 * of edge interfaces this would mean that nobody judges them.
 */
#ifndef SRC_HELPER_SYNC_H
#define SRC_HELPER_SYNC_H

#include <stddef.h>

#include "src/helper/batch.h"
#include "src/helper/elements.h"

struct sync {
	struct member *there; /* in the kernel, sorted once collected */
	size_t count, max;
};

void sync_free(struct sync *);
/* Copies those members of one list that are not in the other; how many. */
size_t sync_missing(struct member *ret, const struct member *of, size_t count,
    const struct member *in, size_t in_count);
/* Reads the members of a set of a family's table; to be done before the batch
 * is begun. The name must outlive it. 0 or negative errno. */
int sync_collect(struct sync *, struct nft *, uint8_t family, const char *set);
/*
 * Puts what is missing of the wanted members, and deletes what is collected
 * and not wanted. Sets that were not collected are taken as empty. 0 or
 * -ENOMEM.
 */
int sync_put(struct sync *, struct batch *, const struct member *wanted,
    size_t count);

#endif
