/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * modes - sandboxes that are judged otherwise than by their pins: those in
 * quarantine.
 *
 * What is in the sets follows from what the guard knows, and is brought to it
 * by difference. At the start what the table has of quarantines stays until
 * the resolver has said which of them still hold: nobody is let out by a
 * restart.
 */
#ifndef SRC_HELPER_MODES_H
#define SRC_HELPER_MODES_H

#include "src/helper/helper.h"

#define MODE_MEMBERS_MAX EDGE_SOURCES_MAX

/* What a sandbox has in the sets of modes; how many. */
size_t modes_members(const struct helper *, uint32_t sandbox,
    struct member ret[MODE_MEMBERS_MAX]);
/* QUARANTINE and RELEASE. */
void modes_request(struct helper *, struct request *, uint64_t now_ms);
/* Brings the sets to what holds now: after the start, and whenever sandboxes
 * or their addresses have changed. 0 or negative errno. */
int modes_sync(struct helper *);

#endif
