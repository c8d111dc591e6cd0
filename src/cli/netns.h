/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * netns - finding the network namespace of a sandbox, and lending an address
 * to one of its interfaces.
 */
#ifndef SRC_CLI_NETNS_H
#define SRC_CLI_NETNS_H

#include <sys/types.h>

#include "lib/addr.h"

/* A descriptor for setns(), or a negative errno. */
int netns_open_name(const char *name); /* as `ip netns` has it */
int netns_open_pid(const char *pid);
/*
 * The namespace in which the other end of a veth interface of this one is.
 * -ENODEV: no such interface; -ENOTUNIQ: its other end is not elsewhere (a
 * tap device, or both ends here); -ENOENT: no process and no name leads there.
 */
int netns_open_peer(const char *interface);

/* Adds or removes an address on an interface of the present namespace.
 * 0 or a negative errno. */
int netns_address(unsigned ifindex, const struct addr *, bool add);

#endif
