/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quarantine - cuts a sandbox off, and lets it out again.
 */
#include "config.h"

#include <string.h>

#include "src/cli/cli.h"
#include "src/cli/client.h"

static void
print_result(const struct json *json)
{
	fputs("sandbox ", stdout);
	put_safe(stdout, json_show(json, "sandbox", "?"));
	puts(json_true(json, "quarantined") ? ": in quarantine"
					    : ": in no quarantine");
}

static int
order(const struct cli *cli, const char *verb, struct args *args)
{
	const char *sandbox = args_take_word(args);
	const char *const words[CLIENT_WORDS_MAX] = { verb, sandbox, NULL };
	struct cli control = *cli;
	struct client client;
	struct json json;

	if (!args_done(args))
		return CLI_USAGE;
	if (sandbox == NULL) {
		complain("%s SANDBOX", verb);
		return CLI_USAGE;
	}
	if (strcmp(cli->socket, CLI_SOCKET) == 0)
		control.socket = CLI_CONTROL;
	if (!client_open(&client, &control, words))
		return client.status;
	while (client_next(&client, &json) == CLIENT_LINE) {
		if (!cli->json)
			print_result(&json);
		json_free(&json);
	}
	client_close(&client);
	return client.status;
}

int
cmd_quarantine(const struct cli *cli, struct args *args)
{
	return order(cli, "quarantine", args);
}

int
cmd_release(const struct cli *cli, struct args *args)
{
	return order(cli, "release", args);
}
