/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nflog - see nflog.h.
 */
#include "config.h"

#include "src/resolver/nflog.h"

#include <errno.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/require.h"
#include "src/resolver/daemon.h"
#include "src/resolver/log.h"

/* Of one wake-up: questions are not to wait behind a flood of these. */
#define DATAGRAMS_MAX 64

/* The rules' prefixes say what was wrong. */
static bool
read_prefix(const struct netlink_bytes *value, enum rejected_kind *ret)
{
	static const struct {
		const char *prefix;
		enum rejected_kind kind;
	} known[] = { { "namewall refused", REJECTED_REFUSED },
		{ "namewall unsound", REJECTED_UNSOUND },
		{ "namewall spoofed", REJECTED_SPOOFED },
		{ "namewall audited", REJECTED_AUDITED } };

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		/* With its NUL. */
		size_t size = strlen(known[i].prefix) + 1;

		if (value->len == size &&
		    memcmp(value->at, known[i].prefix, size) == 0) {
			*ret = known[i].kind;
			return true;
		}
	}
	return false;
}

bool
nflog_read(const struct netlink_message *message, struct nflog_packet *ret)
{
	struct netlink_bytes left = message->attrs;
	struct nflog_packet packet = { .has_sequence = false };
	bool has_kind = false, has_packet = false;
	struct netlink_attr attr;

	if (message->type != (NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_PACKET))
		return false;
	while (netlink_next_attr(&left, &attr)) {
		switch (attr.type) {
		case NFULA_PREFIX:
			has_kind =
			    read_prefix(&attr.value, &packet.rejected.kind);
			break;
		case NFULA_IFINDEX_INDEV:
			(void)netlink_u32(&attr, &packet.rejected.ifindex);
			break;
		case NFULA_SEQ:
			packet.has_sequence =
			    netlink_u32(&attr, &packet.sequence);
			break;
		case NFULA_PAYLOAD:
			has_packet = packet_read(&packet.rejected.packet,
			    attr.value.at, attr.value.len);
			break;
		default:
			break;
		}
	}
	packet.is_reject = has_kind && has_packet;
	*ret = packet;
	return true;
}

uint32_t
nflog_gap(struct nflog *log, uint32_t sequence)
{
	uint32_t gap = log->begun ? sequence - log->next : 0;

	log->begun = true;
	log->next = sequence + 1;
	return gap;
}

static void
take(struct nflog *log, const struct nflog_packet *packet)
{
	if (packet->has_sequence)
		log->lost += nflog_gap(log, packet->sequence);
	log->packets++;
	if (packet->is_reject)
		daemon_rejected(log->daemon, &packet->rejected);
	else
		log->unreadable++;
}

/* False: nothing more is there now. */
static bool
receive(struct nflog *log)
{
	struct netlink_bytes left = { log->buf, 0 };
	struct netlink_message message;
	struct nflog_packet packet;
	ssize_t len = netlink_receive(log->fd, log->buf, NFLOG_BUFFER_SIZE);

	/* ENOBUFS only says that some were lost; the next one's number says
	 * how many. */
	if (len < 0)
		return len == -ENOBUFS || len == -EPERM;
	left.len = (size_t)len;
	while (netlink_next_message(&left, &message)) {
		if (nflog_read(&message, &packet))
			take(log, &packet);
	}
	return true;
}

static void
on_readable(uv_poll_t *poll, int status, int events)
{
	struct nflog *log = poll->data;

	(void)events;
	if (status < 0)
		return;
	daemon_wake(log->daemon);
	for (int i = 0; i < DATAGRAMS_MAX && receive(log); i++)
		continue;
	daemon_rest(log->daemon);
}

int
nflog_open(struct nflog *log, struct daemon *daemon, int fd)
{
	int r;

	memset(log, 0, sizeof(*log));
	log->daemon = daemon;
	log->fd = fd;
	log->buf = malloc(NFLOG_BUFFER_SIZE);
	if (log->buf == NULL)
		return -ENOMEM;
	r = uv_poll_init(&daemon->loop, &log->poll, fd);
	if (r != 0) {
		log_error("nflog", "descriptor %d cannot be watched", fd);
		return r;
	}
	log->poll.data = log;
	log->open = true;
	return uv_poll_start(&log->poll, UV_READABLE, on_readable);
}

void
nflog_close(struct nflog *log)
{
	free(log->buf);
	log->buf = NULL;
	if (!log->open)
		return;
	log->open = false;
	uv_poll_stop(&log->poll);
	(void)close(log->fd);
	uv_close((uv_handle_t *)&log->poll, NULL);
}
