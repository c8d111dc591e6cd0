/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * answer - an upstream response, vetted against what was asked.
 *
 * The answer section is walked once for each link of the alias chain, since
 * resolvers may send its records in any order, and once for the records at
 * the chain's end. Records that belong to neither are stepped over. Of the
 * sections behind only one thing is looked at: whether a chain without an end
 * is denied there, or was cut short.
 */
#include "lib/answer.h"

#include <string.h>

#include "lib/require.h"

/* A response and where its answers begin; every walk takes a copy. */
struct message {
	struct cursor answers;
	uint16_t answer_count, authority_count;
	uint16_t flags;
};

struct record {
	size_t owner_at, data_at;
	uint16_t type, class, len;
	uint32_t ttl_s;
};

static bool
read_message(struct message *ret, const struct dname *name, uint16_t type,
    const uint8_t *wire, size_t len)
{
	struct cursor cursor = cursor_read_of(wire, len);
	struct dname asked;

	cursor_skip(&cursor, 2);
	ret->flags = cursor_u16(&cursor);
	uint16_t questions = cursor_u16(&cursor);
	ret->answer_count = cursor_u16(&cursor);
	ret->authority_count = cursor_u16(&cursor);
	cursor_skip(&cursor, 2);
	if ((ret->flags & (DNS_FLAG_QR | DNS_FLAG_OPCODE)) != DNS_FLAG_QR ||
	    questions != 1 || !dname_read(&cursor, false, &asked) ||
	    !dname_equal(&asked, name))
		return false;
	if (cursor_u16(&cursor) != type || cursor_u16(&cursor) != DNS_CLASS_IN)
		return false;
	ret->answers = cursor;
	return true;
}

/* Steps over one record and says where its parts are. */
static bool
read_record(struct cursor *cursor, struct record *ret)
{
	ret->owner_at = cursor->pos;
	dname_skip(cursor);
	ret->type = cursor_u16(cursor);
	ret->class = cursor_u16(cursor);
	ret->ttl_s = cursor_u32(cursor);
	ret->len = cursor_u16(cursor);
	ret->data_at = cursor->pos;
	cursor_skip(cursor, ret->len);
	/* RFC 2181 8: a TTL with the highest bit set is zero. */
	if (ret->ttl_s > INT32_MAX)
		ret->ttl_s = 0;
	return !cursor->error;
}

static bool
record_is(const struct message *message, const struct record *record,
    const struct dname *owner, uint16_t type)
{
	struct cursor cursor = message->answers;
	struct dname name;

	if (record->type != type || record->class != DNS_CLASS_IN)
		return false;
	cursor_seek(&cursor, record->owner_at);
	return dname_read(&cursor, true, &name) && dname_equal(&name, owner);
}

static struct cursor
data_of(const struct message *message, const struct record *record)
{
	/* The end of the data is the end of all: nothing is read past it. */
	struct cursor cursor = cursor_read_of(message->answers.base,
	    record->data_at + record->len);

	cursor_seek(&cursor, record->data_at);
	return cursor;
}

enum link {
	LINK_NONE,
	LINK_FOUND,
	LINK_BROKEN
};

static void
lower_ttl(struct answer *answer, uint32_t ttl_s)
{
	if (ttl_s < answer->ttl_s)
		answer->ttl_s = ttl_s;
}

/* Where the chain's end leads: to one other name, or nowhere. */
static enum link
find_link(struct answer *answer, const struct message *message,
    struct dname *ret_target)
{
	struct cursor cursor = message->answers;
	enum link found = LINK_NONE;
	struct record record;
	struct dname target;

	for (unsigned i = 0; i < message->answer_count; i++) {
		if (!read_record(&cursor, &record))
			return LINK_BROKEN;
		if (!record_is(message, &record, &answer->end, DNS_TYPE_CNAME))
			continue;
		struct cursor data = data_of(message, &record);
		if (!dname_read(&data, true, &target) ||
		    cursor_left(&data) != 0)
			return LINK_BROKEN;
		if (found == LINK_FOUND && !dname_equal(&target, ret_target))
			return LINK_BROKEN;
		found = LINK_FOUND;
		*ret_target = target;
		lower_ttl(answer, record.ttl_s);
	}
	return found;
}

/*
 * Follows the chain to its end. A loop needs no memory of names to be seen:
 * it has no end within the links that a chain may have.
 */
static bool
follow_chain(struct answer *answer, const struct message *message)
{
	for (;;) {
		struct dname target;
		enum link link = find_link(answer, message, &target);

		if (link == LINK_NONE)
			return true;
		if (link == LINK_BROKEN ||
		    answer->link_count == ANSWER_LINKS_MAX)
			return false;
		answer->link_count++;
		answer->end = target;
	}
}

static bool
has_addr(const struct answer *answer, const struct addr *addr)
{
	for (unsigned i = 0; i < answer->addr_count; i++)
		if (addr_equal(&answer->addrs[i], addr))
			return true;
	return false;
}

static bool
is_protected(struct answer *answer, const struct addr *addr,
    const struct verdict *verdict, const struct protected_ranges *ranges)
{
	enum addr_class class = addr_protected(addr, ranges,
	    verdict->private_ok, verdict->private_count);

	if (class == ADDR_GLOBAL)
		return false;
	if (answer->protected_count++ == 0) {
		answer->protected_first = *addr;
		answer->protected_class = class;
	}
	return true;
}

/*
 * Reservoir sampling: after n addresses each of them is among the kept ones
 * with the same chance. A duplicate of one that was left out gets a second
 * chance; no honest set of records has duplicates.
 */
static void
keep_addr(struct answer *answer, const struct addr *addr, struct rng *rng)
{
	if (answer->addr_count < ANSWER_ADDRS_MAX) {
		answer->addrs[answer->addr_count++] = *addr;
		return;
	}
	answer->left_out++;
	uint32_t seen = (uint32_t)ANSWER_ADDRS_MAX + answer->left_out;
	uint32_t place = rng_below(rng, seen);
	if (place < ANSWER_ADDRS_MAX)
		answer->addrs[place] = *addr;
}

static void
shuffle_addrs(struct answer *answer, struct rng *rng)
{
	for (uint32_t left = answer->addr_count; left > 1; left--) {
		uint32_t other = rng_below(rng, left);
		struct addr addr = answer->addrs[left - 1];

		answer->addrs[left - 1] = answer->addrs[other];
		answer->addrs[other] = addr;
	}
}

static bool
take_addr(struct answer *answer, struct cursor *data,
    const struct vetting *vetting)
{
	size_t size = answer->type == DNS_TYPE_A ? 4 : 16;
	uint8_t bytes[16];

	if (cursor_left(data) != size)
		return false;
	cursor_bytes(data, bytes, size);
	struct addr addr = size == 4 ? addr_v4(bytes) : addr_v6(bytes);
	if (!has_addr(answer, &addr) &&
	    (vetting->keep_protected ||
		!is_protected(answer, &addr, vetting->verdict,
		    vetting->ranges)))
		keep_addr(answer, &addr, vetting->rng);
	return true;
}

static void
copy_bytes(struct cursor *from, struct cursor *to, size_t n)
{
	uint8_t bytes[UINT8_MAX];

	cursor_bytes(from, bytes, n);
	cursor_put_bytes(to, bytes, n);
}

/* One string or more, which fill the data (RFC 1035 3.3.14). */
static void
copy_txt(struct cursor *from, struct cursor *to)
{
	do {
		uint8_t len = cursor_u8(from);

		cursor_put_u8(to, len);
		copy_bytes(from, to, len);
	} while (cursor_left(from) != 0);
}

/* Some numbers of 16 bits, then a name: MX, SRV. */
static void
copy_target(struct cursor *from, struct cursor *to, unsigned numbers)
{
	struct dname target;

	for (unsigned i = 0; i < numbers; i++)
		cursor_put_u16(to, cursor_u16(from));
	if (dname_read(from, true, &target))
		dname_put(to, &target);
}

static bool
is_alphanumeric(uint8_t octet)
{
	return (octet >= 'a' && octet <= 'z') ||
	    (octet >= 'A' && octet <= 'Z') || (octet >= '0' && octet <= '9');
}

/* Flags, a tag of letters and digits, a value to the end (RFC 8659 4.1). */
static void
copy_caa(struct cursor *from, struct cursor *to)
{
	cursor_put_u8(to, cursor_u8(from));
	uint8_t tag_len = cursor_u8(from);
	cursor_put_u8(to, tag_len);
	if (tag_len == 0)
		from->error = true;
	for (unsigned i = 0; i < tag_len; i++) {
		uint8_t octet = cursor_u8(from);

		if (!is_alphanumeric(octet))
			from->error = true;
		cursor_put_u8(to, octet);
	}
	for (size_t left; (left = cursor_left(from)) != 0;)
		copy_bytes(from, to, left < UINT8_MAX ? left : UINT8_MAX);
}

/*
 * Parses the data and rebuilds it behind what is kept already. False: it does
 * not parse. What parses and does not fit is left out.
 */
static bool
take_record(struct answer *answer, struct cursor *data)
{
	struct cursor out = cursor_write_of(answer->data + answer->data_len,
	    sizeof(answer->data) - answer->data_len);

	if (answer->type == DNS_TYPE_TXT)
		copy_txt(data, &out);
	else if (answer->type == DNS_TYPE_MX)
		copy_target(data, &out, 1);
	else if (answer->type == DNS_TYPE_SRV)
		copy_target(data, &out, 3);
	else
		copy_caa(data, &out);
	if (data->error || cursor_left(data) != 0)
		return false;
	if (out.error || answer->record_count == ANSWER_RECORDS_MAX)
		return true;
	answer->records[answer->record_count++] =
	    (struct answer_record){ .offset = answer->data_len,
		    .len = (uint16_t)out.pos };
	answer->data_len = (uint16_t)(answer->data_len + out.pos);
	return true;
}

static bool
is_addr_type(uint16_t type)
{
	return type == DNS_TYPE_A || type == DNS_TYPE_AAAA;
}

/* The records of the asked type at the chain's end. */
static bool
take_records(struct answer *answer, const struct message *message,
    const struct vetting *vetting)
{
	struct cursor cursor = message->answers;
	struct record record;

	for (unsigned i = 0; i < message->answer_count; i++) {
		if (!read_record(&cursor, &record))
			return false;
		if (!record_is(message, &record, &answer->end, answer->type))
			continue;
		struct cursor data = data_of(message, &record);
		lower_ttl(answer, record.ttl_s);
		if (is_addr_type(answer->type)
			? !take_addr(answer, &data, vetting)
			: !take_record(answer, &data))
			return false;
	}
	return true;
}

/*
 * Whether the authority section says that the chain's end has nothing of the
 * type: by the SOA of a zone that it is in (RFC 2308 2.2). Without it nobody
 * has spoken about the end, and the chain was only cut short.
 */
static bool
end_is_denied(const struct answer *answer, const struct message *message)
{
	struct cursor cursor = message->answers;
	struct record record;
	struct dname owner;

	for (unsigned i = 0; i < message->answer_count; i++)
		if (!read_record(&cursor, &record))
			return false;
	for (unsigned i = 0; i < message->authority_count; i++) {
		if (!read_record(&cursor, &record))
			return false;
		if (record.type != DNS_TYPE_SOA || record.class != DNS_CLASS_IN)
			continue;
		struct cursor at = cursor;
		cursor_seek(&at, record.owner_at);
		if (dname_read(&at, true, &owner) &&
		    (dname_equal(&owner, &answer->end) ||
			dname_is_below(&answer->end, &owner)))
			return true;
	}
	return false;
}

static bool
type_is_known(uint16_t type)
{
	return is_addr_type(type) || type == DNS_TYPE_TXT ||
	    type == DNS_TYPE_MX || type == DNS_TYPE_SRV || type == DNS_TYPE_CAA;
}

static void
clear(struct answer *ret, const struct dname *name, uint16_t type)
{
	ret->outcome = ANSWER_BOGUS;
	ret->type = type;
	ret->rcode = DNS_RCODE_SERVFAIL;
	ret->ttl_s = UINT32_MAX;
	ret->link_count = 0;
	ret->end = *name;
	ret->addr_count = 0;
	ret->left_out = 0;
	ret->protected_count = 0;
	ret->protected_first = (struct addr){ .family = 0 };
	ret->protected_class = ADDR_GLOBAL;
	ret->record_count = 0;
	ret->data_len = 0;
}

/* What the addresses and records that were kept amount to. */
static enum answer_outcome
outcome_of(const struct answer *answer)
{
	if (answer->addr_count > 0 || answer->record_count > 0)
		return ANSWER_OK;
	return answer->protected_count > 0 ? ANSWER_PROTECTED : ANSWER_NO_DATA;
}

static enum answer_outcome
vet(struct answer *answer, const struct dname *name,
    const struct vetting *vetting, const uint8_t *wire, size_t len)
{
	struct message message;

	if (!type_is_known(answer->type) ||
	    !read_message(&message, name, answer->type, wire, len))
		return ANSWER_BOGUS;
	answer->rcode = (uint8_t)(message.flags & DNS_FLAG_RCODE);
	if (answer->rcode != DNS_RCODE_NOERROR &&
	    answer->rcode != DNS_RCODE_NXDOMAIN)
		return ANSWER_BOGUS;
	if ((message.flags & DNS_FLAG_TC) != 0)
		return ANSWER_TRUNCATED;
	/* Each link walks them all: thousands would be work for the sender. */
	if (message.answer_count + message.authority_count > ANSWER_WALK_MAX)
		return ANSWER_BOGUS;
	if (!follow_chain(answer, &message))
		return ANSWER_BOGUS;
	if (answer->rcode == DNS_RCODE_NXDOMAIN)
		return ANSWER_NO_NAME;
	if (!take_records(answer, &message, vetting))
		return ANSWER_BOGUS;
	shuffle_addrs(answer, vetting->rng);

	enum answer_outcome outcome = outcome_of(answer);
	if (outcome == ANSWER_NO_DATA && answer->link_count > 0 &&
	    !end_is_denied(answer, &message))
		return ANSWER_BOGUS;
	return outcome;
}

enum answer_outcome
answer_vet(struct answer *ret, const struct dname *name, uint16_t type,
    const struct vetting *vetting, const uint8_t *wire, size_t len)
{
	clear(ret, name, type);
	ret->outcome = vet(ret, name, vetting, wire, len);
	if (ret->outcome != ANSWER_OK) {
		ret->addr_count = 0;
		ret->record_count = 0;
		ret->data_len = 0;
	}
	if (ret->ttl_s == UINT32_MAX)
		ret->ttl_s = 0;
	return ret->outcome;
}

void
answer_fixed(struct answer *ret, const struct dname *name, uint16_t type,
    const struct verdict *verdict, const struct protected_ranges *ranges,
    uint32_t ttl_s)
{
	uint8_t family = type == DNS_TYPE_A ? 4 : 6;

	REQUIRE(is_addr_type(type));
	REQUIRE(verdict->addr_count <= RULE_ADDRS_MAX);
	clear(ret, name, type);
	ret->rcode = DNS_RCODE_NOERROR;
	ret->ttl_s = ttl_s;
	for (unsigned i = 0; i < verdict->addr_count; i++) {
		const struct addr *addr = &verdict->addrs[i];

		if (addr->family == family && !has_addr(ret, addr) &&
		    !is_protected(ret, addr, verdict, ranges))
			ret->addrs[ret->addr_count++] = *addr;
	}
	ret->outcome = outcome_of(ret);
}

_Static_assert(RULE_ADDRS_MAX <= ANSWER_ADDRS_MAX, "fixed addresses fit");

void
answer_drop_addr(struct answer *answer, uint8_t index)
{
	REQUIRE(index < answer->addr_count);
	answer->addr_count--;
	memmove(&answer->addrs[index], &answer->addrs[index + 1],
	    (size_t)(answer->addr_count - index) * sizeof(answer->addrs[0]));
}

void
answer_protect(struct answer *answer, const struct verdict *verdict,
    const struct protected_ranges *ranges)
{
	uint8_t kept = 0;

	if (answer->outcome != ANSWER_OK || !is_addr_type(answer->type))
		return;
	for (uint8_t i = 0; i < answer->addr_count; i++)
		if (!is_protected(answer, &answer->addrs[i], verdict, ranges))
			answer->addrs[kept++] = answer->addrs[i];
	answer->addr_count = kept;
	answer->outcome = outcome_of(answer);
}
