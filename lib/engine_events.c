/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_events - what is told about the work: one event for each query, and
 * the alarms beside it. See engine_parts.h.
 */
#include "lib/engine_parts.h"

#include <string.h>

#include "lib/require.h"

struct event *
engine_event(struct engine *e, enum event_action action, uint32_t sandbox,
    const struct client *client)
{
	struct effect *effect = effects_add(&e->effects, EFFECT_EVENT);
	struct event *event = &effect->u.event;

	memset(event, 0, sizeof(*event));
	event->action = action;
	event->sandbox = sandbox;
	event->would_quarantine = engine_note_alert(e, action, sandbox);
	if (client == NULL)
		return event;
	event->source = client->addr;
	event->source_port = client->port;
	event->transport = client->stream != 0 ? PROTO_TCP : PROTO_UDP;
	event->ifindex = client->ifindex;
	return event;
}

bool
engine_is_audit(const struct engine *e, uint32_t sandbox)
{
	const struct policy_sandbox *of = policy_sandbox(e->policy, sandbox);

	return of != NULL && e->policy->profiles[of->profile].audit;
}

/*
 * Of a question in an audit: what its rules would have made of it. Where they
 * have nothing against it, or nothing that the audit lifts, it is what
 * happened.
 */
static void
tell_would(const struct engine *e, struct event *event, const struct query *q,
    enum denial denial)
{
	if (!q->verdict.audit || !engine_is_audit(e, event->sandbox))
		return;
	event->would_denial = q->verdict.would;
	if (q->verdict.would != DENIAL_NONE)
		event->would = WOULD_DENY;
	else if (denial == DENIAL_NONE || denial == DENIAL_NO_NAME ||
	    denial == DENIAL_NO_NAME_PARENT || denial == DENIAL_NO_DATA)
		event->would = WOULD_ALLOW;
	else
		event->would =
		    denial_is_failure(denial) ? WOULD_FAIL : WOULD_DENY;
}

/* What the ledger has of the names that rang, where they are paid for. */
static void
add_charges(const struct engine *e, const struct query *q,
    struct tunnel_finding *finding)
{
	struct budget_report report;

	if (!q->verdict.listed || q->verdict.scheduled ||
	    !engine_budget_spent(e, q->client.sandbox, &q->verdict, &report))
		return;
	finding->is_charged = true;
	finding->time_bits = (uint32_t)(report.part[METER_TIME] / BUDGET_BIT);
	finding->type_bits = (uint32_t)(report.part[METER_TYPE] / BUDGET_BIT);
	finding->name_bits = (uint32_t)(report.part[METER_NAME] / BUDGET_BIT);
}

void
engine_observe(struct engine *e, const struct query *q)
{
	struct tunnel_finding finding;
	struct event *event;

	if (!tunnel_observe(&e->tunnel, q->client.sandbox, &q->question,
		&q->verdict, e->now_ms, &finding))
		return;
	e->counts.tunnel_suspected++;
	event = engine_event(e, EVENT_TUNNEL_SUSPECTED, q->client.sandbox,
	    &q->client);
	event->has_question = true;
	event->name = q->question.name;
	event->type = q->question.type;
	event->apex_labels = q->verdict.apex_labels;
	event->denial = q->verdict.denial;
	add_charges(e, q, &finding);
	event->finding = finding;
	tell_would(e, event, q, q->verdict.denial);
}

/* An answer that pointed into a protected range, whoever gave it. */
static void
report_protected(struct engine *e, uint32_t sandbox,
    const struct client *client, const struct dname *name,
    const struct verdict *verdict, const struct answer *answer)
{
	struct event *event;

	if (answer->protected_count == 0)
		return;
	event = engine_event(e, EVENT_REBINDING_BLOCKED, sandbox, client);
	event->name = *name;
	e->counts.rebinding_blocked++;
	event->has_question = true;
	event->type = answer->type;
	event->apex_labels = verdict->apex_labels;
	event->denial = answer->outcome == ANSWER_PROTECTED ? DENIAL_PROTECTED
							    : DENIAL_NONE;
	event->addr_count = 1;
	event->addrs[0] = answer->protected_first;
	event->addr_class = answer->protected_class;
	event->count = answer->protected_count;
	event->has_end = answer->link_count > 0;
	event->end = answer->end;
	event->has_rule = verdict->rule != RULE_NONE;
	event->rule_kind = verdict->kind;
	event->rule_name = verdict->rule_name;
	event->would_denial = verdict->would;
	if (verdict->audit)
		event->would = WOULD_DENY;
}

void
engine_report_protected(struct engine *e, const struct lookup *lookup,
    uint8_t part)
{
	const struct query *q = query_at(&e->queries, lookup->waiting.head);

	report_protected(e, lookup->sandbox, q == NULL ? NULL : &q->client,
	    &lookup->name, &lookup->verdict, &lookup->result.answers[part]);
}

void
engine_report_fixed(struct engine *e, const struct query *q)
{
	report_protected(e, q->client.sandbox, &q->client, &q->question.name,
	    &q->verdict, &q->answer);
}

static bool
is_of_policy(enum denial denial)
{
	return denial == DENIAL_UNLISTED || denial == DENIAL_DENY_RULE ||
	    denial == DENIAL_WITHDRAWN || denial == DENIAL_PARENT ||
	    denial == DENIAL_TYPE || denial == DENIAL_PROTECTED ||
	    denial == DENIAL_SPECIAL || denial == DENIAL_BUDGET;
}

void
engine_explain_denial(const struct engine *e, const struct query *q,
    const char *text, char ret[ENGINE_TEXT_MAX])
{
	struct cursor cursor =
	    cursor_write_of((uint8_t *)ret, ENGINE_TEXT_MAX - 1);

	if (text[0] != '\0' && is_of_policy(q->denial) &&
	    q->verdict.policy < e->policy->profile_count) {
		cursor_put_text(&cursor, "policy ");
		cursor_put_text(&cursor,
		    e->policy->profiles[q->verdict.policy].name);
		cursor_put_text(&cursor, ": ");
	}
	cursor_put_text(&cursor, text);
	REQUIRE(!cursor.error);
	ret[cursor.pos] = '\0';
}

static enum event_action
outcome_of(struct engine *e, enum denial denial)
{
	/* What the upstream says of a listed name is an answer. */
	if (denial == DENIAL_NONE || denial == DENIAL_NO_NAME ||
	    denial == DENIAL_NO_NAME_PARENT || denial == DENIAL_NO_DATA) {
		e->counts.answered++;
		return EVENT_DNS_ANSWERED;
	}
	if (denial_is_failure(denial)) {
		e->counts.failed++;
		return EVENT_DNS_FAILED;
	}
	e->counts.denied++;
	return EVENT_DNS_DENIED;
}

void
engine_audit(struct engine *e, const struct query *q, uint8_t rcode,
    uint32_t ttl_s, uint8_t addr_count)
{
	struct event *event = engine_event(e, outcome_of(e, q->denial),
	    q->client.sandbox, &q->client);

	event->has_question = q->question.has_name;
	event->name = q->question.name;
	event->type = q->question.type;
	event->apex_labels = q->verdict.apex_labels;
	event->denial = q->denial;
	event->rcode = rcode;
	event->ttl_s = ttl_s;
	event->cached = q->cached;
	event->addr_count = addr_count;
	memcpy(event->addrs, q->answer.addrs,
	    addr_count * sizeof(event->addrs[0]));
	event->has_end = q->answer.link_count > 0;
	event->end = q->answer.end;
	event->has_rule = q->client.sandbox != 0 &&
	    q->verdict.rule != RULE_NONE && q->question.has_name;
	event->rule_kind = q->verdict.kind;
	event->rule_name = q->verdict.rule_name;
	event->duration_ms = (uint32_t)(e->now_ms - q->opened_ms);
	tell_would(e, event, q, q->denial);
	if (event->would == WOULD_DENY && q->verdict.would != DENIAL_NONE)
		e->counts.audited++;
}
