/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_packets - what the kernel tells of packets and flows, against what
 * the ledger knows. It only tells: nothing is opened or closed here.
 */
#include "lib/engine_parts.h"

#include "lib/require.h"

/* What was wrong with a packet of a sandbox. */
static enum event_reject
reason_of(const struct engine *e, const struct rejected *r, uint32_t sandbox)
{
	const struct packet *p = &r->packet;
	struct pin_element element = { .sandbox = sandbox,
		.addr = p->destination,
		.service = { p->protocol, p->destination_port } };

	switch (r->kind) {
	case REJECTED_SPOOFED:
		return REJECT_SPOOFED;
	case REJECTED_UNSOUND:
		return REJECT_UNSOUND;
	case REJECTED_REFUSED:
	case REJECTED_AUDITED:
		break;
	}
	if (pins_hold_until(&e->pins, &element, e->now_ms))
		return REJECT_NO_FLOW;
	if (pins_addr_held(&e->pins, sandbox, &p->destination, e->now_ms))
		return REJECT_OTHER_SERVICE;
	return pins_find(&e->pins, &element) != TABLE_NONE ? REJECT_LAPSED
							   : REJECT_UNRESOLVED;
}

void
engine_rejected(struct engine *e, const struct rejected *r, uint64_t now_ms)
{
	const struct packet *p = &r->packet;
	bool spoofed = r->kind == REJECTED_SPOOFED;
	uint32_t sandbox =
	    spoofed ? 0 : policy_sandbox_by_source(e->policy, &p->source);
	struct event *event;

	if (sandbox == 0 && !spoofed &&
	    policy_sandbox(e->policy, r->stands_for) != NULL)
		sandbox = r->stands_for;
	engine_enter(e, now_ms);
	event = engine_event(e,
	    spoofed ? EVENT_SOURCE_SPOOFED : EVENT_DIRECT_IP_REJECTED, sandbox,
	    NULL);
	event->source = p->source;
	event->source_port = p->source_port;
	event->destination = p->destination;
	event->destination_port = p->destination_port;
	event->transport = p->protocol;
	event->ifindex = r->ifindex;
	event->reject = reason_of(e, r, sandbox);
	event->passed = r->kind == REJECTED_AUDITED;
	if (engine_is_audit(e, sandbox))
		event->would = WOULD_DENY;
	if (spoofed)
		e->counts.spoofed_packets++;
	else if (event->passed)
		e->counts.audited_packets++;
	else
		e->counts.rejects++;
}

static void
say(struct event *event, const char *text)
{
	size_t i = 0;

	for (; text[i] != '\0' && i + 1 < sizeof(event->text); i++)
		event->text[i] = text[i];
	event->text[i] = '\0';
}

void
engine_uploaded(struct engine *e, const struct uploaded *u, uint64_t now_ms)
{
	struct event *event;

	engine_enter(e, now_ms);
	if (policy_sandbox(e->policy, u->sandbox) == NULL)
		return;
	event = engine_event(e,
	    u->exceeded ? EVENT_UPLOAD_EXCEEDED : EVENT_UPLOAD_NOTICE,
	    u->sandbox, NULL);
	event->upload = (struct event_upload){ true, u->used, u->limit };
	event->has_rule = u->has_rule;
	event->rule_kind = u->kind;
	event->rule_name = u->name;
	if (u->sum)
		say(event, "of all that the sandbox may send in a day");
	else if (u->has_rule)
		say(event, "of what may be sent to the rule's names in a day");
	else
		say(event, "of what may be sent to a list's names in a day");
}

/* The names for which an element was opened. */
static void
name_holders(const struct engine *e, uint32_t slot, struct event *event)
{
	struct pin_record record;

	REQUIRE(pins_record(&e->pins, slot, &record));
	for (uint8_t i = 0; i < record.holder_count; i++) {
		if (event->name_count == EVENT_NAMES_MAX)
			return;
		event->names[event->name_count++] = record.holders[i].name;
	}
}

/* A flow that an audit let be, not one to a listener of this host. */
static bool
is_audited(const struct engine *e, const struct pin_element *element)
{
	return engine_is_audit(e, element->sandbox) &&
	    addr_protected(&element->addr, &e->policy->protected_ranges, NULL,
		0) == ADDR_GLOBAL;
}

void
engine_flow_ended(struct engine *e, const struct ended_flow *flow,
    uint64_t now_ms)
{
	struct pin_element element = { .addr = flow->destination,
		.service = flow->service };
	struct event *event;
	uint32_t slot;

	engine_enter(e, now_ms);
	element.sandbox = policy_sandbox_by_source(e->policy, &flow->source);
	if (element.sandbox == 0)
		return;
	slot = pins_find(&e->pins, &element);
	if (slot == TABLE_NONE && !is_audited(e, &element))
		return;
	event = engine_event(e, EVENT_FLOW_ENDED, element.sandbox, NULL);
	event->source = flow->source;
	event->source_port = flow->source_port;
	event->destination = flow->destination;
	event->destination_port = flow->service.port;
	event->transport = flow->service.protocol;
	event->flow = flow->passed;
	event->duration_ms = flow->duration_ms;
	if (engine_is_audit(e, element.sandbox))
		event->would = slot == TABLE_NONE ? WOULD_DENY : WOULD_ALLOW;
	if (slot != TABLE_NONE)
		name_holders(e, slot, event);
	e->counts.flows_ended++;
}
