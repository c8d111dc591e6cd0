/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pinning - see pinning.h. What is held is written before the kernel is
 * asked and put back when it refuses, so that the count of one batch is
 * right within the batch.
 */
#include "config.h"

#include "src/helper/pinning.h"

#include <errno.h>

#include "src/helper/log.h"
#include "src/helper/revoking.h"
#include "src/helper/uploads.h"

static bool
is_same_element(const struct helper_msg *a, const struct helper_msg *b)
{
	return a->sandbox == b->sandbox && addr_equal(&a->addr, &b->addr) &&
	    a->service.protocol == b->service.protocol &&
	    a->service.port == b->service.port;
}

void
pinning_merge(struct request *requests, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct helper_msg *msg = &requests[i].msg;

		requests[i].leader = i;
		for (size_t k = 0; k < i && requests[i].status == 0; k++) {
			struct helper_msg *first = &requests[k].msg;

			if (requests[k].status != 0 ||
			    requests[k].leader != k ||
			    !is_same_element(first, msg))
				continue;
			requests[i].leader = k;
			if (msg->lifetime_ms > first->lifetime_ms)
				first->lifetime_ms = msg->lifetime_ms;
			break;
		}
	}
}

static void
hold(struct guard *guard, struct request *request, uint64_t now_ms)
{
	const struct helper_msg *msg = &request->msg;
	struct held_pin *pin =
	    held_find(&guard->held, msg->sandbox, &msg->addr, msg->service);

	request->was_held = pin != NULL;
	request->expires_before_ms = pin != NULL ? pin->expires_ms : 0;
	pin = held_put(&guard->held, msg->sandbox, &msg->addr, msg->service);
	if (pin == NULL)
		request->status = -ENOSPC;
	else if (msg->lifetime_ms != 0 &&
	    pin->expires_ms < now_ms + msg->lifetime_ms)
		pin->expires_ms = now_ms + msg->lifetime_ms;
}

static void
unhold(struct guard *guard, const struct request *request)
{
	const struct helper_msg *msg = &request->msg;
	struct held_pin *pin =
	    held_find(&guard->held, msg->sandbox, &msg->addr, msg->service);

	if (pin == NULL)
		return;
	if (request->was_held)
		pin->expires_ms = request->expires_before_ms;
	else
		held_drop(&guard->held, pin);
}

/* A record of a lapsed pin explains flows and is no element. */
static bool
is_element(const struct request *request, size_t at)
{
	return request->status == 0 && request->leader == at &&
	    request->msg.lifetime_ms != 0;
}

/* One transaction with the leaders from..to-1. */
static int
commit(struct helper *helper, size_t from, size_t to)
{
	struct batch batch;
	size_t count[2] = { 0, 0 };

	for (size_t i = from; i < to; i++) {
		const struct request *request = &helper->requests[i];
		size_t v6 = request->msg.addr.family == 6 ? 1 : 0;

		if (is_element(request, i))
			count[v6] += helper_fan_out(helper,
			    request->msg.sandbox, &request->msg.addr,
			    request->msg.service, request->msg.lifetime_ms,
			    helper->elements[v6] + count[v6]);
	}
	batch_begin(&batch, &helper->nft);
	elements_renew(&batch, "pins4", helper->elements[0], count[0]);
	elements_renew(&batch, "pins6", helper->elements[1], count[1]);
	for (size_t i = from; i < to; i++)
		if (is_element(&helper->requests[i], i))
			revoking_spare(helper, &batch,
			    &helper->requests[i].msg);
	return batch_commit(&batch);
}

/* The kernel refused all of it: each alone, once. */
static void
retry_alone(struct helper *helper, size_t from, size_t to, int why)
{
	int first = 0;

	for (size_t i = from; i < to; i++) {
		struct request *request = &helper->requests[i];

		if (!is_element(request, i))
			continue;
		request->status = commit(helper, i, i + 1);
		if (request->status == 0)
			continue;
		unhold(&helper->guard, request);
		if (first == 0)
			first = request->status;
	}
	if (first != 0 && !helper->sets_gone)
		log_error("pins: refused by the kernel: %s",
		    batch_error_text(first));
	/* Not full and not busy, so something is not as it should be. */
	if (first != 0 && first != -ENFILE && first != -EBUSY)
		helper->suspect = true;
	if (why == -ETIMEDOUT || why == -ENOBUFS)
		helper->suspect = true;
}

static void
judge(struct helper *helper, size_t from, size_t to, uint64_t now_ms)
{
	for (size_t i = from; i < to; i++) {
		struct request *request = &helper->requests[i];

		request->status = request->msg.op == HELPER_PIN
		    ? guard_pin(&helper->guard, &request->msg, now_ms)
		    : guard_recall(&helper->guard, &request->msg, now_ms);
		if (request->status == 0 &&
		    guard_is_metered(&helper->guard, &request->msg) &&
		    !uploads_covers(helper, request->msg.sandbox,
			&request->msg.addr))
			request->status = -EDQUOT;
		if (request->status == 0)
			hold(&helper->guard, request, now_ms);
	}
}

/* What was there before a sandbox was attached is gone before it is pinned. */
static void
cut_before(struct helper *helper, size_t from, size_t to, uint64_t now_ms)
{
	const struct guard *guard = &helper->guard;

	for (size_t i = from; i < to; i++) {
		uint32_t number = helper->requests[i].msg.sandbox;

		if (!guard_exists(guard, number) ||
		    !guard->sandboxes[number].arriving)
			continue;
		revoking_arrivals(helper, now_ms);
		return;
	}
}

void
pinning_do(struct helper *helper, size_t from, size_t to, uint64_t now_ms)
{
	int error;

	cut_before(helper, from, to, now_ms);
	judge(helper, from, to, now_ms);
	pinning_merge(helper->requests + from, to - from);
	for (size_t i = from; i < to; i++)
		helper->requests[i].leader += from;
	error = commit(helper, from, to);
	if (error != 0)
		retry_alone(helper, from, to, error);
	for (size_t i = from; i < to; i++) {
		struct request *request = &helper->requests[i];

		if (request->leader != i)
			request->status =
			    helper->requests[request->leader].status;
	}
}
