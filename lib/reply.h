/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reply - the response to a client, built from the question's own spelling
 * and from vetted values.
 *
 * QR and RA set, RD and CD copied, AA and AD clear; the question is echoed
 * octet for octet; OPT and extended errors only for clients that sent EDNS;
 * one owner (the asked name, as a pointer to the question) and one TTL for
 * all records. A and AAAA never set TC: what does not fit is left out, the
 * extended error first. Other types set TC over UDP (RFC 2181 9).
 */
#ifndef LIB_REPLY_H
#define LIB_REPLY_H

#include <stddef.h>
#include <stdint.h>

#include "lib/answer.h"
#include "lib/denial.h"
#include "lib/question.h"

#define REPLY_SIZE_MAX 4096

/* ttl_s is what the client is told. size is the room in buf; the limit of
 * the client (udp_size, capped at 1232; 65535 over TCP) is applied on top.
 * For ANY the addresses are given under their own type. Returns the length,
 * never 0. *ret_addrs is how many addresses are in it. */
size_t reply_build(uint8_t *buf, size_t size, const struct question *,
    const struct answer *, uint32_t ttl_s, uint8_t *ret_addrs);
/*
 * A denial. negative_ttl_s is the SOA's TTL and minimum. Of the form's text
 * at most 120 octets are sent; empty: the code alone. With tell NOTHING no
 * extended error is sent. Returns 0 when no reply is possible (no header was
 * read).
 */
size_t reply_deny(uint8_t *buf, size_t size, const struct question *,
    const struct denial_form *, uint32_t negative_ttl_s, enum tell);

#endif
