/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log - the operator log: one line to standard error, `component: what
 * happened: reason`. The only global state of this program.
 */
#ifndef SRC_HELPER_LOG_H
#define SRC_HELPER_LOG_H

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
