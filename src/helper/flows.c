/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flows - see flows.h. Two sockets: entries are deleted while the dump goes
 * on, and answers of the one must not be taken for answers of the other.
 */
#include "config.h"

#include "src/helper/flows.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>

#include "src/helper/batch.h"

#define BUFFER_SIZE   (64u * 1024)
#define MESSAGES_MAX  (32u * 1024)
#define MESSAGE_MAX   512u
#define SOCKET_BUFFER (8 * 1024 * 1024)
#define WALK_TRIES    5

/* A dump in progress. */
struct walk {
	struct flows *flows;
	flow_test test;
	void *data;
	struct flows_cut *cut; /* NULL: only look */
	int error;
};

static int
last_error(void)
{
	return errno != 0 ? -errno : -EIO;
}

static struct mnl_socket *
open_socket(void)
{
	struct mnl_socket *socket =
	    mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC);
	int size = SOCKET_BUFFER;

	if (socket == NULL)
		return NULL;
	if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0) {
		mnl_socket_close(socket);
		return NULL;
	}
	(void)setsockopt(mnl_socket_get_fd(socket), SOL_SOCKET, SO_RCVBUFFORCE,
	    &size, sizeof(size));
	return socket;
}

int
flows_open(struct flows *ret)
{
	struct flows flows = { .seq = 1 };

	flows.buf = malloc(BUFFER_SIZE);
	flows.messages = malloc(MESSAGES_MAX);
	if (flows.buf == NULL || flows.messages == NULL) {
		flows_close(&flows);
		return -ENOMEM;
	}
	flows.dump = open_socket();
	flows.destroy = open_socket();
	if (flows.dump == NULL || flows.destroy == NULL) {
		int error = last_error();

		flows_close(&flows);
		return error;
	}
	*ret = flows;
	return 0;
}

void
flows_close(struct flows *flows)
{
	if (flows->dump != NULL)
		mnl_socket_close(flows->dump);
	if (flows->destroy != NULL)
		mnl_socket_close(flows->destroy);
	free(flows->buf);
	free(flows->messages);
	memset(flows, 0, sizeof(*flows));
}

static void
read_addresses(const struct nlattr *nest, struct addr *ret_from,
    struct addr *ret_to)
{
	const struct nlattr *attr;

	nft_for_each_nested(attr, nest)
	{
		const uint8_t *bytes = mnl_attr_get_payload(attr);
		uint16_t len = mnl_attr_get_payload_len(attr);

		switch (mnl_attr_get_type(attr)) {
		case CTA_IP_V4_SRC:
			if (len == 4)
				*ret_from = addr_v4(bytes);
			break;
		case CTA_IP_V4_DST:
			if (len == 4)
				*ret_to = addr_v4(bytes);
			break;
		case CTA_IP_V6_SRC:
			if (len == 16)
				*ret_from = addr_v6(bytes);
			break;
		case CTA_IP_V6_DST:
			if (len == 16)
				*ret_to = addr_v6(bytes);
			break;
		default:
			break;
		}
	}
}

static void
read_protocol(const struct nlattr *nest, struct flow *flow)
{
	const struct nlattr *attr;

	nft_for_each_nested(attr, nest)
	{
		switch (mnl_attr_get_type(attr)) {
		case CTA_PROTO_NUM:
			flow->protocol = mnl_attr_get_u8(attr);
			break;
		case CTA_PROTO_SRC_PORT:
			flow->from_port = ntohs(mnl_attr_get_u16(attr));
			break;
		case CTA_PROTO_DST_PORT:
			flow->to_port = ntohs(mnl_attr_get_u16(attr));
			break;
		default:
			break;
		}
	}
}

static void
read_back_port(const struct nlattr *nest, struct flow *flow)
{
	const struct nlattr *attr;

	nft_for_each_nested(attr, nest)
	{
		if (mnl_attr_get_type(attr) == CTA_PROTO_SRC_PORT)
			flow->back_from_port = ntohs(mnl_attr_get_u16(attr));
	}
}

static void
read_tuple(const struct nlattr *nest, struct flow *flow, bool original)
{
	const struct nlattr *attr;

	nft_for_each_nested(attr, nest)
	{
		uint16_t type = mnl_attr_get_type(attr);

		if (type == CTA_TUPLE_IP && original)
			read_addresses(attr, &flow->from, &flow->to);
		else if (type == CTA_TUPLE_IP)
			read_addresses(attr, &flow->back_from, &flow->back_to);
		else if (type == CTA_TUPLE_PROTO && original)
			read_protocol(attr, flow);
		else if (type == CTA_TUPLE_PROTO)
			read_back_port(attr, flow);
	}
}

static uint64_t
read_packets(const struct nlattr *nest)
{
	const struct nlattr *attr;

	nft_for_each_nested(attr, nest)
	{
		if (mnl_attr_get_type(attr) == CTA_COUNTERS_PACKETS)
			return be64toh(mnl_attr_get_u64(attr));
	}
	return 0;
}

static void
read_flow(const struct nlmsghdr *header, struct flow *flow)
{
	const struct nlattr *attr;

	nft_for_each(attr, header)
	{
		switch (mnl_attr_get_type(attr)) {
		case CTA_TUPLE_ORIG:
			read_tuple(attr, flow, true);
			break;
		case CTA_TUPLE_REPLY:
			read_tuple(attr, flow, false);
			break;
		case CTA_COUNTERS_ORIG:
		case CTA_COUNTERS_REPLY:
			flow->packets += read_packets(attr);
			break;
		default:
			break;
		}
	}
}

/* Sends what was collected. The kernel has done it all when this returns;
 * an entry that is gone already is what was wanted. */
static int
send_messages(struct flows *flows)
{
	int first = 0;

	if (flows->messages_len == 0)
		return 0;
	if (mnl_socket_sendto(flows->destroy, flows->messages,
		flows->messages_len) < 0)
		first = last_error();
	flows->messages_len = 0;
	for (;;) {
		uint8_t answer[1024];
		const struct nlmsghdr *header = (const void *)answer;
		const struct nlmsgerr *result;
		ssize_t len = recv(mnl_socket_get_fd(flows->destroy), answer,
		    sizeof(answer), MSG_DONTWAIT);

		if (len < 0)
			return first;
		if (!mnl_nlmsg_ok(header, (int)len) ||
		    header->nlmsg_type != NLMSG_ERROR)
			continue;
		result = mnl_nlmsg_get_payload(header);
		if (result->error != -ENOENT && first == 0)
			first = result->error;
	}
}

/* Copies the parts of a dumped entry that name it. */
static int
doom(struct flows *flows, const struct nlmsghdr *entry)
{
	const struct nfgenmsg *family = mnl_nlmsg_get_payload(entry);
	struct nfgenmsg *extra;
	struct nlmsghdr *header;
	const struct nlattr *attr;
	int error = 0;

	if (flows->messages_len + MESSAGE_MAX > MESSAGES_MAX)
		error = send_messages(flows);
	header = mnl_nlmsg_put_header(flows->messages + flows->messages_len);
	header->nlmsg_type = NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_DELETE;
	header->nlmsg_flags = NLM_F_REQUEST;
	header->nlmsg_seq = flows->seq++;
	extra = mnl_nlmsg_put_extra_header(header, sizeof(*extra));
	extra->nfgen_family = family->nfgen_family;
	extra->version = NFNETLINK_V0;
	nft_for_each(attr, entry)
	{
		uint16_t type = mnl_attr_get_type(attr);

		if ((type == CTA_TUPLE_ORIG || type == CTA_ID ||
			type == CTA_ZONE) &&
		    header->nlmsg_len + attr->nla_len < MESSAGE_MAX)
			mnl_attr_put(header, attr->nla_type,
			    mnl_attr_get_payload_len(attr),
			    mnl_attr_get_payload(attr));
	}
	flows->messages_len += NLMSG_ALIGN(header->nlmsg_len);
	return error;
}

static void
judge(struct walk *walk, const struct nlmsghdr *entry)
{
	struct flow flow = { .protocol = 0 };
	int error;

	read_flow(entry, &flow);
	if (!walk->test(&flow, walk->data) || walk->cut == NULL)
		return;
	walk->cut->count++;
	walk->cut->packets += flow.packets;
	error = doom(walk->flows, entry);
	if (error != 0 && walk->error == 0)
		walk->error = error;
}

/* Reads one datagram of the dump; true when it was the last. */
static bool
read_dump(struct walk *walk, uint32_t seq, int left, bool *interrupted)
{
	const struct nlmsghdr *header = (const void *)walk->flows->buf;

	for (; mnl_nlmsg_ok(header, left);
	     header = mnl_nlmsg_next(header, &left)) {
		const struct nlmsgerr *result = mnl_nlmsg_get_payload(header);

		if (header->nlmsg_seq != seq)
			continue;
		if ((header->nlmsg_flags & NLM_F_DUMP_INTR) != 0)
			*interrupted = true;
		if (header->nlmsg_type == NLMSG_DONE)
			return true;
		if (header->nlmsg_type == NLMSG_ERROR) {
			walk->error = result->error;
			return true;
		}
		judge(walk, header);
	}
	return false;
}

static int
walk_once(struct walk *walk)
{
	struct flows *flows = walk->flows;
	struct nlmsghdr *header = mnl_nlmsg_put_header(flows->buf);
	struct nfgenmsg *extra;
	uint32_t seq = flows->seq++;
	bool interrupted = false;
	ssize_t len;

	header->nlmsg_type = NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_GET;
	header->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	header->nlmsg_seq = seq;
	extra = mnl_nlmsg_put_extra_header(header, sizeof(*extra));
	extra->nfgen_family = AF_UNSPEC;
	extra->version = NFNETLINK_V0;
	if (mnl_socket_sendto(flows->dump, header, header->nlmsg_len) < 0)
		return last_error();
	do {
		len = mnl_socket_recvfrom(flows->dump, flows->buf, BUFFER_SIZE);
		if (len < 0)
			return last_error();
	} while (!read_dump(walk, seq, (int)len, &interrupted));
	if (walk->error == 0)
		walk->error = send_messages(flows);
	if (walk->error == 0 && interrupted)
		return -EINTR;
	return walk->error;
}

static int
walk_all(struct walk *walk)
{
	int error = -EINTR;

	for (int i = 0; i < WALK_TRIES && error == -EINTR; i++)
		error = walk_once(walk);
	return error;
}

int
flows_walk(struct flows *flows, flow_test seen, void *data)
{
	struct walk walk = { flows, seen, data, NULL, 0 };

	return walk_all(&walk);
}

int
flows_cut(struct flows *flows, flow_test doomed, void *data,
    struct flows_cut *ret)
{
	struct flows_cut cut = { 0, 0 };
	struct walk walk = { flows, doomed, data, &cut, 0 };
	int error = walk_all(&walk);

	*ret = cut;
	return error;
}
