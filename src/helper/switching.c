/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switching - see switching.h.
 */
#include "config.h"

#include "src/helper/switching.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/helper/grants.h"
#include "src/helper/homes.h"
#include "src/helper/log.h"
#include "src/helper/modes.h"
#include "src/helper/revoking.h"
#include "src/helper/sync.h"

static void
keep_before(struct helper *helper)
{
	struct reload *reload = &helper->reload;

	reload->before = helper->members;
	reload->before_count = helper->fixed_count;
	helper->members = NULL;
}

/* helper->members becomes what both lists have together; an element that is
 * in both is there once. */
static int
unite(struct helper *helper)
{
	struct reload *reload = &helper->reload;
	size_t max = reload->before_count + helper->members_max;
	struct member *both = calloc(max, sizeof(*both));

	if (both == NULL)
		return -ENOMEM;
	reload->after = helper->members;
	reload->after_count = helper->fixed_count;
	reload->after_max = helper->members_max;
	memcpy(both, reload->before, reload->before_count * sizeof(*both));
	helper->members = both;
	helper->members_max = max;
	helper->fixed_count = reload->before_count +
	    sync_missing(both + reload->before_count, reload->after,
		reload->after_count, reload->before, reload->before_count);
	homes_members(helper);
	return 0;
}

static int
put(struct helper *helper, const struct member *there, size_t there_count,
    const struct member *wanted, size_t wanted_count)
{
	struct sync sync = { .there = calloc(there_count + 1, sizeof(*there)),
		.count = there_count,
		.max = there_count + 1 };
	struct batch batch;
	int error = -ENOMEM;

	if (sync.there == NULL)
		return error;
	memcpy(sync.there, there, there_count * sizeof(*there));
	batch_begin(&batch, &helper->nft);
	error = sync_put(&sync, &batch, wanted, wanted_count);
	if (error == 0)
		error = batch_commit(&batch);
	sync_free(&sync);
	return error;
}

static void
put_back(struct helper *helper, struct edge_config *config, size_t max)
{
	struct reload *reload = &helper->reload;

	free(helper->members);
	helper->members = reload->before;
	helper->fixed_count = reload->before_count;
	helper->members_max = max;
	helper->config = config;
	reload->before = NULL;
	homes_members(helper);
}

int
switching_widen(struct helper *helper)
{
	struct reload *reload = &helper->reload;
	struct edge_config *config = helper->config;
	size_t max = helper->members_max;
	int error;

	keep_before(helper);
	helper->config = reload->next;
	error = helper_fill_members(helper);
	if (error == 0)
		error = unite(helper);
	if (error == 0 && homes_need_routes(reload->next) &&
	    !homes_need_routes(config))
		error = links_follow_routes(&helper->links);
	if (error == 0)
		error = put(helper, reload->before, reload->before_count,
		    helper->members, helper->fixed_count);
	if (error != 0) {
		log_error("reload: the table could not be widened: %s",
		    batch_error_text(error));
		put_back(helper, config, max);
		free(reload->after);
		reload->after = NULL;
		return error;
	}
	helper_changed(helper, 0);
	attaching_carry(helper);
	guard_widen(&helper->guard, reload->next);
	return 0;
}

static bool
same_sources(const struct edge_sandbox *a, const struct edge_sandbox *b)
{
	if (a->source_count != b->source_count ||
	    a->prefix_count != b->prefix_count)
		return false;
	for (size_t i = 0; i < a->source_count; i++)
		if (!addr_equal(&a->sources[i], &b->sources[i]))
			return false;
	for (size_t i = 0; i < a->prefix_count; i++)
		if (a->prefixes[i].bits != b->prefixes[i].bits ||
		    !addr_equal(&a->prefixes[i].addr, &b->prefixes[i].addr))
			return false;
	return true;
}

/* What hangs on the name of a port and on a hardware address. */
static bool
same_port(const struct edge_sandbox *a, const struct edge_sandbox *b)
{
	return strcmp(a->interface, b->interface) == 0 &&
	    a->has_mac == b->has_mac &&
	    memcmp(a->mac, b->mac, sizeof(a->mac)) == 0;
}

/* Whoever is not there any more, or under other addresses. */
static bool
leaves(const struct helper *helper, uint32_t number)
{
	const struct edge_config *next = helper->reload.next;
	const struct edge_sandbox *now, *then;

	if (!guard_exists(&helper->guard, number))
		return false;
	if (number > next->sandbox_count)
		return true;
	now = guard_sandbox(&helper->guard, number);
	then = &next->sandboxes[number - 1];
	return !same_sources(now, then) ||
	    (helper->guard.sandboxes[number].port != 0 &&
		!same_port(now, then));
}

/* Everybody who goes has gone before anybody comes, who may have his
 * address. */
static void
change_homes(struct helper *helper)
{
	struct links *links = &helper->links;

	for (uint32_t i = 1; i <= helper->guard.sandbox_count; i++)
		if (leaves(helper, i))
			homes_leave(helper, i);
	guard_narrow(&helper->guard);
	guard_set_own(&helper->guard, links->own, links->own_count,
	    links->own_overflow);
}

/* The sets lose what only the old configuration had. */
static int
drop_before(struct helper *helper)
{
	struct reload *reload = &helper->reload;
	int error = put(helper, helper->members, helper->fixed_count,
	    reload->after, reload->after_count);

	free(helper->members);
	free(reload->before);
	helper->members = reload->after;
	helper->fixed_count = reload->after_count;
	helper->members_max = reload->after_max;
	reload->before = reload->after = NULL;
	return error;
}

void
switching_narrow(struct helper *helper, uint64_t now_ms)
{
	unsigned int pruned;
	int error;

	change_homes(helper);
	error = drop_before(helper);
	homes_members(helper);
	if (error == 0)
		error = grants_follow(helper);
	if (error == 0)
		error = modes_sync(helper, now_ms);
	homes_rebind(helper);
	uploads_follow(helper);
	pruned = revoking_prune(helper, 0, now_ms);
	if (pruned != 0)
		log_warn("reload: %u pins were left that the file does not "
			 "grant any more; closed",
		    pruned);
	helper_changed(helper, 0);
	if (error != 0) {
		log_error("reload: the table is not as it should be: %s",
		    batch_error_text(error));
		helper->suspect = true;
	}
}

void
switching_end(struct helper *helper)
{
	free(helper->reload.before);
	free(helper->reload.after);
	helper->reload.before = helper->reload.after = NULL;
}
