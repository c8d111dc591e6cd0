/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * apex - where the public part of a name ends.
 *
 * A suffix is looked for by the hash of each ancestor, from the right, no
 * deeper than the deepest rule; nothing is walked that a client could make
 * long.
 */
#include "lib/apex.h"

#include <string.h>

#include "lib/require.h"

#define APEX_KEY_SIZE 16

void
apex_table_init(struct apex_table *table, struct arena *arena,
    uint32_t rules_max, const uint8_t secret[16])
{
	table_init(&table->rules, arena, rules_max, APEX_KEY_SIZE, secret);
	table->kinds = arena_take(arena, rules_max, sizeof(*table->kinds));
	table->labels_max = 0;
	memcpy(table->secret, secret, sizeof(table->secret));
}

bool
apex_table_add(struct apex_table *table, const struct dname *suffix,
    enum apex_rule rule)
{
	uint8_t key[APEX_KEY_SIZE];
	uint32_t slot;
	bool is_new;

	dname_hash(suffix, table->secret, key);
	slot = table_claim(&table->rules, key, &is_new);
	if (slot == TABLE_NONE)
		return false;
	if (is_new)
		table->kinds[slot] = 0;
	table->kinds[slot] = (uint8_t)(table->kinds[slot] | rule);
	if (suffix->labels > table->labels_max)
		table->labels_max = suffix->labels;
	return true;
}

static uint8_t
kinds_at(const struct apex_table *table, const struct dname *name,
    uint8_t labels)
{
	struct dname suffix = dname_suffix(name, labels);
	uint8_t key[APEX_KEY_SIZE];
	uint32_t slot;

	dname_hash(&suffix, table->secret, key);
	slot = table_find(&table->rules, key);
	return slot == TABLE_NONE ? 0 : table->kinds[slot];
}

uint8_t
apex_suffix_labels(const struct apex_table *table, const struct dname *name)
{
	uint8_t found = name->labels > 0 ? 1 : 0; /* the rule "*" */
	uint8_t labels, kinds;

	for (labels = 1; labels <= name->labels; labels++) {
		if (labels > table->labels_max)
			break;
		kinds = kinds_at(table, name, labels);
		if ((kinds & APEX_EXCEPTION) != 0)
			return (uint8_t)(labels - 1);
		if ((kinds & APEX_NORMAL) != 0 && labels > found)
			found = labels;
		if ((kinds & APEX_WILDCARD) != 0 && name->labels > labels)
			found = (uint8_t)(labels + 1);
	}
	return found;
}

uint8_t
apex_labels(const struct apex_table *table, const struct dname *name)
{
	uint8_t labels = apex_suffix_labels(table, name);

	return name->labels > labels ? (uint8_t)(labels + 1) : name->labels;
}
