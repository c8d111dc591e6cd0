/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whole configurations. What stands behind a line "=== zone" is the list
 * "small"; the rest is the file. Whatever it is, it is read or refused: with
 * a place and one printable line. What is read, the guard's own reading of
 * the same bytes agrees with, and the policy can be asked.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/dns.h"
#include "lib/require.h"
#include "lib/text/policy_text.h"
#include "tests/fuzz/fuzz.h"

static const char separator[] = "\n=== zone\n";
static const char suffixes[] = "com\norg\nuk\nco.uk\n*.ck\n!www.ck\n"
			       "github.io\ns3.amazonaws.com\n";

static void
check_error(const struct text_error *error)
{
	AGREE(error->file[0] != '\0' && error->reason[0] != '\0');
	AGREE(error->line > 0 && error->column > 0);
	for (const char *c = error->reason; *c != '\0'; c++)
		AGREE((unsigned char)*c >= ' ' && *c != 0x7f);
}

static bool
guard_opens(const struct edge_policy *policy, const struct service *service)
{
	for (size_t i = 0; i < policy->service_count; i++)
		if (edge_service_compare(&policy->services[i], service) == 0)
			return true;
	return false;
}

/* No verdict for the first sandbox opens a port that the guard refuses. */
static void
check_verdicts(const struct policy *policy, const struct edge_config *edge)
{
	struct policy_rule rule;

	for (uint32_t i = 0; i < policy->rule_count; i++) {
		struct question question = { .type = DNS_TYPE_A,
			.class = DNS_CLASS_IN };
		struct verdict verdict;

		policy_rule_at(policy, i, &rule);
		AGREE(rule.line > 0 && rule.column > 0);
		question.name = rule.name;
		verdict = policy_match(policy, 1, &question);
		for (size_t j = 0; j < verdict.service_count; j++)
			AGREE(guard_opens(&edge->policies[edge->sandboxes[0]
							      .policy],
			    &verdict.services[j]));
	}
}

/* What the privileged program reads must be what the policy was made of. */
static void
check_guard(const struct config *config, const char *bytes, size_t size)
{
	struct edge_config *edge = NULL;
	struct yaml_node *root = NULL;
	struct text_error error;

	AGREE(yaml_tree_read("f", bytes, size, &root, &error) == 0);
	AGREE(edge_config_read(&edge, "f", root, &error) == 0);
	AGREE(edge->sandbox_count == config->policy->sandbox_count);
	AGREE(edge->policy_count == config->policy->profile_count);
	if (edge->sandbox_count > 0)
		check_verdicts(config->policy, edge);
	edge_config_free(edge);
	yaml_tree_free(root);
}

/* The first place of the separator, size when there is none. */
static size_t
split_at(const char *bytes, size_t size)
{
	size_t len = sizeof(separator) - 1;

	for (size_t i = 0; i + len <= size; i++)
		if (memcmp(bytes + i, separator, len) == 0)
			return i;
	return size;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t secret[16] = { 5 };
	const char *bytes = (const char *)data;
	size_t len = split_at(bytes, size);
	struct text_file files[2] = { { "suffixes", "s", suffixes,
					  sizeof(suffixes) - 1 },
		{ "zone:small", "z", "", 0 } };
	struct text_error error = { .line = 0 };
	struct config *config = NULL;
	int r;

	if (len < size) {
		files[1].bytes = bytes + len + sizeof(separator) - 1;
		files[1].size = size - len - (sizeof(separator) - 1);
	}
	r = config_read(&config, "f", bytes, len, files, 2, secret, &error);
	AGREE(r == 0 || r == -EINVAL);
	AGREE((r == 0) == (config != NULL));
	if (r < 0) {
		check_error(&error);
		return 0;
	}
	check_guard(config, bytes, len);
	config_free(config);
	return 0;
}
