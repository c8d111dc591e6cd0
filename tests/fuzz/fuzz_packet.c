/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Headers of a logged packet. There is no oracle; what must hold of every
 * packet is checked, and that a shorter copy tells nothing else.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/packet.h"
#include "lib/require.h"
#include "tests/fuzz/fuzz.h"

static void
check_packet(const struct packet *p, const uint8_t *data)
{
	uint8_t family = data[0] >> 4;

	AGREE(family == 4 || family == 6);
	AGREE(p->source.family == family);
	AGREE(p->destination.family == family);
	AGREE(memcmp(p->destination.bytes, data + (family == 4 ? 16 : 24),
		  addr_size(&p->destination)) == 0);
	if (p->source_port != 0 || p->destination_port != 0)
		AGREE(p->protocol != 0);
}

/* Whether every fact of the one is a fact of the other. */
static bool
tells_no_more(const struct packet *less, const struct packet *more)
{
	return addr_equal(&less->source, &more->source) &&
	    addr_equal(&less->destination, &more->destination) &&
	    (less->protocol == 0 || less->protocol == more->protocol) &&
	    (less->source_port == 0 ||
		less->source_port == more->source_port) &&
	    (less->destination_port == 0 ||
		less->destination_port == more->destination_port);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct packet whole, part;
	bool ok;

	if (size > 4096)
		return 0;
	ok = packet_read(&whole, data, size);
	if (ok)
		check_packet(&whole, data);
	for (size_t len = 0; len < size && len < 160; len++) {
		uint8_t *copy = malloc(len + 1);

		AGREE(copy != NULL);
		memcpy(copy, data, len);
		if (packet_read(&part, copy, len))
			AGREE(ok && tells_no_more(&part, &whole));
		free(copy);
	}
	return 0;
}
