/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * protected - the ranges that are never opened, as intervals for a set of the
 * kernel: what addr_protected() says of each address, for all of them.
 *
 * Pure. Where its word does not hang on a prefix alone the intervals close
 * more than it does (Teredo: all of it), and in one case less: an IPv4 address
 * hidden in an interface id (ISATAP) can be found in every prefix.
 */
#ifndef SRC_HELPER_PROTECTED_H
#define SRC_HELPER_PROTECTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/addr.h"

/* from first up to and including last */
struct interval {
	struct addr first, last;
};

/* The intervals of a family, in order, none of which touches the next. The
 * list is the caller's to free. 0 or -ENOMEM. */
int protected_intervals(const struct protected_ranges *, uint8_t family,
    struct interval **ret, size_t *ret_count);

#endif
