/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * advice - what of this host is in the way of the sandboxes, and is the
 * operator's to change. Read-only.
 */
#ifndef SRC_HELPER_ADVICE_H
#define SRC_HELPER_ADVICE_H

#include "src/helper/helper.h"

/* Looks, and tells the resolver what has changed since the last time. */
void advice_tell(struct helper *);

#endif
