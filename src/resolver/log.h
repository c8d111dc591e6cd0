/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log - the operator log: about this program's health, never about what
 * sandboxes did (those are events).
 *
 * One line to standard error, `namewall-resolver: component: what happened:
 * reason`, with the word `error` or `warning` before the component. A failure
 * is logged once, by the function that handles it. May be called from any
 * thread. Octets that could start a line or move a terminal's cursor are
 * replaced.
 */
#ifndef SRC_RESOLVER_LOG_H
#define SRC_RESOLVER_LOG_H

enum log_level {
	LOG_LEVEL_ERROR,
	LOG_LEVEL_WARN,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG
};

/* What is said at most; INFO until set. */
void log_set_level(enum log_level);

void log_error(const char *component, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void log_warn(const char *component, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void log_info(const char *component, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void log_debug(const char *component, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
