/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * modes - sandboxes that are judged otherwise than by their pins: those in
 * quarantine, of which nothing passes, and those whose policy audits, which
 * may reach whatever is not protected.
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

/*
 * What a sandbox has in the sets of modes whenever the table is made anew;
 * how many. Not what opens: a new table audits nobody until modes_sync(), so
 * that its sets of protected ranges are never behind.
 */
size_t modes_members(const struct helper *, uint32_t sandbox,
    struct member ret[MODE_MEMBERS_MAX]);
/* QUARANTINE and RELEASE. */
void modes_request(struct helper *, struct request *, uint64_t now_ms);
/*
 * Brings the sets to what holds now: after the table was installed, at the
 * end of the start, and whenever sandboxes, their addresses, their policies
 * or the host's own addresses have changed. Whoever is in an audit no more
 * loses what no pin explains. 0 or negative errno.
 */
int modes_sync(struct helper *, uint64_t now_ms);
/* The same, where what a sandbox may has changed with whoever it is, or with
 * its policy. */
int modes_follow(struct helper *, uint64_t now_ms);

#endif
