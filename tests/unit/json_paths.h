/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * json_paths - a strict reader of JSON lines as we print them, which
 * remembers the dotted names of the fields. It fails the test on anything
 * that is not right.
 */
#ifndef TESTS_UNIT_JSON_PATHS_H
#define TESTS_UNIT_JSON_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#define JSON_PATHS_MAX 128
#define JSON_PATH_SIZE 128

struct json_paths {
	char path[JSON_PATHS_MAX][JSON_PATH_SIZE];
	size_t count;
};

bool json_paths_has(const struct json_paths *, const char *path);
void json_paths_add(struct json_paths *, const char *path);
/* One line, one object, one newline, all of it valid. */
void json_paths_read(const char *line, size_t len, struct json_paths *);

#endif
