/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet - see packet.h.
 */
#include "lib/packet.h"

#include "lib/cursor.h"

#define HEADER4_MIN   20
#define FRAGMENT_MASK 0x1fff /* IPv4: offset of a fragment */

/* Numbers of protocols and of extension headers that IANA gives. */
enum protocol_number {
	NUMBER_HOP_BY_HOP = 0,
	NUMBER_TCP = 6,
	NUMBER_UDP = 17,
	NUMBER_DCCP = 33,
	NUMBER_ROUTING = 43,
	NUMBER_FRAGMENT = 44,
	NUMBER_AH = 51,
	NUMBER_OPTIONS = 60,
	NUMBER_SCTP = 132,
	NUMBER_MOBILITY = 135,
	NUMBER_UDP_LITE = 136,
	NUMBER_HIP = 139,
	NUMBER_SHIM6 = 140
};

static bool
has_ports(uint8_t protocol)
{
	return protocol == NUMBER_TCP || protocol == NUMBER_UDP ||
	    protocol == NUMBER_DCCP || protocol == NUMBER_SCTP ||
	    protocol == NUMBER_UDP_LITE;
}

static void
read_ports(struct cursor *c, struct packet *p)
{
	uint16_t from, to;

	if (!has_ports(p->protocol))
		return;
	from = cursor_u16(c);
	to = cursor_u16(c);
	if (c->error)
		return;
	p->source_port = from;
	p->destination_port = to;
}

static bool
read_v4(struct packet *p, struct cursor *c)
{
	uint8_t source[4], destination[4];
	size_t header = (size_t)(cursor_u8(c) & 0x0f) * 4;
	uint16_t fragment;

	cursor_skip(c, 5);
	fragment = cursor_u16(c) & FRAGMENT_MASK;
	cursor_skip(c, 1);
	p->protocol = cursor_u8(c);
	cursor_skip(c, 2);
	cursor_bytes(c, source, sizeof(source));
	cursor_bytes(c, destination, sizeof(destination));
	if (c->error || header < HEADER4_MIN)
		return false;
	p->source = addr_v4(source);
	p->destination = addr_v4(destination);
	/* Only the first fragment has a header behind it. */
	if (fragment != 0)
		return true;
	cursor_skip(c, header - HEADER4_MIN);
	read_ports(c, p);
	return true;
}

/* Whether another header of IPv6 follows what `next` announces. */
static bool
is_extension(uint8_t next)
{
	return next == NUMBER_HOP_BY_HOP || next == NUMBER_ROUTING ||
	    next == NUMBER_FRAGMENT || next == NUMBER_AH ||
	    next == NUMBER_OPTIONS || next == NUMBER_MOBILITY ||
	    next == NUMBER_HIP || next == NUMBER_SHIM6;
}

/* Moves over one extension header; *ret_rest: what follows it is the middle
 * of something. */
static uint8_t
skip_extension(struct cursor *c, uint8_t kind, bool *ret_rest)
{
	uint8_t next = cursor_u8(c);
	uint8_t len = cursor_u8(c);

	switch (kind) {
	case NUMBER_FRAGMENT:
		*ret_rest = (cursor_u16(c) & 0xfff8) != 0;
		cursor_skip(c, 4);
		break;
	case NUMBER_AH:
		cursor_skip(c, ((size_t)len + 2) * 4 - 2);
		break;
	default:
		cursor_skip(c, ((size_t)len + 1) * 8 - 2);
		break;
	}
	return next;
}

static bool
read_v6(struct packet *p, struct cursor *c)
{
	uint8_t source[16], destination[16];
	bool rest = false;
	uint8_t next;

	cursor_skip(c, 6);
	next = cursor_u8(c);
	cursor_skip(c, 1);
	cursor_bytes(c, source, sizeof(source));
	cursor_bytes(c, destination, sizeof(destination));
	if (c->error)
		return false;
	p->source = addr_v6(source);
	p->destination = addr_v6(destination);
	for (int i = 0; i < PACKET_EXTENSIONS_MAX && !rest; i++) {
		if (!is_extension(next))
			break;
		next = skip_extension(c, next, &rest);
		if (c->error)
			return true;
	}
	if (is_extension(next))
		return true;
	p->protocol = next;
	if (!rest)
		read_ports(c, p);
	return true;
}

bool
packet_read(struct packet *ret, const uint8_t *bytes, size_t len)
{
	struct cursor c = cursor_read_of(bytes, len);
	struct packet p = { .protocol = 0 };
	uint8_t version = cursor_u8(&c) >> 4;

	cursor_seek(&c, 0);
	if (version == 4 ? !read_v4(&p, &c) : version != 6 || !read_v6(&p, &c))
		return false;
	*ret = p;
	return true;
}
