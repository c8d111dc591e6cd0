/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pins - what is open for whom, as the daemon says.
 */
#ifndef SRC_CLI_PINS_H
#define SRC_CLI_PINS_H

#include "src/cli/cli.h"
#include "src/cli/json.h"

/* One line of the daemon's answer, for people. */
void pins_put(const struct json *pin);

#endif
