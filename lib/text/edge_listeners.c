/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edge_listeners - see edge_listeners.h.
 */
#include "lib/text/edge_listeners.h"

#include <errno.h>

#include "lib/require.h"
#include "lib/text/edge_each.h"

#define EXAMPLE "127.0.0.2@5301"

static bool
endpoint_equal(const struct endpoint *a, const struct endpoint *b)
{
	return a->port == b->port && addr_equal(&a->addr, &b->addr);
}

static bool
is_among(const struct endpoint *one, const struct endpoint *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (endpoint_equal(&list[i], one))
			return true;
	return false;
}

/* What we ask, or send events to, is no listener of ours. */
static bool
is_others(const struct settings *s, const struct endpoint *one)
{
	if (is_among(one, s->upstream, s->upstream_count))
		return true;
	for (size_t i = 0; i < s->forward_count; i++)
		if (is_among(one, s->forward[i].resolvers,
			s->forward[i].resolver_count))
			return true;
	for (size_t i = 0; i < s->sink_count; i++)
		if (s->sinks[i].transport != 0 &&
		    endpoint_equal(&s->sinks[i].to, one))
			return true;
	return false;
}

static int
read_one(struct edge_reader *r, const struct yaml_node *node,
    struct endpoint *ret)
{
	const struct settings *s = &r->config->settings;
	int status = value_endpoint(r->file, node, ret, r->error);

	if (status == 0)
		status = value_unicast(r->file, node, &ret->addr, r->error);
	if (status < 0)
		return status;
	if (is_among(ret, s->listen, s->listen_count))
		return text_error_at(r->error, r->file, node,
		    "\"%s\" is a listener already; a sandbox's is its own",
		    node->text);
	if (is_others(s, ret))
		return text_error_at(r->error, r->file, node,
		    "\"%s\" is asked, or gets events; write an address or a "
		    "port that is free",
		    node->text);
	return 0;
}

/* By address, behind those of the top level. */
static void
insert(struct edge_config *config, const struct endpoint *one, uint32_t sandbox)
{
	struct settings *s = &config->settings;
	size_t i = s->listen_count++;

	for (; i > 0 && config->listen_of[i - 1] != 0; i--) {
		int order = addr_compare(&s->listen[i - 1].addr, &one->addr);

		if (order < 0 ||
		    (order == 0 && s->listen[i - 1].port < one->port))
			break;
		s->listen[i] = s->listen[i - 1];
		config->listen_of[i] = config->listen_of[i - 1];
	}
	s->listen[i] = *one;
	config->listen_of[i] = sandbox;
}

int
edge_listeners_read(struct edge_reader *r, const struct yaml_node *list,
    uint32_t sandbox)
{
	struct settings *s = &r->config->settings;
	int status = value_list(r->file, list, SETTINGS_LISTEN_LIST_MAX,
	    "[" EXAMPLE "]", r->error);

	for (const struct yaml_node *n = list->first; status == 0 && n != NULL;
	     n = n->next) {
		struct endpoint one = { .port = 0 };

		if (s->listen_count == SETTINGS_LISTEN_MAX)
			return text_error_at(r->error, r->file, n,
			    "\"%s\" is one listener too many; at most %d are "
			    "allowed, those of sandboxes included",
			    n->text, SETTINGS_LISTEN_MAX);
		status = read_one(r, n, &one);
		if (status == 0)
			insert(r->config, &one, sandbox);
	}
	return status;
}

static bool
is_source(const struct edge_config *config, const struct addr *addr)
{
	if (edge_each_of(config, addr) != 0)
		return true;
	for (size_t i = 0; i < config->sandbox_count; i++)
		for (size_t k = 0; k < config->sandboxes[i].source_count; k++)
			if (addr_equal(&config->sandboxes[i].sources[k], addr))
				return true;
	return false;
}

int
edge_listeners_end(struct edge_reader *r, const struct yaml_node *sandboxes)
{
	for (const struct yaml_node *n = sandboxes->first; n != NULL;
	     n = n->next) {
		const struct yaml_node *list = yaml_tree_get(n, "listen");

		if (list == NULL)
			continue;
		for (const struct yaml_node *one = list->first; one != NULL;
		     one = one->next) {
			struct endpoint endpoint;

			if (text_endpoint(one->text, 53, &endpoint) &&
			    is_source(r->config, &endpoint.addr))
				return text_error_at(r->error, r->file, one,
				    "\"%s\" is a sandbox's source; a listener "
				    "is an address of this host",
				    one->text);
		}
	}
	return 0;
}

void
edge_listeners_renumber(struct edge_config *config, const uint32_t *numbers)
{
	for (size_t i = 0; i < config->settings.listen_count; i++)
		if (config->listen_of[i] != 0)
			config->listen_of[i] =
			    numbers[config->listen_of[i] - 1];
}
