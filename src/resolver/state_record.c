/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * state_record - one pin as octets, see state.h.
 *
 *   0   8 checksum (FNV-1a) of all the rest
 *   8   1 1: in use         9   1 enum pin_state
 *  10   1 family           11   1 protocol         12  2 port
 *  14  16 address          30   8 until, ms        38  1 holders
 *  39  64 the sandbox's name, NUL-padded
 * 103     holders: until, ms (8), rule kind (1), labels of the rule's name
 *         (1), name length (1), name; the rest is zero
 *
 * A rule's name is a suffix of the names it matches, so its label count says
 * it all. Where not all holders fit, those that last longest are kept: what
 * is left out can only close the element earlier than it had to be.
 */
#include "config.h"

#include <string.h>

#include "lib/cursor.h"
#include "src/resolver/state.h"

#define HEADER_SIZE   103
#define HOLDER_SIZE   11
#define CHECKSUM_SIZE 8

_Static_assert(STATE_OFFSET_SANDBOX + POLICY_NAME_MAX == HEADER_SIZE,
    "the name ends the header");
_Static_assert(DNS_NAME_MAX >= UINT8_MAX, "any length octet fits");
/* At least one holder fits, however long its name. */
_Static_assert(HEADER_SIZE + HOLDER_SIZE + DNS_NAME_MAX <= STATE_RECORD_SIZE,
    "a record holds the longest name");

static uint64_t
checksum(const uint8_t *octets, size_t len)
{
	uint64_t sum = 0xcbf29ce484222325;

	for (size_t i = 0; i < len; i++)
		sum = (sum ^ octets[i]) * 0x100000001b3;
	return sum;
}

static void
put_u64(struct cursor *c, uint64_t value)
{
	cursor_put_u32(c, (uint32_t)(value >> 32));
	cursor_put_u32(c, (uint32_t)value);
}

static uint64_t
get_u64(struct cursor *c)
{
	uint64_t high = cursor_u32(c);

	return high << 32 | cursor_u32(c);
}

/* The holder that lasts longest among those not done; 0xff: none. */
static uint8_t
longest(const struct pin_record *record, unsigned done)
{
	uint8_t best = 0xff;

	for (uint8_t i = 0; i < record->holder_count; i++) {
		if ((done >> i & 1) != 0)
			continue;
		if (best == 0xff ||
		    record->holders[i].until_ms >
			record->holders[best].until_ms)
			best = i;
	}
	return best;
}

/* Returns how many were put. */
static uint8_t
put_holders(struct cursor *c, const struct pin_record *record)
{
	unsigned done = 0;
	uint8_t count = 0;
	uint8_t i;

	while ((i = longest(record, done)) != 0xff) {
		const struct dname *name = &record->holders[i].name;

		done |= 1u << i;
		if (cursor_left(c) < HOLDER_SIZE + (size_t)name->len)
			continue;
		put_u64(c, record->holders[i].until_ms);
		cursor_put_u8(c, (uint8_t)record->holders[i].kind);
		cursor_put_u8(c, record->holders[i].rule_name.labels);
		cursor_put_u8(c, name->len);
		cursor_put_bytes(c, name->wire, name->len);
		count++;
	}
	return count;
}

void
state_record_print(uint8_t *ret, const struct pin_record *record,
    const char *sandbox)
{
	uint8_t name[POLICY_NAME_MAX] = { 0 };
	struct cursor c;

	memset(ret, 0, STATE_RECORD_SIZE);
	memcpy(name, sandbox, strnlen(sandbox, sizeof(name) - 1));
	c = cursor_write_of(ret, STATE_RECORD_SIZE);
	put_u64(&c, 0);
	cursor_put_u8(&c, 1);
	cursor_put_u8(&c, (uint8_t)record->state);
	cursor_put_u8(&c, record->element.addr.family);
	cursor_put_u8(&c, record->element.service.protocol);
	cursor_put_u16(&c, record->element.service.port);
	cursor_put_bytes(&c, record->element.addr.bytes, 16);
	put_u64(&c, record->until_ms);
	cursor_put_u8(&c, 0);
	cursor_put_bytes(&c, name, sizeof(name));
	ret[STATE_OFFSET_SANDBOX - 1] = put_holders(&c, record);
	c = cursor_write_of(ret, CHECKSUM_SIZE);
	put_u64(&c,
	    checksum(ret + CHECKSUM_SIZE, STATE_RECORD_SIZE - CHECKSUM_SIZE));
}

static bool
read_holders(struct cursor *c, struct pin_record *ret)
{
	for (uint8_t i = 0; i < ret->holder_count; i++) {
		uint8_t kind, labels, len;
		uint8_t wire[DNS_NAME_MAX];
		uint64_t until_ms = get_u64(c);

		kind = cursor_u8(c);
		labels = cursor_u8(c);
		len = cursor_u8(c);
		if (kind > RULE_BELOW)
			return false;
		cursor_bytes(c, wire, len);
		if (c->error ||
		    !dname_from_wire(wire, len, &ret->holders[i].name) ||
		    labels > ret->holders[i].name.labels)
			return false;
		ret->holders[i].until_ms = until_ms;
		ret->holders[i].kind = (enum rule_kind)kind;
		ret->holders[i].rule_name =
		    dname_suffix(&ret->holders[i].name, labels);
	}
	return true;
}

bool
state_record_read(const uint8_t *octets, struct pin_record *ret,
    char *ret_sandbox)
{
	struct cursor c = cursor_read_of(octets, STATE_RECORD_SIZE);
	uint64_t sum = get_u64(&c);
	uint8_t state;

	memset(ret, 0, sizeof(*ret));
	if (cursor_u8(&c) != 1 ||
	    sum !=
		checksum(octets + CHECKSUM_SIZE,
		    STATE_RECORD_SIZE - CHECKSUM_SIZE))
		return false;
	state = cursor_u8(&c);
	ret->element.addr.family = cursor_u8(&c);
	ret->element.service.protocol = cursor_u8(&c);
	ret->element.service.port = cursor_u16(&c);
	cursor_bytes(&c, ret->element.addr.bytes, 16);
	ret->until_ms = get_u64(&c);
	ret->holder_count = cursor_u8(&c);
	cursor_bytes(&c, ret_sandbox, POLICY_NAME_MAX);
	ret_sandbox[POLICY_NAME_MAX - 1] = '\0';
	if (state > PIN_LAPSED || ret->holder_count > PINS_HOLDERS_MAX ||
	    (ret->element.addr.family != 4 && ret->element.addr.family != 6))
		return false;
	ret->state = (enum pin_state)state;
	return read_holders(&c, ret);
}
