/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ruleset - prints what the kernel is told for a configuration.
 *
 * The parent knows and says it; this finds the parent's program: beside this
 * one, in a tree that was not installed, or where it is installed.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "src/cli/cli.h"

#ifndef SBINDIR
#define SBINDIR "/usr/sbin"
#endif

static void
become(const char *path, const struct cli *cli, const char *mode)
{
	/* Without a mode the list of arguments ends where it would stand. */
	execl(path, path, "--print-ruleset", "-c", cli_config(cli),
	    mode != NULL ? "--mode" : (char *)NULL, mode, (char *)NULL);
}

static void
become_neighbour(const struct cli *cli, const char *mode)
{
	static const char *const places[] = { "/namewalld",
		"/../sbin/namewalld" };
	char path[PATH_MAX];

	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 32);
	if (len <= 0)
		return;
	path[len] = '\0';
	char *slash = strrchr(path, '/');
	if (slash == NULL)
		return;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		memcpy(slash, places[i], strlen(places[i]) + 1);
		become(path, cli, mode);
	}
}

int
cmd_ruleset(const struct cli *cli, struct args *args)
{
	const char *mode = args_take_value(args, "--mode");

	if (!args_done(args))
		return CLI_USAGE;
	if (cli->json) {
		complain("ruleset has no form for programs; it is nft's");
		return CLI_USAGE;
	}
	become_neighbour(cli, mode);
	become(SBINDIR "/namewalld", cli, mode);
	complain("namewalld: %s; it prints the ruleset", strerror(errno));
	return CLI_ENVIRONMENT;
}
