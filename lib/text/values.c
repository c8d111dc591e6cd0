/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * values - single values of the configuration, from text.
 *
 * YAML's own ideas of numbers, dates and truth are not used: a node is text,
 * and what the text means is decided by the key that it stands under.
 */
#include "lib/text/values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"

#define NEAREST_LEN_MAX 32

struct unit {
	const char *name;
	uint64_t factor;
};

/* The digits at the start of a text; what follows them is *ret_rest. */
static bool
digits_read(const char *text, uint64_t *ret, const char **ret_rest)
{
	uint64_t value = 0;
	size_t len = strspn(text, "0123456789");

	if (len == 0 || len > 19 || (text[0] == '0' && len > 1))
		return false;
	for (size_t i = 0; i < len; i++)
		value = value * 10 + (uint64_t)(text[i] - '0');
	*ret = value;
	*ret_rest = text + len;
	return true;
}

static bool
quantity_read(const char *text, const struct unit *units, size_t count,
    uint64_t *ret)
{
	const char *rest;
	uint64_t value;

	if (!digits_read(text, &value, &rest))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(rest, units[i].name) != 0)
			continue;
		if (value > UINT64_MAX / units[i].factor)
			return false;
		*ret = value * units[i].factor;
		return true;
	}
	return false;
}

bool
text_duration_ms(const char *text, uint64_t *ret)
{
	static const struct unit units[] = { { "ms", 1 }, { "s", 1000 },
		{ "m", 60 * 1000 }, { "h", 3600 * 1000 },
		{ "d", 24 * 3600 * 1000 } };

	return quantity_read(text, units, ARRAY_LEN(units), ret);
}

bool
text_octets(const char *text, uint64_t *ret)
{
	static const struct unit units[] = { { "B", 1 }, { "KiB", 1u << 10 },
		{ "MiB", 1u << 20 }, { "GiB", 1u << 30 } };

	return quantity_read(text, units, ARRAY_LEN(units), ret);
}

bool
text_budget(const char *text, uint64_t *ret)
{
	static const struct unit units[] = { { "B/day", 1 },
		{ "KiB/day", 1u << 10 }, { "MiB/day", 1u << 20 } };

	return quantity_read(text, units, ARRAY_LEN(units), ret);
}

/* Exactly count digits. */
static bool
fixed_number(const char **text, size_t count, unsigned *ret)
{
	unsigned value = 0;

	for (size_t i = 0; i < count; i++) {
		char c = (*text)[i];

		if (c < '0' || c > '9')
			return false;
		value = value * 10 + (unsigned)(c - '0');
	}
	*text += count;
	*ret = value;
	return true;
}

static bool
one_char(const char **text, char wanted)
{
	if (**text != wanted)
		return false;
	++*text;
	return true;
}

/* Days since 1970 of a date from then on; false: there is no such day. */
static bool
day_number(unsigned year, unsigned month, unsigned day, uint64_t *ret)
{
	static const uint8_t lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30,
		31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	unsigned before = year - 1, days = 0;

	if (year < 1970 || month < 1 || month > 12 || day < 1 ||
	    day > lengths[month - 1] + (leap && month == 2 ? 1u : 0u))
		return false;
	for (unsigned i = 1; i < month; i++)
		days += lengths[i - 1] + (leap && i == 2 ? 1u : 0u);
	*ret = (uint64_t)365 * (year - 1970) + (before / 4 - 1969 / 4) -
	    (before / 100 - 1969 / 100) + (before / 400 - 1969 / 400) + days +
	    day - 1;
	return true;
}

/* Thh:mm:ssZ */
static bool
day_time(const char **text, unsigned *ret_s)
{
	unsigned hour, minute, second;

	if (!one_char(text, 'T') || !fixed_number(text, 2, &hour) ||
	    !one_char(text, ':') || !fixed_number(text, 2, &minute) ||
	    !one_char(text, ':') || !fixed_number(text, 2, &second) ||
	    !one_char(text, 'Z') || hour > 23 || minute > 59 || second > 59)
		return false;
	*ret_s = (hour * 60 + minute) * 60 + second;
	return true;
}

bool
text_date(const char *text, uint64_t *ret_ms)
{
	unsigned year, month, day, second = 24 * 3600;
	uint64_t days;

	if (!fixed_number(&text, 4, &year) || !one_char(&text, '-') ||
	    !fixed_number(&text, 2, &month) || !one_char(&text, '-') ||
	    !fixed_number(&text, 2, &day) ||
	    !day_number(year, month, day, &days))
		return false;
	if (*text != '\0' && (!day_time(&text, &second) || *text != '\0'))
		return false;
	*ret_ms = (days * 24 * 3600 + second) * 1000;
	return true;
}

bool
text_number(const char *text, uint64_t min, uint64_t max, uint64_t *ret)
{
	const char *rest;
	uint64_t value;

	if (!digits_read(text, &value, &rest) || *rest != '\0' || value < min ||
	    value > max)
		return false;
	*ret = value;
	return true;
}

bool
text_endpoint(const char *text, uint16_t port, struct endpoint *ret)
{
	const char *at = strchr(text, '@');
	struct endpoint endpoint = { .port = port };
	uint64_t number;

	if (at != NULL) {
		if (!text_number(at + 1, 1, UINT16_MAX, &number))
			return false;
		endpoint.port = (uint16_t)number;
	}
	if (!addr_parse(text, at != NULL ? (size_t)(at - text) : strlen(text),
		&endpoint.addr))
		return false;
	*ret = endpoint;
	return true;
}

/* The value of a hexadecimal digit, or -1. */
static int
hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool
text_destination(const char *text, struct addr *ret, uint16_t *ret_port)
{
	size_t len = strlen(text);
	const char *colon = strrchr(text, ':');
	struct addr addr;
	uint64_t port = 0;

	if (addr_parse(text, len, ret)) {
		*ret_port = 0;
		return true;
	}
	if (colon == NULL || !text_number(colon + 1, 1, 65535, &port))
		return false;
	len = (size_t)(colon - text);
	if (len > 2 && text[0] == '[' && text[len - 1] == ']') {
		if (!addr_parse(text + 1, len - 2, &addr) || addr.family != 6)
			return false;
	} else if (!addr_parse(text, len, &addr) || addr.family != 4) {
		return false;
	}
	*ret = addr;
	*ret_port = (uint16_t)port;
	return true;
}

bool
text_mac(const char *text, uint8_t ret[TEXT_MAC_SIZE])
{
	uint8_t mac[TEXT_MAC_SIZE], any = 0;

	if (strlen(text) != TEXT_MAC_SIZE * 3 - 1)
		return false;
	for (size_t i = 0; i < TEXT_MAC_SIZE; i++, text += 3) {
		int high = hex_value(text[0]), low = hex_value(text[1]);

		if (high < 0 || low < 0 ||
		    text[2] != (i + 1 < TEXT_MAC_SIZE ? ':' : '\0'))
			return false;
		mac[i] = (uint8_t)(high << 4 | low);
		any |= mac[i];
	}
	if (any == 0 || (mac[0] & 1) != 0)
		return false;
	memcpy(ret, mac, sizeof(mac));
	return true;
}

static const char *
kind_name(enum yaml_kind kind)
{
	switch (kind) {
	case YAML_SCALAR:
		return "one word";
	case YAML_SEQUENCE:
		return "a list";
	case YAML_MAPPING:
		return "a map";
	}
	UNREACHABLE();
}

static bool
is_nothing(const struct yaml_node *node)
{
	return node->kind == YAML_SCALAR && node->len == 0 && !node->quoted;
}

/* A map where a word belongs is mostly a colon that YAML understood. */
static int
colon_trap(const char *file, const struct yaml_node *map, const char *example,
    struct text_error *ret_error)
{
	const struct yaml_node *value = map->first;
	const struct yaml_node *key = value != NULL ? value->key : NULL;

	if (map->count != 1 || value->kind != YAML_SCALAR)
		return text_error_at(ret_error, file, map,
		    "a map where one word belongs, such as %s", example);
	if (is_nothing(value) && key->text[key->len - 1] == ':')
		return text_error_at(ret_error, file, key,
		    "put an address that begins or ends with :: in quotes: "
		    "\"%s:\"",
		    key->text);
	if (is_nothing(value))
		return text_error_at(ret_error, file, key,
		    "nothing may follow \"%s\"; take the colon away",
		    key->text);
	return text_error_at(ret_error, file, key,
	    "no space belongs behind the colon: write %s:%s", key->text,
	    value->text);
}

/* What an error calls a node: its key in quotes, or "this". */
static void
label_of(const struct yaml_node *node, char *buf, size_t size)
{
	if (node->key != NULL)
		snprintf(buf, size, "\"%s\"", node->key->text);
	else
		snprintf(buf, size, "this");
}

int
value_kind(const char *file, const struct yaml_node *node, enum yaml_kind kind,
    const char *example, struct text_error *ret_error)
{
	char label[80];

	if (node->kind == kind && !(kind == YAML_SCALAR && node->len == 0))
		return 0;
	if (kind == YAML_SCALAR && node->kind == YAML_MAPPING)
		return colon_trap(file, node, example, ret_error);
	label_of(node, label, sizeof(label));
	return text_error_at(ret_error, file, node,
	    "%s is %s; it takes %s, such as %s", label,
	    node->kind == YAML_SCALAR && node->len == 0 ? "empty"
							: kind_name(node->kind),
	    kind_name(kind), example);
}

int
value_list(const char *file, const struct yaml_node *node, size_t max,
    const char *example, struct text_error *ret_error)
{
	int r = value_kind(file, node, YAML_SEQUENCE, example, ret_error);

	if (r < 0)
		return r;
	if (node->count > max)
		return text_error_at(ret_error, file, node,
		    "%zu entries; at most %zu are allowed here", node->count,
		    max);
	return 0;
}

int
value_text(const char *file, const struct yaml_node *node, char *buf,
    size_t size, struct text_error *ret_error)
{
	int r = value_kind(file, node, YAML_SCALAR, "\"a text\"", ret_error);

	if (r < 0)
		return r;
	if (node->len >= size)
		return text_error_at(ret_error, file, node,
		    "%zu octets; at most %zu are allowed here", node->len,
		    size - 1);
	memcpy(buf, node->text, node->len + 1);
	return 0;
}

bool
text_is_word(const char *text)
{
	return strspn(text,
		   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		   "0123456789._-") == strlen(text) &&
	    text[0] != '.' && text[0] != '-';
}

int
value_word(const char *file, const struct yaml_node *node, char *buf,
    size_t size, struct text_error *ret_error)
{
	int r = value_kind(file, node, YAML_SCALAR, "name-1", ret_error);

	if (r < 0)
		return r;
	if (!text_is_word(node->text))
		return text_error_at(ret_error, file, node,
		    "\"%s\" is not a word of letters, digits, \".\", \"-\" "
		    "and \"_\" that begins with a letter, a digit or \"_\"",
		    node->text);
	return value_text(file, node, buf, size, ret_error);
}

int
value_bool(const char *file, const struct yaml_node *node, bool *ret,
    struct text_error *ret_error)
{
	int r = value_kind(file, node, YAML_SCALAR, "true", ret_error);

	if (r < 0)
		return r;
	if (node->quoted ||
	    (strcmp(node->text, "true") != 0 &&
		strcmp(node->text, "false") != 0))
		return text_error_at(ret_error, file, node,
		    "\"%s\" is neither true nor false; write one of the two, "
		    "without quotes",
		    node->text);
	*ret = node->text[0] == 't';
	return 0;
}

/* No packet bears an address of this form, and no socket of ours takes it. */
static int
check_form(const char *file, const struct yaml_node *node,
    const struct addr *addr, struct text_error *ret_error)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (addr->family != 6 || memcmp(addr->bytes, mapped, 12) != 0)
		return 0;
	return text_error_at(ret_error, file, node,
	    "\"%s\" is an IPv4 address in the form of IPv6; write it as IPv4",
	    node->text);
}

int
value_addr(const char *file, const struct yaml_node *node, struct addr *ret,
    struct text_error *ret_error)
{
	int r = value_kind(file, node, YAML_SCALAR, "10.200.1.2", ret_error);

	if (r < 0)
		return r;
	if (!addr_parse(node->text, node->len, ret))
		return text_error_at(ret_error, file, node,
		    "\"%s\" is not an address; write one such as 10.200.1.2 "
		    "or \"fd00::2\"",
		    node->text);
	return check_form(file, node, ret, ret_error);
}

/* Whether only the octets behind the prefix length are wrong. */
static bool
has_host_bits(const struct yaml_node *node)
{
	const char *slash = strchr(node->text, '/');
	struct addr addr;
	uint64_t bits;

	return slash != NULL &&
	    addr_parse(node->text, (size_t)(slash - node->text), &addr) &&
	    text_number(slash + 1, 0, addr_size(&addr) * 8, &bits);
}

int
value_prefix(const char *file, const struct yaml_node *node, struct prefix *ret,
    struct text_error *ret_error)
{
	int r = value_kind(file, node, YAML_SCALAR, "10.5.0.0/24", ret_error);

	if (r < 0)
		return r;
	if (prefix_parse(node->text, node->len, ret))
		return 0;
	if (has_host_bits(node))
		return text_error_at(ret_error, file, node,
		    "\"%s\" has bits set behind its length; write the first "
		    "address of the network",
		    node->text);
	return text_error_at(ret_error, file, node,
	    "\"%s\" is not a prefix; write one such as 10.5.0.0/24 or "
	    "\"fd00:5::/64\"",
	    node->text);
}

int
value_unicast(const char *file, const struct yaml_node *node,
    const struct addr *addr, struct text_error *ret_error)
{
	enum addr_class class = addr_classify(addr);

	if (class == ADDR_UNSPECIFIED)
		return text_error_at(ret_error, file, node,
		    "\"%s\" stands for every address of this host; write the "
		    "one that is meant",
		    node->text);
	if (class == ADDR_MULTICAST)
		return text_error_at(ret_error, file, node,
		    "\"%s\" is a multicast address; write the address of one "
		    "host",
		    node->text);
	if (addr->family == 6 && class == ADDR_LINK_LOCAL)
		return text_error_at(ret_error, file, node,
		    "\"%s\" is link-local, and means another host on each "
		    "link; write a unique address",
		    node->text);
	return 0;
}

int
value_endpoint(const char *file, const struct yaml_node *node,
    struct endpoint *ret, struct text_error *ret_error)
{
	int r = value_kind(file, node, YAML_SCALAR, "192.0.2.1", ret_error);

	if (r < 0)
		return r;
	if (!text_endpoint(node->text, 53, ret))
		return text_error_at(ret_error, file, node,
		    "\"%s\" is not ADDRESS or ADDRESS@PORT; write one such as "
		    "192.0.2.1 or \"fd00::1@5353\"",
		    node->text);
	return check_form(file, node, &ret->addr, ret_error);
}

/* ADDRESS or [ADDRESS], and :PORT. */
static bool
authority_read(const char *text, uint16_t port, struct endpoint *ret)
{
	const char *end = text[0] == '[' ? strchr(text, ']') : NULL;
	const char *from = end != NULL ? text + 1 : text;
	uint64_t number = port;

	if (end == NULL)
		end = text + strcspn(text, ":");
	if (!addr_parse(from, (size_t)(end - from), &ret->addr) ||
	    (ret->addr.family == 6) != (text[0] == '['))
		return false;
	if (*end == ']')
		end++;
	if (*end == ':' ? !text_number(end + 1, 1, UINT16_MAX, &number)
			: *end != '\0')
		return false;
	ret->port = (uint16_t)number;
	return number != 0;
}

int
value_receiver(const char *file, const struct yaml_node *node,
    uint8_t *ret_transport, struct endpoint *ret, struct text_error *ret_error)
{
	const char *text = node->text;
	bool ok = false;

	*ret_transport = 0;
	if (strncmp(text, "udp://", 6) == 0)
		*ret_transport = PROTO_UDP;
	else if (strncmp(text, "tcp://", 6) == 0)
		*ret_transport = PROTO_TCP;
	if (*ret_transport != 0)
		ok = authority_read(text + 6,
		    *ret_transport == PROTO_UDP ? 514 : 0, ret);
	if (!ok)
		return text_error_at(ret_error, file, node,
		    "\"%s\" is no receiver of syslog; write /dev/log, "
		    "udp://192.0.2.9:514 or tcp://192.0.2.9:601, with an "
		    "address, not a name",
		    text);
	return check_form(file, node, &ret->addr, ret_error);
}

int
value_budget(const char *file, const struct yaml_node *node, uint32_t *ret,
    struct text_error *ret_error)
{
	int r = value_kind(file, node, YAML_SCALAR, "1KiB/day", ret_error);
	uint64_t octets;

	if (r < 0)
		return r;
	if (!text_budget(node->text, &octets) ||
	    octets < TEXT_BUDGET_MIN / TEXT_BUDGET_OCTET ||
	    octets > TEXT_BUDGET_OCTETS_MAX)
		return text_error_at(ret_error, file, node,
		    "\"%s\" is not a budget from " TEXT_BUDGET_LEAST
		    " to " TEXT_BUDGET_MOST ", such as 1KiB/day",
		    node->text);
	*ret = (uint32_t)(octets * TEXT_BUDGET_OCTET);
	return 0;
}

int
value_choice(const char *file, const struct yaml_node *node,
    const char *const *words, size_t *ret, struct text_error *ret_error)
{
	int r = value_kind(file, node, YAML_SCALAR, words[0], ret_error);
	char list[256] = "";
	size_t len = 0;

	if (r < 0)
		return r;
	for (size_t i = 0; words[i] != NULL; i++) {
		if (strcmp(words[i], node->text) == 0) {
			*ret = i;
			return 0;
		}
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s",
		    i > 0 ? ", " : "", words[i]);
		REQUIRE(len < sizeof(list));
	}
	return text_error_at(ret_error, file, node,
	    "\"%s\" is not known here; write one of: %s", node->text, list);
}

static size_t
least(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Levenshtein distance of two texts of at most NEAREST_LEN_MAX octets. */
static size_t
distance(const char *a, const char *b)
{
	size_t row[NEAREST_LEN_MAX + 1], width = strlen(b);

	for (size_t j = 0; j <= width; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1] != '\0'; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= width; j++) {
			size_t above = row[j];
			size_t cost = a[i - 1] != b[j - 1];

			row[j] =
			    least(above + 1, row[j - 1] + 1, diagonal + cost);
			diagonal = above;
		}
	}
	return row[width];
}

const char *
text_nearest(const char *text, const char *const *words, size_t count)
{
	size_t best = (strlen(text) + 2) / 3 + 1;
	const char *nearest = NULL;

	if (strlen(text) > NEAREST_LEN_MAX)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		size_t d;

		if (strlen(words[i]) > NEAREST_LEN_MAX)
			continue;
		d = distance(text, words[i]);
		if (d < best) {
			best = d;
			nearest = words[i];
		}
	}
	return nearest;
}

void *
text_grow(void *items, size_t count, size_t size)
{
	if (count != 0 && (count & (count - 1)) != 0)
		return items;
	if (count > SIZE_MAX / 2 / size)
		return NULL;
	return realloc(items, (count == 0 ? 1 : count * 2) * size);
}
