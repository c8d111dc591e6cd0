/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handover - what the resolver is given: open descriptors, and the command
 * line that names them. It opens nothing of the host by itself but what its
 * user may.
 */
#ifndef SRC_HELPER_HANDOVER_H
#define SRC_HELPER_HANDOVER_H

#include <stddef.h>
#include <sys/types.h>

#include "lib/text/edge_text.h"
#include "src/helper/activation.h"
#include "src/helper/source.h"

#define HANDOVER_ARGS_MAX 1024
#define HANDOVER_FDS_MAX  512
/* Descriptors stay above this, so that the child can put the channel at 3. */
#define HANDOVER_FD_MIN 10

struct handover {
	char *args[HANDOVER_ARGS_MAX + 1]; /* NULL at the end */
	size_t arg_count;
	int fds[HANDOVER_FDS_MAX]; /* to be inherited */
	size_t fd_count;
	struct activation *activation; /* sockets that are there already */
};

struct account {
	uid_t uid;
	gid_t gid;
};

/* Every function: 0, or a message was logged and it is the exit status. */

/* The user of the settings; a number is not a name. */
int handover_account(const char *user, struct account *ret);
/* Begins the command line. */
int handover_begin(struct handover *, const char *resolver);
/* The very bytes that were parsed, sealed against change. */
int handover_config(struct handover *, const char *path, const char *bytes,
    size_t size);
/* Included files as they were read; `list: NAME` from the operator's folder,
 * then the package's; and the public suffixes. zones NULL: the usual two.
 * REASON_MAX is of source.h. */
int handover_files(struct handover *, const struct source *, const char *zones);
/* UDP sockets in the order of `listen`, then TCP sockets likewise. */
int handover_listeners(struct handover *, const struct settings *,
    const struct account *);
/* Whether those that are not there already could be bound now; nothing is
 * kept. */
int handover_try_listeners(const struct settings *, const struct activation *);
int handover_status(struct handover *, const struct settings *);
int handover_control(struct handover *, const struct settings *);
/* The state directory, and folders and files for events, made and given to
 * the user. */
int handover_state(struct handover *, const struct settings *,
    const struct account *);
/* The sockets by which the kernel tells of rejected packets and of flows that
 * ended. */
int handover_reports(struct handover *, const struct settings *);
/* Closes this process's copies. */
void handover_end(struct handover *);

/* A file that the configuration names, opened for reading. */
struct handover_file {
	char what[EDGE_NAME_MAX + 8]; /* "include", "zone:NAME", "suffixes" */
	char path[SETTINGS_PATH_MAX + EDGE_NAME_MAX + 8];
	int fd;
};

#define HANDOVER_NO_MORE 1

/* The file with this number; 0, HANDOVER_NO_MORE, or a negative errno with
 * the reason. */
int handover_file_open(struct handover_file *ret, const struct source *,
    size_t index, const char *zones, char reason[REASON_MAX]);
/* Bytes in a memory file that nobody can change any more; or -errno. */
int handover_seal(const char *name, const char *bytes, size_t size);

/* For the parts: moves a descriptor up, close-on-exec; -1 and errno. */
int handover_move(int fd);
/* Appends an argument made as by printf. */
int handover_arg(struct handover *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Takes over a descriptor (already moved) for the child. */
int handover_keep(struct handover *, int fd);

#endif
