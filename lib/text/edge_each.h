/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edge_each - sandboxes of which the file gives prefixes: with `each: true`
 * every address of them is a sandbox of its own, a member.
 *
 * Such a sandbox has a number and a policy, but no source: nothing is opened
 * to itself. Members are attached as they are first heard of (edge_attach)
 * and are named after it, such as runners/10.200.8.7.
 */
#ifndef LIB_TEXT_EDGE_EACH_H
#define LIB_TEXT_EDGE_EACH_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/text/edge_policies.h"
#include "lib/text/edge_text.h"

/* Reads the prefixes of a sandbox whose name is known. Parts of edge_text;
 * nobody else calls them. 0 or -EINVAL. */
int edge_each_read(struct edge_reader *, const struct yaml_node *map,
    struct edge_sandbox *);
/* Once all sandboxes are read: that no address of a prefix is another's. */
int edge_each_end(struct edge_reader *, const struct yaml_node *sandboxes);
/* For attach.prefixes: the number of one that has part of a prefix, or 0. */
uint32_t edge_each_overlapping(const struct edge_config *,
    const struct prefix *);

/* Whether an address is in the prefixes of this sandbox. */
bool edge_each_covers(const struct edge_sandbox *, const struct addr *);
/* The number of the one that an address is in, or 0. */
uint32_t edge_each_of(const struct edge_config *, const struct addr *);
/* Whether any sandbox has members. */
bool edge_each_any(const struct edge_config *);
/* Members' name; never cut, as the sandbox's is short enough. */
void edge_each_name(const struct edge_sandbox *, const struct addr *,
    char ret[EDGE_NAME_MAX]);
/* The first address that a member can have: where routes are asked for. */
struct addr edge_each_first(const struct prefix *);

#endif
