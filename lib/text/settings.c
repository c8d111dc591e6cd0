/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * settings - the top level of the configuration.
 *
 * Plain values are read by the table of lib/text/fields, lists by a function
 * each. Then come the checks that need two values to be known: nothing that
 * looks right alone and is wrong together gets past this file.
 */
#include "lib/text/settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/require.h"
#include "lib/text/fields.h"

#define LOCAL_SOCKET_MAX 108 /* sun_path */

struct reader {
	struct settings *settings;
	const char *file;
	struct text_error *error;
};

static void
set_defaults(struct settings *settings, const char *file)
{
	memset(settings, 0, sizeof(*settings));
	snprintf(settings->file, sizeof(settings->file), "%s", file);
	fields_defaults(settings);
	settings->sinks[0].kind = SINK_STDOUT;
	settings->sinks[0].only = SINK_ALL;
	settings->sink_count = 1;
}

static bool
endpoint_equal(const struct endpoint *a, const struct endpoint *b)
{
	return a->port == b->port && addr_equal(&a->addr, &b->addr);
}

/* A list of ADDRESS[@PORT], each once, at least one. */
static int
read_endpoints(struct reader *r, const struct yaml_node *list,
    struct endpoint *ret, size_t max, uint16_t *ret_count)
{
	int status = value_list(r->file, list, max, "[192.0.2.1]", r->error);

	if (status == 0 && list->count == 0)
		return text_error_at(r->error, r->file, list,
		    "the list is empty; write at least one address");
	*ret_count = 0;
	for (const struct yaml_node *n = list->first; status == 0 && n != NULL;
	     n = n->next) {
		struct endpoint *one = &ret[*ret_count];

		status = value_endpoint(r->file, n, one, r->error);
		if (status == 0)
			status =
			    value_unicast(r->file, n, &one->addr, r->error);
		for (size_t i = 0; status == 0 && i < *ret_count; i++)
			if (endpoint_equal(&ret[i], one))
				status = text_error_at(r->error, r->file, n,
				    "\"%s\" is in this list twice", n->text);
		++*ret_count;
	}
	return status;
}

/* Whether a pattern covers a name or another pattern. */
static bool
pattern_covers(const char *pattern, const char *name)
{
	size_t len = strlen(pattern);

	if (len > 0 && pattern[len - 1] == '*')
		return strncmp(pattern, name, len - 1) == 0;
	return strcmp(pattern, name) == 0;
}

bool
text_is_interface(const char *name)
{
	size_t len = strlen(name);

	if (len == 0 || len >= SETTINGS_IFNAME_MAX || strcmp(name, ".") == 0 ||
	    strcmp(name, "..") == 0)
		return false;
	for (size_t i = 0; i < len; i++)
		if (name[i] <= ' ' || name[i] > '~' || name[i] == '/' ||
		    name[i] == ':' || (name[i] == '*' && i + 1 < len))
			return false;
	return true;
}

static int
read_edge_one(struct reader *r, const struct yaml_node *node)
{
	struct settings *s = r->settings;
	int status =
	    value_kind(r->file, node, YAML_SCALAR, "veth-box1", r->error);

	if (status < 0)
		return status;
	if (!text_is_interface(node->text))
		return text_error_at(r->error, r->file, node,
		    "\"%s\" is not the name of an interface (1 to 15 octets, "
		    "with no star but at the end)",
		    node->text);
	if (pattern_covers(node->text, "lo"))
		return text_error_at(r->error, r->file, node,
		    "\"%s\" covers lo, this host's own loopback; name the "
		    "interfaces of sandboxes only",
		    node->text);
	for (size_t i = 0; i < s->edge_count; i++)
		if (pattern_covers(s->edge[i], node->text) ||
		    pattern_covers(node->text, s->edge[i]))
			return text_error_at(r->error, r->file, node,
			    "\"%s\" and \"%s\" cover the same interface; "
			    "leave one out",
			    node->text, s->edge[i]);
	memcpy(s->edge[s->edge_count++], node->text, node->len + 1);
	return 0;
}

static int
read_edge(struct reader *r, const struct yaml_node *list)
{
	int status = value_list(r->file, list, SETTINGS_EDGE_MAX, "[veth-box1]",
	    r->error);

	if (status == 0 && list->count == 0)
		return text_error_at(r->error, r->file, list,
		    "the list is empty; write at least one interface");
	for (const struct yaml_node *n = list->first; status == 0 && n != NULL;
	     n = n->next)
		status = read_edge_one(r, n);
	return status;
}

static int
read_forward(struct reader *r, const struct yaml_node *map)
{
	struct settings *s = r->settings;
	int status = value_kind(r->file, map, YAML_MAPPING,
	    "{corp.example: [10.1.1.1]}", r->error);

	if (status == 0 && map->count > SETTINGS_FORWARD_MAX)
		return text_error_at(r->error, r->file, map,
		    "%zu zones; at most %d are allowed here", map->count,
		    SETTINGS_FORWARD_MAX);
	for (const struct yaml_node *n = map->first; status == 0 && n != NULL;
	     n = n->next) {
		struct forward_zone *zone = &s->forward[s->forward_count++];
		uint16_t count;

		status = value_text(r->file, n->key, zone->zone,
		    sizeof(zone->zone), r->error);
		if (status < 0)
			return status;
		zone->line = n->key->line;
		zone->column = n->key->column;
		status = read_endpoints(r, n, zone->resolvers,
		    SETTINGS_RESOLVERS_MAX, &count);
		zone->resolver_count = (uint8_t)count;
	}
	return status;
}

static int
read_only(struct reader *r, const struct yaml_node *list, uint8_t *ret)
{
	static const char *const kinds[] = { "event", "alert", "metric", NULL };
	int status = value_list(r->file, list, 3, "[alert]", r->error);

	if (status == 0 && list->count == 0)
		return text_error_at(r->error, r->file, list,
		    "nothing would ever go to this sink; write at least one "
		    "of event, alert, metric");
	*ret = 0;
	for (const struct yaml_node *n = list->first; status == 0 && n != NULL;
	     n = n->next) {
		size_t kind = 0;

		status = value_choice(r->file, n, kinds, &kind, r->error);
		if (status == 0 && (*ret & 1u << kind) != 0)
			return text_error_at(r->error, r->file, n,
			    "\"%s\" is in this list twice", n->text);
		*ret = (uint8_t)(*ret | 1u << kind);
	}
	return status;
}

/* A receiver of syslog: a path, or a URL with an address in it. */
static int
read_syslog(struct reader *r, const struct yaml_node *node,
    struct sink_setting *sink)
{
	int status =
	    value_text(r->file, node, sink->path, sizeof(sink->path), r->error);

	sink->kind = SINK_SYSLOG;
	if (status == 0 && sink->path[0] == '/' &&
	    strlen(sink->path) < LOCAL_SOCKET_MAX)
		return 0;
	if (status == 0)
		status = value_receiver(r->file, node, &sink->transport,
		    &sink->to, r->error);
	if (status < 0)
		return status;
	return value_unicast(r->file, node, &sink->to.addr, r->error);
}

/* The target of a sink: exactly one of stdout, file and syslog. */
static int
read_sink_target(struct reader *r, const struct yaml_node *map,
    struct sink_setting *sink)
{
	const struct yaml_node *file = yaml_tree_get(map, "file");
	const struct yaml_node *out = yaml_tree_get(map, "stdout");
	const struct yaml_node *syslog = yaml_tree_get(map, "syslog");
	bool flag = true;
	int status;

	if ((file != NULL) + (out != NULL) + (syslog != NULL) != 1)
		return text_error_at(r->error, r->file, map,
		    "a sink has exactly one of \"file\", \"syslog\" and "
		    "\"stdout\"");
	if (syslog != NULL)
		return read_syslog(r, syslog, sink);
	if (file != NULL) {
		sink->kind = SINK_FILE;
		status = value_text(r->file, file, sink->path,
		    sizeof(sink->path), r->error);
		if (status == 0 && sink->path[0] != '/')
			return text_error_at(r->error, r->file, file,
			    "\"%s\" is not an absolute path, such as "
			    "/var/log/namewall/events.jsonl",
			    file->text);
		return status;
	}
	sink->kind = SINK_STDOUT;
	status = value_bool(r->file, out, &flag, r->error);
	if (status == 0 && !flag)
		return text_error_at(r->error, r->file, out,
		    "\"stdout: false\" is no sink; leave the entry out");
	return status;
}

static int
read_sink(struct reader *r, const struct yaml_node *map)
{
	struct settings *s = r->settings;
	struct sink_setting *sink = &s->sinks[s->sink_count];
	const struct yaml_node *only;
	int status =
	    value_kind(r->file, map, YAML_MAPPING, "{stdout: true}", r->error);

	if (status == 0)
		status = fields_check(r->file, map, "sink.", r->error);
	memset(sink, 0, sizeof(*sink));
	if (status == 0)
		status = read_sink_target(r, map, sink);
	if (status < 0)
		return status;
	for (size_t i = 0; i < s->sink_count; i++)
		if (s->sinks[i].kind == sink->kind &&
		    strcmp(s->sinks[i].path, sink->path) == 0)
			return text_error_at(r->error, r->file, map,
			    "this sink is in the list twice; give one entry "
			    "all kinds that go there");
	s->sink_count++;
	sink->only = SINK_ALL;
	only = yaml_tree_get(map, "only");
	return only == NULL ? 0 : read_only(r, only, &sink->only);
}

static int
read_events(struct reader *r, const struct yaml_node *list)
{
	int status = value_list(r->file, list, SETTINGS_SINKS_MAX,
	    "[{stdout: true}]", r->error);

	r->settings->sink_count = 0;
	for (const struct yaml_node *n = list->first; status == 0 && n != NULL;
	     n = n->next)
		status = read_sink(r, n);
	return status;
}

int
settings_labels_read(const char *file, const struct yaml_node *map,
    struct setting_label *ret, uint16_t *ret_count,
    struct text_error *ret_error)
{
	int status =
	    value_kind(file, map, YAML_MAPPING, "{team: red}", ret_error);

	if (status == 0 && map->count > SETTINGS_LABELS_MAX)
		return text_error_at(ret_error, file, map,
		    "%zu labels; at most %d are allowed here", map->count,
		    SETTINGS_LABELS_MAX);
	*ret_count = 0;
	for (const struct yaml_node *n = map->first; status == 0 && n != NULL;
	     n = n->next) {
		struct setting_label *label = &ret[*ret_count];

		status = value_word(file, n->key, label->key,
		    sizeof(label->key), ret_error);
		if (status == 0)
			status = value_text(file, n, label->value,
			    sizeof(label->value), ret_error);
		++*ret_count;
	}
	return status;
}

static int
read_except(struct reader *r, const struct yaml_node *list)
{
	struct protected_ranges *ranges = &r->settings->protected_ranges;
	int status = value_list(r->file, list, PROTECTED_EXCEPT_MAX,
	    "[10.5.0.0/24]", r->error);

	for (const struct yaml_node *n = list->first; status == 0 && n != NULL;
	     n = n->next) {
		struct prefix *one = &ranges->except[ranges->except_count++];

		status = value_prefix(r->file, n, one, r->error);
		if (status == 0 && one->bits == 0)
			return text_error_at(r->error, r->file, n,
			    "\"%s\" is every address, and nothing would be "
			    "protected; write the prefixes that are needed",
			    n->text);
	}
	return status;
}

static int
read_nat64(struct reader *r, const struct yaml_node *list)
{
	struct protected_ranges *ranges = &r->settings->protected_ranges;
	int status = value_list(r->file, list, PROTECTED_NAT64_MAX,
	    "[\"2001:db8:64::/96\"]", r->error);

	for (const struct yaml_node *n = list->first; status == 0 && n != NULL;
	     n = n->next) {
		struct prefix *one = &ranges->nat64[ranges->nat64_count++];

		status = value_prefix(r->file, n, one, r->error);
		if (status == 0 &&
		    (one->addr.family != 6 || one->bits < 32 ||
			one->bits > 96 || one->bits % 8 != 0 ||
			one->bits == 72 || one->bits == 80 || one->bits == 88))
			return text_error_at(r->error, r->file, n,
			    "\"%s\" is not a NAT64 prefix; its length is 32, "
			    "40, 48, 56, 64 or 96 (RFC 6052)",
			    n->text);
	}
	return status;
}

static int
read_mode(struct reader *r, const struct yaml_node *node)
{
	static const char *const modes[] = { "gateway", "sidecar", "sets",
		NULL };
	size_t mode = 0;
	int status = value_choice(r->file, node, modes, &mode, r->error);

	if (status == 0 && strcmp(node->text, "sidecar") == 0)
		return text_error_at(r->error, r->file, node,
		    "\"mode: sidecar\" is not in this version yet; leave it "
		    "out");
	r->settings->nft_sets = status == 0 && strcmp(node->text, "sets") == 0;
	return status;
}

static int
read_family(struct reader *r, const struct yaml_node *node)
{
	static const char *const families[] = { "inet", NULL };
	size_t family = 0;

	return value_choice(r->file, node, families, &family, r->error);
}

static int
read_version(struct reader *r, const struct yaml_node *node)
{
	int status = value_kind(r->file, node, YAML_SCALAR, "1", r->error);

	if (status == 0 && node->quoted)
		return text_error_at(r->error, r->file, node,
		    "\"%s\" in quotes is a text; write version: 1", node->text);
	if (status == 0 && strcmp(node->text, "1") != 0)
		return text_error_at(r->error, r->file, node,
		    "version \"%s\" of this format is not known; write "
		    "version: 1",
		    node->text);
	return status;
}

/* The files themselves are found before (edge_include). */
static int
read_include(struct reader *r, const struct yaml_node *list)
{
	char path[SETTINGS_PATH_MAX];
	int status = value_list(r->file, list, SETTINGS_INCLUDE_MAX,
	    "[conf.d/*.yaml]", r->error);

	for (const struct yaml_node *n = list->first; status == 0 && n != NULL;
	     n = n->next)
		status = value_text(r->file, n, path, sizeof(path), r->error);
	return status;
}

/* What is not one plain value; names as in the table. */
static int
read_other(struct reader *r, const char *name, const struct yaml_node *node)
{
	struct settings *s = r->settings;

	if (strcmp(name, "listen") == 0)
		return read_endpoints(r, node, s->listen,
		    SETTINGS_LISTEN_LIST_MAX, &s->listen_count);
	if (strcmp(name, "upstream") == 0)
		return read_endpoints(r, node, s->upstream,
		    SETTINGS_UPSTREAM_MAX, &s->upstream_count);
	if (strcmp(name, "edge") == 0)
		return read_edge(r, node);
	if (strcmp(name, "forward") == 0)
		return read_forward(r, node);
	if (strcmp(name, "events") == 0)
		return read_events(r, node);
	if (strcmp(name, "labels") == 0)
		return settings_labels_read(r->file, node, s->labels,
		    &s->label_count, r->error);
	if (strcmp(name, "include") == 0)
		return read_include(r, node);
	if (strcmp(name, "nft.mode") == 0)
		return read_mode(r, node);
	if (strcmp(name, "nft.family") == 0)
		return read_family(r, node);
	if (strcmp(name, "nft.pins4") == 0)
		return value_word(r->file, node, s->nft_pins4,
		    sizeof(s->nft_pins4), r->error);
	if (strcmp(name, "nft.pins6") == 0)
		return value_word(r->file, node, s->nft_pins6,
		    sizeof(s->nft_pins6), r->error);
	if (strcmp(name, "protected.except") == 0)
		return read_except(r, node);
	if (strcmp(name, "protected.nat64") == 0)
		return read_nat64(r, node);
	if (strcmp(name, "version") == 0)
		return read_version(r, node);
	if (strncmp(name, "attach.", 7) == 0)
		return 0; /* edge_attach reads them, with the policies */
	return value_kind(r->file, node, YAML_MAPPING, "{}", r->error);
}

/* The keys of one map that the table describes. */
static int
read_map(struct reader *r, const struct yaml_node *map, const char *prefix)
{
	int status = fields_check(r->file, map, prefix, r->error);
	char name[64];
	size_t count;
	const struct field *fields = fields_all(&count);

	for (const struct yaml_node *n = map->first; status == 0 && n != NULL;
	     n = n->next) {
		const struct field *field = fields;

		snprintf(name, sizeof(name), "%s%s", prefix, n->key->text);
		while (strcmp(field->name, name) != 0)
			field++;
		if (field->type == FIELD_OTHER)
			status = read_other(r, name, n);
		else if (field->type != FIELD_MAP)
			status = fields_read(r->file, field, n, r->settings,
			    r->error);
	}
	return status;
}

/* The maps of the top level, one after the other. */
static int
read_maps(struct reader *r, const struct yaml_node *root)
{
	size_t count;
	const struct field *fields = fields_all(&count);
	int status = read_map(r, root, "");
	char prefix[32];

	for (size_t i = 0; i < count && status == 0; i++) {
		const struct yaml_node *map;

		if (fields[i].type != FIELD_MAP)
			continue;
		map = yaml_tree_get(root, fields[i].name);
		if (map == NULL)
			continue;
		status = value_kind(r->file, map, YAML_MAPPING, "{}", r->error);
		snprintf(prefix, sizeof(prefix), "%s.", fields[i].name);
		if (status == 0)
			status = read_map(r, map, prefix);
	}
	return status;
}

static int
check_required(struct reader *r, const struct yaml_node *root)
{
	static const struct {
		const char *key, *example;
	} required[] = { { "version", "version: 1" },
		{ "listen", "listen: [10.200.1.1]" },
		{ "edge", "edge: [veth-box1]" },
		{ "upstream", "upstream: [9.9.9.9]" } };
	int status = 0;

	for (size_t i = 0; i < ARRAY_LEN(required) && status == 0; i++)
		if (yaml_tree_get(root, required[i].key) == NULL &&
		    (!r->settings->nft_sets ||
			strcmp(required[i].key, "edge") != 0))
			status = text_error_at(r->error, r->file, root,
			    "\"%s\" is missing; write one such as %s",
			    required[i].key, required[i].example);
	return status;
}

/* That one value of a map is not over another. */
static int
check_order(struct reader *r, const struct yaml_node *root, const char *map,
    const char *low, const char *high)
{
	const struct yaml_node *in = yaml_tree_get(root, map), *at;
	size_t count, len = strlen(map) + 1;
	const struct field *fields = fields_all(&count);
	uint32_t a = 0, b = 0;

	if (in == NULL)
		return 0;
	for (size_t i = 0; i < count; i++) {
		const void *from = (char *)r->settings + fields[i].offset;

		if (strncmp(fields[i].name, map, len - 1) != 0 ||
		    strlen(fields[i].name) <= len)
			continue;
		if (strcmp(fields[i].name + len, low) == 0)
			memcpy(&a, from, sizeof(a));
		if (strcmp(fields[i].name + len, high) == 0)
			memcpy(&b, from, sizeof(b));
	}
	if (a <= b)
		return 0;
	at = yaml_tree_get(in, low);
	return text_error_at(r->error, r->file,
	    at != NULL ? at : yaml_tree_get(in, high),
	    "%s.%s must not be over %s.%s; set both", map, low, map, high);
}

static int
check_orders(struct reader *r, const struct yaml_node *root)
{
	static const struct {
		const char *map, *low, *high;
	} orders[] = { { "pins", "floor", "cap" }, { "ttl", "floor", "cap" },
		{ "pins", "grace", "cap" },
		{ "limits", "queries_per_sandbox", "queries" },
		{ "limits", "lookups_per_sandbox", "lookups" },
		{ "limits", "cache_per_sandbox", "cache" },
		{ "limits", "pins_per_sandbox", "pins" },
		{ "limits", "tcp_connections_per_sandbox", "tcp_connections" },
		{ "limits", "tunnel_keys_per_sandbox", "tunnel_keys" } };
	int status = 0;

	for (size_t i = 0; i < ARRAY_LEN(orders) && status == 0; i++)
		status = check_order(r, root, orders[i].map, orders[i].low,
		    orders[i].high);
	return status;
}

/* That we do not ask ourselves. */
static int
check_asked(struct reader *r, const struct yaml_node *list,
    const struct endpoint *asked)
{
	const struct settings *s = r->settings;
	size_t i = 0;

	for (const struct yaml_node *n = list->first; n != NULL;
	     n = n->next, i++)
		for (size_t j = 0; j < s->listen_count; j++)
			if (endpoint_equal(&asked[i], &s->listen[j]))
				return text_error_at(r->error, r->file, n,
				    "\"%s\" is a listener of this program; "
				    "write a resolver that is not",
				    n->text);
	return 0;
}

static int
check_loops(struct reader *r, const struct yaml_node *root)
{
	const struct settings *s = r->settings;
	const struct yaml_node *forward = yaml_tree_get(root, "forward");
	const struct forward_zone *zone = s->forward;
	int status =
	    check_asked(r, yaml_tree_get(root, "upstream"), s->upstream);

	if (forward == NULL)
		return status;
	for (const struct yaml_node *n = forward->first;
	     status == 0 && n != NULL; n = n->next, zone++)
		status = check_asked(r, n, zone->resolvers);
	return status;
}

/* Nor send our events to ourselves. */
static int
check_receivers(struct reader *r, const struct yaml_node *root)
{
	const struct yaml_node *events = yaml_tree_get(root, "events");
	const struct settings *s = r->settings;
	const struct sink_setting *sink = s->sinks;

	if (events == NULL)
		return 0;
	for (const struct yaml_node *n = events->first; n != NULL;
	     n = n->next, sink++)
		for (size_t j = 0; j < s->listen_count; j++)
			if (sink->transport != 0 &&
			    endpoint_equal(&sink->to, &s->listen[j]))
				return text_error_at(r->error, r->file,
				    yaml_tree_get(n, "syslog"),
				    "\"%s\" is a listener of this program; "
				    "write a receiver of syslog",
				    sink->path);
	return 0;
}

int
settings_read(struct settings *ret, const char *file,
    const struct yaml_node *root, struct text_error *ret_error)
{
	struct reader r = { .settings = ret, .file = file, .error = ret_error };
	const struct yaml_node *version = yaml_tree_get(root, "version");
	int status;

	set_defaults(ret, file);
	status = value_kind(file, root, YAML_MAPPING, "version: 1", ret_error);
	if (status == 0 && version != NULL)
		status = read_version(&r, version);
	if (status == 0)
		status = read_maps(&r, root);
	if (status == 0)
		status = check_required(&r, root);
	if (status == 0)
		status = check_orders(&r, root);
	if (status == 0)
		status = check_loops(&r, root);
	return status < 0 ? status : check_receivers(&r, root);
}

bool
settings_governs(const struct settings *settings, const char *interface)
{
	if (settings->nft_sets)
		return true;
	for (size_t i = 0; i < settings->edge_count; i++)
		if (pattern_covers(settings->edge[i], interface))
			return true;
	return false;
}

bool
settings_doc(size_t index, struct setting_doc *ret)
{
	size_t count, seen = 0;
	const struct field *fields = fields_all(&count);

	for (size_t i = 0; i < count; i++) {
		if (fields[i].type == FIELD_LATER || seen++ != index)
			continue;
		ret->name = fields[i].name;
		ret->fallback = fields[i].fallback;
		ret->help = fields[i].help;
		return true;
	}
	return false;
}
