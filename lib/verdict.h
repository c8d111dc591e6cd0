/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verdict - what the policy says of one question, as a plain value.
 *
 * Copied into queries, lookups and pins, so that no policy is ever referenced
 * from something that lives on when the policy is replaced.
 */
#ifndef LIB_VERDICT_H
#define LIB_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/addr.h"
#include "lib/denial.h"
#include "lib/dname.h"

#define RULE_SERVICES_MAX 16
#define RULE_PRIVATE_MAX  8
#define RULE_ADDRS_MAX    12
#define RULE_NONE         UINT32_MAX

enum rule_kind {
	RULE_EXACT, /* example.com */
	RULE_CHILD, /* *.example.com: exactly one label below */
	RULE_BELOW /* **.example.com: one or more labels below */
};

/* Types that a rule may allow, as bits. */
enum rule_type {
	RULE_TYPE_A = 1,
	RULE_TYPE_AAAA = 2,
	RULE_TYPE_TXT = 4,
	RULE_TYPE_MX = 8,
	RULE_TYPE_SRV = 16,
	RULE_TYPE_CAA = 32
};

/* `tell:` how much an extended error says. */
enum tell {
	TELL_FULL,
	TELL_CODE,
	TELL_NOTHING
};

struct verdict {
	enum denial denial; /* DENIAL_NONE: allowed */
	bool audit; /* the policy denies nothing that could be asked */
	enum denial would; /* audit: why enforcement would deny what passes
			      here; DENIAL_NONE: it would not */
	enum denial_style style; /* of the policy */
	enum tell tell;
	bool listed; /* some allow rule matches the name */
	bool lists_below; /* listed names lie below this name */
	bool has4, has6; /* families in which the sandbox has an address */
	uint32_t budget; /* what the rule may tell, 1/256 bit in 24 h */
	bool scheduled; /* its rule is looked up on our own clock */
	bool localhost; /* answered as loopback, without a pin */
	uint32_t policy; /* index, for names in events */
	uint32_t rule; /* index into the policy's rules, RULE_NONE */
	enum rule_kind kind;
	struct dname rule_name; /* the name, or the wildcard's parent */
	uint16_t types; /* enum rule_type bits that the rule allows */
	uint64_t until_wall_ms; /* the rule's date, 0: none */
	uint8_t apex_labels; /* labels of the registrable domain */
	uint8_t service_count, private_count, addr_count;
	struct service services[RULE_SERVICES_MAX];
	struct prefix private_ok[RULE_PRIVATE_MAX];
	struct addr addrs[RULE_ADDRS_MAX]; /* fixed: never asked upstream */
};

#endif
