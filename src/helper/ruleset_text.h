/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ruleset_text - the gateway tables in nft's own syntax, for people.
 */
#ifndef SRC_HELPER_RULESET_TEXT_H
#define SRC_HELPER_RULESET_TEXT_H

#include <stdio.h>

#include "src/helper/gateway.h"

/* The whole table without what the configuration puts into its sets; it can
 * be loaded by nft -f. */
void ruleset_print(FILE *, const struct gateway_params *);

struct edge_config;
/* Declarations and rules to paste where the mode is `sets`, for the sandboxes
 * of a configuration (sets_text.c). False: one of them has no interface, with
 * the reason, in REASON_MAX octets (source.h). */
bool sets_print(FILE *, const struct edge_config *, char *reason);

#endif
