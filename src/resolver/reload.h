/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reload - the resolver's part of a reload: reads what the parent passed,
 * answers whether it can be used, and switches when the parent says so.
 *
 * Until then nothing has changed. The reading is done in one go: questions
 * wait in the sockets meanwhile.
 */
#ifndef SRC_RESOLVER_RELOAD_H
#define SRC_RESOLVER_RELOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/helper_msg.h"
#include "src/resolver/load.h"
#include "src/resolver/sink.h"

#define RELOAD_REASON_MAX 1024

struct daemon;

struct reload {
	int fds[HELPER_RELOAD_MAX];
	size_t have, total; /* total 0: none is being passed */
	struct config *next; /* read, and the parent was told */
	struct sinks sinks; /* of `next`, where it names others */
	bool new_sinks;
	/* The last one that ended; so many have begun and ended. */
	bool ok;
	char reason[RELOAD_REASON_MAX];
	uint64_t begun, ended;
};

/* From the first descriptor to the parent's last word. */
bool reload_is_under_way(const struct reload *);
/* Descriptors from the parent, the first of them with this number. They are
 * taken over. False: not as they must come. */
bool reload_take(struct daemon *, uint64_t first, uint64_t total,
    const int *fds, size_t count);
/* The parent refuses; the reason is to be read from a descriptor, which is
 * taken over. */
void reload_refused(struct daemon *, int fd);
/* The parent's word on what was read: 0 is "switch now". */
void reload_answered(struct daemon *, int status);
/* The parent has followed. */
void reload_followed(struct daemon *, int status);
void reload_close(struct reload *);

#endif
