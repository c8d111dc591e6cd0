/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/scenarios/script.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"

bool
script_fail(struct script *s, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s:%u: ", s->path, (unsigned)s->line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	s->failed = true;
	return false;
}

static bool
is_outcome(const struct effect *effect)
{
	return effect->kind == EFFECT_EVENT &&
	    (effect->u.event.action == EVENT_DNS_ANSWERED ||
		effect->u.event.action == EVENT_DNS_DENIED ||
		effect->u.event.action == EVENT_DNS_FAILED);
}

/* What a scenario may leave unexpected: outcomes, which are counted against
 * the replies instead, and the state's records. */
static bool
is_quiet(const struct effect *effect)
{
	return effect->kind == EFFECT_RECORD || effect->kind == EFFECT_FORGET ||
	    effect->kind == EFFECT_CHARGED || is_outcome(effect);
}

void
script_drain(struct script *s)
{
	while (engine_next_effect(s->engine, &s->taken)) {
		const struct effect *effect = &s->taken;

		if (s->verbose)
			rig_print_effect(effect, s->now_ms);
		s->reply_count += effect->kind == EFFECT_REPLY;
		s->outcome_count += is_outcome(effect);
		if (s->waiting_count == SCRIPT_WAIT_MAX) {
			script_fail(s, "too many effects");
			continue;
		}
		s->waiting[s->waiting_count++] = *effect;
	}
	if (s->reply_count != s->outcome_count)
		script_fail(s, "%u replies, %u outcome events",
		    (unsigned)s->reply_count, (unsigned)s->outcome_count);
}

bool
script_is_quiet(struct script *s)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->waiting_count; i++)
		if (!is_quiet(&s->waiting[i]))
			kept++;
	if (kept == 0)
		return true;
	script_fail(s, "not expected:");
	for (uint32_t i = 0; i < s->waiting_count; i++)
		if (!is_quiet(&s->waiting[i]))
			rig_print_effect(&s->waiting[i], s->now_ms);
	return false;
}

void
script_advance(struct script *s, uint64_t at_ms)
{
	uint64_t next_ms;

	while ((next_ms = engine_deadline(s->engine)) <= at_ms) {
		if (next_ms > s->now_ms)
			s->now_ms = next_ms;
		engine_expire(s->engine, s->now_ms);
		script_drain(s);
		if (s->failed)
			return;
		if (engine_deadline(s->engine) <= s->now_ms) {
			script_fail(s, "a deadline that does not go away");
			return;
		}
	}
	s->now_ms = at_ms;
}

void
script_let_leave(struct script *s)
{
	if (s->engine != NULL && s->edges == 0 &&
	    s->engine->departures.edge_ms != DEADLINE_NEVER)
		script_advance(s, s->engine->departures.edge_ms);
}

struct label *
script_label(struct script *s, enum effect_kind kind, const char *name)
{
	for (uint32_t i = s->label_count; i-- > 0;)
		if (s->labels[i].kind == kind &&
		    strcmp(s->labels[i].name, name) == 0)
			return &s->labels[i];
	script_fail(s, "nothing is called %s", name);
	return NULL;
}

struct label *
script_new_label(struct script *s, enum effect_kind kind, const char *name)
{
	struct label *label;

	REQUIRE(s->label_count < SCRIPT_LABELS_MAX);
	label = &s->labels[s->label_count++];
	(void)snprintf(label->name, sizeof(label->name), "%s", name);
	label->kind = kind;
	label->port = (uint16_t)(1024 + s->label_count);
	label->id = (uint16_t)(0x1000 + s->label_count);
	return label;
}

void
script_consume(struct script *s, uint32_t i)
{
	REQUIRE(i < s->waiting_count);
	s->taken = s->waiting[i];
	s->waiting_count--;
	memmove(&s->waiting[i], &s->waiting[i + 1],
	    (s->waiting_count - i) * sizeof(s->waiting[0]));
}

uint32_t
script_sandbox(const struct script *s, const char *name)
{
	return policy_sandbox_by_name(s->policy, name);
}

bool
script_time(const char *word, uint64_t *ret_ms)
{
	char *end;
	uint64_t n = strtoull(word, &end, 10);

	if (strcmp(end, "ms") == 0)
		*ret_ms = n;
	else if (strcmp(end, "s") == 0)
		*ret_ms = n * 1000;
	else
		return false;
	return true;
}

int
script_status(const char *word)
{
	if (strcmp(word, "ok") == 0)
		return 0;
	if (strcmp(word, "EPERM") == 0)
		return -EPERM;
	if (strcmp(word, "ENFILE") == 0)
		return -ENFILE;
	return 1;
}

int
script_rcode(const char *word)
{
	static const struct {
		const char *name;
		int rcode;
	} rcodes[] = {
		{ "NOERROR", DNS_RCODE_NOERROR },
		{ "FORMERR", DNS_RCODE_FORMERR },
		{ "SERVFAIL", DNS_RCODE_SERVFAIL },
		{ "NXDOMAIN", DNS_RCODE_NXDOMAIN },
		{ "NOTIMP", DNS_RCODE_NOTIMP },
		{ "REFUSED", DNS_RCODE_REFUSED },
	};

	for (size_t i = 0; i < ARRAY_LEN(rcodes); i++)
		if (strcmp(word, rcodes[i].name) == 0)
			return rcodes[i].rcode;
	return -1;
}

bool
script_element(struct script *s, uint32_t word, struct pin_element *ret)
{
	const char *addr;

	memset(ret, 0, sizeof(*ret));
	if (word + 3 > s->word_count)
		return script_fail(s, "SANDBOX ADDRESS SERVICE is wanted");
	ret->sandbox = script_sandbox(s, s->words[word]);
	addr = s->words[word + 1];
	if (ret->sandbox == 0 || !addr_parse(addr, strlen(addr), &ret->addr) ||
	    !rig_service(s->words[word + 2], &ret->service))
		return script_fail(s, "no element: %s %s %s", s->words[word],
		    addr, s->words[word + 2]);
	return true;
}

const char *
script_option(const struct script *s, uint32_t from, const char *key)
{
	size_t len = strlen(key);

	for (uint32_t i = from; i < s->word_count; i++)
		if (strncmp(s->words[i], key, len) == 0 &&
		    s->words[i][len] == '=')
			return s->words[i] + len + 1;
	return NULL;
}

bool
script_flag(const struct script *s, uint32_t from, const char *flag)
{
	for (uint32_t i = from; i < s->word_count; i++)
		if (strcmp(s->words[i], flag) == 0)
			return true;
	return false;
}

bool
script_covers(struct script *s)
{
	printf("covers:");
	for (uint32_t i = 1; i < s->word_count; i++)
		printf(" %s", s->words[i]);
	printf("\n");
	return s->word_count > 1;
}
