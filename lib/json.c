/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader of UTF-8 is the strict one of RFC 3629: shortest form, no
 * surrogates, nothing beyond U+10FFFF.
 */
#include "lib/json.h"

#include <stdint.h>

#define REPLACEMENT "\\ufffd"

/*
 * The length of the well-formed sequence at the start of some octets, and
 * its code point; 0 where there is none.
 */
static size_t
read_utf8(const uint8_t *s, size_t left, uint32_t *ret_point)
{
	static const uint32_t smallest[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t point;
	size_t size;

	if (s[0] < 0x80) {
		*ret_point = s[0];
		return 1;
	}
	if (s[0] < 0xc0 || s[0] > 0xf7)
		return 0;
	size = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (size > left)
		return 0;
	point = s[0] & (0xffu >> (size + 1));
	for (size_t i = 1; i < size; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (s[i] & 0x3f);
	}
	if (point < smallest[size] || point > 0x10ffff ||
	    (point >= 0xd800 && point <= 0xdfff))
		return 0;
	*ret_point = point;
	return size;
}

static bool
must_escape(uint32_t point)
{
	return point < 0x20 || (point >= 0x7f && point < 0xa0) ||
	    (point >= 0x2028 && point <= 0x202e) ||
	    (point >= 0x2066 && point <= 0x2069);
}

/* \uXXXX; all that must be escaped lies in the first plane. */
static void
put_escape(struct cursor *c, uint32_t point)
{
	static const char hex[] = "0123456789abcdef";

	cursor_put_text(c, "\\u");
	for (int shift = 12; shift >= 0; shift -= 4)
		cursor_put_u8(c, (uint8_t)hex[point >> shift & 0xf]);
}

/* How many octets at the start stand for themselves: most text is all so. */
static size_t
plain_len(const uint8_t *s, size_t left)
{
	size_t len = 0;

	while (len < left && s[len] >= 0x20 && s[len] < 0x7f && s[len] != '"' &&
	    s[len] != '\\')
		len++;
	return len;
}

void
json_put_string(struct cursor *c, const char *text, size_t len)
{
	const uint8_t *s = (const uint8_t *)text;
	size_t size;

	cursor_put_u8(c, '"');
	for (size_t at = 0; at < len; at += size) {
		uint32_t point;

		size = plain_len(s + at, len - at);
		if (size > 0) {
			cursor_put_bytes(c, s + at, size);
			continue;
		}
		size = read_utf8(s + at, len - at, &point);
		if (size == 0) {
			cursor_put_text(c, REPLACEMENT);
			size = 1;
			continue;
		}
		if (must_escape(point)) {
			put_escape(c, point);
			continue;
		}
		if (point == '"' || point == '\\')
			cursor_put_u8(c, '\\');
		cursor_put_bytes(c, s + at, size);
	}
	cursor_put_u8(c, '"');
}

void
json_put_text(struct cursor *c, const char *text)
{
	size_t len = 0;

	/* A cursor that is full puts an end to any text. */
	while (text != NULL && text[len] != '\0' && len < c->size)
		len++;
	json_put_string(c, text, len);
	if (text != NULL && text[len] != '\0')
		c->error = true;
}
