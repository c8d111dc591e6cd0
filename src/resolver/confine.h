/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * confine - what this process gives up before it reads a single octet.
 */
#ifndef SRC_RESOLVER_CONFINE_H
#define SRC_RESOLVER_CONFINE_H

/*
 * Refuses root and any capability (-EPERM, logged); sets no-new-privs, no
 * core dumps, not dumpable, umask 027, as many descriptors as the hard limit
 * allows. 0 or a negative errno, logged.
 */
int confine_process(void);

#endif
