/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ports - what a sandbox at a port of a bridge has in the tables, beside the
 * pair of the bridge and its address.
 */
#ifndef SRC_HELPER_PORTS_H
#define SRC_HELPER_PORTS_H

#include "lib/text/edge_text.h"
#include "src/helper/elements.h"

#define PORTS_MEMBERS_MAX (EDGE_SOURCES_MAX * 5 + 2)
/* The set of ports whose hardware address is not given. */
#define PORTS_ANYMAC "anymac"
/* The set of ports whose sandbox may speak DHCP. */
#define PORTS_DHCP "dhcp"

/* The number of members. */
size_t ports_members(const struct edge_sandbox *, uint32_t port,
    struct member ret[PORTS_MEMBERS_MAX]);

#endif
