/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * state - see state.h. The file begins with a header of one record's size:
 * magic, record size, boot id.
 */
#include "config.h"

#include "src/resolver/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/require.h"
#include "src/resolver/log.h"

#define FILE_NAME  "pins"
#define FILE_FRESH "pins.new"
#define FILE_MAGIC "namewall pins 1 "

_Static_assert(STATE_RECORD_SIZE >= 128, "the header fits a record");

static void
print_header(uint8_t *ret, const char *boot_id)
{
	char text[STATE_RECORD_SIZE] = { 0 };

	(void)snprintf(text, sizeof(text), FILE_MAGIC "%d %s\n",
	    STATE_RECORD_SIZE, boot_id);
	memcpy(ret, text, sizeof(text));
}

/* Maps the file of the last run if it is one of this boot. */
static void
open_old(struct state *s)
{
	uint8_t header[STATE_RECORD_SIZE];
	int fd = openat(s->dir, FILE_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	void *map;

	if (fd < 0)
		return;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    st.st_size < STATE_RECORD_SIZE) {
		(void)close(fd);
		return;
	}
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	(void)close(fd);
	if (map == MAP_FAILED)
		return;
	print_header(header, s->boot_id);
	if (memcmp(map, header, sizeof(header)) != 0) {
		log_info("state",
		    "the pins on disk are of another boot or "
		    "version: ignored");
		(void)munmap(map, (size_t)st.st_size);
		return;
	}
	s->old = map;
	s->old_size = (size_t)st.st_size;
}

static int
open_fresh(struct state *s)
{
	int fd = openat(s->dir, FILE_FRESH,
	    O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	void *map;
	int r;

	if (fd < 0)
		return -errno;
	r = posix_fallocate(fd, 0, (off_t)s->size);
	if (r != 0) {
		(void)close(fd);
		return -r;
	}
	map = mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	r = map == MAP_FAILED ? -errno : 0;
	(void)close(fd);
	if (r != 0)
		return r;
	s->map = map;
	print_header(s->map, s->boot_id);
	return 0;
}

int
state_open(struct state *s, int dir, const char *boot_id, uint32_t records_max)
{
	int r;

	*s = (struct state){ .dir = dir,
		.records_max = records_max,
		.size = ((size_t)records_max + 1) * STATE_RECORD_SIZE };
	(void)snprintf(s->boot_id, sizeof(s->boot_id), "%s", boot_id);
	r = open_fresh(s);
	if (r != 0) {
		log_error("state", "cannot make %s in the state directory: %s",
		    FILE_FRESH, strerror(-r));
		return r;
	}
	open_old(s);
	return 0;
}

bool
state_next(struct state *s, uint32_t *index, const struct policy *policy,
    struct pin_record *ret)
{
	char sandbox[POLICY_NAME_MAX];

	while (s->old != NULL) {
		size_t at = ((size_t)*index + 1) * STATE_RECORD_SIZE;
		const uint8_t *octets = s->old + at;

		if (at + STATE_RECORD_SIZE > s->old_size)
			return false;
		(*index)++;
		if (octets[STATE_OFFSET_USED] == 0)
			continue;
		if (!state_record_read(octets, ret, sandbox)) {
			s->torn++;
			continue;
		}
		ret->element.sandbox = policy_sandbox_by_name(policy, sandbox);
		if (ret->element.sandbox != 0)
			return true;
	}
	return false;
}

int
state_settle(struct state *s)
{
	if (s->old != NULL)
		(void)munmap((void *)(uintptr_t)s->old, s->old_size);
	s->old = NULL;
	if (renameat(s->dir, FILE_FRESH, s->dir, FILE_NAME) != 0)
		return -errno;
	return 0;
}

void
state_write(struct state *s, uint32_t slot, const struct pin_record *record,
    const char *sandbox)
{
	REQUIRE(slot < s->records_max);
	state_record_print(s->map + ((size_t)slot + 1) * STATE_RECORD_SIZE,
	    record, sandbox);
}

void
state_clear(struct state *s, uint32_t slot)
{
	REQUIRE(slot < s->records_max);
	/* The octet that says "in use" is enough. */
	s->map[((size_t)slot + 1) * STATE_RECORD_SIZE + STATE_OFFSET_USED] = 0;
}

void
state_clear_all(struct state *s, const char *sandbox)
{
	for (uint32_t slot = 0; slot < s->records_max; slot++) {
		uint8_t *octets =
		    s->map + ((size_t)slot + 1) * STATE_RECORD_SIZE;
		const char *name = (const char *)octets + STATE_OFFSET_SANDBOX;

		if (octets[STATE_OFFSET_USED] != 0 &&
		    (sandbox == NULL ||
			strncmp(name, sandbox, POLICY_NAME_MAX) == 0))
			octets[STATE_OFFSET_USED] = 0;
	}
}

void
state_close(struct state *s)
{
	if (s->old != NULL)
		(void)munmap((void *)(uintptr_t)s->old, s->old_size);
	if (s->map != NULL)
		(void)munmap(s->map, s->size);
	s->old = NULL;
	s->map = NULL;
}
