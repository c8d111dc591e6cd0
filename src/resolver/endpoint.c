/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * endpoint - see endpoint.h.
 */
#include "config.h"

#include "src/resolver/endpoint.h"

#include <arpa/inet.h>
#include <string.h>

socklen_t
endpoint_to_socket(const struct addr *addr, uint16_t port, uint32_t scope,
    union socket_addr *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (addr->family == 4) {
		ret->v4.sin_family = AF_INET;
		ret->v4.sin_port = htons(port);
		memcpy(&ret->v4.sin_addr, addr->bytes, 4);
		return sizeof(ret->v4);
	}
	ret->v6.sin6_family = AF_INET6;
	ret->v6.sin6_port = htons(port);
	memcpy(&ret->v6.sin6_addr, addr->bytes, 16);
	if (IN6_IS_ADDR_LINKLOCAL(&ret->v6.sin6_addr))
		ret->v6.sin6_scope_id = scope;
	return sizeof(ret->v6);
}

void
endpoint_of_socket(const union socket_addr *from, struct addr *ret_addr,
    uint16_t *ret_port)
{
	uint8_t octets[16];

	*ret_addr = (struct addr){ .family = 0 };
	*ret_port = 0;
	if (from->any.sa_family == AF_INET) {
		memcpy(octets, &from->v4.sin_addr, 4);
		*ret_addr = addr_v4(octets);
		*ret_port = ntohs(from->v4.sin_port);
	} else if (from->any.sa_family == AF_INET6) {
		memcpy(octets, &from->v6.sin6_addr, 16);
		*ret_addr = addr_v6(octets);
		*ret_port = ntohs(from->v6.sin6_port);
	}
}
