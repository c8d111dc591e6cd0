/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * grants - see grants.h. DHCP is spoken before there is an address, so it
 * hangs on the interface: from no address, from a link-local one, and from
 * the sandbox's own.
 */
#include "config.h"

#include "src/helper/grants.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/netfilter.h>

#include "lib/require.h"
#include "lib/text/edge_inbound.h"
#include "src/helper/log.h"
#include "src/helper/sweep.h"
#include "src/helper/sync.h"

static const struct prefix nobody4 = { .addr = { .family = 4 }, .bits = 32 };
static const struct prefix local6 = {
	.addr = { .family = 6, .bytes = { 0xfe, 0x80 } },
	.bits = 10,
};

/* One in quarantine speaks to nobody, this host included. */
bool
grants_speak_dhcp(const struct guard *guard, uint32_t number)
{
	return guard_sandbox(guard, number)->dhcp &&
	    !guard->sandboxes[number].quarantined;
}

size_t
grants_dhcp(const struct edge_sandbox *sandbox, uint32_t ifindex, bool port,
    struct member ret[GRANTS_DHCP_MAX])
{
	size_t count = 0;

	ret[count++] = (struct member){ "dhcp4",
		element_home_prefix(ifindex, &nobody4), false };
	ret[count++] = (struct member){ "dhcp6",
		element_home_prefix(ifindex, &local6), false };
	for (size_t i = 0; i < sandbox->source_count; i++)
		ret[count++] = (struct member){
			.set =
			    element_set("dhcp4", "dhcp6", &sandbox->sources[i]),
			.element = element_home(ifindex, &sandbox->sources[i]),
		};
	if (port)
		ret[count++] = (struct member){ PORTS_DHCP,
			element_port(sandbox->interface), true };
	return count;
}

size_t
grants_newcomers(const struct edge_sandbox *sandbox, uint32_t ifindex,
    struct member ret[GRANTS_NEWCOMERS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < sandbox->prefix_count; i++) {
		const struct prefix *prefix = &sandbox->prefixes[i];
		struct element element = element_home_prefix(ifindex, prefix);

		ret[count++] = (struct member){
			.set = element_set("each4", "each6", &prefix->addr),
			.element = element,
		};
		ret[count++] = (struct member){
			.set = element_set("turned4", "turned6", &prefix->addr),
			.element = element,
		};
	}
	return count;
}

bool
grants_is_shared(const struct guard *guard, const struct member *member)
{
	struct addr addr;
	uint32_t ifindex;

	if (strcmp(member->set, PORTS_DHCP) == 0)
		return true;
	return strncmp(member->set, "dhcp", 4) == 0 &&
	    element_read_home(&member->element, &ifindex, &addr) &&
	    guard_whose(guard, &addr) == 0;
}

size_t
grants_inbound_room(const struct edge_config *config)
{
	size_t room = 0;

	for (size_t i = 0; i < config->sandbox_count; i++)
		room += (size_t)config->sandboxes[i].inbound_count *
		    config->sandboxes[i].source_count;
	return room;
}

/* One entry, for each source of its family. */
static size_t
put_entry(const struct edge_sandbox *sandbox, const struct edge_inbound *entry,
    struct member *ret)
{
	size_t count = 0;

	for (size_t i = 0; i < sandbox->source_count; i++) {
		const struct addr *source = &sandbox->sources[i];

		if (source->family != entry->from.addr.family)
			continue;
		ret[count++] = (struct member){
			.set = element_set("inbound4", "inbound6", source),
			.element = element_inbound(&entry->from, source,
			    entry->service),
		};
	}
	return count;
}

size_t
grants_inbound(const struct edge_sandbox *sandbox, struct member *ret)
{
	size_t count = 0;

	for (size_t i = 0; i < sandbox->inbound_count; i++)
		count += put_entry(sandbox, &sandbox->inbound[i], ret + count);
	return count;
}

void
grants_put_inbound(struct batch *batch, const struct edge_sandbox *sandbox,
    bool in)
{
	batch_family(batch, NFPROTO_INET);
	for (size_t i = 0; i < sandbox->inbound_count; i++) {
		struct member members[EDGE_SOURCES_MAX];
		size_t count =
		    put_entry(sandbox, &sandbox->inbound[i], members);

		for (size_t k = 0; k < count; k++)
			if (in)
				elements_add(batch, members[k].set,
				    &members[k].element, 1);
			else
				elements_delete(batch, members[k].set,
				    &members[k].element, 1);
	}
}

static const struct granted_set {
	uint8_t family;
	const char *name;
} granted[] = {
	{ NFPROTO_INET, "inbound4" },
	{ NFPROTO_INET, "inbound6" },
	{ NFPROTO_INET, "dhcp4" },
	{ NFPROTO_INET, "dhcp6" },
	{ NFPROTO_BRIDGE, PORTS_DHCP },
};

static bool
is_granted(const struct member *member)
{
	for (size_t i = 0; i < ARRAY_LEN(granted); i++)
		if (strcmp(granted[i].name, member->set) == 0)
			return true;
	return false;
}

/* Those of the helper's members that are of these sets. */
static size_t
wanted_of(const struct helper *helper, struct member *ret)
{
	size_t count = 0;

	for (size_t i = 0; i < helper->member_count; i++)
		if (is_granted(&helper->members[i]))
			ret[count++] = helper->members[i];
	return count;
}

static int
bring(struct helper *helper, struct sync *sync)
{
	struct member *wanted =
	    calloc(helper->member_count + 1, sizeof(*wanted));
	struct batch batch;
	int error = wanted != NULL ? 0 : -ENOMEM;

	for (size_t i = 0; i < ARRAY_LEN(granted) && error == 0; i++)
		error = sync_collect(sync, &helper->nft, granted[i].family,
		    granted[i].name);
	if (error == 0) {
		batch_begin(&batch, &helper->nft);
		error =
		    sync_put(sync, &batch, wanted, wanted_of(helper, wanted));
	}
	if (error == 0)
		error = batch_commit(&batch);
	free(wanted);
	return error;
}

int
grants_follow(struct helper *helper)
{
	struct sync sync = { .there = NULL };
	struct flows_cut cut = { 0, 0 };
	int error = bring(helper, &sync);

	sync_free(&sync);
	if (error == 0)
		error = sweep_uninvited(helper, &cut);
	if (cut.count != 0)
		log_info("reload: %u flows to sandboxes that may not be open "
			 "any more were cut",
		    cut.count);
	return error;
}
