/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * helper_client - this side of the channel to the parent.
 *
 * Requests go into a bounded outbox and leave together at the end of a
 * wake-up; responses find what they answer by id. A full outbox fails pins
 * (-EAGAIN), and only pins: what closes a door has a reserve of its own. A
 * hang-up, or an octet out of place, is the end of the helper and so of this
 * program.
 */
#ifndef SRC_RESOLVER_HELPER_CLIENT_H
#define SRC_RESOLVER_HELPER_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "lib/effect.h"
#include "lib/helper_msg.h"

#define HELPER_PINS_MAX 8192 /* in outbox or flight before pins fail */

struct daemon;

/* A request that has no response yet. */
struct helper_request {
	/* PIN: the engine's; FLOWS: the slot; STATS: which, of whom. */
	uint64_t op;
	uint32_t next_free;
	uint16_t generation;
	uint8_t kind; /* enum helper_op, 0: free */
};

struct helper_client {
	struct daemon *daemon;
	uv_poll_t poll;
	int fd;
	bool open, lost, welcome; /* welcome: HELLO was answered */
	bool want_write;
	uint8_t (*outbox)[HELPER_MSG_SIZE];
	uint32_t capacity, head, count; /* of outbox */
	struct helper_request *requests; /* capacity of them */
	uint32_t free_head, in_flight;
	uint64_t *failed_ops; /* pins that found no room, for the engine */
	uint32_t failed_count;
	uint64_t sent, refused, failed;
};

/* reserve: how many requests beside pins must always find room. 0 or a
 * negative errno. */
int helper_open(struct helper_client *, struct daemon *, int fd,
    uint32_t reserve);
void helper_hello(struct helper_client *);
/* A request about no element; op comes back with its response. Loses the
 * helper where it finds no room. */
void helper_tell(struct helper_client *, enum helper_op, uint64_t count,
    uint64_t op);
/* The same about a sandbox as a whole; its number comes back. */
void helper_order(struct helper_client *, enum helper_op, uint32_t sandbox);
/* The same, with all that a message can say; its id is filled in. */
void helper_send(struct helper_client *, struct helper_msg *, uint64_t op);
/* Has withdrawn_passed() called with op once everything that was asked before
 * is done. */
void helper_barrier(struct helper_client *, uint64_t op);
/* PIN, UNPIN, FLOWS or RECALL of an effect; SETTLE has no element. */
void helper_request(struct helper_client *, const struct effect *);
/* Asks for the refused or audited packets of a sandbox, 0: for spoofed ones.
 * False: there is no room to ask. */
bool helper_stats(struct helper_client *, enum helper_stat, uint32_t sandbox);
/* A pin that could not be queued, one at a time; false: no more. */
bool helper_next_failed(struct helper_client *, uint64_t *ret_op);
/* Sends what is in the outbox, as far as it goes. */
void helper_flush(struct helper_client *);
void helper_close(struct helper_client *);

#endif
