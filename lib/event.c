/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an event is called and how it is graded. How it is written down is in
 * event_json.c.
 */
#include "lib/event.h"
#include "lib/cursor.h"
#include "lib/dns.h"

#include <string.h>

#include "lib/require.h"

#define TYPE_NAME_SIZE 16

enum event_kind
event_kind_of(enum event_action action)
{
	switch (action) {
	case EVENT_DNS_ANSWERED:
	case EVENT_DNS_DENIED:
	case EVENT_DNS_FAILED:
	case EVENT_FLOW_ENDED:
	case EVENT_SANDBOX_ATTACHED:
	case EVENT_SANDBOX_DETACHED:
	case EVENT_SANDBOX_QUARANTINED:
	case EVENT_SANDBOX_RELEASED:
	case EVENT_SANDBOX_ASSIGNED:
	case EVENT_RULE_WITHDRAWN:
	case EVENT_CONFIG_LOADED:
	case EVENT_CONFIG_REFUSED:
	case EVENT_STARTED:
	case EVENT_STOPPED:
		return EVENT_KIND_EVENT;
	case EVENT_HEARTBEAT:
		return EVENT_KIND_METRIC;
	case EVENT_TUNNEL_SUSPECTED:
	case EVENT_REBINDING_BLOCKED:
	case EVENT_BUDGET_NOTICE:
	case EVENT_BUDGET_EXCEEDED:
	case EVENT_SOURCE_SPOOFED:
	case EVENT_DIRECT_IP_REJECTED:
	case EVENT_UPLOAD_NOTICE:
	case EVENT_UPLOAD_EXCEEDED:
	case EVENT_PINS_LOST:
	case EVENT_PINS_RESTORED:
		return EVENT_KIND_ALERT;
	}
	UNREACHABLE();
}

const char *
event_kind_name(enum event_kind kind)
{
	switch (kind) {
	case EVENT_KIND_EVENT:
		return "event";
	case EVENT_KIND_ALERT:
		return "alert";
	case EVENT_KIND_METRIC:
		return "metric";
	}
	UNREACHABLE();
}

const char *
event_action_name(enum event_action action)
{
	switch (action) {
	case EVENT_DNS_ANSWERED:
		return "dns-answered";
	case EVENT_DNS_DENIED:
		return "dns-denied";
	case EVENT_DNS_FAILED:
		return "dns-failed";
	case EVENT_TUNNEL_SUSPECTED:
		return "tunnel-suspected";
	case EVENT_REBINDING_BLOCKED:
		return "rebinding-blocked";
	case EVENT_BUDGET_NOTICE:
		return "budget-notice";
	case EVENT_BUDGET_EXCEEDED:
		return "budget-exceeded";
	case EVENT_SOURCE_SPOOFED:
		return "source-spoofed";
	case EVENT_DIRECT_IP_REJECTED:
		return "direct-ip-rejected";
	case EVENT_FLOW_ENDED:
		return "flow-ended";
	case EVENT_UPLOAD_NOTICE:
		return "upload-notice";
	case EVENT_UPLOAD_EXCEEDED:
		return "upload-exceeded";
	case EVENT_SANDBOX_ATTACHED:
		return "sandbox-attached";
	case EVENT_SANDBOX_DETACHED:
		return "sandbox-detached";
	case EVENT_SANDBOX_QUARANTINED:
		return "sandbox-quarantined";
	case EVENT_SANDBOX_RELEASED:
		return "sandbox-released";
	case EVENT_SANDBOX_ASSIGNED:
		return "sandbox-assigned";
	case EVENT_RULE_WITHDRAWN:
		return "rule-withdrawn";
	case EVENT_PINS_LOST:
		return "pins-lost";
	case EVENT_PINS_RESTORED:
		return "pins-restored";
	case EVENT_CONFIG_LOADED:
		return "config-loaded";
	case EVENT_CONFIG_REFUSED:
		return "config-refused";
	case EVENT_STARTED:
		return "started";
	case EVENT_STOPPED:
		return "stopped";
	case EVENT_HEARTBEAT:
		return "heartbeat";
	}
	UNREACHABLE();
}

const char *
event_reject_name(enum event_reject reject)
{
	switch (reject) {
	case REJECT_NONE:
		return "none";
	case REJECT_UNRESOLVED:
		return "unresolved";
	case REJECT_OTHER_SERVICE:
		return "other-service";
	case REJECT_LAPSED:
		return "lapsed";
	case REJECT_NO_FLOW:
		return "no-flow";
	case REJECT_UNSOUND:
		return "unsound";
	case REJECT_SPOOFED:
		return "spoofed";
	}
	UNREACHABLE();
}

const char *
event_would_name(enum event_would would)
{
	switch (would) {
	case WOULD_NOTHING_ELSE:
		return "nothing-else";
	case WOULD_ALLOW:
		return "allow";
	case WOULD_DENY:
		return "deny";
	case WOULD_FAIL:
		return "fail";
	}
	UNREACHABLE();
}

bool
event_is_counted(enum event_action action)
{
	return action != EVENT_CONFIG_LOADED &&
	    action != EVENT_CONFIG_REFUSED && action != EVENT_STARTED &&
	    action != EVENT_STOPPED && action != EVENT_HEARTBEAT;
}

/* Lower-case text against one label. */
static bool
label_is(const struct dname *name, uint8_t index, const char *text)
{
	uint8_t len;
	const uint8_t *label = dname_label(name, index, &len);

	for (uint8_t i = 0; i < len; i++)
		if (text[i] == '\0' || label[i] != (uint8_t)text[i])
			return false;
	return text[len] == '\0';
}

static bool
label_is_tagged(const struct dname *name, uint8_t index)
{
	uint8_t len;
	const uint8_t *label = dname_label(name, index, &len);

	return len > 0 && label[0] == '_';
}

/*
 * What a resolver makes of a name and its search list, as far as a name
 * alone can tell: a single label, or an end that no registry delegates. No
 * other end is taken for one, or whoever owns it could grade himself down.
 */
static bool
looks_expanded(const struct dname *name)
{
	static const char *const ends[] = { "corp", "home", "internal",
		"intranet", "invalid", "lan", "local", "localdomain",
		"localhost", "private" };

	if (name->labels <= 1)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (label_is(name, name->labels - 1, ends[i]))
			return true;
	return false;
}

static bool
is_reverse(const struct dname *name)
{
	return name->labels >= 2 && label_is(name, name->labels - 1, "arpa") &&
	    (label_is(name, name->labels - 2, "in-addr") ||
		label_is(name, name->labels - 2, "ip6"));
}

/* What clients ask of their own accord beside a lookup. */
static bool
is_companion(const struct event *e)
{
	const struct dname *name = &e->name;

	switch (e->type) {
	case DNS_TYPE_HTTPS:
	case DNS_TYPE_SVCB:
		return true;
	case DNS_TYPE_SRV:
		return name->labels > 2 && label_is_tagged(name, 0) &&
		    label_is_tagged(name, 1);
	case DNS_TYPE_PTR:
		return is_reverse(name);
	case DNS_TYPE_A:
	case DNS_TYPE_AAAA:
		return looks_expanded(name);
	default:
		return false;
	}
}

/* A type that no host asks for. */
static bool
is_odd_type(uint16_t type)
{
	return type == DNS_TYPE_NULL || type == DNS_TYPE_KEY ||
	    type == DNS_TYPE_ANY ||
	    (type >= DNS_TYPE_PRIVATE_FIRST && type <= DNS_TYPE_PRIVATE_LAST);
}

static uint8_t
severity_of_unlisted(const struct event *e)
{
	if (e->type == DNS_TYPE_A || e->type == DNS_TYPE_AAAA)
		return 3;
	return 4;
}

/* How grave it was to ask this, whatever became of it. */
static uint8_t
severity_of_question(const struct event *e)
{
	if (e->has_question && is_odd_type(e->type))
		return 5;
	/* An audit makes an attempt no better. */
	switch (e->would_denial != DENIAL_NONE ? e->would_denial : e->denial) {
	case DENIAL_TRANSFER:
	case DENIAL_UNKNOWN_SOURCE:
		return 5;
	case DENIAL_DENY_RULE:
	case DENIAL_WITHDRAWN:
		return is_companion(e) ? 1 : 5;
	case DENIAL_DROP:
	case DENIAL_MALFORMED:
	case DENIAL_BAD_VERSION:
	case DENIAL_OPCODE:
	case DENIAL_CLASS:
		return 4;
	case DENIAL_UNLISTED:
	case DENIAL_PARENT:
	case DENIAL_TYPE:
	case DENIAL_SPECIAL:
	case DENIAL_SPECIAL_NODATA:
	case DENIAL_PTR:
		return is_companion(e) ? 1 : severity_of_unlisted(e);
	case DENIAL_NONE:
	case DENIAL_OVERLOAD:
	case DENIAL_FAMILY:
	case DENIAL_PROTECTED:
	case DENIAL_UNPINNED:
	case DENIAL_UNPINNED_OTHER:
	case DENIAL_UPSTREAM_SILENT:
	case DENIAL_UPSTREAM_BROKEN:
	case DENIAL_UPSTREAM_OTHER:
	case DENIAL_NO_NAME:
	case DENIAL_NO_NAME_PARENT:
	case DENIAL_NO_DATA:
	case DENIAL_QUARANTINED:
	case DENIAL_BUDGET:
		return is_companion(e) ? 1 : 2;
	}
	UNREACHABLE();
}

/* An address that nobody gave it is a way around; of one that a name did
 * give, programs hold on to longer than they should. */
static uint8_t
severity_of_packet(const struct event *e)
{
	switch (e->reject) {
	case REJECT_SPOOFED:
		return 6;
	case REJECT_NONE:
	case REJECT_UNRESOLVED:
		return 5;
	case REJECT_OTHER_SERVICE:
		return 4;
	case REJECT_LAPSED:
	case REJECT_NO_FLOW:
	case REJECT_UNSOUND:
		return 3;
	}
	UNREACHABLE();
}

uint8_t
event_severity(const struct event *e)
{
	switch (e->action) {
	case EVENT_DNS_ANSWERED:
	case EVENT_DNS_DENIED:
	case EVENT_DNS_FAILED:
		return severity_of_question(e);
	case EVENT_DIRECT_IP_REJECTED:
		return severity_of_packet(e);
	case EVENT_HEARTBEAT:
		return 1;
	case EVENT_FLOW_ENDED:
	case EVENT_SANDBOX_ATTACHED:
	case EVENT_SANDBOX_DETACHED:
	case EVENT_SANDBOX_ASSIGNED:
	case EVENT_RULE_WITHDRAWN:
	case EVENT_CONFIG_LOADED:
	case EVENT_STARTED:
	case EVENT_STOPPED:
		return 2;
	case EVENT_CONFIG_REFUSED:
	case EVENT_PINS_RESTORED:
	case EVENT_SANDBOX_RELEASED:
	case EVENT_UPLOAD_NOTICE:
		return 4;
	case EVENT_BUDGET_NOTICE:
		return 5;
	case EVENT_BUDGET_EXCEEDED:
		return 7;
	case EVENT_SOURCE_SPOOFED:
	case EVENT_SANDBOX_QUARANTINED:
	case EVENT_UPLOAD_EXCEEDED:
		return 6;
	case EVENT_REBINDING_BLOCKED:
		return e->addr_class == ADDR_METADATA ? 7 : 6;
	case EVENT_TUNNEL_SUSPECTED:
		return e->finding.signs & TUNNEL_ODD_TYPE ? 8 : 7;
	case EVENT_PINS_LOST:
		return 8;
	}
	UNREACHABLE();
}

struct event_class
event_class_of(const struct event *e)
{
	switch (e->action) {
	case EVENT_DNS_ANSWERED:
		return (struct event_class){ "network", "protocol allowed" };
	case EVENT_DNS_DENIED:
		return (struct event_class){ "network", "protocol denied" };
	case EVENT_DNS_FAILED:
		return (struct event_class){ "network", "protocol info" };
	case EVENT_TUNNEL_SUSPECTED:
		return (struct event_class){ "intrusion_detection network",
			"info" };
	case EVENT_DIRECT_IP_REJECTED:
		return (struct event_class){ "intrusion_detection network",
			e->passed ? "allowed" : "denied" };
	case EVENT_BUDGET_NOTICE:
	case EVENT_UPLOAD_NOTICE:
		return (struct event_class){ "intrusion_detection network",
			"info" };
	case EVENT_BUDGET_EXCEEDED:
	case EVENT_UPLOAD_EXCEEDED:
	case EVENT_REBINDING_BLOCKED:
	case EVENT_SOURCE_SPOOFED:
		return (struct event_class){ "intrusion_detection network",
			"denied" };
	case EVENT_FLOW_ENDED:
		return (struct event_class){ "network", "connection end" };
	case EVENT_SANDBOX_ATTACHED:
		return (struct event_class){ "configuration", "creation" };
	case EVENT_SANDBOX_DETACHED:
		return (struct event_class){ "configuration", "deletion" };
	case EVENT_SANDBOX_QUARANTINED:
	case EVENT_SANDBOX_RELEASED:
	case EVENT_SANDBOX_ASSIGNED:
	case EVENT_RULE_WITHDRAWN:
	case EVENT_PINS_LOST:
	case EVENT_PINS_RESTORED:
	case EVENT_CONFIG_LOADED:
		return (struct event_class){ "configuration", "change" };
	case EVENT_CONFIG_REFUSED:
		return (struct event_class){ "configuration", "info" };
	case EVENT_STARTED:
		return (struct event_class){ "process", "start" };
	case EVENT_STOPPED:
		return (struct event_class){ "process", "end" };
	case EVENT_HEARTBEAT:
		return (struct event_class){ "network", "info" };
	}
	UNREACHABLE();
}

/* The IANA mnemonic of a type, or NULL. */
static const char *
type_mnemonic(uint16_t type)
{
	static const struct {
		uint16_t type;
		const char *name;
	} known[] = {
		{ 1, "A" },
		{ 2, "NS" },
		{ 5, "CNAME" },
		{ 6, "SOA" },
		{ 10, "NULL" },
		{ 12, "PTR" },
		{ 13, "HINFO" },
		{ 15, "MX" },
		{ 16, "TXT" },
		{ 17, "RP" },
		{ 18, "AFSDB" },
		{ 24, "SIG" },
		{ 25, "KEY" },
		{ 28, "AAAA" },
		{ 29, "LOC" },
		{ 33, "SRV" },
		{ 35, "NAPTR" },
		{ 37, "CERT" },
		{ 39, "DNAME" },
		{ 41, "OPT" },
		{ 43, "DS" },
		{ 44, "SSHFP" },
		{ 46, "RRSIG" },
		{ 47, "NSEC" },
		{ 48, "DNSKEY" },
		{ 50, "NSEC3" },
		{ 51, "NSEC3PARAM" },
		{ 52, "TLSA" },
		{ 53, "SMIMEA" },
		{ 59, "CDS" },
		{ 60, "CDNSKEY" },
		{ 61, "OPENPGPKEY" },
		{ 64, "SVCB" },
		{ 65, "HTTPS" },
		{ 99, "SPF" },
		{ 249, "TKEY" },
		{ 250, "TSIG" },
		{ 251, "IXFR" },
		{ 252, "AXFR" },
		{ 255, "ANY" },
		{ 256, "URI" },
		{ 257, "CAA" },
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (known[i].type == type)
			return known[i].name;
	return NULL;
}

void
event_type_name(uint16_t type, char *buf)
{
	struct cursor c = cursor_write_of((uint8_t *)buf, TYPE_NAME_SIZE);
	const char *name = type_mnemonic(type);

	if (name != NULL) {
		cursor_put_text(&c, name);
	} else {
		cursor_put_text(&c, "TYPE");
		cursor_put_decimal(&c, type);
	}
	cursor_put_u8(&c, '\0');
	REQUIRE(!c.error);
}
