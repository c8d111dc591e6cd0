/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fields - the one table of every key of the configuration.
 *
 * Defaults stand here as the text that a user would write and are read by the
 * same code, so the manual, the program and this table cannot disagree.
 */
#include "lib/text/fields.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/require.h"

#define MEMBER(member)                               \
	.offset = offsetof(struct settings, member), \
	.size = sizeof(((struct settings *)0)->member)
#define LIMIT(member, least, most, preset, text)                      \
	{                                                             \
		.name = "limits." #member, .type = FIELD_U32,         \
		MEMBER(limits.member), .min = (least), .max = (most), \
		.fallback = (preset), .help = (text)                  \
	}
#define LATER(key)                                 \
	{                                          \
		.name = (key), .type = FIELD_LATER \
	}
#define OTHER(key, preset, text)                                          \
	{                                                                 \
		.name = (key), .type = FIELD_OTHER, .fallback = (preset), \
		.help = (text)                                            \
	}
#define MAP(key, text)                                           \
	{                                                        \
		.name = (key), .type = FIELD_MAP, .help = (text) \
	}

#define SECOND_MS  1000
#define DAY_MS     (24 * 3600 * SECOND_MS)
#define SOCKET_MAX 107 /* sun_path without its NUL */

static const struct field fields[] = {
	OTHER("version", NULL, "version of this format: 1"),
	OTHER("listen", NULL, "addresses that answer questions"),
	OTHER("edge", NULL, "interfaces whose packets are governed"),
	OTHER("upstream", NULL, "resolvers that are asked"),
	OTHER("forward", "none", "zones that are asked elsewhere"),
	OTHER("sandboxes", "none", "who asks"),
	OTHER("policies", "none", "what may be asked"),
	OTHER("events", "[{stdout: true}]", "where event lines go"),
	OTHER("labels", "none", "words that every event bears"),
	OTHER("include", "none", "files with more of these two"),
	MAP("attach", "what may be attached at run time"),
	MAP("control", "sockets of the command line"),
	MAP("nft", "the table in the kernel"),
	MAP("pins", "how long addresses stay open"),
	MAP("ttl", "lifetimes that clients are told"),
	MAP("bounds", "what questions that leave may tell"),
	MAP("protected", "changes to the ranges that are never opened"),
	MAP("limits", "sizes that are fixed at start"),
	{ .name = "public_suffixes",
	    .type = FIELD_PATH,
	    MEMBER(public_suffixes),
	    .max = SETTINGS_PATH_MAX - 1,
	    .fallback = "/usr/share/publicsuffix/public_suffix_list.dat",
	    .help = "the public suffix list" },
	{ .name = "state_dir",
	    .type = FIELD_PATH,
	    MEMBER(state_dir),
	    .max = SETTINGS_PATH_MAX - 1,
	    .fallback = "/var/lib/namewall",
	    .help = "what must survive a restart" },
	{ .name = "user",
	    .type = FIELD_WORD,
	    MEMBER(user),
	    .fallback = "namewall",
	    .help = "whom the resolver runs as" },

	OTHER("attach.prefixes", NULL, "where their addresses lie"),
	OTHER("attach.policies", NULL, "policies that they may have"),
	{ .name = "attach.count_max",
	    .type = FIELD_U32,
	    MEMBER(attach_count_max),
	    .min = 1,
	    .max = 16384,
	    .fallback = "4096",
	    .help = "how many there may be at a time" },

	{ .name = "control.path",
	    .type = FIELD_PATH,
	    MEMBER(control_path),
	    .max = SOCKET_MAX,
	    .fallback = "/run/namewall/control.sock",
	    .help = "socket for commands that change things" },
	{ .name = "control.group",
	    .type = FIELD_WORD,
	    MEMBER(control_group),
	    .fallback = "root",
	    .help = "group that may change things" },
	{ .name = "control.status_path",
	    .type = FIELD_PATH,
	    MEMBER(status_path),
	    .max = SOCKET_MAX,
	    .fallback = "/run/namewall/status.sock",
	    .help = "socket for commands that only look" },
	{ .name = "control.status_group",
	    .type = FIELD_WORD,
	    MEMBER(status_group),
	    .fallback = "namewall-status",
	    .help = "group that may look" },

	OTHER("nft.mode", "gateway", "how packets are judged"),
	{ .name = "nft.table",
	    .type = FIELD_WORD,
	    MEMBER(nft_table),
	    .fallback = "namewall",
	    .help = "name of the table" },
	{ .name = "nft.priority",
	    .type = FIELD_S32,
	    MEMBER(nft_priority),
	    .min = -199,
	    .max = -101,
	    .fallback = "-150",
	    .help = "of the prerouting chain; between connection tracking "
		    "and destination NAT" },
	{ .name = "nft.masquerade",
	    .type = FIELD_BOOL,
	    MEMBER(nft_masquerade),
	    .fallback = "false",
	    .help = "whether the table also masquerades" },
	{ .name = "nft.log_group",
	    .type = FIELD_U16,
	    MEMBER(nft_log_group),
	    .min = 0,
	    .max = UINT16_MAX,
	    .fallback = "5",
	    .help = "group to which rejected packets are logged" },
	{ .name = "nft.log_rate",
	    .type = FIELD_RATE,
	    MEMBER(nft_log_rate),
	    .min = 1,
	    .max = 10000,
	    .fallback = "10/second",
	    .help = "how many are logged for each sandbox" },
	OTHER("nft.family", "inet", "of the table of the two sets"),
	OTHER("nft.pins4", NULL, "set that takes pins of IPv4"),
	OTHER("nft.pins6", NULL, "set that takes pins of IPv6"),

	{ .name = "pins.floor",
	    .type = FIELD_MS,
	    MEMBER(pin_floor_ms),
	    .min = SECOND_MS,
	    .max = DAY_MS,
	    .fallback = "60s",
	    .help = "shortest life of a pin" },
	{ .name = "pins.cap",
	    .type = FIELD_MS,
	    MEMBER(pin_cap_ms),
	    .min = SECOND_MS,
	    .max = 7 * DAY_MS,
	    .fallback = "1h",
	    .help = "longest life of a pin" },
	{ .name = "pins.grace",
	    .type = FIELD_MS,
	    MEMBER(pin_grace_ms),
	    .min = 0,
	    .max = DAY_MS,
	    .fallback = "60s",
	    .help = "how long a pin outlives the lifetime that was told" },

	{ .name = "bounds.tick",
	    .type = FIELD_MS,
	    MEMBER(tick_ms),
	    .min = 1,
	    .max = SECOND_MS,
	    .fallback = "1ms",
	    .help = "asks leave on multiples of it only" },
	{ .name = "bounds.sandbox",
	    .type = FIELD_BUDGET,
	    MEMBER(budget_sandbox),
	    .min = TEXT_BUDGET_MIN,
	    .max = TEXT_BUDGET_MAX,
	    .fallback = "4KiB/day",
	    .help = "what all wildcards of a sandbox may tell together" },
	{ .name = "bounds.warm",
	    .type = FIELD_MS,
	    MEMBER(warm_ms),
	    .min = 60 * SECOND_MS,
	    .max = DAY_MS,
	    .fallback = "24h",
	    .help = "how long a question that was paid is kept warm" },

	{ .name = "ttl.floor",
	    .type = FIELD_SECONDS,
	    MEMBER(ttl_floor_s),
	    .min = 0,
	    .max = 3600,
	    .fallback = "5s",
	    .help = "shortest lifetime in an answer" },
	{ .name = "ttl.cap",
	    .type = FIELD_SECONDS,
	    MEMBER(ttl_cap_s),
	    .min = 1,
	    .max = 86400,
	    .fallback = "300s",
	    .help = "longest lifetime in an answer" },
	{ .name = "ttl.negative",
	    .type = FIELD_SECONDS,
	    MEMBER(ttl_negative_s),
	    .min = 0,
	    .max = 3600,
	    .fallback = "5s",
	    .help = "lifetime of a denial" },

	OTHER("protected.except", "[]", "prefixes that may be opened"),
	OTHER("protected.nat64", "[]", "NAT64 prefixes beside 64:ff9b::/96"),

	LIMIT(queries, 16, 1 << 20, "4096", "questions in progress"),
	LIMIT(queries_per_sandbox, 1, 1 << 20, "512", "of one sandbox"),
	LIMIT(lookups, 16, 1 << 20, "4096", "upstream exchanges in progress"),
	LIMIT(lookups_per_sandbox, 1, 1 << 20, "512", "of one sandbox"),
	LIMIT(warm_names, 0, 1 << 20, "16384",
	    "questions that were paid and are kept warm"),
	LIMIT(warm_names_per_sandbox, 0, 1 << 20, "1024", "of one sandbox"),
	LIMIT(scheduled_names, 0, 1 << 17, "2000",
	    "exact names that are looked up on our own clock"),
	LIMIT(cache, 16, 1 << 22, "8192", "answers that are kept"),
	LIMIT(cache_per_sandbox, 1, 1 << 22, "2048", "of one sandbox"),
	LIMIT(pins, 16, 1 << 22, "65536", "pins in the kernel"),
	LIMIT(pins_per_sandbox, 1, 1 << 22, "8192", "of one sandbox"),
	LIMIT(pin_rate_per_sandbox, 1, 1 << 20, "2000", "new pins a second"),
	LIMIT(flows_per_sandbox, 1, 1 << 20, "4096", "flows that are open"),
	LIMIT(tcp_connections, 16, 1 << 16, "1024",
	    "connections that ask over TCP"),
	LIMIT(tcp_connections_per_sandbox, 1, 1 << 16, "64", "of one sandbox"),
	LIMIT(tunnel_keys, 16, 1 << 22, "16384",
	    "pairs of sandbox and domain that the tunnel alarm watches"),
	LIMIT(tunnel_keys_per_sandbox, 1, 1 << 22, "1024", "of one sandbox"),
	LIMIT(events_in_memory, 16, 1 << 20, "10000",
	    "event lines that are kept for the command line"),
	LIMIT(budget_keys, 16, 1 << 20, "16384",
	    "wildcards, of each sandbox, whose budgets are kept"),
	LIMIT(rules, 1, 1 << 22, "200000", "rules, lists included"),

	OTHER("sink.stdout", NULL, "lines go to standard output"),
	OTHER("sink.file", NULL, "lines are appended to a file"),
	OTHER("sink.syslog", NULL, "lines go to a receiver of syslog"),
	OTHER("sink.only", "[event, alert, metric]", "kinds that go there"),

	OTHER("sandbox.policy", NULL, "name of its policy"),
	OTHER("sandbox.source", NULL, "its addresses"),
	OTHER("sandbox.interface", "by route", "by which its packets enter"),
	OTHER("sandbox.mac", "any",
	    "hardware address of its frames at a port of a bridge"),
	OTHER("sandbox.listen", "none",
	    "listeners at which every question is its own"),
	OTHER("sandbox.inbound", "none", "who may open flows to it"),
	OTHER("sandbox.dhcp", "false", "whether it may ask this host by DHCP"),
	OTHER("sandbox.labels", "none", "words that its events bear"),
	OTHER("sandbox.each", "false",
	    "whether each address of its prefixes is a sandbox of its own"),
	OTHER("sandbox.upload", "none", "octets that it may send a day"),

	OTHER("policy.use", "none", "policies whose rules are added"),
	OTHER("policy.mode", "enforce", "whether its rules hold"),
	OTHER("policy.denial", "nxdomain", "how a denial looks"),
	OTHER("policy.tell", "full", "how much a denial explains"),
	OTHER("policy.refresh", "scheduled", "when exact names are looked up"),
	OTHER("policy.ports", "[tcp/443]", "ports of rules that name none"),
	OTHER("policy.types", "[A, AAAA]", "types of rules that name none"),
	OTHER("policy.budget", "1KiB/day", "what each wildcard may tell"),
	OTHER("policy.budget_sum", "16 x budget",
	    "what all its sandboxes may tell together"),
	OTHER("policy.quarantine_on", "[]",
	    "alerts after which a sandbox is cut off"),
	OTHER("policy.allow", "none", "rules that allow"),
	OTHER("policy.deny", "none", "rules that deny"),
	OTHER("policy.upload", "none", "upload of rules that name none"),

	OTHER("rule.name", NULL, "a name, or a wildcard"),
	OTHER("rule.list", NULL, "a list of names"),
	OTHER("rule.ports", "of the policy", "where its addresses open"),
	OTHER("rule.types", "of the policy", "types that may be asked"),
	OTHER("rule.private", "none", "protected prefixes it may resolve to"),
	OTHER("rule.addresses", "none", "fixed addresses; none is asked"),
	OTHER("rule.budget", "of the policy", "what a wildcard may tell"),
	OTHER("rule.until", "none", "a date; past it nothing is granted"),
	OTHER("rule.reason", "none", "a note"),
	OTHER("rule.force", "false", "take a wildcard at a public suffix"),
	OTHER("rule.accept", "none", "warnings that are taken knowingly"),
	OTHER("rule.upload", "of the policy", "octets that go there a day"),
};

const struct field *
fields_all(size_t *ret_count)
{
	*ret_count = ARRAY_LEN(fields);
	return fields;
}

/* The part of a field's name behind a prefix; NULL: of another map. */
static const char *
name_in(const struct field *field, const char *prefix)
{
	size_t len = strlen(prefix);
	const char *rest = field->name + len;

	if (strncmp(field->name, prefix, len) != 0 || strchr(rest, '.') != NULL)
		return NULL;
	return rest;
}

static int
unknown_key(const char *file, const struct yaml_node *key, const char *prefix,
    struct text_error *ret_error)
{
	const char *words[ARRAY_LEN(fields)], *nearest;
	char list[256] = "";
	size_t count = 0, len = 0;

	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const char *name = name_in(&fields[i], prefix);

		if (name == NULL || fields[i].type == FIELD_LATER)
			continue;
		words[count++] = name;
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s",
		    count > 1 ? ", " : "", name);
		REQUIRE(len < sizeof(list));
	}
	nearest = text_nearest(key->text, words, count);
	if (nearest != NULL)
		return text_error_at(ret_error, file, key,
		    "unknown key \"%s\"; did you mean \"%s\"?", key->text,
		    nearest);
	return text_error_at(ret_error, file, key,
	    "unknown key \"%s\"; known here are: %s", key->text, list);
}

int
fields_check(const char *file, const struct yaml_node *map, const char *prefix,
    struct text_error *ret_error)
{
	for (const struct yaml_node *n = map->first; n != NULL; n = n->next) {
		const struct field *found = NULL;

		for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
			const char *name = name_in(&fields[i], prefix);

			if (name != NULL && strcmp(name, n->key->text) == 0)
				found = &fields[i];
		}
		if (found == NULL)
			return unknown_key(file, n->key, prefix, ret_error);
		if (found->type == FIELD_LATER)
			return fields_later(file, n->key, n->key->text,
			    ret_error);
	}
	return 0;
}

int
fields_later(const char *file, const struct yaml_node *node, const char *what,
    struct text_error *ret_error)
{
	return text_error_at(ret_error, file, node,
	    "\"%s\" is not in this version yet; leave it out", what);
}

/* A number with a sign. */
static bool
signed_read(const char *text, int64_t *ret)
{
	bool minus = text[0] == '-';
	uint64_t value;

	if (!text_number(text + (minus ? 1 : 0), 0, INT64_MAX, &value))
		return false;
	*ret = minus ? -(int64_t)value : (int64_t)value;
	return true;
}

static bool
duration_read(const char *text, uint64_t unit_ms, int64_t *ret)
{
	uint64_t ms;

	if (!text_duration_ms(text, &ms) || ms % unit_ms != 0 ||
	    ms / unit_ms > INT64_MAX)
		return false;
	*ret = (int64_t)(ms / unit_ms);
	return true;
}

static bool
rate_read(const char *text, int64_t *ret)
{
	const char *slash = strchr(text, '/');
	char digits[20];
	uint64_t value;

	if (slash == NULL || strcmp(slash, "/second") != 0 ||
	    (size_t)(slash - text) >= sizeof(digits))
		return false;
	memcpy(digits, text, (size_t)(slash - text));
	digits[slash - text] = '\0';
	if (!text_number(digits, 0, INT64_MAX, &value))
		return false;
	*ret = (int64_t)value;
	return true;
}

static bool
budget_read(const char *text, int64_t *ret)
{
	uint64_t octets;

	if (!text_budget(text, &octets) || octets > TEXT_BUDGET_OCTETS_MAX)
		return false;
	*ret = (int64_t)octets * TEXT_BUDGET_OCTET;
	return true;
}

static void
integer_store(void *at, size_t size, int64_t value)
{
	uint16_t half = (uint16_t)value;
	uint32_t word = (uint32_t)value;

	REQUIRE(size == sizeof(half) || size == sizeof(word));
	if (size == sizeof(half))
		memcpy(at, &half, sizeof(half));
	else
		memcpy(at, &word, sizeof(word));
}

static bool
text_store(const struct field *field, const char *text, char *at)
{
	size_t len = strlen(text);

	if (len == 0 || len >= field->size)
		return false;
	if (field->type == FIELD_PATH &&
	    (text[0] != '/' || len == 1 || len > (size_t)field->max))
		return false;
	memcpy(at, text, len + 1);
	return true;
}

static bool
number_read(const struct field *field, const char *text, int64_t *ret)
{
	if (field->type == FIELD_MS)
		return duration_read(text, 1, ret);
	if (field->type == FIELD_SECONDS)
		return duration_read(text, 1000, ret);
	if (field->type == FIELD_RATE)
		return rate_read(text, ret);
	if (field->type == FIELD_BUDGET)
		return budget_read(text, ret);
	return signed_read(text, ret);
}

/* Whether a text is a value of a field; stores it where it is one. */
static bool
field_store(const struct field *field, const char *text, void *at)
{
	int64_t value;
	bool flag;

	switch (field->type) {
	case FIELD_BOOL:
		flag = strcmp(text, "true") == 0;
		memcpy(at, &flag, sizeof(flag));
		return flag || strcmp(text, "false") == 0;
	case FIELD_PATH:
	case FIELD_WORD:
		return text_store(field, text, at);
	case FIELD_U16:
	case FIELD_U32:
	case FIELD_S32:
	case FIELD_MS:
	case FIELD_SECONDS:
	case FIELD_RATE:
	case FIELD_BUDGET:
		if (!number_read(field, text, &value) || value < field->min ||
		    value > field->max)
			return false;
		integer_store(at, field->size, value);
		return true;
	case FIELD_OTHER:
	case FIELD_MAP:
	case FIELD_LATER:
		break;
	}
	UNREACHABLE();
}

/* A bound of a field as the user would write it; buf has 32 octets. */
static const char *
bound_print(const struct field *field, int64_t value, char *buf)
{
	static const struct {
		int64_t ms;
		const char *name;
	} units[] = { { 24 * 3600 * 1000, "d" }, { 3600 * 1000, "h" },
		{ 60 * 1000, "m" }, { 1000, "s" }, { 1, "ms" } };
	bool duration = field->type == FIELD_MS || field->type == FIELD_SECONDS;
	int64_t ms = field->type == FIELD_SECONDS ? value * 1000 : value;
	size_t i = 0;

	if (field->type == FIELD_BUDGET)
		return value == TEXT_BUDGET_MIN ? TEXT_BUDGET_LEAST
						: TEXT_BUDGET_MOST;
	if (!duration) {
		snprintf(buf, 32, "%lld%s", (long long)value,
		    field->type == FIELD_RATE ? "/second" : "");
		return buf;
	}
	if (ms == 0)
		return "0s";
	while (ms % units[i].ms != 0)
		i++;
	snprintf(buf, 32, "%lld%s", (long long)(ms / units[i].ms),
	    units[i].name);
	return buf;
}

static const char *
type_name(enum field_type type)
{
	switch (type) {
	case FIELD_MS:
	case FIELD_SECONDS:
		return "a duration";
	case FIELD_RATE:
		return "a rate";
	case FIELD_BUDGET:
		return "a budget";
	case FIELD_U16:
	case FIELD_U32:
	case FIELD_S32:
		return "a number";
	case FIELD_OTHER:
	case FIELD_MAP:
	case FIELD_LATER:
	case FIELD_BOOL:
	case FIELD_PATH:
	case FIELD_WORD:
		break;
	}
	UNREACHABLE();
}

static int
refuse(const char *file, const struct field *field,
    const struct yaml_node *node, struct text_error *ret_error)
{
	char low[32], high[32];

	if (field->type == FIELD_PATH)
		return text_error_at(ret_error, file, node,
		    "\"%s\" is not an absolute path of at most %lld octets, "
		    "such as %s",
		    node->text, (long long)field->max, field->fallback);
	if (field->type == FIELD_WORD)
		return text_error_at(ret_error, file, node,
		    "\"%s\" has more than %zu octets", node->text,
		    field->size - 1);
	return text_error_at(ret_error, file, node,
	    "\"%s\" is not %s from %s to %s, such as %s", node->text,
	    type_name(field->type), bound_print(field, field->min, low),
	    bound_print(field, field->max, high), field->fallback);
}

int
fields_read(const char *file, const struct field *field,
    const struct yaml_node *node, struct settings *settings,
    struct text_error *ret_error)
{
	void *at = (char *)settings + field->offset;
	char word[SETTINGS_PATH_MAX];
	bool number = field->type == FIELD_U16 || field->type == FIELD_U32 ||
	    field->type == FIELD_S32;
	int status;

	if (field->type == FIELD_BOOL)
		return value_bool(file, node, at, ret_error);
	status =
	    value_kind(file, node, YAML_SCALAR, field->fallback, ret_error);
	if (status == 0 && field->type == FIELD_WORD)
		status = value_word(file, node, word, sizeof(word), ret_error);
	if (status < 0)
		return status;
	if (number && node->quoted)
		return text_error_at(ret_error, file, node,
		    "\"%s\" in quotes is a text; write the number without "
		    "quotes",
		    node->text);
	if (!field_store(field, node->text, at))
		return refuse(file, field, node, ret_error);
	return 0;
}

void
fields_defaults(struct settings *settings)
{
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (fields[i].type > FIELD_LATER)
			REQUIRE(field_store(&fields[i], fields[i].fallback,
			    (char *)settings + fields[i].offset));
}
