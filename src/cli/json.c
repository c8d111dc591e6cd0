/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * json - one JSON text as a flat list of values with paths.
 *
 * What comes from the daemon is trusted to be JSON, but is read as if it were
 * not: depth and path are bounded and nothing is recursive.
 */
#include "config.h"

#include "src/cli/json.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 16
#define PATH_MAX_ 512

struct level {
	bool array;
	size_t index; /* of the next value in an array */
	size_t path_len; /* of the path that leads to this level */
};

/*
 * Strings grow in one buffer that may move, so values hold offsets while
 * reading; they become pointers at the end.
 */
struct reader {
	const char *at, *end;
	struct level levels[DEPTH_MAX];
	size_t depth;
	char path[PATH_MAX_];
	size_t path_len;
	char *text;
	size_t text_len, text_size;
	struct offsets {
		enum json_kind kind;
		size_t path, text;
	} * values;
	size_t count, size;
};

static bool
grow(void **block, size_t *size, size_t needed, size_t each)
{
	if (needed <= *size)
		return true;
	size_t wanted = *size < 64 ? 64 : *size * 2;
	while (wanted < needed)
		wanted *= 2;
	void *moved = reallocarray(*block, wanted, each);
	if (moved == NULL)
		return false;
	*block = moved;
	*size = wanted;
	return true;
}

static bool
keep(struct reader *r, const char *octets, size_t len)
{
	void *text = r->text;

	if (!grow(&text, &r->text_size, r->text_len + len, 1))
		return false;
	r->text = text;
	memcpy(r->text + r->text_len, octets, len);
	r->text_len += len;
	return true;
}

static void
skip_space(struct reader *r)
{
	while (r->at < r->end &&
	    (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' ||
		*r->at == '\r'))
		r->at++;
}

static bool
take(struct reader *r, char wanted)
{
	skip_space(r);
	if (r->at == r->end || *r->at != wanted)
		return false;
	r->at++;
	return true;
}

static bool
read_hex4(struct reader *r, uint32_t *ret)
{
	uint32_t code = 0;

	if (r->end - r->at < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		char c = *r->at++;

		if (c >= '0' && c <= '9')
			code = code << 4 | (uint32_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			code = code << 4 | (uint32_t)(c - 'a' + 10);
		else if (c >= 'A' && c <= 'F')
			code = code << 4 | (uint32_t)(c - 'A' + 10);
		else
			return false;
	}
	*ret = code;
	return true;
}

static bool
keep_code(struct reader *r, uint32_t code)
{
	char octets[4];

	if (code < 0x80) {
		octets[0] = (char)code;
		return keep(r, octets, 1);
	}
	if (code < 0x800) {
		octets[0] = (char)(0xc0 | code >> 6);
		octets[1] = (char)(0x80 | (code & 0x3f));
		return keep(r, octets, 2);
	}
	if (code < 0x10000) {
		octets[0] = (char)(0xe0 | code >> 12);
		octets[1] = (char)(0x80 | (code >> 6 & 0x3f));
		octets[2] = (char)(0x80 | (code & 0x3f));
		return keep(r, octets, 3);
	}
	octets[0] = (char)(0xf0 | code >> 18);
	octets[1] = (char)(0x80 | (code >> 12 & 0x3f));
	octets[2] = (char)(0x80 | (code >> 6 & 0x3f));
	octets[3] = (char)(0x80 | (code & 0x3f));
	return keep(r, octets, 4);
}

static bool
read_unicode(struct reader *r)
{
	uint32_t code, low;

	if (!read_hex4(r, &code))
		return false;
	if (code < 0xd800 || code > 0xdfff)
		return keep_code(r, code);
	if (code > 0xdbff || r->end - r->at < 6 || r->at[0] != '\\' ||
	    r->at[1] != 'u')
		return keep_code(r, 0xfffd);
	r->at += 2;
	if (!read_hex4(r, &low))
		return false;
	if (low < 0xdc00 || low > 0xdfff)
		return keep_code(r, 0xfffd);
	return keep_code(r, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
}

static bool
read_escape(struct reader *r)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";

	if (r->at == r->end)
		return false;
	char c = *r->at++;
	if (c == 'u')
		return read_unicode(r);
	const char *found = memchr(from, c, sizeof(from) - 1);
	return found != NULL && keep(r, &to[found - from], 1);
}

/* The opening quote is behind us. *ret is the offset of the decoded text. */
static bool
read_string(struct reader *r, size_t *ret)
{
	*ret = r->text_len;
	while (r->at < r->end && *r->at != '"') {
		const char *c = r->at++;

		if (*c == '\\' ? !read_escape(r) : !keep(r, c, 1))
			return false;
	}
	if (r->at == r->end)
		return false;
	r->at++;
	return keep(r, "", 1);
}

static bool
path_add(struct reader *r, size_t base, const char *part)
{
	int len = snprintf(r->path + base, sizeof(r->path) - base, "%s%s",
	    base > 0 ? "." : "", part);

	if (len < 0 || (size_t)len >= sizeof(r->path) - base)
		return false;
	r->path_len = base + (size_t)len;
	return true;
}

static bool
add_value(struct reader *r, enum json_kind kind, size_t text)
{
	void *values = r->values;
	size_t path = r->text_len;

	if (!keep(r, r->path, r->path_len) || !keep(r, "", 1))
		return false;
	if (!grow(&values, &r->size, r->count + 1, sizeof(*r->values)))
		return false;
	r->values = values;
	r->values[r->count++] =
	    (struct offsets){ .kind = kind, .path = path, .text = text };
	return true;
}

static bool
is_number(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\0' ||
		    strchr("+-.0123456789eE", text[i]) == NULL)
			return false;
	return len > 0;
}

static bool
read_bare(struct reader *r)
{
	const char *start = r->at;
	size_t text = r->text_len;
	enum json_kind kind = JSON_NUMBER;

	while (r->at < r->end && strchr(",]} \t\r\n", *r->at) == NULL)
		r->at++;
	size_t len = (size_t)(r->at - start);
	if (len == 4 && memcmp(start, "true", 4) == 0)
		kind = JSON_TRUE;
	else if (len == 5 && memcmp(start, "false", 5) == 0)
		kind = JSON_FALSE;
	else if (len == 4 && memcmp(start, "null", 4) == 0)
		kind = JSON_NULL;
	else if (!is_number(start, len))
		return false;
	return keep(r, start, len) && keep(r, "", 1) &&
	    add_value(r, kind, text);
}

/* Behind the opening bracket: nothing inside, or one level deeper. */
static bool
open_level(struct reader *r, bool array)
{
	if (take(r, array ? ']' : '}')) {
		size_t text = r->text_len;
		return keep(r, "", 1) && add_value(r, JSON_EMPTY, text);
	}
	if (r->depth == DEPTH_MAX)
		return false;
	r->levels[r->depth++] =
	    (struct level){ .array = array, .path_len = r->path_len };
	return true;
}

/* The path of the next value in the level that is open. */
static bool
read_key(struct reader *r)
{
	struct level *level = &r->levels[r->depth - 1];
	char number[24];
	size_t key;

	if (level->array) {
		snprintf(number, sizeof(number), "%zu", level->index++);
		return path_add(r, level->path_len, number);
	}
	if (!take(r, '"') || !read_string(r, &key) || !take(r, ':'))
		return false;
	return path_add(r, level->path_len, r->text + key);
}

/* One value, or the opening of one; *ret_open says which. */
static bool
read_value(struct reader *r, bool *ret_open)
{
	size_t text, depth = r->depth;
	bool ok;

	skip_space(r);
	if (take(r, '"'))
		ok = read_string(r, &text) && add_value(r, JSON_STRING, text);
	else if (take(r, '{'))
		ok = open_level(r, false);
	else if (take(r, '['))
		ok = open_level(r, true);
	else
		ok = read_bare(r);
	*ret_open = r->depth > depth;
	return ok;
}

static bool
read_all(struct reader *r)
{
	bool open;

	if (!read_value(r, &open))
		return false;
	while (r->depth > 0) {
		if (!read_key(r) || !read_value(r, &open))
			return false;
		while (!open && r->depth > 0 && !take(r, ',')) {
			if (!take(r, r->levels[r->depth - 1].array ? ']' : '}'))
				return false;
			r->depth--;
		}
	}
	skip_space(r);
	return r->at == r->end;
}

bool
json_read(struct json *ret, const char *text, size_t len)
{
	struct reader r = { .at = text, .end = text + len };
	struct json_value *values = NULL;

	if (read_all(&r))
		values = calloc(r.count, sizeof(*values));
	if (values == NULL) {
		free(r.text);
		free(r.values);
		return false;
	}
	for (size_t i = 0; i < r.count; i++)
		values[i] = (struct json_value){ .kind = r.values[i].kind,
			.path = r.text + r.values[i].path,
			.text = r.text + r.values[i].text };
	free(r.values);
	*ret =
	    (struct json){ .values = values, .count = r.count, .text = r.text };
	return true;
}

void
json_free(struct json *json)
{
	free(json->values);
	free(json->text);
	*json = (struct json){ 0 };
}

static const struct json_value *
find(const struct json *json, const char *path)
{
	for (size_t i = 0; i < json->count; i++)
		if (strcmp(json->values[i].path, path) == 0)
			return &json->values[i];
	return NULL;
}

const char *
json_get(const struct json *json, const char *path)
{
	const struct json_value *value = find(json, path);

	if (value == NULL || value->kind == JSON_NULL ||
	    value->kind == JSON_EMPTY)
		return NULL;
	return value->text;
}

const char *
json_show(const struct json *json, const char *path, const char *instead)
{
	const char *text = json_get(json, path);

	return text != NULL ? text : instead;
}

bool
json_has(const struct json *json, const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < json->count; i++) {
		const char *at = json->values[i].path;

		if (strncmp(at, path, len) == 0 &&
		    (at[len] == '\0' || at[len] == '.'))
			return true;
	}
	return false;
}

bool
json_true(const struct json *json, const char *path)
{
	const struct json_value *value = find(json, path);

	return value != NULL && value->kind == JSON_TRUE;
}
