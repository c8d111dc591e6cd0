/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uploads_left - see uploads_parts.h.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/netfilter.h>

#include "lib/require.h"
#include "src/helper/log.h"
#include "src/helper/uploads_parts.h"

#define GROW       64
#define ROOM_LEFT  8192
#define WALK_TRIES 20

static const char *const maps[] = { "upload4", "upload6", "total4", "total6" };

static int
note_quota(const struct quota_state *state, void *data)
{
	struct uploads *u = data;
	struct upload_left left = { .used = state->used };
	size_t count = u->left_count;

	if (!quota_name_read(state->name, &left.key))
		return 0;
	if (count % GROW == 0) {
		struct upload_left *list =
		    reallocarray(u->left, count + GROW, sizeof(*list));

		if (list == NULL)
			return -ENOMEM;
		u->left = list;
	}
	u->left[u->left_count++] = left;
	if (left.key.serial >= u->serial)
		u->serial = left.key.serial + 1;
	return 0;
}

struct noting {
	struct uploads *uploads;
	const char *map;
};

static int
note_element(const struct element *element, void *data)
{
	const struct noting *noting = data;
	struct uploads *u = noting->uploads;
	size_t count = u->element_count;

	if (count % GROW == 0) {
		struct upload_element *list =
		    reallocarray(u->elements, count + GROW, sizeof(*list));

		if (list == NULL)
			return -ENOMEM;
		u->elements = list;
	}
	u->elements[u->element_count++] =
	    (struct upload_element){ *element, noting->map, false };
	return 0;
}

static int
compare_keys(const void *a, const void *b)
{
	const struct upload_element *left = a, *right = b;
	int order = strcmp(left->map, right->map);

	if (order == 0)
		order =
		    (int)left->element.key_len - (int)right->element.key_len;
	return order != 0 ? order
			  : memcmp(left->element.key, right->element.key,
				left->element.key_len);
}

static int
find_once(struct helper *helper)
{
	struct uploads *u = &helper->uploads;
	int error;

	uploads_left_forget(u);
	error = quotas_walk(&helper->nft, note_quota, u);
	for (size_t i = 0; i < ARRAY_LEN(maps) && error == 0; i++)
		error = elements_walk(&helper->nft, NFPROTO_INET, maps[i],
		    note_element, &(struct noting){ u, maps[i] });
	return error;
}

/* Where it cannot be read it cannot be taken over, and new elements are
 * refused by the kernel until it is gone. */
void
uploads_left_find(struct helper *helper)
{
	struct uploads *u = &helper->uploads;
	int error = -EINTR;

	for (int i = 0; i < WALK_TRIES && error == -EINTR; i++)
		error = find_once(helper);
	if (error != 0)
		log_error("uploads: what an earlier run has counted could not "
			  "be read: %s",
		    batch_error_text(error));
	if (u->element_count > 0)
		qsort(u->elements, u->element_count, sizeof(*u->elements),
		    compare_keys);
}

struct upload_left *
uploads_left_quota(const struct uploads *u, const struct addr *source,
    uint64_t rule)
{
	struct upload_left *best = NULL;

	for (size_t i = 0; i < u->left_count; i++) {
		struct upload_left *left = &u->left[i];

		if (left->key.day == u->day && left->key.rule == rule &&
		    addr_equal(&left->key.source, source) && !left->taken &&
		    (best == NULL || left->used > best->used))
			best = left;
	}
	return best;
}

bool
uploads_left_take(struct uploads *u, const char *map,
    const struct element *element)
{
	const struct upload_element key = { *element, map, false };
	struct upload_element *found;

	if (u->element_count == 0)
		return false;
	found = bsearch(&key, u->elements, u->element_count, sizeof(key),
	    compare_keys);
	if (found == NULL || found->gone)
		return false;
	found->gone = true;
	return true;
}

static int
commit_full(struct helper *helper, struct batch *batch, bool last)
{
	int error = 0;

	if (last || batch_room(batch) < ROOM_LEFT) {
		error = batch_commit(batch);
		batch_begin(batch, &helper->nft);
	}
	return error;
}

void
uploads_left_end(struct helper *helper)
{
	struct uploads *u = &helper->uploads;
	struct batch batch;
	int error = 0;

	batch_begin(&batch, &helper->nft);
	for (size_t i = 0; i < u->element_count && error == 0; i++)
		if (!u->elements[i].gone) {
			elements_delete(&batch, u->elements[i].map,
			    &u->elements[i].element, 1);
			error = commit_full(helper, &batch, false);
		}
	for (size_t i = 0; i < u->left_count && error == 0; i++)
		if (!u->left[i].taken) {
			char name[QUOTA_NAME_MAX];

			quota_name_print(name, &u->left[i].key);
			quota_drop(&batch, name);
			error = commit_full(helper, &batch, false);
		}
	if (error == 0)
		error = commit_full(helper, &batch, true);
	if (error != 0)
		log_warn("uploads: quotas of an earlier run stay: %s",
		    batch_error_text(error));
	uploads_left_forget(u);
}

void
uploads_left_forget(struct uploads *u)
{
	free(u->left);
	free(u->elements);
	u->left = NULL;
	u->elements = NULL;
	u->left_count = u->element_count = 0;
}
