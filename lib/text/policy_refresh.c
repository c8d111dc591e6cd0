/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy_refresh - see policy_refresh.h.
 */
#include "lib/text/policy_refresh.h"

#include "lib/text/policy_lint.h"
#include "lib/text/values.h"

int
policy_refresh_read(const char *file, const struct yaml_node *map,
    enum refresh *ret, struct text_error *ret_error)
{
	static const char *const words[] = { "on-demand", "scheduled", NULL };
	const struct yaml_node *node = yaml_tree_get(map, "refresh");
	size_t index = 0;
	int status;

	*ret = REFRESH_UNSAID;
	if (node == NULL)
		return 0;
	status = value_choice(file, node, words, &index, ret_error);
	if (status == 0)
		*ret = index == 0 ? REFRESH_ON_DEMAND : REFRESH_SCHEDULED;
	return status;
}

/* How many lookups an exact rule stands for. */
static size_t
lookups_of(const struct rule_set *set, const struct pending_rule *pending)
{
	const struct policy_terms *terms = &set->terms[pending->rule.terms];
	const uint16_t pair = RULE_TYPE_A | RULE_TYPE_AAAA;
	size_t count = (terms->types & pair) != 0 ? 1 : 0;

	if (pending->rule.deny || pending->rule.kind != RULE_EXACT ||
	    terms->addr_count > 0)
		return 0;
	for (uint16_t bits = terms->types & (uint16_t)~pair; bits != 0;
	     bits &= (uint16_t)(bits - 1))
		count++;
	return count;
}

/* Whether a policy, or one that uses it, is scheduled once those that say
 * nothing are what is given here. */
static bool
is_scheduled(const struct rule_set *set, uint32_t policy, bool unsaid)
{
	for (size_t i = 0; i < set->profile_count; i++) {
		const struct policy_profile *profile = &set->profiles[i];
		bool has = i == policy;

		for (size_t j = 0; j < profile->use_count; j++)
			has = has || profile->use[j] == policy;
		if (has &&
		    (profile->refresh == REFRESH_SCHEDULED ||
			(profile->refresh == REFRESH_UNSAID && unsaid)))
			return true;
	}
	return false;
}

static size_t
count_names(const struct rule_set *set, bool unsaid)
{
	uint32_t policy = POLICY_NONE;
	bool scheduled = false;
	size_t count = 0;

	for (size_t i = 0; i < set->rule_count; i++) {
		/* Rules of a policy stand together. */
		if (set->rules[i].profile != policy) {
			policy = set->rules[i].profile;
			scheduled = is_scheduled(set, policy, unsaid);
		}
		if (scheduled)
			count += lookups_of(set, &set->rules[i]);
	}
	return count;
}

int
policy_refresh_settle(struct config *config, const struct rule_input *input,
    struct rule_set *set, struct text_error *ret_error)
{
	const struct yaml_node *policies =
	    yaml_tree_get(input->root, "policies");
	size_t most = config->edge->settings.limits.scheduled_names;
	size_t said = count_names(set, false), all = count_names(set, true);
	bool fits = all <= most;

	if (said > most)
		return text_error_at(ret_error, input->file, policies,
		    "%zu exact names are scheduled and \"scheduled_names\" of "
		    "\"limits\" is %zu; raise it, or say \"refresh: "
		    "on-demand\"",
		    said, most);
	if (!fits)
		policy_warn(config, input->file, policies->line,
		    policies->column,
		    "%zu exact names are more than \"scheduled_names\" of "
		    "\"limits\", %zu: they are looked up when a sandbox asks, "
		    "so upstreams see which and when",
		    all, most);
	for (size_t i = 0; i < set->profile_count; i++)
		if (set->profiles[i].refresh == REFRESH_UNSAID)
			set->profiles[i].refresh =
			    fits ? REFRESH_SCHEDULED : REFRESH_ON_DEMAND;
	return 0;
}
