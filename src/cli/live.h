/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live - what the kernel holds, read through the nft program.
 */
#ifndef SRC_CLI_LIVE_H
#define SRC_CLI_LIVE_H

#include <stddef.h>

#include "lib/addr.h"

struct live_element {
	struct addr source, to;
	struct service service;
	unsigned seconds; /* that are left */
};

struct live {
	struct live_element *elements;
	size_t count, size;
};

/* Where pins are: two sets of a table. */
struct live_sets {
	char table[64];
	char names[2][64];
};

/* Their elements. False: complained about. */
bool live_read(const struct live_sets *, struct live *ret);
void live_free(struct live *);

#endif
