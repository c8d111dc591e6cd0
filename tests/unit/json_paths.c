/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * json_paths - see json_paths.h.
 */
#include "tests/unit/json_paths.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/unit.h"

#define DEPTH_MAX 8

bool
json_paths_has(const struct json_paths *paths, const char *path)
{
	for (size_t i = 0; i < paths->count; i++)
		if (strcmp(paths->path[i], path) == 0)
			return true;
	return false;
}

void
json_paths_add(struct json_paths *paths, const char *path)
{
	if (json_paths_has(paths, path))
		return;
	UNIT_CHECK(paths->count < JSON_PATHS_MAX);
	snprintf(paths->path[paths->count++], JSON_PATH_SIZE, "%s", path);
}

/* A strict reader of what we print: objects, arrays, strings, numbers. */
struct reader {
	const char *at, *end;
	char path[JSON_PATH_SIZE];
	struct json_paths *here; /* of this line: no field comes twice */
	struct json_paths *paths; /* of all lines */
};

static void
expect(struct reader *r, char octet)
{
	UNIT_CHECK(r->at < r->end && *r->at == octet);
	r->at++;
}

static bool
next_is(const struct reader *r, char octet)
{
	return r->at < r->end && *r->at == octet;
}

static size_t
utf8_size(const char *at)
{
	uint8_t first = (uint8_t)*at;

	if (first < 0x80)
		return 1;
	UNIT_CHECK(first >= 0xc2 && first <= 0xf4);
	return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* Copies the raw text between the quotes, where there is room. */
static void
read_string(struct reader *r, char *raw, size_t raw_size)
{
	size_t len = 0;

	expect(r, '"');
	while (!next_is(r, '"')) {
		size_t size;

		UNIT_CHECK(r->at < r->end);
		UNIT_CHECK((uint8_t)*r->at >= 0x20 && *r->at != 0x7f);
		size = utf8_size(r->at);
		if (*r->at == '\\') {
			UNIT_CHECK(memchr("\"\\/bfnrtu", r->at[1], 9) != NULL);
			size = r->at[1] == 'u' ? 6 : 2;
			for (size_t i = 2; i < size; i++)
				ck_assert_ptr_nonnull(
				    memchr("0123456789abcdef", r->at[i], 16));
		} else {
			for (size_t i = 1; i < size; i++)
				UNIT_CHECK((r->at[i] & 0xc0) == 0x80);
		}
		UNIT_CHECK(r->end - r->at >= (long)size);
		for (size_t i = 0; i < size && len + 1 < raw_size; i++)
			raw[len++] = r->at[i];
		r->at += size;
	}
	raw[len] = '\0';
	r->at++;
}

/* Strings, numbers, true, false. */
static void
read_scalar(struct reader *r)
{
	char raw[8];

	if (next_is(r, '"')) {
		read_string(r, raw, sizeof(raw));
	} else if (next_is(r, 't') || next_is(r, 'f')) {
		size_t len = next_is(r, 't') ? 4 : 5;

		ck_assert_int_eq(memcmp(r->at, len == 4 ? "true" : "false",
				     len),
		    0);
		r->at += len;
	} else {
		UNIT_CHECK(
		    !next_is(r, '0') || r->at[1] < '0' || r->at[1] > '9');
		UNIT_CHECK(r->at < r->end && *r->at >= '0' && *r->at <= '9');
		while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
			r->at++;
	}
}

static void
read_array(struct reader *r)
{
	expect(r, '[');
	while (!next_is(r, ']')) {
		read_scalar(r);
		if (!next_is(r, ']'))
			expect(r, ',');
		if (next_is(r, ']'))
			UNIT_CHECK(r->at[-1] != ',');
	}
	r->at++;
}

/* Recursion is for readers of our own output only. */
static void
read_object(struct reader *r, int depth)
{
	size_t path_len = strlen(r->path);

	UNIT_CHECK(depth < DEPTH_MAX);
	expect(r, '{');
	while (!next_is(r, '}')) {
		char key[JSON_PATH_SIZE];

		read_string(r, key, sizeof(key));
		expect(r, ':');
		UNIT_CHECK(path_len + strlen(key) + 2 < JSON_PATH_SIZE);
		snprintf(r->path + path_len, JSON_PATH_SIZE - path_len, "%s%s",
		    path_len > 0 ? "." : "", key);
		UNIT_CHECK(!json_paths_has(r->here, r->path));
		json_paths_add(r->here, r->path);
		if (next_is(r, '{')) {
			read_object(r, depth + 1);
		} else {
			/* Labels are the operator's: one field to us. */
			json_paths_add(r->paths,
			    strncmp(r->path, "labels.", 7) == 0 ? "labels"
								: r->path);
			if (next_is(r, '['))
				read_array(r);
			else
				read_scalar(r);
		}
		r->path[path_len] = '\0';
		if (!next_is(r, '}')) {
			expect(r, ',');
			UNIT_CHECK(next_is(r, '"'));
		}
	}
	r->at++;
}

void
json_paths_read(const char *line, size_t len, struct json_paths *paths)
{
	static struct json_paths here;
	struct reader r = { .at = line,
		.end = line + len,
		.here = &here,
		.paths = paths };

	here.count = 0;
	read_object(&r, 0);
	expect(&r, '\n');
	UNIT_CHECK(r.at == r.end);
}
