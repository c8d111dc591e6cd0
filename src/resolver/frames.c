/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frames - see frames.h.
 */
#include "config.h"

#include "src/resolver/frames.h"

#include <string.h>

#include "lib/dns.h"
#include "lib/require.h"

void
frames_init(struct frames *f)
{
	f->at = 0;
	f->len = 0;
	f->skip = 0;
}

uint8_t *
frames_room(struct frames *f, size_t *ret_size)
{
	if (f->at > 0) {
		f->len -= f->at;
		memmove(f->octets, f->octets + f->at, f->len);
		f->at = 0;
	}
	*ret_size = sizeof(f->octets) - f->len;
	return f->octets + f->len;
}

void
frames_add(struct frames *f, size_t len)
{
	REQUIRE(len <= sizeof(f->octets) - f->len);
	f->len += len;
}

static void
skip(struct frames *f)
{
	size_t here = f->len - f->at;

	if (here > f->skip)
		here = f->skip;
	f->at += here;
	f->skip -= here;
}

static enum frame
judge(const uint8_t *message)
{
	uint16_t flags = (uint16_t)(message[DNS_OFFSET_FLAGS] << 8);

	return (flags & DNS_FLAG_QR) != 0 ? FRAME_GARBAGE : FRAME_QUERY;
}

enum frame
frames_next(struct frames *f, const uint8_t **ret, size_t *ret_len)
{
	const uint8_t *frame;
	size_t here, size, kept;

	skip(f);
	frame = f->octets + f->at;
	here = f->len - f->at;
	if (here < FRAME_HEAD)
		return FRAME_NONE;
	size = (size_t)(frame[0] << 8 | frame[1]);
	if (size < DNS_HEADER_SIZE)
		return FRAME_GARBAGE;
	kept = size < FRAME_QUERY_MAX ? size : FRAME_QUERY_MAX;
	if (here < FRAME_HEAD + kept)
		return FRAME_NONE;
	f->at += FRAME_HEAD + kept;
	f->skip = size - kept;
	*ret = frame + FRAME_HEAD;
	*ret_len = kept;
	return judge(*ret);
}
