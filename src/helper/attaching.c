/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attaching - see attaching.h. What a wake-up brings of one kind is one dump
 * of connection tracking and one transaction, and then it is answered.
 */
#include "config.h"

#include "src/helper/attaching.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/helper/helper.h"
#include "src/helper/homes.h"
#include "src/helper/log.h"
#include "src/helper/modes.h"
#include "src/helper/revoking.h"
#include "src/helper/sweep.h"

/* More than that under way for one sandbox is ended before it goes, so that
 * one transaction has room for many that go. */
#define UNDER_WAY_MAX 64

static int
stage(struct attaching *attaching, const struct helper_msg *msg)
{
	if (msg->sandbox != attaching->sandbox)
		*attaching = (struct attaching){ .sandbox = msg->sandbox };
	if (msg->sandbox == 0 || attaching->source_count == EDGE_SOURCES_MAX) {
		*attaching = (struct attaching){ .sandbox = 0 };
		return -EINVAL;
	}
	attaching->sources[attaching->source_count++] = msg->addr;
	return 0;
}

/* The name is the resolver's to know; ours serves messages. */
static int
make_request(struct attaching *attaching, const struct helper_msg *msg,
    struct edge_attach *ret)
{
	struct attaching staged = *attaching;

	*attaching = (struct attaching){ .sandbox = 0 };
	if (staged.sandbox != msg->sandbox || staged.source_count == 0)
		return -EINVAL;
	if (msg->count > UINT32_MAX)
		return -EPERM;
	*ret = (struct edge_attach){ .policy = (uint32_t)msg->count,
		.each = msg->lifetime_ms,
		.source_count = (uint8_t)staged.source_count };
	memcpy(ret->sources, staged.sources, sizeof(ret->sources));
	snprintf(ret->name, sizeof(ret->name), "#%u", (unsigned)msg->sandbox);
	return 0;
}

/* The link may have come since the last look. */
static int
choose(struct helper *helper, uint32_t ifindex, struct edge_attach *request)
{
	int error = homes_choose(helper, ifindex, request);

	if (error == 0 || !links_drain(&helper->links))
		return error;
	homes_follow(helper);
	return homes_choose(helper, ifindex, request);
}

/* A member comes by the interface of the sandbox that it is one of. */
static int
choose_for(struct helper *helper, const struct helper_msg *msg,
    struct edge_attach *request)
{
	uint32_t at;

	if (request->each == 0)
		return choose(helper, msg->ifindex, request);
	at = helper->guard.sandboxes[request->each].ifindex;
	if (at == 0 || (msg->ifindex != 0 && msg->ifindex != at))
		return -ENODEV;
	return choose(helper, at, request);
}

/* What is recalled before the end of the start, and was there as it is now,
 * goes on: its flows are not cut, and its pins may be recalled. */
static void
take_in(struct helper *helper, uint32_t number,
    const struct edge_attach *request)
{
	struct guard_sandbox *s = &helper->guard.sandboxes[number];

	guard_attach(&helper->guard, number, request);
	homes_locate(helper, number);
	if (helper->state == STATE_SETTLING && inherit_knows(helper, number))
		s->fresh = false;
}

static void
accept_one(struct helper *helper, struct request *request)
{
	const struct helper_msg *msg = &request->msg;
	struct edge_attach wanted;

	request->status = make_request(&helper->attaching, msg, &wanted);
	if (request->status == 0)
		request->status =
		    guard_may_attach(&helper->guard, msg->sandbox, &wanted);
	if (request->status == 0)
		request->status = choose_for(helper, msg, &wanted);
	/* The interface was not known before. */
	if (request->status == 0)
		request->status =
		    guard_may_attach(&helper->guard, msg->sandbox, &wanted);
	if (request->status == 0)
		take_in(helper, msg->sandbox, &wanted);
}

static bool
is_accepted(const struct request *request)
{
	return request->msg.op == HELPER_ATTACH && request->status == 0;
}

/* Flows of before are established, and would pass from here on. */
static void
take_over(struct helper *helper, struct batch *batch, uint32_t number,
    const struct addr *source)
{
	revoking_take_over(helper, batch, source);
	if (helper->guard.sandboxes[number].fresh)
		revoking_quarantine(batch, source, true);
}

static int
commit(struct helper *helper, size_t from, size_t to)
{
	struct batch batch;

	batch_begin(&batch, &helper->nft);
	for (size_t i = from; i < to; i++) {
		const struct request *request = &helper->requests[i];
		const struct edge_sandbox *sandbox;

		if (!is_accepted(request))
			continue;
		sandbox = guard_sandbox(&helper->guard, request->msg.sandbox);
		for (size_t k = 0; k < sandbox->source_count; k++)
			take_over(helper, &batch, request->msg.sandbox,
			    &sandbox->sources[k]);
		homes_put(helper, &batch, request->msg.sandbox, true);
	}
	return batch_commit(&batch);
}

/* Whoever the kernel does not take was never there. */
static void
give_back(struct helper *helper, struct request *request, int error)
{
	log_error("attach: refused by the kernel: %s", batch_error_text(error));
	guard_detach(&helper->guard, request->msg.sandbox);
	request->status = error;
	helper->suspect = true;
}

static void
end_arrival(struct helper *helper, struct request *request, uint64_t now_ms)
{
	uint32_t number = request->msg.sandbox;
	struct guard_sandbox *s = &helper->guard.sandboxes[number];
	const struct edge_sandbox *sandbox =
	    guard_sandbox(&helper->guard, number);

	if (s->fresh)
		revoking_arrive(helper, number, now_ms);
	request->ifindex = s->ifindex;
	refusals_begin_anew(helper, number);
	uploads_follow_one(helper, number);
	log_info("sandbox %s: attached at interface %s", sandbox->name,
	    sandbox->interface);
}

void
attaching_attach(struct helper *helper, size_t from, size_t to, uint64_t now_ms)
{
	bool any = false;
	int error;

	for (size_t i = from; i < to; i++) {
		struct request *request = &helper->requests[i];

		if (request->msg.op == HELPER_SOURCE)
			request->status =
			    stage(&helper->attaching, &request->msg);
		else
			accept_one(helper, request);
		any |= is_accepted(request);
	}
	if (!any)
		return;
	revoking_make_room(helper, to - from);
	error = commit(helper, from, to);
	for (size_t i = from; i < to; i++) {
		struct request *request = &helper->requests[i];

		if (!is_accepted(request))
			continue;
		if (error == 0 || commit(helper, i, i + 1) == 0)
			end_arrival(helper, request, now_ms);
		else
			give_back(helper, request, error);
	}
	/* Each alone has left quarantines to this. */
	if (error != 0 || modes_follow(helper, now_ms) != 0)
		helper->suspect = true;
	helper_changed(helper, now_ms + SETTLE_LATER_MS);
}

static size_t
under_way(const struct helper *helper, uint32_t sandbox)
{
	size_t count = 0;

	for (size_t i = 0; i < helper->revocation_count; i++)
		if (helper->revocations[i].sandbox == sandbox)
			count++;
	return count;
}

static bool
is_leaving(const struct request *request)
{
	return request->status == 0;
}

/* Who goes: each once. */
static bool
judge_leaving(struct helper *helper, size_t from, size_t to)
{
	bool any = false;

	for (size_t i = from; i < to; i++) {
		struct request *request = &helper->requests[i];
		uint32_t number = request->msg.sandbox;

		request->status =
		    guard_may_detach(&helper->guard, &request->msg);
		for (size_t k = from; k < i && is_leaving(request); k++)
			if (is_leaving(&helper->requests[k]) &&
			    helper->requests[k].msg.sandbox == number)
				request->status = -ENOENT;
		if (!is_leaving(request))
			continue;
		if (under_way(helper, number) > UNDER_WAY_MAX)
			revoking_end(helper, number);
		any = true;
	}
	revoking_make_room(helper, (to - from) * EDGE_SOURCES_MAX);
	return any;
}

/* The pairs out, so that nothing comes from them; the addresses into
 * quarantine, so that nothing goes to them. */
static int
unbind(struct helper *helper, size_t from, size_t to)
{
	struct batch batch;

	batch_begin(&batch, &helper->nft);
	for (size_t i = from; i < to; i++) {
		uint32_t number = helper->requests[i].msg.sandbox;
		const struct edge_sandbox *sandbox;

		if (!is_leaving(&helper->requests[i]))
			continue;
		sandbox = guard_sandbox(&helper->guard, number);
		homes_put(helper, &batch, number, false);
		helper->guard.sandboxes[number].left = true;
		revoking_leave(helper, &batch, number);
		for (size_t k = 0; k < sandbox->source_count; k++)
			revoking_quarantine(&batch, &sandbox->sources[k], true);
	}
	return batch_commit(&batch);
}

static int
close_one(struct helper *helper, uint32_t number, uint64_t now_ms)
{
	const struct edge_sandbox *sandbox =
	    guard_sandbox(&helper->guard, number);

	for (size_t i = 0; i < sandbox->source_count; i++)
		revoking_depart(helper, &sandbox->sources[i], now_ms);
	return helper->guard.held.counts[number] > 0
	    ? revoking_drop_pins(helper, number)
	    : 0;
}

/* Where the kernel refuses, the table is made anew without them before
 * anything else is done. */
void
attaching_detach(struct helper *helper, size_t from, size_t to, uint64_t now_ms)
{
	int error;

	if (!judge_leaving(helper, from, to))
		return;
	error = unbind(helper, from, to);
	for (size_t i = from; i < to; i++)
		if (is_leaving(&helper->requests[i]) && error == 0)
			error = close_one(helper,
			    helper->requests[i].msg.sandbox, now_ms);
	revoking_pass(helper);
	for (size_t i = from; i < to; i++) {
		struct request *request = &helper->requests[i];
		uint32_t number = request->msg.sandbox;

		if (!is_leaving(request))
			continue;
		refusals_begin_anew(helper, number);
		uploads_leave(helper, number, true);
		log_info("sandbox %s: detached",
		    guard_sandbox(&helper->guard, number)->name);
		guard_detach(&helper->guard, number);
		request->status = error;
	}
	if (error == 0)
		error = modes_follow(helper, now_ms);
	helper_changed(helper, now_ms + SETTLE_LATER_MS);
	if (error == 0)
		return;
	log_error("detach: %s", batch_error_text(error));
	helper->suspect = true;
}

void
attaching_assign(struct helper *helper, struct request *request,
    uint64_t now_ms)
{
	const struct helper_msg *msg = &request->msg;
	struct guard *guard = &helper->guard;
	unsigned int closed;

	request->status = guard_may_assign(guard, msg);
	if (request->status != 0)
		return;
	guard->config->sandboxes[msg->sandbox - 1].policy =
	    (uint32_t)msg->count;
	closed = revoking_prune(helper, msg->sandbox, now_ms);
	request->status = modes_follow(helper, now_ms);
	uploads_follow_one(helper, msg->sandbox);
	log_info("sandbox %s: assigned to policy %s, %u pins closed",
	    guard_sandbox(guard, msg->sandbox)->name,
	    guard->config->policies[msg->count].name, closed);
}

void
attaching_carry(struct helper *helper)
{
	const struct edge_config *before = helper->guard.config;
	struct edge_config *next = helper->reload.next;

	for (uint32_t i = before->file_numbers_max + 1;
	     i <= before->sandbox_count; i++) {
		enum edge_attach_error error;

		if (!before->sandboxes[i - 1].attached)
			continue;
		error = edge_attach_carry(next, before, i);
		if (error != EDGE_ATTACH_OK)
			log_info("sandbox %s: cannot stay attached: %s",
			    before->sandboxes[i - 1].name,
			    edge_attach_text(error));
	}
}
