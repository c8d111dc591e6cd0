/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * init - writes a first configuration that loads.
 *
 * What is not given is guessed from this host's interfaces, and the file says
 * what was guessed. Nothing that exists is overwritten.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/addr.h"
#include "lib/require.h"
#include "src/cli/cli.h"

#define UPSTREAMS_MAX 3

struct draft {
	char interface[IF_NAMESIZE];
	struct addr listen, source;
	bool interface_guessed, source_guessed, upstream_public, example;
	struct addr upstreams[UPSTREAMS_MAX];
	size_t upstream_count;
};

/* --- guessing --- */

/* A veth or tap device: what a sandbox hangs on. */
static bool
leads_to_sandbox(int fd, const char *name)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	struct ifreq request = { 0 };

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	request.ifr_data = (void *)&info;
	if (ioctl(fd, SIOCETHTOOL, &request) < 0)
		return false;
	return strcmp(info.driver, "veth") == 0 ||
	    strcmp(info.driver, "tun") == 0;
}

/* The way to the world is not the way to a sandbox. */
static bool
carries_default_route(const char *name)
{
	FILE *file = fopen("/proc/self/net/route", "re");
	char line[512], interface[IF_NAMESIZE], to[16], gateway[16], mask[16];
	bool found = false;

	while (
	    file != NULL && !found && fgets(line, sizeof(line), file) != NULL)
		found = sscanf(line, "%15s %15s %15s %*s %*s %*s %*s %15s",
			    interface, to, gateway, mask) == 4 &&
		    strcmp(interface, name) == 0 &&
		    strcmp(to, "00000000") == 0 && strcmp(mask, to) == 0;
	if (file != NULL)
		fclose(file);
	return found;
}

static void
guess_interface(struct draft *draft)
{
	struct if_nameindex *list = if_nameindex();
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	for (struct if_nameindex *at = list;
	     fd >= 0 && at != NULL && at->if_name != NULL; at++) {
		if (!leads_to_sandbox(fd, at->if_name) ||
		    carries_default_route(at->if_name))
			continue;
		snprintf(draft->interface, sizeof(draft->interface), "%s",
		    at->if_name);
		draft->interface_guessed = true;
		break;
	}
	if (list != NULL)
		if_freenameindex(list);
	if (fd >= 0)
		close(fd);
}

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
	return addr_classify(ret) != ADDR_LINK_LOCAL;
}

/* This host's address on the interface, of the source's family when that is
 * given, else IPv4 before IPv6. */
static bool
guess_listen(struct draft *draft)
{
	struct ifaddrs *list;
	struct addr addr;

	if (getifaddrs(&list) < 0)
		return false;
	for (const struct ifaddrs *at = list; at != NULL; at = at->ifa_next) {
		if (strcmp(at->ifa_name, draft->interface) != 0 ||
		    !from_sockaddr(at->ifa_addr, &addr))
			continue;
		if (draft->source.family != 0 &&
		    addr.family != draft->source.family)
			continue;
		if (draft->listen.family == 0 || addr.family == 4)
			draft->listen = addr;
	}
	freeifaddrs(list);
	return draft->listen.family != 0;
}

static struct addr
neighbour(const struct addr *addr, int step)
{
	struct addr next = *addr;
	uint8_t *last = &next.bytes[addr_size(addr) - 1];

	*last = (uint8_t)(*last + step);
	return next;
}

/* The address beside another that is neither a network's nor a broadcast's in
 * the small networks that such links have. */
static struct addr
beside(const struct addr *addr)
{
	uint8_t last = addr->bytes[addr_size(addr) - 1];

	return neighbour(addr, last == 0 || (last & 3) == 1 ? 1 : -1);
}

static void
guess_upstreams(struct draft *draft)
{
	FILE *file = fopen("/etc/resolv.conf", "re");
	char line[512], text[64];
	struct addr addr;

	while (file != NULL && draft->upstream_count < UPSTREAMS_MAX &&
	    fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, " nameserver %63s", text) != 1 ||
		    !addr_parse(text, strlen(text), &addr) ||
		    addr_classify(&addr) == ADDR_LOOPBACK ||
		    addr_equal(&addr, &draft->listen))
			continue;
		draft->upstreams[draft->upstream_count++] = addr;
	}
	if (file != NULL)
		fclose(file);
	if (draft->upstream_count > 0)
		return;
	draft->upstreams[0] = addr_v4((const uint8_t[]){ 9, 9, 9, 9 });
	draft->upstreams[1] = addr_v4((const uint8_t[]){ 149, 112, 112, 112 });
	draft->upstream_count = 2;
	draft->upstream_public = true;
}

static void
guess(struct draft *draft)
{
	if (draft->interface[0] == '\0')
		guess_interface(draft);
	if (draft->interface[0] == '\0') {
		snprintf(draft->interface, sizeof(draft->interface),
		    "veth-box1");
		draft->example = true;
	}
	bool found = guess_listen(draft);
	if (!found && draft->source.family != 0)
		draft->listen = beside(&draft->source);
	else if (!found)
		draft->listen = addr_v4((const uint8_t[]){ 192, 0, 2, 1 });
	if (!found)
		draft->example = true;
	if (draft->source.family == 0) {
		draft->source = beside(&draft->listen);
		draft->source_guessed = true;
	}
	guess_upstreams(draft);
}

/* --- writing --- */

static void
put_address(FILE *out, const struct addr *addr)
{
	char text[ADDR_TEXT_MAX];

	addr_print(addr, text);
	fprintf(out, addr->family == 6 ? "\"%s\"" : "%s", text);
}

static void
put_upstreams(FILE *out, const struct draft *draft)
{
	fputs(draft->upstream_public
		? "# (guessed: public ones, since /etc/resolv.conf has none)\n"
		: "# (guessed: those of /etc/resolv.conf)\n",
	    out);
	fputs("upstream: [", out);
	for (size_t i = 0; i < draft->upstream_count; i++) {
		fputs(i > 0 ? ", " : "", out);
		put_address(out, &draft->upstreams[i]);
	}
	fputs("]\n\n", out);
}

static void
put_draft(FILE *out, const struct draft *draft)
{
	fputs("# namewall's configuration; namewall.yaml(5) says what more "
	      "there is.\n"
	      "version: 1\n\n"
	      "# Where sandboxes ask: this host's address on their link.\n",
	    out);
	if (draft->example)
		fputs("# The interface or its address was not found: correct "
		      "it here and below.\n",
		    out);
	fputs("listen: [", out);
	put_address(out, &draft->listen);
	fprintf(out,
	    "]\n\n# Every packet that enters by these interfaces is governed.\n"
	    "%sedge: [\"%s\"]\n\n# Who is asked about listed names.\n",
	    draft->interface_guessed
		? "# (guessed: the first veth or tap device)\n"
		: "",
	    draft->interface);
	put_upstreams(out, draft);
	fprintf(out, "sandboxes:\n  box1:\n    policy: agent\n%s    source: [",
	    draft->source_guessed ? "    # (guessed: beside the listener)\n"
				  : "");
	put_address(out, &draft->source);
	fprintf(out,
	    "]\n    interface: \"%s\"\n\n"
	    "policies:\n"
	    "  agent:\n"
	    "    # tcp/443 where nothing else is said; other names are "
	    "denied.\n"
	    "    allow:\n"
	    "      - example.com\n",
	    draft->interface);
}

static int
write_file(const char *path, const struct draft *draft)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0 && errno == EEXIST) {
		complain("%s exists; it is not overwritten", path);
		return CLI_NO;
	}
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	if (file == NULL) {
		complain("%s: %s", path, strerror(errno));
		return CLI_ENVIRONMENT;
	}
	put_draft(file, draft);
	if (fclose(file) != 0) {
		complain("%s: %s", path, strerror(errno));
		return CLI_ENVIRONMENT;
	}
	fprintf(stderr, "wrote %s; read it, then: namewall check %s\n", path,
	    path);
	return CLI_OK;
}

static bool
read_arguments(struct args *args, struct draft *draft)
{
	const char *interface = args_take_value(args, "--interface");
	const char *source = args_take_value(args, "--source");

	if (interface != NULL) {
		size_t len = strlen(interface);

		if (len == 0 || len >= sizeof(draft->interface) ||
		    strpbrk(interface, "/\"\\* \t\n") != NULL) {
			complain("%s cannot be an interface", interface);
			return false;
		}
		memcpy(draft->interface, interface, len + 1);
	}
	if (source != NULL &&
	    !addr_parse(source, strlen(source), &draft->source)) {
		complain("%s is not an address", source);
		return false;
	}
	return true;
}

int
cmd_init(const struct cli *cli, struct args *args)
{
	struct draft draft = { 0 };

	if (!read_arguments(args, &draft))
		return CLI_USAGE;
	const char *path = args_take_word(args);
	if (!args_done(args))
		return CLI_USAGE;
	if (path == NULL)
		path = cli->config;
	guess(&draft);
	if (path != NULL)
		return write_file(path, &draft);
	put_draft(stdout, &draft);
	return CLI_OK;
}
