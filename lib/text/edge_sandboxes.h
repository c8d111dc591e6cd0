/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edge_sandboxes - who asks: sandboxes with their addresses and interfaces.
 *
 * A part of edge_text; nobody else calls it.
 */
#ifndef LIB_TEXT_EDGE_SANDBOXES_H
#define LIB_TEXT_EDGE_SANDBOXES_H

#include "lib/text/edge_policies.h"

/* Fills the sandboxes of a configuration whose policies are read. 0, -EINVAL
 * or -ENOMEM. */
int edge_sandboxes_read(struct edge_reader *);

#endif
