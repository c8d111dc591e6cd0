/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * netlink - see netlink.h.
 */
#include "config.h"

#include "src/resolver/netlink.h"

#include <errno.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/cursor.h"

#define TYPE_MASK 0x3fff /* without the flags of nesting and byte order */

static void
skip(struct netlink_bytes *from, size_t len)
{
	size_t aligned = (len + 3) & ~(size_t)3;

	aligned = aligned < from->len ? aligned : from->len;
	from->at += aligned;
	from->len -= aligned;
}

bool
netlink_next_message(struct netlink_bytes *from, struct netlink_message *ret)
{
	const size_t headers =
	    sizeof(struct nlmsghdr) + sizeof(struct nfgenmsg);
	struct nlmsghdr header;

	if (from->len < sizeof(header))
		return false;
	memcpy(&header, from->at, sizeof(header));
	if (header.nlmsg_len < headers || header.nlmsg_len > from->len)
		return false;
	ret->type = header.nlmsg_type;
	ret->attrs.at = from->at + headers;
	ret->attrs.len = header.nlmsg_len - headers;
	skip(from, header.nlmsg_len);
	return true;
}

bool
netlink_next_attr(struct netlink_bytes *from, struct netlink_attr *ret)
{
	struct nlattr header;

	if (from->len < sizeof(header))
		return false;
	memcpy(&header, from->at, sizeof(header));
	if (header.nla_len < sizeof(header) || header.nla_len > from->len)
		return false;
	ret->type = header.nla_type & TYPE_MASK;
	ret->value.at = from->at + sizeof(header);
	ret->value.len = header.nla_len - sizeof(header);
	skip(from, header.nla_len);
	return true;
}

bool
netlink_u8(const struct netlink_attr *attr, uint8_t *ret)
{
	if (attr->value.len != 1)
		return false;
	*ret = attr->value.at[0];
	return true;
}

bool
netlink_u16(const struct netlink_attr *attr, uint16_t *ret)
{
	struct cursor c = cursor_read_of(attr->value.at, attr->value.len);

	if (attr->value.len != 2)
		return false;
	*ret = cursor_u16(&c);
	return true;
}

bool
netlink_u32(const struct netlink_attr *attr, uint32_t *ret)
{
	struct cursor c = cursor_read_of(attr->value.at, attr->value.len);

	if (attr->value.len != 4)
		return false;
	*ret = cursor_u32(&c);
	return true;
}

bool
netlink_u64(const struct netlink_attr *attr, uint64_t *ret)
{
	struct cursor c = cursor_read_of(attr->value.at, attr->value.len);
	uint64_t high;

	if (attr->value.len != 8)
		return false;
	high = cursor_u32(&c);
	*ret = high << 32 | cursor_u32(&c);
	return true;
}

ssize_t
netlink_receive(int fd, uint8_t *buf, size_t size)
{
	struct sockaddr_nl from;
	socklen_t from_len = sizeof(from);
	ssize_t len;

	do {
		len = recvfrom(fd, buf, size, MSG_DONTWAIT,
		    (struct sockaddr *)&from, &from_len);
	} while (len < 0 && errno == EINTR);
	if (len < 0)
		return -errno;
	if (from_len != sizeof(from) || from.nl_pid != 0)
		return -EPERM;
	return len;
}
