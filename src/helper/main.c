/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * namewalld - the parent: arguments, and the order of the start.
 *
 * The table comes first, so that the edge is closed before anything listens;
 * then the sockets, then the resolver, then all privilege but one goes, and
 * serve() is what is left.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/require.h"
#include "src/helper/handover.h"
#include "src/helper/helper.h"
#include "src/helper/log.h"
#include "src/helper/privileges.h"
#include "src/helper/ruleset_text.h"
#include "src/helper/serve.h"
#include "src/helper/source.h"

#define EXIT_CONFIG      1
#define EXIT_USAGE       2
#define EXIT_ENVIRONMENT 3
#define CONFIG_FILE      "/etc/namewall/namewall.yaml"
#define RESOLVER_NAME    "namewall-resolver"

enum action {
	ACTION_SERVE,
	ACTION_REMOVE_TABLE,
	ACTION_PRINT_RULESET
};

struct options {
	enum action action;
	const char *config;
	const char *resolver; /* NULL: the installed one */
	const char *zones; /* NULL: the usual folders */
	struct activation *activation;
	bool sets; /* print the ruleset of that mode */
};

static const char usage[] =
    "usage: namewalld [-c FILE] [--resolver PATH] [--zones DIR]\n"
    "       namewalld [-c FILE] --remove-table\n"
    "       namewalld [-c FILE] --print-ruleset [--mode sets]\n"
    "       namewalld -V | -h\n";

_Noreturn void
require_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "namewalld: %s:%d: %s does not hold\n", file, line,
	    condition);
	abort();
}

/* GOING_ON, or the exit status. */
#define GOING_ON (-1)

static int
read_options(int argc, char **argv, struct options *ret)
{
	enum {
		OPTION_RESOLVER = 256,
		OPTION_ZONES,
		OPTION_REMOVE,
		OPTION_PRINT,
		OPTION_MODE
	};
	static const struct option longs[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "resolver", required_argument, NULL, OPTION_RESOLVER },
		{ "zones", required_argument, NULL, OPTION_ZONES },
		{ "remove-table", no_argument, NULL, OPTION_REMOVE },
		{ "print-ruleset", no_argument, NULL, OPTION_PRINT },
		{ "mode", required_argument, NULL, OPTION_MODE },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "c:Vh", longs, NULL)) != -1) {
		switch (c) {
		case 'c':
			ret->config = optarg;
			break;
		case OPTION_RESOLVER:
			ret->resolver = optarg;
			break;
		case OPTION_ZONES:
			ret->zones = optarg;
			break;
		case OPTION_REMOVE:
			ret->action = ACTION_REMOVE_TABLE;
			break;
		case OPTION_PRINT:
			ret->action = ACTION_PRINT_RULESET;
			break;
		case OPTION_MODE:
			if (strcmp(optarg, "sets") != 0) {
				fprintf(stderr,
				    "namewalld: --mode \"%s\": only the one of "
				    "\"sets\" can be asked for\n",
				    optarg);
				return EXIT_USAGE;
			}
			ret->sets = true;
			break;
		case 'V':
			printf("namewalld %s\n", PACKAGE_VERSION);
			return EXIT_SUCCESS;
		case 'h':
			fputs(usage, stdout);
			return EXIT_SUCCESS;
		default:
			fputs(usage, stderr);
			return EXIT_USAGE;
		}
	}
	if (optind != argc) {
		fprintf(stderr,
		    "namewalld: \"%s\" is not understood here; a "
		    "configuration is named with -c\n%s",
		    argv[optind], usage);
		return EXIT_USAGE;
	}
	return GOING_ON;
}

static int
read_config(const char *path, struct source *source)
{
	char reason[REASON_MAX];
	int error = source_read(source, path, NULL, reason);

	if (error == 0)
		return 0;
	if (error == -EINVAL) {
		fprintf(stderr, "%s\n", reason);
		return EXIT_CONFIG;
	}
	log_error("%s%s", reason,
	    error == -ENOENT ? "; -c says where it is, and \"namewall init\" "
			       "writes a first one"
			     : "");
	return EXIT_ENVIRONMENT;
}

static int
remove_table(const char *table)
{
	struct nft nft;
	int error = nft_open(&nft, table);

	if (error == 0) {
		error = ruleset_remove(&nft);
		nft_close(&nft);
	}
	if (error == -ENOENT) {
		log_info("table %s: there is none", table);
		return EXIT_SUCCESS;
	}
	if (error == -EPERM)
		log_error("table %s: not permitted: be root, and stop "
			  "namewalld first, whose table it is while it runs",
		    table);
	else if (error != 0)
		log_error("table %s: %s", table, batch_error_text(error));
	return error == 0 ? EXIT_SUCCESS : EXIT_ENVIRONMENT;
}

static int
print_ruleset(const struct options *options, const struct edge_config *config)
{
	struct gateway_params params;
	char reason[REASON_MAX];

	if (config->settings.nft_sets || options->sets) {
		if (!sets_print(stdout, config, reason)) {
			fprintf(stderr, "%s\n", reason);
			return EXIT_CONFIG;
		}
	} else {
		gateway_params_of(&params, config);
		ruleset_print(stdout, &params);
	}
	return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_ENVIRONMENT;
}

/* Next to this program: sbin/../libexec. */
static const char *
find_resolver(const struct options *options, char *buf, size_t size)
{
	static const char beside[] = "/../libexec/" RESOLVER_NAME;
	ssize_t len;
	char *slash;

	if (options->resolver != NULL)
		return options->resolver;
	len = readlink("/proc/self/exe", buf, size - sizeof(beside));
	if (len <= 0)
		return LIBEXECDIR "/" RESOLVER_NAME;
	buf[len] = '\0';
	slash = strrchr(buf, '/');
	if (slash == NULL)
		return LIBEXECDIR "/" RESOLVER_NAME;
	snprintf(slash, size - (size_t)(slash - buf), "%s", beside);
	return access(buf, X_OK) == 0 ? buf : LIBEXECDIR "/" RESOLVER_NAME;
}

static int
collect(struct handover *handover, const struct options *options,
    const struct source *source, const struct account *account)
{
	const struct settings *settings = &source->config->settings;
	char path[4096];
	int status = handover_begin(handover,
	    find_resolver(options, path, sizeof(path)));

	handover->activation = options->activation;
	if (status == 0)
		status = handover_config(handover, options->config,
		    source->bytes, source->size);
	if (status == 0)
		status = handover_files(handover, source, options->zones);
	if (status == 0)
		status = handover_listeners(handover, settings, account);
	if (status == 0)
		status = handover_status(handover, settings);
	if (status == 0)
		status = handover_control(handover, settings);
	if (status == 0)
		status = handover_state(handover, settings, account);
	if (status == 0)
		status = handover_reports(handover, settings);
	return status;
}

static int
open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, NULL) != 0)
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int
start_resolver(struct helper *helper, const struct options *options,
    const struct source *source, const struct account *account,
    pid_t *ret_resolver)
{
	struct handover *handover = calloc(1, sizeof(*handover));
	int status, error;

	if (handover == NULL)
		return EXIT_ENVIRONMENT;
	status = collect(handover, options, source, account);
	if (status == 0) {
		error = privileges_spawn(handover, account, ret_resolver,
		    &helper->channel);
		if (error == 0)
			error = privileges_shed();
		if (error != 0) {
			log_error("start: %s", strerror(-error));
			status = EXIT_ENVIRONMENT;
		}
	}
	handover_end(handover);
	free(handover);
	activation_close(options->activation);
	return status;
}

static int
run(const struct options *options, const struct source *source)
{
	struct helper *helper = calloc(1, sizeof(*helper));
	struct account account = { 0, 0 };
	int signals = handover_move(open_signals());
	pid_t resolver = -1;
	int status;

	if (helper == NULL || signals < 0) {
		log_error("start: %s", strerror(errno));
		free(helper);
		return EXIT_ENVIRONMENT;
	}
	status = handover_account(source->config->settings.user, &account);
	if (status == 0)
		status = helper_open(helper, source->config, account.uid);
	helper->reload.path = options->config;
	helper->reload.zones = options->zones;
	/* A table that cannot be owned does not tell that another namewalld
	 * runs; its port does, before two of them rebuild it in turn. */
	if (status == 0 && !helper->ruleset.owned)
		status = handover_try_listeners(&source->config->settings,
		    options->activation);
	if (status == 0)
		status = helper_install(helper);
	if (status == 0)
		status = start_resolver(helper, options, source, &account,
		    &resolver);
	if (status == 0)
		status = serve(helper, signals, resolver);
	helper_close(helper);
	free(helper);
	close(signals);
	return status;
}

static int
act(const struct options *options, const struct source *source)
{
	const struct settings *settings = &source->config->settings;

	switch (options->action) {
	case ACTION_REMOVE_TABLE:
		if (settings->nft_sets) {
			log_error("table %s: is yours, with \"mode: sets\"; "
				  "there is none of ours",
			    settings->nft_table);
			return EXIT_USAGE;
		}
		return remove_table(settings->nft_table);
	case ACTION_PRINT_RULESET:
		return print_ruleset(options, source->config);
	case ACTION_SERVE:
		return run(options, source);
	}
	UNREACHABLE();
}

int
main(int argc, char **argv)
{
	struct options options = { .config = CONFIG_FILE };
	struct source source = { .bytes = NULL };
	int status = read_options(argc, argv, &options);

	if (status != GOING_ON)
		return status;
	umask(027);
	options.activation = calloc(1, sizeof(*options.activation));
	if (options.activation == NULL)
		return EXIT_ENVIRONMENT;
	activation_read(options.activation);
	status = read_config(options.config, &source);
	if (status == 0)
		status = act(&options, &source);
	source_free(&source);
	free(options.activation);
	return status;
}
