/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load - the configuration from the descriptors that the parent passed.
 *
 * Both programs read the same bytes: the parent's copy in a sealed memory
 * file, and the lists that it opened. Nothing is opened by name here.
 */
#ifndef SRC_RESOLVER_LOAD_H
#define SRC_RESOLVER_LOAD_H

#include "lib/text/policy_text.h"

#define LOAD_FILES_MAX 256

/* `zone:NAME` or `suffixes`, a descriptor, and what to call it in messages. */
struct load_file {
	char name[EDGE_NAME_MAX + 8];
	char path[SETTINGS_PATH_MAX];
	int fd;
};

struct load_source {
	int config_fd;
	const char *config_path;
	struct load_file files[LOAD_FILES_MAX];
	size_t file_count;
	const struct edge_before *before; /* of a reload; NULL: a start */
};

/* A whole file from its start, whatever its position is, with a NUL behind
 * it. 0, or a negative errno, logged. */
int load_whole(int fd, const char *path, char **ret, size_t *ret_size);
/* 0; -EINVAL for a configuration that is wrong, with *ret_error; another
 * negative errno, logged. Descriptors stay open. */
int load_config(struct config **ret, const struct load_source *,
    const uint8_t secret[16], struct text_error *ret_error);

#endif
