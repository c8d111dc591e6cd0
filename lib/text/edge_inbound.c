/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edge_inbound - see edge_inbound.h. The kernel's set of these takes no two
 * elements that overlap, so the file may not have them either.
 */
#include "lib/text/edge_inbound.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EXAMPLE "192.0.2.0/28 tcp/8080"

static int
refuse_form(struct edge_reader *r, const struct yaml_node *node)
{
	return text_error_at(r->error, r->file, node,
	    "\"%s\" is not PREFIX tcp/PORT or PREFIX udp/PORT; write one such "
	    "as " EXAMPLE,
	    node->text);
}

static bool
has_family(const struct edge_sandbox *sandbox, uint8_t family)
{
	for (size_t i = 0; i < sandbox->source_count; i++)
		if (sandbox->sources[i].family == family)
			return true;
	return false;
}

static bool
same_service(struct service a, struct service b)
{
	return a.protocol == b.protocol && a.port == b.port;
}

static bool
is_covered(const struct edge_sandbox *sandbox, const struct edge_inbound *one)
{
	for (size_t i = 0; i < sandbox->inbound_count; i++)
		if (same_service(sandbox->inbound[i].service, one->service) &&
		    prefix_overlaps(&sandbox->inbound[i].from, &one->from))
			return true;
	return false;
}

static int
read_one(struct edge_reader *r, const struct yaml_node *node,
    struct edge_inbound *ret)
{
	const char *space;
	size_t len;
	int status = value_kind(r->file, node, YAML_SCALAR, EXAMPLE, r->error);

	if (status < 0)
		return status;
	space = strchr(node->text, ' ');
	if (space == NULL)
		return refuse_form(r, node);
	len = (size_t)(space - node->text);
	if (!prefix_parse(node->text, len, &ret->from) ||
	    strchr(space, '/') == NULL ||
	    !edge_service_parse(space + 1, node->len - len - 1, &ret->service))
		return refuse_form(r, node);
	return 0;
}

int
edge_inbound_read(struct edge_reader *r, const struct yaml_node *list,
    struct edge_sandbox *sandbox)
{
	int status = value_list(r->file, list, EDGE_INBOUND_MAX,
	    "[" EXAMPLE "]", r->error);

	sandbox->inbound = calloc(EDGE_INBOUND_MAX, sizeof(*sandbox->inbound));
	if (sandbox->inbound == NULL)
		return -ENOMEM;
	for (const struct yaml_node *n = list->first; status == 0 && n != NULL;
	     n = n->next) {
		struct edge_inbound one;

		status = read_one(r, n, &one);
		if (status < 0)
			return status;
		if (!has_family(sandbox, one.from.addr.family))
			return text_error_at(r->error, r->file, n,
			    "\"%s\" is of IPv%u, and the sandbox has no such "
			    "source",
			    n->text, one.from.addr.family);
		if (is_covered(sandbox, &one))
			return text_error_at(r->error, r->file, n,
			    "\"%s\" overlaps one before it in this list; "
			    "leave one out",
			    n->text);
		sandbox->inbound[sandbox->inbound_count++] = one;
	}
	return status;
}

bool
edge_inbound_lets(const struct edge_sandbox *sandbox, const struct addr *from,
    const struct addr *source, struct service service)
{
	bool own = false;

	for (size_t i = 0; i < sandbox->source_count; i++)
		own |= addr_equal(&sandbox->sources[i], source);
	own = own && from->family == source->family;
	for (size_t i = 0; own && i < sandbox->inbound_count; i++)
		if (same_service(sandbox->inbound[i].service, service) &&
		    prefix_contains(&sandbox->inbound[i].from, from))
			return true;
	return false;
}
