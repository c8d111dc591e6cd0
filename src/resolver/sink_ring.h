/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sink_ring - how a line lies in the ring between loop and writer.
 *
 * A record is contiguous: a header, then the line, padded to the header's
 * size. A record that would not fit before the end of the ring begins at its
 * start instead, behind a header with `skip`.
 */
#ifndef SRC_RESOLVER_SINK_RING_H
#define SRC_RESOLVER_SINK_RING_H

#include <stdint.h>

struct sink_record {
	uint32_t size; /* of the whole record */
	uint16_t len; /* of the line */
	uint8_t mask; /* a bit for each sink */
	uint8_t skip; /* nothing here, go on at the start */
};

_Static_assert(sizeof(struct sink_record) == 8, "records are padded to 8");

#endif
