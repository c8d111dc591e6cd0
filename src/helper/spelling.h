/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spelling - how the constant tables of rules are written, so that they read
 * like nft. For those tables alone.
 */
#ifndef SRC_HELPER_SPELLING_H
#define SRC_HELPER_SPELLING_H

#include "lib/require.h"
#include "src/helper/gateway.h"

#define IIFNAME   FIELD_IIFNAME
#define OIFNAME   FIELD_OIFNAME
#define IIF       FIELD_IIF
#define OIF       FIELD_OIF
#define SKUID     FIELD_SKUID
#define L4PROTO   FIELD_L4PROTO
#define IP_SADDR  FIELD_IP_SADDR
#define IP_DADDR  FIELD_IP_DADDR
#define IP6_SADDR FIELD_IP6_SADDR
#define IP6_DADDR FIELD_IP6_DADDR
#define SPORT     FIELD_TH_SPORT
#define DPORT     FIELD_TH_DPORT

#define UDP(from, to) IS(FIELD_UDP_SPORT, from), IS(FIELD_UDP_DPORT, to)

#define IN(set, ...)                                                      \
	{                                                                 \
		.kind = STEP_IN, .name = (set), .fields = { __VA_ARGS__ } \
	}
#define NOT_IN(set, ...)                                                      \
	{                                                                     \
		.kind = STEP_NOT_IN, .name = (set), .fields = { __VA_ARGS__ } \
	}
#define QUOTA(map, ...)                                                      \
	{                                                                    \
		.kind = STEP_QUOTA, .name = (map), .fields = { __VA_ARGS__ } \
	}
#define IS(field, number)                                                 \
	{                                                                 \
		.kind = STEP_IS, .fields = { (field) }, .value = (number) \
	}
#define ONE_OF(field, list)                                 \
	{                                                   \
		.kind = STEP_ONE_OF, .fields = { (field) }, \
		.constants = &(list)                        \
	}
#define CT(states)                                 \
	{                                          \
		.kind = STEP_CT, .value = (states) \
	}
#define CT_NOT(state)                                 \
	{                                             \
		.kind = STEP_CT_NOT, .value = (state) \
	}
#define NAMED(step, what)                      \
	{                                      \
		.kind = (step), .name = (what) \
	}
#define COUNT(object) NAMED(STEP_COUNT, object)
#define LOG(prefix)   NAMED(STEP_LOG, "namewall " prefix)
#define GOTO(chain)   NAMED(STEP_GOTO, chain)
#define UPDATE(set, field)                                               \
	{                                                                \
		.kind = STEP_UPDATE, .name = (set), .fields = {(field) } \
	}
#define RATE(set, field)                                               \
	{                                                              \
		.kind = STEP_RATE, .name = (set), .fields = {(field) } \
	}
#define EXCESS(set, field, rate)                                           \
	{                                                                  \
		.kind = STEP_EXCESS, .name = (set), .fields = { (field) }, \
		.value = (rate)                                            \
	}
#define CEILING(set, field)                                               \
	{                                                                 \
		.kind = STEP_CEILING, .name = (set), .fields = {(field) } \
	}
#define PLAIN(step)            \
	{                      \
		.kind = (step) \
	}
#define HAS(step, number)                         \
	{                                         \
		.kind = (step), .value = (number) \
	}
#define ACCEPT        PLAIN(STEP_ACCEPT)
#define DROP          PLAIN(STEP_DROP)
#define LINK_LOCAL    PLAIN(STEP_LINK_LOCAL)
#define UNSPECIFIED   IS(FIELD_IP6_SADDR, 0)
#define ON_LINK       IS(FIELD_IP6_HOPLIMIT, 255)
#define ETHER(type)   IS(FIELD_ETHER_TYPE, type)
#define ETHER_IP4     ETHER(0x0800)
#define ETHER_ARP     ETHER(0x0806)
#define ETHER_IP6     ETHER(0x86dd)
#define LOOSE_ROUTE   HAS(STEP_OPTION, 131)
#define STRICT_ROUTE  HAS(STEP_OPTION, 137)
#define ROUTING       HAS(STEP_EXTENSION, 43)
#define ADVERTISEMENT IS(FIELD_ICMPV6_TYPE, 136)
#define SOLICITATION  IS(FIELD_ICMPV6_TYPE, 135)
#define RULE(...)                   \
	{                           \
		{                   \
			__VA_ARGS__ \
		}                   \
	}

#define CHAIN(array) \
	.name = #array, .rules = array, .rule_count = ARRAY_LEN(array)
#define BASE(array, at, order)                                             \
	.name = #array, .hook = (at), .priority = (order), .rules = array, \
	.rule_count = ARRAY_LEN(array)

#endif
