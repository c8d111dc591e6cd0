/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * occupant - see occupant.h. The kernel's table of sockets gives an inode,
 * and the processes' open files tell whose it is.
 */
#include "config.h"

#include "src/helper/occupant.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINE_MAX_SIZE 512
#define PATH_SIZE     64

/* The address as /proc prints it: words of the host's order in hex. */
static void
print_hex(const struct endpoint *endpoint, char *ret, size_t size)
{
	size_t words = addr_size(&endpoint->addr) / 4;
	size_t len = 0;

	for (size_t i = 0; i < words; i++) {
		uint32_t word;

		memcpy(&word, endpoint->addr.bytes + i * 4, 4);
		len += (size_t)snprintf(ret + len, size - len, "%08X", word);
	}
	snprintf(ret + len, size - len, ":%04X", endpoint->port);
}

/* A wildcard socket of that port is in the way as well. */
static bool
is_in_the_way(const char *local, const char *wanted)
{
	const char *port = strrchr(wanted, ':');
	const char *found = strrchr(local, ':');

	if (strcmp(local, wanted) == 0)
		return true;
	return found != NULL && strcmp(found, port) == 0 &&
	    strspn(local, "0") == (size_t)(found - local);
}

static unsigned long
find_inode(const struct endpoint *endpoint, const char *table)
{
	char line[LINE_MAX_SIZE], local[PATH_SIZE], wanted[PATH_SIZE];
	unsigned long inode, found = 0;
	FILE *file = fopen(table, "re");

	if (file == NULL)
		return 0;
	print_hex(endpoint, wanted, sizeof(wanted));
	while (found == 0 && fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, " %*s %63s %*s %*s %*s %*s %*s %*s %*s %lu",
			local, &inode) == 2 &&
		    is_in_the_way(local, wanted))
			found = inode;
	fclose(file);
	return found;
}

static bool
has_inode(const char *pid, unsigned long inode)
{
	char path[LINE_MAX_SIZE], target[PATH_SIZE], wanted[PATH_SIZE];
	const struct dirent *entry;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	snprintf(wanted, sizeof(wanted), "socket:[%lu]", inode);
	dir = opendir(path);
	if (dir == NULL)
		return false;
	while (!found && (entry = readdir(dir)) != NULL) {
		ssize_t len;

		len = readlinkat(dirfd(dir), entry->d_name, target,
		    sizeof(target) - 1);
		if (len > 0) {
			target[len] = '\0';
			found = strcmp(target, wanted) == 0;
		}
	}
	closedir(dir);
	return found;
}

static void
describe(const char *pid, char ret[OCCUPANT_TEXT_MAX])
{
	char path[LINE_MAX_SIZE], name[32] = "a process";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	file = fopen(path, "re");
	if (file != NULL) {
		if (fgets(name, sizeof(name), file) != NULL)
			name[strcspn(name, "\n")] = '\0';
		fclose(file);
	}
	snprintf(ret, OCCUPANT_TEXT_MAX, "%s (pid %.10s)", name, pid);
}

bool
occupant_find(const struct endpoint *endpoint, int type,
    char ret[OCCUPANT_TEXT_MAX])
{
	const char *table4 =
	    type == SOCK_STREAM ? "/proc/net/tcp" : "/proc/net/udp";
	const char *table6 =
	    type == SOCK_STREAM ? "/proc/net/tcp6" : "/proc/net/udp6";
	unsigned long inode =
	    find_inode(endpoint, endpoint->addr.family == 4 ? table4 : table6);
	const struct dirent *entry;
	bool found = false;
	DIR *proc;

	/* A wildcard of IPv6 may hold a port of IPv4. */
	if (inode == 0)
		inode = find_inode(endpoint, table6);
	proc = inode != 0 ? opendir("/proc") : NULL;
	if (proc == NULL)
		return false;
	while (!found && (entry = readdir(proc)) != NULL)
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    has_inode(entry->d_name, inode)) {
			describe(entry->d_name, ret);
			found = true;
		}
	closedir(proc);
	return found;
}
