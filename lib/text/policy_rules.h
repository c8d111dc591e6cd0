/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy_rules - the rules of all policies, in the order of the file.
 *
 * A part of policy_text: what is read here is compiled there.
 */
#ifndef LIB_TEXT_POLICY_RULES_H
#define LIB_TEXT_POLICY_RULES_H

#include "lib/policy.h"
#include "lib/text/policy_text.h"

/* Warnings that a rule may take knowingly, as bits. */
enum rule_accept {
	ACCEPT_DENIED = 1,
	ACCEPT_DNS_PORT = 2,
	ACCEPT_FORCE_UNNEEDED = 4
};

struct pending_rule {
	struct policy_rule rule;
	uint32_t profile;
	bool force;
	uint8_t accept; /* enum rule_accept bits */
};

/* Everything that a policy is built of, but for sandboxes. */
struct rule_set {
	struct policy_profile *profiles;
	size_t profile_count;
	struct policy_terms *terms;
	size_t term_count;
	struct pending_rule *rules;
	size_t rule_count;
	char (*files)[256]; /* [0] is the configuration */
	size_t file_count;
};

/* What is read, and by what it is completed. */
struct rule_input {
	const char *file;
	const struct yaml_node *root;
	const struct edge_config *edge;
	const struct text_file *files;
	size_t file_count;
};

/* *ret begins zeroed and is freed by the caller, also when this fails. 0,
 * -EINVAL or -ENOMEM. */
int policy_rules_read(struct rule_set *ret, const struct rule_input *,
    struct text_error *ret_error);
void policy_rules_free(struct rule_set *);

#endif
