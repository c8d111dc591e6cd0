/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edge_include - files with policies and sandboxes, read as if they stood in
 * the configuration itself.
 *
 * One level: an included file includes nothing. The parent finds and reads
 * the files, and hands their bytes to the resolver: both read the same.
 */
#ifndef LIB_TEXT_EDGE_INCLUDE_H
#define LIB_TEXT_EDGE_INCLUDE_H

#include <stddef.h>

#include "lib/text/settings.h"
#include "lib/text/yaml_tree.h"

#define INCLUDE_FILES_MAX 64

struct include_file {
	char path[SETTINGS_PATH_MAX];
	char *bytes;
	size_t size;
};

struct includes {
	struct include_file *files;
	size_t count;
};

/*
 * Finds and reads what `include` names, and adds it to the tree. A relative
 * name counts from the folder of the file. The paths must live as long as the
 * tree. The only function of this folder that looks at the file system. 0,
 * -EINVAL or -ENOMEM; *ret is the caller's to free either way.
 */
int edge_includes_read(struct includes *ret, const char *file,
    struct yaml_node *root, struct text_error *ret_error);
void edge_includes_free(struct includes *);
/* Adds one file whose bytes are there already; its path must live as long as
 * the tree. */
int edge_include_add(struct yaml_node *root, const char *path,
    const char *bytes, size_t size, struct text_error *ret_error);

#endif
