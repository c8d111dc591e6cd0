/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load - a configuration and the files that it names.
 *
 * Lists are looked for where the daemon looks. All judgement is in lib/text.
 */
#include "config.h"

#include "src/cli/load.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/require.h"
#include "lib/text/edge_include.h"

#ifndef PKGDATADIR
#define PKGDATADIR "/usr/share/namewall"
#endif
#define ZONES_LOCAL   "/etc/namewall/zones"
#define ZONES_SHIPPED PKGDATADIR "/zones"
#define FILE_MAX      (64u << 20)

struct bytes {
	char *data;
	size_t size;
};

static int
read_all(int fd, struct bytes *ret)
{
	struct stat st;
	size_t used = 0, size;
	char *data;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	size = st.st_size > 0 ? (size_t)st.st_size + 1 : 65536;
	if (size > FILE_MAX)
		return -EFBIG;
	data = malloc(size);
	while (data != NULL) {
		ssize_t got = read(fd, data + used, size - used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int error = -errno;
			free(data);
			return error;
		}
		if (got == 0) {
			*ret = (struct bytes){ data, used };
			return 0;
		}
		used += (size_t)got;
		if (used < size)
			continue;
		if (size >= FILE_MAX) {
			free(data);
			return -EFBIG;
		}
		size *= 2;
		char *moved = realloc(data, size);
		if (moved == NULL)
			free(data);
		data = moved;
	}
	return -ENOMEM;
}

static int
read_file(const char *path, struct bytes *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	int error = read_all(fd, ret);
	close(fd);
	return error;
}

static int
read_config(const char *path, struct bytes *ret)
{
	int error = read_file(path, ret);

	if (error < 0)
		complain("%s: %s%s", path, strerror(-error),
		    error == -ENOENT ? "; \"namewall init\" writes a first "
				       "one, -c names another"
				     : "");
	return error;
}

const char *
list_dir(const struct cli *cli, size_t index)
{
	const char *const dirs[] = { cli->zones, ZONES_LOCAL, ZONES_SHIPPED };

	if (cli->zones == NULL)
		index++;
	return index < ARRAY_LEN(dirs) ? dirs[index] : NULL;
}

/* The list's path and bytes; -ENOENT is left to the reader of policies, which
 * knows the rule that wants the list. */
static int
find_list(const struct cli *cli, const char *name, struct text_file *file,
    struct bytes *ret)
{
	const char *dir;

	for (size_t i = 0; (dir = list_dir(cli, i)) != NULL; i++) {
		snprintf(file->path, sizeof(file->path), "%s/%s.zone", dir,
		    name);
		int error = read_file(file->path, ret);
		if (error == -ENOENT || error == -ENOTDIR)
			continue;
		if (error < 0)
			complain("%s: %s", file->path, strerror(-error));
		return error;
	}
	return -ENOENT;
}

int
load_text(const char *path, struct text_file *ret)
{
	struct bytes bytes;
	int error = read_file(path, &bytes);

	if (error < 0) {
		complain("%s: %s", path, strerror(-error));
		return error;
	}
	snprintf(ret->path, sizeof(ret->path), "%s", path);
	ret->bytes = bytes.data;
	ret->size = bytes.size;
	return 0;
}

int
load_list(const struct cli *cli, const char *name, struct text_file *ret)
{
	struct bytes bytes;
	int error = find_list(cli, name, ret, &bytes);

	if (error < 0)
		return error;
	ret->bytes = bytes.data;
	ret->size = bytes.size;
	return 0;
}

void
free_text(struct text_file *file)
{
	free((void *)(uintptr_t)file->bytes);
	file->bytes = NULL;
}

struct files {
	struct text_file *files;
	size_t count;
};

static void
files_free(struct files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free((void *)(uintptr_t)files->files[i].bytes);
	free(files->files);
}

static int
read_suffixes(const struct edge_config *edge, struct text_file *file,
    struct bytes *ret)
{
	const char *path = edge->settings.public_suffixes;

	snprintf(file->name, sizeof(file->name), "suffixes");
	snprintf(file->path, sizeof(file->path), "%s", path);
	int error = read_file(path, ret);
	if (error < 0)
		complain("%s: %s; Debian's package publicsuffix has it", path,
		    strerror(-error));
	return error;
}

/* Their bytes change hands. */
static void
take_includes(struct files *files, struct includes *includes)
{
	for (size_t i = 0; i < includes->count; i++) {
		struct text_file *file = &files->files[files->count++];

		snprintf(file->name, sizeof(file->name), "include");
		snprintf(file->path, sizeof(file->path), "%s",
		    includes->files[i].path);
		file->bytes = includes->files[i].bytes;
		file->size = includes->files[i].size;
		includes->files[i].bytes = NULL;
	}
}

static int
files_read(const struct cli *cli, const struct edge_config *edge,
    struct includes *includes, struct files *ret)
{
	struct files files = { 0 };
	int error = 0;

	files.files = calloc(includes->count + edge->list_count + 1,
	    sizeof(*files.files));
	if (files.files == NULL)
		return -ENOMEM;
	take_includes(&files, includes);
	for (size_t i = 0; i <= edge->list_count; i++) {
		struct text_file *file = &files.files[files.count];
		struct bytes bytes = { 0 };

		if (i == edge->list_count)
			error = read_suffixes(edge, file, &bytes);
		else {
			snprintf(file->name, sizeof(file->name), "zone:%s",
			    edge->lists[i]);
			error = find_list(cli, edge->lists[i], file, &bytes);
			if (error == -ENOENT)
				continue;
		}
		if (error < 0) {
			files_free(&files);
			return error;
		}
		file->bytes = bytes.data;
		file->size = bytes.size;
		files.count++;
	}
	*ret = files;
	return 0;
}

static int
read_edge(const char *path, const struct bytes *bytes,
    struct includes *includes, struct edge_config **ret,
    struct text_error *ret_error)
{
	struct yaml_node *root;
	int error =
	    yaml_tree_read(path, bytes->data, bytes->size, &root, ret_error);

	if (error < 0)
		return error;
	error = edge_includes_read(includes, path, root, ret_error);
	if (error == 0)
		error = edge_config_read(ret, path, root, ret_error);
	yaml_tree_free(root);
	return error;
}

int
load_edge(const char *path, struct edge_config **ret,
    struct text_error *ret_error)
{
	struct includes includes = { .count = 0 };
	struct bytes bytes;
	int error = read_config(path, &bytes);

	if (error < 0)
		return error == -EINVAL ? -EIO : error;
	error = read_edge(path, &bytes, &includes, ret, ret_error);
	edge_includes_free(&includes);
	free(bytes.data);
	if (error == -ENOMEM)
		complain("out of memory");
	return error;
}

static int
load_bytes(const struct cli *cli, const char *path, const struct bytes *bytes,
    struct config **ret, struct text_error *ret_error)
{
	struct includes includes = { .count = 0 };
	struct edge_config *edge;
	struct files files = { .count = 0 };
	uint8_t secret[16];
	uint64_t next_ms;

	int error = read_edge(path, bytes, &includes, &edge, ret_error);
	if (error == 0) {
		error = files_read(cli, edge, &includes, &files);
		edge_config_free(edge);
		if (error == -EINVAL)
			error = -EIO;
	}
	edge_includes_free(&includes);
	if (error < 0)
		return error;
	if (getrandom(secret, sizeof(secret), 0) != (ssize_t)sizeof(secret))
		error = -EIO;
	else
		error = config_read(ret, path, bytes->data, bytes->size,
		    files.files, files.count, secret, ret_error);
	files_free(&files);
	if (error == 0)
		(void)policy_expire_rules((*ret)->policy,
		    (uint64_t)time(NULL) * 1000, &next_ms);
	return error;
}

int
load_config(const struct cli *cli, const char *path, struct config **ret,
    struct text_error *ret_error)
{
	struct bytes bytes;
	int error = read_config(path, &bytes);

	if (error < 0)
		return error == -EINVAL ? -EIO : error;
	error = load_bytes(cli, path, &bytes, ret, ret_error);
	free(bytes.data);
	if (error == -ENOMEM)
		complain("out of memory");
	return error;
}

void
put_diagnostic(const struct cli *cli, const char *kind,
    const struct text_error *error)
{
	if (cli->json) {
		fputs("{\"severity\":", stdout);
		put_json(stdout, kind);
		fputs(",\"file\":", stdout);
		put_json(stdout, error->file);
		printf(",\"line\":%" PRIu32 ",\"column\":%" PRIu32
		       ",\"message\":",
		    error->line, error->column);
		put_json(stdout, error->reason);
		fputs("}\n", stdout);
		return;
	}
	put_safe(stdout, error->file);
	printf(":%" PRIu32 ":%" PRIu32 ": %s: ", error->line, error->column,
	    kind);
	put_safe(stdout, error->reason);
	putchar('\n');
}
