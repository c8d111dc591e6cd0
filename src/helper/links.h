/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * links - the host's interfaces, addresses and routes, as far as sandboxes
 * are concerned. A snapshot that is taken again whenever something changed.
 */
#ifndef SRC_HELPER_LINKS_H
#define SRC_HELPER_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/addr.h"

#define LINK_NAME_MAX 16
#define LINKS_MAX     16384

struct mnl_socket;

struct link {
	uint32_t index;
	char name[LINK_NAME_MAX];
	uint32_t master; /* of which it is a part, or 0 */
	bool bridge; /* it is one, and so sees frames of many */
	bool learns; /* such a bridge, from link-local frames too */
	bool port; /* of a bridge of the kernel, its master */
	bool foreign_port; /* of a switch whose frames no table sees */
};

struct links {
	struct mnl_socket *events, *query;
	uint32_t seq;
	uint8_t *buf;
	struct link *links; /* sorted by index */
	struct link **by_name;
	size_t count;
	struct addr own[PROTECTED_OWN_MAX];
	size_t own_count;
	bool own_overflow;
};

/* With routes, changes of the routing table are events too. */
int links_open(struct links *ret, bool routes);
/* The same later: changes of the routing table are events from now on. */
int links_follow_routes(struct links *);
void links_close(struct links *);
int links_fd(const struct links *);
/* Throws away what events there are; true when there were any. */
bool links_drain(struct links *);
/* Takes the snapshot anew. 0 or negative errno; untouched on failure is not
 * promised. */
int links_refresh(struct links *);
const struct link *links_named(const struct links *, const char *name);
const struct link *links_indexed(const struct links *, uint32_t index);
/* The interface that the routing table would use; NULL: none. */
const struct link *links_toward(struct links *, const struct addr *);

#endif
