/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stream - one client connection; what listen_tcp.c leaves to stream.c.
 *
 * stream.c also defines streams_reply(), _flush(), _cut(), _deadline() and
 * _expire() of listen_tcp.h.
 */
#ifndef SRC_RESOLVER_STREAM_H
#define SRC_RESOLVER_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "src/resolver/frames.h"
#include "src/resolver/listen_tcp.h"

#define STREAM_OUT_MAX (16 * 1024)
#define STREAM_NOBODY  UINT32_MAX /* whose a free slot is */

struct stream {
	struct streams *streams;
	uv_poll_t poll;
	int fd;
	int events; /* that the loop is asked for */
	uint64_t id;
	struct client client;
	bool closing;
	bool ended; /* he sends no more, but may wait for replies */
	bool held; /* a question may be in the buffer that is not taken yet */
	bool is_unsent;
	uint32_t next_unsent;
	uint32_t in_flight;
	size_t out_len;
	struct frames in;
	uint8_t out[STREAM_OUT_MAX];
};

/* Takes the descriptor over, but not when it fails: negative errno. */
int stream_begin(struct streams *, int fd, const struct client *);
void stream_close(struct stream *);
/* What the kernel still has for the client goes when it is closed. */
void stream_set_reset(int fd);
/* Of listen_tcp.c: accepts again, if that was paused. */
void streams_resume(struct streams *);

#endif
