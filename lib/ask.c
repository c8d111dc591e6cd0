/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ask - the question that we send upstream, built anew from a parsed name.
 */
#include "lib/ask.h"

#include "lib/question.h"
#include "lib/require.h"

#define PADDING_BLOCK 128 /* RFC 8467 4.1 */
#define OPTION_HEADER 4

/* Header, question, OPT and padding of the longest name. */
_Static_assert(DNS_HEADER_SIZE + DNS_NAME_MAX + 4 + 11 + OPTION_HEADER +
	    PADDING_BLOCK <=
	ASK_SIZE_MAX,
    "the longest ask must fit");

void
ask_build(struct ask *ret, const struct dname *name, uint16_t type, bool stream,
    struct rng *rng)
{
	ret->name = *name;
	ret->type = type;
	ret->id = (uint16_t)rng_u32(rng);
	ret->stream = stream;
}

/* The OPT record with as much padding as makes the message whole blocks. */
static void
put_opt(struct cursor *cursor)
{
	cursor_put_u8(cursor, 0);
	cursor_put_u16(cursor, DNS_TYPE_OPT);
	cursor_put_u16(cursor, DNS_UDP_OURS);
	cursor_put_u32(cursor, 0);

	size_t len = cursor->pos + 2 + OPTION_HEADER;
	size_t over = len % PADDING_BLOCK;
	size_t padding = over == 0 ? 0 : PADDING_BLOCK - over;
	static const uint8_t zeroes[PADDING_BLOCK];

	cursor_put_u16(cursor, (uint16_t)(OPTION_HEADER + padding));
	cursor_put_u16(cursor, DNS_OPTION_PADDING);
	cursor_put_u16(cursor, (uint16_t)padding);
	cursor_put_bytes(cursor, zeroes, padding);
}

size_t
ask_print(const struct ask *ask, uint8_t *buf, size_t size)
{
	struct cursor cursor = cursor_write_of(buf, size);

	cursor_put_u16(&cursor, ask->id);
	cursor_put_u16(&cursor, DNS_FLAG_RD);
	cursor_put_u16(&cursor, 1);
	cursor_put_u16(&cursor, 0);
	cursor_put_u16(&cursor, 0);
	cursor_put_u16(&cursor, 1);
	dname_put(&cursor, &ask->name);
	cursor_put_u16(&cursor, ask->type);
	cursor_put_u16(&cursor, DNS_CLASS_IN);
	put_opt(&cursor);
	REQUIRE(!cursor.error);
	return cursor.pos;
}

bool
ask_matches(const struct ask *ask, const uint8_t *wire, size_t len)
{
	struct cursor cursor = cursor_read_of(wire, len);
	struct dname name;

	uint16_t id = cursor_u16(&cursor);
	uint16_t flags = cursor_u16(&cursor);
	uint16_t questions = cursor_u16(&cursor);
	cursor_skip(&cursor, 6);
	if (cursor.error || id != ask->id)
		return false;
	if ((flags & (DNS_FLAG_QR | DNS_FLAG_OPCODE)) != DNS_FLAG_QR)
		return false;
	if (questions == 0)
		return (flags & DNS_FLAG_RCODE) != DNS_RCODE_NOERROR;
	if (questions != 1 || !dname_read(&cursor, false, &name))
		return false;

	uint16_t type = cursor_u16(&cursor);
	uint16_t class = cursor_u16(&cursor);
	return !cursor.error && type == ask->type && class == DNS_CLASS_IN &&
	    dname_equal(&name, &ask->name);
}
