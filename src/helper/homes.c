/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * homes - see homes.h.
 */
#include "config.h"

#include "src/helper/homes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/netfilter.h>

#include "lib/require.h"
#include "lib/text/edge_each.h"
#include "src/helper/grants.h"
#include "src/helper/log.h"
#include "src/helper/modes.h"
#include "src/helper/ports.h"
#include "src/helper/revoking.h"
#include "src/helper/sweep.h"

/* More than all that one sandbox has takes of a transaction. */
#define MOVE_ROOM (64u * 1024)

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
	if (settings->nft_sets)
		return true;
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

/* The interface by which packets arrive and, where that is a bridge, the port
 * of it. */
struct home {
	uint32_t index, port;
};

/* Why an interface cannot be of the edge; NULL: it can. */
static const char *
refusal(const struct link *link)
{
	if (link->bridge)
		return "is a bridge, and who sent a packet is not known "
		       "there; name those ports of it that lead to sandboxes";
	if (link->foreign_port)
		return "is a port of Open vSwitch, whose frames no table of "
		       "this kernel sees; let this host route, or use a "
		       "bridge of the kernel";
	return NULL;
}

static bool
is_refused(const struct helper *helper, const struct link *link)
{
	return helper->nft.lent_pins4 == NULL &&
	    is_edge(&helper->config->settings, link->name) &&
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
by_route(struct helper *helper, const struct addr *sources, size_t count)
{
	const struct link *found = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct link *link =
		    links_toward(&helper->links, &sources[i]);

		if (link == NULL || (found != NULL && link != found))
			return NULL;
		found = link;
	}
	if (found != NULL && !is_edge(&helper->config->settings, found->name))
		return NULL;
	return found;
}

/* Where an address of each prefix leads. */
static const struct link *
by_prefixes(struct helper *helper, const struct edge_sandbox *sandbox)
{
	struct addr firsts[EDGE_SOURCES_MAX];

	for (size_t i = 0; i < sandbox->prefix_count; i++)
		firsts[i] = edge_each_first(&sandbox->prefixes[i]);
	return by_route(helper, firsts, sandbox->prefix_count);
}

static const struct link *
link_of(struct helper *helper, const struct edge_sandbox *sandbox)
{
	if (sandbox->interface[0] != '\0')
		return links_named(&helper->links, sandbox->interface);
	if (sandbox->prefix_count > 0)
		return by_prefixes(helper, sandbox);
	return by_route(helper, sandbox->sources, sandbox->source_count);
}

/* What a sandbox should be bound to; indexes of 0: nothing. */
static struct home
home_of(struct helper *helper, const struct edge_sandbox *sandbox)
{
	const struct link *link;

	if (!edge_sandbox_exists(sandbox))
		return (struct home){ 0, 0 };
	link = link_of(helper, sandbox);
	if (link == NULL || refusal(link) != NULL)
		return (struct home){ 0, 0 };
	/* Which of its addresses a machine there has, nothing could tie. */
	if (link->port && sandbox->prefix_count > 0)
		return (struct home){ 0, 0 };
	/* There the twin would be needed. */
	if (link->port && helper->nft.lent_pins4 != NULL)
		return (struct home){ 0, 0 };
	if (link->port)
		return (struct home){ link->master, link->index };
	return (struct home){ link->index, 0 };
}

int
homes_choose(struct helper *helper, uint32_t ifindex,
    struct edge_attach *request)
{
	const struct link *link = ifindex != 0
	    ? links_indexed(&helper->links, ifindex)
	    : by_route(helper, request->sources, request->source_count);

	if (link == NULL || refusal(link) != NULL)
		return -ENODEV;
	memcpy(request->interface, link->name, sizeof(request->interface));
	return 0;
}

void
homes_locate(struct helper *helper, uint32_t number)
{
	struct guard_sandbox *s = &helper->guard.sandboxes[number];
	struct home home =
	    home_of(helper, guard_sandbox(&helper->guard, number));

	s->ifindex = home.index;
	s->port = home.port;
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

static bool
is_at_port(struct helper *helper, const struct edge_sandbox *sandbox)
{
	const struct link *link =
	    sandbox->prefix_count > 0 ? link_of(helper, sandbox) : NULL;

	return link != NULL && link->port;
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
		if (is_at_port(helper, sandbox))
			log_warn("sandbox %s: its interface is a port of a "
				 "bridge, where \"each\" is not possible; give "
				 "each address a sandbox and a port of its own",
			    sandbox->name);
		else if (sandbox->interface[0] != '\0' &&
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

		/* All of 127.0.0.0/8 is this host's. */
		if (has_address(&helper->links, addr) ||
		    addr_classify(addr) == ADDR_LOOPBACK)
			continue;
		addr_print(addr, text);
		log_warn("listen %s: no interface of this host has this "
			 "address yet: nobody can ask there until one has",
		    text);
	}
}

static int
see_port(const struct element *element, void *data)
{
	struct guard *guard = data;
	struct addr addr;
	uint32_t index, sandbox;

	if (!element_read_home(element, &index, &addr))
		return 0;
	sandbox = guard_whose(guard, &addr);
	if (sandbox != 0 && guard->sandboxes[sandbox].port == index)
		guard->sandboxes[sandbox].known_ports++;
	return 0;
}

static bool
walk_homes(struct helper *helper, uint8_t family, element_seen seen)
{
	return elements_walk(&helper->nft, family, "home4", seen,
		   &helper->guard) == 0 &&
	    elements_walk(&helper->nft, family, "home6", seen,
		&helper->guard) == 0;
}

static bool
is_known(const struct guard *guard, uint32_t number)
{
	const struct guard_sandbox *s = &guard->sandboxes[number];
	uint32_t count = guard_sandbox(guard, number)->source_count;

	return s->known_homes >= count &&
	    (s->port == 0 || s->known_ports >= count);
}

/* Without a table, or where it cannot be read, everybody is bound anew. Where
 * the sets are lent there is nothing to tell by. */
static void
find_known(struct helper *helper)
{
	struct guard *guard = &helper->guard;
	bool read = walk_homes(helper, NFPROTO_INET, see_home) &&
	    walk_homes(helper, NFPROTO_BRIDGE, see_port);

	for (uint32_t i = 1; i <= guard->sandbox_count; i++)
		guard->sandboxes[i].fresh = helper->nft.lent_pins4 == NULL &&
		    (!read || !is_known(guard, i));
}

/* What the operator should know of the place where a sandbox is bound. */
static void
warn(const struct helper *helper, const struct edge_sandbox *sandbox,
    struct home home)
{
	const struct link *link = links_indexed(&helper->links, home.index);

	if (link == NULL)
		return;
	if (sandbox->has_mac && home.port == 0)
		log_warn("sandbox %s: \"mac\" is not looked at: %s is no port "
			 "of a bridge",
		    sandbox->name, sandbox->interface);
	if (home.port != 0 && link->learns)
		log_warn("sandbox %s: bridge %s learns from link-local frames, "
			 "so a neighbour can hold up its replies: ip link set "
			 "%s type bridge no_linklocal_learn 1",
		    sandbox->name, link->name, link->name);
}

void
homes_find(struct helper *helper)
{
	struct guard *guard = &helper->guard;

	guard_set_own(guard, helper->links.own, helper->links.own_count,
	    helper->links.own_overflow);
	for (uint32_t i = 1; i <= guard->sandbox_count; i++) {
		const struct edge_sandbox *sandbox = guard_sandbox(guard, i);
		struct home home = home_of(helper, sandbox);

		guard->sandboxes[i].ifindex = home.index;
		guard->sandboxes[i].port = home.port;
		warn(helper, sandbox, home);
	}
	warn_missing(helper);
	find_known(helper);
}

/* All that a sandbox has in the tables where it is bound now. */
static size_t
members_of(const struct helper *helper, uint32_t number,
    struct member ret[HOME_MEMBERS_MAX])
{
	const struct guard_sandbox *s = &helper->guard.sandboxes[number];
	const struct edge_sandbox *sandbox =
	    guard_sandbox(&helper->guard, number);
	size_t count = 0;

	if (s->ifindex == 0)
		return 0;
	for (size_t i = 0; i < sandbox->source_count; i++)
		ret[count++] = (struct member){
			.set =
			    element_set("home4", "home6", &sandbox->sources[i]),
			.element =
			    element_home(s->ifindex, &sandbox->sources[i]),
		};
	count += grants_newcomers(sandbox, s->ifindex, ret + count);
	if (grants_speak_dhcp(&helper->guard, number))
		count +=
		    grants_dhcp(sandbox, s->ifindex, s->port != 0, ret + count);
	if (s->port != 0)
		count += ports_members(sandbox, s->port, ret + count);
	return count;
}

/* Members of a set side by side go into one message. */
static int
compare_sets(const void *a, const void *b)
{
	const struct member *left = a, *right = b;
	int order = (int)left->twin - (int)right->twin;

	return order != 0 ? order : strcmp(left->set, right->set);
}

void
homes_members(struct helper *helper)
{
	size_t fixed = helper->fixed_count;

	helper->member_count = fixed;
	for (uint32_t i = 1; i <= helper->guard.sandbox_count; i++) {
		REQUIRE(helper->member_count + HOME_MEMBERS_MAX +
			MODE_MEMBERS_MAX <=
		    helper->members_max);
		helper->member_count += members_of(helper, i,
		    helper->members + helper->member_count);
		if (helper->guard.sandboxes[i].ifindex != 0)
			helper->member_count +=
			    grants_inbound(guard_sandbox(&helper->guard, i),
				helper->members + helper->member_count);
		helper->member_count += modes_members(helper, i,
		    helper->members + helper->member_count);
	}
	REQUIRE(helper->member_count <= helper->members_max);
	qsort(helper->members + fixed, helper->member_count - fixed,
	    sizeof(*helper->members), compare_sets);
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

/* Whether a member must stay though this sandbox goes: another one at its
 * port, or at its interface, has it too. */
static bool
is_shared(const struct helper *helper, uint32_t number,
    const struct member *member)
{
	const struct guard *guard = &helper->guard;
	const struct guard_sandbox *at = &guard->sandboxes[number];
	bool any = strcmp(member->set, PORTS_ANYMAC) == 0;

	if (!any && !grants_is_shared(guard, member))
		return false;
	for (uint32_t i = 1; i <= guard->sandbox_count; i++)
		if (i != number && !guard->sandboxes[i].left &&
		    guard->sandboxes[i].ifindex == at->ifindex &&
		    (!member->twin || guard->sandboxes[i].port == at->port) &&
		    (any ? !guard_sandbox(guard, i)->has_mac
			 : grants_speak_dhcp(guard, i)))
			return true;
	return false;
}

void
homes_put(struct helper *helper, struct batch *batch, uint32_t number, bool in)
{
	struct member members[HOME_MEMBERS_MAX];
	size_t count = members_of(helper, number, members);

	for (size_t i = 0; i < count; i++) {
		const struct member *member = &members[i];

		batch_family(batch, member_family(member));
		if (in)
			elements_add(batch, member->set, &member->element, 1);
		else if (!is_shared(helper, number, member))
			elements_delete(batch, member->set, &member->element,
			    1);
	}
	batch_family(batch, NFPROTO_INET);
	if (count > 0)
		grants_put_inbound(batch, guard_sandbox(&helper->guard, number),
		    in);
}

/* Adds or deletes what a sandbox has where it is bound now. */
static int
put_homes(struct helper *helper, uint32_t number, bool in)
{
	struct batch batch;

	batch_begin(&batch, &helper->nft);
	homes_put(helper, &batch, number, in);
	return batch_commit(&batch);
}

static bool
has_moved(const struct guard_sandbox *s, struct home home)
{
	return home.index != s->ifindex || home.port != s->port;
}

static void
report(const struct helper *helper, uint32_t number)
{
	const struct guard_sandbox *s = &helper->guard.sandboxes[number];
	const char *name = guard_sandbox(&helper->guard, number)->name;
	const struct link *link = links_indexed(&helper->links, s->ifindex);
	const struct link *port = links_indexed(&helper->links, s->port);

	if (link == NULL)
		log_info("sandbox %s: has no interface now", name);
	else if (port != NULL)
		log_info("sandbox %s: bound to port %s of bridge %s", name,
		    port->name, link->name);
	else
		log_info("sandbox %s: bound to interface %s", name, link->name);
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
	s->ifindex = s->port = 0;
	s->fresh = true;
	return error;
}

/* What all who move have, in or out; who is out is nowhere. Some in one
 * transaction: the kernel waits for every reader at the end of each. */
static int
put_moving(struct helper *helper, bool in)
{
	struct guard *guard = &helper->guard;
	struct batch batch;
	int error = 0;

	batch_begin(&batch, &helper->nft);
	for (uint32_t i = 1; error == 0 && i <= guard->sandbox_count; i++) {
		struct guard_sandbox *s = &guard->sandboxes[i];

		if (!s->moving)
			continue;
		homes_put(helper, &batch, i, in);
		if (!in)
			s->ifindex = s->port = 0;
		if (batch_room(&batch) > MOVE_ROOM)
			continue;
		error = batch_commit(&batch);
		batch_begin(&batch, &helper->nft);
	}
	return error == 0 ? batch_commit(&batch) : error;
}

static bool
mark_moving(struct helper *helper)
{
	struct guard *guard = &helper->guard;
	bool any = false;

	for (uint32_t i = 1; i <= guard->sandbox_count; i++) {
		struct guard_sandbox *s = &guard->sandboxes[i];
		struct home home = home_of(helper, guard_sandbox(guard, i));

		s->moving = has_moved(s, home);
		s->next_ifindex = home.index;
		s->next_port = home.port;
		any |= s->moving;
	}
	return any;
}

static void
arrive(struct helper *helper)
{
	struct guard *guard = &helper->guard;

	for (uint32_t i = 1; i <= guard->sandbox_count; i++) {
		struct guard_sandbox *s = &guard->sandboxes[i];

		if (!s->moving)
			continue;
		s->ifindex = s->next_ifindex;
		s->port = s->next_port;
		s->fresh = true;
	}
}

static void
tell_moving(struct helper *helper)
{
	struct guard *guard = &helper->guard;

	for (uint32_t i = 1; i <= guard->sandbox_count; i++) {
		struct guard_sandbox *s = &guard->sandboxes[i];

		if (!s->moving)
			continue;
		s->moving = false;
		report(helper, i);
		warn(helper, guard_sandbox(guard, i),
		    (struct home){ s->ifindex, s->port });
		tell(helper, i);
	}
}

/* As for one that leaves, and then in again. */
static bool
move(struct helper *helper)
{
	struct flows_cut cut = { 0, 0 };
	int error = put_moving(helper, false);

	if (error == 0)
		error = revoking_drop_moving(helper);
	if (error == 0)
		error = sweep_moving(helper, &cut);
	arrive(helper);
	if (error == 0)
		error = put_moving(helper, true);
	if (error != 0) {
		log_error("sandboxes could not be bound: %s",
		    batch_error_text(error));
		helper->suspect = true;
	}
	tell_moving(helper);
	if (cut.count > 0)
		log_info("%u flows of sandboxes whose interface has changed "
			 "were cut",
		    cut.count);
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
	uploads_leave(helper, number, false);
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

	(void)mark_moving(helper);
	for (uint32_t i = 1; i <= guard->sandbox_count; i++) {
		struct guard_sandbox *s = &guard->sandboxes[i];

		if (s->left && !s->moving)
			tell(helper, i);
		s->left = false;
	}
	(void)move(helper);
	homes_members(helper);
}

void
homes_follow(struct helper *helper)
{
	struct guard *guard = &helper->guard;
	int error = links_refresh(&helper->links);
	bool failed;

	if (error != 0) {
		log_error("links: could not be read: %s", strerror(-error));
		return;
	}
	guard_set_own(guard, helper->links.own, helper->links.own_count,
	    helper->links.own_overflow);
	if (modes_sync(helper, helper_now_ms()) != 0)
		log_error("protected ranges: could not be followed");
	(void)homes_refused(helper);
	if (!mark_moving(helper))
		return;
	failed = !move(helper);
	homes_members(helper);
	/* Where something failed, what is there must not pass for what was
	 * installed: the next look finds the difference, and rebuilds. */
	if (!failed)
		helper_changed(helper, 0);
}
