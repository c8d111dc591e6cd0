/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flowlog - flows that connection tracking has ended, to the core.
 *
 * The parent has joined the group and handed the socket over. All flows of
 * the host's network namespace are told, so whose it was is looked at first.
 * Best effort: what did not fit into the socket's buffer is counted in
 * overruns and not known any more.
 */
#ifndef SRC_RESOLVER_FLOWLOG_H
#define SRC_RESOLVER_FLOWLOG_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "lib/engine.h"
#include "src/resolver/netlink.h"

#define FLOWLOG_BUFFER_SIZE (16u * 1024)

struct daemon;

struct flowlog {
	struct daemon *daemon;
	uv_poll_t poll;
	int fd;
	bool open;
	uint64_t ended; /* of all the host */
	uint64_t overruns;
	uint8_t buf[FLOWLOG_BUFFER_SIZE];
};

/* 0 or a negative errno. */
int flowlog_open(struct flowlog *, struct daemon *, int fd);
void flowlog_close(struct flowlog *);
/* False: no flow that ended, or one without addresses and ports. */
bool flowlog_read(const struct netlink_message *, struct ended_flow *ret);
/* Whether this host counts packets of flows that begin now. */
bool flowlog_is_counting(void);

#endif
