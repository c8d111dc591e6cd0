/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * monitor - see monitor.h.
 */
#include "config.h"

#include "src/helper/monitor.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/filter.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include "lib/require.h"
#include "src/helper/batch.h"

#define BUFFER_SIZE   (64u * 1024)
#define SOCKET_BUFFER (1024 * 1024)

static int
last_error(void)
{
	return errno != 0 ? -errno : -EIO;
}

/* The filter loads in network order what netlink keeps in the host's. */
static int
ignore_port(int fd, uint32_t portid)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct nlmsghdr, nlmsg_pid)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(portid), 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
	};
	struct sock_fprog program = { ARRAY_LEN(code), code };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program,
		   sizeof(program)) == 0
	    ? 0
	    : last_error();
}

static int
subscribe(struct mnl_socket *socket, uint32_t own_portid)
{
	int group = NFNLGRP_NFTABLES;
	int size = SOCKET_BUFFER;
	int error = ignore_port(mnl_socket_get_fd(socket), own_portid);

	if (error != 0)
		return error;
	(void)setsockopt(mnl_socket_get_fd(socket), SOL_SOCKET, SO_RCVBUFFORCE,
	    &size, sizeof(size));
	if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0 ||
	    mnl_socket_setsockopt(socket, NETLINK_ADD_MEMBERSHIP, &group,
		sizeof(group)) < 0)
		return last_error();
	return 0;
}

int
monitor_open(struct monitor *ret, const char *table, uint32_t own_portid)
{
	struct monitor monitor = { .table = table };
	int error;

	monitor.buf = malloc(BUFFER_SIZE);
	if (monitor.buf == NULL)
		return -ENOMEM;
	monitor.socket = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC);
	error = monitor.socket == NULL ? last_error()
				       : subscribe(monitor.socket, own_portid);
	if (error != 0) {
		monitor_close(&monitor);
		return error;
	}
	*ret = monitor;
	return 0;
}

void
monitor_close(struct monitor *monitor)
{
	if (monitor->socket != NULL)
		mnl_socket_close(monitor->socket);
	free(monitor->buf);
	monitor->socket = NULL;
	monitor->buf = NULL;
}

int
monitor_fd(const struct monitor *monitor)
{
	return mnl_socket_get_fd(monitor->socket);
}

static bool
is_about(const struct nlmsghdr *header, const char *table)
{
	const struct nfgenmsg *extra = mnl_nlmsg_get_payload(header);
	const struct nlattr *attr;

	if (extra->nfgen_family != NFPROTO_INET &&
	    extra->nfgen_family != NFPROTO_BRIDGE)
		return false;
	nft_for_each(attr, header)
	{
		if (mnl_attr_get_type(attr) == NFTA_TABLE_NAME)
			return mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >=
			    0 &&
			    strcmp(mnl_attr_get_str(attr), table) == 0;
	}
	return false;
}

/* The kernel says by itself, under the family of the packet, that a quota is
 * spent. */
static bool
is_quota(const struct nlmsghdr *header)
{
	const struct nfgenmsg *extra = mnl_nlmsg_get_payload(header);

	return header->nlmsg_type ==
	    (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWOBJ) &&
	    (extra->nfgen_family == NFPROTO_IPV4 ||
		extra->nfgen_family == NFPROTO_IPV6);
}

/* A transaction ends by saying who made it. */
static void
read_author(const struct nlmsghdr *header, struct monitor_report *report)
{
	const struct nlattr *attr;

	nft_for_each(attr, header)
	{
		uint16_t type = mnl_attr_get_type(attr);

		if (type == NFTA_GEN_PROC_PID)
			report->pid = ntohl(mnl_attr_get_u32(attr));
		if (type == NFTA_GEN_PROC_NAME)
			snprintf(report->process, sizeof(report->process),
			    "%.*s", (int)mnl_attr_get_payload_len(attr),
			    (const char *)mnl_attr_get_payload(attr));
	}
}

static void
read_news(const struct monitor *monitor, int left,
    struct monitor_report *report)
{
	const struct nlmsghdr *header = (const void *)monitor->buf;

	for (; mnl_nlmsg_ok(header, left);
	     header = mnl_nlmsg_next(header, &left)) {
		if (header->nlmsg_type ==
		    (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWGEN)) {
			if (report->touched && report->pid == 0)
				read_author(header, report);
		} else if (is_quota(header)) {
			report->spent = true;
		} else if (is_about(header, monitor->table)) {
			report->touched = true;
		}
	}
}

void
monitor_read(struct monitor *monitor, struct monitor_report *ret)
{
	int fd = mnl_socket_get_fd(monitor->socket);

	memset(ret, 0, sizeof(*ret));
	for (;;) {
		ssize_t len = recv(fd, monitor->buf, BUFFER_SIZE, MSG_DONTWAIT);

		if (len >= 0) {
			read_news(monitor, (int)len, ret);
			continue;
		}
		if (errno == ENOBUFS)
			ret->lost = true;
		else if (errno != EINTR)
			return;
	}
}
