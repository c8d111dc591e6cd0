/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edge_uploads - how much sandboxes may send: `upload` of a rule, of a policy
 * for its rules, and of a sandbox in sum.
 *
 * A rule with a quota is known by a number that follows from its text, so that
 * both programs, another file, and the next run mean the same rule by it. All
 * names of a list, or under a wildcard, share the quota of the rule.
 */
#ifndef LIB_TEXT_EDGE_UPLOADS_H
#define LIB_TEXT_EDGE_UPLOADS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/text/edge_text.h"
#include "lib/text/yaml_tree.h"

/* What stands for the sum over a sandbox where a rule is named. */
#define EDGE_UPLOAD_SUM 0

/* Reads `upload` of a map, if it is there: octets a day. 0 or -EINVAL. */
int edge_upload_read(const char *file, const struct yaml_node *map,
    uint64_t *ret, struct text_error *ret_error);
/* The number of a rule: of a name as it is written, or of a list. Never that
 * of the sum. */
uint64_t edge_upload_rule(const char *name, size_t len, bool list);
/* Adds a quota to a policy. Of one that is there the smaller one holds. 0 or
 * -ENOMEM. */
int edge_upload_insert(struct edge_policy *, const struct edge_upload *);
/* The quota of a rule of a policy; NULL: none. */
const struct edge_upload *edge_upload_find(const struct edge_policy *,
    uint64_t rule);
/* Whether every rule of a policy that names a service has a quota. */
bool edge_upload_covers(const struct edge_policy *, struct service);
/* Octets a day that go by a rule of a sandbox's policy, or in sum. 0: no quota,
 * no such sandbox, or an audit, which bounds nothing. */
uint64_t edge_upload_limit(const struct edge_config *, uint32_t sandbox,
    uint64_t rule);

#endif
