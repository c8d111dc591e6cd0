/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flows - the host's connection tracking: looked through and cut.
 *
 * One dump answers everything that is asked at a time. Every entry is tested
 * here and not by the kernel, whose filter is inverted for IPv6 addresses.
 * An entry is deleted by the tuple and the id of the dump, so that a
 * successor with the same tuple is spared.
 */
#ifndef SRC_HELPER_FLOWS_H
#define SRC_HELPER_FLOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/addr.h"

struct mnl_socket;

/* The original direction is that of the packet that was seen first, which
 * need not be the sandbox's. */
struct flow {
	struct addr from, to;
	struct addr back_from, back_to; /* the other direction's */
	uint8_t protocol;
	uint16_t from_port, to_port;
	uint16_t back_from_port;
	uint64_t packets; /* both ways; 0 unless the host counts them */
};

struct flows {
	struct mnl_socket *dump, *destroy;
	uint32_t seq;
	uint8_t *buf, *messages;
	uint32_t messages_len;
};

struct flows_cut {
	unsigned int count;
	uint64_t packets;
};

/* Called for each entry; true: cut it (flows_cut), or go on (flows_walk). */
typedef bool (*flow_test)(const struct flow *, void *data);

int flows_open(struct flows *ret);
void flows_close(struct flows *);
/* Shows every entry. 0 or negative errno. */
int flows_walk(struct flows *, flow_test seen, void *data);
/* Deletes every entry that the test dooms. */
int flows_cut(struct flows *, flow_test doomed, void *data,
    struct flows_cut *ret);

#endif
