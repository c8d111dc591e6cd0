/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan - what selftest tries: six probes, each some attempts.
 */
#ifndef SRC_CLI_PLAN_H
#define SRC_CLI_PLAN_H

#include "lib/text/edge_text.h"
#include "src/cli/probe.h"

#define PLAN_ATTEMPTS_MAX 192
#define PLAN_TARGETS_MAX  8
#define PLAN_LOCAL_MAX    8

enum plan_probe {
	PLAN_RESOLVER, /* a resolver that is not the listener */
	PLAN_TCP, /* a literal address */
	PLAN_UDP,
	PLAN_HOST, /* other ports of this host */
	PLAN_IPV6, /* literal and link-local */
	PLAN_SPOOF, /* a source address that is not the sandbox's */
	PLAN_LAST = PLAN_SPOOF
};

struct plan {
	size_t count;
	struct attempt attempts[PLAN_ATTEMPTS_MAX];
	enum plan_probe probe[PLAN_ATTEMPTS_MAX];
	struct attempt control[PLAN_ATTEMPTS_MAX]; /* the same from here */
	struct addr source4, source6; /* of the sandbox; family 0: none */
	struct addr spoof4, spoof6; /* invented, to be lent to it */
};

/* What the plan is made from. */
struct plan_input {
	const struct edge_config *edge;
	const struct edge_sandbox *sandbox;
	const char *interface; /* on this host, "": unknown */
	struct addr targets[PLAN_TARGETS_MAX];
	size_t target_count;
};

/* To be called in the host's namespace: looks at its addresses and ports. */
void plan_make(struct plan *, const struct plan_input *);
const char *plan_probe_name(enum plan_probe); /* "another-resolver", … */
const char *plan_probe_text(enum plan_probe);

#endif
