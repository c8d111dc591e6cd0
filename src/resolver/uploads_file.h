/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uploads_file - the file of uploads in the state directory: a line that says
 * what it is, and one line for each: SANDBOX RULE DAY OCTETS, separated by one
 * space, the rule as a number in hexadecimal. A part of uploads.
 */
#ifndef SRC_RESOLVER_UPLOADS_FILE_H
#define SRC_RESOLVER_UPLOADS_FILE_H

#include "src/resolver/uploads.h"

/* One more; NULL: there is no room. */
struct upload *uploads_file_add(struct uploads *, const char *sandbox,
    uint64_t rule);
/* Forgets what is not of today and writes the rest; synced: to the disk. 0 or
 * a negative errno, logged. */
int uploads_file_write(struct uploads *, uint32_t today, bool synced);

#endif
