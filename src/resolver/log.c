/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log - see log.h. Each line is one write, so that lines of several threads
 * and of the parent never mix.
 */
#include "config.h"

#include "src/resolver/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define LOG_LINE_MAX 1024

/* The one piece of global state that may change: see docs/style.md. */
static enum log_level level_max = LOG_LEVEL_INFO;

void
log_set_level(enum log_level level)
{
	level_max = level;
}

static void __attribute__((format(printf, 3, 0))) put_line(enum log_level level,
    const char *component, const char *format, va_list args)
{
	static const char *const words[] = { [LOG_LEVEL_ERROR] = "error: ",
		[LOG_LEVEL_WARN] = "warning: ",
		[LOG_LEVEL_INFO] = "",
		[LOG_LEVEL_DEBUG] = "" };
	char line[LOG_LINE_MAX];
	size_t len;
	int n;

	if (level > level_max)
		return;
	n = snprintf(line, sizeof(line),
	    "namewall-resolver: %s%s: ", words[level], component);
	len = n > 0 && (size_t)n < sizeof(line) ? (size_t)n : 0;
	n = vsnprintf(line + len, sizeof(line) - len, format, args);
	if (n > 0)
		len += (size_t)n;
	if (len > sizeof(line) - 1)
		len = sizeof(line) - 1;
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
			line[i] = '?';
	}
	line[len] = '\n';
	/* Nobody is left to tell when this fails. */
	if (write(STDERR_FILENO, line, len + 1) < 0)
		return;
}

void
log_error(const char *component, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put_line(LOG_LEVEL_ERROR, component, format, args);
	va_end(args);
}

void
log_warn(const char *component, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put_line(LOG_LEVEL_WARN, component, format, args);
	va_end(args);
}

void
log_info(const char *component, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put_line(LOG_LEVEL_INFO, component, format, args);
	va_end(args);
}

void
log_debug(const char *component, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put_line(LOG_LEVEL_DEBUG, component, format, args);
	va_end(args);
}
