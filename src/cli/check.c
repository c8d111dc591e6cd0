/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check - reads a configuration with the daemon's own code and reports.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>

#include "src/cli/cli.h"
#include "src/cli/load.h"

static void
put_summary(const struct cli *cli, const char *path,
    const struct config *config)
{
	const struct policy *policy = config->policy;

	if (cli->json) {
		puts("{\"ok\":true}");
		return;
	}
	put_safe(stdout, path);
	printf(": ok: %" PRIu32 " sandboxes, %" PRIu32 " policies, %" PRIu32
	       " rules, %zu warnings\n",
	    policy->sandbox_count, policy->profile_count, policy->rule_count,
	    config->warning_count);
}

int
cmd_check(const struct cli *cli, struct args *args)
{
	struct text_error error;
	struct config *config;
	const char *path = args_take_word(args);

	if (!args_done(args))
		return CLI_USAGE;
	if (path == NULL)
		path = cli_config(cli);
	int result = load_config(cli, path, &config, &error);
	if (result < 0 && result != -EINVAL)
		return CLI_ENVIRONMENT;
	if (cli->json)
		puts("{\"protocol\":1}");
	if (result < 0) {
		put_diagnostic(cli, "error", &error);
		if (cli->json)
			puts("{\"error\":{\"code\":\"invalid\",\"message\":"
			     "\"the configuration has errors\"}}");
		return CLI_NO;
	}
	for (size_t i = 0; i < config->warning_count; i++)
		put_diagnostic(cli, "warning", &config->warnings[i]);
	put_summary(cli, path, config);
	config_free(config);
	return CLI_OK;
}
