/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listen_udp - client datagrams in and out, many to a system call.
 *
 * The sockets come bound from the parent. Up to 64 questions are taken at a
 * wake-up; replies are collected while the effects are pulled and leave with
 * one call, each from the address that was asked. Nothing is allocated after
 * the start.
 */
#ifndef SRC_RESOLVER_LISTEN_UDP_H
#define SRC_RESOLVER_LISTEN_UDP_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "lib/effect.h"

#define LISTEN_BATCH 64

struct daemon;
struct listener_io; /* buffers, in listen_udp.c */

struct listener {
	struct daemon *daemon;
	uv_poll_t poll;
	int fd;
	uint32_t index; /* struct client's `listener` */
	bool open;
	struct listener_io *io;
	unsigned pending; /* replies collected */
	uint64_t received, sent, unsent;
};

/* Nothing is taken from it yet. 0 or a negative errno, logged. */
int listener_open(struct listener *, struct daemon *, int fd, uint32_t index);
/* Takes questions, or lets them wait in the socket. */
void listener_listen(struct listener *, bool);
/* Adds a reply to those that wait for listener_flush(). */
void listener_reply(struct listener *, const struct client *,
    const uint8_t *message, size_t len);
void listener_flush(struct listener *);
void listener_close(struct listener *);

#endif
