/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * helper_msg - the 64-byte messages between the resolver and the helper side
 * of the parent, both directions, little-endian.
 *
 *   0  2 magic            4  4 id (0 in a notice)
 *   2  1 version          8  4 request: sandbox; else: status, 0 or -errno
 *   3  1 op              12  4 request: lifetime, ms; ATTACH: a sandbox with
 *                               `each` that it is a member of, or 0
 *  16  1 family 4 or 6   17  1 protocol          18 2 port
 *  20 16 address         36  4 interface index; RESET: window, ms;
 *                               RELOAD: number of the first descriptor
 *  40  8 count            48  8 rule, by number   56  8 zero, checked
 *
 * Requests are even, their responses op + 1, notices 128 and up. No strings,
 * no lengths, no offsets: there is nothing to get wrong. SOCK_SEQPACKET keeps
 * the boundaries; whatever is not exactly 64 octets is a protocol violation.
 */
#ifndef LIB_HELPER_MSG_H
#define LIB_HELPER_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/addr.h"

#define HELPER_MSG_SIZE    64
#define HELPER_MSG_MAGIC   0x776e /* "nw" on the wire */
#define HELPER_MSG_VERSION 1
#define HELPER_FDS_MAX     16 /* attached to one notice */
/* Of one reload: the list of names, the configuration, and files. */
#define HELPER_RELOAD_MAX 258

enum helper_op {
	HELPER_HELLO = 2, /* once, first; the response's count is the number
			     of sandboxes, both sides must agree */
	HELPER_PIN = 4, /* sandbox, address, protocol, port, lifetime > 0 */
	HELPER_UNPIN = 6, /* the same without lifetime: element and flows */
	HELPER_FLOWS = 8, /* is there a flow for this element? count: 0, 1 */
	HELPER_FLUSH = 10, /* sandbox: its elements and flows */
	HELPER_QUARANTINE = 16,
	HELPER_RELEASE = 18,
	HELPER_STATS = 20, /* sandbox; count: enum helper_stat. The response's:
			      packets of it that the kernel refused, or audited,
			      since the start; sandbox 0: packets whose source
			      was bound to no sandbox */
	HELPER_RECALL = 22, /* start only: this record explains an element
			       (lifetime left > 0) or flows of a lapsed one
			       (lifetime 0) */
	HELPER_SETTLE = 24, /* ends the start: what was not recalled goes, with
			      its flows; then READY=1. The response's count
			      has enum helper_ability bits */
	HELPER_ASK_RELOAD = 26, /* somebody who may has asked for a reload */
	HELPER_PARSED = 28, /* what RELOAD brought was read: count 1, or 0: it
			       is refused. The response to 1 says "switch", or
			       why the parent cannot */
	HELPER_SWITCHED = 30, /* the new policy holds, what it does not grant
				 was revoked before this */
	HELPER_SOURCE = 32, /* sandbox, address: one of those that the next
			       ATTACH of this sandbox is about */
	HELPER_ATTACH = 34, /* sandbox, interface index (0: by route), count:
			       the policy by its place in the file. Answered
			       once the kernel has it, with the index; before
			       SETTLE: a record says that it was attached */
	HELPER_DETACH = 36, /* sandbox. Answered when nothing of it passes */
	HELPER_ASSIGN = 38, /* sandbox, count: the policy that it has from now
			       on. Answered when what that does not grant is
			       gone, with its flows */
	HELPER_UPLOAD = 40, /* sandbox, address, rule, lifetime: what goes there
			       counts against the quota of this rule, as long
			       as that or a flow lasts */
	HELPER_SPENT = 42 /* sandbox, rule (0: the sum), count: so many octets
			     of today are on record */
};

enum helper_stat {
	HELPER_STAT_REFUSED,
	HELPER_STAT_AUDITED /* let pass, and would have been refused */
};

/* What of this host is in the way of the sandboxes: the count of ADVICE. */
enum helper_advice {
	HELPER_FORWARDING4_OFF = 1,
	HELPER_FORWARDING6_OFF = 2,
	HELPER_FORWARD_DROPPED = 4, /* by the policy of another base chain */
	HELPER_FLOWTABLES = 8, /* of others: packets that no chain sees */
	HELPER_TRACKING_OFF = 16
};

/* What this kernel and host gave us, for `status`. */
enum helper_ability {
	HELPER_TABLE_OWNED = 1 /* nobody else can change or flush the table */
};

enum helper_notice {
	HELPER_RESET = 128, /* our table vanished and was rebuilt empty; count
			       is the packets that passed where known */
	HELPER_RELOAD = 130, /* descriptors attached; count of all, interface
				index: the number of the first one here */
	HELPER_REOPEN = 134, /* event files were rotated: SIGUSR1 came */
	HELPER_BOUND = 132, /* sandbox is bound to interface index (0: to none
			      now); its pins and flows are gone */
	HELPER_STOP = 138, /* answer what was asked, ask no more, and hang up */
	HELPER_ADVICE = 140, /* count: enum helper_advice bits, when they change
				(0 at the start) */
	HELPER_USED = 142, /* sandbox, rule (0: the sum), count: octets that
			      were sent today */
	HELPER_REFUSED = 136 /* no reload, for the reason that is the text of
				the descriptor attached */
};

/* A request or, with notice set, a notice; status is used by responses. */
struct helper_msg {
	uint8_t op; /* helper_op, helper_op + 1, or helper_notice */
	uint32_t id;
	uint32_t sandbox; /* requests and notices */
	int32_t status; /* responses: 0 or negative errno */
	uint32_t lifetime_ms; /* ATTACH: number of the `each` sandbox */
	struct addr addr; /* family 0: none */
	struct service service; /* 0, 0: none */
	uint32_t ifindex; /* BOUND, ATTACH; RESET: length of the window, ms */
	uint64_t count;
	uint64_t rule; /* edge_upload_rule() */
};

/* Writes exactly HELPER_MSG_SIZE octets. */
void helper_msg_encode(uint8_t *ret, const struct helper_msg *);
/* False (a protocol violation): wrong length, magic, version, op that is
 * none, padding not zero, family, protocol or port that the op must not or
 * must have. from_resolver says which direction it came in. */
bool helper_msg_decode(struct helper_msg *ret, const uint8_t *wire, size_t len,
    bool from_resolver);
const char *helper_op_name(uint8_t op);

#endif
