/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load - a configuration and the files that it names, read as the daemon does.
 */
#ifndef SRC_CLI_LOAD_H
#define SRC_CLI_LOAD_H

#include "lib/text/policy_text.h"
#include "src/cli/cli.h"

/*
 * 0; -EINVAL with *ret_error filled; or another negative errno, complained
 * about, when a file cannot be read or memory is short.
 */
int load_config(const struct cli *, const char *path, struct config **ret,
    struct text_error *ret_error);
/* The part that needs neither lists nor suffixes. */
int load_edge(const char *path, struct edge_config **ret,
    struct text_error *ret_error);
/* A text that someone names; complains and says a negative errno when it
 * cannot be read. ret->bytes is the caller's to free_text(). */
int load_text(const char *path, struct text_file *ret);
void free_text(struct text_file *);
/* The list of that name, from where the daemon would take it: as load_text(),
 * but -ENOENT without a complaint. */
int load_list(const struct cli *, const char *name, struct text_file *ret);
/* Where lists are looked for, the first first; NULL behind the last. */
const char *list_dir(const struct cli *, size_t index);
/* FILE:LINE:COLUMN: KIND: reason, or the same as a JSON line. */
void put_diagnostic(const struct cli *, const char *kind,
    const struct text_error *);

#endif
