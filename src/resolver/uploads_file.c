/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uploads_file - see uploads_file.h.
 */
#include "config.h"

#include "src/resolver/uploads_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/resolver/log.h"

#define FILE_NAME   "uploads"
#define FILE_FRESH  "uploads.new"
#define FILE_MAGIC  "namewall uploads 1\n"
#define LINE_SIZE   256
#define UPLOADS_MAX (1u << 20)

struct upload *
uploads_file_add(struct uploads *u, const char *sandbox, uint64_t rule)
{
	struct upload *list;

	if (u->count == UPLOADS_MAX)
		return NULL;
	list = reallocarray(u->list, u->count + 1, sizeof(*list));
	if (list == NULL)
		return NULL;
	u->list = list;
	list[u->count] = (struct upload){ .rule = rule };
	(void)snprintf(list[u->count].sandbox, sizeof(list->sandbox), "%s",
	    sandbox);
	return &list[u->count++];
}

static bool
read_line(struct uploads *u, const char *line)
{
	struct upload one = { .rule = 0 }, *added;
	int end = 0;

	if (sscanf(line, "%63s %" SCNx64 " %" SCNu32 " %" SCNu64 "%n",
		one.sandbox, &one.rule, &one.day, &one.used, &end) != 4 ||
	    strcmp(line + end, "\n") != 0)
		return false;
	added = uploads_file_add(u, one.sandbox, one.rule);
	if (added != NULL)
		*added = one;
	return added != NULL;
}

static bool
read_file(struct uploads *u, FILE *file)
{
	char line[LINE_SIZE];

	if (fgets(line, sizeof(line), file) == NULL ||
	    strcmp(line, FILE_MAGIC) != 0)
		return false;
	while (fgets(line, sizeof(line), file) != NULL)
		if (!read_line(u, line))
			return false;
	return !ferror(file);
}

/* A file that cannot be read is no reason to begin a day anew: then nothing
 * starts. */
int
uploads_open(struct uploads *u, int dir)
{
	FILE *file = NULL;
	int fd;

	*u = (struct uploads){ .dir = dir };
	fd = openat(dir, FILE_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd >= 0)
		file = fdopen(fd, "r");
	if (file == NULL) {
		int error = -errno;

		log_error("uploads", "%s in the state directory: %s", FILE_NAME,
		    strerror(-error));
		if (fd >= 0)
			(void)close(fd);
		return error;
	}
	if (read_file(u, file)) {
		(void)fclose(file);
		return 0;
	}
	(void)fclose(file);
	log_error("uploads",
	    "%s in the state directory is not what was written there; take it "
	    "away to begin at nothing",
	    FILE_NAME);
	return -EBADMSG;
}

void
uploads_close(struct uploads *u)
{
	free(u->list);
	*u = (struct uploads){ .dir = -1 };
}

static int
write_to(const struct uploads *u, int fd, bool synced)
{
	FILE *file = fdopen(fd, "w");
	bool good;

	if (file == NULL) {
		int error = -errno;

		(void)close(fd);
		return error;
	}
	(void)fputs(FILE_MAGIC, file);
	for (size_t i = 0; i < u->count; i++)
		(void)fprintf(file, "%s %" PRIx64 " %" PRIu32 " %" PRIu64 "\n",
		    u->list[i].sandbox, u->list[i].rule, u->list[i].day,
		    u->list[i].used);
	good =
	    fflush(file) == 0 && !ferror(file) && (!synced || fsync(fd) == 0);
	if (fclose(file) != 0 || !good)
		return errno != 0 ? -errno : -EIO;
	return 0;
}

int
uploads_file_write(struct uploads *u, uint32_t today, bool synced)
{
	size_t kept = 0;
	int fd, error;

	for (size_t i = 0; i < u->count; i++)
		if (u->list[i].day >= today)
			u->list[kept++] = u->list[i];
	u->count = kept;
	fd = openat(u->dir, FILE_FRESH,
	    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	error = fd < 0 ? -errno : write_to(u, fd, synced);
	if (error == 0 && renameat(u->dir, FILE_FRESH, u->dir, FILE_NAME) != 0)
		error = -errno;
	if (error != 0)
		log_error("uploads",
		    "%s cannot be written to the state directory, so that a "
		    "boot would begin at nothing: %s",
		    FILE_NAME, strerror(-error));
	return error;
}
