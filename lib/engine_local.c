/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_local - answers that need no upstream. See engine_parts.h.
 */
#include "lib/engine_parts.h"

#include <string.h>

#include "lib/dns.h"

#define LOCALHOST_TTL_S 300

/* A label that is a number of 0 to 255 as one would write it. */
static bool
read_octet(const uint8_t *label, uint8_t len, uint8_t *ret)
{
	unsigned value = 0;

	if (len == 0 || len > 3 || (len > 1 && label[0] == '0'))
		return false;
	for (uint8_t i = 0; i < len; i++) {
		if (label[i] < '0' || label[i] > '9')
			return false;
		value = value * 10 + (unsigned)(label[i] - '0');
	}
	*ret = (uint8_t)value;
	return value <= UINT8_MAX;
}

static bool
read_nibble(const uint8_t *label, uint8_t len, uint8_t *ret)
{
	if (len != 1)
		return false;
	if (label[0] >= '0' && label[0] <= '9')
		*ret = (uint8_t)(label[0] - '0');
	else if (label[0] >= 'a' && label[0] <= 'f')
		*ret = (uint8_t)(label[0] - 'a' + 10);
	else
		return false;
	return true;
}

static bool
read_reverse4(const struct dname *name, struct addr *ret)
{
	uint8_t octets[4], len;

	for (uint8_t i = 0; i < 4; i++) {
		const uint8_t *label = dname_label(name, i, &len);

		if (!read_octet(label, len, &octets[3 - i]))
			return false;
	}
	*ret = addr_v4(octets);
	return true;
}

static bool
read_reverse6(const struct dname *name, struct addr *ret)
{
	uint8_t octets[16] = { 0 }, nibble = 0, len;

	for (uint8_t i = 0; i < 32; i++) {
		const uint8_t *label = dname_label(name, i, &len);

		if (!read_nibble(label, len, &nibble))
			return false;
		octets[15 - i / 2] |=
		    (uint8_t)(i % 2 == 0 ? nibble : nibble << 4);
	}
	*ret = addr_v6(octets);
	return true;
}

bool
engine_read_reverse(const struct dname *name, struct addr *ret)
{
	static const uint8_t in_addr[] = "\7in-addr\4arpa";
	static const uint8_t ip6[] = "\3ip6\4arpa";
	struct dname top;

	if (name->labels != 6 && name->labels != 34)
		return false;
	top = dname_suffix(name, 2);
	if (name->labels == 6 && top.len == sizeof(in_addr) &&
	    memcmp(top.wire, in_addr, sizeof(in_addr)) == 0)
		return read_reverse4(name, ret);
	return name->labels == 34 && top.len == sizeof(ip6) &&
	    memcmp(top.wire, ip6, sizeof(ip6)) == 0 && read_reverse6(name, ret);
}

/*
 * Nobody is asked: what a foreign zone says of an address is not what this
 * sandbox knows it by. For another type there is nothing, but NXDOMAIN would
 * deny the PTR too.
 */
enum denial
engine_answer_reverse(const struct engine *e, struct query *q,
    const struct addr *addr)
{
	struct answer *answer = &q->answer;
	struct pin_names names;
	uint64_t until_ms = pins_addr_names(&e->pins, q->client.sandbox, addr,
	    e->now_ms, &names);
	uint64_t cap_ms =
	    e->now_ms + (uint64_t)e->limits.settings.ttl_cap_s * 1000;

	if (until_ms == 0)
		return DENIAL_PTR;
	if (q->question.type != DNS_TYPE_PTR)
		return DENIAL_SPECIAL_NODATA;
	answer->outcome = ANSWER_OK;
	answer->type = DNS_TYPE_PTR;
	answer->end = q->question.name;
	for (size_t i = 0; i < names.count; i++) {
		const struct dname *name = &names.names[i];

		if (answer->data_len + name->len > ANSWER_DATA_MAX)
			break;
		answer->records[answer->record_count++] =
		    (struct answer_record){ answer->data_len, name->len };
		memcpy(answer->data + answer->data_len, name->wire, name->len);
		answer->data_len = (uint16_t)(answer->data_len + name->len);
	}
	q->answer_until_ms = until_ms < cap_ms ? until_ms : cap_ms;
	return DENIAL_NONE;
}

enum denial
engine_answer_here(const struct engine *e, struct query *q)
{
	static const uint8_t loopback4[4] = { 127, 0, 0, 1 };
	static const uint8_t loopback6[16] = { [15] = 1 };
	struct answer *answer = &q->answer;
	uint16_t type = q->question.type;
	uint32_t ttl_s = LOCALHOST_TTL_S;

	if (!lookup_is_pair(type))
		return DENIAL_NO_DATA;
	if (type == DNS_TYPE_ANY)
		type = q->verdict.has4 ? DNS_TYPE_A : DNS_TYPE_AAAA;
	if (q->verdict.localhost) {
		answer->outcome = ANSWER_OK;
		answer->type = type;
		answer->end = q->question.name;
		answer->addr_count = 1;
		answer->addrs[0] = type == DNS_TYPE_A ? addr_v4(loopback4)
						      : addr_v6(loopback6);
	} else {
		ttl_s = e->limits.settings.ttl_cap_s;
		answer_fixed(answer, &q->question.name, type, &q->verdict,
		    &e->policy->protected_ranges, ttl_s);
	}
	q->answer_until_ms = e->now_ms + (uint64_t)ttl_s * 1000;
	if (answer->outcome == ANSWER_OK)
		return DENIAL_NONE;
	return answer->outcome == ANSWER_PROTECTED ? DENIAL_PROTECTED
						   : DENIAL_NO_DATA;
}
