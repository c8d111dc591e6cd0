/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * own_addrs - this host's own addresses, followed as they change.
 *
 * No name may resolve to one of them unless its rule says so: that is how a
 * sandbox would be rebound to the host it runs on.
 */
#ifndef SRC_RESOLVER_OWN_ADDRS_H
#define SRC_RESOLVER_OWN_ADDRS_H

#include <stdbool.h>
#include <uv.h>

#include "lib/addr.h"

struct own_addrs {
	uv_poll_t poll;
	int fd;
	bool open;
	struct protected_ranges *ranges;
};

/* Fills ranges->own now and whenever an address comes or goes. 0 or a
 * negative errno, logged. */
int own_addrs_open(struct own_addrs *, uv_loop_t *, struct protected_ranges *);
/* From now on these ranges are filled. */
void own_addrs_move(struct own_addrs *, struct protected_ranges *);
void own_addrs_close(struct own_addrs *);

#endif
