/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listen_udp - see listen_udp.h.
 */
#include "config.h"

#include "src/resolver/listen_udp.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/require.h"
#include "src/resolver/daemon.h"
#include "src/resolver/endpoint.h"
#include "src/resolver/log.h"

/*
 * A question with padding and cookies stays far under this; what is longer is
 * cut, and then refused as malformed like everything with octets missing.
 */
#define QUERY_MAX 2048

struct packet_control {
	_Alignas(struct cmsghdr)
	    uint8_t octets[CMSG_SPACE(sizeof(struct in6_pktinfo)) +
		CMSG_SPACE(sizeof(struct in_pktinfo))];
};

struct listener_io {
	struct mmsghdr in[LISTEN_BATCH], out[LISTEN_BATCH];
	struct iovec in_iov[LISTEN_BATCH], out_iov[LISTEN_BATCH];
	union socket_addr in_from[LISTEN_BATCH], out_to[LISTEN_BATCH];
	struct packet_control in_control[LISTEN_BATCH];
	struct packet_control out_control[LISTEN_BATCH];
	uint8_t in_octets[LISTEN_BATCH][QUERY_MAX];
	uint8_t out_octets[LISTEN_BATCH][REPLY_SIZE_MAX];
};

static void on_readable(uv_poll_t *, int status, int events);

static void
prepare(struct listener_io *io)
{
	for (unsigned i = 0; i < LISTEN_BATCH; i++) {
		io->in_iov[i].iov_base = io->in_octets[i];
		io->in_iov[i].iov_len = QUERY_MAX;
		io->in[i].msg_hdr.msg_iov = &io->in_iov[i];
		io->in[i].msg_hdr.msg_iovlen = 1;
		io->in[i].msg_hdr.msg_name = &io->in_from[i];
		io->in[i].msg_hdr.msg_control = &io->in_control[i];
		io->out_iov[i].iov_base = io->out_octets[i];
		io->out[i].msg_hdr.msg_iov = &io->out_iov[i];
		io->out[i].msg_hdr.msg_iovlen = 1;
		io->out[i].msg_hdr.msg_name = &io->out_to[i];
		io->out[i].msg_hdr.msg_control = &io->out_control[i];
	}
}

int
listener_open(struct listener *l, struct daemon *daemon, int fd, uint32_t index)
{
	int type = 0;
	socklen_t len = sizeof(type);
	int r;

	memset(l, 0, sizeof(*l));
	l->daemon = daemon;
	l->fd = fd;
	l->index = index;
	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) != 0 ||
	    type != SOCK_DGRAM) {
		log_error("listen", "descriptor %d is no UDP socket", fd);
		return -EINVAL;
	}
	l->io = calloc(1, sizeof(*l->io));
	if (l->io == NULL)
		return -ENOMEM;
	prepare(l->io);
	r = uv_poll_init(&daemon->loop, &l->poll, fd);
	if (r != 0)
		return r;
	l->poll.data = l;
	l->open = true;
	return 0;
}

void
listener_listen(struct listener *l, bool listening)
{
	if (!l->open)
		return;
	if (listening)
		(void)uv_poll_start(&l->poll, UV_READABLE, on_readable);
	else
		(void)uv_poll_stop(&l->poll);
}

/* Where it came in and which of our addresses it was sent to. */
static void
read_control(struct msghdr *msg, struct client *client)
{
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(msg); c != NULL; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
			struct in_pktinfo info;
			uint8_t octets[4];

			memcpy(&info, CMSG_DATA(c), sizeof(info));
			memcpy(octets, &info.ipi_addr, 4);
			client->local = addr_v4(octets);
			client->ifindex = (uint32_t)info.ipi_ifindex;
		} else if (c->cmsg_level == IPPROTO_IPV6 &&
		    c->cmsg_type == IPV6_PKTINFO) {
			struct in6_pktinfo info;

			memcpy(&info, CMSG_DATA(c), sizeof(info));
			client->local = addr_v6(info.ipi6_addr.s6_addr);
			client->ifindex = (uint32_t)info.ipi6_ifindex;
		}
	}
}

static void
on_datagram(struct listener *l, unsigned i)
{
	struct listener_io *io = l->io;
	struct client client = { .listener = l->index };

	endpoint_of_socket(&io->in_from[i], &client.addr, &client.port);
	read_control(&io->in[i].msg_hdr, &client);
	/* Port 0 cannot be answered; without an interface nobody asked. */
	if (client.addr.family == 0 || client.local.family == 0 ||
	    client.port == 0)
		return;
	daemon_query(l->daemon, &client, io->in_octets[i], io->in[i].msg_len);
}

static void
receive(struct listener *l)
{
	struct listener_io *io = l->io;
	int n;

	for (unsigned i = 0; i < LISTEN_BATCH; i++) {
		io->in[i].msg_hdr.msg_namelen = sizeof(io->in_from[i]);
		io->in[i].msg_hdr.msg_controllen = sizeof(io->in_control[i]);
		io->in[i].msg_hdr.msg_flags = 0;
	}
	n = recvmmsg(l->fd, io->in, LISTEN_BATCH, MSG_DONTWAIT, NULL);
	if (n < 0)
		return; /* nothing there, or an ICMP error of an old reply */
	l->received += (uint64_t)n;
	for (int i = 0; i < n; i++)
		on_datagram(l, (unsigned)i);
}

static void
on_readable(uv_poll_t *poll, int status, int events)
{
	struct listener *l = poll->data;

	(void)status;
	(void)events;
	daemon_wake(l->daemon);
	receive(l);
	daemon_rest(l->daemon);
}

/* The source address, and the interface by which the question came. */
static size_t
put_control(struct packet_control *control, const struct client *client)
{
	struct cmsghdr *c = (void *)control->octets;

	memset(control, 0, sizeof(*control));
	if (client->local.family == 4) {
		struct in_pktinfo info = { .ipi_ifindex =
					       (int)client->ifindex };

		memcpy(&info.ipi_spec_dst, client->local.bytes, 4);
		c->cmsg_level = IPPROTO_IP;
		c->cmsg_type = IP_PKTINFO;
		c->cmsg_len = CMSG_LEN(sizeof(info));
		memcpy(CMSG_DATA(c), &info, sizeof(info));
		return CMSG_SPACE(sizeof(info));
	} else {
		struct in6_pktinfo info = { .ipi6_ifindex = client->ifindex };

		memcpy(&info.ipi6_addr, client->local.bytes, 16);
		c->cmsg_level = IPPROTO_IPV6;
		c->cmsg_type = IPV6_PKTINFO;
		c->cmsg_len = CMSG_LEN(sizeof(info));
		memcpy(CMSG_DATA(c), &info, sizeof(info));
		return CMSG_SPACE(sizeof(info));
	}
}

void
listener_reply(struct listener *l, const struct client *client,
    const uint8_t *message, size_t len)
{
	struct listener_io *io = l->io;
	struct msghdr *msg;
	unsigned i;

	REQUIRE(len <= REPLY_SIZE_MAX);
	if (l->pending == LISTEN_BATCH)
		listener_flush(l);
	i = l->pending++;
	msg = &io->out[i].msg_hdr;
	memcpy(io->out_octets[i], message, len);
	io->out_iov[i].iov_len = len;
	msg->msg_namelen = endpoint_to_socket(&client->addr, client->port,
	    client->ifindex, &io->out_to[i]);
	msg->msg_controllen = put_control(&io->out_control[i], client);
}

void
listener_flush(struct listener *l)
{
	unsigned at = 0;

	while (at < l->pending) {
		int n = sendmmsg(l->fd, l->io->out + at, l->pending - at,
		    MSG_DONTWAIT);

		if (n > 0) {
			at += (unsigned)n;
			l->sent += (uint64_t)n;
			continue;
		}
		if (errno == EINTR)
			continue;
		/* The first of them cannot go: full buffer, no route. It is
		 * lost like any datagram, the others may still go. */
		l->unsent++;
		at++;
	}
	l->pending = 0;
}

void
listener_close(struct listener *l)
{
	if (l->open) {
		l->open = false;
		uv_close((uv_handle_t *)&l->poll, NULL);
	}
	free(l->io);
	l->io = NULL;
}
