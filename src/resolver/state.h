/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * state - the pins on disk, so that a restart knows what it opened and why.
 *
 * A file of fixed records, preallocated and mapped: writing a record is a
 * copy into memory that the kernel owns, so that no system call is on the
 * way of a question and a killed process loses nothing. Each record bears a
 * checksum; a torn one is as if it were not there, and what no record
 * explains is closed at the next start.
 *
 * At start the old file is read while a new one is filled beside it; only
 * once the start is settled does the new one take its place. A crash in
 * between finds the old one whole.
 *
 * Records of another boot are ignored: the kernel's sets did not survive
 * either, and CLOCK_BOOTTIME began anew.
 */
#ifndef SRC_RESOLVER_STATE_H
#define SRC_RESOLVER_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/pins.h"
#include "lib/policy.h"

#define STATE_RECORD_SIZE 512
#define STATE_BOOT_ID_MAX 40

struct state {
	int dir;
	uint8_t *map; /* of pins.new, then of pins */
	size_t size;
	uint32_t records_max;
	const uint8_t *old; /* NULL: there is none */
	size_t old_size;
	uint64_t torn; /* records of the old file that were not whole */
	char boot_id[STATE_BOOT_ID_MAX];
};

/* The directory's descriptor is borrowed. 0 or a negative errno, logged. */
int state_open(struct state *, int dir, const char *boot_id,
    uint32_t records_max);
/* Reads the next record of the old file from *index on, which is moved
 * behind it. Sandboxes that the policy no longer has are left out. False at
 * the end. */
bool state_next(struct state *, uint32_t *index, const struct policy *,
    struct pin_record *ret);
/* The new file takes the old one's place. 0 or a negative errno. */
int state_settle(struct state *);
void state_write(struct state *, uint32_t slot, const struct pin_record *,
    const char *sandbox);
void state_clear(struct state *, uint32_t slot);
/* Every record of a sandbox; NULL: of all. */
void state_clear_all(struct state *, const char *sandbox);
void state_close(struct state *);

#define STATE_OFFSET_USED    8
#define STATE_OFFSET_SANDBOX 39

/* One record to and from its octets, for state.c and its test. */
void state_record_print(uint8_t *ret, const struct pin_record *,
    const char *sandbox);
/* False: not a whole record. ret_sandbox has POLICY_NAME_MAX octets. */
bool state_record_read(const uint8_t *, struct pin_record *ret,
    char *ret_sandbox);

#endif
