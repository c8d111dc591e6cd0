/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_echo - the least that a server of datagrams can do: many in with one
 * system call, the same out with another, each from the address it was sent
 * to. What the resolver costs is measured against it (tools/bench).
 */
#include "config.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define BATCH         64
#define DATAGRAM_MAX  2048
#define CONTROL_SIZE  CMSG_SPACE(sizeof(struct in_pktinfo))
#define QR_OFFSET     2
#define HEADER_OCTETS 12

static struct mmsghdr messages[BATCH];
static struct iovec iov[BATCH];
static struct sockaddr_in from[BATCH];
static _Alignas(struct cmsghdr) uint8_t control[BATCH][CONTROL_SIZE];
static uint8_t octets[BATCH][DATAGRAM_MAX];

static void
prepare(void)
{
	for (unsigned i = 0; i < BATCH; i++) {
		iov[i].iov_base = octets[i];
		messages[i].msg_hdr.msg_iov = &iov[i];
		messages[i].msg_hdr.msg_iovlen = 1;
		messages[i].msg_hdr.msg_name = &from[i];
		messages[i].msg_hdr.msg_control = control[i];
	}
}

static int
receive(int fd)
{
	for (unsigned i = 0; i < BATCH; i++) {
		iov[i].iov_len = DATAGRAM_MAX;
		messages[i].msg_hdr.msg_namelen = sizeof(from[i]);
		messages[i].msg_hdr.msg_controllen = CONTROL_SIZE;
	}
	return recvmmsg(fd, messages, BATCH, MSG_DONTWAIT, NULL);
}

/* Turns questions into responses, of a kind. */
static void
answer(int fd, unsigned count)
{
	unsigned at = 0;

	for (unsigned i = 0; i < count; i++) {
		iov[i].iov_len = messages[i].msg_len;
		if (messages[i].msg_len >= HEADER_OCTETS)
			octets[i][QR_OFFSET] |= 0x80;
	}
	while (at < count) {
		int n = sendmmsg(fd, messages + at, count - at, MSG_DONTWAIT);

		at += n > 0 ? (unsigned)n : 1;
	}
}

int
main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons(53) };
	struct pollfd ready = { .events = POLLIN };
	int on = 1;

	if (argc != 2 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1) {
		(void)fprintf(stderr, "usage: bench_echo ADDRESS\n");
		return 2;
	}
	ready.fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (ready.fd < 0 ||
	    setsockopt(ready.fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on)) !=
		0 ||
	    bind(ready.fd, (struct sockaddr *)&to, sizeof(to)) != 0) {
		perror("bench_echo");
		return 3;
	}
	prepare();
	while (poll(&ready, 1, -1) > 0) {
		int n = receive(ready.fd);

		if (n > 0)
			answer(ready.fd, (unsigned)n);
	}
	return 0;
}
