/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edge_policies - policies as the guard of the kernel sees them.
 *
 * A part of edge_text; nobody else calls it.
 */
#ifndef LIB_TEXT_EDGE_POLICIES_H
#define LIB_TEXT_EDGE_POLICIES_H

#include <stdint.h>

#include "lib/text/edge_text.h"

/* A configuration while it is read. */
struct edge_reader {
	struct edge_config *config; /* settings are filled */
	const char *file;
	const struct yaml_node *root;
	struct text_error *error;
};

/* Fills policies and lists of the configuration. 0, -EINVAL or -ENOMEM. */
int edge_policies_read(struct edge_reader *);
/* The policy that a node names; -EINVAL when there is none. */
int edge_policy_find(struct edge_reader *, const struct yaml_node *,
    uint32_t *ret);

#endif
