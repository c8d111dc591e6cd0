/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control_command - the commands of the status socket, and the lines of
 * `status`, `pins` and `events`.
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/require.h"
#include "src/resolver/daemon.h"
#include "src/resolver/line.h"

/* ---- reading --------------------------------------------------------- */

void
control_fail(struct control_conn *conn, const char *code, const char *format,
    ...)
{
	va_list args;

	conn->verb = CONTROL_NOTHING;
	conn->error_code = code;
	va_start(args, format);
	(void)vsnprintf(conn->error_text, sizeof(conn->error_text), format,
	    args);
	va_end(args);
}

static bool
find_sandbox(struct control_conn *conn, const char *name)
{
	const struct policy *policy = conn->control->daemon->engine.policy;

	conn->sandbox = policy_sandbox_by_name(policy, name);
	if (conn->sandbox == 0)
		control_fail(conn, "unknown-sandbox", "no sandbox \"%s\"",
		    name);
	return conn->sandbox != 0;
}

/* An option and its value, which moves *index; false: refused. */
static bool
read_option(struct control_conn *conn, uint8_t *index)
{
	const char *word = conn->command.words[*index];
	bool events = conn->verb == CONTROL_EVENTS;

	if (strcmp(word, "--sandbox") == 0 && conn->verb != CONTROL_STATUS &&
	    *index + 1 < conn->command.word_count)
		return find_sandbox(conn, conn->command.words[++*index]);
	if (strcmp(word, "-f") == 0 && events)
		return conn->follow = true;
	if (strcmp(word, "--denied") == 0 && events)
		return conn->only_denied = true;
	if (strcmp(word, "--alerts") == 0 && events)
		return conn->only_alerts = true;
	if (strcmp(word, "--live") == 0 && conn->verb == CONTROL_PINS)
		control_fail(conn, "usage",
		    "--live is the command line's: it reads the kernel, "
		    "which this process may not");
	else
		control_fail(conn, "usage", "unknown option \"%s\"", word);
	return false;
}

/* An argument that is no option: the position says which. */
static bool
read_argument(struct control_conn *conn, const char *word, unsigned position)
{
	char reason[TEXT_ERROR_MAX];

	if ((conn->verb == CONTROL_PINS || conn->verb == CONTROL_BUDGET ||
		conn->verb == CONTROL_QUARANTINE ||
		conn->verb == CONTROL_RELEASE) &&
	    position == 0)
		return find_sandbox(conn, word);
	if (conn->verb == CONTROL_EXPLAIN && position == 0) {
		if (text_destination(word, &conn->to, &conn->to_port))
			return true;
		if (text_name_read(word, strlen(word), &conn->name, reason))
			return true;
		control_fail(conn, "bad-name", "%.200s", reason);
		return false;
	}
	if (conn->verb == CONTROL_EXPLAIN && position == 1 &&
	    conn->to.family == 0) {
		if (control_type_read(word, &conn->type))
			return true;
		control_fail(conn, "bad-type", "no record type \"%s\"", word);
		return false;
	}
	control_fail(conn, "usage", "what is \"%s\"?", word);
	return false;
}

static enum control_verb
verb_of(const char *word)
{
	if (strcmp(word, "status") == 0)
		return CONTROL_STATUS;
	if (strcmp(word, "pins") == 0)
		return CONTROL_PINS;
	if (strcmp(word, "budget") == 0)
		return CONTROL_BUDGET;
	if (strcmp(word, "explain") == 0)
		return CONTROL_EXPLAIN;
	if (strcmp(word, "events") == 0)
		return CONTROL_EVENTS;
	if (strcmp(word, "reload") == 0)
		return CONTROL_RELOAD;
	if (strcmp(word, "quarantine") == 0)
		return CONTROL_QUARANTINE;
	if (strcmp(word, "release") == 0)
		return CONTROL_RELEASE;
	if (strcmp(word, "attach") == 0)
		return CONTROL_ATTACH;
	if (strcmp(word, "detach") == 0)
		return CONTROL_DETACH;
	if (strcmp(word, "assign") == 0)
		return CONTROL_ASSIGN;
	if (strcmp(word, "revoke") == 0)
		return CONTROL_REVOKE;
	return CONTROL_NOTHING;
}

static void
refuse(struct control_conn *conn, const char *word)
{
	control_fail(conn, "unknown-command",
	    "no command \"%s\": status, pins, budget, explain, events, reload, "
	    "attach, detach, assign, revoke, quarantine, release",
	    word);
}

/* Whether a command that changes something may do so here and now. */
bool
control_may_change(struct control_conn *conn)
{
	struct daemon *d = conn->control->daemon;

	if (!conn->may_change)
		control_fail(conn, "not-here",
		    "this socket only answers; %s is asked at %.180s",
		    conn->command.words[0],
		    d->config->edge->settings.control_path);
	else if (d->settled_ms == 0)
		control_fail(conn, "starting", "the start is not over yet");
	else
		return true;
	return false;
}

bool
control_names_one(struct control_conn *conn, uint32_t number)
{
	const struct edge_config *edge = conn->control->daemon->config->edge;

	if (number == 0 || number > edge->sandbox_count ||
	    edge->sandboxes[number - 1].prefix_count == 0)
		return true;
	control_fail(conn, "refused",
	    "%s is many: each of its members is a sandbox, and \"status\" "
	    "has their names",
	    edge->sandboxes[number - 1].name);
	return false;
}

/* Behind this the engine has it; the answer waits for the kernel. */
static void
begin_quarantine(struct control_conn *conn)
{
	struct daemon *d = conn->control->daemon;

	d->bindings[conn->sandbox].order_status = 0;
	if (conn->verb == CONTROL_QUARANTINE) {
		engine_quarantine(&d->engine, conn->sandbox, false, d->now_ms);
	} else {
		withdrawn_release(d, conn->sandbox);
		engine_release(&d->engine, conn->sandbox, d->now_ms);
	}
	daemon_pump(d);
}

static void
begin_change(struct control_conn *conn)
{
	bool about_sandbox = conn->verb != CONTROL_RELOAD;

	if (!control_may_change(conn))
		return;
	if (about_sandbox && conn->sandbox == 0)
		control_fail(conn, "usage", "%s SANDBOX",
		    conn->command.words[0]);
	else if (about_sandbox && control_names_one(conn, conn->sandbox))
		begin_quarantine(conn);
	else if (!about_sandbox)
		helper_tell(&conn->control->daemon->helper, HELPER_ASK_RELOAD,
		    0, conn->serial);
}

void
control_begin(struct control_conn *conn)
{
	const struct command *command = &conn->command;
	unsigned position = 0;

	conn->verb = verb_of(command->words[0]);
	conn->type = DNS_TYPE_A;
	conn->hint = RECENT_NONE;
	if (conn->verb == CONTROL_NOTHING) {
		refuse(conn, command->words[0]);
		return;
	}
	if (control_changes(conn->verb)) {
		control_change_begin(conn);
		return;
	}
	for (uint8_t i = 1; i < command->word_count; i++) {
		bool ok = command->words[i][0] == '-'
		    ? read_option(conn, &i)
		    : read_argument(conn, command->words[i], position++);

		if (!ok)
			return;
	}
	if (conn->verb == CONTROL_EXPLAIN && position == 0)
		control_fail(conn, "usage",
		    "explain NAME [TYPE] "
		    "[--sandbox S]");
	if (conn->verb == CONTROL_RELOAD || conn->verb == CONTROL_QUARANTINE ||
	    conn->verb == CONTROL_RELEASE)
		begin_change(conn);
}

/* ---- status ---------------------------------------------------------- */

static void
put_counts(struct line *j, struct daemon *d)
{
	const struct engine_counts *n = &d->engine.counts;
	struct sink_counts lost = sinks_counts(&d->sinks);

	line_object(j, "counts");
	line_number(j, "questions", d->counts.questions);
	line_number(j, "spoofed", d->counts.spoofed);
	line_number(j, "answered", n->answered);
	line_number(j, "denied", n->denied);
	line_number(j, "failed", n->failed);
	line_number(j, "dropped", n->dropped);
	line_number(j, "overload", n->overload);
	line_number(j, "cache_hits", n->cache_hits);
	line_number(j, "lookups", n->lookups);
	line_number(j, "asks", n->asks);
	line_number(j, "asks_late", n->asks_late);
	line_number(j, "unpaid", n->unpaid);
	line_number(j, "budget_full", n->budget_full);
	line_number(j, "schedule_full", n->schedule_full);
	line_number(j, "foreign_answers", d->upstream.foreign);
	line_number(j, "stale_answers", n->stale_answers);
	line_number(j, "stale_acks", n->stale_acks);
	line_number(j, "pins_asked", n->pins_asked);
	line_number(j, "pins_refused", n->pins_refused);
	line_number(j, "pins_full", n->pins_full);
	line_number(j, "pins_lost", d->counts.pins_lost);
	line_number(j, "tcp_accepted", d->streams.accepted);
	line_number(j, "tcp_refused", d->streams.refused);
	line_number(j, "tunnel_suspected", n->tunnel_suspected);
	line_number(j, "rebinding_blocked", n->rebinding_blocked);
	line_number(j, "rejects", n->rejects);
	line_number(j, "audited", n->audited);
	line_number(j, "audited_packets", n->audited_packets);
	line_number(j, "spoofed_packets", n->spoofed_packets);
	line_number(j, "packets_unlogged", d->nflog.lost);
	line_number(j, "flows_ended", n->flows_ended);
	line_number(j, "flow_overruns", d->flowlog.overruns);
	line_object_end(j);
	line_object(j, "events");
	line_number(j, "last", d->sequence);
	line_number(j, "in_memory", d->recent.count);
	line_number(j, "dropped", lost.dropped_events);
	line_number(j, "alerts_dropped", lost.dropped_alerts);
	line_number(j, "write_errors", lost.errors);
	line_object_end(j);
}

static void
put_warnings(struct line *j, const struct daemon *d)
{
	static const struct {
		uint64_t bit;
		const char *word;
	} words[] = { { HELPER_FORWARDING4_OFF, "forwarding4-off" },
		{ HELPER_FORWARDING6_OFF, "forwarding6-off" },
		{ HELPER_FORWARD_DROPPED, "forward-dropped" },
		{ HELPER_FLOWTABLES, "flowtables" },
		{ HELPER_TRACKING_OFF, "tracking-off" } };

	line_array(j, "warnings");
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if ((d->advice & words[i].bit) != 0)
			line_text(j, NULL, words[i].word);
	line_array_end(j);
}

/* Where pins are in the kernel. */
static void
put_sets(struct line *j, const struct settings *settings)
{
	line_object(j, "sets");
	line_text(j, "table", settings->nft_table);
	line_text(j, "pins4",
	    settings->nft_sets ? settings->nft_pins4 : "pins4");
	line_text(j, "pins6",
	    settings->nft_sets ? settings->nft_pins6 : "pins6");
	line_object_end(j);
}

static void
put_daemon(struct line *j, struct daemon *d)
{
	const struct policy *policy = d->engine.policy;

	line_text(j, "kind", "daemon");
	line_text(j, "state", d->settled_ms != 0 ? "answering" : "starting");
	if (d->settled_ms == 0)
		line_null(j, "table");
	else if (d->config->edge->settings.nft_sets)
		line_text(j, "table", "sets");
	else
		line_text(j, "table",
		    (d->abilities & HELPER_TABLE_OWNED) != 0 ? "owned"
							     : "plain");
	put_sets(j, &d->config->edge->settings);
	line_bool(j, "accounting", flowlog_is_counting());
	put_warnings(j, d);
	line_number(j, "uptime_s", (d->now_ms - d->started_ms) / 1000);
	line_text(j, "file", d->config->edge->settings.file);
	line_number(j, "sandboxes", daemon_sandboxes(d));
	line_number(j, "policies", policy->profile_count);
	line_number(j, "rules", policy->rule_count);
	line_text(j, "public_suffixes", d->config->suffixes_date);
	line_number(j, "pins", pins_in_use(&d->engine.pins));
	line_number(j, "pins_max", d->config->edge->settings.limits.pins);
	line_number(j, "cache", cache_in_use(&d->engine.cache));
	line_number(j, "scheduled", schedule_count(&d->engine.schedule));
	line_number(j, "scheduled_known",
	    schedule_count_known(&d->engine.schedule, d->now_ms));
	line_number(j, "warm", warm_count(&d->engine.warm));
	line_number(j, "budgets", table_in_use(&d->engine.budget.keys));
	line_number(j, "budgets_max",
	    d->config->edge->settings.limits.budget_keys);
	line_number(j, "tcp_connections", pool_in_use(&d->streams.pool));
	line_number(j, "asks_in_flight", d->upstream.flights_used);
	line_number(j, "pins_in_flight", d->helper.in_flight);
	put_counts(j, d);
}

static void
put_server(struct line *j, const struct upstream_server *server,
    uint64_t now_ms)
{
	char text[ADDR_TEXT_MAX];

	(void)addr_print(&server->endpoint.addr, text);
	line_text(j, "kind", "upstream");
	line_text(j, "address", text);
	line_number(j, "port", server->endpoint.port);
	line_bool(j, "held_back", server->health.hold_until_ms > now_ms);
	line_number(j, "round_trip_ms", server->health.srtt_ms);
	line_number(j, "asked", server->asked);
	line_number(j, "answered", server->answered);
	line_number(j, "silent", server->silent);
	line_number(j, "broken", server->broken);
}

static void
put_receiver(struct line *j, const struct sink_counts *counts)
{
	line_text(j, "kind", "receiver");
	line_text(j, "target", counts->target);
	line_bool(j, "connected", counts->connected);
	line_number(j, "sent", counts->sent);
	line_number(j, "waiting_octets", counts->waiting);
	line_number(j, "dropped", counts->dropped_events);
	line_number(j, "alerts_dropped", counts->dropped_alerts);
	line_number(j, "write_errors", counts->errors);
}

static void
put_quarantine(struct line *j, const struct daemon *d, uint32_t number)
{
	const char *name = policy_sandbox(d->engine.policy, number)->name;
	const struct quarantine *q = quarantines_find(&d->quarantines, name);
	bool on = engine_is_quarantined(&d->engine, number);

	line_bool(j, "quarantined", on);
	if (!on || q == NULL)
		return;
	line_text(j, "quarantine_reason", q->reason);
	line_number(j, "quarantined_since", q->since_wall_s);
}

/* What it has sent today. */
static void
put_upload(struct line *j, const struct daemon *d, uint32_t sandbox)
{
	struct upload_use use;

	if (!uploads_sum(d, sandbox, &use))
		return;
	line_number(j, "upload_used", use.used);
	if (use.limit != 0)
		line_number(j, "upload_limit", use.limit);
}

/* Of one with `each`: where its members' addresses lie. */
static void
put_prefixes(struct line *j, const struct edge_config *edge, uint32_t number)
{
	const struct edge_sandbox *sandbox = &edge->sandboxes[number - 1];
	char text[PREFIX_TEXT_MAX];

	if (number > edge->sandbox_count || sandbox->prefix_count == 0)
		return;
	line_array(j, "each");
	for (uint8_t i = 0; i < sandbox->prefix_count; i++) {
		(void)prefix_print(&sandbox->prefixes[i], text);
		line_text(j, NULL, text);
	}
	line_array_end(j);
}

static void
put_sandbox(struct line *j, const struct daemon *d, uint32_t number)
{
	const struct policy *policy = d->engine.policy;
	const struct policy_sandbox *sandbox = policy_sandbox(policy, number);
	const struct binding *binding = &d->bindings[number];
	const struct edge_config *edge = d->config->edge;
	char text[ADDR_TEXT_MAX];

	line_text(j, "kind", "sandbox");
	line_text(j, "name", sandbox->name);
	line_text(j, "policy", policy->profiles[sandbox->profile].name);
	line_array(j, "sources");
	for (uint8_t i = 0; i < sandbox->source_count; i++) {
		(void)addr_print(&sandbox->sources[i], text);
		line_text(j, NULL, text);
	}
	line_array_end(j);
	put_prefixes(j, edge, number);
	line_bool(j, "attached",
	    number <= edge->sandbox_count &&
		edge->sandboxes[number - 1].attached);
	line_bool(j, "wants_interface",
	    number <= edge->sandbox_count &&
		edge->sandboxes[number - 1].interface[0] != '\0');
	line_bool(j, "bound", binding->ifindex != 0);
	if (binding->interface[0] != '\0')
		line_text(j, "interface", binding->interface);
	else
		line_null(j, "interface");
	line_number(j, "ifindex", binding->ifindex);
	line_text(j, "mode",
	    policy->profiles[sandbox->profile].audit ? "audit" : "enforce");
	put_quarantine(j, d, number);
	line_number(j, "pins", d->engine.pins.sandbox_pins[number]);
	line_number(j, "spoofed", binding->spoofed);
	line_number(j, "tcp_refused", binding->tcp_refused);
	put_upload(j, d, number);
}

/* The daemon, its upstreams, receivers of events, then the sandboxes. */
static enum control_more
next_status(struct control_conn *conn, struct line *j)
{
	struct daemon *d = conn->control->daemon;
	uint32_t index = conn->index++;
	struct sink_counts receiver;

	if (index == 0) {
		put_daemon(j, d);
		return CONTROL_LINE;
	}
	index--;
	if (index < d->upstream.server_count) {
		put_server(j, &d->upstream.servers[index], d->now_ms);
		return CONTROL_LINE;
	}
	index -= d->upstream.server_count;
	if (sinks_receiver(&d->sinks, (uint16_t)index, &receiver)) {
		put_receiver(j, &receiver);
		return CONTROL_LINE;
	}
	index -= d->sinks.receiver_count;
	if (index >= d->sandbox_count)
		return CONTROL_END;
	if (policy_sandbox(d->engine.policy, index + 1) == NULL)
		return CONTROL_SKIP;
	put_sandbox(j, d, index + 1);
	return CONTROL_LINE;
}

/* ---- events ---------------------------------------------------------- */

static bool
is_wanted(const struct control_conn *conn, const struct recent_tag *tag)
{
	if (conn->sandbox != 0 &&
	    (tag->sandbox != conn->sandbox || tag->parted))
		return false;
	if (conn->only_denied || conn->only_alerts)
		return (conn->only_denied && tag->denied) ||
		    (conn->only_alerts && tag->alert);
	return true;
}

static enum control_more
next_event(struct control_conn *conn, char *buf, size_t size, size_t *ret_len)
{
	const struct recent *recent = &conn->control->daemon->recent;
	uint32_t entry = recent_after(recent, conn->sequence, conn->hint);

	if (entry == RECENT_NONE)
		return conn->follow ? CONTROL_WAIT : CONTROL_END;
	conn->sequence = recent->entries[entry].tag.sequence;
	conn->hint = entry;
	if (!is_wanted(conn, &recent->entries[entry].tag))
		return CONTROL_SKIP;
	*ret_len = recent_line(recent, entry, buf, size);
	return CONTROL_LINE;
}

/* ---- reload ---------------------------------------------------------- */

static enum control_more
next_reload(struct control_conn *conn, struct line *j)
{
	struct daemon *d = conn->control->daemon;
	const struct policy *policy = d->engine.policy;

	if (conn->index > 0)
		return CONTROL_END;
	if (conn->reload == 0 || d->reload.ended < conn->reload)
		return CONTROL_WAIT;
	conn->index = 1;
	if (!d->reload.ok) {
		control_fail(conn, "refused", "%s", d->reload.reason);
		return CONTROL_END;
	}
	line_text(j, "kind", "reload");
	line_text(j, "file", d->config->edge->settings.file);
	line_number(j, "sandboxes", daemon_sandboxes(d));
	line_number(j, "policies", policy->profile_count);
	line_number(j, "rules", policy->rule_count);
	return CONTROL_LINE;
}

/* ---- quarantine, release --------------------------------------------- */

static enum control_more
next_quarantine(struct control_conn *conn, struct line *j)
{
	struct daemon *d = conn->control->daemon;
	const struct binding *binding = &d->bindings[conn->sandbox];
	const struct policy_sandbox *of =
	    policy_sandbox(d->engine.policy, conn->sandbox);

	if (conn->index > 0)
		return CONTROL_END;
	if (binding->orders > 0)
		return CONTROL_WAIT;
	conn->index = 1;
	if (of == NULL) {
		control_fail(conn, "gone", "the sandbox has gone meanwhile");
		return CONTROL_END;
	}
	if (binding->order_status != 0) {
		control_fail(conn, "kernel",
		    "the kernel's table could not be changed: %s",
		    strerror(-binding->order_status));
		return CONTROL_END;
	}
	line_text(j, "kind", "quarantine");
	line_text(j, "sandbox", of->name);
	put_quarantine(j, d, conn->sandbox);
	return CONTROL_LINE;
}

enum control_more
control_next(struct control_conn *conn, char *buf, size_t size, size_t *ret_len)
{
	enum control_more more = CONTROL_END;
	struct line j;

	line_start(&j, buf, size);
	switch (conn->verb) {
	case CONTROL_NOTHING:
		return CONTROL_END;
	case CONTROL_STATUS:
		more = next_status(conn, &j);
		break;
	case CONTROL_PINS:
		more = control_pins_next(conn, &j);
		break;
	case CONTROL_BUDGET:
		more = control_budget_next(conn, &j);
		break;
	case CONTROL_EXPLAIN:
		if (conn->to.family != 0) {
			more = control_destination_next(conn, &j);
			break;
		}
		return control_explain_next(conn, buf, size, ret_len);
	case CONTROL_EVENTS:
		return next_event(conn, buf, size, ret_len);
	case CONTROL_RELOAD:
		more = next_reload(conn, &j);
		break;
	case CONTROL_QUARANTINE:
	case CONTROL_RELEASE:
		more = next_quarantine(conn, &j);
		break;
	case CONTROL_ATTACH:
	case CONTROL_DETACH:
	case CONTROL_ASSIGN:
	case CONTROL_REVOKE:
		return control_change_next(conn, buf, size, ret_len);
	}
	if (more == CONTROL_LINE)
		*ret_len = line_finish(&j);
	return more;
}
