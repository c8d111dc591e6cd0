/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * netns - finding the network namespace of a sandbox.
 *
 * The kernel tells the other end of a veth pair by a number that belongs to
 * our namespace. Which namespace has that number is asked for every candidate
 * that a name or a process gives.
 */
#include "config.h"

#include "src/cli/netns.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NAMES      "/run/netns"
#define ANSWER_MAX 6144

/* A request and its room for attributes; small, for one answer each. */
struct request {
	struct nlmsghdr header;
	union {
		struct ifinfomsg link;
		struct rtgenmsg generic;
		struct ifaddrmsg addr;
	} u;
	uint8_t room[128];
};

int
netns_open_name(const char *name)
{
	char path[512];

	if (strchr(name, '/') != NULL)
		return -EINVAL;
	int len = snprintf(path, sizeof(path), NAMES "/%s", name);
	if (len < 0 || (size_t)len >= sizeof(path))
		return -ENAMETOOLONG;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int
netns_open_pid(const char *pid)
{
	char path[64];

	if (*pid == '\0' || strspn(pid, "0123456789") != strlen(pid))
		return -EINVAL;
	int len = snprintf(path, sizeof(path), "/proc/%s/ns/net", pid);
	if (len < 0 || (size_t)len >= sizeof(path))
		return -EINVAL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void
attribute(struct request *request, unsigned short type, const void *data,
    size_t size)
{
	size_t at = NLMSG_ALIGN(request->header.nlmsg_len);
	struct rtattr attr = { .rta_type = type,
		.rta_len = (unsigned short)RTA_LENGTH(size) };

	memcpy((uint8_t *)request + at, &attr, sizeof(attr));
	memcpy((uint8_t *)request + at + RTA_LENGTH(0), data, size);
	request->header.nlmsg_len = (uint32_t)(at + RTA_SPACE(size));
}

static ssize_t
exchange(int fd, struct request *request, void *answer, size_t size)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

	if (sendto(fd, request, request->header.nlmsg_len, 0,
		(const struct sockaddr *)&kernel, sizeof(kernel)) < 0)
		return -errno;
	ssize_t len = recv(fd, answer, size, 0);
	if (len < 0)
		return -errno;
	return len < (ssize_t)sizeof(struct nlmsghdr) ? -EBADMSG : len;
}

/* 0 or the negative errno that the kernel answered with. */
static int
talk(struct request *request, void *answer, size_t size)
{
	struct nlmsghdr header;
	int error;

	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (fd < 0)
		return -errno;
	ssize_t len = exchange(fd, request, answer, size);
	close(fd);
	if (len < 0)
		return (int)len;
	memcpy(&header, answer, sizeof(header));
	if (header.nlmsg_len > (size_t)len)
		return -EBADMSG;
	if (header.nlmsg_type != NLMSG_ERROR)
		return 0;
	if (len < (ssize_t)(NLMSG_HDRLEN + sizeof(error)))
		return -EBADMSG;
	memcpy(&error, (uint8_t *)answer + NLMSG_HDRLEN, sizeof(error));
	return error;
}

/* A signed 32-bit attribute of an answer whose fixed part has this size. */
static bool
find_s32(const uint8_t *answer, size_t fixed, unsigned short type, int32_t *ret)
{
	struct nlmsghdr header;
	struct rtattr attr;

	memcpy(&header, answer, sizeof(header));
	size_t at = NLMSG_HDRLEN + NLMSG_ALIGN(fixed);
	while (at + sizeof(attr) <= header.nlmsg_len) {
		memcpy(&attr, answer + at, sizeof(attr));
		if (attr.rta_len < sizeof(attr) ||
		    attr.rta_len > header.nlmsg_len - at)
			return false;
		if ((attr.rta_type & NLA_TYPE_MASK) == type &&
		    attr.rta_len == RTA_LENGTH(sizeof(*ret))) {
			memcpy(ret, answer + at + RTA_LENGTH(0), sizeof(*ret));
			return true;
		}
		at += RTA_ALIGN(attr.rta_len);
	}
	return false;
}

/* The number that our namespace gave to the one where the peer is. */
static int
peer_number(const char *interface, int32_t *ret)
{
	struct request request = { 0 };
	uint8_t answer[ANSWER_MAX];

	request.header = (struct nlmsghdr){ .nlmsg_len = NLMSG_LENGTH(
						sizeof(struct ifinfomsg)),
		.nlmsg_type = RTM_GETLINK,
		.nlmsg_flags = NLM_F_REQUEST };
	request.u.link.ifi_index = (int)if_nametoindex(interface);
	if (request.u.link.ifi_index == 0)
		return -ENODEV;
	int error = talk(&request, answer, sizeof(answer));
	if (error < 0)
		return error;
	if (!find_s32(answer, sizeof(struct ifinfomsg), IFLA_LINK_NETNSID,
		ret) ||
	    *ret < 0)
		return -ENOTUNIQ;
	return 0;
}

static bool
has_number(int fd, int32_t number)
{
	struct request request = { 0 };
	uint8_t answer[ANSWER_MAX];
	uint32_t wanted = (uint32_t)fd;
	int32_t found;

	request.header = (struct nlmsghdr){ .nlmsg_len = NLMSG_LENGTH(
						sizeof(struct rtgenmsg)),
		.nlmsg_type = RTM_GETNSID,
		.nlmsg_flags = NLM_F_REQUEST };
	attribute(&request, NETNSA_FD, &wanted, sizeof(wanted));
	return talk(&request, answer, sizeof(answer)) == 0 &&
	    find_s32(answer, sizeof(struct rtgenmsg), NETNSA_NSID, &found) &&
	    found == number;
}

static int
search(const char *folder, int (*open_one)(const char *), int32_t number)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int found = -ENOENT;

	if (dir == NULL)
		return -ENOENT;
	while (found < 0 && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		int fd = open_one(entry->d_name);
		if (fd < 0)
			continue;
		if (has_number(fd, number))
			found = fd;
		else
			close(fd);
	}
	closedir(dir);
	return found;
}

int
netns_open_peer(const char *interface)
{
	int32_t number;

	int error = peer_number(interface, &number);
	if (error < 0)
		return error;
	int fd = search(NAMES, netns_open_name, number);
	return fd >= 0 ? fd : search("/proc", netns_open_pid, number);
}

int
netns_address(unsigned ifindex, const struct addr *addr, bool add)
{
	struct request request = { 0 };
	uint8_t answer[ANSWER_MAX];
	bool v4 = addr->family == 4;

	request.header = (struct nlmsghdr){ .nlmsg_len = NLMSG_LENGTH(
						sizeof(struct ifaddrmsg)),
		.nlmsg_type = add ? RTM_NEWADDR : RTM_DELADDR,
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK };
	if (add)
		request.header.nlmsg_flags |= NLM_F_CREATE | NLM_F_EXCL;
	request.u.addr =
	    (struct ifaddrmsg){ .ifa_family = v4 ? AF_INET : AF_INET6,
		    .ifa_prefixlen = v4 ? 32 : 128,
		    .ifa_flags = IFA_F_NODAD,
		    .ifa_index = ifindex };
	attribute(&request, IFA_LOCAL, addr->bytes, addr_size(addr));
	attribute(&request, IFA_ADDRESS, addr->bytes, addr_size(addr));
	return talk(&request, answer, sizeof(answer));
}
