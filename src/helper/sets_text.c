/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sets_text - sets_print() of ruleset_text.h: what an operator pastes who
 * judges by rules of his own. It opens and refuses as the gateway does, with
 * the addresses written in, since nobody fills sets for him but those of pins.
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "lib/text/edge_follow.h"
#include "src/helper/ruleset_text.h"
#include "src/helper/source.h"

/* Where the configuration is of another mode. */
#define TABLE "agents"
#define PINS4 "agent_pins4"
#define PINS6 "agent_pins6"

static void
print_pins(FILE *out, const char *name, const char *addr, uint32_t pins_max)
{
	fprintf(out,
	    "\tset %s {\n\t\ttype %s . %s . inet_proto . inet_service\n"
	    "\t\tsize %" PRIu32 "\n\t\tflags timeout\n\t\ttimeout 1h\n\t}\n\n",
	    name, addr, addr, pins_max);
}

static bool
is_first_at(const struct edge_config *config, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (strcmp(config->sandboxes[i].interface,
			config->sandboxes[at].interface) == 0)
			return false;
	return true;
}

/* Before an element; the list is opened by the first one. */
static void
separate(FILE *out, bool *any)
{
	fputs(*any ? ",\n\t\t\t" : "\t\telements = {\n\t\t\t", out);
	*any = true;
}

static void
end_set(FILE *out, bool any)
{
	fputs(any ? "\n\t\t}\n\t}\n\n" : "\t}\n\n", out);
}

static void
print_edge(FILE *out, const struct edge_config *config)
{
	bool any = false;

	fputs("\tset namewall_edge {\n\t\ttype ifname\n", out);
	for (size_t i = 0; i < config->sandbox_count; i++) {
		if (!edge_sandbox_exists(&config->sandboxes[i]) ||
		    !is_first_at(config, i))
			continue;
		separate(out, &any);
		fprintf(out, "\"%s\"", config->sandboxes[i].interface);
	}
	end_set(out, any);
}

static void
print_homes(FILE *out, const struct edge_config *config, uint8_t family)
{
	char text[ADDR_TEXT_MAX];
	bool any = false;

	fprintf(out, "\tset namewall_home%u {\n\t\ttype ifname . ipv%u_addr\n",
	    family, family);
	for (size_t i = 0; i < config->sandbox_count; i++) {
		const struct edge_sandbox *one = &config->sandboxes[i];

		for (size_t k = 0; k < one->source_count; k++) {
			if (one->sources[k].family != family)
				continue;
			addr_print(&one->sources[k], text);
			separate(out, &any);
			fprintf(out, "\"%s\" . %s", one->interface, text);
		}
	}
	end_set(out, any);
}

static void
print_listeners(FILE *out, const struct settings *settings, uint8_t family)
{
	char text[ADDR_TEXT_MAX];
	bool any = false;

	fprintf(out,
	    "\tset namewall_listen%u {\n\t\ttype ipv%u_addr . inet_proto . "
	    "inet_service\n",
	    family, family);
	for (size_t i = 0; i < settings->listen_count; i++) {
		const struct endpoint *one = &settings->listen[i];

		if (one->addr.family != family)
			continue;
		addr_print(&one->addr, text);
		separate(out, &any);
		fprintf(out, "%s . udp . %u, %s . tcp . %u", text, one->port,
		    text, one->port);
	}
	end_set(out, any);
}

/* The first packet of a flow is judged by what the sandbox wrote into it. */
static void
print_judgement(FILE *out, const char *pins4, const char *pins6)
{
	fputs(
	    "\tchain namewall_in {\n"
	    "\t\ttype filter hook prerouting priority -150; policy accept;\n"
	    "\t\tiifname @namewall_edge goto namewall_judge\n"
	    "\t}\n\n"
	    "\tchain namewall_judge {\n"
	    "\t\tiifname . ip saddr @namewall_home4 goto namewall_known\n"
	    "\t\tiifname . ip6 saddr @namewall_home6 goto namewall_known\n"
	    "\t\tip6 saddr fe80::/10 ip6 hoplimit 255 icmpv6 type "
	    "{ nd-neighbor-solicit, nd-neighbor-advert } accept\n"
	    "\t\tip6 saddr :: ip6 hoplimit 255 icmpv6 type "
	    "nd-neighbor-solicit accept\n"
	    "\t\tdrop\n"
	    "\t}\n\n"
	    "\tchain namewall_known {\n"
	    "\t\tip daddr . meta l4proto . th dport @namewall_listen4 accept\n"
	    "\t\tip6 daddr . meta l4proto . th dport @namewall_listen6 "
	    "accept\n"
	    "\t\tip6 hoplimit 255 icmpv6 type { nd-neighbor-solicit, "
	    "nd-neighbor-advert } accept\n"
	    "\t\tct state established accept\n"
	    "\t\tmeta pkttype { broadcast, multicast } drop\n"
	    "\t\tct state untracked goto namewall_refuse\n"
	    "\t\tct state != new drop\n"
	    "\t\ttcp flags & (fin | syn | rst | ack) != syn goto "
	    "namewall_refuse\n",
	    out);
	fprintf(out,
	    "\t\tip saddr . ip daddr . meta l4proto . th dport @%s accept\n"
	    "\t\tip6 saddr . ip6 daddr . meta l4proto . th dport @%s accept\n"
	    "\t\tgoto namewall_refuse\n\t}\n\n",
	    pins4, pins6);
}

/* What passed without a pin is for this host alone; and nobody else opens a
 * flow to a sandbox. */
static void
print_way_out(FILE *out)
{
	fputs("\tchain namewall_out {\n"
	      "\t\ttype filter hook forward priority -10; policy accept;\n"
	      "\t\tiifname @namewall_edge icmpv6 type { nd-neighbor-solicit, "
	      "nd-neighbor-advert } goto namewall_refuse\n"
	      "\t\tiifname @namewall_edge ip daddr . meta l4proto . th dport "
	      "@namewall_listen4 goto namewall_refuse\n"
	      "\t\tiifname @namewall_edge ip6 daddr . meta l4proto . th dport "
	      "@namewall_listen6 goto namewall_refuse\n"
	      "\t\toifname @namewall_edge goto namewall_toward\n"
	      "\t}\n\n"
	      "\tchain namewall_toward {\n"
	      "\t\tct state established accept\n"
	      "\t\tct state related icmp type { destination-unreachable, "
	      "time-exceeded } accept\n"
	      "\t\tct state related icmpv6 type { destination-unreachable, "
	      "packet-too-big, time-exceeded } accept\n"
	      "\t\tiifname @namewall_edge goto namewall_refuse\n"
	      "\t\tdrop\n"
	      "\t}\n\n"
	      "\tchain namewall_refuse {\n"
	      "\t\tmeta l4proto tcp reject with tcp reset\n"
	      "\t\treject with icmpx admin-prohibited\n"
	      "\t}\n",
	    out);
}

bool
sets_print(FILE *out, const struct edge_config *config, char *reason)
{
	const struct settings *s = &config->settings;
	const char *pins4 = s->nft_sets ? s->nft_pins4 : PINS4;
	const char *pins6 = s->nft_sets ? s->nft_pins6 : PINS6;
	struct gateway_params params;

	gateway_params_of(&params, config);
	for (size_t i = 0; i < config->sandbox_count; i++) {
		const struct edge_sandbox *one = &config->sandboxes[i];

		if (!edge_sandbox_exists(one) || one->interface[0] != '\0')
			continue;
		snprintf(reason, REASON_MAX,
		    "%s:%u:%u: sandbox \"%s\" has no \"interface\", and the "
		    "rules are about interfaces; add it",
		    s->file, (unsigned int)one->line, (unsigned int)one->column,
		    one->name);
		return false;
	}
	fprintf(out, "table inet %s {\n", s->nft_sets ? s->nft_table : TABLE);
	print_pins(out, pins4, "ipv4_addr", params.pins_max);
	print_pins(out, pins6, "ipv6_addr", params.pins_max);
	print_edge(out, config);
	print_homes(out, config, 4);
	print_homes(out, config, 6);
	print_listeners(out, s, 4);
	print_listeners(out, s, 6);
	print_judgement(out, pins4, pins6);
	print_way_out(out);
	fputs("}\n", out);
	return true;
}
