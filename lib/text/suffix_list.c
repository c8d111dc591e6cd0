/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * suffix_list - whether a wildcard lets in whoever registers a name.
 */
#include "lib/text/suffix_list.h"

#include <stdlib.h>

#include "lib/policy.h"

static int
compare_suffixes(const void *a, const void *b)
{
	const struct suffix_entry *x = a, *y = b;

	return dname_compare(&x->name, &y->name);
}

void
suffix_list_sort(struct suffix_list *list)
{
	qsort(list->entries, list->count, sizeof(*list->entries),
	    compare_suffixes);
}

/* The first suffix rule that makes a suffix of a name strictly below this one:
 * one of a name below, other than an exception, or a wildcard of the name
 * itself. Names below another follow it at once in canonical order. */
static const struct suffix_entry *
suffix_below(const struct suffix_list *list, const struct dname *name)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (dname_compare(&list->entries[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < list->count; low++) {
		const struct suffix_entry *entry = &list->entries[low];

		if (dname_equal(&entry->name, name)) {
			if (entry->rule == APEX_WILDCARD)
				return entry;
			continue;
		}
		if (!dname_is_below(&entry->name, name))
			return NULL;
		if (entry->rule != APEX_EXCEPTION)
			return entry;
	}
	return NULL;
}

enum suffix_width
suffix_width(const struct suffix_list *list, const struct apex_table *apex,
    const struct dname *name, char *ret_suffix)
{
	const struct suffix_entry *below;

	if (apex_suffix_labels(apex, name) >= name->labels) {
		dname_print(name, ret_suffix);
		return SUFFIX_AT;
	}
	below = suffix_below(list, name);
	if (below == NULL)
		return SUFFIX_NARROW;
	policy_rule_print(below->rule == APEX_WILDCARD ? RULE_CHILD
						       : RULE_EXACT,
	    &below->name, ret_suffix);
	return SUFFIX_ABOVE;
}
