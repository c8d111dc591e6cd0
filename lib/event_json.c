/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The JSON line of an event.
 *
 * Each field has a rank. A line is printed with all ranks; where it does not
 * fit it is printed again without the highest, and so on: what is left out
 * is left out whole, least important first.
 */
#include "lib/cursor.h"
#include "lib/event.h"
#include "lib/event_parts.h"
#include "lib/json.h"

#include <string.h>

#include "lib/require.h"

#define ECS_VERSION "8.11.0"

/* By importance; of labels and samples the last go first. */
enum rank {
	RANK_ALWAYS,
	RANK_CORE,
	RANK_DETAIL,
	RANK_ORIGIN,
	RANK_SAMPLE,
	RANK_LABEL = RANK_SAMPLE + TUNNEL_SAMPLES_MAX,
	RANK_ALL = RANK_LABEL + EVENT_LABELS_MAX
};

struct printer {
	struct cursor c;
	unsigned rank; /* the highest that is printed */
	bool comma; /* before what comes next */
};

static bool
prints(const struct printer *p, unsigned rank)
{
	return rank <= p->rank;
}

static void
separate(struct printer *p)
{
	if (p->comma)
		cursor_put_u8(&p->c, ',');
	p->comma = true;
}

static void
put_key(struct printer *p, const char *key)
{
	separate(p);
	json_put_text(&p->c, key);
	cursor_put_u8(&p->c, ':');
}

/* Keys are NULL inside of arrays and for the line itself. */
static void
open_with(struct printer *p, const char *key, char bracket)
{
	if (key != NULL)
		put_key(p, key);
	else
		separate(p);
	cursor_put_u8(&p->c, (uint8_t)bracket);
	p->comma = false;
}

static void
close_with(struct printer *p, char bracket)
{
	cursor_put_u8(&p->c, (uint8_t)bracket);
	p->comma = true;
}

static void
put_text(struct printer *p, const char *key, const char *text)
{
	put_key(p, key);
	json_put_text(&p->c, text);
}

static void
put_text_if(struct printer *p, const char *key, const char *text)
{
	if (text != NULL && text[0] != '\0')
		put_text(p, key, text);
}

static void
put_number(struct printer *p, const char *key, uint64_t value)
{
	put_key(p, key);
	cursor_put_decimal(&p->c, value);
}

static void
put_bool(struct printer *p, const char *key, bool value)
{
	put_key(p, key);
	cursor_put_text(&p->c, value ? "true" : "false");
}

/* Words of our own, separated by spaces, as an array. */
static void
put_words(struct printer *p, const char *key, const char *words)
{
	open_with(p, key, '[');
	while (*words != '\0') {
		size_t len = 0;

		while (words[len] != '\0' && words[len] != ' ')
			len++;
		separate(p);
		json_put_string(&p->c, words, len);
		words += len;
		if (*words == ' ')
			words++;
	}
	close_with(p, ']');
}

static void
put_name_value(struct printer *p, const char *before, const struct dname *name)
{
	char text[4 + DNAME_TEXT_MAX];
	struct cursor c = cursor_write_of((uint8_t *)text, 4);
	size_t len;

	cursor_put_text(&c, before);
	REQUIRE(!c.error);
	len = dname_print(name, text + c.pos);
	json_put_string(&p->c, text, c.pos + len);
}

static void
put_name(struct printer *p, const char *key, const struct dname *name)
{
	put_key(p, key);
	put_name_value(p, "", name);
}

static void
put_addr_value(struct printer *p, const struct addr *a)
{
	char text[ADDR_TEXT_MAX];

	json_put_string(&p->c, text, addr_print(a, text));
}

static void
put_timestamp(struct printer *p, uint64_t wall_ms)
{
	put_key(p, "@timestamp");
	cursor_put_u8(&p->c, '"');
	event_put_time(&p->c, wall_ms);
	cursor_put_u8(&p->c, '"');
}

static bool
is_question_event(const struct event *e)
{
	return e->action == EVENT_DNS_ANSWERED ||
	    e->action == EVENT_DNS_DENIED || e->action == EVENT_DNS_FAILED;
}

static bool
has_duration(const struct event *e)
{
	return is_question_event(e) || e->action == EVENT_PINS_LOST ||
	    e->action == EVENT_HEARTBEAT || e->flow.timed;
}

static void
put_event_object(struct printer *p, const struct event *e,
    const struct event_context *context)
{
	struct event_class class = event_class_of(e);

	open_with(p, "event", '{');
	put_text(p, "kind", event_kind_name(event_kind_of(e->action)));
	put_words(p, "category", class.category);
	put_words(p, "type", class.type);
	put_text(p, "action", event_action_name(e->action));
	put_number(p, "sequence", context->sequence);
	put_number(p, "severity", event_severity(e));
	/* The schema counts nanoseconds. */
	if (prints(p, RANK_DETAIL) && has_duration(e))
		put_number(p, "duration", e->duration_ms * UINT64_C(1000000));
	close_with(p, '}');
}

static void
put_host_and_observer(struct printer *p, const struct event_context *context)
{
	open_with(p, "host", '{');
	put_text(p, "name", context->host_name);
	open_with(p, "boot", '{');
	put_text(p, "id", context->boot_id);
	close_with(p, '}');
	close_with(p, '}');

	open_with(p, "observer", '{');
	put_text(p, "product", "namewall");
	put_text(p, "version", context->version);
	if (prints(p, RANK_CORE) && context->interface != NULL) {
		open_with(p, "ingress", '{');
		open_with(p, "interface", '{');
		put_text(p, "name", context->interface);
		close_with(p, '}');
		close_with(p, '}');
	}
	close_with(p, '}');
}

static void
put_labels(struct printer *p, const struct event_context *context)
{
	open_with(p, "labels", '{');
	for (size_t i = 0; i < context->label_count; i++) {
		if (i < EVENT_LABELS_MAX &&
		    prints(p, RANK_LABEL + 1 + (unsigned)i))
			put_text(p, context->labels[i].key,
			    context->labels[i].value);
	}
	close_with(p, '}');
}

/* The schema's word for a protocol, or its number. */
static void
put_transport(struct printer *p, uint8_t protocol)
{
	static const struct {
		uint8_t protocol;
		const char *name;
	} known[] = { { 1, "icmp" }, { PROTO_TCP, "tcp" }, { PROTO_UDP, "udp" },
		{ 58, "ipv6-icmp" }, { 132, "sctp" } };

	if (protocol == 0)
		return;
	open_with(p, "network", '{');
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		if (known[i].protocol != protocol)
			continue;
		put_text(p, "transport", known[i].name);
		close_with(p, '}');
		return;
	}
	/* A word to the schema, which has no numbers for codes. */
	put_key(p, "iana_number");
	cursor_put_u8(&p->c, '"');
	cursor_put_decimal(&p->c, protocol);
	cursor_put_u8(&p->c, '"');
	close_with(p, '}');
}

/* One end of a packet, question or flow. */
struct end {
	const char *key;
	const struct addr *addr;
	uint16_t port;
	bool counted; /* of what it sent */
	uint64_t octets, packets;
};

static void
put_end(struct printer *p, const struct end *end)
{
	if (end->addr->family == 0)
		return;
	open_with(p, end->key, '{');
	put_key(p, "ip");
	put_addr_value(p, end->addr);
	if (end->port != 0)
		put_number(p, "port", end->port);
	if (end->counted && prints(p, RANK_DETAIL)) {
		put_number(p, "bytes", end->octets);
		put_number(p, "packets", end->packets);
	}
	close_with(p, '}');
}

/* Who, by which way, to where. */
static void
put_ends(struct printer *p, const struct event *e)
{
	const struct event_flow *flow = &e->flow;
	struct end source = { "source", &e->source, e->source_port,
		flow->counted, flow->octets_from, flow->packets_from };
	struct end destination = { "destination", &e->destination,
		e->destination_port, flow->counted, flow->octets_to,
		flow->packets_to };

	if (!prints(p, RANK_CORE))
		return;
	put_end(p, &source);
	if (e->action == EVENT_REBINDING_BLOCKED && e->addr_count > 0)
		destination.addr = &e->addrs[0];
	put_end(p, &destination);
	put_transport(p, e->transport);
}

static void
put_question(struct printer *p, const struct event *e)
{
	char type[16];

	event_type_name(e->type, type);
	open_with(p, "question", '{');
	put_name(p, "name", &e->name);
	put_text(p, "type", type);
	if (prints(p, RANK_DETAIL) && e->apex_labels > 0 &&
	    e->apex_labels <= e->name.labels) {
		struct dname apex = dname_suffix(&e->name, e->apex_labels);

		put_name(p, "registered_domain", &apex);
	}
	close_with(p, '}');
}

static void
put_response_code(struct printer *p, uint8_t rcode)
{
	static const char *const names[] = { "NOERROR", "FORMERR", "SERVFAIL",
		"NXDOMAIN", "NOTIMP", "REFUSED" };

	if (rcode < ARRAY_LEN(names)) {
		put_text(p, "response_code", names[rcode]);
	} else if (rcode == DNS_RCODE_BADVERS) {
		put_text(p, "response_code", "BADVERS");
	} else {
		put_key(p, "response_code");
		cursor_put_text(&p->c, "\"RCODE");
		cursor_put_decimal(&p->c, rcode);
		cursor_put_u8(&p->c, '"');
	}
}

static void
put_addrs(struct printer *p, const char *key, const struct addr *addrs,
    size_t count)
{
	open_with(p, key, '[');
	for (size_t i = 0; i < count && i < ANSWER_ADDRS_MAX; i++) {
		separate(p);
		put_addr_value(p, &addrs[i]);
	}
	close_with(p, ']');
}

static void
put_dns(struct printer *p, const struct event *e)
{
	bool has_code = is_question_event(e) && e->denial != DENIAL_DROP;

	if (!prints(p, RANK_CORE) ||
	    !(e->has_question || has_code || e->addr_count > 0))
		return;
	open_with(p, "dns", '{');
	if (e->has_question)
		put_question(p, e);
	if (has_code)
		put_response_code(p, e->rcode);
	if (prints(p, RANK_DETAIL) && e->addr_count > 0)
		put_addrs(p, "resolved_ip", e->addrs, e->addr_count);
	close_with(p, '}');
}

static void
put_rule(struct printer *p, const struct event *e)
{
	static const char *const stars[] = { [RULE_EXACT] = "",
		[RULE_CHILD] = "*.",
		[RULE_BELOW] = "**." };

	if (!prints(p, RANK_CORE) || !e->has_rule)
		return;
	open_with(p, "rule", '{');
	put_key(p, "name");
	put_name_value(p, stars[e->rule_kind], &e->rule_name);
	close_with(p, '}');
}

/* What the alarm has counted, and by which model. */
static void
put_shape(struct printer *p, const struct tunnel_finding *f, const char *model)
{
	if ((f->signs & TUNNEL_SHAPE) == 0)
		return;
	put_number(p, "score", f->score);
	put_number(p, "volume", f->volume);
	put_number(p, "new", f->nnew);
	put_number(p, "repeated", f->nrep);
	put_text_if(p, "model", model);
}

static void
put_charge(struct printer *p, const struct tunnel_finding *f)
{
	if (!f->is_charged)
		return;
	open_with(p, "bits", '{');
	put_number(p, "time", f->time_bits);
	put_number(p, "type", f->type_bits);
	put_number(p, "name", f->name_bits);
	close_with(p, '}');
}

static void
put_tunnel(struct printer *p, const struct tunnel_finding *f, const char *model)
{
	open_with(p, "tunnel", '{');
	put_name(p, "domain", &f->apex);
	put_number(p, "questions", f->question_count);
	open_with(p, "signs", '[');
	for (unsigned bit = 0; bit < 32; bit++) {
		uint32_t sign = UINT32_C(1) << bit;

		if ((f->signs & sign) == 0 || tunnel_sign_name(sign) == NULL)
			continue;
		separate(p);
		json_put_text(&p->c, tunnel_sign_name(sign));
	}
	close_with(p, ']');
	put_shape(p, f, model);
	put_charge(p, f);
	open_with(p, "samples", '[');
	for (size_t i = 0; i < f->sample_count && i < TUNNEL_SAMPLES_MAX; i++) {
		if (!prints(p, RANK_SAMPLE + (unsigned)i))
			break;
		separate(p);
		put_name_value(p, "", &f->samples[i]);
	}
	close_with(p, ']');
	close_with(p, '}');
}

static const char *
budget_level_name(enum budget_level level)
{
	switch (level) {
	case BUDGET_KEY:
		return "rule";
	case BUDGET_SANDBOX:
		return "sandbox";
	case BUDGET_POLICY:
		return "policy";
	case BUDGET_LEVELS:
		break;
	}
	UNREACHABLE();
}

/* Whole bits, which is what anybody wants to know of them. */
static void
put_budget(struct printer *p, const struct event_budget *budget)
{
	const struct budget_report *report = &budget->report;

	open_with(p, "budget", '{');
	put_text(p, "level", budget_level_name(budget->level));
	put_number(p, "limit_bits", report->limit / BUDGET_BIT);
	put_number(p, "used_bits", report->used / BUDGET_BIT);
	put_number(p, "left_bits", report->left / BUDGET_BIT);
	put_number(p, "time_bits", report->part[METER_TIME] / BUDGET_BIT);
	put_number(p, "type_bits", report->part[METER_TYPE] / BUDGET_BIT);
	put_number(p, "name_bits", report->part[METER_NAME] / BUDGET_BIT);
	close_with(p, '}');
}

static bool
is_budget_event(const struct event *e)
{
	return e->action == EVENT_BUDGET_NOTICE ||
	    e->action == EVENT_BUDGET_EXCEEDED;
}

static void
put_names(struct printer *p, const struct event *e)
{
	open_with(p, "names", '[');
	for (size_t i = 0; i < e->name_count && i < EVENT_NAMES_MAX; i++) {
		separate(p);
		put_name_value(p, "", &e->names[i]);
	}
	close_with(p, ']');
}

/* An action's name as a field: the schema's names have no hyphens. */
static void
put_count(struct printer *p, enum event_action action, uint64_t count)
{
	separate(p);
	cursor_put_u8(&p->c, '"');
	for (const char *at = event_action_name(action); *at != '\0'; at++)
		cursor_put_u8(&p->c, *at == '-' ? '_' : (uint8_t)*at);
	cursor_put_text(&p->c, "\":");
	cursor_put_decimal(&p->c, count);
}

static void
put_counts(struct printer *p, const struct event *e,
    const struct event_counts *counts)
{
	open_with(p, "counts", '{');
	for (unsigned i = 0; i <= EVENT_ACTION_LAST; i++)
		if (event_is_counted((enum event_action)i))
			put_count(p, (enum event_action)i, counts->actions[i]);
	if (counts->has_packets) {
		put_number(p, "packets_refused", counts->packets_refused);
		if (e->sandbox == 0)
			put_number(p, "packets_spoofed",
			    counts->packets_spoofed);
	}
	if (counts->is_audit) {
		put_number(p, "would_deny", counts->would_deny);
		if (counts->has_packets)
			put_number(p, "packets_audited",
			    counts->packets_audited);
	}
	if (e->sandbox == 0)
		put_number(p, "packets_unlogged", counts->packets_unlogged);
	put_number(p, "events_dropped", counts->events_dropped);
	close_with(p, '}');
}

/* Numbers and words of ours that the schema has no place for. */
static void
put_details(struct printer *p, const struct event *e)
{
	if (e->action == EVENT_DNS_ANSWERED) {
		put_number(p, "ttl", e->ttl_s);
		put_bool(p, "cached", e->cached);
	}
	if (e->action == EVENT_REBINDING_BLOCKED)
		put_text(p, "range", addr_class_name(e->addr_class));
	if (e->count > 0)
		put_number(p, "count", e->count);
}

static void
put_upload(struct printer *p, const struct event_upload *upload)
{
	if (!upload->counted)
		return;
	open_with(p, "upload", '{');
	put_number(p, "used", upload->used);
	if (upload->limit != 0)
		put_number(p, "limit", upload->limit);
	close_with(p, '}');
}

/* Why: of a denial, of a packet, or of a quarantine. */
static void
put_reason(struct printer *p, const struct event *e)
{
	if (e->denial != DENIAL_NONE)
		put_text(p, "reason", denial_name(e->denial));
	else if (e->reject != REJECT_NONE)
		put_text(p, "reason", event_reject_name(e->reject));
	else if (e->action == EVENT_SANDBOX_QUARANTINED)
		put_text(p, "reason",
		    e->has_cause ? event_action_name(e->cause) : "command");
}

/* What enforcement would have done. */
static void
put_would(struct printer *p, const struct event *e)
{
	if (e->would != WOULD_NOTHING_ELSE)
		put_text(p, "would", event_would_name(e->would));
	if (e->would_quarantine)
		put_bool(p, "would_quarantine", true);
	if (e->would_denial != DENIAL_NONE)
		put_text(p, "would_reason", denial_name(e->would_denial));
}

static void
put_namewall(struct printer *p, const struct event *e,
    const struct event_context *context)
{
	open_with(p, "namewall", '{');
	put_number(p, "schema", EVENT_SCHEMA);
	put_text_if(p, "sandbox", context->sandbox);
	if (prints(p, RANK_CORE)) {
		put_text_if(p, "policy", context->policy);
		if (context->audit)
			put_text(p, "mode", "audit");
		put_reason(p, e);
		put_would(p, e);
		if (e->action == EVENT_FLOW_ENDED)
			put_names(p, e);
		if (context->source_count > 0)
			put_addrs(p, "sources", context->sources,
			    context->source_count);
		if (context->counts != NULL)
			put_counts(p, e, context->counts);
		put_upload(p, &e->upload);
	}
	if (prints(p, RANK_DETAIL))
		put_details(p, e);
	if (prints(p, RANK_ORIGIN) && e->has_end)
		put_name(p, "canonical_name", &e->end);
	if (prints(p, RANK_CORE) && e->action == EVENT_TUNNEL_SUSPECTED)
		put_tunnel(p, &e->finding, context->model);
	if (prints(p, RANK_CORE) && is_budget_event(e))
		put_budget(p, &e->budget);
	close_with(p, '}');
}

/* A sentence of our own code; it ends at its NUL or with its field. */
static void
put_message(struct printer *p, const struct event *e)
{
	size_t len = 0;

	while (len < sizeof(e->text) && e->text[len] != '\0')
		len++;
	if (len == 0 || !prints(p, RANK_DETAIL))
		return;
	put_key(p, "message");
	json_put_string(&p->c, e->text, len);
}

static void
put_line(struct printer *p, const struct event *e,
    const struct event_context *context)
{
	open_with(p, NULL, '{');
	put_timestamp(p, context->wall_ms);
	put_message(p, e);
	put_event_object(p, e, context);
	if (context->user != NULL && prints(p, RANK_DETAIL)) {
		open_with(p, "user", '{');
		put_text(p, "id", context->user);
		close_with(p, '}');
	}
	put_ends(p, e);
	put_dns(p, e);
	put_rule(p, e);
	put_namewall(p, e, context);
	put_labels(p, context);
	put_host_and_observer(p, context);
	open_with(p, "ecs", '{');
	put_text(p, "version", ECS_VERSION);
	close_with(p, '}');
	close_with(p, '}');
	cursor_put_u8(&p->c, '\n');
}

size_t
event_print_json(char *buf, size_t size, const struct event *e,
    const struct event_context *context)
{
	for (unsigned rank = RANK_ALL + 1; rank > 0; rank--) {
		struct printer p = { .rank = rank - 1,
			.c = cursor_write_of((uint8_t *)buf, size) };

		put_line(&p, e, context);
		if (!p.c.error)
			return p.c.pos;
	}
	return 0;
}
