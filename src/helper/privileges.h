/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * privileges - what the two processes keep: the parent one capability, the
 * resolver none.
 */
#ifndef SRC_HELPER_PRIVILEGES_H
#define SRC_HELPER_PRIVILEGES_H

#include <sys/types.h>

#include "src/helper/handover.h"

/* CAP_NET_ADMIN alone, an empty bounding set, and no new privileges. 0 or
 * negative errno. */
int privileges_shed(void);
/*
 * Forks and executes the resolver as the user, without capabilities, with
 * the channel at descriptor 3 and what is handed over. 0 with *ret, or
 * negative errno. The parent's end of the channel is *ret_channel.
 */
int privileges_spawn(const struct handover *, const struct account *,
    pid_t *ret, int *ret_channel);

#endif
