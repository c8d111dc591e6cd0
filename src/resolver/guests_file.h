/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guests_file - what the state directory keeps of guests: names of sandbox,
 * policy and interface, so that it means the same to another run whose
 * numbers and indexes are others.
 */
#ifndef SRC_RESOLVER_GUESTS_FILE_H
#define SRC_RESOLVER_GUESTS_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/resolver/guests.h"

/* One guest as a record. */
struct guest_record {
	char name[EDGE_NAME_MAX];
	char policy[EDGE_NAME_MAX]; /* of a member: "" that of its sandbox */
	char each[EDGE_NAME_MAX]; /* of whom it is a member, "": of nobody */
	char interface[SETTINGS_IFNAME_MAX]; /* "": by route */
	uint32_t ifindex;
	uint8_t source_count;
	struct addr sources[EDGE_SOURCES_MAX];
};

void guest_record_print(uint8_t ret[RECORDS_BODY], const struct guest_record *);
/* False: no such record was ever written. */
bool guest_record_read(struct guest_record *ret,
    const uint8_t body[RECORDS_BODY]);

void guests_file_write(struct daemon *, uint32_t sandbox);
void guests_file_clear(struct guests *, uint32_t sandbox);
/* Of guests.c: somebody who was attached when we stopped. */
void guests_come_back(struct daemon *, const struct edge_attach *,
    uint32_t ifindex);
/* And cannot be again. */
void guests_stay_away(struct daemon *, const char *name, const char *why);

#endif
