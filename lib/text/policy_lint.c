/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy_lint - what is allowed in a configuration and still worth a word.
 *
 * A warning says what follows from a line, not that the line is wrong; a rule
 * takes one knowingly by naming it in `accept`.
 */
#include "lib/text/policy_lint.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMPARISONS_MAX 10000000

void
policy_warn(struct config *config, const char *file, uint32_t line,
    uint32_t column, const char *format, ...)
{
	struct text_error *warning;
	va_list args;

	if (config->warning_count == CONFIG_WARNINGS_MAX)
		return;
	warning = &config->warnings[config->warning_count++];
	snprintf(warning->file, sizeof(warning->file), "%s", file);
	warning->line = line;
	warning->column = column;
	va_start(args, format);
	vsnprintf(warning->reason, sizeof(warning->reason), format, args);
	va_end(args);
}

static void
warn_at(struct config *config, const struct yaml_node *node, const char *reason)
{
	policy_warn(config, node->file, node->line, node->column, "%s", reason);
}

static void
lint_denial(struct config *config, const struct yaml_node *map)
{
	const struct yaml_node *denial = yaml_tree_get(map, "denial");

	if (denial == NULL)
		return;
	if (strcmp(denial->text, "refused") == 0)
		warn_at(config, denial,
		    "REFUSED makes clients with musl wait 5 seconds for each "
		    "denied name; nxdomain does not");
	if (strcmp(denial->text, "nodata") == 0)
		warn_at(config, denial,
		    "NODATA ends the search lists of clients with musl at the "
		    "first denied name; nxdomain does not");
}

static void
lint_mode(struct config *config, const struct yaml_node *map)
{
	const struct yaml_node *mode = yaml_tree_get(map, "mode");

	if (mode != NULL && strcmp(mode->text, "audit") == 0)
		warn_at(config, mode,
		    "in audit nothing is bounded: every name is asked, and "
		    "whatever is not protected can be reached; enforce ends "
		    "it");
}

static bool
is_used(const struct config *config, const struct rule_set *set,
    uint32_t policy)
{
	for (size_t i = 0; i < config->edge->sandbox_count; i++)
		if (config->edge->sandboxes[i].policy == policy)
			return true;
	for (size_t i = 0; i < set->profile_count; i++)
		for (size_t j = 0; j < set->profiles[i].use_count; j++)
			if (set->profiles[i].use[j] == policy)
				return true;
	return false;
}

static void
lint_ports(struct config *config, const struct rule_set *set,
    const struct pending_rule *pending)
{
	const struct policy_rule *rule = &pending->rule;
	const struct policy_terms *terms = &set->terms[rule->terms];

	if (rule->deny || (pending->accept & ACCEPT_DNS_PORT) != 0)
		return;
	for (size_t i = 0; i < terms->service_count; i++) {
		uint16_t port = terms->services[i].port;

		if (port != 53 && port != 853)
			continue;
		policy_warn(config, set->files[rule->file], rule->line,
		    rule->column,
		    "port %u leads to a resolver that this program does not "
		    "govern [dns-port]",
		    (unsigned)port);
		return;
	}
}

/* Whether a rule that denies leaves nothing of one that allows. */
static bool
covers(const struct policy_rule *deny, const struct policy_rule *allow)
{
	bool same = dname_equal(&deny->name, &allow->name);

	switch (deny->kind) {
	case RULE_EXACT:
		return allow->kind == RULE_EXACT && same;
	case RULE_CHILD:
		return (allow->kind == RULE_CHILD && same) ||
		    (allow->kind == RULE_EXACT &&
			allow->name.labels == deny->name.labels + 1 &&
			dname_is_below(&allow->name, &deny->name));
	case RULE_BELOW:
		return (allow->kind != RULE_EXACT && same) ||
		    dname_is_below(&allow->name, &deny->name);
	}
	return false;
}

/* Looks for what denies an allowed name among the rules that deny, which
 * stand at `denies`. */
static void
lint_denied(struct config *config, const struct rule_set *set,
    const uint32_t *denies, size_t count, const struct pending_rule *allow)
{
	const struct policy_rule *rule = &allow->rule;
	char text[DNAME_TEXT_MAX];

	if (rule->deny || (allow->accept & ACCEPT_DENIED) != 0)
		return;
	for (size_t i = 0; i < count; i++) {
		const struct pending_rule *deny = &set->rules[denies[i]];

		if (deny->profile != allow->profile ||
		    !covers(&deny->rule, rule))
			continue;
		policy_rule_print(rule->kind, &rule->name, text);
		policy_warn(config, set->files[rule->file], rule->line,
		    rule->column,
		    "\"%s\" allows nothing: %s:%u denies it [denied]", text,
		    set->files[deny->rule.file], (unsigned)deny->rule.line);
		return;
	}
}

/* Rules one by one, and each that allows against those that deny, where that
 * is not too much. A warning less is no reason to refuse a file. */
static void
lint_rules(struct config *config, const struct rule_set *set)
{
	uint32_t *denies = calloc(set->rule_count + 1, sizeof(*denies));
	size_t count = 0;

	for (uint32_t i = 0; denies != NULL && i < set->rule_count; i++)
		if (set->rules[i].rule.deny)
			denies[count++] = i;
	if (count * set->rule_count > COMPARISONS_MAX)
		count = 0;
	for (size_t i = 0; i < set->rule_count; i++) {
		lint_ports(config, set, &set->rules[i]);
		lint_denied(config, set, denies, count, &set->rules[i]);
	}
	free(denies);
}

void
policy_lint(struct config *config, const struct yaml_node *root,
    const struct rule_set *set)
{
	const struct yaml_node *policies = yaml_tree_get(root, "policies");
	const struct yaml_node *map = policies != NULL ? policies->first : NULL;

	for (uint32_t i = 0; i < set->profile_count; i++, map = map->next) {
		lint_denial(config, map);
		lint_mode(config, map);
		if (!is_used(config, set, i))
			policy_warn(config, map->file, map->key->line,
			    map->key->column,
			    "no sandbox has the policy \"%s\", and none uses "
			    "it",
			    map->key->text);
	}
	lint_rules(config, set);
}
