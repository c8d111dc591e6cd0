/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * survey - what of our tables is in the kernel now.
 */
#ifndef SRC_HELPER_SURVEY_H
#define SRC_HELPER_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/helper/batch.h"

#define SURVEY_SETS_MAX   64
#define SURVEY_CHAINS_MAX 64
#define SURVEY_NAME_MAX   64

struct survey_set {
	char name[SURVEY_NAME_MAX];
	uint32_t flags, key_type, key_len, size;
	uint64_t timeout_ms;
};

struct survey {
	bool exists;
	uint32_t flags; /* of the table */
	uint32_t owner; /* port of the socket that owns it, or 0 */
	bool overflow; /* more sets or chains than fit */
	struct survey_set sets[SURVEY_SETS_MAX];
	unsigned int set_count;
	char chains[SURVEY_CHAINS_MAX][SURVEY_NAME_MAX];
	unsigned int chain_count;
};

/* Of the table of a family. */
int survey_take(struct nft *, uint8_t family, struct survey *ret);
const struct survey_set *survey_find_set(const struct survey *,
    const char *name);

/* One set of a table. 0, or -ENOENT: there is none. */
int survey_set_named(struct nft *, uint8_t family, const char *name,
    struct survey_set *ret);

/*
 * A digest of both tables, their chains, rules, sets, and of the members of
 * the sets that the configuration fills. It covers only what traffic and pins
 * do not change, and is comparable within one kernel only.
 * And how many rules they have.
 */
int survey_digest(struct nft *, uint64_t *ret, size_t *ret_rules);

#endif
