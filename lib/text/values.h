/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * values - single values of the configuration, from text.
 *
 * The text_ parsers know nothing of files and say only yes or no; the value_
 * readers take a node of the tree and say what is wrong and what would be
 * right. All are strict: no sign, no leading zero, no space, no second unit.
 */
#ifndef LIB_TEXT_VALUES_H
#define LIB_TEXT_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/addr.h"
#include "lib/text/yaml_tree.h"

#define TEXT_MAC_SIZE 6

/* Budgets are kept in 1/256 bit, the largest in 32 bits. 64 bits are the least
 * that anything can be asked with. */
#define TEXT_BUDGET_OCTET      (8 * 256)
#define TEXT_BUDGET_LEAST      "8B/day"
#define TEXT_BUDGET_MOST       "2047KiB/day"
#define TEXT_BUDGET_OCTETS_MAX (UINT64_C(2047) << 10)
#define TEXT_BUDGET_MIN        (INT64_C(8) * TEXT_BUDGET_OCTET)
#define TEXT_BUDGET_MAX        (INT64_C(2047) * 1024 * TEXT_BUDGET_OCTET)

struct endpoint {
	struct addr addr;
	uint16_t port;
};

/* False: not one, and *ret is untouched. */
bool text_duration_ms(const char *text, uint64_t *ret); /* 5s 10m 1h 1d 1ms */
bool text_octets(const char *text, uint64_t *ret); /* 1KiB 50MiB */
/* 2KiB/day, in octets. */
bool text_budget(const char *text, uint64_t *ret);
/* 2026-12-31, to the end of that day, or 2026-12-31T18:00:00Z; UTC, in
 * milliseconds since 1970. */
bool text_date(const char *text, uint64_t *ret_ms);
bool text_number(const char *text, uint64_t min, uint64_t max, uint64_t *ret);
/* Letters, digits, ".", "-" and "_", not "." or "-" first: a sandbox's name. */
bool text_is_word(const char *text);
/* ADDRESS or ADDRESS@PORT; port is what an address alone gets. */
bool text_endpoint(const char *text, uint16_t port, struct endpoint *ret);

/* ADDRESS:PORT, [ADDRESS]:PORT, or an address alone: port 0. */
bool text_destination(const char *text, struct addr *ret, uint16_t *ret_port);

/* Six octets in hexadecimal, with colons: of one interface, so not zero and no
 * group. */
bool text_mac(const char *text, uint8_t ret[TEXT_MAC_SIZE]);

/*
 * 0, or -EINVAL with an error at the node. example is what the error shows
 * for a right one.
 */

/* That a node is of a kind. A map where a word belongs is looked at for the
 * two usual traps: an address that ends in "::", and "NAME: PORT". */
int value_kind(const char *file, const struct yaml_node *, enum yaml_kind,
    const char *example, struct text_error *ret_error);
/* A list of at most max entries. */
int value_list(const char *file, const struct yaml_node *, size_t max,
    const char *example, struct text_error *ret_error);
/* A word of at most size - 1 octets, copied. */
int value_text(const char *file, const struct yaml_node *, char *buf,
    size_t size, struct text_error *ret_error);
/* The same for letters, digits, ".", "-" and "_", not "." or "-" first. */
int value_word(const char *file, const struct yaml_node *, char *buf,
    size_t size, struct text_error *ret_error);
int value_bool(const char *file, const struct yaml_node *, bool *ret,
    struct text_error *ret_error);
int value_addr(const char *file, const struct yaml_node *, struct addr *ret,
    struct text_error *ret_error);
int value_prefix(const char *file, const struct yaml_node *, struct prefix *ret,
    struct text_error *ret_error);
/* That an address is one that a socket of this host may have, or that can be
 * asked. */
int value_unicast(const char *file, const struct yaml_node *,
    const struct addr *, struct text_error *ret_error);
int value_endpoint(const char *file, const struct yaml_node *,
    struct endpoint *ret, struct text_error *ret_error);
/* OCTETS/day, in 1/256 bit. */
int value_budget(const char *file, const struct yaml_node *, uint32_t *ret,
    struct text_error *ret_error);
/* udp://ADDRESS[:PORT] (514) or tcp://ADDRESS:PORT, an IPv6 address in
 * brackets. *ret_transport: PROTO_UDP or PROTO_TCP. */
int value_receiver(const char *file, const struct yaml_node *,
    uint8_t *ret_transport, struct endpoint *ret, struct text_error *ret_error);
/* One of a NULL-terminated list of words; its index. */
int value_choice(const char *file, const struct yaml_node *,
    const char *const *words, size_t *ret, struct text_error *ret_error);

/* The word of a list of count that is nearest to a text, NULL when none is
 * near. */
const char *text_nearest(const char *text, const char *const *words,
    size_t count);

/* Room for one more item behind count: arrays grow at powers of two. NULL:
 * none, and items is as it was. */
void *text_grow(void *items, size_t count, size_t size);

#endif
