/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy_change - what may change in a sealed policy: who has it, and which
 * of its rules are withdrawn. The tables that match are never touched.
 */
#include <string.h>

#include "lib/policy.h"
#include "lib/policy_places.h"
#include "lib/require.h"

static bool
is_taken(const struct policy *policy, const struct policy_sandbox *sandbox)
{
	uint8_t i, j;

	if (policy_sandbox_by_name(policy, sandbox->name) != 0)
		return true;
	for (i = 0; i < sandbox->source_count; i++) {
		if (policy_sandbox_by_source(policy, &sandbox->sources[i]) != 0)
			return true;
		for (j = 0; j < i; j++) {
			if (addr_equal(&sandbox->sources[i],
				&sandbox->sources[j]))
				return true;
		}
	}
	return false;
}

enum policy_error
policy_attach(struct policy *policy, uint32_t number,
    const struct policy_sandbox *sandbox)
{
	REQUIRE(policy->sealed && sandbox->name[0] != '\0');
	REQUIRE(number > 0 && number <= policy->limits.sandboxes_max);
	REQUIRE(policy_sandbox(policy, number) == NULL);
	REQUIRE(sandbox->source_count <= POLICY_SOURCES_MAX);
	REQUIRE(sandbox->profile < policy->profile_count);
	if (is_taken(policy, sandbox))
		return POLICY_NAME_TAKEN;
	policy->sandboxes[number - 1] = *sandbox;
	/* As many places as all numbers can have sources: it cannot fail. */
	REQUIRE(policy_take_sources(policy, number));
	if (policy->sandbox_count < number)
		policy->sandbox_count = number;
	return POLICY_OK;
}

void
policy_detach(struct policy *policy, uint32_t number)
{
	struct policy_sandbox *sandbox;
	uint8_t key[POLICY_SOURCE_KEY_SIZE], i;
	uint32_t slot;

	REQUIRE(policy_sandbox(policy, number) != NULL);
	sandbox = &policy->sandboxes[number - 1];
	for (i = 0; i < sandbox->source_count; i++) {
		policy_source_key(&sandbox->sources[i], key);
		slot = table_find(&policy->sources, key);
		REQUIRE(slot != TABLE_NONE);
		table_drop(&policy->sources, slot);
	}
	memset(sandbox, 0, sizeof(*sandbox));
}

void
policy_assign(struct policy *policy, uint32_t number, uint32_t profile)
{
	REQUIRE(policy_sandbox(policy, number) != NULL);
	REQUIRE(profile < policy->profile_count);
	policy->sandboxes[number - 1].profile = profile;
}

enum policy_error
policy_withdraw(struct policy *policy, const struct policy_withdrawal *wanted)
{
	uint32_t i;

	for (i = 0; i < policy->withdrawn_count; i++) {
		const struct policy_withdrawal *it = &policy->withdrawn[i];

		if (it->kind == wanted->kind &&
		    dname_equal(&it->name, &wanted->name) &&
		    policy_text_equal(it->sandbox, wanted->sandbox))
			return POLICY_OK;
	}
	if (policy->withdrawn_count == POLICY_WITHDRAWN_MAX)
		return POLICY_FULL;
	policy->withdrawn[policy->withdrawn_count++] = *wanted;
	return POLICY_OK;
}

bool
policy_give_back(struct policy *policy, const char *sandbox)
{
	uint32_t i, kept = 0, before = policy->withdrawn_count;

	REQUIRE(sandbox[0] != '\0');
	for (i = 0; i < before; i++) {
		if (policy_text_equal(policy->withdrawn[i].sandbox, sandbox))
			continue;
		if (kept != i)
			policy->withdrawn[kept] = policy->withdrawn[i];
		kept++;
	}
	policy->withdrawn_count = kept;
	return kept != before;
}

static bool
has_profile(const struct policy *policy, uint32_t number, uint32_t profile)
{
	const struct policy_sandbox *sandbox = policy_sandbox(policy, number);
	uint32_t i;

	if (number == 0)
		return true;
	for (i = 0; i <= policy->profiles[sandbox->profile].use_count; i++) {
		if (policy_used_profile(policy, sandbox->profile, i) == profile)
			return true;
	}
	return false;
}

bool
policy_has_rule(const struct policy *policy, uint32_t number,
    enum rule_kind kind, const struct dname *name)
{
	uint8_t key[DNS_NAME_MAX], len = (uint8_t)(name->len - 1);
	uint32_t i;

	REQUIRE(number == 0 || policy_sandbox(policy, number) != NULL);
	policy_reverse(name->wire, len, key);
	for (i = 0; i < policy->rule_count; i++) {
		const struct policy_entry *entry = &policy->entries[i];

		if (!entry->deny && (enum rule_kind)entry->kind == kind &&
		    entry->len == len &&
		    memcmp(policy_key(policy, entry), key, len) == 0 &&
		    has_profile(policy, number, entry->profile))
			return true;
	}
	return false;
}

uint32_t
policy_next_wildcard(const struct policy *policy, uint32_t number,
    uint32_t from, uint32_t end)
{
	if (end > policy->rule_count)
		end = policy->rule_count;
	for (uint32_t i = from; i < end; i++) {
		const struct policy_entry *entry = &policy->entries[i];

		if ((enum rule_kind)entry->kind != RULE_EXACT &&
		    policy_entry_allows(policy, entry) &&
		    has_profile(policy, number, entry->profile))
			return i;
	}
	return RULE_NONE;
}
