/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fold - repeats of an event as one line at the end of a window.
 *
 * The first of a kind is told at once and opens a window; what is the same
 * within it is kept, and told once when the window ends, with how many there
 * were. Questions are the same by sandbox, name, type, outcome and reason;
 * rejected packets by sandbox, destination, port and protocol; spoofed ones
 * by interface, source and destination. Everything else is told at once, each
 * time.
 *
 * Nothing is ever lost here: where the table or the sandbox's share of it is
 * full, an event is told at once too. The numbers of all lines (1 where there
 * is none) add up to the events that came in.
 */
#ifndef LIB_FOLD_H
#define LIB_FOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/arena.h"
#include "lib/event.h"
#include "lib/table.h"

struct fold_limits {
	uint32_t windows_max, windows_per_sandbox_max;
	uint32_t sandboxes_max; /* highest number + 1 */
	uint32_t window_ms;
};

/* Private. */
struct fold_window {
	uint64_t until_ms;
	uint64_t repeats;
	struct event last; /* where there are repeats */
};

struct fold {
	struct fold_limits limits;
	struct table keys; /* by age, so the first ends first */
	struct fold_window *windows; /* by slot */
	uint32_t *shares; /* windows by sandbox */
	uint8_t secret[16];
};

void fold_init(struct fold *, struct arena *, const struct fold_limits *,
    const uint8_t secret[16]);
/* True: tell it now. False: it is kept, and will be told by its window. */
bool fold_put(struct fold *, const struct event *, uint64_t now_ms);
/* The line of the next window that is over and had repeats, its count set;
 * false when there is none. DEADLINE_NEVER as the time ends all windows. */
bool fold_pop(struct fold *, uint64_t now_ms, struct event *ret);
/* Ends the next window of a sandbox before its time; the line of one that had
 * repeats. False when none is left. */
bool fold_part(struct fold *, uint32_t sandbox, struct event *ret);
/* When fold_pop() is wanted; DEADLINE_NEVER when never. */
uint64_t fold_deadline(const struct fold *);

#endif
