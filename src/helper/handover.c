/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handover - see handover.h: the command line and what is read from files.
 * Sockets are in listeners.c, folders in places.c.
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
handover_config(struct handover *handover, const char *path, const char *bytes,
    size_t size)
{
	int fd = handover_move(
	    memfd_create("namewall.yaml", MFD_CLOEXEC | MFD_ALLOW_SEALING));

	if (fd < 0 || write_all(fd, bytes, size) != 0 ||
	    lseek(fd, 0, SEEK_SET) != 0 || fcntl(fd, F_ADD_SEALS, seals) < 0) {
		log_error("%s: could not be copied: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return EXIT_ENVIRONMENT;
	}
	if (handover_keep(handover, fd) != 0 ||
	    handover_arg(handover, "--config-fd") != 0 ||
	    handover_arg(handover, "%d", fd) != 0 ||
	    handover_arg(handover, "--config-name") != 0)
		return EXIT_ENVIRONMENT;
	return handover_arg(handover, "%s", path);
}

/* Opens for reading; the error is the caller's to report. */
static int
hand_file(struct handover *handover, const char *what, const char *path)
{
	int fd = handover_move(open(path, O_RDONLY | O_CLOEXEC));

	if (fd < 0)
		return errno == ENOENT ? -ENOENT : -EIO;
	if (handover_keep(handover, fd) != 0 ||
	    handover_arg(handover, "--file") != 0 ||
	    handover_arg(handover, "%s=%d=%s", what, fd, path) != 0)
		return EXIT_ENVIRONMENT;
	return 0;
}

static int
hand_zone(struct handover *handover, const char *name, const char *zones)
{
	const char *const usual[] = { ZONES_OPERATOR, PKGDATADIR "/zones" };
	const char *const given[] = { zones };
	const char *const *folders = zones != NULL ? given : usual;
	size_t count = zones != NULL ? 1 : 2;
	char path[SETTINGS_PATH_MAX + EDGE_NAME_MAX + 8];
	char what[EDGE_NAME_MAX + 8];
	int error = -ENOENT;

	snprintf(what, sizeof(what), "zone:%s", name);
	for (size_t i = 0; i < count && error == -ENOENT; i++) {
		int len = snprintf(path, sizeof(path), "%s/%s.zone", folders[i],
		    name);

		if (len < 0 || (size_t)len >= sizeof(path))
			return EXIT_ENVIRONMENT;
		error = hand_file(handover, what, path);
	}
	if (error == -ENOENT)
		log_error("list %s: there is no %s.zone in %s%s%s", name, name,
		    folders[0], count > 1 ? " or " : "",
		    count > 1 ? folders[1] : "");
	else if (error < 0)
		log_error("%s: %s", path, strerror(errno));
	return error < 0 ? EXIT_ENVIRONMENT : error;
}

int
handover_files(struct handover *handover, const struct edge_config *config,
    const char *zones)
{
	const char *suffixes = config->settings.public_suffixes;
	int status = 0;

	for (size_t i = 0; i < config->list_count && status == 0; i++)
		status = hand_zone(handover, config->lists[i], zones);
	if (status != 0)
		return status;
	status = hand_file(handover, "suffixes", suffixes);
	if (status < 0) {
		log_error("%s: %s: install the package publicsuffix, or name "
			  "a list with \"public_suffixes:\"",
		    suffixes, strerror(errno));
		return EXIT_ENVIRONMENT;
	}
	return status;
}
