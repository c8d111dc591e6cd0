/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edge_ports - ports and prefixes of one rule, from text.
 *
 * Every port is written out: no ranges, no names of services, so that what a
 * rule opens can be read off it.
 */
#include "lib/text/edge_ports.h"

#include <errno.h>
#include <string.h>

#include "lib/text/values.h"

int
edge_service_compare(const struct service *x, const struct service *y)
{
	if (x->protocol != y->protocol)
		return x->protocol < y->protocol ? -1 : 1;
	return x->port < y->port ? -1 : x->port > y->port;
}

bool
edge_service_parse(const char *text, size_t len, struct service *ret)
{
	uint8_t protocol = PROTO_TCP;
	char digits[8];
	uint64_t port;

	if (len > 4 &&
	    (memcmp(text, "tcp/", 4) == 0 || memcmp(text, "udp/", 4) == 0)) {
		protocol = text[0] == 'u' ? PROTO_UDP : PROTO_TCP;
		text += 4;
		len -= 4;
	}
	if (len >= sizeof(digits))
		return false;
	memcpy(digits, text, len);
	digits[len] = '\0';
	if (!text_number(digits, 1, UINT16_MAX, &port))
		return false;
	ret->protocol = protocol;
	ret->port = (uint16_t)port;
	return true;
}

/* Where the ports of one rule come from and go to. */
struct ports {
	const char *file;
	const struct yaml_node *node; /* for messages */
	struct service *list;
	uint8_t count;
	struct text_error *error;
};

static int
ports_refuse(struct ports *p, const char *text, size_t len)
{
	int width = len < 40 ? (int)len : 40;

	if (memchr(text, '-', len) != NULL || memchr(text, ':', len) != NULL)
		return text_error_at(p->error, p->file, p->node,
		    "\"%.*s\" is a range of ports; list each port, such as "
		    "tcp/443",
		    width, text);
	return text_error_at(p->error, p->file, p->node,
	    "\"%.*s\" is not a port; write one from 1 to 65535 such as 443, "
	    "tcp/443 or udp/443",
	    width, text);
}

static int
ports_add(struct ports *p, const char *text, size_t len)
{
	struct service one;

	if (!edge_service_parse(text, len, &one))
		return ports_refuse(p, text, len);
	for (size_t i = 0; i < p->count; i++)
		if (edge_service_compare(&p->list[i], &one) == 0)
			return text_error_at(p->error, p->file, p->node,
			    "port \"%.*s\" is here twice", (int)len, text);
	if (p->count == EDGE_SERVICES_MAX)
		return text_error_at(p->error, p->file, p->node,
		    "more than %d ports in one rule; at most %d are allowed",
		    EDGE_SERVICES_MAX, EDGE_SERVICES_MAX);
	p->list[p->count++] = one;
	return 0;
}

int
edge_rule_split(const char *file, const struct yaml_node *rule,
    size_t *ret_name_len, struct service *ret_services, uint8_t *ret_count,
    struct text_error *ret_error)
{
	struct ports ports = { .file = file,
		.node = rule,
		.list = ret_services,
		.error = ret_error };
	const char *colon = strrchr(rule->text, ':'), *text;
	struct addr addr;
	int r = 0;

	if (strstr(rule->text, "://") != NULL)
		return text_error_at(ret_error, file, rule,
		    "\"%s\" is a URL; write the name alone, such as "
		    "github.com:443",
		    rule->text);
	if (addr_parse(rule->text, rule->len, &addr))
		return text_error_at(ret_error, file, rule,
		    "\"%s\" is an address; a rule is about a name (one with "
		    "\"addresses\" where no server knows it)",
		    rule->text);
	*ret_name_len =
	    colon != NULL ? (size_t)(colon - rule->text) : rule->len;
	for (text = colon; text != NULL && r == 0; text = strchr(text, ',')) {
		text++;
		r = ports_add(&ports, text, strcspn(text, ","));
	}
	*ret_count = ports.count;
	return r;
}

int
edge_ports_read(const char *file, const struct yaml_node *list,
    struct service *ret_services, uint8_t *ret_count,
    struct text_error *ret_error)
{
	struct ports ports = { .file = file,
		.list = ret_services,
		.error = ret_error };
	int r =
	    value_list(file, list, EDGE_SERVICES_MAX, "[tcp/443]", ret_error);

	if (r == 0 && list->count == 0)
		return text_error_at(ret_error, file, list,
		    "the list is empty and would open nothing; write at least "
		    "one port");
	for (const struct yaml_node *n = list->first; r == 0 && n != NULL;
	     n = n->next) {
		ports.node = n;
		r = value_kind(file, n, YAML_SCALAR, "tcp/443", ret_error);
		if (r == 0)
			r = ports_add(&ports, n->text, n->len);
	}
	*ret_count = ports.count;
	return r;
}

int
edge_private_read(const char *file, const struct yaml_node *list,
    struct prefix *ret_prefixes, uint8_t *ret_count,
    struct text_error *ret_error)
{
	int r = value_list(file, list, EDGE_PRIVATE_MAX, "[10.5.0.0/24]",
	    ret_error);

	*ret_count = 0;
	for (const struct yaml_node *n = list->first; r == 0 && n != NULL;
	     n = n->next) {
		struct prefix *one = &ret_prefixes[(*ret_count)++];

		r = value_prefix(file, n, one, ret_error);
		if (r == 0 && one->bits == 0)
			return text_error_at(ret_error, file, n,
			    "\"%s\" is every address; write the network that "
			    "the name may lead to",
			    n->text);
	}
	return r;
}
