/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * withdrawn - rules that were revoked by hand, until a reload brings them
 * back; a restart does not.
 */
#ifndef SRC_RESOLVER_WITHDRAWN_H
#define SRC_RESOLVER_WITHDRAWN_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/policy.h"
#include "src/resolver/records.h"

#define WITHDRAWN_FILE "withdrawn"

struct daemon;
struct guests_caller;

struct withdrawn {
	struct records file; /* in the order of policy.withdrawn */
};

int withdrawn_open(struct withdrawn *, int dir, const char *boot_id);
void withdrawn_close(struct withdrawn *);
/* Withdraws what the state says; before anything is recalled. */
void withdrawn_recall(struct daemon *);
void withdrawn_settle(struct withdrawn *);
/* All of them are back. */
void withdrawn_clear(struct withdrawn *);
/* Withdraws a rule, and cuts what it had opened; who waits is told by
 * control_answered() once it is cut. False: there is no room for one more. */
bool withdrawn_add(struct daemon *, const struct policy_withdrawal *,
    const struct guests_caller *);
/* `release`: what was withdrawn from this sandbox alone is back. */
void withdrawn_release(struct daemon *, uint32_t sandbox);
/* Everything that was asked of the parent before is done. */
void withdrawn_passed(struct daemon *, uint64_t serial);

/* One as a record, and back; false: no such record was ever written. */
void withdrawal_print(uint8_t ret[RECORDS_BODY],
    const struct policy_withdrawal *);
bool withdrawal_read(struct policy_withdrawal *ret,
    const uint8_t body[RECORDS_BODY]);

#endif
