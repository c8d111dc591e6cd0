/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scenario - runs scenario files: a dialogue with the core, line by line.
 *
 *   scenario [-v] FILE…        exit 0: every line held; -v prints all effects
 *
 * A line is empty, a comment (#), or begins with a verb. TIME is 1500ms or
 * 2s. Labels (q1, a1, p1…) name what a later line speaks of; a label used
 * again names the newer thing.
 *
 *   COVERS ROW…                 prints that rows of tests/peer-issues.tsv were
 *                               shown, once all lines before it held
 *   SET NAME NUMBER             a setting or limit; before the first POLICY
 *   POLICY [unsettled]          rules as in tests/rig/rig.h, up to END. The
 *   END                         first one makes the engine, which is settled
 *                               at once unless told otherwise; a later one is
 *                               a change of policy
 *   WALL SECONDS                what the day clock says now; rules past their
 *                               date end
 *   AT TIME                     goes to a time since the start; what is due
 *                               on the way happens
 *   QUERY LABEL SANDBOX TYPE NAME [noedns] [tcp]
 *                               a question; SANDBOX nobody: of no sandbox
 *   RAW LABEL SANDBOX HEX       the same, octet for octet
 *   ANSWER LABEL RCODE [tc] [: RECORD; RECORD…]
 *                               upstream's response to an ask, records as
 *                               NAME TTL TYPE DATA
 *   SPOOF LABEL RCODE …         the same with another id
 *   FAIL LABEL silent|broken|unsent [again]
 *                               again: another server can be asked
 *   PINNED LABEL ok|EPERM|ENFILE
 *   FLOWS LABEL yes|no|unknown  whether there is a flow
 *   RECALL SANDBOX ADDRESS SERVICE NAME TIME
 *                               a record of the state, its pin until TIME
 *   RECALLED                    no more of them
 *   SETTLED ok|EPERM
 *   LOST all|SANDBOX            the kernel lost the pins
 *   HELPER-LOST
 *   ATTACH NAME POLICY ADDR…    somebody comes, under the lowest free number
 *   DETACH NAME                 and goes
 *   ASSIGN NAME POLICY          another policy for it
 *   REVOKE RULE [SANDBOX]       withdraws a rule, from all or from one
 *   QUARANTINE SANDBOX [record] cuts it off; record: as the state says
 *   RELEASE SANDBOX
 *   REJECTED SANDBOX ADDRESS SERVICE [passed]
 *                               a packet that the kernel refused, or let pass
 *                               in an audit
 *   EXPECT …                    see expect.c: ASK PIN UNPIN FLOWS RECALL
 *                               SETTLE REPLY EVENT RECORD FORGET QUARANTINE
 *                               RELEASE NOTHING
 *
 * Asks leave on edges of the clock: a line that comes while some wait lets the
 * next edge pass first, unless the number "edges" was SET.
 *
 * Each EXPECT takes one effect. When the next input or the end comes, no
 * effect may be left but records of the state and the one outcome event that
 * goes with every reply (which is counted). At the end five seconds pass,
 * after which no query and no lookup may be open.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "tests/scenarios/script.h"

static const uint8_t seed[32] = "the same seed for all scenarios";

_Noreturn void
require_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: %s\n", file, line, condition);
	abort();
}

/* SET NAME NUMBER; behind POLICY only what a reload may change. */
static bool
do_set(struct script *s)
{
	const struct {
		const char *name;
		uint32_t *value;
	} settings[] = {
		{ "ttl_floor_s", &s->limits.settings.ttl_floor_s },
		{ "ttl_cap_s", &s->limits.settings.ttl_cap_s },
		{ "ttl_negative_s", &s->limits.settings.ttl_negative_s },
		{ "pin_floor_ms", &s->limits.settings.pin_floor_ms },
		{ "pin_cap_ms", &s->limits.settings.pin_cap_ms },
		{ "pin_grace_ms", &s->limits.settings.pin_grace_ms },
		{ "tick_ms", &s->limits.settings.tick_ms },
		{ "warm_ms", &s->limits.settings.warm_ms },
		{ "warm_names_per_sandbox",
		    &s->limits.warm.names_per_sandbox_max },
		{ "budget_sandbox", &s->limits.settings.budget_sandbox },
		{ "budget_keys_max", &s->limits.budget.keys_max },
		{ "edges", &s->edges },
		{ "queries_max", &s->limits.queries_max },
		{ "queries_per_sandbox_max",
		    &s->limits.queries_per_sandbox_max },
		{ "lookups_max", &s->limits.lookups_max },
		{ "lookups_per_sandbox_max",
		    &s->limits.lookups_per_sandbox_max },
		{ "pins_max", &s->limits.pins.pins_max },
		{ "pins_per_sandbox_max",
		    &s->limits.pins.pins_per_sandbox_max },
		{ "names_max", &s->limits.pins.names_max },
		{ "ops_max", &s->limits.pins.ops_max },
	};

	if (s->word_count != 3 ||
	    (s->engine != NULL && strcmp(s->words[1], "tick_ms") != 0))
		return script_fail(s, "NAME NUMBER is wanted, before POLICY");
	for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
		if (strcmp(s->words[1], settings[i].name) != 0)
			continue;
		*settings[i].value = (uint32_t)strtoul(s->words[2], NULL, 10);
		if (s->engine != NULL)
			engine_set_settings(s->engine, &s->limits.settings);
		return true;
	}
	return script_fail(s, "no setting %s", s->words[1]);
}

static bool
settle(struct script *s)
{
	engine_recalled(s->engine, s->now_ms);
	if (!engine_next_effect(s->engine, &s->taken) ||
	    s->taken.kind != EFFECT_SETTLE ||
	    engine_next_effect(s->engine, &s->taken))
		return script_fail(s, "a start that is no SETTLE");
	engine_settled(s->engine, 0, s->now_ms);
	script_drain(s);
	return true;
}

static bool
read_rules(struct script *s, char *text, size_t size)
{
	char line[1024];
	size_t used = 0;

	text[0] = '\0';
	while (fgets(line, sizeof(line), s->file) != NULL) {
		size_t len = strlen(line);

		s->line++;
		if (strcmp(line, "END\n") == 0)
			return true;
		if (used + len >= size)
			return script_fail(s, "too many rules");
		memcpy(text + used, line, len + 1);
		used += len;
	}
	return script_fail(s, "no END");
}

static bool
do_policy(struct script *s)
{
	bool unsettled = script_flag(s, 1, "unsettled");
	bool first = s->engine == NULL;
	char error[RIG_ERROR_MAX];
	struct policy *policy;

	if (!read_rules(s, s->rules, sizeof(s->rules)))
		return false;
	policy = rig_policy(s->rules, error);
	if (policy == NULL)
		return script_fail(s, "%s", error);
	if (first)
		s->engine = rig_engine(&s->limits, seed);
	engine_set_policy(s->engine, policy, s->now_ms);
	/* The core may have no word of the old one any more. */
	rig_policy_free(s->policy);
	s->policy = policy;
	script_drain(s);
	return !first || unsettled ? !s->failed : settle(s);
}

static bool
do_wall(struct script *s)
{
	uint64_t next_ms, wall_ms;

	if (s->word_count != 2 || s->policy == NULL)
		return script_fail(s, "SECONDS are wanted, after a POLICY");
	wall_ms = strtoull(s->words[1], NULL, 10) * 1000;
	engine_set_wall(s->engine, wall_ms, s->now_ms);
	if (policy_expire_rules(s->policy, wall_ms, &next_ms))
		engine_set_policy(s->engine, s->policy, s->now_ms);
	script_drain(s);
	return !s->failed;
}

static bool
do_at(struct script *s)
{
	uint64_t at_ms;

	if (s->word_count != 2 || !script_time(s->words[1], &at_ms) ||
	    at_ms < s->now_ms)
		return script_fail(s, "a TIME that is not over is wanted");
	script_advance(s, at_ms);
	return !s->failed;
}

static bool
ask_engine(struct script *s, const struct label *label, const uint8_t *wire,
    size_t len)
{
	const struct policy_sandbox *sandbox;
	struct client client;

	memset(&client, 0, sizeof(client));
	client.sandbox = script_sandbox(s, s->words[2]);
	if (client.sandbox == 0 && strcmp(s->words[2], "nobody") != 0)
		return script_fail(s, "no sandbox %s", s->words[2]);
	sandbox = policy_sandbox(s->policy, client.sandbox);
	if (sandbox != NULL)
		client.addr = sandbox->sources[0];
	client.port = label->port;
	client.stream = script_flag(s, 5, "tcp") ? label->port : 0;
	engine_query(s->engine, &client, wire, len, s->now_ms);
	script_drain(s);
	return !s->failed;
}

static bool
do_query(struct script *s)
{
	struct label *label;
	uint8_t wire[512];
	size_t len;

	if (s->word_count < 5)
		return script_fail(s, "LABEL SANDBOX TYPE NAME is wanted");
	label = script_new_label(s, EFFECT_REPLY, s->words[1]);
	len = rig_query(wire, sizeof(wire), s->words[4], rig_type(s->words[3]),
	    label->id, !script_flag(s, 5, "noedns"));
	if (len == 0)
		return script_fail(s, "no question");
	return ask_engine(s, label, wire, len);
}

static bool
do_raw(struct script *s)
{
	struct label *label;
	uint8_t wire[512];
	size_t len = 0;
	const char *hex;

	if (s->word_count != 4 || strlen(s->words[3]) % 2 != 0 ||
	    strlen(s->words[3]) > 2 * sizeof(wire))
		return script_fail(s, "LABEL SANDBOX HEX is wanted");
	label = script_new_label(s, EFFECT_REPLY, s->words[1]);
	for (hex = s->words[3]; *hex != '\0'; hex += 2) {
		const char digits[3] = { hex[0], hex[1], '\0' };

		wire[len++] = (uint8_t)strtoul(digits, NULL, 16);
	}
	if (len >= 2)
		label->id = (uint16_t)(wire[0] << 8 | wire[1]);
	return ask_engine(s, label, wire, len);
}

static bool
answer(struct script *s, uint16_t id_change)
{
	struct rig_response response = {
		.truncated = script_flag(s, 3, "tc"),
		.records = s->rest,
	};
	const struct label *label;
	struct ask asked;
	uint8_t wire[4096];
	size_t len;

	if (s->word_count < 3 || script_rcode(s->words[2]) < 0)
		return script_fail(s, "LABEL RCODE is wanted");
	label = script_label(s, EFFECT_ASK, s->words[1]);
	if (label == NULL)
		return false;
	response.rcode = (uint8_t)script_rcode(s->words[2]);
	asked = label->effect.u.ask.ask;
	asked.id ^= id_change;
	len = rig_response(wire, sizeof(wire), &asked, &response);
	if (len == 0)
		return script_fail(s, "records: %s", s->rest);
	engine_answer(s->engine, label->effect.u.ask.lookup,
	    label->effect.u.ask.part, wire, len, s->now_ms);
	script_drain(s);
	return !s->failed;
}

static bool
do_answer(struct script *s)
{
	return answer(s, 0);
}

static bool
do_spoof(struct script *s)
{
	return answer(s, 1);
}

static bool
do_fail(struct script *s)
{
	enum ask_failure failure = ASK_SILENT;
	const struct ask_trail trail = { .tried = 1, .tries = 1 };
	const struct label *label;

	if (s->word_count < 3)
		return script_fail(s, "LABEL FAILURE is wanted");
	label = script_label(s, EFFECT_ASK, s->words[1]);
	if (label == NULL)
		return false;
	if (script_flag(s, 3, "again")) {
		engine_ask_again(s->engine, label->effect.u.ask.lookup,
		    label->effect.u.ask.part, &trail, s->now_ms);
		script_drain(s);
		return !s->failed;
	}
	if (strcmp(s->words[2], "broken") == 0)
		failure = ASK_BROKEN;
	if (strcmp(s->words[2], "unsent") == 0)
		failure = ASK_NOT_SENT;
	engine_ask_failed(s->engine, label->effect.u.ask.lookup,
	    label->effect.u.ask.part, failure, s->now_ms);
	script_drain(s);
	return !s->failed;
}

static bool
do_pinned(struct script *s)
{
	const struct label *label;

	if (s->word_count != 3 || script_status(s->words[2]) > 0)
		return script_fail(s, "LABEL STATUS is wanted");
	label = script_label(s, EFFECT_PIN, s->words[1]);
	if (label == NULL)
		return false;
	engine_pinned(s->engine, label->effect.u.pin.op,
	    script_status(s->words[2]), s->now_ms);
	script_drain(s);
	return !s->failed;
}

static bool
do_flows(struct script *s)
{
	const struct label *label;

	if (s->word_count != 3)
		return script_fail(s, "LABEL yes|no|unknown is wanted");
	label = script_label(s, EFFECT_FLOWS, s->words[1]);
	if (label == NULL)
		return false;
	engine_flows(s->engine, label->effect.u.pin.slot,
	    strcmp(s->words[2], "unknown") == 0 ? -1 : 0,
	    strcmp(s->words[2], "yes") == 0, s->now_ms);
	script_drain(s);
	return !s->failed;
}

static bool
do_recall(struct script *s)
{
	struct pin_record record;
	const char *name;

	memset(&record, 0, sizeof(record));
	if (s->word_count != 6 || !script_element(s, 1, &record.element))
		return script_fail(s, "ELEMENT NAME TIME is wanted");
	name = s->words[4];
	if (!dname_from_text(name, strlen(name), &record.holders[0].name) ||
	    !script_time(s->words[5], &record.holders[0].until_ms))
		return script_fail(s, "NAME TIME is wanted");
	record.holders[0].rule_name = record.holders[0].name;
	record.holder_count = 1;
	record.state = PIN_HELD;
	record.until_ms = record.holders[0].until_ms;
	engine_recall(s->engine, &record, s->now_ms);
	script_drain(s);
	return !s->failed;
}

static bool
do_recalled(struct script *s)
{
	engine_recalled(s->engine, s->now_ms);
	script_drain(s);
	return !s->failed;
}

static bool
do_settled(struct script *s)
{
	if (s->word_count != 2)
		return script_fail(s, "STATUS is wanted");
	engine_settled(s->engine, script_status(s->words[1]), s->now_ms);
	script_drain(s);
	return !s->failed;
}

static bool
do_lost(struct script *s)
{
	if (s->word_count != 2)
		return script_fail(s, "all or a sandbox is wanted");
	engine_pins_lost(s->engine, script_sandbox(s, s->words[1]), 0, 0,
	    s->now_ms);
	script_drain(s);
	return !s->failed;
}

static bool
do_helper_lost(struct script *s)
{
	engine_helper_lost(s->engine, s->now_ms);
	script_drain(s);
	return !s->failed;
}

static uint32_t
find_profile(const struct script *s, const char *name)
{
	uint32_t i = 0;

	while (i < s->policy->profile_count &&
	    strcmp(s->policy->profiles[i].name, name) != 0)
		i++;
	return i;
}

static bool
do_attach(struct script *s)
{
	struct policy_sandbox guest = { 0 };
	uint32_t number = 1;

	if (s->word_count < 4)
		return script_fail(s, "NAME POLICY ADDR is wanted");
	(void)snprintf(guest.name, sizeof(guest.name), "%s", s->words[1]);
	guest.profile = find_profile(s, s->words[2]);
	if (guest.profile == s->policy->profile_count)
		return script_fail(s, "no policy %s", s->words[2]);
	for (uint32_t i = 3; i < s->word_count; i++)
		if (!addr_parse(s->words[i], strlen(s->words[i]),
			&guest.sources[guest.source_count++]))
			return script_fail(s, "source %s", s->words[i]);
	while (policy_sandbox(s->policy, number) != NULL)
		number++;
	if (number >= s->limits.sandboxes_max ||
	    policy_attach(s->policy, number, &guest) != POLICY_OK)
		return script_fail(s, "no room, or taken");
	return true;
}

static bool
do_detach(struct script *s)
{
	uint32_t number =
	    s->word_count == 2 ? script_sandbox(s, s->words[1]) : 0;

	if (number == 0)
		return script_fail(s, "a sandbox is wanted");
	engine_detach(s->engine, number, s->now_ms);
	script_drain(s);
	policy_detach(s->policy, number);
	return !s->failed;
}

static bool
do_assign(struct script *s)
{
	uint32_t number =
	    s->word_count == 3 ? script_sandbox(s, s->words[1]) : 0;
	uint32_t profile = number == 0 ? 0 : find_profile(s, s->words[2]);

	if (number == 0 || profile == s->policy->profile_count)
		return script_fail(s, "SANDBOX POLICY is wanted");
	policy_assign(s->policy, number, profile);
	engine_regrant(s->engine, number, s->now_ms);
	script_drain(s);
	return !s->failed;
}

static bool
do_quarantine(struct script *s)
{
	uint32_t sandbox;

	if (s->word_count < 2 ||
	    (sandbox = script_sandbox(s, s->words[1])) == 0)
		return script_fail(s, "a sandbox is wanted");
	if (strcmp(s->words[0], "RELEASE") == 0)
		engine_release(s->engine, sandbox, s->now_ms);
	else
		engine_quarantine(s->engine, sandbox,
		    script_flag(s, 2, "record"), s->now_ms);
	script_drain(s);
	return !s->failed;
}

static bool
do_revoke(struct script *s)
{
	struct policy_withdrawal it = { .kind = RULE_EXACT };
	uint32_t number =
	    s->word_count == 3 ? script_sandbox(s, s->words[2]) : 0;
	const char *name = s->words[1];

	if (s->word_count < 2 || (s->word_count == 3 && number == 0))
		return script_fail(s, "RULE [SANDBOX] is wanted");
	for (; *name == '*' || *name == '.'; name++)
		if (*name == '*')
			it.kind =
			    it.kind == RULE_EXACT ? RULE_CHILD : RULE_BELOW;
	if (number != 0)
		(void)snprintf(it.sandbox, sizeof(it.sandbox), "%s",
		    s->words[2]);
	if (!dname_from_text(name, strlen(name), &it.name) ||
	    !policy_has_rule(s->policy, number, it.kind, &it.name) ||
	    policy_withdraw(s->policy, &it) != POLICY_OK)
		return script_fail(s, "no rule %s", s->words[1]);
	engine_regrant(s->engine, number, s->now_ms);
	script_drain(s);
	return !s->failed;
}

static bool
do_rejected(struct script *s)
{
	struct rejected r = { .kind = REJECTED_REFUSED };
	struct pin_element element;

	if (!script_element(s, 1, &element))
		return false;
	if (script_flag(s, 4, "passed"))
		r.kind = REJECTED_AUDITED;
	r.packet.source =
	    policy_sandbox(s->policy, element.sandbox)->sources[0];
	r.packet.destination = element.addr;
	r.packet.destination_port = element.service.port;
	r.packet.protocol = element.service.protocol;
	engine_rejected(s->engine, &r, s->now_ms);
	script_drain(s);
	return !s->failed;
}

static const struct verb {
	const char *name;
	bool (*run)(struct script *);
	bool input; /* nothing may be left unexpected before it */
} verbs[] = {
	{ "COVERS", script_covers, false },
	{ "SET", do_set, false },
	{ "POLICY", do_policy, true },
	{ "WALL", do_wall, true },
	{ "AT", do_at, true },
	{ "QUERY", do_query, true },
	{ "RAW", do_raw, true },
	{ "ANSWER", do_answer, true },
	{ "SPOOF", do_spoof, true },
	{ "FAIL", do_fail, true },
	{ "PINNED", do_pinned, false },
	{ "FLOWS", do_flows, false },
	{ "RECALL", do_recall, true },
	{ "RECALLED", do_recalled, true },
	{ "SETTLED", do_settled, true },
	{ "LOST", do_lost, true },
	{ "HELPER-LOST", do_helper_lost, true },
	{ "ATTACH", do_attach, true },
	{ "DETACH", do_detach, true },
	{ "ASSIGN", do_assign, true },
	{ "REVOKE", do_revoke, true },
	{ "QUARANTINE", do_quarantine, true },
	{ "RELEASE", do_quarantine, true },
	{ "REJECTED", do_rejected, true },
	{ "EXPECT", script_expect, false },
};

/* Splits a line into words; what stands behind " : " is kept whole. */
static void
split(struct script *s, char *line)
{
	char *colon, *save, *word;

	line[strcspn(line, "\n")] = '\0';
	s->word_count = 0;
	s->rest[0] = '\0';
	colon = strstr(line, " : ");
	if (colon != NULL) {
		(void)snprintf(s->rest, sizeof(s->rest), "%s", colon + 3);
		*colon = '\0';
	}
	(void)snprintf(s->words_text, sizeof(s->words_text), "%s", line);
	word = strtok_r(s->words_text, " ", &save);
	while (word != NULL && s->word_count < SCRIPT_WORDS_MAX) {
		s->words[s->word_count++] = word;
		word = strtok_r(NULL, " ", &save);
	}
}

static bool
run_line(struct script *s)
{
	if (s->word_count == 0 || s->words[0][0] == '#')
		return true;
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
		if (strcmp(s->words[0], verbs[i].name) != 0)
			continue;
		if (s->engine == NULL && verbs[i].run != do_set &&
		    verbs[i].run != do_policy)
			return script_fail(s, "no POLICY yet");
		script_let_leave(s);
		if (verbs[i].input && s->engine != NULL && !script_is_quiet(s))
			return false;
		return verbs[i].run(s);
	}
	return script_fail(s, "no such verb: %s", s->words[0]);
}

static void
run_lines(struct script *s)
{
	char line[1024];

	while (!s->failed && fgets(line, sizeof(line), s->file) != NULL) {
		s->line++;
		if (s->verbose)
			printf("%s", line);
		split(s, line);
		if (!run_line(s))
			s->failed = true;
	}
	if (s->failed)
		return;
	if (s->engine == NULL) {
		script_fail(s, "nothing was tested");
		return;
	}
	script_advance(s, s->now_ms + 5000);
	if (!script_is_quiet(s))
		return;
	if (pool_in_use(&s->engine->queries.pool) != 0 ||
	    pool_in_use(&s->engine->lookups.pool) != 0)
		script_fail(s, "something is still open");
}

static bool
run_file(const char *path, bool verbose)
{
	struct script *s = calloc(1, sizeof(*s));
	bool passed;

	if (s == NULL)
		return false;
	s->path = path;
	s->verbose = verbose;
	s->limits = rig_limits(8);
	s->file = fopen(path, "r");
	s->waiting = calloc(SCRIPT_WAIT_MAX, sizeof(*s->waiting));
	s->labels = calloc(SCRIPT_LABELS_MAX, sizeof(*s->labels));
	if (s->file == NULL || s->waiting == NULL || s->labels == NULL)
		script_fail(s, "cannot begin");
	else
		run_lines(s);
	if (s->file != NULL)
		(void)fclose(s->file);
	free(s->waiting);
	free(s->labels);
	rig_policy_free(s->policy);
	rig_engine_free(s->engine);
	passed = !s->failed;
	free(s);
	return passed;
}

int
main(int argc, char **argv)
{
	bool verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
	int failed = 0;

	if (argc < (verbose ? 3 : 2)) {
		fprintf(stderr, "usage: %s [-v] FILE...\n", argv[0]);
		return 2;
	}
	for (int i = verbose ? 2 : 1; i < argc; i++)
		failed += !run_file(argv[i], verbose);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
