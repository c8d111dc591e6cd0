/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy_lint - what is allowed in a configuration and still worth a word.
 *
 * A part of policy_text.
 */
#ifndef LIB_TEXT_POLICY_LINT_H
#define LIB_TEXT_POLICY_LINT_H

#include "lib/text/policy_rules.h"

/* Puts a warning at a place of a file; what does not fit is left out. */
void policy_warn(struct config *, const char *file, uint32_t line,
    uint32_t column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Looks at a configuration that is whole. */
void policy_lint(struct config *, const struct yaml_node *root,
    const struct rule_set *);

#endif
