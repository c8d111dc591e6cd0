/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * express - a rule of the gateway tables as expressions for the kernel.
 */
#ifndef SRC_HELPER_EXPRESS_H
#define SRC_HELPER_EXPRESS_H

#include "src/helper/batch.h"
#include "src/helper/gateway.h"

/*
 * Appends one rule to a chain of the batch's family, its anonymous sets before
 * it. *set_id is the number that the next set of this batch gets. 0 or
 * -ENOMEM.
 */
int express_rule(struct batch *, const struct gateway_params *,
    const char *chain, const struct rule_form *, uint32_t *set_id);

#endif
