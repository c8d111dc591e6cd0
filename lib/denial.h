/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * denial - every reason to say no, and the one table from a reason to what
 * goes on the wire.
 *
 * Inside the core only reasons are passed around; what a reason looks like
 * (rcode, SOA, extended error, text) is decided in denial.c alone, since
 * stub resolvers differ in how they take each form.
 */
#ifndef LIB_DENIAL_H
#define LIB_DENIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/dns.h"

enum denial {
	DENIAL_NONE, /* not denied */
	DENIAL_DROP, /* a response, or too short: no reply at all, counted */
	DENIAL_MALFORMED, /* FORMERR */
	DENIAL_BAD_VERSION, /* EDNS version over 0: BADVERS */
	DENIAL_OPCODE, /* NOTIMP */
	DENIAL_CLASS, /* class not IN: REFUSED */
	DENIAL_TRANSFER, /* AXFR, IXFR: REFUSED */
	DENIAL_UNKNOWN_SOURCE, /* source in no sandbox: REFUSED, 18 */
	DENIAL_OVERLOAD, /* a table is full, too many questions: REFUSED */
	DENIAL_UNLISTED, /* form by policy (`denial:`) */
	DENIAL_DENY_RULE, /* under `deny`: as unlisted */
	DENIAL_WITHDRAWN, /* its rule was revoked by hand: as unlisted */
	DENIAL_PARENT, /* unlisted parent of a listed name: NODATA, 15 */
	DENIAL_TYPE, /* listed, type not allowed: NODATA, 15 */
	DENIAL_FAMILY, /* the sandbox has no address of it: NODATA */
	DENIAL_PROTECTED, /* every address is protected: NODATA, 15 */
	DENIAL_UNPINNED, /* nothing could be pinned: SERVFAIL, 0 */
	DENIAL_UNPINNED_OTHER, /* nothing of this family, but of the other:
				  NODATA, 0 */
	DENIAL_UPSTREAM_SILENT, /* SERVFAIL, 22 */
	DENIAL_UPSTREAM_BROKEN, /* SERVFAIL, 23 */
	DENIAL_UPSTREAM_OTHER, /* this family failed, the other has addresses:
				  NODATA, 23 */
	DENIAL_NO_NAME, /* upstream: NXDOMAIN */
	DENIAL_NO_NAME_PARENT, /* upstream: NXDOMAIN, listed names below */
	DENIAL_NO_DATA, /* upstream: NODATA */
	DENIAL_SPECIAL, /* invalid, local, onion, single labels: NXDOMAIN, 15 */
	DENIAL_SPECIAL_NODATA, /* resolver.arpa: NODATA */
	DENIAL_PTR, /* reverse name: NXDOMAIN, unless its address is pinned */
	DENIAL_QUARANTINED, /* the sandbox is cut off: as unlisted */
	DENIAL_BUDGET, /* what it would tell cannot be paid: as unlisted */
	DENIAL_LAST = DENIAL_BUDGET
};

/* `denial:` of a policy. */
enum denial_style {
	DENIAL_NXDOMAIN,
	DENIAL_NODATA,
	DENIAL_REFUSED
};

struct denial_form {
	uint8_t rcode; /* low four bits of enum dns_rcode */
	bool badvers;
	bool soa; /* with the one SOA (owner ., MNAME namewall.invalid.) */
	uint16_t ede; /* enum dns_ede; DNS_EDE_NONE: none */
	const char *text; /* extended text, at most 120 octets, or "" */
};

/* The form of a reason; style is looked at for UNLISTED, DENY_RULE,
 * WITHDRAWN, QUARANTINED and BUDGET. Not for DENIAL_NONE and DENIAL_DROP
 * (REQUIREd). */
struct denial_form denial_form_of(enum denial, enum denial_style);
/* A stable word for events and logs: "unlisted", "deny-rule", … */
const char *denial_name(enum denial);
/* True where the fault is the world's (events say dns-failed), not policy's. */
bool denial_is_failure(enum denial);

#endif
