/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * protected - see protected.h.
 *
 * Every prefix on which the judgement can hang has a first address and one
 * behind its last. Between two neighbours of these the judgement is the same,
 * so that it is asked once for each.
 */
#include "config.h"

#include "src/helper/protected.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"

struct ends {
	const struct protected_ranges *ranges;
	uint8_t family;
	struct addr *list; /* NULL: only counted */
	size_t count;
};

static uint8_t
width_of(const struct addr *addr)
{
	return (uint8_t)(addr_size(addr) * 8);
}

/* The next address; false: there is none. */
static bool
increment(struct addr *addr)
{
	for (size_t i = addr_size(addr); i-- > 0;)
		if (++addr->bytes[i] != 0)
			return true;
	return false;
}

static void
decrement(struct addr *addr)
{
	for (size_t i = addr_size(addr); i-- > 0;)
		if (addr->bytes[i]-- != 0)
			return;
}

static struct addr
last_of(const struct prefix *prefix)
{
	struct addr last = prefix->addr;

	for (uint8_t bit = prefix->bits; bit < width_of(&last); bit++)
		last.bytes[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
	return last;
}

static void
put_end(struct ends *ends, const struct addr *addr)
{
	if (ends->list != NULL)
		ends->list[ends->count] = *addr;
	ends->count++;
}

static void
put_prefix(struct ends *ends, const struct prefix *prefix)
{
	struct addr behind = last_of(prefix);

	put_end(ends, &prefix->addr);
	if (increment(&behind))
		put_end(ends, &behind);
}

/* RFC 6052 2.2: behind the prefix, but for octet 8, which is zero. */
static struct prefix
hide(const struct prefix *where, const struct prefix *inner)
{
	struct prefix ret = *where;

	for (uint8_t bit = 0; bit < inner->bits; bit++) {
		uint8_t at = (uint8_t)(where->bits + bit);

		if (at >= 64 && where->bits != 96)
			at = (uint8_t)(at + 8);
		if ((inner->addr.bytes[bit / 8] & 0x80 >> bit % 8) != 0)
			ret.addr.bytes[at / 8] |= (uint8_t)(0x80 >> at % 8);
		ret.bits = (uint8_t)(at + 1);
	}
	return ret;
}

/* A prefix of IPv4: itself, or inside of each form that hides one. */
static void
put_inner(struct ends *ends, const struct prefix *inner)
{
	static const struct prefix well_known = {
		.addr = { 6, { 0, 0x64, 0xff, 0x9b } },
		.bits = 96,
	};
	static const struct prefix six_to_four = {
		.addr = { 6, { 0x20, 0x02 } },
		.bits = 16,
	};
	struct prefix hidden;

	if (ends->family == 4) {
		put_prefix(ends, inner);
		return;
	}
	hidden = hide(&well_known, inner);
	put_prefix(ends, &hidden);
	hidden = hide(&six_to_four, inner);
	put_prefix(ends, &hidden);
	for (size_t i = 0; i < ends->ranges->nat64_count; i++) {
		hidden = hide(&ends->ranges->nat64[i], inner);
		put_prefix(ends, &hidden);
	}
}

static void
put_any(struct ends *ends, const struct prefix *prefix)
{
	if (prefix->addr.family == 4)
		put_inner(ends, prefix);
	else if (ends->family == 6)
		put_prefix(ends, prefix);
}

static void
put_all(struct ends *ends)
{
	const struct protected_ranges *ranges = ends->ranges;
	struct prefix prefix;

	for (size_t i = 0; addr_range(4, i, &prefix); i++)
		put_any(ends, &prefix);
	for (size_t i = 0; addr_range(6, i, &prefix); i++)
		put_any(ends, &prefix);
	for (size_t i = 0; i < ranges->except_count; i++)
		put_any(ends, &ranges->except[i]);
	for (size_t i = 0; i < ranges->nat64_count; i++)
		put_any(ends, &ranges->nat64[i]);
	for (size_t i = 0; i < ranges->own_count; i++) {
		prefix = prefix_of(&ranges->own[i]);
		put_any(ends, &prefix);
	}
	/* From the first address of all. */
	prefix = (struct prefix){ .addr = { .family = ends->family } };
	put_prefix(ends, &prefix);
}

static int
compare(const void *a, const void *b)
{
	return addr_compare(a, b);
}

static bool
is_protected(const struct ends *ends, const struct addr *addr)
{
	return addr_protected(addr, ends->ranges, NULL, 0) != ADDR_GLOBAL;
}

/* Ends in order become intervals, those that touch one of them. */
static size_t
join(const struct ends *ends, struct interval *ret)
{
	size_t count = 0;
	bool before = false; /* what lies before this end is in the last one */

	for (size_t i = 0; i < ends->count; i++) {
		const struct addr *first = &ends->list[i];
		struct prefix all = { .addr = { .family = ends->family } };
		struct addr last = last_of(&all);

		if (i > 0 && addr_equal(first, first - 1))
			continue;
		for (size_t k = i + 1; k < ends->count; k++) {
			if (addr_equal(first, &ends->list[k]))
				continue;
			last = ends->list[k];
			decrement(&last);
			break;
		}
		if (!is_protected(ends, first)) {
			before = false;
			continue;
		}
		if (!before)
			ret[count++].first = *first;
		ret[count - 1].last = last;
		before = true;
	}
	return count;
}

int
protected_intervals(const struct protected_ranges *ranges, uint8_t family,
    struct interval **ret, size_t *ret_count)
{
	struct ends ends = { .ranges = ranges, .family = family };
	struct interval *intervals;

	put_all(&ends);
	ends.list = calloc(ends.count, sizeof(*ends.list));
	intervals = calloc(ends.count, sizeof(*intervals));
	if (ends.list == NULL || intervals == NULL) {
		free(ends.list);
		free(intervals);
		return -ENOMEM;
	}
	ends.count = 0;
	put_all(&ends);
	qsort(ends.list, ends.count, sizeof(*ends.list), compare);
	*ret_count = join(&ends, intervals);
	*ret = intervals;
	free(ends.list);
	return 0;
}
