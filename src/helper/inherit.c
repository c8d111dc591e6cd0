/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inherit - see inherit.h. An address is taken for one that was attached when
 * it could be, and is nobody's of the file.
 */
#include "config.h"

#include "src/helper/inherit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/netfilter.h>

#include "lib/require.h"
#include "lib/text/edge_each.h"
#include "src/helper/helper.h"
#include "src/helper/homes.h"
#include "src/helper/ports.h"
#include "src/helper/revoking.h"
#include "src/helper/sync.h"

#define GROW 64

struct walk {
	struct helper *helper;
	const char *set;
	bool twin;
};

static int
compare(const void *a, const void *b)
{
	const struct inherited_home *left = a, *right = b;
	int order = (int)left->twin - (int)right->twin;

	if (order == 0)
		order = addr_compare(&left->addr, &right->addr);
	if (order == 0)
		order =
		    (left->index > right->index) - (left->index < right->index);
	return order;
}

static int
keep(struct walk *walk, const struct element *element)
{
	struct inherited *in = &walk->helper->inherited;

	if (in->count == in->max) {
		size_t max = in->max * 2 + GROW;
		struct member *members =
		    reallocarray(in->members, max, sizeof(*members));

		if (members == NULL)
			return -ENOMEM;
		in->members = members;
		in->max = max;
	}
	in->members[in->count++] =
	    (struct member){ walk->set, *element, walk->twin };
	return 0;
}

static bool
was_attached(const struct helper *helper, const struct addr *addr)
{
	return guard_whose(&helper->guard, addr) == 0 &&
	    edge_attach_covers(helper->config, addr);
}

static int
note(struct inherited *in, const struct inherited_home *home)
{
	if (in->home_count == in->home_max) {
		size_t max = in->home_max * 2 + GROW;
		struct inherited_home *homes =
		    reallocarray(in->homes, max, sizeof(*homes));

		if (homes == NULL)
			return -ENOMEM;
		in->homes = homes;
		in->home_max = max;
	}
	in->homes[in->home_count++] = *home;
	return 0;
}

static int
see_home(const struct element *element, void *data)
{
	struct walk *walk = data;
	struct inherited_home home = { .twin = walk->twin };
	struct element whole;

	if (!element_read_home(element, &home.index, &home.addr) ||
	    !was_attached(walk->helper, &home.addr))
		return 0;
	whole = element_home(home.index, &home.addr);
	if (keep(walk, &whole) != 0)
		return -ENOMEM;
	return note(&walk->helper->inherited, &home);
}

static int
see_owned(const struct element *element, void *data)
{
	struct walk *walk = data;
	struct addr addr;

	if (!element_read_source(element, &addr) ||
	    !was_attached(walk->helper, &addr))
		return 0;
	return keep(walk, element);
}

static int
see_target(const struct element *element, void *data)
{
	struct walk *walk = data;
	struct addr addr;

	if (!element_read_port_target(element, &addr) ||
	    !was_attached(walk->helper, &addr))
		return 0;
	return keep(walk, element);
}

/* A port of which a sandbox of the file says what may be there is that. */
static int
see_port(const struct element *element, void *data)
{
	struct walk *walk = data;
	const struct edge_config *config = walk->helper->config;

	for (size_t i = 0; i < config->sandbox_count; i++) {
		struct element named;

		if (config->sandboxes[i].interface[0] == '\0')
			continue;
		named = element_port(config->sandboxes[i].interface);
		if (memcmp(named.key, element->key, named.key_len) == 0)
			return 0;
	}
	return keep(walk, element);
}

/* Whoever was about to go when the last parent died has no pair any more.
 * The table keeps quarantines by itself until the end of the start. */
static int
see_quarantined(const struct element *element, void *data)
{
	struct walk *walk = data;
	struct inherited_home home = { .index = 0 };

	if (!element_read_source(element, &home.addr) ||
	    !was_attached(walk->helper, &home.addr))
		return 0;
	return note(&walk->helper->inherited, &home);
}

static const struct {
	uint8_t family;
	const char *set;
	element_seen seen;
} walks[] = {
	{ NFPROTO_INET, "home4", see_home },
	{ NFPROTO_INET, "home6", see_home },
	{ NFPROTO_INET, "owned4", see_owned },
	{ NFPROTO_INET, "owned6", see_owned },
	{ NFPROTO_INET, "quarantined4", see_quarantined },
	{ NFPROTO_INET, "quarantined6", see_quarantined },
	{ NFPROTO_BRIDGE, "home4", see_home },
	{ NFPROTO_BRIDGE, "home6", see_home },
	{ NFPROTO_BRIDGE, "owned4", see_owned },
	{ NFPROTO_BRIDGE, "owned6", see_owned },
	{ NFPROTO_BRIDGE, "target6", see_target },
	{ NFPROTO_BRIDGE, "owned_target6", see_owned },
	{ NFPROTO_BRIDGE, PORTS_ANYMAC, see_port },
};

static int
walk_all(struct helper *helper)
{
	int error = 0;

	for (size_t i = 0; i < ARRAY_LEN(walks) && error == 0; i++) {
		struct walk walk = { helper, walks[i].set,
			walks[i].family == NFPROTO_BRIDGE };

		error = elements_walk(&helper->nft, walks[i].family,
		    walks[i].set, walks[i].seen, &walk);
	}
	return error;
}

void
inherit_find(struct helper *helper)
{
	struct inherited *in = &helper->inherited;

	if (helper->config->attach_prefix_count == 0 &&
	    !edge_each_any(helper->config))
		return;
	if (walk_all(helper) != 0 ||
	    in->count > helper->members_max - helper->member_count) {
		inherit_forget(helper);
		return;
	}
	if (in->count > 0)
		memcpy(helper->members + helper->member_count, in->members,
		    in->count * sizeof(*in->members));
	helper->member_count += in->count;
	if (in->home_count > 0)
		qsort(in->homes, in->home_count, sizeof(*in->homes), compare);
}

static bool
has_pair(const struct inherited *in, const struct addr *addr, uint32_t index,
    bool twin)
{
	const struct inherited_home key = { *addr, index, twin };

	return in->home_count > 0 &&
	    bsearch(&key, in->homes, in->home_count, sizeof(key), compare) !=
	    NULL;
}

bool
inherit_knows(const struct helper *helper, uint32_t number)
{
	const struct guard_sandbox *s = &helper->guard.sandboxes[number];
	const struct edge_sandbox *sandbox =
	    guard_sandbox(&helper->guard, number);
	const struct inherited *in = &helper->inherited;

	for (size_t i = 0; i < sandbox->source_count; i++) {
		const struct addr *source = &sandbox->sources[i];

		if (!has_pair(in, source, s->ifindex, false) ||
		    (s->port != 0 && !has_pair(in, source, s->port, true)))
			return false;
	}
	return true;
}

/* The sets lose what is nobody's; what somebody has is there already. */
static int
drop(struct helper *helper)
{
	struct inherited *in = &helper->inherited;
	struct sync sync = { .there = in->members,
		.count = in->count,
		.max = in->max };
	struct batch batch;
	int error;

	homes_members(helper);
	batch_begin(&batch, &helper->nft);
	error = sync_put(&sync, &batch, helper->members + helper->fixed_count,
	    helper->member_count - helper->fixed_count);
	return error == 0 ? batch_commit(&batch) : error;
}

int
inherit_end(struct helper *helper, uint64_t now_ms)
{
	struct inherited *in = &helper->inherited;
	int error;

	if (in->count == 0 && in->home_count == 0)
		return 0;
	error = drop(helper);
	for (size_t i = 0; i < in->home_count && error == 0; i++)
		if (!in->homes[i].twin &&
		    guard_whose(&helper->guard, &in->homes[i].addr) == 0)
			revoking_depart(helper, &in->homes[i].addr, now_ms);
	revoking_pass(helper);
	inherit_forget(helper);
	helper_changed(helper, now_ms);
	return error;
}

void
inherit_forget(struct helper *helper)
{
	free(helper->inherited.members);
	free(helper->inherited.homes);
	memset(&helper->inherited, 0, sizeof(helper->inherited));
}
