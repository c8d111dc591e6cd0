/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * oracle - what must hold, whatever happens. The numbers are those of the
 * documentation:
 *
 *   1  no address is replied unless the kernel holds it, for every port of
 *      the rule, at least as long as the TTL and the grace, and as the floor;
 *      no protected or forged address is replied at all
 *   2  no ask leaves for a name that the policy refuses, unless it audits
 *   3  nothing of a detached sandbox is left, neither here nor, once the
 *      helper has said so, in the kernel
 *   4  each question has exactly one outcome, by its deadline
 *   5  the ledger never claims more than the kernel holds
 *   6  no table is over its limit; at rest every pool is empty but for
 *      refreshes of our own
 *   7  after the helper is lost no address is replied, and none at any time
 *      to a sandbox in quarantine, for which nothing is asked; a policy change
 *      revokes exactly what has lost its last holder; at a restart nothing is
 *      held that no record explains
 *   8  the same seed gives the same trace (see simulate.c)
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/require.h"
#include "tests/sim/world.h"

void
oracle_fail(struct world *w, uint32_t invariant, const char *format, ...)
{
	va_list args;

	if (w->failed != 0)
		return;
	w->failed = invariant;
	va_start(args, format);
	(void)vsnprintf(w->why, sizeof(w->why), format, args);
	va_end(args);
}

/* FNV-1a over what an effect means, never over padding. */
static void
trace(struct world *w, const void *data, size_t len)
{
	const uint8_t *octets = data;

	for (size_t i = 0; i < len; i++)
		w->trace = (w->trace ^ octets[i]) * 0x100000001b3ull;
}

static void
trace_element(struct world *w, const struct effect *effect)
{
	trace(w, &effect->u.pin.element.sandbox, 4);
	trace(w, effect->u.pin.element.addr.bytes, 16);
	trace(w, &effect->u.pin.element.service.port, 2);
	trace(w, &effect->u.pin.slot, 4);
	trace(w, &effect->u.pin.lifetime_ms, 4);
}

static void
trace_effect(struct world *w, const struct effect *effect)
{
	trace(w, &w->now_ms, sizeof(w->now_ms));
	trace(w, &effect->kind, sizeof(effect->kind));
	switch (effect->kind) {
	case EFFECT_REPLY:
		trace(w, &effect->u.reply.client.listener, 4);
		trace(w, effect->u.reply.message, effect->u.reply.len);
		break;
	case EFFECT_ASK:
		trace(w, &effect->u.ask.lookup, 8);
		trace(w, &effect->u.ask.ask.id, 2);
		trace(w, &effect->u.ask.ask.type, 2);
		trace(w, effect->u.ask.ask.name.wire,
		    effect->u.ask.ask.name.len);
		break;
	case EFFECT_PIN:
	case EFFECT_UNPIN:
	case EFFECT_FLOWS:
	case EFFECT_RECALL:
		trace_element(w, effect);
		break;
	case EFFECT_SETTLE:
		break;
	case EFFECT_RECORD:
	case EFFECT_FORGET:
		trace(w, &effect->u.record.slot, 4);
		break;
	case EFFECT_QUARANTINE:
	case EFFECT_RELEASE:
		trace(w, &effect->u.quarantine.sandbox, 4);
		break;
	case EFFECT_CHARGED:
		trace(w, &effect->u.charged.key, 4);
		break;
	case EFFECT_EVENT:
		trace(w, &effect->u.event.action, 4);
		trace(w, &effect->u.event.denial, 4);
		trace(w, &effect->u.event.duration_ms, 4);
		break;
	}
}

static void
plain_name(char *name)
{
	size_t len = strlen(name);

	if (len > 1 && name[len - 1] == '.')
		name[len - 1] = '\0';
	for (; *name != '\0'; name++)
		*name = (char)tolower((unsigned char)*name);
}

static void
check_held(struct world *w, uint32_t sandbox, const struct rig_reply *reply,
    const struct sim_rule *rule, const struct addr *addr)
{
	const struct engine_settings *set = &w->engine->limits.settings;
	uint64_t need_ms =
	    w->now_ms + (uint64_t)reply->ttl_s * 1000 + set->pin_grace_ms;
	uint64_t floor_ms = w->now_ms + set->pin_floor_ms;
	struct service services[RULE_SERVICES_MAX];
	uint32_t count = policy_model_services(rule, services);
	char text[ADDR_TEXT_MAX];

	/* As long as clients keep an address, less what the kernel took. */
	if (w->pause_end_ms == 0 && need_ms + set->pin_ms < floor_ms)
		need_ms = floor_ms - set->pin_ms;
	(void)addr_print(addr, text);
	if (!policy_model_addr(rule, addr) || strcmp(text, "203.0.113.66") == 0)
		oracle_fail(w, 1, "%s: %s may never be told", reply->name,
		    text);
	/* Between a flush and its notice nobody can know. */
	if (w->flushes_under_way > 0)
		return;
	for (uint32_t i = 0; i < count; i++) {
		struct pin_element element = { .sandbox = sandbox,
			.addr = *addr,
			.service = services[i] };
		uint64_t until = kernel_until(&w->kernel, &element, w->now_ms);

		if (until < need_ms)
			oracle_fail(w, 1,
			    "%s: %s port %u told for %u s, held for %lld ms",
			    reply->name, text, (unsigned)services[i].port,
			    (unsigned)reply->ttl_s,
			    until == 0 ? 0ll : (long long)(until - w->now_ms));
	}
}

/* Of an audit: not held, and still nothing that is protected or forged. */
static void
check_let_pass(struct world *w, const struct rig_reply *reply)
{
	static const struct sim_rule none = { "", false, "" };
	char text[ADDR_TEXT_MAX];

	for (uint32_t i = 0; i < reply->addr_count; i++) {
		(void)addr_print(&reply->addrs[i], text);
		if (!policy_model_addr(&none, &reply->addrs[i]) ||
		    strcmp(text, "203.0.113.66") == 0)
			oracle_fail(w, 1, "%s: %s told in an audit",
			    reply->name, text);
	}
}

static void
check_addrs(struct world *w, uint32_t sandbox, struct rig_reply *reply)
{
	const struct sim_rule *rule;

	plain_name(reply->name);
	if (strcmp(reply->name, "localhost") == 0)
		return;
	w->addr_reply_count++;
	if (w->quarantined[sandbox])
		oracle_fail(w, 7, "%s: told in quarantine", reply->name);
	if (w->helper_dead)
		oracle_fail(w, 7, "%s: told without a helper", reply->name);
	rule = policy_model_match(&w->policy, sandbox, reply->name);
	if (rule == NULL && policy_model_audits(&w->policy, sandbox)) {
		check_let_pass(w, reply);
		return;
	}
	if (rule == NULL) {
		oracle_fail(w, 1, "%s: no rule grants it", reply->name);
		return;
	}
	for (uint32_t i = 0; i < reply->addr_count; i++)
		check_held(w, sandbox, reply, rule, &reply->addrs[i]);
}

static void
see_reply(struct world *w, const struct effect *effect)
{
	const struct client *client = &effect->u.reply.client;
	struct sim_query *query = &w->queries[client->listener];
	uint64_t latest_ms;
	struct rig_reply reply;

	w->reply_count++;
	if (!query->open || query->silent) {
		oracle_fail(w, 4, "query %u is answered once too often",
		    (unsigned)client->listener);
		return;
	}
	query->open = false;
	latest_ms = query->opened_ms + w->limits.settings.question_ms;
	if (latest_ms < w->pause_end_ms)
		latest_ms = w->pause_end_ms;
	if (w->now_ms > latest_ms)
		oracle_fail(w, 4, "query %u is answered %u ms late",
		    (unsigned)client->listener,
		    (unsigned)(w->now_ms - latest_ms));
	if (!rig_read_reply(effect->u.reply.message, effect->u.reply.len,
		&reply))
		oracle_fail(w, 4, "query %u: ldns cannot read the reply",
		    (unsigned)client->listener);
	else if (reply.addr_count > 12 || reply.foreign_owner)
		oracle_fail(w, 1, "too many addresses, or a foreign owner");
	else if (reply.addr_count > 0)
		check_addrs(w, query->sandbox, &reply);
}

static void
see_ask(struct world *w, const struct effect *effect)
{
	const struct lookup *lookup =
	    lookup_at(&w->engine->lookups, effect->u.ask.lookup);
	char name[DNAME_TEXT_MAX];

	(void)dname_print(&effect->u.ask.ask.name, name);
	if (w->plant == 2)
		(void)snprintf(name, sizeof(name), "x.tunnel.example");
	/* What was paid goes on when its sandbox has gone. */
	if (lookup != NULL && lookup->sandbox == 0 && w->plant != 2) {
		if (lookup->price != LOOKUP_PAID &&
		    lookup->price != LOOKUP_FREE)
			oracle_fail(w, 2, "asked for nobody: %s", name);
	} else if (lookup == NULL ||
	    (policy_model_match(&w->policy, lookup->sandbox, name) == NULL &&
		!policy_model_audits(&w->policy, lookup->sandbox)))
		oracle_fail(w, 2, "asked upstream: %s", name);
	else if (w->quarantined[lookup->sandbox] && !lookup->own)
		oracle_fail(w, 7, "asked upstream in quarantine: %s", name);
	if (w->now_ms % w->limits.settings.tick_ms != 0 &&
	    w->engine->counts.asks_late == 0)
		oracle_fail(w, 2, "asked between edges: %s", name);
}

void
oracle_effect(struct world *w, const struct effect *effect)
{
	trace_effect(w, effect);
	switch (effect->kind) {
	case EFFECT_REPLY:
		see_reply(w, effect);
		break;
	case EFFECT_ASK:
		see_ask(w, effect);
		break;
	case EFFECT_UNPIN:
		if (w->changing)
			w->unpins_seen++;
		break;
	case EFFECT_CHARGED:
		break;
	case EFFECT_EVENT:
		if (effect->u.event.action <= EVENT_DNS_FAILED)
			w->outcome_count++;
		break;
	case EFFECT_PIN:
	case EFFECT_FLOWS:
	case EFFECT_RECALL:
	case EFFECT_SETTLE:
	case EFFECT_RECORD:
	case EFFECT_FORGET:
	case EFFECT_QUARANTINE:
	case EFFECT_RELEASE:
		break;
	}
}

/* Whether a name still grants an element, judged by our own rules. */
static bool
grants(const struct sim_policy *policy, const struct pin_record *r, uint8_t i)
{
	struct service services[RULE_SERVICES_MAX];
	const struct sim_rule *rule;
	char name[DNAME_TEXT_MAX];
	uint32_t count;

	(void)dname_print(&r->holders[i].name, name);
	rule = policy_model_match(policy, r->element.sandbox, name);
	if (rule == NULL || !policy_model_addr(rule, &r->element.addr))
		return false;
	count = policy_model_services(rule, services);
	for (uint32_t s = 0; s < count; s++)
		if (services[s].protocol == r->element.service.protocol &&
		    services[s].port == r->element.service.port)
			return true;
	return false;
}

void
oracle_before_policy(struct world *w, const struct sim_policy *next)
{
	const struct pins *pins = &w->engine->pins;
	uint32_t slot = pins_each(pins, TABLE_NONE);
	struct pin_record r;

	w->changing = true;
	w->unpins_expected = 0;
	w->unpins_seen = 0;
	while (slot != TABLE_NONE) {
		bool held = false;

		REQUIRE(pins_record(pins, slot, &r));
		for (uint8_t i = 0; i < r.holder_count; i++)
			held = held || grants(next, &r, i);
		w->unpins_expected += !held;
		slot = pins_each(pins, slot);
	}
}

void
oracle_after_policy(struct world *w)
{
	w->changing = false;
	if (w->plant == 7 && w->unpins_seen > 0)
		w->unpins_seen--;
	if (w->unpins_seen != w->unpins_expected)
		oracle_fail(w, 7, "%u revoked by a policy change, not %u",
		    (unsigned)w->unpins_seen, (unsigned)w->unpins_expected);
}

void
oracle_detached(struct world *w, uint32_t sandbox)
{
	const struct engine *e = w->engine;

	if (e->queries.sandbox_open[sandbox] != 0 ||
	    e->lookups.sandbox_open[sandbox] != 0 ||
	    e->pins.sandbox_pins[sandbox] != 0 ||
	    e->cache.shares[sandbox].count != 0 ||
	    e->tunnel.sandbox_keys[sandbox] != 0)
		oracle_fail(w, 3, "sandbox %u is gone, and left something",
		    (unsigned)sandbox);
	for (uint32_t i = 0; i < w->limits.pins.pins_max; i++)
		if (w->state_used[i] && w->state[i].element.sandbox == sandbox)
			oracle_fail(w, 3,
			    "sandbox %u is gone, its record %u "
			    "is not",
			    (unsigned)sandbox, (unsigned)i);
	for (uint32_t i = 0; i < w->query_count; i++)
		if (w->queries[i].open && !w->queries[i].silent &&
		    w->queries[i].sandbox == sandbox)
			oracle_fail(w, 3, "query %u of who is gone waits",
			    (unsigned)i);
}

void
oracle_attaching(struct world *w, uint32_t sandbox)
{
	uint32_t count = kernel_count(w, sandbox);

	if (count != 0)
		oracle_fail(w, 3, "%u elements of who had number %u before",
		    (unsigned)count, (unsigned)sandbox);
}

static void
check_ledger(struct world *w)
{
	const struct pins *pins = &w->engine->pins;
	uint32_t slot = pins_each(pins, TABLE_NONE);

	for (; slot != TABLE_NONE; slot = pins_each(pins, slot)) {
		const struct pin_element *element = &pins->pins[slot].element;
		uint64_t claimed = pins_until(pins, element);
		uint64_t held = kernel_until(&w->kernel, element, w->now_ms);

		if (claimed > w->now_ms && held < claimed)
			oracle_fail(w, 5, "the ledger is %lld ms ahead",
			    held == 0 ? -1ll : (long long)(claimed - held));
	}
}

static void
check_limits(struct world *w)
{
	const struct engine *e = w->engine;
	const struct engine_limits *l = &w->limits;
	uint32_t sum = 0;

	for (uint32_t i = 0; i <= SIM_SANDBOXES; i++) {
		sum += e->queries.sandbox_open[i];
		if (e->queries.sandbox_open[i] > l->queries_per_sandbox_max ||
		    e->lookups.sandbox_open[i] > l->lookups_per_sandbox_max ||
		    e->pins.sandbox_pins[i] > l->pins.pins_per_sandbox_max)
			oracle_fail(w, 6, "sandbox %u has more than its share",
			    (unsigned)i);
	}
	if (sum != pool_in_use(&e->queries.pool) ||
	    pins_in_use(&e->pins) > l->pins.pins_max ||
	    cache_in_use(&e->cache) > l->cache.entries_max)
		oracle_fail(w, 6, "a table is over its limit");
}

void
oracle_step(struct world *w)
{
	if (w->reply_count != w->outcome_count)
		oracle_fail(w, 4, "%u replies, %u outcome events",
		    (unsigned)w->reply_count, (unsigned)w->outcome_count);
	check_limits(w);
	if (w->flushes_under_way == 0)
		check_ledger(w);
}

void
oracle_end(struct world *w)
{
	const struct engine *e = w->engine;

	for (uint32_t i = 0; i < w->query_count; i++)
		if (w->queries[i].open && !w->queries[i].silent)
			oracle_fail(w, 4, "query %u has no outcome",
			    (unsigned)i);
	if (pool_in_use(&e->queries.pool) != 0 ||
	    pool_in_use(&e->lookups.pool) != e->lookups.own_open)
		oracle_fail(w, 6, "a query or lookup is open at rest");
	if (!w->helper_dead && pool_in_use(&e->pins.ops) != 0)
		oracle_fail(w, 6, "%u requests are in flight at rest",
		    (unsigned)pool_in_use(&e->pins.ops));
}
