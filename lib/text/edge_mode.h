/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edge_mode - that the keys of a configuration are of its `nft.mode`.
 *
 * Where packets are judged by rules of the operator's, this program has no
 * rules of its own; a key that would need them is refused, not passed over.
 * A part of edge_text; nobody else calls it.
 */
#ifndef LIB_TEXT_EDGE_MODE_H
#define LIB_TEXT_EDGE_MODE_H

#include "lib/text/edge_policies.h"

/* 0 or -EINVAL. */
int edge_mode_check(struct edge_reader *);

#endif
