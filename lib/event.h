/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event - the audit record: a plain struct, and its JSON line.
 *
 * Fields of the Elastic Common Schema 8 where it has one, the rest under
 * "namewall."; nested objects; the schema is docs/events.md. Text from
 * packets is escaped here and only here: what is printed is always one line
 * of valid UTF-8 JSON, whatever the octets were. Severity grades the attempt,
 * never the outcome.
 */
#ifndef LIB_EVENT_H
#define LIB_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/addr.h"
#include "lib/answer.h"
#include "lib/budget.h"
#include "lib/dname.h"
#include "lib/tunnel.h"
#include "lib/verdict.h"

#define EVENT_LINE_MAX   8192
#define EVENT_TEXT_MAX   256
#define EVENT_SCHEMA     1
#define EVENT_LABELS_MAX 16
#define EVENT_NAMES_MAX  4

enum event_action {
	EVENT_DNS_ANSWERED,
	EVENT_DNS_DENIED,
	EVENT_DNS_FAILED,
	EVENT_TUNNEL_SUSPECTED,
	EVENT_REBINDING_BLOCKED,
	EVENT_BUDGET_NOTICE,
	EVENT_BUDGET_EXCEEDED,
	EVENT_SOURCE_SPOOFED,
	EVENT_DIRECT_IP_REJECTED,
	EVENT_FLOW_ENDED,
	EVENT_UPLOAD_NOTICE,
	EVENT_UPLOAD_EXCEEDED,
	EVENT_SANDBOX_ATTACHED,
	EVENT_SANDBOX_DETACHED,
	EVENT_SANDBOX_ASSIGNED,
	EVENT_SANDBOX_QUARANTINED,
	EVENT_SANDBOX_RELEASED,
	EVENT_RULE_WITHDRAWN,
	EVENT_PINS_LOST,
	EVENT_PINS_RESTORED,
	EVENT_CONFIG_LOADED,
	EVENT_CONFIG_REFUSED,
	EVENT_STARTED,
	EVENT_STOPPED,
	EVENT_HEARTBEAT,
	EVENT_ACTION_LAST = EVENT_HEARTBEAT
};

enum event_kind {
	EVENT_KIND_EVENT,
	EVENT_KIND_ALERT,
	EVENT_KIND_METRIC
};

/* Why a packet was rejected. */
enum event_reject {
	REJECT_NONE, /* the event is about no such packet */
	REJECT_UNRESOLVED, /* the sandbox did not resolve its destination */
	REJECT_OTHER_SERVICE, /* it did, but no rule names that service */
	REJECT_LAPSED, /* the pin is over */
	REJECT_NO_FLOW, /* pinned, but it begins no flow, or one too many */
	REJECT_UNSOUND, /* connection tracking can make nothing of it */
	REJECT_SPOOFED /* the source is not bound to the interface */
};

/* What enforcement would have done with what an audit let pass, or not. */
enum event_would {
	WOULD_NOTHING_ELSE, /* no audit: it is what was done */
	WOULD_ALLOW,
	WOULD_DENY,
	WOULD_FAIL
};

/* What passed in a flow, from the sandbox and to it. */
struct event_flow {
	bool counted; /* the host counts */
	uint64_t octets_from, packets_from, octets_to, packets_to;
	bool timed; /* the host keeps times: the event's duration holds */
};

/* What was spent, of what, when half or all of it is. */
struct event_budget {
	enum budget_level level; /* a rule's, the sandbox's, the policy's */
	struct budget_report report;
};

/* Octets that were sent in a day, and how many may be. */
struct event_upload {
	bool counted;
	uint64_t used, limit; /* limit 0: no bound */
};

struct event {
	enum event_action action;
	uint32_t sandbox; /* 0: none */
	struct addr source; /* family 0: none */
	uint16_t source_port;
	struct addr destination; /* of a packet or flow; family 0: none */
	uint16_t destination_port;
	uint8_t transport; /* IANA's number of a protocol, 0: none */
	uint32_t ifindex; /* by which it came, 0: unknown */
	bool has_question;
	struct dname name;
	uint16_t type;
	uint8_t apex_labels;
	enum denial denial; /* the reason; DENIAL_NONE: answered */
	uint8_t rcode; /* what the client got */
	uint32_t ttl_s; /* what the client was told */
	bool cached; /* answered without asking upstream */
	uint8_t addr_count; /* what the client got, or what was protected */
	struct addr addrs[ANSWER_ADDRS_MAX];
	bool has_end; /* a chain's end that is not the name */
	struct dname end;
	enum addr_class addr_class; /* rebinding-blocked: why */
	bool has_rule;
	enum rule_kind rule_kind;
	struct dname rule_name;
	struct tunnel_finding finding; /* tunnel-suspected */
	struct event_budget budget; /* budget-… */
	enum event_reject reject;
	bool passed; /* direct-ip-rejected: in an audit it was not rejected */
	enum event_would would;
	enum denial would_denial; /* WOULD_DENY, of a question: why */
	bool would_quarantine; /* an alert that cuts nobody off in an audit */
	struct event_flow flow; /* flow-ended */
	struct event_upload upload; /* upload-*; heartbeat: in sum */
	uint8_t name_count; /* flow-ended: of the names that opened it */
	struct dname names[EVENT_NAMES_MAX];
	uint32_t duration_ms; /* of the query or flow; pins-lost: how long
				 open; heartbeat: since when it counts */
	uint64_t count; /* of packets, elements or repeats */
	bool has_cause; /* sandbox-quarantined: by an alert, else by hand */
	enum event_action cause;
	bool has_user; /* who wanted it is known */
	uint32_t user; /* the caller's user id */
	char text[EVENT_TEXT_MAX]; /* one more sentence, from our own code */
};

struct event_label {
	char key[64], value[256];
};

/* What a heartbeat tells, each since the one before. */
struct event_counts {
	uint64_t actions[EVENT_ACTION_LAST + 1];
	bool has_packets; /* the parent has told the next two */
	uint64_t packets_refused; /* by the kernel, exact */
	bool is_audit; /* the next two count */
	uint64_t packets_audited; /* that it would have refused; exact */
	uint64_t would_deny; /* events of it that say so */
	uint64_t packets_spoofed; /* the same; of nobody's heartbeat only */
	uint64_t packets_unlogged; /* logged ones that we were too slow for */
	uint64_t events_dropped; /* by sinks */
};

/* What the shell knows and the core does not. Strings may be NULL. */
struct event_context {
	uint64_t wall_ms; /* since 1970 */
	uint64_t sequence;
	const char *host_name, *boot_id, *version;
	const char *model; /* which model of names rates them */
	const char *sandbox, *policy, *interface;
	bool audit; /* the policy's mode */
	const struct event_label *labels;
	size_t label_count;
	const struct event_counts *counts; /* of a heartbeat */
	const struct addr *sources; /* of a sandbox that comes or goes */
	size_t source_count;
	const char *user; /* the caller's id, a number */
};

enum event_kind event_kind_of(enum event_action);
const char *event_kind_name(enum event_kind); /* "event", "alert", "metric" */
const char *event_action_name(enum event_action); /* "dns-answered", … */
const char *event_reject_name(enum event_reject); /* "unresolved", … */
const char *event_would_name(enum event_would); /* "allow", "deny", … */
/* Whether heartbeats count it: what happens to sandboxes, not to us. */
bool event_is_counted(enum event_action);
/* 1 (companion questions of clients) … 8; docs/events.md has the table. */
uint8_t event_severity(const struct event *);
/* What the schema calls the area and the nature of an event: words. */
struct event_class {
	const char *category, *type;
};
struct event_class event_class_of(const struct event *);
/*
 * One JSON object and a newline, no NUL, into buf of EVENT_LINE_MAX octets;
 * returns the length. What does not fit is left out field by field, never
 * inside one, least important first.
 */
size_t event_print_json(char *buf, size_t size, const struct event *,
    const struct event_context *);
/* "A", "AAAA", "TYPE65280", … into buf of 16 octets. */
void event_type_name(uint16_t type, char *buf);

#endif
