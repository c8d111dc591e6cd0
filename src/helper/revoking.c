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
	return revocation->kind == REVOKE_ELEMENT &&
	    revocation->sandbox == msg->sandbox &&
	    revocation->addr.family == msg->addr.family &&
	    addr_equal(&revocation->addr, &msg->addr) &&
	    revocation->service.protocol == msg->service.protocol &&
	    revocation->service.port == msg->service.port;
}

void
revoking_quarantine(struct batch *batch, const struct addr *source, bool in)
{
	const char *set = element_set("quarantined4", "quarantined6", source);
	struct element element = element_source(source);

	if (in)
		elements_add(batch, set, &element, 1);
	else
		elements_drop(batch, set, &element, 1);
}

/* The same for all sources of a sandbox. */
static void
quarantine(const struct helper *helper, struct batch *batch, uint32_t number,
    bool in)
{
	const struct edge_sandbox *sandbox =
	    guard_sandbox(&helper->guard, number);

	for (size_t i = 0; i < sandbox->source_count; i++)
		revoking_quarantine(batch, &sandbox->sources[i], in);
}

static bool
is_of_element(const struct revocation *r, const struct guard *guard,
    const struct flow *flow)
{
	if (r->service.protocol != flow->protocol)
		return false;
	if (flow->to_port == r->service.port &&
	    addr_equal(&flow->to, &r->addr) &&
	    guard_whose(guard, &flow->from) == r->sandbox)
		return true;
	/* An entry whose answer was seen first. */
	return flow->from_port == r->service.port &&
	    addr_equal(&flow->from, &r->addr) &&
	    guard_whose(guard, &flow->to) == r->sandbox;
}

static bool
is_of_address(const struct flow *flow, const struct addr *addr)
{
	return addr_equal(&flow->from, addr) || addr_equal(&flow->to, addr) ||
	    addr_equal(&flow->back_from, addr) ||
	    addr_equal(&flow->back_to, addr);
}

static bool
dooms(const struct revocation *r, const struct guard *guard,
    const struct flow *flow)
{
	switch (r->kind) {
	case REVOKE_ELEMENT:
		return is_of_element(r, guard, flow);
	case REVOKE_SANDBOX:
		return sweep_involves(guard, flow, r->sandbox) &&
		    !sweep_is_free(guard, flow);
	case REVOKE_DEPARTED:
		return is_of_address(flow, &r->addr);
	case REVOKE_ARRIVING:
		return sweep_involves(guard, flow, r->sandbox) &&
		    !sweep_is_to_listener(guard, flow);
	case REVOKE_ARRIVED:
		return sweep_involves(guard, flow, r->sandbox) &&
		    sweep_is_unexplained(guard, flow);
	}
	UNREACHABLE();
}

static bool
is_doomed(const struct flow *flow, void *data)
{
	const struct helper *helper = data;

	for (size_t i = 0; i < helper->revocation_count; i++)
		if (dooms(&helper->revocations[i], &helper->guard, flow))
			return true;
	return false;
}

void
revoking_pass(struct helper *helper)
{
	struct flows_cut cut;
	int error = flows_cut(&helper->flows, is_doomed, helper, &cut);

	if (error != 0)
		log_error("flows: could not all be cut: %s",
		    batch_error_text(error));
}

/* The end of a flush; one who is in quarantine of his own stays there. */
static void
let_out(const struct helper *helper, struct batch *batch, uint32_t number)
{
	if (!helper->guard.sandboxes[number].quarantined)
		quarantine(helper, batch, number, false);
}

/* Whose it is now may be in quarantine of his own: he came by a reload. */
static void
let_go(const struct helper *helper, struct batch *batch,
    const struct addr *addr)
{
	uint32_t whose = guard_whose(&helper->guard, addr);

	if (whose == 0 || !helper->guard.sandboxes[whose].quarantined)
		revoking_quarantine(batch, addr, false);
}

/* Takes out what one revocation has put in. */
static void
put_end(struct helper *helper, struct batch *batch, const struct revocation *r)
{
	struct element elements[EDGE_SOURCES_MAX];

	switch (r->kind) {
	case REVOKE_ELEMENT:
		elements_drop(batch, element_set("cut4", "cut6", &r->addr),
		    elements,
		    helper_fan_out(helper, r->sandbox, &r->addr, r->service,
			CUT_MS, elements));
		return;
	case REVOKE_ARRIVING:
		helper->guard.sandboxes[r->sandbox].arriving = false;
		let_out(helper, batch, r->sandbox);
		return;
	case REVOKE_SANDBOX:
		let_out(helper, batch, r->sandbox);
		return;
	case REVOKE_DEPARTED:
		let_go(helper, batch, &r->addr);
		return;
	case REVOKE_ARRIVED:
		return;
	}
	UNREACHABLE();
}

/*
 * When flows are looked at once more. A look goes over the whole table of
 * connection tracking, whoever it is for: those that fall due close together
 * share one, so that many who come and go do not wait for each other's.
 */
static uint64_t
second_pass(uint64_t now_ms)
{
	return ((now_ms + SECOND_PASS_MS) / SHARED_PASS_MS + 1) *
	    SHARED_PASS_MS;
}

/* Ends the revocations that are due: flows once more, then `cut` out. An
 * arrival is followed by a second look, unless all is to end. */
static void
finish(struct helper *helper, uint64_t now_ms, bool all)
{
	struct batch batch;
	size_t kept = 0;
	int error;

	revoking_pass(helper);
	batch_begin(&batch, &helper->nft);
	for (size_t i = 0; i < helper->revocation_count; i++) {
		struct revocation *r = &helper->revocations[i];

		if ((r->due_ms <= now_ms || all) &&
		    batch_room(&batch) >= 16384) {
			put_end(helper, &batch, r);
			if (r->kind != REVOKE_ARRIVING || all)
				continue;
			r->kind = REVOKE_ARRIVED;
			r->due_ms = second_pass(now_ms);
		}
		helper->revocations[kept++] = *r;
	}
	helper->revocation_count = kept;
	error = batch_commit(&batch);
	if (error != 0) {
		log_error("cut: could not be taken out: %s",
		    batch_error_text(error));
		helper->suspect = true;
	}
}

/* Full: what is waiting is done early. Not while a batch is being built, as
 * that needs one too. */
void
revoking_make_room(struct helper *helper, size_t count)
{
	while (helper->revocation_count + count > REVOCATIONS_MAX)
		finish(helper, 0, true);
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
		finish(helper, now_ms, now_ms == UINT64_MAX);
}

void
revoking_forget(struct helper *helper)
{
	for (size_t i = 0; i < helper->revocation_count; i++)
		if (helper->revocations[i].kind == REVOKE_ARRIVING)
			helper->guard.sandboxes[helper->revocations[i].sandbox]
			    .arriving = false;
	helper->revocation_count = 0;
}

void
revoking_spare(struct helper *helper, struct batch *batch,
    const struct helper_msg *msg)
{
	size_t kept = 0;

	for (size_t i = 0; i < helper->revocation_count; i++) {
		struct revocation *r = &helper->revocations[i];

		if (is_about(r, msg))
			put_end(helper, batch, r);
		else
			helper->revocations[kept++] = *r;
	}
	helper->revocation_count = kept;
}

void
revoking_depart(struct helper *helper, const struct addr *addr, uint64_t now_ms)
{
	revoking_make_room(helper, 1);
	remember(helper,
	    (struct revocation){ .addr = *addr,
		.due_ms = second_pass(now_ms),
		.kind = REVOKE_DEPARTED });
}

void
revoking_take_over(struct helper *helper, struct batch *batch,
    const struct addr *addr)
{
	size_t kept = 0;

	for (size_t i = 0; i < helper->revocation_count; i++) {
		struct revocation *r = &helper->revocations[i];

		if (r->kind == REVOKE_DEPARTED && addr_equal(&r->addr, addr))
			put_end(helper, batch, r);
		else
			helper->revocations[kept++] = *r;
	}
	helper->revocation_count = kept;
}

void
revoking_arrive(struct helper *helper, uint32_t sandbox, uint64_t now_ms)
{
	revoking_make_room(helper, 1);
	remember(helper,
	    (struct revocation){ .sandbox = sandbox,
		.due_ms = now_ms + ARRIVAL_MS,
		.kind = REVOKE_ARRIVING });
	helper->guard.sandboxes[sandbox].arriving = true;
}

void
revoking_arrivals(struct helper *helper, uint64_t now_ms)
{
	for (size_t i = 0; i < helper->revocation_count; i++)
		if (helper->revocations[i].kind == REVOKE_ARRIVING)
			helper->revocations[i].due_ms = 0;
	finish(helper, now_ms, false);
}

static struct member
quarantined(const struct addr *addr)
{
	return (struct member){
		.set = element_set("quarantined4", "quarantined6", addr),
		.element = element_source(addr),
	};
}

size_t
revoking_members(const struct helper *helper, struct member *ret)
{
	size_t count = 0;

	for (size_t i = 0; i < helper->revocation_count; i++) {
		const struct revocation *r = &helper->revocations[i];
		const struct edge_sandbox *sandbox;

		if (r->kind == REVOKE_DEPARTED)
			ret[count++] = quarantined(&r->addr);
		if (r->kind != REVOKE_ARRIVING && r->kind != REVOKE_SANDBOX)
			continue;
		sandbox = guard_sandbox(&helper->guard, r->sandbox);
		for (size_t k = 0; k < sandbox->source_count; k++)
			ret[count++] = quarantined(&sandbox->sources[k]);
	}
	return count;
}

/* A quarantine stays: the departure of the addresses ends it. */
void
revoking_leave(struct helper *helper, struct batch *batch, uint32_t sandbox)
{
	size_t kept = 0;

	for (size_t i = 0; i < helper->revocation_count; i++) {
		struct revocation *r = &helper->revocations[i];

		if (r->sandbox != sandbox)
			helper->revocations[kept++] = *r;
		else if (r->kind == REVOKE_ELEMENT)
			put_end(helper, batch, r);
	}
	helper->revocation_count = kept;
}

/* In an audit nothing is cut: only what is told apart from it is. */
static bool
spares_flows(const struct helper *helper, const struct helper_msg *msg)
{
	return guard_audits(&helper->guard, msg->sandbox, &msg->addr);
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
	if (!spares_flows(helper, msg))
		elements_add(batch, element_set("cut4", "cut6", &msg->addr),
		    elements, count);
	if (pin != NULL)
		held_drop(&helper->guard.held, pin);
}

static void
remember_unpin(struct helper *helper, const struct helper_msg *msg,
    uint64_t now_ms)
{
	if (spares_flows(helper, msg))
		return;
	remember(helper,
	    (struct revocation){ .sandbox = msg->sandbox,
		.addr = msg->addr,
		.service = msg->service,
		.due_ms = second_pass(now_ms) });
}

void
revoking_unpin(struct helper *helper, size_t from, size_t to, uint64_t now_ms)
{
	struct batch batch;
	int error;

	revoking_make_room(helper, to - from);
	batch_begin(&batch, &helper->nft);
	for (size_t i = from; i < to; i++) {
		struct request *request = &helper->requests[i];
		const struct helper_msg *msg = &request->msg;

		request->status = guard_element(&helper->guard, msg);
		if (request->status != 0)
			continue;
		put_unpin(helper, &batch, msg);
		remember_unpin(helper, msg, now_ms);
	}
	error = batch_commit(&batch);
	if (error != 0) {
		log_error("unpin: %s", batch_error_text(error));
		helper->suspect = true;
	}
	revoking_pass(helper);
	for (size_t i = from; i < to; i++)
		if (helper->requests[i].status == 0)
			helper->requests[i].status = error;
}

/* Up to `max` elements that the configuration does not open any more. */
static size_t
find_ungranted(const struct helper *helper, uint32_t sandbox,
    struct helper_msg *ret, size_t max)
{
	const struct held_pin *pin;
	size_t at = 0, count = 0;

	while (
	    count < max && (pin = held_next(&helper->guard.held, &at)) != NULL)
		if ((sandbox == 0 || pin->sandbox == sandbox) &&
		    !guard_opens(&helper->guard, pin))
			ret[count++] =
			    (struct helper_msg){ .sandbox = pin->sandbox,
				    .addr = pin->addr,
				    .service = pin->service };
	return count;
}

unsigned int
revoking_prune(struct helper *helper, uint32_t sandbox, uint64_t now_ms)
{
	struct helper_msg found[DROP_AT_ONCE];
	unsigned int all = 0;
	size_t count;

	while ((count = find_ungranted(helper, sandbox, found, DROP_AT_ONCE)) >
	    0) {
		struct batch batch;

		revoking_make_room(helper, count);
		batch_begin(&batch, &helper->nft);
		for (size_t i = 0; i < count; i++) {
			put_unpin(helper, &batch, &found[i]);
			remember_unpin(helper, &found[i], now_ms);
		}
		if (batch_commit(&batch) != 0)
			helper->suspect = true;
		revoking_pass(helper);
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
	/* More than one transaction has room for take several rounds. What
	 * arrives is looked at again in the next. */
	while (hurry(helper, sandbox))
		finish(helper, 0, false);
}

/* sandbox 0: of all that move. */
static bool
is_dropped(const struct helper *helper, uint32_t number, uint32_t sandbox)
{
	return sandbox != 0 ? number == sandbox
			    : helper->guard.sandboxes[number].moving;
}

static int
drop_pins(struct helper *helper, uint32_t sandbox)
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
		if (!is_dropped(helper, pin->sandbox, sandbox))
			continue;
		elements_drop(&batch, element_set("pins4", "pins6", &pin->addr),
		    elements,
		    helper_fan_out(helper, pin->sandbox, &pin->addr,
			pin->service, CUT_MS, elements));
		if (++count % DROP_AT_ONCE != 0)
			continue;
		error = batch_commit(&batch);
		batch_begin(&batch, &helper->nft);
	}
	if (error == 0)
		error = batch_commit(&batch);
	if (error != 0)
		helper->suspect = true;
	return error;
}

int
revoking_drop_pins(struct helper *helper, uint32_t sandbox)
{
	int error = drop_pins(helper, sandbox);

	held_clear(&helper->guard.held, sandbox);
	return error;
}

int
revoking_drop_moving(struct helper *helper)
{
	struct guard *guard = &helper->guard;
	int error = drop_pins(helper, 0);

	for (uint32_t i = 1; i <= guard->sandbox_count; i++)
		if (guard->sandboxes[i].moving)
			held_clear(&guard->held, i);
	return error;
}

void
revoking_look_again(struct helper *helper, uint32_t sandbox, uint64_t now_ms)
{
	revoking_make_room(helper, 1);
	remember(helper,
	    (struct revocation){ .sandbox = sandbox,
		.due_ms = second_pass(now_ms),
		.kind = REVOKE_SANDBOX });
}

void
revoking_unexplained(struct helper *helper, uint32_t sandbox, uint64_t now_ms)
{
	revoking_make_room(helper, 1);
	remember(helper,
	    (struct revocation){ .sandbox = sandbox,
		.due_ms = second_pass(now_ms),
		.kind = REVOKE_ARRIVED });
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
	revoking_pass(helper);
}
