/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control_change - attach, detach, assign and revoke: words in, and the answer
 * when the parent has given it.
 */
#include "config.h"

#include <string.h>

#include "lib/require.h"
#include "src/resolver/daemon.h"
#include "src/resolver/line.h"

bool
control_changes(enum control_verb verb)
{
	return verb == CONTROL_ATTACH || verb == CONTROL_DETACH ||
	    verb == CONTROL_ASSIGN || verb == CONTROL_REVOKE;
}

/* ---- words ----------------------------------------------------------- */

static bool
fail(struct control_conn *conn, const char *code, const char *text)
{
	control_fail(conn, code, "%s", text);
	return false;
}

static bool
read_name(struct control_conn *conn, const char *word)
{
	struct edge_attach *attach = &conn->change.attach;
	size_t len = strlen(word);

	if (len >= sizeof(attach->name))
		return fail(conn, "usage",
		    "the name of a sandbox has at most 63 letters");
	/* A new one; others may be members, whose names have more. */
	if (conn->verb == CONTROL_ATTACH && (len == 0 || !text_is_word(word)))
		return fail(conn, "usage",
		    "a name is letters, digits, \".\", \"-\" and \"_\", and "
		    "begins with a letter, a digit or \"_\"");
	memcpy(attach->name, word, len + 1);
	return true;
}

/* A rule as it stands in the policy: stars first. */
static bool
read_rule(struct control_conn *conn, const char *word)
{
	struct policy_withdrawal *rule = &conn->change.rule;
	char reason[TEXT_ERROR_MAX];
	const char *name = word;

	rule->kind = RULE_EXACT;
	if (strncmp(word, "**.", 3) == 0) {
		rule->kind = RULE_BELOW;
		name += 3;
	} else if (strncmp(word, "*.", 2) == 0) {
		rule->kind = RULE_CHILD;
		name += 2;
	}
	if (text_name_read(name, strlen(name), &rule->name, reason))
		return true;
	control_fail(conn, "bad-name", "%.200s", reason);
	return false;
}

static bool
read_source(struct control_conn *conn, const char *word)
{
	struct edge_attach *attach = &conn->change.attach;

	if (attach->source_count == EDGE_SOURCES_MAX)
		return fail(conn, "usage",
		    "a sandbox has at most 8 source addresses");
	if (addr_parse(word, strlen(word),
		&attach->sources[attach->source_count])) {
		attach->source_count++;
		return true;
	}
	control_fail(conn, "usage", "\"%.100s\" is no address", word);
	return false;
}

static bool
copy_word(struct control_conn *conn, const char *word, char *ret, size_t size)
{
	size_t len = strlen(word);

	if (len == 0 || len >= size) {
		control_fail(conn, "usage", "\"%.100s\" is too long or empty",
		    word);
		return false;
	}
	memcpy(ret, word, len + 1);
	return true;
}

static bool
read_option(struct control_conn *conn, const char *option, const char *value)
{
	struct control_change *change = &conn->change;
	enum control_verb verb = conn->verb;

	if (strcmp(option, "--policy") == 0 &&
	    (verb == CONTROL_ATTACH || verb == CONTROL_ASSIGN))
		return copy_word(conn, value, change->policy,
		    sizeof(change->policy));
	if (strcmp(option, "--source") == 0 && verb == CONTROL_ATTACH)
		return read_source(conn, value);
	if (strcmp(option, "--interface") == 0 && verb == CONTROL_ATTACH)
		return copy_word(conn, value, change->attach.interface,
		    sizeof(change->attach.interface));
	if (strcmp(option, "--sandbox") == 0 && verb == CONTROL_REVOKE)
		return copy_word(conn, value, change->rule.sandbox,
		    sizeof(change->rule.sandbox));
	control_fail(conn, "usage", "unknown option \"%.100s\"", option);
	return false;
}

static bool
read_words(struct control_conn *conn)
{
	const struct command *command = &conn->command;
	bool named = false, good = true;

	for (uint8_t i = 1; good && i < command->word_count; i++) {
		const char *word = command->words[i];

		if (word[0] == '-' && i + 1 == command->word_count)
			good = fail(conn, "usage", "an option has no value");
		else if (word[0] == '-')
			good = read_option(conn, word, command->words[++i]);
		else if (named)
			good = fail(conn, "usage", "one name is enough");
		else
			good = conn->verb == CONTROL_REVOKE
			    ? read_rule(conn, word)
			    : read_name(conn, word);
		named = named || word[0] != '-';
	}
	if (good && !named)
		return fail(conn, "usage", "a name is wanted");
	return good;
}

static bool
has_all(struct control_conn *conn)
{
	const struct control_change *change = &conn->change;

	if (change->policy[0] == '\0' &&
	    (conn->verb == CONTROL_ATTACH || conn->verb == CONTROL_ASSIGN))
		return fail(conn, "usage", "--policy is wanted");
	if (change->attach.source_count == 0 && conn->verb == CONTROL_ATTACH)
		return fail(conn, "usage", "--source is wanted");
	return true;
}

void
control_change_begin(struct control_conn *conn)
{
	if (control_may_change(conn) && read_words(conn))
		(void)has_all(conn);
}

/* ---- deeds ----------------------------------------------------------- */

static enum guests_answer
attach(struct control_conn *conn, const struct guests_caller *caller,
    struct guests_refusal *ret)
{
	struct daemon *d = conn->control->daemon;
	struct control_change *change = &conn->change;

	change->attach.policy = guests_policy(d, change->policy);
	if (change->attach.policy == d->config->edge->policy_count) {
		control_fail(conn, "unknown-policy", "no policy \"%s\"",
		    change->policy);
		return GUESTS_BUSY;
	}
	return guests_attach(d, &change->attach, caller, ret);
}

static enum guests_answer
withdraw(struct control_conn *conn, const struct guests_caller *caller)
{
	struct daemon *d = conn->control->daemon;
	const struct policy_withdrawal *rule = &conn->change.rule;
	uint32_t sandbox =
	    policy_sandbox_by_name(d->config->policy, rule->sandbox);

	if (rule->sandbox[0] != '\0' && sandbox == 0)
		control_fail(conn, "unknown-sandbox", "no sandbox \"%s\"",
		    rule->sandbox);
	else if (!control_names_one(conn, sandbox))
		return GUESTS_BUSY;
	else if (!policy_has_rule(d->config->policy, sandbox, rule->kind,
		     &rule->name))
		control_fail(conn, "unknown-rule",
		    "no rule that allows has this name%s; a wildcard is "
		    "named with its stars",
		    sandbox != 0 ? " in that sandbox's policy" : "");
	else if (!withdrawn_add(d, rule, caller))
		control_fail(conn, "refused",
		    "%d rules are withdrawn already; take them out of the file "
		    "and reload",
		    POLICY_WITHDRAWN_MAX);
	else
		return GUESTS_ASKED;
	return GUESTS_BUSY;
}

/* False: not now; or it has failed, which the verb says. */
static bool
begin(struct control_conn *conn)
{
	struct daemon *d = conn->control->daemon;
	struct guests_caller caller = { .serial = conn->serial,
		.has_user = true,
		.user = conn->user };
	enum guests_answer answer = GUESTS_BUSY;
	struct guests_refusal why;

	if (reload_is_under_way(&d->reload))
		return false;
	conn->change.begun = true;
	if (conn->verb == CONTROL_ATTACH)
		answer = attach(conn, &caller, &why);
	else if (conn->verb == CONTROL_DETACH)
		answer =
		    guests_detach(d, conn->change.attach.name, &caller, &why);
	else if (conn->verb == CONTROL_ASSIGN)
		answer = guests_assign(d, conn->change.attach.name,
		    conn->change.policy, &caller, &why);
	else
		answer = withdraw(conn, &caller);
	conn->change.same = answer == GUESTS_SAME;
	conn->change.begun = answer != GUESTS_BUSY;
	if (answer == GUESTS_REFUSED)
		control_fail(conn, why.code, "%s", why.text);
	return answer == GUESTS_ASKED || answer == GUESTS_SAME;
}

/* ---- the answer ------------------------------------------------------ */

static void
put_sandbox(struct line *j, struct control_conn *conn)
{
	struct daemon *d = conn->control->daemon;
	uint32_t number = guests_find(d, conn->change.attach.name);
	const struct edge_sandbox *sandbox;
	char text[ADDR_TEXT_MAX];

	line_text(j, "sandbox", conn->change.attach.name);
	if (number == 0)
		return;
	sandbox = &d->config->edge->sandboxes[number - 1];
	line_text(j, "policy", d->config->edge->policies[sandbox->policy].name);
	line_array(j, "sources");
	for (uint8_t i = 0; i < sandbox->source_count; i++) {
		(void)addr_print(&sandbox->sources[i], text);
		line_text(j, NULL, text);
	}
	line_array_end(j);
	if (d->bindings[number].interface[0] != '\0')
		line_text(j, "interface", d->bindings[number].interface);
	else
		line_null(j, "interface");
}

static void
put_done(struct line *j, struct control_conn *conn)
{
	const struct policy_withdrawal *rule = &conn->change.rule;
	char text[DNAME_TEXT_MAX];

	if (conn->verb == CONTROL_REVOKE) {
		line_text(j, "kind", "revoked");
		(void)policy_rule_print(rule->kind, &rule->name, text);
		line_text(j, "rule", text);
		if (rule->sandbox[0] != '\0')
			line_text(j, "sandbox", rule->sandbox);
		else
			line_null(j, "sandbox");
		return;
	}
	line_text(j, "kind",
	    conn->verb == CONTROL_ATTACH       ? "attached"
		: conn->verb == CONTROL_DETACH ? "detached"
					       : "assigned");
	put_sandbox(j, conn);
	line_bool(j, "changed", !conn->change.same);
}

enum control_more
control_change_next(struct control_conn *conn, char *buf, size_t size,
    size_t *ret_len)
{
	struct control_change *change = &conn->change;
	struct guests_refusal why;
	struct line j;

	if (conn->index > 0)
		return CONTROL_END;
	if (!change->begun && !begin(conn))
		return conn->verb == CONTROL_NOTHING ? CONTROL_END
						     : CONTROL_WAIT;
	if (!change->same && !change->answered)
		return CONTROL_WAIT;
	conn->index = 1;
	if (change->status != 0) {
		guests_explain(change->status, &why);
		control_fail(conn, why.code, "%s", why.text);
		return CONTROL_END;
	}
	line_start(&j, buf, size);
	put_done(&j, conn);
	*ret_len = line_finish(&j);
	return CONTROL_LINE;
}
