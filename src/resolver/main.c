/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * namewall-resolver - DNS in, DNS out, decisions, events.
 *
 * Started by namewalld with everything open already; see the manual page for
 * the options. Never has a privilege, and refuses to have one.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "lib/require.h"
#include "src/resolver/confine.h"
#include "src/resolver/daemon.h"
#include "src/resolver/load.h"
#include "src/resolver/log.h"

enum exit_code {
	EXIT_CONFIG = 1,
	EXIT_USAGE = 2,
	EXIT_ENVIRONMENT = 3
};

struct arguments {
	struct daemon_fds fds;
	struct load_source source;
};

_Noreturn void
require_failed(const char *condition, const char *file, int line)
{
	log_error("bug", "%s:%d: %s", file, line, condition);
	abort();
}

static void
print_usage(void)
{
	static const char text[] =
	    "usage: namewall-resolver --helper-fd N --config-fd N\n"
	    "       --config-name PATH [--file NAME=FD=PATH]...\n"
	    "       --listen-fd N... --listen-tcp-fd N... --status-fd N\n"
	    "       [--control-fd N] --state-fd N\n"
	    "       [--nflog-fd N] [--flow-fd N] [--heartbeat-ms N]\n"
	    "       [--idle-ms N]\n"
	    "Started by namewalld; not for use by hand.\n";

	(void)fputs(text, stderr);
}

/* A descriptor that is open; it is not passed on any further. */
static bool
read_fd(const char *text, int *ret)
{
	uint64_t number;
	int flags;

	if (!text_number(text, 3, 65535, &number))
		return false;
	flags = fcntl((int)number, F_GETFD);
	if (flags < 0 || fcntl((int)number, F_SETFD, flags | FD_CLOEXEC) != 0)
		return false;
	*ret = (int)number;
	return true;
}

static bool
read_nonblocking_fd(const char *text, int *ret)
{
	int fd, flags;

	if (!read_fd(text, &fd))
		return false;
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
		return false;
	*ret = fd;
	return true;
}

static bool
read_period(const char *text, uint32_t *ret)
{
	uint64_t number;

	if (!text_number(text, 100, 3600000, &number))
		return false;
	*ret = (uint32_t)number;
	return true;
}

/* NAME=FD=PATH. */
static bool
read_file(struct arguments *args, const char *text)
{
	struct load_file *file = &args->source.files[args->source.file_count];
	const char *fd = strchr(text, '=');
	const char *path = fd != NULL ? strchr(fd + 1, '=') : NULL;
	char number[16];

	if (path == NULL || args->source.file_count == LOAD_FILES_MAX ||
	    (size_t)(fd - text) >= sizeof(file->name) ||
	    (size_t)(path - fd) > sizeof(number) ||
	    strlen(path + 1) >= sizeof(file->path))
		return false;
	(void)snprintf(number, sizeof(number), "%.*s", (int)(path - fd - 1),
	    fd + 1);
	(void)snprintf(file->name, sizeof(file->name), "%.*s", (int)(fd - text),
	    text);
	(void)snprintf(file->path, sizeof(file->path), "%s", path + 1);
	args->source.file_count++;
	return read_fd(number, &file->fd);
}

static bool
read_option(struct arguments *args, int option, const char *value)
{
	struct daemon_fds *fds = &args->fds;

	switch (option) {
	case 'h':
		return read_nonblocking_fd(value, &fds->helper);
	case 'c':
		return read_fd(value, &args->source.config_fd);
	case 'n':
		args->source.config_path = value;
		return true;
	case 'f':
		return read_file(args, value);
	case 'l':
		return fds->listen_count < SETTINGS_LISTEN_MAX &&
		    read_nonblocking_fd(value,
			&fds->listen[fds->listen_count++]);
	case 't':
		return fds->listen_tcp_count < SETTINGS_LISTEN_MAX &&
		    read_nonblocking_fd(value,
			&fds->listen_tcp[fds->listen_tcp_count++]);
	case 's':
		return read_nonblocking_fd(value, &fds->status);
	case 'o':
		return read_nonblocking_fd(value, &fds->control);
	case 'd':
		return read_fd(value, &fds->state);
	case 'r':
		return read_nonblocking_fd(value, &fds->nflog);
	case 'e':
		return read_nonblocking_fd(value, &fds->flow);
	case 'b':
		return read_period(value, &fds->heartbeat_ms);
	case 'i':
		return read_period(value, &fds->idle_ms);
	default:
		return false;
	}
}

static bool
read_arguments(struct arguments *args, int argc, char **argv)
{
	static const struct option options[] = {
		{ "helper-fd", required_argument, NULL, 'h' },
		{ "config-fd", required_argument, NULL, 'c' },
		{ "config-name", required_argument, NULL, 'n' },
		{ "file", required_argument, NULL, 'f' },
		{ "listen-fd", required_argument, NULL, 'l' },
		{ "listen-tcp-fd", required_argument, NULL, 't' },
		{ "status-fd", required_argument, NULL, 's' },
		{ "control-fd", required_argument, NULL, 'o' },
		{ "state-fd", required_argument, NULL, 'd' },
		{ "nflog-fd", required_argument, NULL, 'r' },
		{ "flow-fd", required_argument, NULL, 'e' },
		{ "heartbeat-ms", required_argument, NULL, 'b' },
		{ "idle-ms", required_argument, NULL, 'i' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	memset(args, 0, sizeof(*args));
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == '?')
			return false;
		if (!read_option(args, option, optarg)) {
			log_error("usage",
			    "not an open descriptor or number, or not as "
			    "it must be: %s",
			    optarg);
			return false;
		}
	}
	/* Descriptors 0 to 2 cannot be named, so 0 is "not given". */
	return optind == argc && args->fds.helper != 0 &&
	    args->fds.status != 0 && args->fds.state != 0 &&
	    args->fds.listen_count > 0 &&
	    args->fds.listen_tcp_count == args->fds.listen_count &&
	    args->source.config_fd != 0 && args->source.config_path != NULL;
}

static int
load(const struct arguments *args, struct config **ret)
{
	struct text_error error;
	uint8_t secret[16];
	int r;

	if (getrandom(secret, sizeof(secret), 0) != (ssize_t)sizeof(secret))
		return EXIT_ENVIRONMENT;
	memset(&error, 0, sizeof(error));
	r = load_config(ret, &args->source, secret, &error);
	if (r == 0)
		return 0;
	if (r != -EINVAL) {
		log_error("load", "cannot read the configuration: %s",
		    strerror(-r));
		return EXIT_ENVIRONMENT;
	}
	(void)fprintf(stderr, "%s:%u:%u: %s\n", error.file, error.line,
	    error.column, error.reason);
	return EXIT_CONFIG;
}

static void
close_loaded(const struct arguments *args)
{
	(void)close(args->source.config_fd);
	for (size_t i = 0; i < args->source.file_count; i++)
		(void)close(args->source.files[i].fd);
}

int
main(int argc, char **argv)
{
	static struct arguments args;
	struct config *config = NULL;
	struct daemon *daemon;
	int code;

	if (!read_arguments(&args, argc, argv)) {
		print_usage();
		return EXIT_USAGE;
	}
	if (confine_process() != 0)
		return EXIT_ENVIRONMENT;
	code = load(&args, &config);
	if (code != 0)
		return code;
	close_loaded(&args);
	daemon = calloc(1, sizeof(*daemon));
	if (daemon == NULL)
		return EXIT_ENVIRONMENT;
	if (daemon_open(daemon, config, &args.fds) == 0)
		code = daemon_run(daemon);
	else
		code = EXIT_ENVIRONMENT;
	daemon_close(daemon);
	free(daemon);
	return code;
}
