/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * line - one JSON object, as a line, into a buffer that the caller gives.
 *
 * Commas, brackets and escapes (lib/json) are seen to. What does not fit sets
 * a sticky error, and line_finish() then gives 0: a line is whole or it is
 * not there. Keys are our own words and not escaped; inside an array the key
 * is NULL.
 */
#ifndef SRC_RESOLVER_LINE_H
#define SRC_RESOLVER_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/cursor.h"

struct line {
	struct cursor out;
	bool comma; /* the next value needs one in front */
};

/* Opens the outermost object. */
void line_start(struct line *, char *buf, size_t size);
/* Closes it and ends the line; the length, or 0 when it did not fit. */
size_t line_finish(struct line *);

void line_text(struct line *, const char *key, const char *value);
void line_number(struct line *, const char *key, uint64_t);
void line_bool(struct line *, const char *key, bool);
void line_null(struct line *, const char *key);
void line_object(struct line *, const char *key);
void line_object_end(struct line *);
void line_array(struct line *, const char *key);
void line_array_end(struct line *);

#endif
