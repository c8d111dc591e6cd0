/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * batch - see batch.h. Nothing here knows what is in a message.
 */
#include "config.h"

#include "src/helper/batch.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <libnftnl/common.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include "lib/require.h"

#define SOCKET_BUFFER (8 * 1024 * 1024)
#define RECEIVE_SIZE  (64u * 1024)
#define ANSWER_MS     5000
/* Kept free, so that every message may be begun and the batch be ended. */
#define BATCH_RESERVE 8192u
#define BATCH_GENID   1 /* NFNL_BATCH_GENID */

/* libmnl reports by errno; whoever forgot to set it must not look like
 * success. */
static int
last_error(void)
{
	return errno != 0 ? -errno : -EIO;
}

static void
enlarge(int fd)
{
	int size = SOCKET_BUFFER;

	/* Best effort: without the privilege the usual size has to do. */
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
}

int
nft_open(struct nft *ret, const char *table)
{
	struct nft nft = { .seq = 1, .table = table };
	int on = 1;
	int error;

	nft.buf = malloc(BATCH_SIZE);
	nft.receive = malloc(RECEIVE_SIZE);
	nft.socket = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC);
	if (nft.buf == NULL || nft.receive == NULL || nft.socket == NULL) {
		error = nft.socket == NULL ? last_error() : -ENOMEM;
		goto fail;
	}
	if (mnl_socket_bind(nft.socket, 0, MNL_SOCKET_AUTOPID) < 0) {
		error = last_error();
		goto fail;
	}
	(void)mnl_socket_setsockopt(nft.socket, NETLINK_CAP_ACK, &on,
	    sizeof(on));
	enlarge(mnl_socket_get_fd(nft.socket));
	nft.portid = mnl_socket_get_portid(nft.socket);
	*ret = nft;
	return 0;
fail:
	nft_close(&nft);
	return error;
}

void
nft_close(struct nft *nft)
{
	if (nft->socket != NULL)
		mnl_socket_close(nft->socket);
	free(nft->buf);
	free(nft->receive);
	nft->socket = NULL;
	nft->buf = nft->receive = NULL;
}

void
batch_begin(struct batch *batch, struct nft *nft)
{
	struct nlmsghdr *header;

	*batch = (struct batch){
		.nft = nft,
		.family = NFPROTO_INET,
		.seq_first = nft->seq,
	};
	header = nftnl_batch_begin((char *)nft->buf, nft->seq++);
	batch->open = header;
}

void
batch_begin_at(struct batch *batch, struct nft *nft, uint32_t generation)
{
	batch_begin(batch, nft);
	mnl_attr_put_u32(batch->open, BATCH_GENID, htonl(generation));
}

void
batch_family(struct batch *batch, uint8_t family)
{
	batch->family = family;
}

static void
close_message(struct batch *batch)
{
	if (batch->open != NULL)
		batch->used += NLMSG_ALIGN(batch->open->nlmsg_len);
	batch->open = NULL;
}

size_t
batch_room(const struct batch *batch)
{
	size_t used = batch->used;

	if (batch->open != NULL)
		used += NLMSG_ALIGN(batch->open->nlmsg_len);
	REQUIRE(used <= BATCH_SIZE);
	return used + BATCH_RESERVE < BATCH_SIZE
	    ? BATCH_SIZE - BATCH_RESERVE - used
	    : 0;
}

struct nlmsghdr *
batch_put(struct batch *batch, uint16_t type, uint16_t flags)
{
	close_message(batch);
	if (batch_room(batch) == 0) {
		/* The commit will fail; what is filled in meanwhile goes to
		 * the reserve, again and again. */
		batch->overflow = true;
		batch->used = BATCH_SIZE - BATCH_RESERVE;
	}
	batch->open =
	    nftnl_nlmsg_build_hdr((char *)batch->nft->buf + batch->used, type,
		batch->family, flags, batch->nft->seq++);
	batch->seq_last = batch->open->nlmsg_seq;
	batch->count++;
	return batch->open;
}

static int
wait_readable(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	int ready;

	do {
		ready = poll(&poll_fd, 1, ANSWER_MS);
	} while (ready < 0 && errno == EINTR);
	if (ready < 0)
		return last_error();
	return ready > 0 ? 0 : -ETIMEDOUT;
}

/*
 * The error, if any, that one received message brings to this batch. Sets
 * *ret_done when the answer is complete: the last message was answered, or
 * the batch as a whole was refused, which bears the number of its beginning.
 */
static int
read_answer(const struct batch *batch, const struct nlmsghdr *header,
    bool *ret_done)
{
	const struct nlmsgerr *answer;
	uint32_t at = header->nlmsg_seq - batch->seq_first;

	if (header->nlmsg_type != NLMSG_ERROR ||
	    header->nlmsg_len < NLMSG_LENGTH(sizeof(*answer)) ||
	    at > batch->seq_last - batch->seq_first + 1)
		return 0;
	answer = NLMSG_DATA(header);
	if (header->nlmsg_seq == batch->seq_last ||
	    (at == 0 && answer->error != 0))
		*ret_done = true;
	return answer->error;
}

static int
read_answers(const struct batch *batch)
{
	struct nft *nft = batch->nft;
	bool done = false;
	int first = 0;

	while (!done) {
		struct nlmsghdr *header = (struct nlmsghdr *)nft->receive;
		ssize_t len;
		int left;
		int error = wait_readable(mnl_socket_get_fd(nft->socket));

		if (error != 0)
			return error;
		len = mnl_socket_recvfrom(nft->socket, nft->receive,
		    RECEIVE_SIZE);
		if (len < 0)
			return last_error();
		left = (int)len;
		for (; mnl_nlmsg_ok(header, left);
		     header = mnl_nlmsg_next(header, &left)) {
			error = read_answer(batch, header, &done);
			if (error == 0 || first != 0)
				continue;
			first = error;
			nft->refused_at = header->nlmsg_seq - batch->seq_first;
		}
	}
	return first;
}

int
batch_commit(struct batch *batch)
{
	struct nft *nft = batch->nft;
	struct nlmsghdr *end;

	if (batch->count == 0)
		return 0;
	if (batch->overflow)
		return -EMSGSIZE;
	/* Only the last is asked for an answer; errors come unasked. */
	batch->open->nlmsg_flags |= NLM_F_ACK;
	close_message(batch);
	end = nftnl_batch_end((char *)nft->buf + batch->used, nft->seq++);
	batch->used += NLMSG_ALIGN(end->nlmsg_len);
	if (mnl_socket_sendto(nft->socket, nft->buf, batch->used) < 0)
		return last_error();
	return read_answers(batch);
}

struct nlmsghdr *
nft_request(struct nft *nft, uint8_t family, uint16_t type, uint16_t flags)
{
	return nftnl_nlmsg_build_hdr((char *)nft->buf, type, family, flags,
	    nft->seq++);
}

struct answer {
	uint32_t seq;
	nft_message message;
	void *data;
	bool complete, interrupted;
	int error;
};

/* Reads to the end also after an error, or the rest would be taken for the
 * answer of the next question. */
static void
read_messages(struct answer *answer, uint8_t *buf, int left)
{
	const struct nlmsghdr *header = (const struct nlmsghdr *)buf;

	for (; mnl_nlmsg_ok(header, left);
	     header = mnl_nlmsg_next(header, &left)) {
		const struct nlmsgerr *result = mnl_nlmsg_get_payload(header);
		int error = 0;

		if (header->nlmsg_seq != answer->seq)
			continue;
		if ((header->nlmsg_flags & NLM_F_DUMP_INTR) != 0)
			answer->interrupted = true;
		if (header->nlmsg_type == NLMSG_ERROR ||
		    header->nlmsg_type == NLMSG_DONE)
			answer->complete = true;
		if (header->nlmsg_type == NLMSG_ERROR)
			error = result->error;
		else if (header->nlmsg_type >= NLMSG_MIN_TYPE &&
		    answer->error == 0)
			error = answer->message(header, answer->data);
		if (error != 0 && answer->error == 0)
			answer->error = error;
	}
}

int
nft_ask(struct nft *nft, struct nlmsghdr *request, nft_message message,
    void *data)
{
	struct answer answer = { request->nlmsg_seq, message, data,
		.error = 0 };

	if ((request->nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP)
		request->nlmsg_flags |= NLM_F_ACK;
	if (mnl_socket_sendto(nft->socket, request, request->nlmsg_len) < 0)
		return last_error();
	while (!answer.complete) {
		ssize_t len;
		int error = wait_readable(mnl_socket_get_fd(nft->socket));

		if (error != 0)
			return error;
		len = mnl_socket_recvfrom(nft->socket, nft->buf, BATCH_SIZE);
		if (len < 0)
			return last_error();
		read_messages(&answer, nft->buf, (int)len);
	}
	if (answer.error == 0 && answer.interrupted)
		return -EINTR;
	return answer.error;
}

static int
read_generation(const struct nlmsghdr *header, void *data)
{
	const struct nlattr *attr;
	uint32_t *generation = data;

	nft_for_each(attr, header) if (mnl_attr_get_type(attr) ==
	    NFTA_GEN_ID) *generation = ntohl(mnl_attr_get_u32(attr));
	return 0;
}

int
nft_generation(struct nft *nft, uint32_t *ret)
{
	struct nlmsghdr *request =
	    nft_request(nft, NFPROTO_UNSPEC, NFT_MSG_GETGEN, 0);
	uint32_t generation = 0;
	int error = nft_ask(nft, request, read_generation, &generation);

	if (error == 0)
		*ret = generation;
	return error;
}

const char *
batch_error_text(int error)
{
	switch (-error) {
	case EPERM:
		return "not permitted: no CAP_NET_ADMIN, or the table belongs "
		       "to another process";
	case ENFILE:
		return "the set is full";
	case EOPNOTSUPP:
		return "this kernel does not support it";
	case EPROTONOSUPPORT:
		return "this kernel has no nf_tables";
	case ESTALE:
		return "it is not as it was installed";
	case ETIMEDOUT:
		return "the kernel did not answer";
	default:
		return strerror(-error);
	}
}
