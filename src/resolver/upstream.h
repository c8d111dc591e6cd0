/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upstream - asks out, answers in: choose a server, recognise its response,
 * retry, give up.
 *
 * Each ask is one message to one server and has exactly one outcome: an answer
 * (daemon_answer), or a failure (upstream_next_failure). A try takes 800 ms.
 * After silence, SERVFAIL, REFUSED and the like a failure says whether
 * somebody else may be asked, with the trail of the tries until now: when that
 * leaves, if at all, is for the core to decide. A second silent try is the
 * last. What is no response to one of our asks is counted and otherwise as if
 * it had not come. The names at and below a forward zone go to its servers,
 * the longest zone wins.
 */
#ifndef SRC_RESOLVER_UPSTREAM_H
#define SRC_RESOLVER_UPSTREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "lib/ask.h"
#include "lib/deadlines.h"
#include "lib/lookup.h"
#include "lib/rng.h"
#include "lib/text/policy_text.h"
#include "src/resolver/upstream_choice.h"

#define UPSTREAM_TRY_MS     800
#define UPSTREAM_SILENT_MAX 2 /* tries that nobody answered */
#define UPSTREAM_TRIES_MAX  4 /* in all */
#define UPSTREAM_SOCKETS    16 /* for each server */
#define UPSTREAM_BUCKETS    4096
#define FLIGHT_NONE         UINT32_MAX

struct daemon;
struct upstream;
struct udp_socket; /* upstream_udp.c */
struct tcp_link; /* upstream_tcp.c */

struct upstream_server {
	struct endpoint endpoint;
	struct server_health health;
	struct udp_socket *sockets[UPSTREAM_SOCKETS];
	struct tcp_link *link;
	uint64_t asked, answered, silent, broken;
};

/* Whom to ask for the names at and below a zone. */
struct upstream_route {
	struct dname zone;
	uint32_t servers[CHOICE_MAX];
	uint32_t server_count;
};

/* An ask on its way. */
struct flight {
	uint64_t lookup;
	uint8_t part;
	struct ask ask;
	uint32_t route;
	uint32_t choice; /* index into the route's servers */
	struct ask_trail trail;
	bool again; /* failed: somebody may be asked once more */
	void *carrier; /* socket or link; NULL: none */
	uint64_t sent_ms, deadline_ms;
	uint32_t older, younger; /* by deadline; younger also chains the free
				    and the failed ones */
	uint32_t bucket_next;
};

/* A way to carry asks. The only table of functions in the program. */
struct upstream_ops {
	/* 0, or a negative errno when it cannot be sent to this server. Sets
	 * the carrier. */
	int (
	    *ask)(struct upstream *, struct upstream_server *, struct flight *);
	/* The flight no longer waits on its carrier. */
	void (*cancel)(struct flight *);
	/* Closes what is open to a server. */
	void (*close)(struct upstream_server *);
};

struct upstream {
	struct daemon *daemon;
	uv_loop_t *loop;
	struct rng *rng;
	struct upstream_server *servers;
	uint32_t server_count;
	struct upstream_route *routes; /* [0] is the root's */
	uint32_t route_count;
	struct flight *flights;
	uint32_t flights_max, flights_used;
	uint32_t free_head, failed_head;
	uint32_t oldest, youngest;
	uint32_t buckets[UPSTREAM_BUCKETS];
	uint8_t *receive_buf; /* shared by the transports */
	struct tcp_link *links;
	uint64_t foreign; /* datagrams that answer nothing we asked */
	uint64_t not_sent;
};

extern const struct upstream_ops upstream_udp_ops;
extern const struct upstream_ops upstream_tcp_ops;

/* 0 or a negative errno. */
int upstream_open(struct upstream *, struct daemon *, const struct config *,
    uint32_t flights_max);
/* Asks whom this configuration names from now on; what is under way is asked
 * anew where that changes anything. */
void upstream_follow(struct upstream *, const struct config *);
void upstream_ask(struct upstream *, uint64_t lookup, uint8_t part,
    const struct ask *, const struct ask_trail *);
struct upstream_failure {
	uint64_t lookup;
	uint8_t part;
	bool again; /* somebody may be asked once more, with this trail */
	struct ask_trail trail;
	enum ask_failure why;
};

/* An ask that has failed, one at a time; false: no more. */
bool upstream_next_failure(struct upstream *, struct upstream_failure *ret);
uint64_t upstream_deadline(const struct upstream *);
void upstream_expire(struct upstream *, uint64_t now_ms);
void upstream_close(struct upstream *);

/* For the transports. */
uint64_t upstream_now_ms(const struct upstream *);
/* A message came in by a carrier. False: it answers nothing we asked there. */
bool upstream_received(struct upstream *, const void *carrier,
    const uint8_t *wire, size_t len);
/* Nothing more will come by a carrier; again: its server may be asked once
 * more. */
void upstream_carrier_lost(struct upstream *, const void *carrier, bool again);
/* Of upstream_tcp.c: when the first idle link is to be closed, and do it. */
uint64_t upstream_tcp_deadline(const struct upstream *);
void upstream_tcp_expire(struct upstream *, uint64_t now_ms);
void upstream_tcp_silent(struct upstream_server *);

#endif
