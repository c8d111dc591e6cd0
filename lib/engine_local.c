/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_local - answers that need no upstream. See engine_parts.h.
 */
#include "lib/engine_parts.h"

#include <string.h>

#include "lib/dns.h"

#define LOCALHOST_TTL_S 300

bool
engine_is_reverse(const struct dname *name)
{
	static const uint8_t in_addr[] = "\7in-addr\4arpa";
	static const uint8_t ip6[] = "\3ip6\4arpa";
	struct dname top;

	if (name->labels < 3)
		return false;
	top = dname_suffix(name, 2);
	return (top.len == sizeof(in_addr) &&
		   memcmp(top.wire, in_addr, sizeof(in_addr)) == 0) ||
	    (top.len == sizeof(ip6) && memcmp(top.wire, ip6, sizeof(ip6)) == 0);
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
