/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy_rig - small policies for tests.
 *
 * Rules are written as in a policy, with a sign in front: "-" denies, "+"
 * stands in the policy that is used, "t:" allows TXT alone. The policies are
 * base, agent (refused, code; uses base) and other.
 */
#ifndef TESTS_UNIT_POLICY_RIG_H
#define TESTS_UNIT_POLICY_RIG_H

#include <check.h>

#include "lib/policy.h"

enum rig_terms {
	TERMS_WEB,
	TERMS_TXT,
	TERMS_COUNT
};
enum rig_profile {
	BASE,
	AGENT,
	OTHER
};
enum rig_sandbox {
	BOX4 = 1,
	BOX6,
	BOX46,
	BOX_OTHER
};

struct rig {
	struct policy policy;
	void *block;
};

extern const struct policy_limits RIG_SMALL;

struct dname rig_name(const char *text);
struct addr rig_addr(const char *text);
/* A policy with profiles, sandboxes and terms, to be given rules. */
void rig_open(struct rig *, const struct policy_limits *);
void rig_close(struct rig *);
enum policy_error rig_add_rule(struct policy *, const char *text, size_t len,
    uint32_t line);
/* Adds rules that blanks separate. */
void rig_add_rules(struct policy *, const char *rules);
void rig_seal(struct rig *, const char *rules);
struct verdict rig_match(const struct rig *, uint32_t sandbox, const char *name,
    uint16_t type);
/* Adds the tests of limits, of many rules, and of random ones. */
void policy_bulk_add(TCase *);

#endif
