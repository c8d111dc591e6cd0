/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * effect - what the core wants done, as data, in a bounded queue.
 *
 * The shell pulls effects after every input and performs them in order. The
 * queue is fixed; the engine only starts a step when the queue has room for
 * everything the step can emit, so it cannot overflow (REQUIREd).
 */
#ifndef LIB_EFFECT_H
#define LIB_EFFECT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/arena.h"
#include "lib/ask.h"
#include "lib/event.h"
#include "lib/pins.h"
#include "lib/reply.h"

#define FORGET_ALL UINT32_MAX

/* Who asked: opaque to the core but for sandbox and transport. */
struct client {
	uint32_t sandbox; /* 0: in none */
	struct addr addr;
	uint16_t port;
	struct addr local; /* the listener's address it was sent to */
	uint32_t listener; /* index, for the shell */
	uint64_t stream; /* the shell's id of a TCP connection, 0: UDP */
	uint32_t ifindex;
};

enum effect_kind {
	EFFECT_REPLY, /* send message[len] to client */
	EFFECT_ASK, /* put ask to upstream, once; exactly one of
		       engine_answer(), engine_ask_again() and
		       engine_ask_failed() for `lookup` and part follows */
	EFFECT_PIN, /* request to the helper; one engine_pinned(op) follows */
	EFFECT_UNPIN, /* element and flows out; no answer expected */
	EFFECT_FLOWS, /* is there a flow? one engine_flows() follows */
	EFFECT_RECALL, /* start: the record explains element or flows */
	EFFECT_SETTLE, /* start: everything recalled; one engine_settled() */
	EFFECT_RECORD, /* write the element's record (slot) to the state */
	EFFECT_FORGET, /* remove the record (slot) from the state; with slot
			  FORGET_ALL every record of the sandbox (0: of all) */
	EFFECT_QUARANTINE, /* cut a sandbox off, and keep that it is */
	EFFECT_RELEASE, /* and let it be again */
	EFFECT_CHARGED, /* before what was charged leaves: write the records of
			   the key's three meters */
	EFFECT_EVENT
};

/* What a sandbox is cut off by. */
enum quarantine_by {
	QUARANTINE_BY_COMMAND,
	QUARANTINE_BY_ALERT,
	QUARANTINE_BY_RECORD /* of the state: nothing new is told or kept */
};

struct effect {
	enum effect_kind kind;
	union {
		struct {
			struct client client;
			uint16_t len;
			uint8_t message[REPLY_SIZE_MAX];
		} reply;
		struct {
			uint64_t lookup; /* id; the low bit of part tells A
					    and AAAA apart */
			uint8_t part; /* 0: A or the one type, 1: AAAA */
			struct ask ask;
			struct ask_trail trail;
		} ask;
		struct {
			uint64_t op;
			struct pin_element element;
			uint32_t lifetime_ms; /* RECALL: 0 is lapsed */
			uint32_t slot; /* of the element; FLOWS: echoed in
					  engine_flows() */
		} pin; /* PIN, UNPIN, FLOWS, RECALL */
		struct {
			uint32_t slot;
			uint32_t sandbox; /* FORGET with FORGET_ALL */
		} record; /* RECORD, FORGET */
		struct {
			uint32_t sandbox;
			enum quarantine_by by;
			enum event_action alert; /* BY_ALERT */
		} quarantine; /* QUARANTINE, RELEASE */
		struct {
			uint32_t key;
		} charged;
		struct event event;
	} u;
};

struct effects {
	struct effect *ring;
	uint32_t capacity, head, count;
};

void effects_init(struct effects *, struct arena *, uint32_t capacity);
/* The place of a new effect, kind set, the rest undefined. REQUIREs room. */
struct effect *effects_add(struct effects *, enum effect_kind);
/* The oldest one; only what its kind uses is written to *ret. */
bool effects_take(struct effects *, struct effect *ret);
uint32_t effects_room(const struct effects *);

#endif
