/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * addr - IPv4 and IPv6 addresses, prefixes, services, and the ranges that
 * are never pinned.
 *
 * Everything is a plain value. Text forms follow RFC 4291 and RFC 5952 for
 * IPv6 and plain dotted decimal for IPv4: no octal, no hex, no missing
 * parts, no zone ids.
 */
#ifndef LIB_ADDR_H
#define LIB_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ADDR_TEXT_MAX   46 /* with the NUL */
#define PREFIX_TEXT_MAX 50

#define PROTO_TCP 6
#define PROTO_UDP 17

struct addr {
	uint8_t family; /* 4 or 6; 0: none */
	uint8_t bytes[16]; /* IPv4 in the first four, the rest zero */
};

struct prefix {
	struct addr addr; /* host bits are zero */
	uint8_t bits;
};

/* A transport protocol and a port. */
struct service {
	uint8_t protocol; /* PROTO_TCP or PROTO_UDP */
	uint16_t port;
};

struct addr addr_v4(const uint8_t bytes[4]);
struct addr addr_v6(const uint8_t bytes[16]);
size_t addr_size(const struct addr *); /* 4 or 16 */
bool addr_equal(const struct addr *, const struct addr *);
/* Total order: IPv4 before IPv6, then by octets. */
int addr_compare(const struct addr *, const struct addr *);

/* Parse exactly len octets of text; false leaves *ret untouched. */
bool addr_parse(const char *text, size_t len, struct addr *ret);
/* ADDRESS or ADDRESS/BITS. Host bits that are set are refused. */
bool prefix_parse(const char *text, size_t len, struct prefix *ret);
/* Print with a NUL into at least ADDR_TEXT_MAX / PREFIX_TEXT_MAX octets;
 * returns the length without it. */
size_t addr_print(const struct addr *, char *buf);
size_t prefix_print(const struct prefix *, char *buf);

bool prefix_contains(const struct prefix *, const struct addr *);
bool prefix_overlaps(const struct prefix *, const struct prefix *);
struct prefix prefix_of(const struct addr *); /* /32 or /128 */

/*
 * Ranges. The classes follow the IANA special-purpose registries (not
 * globally reachable), with the documentation ranges among them.
 */
enum addr_class {
	ADDR_GLOBAL,
	ADDR_UNSPECIFIED, /* 0.0.0.0/8, ::/128 */
	ADDR_PRIVATE, /* RFC 1918, RFC 4193, fec0::/10 */
	ADDR_SHARED, /* 100.64.0.0/10 */
	ADDR_LOOPBACK,
	ADDR_LINK_LOCAL,
	ADDR_METADATA, /* cloud metadata services, wherever they are */
	ADDR_DOCUMENTATION,
	ADDR_BENCHMARK,
	ADDR_MULTICAST, /* and broadcast */
	ADDR_RESERVED /* anything else that is not globally reachable */
};

#define PROTECTED_EXCEPT_MAX 32
#define PROTECTED_NAT64_MAX  8
#define PROTECTED_OWN_MAX    256

/* What this host adds to, and takes from, the ranges that are never pinned. */
struct protected_ranges {
	struct prefix except[PROTECTED_EXCEPT_MAX];
	struct prefix nat64[PROTECTED_NAT64_MAX]; /* beside 64:ff9b::/96 */
	struct addr own[PROTECTED_OWN_MAX]; /* the host's own addresses */
	uint16_t except_count, nat64_count, own_count;
	bool own_overflow; /* the host has more addresses than fit */
};

/* The registries' ranges of a family, those of the global unicast space among
 * them that the others are exceptions to; false: no more. For whoever needs
 * the ranges of addr_protected() rather than its word on one address: it is
 * the same for all addresses between two ends of these, of the prefixes in
 * struct protected_ranges, and of what they hide. */
bool addr_range(uint8_t family, size_t index, struct prefix *ret);
/* The class of an address by itself, hidden IPv4 not looked at. */
enum addr_class addr_classify(const struct addr *);
const char *addr_class_name(enum addr_class);
/*
 * The IPv4 address hidden in an IPv6 one: IPv4-mapped, IPv4-compatible,
 * NAT64 (RFC 6052: the well-known prefix, the local-use 64:ff9b:1::/48 and
 * the given prefixes), 6to4, Teredo (the client's, unobfuscated), ISATAP.
 * False when there is none.
 */
bool addr_hidden_v4(const struct addr *, const struct protected_ranges *,
    struct addr *ret);
/*
 * Why an address must not be pinned: ADDR_GLOBAL when it may. Looks at the
 * address, at what is hidden in it and at the host's own addresses. A prefix
 * of `allowed` (a rule's `private`) or of except lifts the ban, where it
 * covers the address as it stands; for a NAT64 form it may cover the IPv4
 * address inside instead. The unspecified address and multicast are never
 * lifted. The host's own addresses (ADDR_LOOPBACK where nothing else says
 * no) are lifted by `allowed` only; with own_overflow any address could be
 * one, so all that `allowed` does not cover is ADDR_RESERVED.
 */
enum addr_class addr_protected(const struct addr *,
    const struct protected_ranges *, const struct prefix *allowed,
    size_t allowed_count);

#endif
