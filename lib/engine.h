/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine - the life of a query; the only module that knows the order of
 * things.
 *
 * The engine is told everything and does nothing: bytes, results and the time
 * come in, effects are pulled out. No syscalls, no heap, no clock. After every
 * input the shell drains engine_next_effect() until it gives false (REQUIREd
 * on entry of the next input). Inputs only mark things ready; the work is
 * done one query a step while effects are pulled.
 *
 * now_ms is CLOCK_BOOTTIME in milliseconds and never goes backwards
 * (REQUIREd).
 */
#ifndef LIB_ENGINE_H
#define LIB_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/arena.h"
#include "lib/budget.h"
#include "lib/cache.h"
#include "lib/deadlines.h"
#include "lib/effect.h"
#include "lib/lookup.h"
#include "lib/packet.h"
#include "lib/pins.h"
#include "lib/policy.h"
#include "lib/query.h"
#include "lib/rng.h"
#include "lib/schedule.h"
#include "lib/tunnel.h"
#include "lib/warm.h"

struct engine_settings {
	uint32_t ttl_floor_s, ttl_cap_s, ttl_negative_s; /* 5, 300, 5 */
	uint32_t pin_floor_ms, pin_cap_ms, pin_grace_ms;
	uint32_t question_ms; /* 2000 */
	uint32_t pin_ms; /* 500: how long a pin may take */
	uint32_t lookup_ms; /* 1900: after which a lookup is given up whatever
			       the transport says */
	uint32_t
	    budget_sandbox; /* what a sandbox may tell, 1/256 bit in 24 h */
	uint32_t warm_ms; /* how long what was paid is kept warm */
	uint32_t tick_ms; /* 1: asks leave on multiples of it only */
};

struct engine_limits {
	uint32_t sandboxes_max; /* highest number + 1 */
	uint32_t queries_max, queries_per_sandbox_max;
	uint32_t lookups_max, lookups_per_sandbox_max;
	uint32_t scheduled_max; /* names; 0: nothing is scheduled */
	struct budget_limits budget;
	struct warm_limits warm;
	struct cache_limits cache;
	struct pins_limits pins;
	struct tunnel_limits tunnel;
	struct engine_settings settings;
};

/* Lookups of our own at a time, beside those of sandboxes. */
#define ENGINE_OWN_LOOKUPS 256

/*
 * Asks that wait for the next edge of the clock, a multiple of the tick. They
 * leave together, sorted by what they ask, so that when within a tick a
 * question came, and in which order, is not seen outside.
 */
struct departure {
	lookup_id lookup;
	uint8_t part;
	bool again; /* a further try of the same ask */
};

struct departures {
	struct departure *waiting;
	uint32_t capacity, count;
	uint32_t leaving; /* while an edge is served: the next one's place */
	bool open; /* an edge is being served */
	uint64_t edge_ms; /* DEADLINE_NEVER: nobody waits */
};

enum rejected_kind {
	REJECTED_REFUSED,
	REJECTED_UNSOUND,
	REJECTED_SPOOFED,
	REJECTED_AUDITED /* it passed, and enforcement would have refused it */
};

struct rejected {
	enum rejected_kind kind;
	uint32_t ifindex; /* by which it came */
	/* The sandbox that answers for a source that is none; 0: nobody. */
	uint32_t stands_for;
	struct packet packet;
};

struct ended_flow {
	struct addr source, destination; /* as its first packet had them */
	uint16_t source_port;
	struct service service;
	struct event_flow passed;
	uint32_t duration_ms; /* where passed.timed */
};

/* Counts since start, for status. */
struct engine_counts {
	uint64_t queries, answered, denied, failed, dropped;
	uint64_t cache_hits, lookups, asks, stale_answers, stale_acks;
	uint64_t pins_asked, pins_refused, pins_full, overload;
	uint64_t tunnel_suspected, rebinding_blocked;
	uint64_t rejects, spoofed_packets, flows_ended;
	uint64_t schedule_full; /* scheduled names that found no place */
	uint64_t unpaid; /* lookups and tries that the ledger refused */
	uint64_t budget_full; /* of these, for want of room in it */
	uint64_t audited, audited_packets; /* let pass all the same */
	uint64_t asks_late; /* left at a later edge than their own */
};

/* Of a sandbox. due: an alert has cut it off, the kernel is not told yet. */
struct engine_quarantine {
	bool on, due;
	enum event_action alert;
};

struct engine {
	struct engine_limits limits;
	const struct policy *policy;
	struct rng rng;
	struct effects effects;
	struct queries queries;
	struct lookups lookups;
	struct departures departures;
	struct budget budget;
	uint32_t *key_sandbox; /* whose an open key is, by key; 0: closed */
	uint64_t *since_ms; /* when a sandbox's clock in the ledger began */
	uint64_t budget_sweep_ms; /* when keys that are over go */
	struct schedule schedule;
	struct warm warm;
	bool warm_open; /* what is due there is being served */
	struct cache cache;
	struct pins pins;
	struct tunnel tunnel;
	struct engine_counts counts;
	uint64_t now_ms;
	uint64_t wall_offset_ms; /* add it to now_ms: the time of day */
	uint64_t policy_generation; /* counts the policies that were set */
	bool helper_lost;
	bool settling; /* between start and engine_settled() */
	uint32_t rejudge_slot; /* of the walk after a policy change, or
				  TABLE_NONE */
	uint32_t rejudge_sandbox; /* whose pins the walk is about, 0: all */
	bool rejudge_gone; /* they are forgotten, unseen */
	struct deadlines flows_due; /* lapsed elements to ask about, by slot */
	uint8_t *flows_state; /* enum flows_state by slot */
	uint32_t flows_in_flight;
	struct engine_quarantine *quarantines; /* by sandbox */
	uint32_t quarantines_due;
};

/* Carves everything out of the arena: 0, or -ENOMEM when it was too small
 * (arena->used then says how much it would take). With a measuring arena it
 * touches nothing else. */
int engine_init(struct engine *, const struct engine_limits *, struct arena *,
    const uint8_t seed[32]);
/* Swaps the policy in, while the one before is still there; what it no longer
 * grants is revoked as effects are pulled, cached answers are dropped, the
 * rest is left alone. */
void engine_set_policy(struct engine *, const struct policy *, uint64_t now_ms);
/*
 * The sandbox of a number goes; while the policy still has it. Who waits is
 * REFUSED, and pins (whoever cuts the kernel's is not asked to), answers and
 * evidence are forgotten; what is still to come from upstream and kernel is
 * stale. Once the effects are pulled the number is as if it had been nobody's,
 * and may leave the policy.
 */
/* After a sandbox took a number in the policy that is set. */
void engine_attach(struct engine *, uint32_t sandbox, uint64_t now_ms);
void engine_detach(struct engine *, uint32_t sandbox, uint64_t now_ms);
/* The policy that holds grants a sandbox (0: all) something else than it did:
 * as when a policy is set. */
void engine_regrant(struct engine *, uint32_t sandbox, uint64_t now_ms);
/* Settings of a reload, for what is decided from now on. */
void engine_set_settings(struct engine *, const struct engine_settings *);

/* What time of day it is, for rules with a date: no pin and no lifetime goes
 * beyond it. That the rule is over is for policy_expire_rules() to say. */
void engine_set_wall(struct engine *, uint64_t wall_ms, uint64_t now_ms);

/*
 * Start, after the first engine_set_policy(). For each record of the state:
 * recall; then recalled once. Records that the policy no longer grants are
 * left out, the others give RECORD (under their new slot: the state begins
 * empty) and RECALL effects; then one SETTLE. Until engine_settled() every
 * question is answered SERVFAIL. status: 0 or negative errno, which keeps it
 * so. A recalled pin is not relied on: the next answer asks the kernel anew.
 */
void engine_recall(struct engine *, const struct pin_record *, uint64_t now_ms);
void engine_recalled(struct engine *, uint64_t now_ms);
void engine_settled(struct engine *, int status, uint64_t now_ms);

void engine_query(struct engine *, const struct client *, const uint8_t *,
    size_t, uint64_t now_ms);
void engine_answer(struct engine *, lookup_id, uint8_t part, const uint8_t *,
    size_t, uint64_t now_ms);
/* A try has failed, and somebody is left who can be asked; it is asked anew
 * with this trail, on an edge like all that leaves. */
void engine_ask_again(struct engine *, lookup_id, uint8_t part,
    const struct ask_trail *, uint64_t now_ms);
/* Nobody is left. */
void engine_ask_failed(struct engine *, lookup_id, uint8_t part,
    enum ask_failure, uint64_t now_ms);
void engine_pinned(struct engine *, uint64_t op, int status, uint64_t now_ms);
/* Whether connection tracking knows a flow for a lapsed element (the slot of
 * EFFECT_FLOWS). status negative: unknown, ask later. */
void engine_flows(struct engine *, uint32_t slot, int status, bool flow,
    uint64_t now_ms);
/* The kernel lost the pins of a sandbox (0: of all) with its flows. Gives one
 * FORGET of FORGET_ALL; of all also the pins-lost alert, since then somebody
 * else changed the table. */
void engine_pins_lost(struct engine *, uint32_t sandbox, uint64_t window_ms,
    uint64_t packets, uint64_t now_ms);
/*
 * A packet that the kernel rejected and logged: one alert for each, which
 * says what the ledger knows of its destination. A SPOOFED
 * one is never ascribed to the sandbox whose address it bears.
 */
void engine_rejected(struct engine *, const struct rejected *, uint64_t now_ms);
/* A quota of a sandbox is half spent, or spent: an alert. */
struct uploaded {
	uint32_t sandbox; /* that exists, or nothing is told */
	bool exceeded; /* all of it */
	bool sum; /* over all that it sends; else over a rule */
	bool has_rule; /* which is one with a name */
	enum rule_kind kind;
	struct dname name;
	uint64_t used, limit; /* octets of this day */
};
void engine_uploaded(struct engine *, const struct uploaded *, uint64_t now_ms);
/* A flow that connection tracking has ended: an event where a sandbox began
 * it and the ledger knows its destination. */
void engine_flow_ended(struct engine *, const struct ended_flow *,
    uint64_t now_ms);
/*
 * Cuts a sandbox off until engine_release(), over every change of policy:
 * its pins are forgotten and its questions denied, and QUARANTINE has the
 * kernel drop its packets and flows. Nothing is done when it is cut off
 * already. on_record: the state says that it was, so that there is no event.
 * An alert that the sandbox's policy names in quarantine_on does the same.
 */
void engine_quarantine(struct engine *, uint32_t sandbox, bool on_record,
    uint64_t now_ms);
/* What the alarm has seen of it is forgiven too. */
void engine_release(struct engine *, uint32_t sandbox, uint64_t now_ms);
bool engine_is_quarantined(const struct engine *, uint32_t sandbox);
/* The number is nobody's any more. */
void engine_quarantine_forget(struct engine *, uint32_t sandbox);
/* The helper is gone: every pending pin fails, no address leaves any more. */
void engine_helper_lost(struct engine *, uint64_t now_ms);
void engine_expire(struct engine *, uint64_t now_ms);

/* When engine_expire() is wanted; DEADLINE_NEVER when never. */
uint64_t engine_deadline(const struct engine *);
bool engine_next_effect(struct engine *, struct effect *ret_effect);

/* What a question would get, without asking anybody or touching a ledger:
 * the evaluator behind `namewall explain`. */
struct verdict engine_explain(const struct policy *, uint32_t sandbox,
    const struct dname *, uint16_t type);
/* What a question would cost now, or why it costs nothing. */
enum engine_cost {
	COST_PRICE,
	COST_DENIED, /* nothing is asked */
	COST_LOCAL, /* nobody is asked: fixed addresses and the like */
	COST_SCHEDULED, /* asked on our own clock */
	COST_CACHED, /* known to this sandbox */
	COST_AUDIT /* no rule grants it, an audit lets it pass */
};

struct engine_quote {
	struct budget_price price;
	uint64_t left; /* the least of what the three meters have */
};

/* *ret is set with COST_PRICE only. */
enum engine_cost engine_price(const struct engine *, uint32_t sandbox,
    const struct dname *, uint16_t type, uint64_t now_ms,
    struct engine_quote *ret);
/* What a wildcard of a sandbox has spent; rule RULE_NONE: its exact names that
 * are asked on demand. False: nothing was asked by it in the last day, and it
 * has all of its budget. */
bool engine_budget_of_rule(const struct engine *, uint32_t sandbox,
    uint32_t rule, uint64_t now_ms, struct budget_report *ret);
/* The same of all of a sandbox (BUDGET_SANDBOX) or of its policy. */
bool engine_budget_of_sum(const struct engine *, uint32_t sandbox,
    enum budget_level, uint64_t now_ms, struct budget_report *ret);

#endif
