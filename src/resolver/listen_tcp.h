/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listen_tcp - client connections in and out (RFC 7766).
 *
 * The sockets come listening from the parent. Questions of one connection are
 * worked on side by side and answered as each is ready; a reply finds its
 * connection by an id with a generation, so a late one finds nothing. All
 * memory is taken at the start.
 *
 * Whoever keeps us waiting is closed: for a whole question, or for taking
 * what we owe him. While he does not take it no further question is read, and
 * what he may be owed has a bound.
 */
#ifndef SRC_RESOLVER_LISTEN_TCP_H
#define SRC_RESOLVER_LISTEN_TCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "lib/deadlines.h"
#include "lib/effect.h"
#include "lib/pool.h"
#include "lib/text/settings.h"

struct daemon;
struct stream; /* a connection, in stream.h */

struct stream_listener {
	struct streams *streams;
	uv_poll_t poll;
	int fd;
	uint32_t index; /* struct client's `listener` */
	bool open;
};

struct streams {
	struct daemon *daemon;
	struct stream_listener listeners[SETTINGS_LISTEN_MAX];
	size_t listener_count;
	void *block; /* the memory of what follows */
	struct pool pool;
	struct deadlines deadlines; /* by slot: our patience ends */
	struct stream *stream; /* by slot */
	uint32_t *sandbox; /* by slot, STREAM_NOBODY where it is free */
	uint32_t max, per_sandbox_max;
	uint32_t unsent; /* first of those with replies to send, or POOL_NONE */
	bool listening; /* connections are taken; else they wait */
	uint64_t paused_until_ms; /* no descriptor was left; 0: accepting */
	uint64_t accepted, refused;
};

/* Descriptors in the order of `listen`; nothing is taken from them yet. 0 or
 * a negative errno, logged. */
int streams_open(struct streams *, struct daemon *, const int *fds,
    size_t count);
/* Takes new connections, or lets them wait in the sockets. */
void streams_listen(struct streams *, bool);
/* Adds a reply to those that wait for streams_flush(). */
void streams_reply(struct streams *, uint64_t id, const uint8_t *message,
    size_t len);
void streams_flush(struct streams *);
/* Ends all connections of a sandbox. */
void streams_cut(struct streams *, uint32_t sandbox);
/* Whoever has this connection is somebody, or somebody else, by now. */
void streams_belong(struct streams *, uint64_t id, uint32_t sandbox);
uint64_t streams_deadline(const struct streams *);
void streams_expire(struct streams *, uint64_t now_ms);
/* Ends everything; the memory is given back by streams_free(), once the loop
 * has run down. */
void streams_close(struct streams *);
void streams_free(struct streams *);

#endif
