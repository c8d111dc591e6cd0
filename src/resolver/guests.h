/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guests - sandboxes that are attached, detached and assigned while we run.
 *
 * A guest has a number behind those that sandboxes of the file can have. The
 * parent is the one that lets it in, by its own reading of the file, and its
 * word is waited for: a guest asks nothing before it is bound, and a number is
 * not given again before nothing of who had it passes. Everything else is
 * done here first: whoever leaves is nobody at once, and another policy holds
 * before the parent hears of it, so that no pin is promised that it would cut.
 *
 * Guests are kept in the state directory and brought back at a start; the
 * parent keeps nothing.
 */
#ifndef SRC_RESOLVER_GUESTS_H
#define SRC_RESOLVER_GUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/text/edge_attach.h"
#include "src/resolver/records.h"

#define GUESTS_TEXT_MAX 512
#define GUESTS_FILE     "attached"

struct config;
struct daemon;

enum guest_stage {
	GUEST_NONE,
	GUEST_COMING, /* the parent is asked */
	GUEST_HERE,
	GUEST_CHANGING, /* the parent is told of another policy */
	GUEST_GOING /* and that it is gone */
};

/* Whose word it is. */
struct guests_caller {
	uint64_t serial; /* of the connection that waits; 0: nobody's */
	bool has_user;
	uint32_t user;
};

struct guest {
	enum guest_stage stage;
	bool recalled; /* COMING: from the state */
	bool displaced; /* GOING: the file has its name since a reload */
	bool idle; /* GOING: a member of which nothing is heard any more */
	uint64_t heard_ms; /* when it last asked, or came */
	uint32_t policy_before; /* CHANGING */
	struct guests_caller caller; /* of what is under way */
};

struct guests {
	struct guest *guest; /* by number - first; NULL: there are none */
	uint32_t first, count; /* numbers */
	struct records file;
};

enum guests_answer {
	GUESTS_ASKED, /* the parent; control_answered() follows */
	GUESTS_SAME, /* there was nothing to do */
	GUESTS_BUSY, /* something about it is under way: once more later */
	GUESTS_REFUSED
};

struct guests_refusal {
	const char *code; /* of the control protocol */
	char text[GUESTS_TEXT_MAX];
};

/* 0 or a negative errno, logged. */
int guests_open(struct guests *, struct daemon *, int dir);
void guests_close(struct guests *);
/* Brings back who is in the state; before the pins are recalled. */
void guests_recall(struct daemon *);
/* What is written now is what the next start reads. */
void guests_settle(struct daemon *);

enum guests_answer guests_attach(struct daemon *, const struct edge_attach *,
    const struct guests_caller *, struct guests_refusal *ret);
/* Somebody who is nobody's yet becomes a member; ASKED: *ret is its number. */
enum guests_answer guests_meet(struct daemon *, uint32_t each,
    const struct addr *, uint32_t *ret, struct guests_refusal *ret_why);
void guests_dismiss_idle(struct daemon *, uint32_t sandbox);
enum guests_answer guests_detach(struct daemon *, const char *name,
    const struct guests_caller *, struct guests_refusal *ret);
enum guests_answer guests_assign(struct daemon *, const char *name,
    const char *policy, const struct guests_caller *,
    struct guests_refusal *ret);
/* The number of a sandbox of any kind by its name, at any stage; 0: none. */
uint32_t guests_find(const struct daemon *, const char *name);
/* By name; edge->policy_count: there is none. */
uint32_t guests_policy(const struct daemon *, const char *name);

/* The parent's answers; status 0 or a negative errno. */
void guests_attached(struct daemon *, uint32_t sandbox, int status,
    uint32_t ifindex);
void guests_detached(struct daemon *, uint32_t sandbox, int status);
void guests_assigned(struct daemon *, uint32_t sandbox, int status);
/* The sentence for an answer that is no. */
void guests_explain(int status, struct guests_refusal *ret);

/* A reload: moves guests into the next configuration; who may not stay is
 * gone here, as in the parent, when this returns. */
void guests_carry(struct daemon *, struct config *next);
/* The parent has the next configuration too. */
void guests_followed(struct daemon *);

#endif
