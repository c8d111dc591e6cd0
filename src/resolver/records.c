/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * records - see records.h. A header of one record's size stands first:
 * "namewall NAME 1", the boot id. Of a record:
 *
 *   0   8 checksum (FNV-1a) of the body
 *   8   1 1: in use         9   7 zero         16 496 body
 */
#include "config.h"

#include "src/resolver/records.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/require.h"
#include "src/resolver/log.h"

#define OFFSET_USED   8
#define OFFSET_BODY   16
#define FILE_NAME_MAX 64

static uint64_t
checksum(const uint8_t *body)
{
	uint64_t sum = 0xcbf29ce484222325;

	for (size_t i = 0; i < RECORDS_BODY; i++)
		sum = (sum ^ body[i]) * 0x100000001b3;
	return sum;
}

/* Returns the length of what is the same for every boot. */
static size_t
print_header(uint8_t *ret, const char *name, const char *boot_id)
{
	char text[RECORDS_SIZE] = { 0 };
	int len = snprintf(text, sizeof(text), "namewall %s 1\n", name);

	(void)snprintf(text + len, sizeof(text) - (size_t)len, "%s\n", boot_id);
	memcpy(ret, text, sizeof(text));
	return (size_t)len;
}

static void
open_old(struct records *r, const char *boot_id)
{
	uint8_t header[RECORDS_SIZE];
	size_t head = print_header(header, r->name, boot_id);
	int fd = openat(r->dir, r->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	void *map = MAP_FAILED;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size >= RECORDS_SIZE)
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd,
		    0);
	(void)close(fd);
	if (map == MAP_FAILED)
		return;
	if (memcmp(map, header, head) != 0) {
		log_warn("state", "%s is of another version: ignored", r->name);
		(void)munmap(map, (size_t)st.st_size);
		return;
	}
	r->old = map;
	r->old_size = (size_t)st.st_size;
	r->same_boot = memcmp(map, header, sizeof(header)) == 0;
}

static int
open_fresh(struct records *r, const char *file)
{
	int fd = openat(r->dir, file,
	    O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	int error;

	if (fd < 0)
		return -errno;
	error = -posix_fallocate(fd, 0, (off_t)r->size);
	if (error == 0) {
		r->map = mmap(NULL, r->size, PROT_READ | PROT_WRITE, MAP_SHARED,
		    fd, 0);
		if (r->map == MAP_FAILED) {
			r->map = NULL;
			error = -errno;
		}
	}
	(void)close(fd);
	return error;
}

static void
fresh_name(const struct records *r, char ret[FILE_NAME_MAX])
{
	(void)snprintf(ret, FILE_NAME_MAX, "%s.new", r->name);
}

int
records_open(struct records *r, int dir, const char *name, const char *boot_id,
    uint32_t count)
{
	char file[FILE_NAME_MAX];
	int error;

	*r = (struct records){ .dir = dir,
		.name = name,
		.count = count,
		.size = ((size_t)count + 1) * RECORDS_SIZE };
	fresh_name(r, file);
	error = open_fresh(r, file);
	if (error != 0) {
		log_error("state", "cannot make %s in the state directory: %s",
		    file, strerror(-error));
		return error;
	}
	(void)print_header(r->map, name, boot_id);
	open_old(r, boot_id);
	return 0;
}

const uint8_t *
records_next(struct records *r, uint32_t *index)
{
	while (r->old != NULL) {
		size_t at = ((size_t)*index + 1) * RECORDS_SIZE;
		const uint8_t *record = r->old + at;
		uint64_t sum;

		if (at + RECORDS_SIZE > r->old_size)
			return NULL;
		(*index)++;
		if (record[OFFSET_USED] == 0)
			continue;
		memcpy(&sum, record, sizeof(sum));
		if (sum == checksum(record + OFFSET_BODY))
			return record + OFFSET_BODY;
		r->torn++;
	}
	return NULL;
}

int
records_settle(struct records *r)
{
	char file[FILE_NAME_MAX];

	if (r->old != NULL)
		(void)munmap((void *)(uintptr_t)r->old, r->old_size);
	r->old = NULL;
	fresh_name(r, file);
	return renameat(r->dir, file, r->dir, r->name) == 0 ? 0 : -errno;
}

void
records_write(struct records *r, uint32_t slot,
    const uint8_t body[RECORDS_BODY])
{
	uint8_t *record = r->map + ((size_t)slot + 1) * RECORDS_SIZE;
	uint64_t sum = checksum(body);

	REQUIRE(slot < r->count);
	record[OFFSET_USED] = 0;
	memcpy(record + OFFSET_BODY, body, RECORDS_BODY);
	memcpy(record, &sum, sizeof(sum));
	record[OFFSET_USED] = 1;
}

void
records_clear(struct records *r, uint32_t slot)
{
	REQUIRE(slot < r->count);
	r->map[((size_t)slot + 1) * RECORDS_SIZE + OFFSET_USED] = 0;
}

int
records_sync(struct records *r)
{
	return msync(r->map, r->size, MS_SYNC) == 0 ? 0 : -errno;
}

void
records_close(struct records *r)
{
	if (r->old != NULL)
		(void)munmap((void *)(uintptr_t)r->old, r->old_size);
	if (r->map != NULL)
		(void)munmap(r->map, r->size);
	r->old = NULL;
	r->map = NULL;
}
