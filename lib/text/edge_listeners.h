/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edge_listeners - listeners at which everybody who asks is one sandbox.
 *
 * A part of edge_text; nobody else calls it. They stand behind those of the
 * top level, by address, so that their order is the same wherever in the file
 * their sandboxes stand.
 */
#ifndef LIB_TEXT_EDGE_LISTENERS_H
#define LIB_TEXT_EDGE_LISTENERS_H

#include "lib/text/edge_policies.h"

/* The `listen` of the sandbox with this number. 0 or -EINVAL. */
int edge_listeners_read(struct edge_reader *, const struct yaml_node *list,
    uint32_t sandbox);
/* Once all sandboxes are read: that none has such an address as a source.
 * 0 or -EINVAL. */
int edge_listeners_end(struct edge_reader *, const struct yaml_node *sandboxes);
/* Sandboxes get other numbers, by place. */
void edge_listeners_renumber(struct edge_config *, const uint32_t *numbers);

#endif
