/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gateway - the ruleset of gateway mode as data: objects, sets, chains and
 * rules in constant tables that read like nft.
 *
 * Two readers share them: express.c turns a rule into expressions for the
 * kernel, ruleset_text.c prints it for people. So what `--print-ruleset`
 * shows is what is installed. The tables know nothing of netlink.
 */
#ifndef SRC_HELPER_GATEWAY_H
#define SRC_HELPER_GATEWAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Counts up when chains, rules or sets change: a named object carries it. */
#define GATEWAY_SCHEMA_NUMBER 8
#define GATEWAY_SCHEMA        "schema_8"

/* Neighbour messages a second from invented link-local senders, each of which
 * is an entry of the neighbour table. Far more than anybody needs. */
#define NEIGHBOURS_RATE 10

#define GATEWAY_FIELDS_MAX 4
#define GATEWAY_STEPS_MAX  7

/* What a rule can look at. */
enum field {
	FIELD_NONE,
	FIELD_IIFNAME,
	FIELD_OIFNAME,
	FIELD_IIF,
	FIELD_OIF,
	FIELD_ETHER_SADDR,
	FIELD_ETHER_TYPE,
	FIELD_ARP_HTYPE,
	FIELD_ARP_PTYPE,
	FIELD_ARP_SADDR,
	FIELD_ARP_DADDR,
	FIELD_SKUID,
	FIELD_PKTTYPE,
	FIELD_L4PROTO,
	FIELD_IP_SADDR,
	FIELD_IP_DADDR,
	FIELD_IP6_SADDR,
	FIELD_IP6_DADDR,
	FIELD_IP6_HOPLIMIT,
	FIELD_TH_SPORT,
	FIELD_TH_DPORT,
	FIELD_UDP_SPORT,
	FIELD_UDP_DPORT,
	FIELD_ICMP_TYPE,
	FIELD_ICMPV6_TYPE,
	FIELD_ND_TARGET, /* the address that a neighbour message is about */
	FIELD_COUNT
};

/* What a rule is about, beside 4 and 6. */
#define FAMILY_ARP 1

struct field_form {
	const char *text;
	uint8_t size;
	bool payload; /* else a meta key */
	uint32_t base; /* payload base, or the meta key */
	uint32_t offset;
	uint8_t family; /* the rule must be about this: 4, 6, ARP or 0 */
	uint8_t protocol; /* and about this protocol, or 0 */
	bool big_endian; /* of an integer: the kernel keeps it in host order
			    and the set in network order */
	uint8_t type; /* nft's number of the data type */
};

struct constants {
	const char *text; /* as nft writes the set */
	uint8_t values[8];
	uint8_t count;
};

/* ct state bits */
#define CT_INVALID     1u
#define CT_ESTABLISHED 2u
#define CT_RELATED     4u
#define CT_NEW         8u
#define CT_UNTRACKED   64u

enum step_kind {
	STEP_END,
	STEP_IN, /* concatenated fields are in the set */
	STEP_NOT_IN,
	STEP_IS, /* one field has this value */
	STEP_ONE_OF, /* one field has one of these constants */
	STEP_LINK_LOCAL, /* ip6 saddr fe80::/10 */
	STEP_TARGET_LINK_LOCAL, /* of a neighbour message */
	STEP_CT, /* one of these states */
	STEP_CT_NOT, /* not exactly this state */
	STEP_TCP_NOT_SYN, /* TCP that is not a lone SYN */
	STEP_OPTION, /* of IPv4, by its number */
	STEP_EXTENSION, /* a header of IPv6, by its number */
	STEP_COUNT,
	STEP_QUOTA, /* goes on when the quota of these fields is spent */
	STEP_UPDATE, /* a set counts this field by itself */
	STEP_RATE, /* goes on within the log rate of this field */
	STEP_EXCESS, /* goes on beyond a rate of packets of this field */
	STEP_CEILING, /* goes on when this field has too many flows */
	STEP_LOG,
	STEP_GOTO,
	STEP_ACCEPT,
	STEP_DROP,
	STEP_TCP_RESET, /* TCP is reset */
	STEP_PROHIBIT, /* rejected as administratively prohibited */
	STEP_MASQUERADE
};

struct step {
	enum step_kind kind;
	const char *name; /* set, object, chain, or prefix of a log */
	enum field fields[GATEWAY_FIELDS_MAX];
	uint32_t value;
	const struct constants *constants;
};

struct rule_form {
	struct step steps[GATEWAY_STEPS_MAX];
};

enum chain_hook {
	HOOK_NONE,
	HOOK_PREROUTING,
	HOOK_INPUT,
	HOOK_FORWARD,
	HOOK_OUTPUT,
	HOOK_POSTROUTING_NAT
};

struct chain_form {
	const char *name;
	enum chain_hook hook;
	int32_t priority;
	bool set_priority; /* the setting replaces it */
	const struct rule_form *rules;
	size_t rule_count;
};

/* Where a set's capacity comes from. */
enum set_size {
	SIZE_NONE,
	SIZE_PINS,
	SIZE_SOURCES
};

struct set_form {
	const char *name;
	const char *type; /* as nft writes it */
	enum field fields[GATEWAY_FIELDS_MAX];
	bool interval, dynamic, counter;
	bool quota; /* a map to named quotas */
	uint32_t timeout_ms; /* the default of an element; 0: no timeouts */
	enum set_size size;
	/* Filled from the configuration alone, brought to it at each start. */
	bool configured;
	/* Of a table that is taken over, what is there stays; see modes.h. */
	bool lingering;
	bool raw; /* the type is that of an expression, not one with a name */
};

struct table_form {
	uint8_t family; /* NFPROTO_ */
	const char *text; /* as nft calls it */
	const char *const *counters;
	size_t counter_count;
	const struct set_form *sets;
	size_t set_count;
	const struct chain_form *chains;
	size_t chain_count;
};

/* The gateway, and its twin for what passes bridges; both by one name. */
#define GATEWAY_TABLES 2

/* What the settings decide. */
struct gateway_params {
	char table[32];
	int32_t priority;
	bool masquerade;
	uint16_t log_group;
	uint32_t log_rate;
	uint32_t flows_max;
	uint32_t pins_max;
};

extern const struct field_form gateway_fields[FIELD_COUNT];

/* The chain for masquerading is left out without it. */
void gateway_tables(bool masquerade, struct table_form ret[GATEWAY_TABLES]);
int32_t gateway_priority(const struct gateway_params *,
    const struct chain_form *);
struct edge_config; /* lib/text/edge_text.h */
void gateway_params_of(struct gateway_params *ret, const struct edge_config *);
uint32_t gateway_set_size(const struct gateway_params *, enum set_size);
/* Packets a second that a step of excess lets be. */
uint32_t gateway_excess(const struct gateway_params *, const struct step *);

#endif
