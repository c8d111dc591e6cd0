/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * answer - an upstream response, vetted against what was asked.
 *
 * Only what belongs is kept: the alias chain is followed from the asked name
 * (8 links at most, linear, no loops, DNAMEs are followed by their
 * synthesised CNAMEs), and of the records at its end only those of the asked
 * type. Everything else in the message is dropped, but for an SOA that says
 * that the end has nothing of the type. Addresses that are
 * protected are taken out and counted. What is left is plain values; no
 * octet of the response is ever sent on.
 */
#ifndef LIB_ANSWER_H
#define LIB_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/addr.h"
#include "lib/dname.h"
#include "lib/question.h"
#include "lib/rng.h"
#include "lib/verdict.h"

#define ANSWER_ADDRS_MAX   12
#define ANSWER_RECORDS_MAX 32
#define ANSWER_DATA_MAX    1024
#define ANSWER_LINKS_MAX   8
#define ANSWER_WALK_MAX    512 /* records of a response; more is BOGUS */

enum answer_outcome {
	ANSWER_OK,
	ANSWER_NO_DATA, /* NOERROR, chain complete, nothing of the type */
	ANSWER_NO_NAME, /* NXDOMAIN */
	ANSWER_PROTECTED, /* every address was protected */
	ANSWER_TRUNCATED, /* TC: ask again over a stream */
	ANSWER_BOGUS /* malformed, broken chain, SERVFAIL, REFUSED, … */
};

/* A record of a type other than A and AAAA, data rebuilt without
 * compression. */
struct answer_record {
	uint16_t offset, len; /* into data */
};

struct answer {
	enum answer_outcome outcome;
	uint16_t type; /* what was asked */
	uint8_t rcode;
	uint32_t ttl_s; /* smallest of chain and records, as upstream gave it */
	uint8_t link_count;
	struct dname end; /* the chain's end, or the name itself */
	uint8_t addr_count;
	struct addr addrs[ANSWER_ADDRS_MAX];
	uint16_t left_out; /* addresses beyond ANSWER_ADDRS_MAX */
	uint16_t protected_count;
	struct addr protected_first; /* for the event */
	enum addr_class protected_class;
	uint8_t record_count;
	uint16_t data_len;
	struct answer_record records[ANSWER_RECORDS_MAX];
	uint8_t data[ANSWER_DATA_MAX];
};

/* What vetting goes by beside the message: the verdict gives `private_ok`. */
struct vetting {
	const struct verdict *verdict;
	const struct protected_ranges *ranges;
	struct rng *rng;
	bool keep_protected; /* they are judged later, see answer_protect() */
};

/*
 * Vets a whole message that ask_matches() has accepted. name and
 * type are what we asked. Duplicate addresses are kept once.
 * Of more than ANSWER_ADDRS_MAX addresses a random choice is kept, in random
 * order (rng): one's order upstream says nothing to the client, and
 * the choice stays for as long as the answer is cached. CNAME owners and the
 * final records must match label by label; a chain that does not end in the
 * response, by a record or by an SOA that denies one, is BOGUS. Types other
 * than A, AAAA: TXT, MX, SRV, CAA only, their data parsed and rebuilt; what
 * does not parse makes it BOGUS, what does not fit is left out. Returns
 * ret->outcome.
 */
enum answer_outcome answer_vet(struct answer *ret, const struct dname *name,
    uint16_t type, const struct vetting *, const uint8_t *wire, size_t len);
/* An answer of fixed addresses of one family (a rule's `addresses`);
 * protected ones are taken out as above. */
void answer_fixed(struct answer *ret, const struct dname *name, uint16_t type,
    const struct verdict *, const struct protected_ranges *, uint32_t ttl_s);
/* Takes protected addresses out of an answer that was vetted with
 * keep_protected, by the verdict of whoever is told; outcome and
 * protected_… follow. */
void answer_protect(struct answer *, const struct verdict *,
    const struct protected_ranges *);
/* Takes out the address at an index; the others keep their order. */
void answer_drop_addr(struct answer *, uint8_t index);

#endif
