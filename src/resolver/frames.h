/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frames - messages out of a stream of octets (RFC 7766 8), however it is
 * cut into pieces.
 *
 * Two octets of length stand before each message. The buffer holds one
 * question of the longest that is read; of a longer one the rest is skipped
 * as it comes, so that it is refused as malformed like a datagram of that
 * length, and costs no more.
 */
#ifndef SRC_RESOLVER_FRAMES_H
#define SRC_RESOLVER_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#define FRAME_HEAD      2
#define FRAME_QUERY_MAX 2048

struct frames {
	size_t at, len; /* what is not taken yet, in octets */
	size_t skip; /* still to come of a message that was cut */
	uint8_t octets[FRAME_HEAD + FRAME_QUERY_MAX];
};

enum frame {
	FRAME_NONE, /* the next one is not whole yet */
	FRAME_QUERY,
	FRAME_GARBAGE /* no question can be there: the stream is over */
};

void frames_init(struct frames *);
/* Where the next octets go; *ret_size is not 0 after FRAME_NONE. */
uint8_t *frames_room(struct frames *, size_t *ret_size);
/* So many were put there. */
void frames_add(struct frames *, size_t len);
/* The next message, good until frames_room(). Shorter than a header, and
 * responses, are garbage: nothing could be replied to them. */
enum frame frames_next(struct frames *, const uint8_t **ret, size_t *ret_len);

#endif
