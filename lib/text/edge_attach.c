/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edge_attach - see edge_attach.h.
 */
#include "lib/text/edge_attach.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "lib/text/edge_each.h"
#include "lib/text/edge_follow.h"
#include "lib/text/edge_policies.h"

#define POLICIES_MAX 512

static int
read_prefix(struct edge_reader *r, const struct yaml_node *node,
    struct prefix *ret)
{
	enum addr_class class;
	uint32_t each;
	int status = value_prefix(r->file, node, ret, r->error);

	if (status < 0)
		return status;
	class = addr_classify(&ret->addr);
	if (ret->bits == 0)
		return text_error_at(r->error, r->file, node,
		    "\"%s\" is every address; write the prefixes that "
		    "sandboxes have",
		    node->text);
	if (class == ADDR_UNSPECIFIED || class == ADDR_LOOPBACK ||
	    class == ADDR_MULTICAST || class == ADDR_METADATA)
		return text_error_at(r->error, r->file, node,
		    "\"%s\" begins with an address that no sandbox can have "
		    "(%s); write the prefixes that sandboxes have",
		    node->text, addr_class_name(class));
	each = edge_each_overlapping(r->config, ret);
	if (each != 0)
		return text_error_at(r->error, r->file, node,
		    "\"%s\" has addresses of members of sandbox \"%s\"; an "
		    "address is one sandbox's alone",
		    node->text, r->config->sandboxes[each - 1].name);
	return 0;
}

static int
read_prefixes(struct edge_reader *r, const struct yaml_node *list)
{
	struct edge_config *config = r->config;
	int status = value_list(r->file, list, EDGE_ATTACH_PREFIXES_MAX,
	    "[10.200.9.0/24]", r->error);

	if (status == 0 && list->count == 0)
		return text_error_at(r->error, r->file, list,
		    "the list is empty, and nobody could be attached; write "
		    "at least one prefix");
	for (const struct yaml_node *n = list->first; status == 0 && n != NULL;
	     n = n->next) {
		struct prefix *one =
		    &config->attach_prefixes[config->attach_prefix_count];

		status = read_prefix(r, n, one);
		for (size_t i = 0;
		     status == 0 && i < config->attach_prefix_count; i++)
			if (prefix_overlaps(one, &config->attach_prefixes[i]))
				status = text_error_at(r->error, r->file, n,
				    "\"%s\" overlaps one that is in this list "
				    "already; leave one out",
				    n->text);
		config->attach_prefix_count++;
	}
	return status;
}

static int
read_policies(struct edge_reader *r, const struct yaml_node *list)
{
	int status =
	    value_list(r->file, list, POLICIES_MAX, "[agent]", r->error);

	if (status == 0 && list->count == 0)
		return text_error_at(r->error, r->file, list,
		    "the list is empty, and nobody could be attached; write "
		    "at least one policy");
	for (const struct yaml_node *n = list->first; status == 0 && n != NULL;
	     n = n->next) {
		uint32_t index = 0;

		status = edge_policy_find(r, n, &index);
		if (status == 0 && r->config->policies[index].attachable)
			status = text_error_at(r->error, r->file, n,
			    "\"%s\" is in this list twice", n->text);
		if (status == 0)
			r->config->policies[index].attachable = true;
	}
	return status;
}

int
edge_attach_read(struct edge_reader *r)
{
	const struct yaml_node *map = yaml_tree_get(r->root, "attach");
	const struct yaml_node *prefixes, *policies;
	int status;

	if (map == NULL)
		return 0;
	prefixes = yaml_tree_get(map, "prefixes");
	policies = yaml_tree_get(map, "policies");
	if (prefixes == NULL || policies == NULL)
		return text_error_at(r->error, r->file, map,
		    "\"attach\" has no \"%s\"; it says who may be attached, "
		    "such as {prefixes: [10.200.9.0/24], policies: [agent]}",
		    prefixes == NULL ? "prefixes" : "policies");
	status = read_prefixes(r, prefixes);
	return status < 0 ? status : read_policies(r, policies);
}

int
edge_attach_reserve(struct edge_config *config)
{
	uint32_t most = edge_numbers_max(config);
	struct edge_sandbox *room;

	REQUIRE(config->numbers_max == 0);
	room = calloc((size_t)most + 1, sizeof(*room));
	if (room == NULL)
		return -ENOMEM;
	if (config->sandbox_count > 0)
		memcpy(room, config->sandboxes,
		    config->sandbox_count * sizeof(*room));
	free(config->sandboxes);
	config->sandboxes = room;
	config->file_numbers_max = edge_file_numbers_max(config);
	config->numbers_max = most;
	return 0;
}

/* Whether anybody has a number; numbers behind the highest are nobody's. */
static bool
is_taken(const struct edge_config *config, uint32_t number)
{
	return number <= config->sandbox_count &&
	    edge_sandbox_exists(&config->sandboxes[number - 1]);
}

uint32_t
edge_attach_number(const struct edge_config *config)
{
	for (uint32_t i = config->file_numbers_max + 1;
	     i <= config->numbers_max; i++)
		if (!is_taken(config, i))
			return i;
	return 0;
}

static bool
has_source(const struct edge_sandbox *sandbox, const struct addr *addr)
{
	for (size_t i = 0; i < sandbox->source_count; i++)
		if (addr_equal(&sandbox->sources[i], addr))
			return true;
	return false;
}

static bool
is_somebodys(const struct edge_config *config, const struct addr *addr)
{
	for (size_t i = 0; i < config->sandbox_count; i++)
		if (has_source(&config->sandboxes[i], addr))
			return true;
	return false;
}

static bool
is_served(const struct settings *s, const struct addr *addr)
{
	for (size_t i = 0; i < s->listen_count; i++)
		if (addr_equal(&s->listen[i].addr, addr))
			return true;
	for (size_t i = 0; i < s->upstream_count; i++)
		if (addr_equal(&s->upstream[i].addr, addr))
			return true;
	for (size_t i = 0; i < s->forward_count; i++)
		for (size_t j = 0; j < s->forward[i].resolver_count; j++)
			if (addr_equal(&s->forward[i].resolvers[j].addr, addr))
				return true;
	for (size_t i = 0; i < s->sink_count; i++)
		if (s->sinks[i].transport != 0 &&
		    addr_equal(&s->sinks[i].to.addr, addr))
			return true;
	return false;
}

/* What no sandbox can have, whatever a prefix covers. */
static bool
is_own(const struct edge_config *config, const struct protected_ranges *own,
    const struct addr *addr)
{
	enum addr_class class = addr_classify(addr);

	if (class == ADDR_UNSPECIFIED || class == ADDR_LOOPBACK ||
	    class == ADDR_MULTICAST || class == ADDR_METADATA)
		return true;
	for (size_t i = 0; own != NULL && i < own->own_count; i++)
		if (addr_equal(&own->own[i], addr))
			return true;
	return (own != NULL && own->own_overflow) ||
	    is_served(&config->settings, addr);
}

static bool
in_prefixes(const struct edge_config *config, const struct addr *addr)
{
	for (size_t i = 0; i < config->attach_prefix_count; i++)
		if (prefix_contains(&config->attach_prefixes[i], addr))
			return true;
	return false;
}

bool
edge_attach_covers(const struct edge_config *config, const struct addr *addr)
{
	return (in_prefixes(config, addr) || edge_each_of(config, addr) != 0) &&
	    !is_own(config, NULL, addr);
}

static enum edge_attach_error
check_sources(const struct edge_config *config,
    const struct protected_ranges *own, const struct edge_attach *request)
{
	const struct addr *sources = request->sources;

	if (request->source_count == 0 ||
	    request->source_count > EDGE_SOURCES_MAX)
		return EDGE_ATTACH_SOURCES;
	for (size_t i = 0; i < request->source_count; i++) {
		for (size_t k = 0; k < i; k++)
			if (addr_equal(&sources[k], &sources[i]))
				return EDGE_ATTACH_SOURCES;
		if (!in_prefixes(config, &sources[i]))
			return EDGE_ATTACH_PREFIX;
		if (is_own(config, own, &sources[i]))
			return EDGE_ATTACH_OWN;
	}
	return EDGE_ATTACH_OK;
}

/* The sandbox that somebody is a member of; NULL: there is none. */
static const struct edge_sandbox *
each_at(const struct edge_config *config, uint32_t each)
{
	return each > 0 && each <= config->sandbox_count &&
		config->sandboxes[each - 1].prefix_count > 0
	    ? &config->sandboxes[each - 1]
	    : NULL;
}

enum edge_attach_error
edge_attach_check_policy(const struct edge_config *config, uint32_t each,
    uint32_t policy)
{
	const struct edge_sandbox *of = each_at(config, each);

	if (policy >= config->policy_count)
		return EDGE_ATTACH_POLICY;
	return config->policies[policy].attachable ||
		(of != NULL && of->policy == policy)
	    ? EDGE_ATTACH_OK
	    : EDGE_ATTACH_POLICY;
}

/* A member is one address of its prefixes, where all of them are. */
static enum edge_attach_error
check_member(const struct edge_config *config,
    const struct protected_ranges *own, const struct edge_attach *request)
{
	const struct edge_sandbox *of = each_at(config, request->each);

	if (of == NULL)
		return EDGE_ATTACH_EACH;
	if (request->source_count != 1)
		return EDGE_ATTACH_SOURCES;
	if (!edge_each_covers(of, &request->sources[0]))
		return EDGE_ATTACH_PREFIX;
	if (is_own(config, own, &request->sources[0]))
		return EDGE_ATTACH_OWN;
	if (of->interface[0] != '\0' && request->interface[0] != '\0' &&
	    strcmp(of->interface, request->interface) != 0)
		return EDGE_ATTACH_INTERFACE;
	return EDGE_ATTACH_OK;
}

enum edge_attach_error
edge_attach_check(const struct edge_config *config,
    const struct protected_ranges *own, uint32_t number,
    const struct edge_attach *request)
{
	enum edge_attach_error error;

	if (config->attach_prefix_count == 0 && request->each == 0)
		return EDGE_ATTACH_OFF;
	if (number <= config->file_numbers_max || number > config->numbers_max)
		return EDGE_ATTACH_NUMBER;
	if (is_taken(config, number))
		return EDGE_ATTACH_NUMBER;
	error =
	    edge_attach_check_policy(config, request->each, request->policy);
	if (error == EDGE_ATTACH_OK)
		error = request->each != 0
		    ? check_member(config, own, request)
		    : check_sources(config, own, request);
	if (error != EDGE_ATTACH_OK)
		return error;
	for (size_t i = 0; i < request->source_count; i++)
		if (is_somebodys(config, &request->sources[i]))
			return EDGE_ATTACH_TAKEN;
	if (request->interface[0] != '\0' &&
	    !settings_governs(&config->settings, request->interface))
		return EDGE_ATTACH_INTERFACE;
	if (config->attached_count >= config->settings.attach_count_max)
		return EDGE_ATTACH_COUNT;
	return EDGE_ATTACH_OK;
}

void
edge_attach_put(struct edge_config *config, uint32_t number,
    const struct edge_attach *request)
{
	struct edge_sandbox *sandbox;

	REQUIRE(number > config->file_numbers_max);
	REQUIRE(number <= config->numbers_max);
	REQUIRE(!is_taken(config, number));
	REQUIRE(request->name[0] != '\0');
	sandbox = &config->sandboxes[number - 1];
	memset(sandbox, 0, sizeof(*sandbox));
	memcpy(sandbox->name, request->name, sizeof(sandbox->name));
	memcpy(sandbox->sources, request->sources, sizeof(sandbox->sources));
	memcpy(sandbox->interface, request->interface,
	    sizeof(sandbox->interface));
	sandbox->source_count = request->source_count;
	sandbox->policy = request->policy;
	sandbox->each = request->each;
	if (request->each != 0)
		sandbox->upload = config->sandboxes[request->each - 1].upload;
	sandbox->attached = true;
	config->attached_count++;
	if (config->sandbox_count < number)
		config->sandbox_count = number;
}

void
edge_attach_drop(struct edge_config *config, uint32_t number)
{
	struct edge_sandbox *sandbox;

	REQUIRE(number > 0 && number <= config->sandbox_count);
	sandbox = &config->sandboxes[number - 1];
	REQUIRE(sandbox->attached);
	memset(sandbox, 0, sizeof(*sandbox));
	config->attached_count--;
}

static bool
find_policy(const struct edge_config *config, const char *name, uint32_t *ret)
{
	for (size_t i = 0; i < config->policy_count; i++) {
		if (strcmp(config->policies[i].name, name) != 0)
			continue;
		*ret = (uint32_t)i;
		return true;
	}
	return false;
}

/* A policy goes by name; a member that has its sandbox's gets what that has
 * from now on. */
static bool
carry_policy(const struct edge_config *next, const struct edge_config *before,
    const struct edge_sandbox *sandbox, uint32_t *ret)
{
	const struct edge_sandbox *was = each_at(before, sandbox->each);
	const struct edge_sandbox *of = each_at(next, sandbox->each);

	if (was != NULL && of != NULL && was->policy == sandbox->policy) {
		*ret = of->policy;
		return true;
	}
	return find_policy(next, before->policies[sandbox->policy].name, ret);
}

enum edge_attach_error
edge_attach_carry(struct edge_config *next, const struct edge_config *before,
    uint32_t number)
{
	const struct edge_sandbox *sandbox;
	struct edge_attach request = { .policy = 0 };
	enum edge_attach_error error;

	REQUIRE(number > 0 && number <= before->sandbox_count);
	sandbox = &before->sandboxes[number - 1];
	REQUIRE(sandbox->attached);
	request.each = sandbox->each;
	request.source_count = sandbox->source_count;
	memcpy(request.name, sandbox->name, sizeof(request.name));
	memcpy(request.sources, sandbox->sources, sizeof(request.sources));
	memcpy(request.interface, sandbox->interface,
	    sizeof(request.interface));
	if (!carry_policy(next, before, sandbox, &request.policy))
		return next->attach_prefix_count == 0 ? EDGE_ATTACH_OFF
						      : EDGE_ATTACH_POLICY;
	error = edge_attach_check(next, NULL, number, &request);
	if (error == EDGE_ATTACH_OK)
		edge_attach_put(next, number, &request);
	return error;
}

const char *
edge_attach_text(enum edge_attach_error error)
{
	switch (error) {
	case EDGE_ATTACH_OK:
		return "it may be attached";
	case EDGE_ATTACH_OFF:
		return "the configuration has no \"attach\", so nobody may be "
		       "attached";
	case EDGE_ATTACH_NUMBER:
		return "its number is not one that is free for it";
	case EDGE_ATTACH_EACH:
		return "it is a member of what is no sandbox with \"each\"";
	case EDGE_ATTACH_SOURCES:
		return "a sandbox has 1 to 8 source addresses, each once";
	case EDGE_ATTACH_POLICY:
		return "its policy is not in attach.policies";
	case EDGE_ATTACH_PREFIX:
		return "a source address is outside attach.prefixes, or the "
		       "prefixes of its sandbox";
	case EDGE_ATTACH_OWN:
		return "a source address is this host's, or of a server or "
		       "receiver in the configuration";
	case EDGE_ATTACH_TAKEN:
		return "a source address is of another sandbox";
	case EDGE_ATTACH_INTERFACE:
		return "its interface is none of \"edge\"";
	case EDGE_ATTACH_COUNT:
		return "attach.count_max sandboxes are attached already, "
		       "members included";
	}
	UNREACHABLE();
}
