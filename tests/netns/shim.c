/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shim - preloaded into namewalld, stands between it and netlink, and makes
 * the kernel what a test needs:
 *
 *   SHIM_WITHOUT=NAME   there is no such expression (as without its module)
 *   SHIM_LOSE=CHAIN     rules of this chain are gone again right after they
 *                       were put, by the very socket that may do so, and
 *                       nobody is told
 *   SHIM_TIMES=N        the latter N times only
 *   SHIM_CLOCK=FILE     while FILE is there the time of day is a day later
 */
#define _DEFAULT_SOURCE

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>

#define SEQUENCE 0xfffffff0u /* of nobody's question */

static uint8_t copy[8 << 20];

static ssize_t
send_now(int fd, const void *octets, size_t len, const struct sockaddr *to,
    socklen_t to_len)
{
	return syscall(SYS_sendto, fd, octets, len, 0, to, to_len);
}

/* An attribute that holds a name: 4 octets of head, the name, a NUL. */
static size_t
name_attr(uint8_t *at, uint16_t type, const char *name)
{
	uint16_t head[2] = { (uint16_t)(4 + strlen(name) + 1), type };

	memset(at, 0, NLA_ALIGN(head[0]));
	memcpy(at, head, sizeof(head));
	memcpy(at + 4, name, strlen(name));
	return NLA_ALIGN(head[0]);
}

/* Every expression of that name gets another, which no kernel has. */
static void
rename_all(size_t len, const char *name)
{
	uint8_t wanted[64];
	size_t size;

	if (strlen(name) > 32)
		return;
	(void)name_attr(wanted, NFTA_EXPR_NAME, name);
	size = 4 + strlen(name) + 1;
	for (size_t i = 0; i + size <= len; i++)
		if (memcmp(copy + i, wanted, size) == 0)
			copy[i + 4] = 'z';
}

static size_t
message(uint8_t *at, uint16_t type, uint8_t family, uint16_t res)
{
	struct nlmsghdr header = { .nlmsg_len =
				       NLMSG_LENGTH(sizeof(struct nfgenmsg)),
		.nlmsg_type = type,
		.nlmsg_flags = NLM_F_REQUEST,
		.nlmsg_seq = SEQUENCE };
	struct nfgenmsg body = { .nfgen_family = family, .res_id = htons(res) };

	memcpy(at, &header, sizeof(header));
	memcpy(at + NLMSG_HDRLEN, &body, sizeof(body));
	return header.nlmsg_len;
}

static void
lose(int fd, const char *chain, const struct sockaddr *to, socklen_t to_len)
{
	uint8_t batch[512];
	size_t len = message(batch, NFNL_MSG_BATCH_BEGIN, AF_UNSPEC,
	    NFNL_SUBSYS_NFTABLES);
	size_t at = len;
	uint32_t size;

	len += message(batch + at, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_DELRULE,
	    NFPROTO_INET, 0);
	len += name_attr(batch + len, NFTA_RULE_TABLE, "namewall");
	len += name_attr(batch + len, NFTA_RULE_CHAIN, chain);
	size = (uint32_t)(len - at);
	memcpy(batch + at, &size, sizeof(size));
	len += message(batch + len, NFNL_MSG_BATCH_END, AF_UNSPEC,
	    NFNL_SUBSYS_NFTABLES);
	(void)send_now(fd, batch, len, to, to_len);
}

/* Whether a rule is among the messages. */
static int
puts_rules(size_t len)
{
	for (size_t at = 0; at + NLMSG_HDRLEN <= len;) {
		struct nlmsghdr header;

		memcpy(&header, copy + at, sizeof(header));
		if (header.nlmsg_type ==
		    (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWRULE))
			return 1;
		if (header.nlmsg_len < NLMSG_HDRLEN)
			return 0;
		at += NLMSG_ALIGN(header.nlmsg_len);
	}
	return 0;
}

ssize_t
sendto(int fd, const void *octets, size_t len, int flags,
    const struct sockaddr *to, socklen_t to_len)
{
	static long times = -1;
	const char *without = getenv("SHIM_WITHOUT");
	const char *losing = getenv("SHIM_LOSE");
	const char *count = getenv("SHIM_TIMES");
	ssize_t sent;

	(void)flags;
	if (to == NULL || to->sa_family != AF_NETLINK || len > sizeof(copy))
		return syscall(SYS_sendto, fd, octets, len, flags, to, to_len);
	if (times < 0)
		times = count != NULL ? strtol(count, NULL, 10) : 1000;
	memcpy(copy, octets, len);
	if (without != NULL)
		rename_all(len, without);
	sent = send_now(fd, copy, len, to, to_len);
	if (losing != NULL && times > 0 && puts_rules(len)) {
		times--;
		lose(fd, losing, to, to_len);
	}
	return sent;
}

int
clock_gettime(clockid_t clock, struct timespec *ret)
{
	const char *file = getenv("SHIM_CLOCK");
	int result = (int)syscall(SYS_clock_gettime, clock, ret);

	if (result == 0 && clock == CLOCK_REALTIME && file != NULL &&
	    access(file, F_OK) == 0)
		ret->tv_sec += 24L * 3600;
	return result;
}
