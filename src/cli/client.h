/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * client - one command to the daemon's status socket, and the lines that come
 * back: a greeting, any number of lines, a verdict.
 */
#ifndef SRC_CLI_CLIENT_H
#define SRC_CLI_CLIENT_H

#include <stddef.h>
#include <stdio.h>

#include "src/cli/cli.h"
#include "src/cli/json.h"

#define CLIENT_WORDS_MAX 32 /* with the NULL */

struct client {
	const struct cli *cli;
	FILE *stream;
	char *line;
	size_t size;
	int status; /* after CLIENT_END: what to exit with */
};

enum client_event {
	CLIENT_LINE, /* *ret is one line of the answer; json_free() it */
	CLIENT_END /* status is set, complaints were printed */
};

/*
 * Sends words (NULL ends them). False: could not, complained, status is set.
 * With --json every line is copied to standard output as it came.
 */
bool client_open(struct client *, const struct cli *,
    const char *const words[CLIENT_WORDS_MAX]);
enum client_event client_next(struct client *, struct json *ret);
void client_close(struct client *);

#endif
