/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_parts - what engine.c leaves to its other halves, and what they
 * share. Private to the engine.
 *
 * engine_policy.c: what is decided by. engine_local.c: answers that need no
 * upstream. engine_hold.c: the addresses of one answer against the ledger.
 * engine_events.c: what is told about it.
 * engine_schedule.c: names that are asked on our own clock.
 * engine_edges.c: when asks leave. engine_budget.c: who pays for them.
 * engine_warm.c: what was paid, kept warm.
 * engine_pins.c: pins when nobody asks; engine_packets.c: packets that were
 * rejected and flows that ended; engine_quarantine.c: sandboxes that are cut
 * off. These also define the engine_…() functions of engine.h for their
 * inputs.
 */
#ifndef LIB_ENGINE_PARTS_H
#define LIB_ENGINE_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/engine.h"

/* A policy's name and the longest text of a denial. */
#define ENGINE_TEXT_MAX 192

/* Every input begins with this: time does not go backwards, and the effects
 * of the input before were pulled (both REQUIREd). */
void engine_enter(struct engine *, uint64_t now_ms);

/* local: whether a name is the reverse of an address. */
bool engine_read_reverse(const struct dname *, struct addr *ret);
/* The names that hold an address for this sandbox, as the query's answer; or
 * why none. */
enum denial engine_answer_reverse(const struct engine *, struct query *,
    const struct addr *);
/* Loopback, or a rule's own addresses, as the query's answer; or why none. */
enum denial engine_answer_here(const struct engine *, struct query *);

/* hold: what is left of the answer's TTL, a begun second counted. */
uint32_t engine_ttl_left(const struct engine *, const struct query *);
/* Asks the kernel for every address and service of the answer that it does
 * not hold long enough; pins_waiting says how many answers are to come. */
void engine_hold(struct engine *, uint64_t id, struct query *);
/* What an ack changes in the kernel and in the state. */
void engine_note_ack(struct engine *, const struct pin_ack *, int status);
/*
 * Leaves in the answer only what the ledger says the kernel holds, and tells
 * no TTL beyond the shortest pin less grace. Returns the TTL; where nothing
 * is left the query's denial says so.
 */
uint32_t engine_keep_held(struct engine *, struct query *);

/* events: zeroed but for action, sandbox and client (which may be NULL). */
struct event *engine_event(struct engine *, enum event_action, uint32_t sandbox,
    const struct client *);
/* Whether the policy of a sandbox (0: of nobody) audits. */
bool engine_is_audit(const struct engine *, uint32_t sandbox);
/* Shows a question to the alarm, and raises it. */
void engine_observe(struct engine *, const struct query *);
/* Raises the alarm when a part of an answer held protected addresses. */
void engine_report_protected(struct engine *, const struct lookup *,
    uint8_t part);
/* The same for the fixed addresses of a rule. */
void engine_report_fixed(struct engine *, const struct query *);
/* What an extended error says of a denial: the form's text, behind the name
 * of the policy where it was the policy that said no. */
void engine_explain_denial(const struct engine *, const struct query *,
    const char *text, char ret[ENGINE_TEXT_MAX]);
/* The one record of what became of a query. */
void engine_audit(struct engine *, const struct query *, uint8_t rcode,
    uint32_t ttl_s, uint8_t addr_count);

/* A part of a lookup has failed for good: whoever can be decided goes on, and
 * the lookup is closed when it was the last. */
void engine_part_failed(struct engine *, lookup_id, uint8_t part,
    enum ask_failure);
/* The policy may have changed since the lookup began: it is judged by the one
 * that holds now. */
void engine_refresh_verdict(struct engine *, struct lookup *);

/* Takes the part of a result that a question is about, or why there is
 * none. */
void engine_take_answer(struct query *, const struct cache_entry *,
    enum denial failure);

/* schedule: carves. */
void engine_schedule_init(struct engine *, struct arena *,
    const uint8_t secret[16]);
/* After a policy change: what it names is asked from now on, and nothing
 * else. */
void engine_schedule_follow(struct engine *);
/* Whose turn it is. */
void engine_schedule_expire(struct engine *);
uint64_t engine_schedule_deadline(const struct engine *);
/* Where a question's name is asked on our own clock; NULL: it is not. */
struct schedule_item *engine_scheduled(struct engine *, const struct query *);
/* As the query's answer or denial, what is known; false: nothing yet. */
bool engine_answer_scheduled(struct engine *, struct query *,
    const struct schedule_item *);
/* A lookup of ours is over: whoever waited goes on. */
void engine_schedule_done(struct engine *, const struct lookup *);

/* budget: carves. */
void engine_budget_init(struct engine *, struct arena *,
    const uint8_t seed[32]);
/* A sandbox is new: the clock of what it will ask begins. */
void engine_budget_begin(struct engine *, uint32_t sandbox);
/* Closes the keys of a sandbox (0: of all) until they are asked for again. */
void engine_budget_close(struct engine *, uint32_t sandbox);
/* Pays for a lookup that leaves now, all its parts; the second time it says
 * what the first one did. One effect, or a few events. */
bool engine_budget_pay(struct engine *, struct lookup *);
/* Pays for a further try of one part. */
bool engine_budget_pay_again(struct engine *, const struct lookup *);
/* Whether a name is kept warm for another time. */
bool engine_budget_stay(struct engine *, uint32_t key, bool asked);
/* What was spent by the rule of a verdict; false: nothing yet. */
bool engine_budget_spent(const struct engine *, uint32_t sandbox,
    const struct verdict *, struct budget_report *ret);

/* warm: carves. */
void engine_warm_init(struct engine *, struct arena *,
    const uint8_t secret[16]);
/* What a lookup has brought is kept, for whoever asked; and what was paid is
 * kept warm. */
void engine_keep(struct engine *, const struct lookup *);
/* A client has asked what may be warm. */
void engine_warm_asked(struct engine *, const struct query *);
/* One refresh or end of those that are due; false: that is all. */
bool engine_warm_step(struct engine *);
uint64_t engine_warm_deadline(const struct engine *);
/* After a policy change: what it does not allow is not refreshed any more. */
void engine_warm_rejudge(struct engine *);

/* edges: carves. */
void engine_edges_init(struct engine *, struct arena *);
void engine_edges_shift(struct engine *);
/* Has one part of a lookup leave at the next edge; again: it did before. The
 * repeat over a stream is no further try. */
void engine_depart(struct engine *, lookup_id, uint8_t part, bool again);
/* An edge that is due begins; false when none is. */
bool engine_edges_open(struct engine *);
/* One ask leaves; false when none is left of this edge. */
bool engine_edges_step(struct engine *);

/* pins: carves, and begins the walk over the ledger after a policy change. */
void engine_pins_init(struct engine *, struct arena *);
void engine_pins_rejudge(struct engine *, uint32_t sandbox);
/* The same walk, which forgets all of a sandbox's. */
void engine_pins_forget(struct engine *, uint32_t sandbox);
/* Marks what is over as lapsed. */
void engine_pins_expire(struct engine *);
/* When engine_pins_expire() or a step is wanted. */
uint64_t engine_pins_deadline(const struct engine *);
/* One step at our own pace, which adds at most two effects; false when there
 * is nothing to do. */
bool engine_pins_step(struct engine *);
/* quarantine: carves, and has each event that is told considered. True: an
 * audit keeps the sandbox from being cut off by it. */
void engine_quarantine_init(struct engine *, struct arena *);
bool engine_note_alert(struct engine *, enum event_action, uint32_t sandbox);
/* The one step after an alert; false when there is none to do. */
bool engine_quarantine_step(struct engine *);

/* RECORD or FORGET; UNPIN, FLOWS or RECALL. */
void engine_record(struct engine *, enum effect_kind, uint32_t slot,
    uint32_t sandbox);
void engine_request(struct engine *, enum effect_kind, uint32_t slot,
    const struct pin_element *, uint64_t lifetime_ms);

#endif
