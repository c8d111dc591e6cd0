/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * expect - EXPECT lines. Each takes one effect that waits; which one is told
 * by what it is about, since the order of addresses is random.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "tests/scenarios/script.h"

static bool
same_element(const struct pin_element *a, const struct pin_element *b)
{
	return a->sandbox == b->sandbox && addr_equal(&a->addr, &b->addr) &&
	    a->service.protocol == b->service.protocol &&
	    a->service.port == b->service.port;
}

/* EXPECT ASK LABEL TYPE NAME [stream] [first]: the first that waits */
static bool
expect_ask(struct script *s)
{
	bool stream = script_flag(s, 5, "stream");
	bool first = script_flag(s, 5, "first");
	struct dname name;
	struct label *label;

	if (s->word_count < 5 ||
	    !dname_from_text(s->words[4], strlen(s->words[4]), &name))
		return script_fail(s, "LABEL TYPE NAME is wanted");
	for (uint32_t i = 0; i < s->waiting_count; i++) {
		const struct effect *effect = &s->waiting[i];

		if (effect->kind != EFFECT_ASK)
			continue;
		if (effect->u.ask.ask.type != rig_type(s->words[3]) ||
		    effect->u.ask.ask.stream != stream ||
		    !dname_equal(&effect->u.ask.ask.name, &name)) {
			if (first)
				break;
			continue;
		}
		label = script_new_label(s, EFFECT_ASK, s->words[2]);
		script_consume(s, i);
		label->effect = s->taken;
		return true;
	}
	return script_fail(s, "no such ask");
}

static bool
lifetime_fits(struct script *s, const struct effect *effect)
{
	const char *lifetime = script_option(s, 3, "lifetime");
	uint64_t ms;

	if (lifetime == NULL)
		return true;
	if (!script_time(lifetime, &ms) || ms != effect->u.pin.lifetime_ms)
		return script_fail(s, "the lifetime is %ums",
		    (unsigned)effect->u.pin.lifetime_ms);
	return true;
}

/* The effect of this kind about the element at a word, which is wanted. */
static bool
take_element(struct script *s, enum effect_kind kind, uint32_t word)
{
	struct pin_element element;

	if (!script_element(s, word, &element))
		return false;
	for (uint32_t i = 0; i < s->waiting_count; i++) {
		if (s->waiting[i].kind != kind ||
		    !same_element(&s->waiting[i].u.pin.element, &element))
			continue;
		script_consume(s, i);
		return lifetime_fits(s, &s->taken);
	}
	return script_fail(s, "no such request");
}

/* EXPECT PIN|FLOWS LABEL SANDBOX ADDRESS SERVICE [lifetime=TIME] */
static bool
expect_labelled(struct script *s, enum effect_kind kind)
{
	if (!take_element(s, kind, 3))
		return false;
	script_new_label(s, kind, s->words[2])->effect = s->taken;
	return true;
}

static bool
has_addr(const struct rig_reply *reply, const char *text, size_t len)
{
	struct addr addr;

	if (!addr_parse(text, len, &addr))
		return false;
	for (uint32_t i = 0; i < reply->addr_count; i++)
		if (addr_equal(&reply->addrs[i], &addr))
			return true;
	return false;
}

/* addrs=A,B: these and no others, in whatever order. */
static bool
check_addrs(struct script *s, const struct rig_reply *reply)
{
	const char *text = script_option(s, 4, "addrs");
	uint32_t count = 0;

	while (text != NULL && *text != '\0') {
		size_t len = strcspn(text, ",");

		if (!has_addr(reply, text, len))
			return script_fail(s, "the reply lacks %.*s", (int)len,
			    text);
		count++;
		text += len + (text[len] == ',');
	}
	if (count != reply->addr_count)
		return script_fail(s, "%u addresses, not %u",
		    (unsigned)reply->addr_count, (unsigned)count);
	return true;
}

static bool
check_number(struct script *s, const char *key, long is)
{
	const char *want = script_option(s, 4, key);

	if (want == NULL || strtol(want, NULL, 10) == is)
		return true;
	return script_fail(s, "%s is %ld", key, is);
}

/* What holds for every reply, whatever the scenario is about. */
static bool
check_always(struct script *s, const struct rig_reply *reply)
{
	if (!reply->ra || reply->aa || reply->ad || reply->foreign_owner)
		return script_fail(s, "RA, AA, AD or an owner is wrong");
	return true;
}

static bool
check_reply(struct script *s, const struct effect *effect,
    const struct label *label)
{
	struct rig_reply reply;

	if (!rig_read_reply(effect->u.reply.message, effect->u.reply.len,
		&reply))
		return script_fail(s, "ldns cannot read the reply");
	if (reply.id != label->id)
		return script_fail(s, "the id is another one");
	if (reply.rcode != script_rcode(s->words[3]))
		return script_fail(s, "the rcode is %u", (unsigned)reply.rcode);
	if (reply.soa != script_flag(s, 4, "soa"))
		return script_fail(s, "%s SOA", reply.soa ? "an" : "no");
	if (reply.truncated != script_flag(s, 4, "tc"))
		return script_fail(s, "TC is wrong");
	return check_always(s, &reply) && check_addrs(s, &reply) &&
	    check_number(s, "ttl", (long)reply.ttl_s) &&
	    check_number(s, "ede", reply.ede) &&
	    check_number(s, "records", (long)reply.record_count);
}

/* EXPECT REPLY LABEL RCODE [soa] [tc] [ttl=N] [ede=N] [records=N] [addrs=…] */
static bool
expect_reply(struct script *s)
{
	const struct label *label;
	if (s->word_count < 4)
		return script_fail(s, "LABEL RCODE is wanted");
	label = script_label(s, EFFECT_REPLY, s->words[2]);
	if (label == NULL)
		return false;
	for (uint32_t i = 0; i < s->waiting_count; i++) {
		if (s->waiting[i].kind != EFFECT_REPLY ||
		    s->waiting[i].u.reply.client.port != label->port)
			continue;
		script_consume(s, i);
		return check_reply(s, &s->taken, label);
	}
	return script_fail(s, "no reply to %s", s->words[2]);
}

static const char *
reason_of(const struct event *event)
{
	if (event->has_cause)
		return event_action_name(event->cause);
	return denial_name(event->denial);
}

static bool
event_fits(const struct script *s, const struct event *event)
{
	const char *reason = script_option(s, 3, "reason");
	const char *name = script_option(s, 3, "name");
	const char *end = script_option(s, 3, "end");
	const char *count = script_option(s, 3, "count");
	const char *would = script_option(s, 3, "would");
	const char *why = script_option(s, 3, "would_reason");
	char text[DNAME_TEXT_MAX];

	if (strcmp(event_action_name(event->action), s->words[2]) != 0)
		return false;
	if (reason != NULL && strcmp(reason_of(event), reason) != 0)
		return false;
	(void)dname_print(&event->name, text);
	if (name != NULL && strcmp(text, name) != 0)
		return false;
	if (count != NULL && strtoull(count, NULL, 10) != event->count)
		return false;
	if (would != NULL && strcmp(event_would_name(event->would), would) != 0)
		return false;
	if (why != NULL && strcmp(denial_name(event->would_denial), why) != 0)
		return false;
	if (script_flag(s, 3, "would_quarantine") != event->would_quarantine)
		return false;
	if (script_flag(s, 3, "passed") != event->passed)
		return false;
	if (script_flag(s, 3, "cached") && !event->cached)
		return false;
	if (script_flag(s, 3, "charged") &&
	    !(event->finding.is_charged && event->finding.name_bits > 0))
		return false;
	if (end == NULL)
		return true;
	(void)dname_print(&event->end, text);
	return event->has_end && strcmp(text, end) == 0;
}

/* EXPECT EVENT ACTION [reason=…] [name=…] [end=…] [count=…] [would=…]
 * [would_reason=…] [would_quarantine] [passed] [cached] [charged] */
static bool
expect_event(struct script *s)
{
	if (s->word_count < 3)
		return script_fail(s, "ACTION is wanted");
	for (uint32_t i = 0; i < s->waiting_count; i++) {
		if (s->waiting[i].kind != EFFECT_EVENT ||
		    !event_fits(s, &s->waiting[i].u.event))
			continue;
		script_consume(s, i);
		return true;
	}
	return script_fail(s, "no such event");
}

static bool
expect_kind(struct script *s, enum effect_kind kind)
{
	for (uint32_t i = 0; i < s->waiting_count; i++) {
		if (s->waiting[i].kind != kind)
			continue;
		script_consume(s, i);
		return true;
	}
	return script_fail(s, "no such effect");
}

/* EXPECT QUARANTINE|RELEASE SANDBOX */
static bool
expect_quarantine(struct script *s, enum effect_kind kind)
{
	if (s->word_count < 3)
		return script_fail(s, "SANDBOX is wanted");
	for (uint32_t i = 0; i < s->waiting_count; i++) {
		if (s->waiting[i].kind != kind ||
		    s->waiting[i].u.quarantine.sandbox !=
			script_sandbox(s, s->words[2]))
			continue;
		script_consume(s, i);
		return true;
	}
	return script_fail(s, "no such effect");
}

bool
script_expect(struct script *s)
{
	const char *what = s->word_count < 2 ? "" : s->words[1];

	if (strcmp(what, "ASK") == 0)
		return expect_ask(s);
	if (strcmp(what, "PIN") == 0)
		return expect_labelled(s, EFFECT_PIN);
	if (strcmp(what, "FLOWS") == 0)
		return expect_labelled(s, EFFECT_FLOWS);
	if (strcmp(what, "UNPIN") == 0)
		return take_element(s, EFFECT_UNPIN, 2);
	if (strcmp(what, "RECALL") == 0)
		return take_element(s, EFFECT_RECALL, 2);
	if (strcmp(what, "REPLY") == 0)
		return expect_reply(s);
	if (strcmp(what, "EVENT") == 0)
		return expect_event(s);
	if (strcmp(what, "SETTLE") == 0)
		return expect_kind(s, EFFECT_SETTLE);
	if (strcmp(what, "CHARGED") == 0)
		return expect_kind(s, EFFECT_CHARGED);
	if (strcmp(what, "RECORD") == 0)
		return expect_kind(s, EFFECT_RECORD);
	if (strcmp(what, "FORGET") == 0)
		return expect_kind(s, EFFECT_FORGET);
	if (strcmp(what, "QUARANTINE") == 0)
		return expect_quarantine(s, EFFECT_QUARANTINE);
	if (strcmp(what, "RELEASE") == 0)
		return expect_quarantine(s, EFFECT_RELEASE);
	if (strcmp(what, "NOTHING") == 0)
		return script_is_quiet(s);
	return script_fail(s, "EXPECT what?");
}
