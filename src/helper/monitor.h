/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * monitor - who else changes our tables, the gateway and its twin.
 *
 * A socket of its own that hears of every nft transaction but our own: a
 * filter in the kernel drops those by the port of our socket, or our pins
 * would push the foreign ones out of the queue.
 */
#ifndef SRC_HELPER_MONITOR_H
#define SRC_HELPER_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

struct mnl_socket;

struct monitor {
	struct mnl_socket *socket;
	const char *table;
	uint8_t *buf;
};

struct monitor_report {
	bool touched; /* something of ours changed */
	bool spent; /* the kernel refuses by some quota */
	bool lost; /* news were lost: look for yourself */
	uint32_t pid; /* of who did it, 0: not known */
	char process[32];
};

/* own_portid is of the socket that writes our table. */
int monitor_open(struct monitor *ret, const char *table, uint32_t own_portid);
void monitor_close(struct monitor *);
int monitor_fd(const struct monitor *);
/* Reads all that is there, without waiting. */
void monitor_read(struct monitor *, struct monitor_report *ret);

#endif
