/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy_refresh - which policies have their exact names looked up on our own
 * clock.
 *
 * A part of policy_text.
 */
#ifndef LIB_TEXT_POLICY_REFRESH_H
#define LIB_TEXT_POLICY_REFRESH_H

#include "lib/text/policy_rules.h"

/* Reads a policy's `refresh`. 0 or -EINVAL. */
int policy_refresh_read(const char *file, const struct yaml_node *map,
    enum refresh *ret, struct text_error *ret_error);
/*
 * Decides for those that say nothing: scheduled, if then there is room for the
 * exact names of all policies that are; otherwise on demand, with a warning. A
 * name counts once for each policy that lists it. -EINVAL where those that say
 * so do not fit.
 */
int policy_refresh_settle(struct config *, const struct rule_input *,
    struct rule_set *, struct text_error *ret_error);

#endif
