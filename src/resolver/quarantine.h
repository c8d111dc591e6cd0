/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quarantine - who is in quarantine, by name, over restarts and reloads.
 *
 * A small file in the state directory that is replaced as a whole: what it
 * says was on disk before the parent was told. A name stays in it while no
 * sandbox bears it, so that who comes back is where he was. A file that
 * cannot be read is no reason to let everybody out: then nothing starts.
 */
#ifndef SRC_RESOLVER_QUARANTINE_H
#define SRC_RESOLVER_QUARANTINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/effect.h"
#include "lib/policy.h"

#define QUARANTINE_REASON_MAX 32

struct daemon;

struct quarantine {
	char name[POLICY_NAME_MAX];
	uint64_t since_wall_s;
	char reason[QUARANTINE_REASON_MAX]; /* "command", or an alert */
};

struct quarantines {
	int dir;
	struct quarantine *list;
	size_t count;
};

/* The directory's descriptor is borrowed. 0 or a negative errno, logged. */
int quarantines_open(struct quarantines *, int dir);
void quarantines_close(struct quarantines *);
/* NULL: it is in none. */
const struct quarantine *quarantines_find(const struct quarantines *,
    const char *name);
/* Each writes the file. 0 or a negative errno: it holds as long as this
 * process does. */
int quarantines_put(struct quarantines *, const struct quarantine *);
int quarantines_drop(struct quarantines *, const char *name);

/* Whoever is there and in the file is cut off in the engine too: before the
 * start is settled, and whenever sandboxes have come. */
void quarantine_follow(struct daemon *);
/* Performs QUARANTINE and RELEASE. */
void quarantine_route(struct daemon *, const struct effect *);
/* The parent has done it, or says why not. */
void quarantine_answered(struct daemon *, uint32_t sandbox, int status);

#endif
