/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * json - one JSON text as a flat list of its values in order, each with the
 * path that leads to it: {"a":{"b":[7]}} is the one value "a.b.0" = 7.
 */
#ifndef SRC_CLI_JSON_H
#define SRC_CLI_JSON_H

#include <stdbool.h>
#include <stddef.h>

enum json_kind {
	JSON_STRING,
	JSON_NUMBER,
	JSON_TRUE,
	JSON_FALSE,
	JSON_NULL,
	JSON_EMPTY /* an object or array without anything in it */
};

struct json_value {
	enum json_kind kind;
	const char *path;
	const char *text; /* of a string: decoded; else as it stood */
};

struct json {
	struct json_value *values;
	size_t count;
	char *text; /* backs the strings of all values */
};

/* False: not JSON, nested too deeply, a path that is too long, or no memory;
 * then there is nothing to free. A NUL inside a string ends it. */
bool json_read(struct json *ret, const char *text, size_t len);
void json_free(struct json *);
/* The text of the value at a path, NULL when there is none. */
const char *json_get(const struct json *, const char *path);
/* The same with something to show instead. */
const char *json_show(const struct json *, const char *path,
    const char *instead);
/* Whether anything is at or below a path. */
bool json_has(const struct json *, const char *path);
bool json_true(const struct json *, const char *path);

#endif
