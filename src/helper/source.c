/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * source - see source.h.
 */
#include "config.h"

#include "src/helper/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads to the end, which may come before or after what stat says. */
static int
read_file(const char *path, struct source *source)
{
	FILE *file = fopen(path, "re");
	size_t len;

	if (file == NULL)
		return -errno;
	source->bytes = malloc(YAML_FILE_SIZE_MAX + 1);
	if (source->bytes == NULL) {
		fclose(file);
		return -ENOMEM;
	}
	len = fread(source->bytes, 1, YAML_FILE_SIZE_MAX + 1, file);
	source->size = len;
	len = ferror(file) != 0 ? 0 : 1;
	fclose(file);
	if (len == 0)
		return -EIO;
	return source->size <= YAML_FILE_SIZE_MAX ? 0 : -EFBIG;
}

static int
parse(struct source *source, const char *path, const struct edge_before *before,
    struct text_error *ret_error)
{
	struct yaml_node *root = NULL;
	int error =
	    yaml_tree_read(path, source->bytes, source->size, &root, ret_error);

	if (error == 0)
		error = edge_includes_read(&source->includes, path, root,
		    ret_error);
	if (error == 0)
		error =
		    edge_config_read(&source->config, path, root, ret_error);
	if (error == 0 && before != NULL)
		error =
		    edge_follow(source->config, before, path, root, ret_error);
	yaml_tree_free(root);
	return error;
}

int
source_read(struct source *ret, const char *path,
    const struct edge_before *before, char reason[REASON_MAX])
{
	struct text_error wrong;
	int error;

	memset(ret, 0, sizeof(*ret));
	error = read_file(path, ret);
	if (error != 0) {
		snprintf(reason, REASON_MAX, "%s: %s", path, strerror(-error));
		source_free(ret);
		return error;
	}
	error = parse(ret, path, before, &wrong);
	if (error == -EINVAL)
		snprintf(reason, REASON_MAX, "%s:%u:%u: %s", wrong.file,
		    wrong.line, wrong.column, wrong.reason);
	else if (error != 0)
		snprintf(reason, REASON_MAX, "%s: %s", path, strerror(-error));
	if (error != 0)
		source_free(ret);
	return error;
}

void
source_free(struct source *source)
{
	edge_config_free(source->config);
	edge_includes_free(&source->includes);
	free(source->bytes);
	memset(source, 0, sizeof(*source));
}
