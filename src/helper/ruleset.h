/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ruleset - our tables in the kernel, the gateway and its twin: made, taken
 * over, replaced, verified.
 *
 * Everything is one transaction, so a packet meets the old ruleset or the
 * new one. Where the kernel can (6.9 on) they are owned by our socket and
 * persist beyond it: nobody else can change them, and they stay, closed,
 * when this process dies. Where it cannot, they are plain ones, and the
 * monitor watches them.
 */
#ifndef SRC_HELPER_RULESET_H
#define SRC_HELPER_RULESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/helper/batch.h"
#include "src/helper/elements.h"
#include "src/helper/gateway.h"
#include "src/helper/survey.h"

struct ruleset {
	struct nft *nft;
	struct gateway_params params;
	bool owned; /* owner and persist */
	uint64_t digest; /* of what was installed */
	struct survey surveys[GATEWAY_TABLES]; /* what was found last */
};

enum ruleset_outcome {
	RULESET_BORN, /* a table was missing, or could not be kept */
	RULESET_ADOPTED /* both were there: chains replaced, pins kept */
};

/* Finds out what this kernel can. 0, -EPERM, -EPROTONOSUPPORT… */
int ruleset_probe(struct ruleset *);
/*
 * Brings the tables into their place, with these members in the sets that the
 * configuration fills. Renewed from nothing when `anew`. -EBUSY: one belongs
 * to another process that lives.
 */
int ruleset_install(struct ruleset *, const struct member *, size_t count,
    bool anew, enum ruleset_outcome *ret);
/* The kernel's number of a set's type, and the octets of its key. */
void ruleset_key(const struct set_form *, uint32_t *ret_type,
    uint32_t *ret_len);
/* Of the next two, where the sets are lent: 0. */
/* 0: as they were installed; -ESTALE: they are not. */
int ruleset_verify(struct ruleset *);
/* Takes the digest anew, after a change of our own. -ESTALE: rules that were
 * put are not there, or others are. */
int ruleset_settle(struct ruleset *);
/* Deletes the tables. -ENOENT: there is none. */
int ruleset_remove(struct nft *);

#endif
