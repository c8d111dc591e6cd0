/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * links - see links.h. rtnetlink through libmnl.
 */
#include "config.h"

#include "src/helper/links.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <libmnl/libmnl.h>
#include <linux/if_addr.h>
#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include "lib/require.h"

#define BUFFER_SIZE   (64u * 1024)
#define REFRESH_TRIES 5

static int
last_error(void)
{
	return errno != 0 ? -errno : -EIO;
}

static struct mnl_socket *
open_socket(unsigned int groups)
{
	struct mnl_socket *socket =
	    mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);

	if (socket != NULL &&
	    mnl_socket_bind(socket, groups, MNL_SOCKET_AUTOPID) < 0) {
		mnl_socket_close(socket);
		return NULL;
	}
	return socket;
}

int
links_open(struct links *ret, bool routes)
{
	struct links links = { .seq = 1 };
	unsigned int groups =
	    RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;

	if (routes)
		groups |= RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE;
	links.buf = malloc(BUFFER_SIZE);
	links.links = calloc(LINKS_MAX, sizeof(*links.links));
	links.by_name = calloc(LINKS_MAX, sizeof(*links.by_name));
	if (links.buf == NULL || links.links == NULL || links.by_name == NULL) {
		links_close(&links);
		return -ENOMEM;
	}
	links.events = open_socket(groups);
	links.query = open_socket(0);
	if (links.events == NULL || links.query == NULL) {
		int error = last_error();

		links_close(&links);
		return error;
	}
	*ret = links;
	return 0;
}

int
links_follow_routes(struct links *links)
{
	unsigned int groups[] = { RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE };

	for (size_t i = 0; i < ARRAY_LEN(groups); i++)
		if (mnl_socket_setsockopt(links->events, NETLINK_ADD_MEMBERSHIP,
			&groups[i], sizeof(groups[i])) < 0)
			return -errno;
	return 0;
}

void
links_close(struct links *links)
{
	if (links->events != NULL)
		mnl_socket_close(links->events);
	if (links->query != NULL)
		mnl_socket_close(links->query);
	free(links->buf);
	free(links->links);
	free(links->by_name);
	memset(links, 0, sizeof(*links));
}

int
links_fd(const struct links *links)
{
	return mnl_socket_get_fd(links->events);
}

/* What an event says does not matter: the snapshot will tell. */
bool
links_drain(struct links *links)
{
	bool any = false;

	for (;;) {
		ssize_t len = recv(links_fd(links), links->buf, BUFFER_SIZE,
		    MSG_DONTWAIT);

		if (len < 0 && errno != EINTR && errno != ENOBUFS)
			return any;
		any = true;
	}
}

/* libmnl's own macros mix widths. */
#define for_each_nested(attr, nest)                                           \
	for ((attr) = mnl_attr_get_payload(nest); mnl_attr_ok((attr),         \
		 (int)((const char *)mnl_attr_get_payload(nest) +             \
		     mnl_attr_get_payload_len(nest) - (const char *)(attr))); \
	     (attr) = mnl_attr_next(attr))

/* The attributes after a fixed header, which is of this size. */
#define for_each_attr(attr, header, size)                                 \
	for ((attr) = mnl_nlmsg_get_payload_offset((header), (size));     \
	     mnl_attr_ok((attr),                                          \
		 (int)((const char *)mnl_nlmsg_get_payload_tail(header) - \
		     (const char *)(attr)));                              \
	     (attr) = mnl_attr_next(attr))

static bool
is_kind(const struct nlattr *attr, const char *kind)
{
	return mnl_attr_validate(attr, MNL_TYPE_STRING) >= 0 &&
	    strncmp(mnl_attr_get_str(attr), kind,
		mnl_attr_get_payload_len(attr)) == 0;
}

/* The kernel's default is to learn; older ones cannot but. */
static bool
learns_from_link_local(const struct nlattr *data)
{
	const struct nlattr *attr;

	for_each_nested(attr, data)
	{
		const struct br_boolopt_multi *options =
		    mnl_attr_get_payload(attr);

		if (mnl_attr_get_type(attr) == IFLA_BR_MULTI_BOOLOPT &&
		    mnl_attr_get_payload_len(attr) >= sizeof(*options))
			return (options->optval &
				   (1u << BR_BOOLOPT_NO_LL_LEARN)) == 0;
	}
	return true;
}

/* The kind comes before its data. */
static void
read_kind(const struct nlattr *info, struct link *link)
{
	const struct nlattr *attr;

	for_each_nested(attr, info)
	{
		uint16_t type = mnl_attr_get_type(attr);

		if (type == IFLA_INFO_KIND)
			link->bridge |= is_kind(attr, "bridge") ||
			    is_kind(attr, "openvswitch");
		if (type == IFLA_INFO_DATA && link->bridge)
			link->learns = learns_from_link_local(attr);
		if (type == IFLA_INFO_SLAVE_KIND) {
			link->port |= is_kind(attr, "bridge");
			link->foreign_port |= is_kind(attr, "openvswitch");
		}
	}
}

static void
see_link(const struct nlmsghdr *header, struct links *links)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(header);
	struct link link = { .index = (uint32_t)info->ifi_index };
	const struct nlattr *attr;

	for_each_attr(attr, header, sizeof(*info))
	{
		if (mnl_attr_get_type(attr) == IFLA_IFNAME)
			snprintf(link.name, sizeof(link.name), "%s",
			    mnl_attr_get_str(attr));
		if (mnl_attr_get_type(attr) == IFLA_MASTER)
			link.master = mnl_attr_get_u32(attr);
		if (mnl_attr_get_type(attr) == IFLA_LINKINFO)
			read_kind(attr, &link);
	}
	if (links->count < LINKS_MAX)
		links->links[links->count++] = link;
}

static bool
read_addr(const struct nlattr *attr, struct addr *ret)
{
	const uint8_t *bytes = mnl_attr_get_payload(attr);
	uint16_t len = mnl_attr_get_payload_len(attr);

	if (len == 4)
		*ret = addr_v4(bytes);
	else if (len == 16)
		*ret = addr_v6(bytes);
	return len == 4 || len == 16;
}

/* On a point-to-point link the plain address is the peer's, and the local
 * one is given apart. */
static void
see_addr(const struct nlmsghdr *header, struct links *links)
{
	struct addr addr = { .family = 0 };
	const struct nlattr *attr;

	for_each_attr(attr, header, sizeof(struct ifaddrmsg))
	{
		uint16_t type = mnl_attr_get_type(attr);

		if (type == IFA_LOCAL ||
		    (type == IFA_ADDRESS && addr.family == 0))
			(void)read_addr(attr, &addr);
	}
	if (addr.family == 0)
		return;
	if (links->own_count == PROTECTED_OWN_MAX) {
		links->own_overflow = true;
		return;
	}
	links->own[links->own_count++] = addr;
}

static void
see_route(const struct nlmsghdr *header, uint32_t *ret_index)
{
	const struct nlattr *attr;

	for_each_attr(attr, header, sizeof(struct rtmsg))
	{
		if (mnl_attr_get_type(attr) == RTA_OIF)
			*ret_index = mnl_attr_get_u32(attr);
	}
}

/* One answer, all of it; a route goes to *ret_index. */
static int
ask(struct links *links, struct nlmsghdr *request, uint32_t *ret_index)
{
	uint32_t seq = request->nlmsg_seq;
	bool interrupted = false;

	if (mnl_socket_sendto(links->query, request, request->nlmsg_len) < 0)
		return last_error();
	for (;;) {
		const struct nlmsghdr *header = (const void *)links->buf;
		ssize_t len =
		    mnl_socket_recvfrom(links->query, links->buf, BUFFER_SIZE);
		int left = (int)len;

		if (len < 0)
			return last_error();
		for (; mnl_nlmsg_ok(header, left);
		     header = mnl_nlmsg_next(header, &left)) {
			const struct nlmsgerr *result =
			    mnl_nlmsg_get_payload(header);

			if (header->nlmsg_seq != seq)
				continue;
			interrupted |=
			    (header->nlmsg_flags & NLM_F_DUMP_INTR) != 0;
			if (header->nlmsg_type == NLMSG_DONE)
				return interrupted ? -EINTR : 0;
			if (header->nlmsg_type == NLMSG_ERROR)
				return result->error;
			if (header->nlmsg_type == RTM_NEWLINK)
				see_link(header, links);
			if (header->nlmsg_type == RTM_NEWADDR)
				see_addr(header, links);
			if (header->nlmsg_type == RTM_NEWROUTE)
				see_route(header, ret_index);
		}
	}
}

static struct nlmsghdr *
request_of(struct links *links, uint16_t type, uint16_t flags, void **ret_extra,
    size_t extra_size)
{
	struct nlmsghdr *header = mnl_nlmsg_put_header(links->buf);

	header->nlmsg_type = type;
	header->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
	header->nlmsg_seq = links->seq++;
	*ret_extra = mnl_nlmsg_put_extra_header(header, extra_size);
	return header;
}

static int
compare_indexes(const void *a, const void *b)
{
	const struct link *left = a, *right = b;

	return (left->index > right->index) - (left->index < right->index);
}

static int
compare_names(const void *a, const void *b)
{
	const struct link *const *left = a, *const *right = b;

	return strcmp((*left)->name, (*right)->name);
}

static void
sort_links(struct links *links)
{
	qsort(links->links, links->count, sizeof(*links->links),
	    compare_indexes);
	for (size_t i = 0; i < links->count; i++)
		links->by_name[i] = &links->links[i];
	qsort(links->by_name, links->count, sizeof(struct link *),
	    compare_names);
}

static int
refresh_once(struct links *links)
{
	struct nlmsghdr *request;
	void *extra;
	uint32_t none = 0;
	int error;

	links->count = links->own_count = 0;
	links->own_overflow = false;
	request = request_of(links, RTM_GETLINK, NLM_F_DUMP, &extra,
	    sizeof(struct ifinfomsg));
	/* Counters are most of an answer, and its time. */
	mnl_attr_put_u32(request, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	error = ask(links, request, &none);
	if (error != 0)
		return error;
	sort_links(links);
	return ask(links,
	    request_of(links, RTM_GETADDR, NLM_F_DUMP, &extra,
		sizeof(struct ifaddrmsg)),
	    &none);
}

int
links_refresh(struct links *links)
{
	int error = -EINTR;

	for (int i = 0; i < REFRESH_TRIES && error == -EINTR; i++)
		error = refresh_once(links);
	return error;
}

const struct link *
links_named(const struct links *links, const char *name)
{
	struct link wanted = { .index = 0 };
	const struct link *key = &wanted;
	struct link **found;

	snprintf(wanted.name, sizeof(wanted.name), "%s", name);
	found = bsearch(&key, links->by_name, links->count,
	    sizeof(struct link *), compare_names);
	return found != NULL ? *found : NULL;
}

const struct link *
links_indexed(const struct links *links, uint32_t index)
{
	const struct link wanted = { .index = index };

	return bsearch(&wanted, links->links, links->count, sizeof(wanted),
	    compare_indexes);
}

const struct link *
links_toward(struct links *links, const struct addr *addr)
{
	uint8_t size = (uint8_t)addr_size(addr);
	uint32_t index = 0;
	void *extra;
	struct rtmsg *route;
	struct nlmsghdr *request =
	    request_of(links, RTM_GETROUTE, NLM_F_ACK, &extra, sizeof(*route));

	route = extra;
	route->rtm_family = addr->family == 4 ? AF_INET : AF_INET6;
	route->rtm_dst_len = (uint8_t)(size * 8);
	mnl_attr_put(request, RTA_DST, size, addr->bytes);
	if (ask(links, request, &index) != 0 || index == 0)
		return NULL;
	return links_indexed(links, index);
}
