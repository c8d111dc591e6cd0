/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quotas - the named objects of the kernel that count octets, and what they
 * are called.
 *
 * A name says whose quota it is, so that the next run finds what was counted
 * in this one: the first address of the sandbox, the number of the rule, and
 * the day. The kernel cannot lower a count or move it to another limit, so a
 * quota is then made anew, under the next serial number.
 */
#ifndef SRC_HELPER_QUOTAS_H
#define SRC_HELPER_QUOTAS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/addr.h"
#include "src/helper/batch.h"

#define QUOTA_NAME_MAX 96

struct quota_key {
	struct addr source;
	uint64_t rule;
	uint32_t day; /* since 1970 */
	uint32_t serial;
};

struct quota_state {
	const char *name;
	uint64_t limit, used; /* used at most limit */
};

void quota_name_print(char ret[QUOTA_NAME_MAX], const struct quota_key *);
/* False: not one of ours. */
bool quota_name_read(const char *name, struct quota_key *ret);

/* Makes one; of one that is there the limit changes, and what is used stays. */
void quota_put(struct batch *, const char *name, uint64_t limit, uint64_t used);
/* Of one to which no element leads any more. */
void quota_drop(struct batch *, const char *name);

/* Every quota of the table; what the callback returns ends the walk when it is
 * negative. */
typedef int (*quota_seen)(const struct quota_state *, void *);
int quotas_walk(struct nft *, quota_seen, void *data);

#endif
