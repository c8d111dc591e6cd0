/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * budget - what the names of each wildcard have told in a day, and what they
 * may still tell.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "src/cli/cli.h"
#include "src/cli/client.h"

static void
put_bits(const struct json *line, const char *before, const char *path)
{
	fputs(before, stdout);
	put_safe(stdout, json_show(line, path, "?"));
}

static void
put_budget(const struct json *line)
{
	const char *level = json_show(line, "level", "");
	const char *of = json_show(line, "sandbox", "-");
	const char *rule = json_show(line, "rule", "(exact names)");

	if (strcmp(level, "sandbox") == 0)
		rule = "(all of it)";
	else if (strcmp(level, "policy") == 0)
		rule = "(all sandboxes)";
	if (strcmp(level, "policy") == 0)
		of = json_show(line, "policy", "?");
	put_column(stdout, of, 12);
	putchar(' ');
	put_column(stdout, rule, 32);
	put_bits(line, " ", "used_bits");
	put_bits(line, " of ", "limit_bits");
	put_bits(line, " bits, left ", "left_bits");
	put_bits(line, "; by name ", "name_bits");
	put_bits(line, ", time ", "time_bits");
	put_bits(line, ", type ", "type_bits");
	putchar('\n');
}

int
cmd_budget(const struct cli *cli, struct args *args)
{
	const char *sandbox = args_take_word(args);
	const char *const words[CLIENT_WORDS_MAX] = { "budget", sandbox };
	struct client client;
	struct json line;

	if (!args_done(args))
		return CLI_USAGE;
	if (!client_open(&client, cli, words))
		return client.status;
	while (client_next(&client, &line) == CLIENT_LINE) {
		if (!cli->json)
			put_budget(&line);
		json_free(&line);
	}
	client_close(&client);
	return client.status;
}
