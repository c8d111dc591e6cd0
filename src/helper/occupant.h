/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * occupant - which process has a port.
 */
#ifndef SRC_HELPER_OCCUPANT_H
#define SRC_HELPER_OCCUPANT_H

#include <stdbool.h>

#include "lib/text/settings.h"

#define OCCUPANT_TEXT_MAX 64

/* "dnsmasq (pid 812)"; false: it was not found. type: SOCK_DGRAM or
 * SOCK_STREAM. */
bool occupant_find(const struct endpoint *, int type,
    char ret[OCCUPANT_TEXT_MAX]);

#endif
