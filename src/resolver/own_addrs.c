/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * own_addrs - see own_addrs.h. A change only says that the list is to be
 * read again, so a notice that was lost does no harm beyond its delay.
 */
#include "config.h"

#include "src/resolver/own_addrs.h"

#include <errno.h>
#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/resolver/endpoint.h"
#include "src/resolver/log.h"

static bool
has_own(const struct protected_ranges *ranges, const struct addr *addr)
{
	for (uint16_t i = 0; i < ranges->own_count; i++) {
		if (addr_equal(&ranges->own[i], addr))
			return true;
	}
	return false;
}

static void
add_own(struct protected_ranges *ranges, const struct sockaddr *address)
{
	union socket_addr copy;
	struct addr addr;
	uint16_t port;
	size_t len =
	    address->sa_family == AF_INET ? sizeof(copy.v4) : sizeof(copy.v6);

	if (address->sa_family != AF_INET && address->sa_family != AF_INET6)
		return;
	memset(&copy, 0, sizeof(copy));
	memcpy(&copy, address, len);
	endpoint_of_socket(&copy, &addr, &port);
	if (has_own(ranges, &addr))
		return;
	if (ranges->own_count == PROTECTED_OWN_MAX)
		ranges->own_overflow = true;
	else
		ranges->own[ranges->own_count++] = addr;
}

/* A list that cannot be read keeps the one before. */
static int
refill(struct own_addrs *own)
{
	struct ifaddrs *all, *at;

	if (getifaddrs(&all) != 0) {
		int r = -errno;

		log_error("addresses", "cannot list this host's: %s",
		    strerror(errno));
		return r;
	}
	own->ranges->own_count = 0;
	own->ranges->own_overflow = false;
	for (at = all; at != NULL; at = at->ifa_next) {
		if (at->ifa_addr != NULL)
			add_own(own->ranges, at->ifa_addr);
	}
	freeifaddrs(all);
	if (own->ranges->own_overflow)
		log_warn("addresses", "this host has more than %d addresses",
		    PROTECTED_OWN_MAX);
	return 0;
}

static void
on_notice(uv_poll_t *poll, int status, int events)
{
	struct own_addrs *own = poll->data;
	uint8_t notice[4096];
	ssize_t n;

	(void)status;
	(void)events;
	/* Whatever it says, and however many there are: read the list. */
	do {
		n = recv(own->fd, notice, sizeof(notice), MSG_DONTWAIT);
	} while (n > 0 || (n < 0 && errno == EINTR));
	(void)refill(own);
}

int
own_addrs_open(struct own_addrs *own, uv_loop_t *loop,
    struct protected_ranges *ranges)
{
	struct sockaddr_nl groups = { .nl_family = AF_NETLINK,
		.nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR };
	int r = 0;

	own->ranges = ranges;
	own->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    NETLINK_ROUTE);
	if (own->fd < 0 ||
	    bind(own->fd, (const struct sockaddr *)&groups, sizeof(groups)) !=
		0)
		r = -errno;
	if (r == 0)
		r = uv_poll_init(loop, &own->poll, own->fd);
	if (r != 0) {
		log_error("addresses", "cannot follow this host's: %s",
		    strerror(-r));
		if (own->fd >= 0)
			(void)close(own->fd);
		return r;
	}
	own->poll.data = own;
	own->open = true;
	uv_poll_start(&own->poll, UV_READABLE, on_notice);
	return refill(own);
}

/* What is known already goes along: a list that cannot be read just now must
 * not leave the new one empty. */
void
own_addrs_move(struct own_addrs *own, struct protected_ranges *ranges)
{
	const struct protected_ranges *before = own->ranges;

	memcpy(ranges->own, before->own, sizeof(ranges->own));
	ranges->own_count = before->own_count;
	ranges->own_overflow = before->own_overflow;
	own->ranges = ranges;
	(void)refill(own);
}

void
own_addrs_close(struct own_addrs *own)
{
	if (!own->open)
		return;
	own->open = false;
	uv_poll_stop(&own->poll);
	(void)close(own->fd);
	uv_close((uv_handle_t *)&own->poll, NULL);
}
