/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * change - attach, detach, assign and revoke: asks for it at the control
 * socket, and waits until it is so.
 */
#include "config.h"

#include <string.h>

#include "src/cli/cli.h"
#include "src/cli/client.h"

/* The words of one command as they grow. */
struct request {
	const char *words[CLIENT_WORDS_MAX];
	size_t count;
};

/* False: more words than any such command has. */
static bool
add(struct request *r, const char *word)
{
	if (r->count + 1 == CLIENT_WORDS_MAX) {
		complain("too many words");
		return false;
	}
	r->words[r->count++] = word;
	return true;
}

/* An option that is passed on as it is; *ret_found where it was there. */
static bool
add_option(struct request *r, struct args *args, const char *name,
    bool *ret_found)
{
	const char *value = args_take_value(args, name);

	*ret_found = value != NULL;
	return value == NULL || (add(r, name) && add(r, value));
}

static int
usage(const char *text)
{
	complain("usage: namewall %s", text);
	return CLI_USAGE;
}

static void
put_sources(const struct json *json)
{
	char key[16];

	for (unsigned i = 0; i < 8; i++) {
		(void)snprintf(key, sizeof(key), "sources.%u", i);
		if (!json_has(json, key))
			return;
		putchar(i == 0 ? ' ' : ',');
		if (i > 0)
			putchar(' ');
		put_safe(stdout, json_show(json, key, "?"));
	}
}

static void
print_result(const struct json *json)
{
	const char *kind = json_show(json, "kind", "?");
	bool revoked = strcmp(kind, "revoked") == 0;

	put_safe(stdout, kind);
	putchar(' ');
	put_safe(stdout, json_show(json, revoked ? "rule" : "sandbox", "?"));
	if (revoked && json_get(json, "sandbox") != NULL) {
		printf(" from ");
		put_safe(stdout, json_show(json, "sandbox", "?"));
	} else if (revoked) {
		printf(" from all sandboxes");
	}
	if (json_has(json, "policy")) {
		printf(": policy ");
		put_safe(stdout, json_show(json, "policy", "?"));
	}
	if (strcmp(kind, "attached") == 0) {
		printf(",");
		put_sources(json);
		printf(" on ");
		put_safe(stdout,
		    json_show(json, "interface", "no interface yet"));
	}
	if (json_has(json, "changed") && !json_true(json, "changed"))
		printf(" (as before)");
	putchar('\n');
}

static int
change(const struct cli *cli, struct args *args, struct request *r)
{
	struct cli control = *cli;
	struct client client;
	struct json json;

	if (!args_done(args))
		return CLI_USAGE;
	r->words[r->count] = NULL;
	if (strcmp(cli->socket, CLI_SOCKET) == 0)
		control.socket = CLI_CONTROL;
	if (!client_open(&client, &control, r->words))
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
cmd_attach(const struct cli *cli, struct args *args)
{
	static const char text[] = "attach NAME --policy P --source A... "
				   "[--interface I]";
	struct request r = { .words = { "attach" }, .count = 1 };
	bool found = true, has_policy, has_source = false;

	if (!add_option(&r, args, "--policy", &has_policy))
		return CLI_USAGE;
	while (found) {
		if (!add_option(&r, args, "--source", &found))
			return CLI_USAGE;
		has_source = has_source || found;
	}
	if (!add_option(&r, args, "--interface", &found) || args->bad)
		return CLI_USAGE;
	const char *name = args_take_word(args);
	if (name == NULL || !has_policy || !has_source)
		return usage(text);
	return add(&r, name) ? change(cli, args, &r) : CLI_USAGE;
}

int
cmd_detach(const struct cli *cli, struct args *args)
{
	struct request r = { .words = { "detach" }, .count = 1 };
	const char *name = args_take_word(args);

	if (name == NULL)
		return usage("detach NAME");
	return add(&r, name) ? change(cli, args, &r) : CLI_USAGE;
}

int
cmd_assign(const struct cli *cli, struct args *args)
{
	struct request r = { .words = { "assign" }, .count = 1 };
	bool has_policy;

	if (!add_option(&r, args, "--policy", &has_policy) || args->bad)
		return CLI_USAGE;
	const char *name = args_take_word(args);
	if (name == NULL || !has_policy)
		return usage("assign NAME --policy P");
	return add(&r, name) ? change(cli, args, &r) : CLI_USAGE;
}

int
cmd_revoke(const struct cli *cli, struct args *args)
{
	struct request r = { .words = { "revoke" }, .count = 1 };
	bool found;

	if (!add_option(&r, args, "--sandbox", &found) || args->bad)
		return CLI_USAGE;
	const char *name = args_take_word(args);
	if (name == NULL)
		return usage("revoke RULE [--sandbox S]");
	return add(&r, name) ? change(cli, args, &r) : CLI_USAGE;
}
