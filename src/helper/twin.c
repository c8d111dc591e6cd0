/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * twin - the tables. Every rule about an address names its ether type first:
 * taken from the frame, so that a tagged one is none of the three.
 */
#include "config.h"

#include "src/helper/twin.h"

#include <linux/netfilter.h>

#include "src/helper/spelling.h"

#define HTYPE_ETHER  IS(FIELD_ARP_HTYPE, 1)
#define PTYPE_IP     IS(FIELD_ARP_PTYPE, 0x0800)
#define ARP_DADDR    FIELD_ARP_DADDR
#define ARP_SADDR    FIELD_ARP_SADDR
#define ETHER_SADDR  FIELD_ETHER_SADDR
#define ND_TARGET    FIELD_ND_TARGET
#define OWN_TARGET   IN("target6", IIFNAME, ND_TARGET)
#define TARGET_LOCAL PLAIN(STEP_TARGET_LINK_LOCAL)
#define MISADDRESSED COUNT("misaddressed"), DROP
#define ADVERTISING  ETHER_IP6, ADVERTISEMENT

static const struct constants routing = { "{ nd-router-advert, nd-redirect }",
	{ 134, 137 }, 2 };

static const struct constants neighbours = {
	"{ nd-neighbor-solicit, nd-neighbor-advert }", { 135, 136 }, 2
};
/* What a sandbox needs to hear to find its router. */
static const struct constants discovery = {
	"{ nd-router-advert, nd-neighbor-solicit, nd-neighbor-advert }",
	{ 134, 135, 136 }, 3
};

/*
 * Edge ports by name, so that an interface is closed from its first frame in
 * a bridge. Others may not bear what is a sandbox's, and are left alone.
 * ARP is looked at whatever the hardware type: hosts take more than one.
 */
static const struct rule_form guard[] = {
	RULE(IN("ports", IIFNAME), GOTO("port")),
	RULE(IN("owned_mac", ETHER_SADDR), MISADDRESSED),
	RULE(ETHER_IP4, IN("owned4", IP_SADDR), MISADDRESSED),
	RULE(ETHER_ARP, PTYPE_IP, IN("owned4", ARP_SADDR), MISADDRESSED),
	RULE(ADVERTISING, IN("owned_target6", ND_TARGET), MISADDRESSED),
	RULE(ETHER_IP6, IN("owned6", IP6_SADDR), MISADDRESSED),
};

/*
 * Frames to the bridge's own group addresses come here without having met
 * the first chain, and the bridge learns from them where a sender is. (From
 * those of LLDP and of spanning trees it learns before any hook.)
 */
static const struct rule_form guard_input[] = {
	RULE(IN("ports", IIFNAME), GOTO("port")),
};

static const struct rule_form port[] = {
	RULE(IN("mac", IIFNAME, ETHER_SADDR), GOTO("addressed")),
	RULE(IN("owned_mac", ETHER_SADDR), MISADDRESSED),
	RULE(IN("anymac", IIFNAME), GOTO("addressed")),
	RULE(MISADDRESSED),
};

/*
 * Addresses go by index, as in the gateway: a port that is made again under
 * its name has none. Neighbour advertisements pass for an own target alone,
 * and from an own source, or they would carry whatever their sender likes
 * under an address that the gateway does not judge. What this host is to
 * receive is judged at both hooks.
 */
#define JUDGED_TWICE 2

static const struct rule_form addressed[] = {
	RULE(ETHER_ARP, HTYPE_ETHER, PTYPE_IP, IN("home4", IIF, ARP_SADDR),
	    ACCEPT),
	RULE(ETHER_IP4, IN("home4", IIF, IP_SADDR), ACCEPT),
	RULE(ETHER_IP6, ONE_OF(FIELD_ICMPV6_TYPE, routing), MISADDRESSED),
	RULE(ETHER_IP6, LINK_LOCAL, ONE_OF(FIELD_ICMPV6_TYPE, neighbours),
	    EXCESS("neighbours", IIFNAME, JUDGED_TWICE *NEIGHBOURS_RATE),
	    COUNT("noise"), DROP),
	RULE(ADVERTISING, OWN_TARGET, IN("home6", IIF, IP6_SADDR), ACCEPT),
	RULE(ADVERTISING, OWN_TARGET, LINK_LOCAL, ON_LINK, ACCEPT),
	RULE(ADVERTISING, TARGET_LOCAL, LINK_LOCAL, ON_LINK, ACCEPT),
	RULE(ADVERTISING, MISADDRESSED),
	RULE(ETHER_IP6, IN("home6", IIF, IP6_SADDR), ACCEPT),
	RULE(ETHER_IP6, UNSPECIFIED, ON_LINK, SOLICITATION, ACCEPT),
	RULE(ETHER_IP6, LINK_LOCAL, ON_LINK, SOLICITATION, ACCEPT),
	RULE(ETHER_IP4, IN("dhcp", IIFNAME), IS(FIELD_IP_SADDR, 0), UDP(68, 67),
	    ACCEPT),
	RULE(ETHER_IP6, IN("dhcp", IIFNAME), LINK_LOCAL, UDP(546, 547), ACCEPT),
	RULE(MISADDRESSED),
};

/* What this host receives and sends by the bridge does not come here. */
static const struct rule_form forward[] = {
	RULE(IN("ports", IIFNAME), COUNT("bridged"), DROP),
	RULE(IN("ports", OIFNAME), COUNT("bridged"), DROP),
};

static const struct rule_form deliver[] = {
	RULE(IN("ports", OIFNAME), GOTO("delivered")),
};

/*
 * What this host sends goes where the bridge has learned that an address is.
 * Who makes it learn wrongly still gets nothing that is for a neighbour.
 */
static const struct rule_form delivered[] = {
	RULE(ETHER_IP4, IN("home4", OIF, IP_DADDR), ACCEPT),
	RULE(ETHER_IP6, IN("home6", OIF, IP6_DADDR), ACCEPT),
	RULE(ETHER_ARP, PTYPE_IP, IN("home4", OIF, ARP_DADDR), ACCEPT),
	RULE(ETHER_IP6, ONE_OF(FIELD_ICMPV6_TYPE, discovery), ACCEPT),
	RULE(ETHER_IP4, IN("dhcp", OIFNAME), UDP(67, 68), ACCEPT),
	RULE(ETHER_IP6, IN("dhcp", OIFNAME), UDP(547, 546), ACCEPT),
	RULE(COUNT("misdelivered"), DROP),
};

/* Before everything else, br_netfilter included. */
static const struct chain_form chains[] = {
	{ BASE(guard, HOOK_PREROUTING, -300) },
	{ BASE(guard_input, HOOK_INPUT, -300) },
	{ CHAIN(port) },
	{ CHAIN(addressed) },
	{ BASE(forward, HOOK_FORWARD, -300) },
	{ BASE(deliver, HOOK_OUTPUT, -300) },
	{ CHAIN(delivered) },
};

static const struct set_form sets[] = {
	{ .name = "ports",
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
	{ .name = "dhcp",
	    .type = "ifname",
	    .fields = { IIFNAME },
	    .configured = true },
	{ .name = "target6",
	    .type = "iifname . @th,64,128",
	    .fields = { IIFNAME, ND_TARGET },
	    .raw = true,
	    .configured = true },
	{ .name = "mac",
	    .type = "ifname . ether_addr",
	    .fields = { IIFNAME, ETHER_SADDR },
	    .configured = true },
	{ .name = "anymac",
	    .type = "ifname",
	    .fields = { IIFNAME },
	    .configured = true },
	{ .name = "neighbours",
	    .type = "ifname",
	    .fields = { IIFNAME },
	    .dynamic = true,
	    .timeout_ms = 60000,
	    .size = SIZE_SOURCES },
	{ .name = "owned4",
	    .type = "ipv4_addr",
	    .fields = { IP_SADDR },
	    .configured = true },
	{ .name = "owned6",
	    .type = "ipv6_addr",
	    .fields = { IP6_SADDR },
	    .configured = true },
	{ .name = "owned_target6",
	    .type = "@th,64,128",
	    .fields = { ND_TARGET },
	    .raw = true,
	    .configured = true },
	{ .name = "owned_mac",
	    .type = "ether_addr",
	    .fields = { ETHER_SADDR },
	    .configured = true },
};

static const char *const counters[] = {
	"bridged",
	"misaddressed",
	"misdelivered",
	"noise",
	GATEWAY_SCHEMA,
};

struct table_form
twin_table(void)
{
	return (struct table_form){
		.family = NFPROTO_BRIDGE,
		.text = "bridge",
		.counters = counters,
		.counter_count = ARRAY_LEN(counters),
		.sets = sets,
		.set_count = ARRAY_LEN(sets),
		.chains = chains,
		.chain_count = ARRAY_LEN(chains),
	};
}
