/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reload - has the daemon read its configuration anew, and waits for what
 * becomes of it.
 */
#include "config.h"

#include <string.h>

#include "src/cli/cli.h"
#include "src/cli/client.h"

static void
print_result(const struct json *json)
{
	printf("reloaded ");
	put_safe(stdout, json_show(json, "file", "?"));
	printf(": %s sandboxes, %s policies, %s rules\n",
	    json_show(json, "sandboxes", "?"), json_show(json, "policies", "?"),
	    json_show(json, "rules", "?"));
}

int
cmd_reload(const struct cli *cli, struct args *args)
{
	const char *const words[CLIENT_WORDS_MAX] = { "reload", NULL };
	struct cli control = *cli;
	struct client client;
	struct json json;

	if (!args_done(args))
		return CLI_USAGE;
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
