/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control_pins - the lines of `pins`, and of `explain` for a destination: the
 * elements of the ledger, and why a destination is open or is not.
 */
#include "config.h"

#include "lib/require.h"
#include "src/resolver/daemon.h"
#include "src/resolver/line.h"

static uint64_t
seconds_left(uint64_t until_ms, uint64_t now_ms)
{
	return until_ms > now_ms ? (until_ms - now_ms) / 1000 : 0;
}

static const char *
state_word(enum pin_state state)
{
	switch (state) {
	case PIN_ASKED:
		return "asked";
	case PIN_HELD:
		return "held";
	case PIN_LAPSED:
		return "lapsed";
	}
	UNREACHABLE();
}

/* Where the rule stands that allows a name now, if one does. */
static void
put_place(struct line *j, const struct policy *policy,
    const struct pin_element *element, const struct dname *name)
{
	struct verdict verdict = engine_explain(policy, element->sandbox, name,
	    element->addr.family == 6 ? DNS_TYPE_AAAA : DNS_TYPE_A);
	struct policy_rule rule;

	if (verdict.rule == RULE_NONE)
		return;
	policy_rule_at(policy, verdict.rule, &rule);
	line_text(j, "file", policy->files[rule.file]);
	line_number(j, "line", rule.line);
}

static void
put_upload(struct line *j, const struct daemon *d, uint32_t sandbox,
    const struct dname *name)
{
	struct upload_use use;

	if (!uploads_of_name(d, sandbox, name, &use))
		return;
	line_number(j, "upload_used", use.used);
	line_number(j, "upload_limit", use.limit);
}

/* places: with where their rules stand. */
static void
put_holders(struct line *j, const struct daemon *d,
    const struct pin_record *pin, bool places)
{
	char text[DNAME_TEXT_MAX];

	line_array(j, "names");
	for (uint8_t i = 0; i < pin->holder_count; i++) {
		line_object(j, NULL);
		(void)dname_print(&pin->holders[i].name, text);
		line_text(j, "name", text);
		(void)policy_rule_print(pin->holders[i].kind,
		    &pin->holders[i].rule_name, text);
		line_text(j, "rule", text);
		line_number(j, "seconds_left",
		    seconds_left(pin->holders[i].until_ms, d->now_ms));
		put_upload(j, d, pin->element.sandbox, &pin->holders[i].name);
		if (places)
			put_place(j, d->engine.policy, &pin->element,
			    &pin->holders[i].name);
		line_object_end(j);
	}
	line_array_end(j);
}

static void
put_pin(struct line *j, const struct daemon *d, const struct pin_record *pin,
    bool places)
{
	char text[ADDR_TEXT_MAX];

	(void)addr_print(&pin->element.addr, text);
	line_text(j, "kind", "pin");
	line_text(j, "sandbox",
	    policy_sandbox(d->engine.policy, pin->element.sandbox)->name);
	line_text(j, "address", text);
	line_text(j, "protocol",
	    pin->element.service.protocol == PROTO_UDP ? "udp" : "tcp");
	line_number(j, "port", pin->element.service.port);
	line_text(j, "state", state_word(pin->state));
	line_number(j, "seconds_left", seconds_left(pin->until_ms, d->now_ms));
	put_holders(j, d, pin, places);
}

/* The element of the next slot, into d->record; false: none that is asked
 * for. */
static bool
take_next(struct control_conn *conn)
{
	struct daemon *d = conn->control->daemon;
	struct pin_record *pin = &d->record;

	return pins_record(&d->engine.pins, conn->index++, pin) &&
	    (conn->sandbox == 0 || pin->element.sandbox == conn->sandbox) &&
	    policy_sandbox(d->engine.policy, pin->element.sandbox) != NULL;
}

enum control_more
control_pins_next(struct control_conn *conn, struct line *j)
{
	struct daemon *d = conn->control->daemon;

	if (conn->index >= d->config->edge->settings.limits.pins)
		return CONTROL_END;
	if (!take_next(conn))
		return CONTROL_SKIP;
	put_pin(j, d, &d->record, false);
	return CONTROL_LINE;
}

/* ---- why a destination is open ------------------------------------------ */

static bool
leads_there(const struct control_conn *conn, const struct pin_element *element)
{
	return addr_equal(&element->addr, &conn->to) &&
	    (conn->to_port == 0 || element->service.port == conn->to_port);
}

/* The listener of all, or of the sandbox that is asked about. */
static bool
is_listener(const struct control_conn *conn, const struct edge_config *edge)
{
	const struct settings *s = &edge->settings;

	for (size_t i = 0; i < s->listen_count; i++)
		if (addr_equal(&s->listen[i].addr, &conn->to) &&
		    (conn->to_port == 0 || s->listen[i].port == conn->to_port))
			return edge->listen_of[i] == 0 || conn->sandbox == 0 ||
			    edge->listen_of[i] == conn->sandbox;
	return false;
}

static const char *
reason_of(const struct control_conn *conn, bool *ret_open)
{
	const struct daemon *d = conn->control->daemon;
	bool listener = is_listener(conn, d->config->edge);
	enum addr_class class = addr_protected(&conn->to,
	    &d->engine.policy->protected_ranges, NULL, 0);

	*ret_open = false;
	if (!listener && conn->sandbox != 0 &&
	    engine_is_quarantined(&d->engine, conn->sandbox))
		return "quarantined";
	*ret_open = listener || conn->to_held;
	if (*ret_open)
		return listener ? "listener" : "pinned";
	if (conn->to_lapsed)
		return "lapsed";
	return class != ADDR_GLOBAL ? addr_class_name(class) : "unresolved";
}

static void
put_destination(struct line *j, const struct control_conn *conn)
{
	char text[ADDR_TEXT_MAX];
	bool open = false;
	const char *reason = reason_of(conn, &open);

	(void)addr_print(&conn->to, text);
	line_text(j, "kind", "destination");
	line_text(j, "address", text);
	if (conn->to_port != 0)
		line_number(j, "port", conn->to_port);
	else
		line_null(j, "port");
	line_bool(j, "open", open);
	line_text(j, "reason", reason);
}

/* A line for each element that leads there, then the answer. */
enum control_more
control_destination_next(struct control_conn *conn, struct line *j)
{
	struct daemon *d = conn->control->daemon;
	uint32_t pins_max = d->config->edge->settings.limits.pins;

	if (conn->index > pins_max)
		return CONTROL_END;
	if (conn->index == pins_max) {
		conn->index++;
		put_destination(j, conn);
		return CONTROL_LINE;
	}
	if (!take_next(conn) || !leads_there(conn, &d->record.element))
		return CONTROL_SKIP;
	if (d->record.state == PIN_LAPSED)
		conn->to_lapsed = true;
	else
		conn->to_held = true;
	put_pin(j, d, &d->record, true);
	return CONTROL_LINE;
}
