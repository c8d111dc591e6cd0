/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attaching - SOURCE, ATTACH, DETACH and ASSIGN: sandboxes that come, go and
 * change while the daemon runs.
 *
 * An address passes from nobody to a sandbox and back. Nothing that was open
 * to the last one is to be found by the next: its addresses are in quarantine
 * from the moment they are left until flows have been looked for twice, and
 * from the moment they are bound until that was done once, which is before
 * anything is opened to them. Answers wait for the quarantine, not for its
 * end.
 */
#ifndef SRC_HELPER_ATTACHING_H
#define SRC_HELPER_ATTACHING_H

#include <stddef.h>
#include <stdint.h>

#include "lib/text/edge_attach.h"

struct helper;
struct request;

/* What SOURCE has given so far, for one sandbox. */
struct attaching {
	uint32_t sandbox; /* 0: none */
	struct addr sources[EDGE_SOURCES_MAX];
	size_t source_count;
};

/* Judges and does the requests from..to-1, all SOURCE or ATTACH. */
void attaching_attach(struct helper *, size_t from, size_t to, uint64_t now_ms);
/* The same for DETACH. */
void attaching_detach(struct helper *, size_t from, size_t to, uint64_t now_ms);
void attaching_assign(struct helper *, struct request *, uint64_t now_ms);
/* A reload: puts those into the next configuration that it lets stay. */
void attaching_carry(struct helper *);

#endif
