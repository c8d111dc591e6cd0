/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy_rules - the rules of all policies, in the order of the file.
 *
 * edge_text has settled the shape of every map before; here come the parts
 * that the guard of the kernel has no use for: names, types, addresses, lists
 * and how a denial looks.
 */
#include "lib/text/policy_rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/meter.h"
#include "lib/require.h"
#include "lib/text/edge_uploads.h"
#include "lib/text/policy_alerts.h"
#include "lib/text/policy_refresh.h"
#include "lib/text/zone_text.h"

_Static_assert(EDGE_SERVICES_MAX == RULE_SERVICES_MAX, "one limit, two names");
_Static_assert(EDGE_PRIVATE_MAX == RULE_PRIVATE_MAX, "one limit, two names");
_Static_assert(EDGE_NAME_MAX == POLICY_NAME_MAX, "one limit, two names");
_Static_assert(EDGE_SOURCES_MAX == POLICY_SOURCES_MAX, "one limit, two names");
_Static_assert(TEXT_BUDGET_OCTET == 8 * METER_BIT, "one unit, two names");
_Static_assert(TEXT_BUDGET_MAX <= METER_LIMIT_MAX, "a meter holds it");
_Static_assert(TEXT_BUDGET_MIN > METER_END, "what nobody could spend");

/* A list that was read, to be used again. */
struct zone {
	const char *path;
	struct zone_entry *entries;
	size_t count;
	uint32_t file; /* index in the set */
};

#define BUDGET_DEFAULT (UINT32_C(1024) * TEXT_BUDGET_OCTET)
#define BUDGET_SHARES  16 /* that the budget of a policy has of a wildcard's */

struct reader {
	struct rule_set *set;
	const struct rule_input *input;
	const char *file; /* of the input */
	struct zone *zones; /* by index of edge->lists */
	struct text_error *error;
	/* The policy at hand. */
	uint32_t profile;
	uint32_t in_file; /* index in the set */
	uint32_t fallback; /* terms of its rules that have none */
};

static int
add_file(struct reader *r, const char *path, uint32_t *ret_index)
{
	struct rule_set *set = r->set;
	char(*files)[256] =
	    text_grow(set->files, set->file_count, sizeof(*files));

	if (files == NULL)
		return -ENOMEM;
	set->files = files;
	snprintf(files[set->file_count], sizeof(*files), "%s", path);
	*ret_index = (uint32_t)set->file_count++;
	return 0;
}

/* Rules in a row mostly have the same terms: the last few are looked at, so
 * that a hundred thousand rules do not keep as many copies. Padding may tell
 * two apart that are the same; then there is one more. */
static int
add_terms(struct reader *r, const struct policy_terms *one, uint32_t *ret_index)
{
	struct rule_set *set = r->set;
	struct policy_terms *terms;

	for (size_t back = 1; back <= set->term_count && back <= 16; back++) {
		size_t index = set->term_count - back;

		if (memcmp(&set->terms[index], one, sizeof(*one)) == 0) {
			*ret_index = (uint32_t)index;
			return 0;
		}
	}
	terms = text_grow(set->terms, set->term_count, sizeof(*terms));
	if (terms == NULL)
		return -ENOMEM;
	set->terms = terms;
	terms[set->term_count] = *one;
	*ret_index = (uint32_t)set->term_count++;
	return 0;
}

static int
add_rule(struct reader *r, const struct pending_rule *one)
{
	struct rule_set *set = r->set;
	struct yaml_node place = { .line = one->rule.line,
		.column = one->rule.column };
	struct pending_rule *rules =
	    text_grow(set->rules, set->rule_count, sizeof(*rules));

	if (rules == NULL)
		return -ENOMEM;
	set->rules = rules;
	if (set->rule_count == r->input->edge->settings.limits.rules)
		return text_error_at(r->error, set->files[one->rule.file],
		    &place, "more rules than limits.rules (%u); raise it",
		    (unsigned)r->input->edge->settings.limits.rules);
	rules[set->rule_count] = *one;
	rules[set->rule_count++].profile = r->profile;
	return 0;
}

static int
read_types(struct reader *r, const struct yaml_node *list, uint16_t *ret)
{
	/* In the order of the bits of enum rule_type. */
	static const char *const names[] = { "A", "AAAA", "TXT", "MX", "SRV",
		"CAA", NULL };
	uint16_t types = 0;
	int status = value_list(r->file, list, 6, "[A, AAAA]", r->error);

	if (status == 0 && list->count == 0)
		return text_error_at(r->error, r->file, list,
		    "the list is empty, and nothing could be asked; write at "
		    "least one type");
	for (const struct yaml_node *n = list->first; status == 0 && n != NULL;
	     n = n->next) {
		size_t index = 0;

		status = value_choice(r->file, n, names, &index, r->error);
		if (status == 0 && (types & 1u << index) != 0)
			return text_error_at(r->error, r->file, n,
			    "\"%s\" is in this list twice", n->text);
		types = (uint16_t)(types | 1u << index);
	}
	*ret = types;
	return status;
}

/* That a fixed address can be pinned at all. */
static int
check_address(struct reader *r, const struct yaml_node *node,
    const struct policy_terms *terms, const struct addr *addr)
{
	const struct protected_ranges *ranges =
	    &r->input->edge->settings.protected_ranges;
	enum addr_class class = addr_protected(addr, ranges, terms->private_ok,
	    terms->private_count);

	if (class == ADDR_GLOBAL)
		return 0;
	if (class == ADDR_UNSPECIFIED || class == ADDR_MULTICAST)
		return text_error_at(r->error, r->file, node,
		    "\"%s\" is never opened; write the address of one host",
		    node->text);
	return text_error_at(r->error, r->file, node,
	    "\"%s\" is in a protected range (%s); add private: [\"%s/%u\"] to "
	    "the rule",
	    node->text, addr_class_name(class), node->text,
	    addr->family == 4 ? 32 : 128);
}

static int
read_addresses(struct reader *r, const struct yaml_node *list,
    struct policy_terms *terms)
{
	int status =
	    value_list(r->file, list, RULE_ADDRS_MAX, "[10.200.1.1]", r->error);

	if (status == 0 && list->count == 0)
		return text_error_at(r->error, r->file, list,
		    "the list is empty; write the addresses, or leave it out "
		    "so that they are asked");
	for (const struct yaml_node *n = list->first; status == 0 && n != NULL;
	     n = n->next) {
		struct addr *one = &terms->addrs[terms->addr_count];

		status = value_addr(r->file, n, one, r->error);
		if (status == 0)
			status = check_address(r, n, terms, one);
		for (size_t i = 0; status == 0 && i < terms->addr_count; i++)
			if (addr_equal(&terms->addrs[i], one))
				status = text_error_at(r->error, r->file, n,
				    "\"%s\" is in this list twice", n->text);
		terms->addr_count++;
	}
	return status;
}

static int
read_until(struct reader *r, const struct yaml_node *node,
    struct policy_terms *terms)
{
	int status =
	    value_kind(r->file, node, YAML_SCALAR, "2026-12-31", r->error);

	if (status == 0 && !text_date(node->text, &terms->until_wall_ms))
		return text_error_at(r->error, r->file, node,
		    "\"%s\" is not a date; write one such as 2026-12-31 (to "
		    "its end, UTC) or 2026-12-31T18:00:00Z",
		    node->text);
	return status;
}

/* Of one wildcard, or of each of a list. */
static int
read_budget(struct reader *r, const struct yaml_node *map,
    const struct yaml_node *node, struct policy_terms *terms)
{
	const struct yaml_node *name = yaml_tree_get(map, "name");

	if (yaml_tree_get(map, "addresses") != NULL)
		return text_error_at(r->error, r->file, node->key,
		    "a name with \"addresses\" is never asked and tells "
		    "nothing; leave \"budget\" out");
	if (name != NULL && name->text[0] != '*')
		return text_error_at(r->error, r->file, node->key,
		    "exact names share the \"budget\" of the policy, where "
		    "they are asked on demand; write it there");
	return value_budget(r->file, node, &terms->budget, r->error);
}

/* The terms of a rule in a map: the policy's own where it says nothing. */
static int
read_terms(struct reader *r, const struct yaml_node *map, uint32_t *ret_index)
{
	const struct yaml_node *ports = yaml_tree_get(map, "ports");
	const struct yaml_node *types = yaml_tree_get(map, "types");
	const struct yaml_node *private_ok = yaml_tree_get(map, "private");
	const struct yaml_node *addresses = yaml_tree_get(map, "addresses");
	const struct yaml_node *until = yaml_tree_get(map, "until");
	const struct yaml_node *budget = yaml_tree_get(map, "budget");
	const struct yaml_node *upload = yaml_tree_get(map, "upload");
	struct policy_terms terms = r->set->terms[r->fallback];
	int status = 0;

	*ret_index = r->fallback;
	if (ports == NULL && types == NULL && private_ok == NULL &&
	    addresses == NULL && until == NULL && budget == NULL &&
	    upload == NULL)
		return 0;
	if (ports != NULL)
		status = edge_ports_read(r->file, ports, terms.services,
		    &terms.service_count, r->error);
	if (status == 0 && types != NULL)
		status = read_types(r, types, &terms.types);
	if (status == 0 && private_ok != NULL)
		status = edge_private_read(r->file, private_ok,
		    terms.private_ok, &terms.private_count, r->error);
	if (status == 0 && addresses != NULL)
		status = read_addresses(r, addresses, &terms);
	if (status == 0 && until != NULL)
		status = read_until(r, until, &terms);
	if (status == 0 && budget != NULL)
		status = read_budget(r, map, budget, &terms);
	if (status == 0)
		status =
		    edge_upload_read(r->file, map, &terms.upload, r->error);
	return status < 0 ? status : add_terms(r, &terms, ret_index);
}

/* Warnings that are taken knowingly. */
static int
read_accept(struct reader *r, const struct yaml_node *list, uint8_t *ret)
{
	/* In the order of the bits of enum rule_accept. */
	static const char *const names[] = { "denied", "dns-port",
		"force-unneeded", NULL };
	int status = value_list(r->file, list, 8, "[denied]", r->error);

	for (const struct yaml_node *n = list->first; status == 0 && n != NULL;
	     n = n->next) {
		size_t index = 0;

		status = value_choice(r->file, n, names, &index, r->error);
		*ret = (uint8_t)(*ret | 1u << index);
	}
	return status;
}

static int
read_notes(struct reader *r, const struct yaml_node *map,
    struct pending_rule *pending)
{
	const struct yaml_node *force = yaml_tree_get(map, "force");
	const struct yaml_node *accept = yaml_tree_get(map, "accept");
	const struct yaml_node *reason = yaml_tree_get(map, "reason");
	char note[256];
	int status = 0;

	if (force != NULL)
		status = value_bool(r->file, force, &pending->force, r->error);
	if (status == 0 && accept != NULL)
		status = read_accept(r, accept, &pending->accept);
	if (status == 0 && reason != NULL)
		status =
		    value_text(r->file, reason, note, sizeof(note), r->error);
	return status;
}

/* A quota is that of one rule, whose terms it makes its own. */
static int
own_upload(struct reader *r, uint64_t rule, struct pending_rule *pending)
{
	struct policy_terms terms = r->set->terms[pending->rule.terms];

	if (terms.upload == 0 || pending->rule.deny)
		return 0;
	terms.upload_rule = rule;
	return add_terms(r, &terms, &pending->rule.terms);
}

static int
add_named(struct reader *r, const struct yaml_node *node, size_t name_len,
    struct pending_rule *pending)
{
	char reason[TEXT_ERROR_MAX];
	int status;

	if (!text_rule_name_read(node->text, name_len, &pending->rule.kind,
		&pending->rule.name, reason))
		return text_error_at(r->error, r->file, node, "%s", reason);
	pending->rule.file = r->in_file;
	pending->rule.line = node->line;
	pending->rule.column = node->column;
	status = own_upload(r, edge_upload_rule(node->text, name_len, false),
	    pending);
	return status < 0 ? status : add_rule(r, pending);
}

static const struct text_file *
find_file(const struct rule_input *input, const char *kind, const char *name)
{
	char wanted[EDGE_NAME_MAX + 8];

	snprintf(wanted, sizeof(wanted), "%s%s", kind, name);
	for (size_t i = 0; i < input->file_count; i++)
		if (strcmp(input->files[i].name, wanted) == 0)
			return &input->files[i];
	return NULL;
}

/* The entries of a list, read at its first use. */
static int
find_zone(struct reader *r, const struct yaml_node *node,
    const struct zone **ret)
{
	const struct edge_config *edge = r->input->edge;
	const struct text_file *file;
	struct zone *zone;
	size_t index = 0;
	int status;

	while (strcmp(edge->lists[index], node->text) != 0)
		index++;
	zone = &r->zones[index];
	*ret = zone;
	if (zone->path != NULL)
		return 0;
	file = find_file(r->input, "zone:", node->text);
	if (file == NULL)
		return text_error_at(r->error, r->file, node,
		    "there is no list \"%s\": no %s.zone in "
		    "/etc/namewall/zones, and none comes with the package",
		    node->text, node->text);
	status = add_file(r, file->path, &zone->file);
	if (status < 0)
		return status;
	zone->path = file->path;
	return zone_text_read(file->path, file->bytes, file->size,
	    &zone->entries, &zone->count, r->error);
}

static int
add_list(struct reader *r, const struct yaml_node *node,
    struct pending_rule *pending)
{
	const struct zone *zone = NULL;
	bool deny = pending->rule.deny;
	int status = find_zone(r, node, &zone);

	if (status == 0)
		status = own_upload(r,
		    edge_upload_rule(node->text, node->len, true), pending);

	for (size_t i = 0; status == 0 && i < zone->count; i++) {
		const struct zone_entry *entry = &zone->entries[i];
		struct yaml_node place = { .line = entry->line, .column = 1 };

		if (deny && !entry->deny)
			return text_error_at(r->error, zone->path, &place,
			    "this record allows a name, and the list stands "
			    "under deny (%s:%u)",
			    node->file, (unsigned)node->line);
		pending->rule.name = entry->name;
		pending->rule.kind = entry->kind;
		pending->rule.deny = entry->deny;
		pending->rule.file = zone->file;
		pending->rule.line = entry->line;
		pending->rule.column = 1;
		status = add_rule(r, pending);
	}
	return status;
}

static int
read_rule_map(struct reader *r, const struct yaml_node *map,
    struct pending_rule *pending)
{
	const struct yaml_node *name = yaml_tree_get(map, "name");
	int status = read_notes(r, map, pending);

	if (status == 0)
		status = read_terms(r, map, &pending->rule.terms);
	if (status < 0)
		return status;
	if (name != NULL)
		return add_named(r, name, name->len, pending);
	return add_list(r, yaml_tree_get(map, "list"), pending);
}

/* `NAME[:PORT,…]`. */
static int
read_rule_text(struct reader *r, const struct yaml_node *node,
    struct pending_rule *pending)
{
	struct policy_terms terms = r->set->terms[r->fallback];
	struct service services[RULE_SERVICES_MAX];
	size_t name_len;
	uint8_t count;
	int status = edge_rule_split(r->file, node, &name_len, services, &count,
	    r->error);

	if (status == 0 && count > 0) {
		memcpy(terms.services, services, sizeof(services[0]) * count);
		terms.service_count = count;
		status = add_terms(r, &terms, &pending->rule.terms);
	}
	return status < 0 ? status : add_named(r, node, name_len, pending);
}

static int
read_rules(struct reader *r, const struct yaml_node *list, bool deny)
{
	int status = 0;

	if (list == NULL)
		return 0;
	for (const struct yaml_node *n = list->first; status == 0 && n != NULL;
	     n = n->next) {
		struct pending_rule pending = { .rule = { .deny = deny,
						    .terms = r->fallback } };

		status = n->kind == YAML_MAPPING
		    ? read_rule_map(r, n, &pending)
		    : read_rule_text(r, n, &pending);
	}
	return status;
}

/* What rules get that say nothing themselves. */
static int
read_fallback(struct reader *r, const struct yaml_node *map)
{
	const struct yaml_node *ports = yaml_tree_get(map, "ports");
	const struct yaml_node *types = yaml_tree_get(map, "types");
	struct policy_terms terms = { .services = { { PROTO_TCP, 443 } },
		.service_count = 1,
		.types = RULE_TYPE_A | RULE_TYPE_AAAA,
		.budget = r->set->profiles[r->profile].budget };
	int status = 0;

	if (ports != NULL)
		status = edge_ports_read(r->file, ports, terms.services,
		    &terms.service_count, r->error);
	if (status == 0 && types != NULL)
		status = read_types(r, types, &terms.types);
	if (status == 0)
		status =
		    edge_upload_read(r->file, map, &terms.upload, r->error);
	return status < 0 ? status : add_terms(r, &terms, &r->fallback);
}

static void
read_uses(struct reader *r, const struct yaml_node *map,
    struct policy_profile *profile)
{
	const struct edge_config *edge = r->input->edge;
	const struct yaml_node *list = yaml_tree_get(map, "use");

	if (list == NULL)
		return;
	REQUIRE(list->count <= POLICY_USE_MAX);
	for (const struct yaml_node *n = list->first; n != NULL; n = n->next)
		for (size_t i = 0; i < edge->policy_count; i++)
			if (strcmp(edge->policies[i].name, n->text) == 0)
				profile->use[profile->use_count++] =
				    (uint32_t)i;
}

/* Where a policy says nothing of all its sandboxes, they may tell what 16
 * wildcards may. */
static int
read_budgets(struct reader *r, const struct yaml_node *map,
    struct policy_profile *profile)
{
	const struct yaml_node *budget = yaml_tree_get(map, "budget");
	const struct yaml_node *sum = yaml_tree_get(map, "budget_sum");
	int status = 0;

	profile->budget = BUDGET_DEFAULT;
	if (budget != NULL)
		status =
		    value_budget(r->file, budget, &profile->budget, r->error);
	profile->budget_sum = profile->budget > TEXT_BUDGET_MAX / BUDGET_SHARES
	    ? (uint32_t)TEXT_BUDGET_MAX
	    : BUDGET_SHARES * profile->budget;
	if (status == 0 && sum != NULL)
		status =
		    value_budget(r->file, sum, &profile->budget_sum, r->error);
	return status;
}

static int
read_profile(struct reader *r, const struct yaml_node *map,
    struct policy_profile *profile)
{
	/* In the order of enum denial_style and enum tell. */
	static const char *const styles[] = { "nxdomain", "nodata", "refused",
		NULL };
	static const char *const tells[] = { "full", "code", "nothing", NULL };
	const struct yaml_node *denial = yaml_tree_get(map, "denial");
	const struct yaml_node *tell = yaml_tree_get(map, "tell");
	const struct yaml_node *mode = yaml_tree_get(map, "mode");
	size_t style = 0, how = 0;
	int status = 0;

	snprintf(profile->name, sizeof(profile->name), "%s", map->key->text);
	if (denial != NULL)
		status =
		    value_choice(r->file, denial, styles, &style, r->error);
	if (status == 0 && tell != NULL)
		status = value_choice(r->file, tell, tells, &how, r->error);
	if (status == 0)
		status = policy_refresh_read(r->file, map, &profile->refresh,
		    r->error);
	if (status == 0)
		status = policy_alerts_read(r->file,
		    yaml_tree_get(map, "quarantine_on"),
		    &profile->quarantine_on, r->error);
	if (status == 0)
		status = read_budgets(r, map, profile);
	/* edge_text has refused every other word. */
	profile->audit = mode != NULL && strcmp(mode->text, "audit") == 0;
	profile->style = (enum denial_style)style;
	profile->tell = (enum tell)how;
	read_uses(r, map, profile);
	return status;
}

/* The policies of a file stand together. */
static int
enter_file(struct reader *r, const struct yaml_node *map)
{
	if (strcmp(r->set->files[r->in_file], map->file) == 0)
		return 0;
	return add_file(r, map->file, &r->in_file);
}

static int
read_policy(struct reader *r, const struct yaml_node *map)
{
	int status = enter_file(r, map);

	if (status == 0)
		status = read_profile(r, map,
		    &r->set->profiles[r->set->profile_count]);

	r->profile = (uint32_t)r->set->profile_count++;
	if (status == 0)
		status = read_fallback(r, map);
	if (status == 0)
		status = read_rules(r, yaml_tree_get(map, "allow"), false);
	if (status == 0)
		status = read_rules(r, yaml_tree_get(map, "deny"), true);
	return status;
}

static int
read_policies(struct reader *r)
{
	const struct yaml_node *map = yaml_tree_get(r->input->root, "policies");
	int status = add_file(r, r->file, &r->in_file);

	if (status < 0 || map == NULL || map->count == 0)
		return status;
	r->set->profiles = calloc(map->count, sizeof(*r->set->profiles));
	if (r->set->profiles == NULL)
		return -ENOMEM;
	for (const struct yaml_node *n = map->first; status == 0 && n != NULL;
	     n = n->next)
		status = read_policy(r, n);
	return status;
}

int
policy_rules_read(struct rule_set *ret, const struct rule_input *input,
    struct text_error *ret_error)
{
	size_t lists = input->edge->list_count;
	struct reader r = { .set = ret,
		.input = input,
		.file = input->file,
		.zones = calloc(lists + 1, sizeof(*r.zones)),
		.error = ret_error };
	int status = r.zones == NULL ? -ENOMEM : read_policies(&r);

	for (size_t i = 0; r.zones != NULL && i < lists; i++)
		free(r.zones[i].entries);
	free(r.zones);
	return status;
}

void
policy_rules_free(struct rule_set *set)
{
	free(set->profiles);
	free(set->terms);
	free(set->rules);
	free(set->files);
}
