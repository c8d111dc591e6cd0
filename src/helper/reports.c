/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reports - the sockets of handover.h by which the kernel tells of rejected
 * packets and of ended flows.
 *
 * They are made ready here, since that needs a privilege, and read by the
 * resolver, which needs none for it and can change nothing about them: what a
 * sandbox has sent meets no parser that has a privilege.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_log.h>

#include "src/helper/handover.h"
#include "src/helper/log.h"

#define EXIT_ENVIRONMENT 3
#define COPY_RANGE       96
#define REJECTS_BUFFER   (4 * 1024 * 1024)
#define FLOWS_BUFFER     (8 * 1024 * 1024)
#define ANSWER_WAIT_MS   2000
/* The resolver of a run before may be about to end. */
#define BIND_TRIES   20
#define BIND_WAIT_MS 100

static int
last_error(void)
{
	return errno != 0 ? -errno : -EIO;
}

static struct mnl_socket *
open_socket(int buffer)
{
	struct mnl_socket *socket =
	    mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (socket == NULL)
		return NULL;
	(void)setsockopt(mnl_socket_get_fd(socket), SOL_SOCKET, SO_RCVBUFFORCE,
	    &buffer, sizeof(buffer));
	if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0) {
		mnl_socket_close(socket);
		return NULL;
	}
	return socket;
}

/* A lone packet is told at once: no gathering, no waiting. */
static struct nlmsghdr *
put_config(char *buf, uint16_t group)
{
	struct nfulnl_msg_config_cmd command = { .command =
						     NFULNL_CFG_CMD_BIND };
	struct nfulnl_msg_config_mode mode = { .copy_range = htonl(COPY_RANGE),
		.copy_mode = NFULNL_COPY_PACKET };
	struct nlmsghdr *header = mnl_nlmsg_put_header(buf);
	struct nfgenmsg *extra;

	header->nlmsg_type = NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_CONFIG;
	header->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	extra = mnl_nlmsg_put_extra_header(header, sizeof(*extra));
	extra->nfgen_family = AF_UNSPEC;
	extra->version = NFNETLINK_V0;
	extra->res_id = htons(group);
	mnl_attr_put(header, NFULA_CFG_CMD, sizeof(command), &command);
	mnl_attr_put(header, NFULA_CFG_MODE, sizeof(mode), &mode);
	mnl_attr_put_u16(header, NFULA_CFG_FLAGS, htons(NFULNL_CFG_F_SEQ));
	mnl_attr_put_u32(header, NFULA_CFG_QTHRESH, htonl(1));
	mnl_attr_put_u32(header, NFULA_CFG_TIMEOUT, htonl(0));
	return header;
}

/* The answer; packets that are logged meanwhile are lost, as were those
 * before. */
static int
read_answer(struct mnl_socket *socket)
{
	struct pollfd readable = { mnl_socket_get_fd(socket), POLLIN, 0 };
	char buf[4096];

	for (;;) {
		const struct nlmsghdr *header = (const void *)buf;
		const struct nlmsgerr *result;
		ssize_t len;

		if (poll(&readable, 1, ANSWER_WAIT_MS) <= 0)
			return -ETIMEDOUT;
		len = mnl_socket_recvfrom(socket, buf, sizeof(buf));
		if (len < 0)
			return last_error();
		if (!mnl_nlmsg_ok(header, (int)len) ||
		    header->nlmsg_type != NLMSG_ERROR)
			continue;
		result = mnl_nlmsg_get_payload(header);
		return result->error;
	}
}

static int
bind_group(struct mnl_socket *socket, uint16_t group)
{
	char buf[512];
	int error = -EPERM;

	for (int i = 0; i < BIND_TRIES && error == -EPERM; i++) {
		struct nlmsghdr *header = put_config(buf, group);

		if (i > 0)
			(void)poll(NULL, 0, BIND_WAIT_MS);
		if (mnl_socket_sendto(socket, header, header->nlmsg_len) < 0)
			return last_error();
		error = read_answer(socket);
	}
	return error;
}

/* Moves the descriptor out of libmnl's hands. */
static int
hand_over(struct handover *handover, struct mnl_socket *socket,
    const char *option)
{
	int fd =
	    fcntl(mnl_socket_get_fd(socket), F_DUPFD_CLOEXEC, HANDOVER_FD_MIN);

	mnl_socket_close(socket);
	if (fd < 0) {
		log_error("start: %s", strerror(errno));
		return EXIT_ENVIRONMENT;
	}
	if (handover_keep(handover, fd) != 0 ||
	    handover_arg(handover, "%s", option) != 0)
		return EXIT_ENVIRONMENT;
	return handover_arg(handover, "%d", fd);
}

static int
hand_rejects(struct handover *handover, uint16_t group)
{
	struct mnl_socket *socket = open_socket(REJECTS_BUFFER);
	int error = socket == NULL ? last_error() : bind_group(socket, group);

	if (error == 0)
		return hand_over(handover, socket, "--nflog-fd");
	if (error == -EPERM)
		log_error("log group %u: is bound by another process (a log "
			  "daemon?): choose another with \"nft: "
			  "{log_group: NUMBER}\"",
		    (unsigned int)group);
	else
		log_error("log group %u: %s", (unsigned int)group,
		    strerror(-error));
	if (socket != NULL)
		mnl_socket_close(socket);
	return EXIT_ENVIRONMENT;
}

/* Only `flow-ended` depends on it, which promises nothing. */
static int
hand_flows(struct handover *handover)
{
	struct mnl_socket *socket = open_socket(FLOWS_BUFFER);
	int group = NFNLGRP_CONNTRACK_DESTROY;

	if (socket != NULL &&
	    mnl_socket_setsockopt(socket, NETLINK_ADD_MEMBERSHIP, &group,
		sizeof(group)) == 0)
		return hand_over(handover, socket, "--flow-fd");
	log_warn("connection tracking: does not tell of ended flows: %s",
	    strerror(errno));
	if (socket != NULL)
		mnl_socket_close(socket);
	return 0;
}

int
handover_reports(struct handover *handover, const struct settings *settings)
{
	int status = settings->nft_sets
	    ? 0
	    : hand_rejects(handover, settings->nft_log_group);

	return status == 0 ? hand_flows(handover) : status;
}
