/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan - what selftest tries.
 *
 * An attempt proves most where something would answer: so the resolvers are
 * the upstreams, and the ports of this host those on which it listens.
 */
#include "config.h"

#include "src/cli/plan.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "lib/require.h"

#define PORTS_MAX     8
#define PORT_DISCARD  9 /* closed nearly everywhere: "port unreachable" */
#define TCP_LISTENING 0x0a

struct host {
	struct addr addrs[PLAN_LOCAL_MAX]; /* its own, loopback left out */
	size_t addr_count;
	struct addr link_local; /* of the sandbox's interface */
	uint16_t ports[PORTS_MAX]; /* TCP, listening */
	size_t port_count;
};

static void
add(struct plan *plan, enum plan_probe probe, const struct addr *to,
    struct service service, const struct addr *from)
{
	if (plan->count == PLAN_ATTEMPTS_MAX)
		return;
	struct attempt *attempt = &plan->attempts[plan->count];
	*attempt = (struct attempt){ .service = service, .to = *to };
	plan->control[plan->count] = *attempt;
	if (from != NULL)
		attempt->from = *from;
	plan->probe[plan->count++] = probe;
}

static struct service
tcp(uint16_t port)
{
	return (struct service){ PROTO_TCP, port };
}

static struct service
udp(uint16_t port)
{
	return (struct service){ PROTO_UDP, port };
}

/* --- what this host is --- */

static bool
from_sockaddr(const struct sockaddr *sa, struct addr *ret)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	if (sa == NULL)
		return false;
	if (sa->sa_family == AF_INET) {
		memcpy(&v4, sa, sizeof(v4));
		*ret = addr_v4((const uint8_t *)&v4.sin_addr);
		return true;
	}
	if (sa->sa_family != AF_INET6)
		return false;
	memcpy(&v6, sa, sizeof(v6));
	*ret = addr_v6(v6.sin6_addr.s6_addr);
	return true;
}

static bool
known(const struct host *host, const struct addr *addr)
{
	for (size_t i = 0; i < host->addr_count; i++)
		if (addr_equal(&host->addrs[i], addr))
			return true;
	return false;
}

static void
host_addresses(struct host *host, const char *interface)
{
	struct ifaddrs *list;
	struct addr addr;

	if (getifaddrs(&list) < 0)
		return;
	for (const struct ifaddrs *at = list; at != NULL; at = at->ifa_next) {
		if (!from_sockaddr(at->ifa_addr, &addr))
			continue;
		enum addr_class class = addr_classify(&addr);
		if (class == ADDR_LOOPBACK)
			continue;
		if (class == ADDR_LINK_LOCAL && addr.family == 6) {
			if (strcmp(at->ifa_name, interface) == 0)
				host->link_local = addr;
		} else if (host->addr_count < PLAN_LOCAL_MAX &&
		    !known(host, &addr))
			host->addrs[host->addr_count++] = addr;
	}
	freeifaddrs(list);
}

static void
host_port(struct host *host, uint16_t port)
{
	for (size_t i = 0; i < host->port_count; i++)
		if (host->ports[i] == port)
			return;
	if (host->port_count < PORTS_MAX)
		host->ports[host->port_count++] = port;
}

static void
host_ports(struct host *host, const char *path)
{
	FILE *file = fopen(path, "re");
	char line[512], addr[64];
	unsigned port, state;

	if (file == NULL)
		return;
	while (fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, " %*d: %63[0-9A-Fa-f]:%4x %*s %2x", addr,
			&port, &state) != 3 ||
		    state != TCP_LISTENING)
			continue;
		if (strcmp(addr, "0100007F") != 0 &&
		    strcmp(addr, "00000000000000000000000001000000") != 0)
			host_port(host, (uint16_t)port);
	}
	fclose(file);
}

/* --- the probes --- */

static bool
is_listener(const struct edge_config *edge, const struct addr *addr,
    uint16_t port)
{
	const struct settings *settings = &edge->settings;

	for (size_t i = 0; i < settings->listen_count; i++)
		if (settings->listen[i].port == port &&
		    addr_equal(&settings->listen[i].addr, addr))
			return true;
	return false;
}

/* A service of this host that the policy opens by `private` is no escape. */
static bool
is_granted(const struct plan_input *input, const struct addr *addr,
    struct service service)
{
	const struct edge_policy *policy =
	    &input->edge->policies[input->sandbox->policy];
	bool covered = false, listed = false;

	for (size_t i = 0; i < policy->private_count; i++)
		if (prefix_contains(&policy->private_ok[i], addr))
			covered = true;
	for (size_t i = 0; i < policy->service_count; i++)
		if (policy->services[i].protocol == service.protocol &&
		    policy->services[i].port == service.port)
			listed = true;
	return covered && listed;
}

static void
plan_resolvers(struct plan *plan, const struct plan_input *input)
{
	const struct settings *settings = &input->edge->settings;
	size_t before = plan->count;

	for (size_t i = 0; i < settings->upstream_count; i++) {
		const struct endpoint *at = &settings->upstream[i];

		if (addr_classify(&at->addr) == ADDR_LOOPBACK)
			continue;
		add(plan, PLAN_RESOLVER, &at->addr, udp(at->port), NULL);
		add(plan, PLAN_RESOLVER, &at->addr, tcp(at->port), NULL);
	}
	if (plan->count > before)
		return;
	for (size_t i = 0; i < input->target_count; i++) {
		add(plan, PLAN_RESOLVER, &input->targets[i], udp(53), NULL);
		add(plan, PLAN_RESOLVER, &input->targets[i], tcp(53), NULL);
	}
}

static void
plan_literals(struct plan *plan, const struct plan_input *input)
{
	for (size_t i = 0; i < input->target_count; i++) {
		const struct addr *to = &input->targets[i];
		bool v6 = to->family == 6;

		add(plan, v6 ? PLAN_IPV6 : PLAN_TCP, to, tcp(443), NULL);
		add(plan, v6 ? PLAN_IPV6 : PLAN_TCP, to, tcp(80), NULL);
		add(plan, v6 ? PLAN_IPV6 : PLAN_UDP, to, udp(53), NULL);
		add(plan, v6 ? PLAN_IPV6 : PLAN_UDP, to, udp(443), NULL);
		add(plan, v6 ? PLAN_IPV6 : PLAN_UDP, to, udp(PORT_DISCARD),
		    NULL);
	}
}

static void
plan_host(struct plan *plan, const struct plan_input *input,
    const struct host *host)
{
	for (size_t i = 0; i < host->addr_count; i++) {
		const struct addr *to = &host->addrs[i];

		for (size_t j = 0; j < host->port_count; j++) {
			struct service service = tcp(host->ports[j]);

			if (!is_listener(input->edge, to, service.port) &&
			    !is_granted(input, to, service))
				add(plan, PLAN_HOST, to, service, NULL);
		}
		if (!is_listener(input->edge, to, 53))
			add(plan, PLAN_HOST, to, udp(53), NULL);
		add(plan, PLAN_HOST, to, udp(PORT_DISCARD), NULL);
	}
}

/* The host by an address that no rule mentions. The scope is the sandbox's
 * interface, whose number over there is filled in over there. */
static void
plan_link_local(struct plan *plan, const struct plan_input *input,
    const struct host *host)
{
	const struct addr *to = &host->link_local;
	unsigned ifindex = if_nametoindex(input->interface);
	size_t first = plan->count;

	if (to->family == 0 || ifindex == 0)
		return;
	for (size_t i = 0; i < host->port_count; i++)
		add(plan, PLAN_IPV6, to, tcp(host->ports[i]), NULL);
	add(plan, PLAN_IPV6, to, udp(53), NULL);
	add(plan, PLAN_IPV6, to, udp(PORT_DISCARD), NULL);
	for (size_t i = first; i < plan->count; i++)
		plan->control[i].ifindex = plan->attempts[i].ifindex = ifindex;
}

static bool
is_source(const struct edge_config *edge, const struct addr *addr)
{
	for (size_t i = 0; i < edge->sandbox_count; i++)
		for (size_t j = 0; j < edge->sandboxes[i].source_count; j++)
			if (addr_equal(&edge->sandboxes[i].sources[j], addr))
				return true;
	return false;
}

/* A neighbour of the sandbox's address that belongs to nobody we know. */
static struct addr
invent(const struct plan_input *input, const struct host *host,
    const struct addr *source)
{
	struct addr addr = *source;

	if (source->family == 0)
		return addr;
	uint8_t *last = &addr.bytes[addr_size(source) - 1];
	for (int i = 1; i < 250; i++) {
		*last = (uint8_t)(*last + 1);
		if (*last == 0 || *last == 255 || is_source(input->edge, &addr))
			continue;
		if (!known(host, &addr) && !is_listener(input->edge, &addr, 53))
			return addr;
	}
	return (struct addr){ 0 };
}

static void
plan_spoof(struct plan *plan, const struct plan_input *input,
    const struct addr *from)
{
	const struct settings *settings = &input->edge->settings;

	if (from->family == 0)
		return;
	for (size_t i = 0; i < settings->listen_count; i++)
		if (settings->listen[i].addr.family == from->family)
			add(plan, PLAN_SPOOF, &settings->listen[i].addr,
			    udp(settings->listen[i].port), from);
	for (size_t i = 0; i < input->target_count; i++) {
		if (input->targets[i].family != from->family)
			continue;
		add(plan, PLAN_SPOOF, &input->targets[i], tcp(443), from);
		add(plan, PLAN_SPOOF, &input->targets[i], tcp(80), from);
		add(plan, PLAN_SPOOF, &input->targets[i], udp(53), from);
	}
}

void
plan_make(struct plan *plan, const struct plan_input *input)
{
	struct host host = { 0 };

	*plan = (struct plan){ 0 };
	for (size_t i = 0; i < input->sandbox->source_count; i++) {
		const struct addr *source = &input->sandbox->sources[i];

		if (source->family == 4 && plan->source4.family == 0)
			plan->source4 = *source;
		if (source->family == 6 && plan->source6.family == 0)
			plan->source6 = *source;
	}
	host_addresses(&host, input->interface);
	host_ports(&host, "/proc/self/net/tcp");
	host_ports(&host, "/proc/self/net/tcp6");
	plan->spoof4 = invent(input, &host, &plan->source4);
	plan->spoof6 = invent(input, &host, &plan->source6);

	plan_resolvers(plan, input);
	plan_literals(plan, input);
	plan_host(plan, input, &host);
	plan_link_local(plan, input, &host);
	plan_spoof(plan, input, &plan->spoof4);
	plan_spoof(plan, input, &plan->spoof6);
}

const char *
plan_probe_name(enum plan_probe probe)
{
	switch (probe) {
	case PLAN_RESOLVER:
		return "another-resolver";
	case PLAN_TCP:
		return "literal-tcp";
	case PLAN_UDP:
		return "literal-udp";
	case PLAN_HOST:
		return "host-ports";
	case PLAN_IPV6:
		return "ipv6";
	case PLAN_SPOOF:
		return "spoofed-source";
	}
	UNREACHABLE();
}

const char *
plan_probe_text(enum plan_probe probe)
{
	switch (probe) {
	case PLAN_RESOLVER:
		return "another resolver";
	case PLAN_TCP:
		return "a literal address, TCP";
	case PLAN_UDP:
		return "a literal address, UDP";
	case PLAN_HOST:
		return "other ports of this host";
	case PLAN_IPV6:
		return "IPv6, literal and link-local";
	case PLAN_SPOOF:
		return "a spoofed source address";
	}
	UNREACHABLE();
}
