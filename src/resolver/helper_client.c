/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * helper_client - see helper_client.h.
 */
#include "config.h"

#include "src/resolver/helper_client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/require.h"
#include "src/resolver/daemon.h"
#include "src/resolver/log.h"

#define BATCH         64
#define RECEIVE_BATCH 32
#define SLOT_BITS     20
#define SLOT_NONE     UINT32_MAX
#define CAPACITY_MAX  (1u << SLOT_BITS)
#define OP_BARRIER    (UINT64_C(1) << 63) /* STATS: nobody wants the count */

struct descriptors {
	int fd[HELPER_FDS_MAX];
	size_t count;
};

static void on_ready(uv_poll_t *, int status, int events);

int
helper_open(struct helper_client *h, struct daemon *daemon, int fd,
    uint32_t reserve)
{
	memset(h, 0, sizeof(*h));
	h->daemon = daemon;
	h->fd = fd;
	h->capacity = HELPER_PINS_MAX + reserve;
	if (h->capacity > CAPACITY_MAX - 1)
		return -E2BIG;
	h->outbox = calloc(h->capacity, sizeof(*h->outbox));
	h->requests = calloc(h->capacity, sizeof(*h->requests));
	h->failed_ops = calloc(h->capacity, sizeof(*h->failed_ops));
	if (h->outbox == NULL || h->requests == NULL || h->failed_ops == NULL)
		return -ENOMEM;
	h->free_head = SLOT_NONE;
	for (uint32_t i = h->capacity; i-- > 0;) {
		h->requests[i].next_free = h->free_head;
		h->free_head = i;
	}
	uv_poll_init(&daemon->loop, &h->poll, fd);
	h->poll.data = h;
	h->open = true;
	return uv_poll_start(&h->poll, UV_READABLE, on_ready);
}

/* Ids are never 0, and one that comes late finds another generation. */
static uint32_t
id_of(const struct helper_client *h, uint32_t slot)
{
	return (uint32_t)(h->requests[slot].generation & 0xfff) << SLOT_BITS |
	    (slot + 1);
}

/* Puts a message into the outbox; its id is filled in. */
static bool
enqueue(struct helper_client *h, struct helper_msg *msg, uint64_t op)
{
	uint32_t slot = h->free_head;
	uint32_t tail;

	if (slot == SLOT_NONE || h->count == h->capacity)
		return false;
	h->free_head = h->requests[slot].next_free;
	h->requests[slot].kind = msg->op;
	h->requests[slot].op = op;
	h->in_flight++;
	msg->id = id_of(h, slot);
	tail = (h->head + h->count) % h->capacity;
	helper_msg_encode(h->outbox[tail], msg);
	h->count++;
	return true;
}

void
helper_hello(struct helper_client *h)
{
	struct helper_msg msg = { .op = HELPER_HELLO };

	REQUIRE(enqueue(h, &msg, 0));
	helper_flush(h);
}

/* The channel cannot be trusted to carry anything any more. */
static void
lose(struct helper_client *h, const char *what, const char *reason)
{
	if (h->lost)
		return;
	h->lost = true;
	h->count = 0;
	log_error("helper", "%s: %s", what, reason);
	daemon_helper_lost(h->daemon);
}

/* How the parent says that it stops; or it is dead, which is no different. */
static void
hang_up(struct helper_client *h)
{
	h->lost = true;
	h->count = 0;
	log_info("helper", "the parent hung up: stopping");
	daemon_helper_lost(h->daemon);
}

void
helper_tell(struct helper_client *h, enum helper_op kind, uint64_t count,
    uint64_t op)
{
	struct helper_msg msg = { .op = (uint8_t)kind, .count = count };

	helper_send(h, &msg, op);
}

void
helper_send(struct helper_client *h, struct helper_msg *msg, uint64_t op)
{
	if (!h->lost && !enqueue(h, msg, op))
		lose(h, "cannot be told", "the parent does not answer");
}

/* Counts are answered last of all that came with them. */
void
helper_barrier(struct helper_client *h, uint64_t op)
{
	struct helper_msg msg = { .op = HELPER_STATS };

	helper_send(h, &msg, OP_BARRIER | op);
}

void
helper_order(struct helper_client *h, enum helper_op kind, uint32_t sandbox)
{
	struct helper_msg msg = { .op = (uint8_t)kind, .sandbox = sandbox };

	if (!h->lost && !enqueue(h, &msg, sandbox))
		lose(h, "cannot be told", "the parent does not answer");
}

void
helper_request(struct helper_client *h, const struct effect *effect)
{
	struct helper_msg msg = { .sandbox = effect->u.pin.element.sandbox,
		.addr = effect->u.pin.element.addr,
		.service = effect->u.pin.element.service };
	uint64_t op = 0;

	switch (effect->kind) {
	case EFFECT_PIN:
		msg.op = HELPER_PIN;
		msg.lifetime_ms = effect->u.pin.lifetime_ms;
		op = effect->u.pin.op;
		break;
	case EFFECT_RECALL:
		msg.op = HELPER_RECALL;
		msg.lifetime_ms = effect->u.pin.lifetime_ms;
		break;
	case EFFECT_UNPIN:
		msg.op = HELPER_UNPIN;
		break;
	case EFFECT_FLOWS:
		msg.op = HELPER_FLOWS;
		op = effect->u.pin.slot;
		break;
	case EFFECT_SETTLE:
		msg = (struct helper_msg){ .op = HELPER_SETTLE };
		break;
	case EFFECT_REPLY:
	case EFFECT_ASK:
	case EFFECT_RECORD:
	case EFFECT_FORGET:
	case EFFECT_QUARANTINE:
	case EFFECT_RELEASE:
	case EFFECT_CHARGED:
	case EFFECT_EVENT:
		UNREACHABLE();
	}
	if (msg.op == HELPER_PIN &&
	    (h->in_flight >= HELPER_PINS_MAX || h->lost)) {
		REQUIRE(h->failed_count < h->capacity);
		h->failed_ops[h->failed_count++] = op;
		return;
	}
	if (!h->lost && !enqueue(h, &msg, op))
		lose(h, "cannot close what must be closed",
		    "the parent does "
		    "not answer");
}

bool
helper_stats(struct helper_client *h, enum helper_stat which, uint32_t sandbox)
{
	struct helper_msg msg = { .op = HELPER_STATS,
		.sandbox = sandbox,
		.count = which };

	return !h->lost && h->in_flight < HELPER_PINS_MAX &&
	    enqueue(h, &msg, (uint64_t)which << 32 | sandbox);
}

bool
helper_next_failed(struct helper_client *h, uint64_t *ret_op)
{
	if (h->failed_count == 0)
		return false;
	*ret_op = h->failed_ops[--h->failed_count];
	h->failed++;
	return true;
}

static void
watch(struct helper_client *h, bool want_write)
{
	if (h->want_write == want_write || !h->open)
		return;
	h->want_write = want_write;
	uv_poll_start(&h->poll,
	    want_write ? UV_READABLE | UV_WRITABLE : UV_READABLE, on_ready);
}

/* Up to BATCH messages in one call; how many went, or a negative errno. */
static int
send_some(struct helper_client *h)
{
	struct mmsghdr mmsg[BATCH];
	struct iovec iov[BATCH];
	unsigned n = 0;
	int r;

	memset(mmsg, 0, sizeof(mmsg));
	for (; n < BATCH && n < h->count; n++) {
		iov[n].iov_base = h->outbox[(h->head + n) % h->capacity];
		iov[n].iov_len = HELPER_MSG_SIZE;
		mmsg[n].msg_hdr.msg_iov = &iov[n];
		mmsg[n].msg_hdr.msg_iovlen = 1;
	}
	do {
		r = sendmmsg(h->fd, mmsg, n, MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : r;
}

void
helper_flush(struct helper_client *h)
{
	while (h->count > 0 && !h->lost) {
		int n = send_some(h);

		if (n == -EAGAIN || n == -ENOBUFS)
			break;
		if (n < 0) {
			lose(h, "cannot send", strerror(-n));
			return;
		}
		h->head = (h->head + (uint32_t)n) % h->capacity;
		h->count -= (uint32_t)n;
		h->sent += (uint32_t)n;
	}
	watch(h, h->count > 0 && !h->lost);
}

/* Takes the request that a response belongs to; false: none. */
static bool
take_request(struct helper_client *h, const struct helper_msg *msg,
    struct helper_request *ret)
{
	uint32_t slot = (msg->id & (CAPACITY_MAX - 1)) - 1;
	struct helper_request *request;

	if (slot >= h->capacity || id_of(h, slot) != msg->id)
		return false;
	request = &h->requests[slot];
	if (request->kind == 0 || request->kind + 1 != msg->op)
		return false;
	*ret = *request;
	request->kind = 0;
	request->generation++;
	request->next_free = h->free_head;
	h->free_head = slot;
	h->in_flight--;
	return true;
}

static void
on_response(struct helper_client *h, const struct helper_msg *msg)
{
	struct helper_request request;

	if (!take_request(h, msg, &request)) {
		lose(h, "protocol violation", "a response to no request");
		return;
	}
	if (msg->status != 0 && request.kind != HELPER_FLOWS) {
		h->refused++;
		log_debug("helper", "%s refused: %s",
		    helper_op_name(request.kind), strerror(-msg->status));
	}
	switch (request.kind) {
	case HELPER_HELLO:
		h->welcome = true;
		daemon_welcome(h->daemon, msg->status, msg->count);
		break;
	case HELPER_PIN:
		daemon_pinned(h->daemon, request.op, msg->status);
		break;
	case HELPER_FLOWS:
		daemon_flows(h->daemon, (uint32_t)request.op, msg->status,
		    msg->count != 0);
		break;
	case HELPER_STATS:
		if ((request.op & OP_BARRIER) != 0) {
			withdrawn_passed(h->daemon, request.op & ~OP_BARRIER);
			break;
		}
		daemon_stats(h->daemon, (enum helper_stat)(request.op >> 32),
		    (uint32_t)request.op, msg->status, msg->count);
		break;
	case HELPER_QUARANTINE:
	case HELPER_RELEASE:
		quarantine_answered(h->daemon, (uint32_t)request.op,
		    msg->status);
		break;
	case HELPER_ATTACH:
		guests_attached(h->daemon, (uint32_t)request.op, msg->status,
		    msg->ifindex);
		break;
	case HELPER_DETACH:
		guests_detached(h->daemon, (uint32_t)request.op, msg->status);
		break;
	case HELPER_ASSIGN:
		guests_assigned(h->daemon, (uint32_t)request.op, msg->status);
		break;
	case HELPER_SETTLE:
		daemon_settled(h->daemon, msg->status, msg->count);
		break;
	case HELPER_ASK_RELOAD:
		control_reload_begins(&h->daemon->control, request.op);
		break;
	case HELPER_PARSED:
		reload_answered(h->daemon, msg->status);
		break;
	case HELPER_SWITCHED:
		reload_followed(h->daemon, msg->status);
		break;
	default: /* UNPIN, RECALL, SOURCE: nobody waits */
		break;
	}
}

/* Descriptors of a message that may have some; they are taken over. */
static bool
on_descriptors(struct helper_client *h, const struct helper_msg *msg,
    const struct descriptors *fds)
{
	if (msg->op == HELPER_RELOAD && fds->count > 0)
		return reload_take(h->daemon, msg->ifindex, msg->count, fds->fd,
		    fds->count);
	if (msg->op == HELPER_REFUSED && fds->count == 1) {
		reload_refused(h->daemon, fds->fd[0]);
		return true;
	}
	for (size_t i = 0; i < fds->count; i++)
		(void)close(fds->fd[i]);
	return msg->op != HELPER_RELOAD && msg->op != HELPER_REFUSED &&
	    fds->count == 0;
}

static void
on_message(struct helper_client *h, const uint8_t *wire, size_t len,
    const struct descriptors *fds)
{
	static const struct helper_msg none = { .op = 0 };
	struct helper_msg msg;
	bool good = helper_msg_decode(&msg, wire, len, false);

	if (!on_descriptors(h, good ? &msg : &none, fds) || !good) {
		lose(h, "protocol violation", "a message that is none");
		return;
	}
	switch (msg.op) {
	case HELPER_RESET:
		daemon_reset(h->daemon, msg.ifindex, msg.count);
		break;
	case HELPER_BOUND:
		daemon_bound(h->daemon, msg.sandbox, msg.ifindex);
		break;
	case HELPER_USED:
		uploads_used(h->daemon, msg.sandbox, msg.rule, msg.count);
		break;
	case HELPER_ADVICE:
		h->daemon->advice = msg.count;
		break;
	case HELPER_REOPEN:
		sinks_reopen(&h->daemon->sinks);
		break;
	case HELPER_STOP:
		log_info("stop", "told by the parent");
		daemon_stop(h->daemon);
		break;
	case HELPER_RELOAD:
	case HELPER_REFUSED:
		break; /* it is in the descriptors */
	default:
		on_response(h, &msg);
		break;
	}
}

/* A batch of messages as they come, with room for descriptors at each. */
struct incoming {
	/* One octet more than a message has, so that a long one shows. */
	uint8_t wire[RECEIVE_BATCH][HELPER_MSG_SIZE + 1];
	struct mmsghdr mmsg[RECEIVE_BATCH];
	struct iovec iov[RECEIVE_BATCH];
	_Alignas(struct cmsghdr) char control[RECEIVE_BATCH][CMSG_SPACE(
	    sizeof(int) * HELPER_FDS_MAX)];
};

static void
prepare(struct incoming *in)
{
	memset(in->mmsg, 0, sizeof(in->mmsg));
	for (unsigned i = 0; i < RECEIVE_BATCH; i++) {
		struct msghdr *header = &in->mmsg[i].msg_hdr;

		in->iov[i].iov_base = in->wire[i];
		in->iov[i].iov_len = sizeof(in->wire[i]);
		header->msg_iov = &in->iov[i];
		header->msg_iovlen = 1;
		header->msg_control = in->control[i];
		header->msg_controllen = sizeof(in->control[i]);
	}
}

static void
read_descriptors(struct msghdr *header, struct descriptors *ret)
{
	ret->count = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c != NULL;
	     c = CMSG_NXTHDR(header, c)) {
		size_t size = c->cmsg_len - CMSG_LEN(0);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
		    size > sizeof(ret->fd) - ret->count * sizeof(int))
			continue;
		memcpy(ret->fd + ret->count, CMSG_DATA(c), size);
		ret->count += size / sizeof(int);
	}
}

static void
receive(struct helper_client *h)
{
	struct incoming in;
	struct descriptors fds;
	int n;

	prepare(&in);
	n = recvmmsg(h->fd, in.mmsg, RECEIVE_BATCH,
	    MSG_DONTWAIT | MSG_CMSG_CLOEXEC, NULL);
	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		lose(h, "cannot receive", strerror(errno));
		return;
	}
	for (int i = 0; i < n && !h->lost; i++) {
		if (in.mmsg[i].msg_len == 0) {
			hang_up(h);
			return;
		}
		read_descriptors(&in.mmsg[i].msg_hdr, &fds);
		on_message(h, in.wire[i], in.mmsg[i].msg_len, &fds);
	}
}

static void
on_ready(uv_poll_t *poll, int status, int events)
{
	struct helper_client *h = poll->data;

	daemon_wake(h->daemon);
	if (status < 0 || (events & UV_READABLE) != 0)
		receive(h);
	if ((events & UV_WRITABLE) != 0)
		helper_flush(h);
	daemon_rest(h->daemon);
}

void
helper_close(struct helper_client *h)
{
	if (h->open) {
		h->open = false;
		uv_close((uv_handle_t *)&h->poll, NULL);
	}
	free(h->outbox);
	free(h->requests);
	free(h->failed_ops);
	h->outbox = NULL;
	h->requests = NULL;
	h->failed_ops = NULL;
	h->count = h->capacity = 0;
}
