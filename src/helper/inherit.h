/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inherit - what a table that is taken over has of sandboxes that were
 * attached. Who they are is known to the resolver, which says so before it
 * settles; until then their flows go on.
 */
#ifndef SRC_HELPER_INHERIT_H
#define SRC_HELPER_INHERIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/addr.h"

struct helper;
struct member;

/* A pair of the gateway, or of the twin; index 0: an address in quarantine. */
struct inherited_home {
	struct addr addr;
	uint32_t index;
	bool twin;
};

struct inherited {
	struct member *members; /* that are left alone */
	size_t count, max;
	struct inherited_home *homes; /* whose they are, sorted */
	size_t home_count, home_max;
};

/* Before the table is taken over: finds what is to be left, and puts it
 * behind the homes. A table that cannot be read has nothing to leave. */
void inherit_find(struct helper *);
/* Whether a sandbox had all its pairs then, where it is bound now. */
bool inherit_knows(const struct helper *, uint32_t sandbox);
/* What nobody was attached to goes, with its flows. 0 or negative errno. */
int inherit_end(struct helper *, uint64_t now_ms);
/* Nothing is left of it: the table was made anew. */
void inherit_forget(struct helper *);

#endif
