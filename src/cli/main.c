/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * namewall - the command line: finds the command, takes the options that all
 * commands share, and leaves the rest to the command.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "src/cli/cli.h"

struct command {
	const char *name;
	int (*run)(const struct cli *, struct args *);
	const char *usage, *help;
};

static const struct command commands[] = {
	{ "check", cmd_check, "check [FILE]",
	    "read a configuration, report errors and warnings" },
	{ "init", cmd_init, "init [--interface I] [--source A] [FILE]",
	    "write a first configuration that loads" },
	{ "import", cmd_import, "import FORMAT FILE [--exact | --below]",
	    "print the rules that say what a list of another tool says" },
	{ "lists", cmd_lists, "lists [NAME] | lists --diff NAME FILE|NAME",
	    "show lists of names, and what differs between two" },
	{ "explain", cmd_explain, "explain NAME [TYPE] [--sandbox S]",
	    "say what becomes of a question, and by which rule" },
	{ "status", cmd_status, "status [--ready]",
	    "health, counts, one line a sandbox" },
	{ "pins", cmd_pins, "pins [SANDBOX] [--live]",
	    "what is open, by which names, for how long" },
	{ "budget", cmd_budget, "budget [SANDBOX]",
	    "what wildcards have told in a day, and may still tell" },
	{ "events", cmd_events,
	    "events [-f] [--sandbox S] [--denied] [--alerts]",
	    "what was asked and decided" },
	{ "attach", cmd_attach,
	    "attach NAME --policy P --source A... [--interface I]",
	    "let a sandbox come while the daemon runs" },
	{ "detach", cmd_detach, "detach NAME",
	    "and go: what it had open is cut" },
	{ "assign", cmd_assign, "assign NAME --policy P",
	    "give an attached sandbox another policy" },
	{ "revoke", cmd_revoke, "revoke RULE [--sandbox S]",
	    "withdraw a rule until the next reload, and cut" },
	{ "reload", cmd_reload, "reload",
	    "have the configuration read anew; waits for the result" },
	{ "quarantine", cmd_quarantine, "quarantine SANDBOX",
	    "cut a sandbox off, at once and until it is released" },
	{ "release", cmd_release, "release SANDBOX",
	    "let a sandbox out of quarantine" },
	{ "ruleset", cmd_ruleset, "ruleset [--mode sets]",
	    "print what the kernel is told for a configuration" },
	{ "selftest", cmd_selftest, "selftest S",
	    "fire known escapes from inside a sandbox" },
};

/* Words of the contract that have no code yet. */
static const char *const later[] = { "doctor", "learn", "report", "run",
	"top" };

_Noreturn void
require_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "namewall: %s:%d: bug: %s\n", file, line, condition);
	abort();
}

static void
print_help(FILE *out)
{
	fprintf(out, "usage: namewall COMMAND [ARGUMENTS]\n\n");
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		fprintf(out, "  %-48s %s\n", commands[i].usage,
		    commands[i].help);
	fprintf(out,
	    "\noptions of every command:\n"
	    "  -c, --config FILE    configuration (%s)\n"
	    "  -s, --socket PATH    status socket (%s),\n"
	    "                       or that of commands which change (%s)\n"
	    "      --zones DIR      look for lists there first\n"
	    "      --json           lines for programs\n",
	    CLI_CONFIG, CLI_SOCKET, CLI_CONTROL);
}

static bool
take_common(struct cli *cli, struct args *args)
{
	const char *value;

	cli->socket = CLI_SOCKET;
	cli->json = args_take_flag(args, "--json");
	if ((value = args_take_value(args, "--config")) != NULL ||
	    (value = args_take_value(args, "-c")) != NULL)
		cli->config = value;
	if ((value = args_take_value(args, "--socket")) != NULL ||
	    (value = args_take_value(args, "-s")) != NULL)
		cli->socket = value;
	cli->zones = args_take_value(args, "--zones");
	return !args->bad;
}

static int
run_command(const struct cli *cli, const char *name, struct args *args)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (strcmp(name, commands[i].name) == 0)
			return commands[i].run(cli, args);
	for (size_t i = 0; i < ARRAY_LEN(later); i++) {
		if (strcmp(name, later[i]) != 0)
			continue;
		complain("%s is not in this version yet", name);
		return CLI_USAGE;
	}
	complain("unknown command %s; \"namewall help\" lists them", name);
	return CLI_USAGE;
}

int
main(int argc, char **argv)
{
	struct args args = { .count = argc - 1, .words = argv + 1 };
	struct cli cli = { 0 };

	if (args_take_flag(&args, "--version")) {
		printf("namewall %s\n", PACKAGE_VERSION);
		return CLI_OK;
	}
	if (args_take_flag(&args, "--help") || args_take_flag(&args, "-h")) {
		print_help(stdout);
		return CLI_OK;
	}
	if (!take_common(&cli, &args))
		return CLI_USAGE;
	const char *name = args_take_word(&args);
	if (name == NULL) {
		print_help(stderr);
		return CLI_USAGE;
	}
	if (strcmp(name, "help") == 0) {
		print_help(stdout);
		return CLI_OK;
	}
	int status = run_command(&cli, name, &args);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		complain("standard output: cannot write");
		return CLI_ENVIRONMENT;
	}
	return status;
}
