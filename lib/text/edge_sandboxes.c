/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edge_sandboxes - who asks: sandboxes with their addresses and interfaces.
 *
 * An address belongs to one sandbox and to nothing else that the file names;
 * everything that is granted later hangs on that.
 */
#include "lib/text/edge_sandboxes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/edge_each.h"
#include "lib/text/edge_inbound.h"
#include "lib/text/edge_listeners.h"
#include "lib/text/edge_uploads.h"
#include "lib/text/fields.h"

#define SANDBOXES_MAX 4096

/* A source and where it stands, to find the same one twice. */
struct claim {
	struct addr addr;
	const struct yaml_node *node;
	size_t place; /* among all, in the order of the files */
};

static int
refuse_source(struct edge_reader *r, const struct yaml_node *node,
    const char *reason)
{
	return text_error_at(r->error, r->file, node,
	    "\"%s\" is %s; a source is an address that only this sandbox has",
	    node->text, reason);
}

static bool
is_asked(const struct settings *s, const struct addr *addr)
{
	for (size_t i = 0; i < s->upstream_count; i++)
		if (addr_equal(&s->upstream[i].addr, addr))
			return true;
	for (size_t i = 0; i < s->forward_count; i++)
		for (size_t j = 0; j < s->forward[i].resolver_count; j++)
			if (addr_equal(&s->forward[i].resolvers[j].addr, addr))
				return true;
	return false;
}

static bool
is_receiver(const struct settings *s, const struct addr *addr)
{
	for (size_t i = 0; i < s->sink_count; i++)
		if (s->sinks[i].transport != 0 &&
		    addr_equal(&s->sinks[i].to.addr, addr))
			return true;
	return false;
}

static int
read_source(struct edge_reader *r, const struct yaml_node *node,
    struct addr *ret)
{
	const struct settings *s = &r->config->settings;
	enum addr_class class;
	struct prefix prefix;
	int status =
	    value_kind(r->file, node, YAML_SCALAR, "10.200.1.2", r->error);

	if (status == 0 && prefix_parse(node->text, node->len, &prefix) &&
	    strchr(node->text, '/') != NULL)
		return text_error_at(r->error, r->file, node,
		    "\"%s\" is a prefix; where each of its addresses is a "
		    "sandbox of its own, add \"each: true\"",
		    node->text);
	if (status == 0)
		status = value_addr(r->file, node, ret, r->error);
	if (status < 0)
		return status;
	class = addr_classify(ret);
	if (class == ADDR_UNSPECIFIED)
		return refuse_source(r, node, "no host's address");
	if (class == ADDR_LOOPBACK)
		return refuse_source(r, node, "this host's own loopback");
	if (class == ADDR_MULTICAST)
		return refuse_source(r, node, "a multicast address");
	for (size_t i = 0; i < s->listen_count; i++)
		if (addr_equal(&s->listen[i].addr, ret))
			return refuse_source(r, node, "in \"listen\" too");
	if (is_asked(s, ret))
		return refuse_source(r, node, "a resolver that is asked");
	if (is_receiver(s, ret))
		return refuse_source(r, node, "a receiver of events");
	return 0;
}

static int
read_sources(struct edge_reader *r, const struct yaml_node *map,
    struct edge_sandbox *sandbox)
{
	const struct yaml_node *list = yaml_tree_get(map, "source");
	const struct yaml_node *each = yaml_tree_get(map, "each");
	bool is_many = false;
	int status =
	    each == NULL ? 0 : value_bool(r->file, each, &is_many, r->error);

	if (status == 0 && is_many)
		return edge_each_read(r, map, sandbox);
	if (status == 0)
		status = value_list(r->file, list, EDGE_SOURCES_MAX,
		    "[10.200.1.2, \"fd00:200:1::2\"]", r->error);

	if (status == 0 && list->count == 0)
		return text_error_at(r->error, r->file, list,
		    "the list is empty; write the addresses of this sandbox");
	for (const struct yaml_node *n = list->first; status == 0 && n != NULL;
	     n = n->next)
		status = read_source(r, n,
		    &sandbox->sources[sandbox->source_count++]);
	return status;
}

static int
read_interface(struct edge_reader *r, const struct yaml_node *node,
    struct edge_sandbox *sandbox)
{
	int status =
	    value_kind(r->file, node, YAML_SCALAR, "veth-box1", r->error);

	if (status < 0)
		return status;
	if (!text_is_interface(node->text) || strchr(node->text, '*') != NULL)
		return text_error_at(r->error, r->file, node,
		    "\"%s\" is not the name of one interface (1 to 15 octets, "
		    "no star)",
		    node->text);
	if (!settings_governs(&r->config->settings, node->text))
		return text_error_at(r->error, r->file, node,
		    "\"%s\" is not governed; add it to \"edge\"", node->text);
	memcpy(sandbox->interface, node->text, node->len + 1);
	return 0;
}

static int
read_mac(struct edge_reader *r, const struct yaml_node *node,
    struct edge_sandbox *sandbox)
{
	int status = value_kind(r->file, node, YAML_SCALAR,
	    "\"02:00:00:00:00:01\"", r->error);

	if (status < 0)
		return status;
	if (!text_mac(node->text, sandbox->mac))
		return text_error_at(r->error, r->file, node,
		    "\"%s\" is not the hardware address of one interface; "
		    "write one such as \"02:00:00:00:00:01\"",
		    node->text);
	if (sandbox->interface[0] == '\0')
		return text_error_at(r->error, r->file, node,
		    "\"mac\" is looked at where a port of a bridge is named; "
		    "add \"interface\"");
	for (size_t i = 0; i < r->config->sandbox_count; i++) {
		const struct edge_sandbox *other = &r->config->sandboxes[i];

		if (other != sandbox && other->has_mac &&
		    memcmp(other->mac, sandbox->mac, sizeof(other->mac)) == 0)
			return text_error_at(r->error, r->file, node,
			    "\"%s\" is of sandbox \"%s\" already; a hardware "
			    "address is one that only this sandbox has",
			    node->text, other->name);
	}
	sandbox->has_mac = true;
	return 0;
}

static int
read_sandbox_labels(struct edge_reader *r, const struct yaml_node *map,
    struct edge_sandbox *sandbox)
{
	uint16_t count = 0;
	int status;

	sandbox->labels = calloc(SETTINGS_LABELS_MAX, sizeof(*sandbox->labels));
	if (sandbox->labels == NULL)
		return -ENOMEM;
	status = settings_labels_read(r->file, map, sandbox->labels, &count,
	    r->error);
	sandbox->label_count = (uint8_t)count;
	return status;
}

static int
check_sandbox_keys(struct edge_reader *r, const struct yaml_node *map)
{
	int status = value_kind(r->file, map, YAML_MAPPING,
	    "{policy: agent, source: [10.200.1.2]}", r->error);

	if (status == 0)
		status = fields_check(r->file, map, "sandbox.", r->error);
	if (status == 0 && yaml_tree_get(map, "policy") == NULL)
		return text_error_at(r->error, r->file, map->key,
		    "\"policy\" is missing in sandbox \"%s\"", map->key->text);
	if (status == 0 && yaml_tree_get(map, "source") == NULL)
		return text_error_at(r->error, r->file, map->key,
		    "\"source\" is missing in sandbox \"%s\"", map->key->text);
	return status;
}

static int
read_sandbox(struct edge_reader *r, const struct yaml_node *map,
    struct edge_sandbox *sandbox)
{
	const struct yaml_node *node;
	int status = value_word(r->file, map->key, sandbox->name,
	    sizeof(sandbox->name), r->error);

	sandbox->line = map->key->line;
	sandbox->column = map->key->column;
	if (status == 0)
		status = check_sandbox_keys(r, map);
	if (status == 0)
		status = edge_policy_find(r, yaml_tree_get(map, "policy"),
		    &sandbox->policy);
	if (status == 0)
		status = read_sources(r, map, sandbox);
	node = yaml_tree_get(map, "interface");
	if (status == 0 && node != NULL)
		status = read_interface(r, node, sandbox);
	node = yaml_tree_get(map, "mac");
	if (status == 0 && node != NULL)
		status = read_mac(r, node, sandbox);
	node = yaml_tree_get(map, "listen");
	if (status == 0 && node != NULL)
		status = edge_listeners_read(r, node,
		    (uint32_t)r->config->sandbox_count);
	node = yaml_tree_get(map, "inbound");
	if (status == 0 && node != NULL)
		status = edge_inbound_read(r, node, sandbox);
	node = yaml_tree_get(map, "dhcp");
	if (status == 0 && node != NULL)
		status = value_bool(r->file, node, &sandbox->dhcp, r->error);
	if (status == 0)
		status = edge_upload_read(r->file, map, &sandbox->upload,
		    r->error);
	node = yaml_tree_get(map, "labels");
	if (status == 0 && node != NULL)
		status = read_sandbox_labels(r, node, sandbox);
	return status;
}

static int
claim_compare(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;
	int order = addr_compare(&x->addr, &y->addr);

	if (order != 0)
		return order;
	return x->place < y->place ? -1 : 1;
}

static size_t
collect_claims(const struct edge_config *config,
    const struct yaml_node *sandboxes, struct claim *claims)
{
	const struct edge_sandbox *sandbox = config->sandboxes;
	size_t count = 0;

	for (const struct yaml_node *n = sandboxes->first; n != NULL;
	     n = n->next, sandbox++) {
		const struct yaml_node *source =
		    yaml_tree_get(n, "source")->first;

		for (size_t i = 0; i < sandbox->source_count;
		     i++, source = source->next, count++)
			claims[count] =
			    (struct claim){ .addr = sandbox->sources[i],
				    .node = source,
				    .place = count };
	}
	return count;
}

/* That no address has two sandboxes. */
static int
check_claims(struct edge_reader *r, const struct yaml_node *sandboxes)
{
	struct claim *claims =
	    calloc(r->config->sandbox_count * EDGE_SOURCES_MAX,
		sizeof(*claims));
	size_t count;
	int status = 0;

	if (claims == NULL)
		return -ENOMEM;
	count = collect_claims(r->config, sandboxes, claims);
	qsort(claims, count, sizeof(*claims), claim_compare);
	for (size_t i = 1; i < count && status == 0; i++)
		if (addr_equal(&claims[i - 1].addr, &claims[i].addr))
			status =
			    text_error_at(r->error, r->file, claims[i].node,
				"\"%s\" is a source at %s:%u already; a source "
				"is an address that only this sandbox has",
				claims[i].node->text, claims[i - 1].node->file,
				(unsigned)claims[i - 1].node->line);
	free(claims);
	return status;
}

int
edge_sandboxes_read(struct edge_reader *r)
{
	const struct yaml_node *map = yaml_tree_get(r->root, "sandboxes");
	struct edge_config *config = r->config;
	int status = 0;

	if (map == NULL || map->count == 0)
		return 0;
	if (map->count > SANDBOXES_MAX)
		return text_error_at(r->error, r->file, map,
		    "%zu sandboxes; at most %d are allowed", map->count,
		    SANDBOXES_MAX);
	config->sandboxes = calloc(map->count, sizeof(*config->sandboxes));
	if (config->sandboxes == NULL)
		return -ENOMEM;
	for (const struct yaml_node *n = map->first; status == 0 && n != NULL;
	     n = n->next)
		status = read_sandbox(r, n,
		    &config->sandboxes[config->sandbox_count++]);
	if (status == 0)
		status = check_claims(r, map);
	if (status == 0)
		status = edge_each_end(r, map);
	return status < 0 ? status : edge_listeners_end(r, map);
}
