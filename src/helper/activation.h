/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * activation - sockets that a service manager has bound and keeps over our
 * restarts (LISTEN_FDS): a question that comes while nobody runs waits there.
 */
#ifndef SRC_HELPER_ACTIVATION_H
#define SRC_HELPER_ACTIVATION_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/text/settings.h"

#define ACTIVATION_MAX (2 * SETTINGS_LISTEN_MAX + 8)

struct activation {
	struct activated {
		int fd; /* -1: taken */
		int type; /* SOCK_DGRAM, SOCK_STREAM */
		struct endpoint endpoint;
		char name[64]; /* LISTEN_FDNAMES */
	} sockets[ACTIVATION_MAX];
	size_t count;
};

/* Reads the environment, and empties it of what was for us. To be called
 * before anything else is opened. */
void activation_read(struct activation *ret);
/* Whether there is a socket of that type bound to an address of `listen`. */
bool activation_has(const struct activation *, const struct endpoint *,
    int type);
/* The same socket, which is the caller's then; -1: there is none. */
int activation_take(struct activation *, const struct endpoint *, int type);
/* Closes what nobody took, and says so. */
void activation_close(struct activation *);

#endif
