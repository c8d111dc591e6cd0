/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * homes - see homes.h.
 */
#include "config.h"

#include "src/helper/homes.h"

#include <errno.h>
#include <string.h>

#include "lib/require.h"
#include "src/helper/log.h"
#include "src/helper/revoking.h"
#include "src/helper/sweep.h"

bool
homes_need_routes(const struct edge_config *config)
{
	for (size_t i = 0; i < config->sandbox_count; i++)
		if (edge_sandbox_exists(&config->sandboxes[i]) &&
		    config->sandboxes[i].interface[0] == '\0')
			return true;
	return false;
}

static bool
is_edge(const struct settings *settings, const char *name)
{
	for (size_t i = 0; i < settings->edge_count; i++) {
		const char *edge = settings->edge[i];
		size_t len = strlen(edge);

		if (len > 0 && edge[len - 1] == '*'
			? strncmp(edge, name, len - 1) == 0
			: strcmp(edge, name) == 0)
			return true;
	}
	return false;
}

/* Why an interface cannot be of the edge; NULL: it can. */
static const char *
refusal(const struct link *link)
{
	if (link->bridge)
		return "is a bridge, which is not in this version yet; give "
		       "each sandbox an interface of its own that this host "
		       "routes";
	if (link->port)
		return "is a port of a bridge, which is not in this version "
		       "yet; take it out of the bridge and let this host "
		       "route";
	return NULL;
}

static bool
is_refused(const struct helper *helper, const struct link *link)
{
	return is_edge(&helper->config->settings, link->name) &&
	    refusal(link) != NULL;
}

unsigned int
homes_refused(struct helper *helper)
{
	const struct links *links = &helper->links;
	unsigned int count = 0, before = helper->refused_count;

	for (size_t i = 0; i < links->count; i++)
		count += is_refused(helper, &links->links[i]) ? 1 : 0;
	helper->refused_count = count;
	for (size_t i = 0; i < links->count && count > before; i++)
		if (is_refused(helper, &links->links[i]))
			log_error("edge: interface %s %s", links->links[i].name,
			    refusal(&links->links[i]));
	return count;
}

/* The interface that the routing table gives for every source alike. */
static const struct link *
by_route(struct helper *helper, const struct edge_sandbox *sandbox)
{
	const struct link *found = NULL;

	for (size_t i = 0; i < sandbox->source_count; i++) {
		const struct link *link =
		    links_toward(&helper->links, &sandbox->sources[i]);

		if (link == NULL || (found != NULL && link != found))
			return NULL;
		found = link;
	}
	if (found != NULL && !is_edge(&helper->config->settings, found->name))
		return NULL;
	return found;
}

/* The index that a sandbox should be bound to, or 0. */
static uint32_t
home_of(struct helper *helper, const struct edge_sandbox *sandbox)
{
	const struct link *link;

	if (!edge_sandbox_exists(sandbox))
		return 0;
	link = sandbox->interface[0] != '\0'
	    ? links_named(&helper->links, sandbox->interface)
	    : by_route(helper, sandbox);

	return link != NULL && refusal(link) == NULL ? link->index : 0;
}

/* A pair that the table has, if it is a source's and its present interface:
 * then what was granted there was granted to this machine. */
static int
see_home(const struct element *element, void *data)
{
	struct guard *guard = data;
	struct addr addr;
	uint32_t index, sandbox;

	if (!element_read_home(element, &index, &addr))
		return 0;
	sandbox = guard_whose(guard, &addr);
	if (sandbox != 0 && guard->sandboxes[sandbox].ifindex == index)
		guard->sandboxes[sandbox].known_homes++;
	return 0;
}

static bool
has_address(const struct links *links, const struct addr *addr)
{
	for (size_t i = 0; i < links->own_count; i++)
		if (addr_equal(&links->own[i], addr))
			return true;
	return links->own_overflow;
}

/* Both may come later; a word that was mistyped never does. */
static void
warn_missing(struct helper *helper)
{
	const struct settings *settings = &helper->config->settings;
	const struct guard *guard = &helper->guard;
	char text[ADDR_TEXT_MAX];

	for (uint32_t i = 1; i <= guard->sandbox_count; i++) {
		const struct edge_sandbox *sandbox = guard_sandbox(guard, i);

		if (guard->sandboxes[i].ifindex != 0)
			continue;
		if (sandbox->interface[0] != '\0' &&
		    links_named(&helper->links, sandbox->interface) == NULL)
			log_warn("sandbox %s: there is no interface %s yet: "
				 "nothing is open to it until there is",
			    sandbox->name, sandbox->interface);
		else
			log_warn("sandbox %s: no interface leads to it yet",
			    sandbox->name);
	}
	for (size_t i = 0; i < settings->listen_count; i++) {
		const struct addr *addr = &settings->listen[i].addr;

		if (has_address(&helper->links, addr))
			continue;
		addr_print(addr, text);
		log_warn("listen %s: no interface of this host has this "
			 "address yet: nobody can ask there until one has",
		    text);
	}
}

/* Without a table, or where it cannot be read, everybody is bound anew. */
static void
find_known(struct helper *helper)
{
	struct guard *guard = &helper->guard;
	bool read =
	    elements_walk(&helper->nft, "home4", see_home, guard) == 0 &&
	    elements_walk(&helper->nft, "home6", see_home, guard) == 0;

	for (uint32_t i = 1; i <= guard->sandbox_count; i++)
		guard->sandboxes[i].fresh = !read ||
		    guard->sandboxes[i].known_homes <
			guard_sandbox(guard, i)->source_count;
}

void
homes_find(struct helper *helper)
{
	struct guard *guard = &helper->guard;

	guard_set_own(guard, helper->links.own, helper->links.own_count,
	    helper->links.own_overflow);
	for (uint32_t i = 1; i <= guard->sandbox_count; i++) {
		const struct edge_sandbox *sandbox = guard_sandbox(guard, i);

		guard->sandboxes[i].ifindex = home_of(helper, sandbox);
	}
	warn_missing(helper);
	find_known(helper);
}

void
homes_members(struct helper *helper)
{
	const struct guard *guard = &helper->guard;

	helper->member_count = helper->fixed_count;
	for (size_t i = 0; i < guard->source_count; i++) {
		const struct guard_source *source = &guard->sources[i];
		uint32_t index = guard->sandboxes[source->sandbox].ifindex;

		if (index == 0)
			continue;
		REQUIRE(helper->member_count < helper->members_max);
		helper->members[helper->member_count++] = (struct member){
			element_set("home4", "home6", &source->addr),
			element_home(index, &source->addr),
		};
	}
}

static void
tell(struct helper *helper, uint32_t sandbox)
{
	if (helper->state == STATE_NEW)
		return;
	helper_send(helper,
	    &(struct helper_msg){
		.op = HELPER_BOUND,
		.sandbox = sandbox,
		.ifindex = helper->guard.sandboxes[sandbox].ifindex,
	    });
}

void
homes_tell(struct helper *helper)
{
	for (uint32_t i = 1; i <= helper->guard.sandbox_count; i++)
		if (helper->guard.sandboxes[i].ifindex != 0)
			tell(helper, i);
}

/* Adds or deletes the pairs of a sandbox and its present interface. */
static int
put_homes(struct helper *helper, uint32_t number, bool in)
{
	const struct edge_sandbox *sandbox =
	    guard_sandbox(&helper->guard, number);
	uint32_t index = helper->guard.sandboxes[number].ifindex;
	struct batch batch;

	batch_begin(&batch, &helper->nft);
	for (size_t i = 0; i < sandbox->source_count; i++) {
		const struct addr *source = &sandbox->sources[i];
		const char *set = element_set("home4", "home6", source);
		struct element element = element_home(index, source);

		if (in)
			elements_add(&batch, set, &element, 1);
		else
			elements_delete(&batch, set, &element, 1);
	}
	return batch_commit(&batch);
}

/* The pair goes first: from then on the address is nobody's and every packet
 * of it is dropped. Then what it had, so that a successor inherits nothing. */
static int
leave(struct helper *helper, uint32_t number, struct flows_cut *ret)
{
	struct guard_sandbox *s = &helper->guard.sandboxes[number];
	int error = 0;

	if (s->ifindex != 0)
		error = put_homes(helper, number, false);
	if (error == 0)
		error = revoking_drop_pins(helper, number);
	if (error == 0)
		error = sweep_sandbox(helper, number, ret);
	s->ifindex = 0;
	s->fresh = true;
	return error;
}

static bool
move(struct helper *helper, uint32_t number, uint32_t index)
{
	struct guard_sandbox *s = &helper->guard.sandboxes[number];
	const char *name = guard_sandbox(&helper->guard, number)->name;
	struct flows_cut cut = { 0, 0 };
	int error = leave(helper, number, &cut);

	s->ifindex = index;
	if (error == 0 && index != 0)
		error = put_homes(helper, number, true);
	if (error != 0) {
		log_error("sandbox %s: could not be bound: %s", name,
		    batch_error_text(error));
		helper->suspect = true;
	}
	if (index != 0)
		log_info("sandbox %s: bound to interface %s, %u flows cut",
		    name, links_indexed(&helper->links, index)->name,
		    cut.count);
	else
		log_info("sandbox %s: has no interface now, %u flows cut", name,
		    cut.count);
	tell(helper, number);
	return error == 0;
}

void
homes_leave(struct helper *helper, uint32_t number)
{
	const char *name = guard_sandbox(&helper->guard, number)->name;
	struct flows_cut cut = { 0, 0 };
	int error;

	revoking_end(helper, number);
	helper->guard.sandboxes[number].left = true;
	error = leave(helper, number, &cut);
	if (error != 0) {
		log_error("sandbox %s: could not be unbound: %s", name,
		    batch_error_text(error));
		helper->suspect = true;
	}
	log_info("sandbox %s: its addresses are not in the file any more, %u "
		 "flows cut",
	    name, cut.count);
}

void
homes_rebind(struct helper *helper)
{
	struct guard *guard = &helper->guard;

	for (uint32_t i = 1; i <= guard->sandbox_count; i++) {
		uint32_t index = home_of(helper, guard_sandbox(guard, i));
		if (index != guard->sandboxes[i].ifindex)
			(void)move(helper, i, index);
		else if (guard->sandboxes[i].left)
			tell(helper, i);
		guard->sandboxes[i].left = false;
	}
	homes_members(helper);
}

void
homes_follow(struct helper *helper)
{
	struct guard *guard = &helper->guard;
	bool moved = false, failed = false;
	int error = links_refresh(&helper->links);

	if (error != 0) {
		log_error("links: could not be read: %s", strerror(-error));
		return;
	}
	guard_set_own(guard, helper->links.own, helper->links.own_count,
	    helper->links.own_overflow);
	(void)homes_refused(helper);
	for (uint32_t i = 1; i <= guard->sandbox_count; i++) {
		uint32_t index = home_of(helper, guard_sandbox(guard, i));

		if (index == guard->sandboxes[i].ifindex)
			continue;
		failed |= !move(helper, i, index);
		moved = true;
	}
	if (!moved)
		return;
	homes_members(helper);
	/* Where something failed, what is there must not pass for what was
	 * installed: the next look finds the difference, and rebuilds. */
	if (!failed && ruleset_settle(&helper->ruleset) != 0)
		helper->suspect = true;
}
