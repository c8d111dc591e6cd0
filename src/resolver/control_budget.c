/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control_budget - the lines of `budget`: what each wildcard of a sandbox has
 * told, the sandbox, and all sandboxes of its policy.
 */
#include "config.h"

#include "lib/require.h"
#include "src/resolver/daemon.h"
#include "src/resolver/line.h"

/* Rules that are looked at for one line, so that a long list holds nobody
 * up. */
#define RULES_AT_ONCE 4096

void
control_put_bits(struct line *j, const struct budget_report *report)
{
	line_number(j, "limit_bits", report->limit / BUDGET_BIT);
	line_number(j, "used_bits", report->used / BUDGET_BIT);
	line_number(j, "left_bits", report->left / BUDGET_BIT);
	line_number(j, "time_bits", report->part[METER_TIME] / BUDGET_BIT);
	line_number(j, "type_bits", report->part[METER_TYPE] / BUDGET_BIT);
	line_number(j, "name_bits", report->part[METER_NAME] / BUDGET_BIT);
}

/* rule: NULL where the line is of a sum. */
static void
put_line(struct line *j, const struct daemon *d, uint32_t sandbox,
    enum budget_level level, const char *rule,
    const struct budget_report *report)
{
	static const char *const words[] = { [BUDGET_KEY] = "rule",
		[BUDGET_SANDBOX] = "sandbox",
		[BUDGET_POLICY] = "policy" };
	const struct policy *policy = d->engine.policy;
	const struct policy_sandbox *of = policy_sandbox(policy, sandbox);

	line_text(j, "kind", "budget");
	line_text(j, "level", words[level]);
	if (level == BUDGET_POLICY)
		line_null(j, "sandbox");
	else
		line_text(j, "sandbox", of->name);
	line_text(j, "policy", policy->profiles[of->profile].name);
	if (rule != NULL)
		line_text(j, "rule", rule);
	else
		line_null(j, "rule");
	control_put_bits(j, report);
}

static enum control_more
put_rule(struct line *j, const struct daemon *d, uint32_t sandbox,
    uint32_t rule)
{
	const struct policy *policy = d->engine.policy;
	struct budget_report report;
	struct policy_rule at;
	char text[DNAME_TEXT_MAX];

	policy_rule_at(policy, rule, &at);
	if (policy->terms[at.terms].addr_count > 0)
		return CONTROL_SKIP;
	(void)policy_rule_print(at.kind, &at.name, text);
	(void)engine_budget_of_rule(&d->engine, sandbox, rule, d->now_ms,
	    &report);
	put_line(j, d, sandbox, BUDGET_KEY, text, &report);
	return CONTROL_LINE;
}

/* Exact names that are asked on demand, where there are such. */
static enum control_more
put_exact(struct line *j, const struct daemon *d, uint32_t sandbox)
{
	const struct policy *policy = d->engine.policy;
	const struct policy_profile *profile =
	    &policy->profiles[policy_sandbox(policy, sandbox)->profile];
	struct budget_report report;

	if (!engine_budget_of_rule(&d->engine, sandbox, RULE_NONE, d->now_ms,
		&report) &&
	    (profile->exact_count == 0 ||
		profile->refresh == REFRESH_SCHEDULED))
		return CONTROL_SKIP;
	put_line(j, d, sandbox, BUDGET_KEY, NULL, &report);
	return CONTROL_LINE;
}

static enum control_more
put_sum(struct line *j, const struct daemon *d, uint32_t sandbox,
    enum budget_level level)
{
	struct budget_report report;

	(void)engine_budget_of_sum(&d->engine, sandbox, level, d->now_ms,
	    &report);
	put_line(j, d, sandbox, level, NULL, &report);
	return CONTROL_LINE;
}

/* Of a sandbox, by place: its rules, then exact names, then the sums. */
static enum control_more
put_place(struct control_conn *conn, struct line *j, uint32_t sandbox,
    bool with_policy)
{
	const struct daemon *d = conn->control->daemon;
	const struct policy *policy = d->engine.policy;
	uint32_t place = (uint32_t)conn->sequence, rule;

	if (place < policy->rule_count) {
		rule = policy_next_wildcard(policy, sandbox, place,
		    place + RULES_AT_ONCE);
		conn->sequence = rule != RULE_NONE ? rule + 1
		    : place + RULES_AT_ONCE < policy->rule_count
		    ? place + RULES_AT_ONCE
		    : policy->rule_count;
		return rule == RULE_NONE ? CONTROL_SKIP
					 : put_rule(j, d, sandbox, rule);
	}
	conn->sequence++;
	if (place == policy->rule_count)
		return put_exact(j, d, sandbox);
	if (place == policy->rule_count + 1)
		return put_sum(j, d, sandbox, BUDGET_SANDBOX);
	conn->sequence = 0;
	conn->index++;
	return with_policy ? put_sum(j, d, sandbox, BUDGET_POLICY)
			   : CONTROL_SKIP;
}

enum control_more
control_budget_next(struct control_conn *conn, struct line *j)
{
	const struct daemon *d = conn->control->daemon;
	const struct policy *policy = d->engine.policy;
	uint32_t sandbox = conn->sandbox != 0 ? conn->sandbox : conn->index + 1;

	if (conn->sandbox != 0 ? conn->index > 0 : sandbox > d->sandbox_count)
		return CONTROL_END;
	/* It may have gone since, with the rules that were being counted. */
	if (policy_sandbox(policy, sandbox) == NULL) {
		conn->sequence = 0;
		conn->index++;
		return CONTROL_SKIP;
	}
	/* Who is many asks nothing itself: its members do. */
	if (conn->sandbox == 0 && conn->sequence == 0 &&
	    policy_sandbox(policy, sandbox)->source_count == 0)
		conn->sequence = policy->rule_count + 2;
	return put_place(conn, j, sandbox,
	    conn->sandbox != 0 || !control_is_repeated(policy, sandbox));
}
