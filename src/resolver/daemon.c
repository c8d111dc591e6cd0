/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daemon - see daemon.h. Inputs stand in the order in which they come in the
 * life of a run: start, questions, answers, pins, the end.
 */
#include "config.h"

#include "src/resolver/daemon.h"

#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/require.h"
#include "src/resolver/log.h"

/* A question has two seconds and a pin half of one. */
#define STOP_MS 2600

/* ---- the pump -------------------------------------------------------- */

void
daemon_wake(struct daemon *d)
{
	struct timespec now;
	uint64_t now_ms;

	(void)clock_gettime(CLOCK_BOOTTIME, &now);
	now_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	if (now_ms > d->now_ms)
		d->now_ms = now_ms;
}

/* The record is in the file before the helper hears of the pin: requests
 * leave in daemon_rest(). */
static void
write_record(struct daemon *d, uint32_t slot)
{
	const struct policy_sandbox *sandbox;

	if (!pins_record(&d->engine.pins, slot, &d->record)) {
		state_clear(&d->state, slot);
		return;
	}
	sandbox = policy_sandbox(d->engine.policy, d->record.element.sandbox);
	if (sandbox != NULL)
		state_write(&d->state, slot, &d->record, sandbox->name);
	uploads_claim(d, &d->record);
}

static void
forget_record(struct daemon *d, uint32_t slot, uint32_t sandbox)
{
	const struct policy_sandbox *of =
	    policy_sandbox(d->engine.policy, sandbox);

	if (slot != FORGET_ALL)
		state_clear(&d->state, slot);
	else if (sandbox == 0 || of != NULL)
		state_clear_all(&d->state, of != NULL ? of->name : NULL);
}

static void
send_reply(struct daemon *d, const struct client *client,
    const uint8_t *message, size_t len)
{
	if (client->stream != 0) {
		streams_reply(&d->streams, client->stream, message, len);
		return;
	}
	REQUIRE(client->listener < d->listener_count);
	listener_reply(&d->listeners[client->listener], client, message, len);
}

static void
route(struct daemon *d, const struct effect *effect)
{
	switch (effect->kind) {
	case EFFECT_REPLY:
		send_reply(d, &effect->u.reply.client, effect->u.reply.message,
		    effect->u.reply.len);
		break;
	case EFFECT_ASK:
		upstream_ask(&d->upstream, effect->u.ask.lookup,
		    effect->u.ask.part, &effect->u.ask.ask,
		    &effect->u.ask.trail);
		break;
	case EFFECT_PIN:
	case EFFECT_UNPIN:
	case EFFECT_FLOWS:
	case EFFECT_RECALL:
	case EFFECT_SETTLE:
		helper_request(&d->helper, effect);
		break;
	case EFFECT_QUARANTINE:
	case EFFECT_RELEASE:
		quarantine_route(d, effect);
		break;
	case EFFECT_RECORD:
		write_record(d, effect->u.record.slot);
		break;
	case EFFECT_FORGET:
		forget_record(d, effect->u.record.slot,
		    effect->u.record.sandbox);
		break;
	case EFFECT_CHARGED:
		ledger_charged(&d->ledger, effect->u.charged.key, d->now_ms);
		break;
	case EFFECT_EVENT:
		daemon_event(d, &effect->u.event);
		break;
	}
}

static void
feed_ask_failure(struct daemon *d, const struct upstream_failure *failure)
{
	if (failure->again)
		engine_ask_again(&d->engine, failure->lookup, failure->part,
		    &failure->trail, d->now_ms);
	else
		engine_ask_failed(&d->engine, failure->lookup, failure->part,
		    failure->why, d->now_ms);
}

/* Failures that came up while effects were performed, one at a time. */
static bool
feed_failure(struct daemon *d)
{
	struct upstream_failure failure;
	uint64_t id;

	if (d->helper_gone && !d->helper_gone_told) {
		d->helper_gone_told = true;
		engine_helper_lost(&d->engine, d->now_ms);
		return true;
	}
	if (helper_next_failed(&d->helper, &id)) {
		engine_pinned(&d->engine, id, -EAGAIN, d->now_ms);
		return true;
	}
	if (upstream_next_failure(&d->upstream, &failure)) {
		feed_ask_failure(d, &failure);
		return true;
	}
	return false;
}

void
daemon_pump(struct daemon *d)
{
	do {
		while (engine_next_effect(&d->engine, &d->effect))
			route(d, &d->effect);
	} while (feed_failure(d));
}

static void on_timer(uv_timer_t *);

static void
set_timer(struct daemon *d)
{
	uint64_t at = engine_deadline(&d->engine);
	uint64_t upstream = upstream_deadline(&d->upstream);
	uint64_t control = control_deadline(&d->control);
	uint64_t streams = streams_deadline(&d->streams);
	uint64_t beat = daemon_beat_deadline(d);
	uint64_t uploads = uploads_deadline(&d->uploads);
	uint64_t members = members_deadline(d);

	if (upstream < at)
		at = upstream;
	if (control < at)
		at = control;
	if (streams < at)
		at = streams;
	if (d->dates_ms < at)
		at = d->dates_ms;
	if (beat < at)
		at = beat;
	if (uploads < at)
		at = uploads;
	if (members < at)
		at = members;
	if (d->stop_ms != 0 && d->stop_ms < at)
		at = d->stop_ms;
	if (at == d->timer_ms)
		return;
	d->timer_ms = at;
	if (at == DEADLINE_NEVER)
		uv_timer_stop(&d->timer);
	else
		uv_timer_start(&d->timer, on_timer,
		    at > d->now_ms ? at - d->now_ms : 0, 0);
}

/* Whether a stop has waited for all that it waits for. */
static bool
is_over(const struct daemon *d)
{
	return d->stop_ms != 0 &&
	    (d->now_ms >= d->stop_ms ||
		pool_in_use(&d->engine.queries.pool) == 0);
}

void
daemon_rest(struct daemon *d)
{
	helper_flush(&d->helper);
	if (d->helper_gone && !d->helper_gone_told)
		daemon_pump(d);
	for (size_t i = 0; i < d->listener_count; i++)
		listener_flush(&d->listeners[i]);
	streams_flush(&d->streams);
	sinks_flush(&d->sinks);
	daemon_report_drops(d);
	control_follow(&d->control);
	if (d->helper_gone || is_over(d))
		uv_stop(&d->loop);
	else
		set_timer(d);
}

static void
on_timer(uv_timer_t *timer)
{
	struct daemon *d = timer->data;

	daemon_wake(d);
	d->timer_ms = 0;
	if (engine_deadline(&d->engine) <= d->now_ms) {
		engine_expire(&d->engine, d->now_ms);
		daemon_pump(d);
	}
	daemon_dates(d);
	upstream_expire(&d->upstream, d->now_ms);
	daemon_pump(d);
	control_expire(&d->control, d->now_ms);
	streams_expire(&d->streams, d->now_ms);
	members_expire(d);
	daemon_beat(d);
	uploads_expire(d);
	daemon_rest(d);
}

/* ---- inputs ---------------------------------------------------------- */

static void
stop(struct daemon *d, int exit_code)
{
	d->exit_code = exit_code;
	uv_stop(&d->loop);
}

uint32_t
daemon_sandboxes(const struct daemon *d)
{
	uint32_t count = 0;

	for (uint32_t i = 1; i <= d->sandbox_count; i++)
		count += policy_sandbox(d->engine.policy, i) != NULL ? 1 : 0;
	return count;
}

/* The parent answered HELLO: what the state remembers is judged now. */
void
daemon_welcome(struct daemon *d, int status, uint64_t sandboxes)
{
	uint32_t index = 0;
	uint32_t count = 0;

	if (status != 0 || sandboxes != d->sandbox_count) {
		log_error("start",
		    "parent and resolver disagree: it has %" PRIu64
		    " sandboxes (status %d), this has %" PRIu32,
		    sandboxes, status, d->sandbox_count);
		stop(d, 1);
		return;
	}
	withdrawn_recall(d);
	guests_recall(d);
	uploads_recall(d, 0);
	while (state_next(&d->state, &index, d->engine.policy, &d->record)) {
		struct pin_record record = d->record;

		engine_recall(&d->engine, &record, d->now_ms);
		daemon_pump(d);
		count++;
	}
	if (d->state.torn > 0)
		log_warn("state", "%" PRIu64 " records were not whole",
		    d->state.torn);
	log_info("start", "%" PRIu32 " pins on record, %" PRIu32 " sandboxes",
	    count, d->sandbox_count);
	quarantine_follow(d);
	engine_recalled(&d->engine, d->now_ms);
	daemon_pump(d);
}

/* What nobody takes waits in the sockets: at the start until it can be
 * answered, at a stop for whoever has the sockets next. */
static void
listen_to_clients(struct daemon *d, bool listening)
{
	for (size_t i = 0; i < d->listener_count; i++)
		listener_listen(&d->listeners[i], listening);
	streams_listen(&d->streams, listening);
}

void
daemon_settled(struct daemon *d, int status, uint64_t abilities)
{
	int r;

	engine_settled(&d->engine, status, d->now_ms);
	daemon_pump(d);
	if (status != 0) {
		log_error("start", "the parent could not settle: %s",
		    strerror(-status));
		stop(d, 1);
		return;
	}
	r = state_settle(&d->state);
	if (r != 0)
		log_error("state", "the pins of this run are not kept: %s",
		    strerror(-r));
	r = ledger_settle(&d->ledger);
	if (r != 0) {
		log_error("ledger", "what is spent could not be kept: %s",
		    strerror(-r));
		stop(d, 1);
		return;
	}
	guests_settle(d);
	withdrawn_settle(&d->withdrawn);
	d->settled_ms = d->now_ms;
	d->abilities = abilities;
	heart_start(&d->heart, d->now_ms);
	if (d->stop_ms == 0)
		listen_to_clients(d, true);
	log_info("start", "answering");
	daemon_event_text(d, EVENT_STARTED, "");
}

/*
 * Each notice means that the parent has cut the sandbox's pins and flows. Only
 * the first one of the start does not: it says how things are.
 */
void
daemon_bound(struct daemon *d, uint32_t sandbox, uint32_t ifindex)
{
	struct binding *binding;
	bool first;

	if (sandbox == 0 || sandbox > d->sandbox_count) {
		log_warn("helper",
		    "an interface for sandbox %" PRIu32 ", which there is not",
		    sandbox);
		return;
	}
	binding = &d->bindings[sandbox];
	first = !binding->known && d->settled_ms == 0;
	binding->known = true;
	binding->ifindex = ifindex;
	memset(binding->interface, 0, sizeof(binding->interface));
	if (ifindex != 0)
		(void)if_indextoname(ifindex, binding->interface);
	if (first)
		return;
	streams_cut(&d->streams, sandbox);
	engine_pins_lost(&d->engine, sandbox, 0, 0, d->now_ms);
	daemon_pump(d);
}

void
daemon_reset(struct daemon *d, uint32_t window_ms, uint64_t packets)
{
	d->counts.pins_lost++;
	engine_pins_lost(&d->engine, 0, window_ms, packets, d->now_ms);
	daemon_pump(d);
}

/*
 * At a sandbox's own listener whoever is no sandbox asks for it: the resolver
 * of its network does. Another sandbox is nobody there, not even itself, or
 * it could open and read what is the owner's.
 */
bool
daemon_admit(struct daemon *d, struct client *client)
{
	uint32_t owner = d->config->edge->listen_of[client->listener];
	uint32_t sandbox =
	    policy_sandbox_by_source(d->engine.policy, &client->addr);
	uint32_t each = sandbox != 0 ? 0 : members_each(d, &client->addr);
	uint32_t whose = sandbox != 0 ? sandbox : each;

	client->sandbox = sandbox;
	if (whose != 0 && d->bindings[whose].ifindex != client->ifindex) {
		daemon_spoofed(d, whose, client);
		return false;
	}
	if (owner != 0 && sandbox == 0 && each == 0)
		client->sandbox = owner;
	else if (owner != 0 && sandbox != owner)
		client->sandbox = 0;
	return true;
}

void
daemon_ask(struct daemon *d, struct client *client, const uint8_t *wire,
    size_t len)
{
	if (!daemon_admit(d, client))
		return;
	if (client->sandbox == 0 &&
	    d->config->edge->listen_of[client->listener] == 0 &&
	    members_wait(d, client, wire, len))
		return;
	members_heard(d, client->sandbox);
	if (client->stream != 0)
		streams_belong(&d->streams, client->stream, client->sandbox);
	engine_query(&d->engine, client, wire, len, d->now_ms);
	daemon_pump(d);
}

void
daemon_query(struct daemon *d, struct client *client, const uint8_t *wire,
    size_t len)
{
	d->counts.questions++;
	daemon_ask(d, client, wire, len);
}

void
daemon_answer(struct daemon *d, uint64_t lookup, uint8_t part,
    const uint8_t *wire, size_t len)
{
	engine_answer(&d->engine, lookup, part, wire, len, d->now_ms);
	daemon_pump(d);
}

void
daemon_pinned(struct daemon *d, uint64_t op, int status)
{
	engine_pinned(&d->engine, op, status, d->now_ms);
	daemon_pump(d);
}

void
daemon_flows(struct daemon *d, uint32_t slot, int status, bool flow)
{
	engine_flows(&d->engine, slot, status, flow, d->now_ms);
	daemon_pump(d);
}

/* May come in the middle of the pump, so it only leaves a mark. */
void
daemon_helper_lost(struct daemon *d)
{
	d->helper_gone = true;
	d->exit_code = 1;
}

/* ---- run ------------------------------------------------------------- */

/* Once, though a signal and the parent's end may come together. */
static void
tell_stopped(struct daemon *d)
{
	if (d->stopped)
		return;
	d->stopped = true;
	daemon_unfold(d, DEADLINE_NEVER);
	daemon_event_text(d, EVENT_STOPPED, "");
}

static void
on_signal(uv_signal_t *handle, int number)
{
	struct daemon *d = handle->data;

	if (number == SIGUSR1) {
		sinks_reopen(&d->sinks);
		return;
	}
	daemon_wake(d);
	log_info("stop", "told by a signal");
	daemon_stop(d);
	daemon_rest(d);
}

void
daemon_stop(struct daemon *d)
{
	if (d->stop_ms != 0)
		return;
	d->stop_ms = d->now_ms + STOP_MS;
	d->exit_code = 0;
	listen_to_clients(d, false);
}

int
daemon_run(struct daemon *d)
{
	const int numbers[] = { SIGTERM, SIGINT, SIGUSR1 };

	/* A log or an event pipe that nobody reads any more is no reason to
	 * die; neither is a terminal's end, nor the parent's SIGHUP. */
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		uv_signal_init(&d->loop, &d->signals[i]);
		d->signals[i].data = d;
		uv_signal_start(&d->signals[i], on_signal, numbers[i]);
	}
	daemon_wake(d);
	helper_hello(&d->helper);
	daemon_pump(d);
	daemon_rest(d);
	if (!d->helper_gone)
		(void)uv_run(&d->loop, UV_RUN_DEFAULT);
	daemon_unfold(d, DEADLINE_NEVER);
	uploads_save(d);
	/* What never began does not end. */
	if (d->settled_ms != 0)
		tell_stopped(d);
	sinks_flush(&d->sinks);
	return d->exit_code;
}
