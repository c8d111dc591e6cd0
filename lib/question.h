/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * question - a client's query, parsed strictly (RFC 1035 4.1, RFC 6891).
 *
 * Exactly one question, nothing in answer and authority, at most one OPT and
 * nothing else in additional (records there are refused), nothing trailing.
 * The client's spelling is kept for the reply alone; everything else works
 * with the folded name.
 */
#ifndef LIB_QUESTION_H
#define LIB_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/denial.h"
#include "lib/dname.h"

struct question {
	struct dname name; /* lower case */
	uint8_t spelling[DNS_NAME_MAX]; /* wire octets as sent, name.len */
	uint16_t id;
	uint16_t flags; /* as sent: RD and CD are copied to the reply */
	uint16_t type;
	uint16_t class;
	uint16_t udp_size; /* 512 without EDNS, never below */
	uint8_t edns_version;
	bool has_header; /* id and flags were read: a reply is possible */
	bool has_name; /* name, type and class were read: it can be echoed */
	bool edns;
	bool dnssec_ok; /* DO; only reported */
	bool over_tcp; /* set by the engine, from the client */
};

/*
 * Parses a whole message. DENIAL_NONE; DROP for under 12 octets and for
 * responses; OPCODE; MALFORMED for everything else that is not as above and
 * for types OPT, TKEY, TSIG (41, 249, 250); BAD_VERSION; CLASS; TRANSFER.
 * *ret is always filled as far as the message could be read, with has_header
 * and has_name saying how far that was.
 */
enum denial question_parse(struct question *ret, const uint8_t *wire,
    size_t len);

#endif
