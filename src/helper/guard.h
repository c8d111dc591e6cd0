/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guard - why each request of the resolver is safe, or why it is refused.
 *
 * Pure: it reads the configuration as the parent read it, what is bound, and
 * what is held; it does no IO and has no clock.
 */
#ifndef SRC_HELPER_GUARD_H
#define SRC_HELPER_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/addr.h"
#include "lib/helper_msg.h"
#include "lib/text/edge_attach.h"
#include "lib/text/edge_follow.h"
#include "lib/text/edge_text.h"
#include "src/helper/held.h"

struct guard_sandbox {
	uint32_t ifindex; /* bound to; 0: to none */
	uint32_t port; /* of that bridge, by which it comes; 0: no bridge */
	bool fresh; /* bound anew: nothing older explains anything */
	bool audit; /* the kernel lets it reach what is not protected */
	bool quarantined; /* nothing of it passes, and nothing is opened */
	bool left; /* all that it had was taken away */
	bool moving; /* its interface is another one, or there is none */
	uint32_t next_ifindex, next_port; /* while it is: where it goes */
	bool arriving; /* attached, and flows of before are not cut yet */
	uint32_t known_homes; /* pairs that the table had at the start */
	uint32_t known_ports; /* and its twin, of those at a port */
	uint64_t tokens; /* thousandths of a pin */
	uint64_t tokens_ms; /* when they were counted */
};

struct guard_source {
	struct addr addr;
	uint32_t sandbox;
};

struct guard {
	struct edge_config *config;
	struct protected_ranges ranges; /* the host's own addresses too */
	/* The configuration that is about to hold: what either of the two
	 * grants is granted. NULL: no reload is under way. */
	struct edge_config *next;
	struct protected_ranges next_ranges;
	struct guard_sandbox *sandboxes; /* from 1 */
	uint32_t sandbox_count; /* the highest number; some may be holes */
	uint32_t numbers_max;
	struct guard_source *sources; /* sorted by address */
	size_t source_count;
	struct held held;
};

/* 0 or -ENOMEM. The configuration stays the caller's and must outlive it. */
int guard_init(struct guard *ret, struct edge_config *, uint64_t seed);
void guard_free(struct guard *);
/* A reload: from here on the next configuration grants too, while sandboxes
 * and their addresses are those of the present one. Then it takes its place,
 * and the present one is not looked at any more. It must have followed the
 * present one (edge_follow). */
void guard_widen(struct guard *, struct edge_config *next);
void guard_narrow(struct guard *);
/* Somebody who was judged good is put into the configuration, or goes from it
 * with all that is known of him. Of both configurations while there are two. */
void guard_attach(struct guard *, uint32_t sandbox, const struct edge_attach *);
void guard_detach(struct guard *, uint32_t sandbox);
/* The host's own addresses, as they are now. */
void guard_set_own(struct guard *, const struct addr *, size_t count,
    bool overflow);

/* Each: 0, or why not: -ENOENT no such sandbox, -EAFNOSUPPORT no source of
 * that family, -EACCES no rule names the service, -EADDRNOTAVAIL a protected
 * address, -ERANGE lifetime, -ENODEV not bound, -ESTALE bound anew since,
 * -EPERM in quarantine, -EAGAIN too fast, -ENOSPC too many. */
int guard_pin(struct guard *, const struct helper_msg *, uint64_t now_ms);
int guard_recall(struct guard *, const struct helper_msg *, uint64_t now_ms);
int guard_upload(const struct guard *, const struct helper_msg *);
int guard_spent(const struct guard *, const struct helper_msg *);
int guard_element(const struct guard *, const struct helper_msg *);
int guard_flush(const struct guard *, const struct helper_msg *);
/* Each: 0, or why not: -EBUSY a reload is under way, and of attaching:
 * -EADDRINUSE, -EADDRNOTAVAIL, -EACCES outside the prefixes, -EPERM the
 * policy, -ENOSPC too many, -ENODEV the interface, -EEXIST the number,
 * -EINVAL all else. */
int guard_may_attach(const struct guard *, uint32_t sandbox,
    const struct edge_attach *);
int guard_may_detach(const struct guard *, const struct helper_msg *);
int guard_may_assign(const struct guard *, const struct helper_msg *);
/* Whether the policy that a sandbox has, or is about to have, audits: what is
 * not protected may then be reached without a pin. */
bool guard_is_audit(const struct guard *, uint32_t sandbox);
/* Whether that lets it reach an address. */
bool guard_audits(const struct guard *, uint32_t sandbox, const struct addr *);
/* Whether what is sent there has to count against the quota of some rule. */
bool guard_is_metered(const struct guard *, const struct helper_msg *);
/* Whether the present configuration would still let this be pinned. */
bool guard_opens(const struct guard *, const struct held_pin *);

/* REQUIREs a number up to sandbox_count. */
const struct edge_sandbox *guard_sandbox(const struct guard *,
    uint32_t sandbox);
/* Whether anybody has this number. */
bool guard_exists(const struct guard *, uint32_t sandbox);
/* Whose source address it is; 0: nobody's. */
uint32_t guard_whose(const struct guard *, const struct addr *);
bool guard_is_own(const struct guard *, const struct addr *);
bool guard_is_listener(const struct guard *, const struct addr *,
    uint16_t port);

#endif
