/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_pins - what the engine does about pins when nobody asks: take them
 * up again at start, judge them anew after a policy change, forget them when
 * the kernel lost them or their last flow is over.
 *
 * This is the other half of engine.c: it defines the engine_…() functions of
 * engine.h for these inputs, and the steps below for engine.c alone.
 */
#ifndef LIB_ENGINE_PINS_H
#define LIB_ENGINE_PINS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/engine.h"

void engine_pins_init(struct engine *, struct arena *);
/* Begins the walk over the ledger after a policy change. */
void engine_pins_rejudge(struct engine *);
/* Marks what is over as lapsed. */
void engine_pins_expire(struct engine *);
/* When engine_pins_expire() or a step is wanted. */
uint64_t engine_pins_deadline(const struct engine *);
/* One step at our own pace, which adds at most two effects; false when there
 * is nothing to do. */
bool engine_pins_step(struct engine *);

/* Every input begins with this: time does not go backwards, and the effects
 * of the input before were pulled (both REQUIREd). */
void engine_enter(struct engine *, uint64_t now_ms);
/* An event effect, zeroed but for action, sandbox and client (may be NULL). */
struct event *engine_event(struct engine *, enum event_action,
    uint32_t sandbox, const struct client *);

#endif
