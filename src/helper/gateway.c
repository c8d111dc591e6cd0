/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gateway - the tables. Chains stand in the order in which a packet meets
 * them; inside a chain the order of rules is the argument, so each that is
 * not obvious says why it stands where it does.
 */
#include "config.h"

#include "src/helper/gateway.h"

#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>

#include <stdio.h>

#include "lib/require.h"
#include "lib/text/edge_text.h"
#include "src/helper/spelling.h"
#include "src/helper/twin.h"

#define LINK(at, bytes, number)                                         \
	.payload = true, .base = NFT_PAYLOAD_LL_HEADER, .offset = (at), \
	.size = (bytes), .type = (number)
#define META(key, bytes, number) \
	.base = NFT_META_##key, .size = (bytes), .type = (number)
#define NETWORK(at, bytes, number)                                           \
	.payload = true, .base = NFT_PAYLOAD_NETWORK_HEADER, .offset = (at), \
	.size = (bytes), .type = (number)
#define TRANSPORT(at, bytes, number)                                           \
	.payload = true, .base = NFT_PAYLOAD_TRANSPORT_HEADER, .offset = (at), \
	.size = (bytes), .type = (number)

/* The last number is nft's own of the data type; it serves listings only. */
const struct field_form gateway_fields[FIELD_COUNT] = {
	[FIELD_IIFNAME] = { "iifname", META(IIFNAME, 16, 41) },
	[FIELD_OIFNAME] = { "oifname", META(OIFNAME, 16, 41) },
	[FIELD_IIF] = { "iif", META(IIF, 4, 20), .big_endian = true },
	[FIELD_OIF] = { "oif", META(OIF, 4, 20), .big_endian = true },
	[FIELD_ETHER_SADDR] = { "ether saddr", LINK(6, 6, 9) },
	[FIELD_ETHER_TYPE] = { "ether type", LINK(12, 2, 10) },
	[FIELD_ARP_HTYPE] = { "arp htype", NETWORK(0, 2, 4),
	    .family = FAMILY_ARP },
	[FIELD_ARP_PTYPE] = { "arp ptype", NETWORK(2, 2, 10),
	    .family = FAMILY_ARP },
	[FIELD_ARP_SADDR] = { "arp saddr ip", NETWORK(14, 4, 7),
	    .family = FAMILY_ARP },
	[FIELD_ARP_DADDR] = { "arp daddr ip", NETWORK(24, 4, 7),
	    .family = FAMILY_ARP },
	[FIELD_SKUID] = { "meta skuid", META(SKUID, 4, 24) },
	[FIELD_PKTTYPE] = { "meta pkttype", META(PKTTYPE, 1, 31) },
	[FIELD_L4PROTO] = { "meta l4proto", META(L4PROTO, 1, 12) },
	[FIELD_IP_SADDR] = { "ip saddr", NETWORK(12, 4, 7), .family = 4 },
	[FIELD_IP_DADDR] = { "ip daddr", NETWORK(16, 4, 7), .family = 4 },
	[FIELD_IP6_SADDR] = { "ip6 saddr", NETWORK(8, 16, 8), .family = 6 },
	[FIELD_IP6_DADDR] = { "ip6 daddr", NETWORK(24, 16, 8), .family = 6 },
	[FIELD_IP6_HOPLIMIT] = { "ip6 hoplimit", NETWORK(7, 1, 4),
	    .family = 6 },
	[FIELD_TH_SPORT] = { "th sport", TRANSPORT(0, 2, 13) },
	[FIELD_TH_DPORT] = { "th dport", TRANSPORT(2, 2, 13) },
	[FIELD_UDP_SPORT] = { "udp sport", TRANSPORT(0, 2, 13),
	    .protocol = 17 },
	[FIELD_UDP_DPORT] = { "udp dport", TRANSPORT(2, 2, 13),
	    .protocol = 17 },
	[FIELD_ICMP_TYPE] = { "icmp type", TRANSPORT(0, 1, 14), .family = 4,
	    .protocol = 1 },
	[FIELD_ICMPV6_TYPE] = { "icmpv6 type", TRANSPORT(0, 1, 29), .family = 6,
	    .protocol = 58 },
	[FIELD_ND_TARGET] = { "@th,64,128", TRANSPORT(8, 16, 4), .family = 6,
	    .protocol = 58 },
};

#define DHCP4 UDP(68, 67)
#define DHCP6 UDP(546, 547)

static const struct constants groupcast = { "{ broadcast, multicast }",
	{ 1, 2 }, 2 };
static const struct constants multicast = { "multicast", { 2 }, 1 };
static const struct constants neighbours = {
	"{ nd-neighbor-solicit, nd-neighbor-advert }", { 135, 136 }, 2
};
/* What every guest sends of itself: no attack worth an alert. Router
 * advertisements and redirects end here. */
static const struct constants chatter = {
	"{ mld-listener-query, mld-listener-report, mld-listener-done, "
	"nd-router-solicit, nd-router-advert, nd-redirect, "
	"mld2-listener-report }",
	{ 130, 131, 132, 133, 134, 137, 143 }, 7
};
static const struct constants errors4 = {
	"{ destination-unreachable, time-exceeded }", { 3, 11 }, 2
};
static const struct constants errors6 = {
	"{ destination-unreachable, packet-too-big, time-exceeded }",
	{ 1, 2, 3 }, 3
};

/*
 * Packets a second that one sandbox may take of what all share: the queue of
 * the listener, connection tracking, and the neighbour table, where each
 * invented sender is an entry. Far more than anybody needs.
 */
#define ASKS_RATE      5000
#define NEWCOMERS_RATE 200 /* of all behind an interface */
#define FLOWS_RATE     0 /* of the ceiling, see gateway_excess() */

/*
 * By name, so that it holds before any sandbox is bound. What a port of a
 * bridge sends arrives by the bridge, or by whatever is stacked on that, so
 * those sandboxes go by their addresses; the twin makes these true.
 */
static const struct rule_form edge_in[] = {
	RULE(IN("edge", IIFNAME), GOTO("judge")),
	RULE(IN("owned4", IP_SADDR), GOTO("judge")),
	RULE(IN("owned6", IP6_SADDR), GOTO("judge")),
};

/*
 * Pairs go by index: an interface made again under its name starts unbound.
 * Spoofed packets are dropped, not rejected, as an answer would go to the
 * forged source; their log rate is the interface's, the source being a lie.
 * DHCP comes before addresses, as it is spoken without one.
 */
static const struct rule_form judge[] = {
	RULE(IN("dhcp4", IIF, IP_SADDR), DHCP4, ACCEPT),
	RULE(IN("dhcp6", IIF, IP6_SADDR), DHCP6, ACCEPT),
	RULE(IN("home4", IIF, IP_SADDR), GOTO("known4")),
	RULE(IN("home6", IIF, IP6_SADDR), GOTO("known6")),
	RULE(IN("each4", IIF, IP_SADDR), GOTO("newcomer4")),
	RULE(IN("each6", IIF, IP6_SADDR), GOTO("newcomer6")),
	RULE(LINK_LOCAL, ON_LINK, ONE_OF(FIELD_ICMPV6_TYPE, neighbours),
	    EXCESS("neighbours", IIFNAME, NEIGHBOURS_RATE), COUNT("noise"),
	    DROP),
	RULE(LINK_LOCAL, ON_LINK, ONE_OF(FIELD_ICMPV6_TYPE, neighbours),
	    ACCEPT),
	RULE(UNSPECIFIED, ON_LINK, IS(FIELD_ICMPV6_TYPE, 135), ACCEPT),
	RULE(UNSPECIFIED, ONE_OF(FIELD_ICMPV6_TYPE, chatter), COUNT("noise"),
	    DROP),
	RULE(LINK_LOCAL, ONE_OF(FIELD_ICMPV6_TYPE, chatter), COUNT("noise"),
	    DROP),
	RULE(IS(FIELD_IP_SADDR, 0), IS(FIELD_UDP_DPORT, 67), COUNT("noise"),
	    DROP),
	RULE(COUNT("spoofed")),
	RULE(RATE("lograte_if", IIFNAME), LOG("spoofed")),
	RULE(DROP),
};

/*
 * A packet with a route of its own goes on from the address that is judged
 * here. The listener stands before all that looks at tracking, and works
 * untracked too, should somebody exempt port 53. What tracking keeps of
 * questions has a ceiling of its own: each port that one is asked from is an
 * entry. Quarantine and cut stand before `established`, or they could not cut.
 * `established` is safe because every first packet is judged here or in
 * `toward`, and because of the sweep when the table is born. Invalid packets
 * are dropped without a reply: a reset for one outside its window would kill
 * good flows.
 */
static const struct rule_form known4[] = {
	RULE(LOOSE_ROUTE, GOTO("unsound")),
	RULE(STRICT_ROUTE, GOTO("unsound")),
	RULE(IN("listen4", IP_DADDR, L4PROTO, DPORT),
	    EXCESS("askrate4", IP_SADDR, ASKS_RATE), GOTO("refuse")),
	RULE(IN("listen4", IP_DADDR, L4PROTO, DPORT), CT(CT_NEW),
	    CEILING("asks4", IP_SADDR), GOTO("refuse")),
	RULE(IN("listen4", IP_DADDR, L4PROTO, DPORT), ACCEPT),
	RULE(IN("quarantined4", IP_SADDR), COUNT("quarantined"), DROP),
	RULE(IN("cut4", IP_SADDR, IP_DADDR, L4PROTO, DPORT), GOTO("refuse")),
	RULE(CT(CT_ESTABLISHED), QUOTA("upload4", IP_SADDR, IP_DADDR),
	    GOTO("spent")),
	RULE(CT(CT_ESTABLISHED), QUOTA("total4", IP_SADDR), GOTO("spent")),
	RULE(CT(CT_ESTABLISHED), ACCEPT),
	RULE(ONE_OF(FIELD_PKTTYPE, groupcast), COUNT("noise"), DROP),
	RULE(CT(CT_UNTRACKED), GOTO("refuse")),
	RULE(CT(CT_RELATED), COUNT("noise"), DROP),
	RULE(CT_NOT(CT_NEW), GOTO("unsound")),
	RULE(PLAIN(STEP_TCP_NOT_SYN), GOTO("midflow")),
	RULE(IN("pins4", IP_SADDR, IP_DADDR, L4PROTO, DPORT), GOTO("admit")),
	RULE(IN("audit4", IP_SADDR), NOT_IN("protected4", IP_DADDR),
	    GOTO("audit")),
	RULE(GOTO("refuse")),
};

static const struct rule_form known6[] = {
	RULE(ROUTING, GOTO("unsound")),
	RULE(IN("listen6", IP6_DADDR, L4PROTO, DPORT),
	    EXCESS("askrate6", IP6_SADDR, ASKS_RATE), GOTO("refuse")),
	RULE(IN("listen6", IP6_DADDR, L4PROTO, DPORT), CT(CT_NEW),
	    CEILING("asks6", IP6_SADDR), GOTO("refuse")),
	RULE(IN("listen6", IP6_DADDR, L4PROTO, DPORT), ACCEPT),
	RULE(ON_LINK, ONE_OF(FIELD_ICMPV6_TYPE, neighbours), ACCEPT),
	RULE(ONE_OF(FIELD_ICMPV6_TYPE, chatter), COUNT("noise"), DROP),
	RULE(IN("quarantined6", IP6_SADDR), COUNT("quarantined"), DROP),
	RULE(IN("cut6", IP6_SADDR, IP6_DADDR, L4PROTO, DPORT), GOTO("refuse")),
	RULE(CT(CT_ESTABLISHED), QUOTA("upload6", IP6_SADDR, IP6_DADDR),
	    GOTO("spent")),
	RULE(CT(CT_ESTABLISHED), QUOTA("total6", IP6_SADDR), GOTO("spent")),
	RULE(CT(CT_ESTABLISHED), ACCEPT),
	RULE(ONE_OF(FIELD_PKTTYPE, multicast), COUNT("noise"), DROP),
	RULE(CT(CT_UNTRACKED), GOTO("refuse")),
	RULE(CT(CT_RELATED), COUNT("noise"), DROP),
	RULE(CT_NOT(CT_NEW), GOTO("unsound")),
	RULE(PLAIN(STEP_TCP_NOT_SYN), GOTO("midflow")),
	RULE(IN("pins6", IP6_SADDR, IP6_DADDR, L4PROTO, DPORT), GOTO("admit")),
	RULE(IN("audit6", IP6_SADDR), NOT_IN("protected6", IP6_DADDR),
	    GOTO("audit")),
	RULE(GOTO("refuse")),
};

/*
 * Whoever could be a member of a sandbox with `each` may ask, and is one from
 * then on; before it, nothing else passes, whatever is established. Of such
 * addresses there may be more than any set has room for: rates and counts are
 * the interface's and the prefix's, not theirs. The rate is also what bounds
 * their entries of connection tracking, of which each port may be one.
 */
static const struct rule_form newcomer4[] = {
	RULE(LOOSE_ROUTE, GOTO("turn_away")),
	RULE(STRICT_ROUTE, GOTO("turn_away")),
	RULE(IN("listen4", IP_DADDR, L4PROTO, DPORT),
	    EXCESS("newcomers", IIFNAME, NEWCOMERS_RATE), GOTO("turn_away")),
	RULE(IN("listen4", IP_DADDR, L4PROTO, DPORT), ACCEPT),
	RULE(ONE_OF(FIELD_PKTTYPE, groupcast), COUNT("noise"), DROP),
	RULE(GOTO("turn_away")),
};

static const struct rule_form newcomer6[] = {
	RULE(ROUTING, GOTO("turn_away")),
	RULE(IN("listen6", IP6_DADDR, L4PROTO, DPORT),
	    EXCESS("newcomers", IIFNAME, NEWCOMERS_RATE), GOTO("turn_away")),
	RULE(IN("listen6", IP6_DADDR, L4PROTO, DPORT), ACCEPT),
	RULE(ON_LINK, ONE_OF(FIELD_ICMPV6_TYPE, neighbours),
	    EXCESS("neighbours", IIFNAME, NEIGHBOURS_RATE), COUNT("noise"),
	    DROP),
	RULE(ON_LINK, ONE_OF(FIELD_ICMPV6_TYPE, neighbours), ACCEPT),
	RULE(ONE_OF(FIELD_ICMPV6_TYPE, chatter), COUNT("noise"), DROP),
	RULE(ONE_OF(FIELD_PKTTYPE, multicast), COUNT("noise"), DROP),
	RULE(GOTO("turn_away")),
};

/* The sets count by themselves what they are asked for. */
static const struct rule_form turn_away[] = {
	RULE(COUNT("refused")),
	RULE(IN("turned4", IIF, IP_SADDR)),
	RULE(IN("turned6", IIF, IP6_SADDR)),
	RULE(RATE("lograte_if", IIFNAME), LOG("refused")),
	RULE(PLAIN(STEP_TCP_RESET)),
	RULE(PLAIN(STEP_PROHIBIT)),
};

/*
 * The connection tracking table belongs to the whole host. The ceiling does
 * not count what is closed, which stays in it for two minutes: hence a rate.
 * UDP has no such end, and all of what nobody answers is new.
 */
static const struct rule_form admit[] = {
	RULE(IS(L4PROTO, PROTO_TCP), EXCESS("flowrate4", IP_SADDR, FLOWS_RATE),
	    GOTO("refuse")),
	RULE(CEILING("flows4", IP_SADDR), GOTO("refuse")),
	RULE(IS(L4PROTO, PROTO_TCP), EXCESS("flowrate6", IP6_SADDR, FLOWS_RATE),
	    GOTO("refuse")),
	RULE(CEILING("flows6", IP6_SADDR), GOTO("refuse")),
	RULE(QUOTA("upload4", IP_SADDR, IP_DADDR), GOTO("spent")),
	RULE(QUOTA("total4", IP_SADDR), GOTO("spent")),
	RULE(QUOTA("upload6", IP6_SADDR, IP6_DADDR), GOTO("spent")),
	RULE(QUOTA("total6", IP6_SADDR), GOTO("spent")),
	RULE(ACCEPT),
};

/* Behind the pins, so that what is logged and counted here is what enforcement
 * would refuse. */
static const struct rule_form audit[] = {
	RULE(COUNT("audited")),
	RULE(UPDATE("audited4", IP_SADDR)),
	RULE(UPDATE("audited6", IP6_SADDR)),
	RULE(RATE("lograte4", IP_SADDR), LOG("audited")),
	RULE(RATE("lograte6", IP6_SADDR), LOG("audited")),
	RULE(GOTO("admit")),
};

/*
 * What passed without a pin is for this host alone: neighbour discovery or
 * DHCP to an address beyond it would carry whatever its sender likes, and a
 * listener's address that is not here yet may be somebody else's.
 */
static const struct rule_form edge_out[] = {
	RULE(IN("dhcp4", IIF, IP_SADDR), DHCP4, GOTO("refuse")),
	RULE(IN("dhcp6", IIF, IP6_SADDR), DHCP6, GOTO("refuse")),
	RULE(IN("edge", IIFNAME), ONE_OF(FIELD_ICMPV6_TYPE, neighbours),
	    GOTO("refuse")),
	RULE(IN("edge", IIFNAME), IN("listen4", IP_DADDR, L4PROTO, DPORT),
	    GOTO("refuse")),
	RULE(IN("edge", IIFNAME), IN("listen6", IP6_DADDR, L4PROTO, DPORT),
	    GOTO("refuse")),
	RULE(IN("owned6", IP6_SADDR), ONE_OF(FIELD_ICMPV6_TYPE, neighbours),
	    GOTO("refuse")),
	RULE(IN("owned4", IP_SADDR), IN("listen4", IP_DADDR, L4PROTO, DPORT),
	    GOTO("refuse")),
	RULE(IN("owned6", IP6_SADDR), IN("listen6", IP6_DADDR, L4PROTO, DPORT),
	    GOTO("refuse")),
	RULE(IN("edge", OIFNAME), GOTO("toward")),
	RULE(IN("owned4", IP_DADDR), GOTO("toward")),
	RULE(IN("owned6", IP6_DADDR), GOTO("toward")),
};

/*
 * A connection from outside into a sandbox would be an exit by its replies,
 * so the operator says who may make one; another sandbox needs a pin, too, to
 * come this far. Without: refused, so that a sandbox sees an error.
 */
static const struct rule_form toward[] = {
	RULE(IN("quarantined4", IP_DADDR), COUNT("quarantined"), DROP),
	RULE(IN("quarantined6", IP6_DADDR), COUNT("quarantined"), DROP),
	RULE(CT(CT_ESTABLISHED), ACCEPT),
	RULE(CT(CT_RELATED), ONE_OF(FIELD_ICMP_TYPE, errors4), ACCEPT),
	RULE(CT(CT_RELATED), ONE_OF(FIELD_ICMPV6_TYPE, errors6), ACCEPT),
	RULE(CT(CT_NEW), IN("inbound4", IP_SADDR, IP_DADDR, L4PROTO, DPORT),
	    ACCEPT),
	RULE(CT(CT_NEW), IN("inbound6", IP6_SADDR, IP6_DADDR, L4PROTO, DPORT),
	    ACCEPT),
	RULE(IN("edge", IIFNAME), GOTO("refuse")),
	RULE(IN("owned4", IP_SADDR), GOTO("refuse")),
	RULE(IN("owned6", IP6_SADDR), GOTO("refuse")),
	RULE(COUNT("inbound"), DROP),
};

/*
 * The resolver's user reaches upstreams and receivers of events, which are in
 * the same sets, and nothing else, on this host either: a stub resolver on the
 * loopback would be a way out. Its listeners answer, and otherwise speak to
 * the edge alone.
 */
static const struct rule_form resolver_out[] = {
	RULE(IN("resolver_uid", SKUID), GOTO("resolver")),
};

static const struct rule_form resolver[] = {
	RULE(CT(CT_ESTABLISHED), ACCEPT),
	RULE(IN("edge", OIFNAME), IN("listen4", IP_SADDR, L4PROTO, SPORT),
	    ACCEPT),
	RULE(IN("edge", OIFNAME), IN("listen6", IP6_SADDR, L4PROTO, SPORT),
	    ACCEPT),
	RULE(IN("owned4", IP_DADDR), IN("listen4", IP_SADDR, L4PROTO, SPORT),
	    ACCEPT),
	RULE(IN("owned6", IP6_DADDR), IN("listen6", IP6_SADDR, L4PROTO, SPORT),
	    ACCEPT),
	RULE(IN("upstream4", IP_DADDR, L4PROTO, DPORT), ACCEPT),
	RULE(IN("upstream6", IP6_DADDR, L4PROTO, DPORT), ACCEPT),
	RULE(COUNT("resolver")),
	RULE(PLAIN(STEP_TCP_RESET)),
	RULE(PLAIN(STEP_PROHIBIT)),
};

static const struct rule_form unsound[] = {
	RULE(COUNT("unsound")),
	RULE(RATE("lograte4", IP_SADDR), LOG("unsound")),
	RULE(RATE("lograte6", IP6_SADDR), LOG("unsound")),
	RULE(DROP),
};

/* A cut flow, or an ACK out of the blue that tracking picked up as new. */
static const struct rule_form midflow[] = {
	RULE(COUNT("midflow")),
	RULE(GOTO("refuse")),
};

/* Logging and rejecting are separate rules: a limit in the one that rejects
 * would let packets through. */
static const struct rule_form refuse[] = {
	RULE(COUNT("refused")),
	RULE(UPDATE("refused4", IP_SADDR)),
	RULE(UPDATE("refused6", IP6_SADDR)),
	RULE(RATE("lograte4", IP_SADDR), LOG("refused")),
	RULE(RATE("lograte6", IP6_SADDR), LOG("refused")),
	RULE(PLAIN(STEP_TCP_RESET)),
	RULE(PLAIN(STEP_PROHIBIT)),
};

/* Beyond a quota. Not logged: the address is one that was resolved, and that
 * the quota is spent is told when it is. */
static const struct rule_form spent[] = {
	RULE(COUNT("spent")),
	RULE(UPDATE("refused4", IP_SADDR)),
	RULE(UPDATE("refused6", IP6_SADDR)),
	RULE(PLAIN(STEP_TCP_RESET)),
	RULE(PLAIN(STEP_PROHIBIT)),
};

static const struct rule_form masq[] = {
	RULE(IN("edge", IIFNAME), NOT_IN("edge", OIFNAME),
	    PLAIN(STEP_MASQUERADE)),
	RULE(IN("owned4", IP_SADDR), NOT_IN("edge", OIFNAME),
	    PLAIN(STEP_MASQUERADE)),
	RULE(IN("owned6", IP6_SADDR), NOT_IN("edge", OIFNAME),
	    PLAIN(STEP_MASQUERADE)),
};

static const struct chain_form chains[] = {
	{ BASE(edge_in, HOOK_PREROUTING, -150), .set_priority = true },
	{ CHAIN(judge) },
	{ CHAIN(known4) },
	{ CHAIN(known6) },
	{ CHAIN(newcomer4) },
	{ CHAIN(newcomer6) },
	{ CHAIN(admit) },
	{ CHAIN(audit) },
	{ BASE(edge_out, HOOK_FORWARD, -10) },
	{ CHAIN(toward) },
	{ BASE(resolver_out, HOOK_OUTPUT, -10) },
	{ CHAIN(resolver) },
	{ CHAIN(unsound) },
	{ CHAIN(midflow) },
	{ CHAIN(refuse) },
	{ CHAIN(spent) },
	{ CHAIN(turn_away) },
	{ BASE(masq, HOOK_POSTROUTING_NAT, 100) },
};

#define PIN4_TYPE "ipv4_addr . ipv4_addr . inet_proto . inet_service"
#define PIN6_TYPE "ipv6_addr . ipv6_addr . inet_proto . inet_service"
#define END4_TYPE "ipv4_addr . inet_proto . inet_service"
#define END6_TYPE "ipv6_addr . inet_proto . inet_service"
#define PIN4_PARTS                                 \
	{                                          \
		IP_SADDR, IP_DADDR, L4PROTO, DPORT \
	}
#define PIN6_PARTS                                   \
	{                                            \
		IP6_SADDR, IP6_DADDR, L4PROTO, DPORT \
	}
#define PIN4      .type = PIN4_TYPE, .fields = PIN4_PARTS
#define PIN6      .type = PIN6_TYPE, .fields = PIN6_PARTS
#define END4      .type = END4_TYPE, .fields = { IP_DADDR, L4PROTO, DPORT }
#define END6      .type = END6_TYPE, .fields = { IP6_DADDR, L4PROTO, DPORT }
#define ADDR4     .type = "ipv4_addr", .fields = { IP_SADDR }
#define ADDR6     .type = "ipv6_addr", .fields = { IP6_SADDR }
#define HOUR_MS   3600000u
#define MINUTE_MS 60000u

static const struct set_form sets[] = {
	{ .name = "edge",
	    .type = "ifname",
	    .fields = { IIFNAME },
	    .interval = true,
	    .configured = true },
	{ .name = "home4",
	    .type = "iface_index . ipv4_addr",
	    .fields = { IIF, IP_SADDR },
	    .interval = true,
	    .configured = true },
	{ .name = "home6",
	    .type = "iface_index . ipv6_addr",
	    .fields = { IIF, IP6_SADDR },
	    .interval = true,
	    .configured = true },
	{ .name = "each4",
	    .type = "iface_index . ipv4_addr",
	    .fields = { IIF, IP_SADDR },
	    .interval = true,
	    .configured = true },
	{ .name = "each6",
	    .type = "iface_index . ipv6_addr",
	    .fields = { IIF, IP6_SADDR },
	    .interval = true,
	    .configured = true },
	{ .name = "turned4",
	    .type = "iface_index . ipv4_addr",
	    .fields = { IIF, IP_SADDR },
	    .interval = true,
	    .counter = true,
	    .configured = true },
	{ .name = "turned6",
	    .type = "iface_index . ipv6_addr",
	    .fields = { IIF, IP6_SADDR },
	    .interval = true,
	    .counter = true,
	    .configured = true },
	{ .name = "dhcp4",
	    .type = "iface_index . ipv4_addr",
	    .fields = { IIF, IP_SADDR },
	    .interval = true,
	    .configured = true },
	{ .name = "dhcp6",
	    .type = "iface_index . ipv6_addr",
	    .fields = { IIF, IP6_SADDR },
	    .interval = true,
	    .configured = true },
	{ .name = "inbound4", PIN4, .interval = true, .configured = true },
	{ .name = "inbound6", PIN6, .interval = true, .configured = true },
	{ .name = "owned4", ADDR4, .configured = true },
	{ .name = "owned6", ADDR6, .configured = true },
	{ .name = "listen4", END4, .configured = true },
	{ .name = "listen6", END6, .configured = true },
	{ .name = "pins4", PIN4, .timeout_ms = HOUR_MS, .size = SIZE_PINS },
	{ .name = "pins6", PIN6, .timeout_ms = HOUR_MS, .size = SIZE_PINS },
	{ .name = "cut4", PIN4, .timeout_ms = MINUTE_MS, .size = SIZE_PINS },
	{ .name = "cut6", PIN6, .timeout_ms = MINUTE_MS, .size = SIZE_PINS },
	{ .name = "upload4",
	    .type = "ipv4_addr . ipv4_addr",
	    .fields = { IP_SADDR, IP_DADDR },
	    .quota = true,
	    .size = SIZE_PINS },
	{ .name = "upload6",
	    .type = "ipv6_addr . ipv6_addr",
	    .fields = { IP6_SADDR, IP6_DADDR },
	    .quota = true,
	    .size = SIZE_PINS },
	{ .name = "total4", ADDR4, .quota = true, .size = SIZE_PINS },
	{ .name = "total6", ADDR6, .quota = true, .size = SIZE_PINS },
	{ .name = "quarantined4",
	    ADDR4,
	    .configured = true,
	    .lingering = true },
	{ .name = "quarantined6",
	    ADDR6,
	    .configured = true,
	    .lingering = true },
	{ .name = "audit4", ADDR4, .configured = true },
	{ .name = "audit6", ADDR6, .configured = true },
	{ .name = "protected4",
	    ADDR4,
	    .interval = true,
	    .configured = true,
	    .lingering = true },
	{ .name = "protected6",
	    ADDR6,
	    .interval = true,
	    .configured = true,
	    .lingering = true },
	{ .name = "audited4",
	    ADDR4,
	    .dynamic = true,
	    .counter = true,
	    .size = SIZE_SOURCES },
	{ .name = "audited6",
	    ADDR6,
	    .dynamic = true,
	    .counter = true,
	    .size = SIZE_SOURCES },
	{ .name = "refused4",
	    ADDR4,
	    .dynamic = true,
	    .counter = true,
	    .size = SIZE_SOURCES },
	{ .name = "refused6",
	    ADDR6,
	    .dynamic = true,
	    .counter = true,
	    .size = SIZE_SOURCES },
	{ .name = "flows4", ADDR4, .dynamic = true, .size = SIZE_SOURCES },
	{ .name = "flows6", ADDR6, .dynamic = true, .size = SIZE_SOURCES },
	{ .name = "asks4", ADDR4, .dynamic = true, .size = SIZE_SOURCES },
	{ .name = "asks6", ADDR6, .dynamic = true, .size = SIZE_SOURCES },
	{ .name = "askrate4",
	    ADDR4,
	    .dynamic = true,
	    .timeout_ms = MINUTE_MS,
	    .size = SIZE_SOURCES },
	{ .name = "askrate6",
	    ADDR6,
	    .dynamic = true,
	    .timeout_ms = MINUTE_MS,
	    .size = SIZE_SOURCES },
	{ .name = "flowrate4",
	    ADDR4,
	    .dynamic = true,
	    .timeout_ms = MINUTE_MS,
	    .size = SIZE_SOURCES },
	{ .name = "flowrate6",
	    ADDR6,
	    .dynamic = true,
	    .timeout_ms = MINUTE_MS,
	    .size = SIZE_SOURCES },
	{ .name = "newcomers",
	    .type = "ifname",
	    .fields = { IIFNAME },
	    .dynamic = true,
	    .timeout_ms = MINUTE_MS,
	    .size = SIZE_SOURCES },
	{ .name = "neighbours",
	    .type = "ifname",
	    .fields = { IIFNAME },
	    .dynamic = true,
	    .timeout_ms = MINUTE_MS,
	    .size = SIZE_SOURCES },
	{ .name = "lograte4",
	    ADDR4,
	    .dynamic = true,
	    .timeout_ms = MINUTE_MS,
	    .size = SIZE_SOURCES },
	{ .name = "lograte6",
	    ADDR6,
	    .dynamic = true,
	    .timeout_ms = MINUTE_MS,
	    .size = SIZE_SOURCES },
	{ .name = "lograte_if",
	    .type = "ifname",
	    .fields = { IIFNAME },
	    .dynamic = true,
	    .timeout_ms = MINUTE_MS,
	    .size = SIZE_SOURCES },
	{ .name = "resolver_uid",
	    .type = "uid",
	    .fields = { SKUID },
	    .configured = true },
	{ .name = "upstream4", END4, .configured = true },
	{ .name = "upstream6", END6, .configured = true },
};

static const char *const counters[] = {
	"spoofed",
	"unsound",
	"refused",
	"midflow",
	"quarantined",
	"audited",
	"inbound",
	"noise",
	"resolver",
	"spent",
	GATEWAY_SCHEMA,
};

void
gateway_tables(bool masquerading, struct table_form ret[GATEWAY_TABLES])
{
	ret[0] = (struct table_form){
		.family = NFPROTO_INET,
		.text = "inet",
		.counters = counters,
		.counter_count = ARRAY_LEN(counters),
		.sets = sets,
		.set_count = ARRAY_LEN(sets),
		.chains = chains,
		.chain_count = ARRAY_LEN(chains) - (masquerading ? 0 : 1),
	};
	ret[1] = twin_table();
}

int32_t
gateway_priority(const struct gateway_params *params,
    const struct chain_form *chain)
{
	return chain->set_priority ? params->priority : chain->priority;
}

uint32_t
gateway_set_size(const struct gateway_params *params, enum set_size size)
{
	switch (size) {
	case SIZE_NONE:
		return 0;
	case SIZE_PINS:
		return params->pins_max;
	case SIZE_SOURCES:
		return 16384;
	}
	UNREACHABLE();
}

uint32_t
gateway_excess(const struct gateway_params *params, const struct step *step)
{
	if (step->value != FLOWS_RATE)
		return step->value;
	return params->flows_max / 16 + 1;
}

/* A pin is an element for each source of its sandbox in a family. */
static uint32_t
fan_out_max(const struct edge_config *config)
{
	uint32_t most = 1;

	for (size_t i = 0; i < config->sandbox_count; i++) {
		const struct edge_sandbox *sandbox = &config->sandboxes[i];
		uint32_t count[2] = { 0, 0 };

		for (size_t k = 0; k < sandbox->source_count; k++)
			count[sandbox->sources[k].family == 6 ? 1 : 0]++;
		most = count[0] > most ? count[0] : most;
		most = count[1] > most ? count[1] : most;
	}
	return most;
}

void
gateway_params_of(struct gateway_params *ret, const struct edge_config *config)
{
	const struct settings *settings = &config->settings;

	*ret = (struct gateway_params){
		.priority = settings->nft_priority,
		.masquerade = settings->nft_masquerade,
		.log_group = settings->nft_log_group,
		.log_rate = settings->nft_log_rate,
		.flows_max = settings->limits.flows_per_sandbox,
		.pins_max = settings->limits.pins * fan_out_max(config),
	};
	snprintf(ret->table, sizeof(ret->table), "%s", settings->nft_table);
}
