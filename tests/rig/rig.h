/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rig - what scenarios, the simulator, the bench and the engine's unit tests
 * share: a policy from a few lines of text, an engine in one block, messages
 * to feed it, and a reader of its replies that is not its own (ldns).
 *
 * The rule text, one statement a line:
 *
 *   policy NAME [nxdomain|nodata|refused] [audit]
 *          [quarantine_on ALERT …]
 *   allow NAME [ports tcp/443 …] [types A …] [private PREFIX …]
 *              [addresses ADDR …] [until SECONDS-OF-THE-DAY-CLOCK]
 *   deny NAME
 *   sandbox NAME POLICY ADDR …
 *   except PREFIX …
 *
 * allow and deny belong to the policy above them. The documentation ranges
 * are always excepted from the protected ones, so that tests can use them.
 */
#ifndef TESTS_RIG_RIG_H
#define TESTS_RIG_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/engine.h"

#define RIG_ERROR_MAX 256

/* Limits that are small but enough for a test with this many sandboxes. */
struct engine_limits rig_limits(uint32_t sandboxes);
/* An engine in a heap block of its own; NULL: no memory. */
struct engine *rig_engine(const struct engine_limits *, const uint8_t seed[32]);
void rig_engine_free(struct engine *);

/* A sealed policy in a heap block; NULL, and why, when the text is wrong. */
struct policy *rig_policy(const char *text, char error[RIG_ERROR_MAX]);
void rig_policy_free(struct policy *);
/* "A", "AAAA", "TYPE65280"; 0 when it is none. */
uint16_t rig_type(const char *word);
/* "tcp/443". */
bool rig_service(const char *word, struct service *ret);

/* A query with RD set; edns: with an OPT of 1232. Returns its length. */
size_t rig_query(uint8_t *buf, size_t size, const char *name, uint16_t type,
    uint16_t id, bool edns);

struct rig_response {
	uint8_t rcode;
	bool truncated;
	/* "NAME TTL TYPE DATA;…" in the answer section; may be NULL. */
	const char *records;
};
/* The response to an ask; 0 when the records cannot be read. */
size_t rig_response(uint8_t *buf, size_t size, const struct ask *,
    const struct rig_response *);

/* What a client sees in a reply. */
struct rig_reply {
	uint16_t id;
	uint8_t rcode;
	bool truncated, ra, aa, ad, edns, soa;
	int ede; /* -1: none */
	uint16_t type;
	char name[DNAME_TEXT_MAX];
	uint32_t ttl_s; /* of the answers; of the SOA where there is one */
	uint32_t addr_count, record_count;
	struct addr addrs[32];
	bool foreign_owner; /* some answer is not owned by the question */
};
/* False when ldns cannot read it. */
bool rig_read_reply(const uint8_t *wire, size_t len, struct rig_reply *ret);

/* One line on standard output. */
void rig_print_effect(const struct effect *, uint64_t now_ms);

#endif
