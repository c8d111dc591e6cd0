/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * members - addresses of a sandbox with `each`, which are sandboxes of their
 * own from their first question on.
 *
 * The question waits until the parent has bound its address, and is then
 * judged as the member's. A member goes when it has asked nothing for a day
 * and nothing is held for it, which also says that it has no flow; whoever is
 * detached may come back by his next question. Members are guests in all
 * else.
 */
#ifndef SRC_RESOLVER_MEMBERS_H
#define SRC_RESOLVER_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/engine.h"

#define MEMBERS_IDLE_MS     86400000u
#define MEMBERS_WAITING_MAX 256
/* Longer ones, which no resolver of a host sends, do not wait. */
#define MEMBERS_QUESTION_MAX 512

struct daemon;

struct members_question {
	struct client client;
	uint32_t member; /* who is coming; 0: to be tried again */
	uint64_t due_ms; /* when it is answered without one */
	uint16_t len;
	uint8_t wire[MEMBERS_QUESTION_MAX];
};

struct members {
	struct members_question *waiting; /* in the order in which they came */
	uint32_t count;
	uint32_t idle_ms;
	uint64_t look_ms; /* for who is idle, next; 0: nobody is to be */
	uint64_t
	    told_ms; /* when the log last said that somebody cannot be one */
};

/* idle_ms 0: as it should be. 0 or -ENOMEM. */
int members_open(struct members *, uint32_t idle_ms);
void members_close(struct members *);

/* The sandbox with `each` of which a source that is nobody's would be a
 * member; 0: of none. */
uint32_t members_each(const struct daemon *, const struct addr *);
/* True: a question of nobody's waits for him to be a member. */
bool members_wait(struct daemon *, const struct client *, const uint8_t *wire,
    size_t len);
/* A question of somebody's. */
void members_heard(struct daemon *, uint32_t sandbox);

/* The parent has answered about somebody: his questions go on, or are
 * nobody's. */
void members_arrived(struct daemon *, uint32_t member, bool is_here);
/* What was in the way may be over. */
void members_again(struct daemon *);

uint64_t members_deadline(const struct daemon *);
/* Answers who has waited for too long, and dismisses who is idle. */
void members_expire(struct daemon *);
/* Whether a member that asked last at that time is to go. */
bool members_is_idle(uint64_t heard_ms, uint32_t pins, uint32_t idle_ms,
    uint64_t now_ms);

#endif
