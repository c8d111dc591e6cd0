/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy_alerts - the alerts that `quarantine_on` of a policy names.
 */
#ifndef LIB_TEXT_POLICY_ALERTS_H
#define LIB_TEXT_POLICY_ALERTS_H

#include <stdint.h>

#include "lib/text/yaml_tree.h"

/* Bits by number of action. Refuses what is no alert, or none that can be
 * ascribed to a sandbox. list may be NULL: none. 0 or -EINVAL. */
int policy_alerts_read(const char *file, const struct yaml_node *list,
    uint64_t *ret, struct text_error *ret_error);

#endif
