/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy_text - a whole configuration from bytes to a sealed policy.
 *
 * Reads names (U-labels through libidn2, IDNA 2008), rules, zone lists and
 * the public suffix list, and compiles a struct policy in a block of its own.
 * Errors carry file, line and column and say what would be right.
 */
#ifndef LIB_TEXT_POLICY_TEXT_H
#define LIB_TEXT_POLICY_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/policy.h"
#include "lib/text/edge_follow.h"
#include "lib/text/edge_text.h"
#include "lib/text/name_text.h"

/* A file that the configuration names, read by the caller: "include" for
 * those that it includes, in their order; "zone:NAME" for a list; "suffixes"
 * for the public suffix list. */
struct text_file {
	char name[EDGE_NAME_MAX + 8];
	char path[SETTINGS_PATH_MAX];
	const char *bytes;
	size_t size;
};

#define CONFIG_WARNINGS_MAX 64

struct config {
	struct edge_config *edge; /* settings, sandboxes, guard's view */
	struct policy *policy; /* sealed; in block */
	void *block;
	struct dname forward_names[SETTINGS_FORWARD_MAX];
	struct text_error warnings[CONFIG_WARNINGS_MAX];
	size_t warning_count;
	char suffixes_date[64]; /* from the list's VERSION line, or "" */
};

/*
 * Reads everything. files must hold "suffixes" and every list that the
 * configuration names (see config_files_wanted); one that is absent is an
 * error at the rule that names it. 0, -EINVAL or -ENOMEM.
 */
int config_read(struct config **ret, const char *file, const char *bytes,
    size_t size, const struct text_file *files, size_t file_count,
    const uint8_t secret[16], struct text_error *ret_error);

struct config_source {
	const char *file;
	const char *bytes;
	size_t size;
	const struct text_file *files;
	size_t file_count;
	const uint8_t *secret; /* 16 octets */
	const struct edge_before *before; /* of a reload; NULL: a start */
};

/* The same, and after what holds now: see edge_follow(). */
int config_reread(struct config **ret, const struct config_source *,
    struct text_error *ret_error);
void config_free(struct config *);

#endif
