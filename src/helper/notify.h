/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * notify - systemd's readiness protocol: one datagram to $NOTIFY_SOCKET.
 */
#ifndef SRC_HELPER_NOTIFY_H
#define SRC_HELPER_NOTIFY_H

/* Without that variable it does nothing. */
void notify_ready(void);

#endif
