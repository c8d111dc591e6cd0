/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handover - see handover.h: the command line and what is read from files.
 * Sockets are in listeners.c and reports.c, folders in places.c.
 */
#include "config.h"

#include "src/helper/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/helper/log.h"

#define EXIT_ENVIRONMENT 3
#define ZONES_OPERATOR   "/etc/namewall/zones"

int
handover_account(const char *user, struct account *ret)
{
	const struct passwd *entry = getpwnam(user);

	if (entry == NULL) {
		log_error("user %s: does not exist: make it (adduser --system "
			  "--group %s), or name another with \"user:\"",
		    user, user);
		return EXIT_ENVIRONMENT;
	}
	if (entry->pw_uid == 0) {
		log_error("user %s: is root; the resolver must have no "
			  "privilege",
		    user);
		return EXIT_ENVIRONMENT;
	}
	ret->uid = entry->pw_uid;
	ret->gid = entry->pw_gid;
	return 0;
}

int
handover_move(int fd)
{
	int moved;

	if (fd < 0)
		return -1;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, HANDOVER_FD_MIN);
	close(fd);
	return moved;
}

int
handover_arg(struct handover *handover, const char *format, ...)
{
	va_list args;
	char *text = NULL;
	int len;

	if (handover->arg_count == HANDOVER_ARGS_MAX) {
		log_error("start: too many files for one command line");
		return EXIT_ENVIRONMENT;
	}
	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0) {
		log_error("start: out of memory");
		return EXIT_ENVIRONMENT;
	}
	handover->args[handover->arg_count++] = text;
	return 0;
}

int
handover_keep(struct handover *handover, int fd)
{
	if (handover->fd_count == HANDOVER_FDS_MAX) {
		log_error("start: too many files are named");
		close(fd);
		return EXIT_ENVIRONMENT;
	}
	handover->fds[handover->fd_count++] = fd;
	return 0;
}

int
handover_begin(struct handover *handover, const char *resolver)
{
	memset(handover, 0, sizeof(*handover));
	if (handover_arg(handover, "%s", resolver) != 0 ||
	    handover_arg(handover, "--helper-fd") != 0)
		return EXIT_ENVIRONMENT;
	return handover_arg(handover, "3");
}

void
handover_end(struct handover *handover)
{
	for (size_t i = 0; i < handover->fd_count; i++)
		close(handover->fds[i]);
	for (size_t i = 0; i < handover->arg_count; i++)
		free(handover->args[i]);
	memset(handover, 0, sizeof(*handover));
}

/* For good, and so that no other seal can be set. */
static const int seals =
    F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

static int
write_all(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t len = write(fd, bytes, size);

		if (len < 0 && errno != EINTR)
			return -errno;
		if (len > 0) {
			bytes += len;
			size -= (size_t)len;
		}
	}
	return 0;
}

int
handover_seal(const char *name, const char *bytes, size_t size)
{
	int fd =
	    handover_move(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
	int error = 0;

	if (fd < 0)
		return -errno;
	error = write_all(fd, bytes, size);
	if (error == 0 &&
	    (lseek(fd, 0, SEEK_SET) != 0 || fcntl(fd, F_ADD_SEALS, seals) < 0))
		error = -errno;
	if (error == 0)
		return fd;
	close(fd);
	return error;
}

int
handover_config(struct handover *handover, const char *path, const char *bytes,
    size_t size)
{
	int fd = handover_seal("namewall.yaml", bytes, size);

	if (fd < 0) {
		log_error("%s: could not be copied: %s", path, strerror(-fd));
		return EXIT_ENVIRONMENT;
	}
	if (handover_keep(handover, fd) != 0 ||
	    handover_arg(handover, "--config-fd") != 0 ||
	    handover_arg(handover, "%d", fd) != 0 ||
	    handover_arg(handover, "--config-name") != 0)
		return EXIT_ENVIRONMENT;
	return handover_arg(handover, "%s", path);
}

/* 0, or a negative errno. */
static int
open_file(struct handover_file *ret)
{
	ret->fd = handover_move(open(ret->path, O_RDONLY | O_CLOEXEC));
	return ret->fd < 0 ? -errno : 0;
}

static int
open_zone(struct handover_file *ret, const char *name, const char *zones,
    char reason[REASON_MAX])
{
	const char *const usual[] = { ZONES_OPERATOR, PKGDATADIR "/zones" };
	const char *const given[] = { zones };
	const char *const *folders = zones != NULL ? given : usual;
	size_t count = zones != NULL ? 1 : 2;
	int error = -ENOENT;

	snprintf(ret->what, sizeof(ret->what), "zone:%s", name);
	for (size_t i = 0; i < count && error == -ENOENT; i++) {
		int len = snprintf(ret->path, sizeof(ret->path), "%s/%s.zone",
		    folders[i], name);

		error = len < 0 || (size_t)len >= sizeof(ret->path)
		    ? -ENAMETOOLONG
		    : open_file(ret);
	}
	if (error == -ENOENT)
		snprintf(reason, REASON_MAX,
		    "list %s: there is no %s.zone in %s%s%s", name, name,
		    folders[0], count > 1 ? " or " : "",
		    count > 1 ? folders[1] : "");
	else if (error < 0)
		snprintf(reason, REASON_MAX, "%s: %s", ret->path,
		    strerror(-error));
	return error;
}

static int
open_suffixes(struct handover_file *ret, const char *path,
    char reason[REASON_MAX])
{
	int error;

	snprintf(ret->what, sizeof(ret->what), "suffixes");
	snprintf(ret->path, sizeof(ret->path), "%s", path);
	error = open_file(ret);
	if (error < 0)
		snprintf(reason, REASON_MAX,
		    "%s: %s: install the package publicsuffix, or name a list "
		    "with \"public_suffixes:\"",
		    path, strerror(-error));
	return error;
}

/* What was parsed, not what the file holds by now. */
static int
seal_include(struct handover_file *ret, const struct include_file *file,
    char reason[REASON_MAX])
{
	snprintf(ret->what, sizeof(ret->what), "include");
	snprintf(ret->path, sizeof(ret->path), "%s", file->path);
	ret->fd = handover_seal("include", file->bytes, file->size);
	if (ret->fd >= 0)
		return 0;
	snprintf(reason, REASON_MAX, "%s: could not be copied: %s", file->path,
	    strerror(-ret->fd));
	return ret->fd;
}

int
handover_file_open(struct handover_file *ret, const struct source *source,
    size_t index, const char *zones, char reason[REASON_MAX])
{
	const struct edge_config *config = source->config;

	if (index < source->includes.count)
		return seal_include(ret, &source->includes.files[index],
		    reason);
	index -= source->includes.count;
	if (index < config->list_count)
		return open_zone(ret, config->lists[index], zones, reason);
	if (index == config->list_count)
		return open_suffixes(ret, config->settings.public_suffixes,
		    reason);
	return HANDOVER_NO_MORE;
}

int
handover_files(struct handover *handover, const struct source *source,
    const char *zones)
{
	struct handover_file file;
	char reason[REASON_MAX];

	for (size_t i = 0;; i++) {
		int error = handover_file_open(&file, source, i, zones, reason);

		if (error == HANDOVER_NO_MORE)
			return 0;
		if (error < 0) {
			log_error("%s", reason);
			return EXIT_ENVIRONMENT;
		}
		if (handover_keep(handover, file.fd) != 0 ||
		    handover_arg(handover, "--file") != 0 ||
		    handover_arg(handover, "%s=%d=%s", file.what, file.fd,
			file.path) != 0)
			return EXIT_ENVIRONMENT;
	}
}
