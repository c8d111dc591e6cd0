/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * explain - what a question would get, by a configuration that need not be
 * the one in force.
 */
#ifndef SRC_CLI_EXPLAIN_H
#define SRC_CLI_EXPLAIN_H

#include "lib/text/policy_text.h"
#include "src/cli/cli.h"

/* A type by its mnemonic or as TYPE123, in either case of letters. */
bool explain_type_read(const char *text, uint16_t *ret);
/* The daemon's own line for this verdict. */
void explain_print_json(FILE *, const struct policy *, uint32_t sandbox,
    const struct dname *, uint16_t type);

#endif
