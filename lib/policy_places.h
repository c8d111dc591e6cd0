/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy_places - what building and matching of a policy share; of no use to
 * anybody else.
 *
 * A rule's name is kept as a key: its wire labels from the right, without the
 * root. Then an ancestor's key is a prefix of its descendants' keys, and in
 * the order of keys all descendants follow their ancestor at once. A place is
 * an index into that order, profile by profile.
 */
#ifndef LIB_POLICY_PLACES_H
#define LIB_POLICY_PLACES_H

#include <string.h>

#include "lib/policy.h"
#include "lib/require.h"

#define POLICY_SOURCE_KEY_SIZE 17

static inline const struct policy_entry *
policy_entry_at(const struct policy *policy, uint32_t place)
{
	return &policy->entries[policy->order[place]];
}

static inline const uint8_t *
policy_key(const struct policy *policy, const struct policy_entry *entry)
{
	return policy->names + entry->name;
}

/* Whether a rule allows, now. */
static inline bool
policy_entry_allows(const struct policy *policy,
    const struct policy_entry *entry)
{
	return !entry->deny && !policy->terms[entry->terms].expired;
}

/* Turns the order of labels around; the same for both directions. */
static inline void
policy_reverse(const uint8_t *labels, size_t len, uint8_t *ret)
{
	size_t from = 0, size;

	while (from < len) {
		size = (size_t)labels[from] + 1;
		REQUIRE(size <= len - from);
		memcpy(ret + len - from - size, labels + from, size);
		from += size;
	}
}

static inline int
policy_compare_keys(const uint8_t *a, size_t a_len, const uint8_t *b,
    size_t b_len)
{
	int order = memcmp(a, b, a_len < b_len ? a_len : b_len);

	if (order != 0)
		return order;
	return (a_len > b_len) - (a_len < b_len);
}

static inline bool
policy_text_equal(const char *a, const char *b)
{
	while (*a != '\0' && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static inline void
policy_source_key(const struct addr *addr, uint8_t key[POLICY_SOURCE_KEY_SIZE])
{
	key[0] = addr->family;
	memcpy(key + 1, addr->bytes, sizeof(addr->bytes));
}

/* Enters the sources of a sandbox, with the families that it has; false: one
 * is taken (policy_build.c). */
bool policy_take_sources(struct policy *, uint32_t number);

/* Whether an allowing rule is withdrawn, for a sandbox. */
static inline bool
policy_is_withdrawn(const struct policy *policy,
    const struct policy_sandbox *sandbox, uint32_t rule)
{
	const struct policy_entry *entry = &policy->entries[rule];
	uint8_t key[DNS_NAME_MAX];
	uint32_t i;

	for (i = 0; i < policy->withdrawn_count; i++) {
		const struct policy_withdrawal *it = &policy->withdrawn[i];

		if (it->kind != (enum rule_kind)entry->kind ||
		    it->name.len != entry->len + 1 ||
		    (it->sandbox[0] != '\0' &&
			!policy_text_equal(it->sandbox, sandbox->name)))
			continue;
		policy_reverse(it->name.wire, entry->len, key);
		if (memcmp(key, policy_key(policy, entry), entry->len) == 0)
			return true;
	}
	return false;
}

/* The profile itself (0) and those that it uses. POLICY_NONE: one that was
 * there already. */
static inline uint32_t
policy_used_profile(const struct policy *policy, uint32_t profile,
    uint32_t index)
{
	const struct policy_profile *it = &policy->profiles[profile];
	uint32_t i;

	if (index == 0)
		return profile;
	for (i = 0; i + 1 < index; i++) {
		if (it->use[i] == it->use[index - 1])
			return POLICY_NONE;
	}
	return it->use[index - 1] == profile ? POLICY_NONE : it->use[index - 1];
}

#endif
