/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edge_each - see edge_each.h.
 */
#include "lib/text/edge_each.h"

#include <errno.h>
#include <string.h>

#include "lib/text/edge_follow.h"

/* Of an address as text, without its NUL. */
#define TEXT4_MAX 15
#define TEXT6_MAX 39

static struct addr
last_of(const struct prefix *prefix)
{
	struct addr last = prefix->addr;

	for (size_t bit = prefix->bits; bit < addr_size(&last) * 8; bit++)
		last.bytes[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
	return last;
}

static bool
is_nobodys(const struct addr *addr)
{
	enum addr_class class = addr_classify(addr);

	return class == ADDR_UNSPECIFIED || class == ADDR_LOOPBACK ||
	    class == ADDR_MULTICAST || class == ADDR_METADATA ||
	    (addr->family == 6 && class == ADDR_LINK_LOCAL);
}

static int
refuse(struct edge_reader *r, const struct yaml_node *node, const char *reason)
{
	return text_error_at(r->error, r->file, node,
	    "\"%s\" has an address that is %s; with \"each\" all of its "
	    "addresses are sandboxes: write prefixes that leave it out",
	    node->text, reason);
}

/* What no sandbox can be, as for one address. */
static int
check_services(struct edge_reader *r, const struct yaml_node *node,
    const struct prefix *prefix)
{
	const struct settings *s = &r->config->settings;

	for (size_t i = 0; i < s->listen_count; i++)
		if (prefix_contains(prefix, &s->listen[i].addr))
			return refuse(r, node, "in \"listen\" too");
	for (size_t i = 0; i < s->upstream_count; i++)
		if (prefix_contains(prefix, &s->upstream[i].addr))
			return refuse(r, node, "a resolver that is asked");
	for (size_t i = 0; i < s->forward_count; i++)
		for (size_t k = 0; k < s->forward[i].resolver_count; k++)
			if (prefix_contains(prefix,
				&s->forward[i].resolvers[k].addr))
				return refuse(r, node,
				    "a resolver that is asked");
	for (size_t i = 0; i < s->sink_count; i++)
		if (s->sinks[i].transport != 0 &&
		    prefix_contains(prefix, &s->sinks[i].to.addr))
			return refuse(r, node, "a receiver of events");
	return 0;
}

static int
check_prefix(struct edge_reader *r, const struct yaml_node *node,
    const struct edge_sandbox *sandbox, const struct prefix *prefix)
{
	size_t most = prefix->addr.family == 4 ? TEXT4_MAX : TEXT6_MAX;
	struct addr last = last_of(prefix);

	if (prefix->bits == 0 || is_nobodys(&prefix->addr) || is_nobodys(&last))
		return text_error_at(r->error, r->file, node,
		    "\"%s\" has addresses that no sandbox can have; write the "
		    "prefix that they have",
		    node->text);
	if (strlen(sandbox->name) + 1 + most >= EDGE_NAME_MAX)
		return text_error_at(r->error, r->file, node,
		    "\"%s\" is too long a name for a sandbox with \"each\" "
		    "and IPv%u: with its address, a member's has at most 63 "
		    "letters",
		    sandbox->name, (unsigned)prefix->addr.family);
	return check_services(r, node, prefix);
}

/* What is about one machine. */
static int
check_keys(struct edge_reader *r, const struct yaml_node *map)
{
	static const char *const keys[] = { "mac", "listen", "inbound",
		"dhcp" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const struct yaml_node *node = yaml_tree_get(map, keys[i]);

		if (node != NULL)
			return text_error_at(r->error, r->file, node,
			    "\"%s\" is of one sandbox, and with \"each\" this "
			    "one is many; leave it out",
			    keys[i]);
	}
	return 0;
}

int
edge_each_read(struct edge_reader *r, const struct yaml_node *map,
    struct edge_sandbox *sandbox)
{
	const struct yaml_node *list = yaml_tree_get(map, "source");
	int status = check_keys(r, map);

	if (status == 0)
		status = value_list(r->file, list, EDGE_SOURCES_MAX,
		    "[10.200.8.0/24]", r->error);
	if (status == 0 && list->count == 0)
		return text_error_at(r->error, r->file, list,
		    "the list is empty; write the prefixes of this sandbox");
	for (const struct yaml_node *n = list->first; status == 0 && n != NULL;
	     n = n->next) {
		struct prefix *one = &sandbox->prefixes[sandbox->prefix_count];

		status = value_prefix(r->file, n, one, r->error);
		if (status == 0)
			status = check_prefix(r, n, sandbox, one);
		sandbox->prefix_count++;
	}
	r->config->each_count++;
	return status;
}

/* Whether a sandbox, up to its given prefix, has an address of another. */
static bool
meets(const struct edge_sandbox *other, const struct prefix *prefix,
    size_t prefix_count)
{
	for (size_t i = 0; i < other->source_count; i++)
		if (prefix_contains(prefix, &other->sources[i]))
			return true;
	for (size_t i = 0; i < prefix_count; i++)
		if (prefix_overlaps(prefix, &other->prefixes[i]))
			return true;
	return false;
}

static int
check_one(struct edge_reader *r, const struct yaml_node *map, size_t place)
{
	const struct edge_config *config = r->config;
	const struct edge_sandbox *sandbox = &config->sandboxes[place];
	const struct yaml_node *node = yaml_tree_get(map, "source")->first;

	for (size_t i = 0; i < sandbox->prefix_count; i++, node = node->next)
		for (size_t k = 0; k < config->sandbox_count; k++) {
			const struct edge_sandbox *other =
			    &config->sandboxes[k];

			if (meets(other, &sandbox->prefixes[i],
				k == place ? i : other->prefix_count))
				return text_error_at(r->error, r->file, node,
				    "\"%s\" has an address of sandbox \"%s\" "
				    "too; an address is one sandbox's alone",
				    node->text, other->name);
		}
	return 0;
}

int
edge_each_end(struct edge_reader *r, const struct yaml_node *sandboxes)
{
	size_t place = 0;
	int status = 0;

	for (const struct yaml_node *n = sandboxes->first;
	     status == 0 && n != NULL; n = n->next)
		status = check_one(r, n, place++);
	return status;
}

uint32_t
edge_each_overlapping(const struct edge_config *config,
    const struct prefix *prefix)
{
	for (size_t i = 0; i < config->sandbox_count; i++)
		for (size_t k = 0; k < config->sandboxes[i].prefix_count; k++)
			if (prefix_overlaps(prefix,
				&config->sandboxes[i].prefixes[k]))
				return (uint32_t)i + 1;
	return 0;
}

bool
edge_each_covers(const struct edge_sandbox *sandbox, const struct addr *addr)
{
	for (size_t i = 0; i < sandbox->prefix_count; i++)
		if (prefix_contains(&sandbox->prefixes[i], addr))
			return true;
	return false;
}

uint32_t
edge_each_of(const struct edge_config *config, const struct addr *addr)
{
	if (config->each_count == 0)
		return 0;
	for (size_t i = 0; i < config->sandbox_count; i++)
		if (edge_each_covers(&config->sandboxes[i], addr))
			return (uint32_t)i + 1;
	return 0;
}

bool
edge_each_any(const struct edge_config *config)
{
	return config->each_count > 0;
}

void
edge_each_name(const struct edge_sandbox *sandbox, const struct addr *addr,
    char ret[EDGE_NAME_MAX])
{
	char text[ADDR_TEXT_MAX];
	size_t name = strlen(sandbox->name);
	size_t len = addr_print(addr, text);

	if (name + 1 + len >= EDGE_NAME_MAX)
		len = EDGE_NAME_MAX - 2 - name;
	memset(ret, 0, EDGE_NAME_MAX);
	memcpy(ret, sandbox->name, name);
	ret[name] = '/';
	memcpy(ret + name + 1, text, len);
}

/* The address of the network itself is no host's. */
struct addr
edge_each_first(const struct prefix *prefix)
{
	struct addr first = prefix->addr;
	size_t size = addr_size(&first);

	if (prefix->bits + 1u < size * 8)
		first.bytes[size - 1]++;
	return first;
}
