/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * endpoint - addresses of lib/addr to socket addresses and back.
 */
#ifndef SRC_RESOLVER_ENDPOINT_H
#define SRC_RESOLVER_ENDPOINT_H

#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>

#include "lib/addr.h"

union socket_addr {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* Returns the length. scope: interface index of a link-local address. */
socklen_t endpoint_to_socket(const struct addr *, uint16_t port, uint32_t scope,
    union socket_addr *ret);
/* Family 0 in *ret_addr when it is neither IPv4 nor IPv6. */
void endpoint_of_socket(const union socket_addr *, struct addr *ret_addr,
    uint16_t *ret_port);

#endif
