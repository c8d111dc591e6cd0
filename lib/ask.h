/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ask - the question that we send upstream, built anew from a parsed name.
 *
 * For one name and type the octets are always the same but for the id: lower
 * case, RD set, CD and DO clear, class IN, our EDNS size, padded to 128
 * octets (RFC 8467), no other option. No octet of a client's message is in
 * it.
 */
#ifndef LIB_ASK_H
#define LIB_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/dname.h"
#include "lib/rng.h"

#define ASK_SIZE_MAX 512

/* What became of the tries before this one. The transport fills it in and
 * reads it; the core keeps it between tries. */
struct ask_trail {
	uint32_t tried; /* a bit for each server */
	uint8_t tries, silent; /* in all; those that nobody answered */
	bool broken; /* some server answered, but with nothing of use */
};

struct ask {
	struct dname name;
	uint16_t type;
	uint16_t id; /* from our rng */
	bool stream; /* over TCP, since the answer did not fit */
};

void ask_build(struct ask *ret, const struct dname *, uint16_t type,
    bool stream, struct rng *);
/* The message, at most ASK_SIZE_MAX octets; returns its length. */
size_t ask_print(const struct ask *, uint8_t *buf, size_t size);
/*
 * Whether a datagram is the response to this ask: QR, opcode, our id, one
 * question, same name, type and class. A response without a question (some
 * servers, on errors) matches only when its rcode is not NOERROR.
 */
bool ask_matches(const struct ask *, const uint8_t *wire, size_t len);

#endif
