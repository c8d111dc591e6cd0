/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flowlog - see flowlog.h.
 */
#include "config.h"

#include "src/resolver/flowlog.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <string.h>
#include <unistd.h>

#include "src/resolver/daemon.h"
#include "src/resolver/log.h"

#define DATAGRAMS_MAX 256
#define COUNTS_FILE   "/proc/sys/net/netfilter/nf_conntrack_acct"

static void
read_addrs(struct netlink_bytes nest, struct ended_flow *flow)
{
	struct netlink_attr attr;

	while (netlink_next_attr(&nest, &attr)) {
		const uint8_t *at = attr.value.at;
		size_t len = attr.value.len;

		if (attr.type == CTA_IP_V4_SRC && len == 4)
			flow->source = addr_v4(at);
		else if (attr.type == CTA_IP_V4_DST && len == 4)
			flow->destination = addr_v4(at);
		else if (attr.type == CTA_IP_V6_SRC && len == 16)
			flow->source = addr_v6(at);
		else if (attr.type == CTA_IP_V6_DST && len == 16)
			flow->destination = addr_v6(at);
	}
}

static void
read_protocol(struct netlink_bytes nest, struct ended_flow *flow)
{
	struct netlink_attr attr;

	while (netlink_next_attr(&nest, &attr)) {
		if (attr.type == CTA_PROTO_NUM)
			(void)netlink_u8(&attr, &flow->service.protocol);
		else if (attr.type == CTA_PROTO_SRC_PORT)
			(void)netlink_u16(&attr, &flow->source_port);
		else if (attr.type == CTA_PROTO_DST_PORT)
			(void)netlink_u16(&attr, &flow->service.port);
	}
}

static void
read_tuple(struct netlink_bytes nest, struct ended_flow *flow)
{
	struct netlink_attr attr;

	while (netlink_next_attr(&nest, &attr)) {
		if (attr.type == CTA_TUPLE_IP)
			read_addrs(attr.value, flow);
		else if (attr.type == CTA_TUPLE_PROTO)
			read_protocol(attr.value, flow);
	}
}

static bool
read_counters(struct netlink_bytes nest, uint64_t *ret_octets,
    uint64_t *ret_packets)
{
	struct netlink_attr attr;
	bool octets = false, packets = false;

	while (netlink_next_attr(&nest, &attr)) {
		if (attr.type == CTA_COUNTERS_BYTES)
			octets = netlink_u64(&attr, ret_octets);
		else if (attr.type == CTA_COUNTERS_PACKETS)
			packets = netlink_u64(&attr, ret_packets);
	}
	return octets && packets;
}

/* Nanoseconds of the wall clock, which may have been set meanwhile. */
static void
read_times(struct netlink_bytes nest, struct ended_flow *flow)
{
	struct netlink_attr attr;
	uint64_t start = 0, stop = 0, ms;

	while (netlink_next_attr(&nest, &attr)) {
		if (attr.type == CTA_TIMESTAMP_START)
			(void)netlink_u64(&attr, &start);
		else if (attr.type == CTA_TIMESTAMP_STOP)
			(void)netlink_u64(&attr, &stop);
	}
	if (start == 0 || stop < start)
		return;
	ms = (stop - start) / 1000000;
	flow->passed.timed = true;
	flow->duration_ms = ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX;
}

bool
flowlog_read(const struct netlink_message *message, struct ended_flow *ret)
{
	struct netlink_bytes left = message->attrs;
	struct ended_flow flow = { .source_port = 0 };
	struct event_flow *passed = &flow.passed;
	bool from = false, to = false;
	struct netlink_attr attr;

	if (message->type !=
	    (NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_DELETE))
		return false;
	while (netlink_next_attr(&left, &attr)) {
		if (attr.type == CTA_TUPLE_ORIG)
			read_tuple(attr.value, &flow);
		else if (attr.type == CTA_COUNTERS_ORIG)
			from = read_counters(attr.value, &passed->octets_from,
			    &passed->packets_from);
		else if (attr.type == CTA_COUNTERS_REPLY)
			to = read_counters(attr.value, &passed->octets_to,
			    &passed->packets_to);
		else if (attr.type == CTA_TIMESTAMP)
			read_times(attr.value, &flow);
	}
	if (flow.source.family == 0 ||
	    flow.destination.family != flow.source.family ||
	    flow.service.port == 0)
		return false;
	passed->counted = from && to;
	*ret = flow;
	return true;
}

/* False: nothing more is there now. */
static bool
receive(struct flowlog *log)
{
	struct netlink_bytes left = { log->buf, 0 };
	struct netlink_message message;
	struct ended_flow flow;
	ssize_t len = netlink_receive(log->fd, log->buf, sizeof(log->buf));

	if (len == -ENOBUFS)
		log->overruns++;
	if (len < 0)
		return len == -ENOBUFS || len == -EPERM;
	left.len = (size_t)len;
	while (netlink_next_message(&left, &message)) {
		if (!flowlog_read(&message, &flow))
			continue;
		log->ended++;
		daemon_flow_ended(log->daemon, &flow);
	}
	return true;
}

static void
on_readable(uv_poll_t *poll, int status, int events)
{
	struct flowlog *log = poll->data;

	(void)events;
	if (status < 0)
		return;
	daemon_wake(log->daemon);
	for (int i = 0; i < DATAGRAMS_MAX && receive(log); i++)
		continue;
	daemon_rest(log->daemon);
}

int
flowlog_open(struct flowlog *log, struct daemon *daemon, int fd)
{
	int r;

	memset(log, 0, sizeof(*log));
	log->daemon = daemon;
	log->fd = fd;
	r = uv_poll_init(&daemon->loop, &log->poll, fd);
	if (r != 0) {
		log_error("flows", "descriptor %d cannot be watched", fd);
		return r;
	}
	log->poll.data = log;
	log->open = true;
	return uv_poll_start(&log->poll, UV_READABLE, on_readable);
}

void
flowlog_close(struct flowlog *log)
{
	if (!log->open)
		return;
	log->open = false;
	uv_poll_stop(&log->poll);
	(void)close(log->fd);
	uv_close((uv_handle_t *)&log->poll, NULL);
}

bool
flowlog_is_counting(void)
{
	int fd = open(COUNTS_FILE, O_RDONLY | O_CLOEXEC);
	char digit = '0';

	if (fd < 0)
		return false;
	if (read(fd, &digit, 1) != 1)
		digit = '0';
	(void)close(fd);
	return digit != '0';
}
