/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync - see sync.h.
 */
#include "config.h"

#include "src/helper/sync.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/netfilter.h>

#include "lib/require.h"

#define RUN_MAX 64

struct collecting {
	struct sync *sync;
	const char *set;
	bool twin;
};

void
sync_free(struct sync *sync)
{
	free(sync->there);
	memset(sync, 0, sizeof(*sync));
}

static int
collect(const struct element *element, void *data)
{
	const struct collecting *collecting = data;
	struct sync *sync = collecting->sync;

	if (sync->count == sync->max) {
		size_t max = sync->max * 2 + RUN_MAX;
		struct member *there =
		    reallocarray(sync->there, max, sizeof(*there));

		if (there == NULL)
			return -ENOMEM;
		sync->there = there;
		sync->max = max;
	}
	sync->there[sync->count++] =
	    (struct member){ collecting->set, *element, collecting->twin };
	return 0;
}

int
sync_collect(struct sync *sync, struct nft *nft, uint8_t family,
    const char *set)
{
	struct collecting collecting = { sync, set, family == NFPROTO_BRIDGE };

	return elements_walk(nft, family, set, collect, &collecting);
}

/* Of the sets that they are of. */
static int
member_order(const struct member *left, const struct member *right)
{
	int order = (int)left->twin - (int)right->twin;

	return order != 0 ? order : strcmp(left->set, right->set);
}

static int
compare(const void *a, const void *b)
{
	const struct member *left = a, *right = b;
	int order = member_order(left, right);

	if (order == 0)
		order =
		    (int)left->element.key_len - (int)right->element.key_len;
	if (order == 0)
		order = memcmp(left->element.key, right->element.key,
		    left->element.key_len);
	if (order == 0)
		order = (int)left->element.interval_end -
		    (int)right->element.interval_end;
	if (order == 0)
		order = (int)left->element.free_count -
		    (int)right->element.free_count;
	return order;
}

size_t
sync_missing(struct member *ret, const struct member *of, size_t count,
    const struct member *in, size_t in_count)
{
	size_t missing = 0;

	for (size_t i = 0; i < count; i++) {
		size_t k = 0;

		while (k < in_count && compare(&of[i], &in[k]) != 0)
			k++;
		if (k == in_count)
			ret[missing++] = of[i];
	}
	return missing;
}

/* The members of one list that are not in the other, which is sorted. */
static void
put_missing(struct batch *batch, bool adding, const struct member *members,
    size_t count, const struct member *others, size_t other_count)
{
	struct element run[RUN_MAX];
	size_t len = 0;

	for (size_t i = 0; i < count; i++) {
		const char *set = members[i].set;
		/* What is deleted twice undoes the batch; that list is sorted.
		 */
		bool again = !adding && i > 0 &&
		    compare(&members[i - 1], &members[i]) == 0;

		if (!again &&
		    (other_count == 0 ||
			bsearch(&members[i], others, other_count,
			    sizeof(*others), compare) == NULL))
			run[len++] = members[i].element;
		if (len == 0 ||
		    (len < RUN_MAX && i + 1 < count &&
			member_order(&members[i + 1], &members[i]) == 0))
			continue;
		batch_family(batch, member_family(&members[i]));
		if (adding)
			elements_add(batch, set, run, len);
		else
			elements_delete(batch, set, run, len);
		len = 0;
	}
}

int
sync_put(struct sync *sync, struct batch *batch, const struct member *wanted,
    size_t count)
{
	struct member *sorted = calloc(count + 1, sizeof(*sorted));

	if (sorted == NULL)
		return -ENOMEM;
	memcpy(sorted, wanted, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare);
	if (sync->count > 0)
		qsort(sync->there, sync->count, sizeof(*sync->there), compare);
	put_missing(batch, false, sync->there, sync->count, sorted, count);
	put_missing(batch, true, wanted, count, sync->there, sync->count);
	free(sorted);
	return 0;
}
