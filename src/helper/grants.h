/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * grants - what a sandbox that is bound has in the table beside its home and
 * its pins: who may open flows to it (`inbound`), and DHCP with this host.
 */
#ifndef SRC_HELPER_GRANTS_H
#define SRC_HELPER_GRANTS_H

#include "src/helper/helper.h"
#include "src/helper/ports.h"

/* All members of a sandbox that is bound, but for who may open flows to it. */
#define GRANTS_DHCP_MAX      (EDGE_SOURCES_MAX + 3)
#define GRANTS_NEWCOMERS_MAX (2 * EDGE_SOURCES_MAX)
#define HOME_MEMBERS_MAX                                               \
	(EDGE_SOURCES_MAX + GRANTS_NEWCOMERS_MAX + PORTS_MEMBERS_MAX + \
	    GRANTS_DHCP_MAX)

/* Where members of one with `each` may be heard of, and be refused. The number
 * of members. */
size_t grants_newcomers(const struct edge_sandbox *, uint32_t ifindex,
    struct member ret[GRANTS_NEWCOMERS_MAX]);
bool grants_speak_dhcp(const struct guard *, uint32_t number);
/* What lets one speak DHCP, at a port of a bridge or not. */
size_t grants_dhcp(const struct edge_sandbox *, uint32_t ifindex, bool port,
    struct member ret[GRANTS_DHCP_MAX]);
/* Whether a member for DHCP is that of the interface and not of a source. */
bool grants_is_shared(const struct guard *, const struct member *);
/* How many members the flows to all sandboxes of a configuration take. */
size_t grants_inbound_room(const struct edge_config *);
size_t grants_inbound(const struct edge_sandbox *, struct member *ret);
/* Puts into a batch, or takes out, who may open flows to a sandbox. */
void grants_put_inbound(struct batch *, const struct edge_sandbox *, bool in);
/* A reload: brings the sets to what the configuration of now says, and cuts
 * flows to sandboxes that nothing lets be open any more. Of the members that
 * homes_members() has filled. 0 or negative errno. */
int grants_follow(struct helper *);

#endif
