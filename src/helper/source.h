/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * source - the configuration as the parent reads it: its bytes, which the
 * resolver gets too, and what was read from them.
 */
#ifndef SRC_HELPER_SOURCE_H
#define SRC_HELPER_SOURCE_H

#include <stddef.h>

#include "lib/text/edge_follow.h"
#include "lib/text/edge_include.h"
#include "lib/text/edge_text.h"

/* A reason that names a file, a line and a column. */
#define REASON_MAX 1024

struct source {
	char *bytes;
	size_t size;
	struct includes includes;
	struct edge_config *config;
};

/*
 * Opens, reads and parses. before is what holds now; NULL at a start. 0;
 * -EINVAL when the configuration is wrong, with "FILE:LINE:COLUMN: why" as
 * reason; another negative errno, with "FILE: why".
 */
int source_read(struct source *ret, const char *path,
    const struct edge_before *before, char reason[REASON_MAX]);
void source_free(struct source *);

#endif
