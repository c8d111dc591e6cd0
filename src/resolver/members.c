/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * members - see members.h.
 */
#include "config.h"

#include "src/resolver/members.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "lib/text/edge_each.h"
#include "src/resolver/daemon.h"
#include "src/resolver/log.h"

/* Of the two seconds that a question has; the rest is for its answer. */
#define PATIENCE_MS 1000
#define TELL_MS     60000
#define LOOKS       4 /* in the time after which somebody is idle, and … */
#define LOOK_MS     60000u /* … at least that often */

int
members_open(struct members *m, uint32_t idle_ms)
{
	*m = (struct members){ .idle_ms =
				   idle_ms != 0 ? idle_ms : MEMBERS_IDLE_MS };
	m->waiting = calloc(MEMBERS_WAITING_MAX, sizeof(*m->waiting));
	return m->waiting != NULL ? 0 : -ENOMEM;
}

void
members_close(struct members *m)
{
	free(m->waiting);
	m->waiting = NULL;
}

uint32_t
members_each(const struct daemon *d, const struct addr *addr)
{
	return edge_each_of(d->config->edge, addr);
}

/* ---- coming ---------------------------------------------------------- */

static void
tell_refused(struct daemon *d, const struct addr *addr, const char *why)
{
	struct members *m = &d->members;
	char text[ADDR_TEXT_MAX];

	if (m->told_ms != 0 && d->now_ms < m->told_ms + TELL_MS)
		return;
	m->told_ms = d->now_ms;
	(void)addr_print(addr, text);
	log_warn("attach", "%s cannot be a member: %s", text, why);
}

/* Somebody who is coming, perhaps since this question; 0: not now, and
 * *ret_refused whether it is no use to wait. */
static uint32_t
meet(struct daemon *d, const struct client *client, bool *ret_refused)
{
	uint32_t each = members_each(d, &client->addr);
	struct guests_refusal why;
	uint32_t member = 0;

	*ret_refused =
	    each == 0 || d->bindings[each].ifindex != client->ifindex;
	if (*ret_refused || reload_is_under_way(&d->reload))
		return 0;
	switch (guests_meet(d, each, &client->addr, &member, &why)) {
	case GUESTS_ASKED:
		return member;
	case GUESTS_SAME:
	case GUESTS_BUSY:
		return 0;
	case GUESTS_REFUSED:
		tell_refused(d, &client->addr, why.text);
		*ret_refused = true;
		return 0;
	}
	UNREACHABLE();
}

bool
members_wait(struct daemon *d, const struct client *client, const uint8_t *wire,
    size_t len)
{
	struct members *m = &d->members;
	struct members_question *question;
	bool refused = true;
	uint32_t member;

	if (m->count == MEMBERS_WAITING_MAX || len > MEMBERS_QUESTION_MAX)
		return false;
	member = meet(d, client, &refused);
	if (refused)
		return false;
	question = &m->waiting[m->count++];
	*question = (struct members_question){ .client = *client,
		.member = member,
		.due_ms = d->now_ms + PATIENCE_MS,
		.len = (uint16_t)len };
	memcpy(question->wire, wire, len);
	return true;
}

static struct members_question
take(struct members *m, uint32_t at)
{
	struct members_question question = m->waiting[at];

	m->count--;
	memmove(&m->waiting[at], &m->waiting[at + 1],
	    (m->count - at) * sizeof(*m->waiting));
	return question;
}

/* As anybody's of whom nothing is known. */
static void
turn_away(struct daemon *d, struct members_question *question)
{
	question->client.sandbox = 0;
	engine_query(&d->engine, &question->client, question->wire,
	    question->len, d->now_ms);
	daemon_pump(d);
}

void
members_arrived(struct daemon *d, uint32_t member, bool is_here)
{
	struct members *m = &d->members;
	uint32_t at = 0;

	while (at < m->count) {
		struct members_question question;

		if (m->waiting[at].member != member) {
			at++;
			continue;
		}
		question = take(m, at);
		if (is_here)
			daemon_ask(d, &question.client, question.wire,
			    question.len);
		else
			turn_away(d, &question);
	}
}

void
members_again(struct daemon *d)
{
	struct members *m = &d->members;
	uint32_t at = 0;

	while (at < m->count) {
		struct members_question *waiting = &m->waiting[at];
		struct members_question question;
		bool refused = false;

		if (waiting->member == 0 &&
		    policy_sandbox_by_source(d->engine.policy,
			&waiting->client.addr) == 0)
			waiting->member = meet(d, &waiting->client, &refused);
		else if (waiting->member == 0)
			refused = true; /* no member's any more */
		if (!refused) {
			at++;
			continue;
		}
		question = take(m, at);
		turn_away(d, &question);
	}
}

/* ---- going ----------------------------------------------------------- */

void
members_heard(struct daemon *d, uint32_t sandbox)
{
	struct guests *g = &d->guests;

	if (sandbox < g->first || sandbox - g->first >= g->count)
		return;
	g->guest[sandbox - g->first].heard_ms = d->now_ms;
	if (d->members.look_ms == 0)
		d->members.look_ms = d->now_ms + 1;
}

bool
members_is_idle(uint64_t heard_ms, uint32_t pins, uint32_t idle_ms,
    uint64_t now_ms)
{
	return pins == 0 && now_ms >= heard_ms + idle_ms;
}

static bool
is_idle_member(const struct daemon *d, uint32_t number)
{
	const struct guest *guest = &d->guests.guest[number - d->guests.first];
	const struct edge_config *edge = d->config->edge;

	return guest->stage == GUEST_HERE && number <= edge->sandbox_count &&
	    edge->sandboxes[number - 1].each != 0 &&
	    members_is_idle(guest->heard_ms,
		d->engine.pins.sandbox_pins[number], d->members.idle_ms,
		d->now_ms);
}

static void
look(struct daemon *d)
{
	struct members *m = &d->members;
	uint32_t pause = m->idle_ms / LOOKS;

	m->look_ms = d->now_ms + (pause < LOOK_MS ? pause : LOOK_MS);
	if (reload_is_under_way(&d->reload))
		return;
	for (uint32_t i = 0; i < d->guests.count; i++)
		if (is_idle_member(d, d->guests.first + i))
			guests_dismiss_idle(d, d->guests.first + i);
}

uint64_t
members_deadline(const struct daemon *d)
{
	const struct members *m = &d->members;
	uint64_t at = m->look_ms != 0 ? m->look_ms : DEADLINE_NEVER;

	if (m->count > 0 && m->waiting[0].due_ms < at)
		return m->waiting[0].due_ms;
	return at;
}

void
members_expire(struct daemon *d)
{
	struct members *m = &d->members;

	while (m->count > 0 && m->waiting[0].due_ms <= d->now_ms) {
		struct members_question question = take(m, 0);

		turn_away(d, &question);
	}
	if (m->look_ms != 0 && m->look_ms <= d->now_ms)
		look(d);
}
