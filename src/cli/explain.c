/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * explain - what becomes of a question, by which rule, and what would change
 * it; or by which names a destination is open.
 *
 * The daemon answers, unless --config names a file to judge by.
 */
#include "config.h"

#include "src/cli/explain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "src/cli/client.h"
#include "src/cli/load.h"
#include "src/cli/pins.h"

/* --- for people --- */

static void
put_rule(const struct json *line, const char *title, const char *key)
{
	char path[32];

	snprintf(path, sizeof(path), "%s.rule", key);
	const char *rule = json_get(line, path);
	if (rule == NULL)
		return;
	printf("  %-12s ", title);
	snprintf(path, sizeof(path), "%s.deny", key);
	if (json_true(line, path))
		fputs("deny ", stdout);
	put_safe(stdout, rule);
	fputs(", ", stdout);
	snprintf(path, sizeof(path), "%s.file", key);
	put_safe(stdout, json_show(line, path, "?"));
	snprintf(path, sizeof(path), "%s.line", key);
	printf(":%s", json_show(line, path, "?"));
	snprintf(path, sizeof(path), "%s.column", key);
	printf(":%s\n", json_show(line, path, "?"));
}

static void
put_ports(const struct json *line)
{
	char path[32];

	for (unsigned i = 0; i < 16; i++) {
		snprintf(path, sizeof(path), "ports.%u", i);
		const char *port = json_get(line, path);
		if (port == NULL)
			break;
		if (i == 0)
			printf("  %-12s", "opens");
		putchar(' ');
		put_safe(stdout, port);
	}
	if (json_has(line, "ports.0"))
		putchar('\n');
}

/* The daemon's words are short and stable; these are for reading. */
static const char *
sentence(const char *reason)
{
	static const struct {
		const char *reason, *text;
	} table[] = {
		{ "unlisted", "no rule lists it" },
		{ "deny-rule", "a deny rule covers it" },
		{ "quarantined", "the sandbox is in quarantine" },
		{ "budget", "it would tell more than a budget has left" },
		{ "withdrawn", "its rule was revoked by hand" },
		{ "parent", "only names below it are listed" },
		{ "type", "its rule does not allow this type" },
		{ "family", "the sandbox has no address of this family" },
		{ "special", "a name of special use" },
		{ "special-no-data", "a name of special use" },
		{ "reverse",
		    "a reverse name: only addresses that are open "
		    "have an answer" },
		{ "class", "not of class IN" },
		{ "transfer", "zones are not transferred" },
		{ "malformed", "not a question that is answered" },
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (strcmp(reason, table[i].reason) == 0)
			return table[i].text;
	return reason;
}

/* What it tells, if it leaves. A file knows of no ledger. */
static void
put_cost(const struct json *line)
{
	static const struct {
		const char *word, *text;
	} free_of[] = {
		{ "local", "it is answered here" },
		{ "scheduled",
		    "it is looked up for all on a clock of our own" },
		{ "cached", "the sandbox knows it already" },
		{ "audit", "in audit nothing is bounded" },
	};
	const char *word = json_show(line, "free", "");

	for (size_t i = 0; i < ARRAY_LEN(free_of); i++)
		if (strcmp(word, free_of[i].word) == 0)
			printf("  %-12s nothing: %s\n", "costs",
			    free_of[i].text);
	if (!json_has(line, "cost.bits"))
		return;
	printf("  %-12s ", "costs");
	put_safe(stdout, json_show(line, "cost.bits", "?"));
	fputs(" bits now, of ", stdout);
	put_safe(stdout, json_show(line, "cost.left_bits", "?"));
	fputs(" that are left: name ", stdout);
	put_safe(stdout, json_show(line, "cost.name_bits", "?"));
	fputs(", time ", stdout);
	put_safe(stdout, json_show(line, "cost.time_bits", "?"));
	fputs(", type ", stdout);
	put_safe(stdout, json_show(line, "cost.type_bits", "?"));
	putchar('\n');
}

/* True: allowed. */
static bool
put_verdict(const struct json *line)
{
	bool allowed = strcmp(json_show(line, "verdict", ""), "allow") == 0;
	bool listed = strcmp(json_show(line, "reason", ""), "listed") == 0;
	const char *would = json_get(line, "would_allow");

	put_safe(stdout, json_show(line, "name", "?"));
	putchar(' ');
	put_safe(stdout, json_show(line, "type", "?"));
	fputs(" for ", stdout);
	put_safe(stdout, json_show(line, "sandbox", "?"));
	fputs(", policy ", stdout);
	put_safe(stdout, json_show(line, "policy", "?"));
	if (allowed && !listed)
		fputs(": allowed in audit, and denied under enforcement: ",
		    stdout);
	else
		fputs(allowed ? ": allowed, " : ": denied, ", stdout);
	put_safe(stdout, sentence(json_show(line, "reason", "?")));
	putchar('\n');
	put_rule(line, "by rule", "by");
	put_cost(line);
	if (allowed && listed) {
		put_ports(line);
		return true;
	}
	put_rule(line, "nearest rule", "nearest");
	if (json_true(line, "nearest.over"))
		fputs("  its date is over: it grants nothing any more\n",
		    stdout);
	if (would != NULL) {
		fputs("  to allow it, under allow of that policy:\n      ",
		    stdout);
		put_safe(stdout, would);
		putchar('\n');
	}
	return allowed;
}

/* --- by a file --- */

static bool
judge(const struct cli *cli, const struct policy *policy, uint32_t sandbox,
    const struct dname *name, uint16_t type)
{
	char *text = NULL;
	size_t size = 0;
	struct json line;
	bool allowed = false;

	FILE *out = open_memstream(&text, &size);
	if (out == NULL)
		return false;
	explain_print_json(out, policy, sandbox, name, type);
	fclose(out);
	if (cli->json)
		fputs(text, stdout);
	if (json_read(&line, text, size)) {
		allowed = strcmp(json_show(&line, "verdict", ""), "allow") == 0;
		if (!cli->json)
			put_verdict(&line);
		json_free(&line);
	}
	free(text);
	return allowed;
}

static bool
is_repeated(const struct policy *policy, uint32_t sandbox)
{
	uint32_t profile = policy_sandbox(policy, sandbox)->profile;

	for (uint32_t i = 1; i < sandbox; i++)
		if (policy_sandbox(policy, i)->profile == profile)
			return true;
	return false;
}

/* For the sandbox that was named, or the first of each policy. */
static int
judge_all(const struct cli *cli, const struct policy *policy,
    const char *sandbox, const struct dname *name, uint16_t type)
{
	bool allowed = policy->sandbox_count > 0;

	if (sandbox != NULL) {
		uint32_t number = policy_sandbox_by_name(policy, sandbox);

		if (number == 0) {
			complain("no sandbox %s in %s", sandbox,
			    cli_config(cli));
			return CLI_USAGE;
		}
		return judge(cli, policy, number, name, type) ? CLI_OK : CLI_NO;
	}
	if (policy->sandbox_count == 0)
		complain("%s has no sandbox that could ask", cli_config(cli));
	for (uint32_t i = 1; i <= policy->sandbox_count; i++)
		if (!is_repeated(policy, i) &&
		    !judge(cli, policy, i, name, type))
			allowed = false;
	return allowed ? CLI_OK : CLI_NO;
}

static int
explain_by_file(const struct cli *cli, const char *word, const char *type_word,
    const char *sandbox)
{
	char reason[TEXT_ERROR_MAX];
	struct text_error error;
	struct config *config;
	struct dname name;
	uint16_t type = DNS_TYPE_A;

	if (!text_name_read(word, strlen(word), &name, reason)) {
		complain("%s: %s", word, reason);
		return CLI_USAGE;
	}
	if (type_word != NULL && !explain_type_read(type_word, &type)) {
		complain("no record type %s", type_word);
		return CLI_USAGE;
	}
	int result = load_config(cli, cli_config(cli), &config, &error);
	if (result == -EINVAL)
		complain("%s:%u:%u: %s", error.file, (unsigned)error.line,
		    (unsigned)error.column, error.reason);
	if (result < 0)
		return result == -EINVAL ? CLI_NO : CLI_ENVIRONMENT;
	int status = judge_all(cli, config->policy, sandbox, &name, type);
	config_free(config);
	return status;
}

/* --- by the daemon --- */

static int
explain_by_daemon(const struct cli *cli, const char *name, const char *type,
    const char *sandbox)
{
	const char *words[CLIENT_WORDS_MAX] = { "explain", name };
	size_t count = 2;
	struct client client;
	struct json line;
	bool denied = false;

	if (type != NULL)
		words[count++] = type;
	if (sandbox != NULL) {
		words[count++] = "--sandbox";
		words[count++] = sandbox;
	}
	if (!client_open(&client, cli, words))
		return client.status;
	while (client_next(&client, &line) == CLIENT_LINE) {
		if (strcmp(json_show(&line, "verdict", ""), "allow") != 0)
			denied = true;
		if (!cli->json)
			put_verdict(&line);
		json_free(&line);
	}
	client_close(&client);
	if (client.status != CLI_OK)
		return client.status;
	return denied ? CLI_NO : CLI_OK;
}

/* Where the rules stand that let a pin be. */
static void
put_places(const struct json *pin)
{
	char path[32];

	for (unsigned i = 0; i < 16; i++) {
		const char *file;

		snprintf(path, sizeof(path), "names.%u.file", i);
		file = json_get(pin, path);
		if (file == NULL)
			continue;
		fputs("    by ", stdout);
		put_safe(stdout, file);
		snprintf(path, sizeof(path), "names.%u.line", i);
		printf(":%s", json_show(pin, path, "?"));
		snprintf(path, sizeof(path), "names.%u.rule", i);
		fputs(", rule ", stdout);
		put_safe(stdout, json_show(pin, path, "?"));
		putchar('\n');
	}
}

static const char *
destination_sentence(const char *reason)
{
	static const struct {
		const char *reason, *text;
	} table[] = {
		{ "pinned", "names led there" },
		{ "listener", "it is a listener of ours, open to all" },
		{ "lapsed",
		    "no new flow may go there; those that are there go on" },
		{ "quarantined", "the sandbox is in quarantine" },
		{ "unresolved", "no name leads there now" },
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (strcmp(reason, table[i].reason) == 0)
			return table[i].text;
	return NULL;
}

/* True: open. */
static bool
put_destination(const struct cli *cli, const struct json *line,
    const char *word)
{
	const char *reason = json_show(line, "reason", "?");
	const char *text = destination_sentence(reason);
	bool open = json_true(line, "open");

	if (cli->json)
		return open;
	put_safe(stdout, word);
	fputs(open ? " is open: " : " is closed: ", stdout);
	if (text != NULL) {
		fputs(text, stdout);
	} else {
		fputs("no name leads there now, and an address of this kind (",
		    stdout);
		put_safe(stdout, reason);
		fputs(")\n  is opened only by a rule that says so (private)",
		    stdout);
	}
	putchar('\n');
	return open;
}

static int
explain_destination(const struct cli *cli, const char *word,
    const char *sandbox)
{
	const char *words[CLIENT_WORDS_MAX] = { "explain", word };
	struct client client;
	struct json line;
	bool open = false;

	if (sandbox != NULL) {
		words[2] = "--sandbox";
		words[3] = sandbox;
	}
	if (!client_open(&client, cli, words))
		return client.status;
	while (client_next(&client, &line) == CLIENT_LINE) {
		if (strcmp(json_show(&line, "kind", ""), "destination") == 0) {
			open = put_destination(cli, &line, word);
		} else if (!cli->json) {
			pins_put(&line);
			put_places(&line);
		}
		json_free(&line);
	}
	client_close(&client);
	if (client.status != CLI_OK)
		return client.status;
	return open ? CLI_OK : CLI_NO;
}

int
cmd_explain(const struct cli *cli, struct args *args)
{
	const char *sandbox = args_take_value(args, "--sandbox");
	const char *name = args_take_word(args);
	const char *type = args_take_word(args);
	struct addr to;
	uint16_t port;

	if (!args_done(args))
		return CLI_USAGE;
	if (name == NULL) {
		complain("explain NAME [TYPE] [--sandbox S], or "
			 "explain ADDRESS:PORT");
		return CLI_USAGE;
	}
	if (text_destination(name, &to, &port)) {
		if (cli->config == NULL && type == NULL)
			return explain_destination(cli, name, sandbox);
		complain("what is open is asked of the daemon, not of a file");
		return CLI_USAGE;
	}
	if (strpbrk(name, ":/*") != NULL) {
		complain("%s is no name that is asked for; give a name alone, "
			 "such as github.com, or ADDRESS:PORT",
		    name);
		return CLI_USAGE;
	}
	if (cli->config != NULL)
		return explain_by_file(cli, name, type, sandbox);
	return explain_by_daemon(cli, name, type, sandbox);
}
