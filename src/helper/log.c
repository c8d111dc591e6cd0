/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "src/helper/log.h"

#include <stdarg.h>
#include <stdio.h>

#define LINE_MAX_SIZE 1024

static void log_line(const char *level, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* One write a line, so that lines of two programs do not mix. */
static void
log_line(const char *level, const char *format, va_list args)
{
	char line[LINE_MAX_SIZE];

	vsnprintf(line, sizeof(line), format, args);
	fprintf(stderr, "namewalld: %s%s\n", level, line);
}

void
log_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_line("error: ", format, args);
	va_end(args);
}

void
log_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_line("warning: ", format, args);
	va_end(args);
}

void
log_info(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_line("", format, args);
	va_end(args);
}
