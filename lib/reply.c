/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reply - the response to a client, built from the question's own spelling
 * and from vetted values.
 *
 * The room for the OPT record is set aside first; records that do not fit
 * before it are left out.
 */
#include "lib/reply.h"

#include "lib/require.h"

#define OPT_SIZE            11
#define EDE_HEADER          6 /* option code, its length, the error's code */
#define TEXT_MAX            120
#define RECORD_HEADER       12
#define POINTER_TO_QUESTION (0xc000 | DNS_HEADER_SIZE)

/* The longest denial fits into what everybody can take: nothing of it ever
 * has to go. */
_Static_assert(DNS_HEADER_SIZE + DNS_NAME_MAX + 4 + 65 + OPT_SIZE + EDE_HEADER +
	    TEXT_MAX <=
	DNS_UDP_MIN,
    "the longest denial must fit");
_Static_assert(DNS_HEADER_SIZE + DNS_NAME_MAX + 4 +
	    ANSWER_ADDRS_MAX * (RECORD_HEADER + 4) + OPT_SIZE <=
	DNS_UDP_MIN,
    "twelve IPv4 addresses must fit for the longest name");

/* How much the client takes: the limit for everything but the OPT. */
static size_t
limit_of(const struct question *question, size_t size)
{
	size_t limit = question->udp_size;

	REQUIRE(size >= DNS_UDP_MIN);
	if (limit < DNS_UDP_MIN)
		limit = DNS_UDP_MIN;
	if (limit > DNS_UDP_OURS)
		limit = DNS_UDP_OURS;
	if (question->over_tcp)
		limit = DNS_MESSAGE_MAX;
	return limit < size ? limit : size;
}

static void
put_head(struct cursor *cursor, const struct question *question, uint8_t rcode)
{
	uint16_t kept = DNS_FLAG_OPCODE | DNS_FLAG_RD | DNS_FLAG_CD;
	uint16_t flags = (uint16_t)((question->flags & kept) | DNS_FLAG_QR |
	    DNS_FLAG_RA | rcode);

	cursor_put_u16(cursor, question->id);
	cursor_put_u16(cursor, flags);
	cursor_put_u16(cursor, question->has_name ? 1 : 0);
	cursor_put_u16(cursor, 0);
	cursor_put_u16(cursor, 0);
	cursor_put_u16(cursor, question->edns ? 1 : 0);
	if (!question->has_name)
		return;
	cursor_put_bytes(cursor, question->spelling, question->name.len);
	cursor_put_u16(cursor, question->type);
	cursor_put_u16(cursor, question->class);
}

/* The OPT record up to its data; DO stays clear, we serve no signatures. */
static void
put_opt(struct cursor *cursor, bool badvers, size_t data_len)
{
	uint32_t extended = badvers ? DNS_RCODE_BADVERS >> 4 : 0;

	cursor_put_u8(cursor, 0);
	cursor_put_u16(cursor, DNS_TYPE_OPT);
	cursor_put_u16(cursor, DNS_UDP_OURS);
	cursor_put_u32(cursor, extended << 24);
	cursor_put_u16(cursor, (uint16_t)data_len);
}

/* What is the same in every record of a reply: all but the data. */
static void
print_record_header(uint8_t buf[RECORD_HEADER], uint16_t type, uint32_t ttl_s,
    uint16_t len)
{
	struct cursor cursor = cursor_write_of(buf, RECORD_HEADER);

	cursor_put_u16(&cursor, POINTER_TO_QUESTION);
	cursor_put_u16(&cursor, type);
	cursor_put_u16(&cursor, DNS_CLASS_IN);
	cursor_put_u32(&cursor, ttl_s);
	cursor_put_u16(&cursor, len);
}

static uint8_t
put_addrs(struct cursor *cursor, const struct answer *answer, uint32_t ttl_s)
{
	uint8_t headers[2][RECORD_HEADER];
	uint8_t count = 0;

	print_record_header(headers[0], DNS_TYPE_A, ttl_s, 4);
	print_record_header(headers[1], DNS_TYPE_AAAA, ttl_s, 16);
	for (unsigned i = 0; i < answer->addr_count; i++) {
		const struct addr *addr = &answer->addrs[i];
		size_t size = addr->family == 4 ? 4 : 16;

		if (cursor_left(cursor) < RECORD_HEADER + size)
			break;
		cursor_put_bytes(cursor, headers[addr->family == 4 ? 0 : 1],
		    RECORD_HEADER);
		cursor_put_bytes(cursor, addr->bytes, size);
		count++;
	}
	return count;
}

static uint8_t
put_records(struct cursor *cursor, const struct answer *answer, uint32_t ttl_s)
{
	uint8_t header[RECORD_HEADER];
	uint8_t count = 0;

	for (; count < answer->record_count; count++) {
		const struct answer_record *record = &answer->records[count];

		if (cursor_left(cursor) < (size_t)RECORD_HEADER + record->len)
			break;
		print_record_header(header, answer->type, ttl_s, record->len);
		cursor_put_bytes(cursor, header, RECORD_HEADER);
		cursor_put_bytes(cursor, answer->data + record->offset,
		    record->len);
	}
	return count;
}

/* A set of records that is not whole is only for those who ask again. */
static void
set_truncated(uint8_t *buf)
{
	buf[DNS_OFFSET_FLAGS] |= DNS_FLAG_TC >> 8;
}

size_t
reply_build(uint8_t *buf, size_t size, const struct question *question,
    const struct answer *answer, uint32_t ttl_s, uint8_t *ret_addrs)
{
	size_t limit = limit_of(question, size);
	size_t opt = question->edns ? OPT_SIZE : 0;
	struct cursor cursor = cursor_write_of(buf, limit - opt);

	REQUIRE(question->has_header && question->has_name);
	put_head(&cursor, question, DNS_RCODE_NOERROR);

	uint8_t addrs = put_addrs(&cursor, answer, ttl_s);
	uint8_t records = put_records(&cursor, answer, ttl_s);
	cursor_patch_u16(&cursor, DNS_OFFSET_ANCOUNT,
	    (uint16_t)(addrs + records));
	if (records < answer->record_count && !question->over_tcp)
		set_truncated(buf);
	if (question->edns) {
		cursor.size = limit;
		put_opt(&cursor, false, 0);
	}
	REQUIRE(!cursor.error);
	*ret_addrs = addrs;
	return cursor.pos;
}

/* The one SOA of all denials: an owner that is above every name, so that
 * caches in a sandbox keep the denial for as long as we say. */
static void
put_soa(struct cursor *cursor, uint32_t negative_ttl_s)
{
	static const uint8_t names[] = "\010namewall\007invalid\000"
				       "\006nobody\007invalid";

	cursor_put_u8(cursor, 0);
	cursor_put_u16(cursor, DNS_TYPE_SOA);
	cursor_put_u16(cursor, DNS_CLASS_IN);
	cursor_put_u32(cursor, negative_ttl_s);
	cursor_put_u16(cursor, (uint16_t)(sizeof(names) + 5 * 4));
	cursor_put_bytes(cursor, names, sizeof(names));
	cursor_put_u32(cursor, 1); /* serial */
	cursor_put_u32(cursor, 3600); /* refresh, retry, expire: no secondary */
	cursor_put_u32(cursor, 600);
	cursor_put_u32(cursor, 86400);
	cursor_put_u32(cursor, negative_ttl_s); /* minimum */
}

/* Octets of a text that are sent: not too many, and no half character. */
static size_t
text_len(const char *text)
{
	size_t len = 0;

	while (len < TEXT_MAX && text[len] != '\0')
		len++;
	if (len == TEXT_MAX)
		while (len > 0 && ((uint8_t)text[len] & 0xc0) == 0x80)
			len--;
	return len;
}

static void
put_opt_with_error(struct cursor *cursor, bool badvers, uint16_t code,
    const char *text)
{
	size_t len = text_len(text);

	put_opt(cursor, badvers, EDE_HEADER + len);
	cursor_put_u16(cursor, DNS_OPTION_EDE);
	cursor_put_u16(cursor, (uint16_t)(len + 2));
	cursor_put_u16(cursor, code);
	cursor_put_bytes(cursor, text, len);
}

size_t
reply_deny(uint8_t *buf, size_t size, const struct question *question,
    const struct denial_form *form, uint32_t negative_ttl_s, enum tell tell)
{
	struct cursor cursor = cursor_write_of(buf, limit_of(question, size));

	if (!question->has_header)
		return 0;
	put_head(&cursor, question, form->rcode);
	if (form->soa && question->has_name) {
		put_soa(&cursor, negative_ttl_s);
		cursor_patch_u16(&cursor, DNS_OFFSET_NSCOUNT, 1);
	}
	bool mute = form->ede == DNS_EDE_NONE || tell == TELL_NOTHING;
	if (question->edns && mute)
		put_opt(&cursor, form->badvers, 0);
	else if (question->edns)
		put_opt_with_error(&cursor, form->badvers, form->ede,
		    tell == TELL_FULL ? form->text : "");
	REQUIRE(!cursor.error);
	return cursor.pos;
}
