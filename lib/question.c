/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * question - a client's query, parsed strictly.
 *
 * Every octet of the message is accounted for: what is not the header, the
 * one question or the one OPT makes it malformed. Options of the OPT must be
 * whole, but none of them is looked into.
 */
#include "lib/question.h"

#include <string.h>

/* Everything that a reply may be built from has a value in any case. */
static void
clear(struct question *ret)
{
	dname_root(&ret->name);
	ret->spelling[0] = 0;
	ret->id = 0;
	ret->flags = 0;
	ret->type = 0;
	ret->class = 0;
	ret->udp_size = DNS_UDP_MIN;
	ret->edns_version = 0;
	ret->has_header = false;
	ret->has_name = false;
	ret->edns = false;
	ret->dnssec_ok = false;
	ret->over_tcp = false;
}

/* Without compression the name is as long in the message as it is here. */
static bool
read_name(struct cursor *cursor, struct question *ret)
{
	size_t begin = cursor->pos;

	if (!dname_read(cursor, false, &ret->name))
		return false;
	memcpy(ret->spelling, cursor->base + begin, ret->name.len);
	ret->type = cursor_u16(cursor);
	ret->class = cursor_u16(cursor);
	ret->has_name = !cursor->error;
	return ret->has_name;
}

static bool
options_are_whole(struct cursor *cursor, size_t len)
{
	while (len >= 4) {
		cursor_skip(cursor, 2);
		size_t option_len = cursor_u16(cursor);
		if (option_len > len - 4)
			return false;
		cursor_skip(cursor, option_len);
		len -= 4 + option_len;
	}
	return len == 0;
}

/*
 * The OPT record (RFC 6891 6.1.2). What an unknown version means by its data
 * is not for us to judge, only where it ends.
 */
static bool
read_opt(struct cursor *cursor, struct question *ret)
{
	uint8_t owner = cursor_u8(cursor);
	uint16_t type = cursor_u16(cursor);
	uint16_t udp_size = cursor_u16(cursor);
	uint32_t ttl = cursor_u32(cursor);
	uint16_t len = cursor_u16(cursor);

	if (cursor->error || owner != 0 || type != DNS_TYPE_OPT ||
	    len != cursor_left(cursor))
		return false;
	ret->edns = true;
	ret->edns_version = (uint8_t)(ttl >> 16);
	ret->dnssec_ok = (ttl & 0x8000) != 0;
	if (udp_size > DNS_UDP_MIN)
		ret->udp_size = udp_size;
	return ret->edns_version != 0 || options_are_whole(cursor, len);
}

static enum denial
judge(const struct question *question)
{
	switch (question->type) {
	case DNS_TYPE_OPT:
	case DNS_TYPE_TKEY:
	case DNS_TYPE_TSIG:
		return DENIAL_MALFORMED;
	}
	if (question->edns_version != 0)
		return DENIAL_BAD_VERSION;
	if (question->class != DNS_CLASS_IN)
		return DENIAL_CLASS;
	if (question->type == DNS_TYPE_AXFR || question->type == DNS_TYPE_IXFR)
		return DENIAL_TRANSFER;
	return DENIAL_NONE;
}

enum denial
question_parse(struct question *ret, const uint8_t *wire, size_t len)
{
	struct cursor cursor = cursor_read_of(wire, len);

	clear(ret);
	if (len < DNS_HEADER_SIZE)
		return DENIAL_DROP;
	ret->id = cursor_u16(&cursor);
	ret->flags = cursor_u16(&cursor);
	/* An answer to an answer could go on for ever. */
	if ((ret->flags & DNS_FLAG_QR) != 0)
		return DENIAL_DROP;
	ret->has_header = true;
	if ((ret->flags & DNS_FLAG_OPCODE) != DNS_OPCODE_QUERY)
		return DENIAL_OPCODE;

	uint16_t questions = cursor_u16(&cursor);
	uint16_t answers = cursor_u16(&cursor);
	uint16_t authorities = cursor_u16(&cursor);
	uint16_t additionals = cursor_u16(&cursor);
	if (questions != 1 || !read_name(&cursor, ret))
		return DENIAL_MALFORMED;
	if (answers != 0 || authorities != 0 || additionals > 1)
		return DENIAL_MALFORMED;
	if (additionals == 1 && !read_opt(&cursor, ret))
		return DENIAL_MALFORMED;
	if (additionals == 0 && cursor_left(&cursor) != 0)
		return DENIAL_MALFORMED;
	return judge(ret);
}
