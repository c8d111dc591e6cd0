/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dname - a domain name as a value of 256 octets.
 *
 * Always in wire form, uncompressed, and lower case (ASCII only, RFC 4343),
 * so equality is equality of octets. Compared label by label, never as C
 * strings: a NUL or a dot inside a label is an octet like any other.
 */
#ifndef LIB_DNAME_H
#define LIB_DNAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/cursor.h"
#include "lib/dns.h"

/* Longest text form: four characters an octet, dots, NUL. */
#define DNAME_TEXT_MAX 1024

struct dname {
	uint8_t len; /* of the wire form, 1 … 255 */
	uint8_t labels; /* without the root, 0 … 127 */
	uint8_t wire[DNS_NAME_MAX];
};

/*
 * Reads a name at the cursor and folds it. With compression allowed, a
 * pointer must lead to an earlier octet than any before it in this name
 * (RFC 1035 4.1.4; so loops end) and past the header; the cursor ends behind
 * the name as it stands in the message. Errors (false, cursor error set, *ret
 * untouched): overrun, label type 01 or 10, over 255 octets, a pointer where
 * none may be, more than 127 pointers.
 */
bool dname_read(struct cursor *, bool compression, struct dname *ret);
/* The same for a name that must keep its spelling: wire octets as sent,
 * without compression, at most 255; *ret_len is their number. */
bool dname_read_raw(struct cursor *, uint8_t ret_wire[DNS_NAME_MAX],
    size_t *ret_len);
/* Moves behind a name, compressed or not, that nobody wants to know. */
bool dname_skip(struct cursor *);
/* Makes a value of wire octets that are known to be a whole name. */
bool dname_from_wire(const uint8_t *wire, size_t len, struct dname *ret);
/*
 * Text to name: labels with dots between, a trailing dot means nothing, no
 * escapes, ASCII only. False: empty label (so "." too: the root is no name
 * that people write), label over 63, name over 255, empty text, a space, an
 * octet outside printable ASCII or a backslash.
 */
bool dname_from_text(const char *text, size_t len, struct dname *ret);
void dname_root(struct dname *ret);

void dname_put(struct cursor *, const struct dname *);
bool dname_equal(const struct dname *, const struct dname *);
/* Total order by labels from the right (RFC 4034 6.1). */
int dname_compare(const struct dname *, const struct dname *);
/* True for a name that is strictly below an ancestor. */
bool dname_is_below(const struct dname *, const struct dname *ancestor);
/* Without its first label; false for the root. ret may be the name itself. */
bool dname_parent(const struct dname *, struct dname *ret);
/* The ancestor that keeps the last `labels` labels (at most its own). */
struct dname dname_suffix(const struct dname *, uint8_t labels);
/* Label by index from the left, 0 … labels - 1 (REQUIREd). */
const uint8_t *dname_label(const struct dname *, uint8_t index,
    uint8_t *ret_len);
/* Puts one label in front; false when it would not fit. */
bool dname_prepend(struct dname *, const uint8_t *label, uint8_t len);
/* Every octet of every label (of one label) is a-z 0-9 - _. */
bool dname_is_host(const struct dname *);
bool dname_label_is_host(const uint8_t *label, uint8_t len);
/* 128 bits of SipHash-x 2-4 under a secret key: an identity for tables. */
void dname_hash(const struct dname *, const uint8_t secret[16],
    uint8_t ret_hash[16]);
/*
 * Presentation form without the trailing dot, "." for the root; octets that
 * are not letters, digits, - or _ become \DDD. NUL-terminated; buf has
 * at least DNAME_TEXT_MAX octets. Returns the length without the NUL.
 */
size_t dname_print(const struct dname *, char *buf);

#endif
