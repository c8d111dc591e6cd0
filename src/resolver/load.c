/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load - see load.h.
 */
#include "config.h"

#include "src/resolver/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/resolver/log.h"

#define FILE_SIZE_MAX (64u << 20)

int
load_whole(int fd, const char *path, char **ret, size_t *ret_size)
{
	struct stat st;
	size_t size, at = 0;
	char *bytes;

	if (fstat(fd, &st) != 0) {
		log_error("load", "%s: %s", path, strerror(errno));
		return -errno;
	}
	if (!S_ISREG(st.st_mode) || st.st_size > (off_t)FILE_SIZE_MAX) {
		log_error("load", "%s: not a file of at most 64 MiB", path);
		return -EFBIG;
	}
	size = (size_t)st.st_size;
	bytes = malloc(size + 1);
	if (bytes == NULL)
		return -ENOMEM;
	while (at < size) {
		ssize_t n = pread(fd, bytes + at, size - at, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		at += (size_t)n;
	}
	if (at < size) {
		free(bytes);
		log_error("load", "%s: cannot be read to its end", path);
		return -EIO;
	}
	bytes[size] = '\0';
	*ret = bytes;
	*ret_size = size;
	return 0;
}

static int
read_files(const struct load_file *files, size_t count, struct text_file *texts)
{
	for (size_t i = 0; i < count; i++) {
		char *bytes = NULL;
		int r = load_whole(files[i].fd, files[i].path, &bytes,
		    &texts[i].size);

		if (r != 0)
			return r;
		texts[i].bytes = bytes;
		(void)snprintf(texts[i].name, sizeof(texts[i].name), "%s",
		    files[i].name);
		(void)snprintf(texts[i].path, sizeof(texts[i].path), "%s",
		    files[i].path);
	}
	return 0;
}

int
load_config(struct config **ret, const struct load_source *source,
    const uint8_t secret[16], struct text_error *ret_error)
{
	size_t count = source->file_count;
	struct text_file *texts = calloc(count + 1, sizeof(*texts));
	char *bytes = NULL;
	size_t size = 0;
	int r = -ENOMEM;

	if (texts != NULL)
		r = load_whole(source->config_fd, source->config_path, &bytes,
		    &size);
	if (r == 0)
		r = read_files(source->files, count, texts);
	if (r == 0)
		r = config_reread(ret,
		    &(struct config_source){ .file = source->config_path,
			.bytes = bytes,
			.size = size,
			.files = texts,
			.file_count = count,
			.secret = secret,
			.before = source->before },
		    ret_error);
	for (size_t i = 0; texts != NULL && i < count; i++)
		free((void *)(uintptr_t)texts[i].bytes);
	free(texts);
	free(bytes);
	return r;
}
