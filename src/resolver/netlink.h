/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * netlink - messages of the kernel's netfilter, taken apart by bounds.
 *
 * Readers are values; an attribute points into the octets it was read from.
 * What is shorter than it says ends the reading. Numbers of attributes are in
 * network order, those of headers in the host's.
 */
#ifndef SRC_RESOLVER_NETLINK_H
#define SRC_RESOLVER_NETLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct netlink_bytes {
	const uint8_t *at;
	size_t len;
};

struct netlink_message {
	uint16_t type; /* subsystem << 8 | message */
	struct netlink_bytes attrs; /* behind the header of netfilter */
};

struct netlink_attr {
	uint16_t type; /* without flags */
	struct netlink_bytes value;
};

/* Take the next one off *from; false: no more, or it is broken off. */
bool netlink_next_message(struct netlink_bytes *from,
    struct netlink_message *ret);
bool netlink_next_attr(struct netlink_bytes *from, struct netlink_attr *ret);
/* False, and *ret untouched, where the value is not of that size. */
bool netlink_u8(const struct netlink_attr *, uint8_t *ret);
bool netlink_u16(const struct netlink_attr *, uint16_t *ret);
bool netlink_u32(const struct netlink_attr *, uint32_t *ret);
bool netlink_u64(const struct netlink_attr *, uint64_t *ret);

/* A datagram that the kernel itself sent; others are taken off and give
 * -EPERM. Its length, or a negative errno. */
ssize_t netlink_receive(int fd, uint8_t *buf, size_t size);

#endif
