/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ruleset - our table in the kernel: made, taken over, replaced, verified.
 *
 * Everything is one transaction, so a packet meets the old ruleset or the
 * new one. Where the kernel can (6.9 on) the table is owned by our socket
 * and persists beyond it: nobody else can change it, and it stays, closed,
 * when this process dies. Where it cannot, the table is a plain one, and the
 * monitor watches it.
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
	struct survey survey; /* of the last installation: what it found */
};

enum ruleset_outcome {
	RULESET_BORN, /* there was no table, or none that could be kept */
	RULESET_ADOPTED /* it was there: chains replaced, pins kept */
};

/* Finds out what this kernel can. 0, -EPERM, -EPROTONOSUPPORT… */
int ruleset_probe(struct ruleset *);
/*
 * Brings the table into its place, with these members in the sets that the
 * configuration fills. Renewed from nothing when `anew`. -EBUSY: it belongs
 * to another process that lives.
 */
int ruleset_install(struct ruleset *, const struct member *, size_t count,
    bool anew, enum ruleset_outcome *ret);
/* 0: as it was installed; -ESTALE: it is not. */
int ruleset_verify(struct ruleset *);
/* Takes the digest anew, after a change of our own. */
int ruleset_settle(struct ruleset *);
/* Deletes the table. -ENOENT: there is none. */
int ruleset_remove(struct nft *);

#endif
