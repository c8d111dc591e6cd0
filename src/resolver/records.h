/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * records - a small file of fixed records in the state directory, mapped: what
 * was written is in the file, whatever becomes of this process.
 *
 * As with the pins (state.h) the old file is read while a new one is filled
 * beside it, which takes its place once the start is settled. Unlike pins,
 * what is kept here outlives a boot. Each record bears a checksum; one that is
 * torn is as if it were not there.
 */
#ifndef SRC_RESOLVER_RECORDS_H
#define SRC_RESOLVER_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORDS_SIZE 512 /* of one; its first octets are ours */
#define RECORDS_BODY (RECORDS_SIZE - 16)

struct records {
	int dir;
	const char *name; /* of the file */
	uint8_t *map; /* NULL: closed */
	size_t size;
	uint32_t count; /* how many have room */
	const uint8_t *old; /* NULL: there is none */
	size_t old_size;
	bool same_boot; /* of the old file */
	uint64_t torn;
};

/* The directory's descriptor and the name are borrowed. 0 or a negative
 * errno, logged. */
int records_open(struct records *, int dir, const char *name,
    const char *boot_id, uint32_t count);
/* The body of the next whole record of the old file from *index on, which is
 * moved behind it; NULL at the end. */
const uint8_t *records_next(struct records *, uint32_t *index);
/* The new file takes the old one's place. 0 or a negative errno. */
int records_settle(struct records *);
void records_write(struct records *, uint32_t slot,
    const uint8_t body[RECORDS_BODY]);
void records_clear(struct records *, uint32_t slot);
/* What was written is on the disk when this returns. 0 or a negative errno. */
int records_sync(struct records *);
void records_close(struct records *);

#endif
