/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One table says which fields each message has. A field that a message does
 * not have must be zero, so each message has exactly one encoding.
 */
#include "lib/helper_msg.h"

#include "lib/cursor.h"
#include "lib/require.h"

#define PADDING 8

/* Fields beside magic, version, op and id. */
enum field {
	FIELD_SANDBOX = 1,
	FIELD_STATUS = 2,
	FIELD_LIFETIME = 4, /* may be there */
	FIELD_LIFE = 8, /* must be there, over 0 */
	FIELD_ELEMENT = 16, /* address, protocol, port */
	FIELD_IFINDEX = 32,
	FIELD_COUNT = 64,
	FIELD_ID = 128,
	FIELD_ADDRESS = 256, /* alone */
	FIELD_RULE = 512
};

#define ELEMENT  (FIELD_ID | FIELD_SANDBOX | FIELD_ELEMENT)
#define SANDBOX  (FIELD_ID | FIELD_SANDBOX)
#define RESPONSE (FIELD_ID | FIELD_STATUS | FIELD_COUNT)

/* The fields of a message; 0 for an op that is none. */
static unsigned
fields_of(uint8_t op)
{
	switch (op) {
	case HELPER_HELLO:
	case HELPER_PARSED:
		return FIELD_ID | FIELD_COUNT;
	case HELPER_PIN:
		return ELEMENT | FIELD_LIFETIME | FIELD_LIFE;
	case HELPER_RECALL:
		return ELEMENT | FIELD_LIFETIME;
	case HELPER_UNPIN:
	case HELPER_FLOWS:
		return ELEMENT;
	case HELPER_FLUSH:
	case HELPER_QUARANTINE:
	case HELPER_RELEASE:
	case HELPER_DETACH:
		return SANDBOX;
	case HELPER_SOURCE:
		return SANDBOX | FIELD_ADDRESS;
	case HELPER_ATTACH:
		return SANDBOX | FIELD_LIFETIME | FIELD_IFINDEX | FIELD_COUNT;
	case HELPER_STATS:
	case HELPER_ASSIGN:
		return SANDBOX | FIELD_COUNT;
	case HELPER_UPLOAD:
		return SANDBOX | FIELD_ADDRESS | FIELD_LIFETIME | FIELD_RULE;
	case HELPER_SPENT:
		return SANDBOX | FIELD_COUNT | FIELD_RULE;
	case HELPER_SETTLE:
	case HELPER_ASK_RELOAD:
	case HELPER_SWITCHED:
		return FIELD_ID;
	case HELPER_HELLO + 1:
	case HELPER_PIN + 1:
	case HELPER_RECALL + 1:
	case HELPER_UNPIN + 1:
	case HELPER_FLOWS + 1:
	case HELPER_FLUSH + 1:
	case HELPER_QUARANTINE + 1:
	case HELPER_RELEASE + 1:
	case HELPER_STATS + 1:
	case HELPER_SETTLE + 1:
	case HELPER_ASK_RELOAD + 1:
	case HELPER_PARSED + 1:
	case HELPER_SWITCHED + 1:
	case HELPER_SOURCE + 1:
	case HELPER_DETACH + 1:
	case HELPER_ASSIGN + 1:
	case HELPER_UPLOAD + 1:
	case HELPER_SPENT + 1:
		return RESPONSE;
	case HELPER_ATTACH + 1:
		return RESPONSE | FIELD_IFINDEX;
	case HELPER_RESET:
		return FIELD_IFINDEX | FIELD_COUNT;
	case HELPER_RELOAD:
		return FIELD_IFINDEX | FIELD_COUNT;
	case HELPER_REOPEN:
	case HELPER_REFUSED:
	case HELPER_STOP:
	case HELPER_ADVICE:
		return FIELD_COUNT;
	case HELPER_USED:
		return FIELD_SANDBOX | FIELD_COUNT | FIELD_RULE;
	case HELPER_BOUND:
		return FIELD_SANDBOX | FIELD_IFINDEX | FIELD_COUNT;
	default:
		return 0;
	}
}

static void
put_u64(struct cursor *c, uint64_t number)
{
	cursor_put_u32_le(c, (uint32_t)number);
	cursor_put_u32_le(c, (uint32_t)(number >> 32));
}

static uint64_t
read_u64(struct cursor *c)
{
	uint64_t low = cursor_u32_le(c);

	return low | (uint64_t)cursor_u32_le(c) << 32;
}

void
helper_msg_encode(uint8_t *ret, const struct helper_msg *m)
{
	static const uint8_t padding[PADDING];
	struct cursor c = cursor_write_of(ret, HELPER_MSG_SIZE);
	unsigned fields = fields_of(m->op);

	REQUIRE(fields != 0);
	cursor_put_u16_le(&c, HELPER_MSG_MAGIC);
	cursor_put_u8(&c, HELPER_MSG_VERSION);
	cursor_put_u8(&c, m->op);
	cursor_put_u32_le(&c, m->id);
	cursor_put_u32_le(&c,
	    fields & FIELD_STATUS ? (uint32_t)m->status : m->sandbox);
	cursor_put_u32_le(&c, m->lifetime_ms);
	cursor_put_u8(&c, m->addr.family);
	cursor_put_u8(&c, m->service.protocol);
	cursor_put_u16_le(&c, m->service.port);
	cursor_put_bytes(&c, m->addr.bytes, sizeof(m->addr.bytes));
	cursor_put_u32_le(&c, m->ifindex);
	put_u64(&c, m->count);
	put_u64(&c, m->rule);
	cursor_put_bytes(&c, padding, sizeof(padding));
	REQUIRE(!c.error && cursor_left(&c) == 0);
}

static bool
is_zero(const uint8_t *bytes, size_t len)
{
	uint8_t any = 0;

	for (size_t i = 0; i < len; i++)
		any |= bytes[i];
	return any == 0;
}

static bool
is_address(const struct helper_msg *m)
{
	return m->addr.family == 6 ||
	    (m->addr.family == 4 && is_zero(m->addr.bytes + 4, 12));
}

static bool
is_no_service(const struct helper_msg *m)
{
	return m->service.protocol == 0 && m->service.port == 0;
}

static bool
is_element(const struct helper_msg *m)
{
	return is_address(m) &&
	    (m->service.protocol == PROTO_TCP ||
		m->service.protocol == PROTO_UDP) &&
	    m->service.port != 0;
}

static bool
is_no_element(const struct helper_msg *m)
{
	return m->addr.family == 0 &&
	    is_zero(m->addr.bytes, sizeof(m->addr.bytes)) && is_no_service(m);
}

/* Each field is there exactly where the message has it. */
static bool
is_well_formed(const struct helper_msg *m, unsigned fields)
{
	if (!(fields & FIELD_ID) && m->id != 0)
		return false;
	if (!(fields & FIELD_SANDBOX) && m->sandbox != 0)
		return false;
	if (m->status > 0)
		return false;
	if (!(fields & FIELD_LIFETIME) && m->lifetime_ms != 0)
		return false;
	if ((fields & FIELD_LIFE) && m->lifetime_ms == 0)
		return false;
	if (!(fields & FIELD_IFINDEX) && m->ifindex != 0)
		return false;
	if (!(fields & FIELD_COUNT) && m->count != 0)
		return false;
	if (!(fields & FIELD_RULE) && m->rule != 0)
		return false;
	if (fields & FIELD_ADDRESS)
		return is_address(m) && is_no_service(m);
	return fields & FIELD_ELEMENT ? is_element(m) : is_no_element(m);
}

/* Requests come from the resolver, all else goes to it. */
static bool
is_request(uint8_t op)
{
	return op < HELPER_RESET && op % 2 == 0;
}

bool
helper_msg_decode(struct helper_msg *ret, const uint8_t *wire, size_t len,
    bool from_resolver)
{
	struct cursor c = cursor_read_of(wire, len);
	struct helper_msg m = { 0 };
	uint8_t padding[PADDING];
	unsigned fields;
	uint32_t word;

	if (len != HELPER_MSG_SIZE)
		return false;
	if (cursor_u16_le(&c) != HELPER_MSG_MAGIC ||
	    cursor_u8(&c) != HELPER_MSG_VERSION)
		return false;
	m.op = cursor_u8(&c);
	fields = fields_of(m.op);
	if (fields == 0 || is_request(m.op) != from_resolver)
		return false;
	m.id = cursor_u32_le(&c);
	word = cursor_u32_le(&c);
	if (fields & FIELD_STATUS)
		m.status = (int32_t)word;
	else
		m.sandbox = word;
	m.lifetime_ms = cursor_u32_le(&c);
	m.addr.family = cursor_u8(&c);
	m.service.protocol = cursor_u8(&c);
	m.service.port = cursor_u16_le(&c);
	cursor_bytes(&c, m.addr.bytes, sizeof(m.addr.bytes));
	m.ifindex = cursor_u32_le(&c);
	m.count = read_u64(&c);
	m.rule = read_u64(&c);
	cursor_bytes(&c, padding, sizeof(padding));
	if (!is_zero(padding, sizeof(padding)) || !is_well_formed(&m, fields))
		return false;
	*ret = m;
	return true;
}

const char *
helper_op_name(uint8_t op)
{
	/* A response goes by the name of its request. */
	switch (op < HELPER_RESET ? op & ~1 : op) {
	case HELPER_HELLO:
		return "hello";
	case HELPER_PIN:
		return "pin";
	case HELPER_UNPIN:
		return "unpin";
	case HELPER_FLOWS:
		return "flows";
	case HELPER_FLUSH:
		return "flush";
	case HELPER_QUARANTINE:
		return "quarantine";
	case HELPER_RELEASE:
		return "release";
	case HELPER_STATS:
		return "stats";
	case HELPER_RECALL:
		return "recall";
	case HELPER_SETTLE:
		return "settle";
	case HELPER_ASK_RELOAD:
		return "ask-reload";
	case HELPER_PARSED:
		return "parsed";
	case HELPER_SWITCHED:
		return "switched";
	case HELPER_SOURCE:
		return "source";
	case HELPER_ATTACH:
		return "attach";
	case HELPER_DETACH:
		return "detach";
	case HELPER_ASSIGN:
		return "assign";
	case HELPER_UPLOAD:
		return "upload";
	case HELPER_SPENT:
		return "spent";
	case HELPER_USED:
		return "used";
	case HELPER_RESET:
		return "reset";
	case HELPER_RELOAD:
		return "reload";
	case HELPER_REOPEN:
		return "reopen";
	case HELPER_BOUND:
		return "bound";
	case HELPER_REFUSED:
		return "refused";
	case HELPER_STOP:
		return "stop";
	case HELPER_ADVICE:
		return "advice";
	default:
		return "unknown";
	}
}
