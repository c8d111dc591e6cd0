/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * world - one run of the simulator: a virtual clock, one stream of random
 * numbers, models of everything that the core talks to, and an oracle that
 * looks on.
 *
 * The seed draws the faults first, then the work. Whatever will happen later
 * stands in one list of deliveries, in order of time; nothing else moves the
 * clock. The same seed gives the same run, effect by effect.
 */
#ifndef TESTS_SIM_WORLD_H
#define TESTS_SIM_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/rng.h"
#include "lib/table.h"
#include "tests/rig/rig.h"

#define SIM_SANDBOXES  3
#define SIM_QUERIES    260 /* in one run */
#define SIM_RULES      16
#define SIM_WIRE_MAX   1400
#define SIM_ELEMENTS   4096
#define SIM_DELIVERIES 8192

/* How often something goes wrong, in percent, or how many times. */
struct faults {
	uint32_t loss, duplicate, spoof, stale, poison, truncate, broken;
	uint32_t protect; /* answers with protected addresses among them */
	uint32_t pin_error, pin_slow;
	uint32_t upstream_ms, helper_ms; /* usual delay at most */
	uint32_t policy_changes, flushes, links, pauses, restarts;
	uint32_t departures, assigns, revokes;
	uint32_t quarantines; /* put on or lifted by hand */
	uint32_t audit; /* percent: that a drawn policy's second profile does */
	bool quarantine_on; /* one of the policies cuts off after an alert */
	bool helper_dies;
	uint32_t exfiltrating, garbage; /* of a hundred clients */
};

enum delivery_kind {
	DELIVER_QUERY, /* from a client */
	DELIVER_ANSWER, /* from the upstream */
	DELIVER_ASK_FAILED,
	DELIVER_HELPER, /* the helper takes its next request */
	DELIVER_PINNED, /* and answers */
	DELIVER_FLOWS,
	DELIVER_LOST,
	DELIVER_FLUSH, /* somebody changes the kernel's table */
	DELIVER_HELPER_DEAD,
	DELIVER_POLICY,
	DELIVER_DETACH, /* the caller wants a sandbox away */
	DELIVER_DETACHED, /* the helper has cut it */
	DELIVER_ATTACH, /* somebody comes in its place */
	DELIVER_ASSIGN,
	DELIVER_REVOKE,
	DELIVER_QUARANTINE, /* put on, or lifted where it is on */
	DELIVER_PAUSE, /* the whole machine stands still */
	DELIVER_RESTART /* kill -9, and up again */
};

struct delivery {
	uint64_t at_ms, order;
	enum delivery_kind kind;
	uint32_t number; /* of the query; sandbox; slot */
	uint64_t id; /* lookup, op */
	uint8_t part;
	int status;
	bool flag; /* a flow; SETTLE; HELPER: it is a DETACH */
	enum effect_kind request; /* HELPER */
	struct pin_element element;
	uint32_t lifetime_ms;
	uint16_t len;
	uint8_t wire[SIM_WIRE_MAX];
};

/* A rule, once more in our own words: the oracle does not ask the policy. */
struct sim_rule {
	const char *pattern;
	bool deny;
	const char *terms; /* in the rig's words */
};

struct sim_policy {
	bool has[2][SIM_RULES]; /* by profile: which rules are in it */
	bool gone[SIM_SANDBOXES + 1]; /* detached */
	uint8_t profile_of[SIM_SANDBOXES + 1];
	bool withdrawn[SIM_SANDBOXES + 1][SIM_RULES]; /* 0: from all */
	bool audit; /* of the second profile */
	struct policy *policy;
};

struct sim_query {
	bool open; /* an outcome is to come */
	bool silent; /* none may come: it was no question */
	uint32_t sandbox;
	uint64_t opened_ms;
};

/* What the kernel holds. */
struct kernel {
	struct table elements;
	uint64_t until_ms[SIM_ELEMENTS];
	bool recalled[SIM_ELEMENTS]; /* at a start: a record explains it */
	void *block;
};

struct world {
	uint64_t seed;
	uint32_t plant; /* an invariant to break on purpose, 0: none */
	bool verbose;
	struct rng rng;
	struct faults faults;
	uint64_t now_ms, pause_end_ms;
	struct engine_limits limits;
	struct engine *engine;
	struct sim_policy policy;

	/* A heap of pointers: deliveries are large. */
	struct delivery **heap;
	uint32_t delivery_count;
	uint64_t order_next;

	/* The state directory: what is there survives a restart. */
	struct pin_record *state;
	bool *state_used;
	bool quarantined[SIM_SANDBOXES + 1];

	struct kernel kernel;
	uint64_t helper_free_ms; /* requests are taken one after the other */
	uint64_t channel_free_ms; /* and answers come in that order */
	uint32_t flushes_under_way; /* flushed, and the core does not know */
	bool helper_dead;

	struct sim_query queries[SIM_QUERIES];
	uint32_t query_count;
	uint64_t reply_count, outcome_count, addr_reply_count;
	uint32_t acks_swallowed;

	bool leaving[SIM_SANDBOXES + 1]; /* until the helper has cut it */

	/* A policy change: what must be revoked, and what was. */
	bool changing;
	uint32_t unpins_expected, unpins_seen;

	uint64_t trace; /* hash of all effects */
	uint32_t failed; /* the first invariant that did not hold */
	char why[256];
};

/* Pulls and performs what an input gave. */
void world_pump(struct world *);
/* An engine with the policy at hand, and its start up to the SETTLE. */
void world_start_engine(struct world *);

/* Runs one seed to the end, or to the first failure. */
void world_run(struct world *, uint64_t seed, uint32_t plant, bool verbose);

/* Uniform in 0 … bound - 1, and true n times out of a hundred. */
uint32_t world_below(struct world *, uint32_t bound);
bool world_chance(struct world *, uint32_t percent);
/* A new delivery at a time, zeroed but for kind and time. */
struct delivery *world_deliver(struct world *, enum delivery_kind,
    uint64_t at_ms);

/* policy_model.c: rules of one's own, and the plain way to match them. */
void policy_model_draw(struct world *, struct sim_policy *);
/* Withdraws a rule from a sandbox, 0: from all; false: no such rule. */
bool policy_model_withdraw(struct sim_policy *, uint32_t sandbox,
    uint32_t rule);
/* Who comes in the place of a sandbox. */
void policy_model_attach(struct sim_policy *, uint32_t sandbox,
    uint8_t profile);
/* The rule that lets a sandbox resolve a name, NULL: none does. */
const struct sim_rule *policy_model_match(const struct sim_policy *,
    uint32_t sandbox, const char *name);
/* Whether names that no rule grants are asked for it too. */
bool policy_model_audits(const struct sim_policy *, uint32_t sandbox);
/* Its services: how many. */
uint32_t policy_model_services(const struct sim_rule *,
    struct service ret[RULE_SERVICES_MAX]);
/* Whether it may resolve to an address, as far as our rules go. */
bool policy_model_addr(const struct sim_rule *, const struct addr *);

/* client_model.c */
void client_model_plan(struct world *);

/* upstream_model.c */
void upstream_model_ask(struct world *, const struct effect *);

/* helper_model.c */
void kernel_init(struct kernel *);
void kernel_free(struct kernel *);
/* When an element ends that is held at now_ms, otherwise 0. */
uint64_t kernel_until(const struct kernel *, const struct pin_element *,
    uint64_t now_ms);
void helper_model_request(struct world *, const struct effect *);
void helper_model_take(struct world *, const struct delivery *);
/* The same for a resolver that does not live to hear of it. */
void helper_model_take_silently(struct world *, const struct delivery *);
void helper_model_flush(struct world *, uint32_t sandbox);
void helper_model_detach(struct world *, uint32_t sandbox);
/* How many elements of a sandbox it holds. */
uint32_t kernel_count(const struct world *, uint32_t sandbox);
/* A start: what was recalled stays, everything else goes. How much went. */
void helper_model_recall(struct world *, const struct effect *);
uint32_t helper_model_settle(struct world *);

/* comings.c: sandboxes that come, go and change. */
void comings_deliver(struct world *, const struct delivery *);

/* restart.c: the state directory, and the way back from it. */
void restart_state(struct world *, const struct effect *);
void restart_world(struct world *);
/* A quarantine or its end, which the state keeps. */
void restart_quarantine(struct world *, const struct effect *);

/* oracle.c */
void oracle_fail(struct world *, uint32_t invariant, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void oracle_effect(struct world *, const struct effect *);
void oracle_before_policy(struct world *, const struct sim_policy *);
void oracle_after_policy(struct world *);
/* A number that is nobody's now, and one that is about to be somebody's. */
void oracle_detached(struct world *, uint32_t sandbox);
void oracle_attaching(struct world *, uint32_t sandbox);
void oracle_step(struct world *);
void oracle_end(struct world *);

#endif
