/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control_explain - what a question would get and why, by the evaluator that
 * judges questions; and which line of the configuration would change it.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "lib/require.h"
#include "src/resolver/daemon.h"
#include "src/resolver/line.h"

/* A type by its mnemonic, or TYPE123 (RFC 3597). */
bool
control_type_read(const char *text, uint16_t *ret)
{
	static const uint16_t known[] = { DNS_TYPE_A, DNS_TYPE_NS,
		DNS_TYPE_CNAME, DNS_TYPE_SOA, DNS_TYPE_NULL, DNS_TYPE_PTR,
		DNS_TYPE_MX, DNS_TYPE_TXT, DNS_TYPE_KEY, DNS_TYPE_AAAA,
		DNS_TYPE_SRV, DNS_TYPE_SVCB, DNS_TYPE_HTTPS, DNS_TYPE_ANY,
		DNS_TYPE_CAA };
	uint64_t number;
	char name[16];

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		event_type_name(known[i], name);
		if (strcasecmp(name, text) == 0) {
			*ret = known[i];
			return true;
		}
	}
	if (strncasecmp(text, "TYPE", 4) != 0 ||
	    !text_number(text + 4, 0, UINT16_MAX, &number))
		return false;
	*ret = (uint16_t)number;
	return true;
}

static void
put_rule(struct line *j, const char *key, const struct policy *policy,
    uint32_t index)
{
	struct policy_rule rule;
	char text[DNAME_TEXT_MAX];

	if (index == RULE_NONE) {
		line_null(j, key);
		return;
	}
	policy_rule_at(policy, index, &rule);
	(void)policy_rule_print(rule.kind, &rule.name, text);
	line_object(j, key);
	line_text(j, "rule", text);
	line_bool(j, "deny", rule.deny);
	if (!rule.deny && policy->terms[rule.terms].expired)
		line_bool(j, "over", true);
	line_text(j, "file", policy->files[rule.file]);
	line_number(j, "line", rule.line);
	line_number(j, "column", rule.column);
	line_object_end(j);
}

static void
put_services(struct line *j, const struct verdict *verdict)
{
	char text[16];

	line_array(j, "ports");
	for (uint8_t i = 0; i < verdict->service_count; i++) {
		const struct service *service = &verdict->services[i];

		(void)snprintf(text, sizeof(text), "%s/%u",
		    service->protocol == PROTO_UDP ? "udp" : "tcp",
		    (unsigned)service->port);
		line_text(j, NULL, text);
	}
	line_array_end(j);
}

/* Why a question is denied, or would be under enforcement. */
static enum denial
why_not(const struct verdict *verdict)
{
	return verdict->would != DENIAL_NONE ? verdict->would : verdict->denial;
}

/* The entry of `allow:` that would let the question through; false: no entry
 * would, or none is needed. */
static bool
suggest(const struct control_conn *conn, const struct verdict *verdict,
    char *buf, size_t size)
{
	char name[DNAME_TEXT_MAX], type[16];

	(void)dname_print(&conn->name, name);
	event_type_name(conn->type, type);
	switch (why_not(verdict)) {
	case DENIAL_UNLISTED:
	case DENIAL_PARENT:
		(void)snprintf(buf, size, "- %s", name);
		return conn->name.labels > 1;
	case DENIAL_TYPE:
		(void)snprintf(buf, size, "- {name: %s, types: [A, AAAA, %s]}",
		    name, type);
		return conn->type == DNS_TYPE_TXT ||
		    conn->type == DNS_TYPE_MX || conn->type == DNS_TYPE_SRV ||
		    conn->type == DNS_TYPE_CAA;
	case DENIAL_NONE:
	case DENIAL_DROP:
	case DENIAL_MALFORMED:
	case DENIAL_BAD_VERSION:
	case DENIAL_OPCODE:
	case DENIAL_CLASS:
	case DENIAL_TRANSFER:
	case DENIAL_UNKNOWN_SOURCE:
	case DENIAL_OVERLOAD:
	case DENIAL_DENY_RULE:
	case DENIAL_WITHDRAWN:
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
	case DENIAL_SPECIAL:
	case DENIAL_SPECIAL_NODATA:
	case DENIAL_PTR:
	case DENIAL_QUARANTINED:
	case DENIAL_BUDGET:
		return false;
	}
	UNREACHABLE();
}

static uint64_t
whole_bits(uint64_t amount)
{
	return (amount + BUDGET_BIT - 1) / BUDGET_BIT;
}

/* What it would cost now, or why nothing. */
static void
put_cost(struct line *j, enum engine_cost cost,
    const struct engine_quote *quote)
{
	static const char *const words[] = { [COST_PRICE] = NULL,
		[COST_DENIED] = "denied",
		[COST_LOCAL] = "local",
		[COST_SCHEDULED] = "scheduled",
		[COST_CACHED] = "cached",
		[COST_AUDIT] = "audit" };
	const uint32_t *part = quote->price.part;

	if (cost != COST_PRICE) {
		line_null(j, "cost");
		line_text(j, "free", words[cost]);
		return;
	}
	line_object(j, "cost");
	line_number(j, "bits", whole_bits(budget_total(&quote->price)));
	line_number(j, "time_bits", whole_bits(part[METER_TIME]));
	line_number(j, "type_bits", whole_bits(part[METER_TYPE]));
	line_number(j, "name_bits", whole_bits(part[METER_NAME]));
	line_number(j, "left_bits", quote->left / BUDGET_BIT);
	line_object_end(j);
}

static void
put_verdict(struct line *j, const struct control_conn *conn, uint32_t sandbox)
{
	const struct daemon *d = conn->control->daemon;
	const struct engine *e = &d->engine;
	const struct policy *policy = e->policy;
	const struct policy_sandbox *of = policy_sandbox(policy, sandbox);
	struct verdict verdict =
	    engine_explain(policy, sandbox, &conn->name, conn->type);
	struct engine_quote quote = { .left = 0 };
	enum engine_cost cost = engine_price(e, sandbox, &conn->name,
	    conn->type, d->now_ms, &quote);
	bool allowed;
	char text[DNAME_TEXT_MAX + 64];

	if (engine_is_quarantined(e, sandbox))
		verdict.denial = DENIAL_QUARANTINED;
	else if (cost == COST_PRICE && !policy->profiles[of->profile].audit &&
	    budget_total(&quote.price) > quote.left)
		verdict.denial = DENIAL_BUDGET;
	allowed = verdict.denial == DENIAL_NONE;
	line_text(j, "kind", "verdict");
	(void)dname_print(&conn->name, text);
	line_text(j, "name", text);
	event_type_name(conn->type, text);
	line_text(j, "type", text);
	line_text(j, "sandbox", of->name);
	line_text(j, "policy", policy->profiles[of->profile].name);
	line_text(j, "verdict", allowed ? "allow" : "deny");
	line_text(j, "reason",
	    why_not(&verdict) == DENIAL_NONE ? "listed"
					     : denial_name(why_not(&verdict)));
	line_text(j, "mode", verdict.audit ? "audit" : "enforce");
	put_rule(j, "by", policy, verdict.rule);
	put_services(j, &verdict);
	put_cost(j, cost, &quote);
	if (why_not(&verdict) == DENIAL_NONE)
		return;
	put_rule(j, "nearest", policy,
	    policy_nearest(policy, sandbox, &conn->name));
	if (suggest(conn, &verdict, text, sizeof(text)))
		line_text(j, "would_allow", text);
	else
		line_null(j, "would_allow");
}

bool
control_is_repeated(const struct policy *policy, uint32_t sandbox)
{
	uint32_t profile = policy_sandbox(policy, sandbox)->profile;

	for (uint32_t i = 1; i < sandbox; i++) {
		const struct policy_sandbox *other = policy_sandbox(policy, i);

		if (other != NULL && other->profile == profile)
			return true;
	}
	return false;
}

/* The sandbox that was named, or the first one of each policy. */
enum control_more
control_explain_next(struct control_conn *conn, char *buf, size_t size,
    size_t *ret_len)
{
	const struct daemon *d = conn->control->daemon;
	uint32_t sandbox = ++conn->index;
	struct line j;

	if (conn->sandbox != 0) {
		if (sandbox > 1)
			return CONTROL_END;
		sandbox = conn->sandbox;
	} else if (sandbox > d->sandbox_count) {
		return CONTROL_END;
	} else if (policy_sandbox(d->engine.policy, sandbox) == NULL ||
	    control_is_repeated(d->engine.policy, sandbox)) {
		return CONTROL_SKIP;
	}
	/* It may have gone with a reload since it was named. */
	if (policy_sandbox(d->engine.policy, sandbox) == NULL)
		return CONTROL_END;
	line_start(&j, buf, size);
	put_verdict(&j, conn, sandbox);
	*ret_len = line_finish(&j);
	return CONTROL_LINE;
}
