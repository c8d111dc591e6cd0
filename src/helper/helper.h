/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * helper - what this program holds while it serves. The parts of it each act
 * on one concern: pinning, revoking, settling, homes, watching.
 */
#ifndef SRC_HELPER_HELPER_H
#define SRC_HELPER_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/helper_msg.h"
#include "lib/text/edge_text.h"
#include "src/helper/attaching.h"
#include "src/helper/batch.h"
#include "src/helper/elements.h"
#include "src/helper/flows.h"
#include "src/helper/guard.h"
#include "src/helper/inherit.h"
#include "src/helper/links.h"
#include "src/helper/monitor.h"
#include "src/helper/refusals.h"
#include "src/helper/ruleset.h"
#include "src/helper/uploads.h"

#define REQUESTS_MAX    64 /* of one wake-up */
#define REVOCATIONS_MAX 4096
/* A packet in flight may confirm its flow after the dump has passed it. */
#define SECOND_PASS_MS 50
#define SHARED_PASS_MS 100 /* how far apart such looks are */
/* Sandboxes come in bursts: one look at connection tracking for many. Whoever
 * is to be pinned does not wait for it. */
#define ARRIVAL_MS 20
/* They come in bursts, and the digest takes all of the table in. */
#define SETTLE_LATER_MS 1000

enum helper_state {
	STATE_NEW, /* the resolver has not said hello */
	STATE_SETTLING, /* it recalls what it remembers */
	STATE_READY
};

enum revocation_kind {
	REVOKE_ELEMENT, /* what is in `cut` */
	REVOKE_SANDBOX, /* a whole one, in quarantine for the time */
	REVOKE_DEPARTED, /* an address that is nobody's now; likewise */
	REVOKE_ARRIVING, /* what was there before one who is attached; he is in
			    quarantine until it is cut */
	REVOKE_ARRIVED /* what of him no pin explains: of before, too */
};

/* Whose flows are being cut. */
struct revocation {
	uint32_t sandbox; /* 0 of an address that is nobody's */
	struct addr addr; /* of an element, or a departed one */
	struct service service;
	uint64_t due_ms; /* of the second pass */
	enum revocation_kind kind;
};

struct request {
	struct helper_msg msg;
	int status;
	uint64_t count; /* of the response */
	bool answered;
	uint32_t ifindex; /* of the response */
	size_t leader; /* the request that stands for this one, or itself */
	uint64_t expires_before_ms; /* what is held when the batch fails */
	bool was_held;
};

enum reload_phase {
	RELOAD_IDLE,
	RELOAD_READING, /* the resolver reads what it was passed */
	RELOAD_SWITCHING /* both configurations are granted */
};

struct reload {
	const char *path; /* of the configuration */
	const char *zones; /* as handover_files() */
	enum reload_phase phase;
	bool wanted; /* once more, when this one is over */
	struct edge_config *held; /* the present one, if a reload brought it */
	struct edge_config *next;
	/* While switching: what the sets had before, and shall have. */
	struct member *before, *after;
	size_t before_count, after_count, after_max;
};

struct helper {
	struct edge_config *config;
	struct reload reload;
	struct attaching attaching;
	struct inherited inherited;
	struct nft nft;
	struct ruleset ruleset;
	struct flows flows;
	struct monitor monitor;
	struct links links;
	struct guard guard;
	struct refusals refusals;
	struct uploads uploads;
	uint32_t resolver_uid;
	int channel;
	enum helper_state state;

	struct member *members; /* of the configured sets, homes last */
	size_t member_count, fixed_count, members_max;

	struct request requests[REQUESTS_MAX];
	size_t request_count;
	struct element elements[2][REQUESTS_MAX * EDGE_SOURCES_MAX];
	struct revocation revocations[REVOCATIONS_MAX];
	size_t revocation_count;

	unsigned int refused_count; /* edge interfaces that cannot be one */
	uint64_t advice; /* enum helper_advice bits, as told */
	uint64_t verify_ms; /* when to verify next */
	uint64_t settle_ms; /* when to take the digest anew, after changes of
			       our own; UINT64_MAX: it holds */
	uint64_t stop_ms; /* when to wait for the resolver no more; UINT64_MAX:
			     nobody has asked to stop */
	bool suspect; /* something failed as if the table were not ours */
	bool sets_gone; /* sets that are lent to us do not take pins now */
	bool broken; /* the resolver broke the protocol, or cannot be told */
};

/* Opens what the kernel is asked by. 0, or a message was logged and it is
 * the exit status. */
int helper_open(struct helper *, struct edge_config *, uint32_t resolver_uid);
void helper_close(struct helper *);
/* Installs or adopts the table, binds what is there, sweeps. The same. */
int helper_install(struct helper *);
/* Milliseconds since the boot, suspend included. */
uint64_t helper_now_ms(void);
/* The element for every source of the sandbox in the address's family; at
 * most EDGE_SOURCES_MAX. */
size_t helper_fan_out(const struct helper *, uint32_t sandbox,
    const struct addr *, struct service, uint32_t timeout_ms,
    struct element *ret);
/* Makes a new list of the configured sets' members; homes are not in it yet.
 * 0 or -ENOMEM. */
int helper_fill_members(struct helper *);
/* We have changed the table, of which the digest is to be taken anew: then, and
 * not while anything is in quarantine for a revocation. */
void helper_changed(struct helper *, uint64_t due_ms);
void helper_tick(struct helper *, uint64_t now_ms);
/* Sends one message to the resolver; sets broken when it cannot be. */
void helper_send(struct helper *, const struct helper_msg *);
/* The same with at most HELPER_FDS_MAX descriptors, which stay open here. */
void helper_send_fds(struct helper *, const struct helper_msg *, const int *fds,
    size_t count);

#endif
