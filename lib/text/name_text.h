/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * name_text - domain names as people write them.
 *
 * U-labels go through IDNA 2008 (libidn2, non-transitional); A-labels stay as
 * they are; both become the same name. What a client could read as an address
 * is no name.
 */
#ifndef LIB_TEXT_NAME_TEXT_H
#define LIB_TEXT_NAME_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/dname.h"
#include "lib/text/yaml_tree.h"
#include "lib/verdict.h"

/* A name as a user may write it (U-label or A-label) to a dname; false with a
 * reason in at most TEXT_ERROR_MAX octets. */
bool text_name_read(const char *text, size_t len, struct dname *ret,
    char *ret_reason);
/* A rule name: the same, with `*.` or `**.` in front allowed, and nothing
 * that is no host name, an address to some client, or a single label. */
bool text_rule_name_read(const char *text, size_t len, enum rule_kind *,
    struct dname *ret, char *ret_reason);
/* The part of that which is about a name that is a dname already. */
bool text_rule_name_check(enum rule_kind, const struct dname *,
    char *ret_reason);

#endif
