/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edge_uploads - see edge_uploads.h.
 */
#include "lib/text/edge_uploads.h"

#include <errno.h>
#include <string.h>

#include "lib/text/edge_follow.h"
#include "lib/text/values.h"

/* Less does not carry a TLS handshake. */
#define UPLOAD_MIN 1024u
#define EXAMPLE    "50MiB/day"
#define UPLOAD_MAX (UINT64_C(1) << 50)
#define FNV_START  UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME  UINT64_C(0x100000001b3)

/* 50MiB/day: the octets. */
static bool
octets_a_day(const struct yaml_node *node, uint64_t *ret)
{
	static const char a_day[] = "/day";
	char amount[32];
	size_t len = node->len - (sizeof(a_day) - 1);

	if (node->len < sizeof(a_day) || len >= sizeof(amount) ||
	    strcmp(node->text + len, a_day) != 0)
		return false;
	memcpy(amount, node->text, len);
	amount[len] = '\0';
	return text_octets(amount, ret);
}

int
edge_upload_read(const char *file, const struct yaml_node *map, uint64_t *ret,
    struct text_error *ret_error)
{
	const struct yaml_node *node = yaml_tree_get(map, "upload");
	uint64_t octets = 0;
	int status;

	if (node == NULL)
		return 0;
	status = value_kind(file, node, YAML_SCALAR, EXAMPLE, ret_error);
	if (status < 0)
		return status;
	if (!octets_a_day(node, &octets))
		return text_error_at(ret_error, file, node,
		    "\"%s\" is not an amount for a day; write one such "
		    "as " EXAMPLE,
		    node->text);
	if (octets < UPLOAD_MIN || octets > UPLOAD_MAX)
		return text_error_at(ret_error, file, node,
		    "\"%s\" is out of range: 1024 octets to 1048576 GiB a "
		    "day; write one such "
		    "as " EXAMPLE,
		    node->text);
	*ret = octets;
	return 0;
}

static uint64_t
fold(uint64_t hash, char c)
{
	if (c >= 'A' && c <= 'Z')
		c = (char)(c - 'A' + 'a');
	return (hash ^ (uint8_t)c) * FNV_PRIME;
}

uint64_t
edge_upload_rule(const char *name, size_t len, bool list)
{
	uint64_t hash = fold(FNV_START, list ? 'l' : 'n');

	for (size_t i = 0; i < len; i++)
		if (i + 1 < len || name[i] != '.')
			hash = fold(hash, name[i]);
	return hash != EDGE_UPLOAD_SUM ? hash : 1;
}

int
edge_upload_insert(struct edge_policy *policy, const struct edge_upload *one)
{
	struct edge_upload *list;

	for (size_t i = 0; i < policy->upload_count; i++) {
		list = &policy->uploads[i];
		if (list->rule != one->rule)
			continue;
		if (one->octets < list->octets)
			*list = *one;
		return 0;
	}
	list = text_grow(policy->uploads, policy->upload_count, sizeof(*list));
	if (list == NULL)
		return -ENOMEM;
	policy->uploads = list;
	list[policy->upload_count++] = *one;
	return 0;
}

const struct edge_upload *
edge_upload_find(const struct edge_policy *policy, uint64_t rule)
{
	for (size_t i = 0; i < policy->upload_count; i++)
		if (policy->uploads[i].rule == rule)
			return &policy->uploads[i];
	return NULL;
}

bool
edge_upload_covers(const struct edge_policy *policy, struct service service)
{
	for (size_t i = 0; i < policy->unmetered_count; i++)
		if (policy->unmetered[i].protocol == service.protocol &&
		    policy->unmetered[i].port == service.port)
			return false;
	return policy->upload_count > 0;
}

/* A member of a sandbox with `each` has a sum of its own, as large. */
static uint64_t
sum_of(const struct edge_config *config, const struct edge_sandbox *sandbox)
{
	if (sandbox->each > 0 && sandbox->each <= config->sandbox_count)
		sandbox = &config->sandboxes[sandbox->each - 1];
	return sandbox->upload;
}

uint64_t
edge_upload_limit(const struct edge_config *config, uint32_t number,
    uint64_t rule)
{
	const struct edge_sandbox *sandbox;
	const struct edge_policy *policy;
	const struct edge_upload *upload;

	if (number == 0 || number > config->sandbox_count ||
	    !edge_sandbox_exists(&config->sandboxes[number - 1]))
		return 0;
	sandbox = &config->sandboxes[number - 1];
	policy = &config->policies[sandbox->policy];
	/* One that is many sends nothing itself; its members do. */
	if (policy->audit || sandbox->prefix_count > 0)
		return 0;
	if (rule == EDGE_UPLOAD_SUM)
		return sum_of(config, sandbox);
	upload = edge_upload_find(policy, rule);
	return upload != NULL ? upload->octets : 0;
}
