/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * budget - the information ledger: what a question tells, and who pays.
 *
 * Each forward costs the length of its code, in 1/256 bit, under a model that
 * has seen nothing but what the same key was charged before. Codes are
 * proper: at most 2^B different histories cost B bits, the end included
 * (docs/leakage.md has the theorem). So a sandbox that is refused at B bits
 * has not told the outside more, whatever its coding and whatever it was told
 * back. Prices are integers and the same on every machine.
 *
 * A key is one wildcard rule, or the set of exact names that are asked on
 * demand, of one sandbox, known by what it is called, so that it is found
 * again after a detach, a reload and a restart. Each key draws on three
 * meters: its own, its sandbox's and its policy's. A key is forgotten 25 hours
 * after it was closed and when nothing is left in its hours, never for want
 * of room: then the new one is refused.
 *
 * The order of things for whoever drives it:
 *
 *   start    budget_init(); with a state, budget_resume() and then
 *            budget_restore() for each record; a header that does not say
 *            "clean" on disk before the first charge
 *   attach   budget_open_sum() for sandbox and policy, budget_open_key() for
 *   reload   each key; again after a reload, in any order; keys that the new
 *            policy has no more, and those of a detached sandbox:
 *            budget_close_key()
 *   edge     for each question that leaves on this edge, in the order of
 *            sending: budget_charge(); where budget_must_save() says so,
 *            budget_record() of the three meters and the header to disk, then
 *            budget_saved(); then send. What cannot be sent is dropped; its
 *            charge stays
 *   retry    budget_charge_retry() before each further transmission of the
 *            same ask, the same way; else the lookup fails. The repeat over
 *            TCP after truncation is free
 *   warm     budget_charge_stay() when the time that a paid question is kept
 *            warm ends: true, for another time; false, it lapses. It may have
 *            to be saved as any charge. Refreshes in between are free
 *   hourly   budget_sweep()
 *   stop     all records, then a header that says "clean"
 *
 * A refusal changes nothing that a later price or refusal depends on; what it
 * changes is what is told of it, and the alarm.
 *
 * now_ms is CLOCK_BOOTTIME and never goes back. Ticks are multiples of the
 * tick's length since boot; the price is that of the tick in which it is
 * asked for, so that being late is paid as time.
 */
#ifndef LIB_BUDGET_H
#define LIB_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/alarm.h"
#include "lib/arena.h"
#include "lib/crp.h"
#include "lib/dname.h"
#include "lib/meter.h"
#include "lib/table.h"

#define BUDGET_BIT METER_BIT
/* Gaps by their length in bits: 2^40 ticks of 1 ms are 34 years. */
#ifndef BUDGET_GAPS
#define BUDGET_GAPS 40
#endif
#define BUDGET_TYPES       16
#define BUDGET_FIRST       2 /* of an ask, that it is not the last: 1/256 */
#define BUDGET_RETRY       (8 * BUDGET_BIT) /* each further transmission */
#define BUDGET_KEPT_MS     (UINT64_C(25) * METER_HOUR_MS) /* after the close */
#define BUDGET_TICK_MAX_MS 3600000
#define BUDGET_NAME_MAX    255 /* octets of a name that count */
#define BUDGET_NONE        TABLE_NONE
#define BUDGET_RECORD_SIZE 384
#define BUDGET_HEADER_SIZE 48

/* Whose meter; also the order in which they are looked at. */
enum budget_level {
	BUDGET_KEY,
	BUDGET_SANDBOX,
	BUDGET_POLICY,
	BUDGET_LEVELS
};

enum budget_decision {
	BUDGET_PAY,
	BUDGET_REFUSE_KEY,
	BUDGET_REFUSE_SANDBOX,
	BUDGET_REFUSE_POLICY
};

/*
 * What a key or a sum is called, hashed. The hash is the same in every run:
 * names are the operator's, and two that collided would share one ledger.
 */
struct budget_id {
	uint8_t octets[32];
};

/* All state of one key; nothing in it points anywhere. */
struct budget_key {
	struct crp name, label;
	uint16_t gap[BUDGET_GAPS];
	uint32_t gap_sum;
	uint16_t type[BUDGET_TYPES];
	uint32_t type_sum;
	uint16_t stay[2]; /* lapsed, stayed */
	uint32_t names; /* of the exact set; 0: a wildcard */
	uint64_t last_ms; /* the last event, or when its clock was started */
	uint64_t closed_ms; /* by the ledger's clock */
	struct meter meter;
	struct alarm alarm;
	uint32_t sum[BUDGET_LEVELS - 1]; /* slots: of sandbox and policy */
	bool open;
};

_Static_assert(sizeof(struct budget_key) <= 2048, "2 KiB for each key");

/* The meter of a sandbox or of a policy. */
struct budget_sum {
	struct meter meter;
	uint64_t opened_ms; /* by the ledger's clock */
	uint32_t users; /* keys that draw on it, closed ones too */
	uint8_t level;
};

struct budget_limits {
	uint32_t keys_max, sums_max;
};

struct budget {
	struct table keys, sums; /* by struct budget_id */
	struct budget_key *key; /* by slot */
	struct budget_sum *sum;
	uint64_t now_ms; /* the latest seen */
	uint64_t
	    ahead_ms; /* of the ledger's clock before now_ms, modulo 2^64 */
	uint32_t tick_ms;
	uint8_t secret[16]; /* of the hashes in the keys' tables */
};

/* The secrets are drawn anew in each run and leave the process never. */
void budget_init(struct budget *, struct arena *, const struct budget_limits *,
    const uint8_t seed[32]);
/* `bounds.tick`, 1 … BUDGET_TICK_MAX_MS (REQUIREd); 1 until it is set. It may
 * change at any time, which is no sandbox's doing: what is paid already knows
 * the last event by the tick of then, so the next gap begins at its start. */
void budget_set_tick(struct budget *, uint32_t tick_ms);

/* rule: octets that say which rule of the sandbox, its kind and name, not its
 * line nor policy; for an exact set any that no rule has. */
struct budget_id budget_key_id(const char *sandbox, const void *rule,
    size_t len);
struct budget_id budget_sum_id(enum budget_level, const char *name);

/* Finds or makes. The limit (1/256 bit, at most METER_LIMIT_MAX) holds from
 * now on. BUDGET_NONE: the table is full. */
uint32_t budget_open_sum(struct budget *, const struct budget_id *,
    enum budget_level, uint32_t limit, uint64_t now_ms);

struct budget_terms {
	uint32_t limit; /* 1/256 bit in 24 h */
	uint32_t sandbox_sum, policy_sum; /* slots */
	uint32_t names; /* how many an exact set has; 0: a wildcard */
	uint64_t since_ms; /* when the clock of its first gap started: the
			      attach or load, never the first packet */
};

/* Finds or makes. BUDGET_NONE: the table is full, nothing may be asked. */
uint32_t budget_open_key(struct budget *, const struct budget_id *,
    const struct budget_terms *, uint64_t now_ms);
/* An open key (REQUIREd). It is kept for 25 hours, and may still be charged
 * for what was warm. */
void budget_close_key(struct budget *, uint32_t key, uint64_t now_ms);
/* Forgets what has been closed for 25 hours and has spent nothing in them. */
void budget_sweep(struct budget *, uint64_t now_ms);

/* One lookup: A and AAAA are one event. */
struct budget_event {
	const struct dname *name; /* canonical */
	uint8_t labels; /* of it under the rule's parent; exact: all */
	uint8_t type; /* index, the same for a type as long as a key lives */
	uint8_t type_count; /* how many the rule allows, A and AAAA one */
	uint8_t asks; /* packets that leave now */
};

struct budget_price {
	uint32_t part[METER_PARTS]; /* 1/256 bit */
	bool new_name;
};

struct budget_result {
	struct budget_price price;
	/* Bits, by level: half of it is spent, for the first time. */
	uint8_t half;
	/* Refused: how many were since this was told, 0: told this hour. */
	uint32_t refused;
	bool alarm; /* the names have the shape of a tunnel */
};

/* What an event would cost now; changes nothing. */
void budget_price(const struct budget *, uint32_t key,
    const struct budget_event *, uint64_t now_ms, struct budget_price *ret);
/* The same of a key that is not there yet; see struct budget_terms. */
void budget_price_new(const struct budget *, uint32_t names, uint64_t since_ms,
    const struct budget_event *, uint64_t now_ms, struct budget_price *ret);
uint32_t budget_total(const struct budget_price *);
/* Prices, decides and, where it is paid, learns. */
enum budget_decision budget_charge(struct budget *, uint32_t key,
    const struct budget_event *, uint64_t now_ms, struct budget_result *ret);
enum budget_decision budget_charge_retry(struct budget *, uint32_t key,
    uint64_t now_ms, struct budget_result *ret);
/* asked: whether any client asked while it was warm. Where the dearer of the
 * two outcomes cannot be paid it lapses and costs nothing: no choice. */
bool budget_charge_stay(struct budget *, uint32_t key, bool asked,
    uint64_t now_ms, struct budget_result *ret);

struct budget_report {
	uint32_t limit;
	uint64_t used, left; /* in the 24 hours until now */
	uint64_t part[METER_PARTS];
};

void budget_report(const struct budget *, uint32_t key, enum budget_level,
    uint64_t now_ms, struct budget_report *ret);

void budget_report_sum(const struct budget *, uint32_t sum, uint64_t now_ms,
    struct budget_report *ret);

/* Whether, for what the key was charged, the record of a meter has to be on
 * disk before it is sent. Bits, by level. */
uint8_t budget_must_save(const struct budget *, uint32_t key);

/* Records on disk have places: first those of the keys, then of the sums. */
uint32_t budget_place(const struct budget *, uint32_t key, enum budget_level);
uint32_t budget_places(const struct budget *);
/* With a checksum; of a place that is free, zeroes. */
void budget_record(const struct budget *, uint32_t place,
    uint8_t ret[BUDGET_RECORD_SIZE]);
/* The record that was made last is on disk. */
void budget_saved(struct budget *, uint32_t place);
/* What the ledger's clock shows, to be written with every record. wall_ms 0:
 * the wall clock is not to be trusted. */
void budget_header(const struct budget *, bool clean, uint64_t now_ms,
    uint64_t wall_ms, uint8_t ret[BUDGET_HEADER_SIZE]);
/*
 * Sets the ledger's clock by a header, before any record is restored. In the
 * same boot it goes on with now_ms. In another one it goes on by the wall
 * clock, and stands still where that went back or is not to be trusted.
 * False: not a whole header; *ret_clean is false then too, and the clock
 * goes on from the latest hour of the records.
 */
bool budget_resume(struct budget *, const uint8_t header[BUDGET_HEADER_SIZE],
    bool same_boot, uint64_t now_ms, uint64_t wall_ms, bool *ret_clean);
/* 0; -ENOENT: a record of nothing; -EBADMSG: not a whole record; -ENOSPC: the
 * table is full, so the program must not go on. The end of what a key had
 * learnt is charged (METER_END), and, unless it was closed cleanly, what may
 * have followed the record. */
int budget_restore(struct budget *, const uint8_t record[BUDGET_RECORD_SIZE],
    bool clean);

#endif
