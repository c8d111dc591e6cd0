/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sweep - cutting flows that nothing explains: when the table is born, when
 * a sandbox's home changes, and when the resolver has recalled its records.
 */
#ifndef SRC_HELPER_SWEEP_H
#define SRC_HELPER_SWEEP_H

#include "src/helper/helper.h"

/* Whether an address of the sandbox (0: of any) is in any of the flow's. */
bool sweep_involves(const struct guard *, const struct flow *,
    uint32_t sandbox);
/* Flows that no pin is needed for: to a listener, from this host, and from
 * outside where the operator lets them be opened. */
bool sweep_is_free(const struct guard *, const struct flow *);

/* Of those: to a listener. */
bool sweep_is_to_listener(const struct guard *, const struct flow *);
/* A flow of a sandbox that nothing held explains, and that needs a pin. */
bool sweep_is_unexplained(const struct guard *, const struct flow *);

/* All flows of all sandboxes but to listeners: it is not known which of them
 * were judged by anybody. */
int sweep_all(struct helper *, struct flows_cut *ret);
/* All flows of one sandbox. */
int sweep_sandbox(struct helper *, uint32_t sandbox, struct flows_cut *ret);
/* Of all that move. */
int sweep_moving(struct helper *, struct flows_cut *ret);
/* Flows to sandboxes that are neither from this host nor let in. */
int sweep_uninvited(struct helper *, struct flows_cut *ret);
/* Flows that nothing held explains. */
int sweep_unheld(struct helper *, struct flows_cut *ret);
/* Elements that are not held, then flows that nothing held explains. */
int sweep_unexplained(struct helper *);

#endif
