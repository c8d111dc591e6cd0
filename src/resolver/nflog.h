/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nflog - packets that the kernel rejected and logged, to the core.
 *
 * The parent has bound the group and handed the socket over; here it is only
 * read. What is lost on the way is seen by a gap in the kernel's sequence, and
 * counted.
 */
#ifndef SRC_RESOLVER_NFLOG_H
#define SRC_RESOLVER_NFLOG_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "lib/engine.h"
#include "src/resolver/netlink.h"

#define NFLOG_BUFFER_SIZE (64u * 1024)

struct daemon;

struct nflog {
	struct daemon *daemon;
	uv_poll_t poll;
	int fd;
	bool open;
	bool begun; /* the next sequence number is known */
	uint32_t next;
	uint64_t packets, lost, unreadable;
	uint8_t *buf;
};

/* One logged packet, as far as the message tells. */
struct nflog_packet {
	bool has_sequence;
	uint32_t sequence;
	bool is_reject; /* the next is complete */
	struct rejected rejected;
};

/* 0 or a negative errno. */
int nflog_open(struct nflog *, struct daemon *, int fd);
void nflog_close(struct nflog *);
/* False: no message of a logged packet. */
bool nflog_read(const struct netlink_message *, struct nflog_packet *ret);
/* How many were lost before this number. */
uint32_t nflog_gap(struct nflog *, uint32_t sequence);

#endif
