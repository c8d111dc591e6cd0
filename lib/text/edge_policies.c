/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edge_policies - policies as the guard of the kernel sees them: the ports
 * and the private prefixes that their rules name.
 *
 * The shape of rules is settled here, for both programs; names are left to
 * policy_text.
 */
#include "lib/text/edge_policies.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "lib/text/edge_uploads.h"
#include "lib/text/fields.h"

#define POLICIES_MAX 512
#define USE_MAX      16

static int
service_insert(struct service **services, size_t *count,
    const struct service *one)
{
	struct service *list = *services;
	size_t at = 0;

	while (at < *count && edge_service_compare(&list[at], one) < 0)
		at++;
	if (at < *count && edge_service_compare(&list[at], one) == 0)
		return 0;
	list = text_grow(list, *count, sizeof(*list));
	if (list == NULL)
		return -ENOMEM;
	*services = list;
	memmove(&list[at + 1], &list[at], (*count - at) * sizeof(*list));
	list[at] = *one;
	++*count;
	return 0;
}

static int
services_add(struct edge_policy *policy, const struct service *services,
    size_t count)
{
	int status = 0;

	for (size_t i = 0; i < count && status == 0; i++)
		status = service_insert(&policy->services,
		    &policy->service_count, &services[i]);
	return status;
}

static int
unmetered_add(struct edge_policy *policy, const struct service *services,
    size_t count)
{
	int status = 0;

	for (size_t i = 0; i < count && status == 0; i++)
		status = service_insert(&policy->unmetered,
		    &policy->unmetered_count, &services[i]);
	return status;
}

static int
private_insert(struct edge_policy *policy, const struct prefix *one)
{
	struct prefix *list = policy->private_ok;

	for (size_t i = 0; i < policy->private_count; i++)
		if (list[i].bits == one->bits &&
		    addr_equal(&list[i].addr, &one->addr))
			return 0;
	list = text_grow(list, policy->private_count, sizeof(*list));
	if (list == NULL)
		return -ENOMEM;
	policy->private_ok = list;
	list[policy->private_count++] = *one;
	return 0;
}

static bool
is_list_name(const struct yaml_node *node)
{
	return node->len > 0 && node->len < EDGE_NAME_MAX &&
	    strspn(node->text, "abcdefghijklmnopqrstuvwxyz0123456789-") ==
	    node->len &&
	    node->text[0] != '-';
}

/* Notes a list that must be read. */
static int
want_list(struct edge_reader *r, const struct yaml_node *node)
{
	struct edge_config *config = r->config;
	char(*lists)[EDGE_NAME_MAX];
	int status = value_kind(r->file, node, YAML_SCALAR,
	    "certificate-authorities", r->error);

	if (status < 0)
		return status;
	if (!is_list_name(node))
		return text_error_at(r->error, r->file, node,
		    "\"%s\" is not the name of a list: a-z, 0-9 and \"-\", "
		    "without \".zone\" and without a folder",
		    node->text);
	for (size_t i = 0; i < config->list_count; i++)
		if (strcmp(config->lists[i], node->text) == 0)
			return 0;
	lists = text_grow(config->lists, config->list_count, sizeof(*lists));
	if (lists == NULL)
		return -ENOMEM;
	config->lists = lists;
	memset(lists[config->list_count], 0, sizeof(*lists));
	memcpy(lists[config->list_count++], node->text, node->len);
	return 0;
}

/* What one rule opens. */
struct terms {
	struct service services[EDGE_SERVICES_MAX];
	struct prefix private_ok[EDGE_PRIVATE_MAX];
	uint8_t service_count, private_count;
	struct edge_upload upload; /* octets 0: none */
};

/* `github.com: 443` in a list of rules: a map with a name for its key. */
static bool
is_colon_trap(const struct yaml_node *map)
{
	return map->count == 1 && map->first->kind == YAML_SCALAR &&
	    strpbrk(map->first->key->text, ".:*") != NULL;
}

static int
read_rule_target(struct edge_reader *r, const struct yaml_node *map)
{
	const struct yaml_node *name = yaml_tree_get(map, "name");
	const struct yaml_node *list = yaml_tree_get(map, "list");

	if ((name == NULL) == (list == NULL))
		return text_error_at(r->error, r->file, map,
		    "a rule has exactly one of \"name\" and \"list\"");
	if (list != NULL)
		return want_list(r, list);
	return value_kind(r->file, name, YAML_SCALAR, "\"*.example.com\"",
	    r->error);
}

/* Keys of a rule that make no sense where it stands. */
static int
check_rule_keys(struct edge_reader *r, const struct yaml_node *map, bool deny)
{
	static const char *const opening[] = { "ports", "types", "budget",
		"upload", "private", "addresses" };
	const struct yaml_node *until = yaml_tree_get(map, "until");
	bool list = yaml_tree_get(map, "list") != NULL;

	if (deny && until != NULL)
		return text_error_at(r->error, r->file, until->key,
		    "a rule under deny has no date: its end would open "
		    "something; leave \"until\" out");
	for (size_t i = 0; i < ARRAY_LEN(opening); i++) {
		const struct yaml_node *n = yaml_tree_get(map, opening[i]);

		if (n == NULL)
			continue;
		if (deny)
			return text_error_at(r->error, r->file, n->key,
			    "a rule under deny opens nothing; leave \"%s\" "
			    "out",
			    opening[i]);
		if (list && i >= 4)
			return text_error_at(r->error, r->file, n->key,
			    "\"%s\" belongs to a rule with a name, not to a "
			    "list",
			    opening[i]);
	}
	return 0;
}

static uint64_t
rule_of(const struct yaml_node *map)
{
	const struct yaml_node *name = yaml_tree_get(map, "name");
	const struct yaml_node *list = yaml_tree_get(map, "list");
	const struct yaml_node *node = name != NULL ? name : list;

	return edge_upload_rule(node->text, node->len, name == NULL);
}

static int
read_rule_map(struct edge_reader *r, const struct yaml_node *map, bool deny,
    struct terms *terms)
{
	const struct yaml_node *ports, *private_ok;
	int status;

	if (is_colon_trap(map))
		return value_kind(r->file, map, YAML_SCALAR, "github.com:443",
		    r->error);
	status = fields_check(r->file, map, "rule.", r->error);
	if (status == 0)
		status = read_rule_target(r, map);
	if (status == 0)
		status = check_rule_keys(r, map, deny);
	ports = yaml_tree_get(map, "ports");
	if (status == 0 && ports != NULL)
		status = edge_ports_read(r->file, ports, terms->services,
		    &terms->service_count, r->error);
	private_ok = yaml_tree_get(map, "private");
	if (status == 0 && private_ok != NULL)
		status = edge_private_read(r->file, private_ok,
		    terms->private_ok, &terms->private_count, r->error);
	if (status == 0)
		status = edge_upload_read(r->file, map, &terms->upload.octets,
		    r->error);
	if (status == 0)
		terms->upload.rule = rule_of(map);
	return status;
}

static int
read_rule_text(struct edge_reader *r, const struct yaml_node *rule,
    const struct yaml_node *before, bool deny, struct terms *terms)
{
	struct service port;
	size_t name_len;
	int status;

	if (edge_service_parse(rule->text, rule->len, &port) &&
	    before != NULL && before->kind == YAML_SCALAR)
		return text_error_at(r->error, r->file, rule,
		    "\"%s\" is a port that the comma cut off; put the rule in "
		    "quotes: \"%s,%s\"",
		    rule->text, before->text, rule->text);
	status = edge_rule_split(r->file, rule, &name_len, terms->services,
	    &terms->service_count, r->error);
	if (status == 0)
		terms->upload.rule =
		    edge_upload_rule(rule->text, name_len, false);
	if (status == 0 && deny && terms->service_count > 0)
		return text_error_at(r->error, r->file, rule,
		    "a rule under deny opens nothing; write \"%.*s\" without "
		    "ports",
		    (int)name_len, rule->text);
	return status;
}

/* Adds what one rule opens to its policy. */
static int
add_terms(struct edge_policy *policy, const struct terms *terms,
    const struct terms *fallback)
{
	const struct terms *from = terms->service_count > 0 ? terms : fallback;
	struct edge_upload upload = terms->upload;
	int status = services_add(policy, from->services, from->service_count);

	if (upload.octets == 0)
		upload.octets = fallback->upload.octets;
	if (status == 0 && upload.octets != 0)
		status = edge_upload_insert(policy, &upload);
	else if (status == 0)
		status =
		    unmetered_add(policy, from->services, from->service_count);
	for (size_t i = 0; i < terms->private_count && status == 0; i++)
		status = private_insert(policy, &terms->private_ok[i]);
	return status;
}

static int
read_rules(struct edge_reader *r, const struct yaml_node *list,
    struct edge_policy *policy, const struct terms *fallback, bool deny)
{
	const struct yaml_node *before = NULL;
	int status = value_list(r->file, list, SIZE_MAX,
	    deny ? "[gist.github.com]" : "[github.com]", r->error);

	for (const struct yaml_node *n = list->first; status == 0 && n != NULL;
	     before = n, n = n->next) {
		struct terms terms = { 0 };

		if (n->kind == YAML_MAPPING)
			status = read_rule_map(r, n, deny, &terms);
		else
			status = value_kind(r->file, n, YAML_SCALAR,
			    "github.com:443", r->error);
		if (status == 0 && n->kind == YAML_SCALAR)
			status = read_rule_text(r, n, before, deny, &terms);
		if (status == 0 && !deny)
			status = add_terms(policy, &terms, fallback);
	}
	return status;
}

/* The ports of rules that name none. */
static int
read_default_ports(struct edge_reader *r, const struct yaml_node *map,
    struct terms *ret)
{
	const struct yaml_node *ports = yaml_tree_get(map, "ports"), *n;
	int status;

	*ret = (struct terms){ .services = { { PROTO_TCP, 443 } },
		.service_count = 1 };
	if (ports == NULL)
		return 0;
	status = edge_ports_read(r->file, ports, ret->services,
	    &ret->service_count, r->error);
	if (status < 0)
		return status;
	n = ports->first;
	for (size_t i = 0; i < ret->service_count; i++, n = n->next)
		if (ret->services[i].port == 53 || ret->services[i].port == 853)
			return text_error_at(r->error, r->file, n,
			    "\"%s\" would open other resolvers to every rule; "
			    "name it in the \"ports\" of the rules that need "
			    "it",
			    n->text);
	return 0;
}

static int
read_mode(struct edge_reader *r, const struct yaml_node *map, bool *ret_audit)
{
	static const char *const modes[] = { "enforce", "audit", NULL };
	const struct yaml_node *node = yaml_tree_get(map, "mode");
	size_t index = 0;
	int status = node == NULL
	    ? 0
	    : value_choice(r->file, node, modes, &index, r->error);

	*ret_audit = index == 1;
	return status;
}

/* The rules of a policy itself; what it uses is added later. */
static int
read_policy(struct edge_reader *r, const struct yaml_node *map,
    struct edge_policy *policy)
{
	const struct yaml_node *allow, *deny;
	struct terms fallback;
	int status = value_word(r->file, map->key, policy->name,
	    sizeof(policy->name), r->error);

	policy->line = map->key->line;
	policy->column = map->key->column;
	if (status == 0)
		status = value_kind(r->file, map, YAML_MAPPING, "{allow: []}",
		    r->error);
	if (status == 0)
		status = fields_check(r->file, map, "policy.", r->error);
	if (status == 0)
		status = read_mode(r, map, &policy->audit);
	if (status == 0)
		status = read_default_ports(r, map, &fallback);
	if (status == 0)
		status = edge_upload_read(r->file, map, &fallback.upload.octets,
		    r->error);
	allow = yaml_tree_get(map, "allow");
	if (status == 0 && allow != NULL)
		status = read_rules(r, allow, policy, &fallback, false);
	deny = yaml_tree_get(map, "deny");
	if (status == 0 && deny != NULL)
		status = read_rules(r, deny, policy, &fallback, true);
	return status;
}

int
edge_policy_find(struct edge_reader *r, const struct yaml_node *node,
    uint32_t *ret)
{
	const struct edge_config *config = r->config;
	const char *names[POLICIES_MAX], *nearest;
	int status = value_kind(r->file, node, YAML_SCALAR, "agent", r->error);

	if (status < 0)
		return status;
	for (size_t i = 0; i < config->policy_count; i++) {
		names[i] = config->policies[i].name;
		if (strcmp(names[i], node->text) == 0) {
			*ret = (uint32_t)i;
			return 0;
		}
	}
	nearest = text_nearest(node->text, names, config->policy_count);
	if (nearest != NULL)
		return text_error_at(r->error, r->file, node,
		    "there is no policy \"%s\"; did you mean \"%s\"?",
		    node->text, nearest);
	return text_error_at(r->error, r->file, node,
	    "there is no policy \"%s\"; add it to \"policies\"", node->text);
}

/* Adds the rules of one used policy to a union. */
static int
use_one(struct edge_reader *r, const struct yaml_node *node, size_t user,
    struct edge_policy *sum)
{
	const struct yaml_node *policies = yaml_tree_get(r->root, "policies");
	const struct edge_policy *used;
	uint32_t index = 0;
	int status = edge_policy_find(r, node, &index);

	if (status < 0)
		return status;
	used = &r->config->policies[index];
	if (index == user)
		return text_error_at(r->error, r->file, node,
		    "\"%s\" uses itself; leave it out", node->text);
	if (yaml_tree_get(yaml_tree_get(policies, used->name), "use") != NULL)
		return text_error_at(r->error, r->file, node,
		    "\"%s\" has a \"use\" of its own, and only one level is "
		    "read; use what it uses here too, and take its \"use\" "
		    "away",
		    node->text);
	status = services_add(sum, used->services, used->service_count);
	if (status == 0)
		status =
		    unmetered_add(sum, used->unmetered, used->unmetered_count);
	for (size_t i = 0; i < used->upload_count && status == 0; i++)
		status = edge_upload_insert(sum, &used->uploads[i]);
	for (size_t i = 0; i < used->private_count && status == 0; i++)
		status = private_insert(sum, &used->private_ok[i]);
	return status;
}

/* A policy and all that it uses. sum begins as the policy itself. */
static int
use_all(struct edge_reader *r, const struct yaml_node *list, size_t user,
    struct edge_policy *sum)
{
	int status = value_list(r->file, list, USE_MAX, "[base]", r->error);

	for (const struct yaml_node *n = list->first; status == 0 && n != NULL;
	     n = n->next) {
		status = use_one(r, n, user, sum);
		for (const struct yaml_node *m = list->first;
		     status == 0 && m != n; m = m->next)
			if (strcmp(m->text, n->text) == 0)
				status = text_error_at(r->error, r->file, n,
				    "\"%s\" is in this list twice", n->text);
	}
	return status;
}

/*
 * Resolves `use`. A policy that uses others is used by none, so that adding
 * to it in place changes nobody else.
 */
static int
read_uses(struct edge_reader *r, const struct yaml_node *policies)
{
	size_t i = 0;
	int status = 0;

	for (const struct yaml_node *n = policies->first;
	     n != NULL && status == 0; n = n->next, i++) {
		const struct yaml_node *list = yaml_tree_get(n, "use");

		if (list != NULL)
			status = use_all(r, list, i, &r->config->policies[i]);
	}
	return status;
}

int
edge_policies_read(struct edge_reader *r)
{
	const struct yaml_node *map = yaml_tree_get(r->root, "policies");
	struct edge_config *config = r->config;
	int status = 0;

	if (map == NULL || map->count == 0)
		return 0;
	if (map->count > POLICIES_MAX)
		return text_error_at(r->error, r->file, map,
		    "%zu policies; at most %d are allowed", map->count,
		    POLICIES_MAX);
	config->policies = calloc(map->count, sizeof(*config->policies));
	if (config->policies == NULL)
		return -ENOMEM;
	for (const struct yaml_node *n = map->first; status == 0 && n != NULL;
	     n = n->next)
		status = read_policy(r, n,
		    &config->policies[config->policy_count++]);
	return status < 0 ? status : read_uses(r, map);
}
