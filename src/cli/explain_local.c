/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * explain_local - the daemon's line for a verdict, made here for a
 * configuration that need not be in force.
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "lib/engine.h"
#include "lib/event.h"
#include "src/cli/explain.h"

bool
explain_type_read(const char *text, uint16_t *ret)
{
	char name[16];

	for (uint32_t type = 0; type <= UINT16_MAX; type++) {
		event_type_name((uint16_t)type, name);
		if (strcasecmp(name, text) != 0)
			continue;
		*ret = (uint16_t)type;
		return true;
	}
	return false;
}

static void
put_rule(FILE *out, const char *key, const struct policy *policy,
    uint32_t index)
{
	struct policy_rule rule;
	char text[DNAME_TEXT_MAX];

	fprintf(out, ",\"%s\":", key);
	if (index == RULE_NONE) {
		fputs("null", out);
		return;
	}
	policy_rule_at(policy, index, &rule);
	policy_rule_print(rule.kind, &rule.name, text);
	fputs("{\"rule\":", out);
	put_json(out, text);
	fprintf(out, ",\"deny\":%s", rule.deny ? "true" : "false");
	if (!rule.deny && policy->terms[rule.terms].expired)
		fputs(",\"over\":true", out);
	fputs(",\"file\":", out);
	put_json(out, policy->files[rule.file]);
	fprintf(out, ",\"line\":%" PRIu32 ",\"column\":%" PRIu32 "}", rule.line,
	    rule.column);
}

static void
put_services(FILE *out, const struct verdict *verdict)
{
	fputs(",\"ports\":[", out);
	for (uint8_t i = 0; i < verdict->service_count; i++)
		fprintf(out, "%s\"%s/%u\"", i > 0 ? "," : "",
		    verdict->services[i].protocol == PROTO_UDP ? "udp" : "tcp",
		    (unsigned)verdict->services[i].port);
	fputs("]", out);
}

static bool
is_listable(uint16_t type)
{
	return type == DNS_TYPE_TXT || type == DNS_TYPE_MX ||
	    type == DNS_TYPE_SRV || type == DNS_TYPE_CAA;
}

/* Why a question is denied, or would be under enforcement. */
static enum denial
why_not(const struct verdict *verdict)
{
	return verdict->would != DENIAL_NONE ? verdict->would : verdict->denial;
}

/* The entry of `allow:` that would let the question through, where one
 * would. */
static void
put_suggestion(FILE *out, const struct verdict *verdict, const char *name,
    const char *type_name, uint16_t type)
{
	char text[DNAME_TEXT_MAX + 64] = "";

	if (why_not(verdict) == DENIAL_UNLISTED ||
	    why_not(verdict) == DENIAL_PARENT) {
		if (strchr(name, '.') != NULL)
			snprintf(text, sizeof(text), "- %s", name);
	} else if (why_not(verdict) == DENIAL_TYPE && is_listable(type))
		snprintf(text, sizeof(text),
		    "- {name: %s, types: [A, AAAA, %s]}", name, type_name);
	fputs(",\"would_allow\":", out);
	if (text[0] != '\0')
		put_json(out, text);
	else
		fputs("null", out);
}

void
explain_print_json(FILE *out, const struct policy *policy, uint32_t sandbox,
    const struct dname *name, uint16_t type)
{
	const struct policy_sandbox *of = policy_sandbox(policy, sandbox);
	struct verdict verdict = engine_explain(policy, sandbox, name, type);
	bool allowed = verdict.denial == DENIAL_NONE;
	char text[DNAME_TEXT_MAX], type_name[16];

	dname_print(name, text);
	event_type_name(type, type_name);
	fputs("{\"kind\":\"verdict\",\"name\":", out);
	put_json(out, text);
	fprintf(out, ",\"type\":\"%s\",\"sandbox\":", type_name);
	put_json(out, of->name);
	fputs(",\"policy\":", out);
	put_json(out, policy->profiles[of->profile].name);
	fprintf(out, ",\"verdict\":\"%s\",\"reason\":\"%s\",\"mode\":\"%s\"",
	    allowed ? "allow" : "deny",
	    why_not(&verdict) == DENIAL_NONE ? "listed"
					     : denial_name(why_not(&verdict)),
	    verdict.audit ? "audit" : "enforce");
	put_rule(out, "by", policy, verdict.rule);
	put_services(out, &verdict);
	if (why_not(&verdict) != DENIAL_NONE) {
		put_rule(out, "nearest", policy,
		    policy_nearest(policy, sandbox, name));
		put_suggestion(out, &verdict, text, type_name, type);
	}
	fputs("}\n", out);
}
