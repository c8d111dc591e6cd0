/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edge_mode - see edge_mode.h.
 */
#include "lib/text/edge_mode.h"

#include <errno.h>
#include <string.h>

#include "lib/require.h"

static int
refuse(struct edge_reader *r, const struct yaml_node *node)
{
	return text_error_at(r->error, r->file, node,
	    "\"%s\" needs rules of our own, and with \"mode: sets\" they are "
	    "yours; leave it out",
	    node->key->text);
}

/* The first of some keys that a map has. */
static int
refuse_any(struct edge_reader *r, const struct yaml_node *map,
    const char *const *keys, size_t count)
{
	for (size_t i = 0; map != NULL && i < count; i++) {
		const struct yaml_node *node = yaml_tree_get(map, keys[i]);

		if (node != NULL)
			return refuse(r, node);
	}
	return 0;
}

static int
check_sandboxes(struct edge_reader *r)
{
	static const char *const keys[] = { "mac", "inbound", "dhcp",
		"upload", "each" };
	const struct yaml_node *map = yaml_tree_get(r->root, "sandboxes");
	int status = 0;

	if (map == NULL)
		return 0;
	for (const struct yaml_node *n = map->first; status == 0 && n != NULL;
	     n = n->next)
		status = refuse_any(r, n, keys, ARRAY_LEN(keys));
	return status;
}

/* Quotas are rules of our own, too. */
static int
check_uploads(struct edge_reader *r, const struct yaml_node *policy)
{
	static const char *const keys[] = { "upload" };
	const struct yaml_node *allow = yaml_tree_get(policy, "allow");
	int status = refuse_any(r, policy, keys, ARRAY_LEN(keys));

	for (const struct yaml_node *n = allow != NULL ? allow->first : NULL;
	     status == 0 && n != NULL; n = n->next)
		if (n->kind == YAML_MAPPING)
			status = refuse_any(r, n, keys, ARRAY_LEN(keys));
	return status;
}

static int
check_policies(struct edge_reader *r)
{
	const struct yaml_node *map = yaml_tree_get(r->root, "policies");

	if (map == NULL)
		return 0;
	for (const struct yaml_node *n = map->first; n != NULL; n = n->next) {
		const struct yaml_node *mode = yaml_tree_get(n, "mode");

		if (mode != NULL && strcmp(mode->text, "audit") == 0)
			return text_error_at(r->error, r->file, mode,
			    "\"mode: audit\" opens everything, and with "
			    "\"nft: {mode: sets}\" only your rules could; "
			    "leave it out");
		if (check_uploads(r, n) < 0)
			return -EINVAL;
	}
	return 0;
}

static int
check_required(struct edge_reader *r, const struct yaml_node *nft)
{
	static const char *const keys[] = { "table", "pins4", "pins6" };

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (yaml_tree_get(nft, keys[i]) == NULL)
			return text_error_at(r->error, r->file, nft->key,
			    "\"%s\" is missing; with \"mode: sets\" write "
			    "{mode: sets, family: inet, table: filter, pins4: "
			    "agent_pins4, pins6: agent_pins6}",
			    keys[i]);
	if (strcmp(r->config->settings.nft_pins4,
		r->config->settings.nft_pins6) == 0)
		return text_error_at(r->error, r->file,
		    yaml_tree_get(nft, "pins6"),
		    "\"%s\" is \"pins4\" too; IPv6 needs a set of its own",
		    r->config->settings.nft_pins6);
	return 0;
}

static int
check_sets(struct edge_reader *r, const struct yaml_node *nft)
{
	static const char *const tops[] = { "edge", "attach" };
	static const char *const parts[] = { "priority", "masquerade",
		"log_group", "log_rate" };
	static const char *const limits[] = { "flows_per_sandbox" };
	int status = check_required(r, nft);

	if (status == 0)
		status = refuse_any(r, r->root, tops, ARRAY_LEN(tops));
	if (status == 0)
		status = refuse_any(r, nft, parts, ARRAY_LEN(parts));
	if (status == 0)
		status = refuse_any(r, yaml_tree_get(r->root, "limits"), limits,
		    ARRAY_LEN(limits));
	if (status == 0)
		status = check_sandboxes(r);
	return status < 0 ? status : check_policies(r);
}

int
edge_mode_check(struct edge_reader *r)
{
	static const char *const keys[] = { "family", "pins4", "pins6" };
	const struct yaml_node *nft = yaml_tree_get(r->root, "nft");

	if (r->config->settings.nft_sets) {
		REQUIRE(nft != NULL);
		return check_sets(r, nft);
	}
	for (size_t i = 0; nft != NULL && i < ARRAY_LEN(keys); i++) {
		const struct yaml_node *node = yaml_tree_get(nft, keys[i]);

		if (node != NULL)
			return text_error_at(r->error, r->file, node,
			    "\"%s\" goes with \"mode: sets\"; leave it out",
			    keys[i]);
	}
	return 0;
}
