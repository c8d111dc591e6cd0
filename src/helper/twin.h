/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * twin - the table of the bridge family that stands beside the gateway's.
 *
 * What passes from port to port of a bridge meets no hook of the gateway,
 * and what arrives by a bridge does not tell by which port. So the twin
 * closes the edge's ports toward all others, and makes true what the gateway
 * goes by: that only a sandbox's own port bears its address.
 */
#ifndef SRC_HELPER_TWIN_H
#define SRC_HELPER_TWIN_H

#include "src/helper/gateway.h"

struct table_form twin_table(void);

#endif
