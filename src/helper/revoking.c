/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * revoking - see revoking.h.
 */
#include "config.h"

#include "src/helper/revoking.h"

#include <errno.h>

#include "lib/require.h"
#include "src/helper/log.h"
#include "src/helper/sweep.h"

#define CUT_MS       60000u /* a net: it is taken out much earlier */
#define DROP_AT_ONCE 64 /* pins of a transaction */

static bool
is_about(const struct revocation *revocation, const struct helper_msg *msg)
{
	return revocation->sandbox == msg->sandbox &&
	    revocation->addr.family == msg->addr.family &&
	    addr_equal(&revocation->addr, &msg->addr) &&
	    revocation->service.protocol == msg->service.protocol &&
	    revocation->service.port == msg->service.port;
}

/* Puts a sandbox's sources into quarantine or takes them out. */
static void
quarantine(const struct helper *helper, struct batch *batch, uint32_t number,
    bool in)
{
	const struct edge_sandbox *sandbox =
	    guard_sandbox(&helper->guard, number);

	for (size_t i = 0; i < sandbox->source_count; i++) {
		const struct addr *source = &sandbox->sources[i];
		struct element element = element_source(source);
		const char *set =
		    element_set("quarantined4", "quarantined6", source);

		if (in)
			elements_add(batch, set, &element, 1);
		else
			elements_drop(batch, set, &element, 1);
	}
}

/* The end of a flush; one who is in quarantine of his own stays there. */
static bool
let_out(const struct helper *helper, struct batch *batch, uint32_t number)
{
	if (helper->guard.sandboxes[number].quarantined)
		return false;
	quarantine(helper, batch, number, false);
	return true;
}

static bool
is_doomed(const struct flow *flow, void *data)
{
	const struct helper *helper = data;
	uint32_t from = guard_whose(&helper->guard, &flow->from);
	uint32_t to = guard_whose(&helper->guard, &flow->to);

	for (size_t i = 0; i < helper->revocation_count; i++) {
		const struct revocation *r = &helper->revocations[i];

		if (r->addr.family == 0) {
			if (sweep_involves(&helper->guard, flow, r->sandbox) &&
			    !sweep_is_free(&helper->guard, flow))
				return true;
			continue;
		}
		if (r->service.protocol != flow->protocol)
			continue;
		if (from == r->sandbox && flow->to_port == r->service.port &&
		    addr_equal(&flow->to, &r->addr))
			return true;
		/* An entry whose answer was seen first. */
		if (to == r->sandbox && flow->from_port == r->service.port &&
		    addr_equal(&flow->from, &r->addr))
			return true;
	}
	return false;
}

static void
pass(struct helper *helper)
{
	struct flows_cut cut;
	int error = flows_cut(&helper->flows, is_doomed, helper, &cut);

	if (error != 0)
		log_error("flows: could not all be cut: %s",
		    batch_error_text(error));
}

/* Ends the revocations that are due: flows once more, then `cut` out. */
static void
finish(struct helper *helper, uint64_t now_ms)
{
	struct batch batch;
	bool whole = false; /* a sandbox, so that the digest changes */
	size_t kept = 0;
	int error;

	pass(helper);
	batch_begin(&batch, &helper->nft);
	for (size_t i = 0; i < helper->revocation_count; i++) {
		struct revocation *r = &helper->revocations[i];
		struct element elements[EDGE_SOURCES_MAX];

		if (r->due_ms > now_ms || batch_room(&batch) < 16384)
			helper->revocations[kept++] = *r;
		else if (r->addr.family == 0)
			whole |= let_out(helper, &batch, r->sandbox);
		else
			elements_drop(&batch,
			    element_set("cut4", "cut6", &r->addr), elements,
			    helper_fan_out(helper, r->sandbox, &r->addr,
				r->service, CUT_MS, elements));
	}
	helper->revocation_count = kept;
	error = batch_commit(&batch);
	if (error == 0 && whole)
		error = ruleset_settle(&helper->ruleset);
	if (error != 0) {
		log_error("cut: could not be taken out: %s",
		    batch_error_text(error));
		helper->suspect = true;
	}
}

/* Full: what is waiting is done early. Not while a batch is being built, as
 * that needs one too. */
static void
make_room(struct helper *helper, size_t count)
{
	while (helper->revocation_count + count > REVOCATIONS_MAX)
		finish(helper, UINT64_MAX);
}

static void
remember(struct helper *helper, struct revocation revocation)
{
	REQUIRE(helper->revocation_count < REVOCATIONS_MAX);
	helper->revocations[helper->revocation_count++] = revocation;
}

uint64_t
revoking_due(const struct helper *helper)
{
	uint64_t due = UINT64_MAX;

	for (size_t i = 0; i < helper->revocation_count; i++)
		if (helper->revocations[i].due_ms < due)
			due = helper->revocations[i].due_ms;
	return due;
}

void
revoking_tick(struct helper *helper, uint64_t now_ms)
{
	if (helper->revocation_count != 0 && revoking_due(helper) <= now_ms)
		finish(helper, now_ms);
}

void
revoking_forget(struct helper *helper)
{
	helper->revocation_count = 0;
}

void
revoking_spare(struct helper *helper, struct batch *batch,
    const struct helper_msg *msg)
{
	size_t kept = 0;

	for (size_t i = 0; i < helper->revocation_count; i++) {
		struct revocation *r = &helper->revocations[i];
		struct element elements[EDGE_SOURCES_MAX];

		if (!is_about(r, msg)) {
			helper->revocations[kept++] = *r;
			continue;
		}
		elements_drop(batch, element_set("cut4", "cut6", &r->addr),
		    elements,
		    helper_fan_out(helper, r->sandbox, &r->addr, r->service,
			CUT_MS, elements));
	}
	helper->revocation_count = kept;
}

static void
put_unpin(struct helper *helper, struct batch *batch,
    const struct helper_msg *msg)
{
	struct element elements[EDGE_SOURCES_MAX];
	struct held_pin *pin = held_find(&helper->guard.held, msg->sandbox,
	    &msg->addr, msg->service);
	size_t count = helper_fan_out(helper, msg->sandbox, &msg->addr,
	    msg->service, CUT_MS, elements);

	elements_drop(batch, element_set("pins4", "pins6", &msg->addr),
	    elements, count);
	elements_add(batch, element_set("cut4", "cut6", &msg->addr), elements,
	    count);
	if (pin != NULL)
		held_drop(&helper->guard.held, pin);
}

void
revoking_unpin(struct helper *helper, size_t from, size_t to, uint64_t now_ms)
{
	struct batch batch;
	int error;

	make_room(helper, to - from);
	batch_begin(&batch, &helper->nft);
	for (size_t i = from; i < to; i++) {
		struct request *request = &helper->requests[i];
		const struct helper_msg *msg = &request->msg;

		request->status = guard_element(&helper->guard, msg);
		if (request->status != 0)
			continue;
		put_unpin(helper, &batch, msg);
		remember(helper,
		    (struct revocation){ msg->sandbox, msg->addr, msg->service,
			now_ms + SECOND_PASS_MS });
	}
	error = batch_commit(&batch);
	if (error != 0) {
		log_error("unpin: %s", batch_error_text(error));
		helper->suspect = true;
	}
	pass(helper);
	for (size_t i = from; i < to; i++)
		if (helper->requests[i].status == 0)
			helper->requests[i].status = error;
}

/* Up to `max` elements that the configuration does not open any more. */
static size_t
find_ungranted(const struct helper *helper, struct helper_msg *ret, size_t max)
{
	const struct held_pin *pin;
	size_t at = 0, count = 0;

	while (
	    count < max && (pin = held_next(&helper->guard.held, &at)) != NULL)
		if (!guard_opens(&helper->guard, pin))
			ret[count++] =
			    (struct helper_msg){ .sandbox = pin->sandbox,
				    .addr = pin->addr,
				    .service = pin->service };
	return count;
}

unsigned int
revoking_prune(struct helper *helper, uint64_t now_ms)
{
	struct helper_msg found[DROP_AT_ONCE];
	unsigned int all = 0;
	size_t count;

	while ((count = find_ungranted(helper, found, DROP_AT_ONCE)) > 0) {
		struct batch batch;

		make_room(helper, count);
		batch_begin(&batch, &helper->nft);
		for (size_t i = 0; i < count; i++) {
			put_unpin(helper, &batch, &found[i]);
			remember(helper,
			    (struct revocation){ found[i].sandbox,
				found[i].addr, found[i].service,
				now_ms + SECOND_PASS_MS });
		}
		if (batch_commit(&batch) != 0)
			helper->suspect = true;
		pass(helper);
		all += (unsigned int)count;
	}
	return all;
}

static bool
hurry(struct helper *helper, uint32_t sandbox)
{
	bool any = false;

	for (size_t i = 0; i < helper->revocation_count; i++) {
		if (helper->revocations[i].sandbox != sandbox)
			continue;
		helper->revocations[i].due_ms = 0;
		any = true;
	}
	return any;
}

void
revoking_end(struct helper *helper, uint32_t sandbox)
{
	/* More than one transaction has room for take several rounds. */
	while (hurry(helper, sandbox))
		finish(helper, 0);
}

int
revoking_drop_pins(struct helper *helper, uint32_t sandbox)
{
	struct element elements[EDGE_SOURCES_MAX];
	struct batch batch;
	const struct held_pin *pin;
	size_t at = 0;
	unsigned int count = 0;
	int error = 0;

	batch_begin(&batch, &helper->nft);
	while (
	    error == 0 && (pin = held_next(&helper->guard.held, &at)) != NULL) {
		if (pin->sandbox != sandbox)
			continue;
		elements_drop(&batch, element_set("pins4", "pins6", &pin->addr),
		    elements,
		    helper_fan_out(helper, sandbox, &pin->addr, pin->service,
			CUT_MS, elements));
		if (++count % DROP_AT_ONCE != 0)
			continue;
		error = batch_commit(&batch);
		batch_begin(&batch, &helper->nft);
	}
	if (error == 0)
		error = batch_commit(&batch);
	if (error != 0)
		helper->suspect = true;
	held_clear(&helper->guard.held, sandbox);
	return error;
}

void
revoking_look_again(struct helper *helper, uint32_t sandbox, uint64_t now_ms)
{
	make_room(helper, 1);
	remember(helper,
	    (struct revocation){ .sandbox = sandbox,
		.due_ms = now_ms + SECOND_PASS_MS });
}

void
revoking_flush(struct helper *helper, struct request *request, uint64_t now_ms)
{
	uint32_t sandbox = request->msg.sandbox;
	struct batch batch;

	request->status = guard_flush(&helper->guard, &request->msg);
	if (request->status != 0)
		return;
	revoking_look_again(helper, sandbox, now_ms);
	batch_begin(&batch, &helper->nft);
	quarantine(helper, &batch, sandbox, true);
	request->status = batch_commit(&batch);
	if (request->status == 0)
		request->status = revoking_drop_pins(helper, sandbox);
	pass(helper);
}
