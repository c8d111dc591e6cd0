/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ranges - see ranges.h. An interval is an element at its first address and
 * one, marked as an end, behind its last; the last address of all has none
 * behind it.
 */
#include "config.h"

#include "src/helper/ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/helper/protected.h"

struct range {
	struct element first, behind;
	bool open; /* up to the last address of all */
};

static int
compare_elements(const void *a, const void *b)
{
	const struct member *left = a, *right = b;

	return memcmp(left->element.key, right->element.key,
	    sizeof(left->element.key));
}

static int
compare(const void *a, const void *b)
{
	const struct range *left = a, *right = b;
	int order =
	    memcmp(left->first.key, right->first.key, sizeof(left->first.key));

	if (order == 0)
		order = (int)left->open - (int)right->open;
	if (order == 0)
		order = memcmp(left->behind.key, right->behind.key,
		    sizeof(left->behind.key));
	return order;
}

/* Beginnings and ends take turns, as no interval touches another. */
static size_t
read_ranges(struct sync *there, struct range *ret)
{
	size_t count = 0;

	if (there->count > 0)
		qsort(there->there, there->count, sizeof(*there->there),
		    compare_elements);
	for (size_t i = 0; i < there->count; i++) {
		const struct element *element = &there->there[i].element;

		if (!element->interval_end)
			ret[count++] =
			    (struct range){ .first = *element, .open = true };
		else if (count > 0 && ret[count - 1].open) {
			ret[count - 1].behind = *element;
			ret[count - 1].open = false;
		}
	}
	return count;
}

static struct range
range_of(const struct interval *interval)
{
	struct range range = { .first = element_source(&interval->first) };

	range.behind = element_source(&interval->last);
	range.behind.interval_end = true;
	range.open = true;
	for (size_t i = range.behind.key_len; i-- > 0 && range.open;)
		range.open = ++range.behind.key[i] == 0;
	if (range.open)
		memset(&range.behind, 0, sizeof(range.behind));
	return range;
}

struct range_list {
	struct range *ranges; /* sorted */
	size_t count;
};

/* Those of one list that are not in the other. */
static void
put_missing(struct batch *batch, const char *set, bool adding,
    const struct range_list *of, const struct range_list *in)
{
	for (size_t i = 0; i < of->count; i++) {
		const struct range *range = &of->ranges[i];
		const struct element both[] = { range->first, range->behind };
		size_t elements = range->open ? 1 : 2;

		if (in->count > 0 &&
		    bsearch(range, in->ranges, in->count, sizeof(*range),
			compare) != NULL)
			continue;
		if (adding)
			elements_add(batch, set, both, elements);
		else
			elements_delete(batch, set, both, elements);
	}
}

int
ranges_put(struct batch *batch, const char *set, struct sync *there,
    const struct protected_ranges *ranges, uint8_t family)
{
	struct range_list have = { .count = 0 }, want = { .count = 0 };
	struct interval *intervals = NULL;
	int error =
	    protected_intervals(ranges, family, &intervals, &want.count);

	have.ranges = calloc(there->count + 1, sizeof(*have.ranges));
	want.ranges = calloc(want.count + 1, sizeof(*want.ranges));
	if (error == 0 && (have.ranges == NULL || want.ranges == NULL))
		error = -ENOMEM;
	if (error == 0) {
		have.count = read_ranges(there, have.ranges);
		for (size_t i = 0; i < want.count; i++)
			want.ranges[i] = range_of(&intervals[i]);
		put_missing(batch, set, false, &have, &want);
		put_missing(batch, set, true, &want, &have);
	}
	free(intervals);
	free(have.ranges);
	free(want.ranges);
	return error;
}
