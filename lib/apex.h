/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * apex - the registrable domain of a name, from the public suffix list.
 *
 * An immutable table of suffix rules (normal, wildcard, exception; ICANN and
 * private section alike), filled once at load by lib/text and then sealed.
 * The algorithm is the list's own: the longest rule prevails, an exception
 * beats it, and where no rule matches the rule is "*".
 */
#ifndef LIB_APEX_H
#define LIB_APEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/arena.h"
#include "lib/dname.h"
#include "lib/table.h"

enum apex_rule { APEX_NORMAL = 1, APEX_WILDCARD = 2, APEX_EXCEPTION = 4 };

struct apex_table {
	struct table rules; /* key: 16-octet name hash */
	uint8_t *kinds; /* enum apex_rule bits by slot */
	uint8_t labels_max; /* of any suffix: no longer one is looked for */
	uint8_t secret[16];
};

void apex_table_init(struct apex_table *, struct arena *, uint32_t rules_max,
    const uint8_t secret[16]);
/* suffix without "*." and "!"; false when the table is full. */
bool apex_table_add(struct apex_table *, const struct dname *suffix,
    enum apex_rule);
/* Number of labels of the public suffix of a name (at least 1, but 0 for
 * the root). */
uint8_t apex_suffix_labels(const struct apex_table *, const struct dname *);
/* Labels of the registrable domain: suffix labels + 1, or all of the name's
 * labels where it is itself a public suffix or shorter. */
uint8_t apex_labels(const struct apex_table *, const struct dname *);

#endif
