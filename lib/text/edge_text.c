/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edge_text - sandboxes and policies as the guard of the kernel sees them.
 *
 * Everything about shape, addresses, interfaces and ports is settled here,
 * for both programs, from the same bytes. Names of domains are not looked
 * at: the program that links this has no business with them.
 */
#include "lib/text/edge_text.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/text/edge_attach.h"
#include "lib/text/edge_mode.h"
#include "lib/text/edge_policies.h"
#include "lib/text/edge_sandboxes.h"

int
edge_config_read(struct edge_config **ret, const char *file,
    const struct yaml_node *root, struct text_error *ret_error)
{
	struct edge_reader r = { .file = file,
		.root = root,
		.error = ret_error };
	int status;

	r.config = calloc(1, sizeof(*r.config));
	if (r.config == NULL)
		return -ENOMEM;
	status = settings_read(&r.config->settings, file, root, ret_error);
	if (status == 0)
		status = edge_mode_check(&r);
	if (status == 0)
		status = edge_policies_read(&r);
	if (status == 0)
		status = edge_sandboxes_read(&r);
	if (status == 0)
		status = edge_attach_read(&r);
	if (status < 0) {
		edge_config_free(r.config);
		return status;
	}
	*ret = r.config;
	return 0;
}

void
edge_config_free(struct edge_config *config)
{
	if (config == NULL)
		return;
	for (size_t i = 0; i < config->policy_count; i++) {
		free(config->policies[i].services);
		free(config->policies[i].private_ok);
		free(config->policies[i].uploads);
		free(config->policies[i].unmetered);
	}
	for (size_t i = 0; i < config->sandbox_count; i++) {
		free(config->sandboxes[i].inbound);
		free(config->sandboxes[i].labels);
	}
	free(config->policies);
	free(config->sandboxes);
	free(config->lists);
	free(config);
}
