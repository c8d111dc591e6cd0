/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe - attempts to reach something, all at once, each with its outcome.
 *
 * An attempt is a TCP connection, or a DNS question in a UDP datagram. It says
 * what came back, not whether that is good: selftest judges.
 */
#ifndef SRC_CLI_PROBE_H
#define SRC_CLI_PROBE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/addr.h"

enum probe_outcome {
	PROBE_UNTRIED,
	PROBE_ANSWERED, /* a connection, or a datagram that came back */
	PROBE_REACHED, /* UDP: "port unreachable", said by who was reached */
	PROBE_REFUSED, /* TCP reset */
	PROBE_PROHIBITED, /* an ICMP error: prohibited or unreachable */
	PROBE_NO_ROUTE, /* it never left */
	PROBE_SILENCE, /* nothing came within the time */
	PROBE_UNABLE /* could not be tried: see error */
};

struct attempt {
	struct service service;
	struct addr to;
	struct addr from; /* family 0: the kernel chooses */
	unsigned ifindex; /* scope of a link-local address, else 0 */
	enum probe_outcome outcome;
	int error; /* errno behind UNABLE */
	uint32_t elapsed_ms;
};

/* Fires all at once and waits for at most limit_ms. */
void probe_fire(struct attempt *, size_t count, uint32_t limit_ms);
const char *probe_outcome_text(enum probe_outcome);

#endif
