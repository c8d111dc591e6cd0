/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet - the headers of a packet that the kernel logged: from whom, to
 * where, what.
 *
 * Pure and for hostile octets: the packet is as its sender made it, and cut
 * off where the kernel stopped copying. What cannot be read is left out,
 * never guessed. Nothing behind the ports is looked at.
 */
#ifndef LIB_PACKET_H
#define LIB_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/addr.h"

/* After which no more extension headers of IPv6 are followed. */
#define PACKET_EXTENSIONS_MAX 8

struct packet {
	struct addr source, destination;
	uint8_t protocol; /* of the payload; 0: it cannot be told */
	uint16_t source_port, destination_port; /* 0: none, or cut off */
};

/* False, and *ret untouched, where not even the addresses are there. */
bool packet_read(struct packet *ret, const uint8_t *bytes, size_t len);

#endif
