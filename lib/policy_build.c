/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy_build - from rules in the order of the file to a sealed policy.
 *
 * Rules are only stored as they come; sealing sorts them and links every
 * place to the nearest ancestor before it and to the next rule that allows.
 * Everything has its room from the start: a policy that was measured with the
 * right limits cannot fail but for equal rules.
 */
#include <string.h>

#include "lib/policy.h"
#include "lib/policy_places.h"
#include "lib/require.h"

void
policy_builder_init(struct policy *policy, struct arena *arena,
    const struct policy_limits *limits, const uint8_t secret[16])
{
	uint32_t rules = limits->rules_max;
	uint32_t sources = limits->sandboxes_max * POLICY_SOURCES_MAX;

	memset(policy, 0, sizeof(*policy));
	policy->limits = *limits;
	if (policy->limits.name_octets_max == 0)
		policy->limits.name_octets_max = rules * DNS_NAME_MAX;
	policy->entries = arena_take(arena, rules, sizeof(*policy->entries));
	policy->names = arena_take(arena, policy->limits.name_octets_max, 1);
	policy->order = arena_take(arena, rules, sizeof(*policy->order));
	policy->above = arena_take(arena, rules, sizeof(*policy->above));
	policy->next_allow =
	    arena_take(arena, rules, sizeof(*policy->next_allow));
	policy->terms =
	    arena_take(arena, limits->terms_max, sizeof(*policy->terms));
	policy->profiles =
	    arena_take(arena, limits->profiles_max, sizeof(*policy->profiles));
	policy->profile_start = arena_take(arena,
	    (size_t)limits->profiles_max + 1, sizeof(*policy->profile_start));
	policy->sandboxes = arena_take(arena, limits->sandboxes_max,
	    sizeof(*policy->sandboxes));
	policy->files =
	    arena_take(arena, limits->files_max, sizeof(*policy->files));
	table_init(&policy->sources, arena, sources, POLICY_SOURCE_KEY_SIZE,
	    secret);
	policy->source_sandbox =
	    arena_take(arena, sources, sizeof(*policy->source_sandbox));
	apex_table_init(&policy->apex, arena, limits->suffixes_max, secret);
	policy->withdrawn =
	    arena_take(arena, POLICY_WITHDRAWN_MAX, sizeof(*policy->withdrawn));
}

enum policy_error
policy_builder_file(struct policy *policy, const char *path,
    uint32_t *ret_index)
{
	char *file = policy->files[policy->file_count];
	size_t i;

	if (policy->file_count == policy->limits.files_max)
		return POLICY_FULL;
	for (i = 0; i < sizeof(policy->files[0]); i++) {
		file[i] = path[i];
		if (path[i] != '\0')
			continue;
		*ret_index = policy->file_count++;
		return POLICY_OK;
	}
	return POLICY_FULL;
}

enum policy_error
policy_builder_profile(struct policy *policy,
    const struct policy_profile *profile, uint32_t *ret_index)
{
	uint32_t i;

	REQUIRE(profile->use_count <= POLICY_USE_MAX);
	for (i = 0; i < policy->profile_count; i++) {
		if (policy_text_equal(policy->profiles[i].name, profile->name))
			return POLICY_NAME_TAKEN;
	}
	if (policy->profile_count == policy->limits.profiles_max)
		return POLICY_FULL;
	policy->profiles[policy->profile_count] = *profile;
	*ret_index = policy->profile_count++;
	return POLICY_OK;
}

enum policy_error
policy_builder_terms(struct policy *policy, const struct policy_terms *terms,
    uint32_t *ret_index)
{
	REQUIRE(terms->service_count <= RULE_SERVICES_MAX);
	REQUIRE(terms->private_count <= RULE_PRIVATE_MAX);
	REQUIRE(terms->addr_count <= RULE_ADDRS_MAX);
	if (policy->term_count == policy->limits.terms_max)
		return POLICY_FULL;
	policy->terms[policy->term_count] = *terms;
	*ret_index = policy->term_count++;
	return POLICY_OK;
}

enum policy_error
policy_builder_rule(struct policy *policy, uint32_t profile,
    const struct policy_rule *rule)
{
	size_t len = (size_t)rule->name.len - 1;
	size_t room = policy->limits.name_octets_max - policy->names_used;
	struct policy_entry *entry;

	REQUIRE(!policy->sealed);
	REQUIRE(profile < policy->profile_count);
	REQUIRE(rule->deny || rule->terms < policy->term_count);
	if (policy->rule_count == policy->limits.rules_max || room < len)
		return POLICY_FULL;
	entry = &policy->entries[policy->rule_count++];
	entry->name = policy->names_used;
	entry->profile = profile;
	entry->terms = rule->terms;
	entry->file = rule->file;
	entry->line = rule->line;
	entry->column = rule->column;
	entry->len = (uint8_t)len;
	entry->labels = rule->name.labels;
	entry->kind = (uint8_t)rule->kind;
	entry->deny = rule->deny;
	policy_reverse(rule->name.wire, len, policy->names + entry->name);
	policy->names_used += (uint32_t)len;
	return POLICY_OK;
}

bool
policy_take_sources(struct policy *policy, uint32_t number)
{
	struct policy_sandbox *sandbox = &policy->sandboxes[number - 1];
	uint8_t key[POLICY_SOURCE_KEY_SIZE], i;
	uint32_t slot;
	bool is_new;

	sandbox->has4 = sandbox->members4;
	sandbox->has6 = sandbox->members6;
	for (i = 0; i < sandbox->source_count; i++) {
		policy_source_key(&sandbox->sources[i], key);
		slot = table_claim(&policy->sources, key, &is_new);
		if (slot == TABLE_NONE || !is_new)
			return false;
		policy->source_sandbox[slot] = number;
		if (sandbox->sources[i].family == 4)
			sandbox->has4 = true;
		else
			sandbox->has6 = true;
	}
	return true;
}

enum policy_error
policy_builder_sandbox(struct policy *policy,
    const struct policy_sandbox *sandbox)
{
	struct policy_sandbox *kept;

	REQUIRE(sandbox->source_count <= POLICY_SOURCES_MAX);
	REQUIRE(sandbox->profile < policy->profile_count);
	if (policy_sandbox_by_name(policy, sandbox->name) != 0)
		return POLICY_NAME_TAKEN;
	if (policy->sandbox_count == policy->limits.sandboxes_max)
		return POLICY_FULL;
	kept = &policy->sandboxes[policy->sandbox_count++];
	*kept = *sandbox;
	return policy_take_sources(policy, policy->sandbox_count)
	    ? POLICY_OK
	    : POLICY_NAME_TAKEN;
}

/* The order of two rules by key, kind and deny; 0: they are equal. */
static int
compare_rules(const struct policy *policy, uint32_t first, uint32_t second)
{
	const struct policy_entry *a = &policy->entries[first];
	const struct policy_entry *b = &policy->entries[second];
	int order;

	order = policy_compare_keys(policy_key(policy, a), a->len,
	    policy_key(policy, b), b->len);
	if (order != 0)
		return order;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return (int)a->deny - (int)b->deny;
}

/* Groups the rules by profile, in the order in which they were added. */
static void
group_by_profile(struct policy *policy)
{
	uint32_t *start = policy->profile_start;
	uint32_t i, profiles = policy->profile_count;

	memset(start, 0, ((size_t)profiles + 1) * sizeof(*start));
	for (i = 0; i < policy->rule_count; i++)
		start[policy->entries[i].profile + 1]++;
	for (i = 0; i < profiles; i++)
		start[i + 1] += start[i];
	for (i = 0; i < policy->rule_count; i++)
		policy->order[start[policy->entries[i].profile]++] = i;
	/* Each start has moved to the next one's place. */
	for (i = profiles; i > 0; i--)
		start[i] = start[i - 1];
	start[0] = 0;
}

/* Merges order[start, middle) and order[middle, end) into `above`, which is
 * not in use yet. */
static void
merge(struct policy *policy, uint32_t start, uint32_t middle, uint32_t end)
{
	const uint32_t *order = policy->order;
	uint32_t left = start, right = middle, i;

	for (i = start; i < end; i++) {
		if (right == end ||
		    (left < middle &&
			compare_rules(policy, order[left], order[right]) <= 0))
			policy->above[i] = order[left++];
		else
			policy->above[i] = order[right++];
	}
}

static uint32_t
smaller(uint64_t a, uint32_t b)
{
	return a < b ? (uint32_t)a : b;
}

/* A merge sort from the bottom up: no recursion, and stable. */
static void
sort_places(struct policy *policy, uint32_t start, uint32_t end)
{
	uint64_t width, at;

	for (width = 1; width < end - start; width *= 2) {
		for (at = start; at < end; at += 2 * width)
			merge(policy, (uint32_t)at, smaller(at + width, end),
			    smaller(at + 2 * width, end));
		memcpy(policy->order + start, policy->above + start,
		    (end - start) * sizeof(*policy->order));
	}
}

static bool
is_prefix(const struct policy *policy, uint32_t place, uint32_t of)
{
	const struct policy_entry *a = policy_entry_at(policy, place);
	const struct policy_entry *b = policy_entry_at(policy, of);

	return a->len <= b->len &&
	    memcmp(policy_key(policy, a), policy_key(policy, b), a->len) == 0;
}

/* Links every place to the next one that allows. */
static void
link_allows(struct policy *policy, uint32_t start, uint32_t end)
{
	uint32_t place, allow = POLICY_NONE;

	for (place = end; place > start; place--) {
		if (policy_entry_allows(policy,
			policy_entry_at(policy, place - 1)))
			allow = place - 1;
		policy->next_allow[place - 1] = allow;
	}
}

/* And to the nearest one before it whose key is the same or an ancestor's. */
static void
link_places(struct policy *policy, uint32_t start, uint32_t end)
{
	uint32_t place, above;

	for (place = start; place < end; place++) {
		above = place > start ? place - 1 : POLICY_NONE;
		while (above != POLICY_NONE && !is_prefix(policy, above, place))
			above = policy->above[above];
		policy->above[place] = above;
	}
	link_allows(policy, start, end);
}

static enum policy_error
name_equal_rules(uint32_t a, uint32_t b, uint32_t *ret_first,
    uint32_t *ret_second)
{
	*ret_first = a < b ? a : b;
	*ret_second = a < b ? b : a;
	return POLICY_EQUAL;
}

/* The place of a rule equal to this one in another profile. */
static uint32_t
find_equal(const struct policy *policy, uint32_t profile, uint32_t rule)
{
	uint32_t low = policy->profile_start[profile];
	uint32_t high = policy->profile_start[profile + 1];
	uint32_t middle;
	int order;

	while (low < high) {
		middle = low + (high - low) / 2;
		order = compare_rules(policy, policy->order[middle], rule);
		if (order == 0)
			return middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return POLICY_NONE;
}

static enum policy_error
check_pair(const struct policy *policy, uint32_t a, uint32_t b,
    uint32_t *ret_first, uint32_t *ret_second)
{
	const uint32_t *start = policy->profile_start;
	uint32_t swap, place, found;

	if (start[a + 1] - start[a] > start[b + 1] - start[b]) {
		swap = a;
		a = b;
		b = swap;
	}
	for (place = start[a]; place < start[a + 1]; place++) {
		found = find_equal(policy, b, policy->order[place]);
		if (found != POLICY_NONE)
			return name_equal_rules(policy->order[place],
			    policy->order[found], ret_first, ret_second);
	}
	return POLICY_OK;
}

/* Equal rules in one profile, then between it and all that it uses. */
static enum policy_error
check_profile(const struct policy *policy, uint32_t profile,
    uint32_t *ret_first, uint32_t *ret_second)
{
	uint32_t end = policy->profile_start[profile + 1];
	uint32_t place, i, j, a, b;
	enum policy_error error = POLICY_OK;

	for (place = policy->profile_start[profile] + 1; place < end; place++) {
		a = policy->order[place - 1];
		b = policy->order[place];
		if (compare_rules(policy, a, b) == 0)
			return name_equal_rules(a, b, ret_first, ret_second);
	}
	for (i = 1; i <= policy->profiles[profile].use_count; i++) {
		a = policy_used_profile(policy, profile, i);
		for (j = 0; a != POLICY_NONE && j < i; j++) {
			b = policy_used_profile(policy, profile, j);
			if (b != POLICY_NONE)
				error = check_pair(policy, a, b, ret_first,
				    ret_second);
			if (error != POLICY_OK)
				return error;
		}
	}
	return POLICY_OK;
}

/* How many exact names each policy allows, with those that it uses. */
static void
count_exact(struct policy *policy)
{
	for (uint32_t i = 0; i < policy->profile_count; i++)
		policy->profiles[i].exact_own = 0;
	for (uint32_t rule = 0; rule < policy->rule_count; rule++) {
		const struct policy_entry *entry = &policy->entries[rule];

		if (!entry->deny && entry->kind == RULE_EXACT)
			policy->profiles[entry->profile].exact_own++;
	}
	for (uint32_t i = 0; i < policy->profile_count; i++) {
		struct policy_profile *profile = &policy->profiles[i];

		profile->exact_count = profile->exact_own;
		for (uint32_t use = 0; use < profile->use_count; use++)
			profile->exact_count +=
			    policy->profiles[profile->use[use]].exact_own;
	}
}

/* A rule is asked on our own clock when any policy that has it says so. */
static void
mark_scheduled(struct policy *policy)
{
	for (uint32_t i = 0; i < policy->profile_count; i++) {
		struct policy_profile *profile = &policy->profiles[i];

		if (profile->refresh != REFRESH_SCHEDULED)
			continue;
		profile->feeds_schedule = true;
		for (uint32_t use = 0; use < profile->use_count; use++)
			policy->profiles[profile->use[use]].feeds_schedule =
			    true;
	}
}

enum policy_error
policy_builder_seal(struct policy *policy, uint32_t *ret_first,
    uint32_t *ret_second)
{
	const uint32_t *start = policy->profile_start;
	enum policy_error error;
	uint32_t i, use;

	REQUIRE(!policy->sealed);
	group_by_profile(policy);
	for (i = 0; i < policy->profile_count; i++) {
		for (use = 0; use < policy->profiles[i].use_count; use++)
			REQUIRE(policy->profiles[i].use[use] <
			    policy->profile_count);
		sort_places(policy, start[i], start[i + 1]);
		link_places(policy, start[i], start[i + 1]);
	}
	for (i = 0; i < policy->profile_count; i++) {
		error = check_profile(policy, i, ret_first, ret_second);
		if (error != POLICY_OK)
			return error;
	}
	mark_scheduled(policy);
	count_exact(policy);
	policy->sealed = true;
	return POLICY_OK;
}

bool
policy_expire_rules(struct policy *policy, uint64_t wall_ms,
    uint64_t *ret_next_ms)
{
	const uint32_t *start = policy->profile_start;
	uint64_t next_ms = POLICY_NO_DATE;
	bool changed = false;
	uint32_t i;

	REQUIRE(policy->sealed);
	for (i = 0; i < policy->term_count; i++) {
		struct policy_terms *terms = &policy->terms[i];
		uint64_t until_ms = terms->until_wall_ms;
		bool expired = until_ms != 0 && until_ms <= wall_ms;

		changed = changed || expired != terms->expired;
		terms->expired = expired;
		if (until_ms > wall_ms && until_ms < next_ms)
			next_ms = until_ms;
	}
	for (i = 0; changed && i < policy->profile_count; i++)
		link_allows(policy, start[i], start[i + 1]);
	*ret_next_ms = next_ms;
	return changed;
}
