/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve - the loop: requests of the resolver, changes of links and of
 * rulesets, signals, and what is due.
 */
#ifndef SRC_HELPER_SERVE_H
#define SRC_HELPER_SERVE_H

#include <sys/types.h>

#include "src/helper/helper.h"

/* Serves until it should end. signals is a signalfd for SIGTERM, SIGINT,
 * SIGHUP and SIGCHLD. Returns the exit status; the table stays. */
int serve(struct helper *, int signals, pid_t resolver);

#endif
