/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ledger - the information ledger (lib/budget.h) in the state directory.
 *
 * A mapped file, as for the pins: what a question costs is in the mapping, so
 * in the file whatever becomes of this process, before the question leaves. A
 * killed process has lost nothing as long as the host runs. For a host that
 * stops, what was spent goes to the disk itself before more of a meter is
 * spent than the record on the disk says may follow it, a sixteenth: at most
 * 17 times a day and meter.
 *
 * Each record and the header have two copies that are written by turns, so
 * that a write that is cut short leaves one of them whole. Records are found
 * by what they are called: a table of another size finds them all, or the
 * program does not start.
 */
#ifndef SRC_RESOLVER_LEDGER_H
#define SRC_RESOLVER_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/budget.h"
#include "src/resolver/records.h"

#define LEDGER_FILE "ledger"

struct ledger {
	struct records file;
	struct budget *budget;
	uint8_t *turn; /* by place, the header last: the copy that is next */
	bool failed; /* the disk did not take it, and that is told */
};

/* Reads what the last run wrote into a budget in which nothing is open, and
 * writes it anew. 0 or a negative errno, logged. */
int ledger_open(struct ledger *, struct budget *, int dir, const char *boot_id,
    uint64_t now_ms);
/* What is written now is what the next start reads; nothing may be charged
 * before. 0 or a negative errno. */
int ledger_settle(struct ledger *);
/* A key was charged: to be called before what was paid leaves. */
void ledger_charged(struct ledger *, uint32_t key, uint64_t now_ms);
/* Nothing is charged any more. */
void ledger_close(struct ledger *, uint64_t now_ms);

#endif
