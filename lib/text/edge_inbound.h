/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edge_inbound - who may open flows to a sandbox, beside this host.
 *
 * A part of edge_text; the parent also asks it of flows that are there.
 */
#ifndef LIB_TEXT_EDGE_INBOUND_H
#define LIB_TEXT_EDGE_INBOUND_H

#include <stdbool.h>

#include "lib/text/edge_policies.h"

/* A list of `PREFIX tcp/PORT`, of a sandbox whose sources are read. Entries
 * of one service do not overlap. 0, -EINVAL or
 * -ENOMEM. */
int edge_inbound_read(struct edge_reader *, const struct yaml_node *list,
    struct edge_sandbox *);
/* Whether an entry lets this address open a flow of this service to that
 * source of the sandbox. */
bool edge_inbound_lets(const struct edge_sandbox *, const struct addr *from,
    const struct addr *source, struct service);

#endif
