/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire - messages made by hand for the tests of what reads and writes them.
 * Knows nothing of lib/, and makes any nonsense that it is asked for.
 */
#ifndef TESTS_UNIT_WIRE_H
#define TESTS_UNIT_WIRE_H

#include <stddef.h>
#include <stdint.h>

struct wire {
	size_t len;
	unsigned section; /* where records are counted: 1 … 3, at first 1 */
	uint8_t buf[65535];
};

void wire_start(struct wire *, uint16_t id, uint16_t flags);
/* Sets a count of the header: 0 question … 3 additional. */
void wire_count(struct wire *, unsigned section, uint16_t count);
void wire_u8(struct wire *, unsigned value);
void wire_u16(struct wire *, unsigned value);
void wire_u32(struct wire *, uint32_t value);
void wire_bytes(struct wire *, const void *, size_t);
/* Labels with dots between, spelling kept; "" is the root. */
void wire_name(struct wire *, const char *text);
void wire_pointer(struct wire *, size_t target);
/* The one question, class IN, counted. */
void wire_question(struct wire *, const char *name, uint16_t type);
/* A record with its data, class IN, counted. */
void wire_record(struct wire *, const char *owner, uint16_t type, uint32_t ttl,
    const void *data, size_t len);
/* A record whose data is a name behind `skip` zero octets. */
void wire_record_name(struct wire *, const char *owner, uint16_t type,
    uint32_t ttl, size_t skip, const char *name);
void wire_opt(struct wire *, uint16_t udp_size, uint32_t ttl,
    const void *options, size_t len);
/* The 16 bits at an offset. */
uint16_t wire_at(const uint8_t *buf, size_t offset);

#endif
