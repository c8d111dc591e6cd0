/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * json - one string of JSON text from any octets.
 *
 * What comes out is valid UTF-8, stays on its line and moves no terminal:
 * control characters, line and paragraph separators and the marks that turn
 * the direction of text are escaped; octets that are no UTF-8 become U+FFFD,
 * one for each.
 */
#ifndef LIB_JSON_H
#define LIB_JSON_H

#include <stddef.h>

#include "lib/cursor.h"

/* With its quotes. */
void json_put_string(struct cursor *, const char *text, size_t len);
/* The same for a C string; NULL is the empty string. */
void json_put_text(struct cursor *, const char *text);

#endif
