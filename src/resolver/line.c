/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * line - see line.h.
 */
#include "config.h"

#include "src/resolver/line.h"

#include "lib/json.h"

static void
put_key(struct line *line, const char *key)
{
	if (line->comma)
		cursor_put_text(&line->out, ",");
	line->comma = true;
	if (key == NULL)
		return;
	cursor_put_text(&line->out, "\"");
	cursor_put_text(&line->out, key);
	cursor_put_text(&line->out, "\":");
}

void
line_start(struct line *line, char *buf, size_t size)
{
	line->out = cursor_write_of((uint8_t *)buf, size);
	line->comma = false;
	cursor_put_text(&line->out, "{");
}

size_t
line_finish(struct line *line)
{
	cursor_put_text(&line->out, "}\n");
	return line->out.error ? 0 : line->out.pos;
}

void
line_text(struct line *line, const char *key, const char *value)
{
	put_key(line, key);
	json_put_text(&line->out, value);
}

void
line_number(struct line *line, const char *key, uint64_t value)
{
	put_key(line, key);
	cursor_put_decimal(&line->out, value);
}

void
line_bool(struct line *line, const char *key, bool value)
{
	put_key(line, key);
	cursor_put_text(&line->out, value ? "true" : "false");
}

void
line_null(struct line *line, const char *key)
{
	put_key(line, key);
	cursor_put_text(&line->out, "null");
}

static void
open_with(struct line *line, const char *key, const char *bracket)
{
	put_key(line, key);
	cursor_put_text(&line->out, bracket);
	line->comma = false;
}

static void
close_with(struct line *line, const char *bracket)
{
	cursor_put_text(&line->out, bracket);
	line->comma = true;
}

void
line_object(struct line *line, const char *key)
{
	open_with(line, key, "{");
}

void
line_object_end(struct line *line)
{
	close_with(line, "}");
}

void
line_array(struct line *line, const char *key)
{
	open_with(line, key, "[");
}

void
line_array_end(struct line *line)
{
	close_with(line, "]");
}
