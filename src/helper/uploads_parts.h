/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uploads_parts - the parts of uploads; nobody else calls them.
 */
#ifndef SRC_HELPER_UPLOADS_PARTS_H
#define SRC_HELPER_UPLOADS_PARTS_H

#include "src/helper/helper.h"

/* Where a quota is, or belongs. */
size_t uploads_quota_place(const struct uploads *, uint32_t sandbox,
    uint64_t rule);
struct upload_quota *uploads_find_quota(const struct uploads *,
    uint32_t sandbox, uint64_t rule);
/* Finds or makes it; NULL: there is no room. Pointers to others end. */
struct upload_quota *uploads_put_quota(struct uploads *, uint32_t sandbox,
    uint64_t rule);
int uploads_claim_order(const struct upload_claim *, uint32_t sandbox,
    const struct addr *, uint64_t rule);
/* The first claim that is not before this one; rule 0 is before all. */
size_t uploads_claim_place(const struct uploads *, uint32_t sandbox,
    const struct addr *, uint64_t rule);
/* The claims of a sandbox are from here to where others begin. */
size_t uploads_first_claim(const struct uploads *, uint32_t sandbox);
bool uploads_is_of(const struct uploads *, size_t at, uint32_t sandbox);
bool uploads_is_to(const struct uploads *, size_t at, uint32_t sandbox,
    const struct addr *);
void uploads_remove_claim(struct uploads *, size_t at);

/*
 * What an earlier run has left in the table: its quotas, with what they have
 * counted, and the elements that lead to them. They go on counting until they
 * are taken over; what is not goes at the end of the start.
 */
void uploads_left_find(struct helper *);
/* Today's quota of an address and a rule; NULL: none is left. */
struct upload_left *uploads_left_quota(const struct uploads *,
    const struct addr *source, uint64_t rule);
/* Whether an element is left; it is not any more. */
bool uploads_left_take(struct uploads *, const char *map,
    const struct element *);
void uploads_left_end(struct helper *);
void uploads_left_forget(struct uploads *);

#endif
