/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A line becomes words in place of themselves: no word is longer unpacked
 * than it was in the line, and the separator leaves room for its NUL.
 */
#include "lib/command.h"
#include "lib/cursor.h"

#include <string.h>

#include "lib/require.h"

static int
hex_value(uint8_t octet)
{
	if (octet >= '0' && octet <= '9')
		return octet - '0';
	if (octet >= 'a' && octet <= 'f')
		return octet - 'a' + 10;
	if (octet >= 'A' && octet <= 'F')
		return octet - 'A' + 10;
	return -1;
}

/* The four digits behind \u. */
static bool
read_unit(struct cursor *in, uint32_t *ret)
{
	uint32_t unit = 0;

	for (int i = 0; i < 4; i++) {
		int digit = hex_value(cursor_u8(in));

		if (digit < 0)
			return false;
		unit = unit << 4 | (uint32_t)digit;
	}
	*ret = unit;
	return true;
}

static void
put_utf8(struct cursor *out, uint32_t point)
{
	if (point < 0x80) {
		cursor_put_u8(out, (uint8_t)point);
		return;
	}
	if (point < 0x800) {
		cursor_put_u8(out, (uint8_t)(0xc0 | point >> 6));
	} else {
		if (point < 0x10000) {
			cursor_put_u8(out, (uint8_t)(0xe0 | point >> 12));
		} else {
			cursor_put_u8(out, (uint8_t)(0xf0 | point >> 18));
			cursor_put_u8(out,
			    (uint8_t)(0x80 | (point >> 12 & 0x3f)));
		}
		cursor_put_u8(out, (uint8_t)(0x80 | (point >> 6 & 0x3f)));
	}
	cursor_put_u8(out, (uint8_t)(0x80 | (point & 0x3f)));
}

/* A \u escape, both halves where it is a surrogate pair. U+0000 would end
 * the word early, so it is refused. */
static bool
read_code_point(struct cursor *in, struct cursor *out)
{
	uint32_t point, low;

	if (!read_unit(in, &point) || point == 0)
		return false;
	if (point >= 0xdc00 && point <= 0xdfff)
		return false;
	if (point >= 0xd800 && point <= 0xdbff) {
		if (cursor_u8(in) != '\\' || cursor_u8(in) != 'u' ||
		    !read_unit(in, &low) || low < 0xdc00 || low > 0xdfff)
			return false;
		point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
	}
	put_utf8(out, point);
	return true;
}

static bool
read_escape(struct cursor *in, struct cursor *out)
{
	static const char letters[] = "bfnrt", meant[] = "\b\f\n\r\t";
	uint8_t octet = cursor_u8(in);

	if (octet == 'u')
		return read_code_point(in, out);
	if (octet == '"' || octet == '\\' || octet == '/') {
		cursor_put_u8(out, octet);
		return true;
	}
	for (size_t i = 0; i < sizeof(letters) - 1; i++) {
		if (octet == (uint8_t)letters[i]) {
			cursor_put_u8(out, (uint8_t)meant[i]);
			return true;
		}
	}
	return false;
}

/* A JSON string whose opening quote has been read. */
static bool
read_string(struct cursor *in, struct cursor *out)
{
	while (cursor_left(in) > 0) {
		uint8_t octet = cursor_u8(in);

		if (octet == '"')
			return true;
		if (octet < 0x20)
			return false;
		if (octet != '\\')
			cursor_put_u8(out, octet);
		else if (!read_escape(in, out))
			return false;
	}
	return false;
}

/* An octet that can stand in quotes only. */
static bool
is_special(uint8_t octet)
{
	return octet <= 0x20 || octet == 0x7f || octet == '"' || octet == '\\';
}

/* A bare word, up to the next space or the end. */
static bool
read_bare(struct cursor *in, struct cursor *out)
{
	while (cursor_left(in) > 0 && in->base[in->pos] != ' ') {
		uint8_t octet = cursor_u8(in);

		if (is_special(octet))
			return false;
		cursor_put_u8(out, octet);
	}
	return true;
}

static enum command_error
read_word(struct cursor *in, struct cursor *out)
{
	if (cursor_left(in) == 0 || in->base[in->pos] == ' ')
		return COMMAND_BAD_SPACING;
	if (in->base[in->pos] != '"')
		return read_bare(in, out) ? COMMAND_OK : COMMAND_BAD_STRING;
	cursor_skip(in, 1);
	if (!read_string(in, out))
		return COMMAND_BAD_STRING;
	if (cursor_left(in) > 0 && in->base[in->pos] != ' ')
		return COMMAND_BAD_SPACING;
	return COMMAND_OK;
}

/* The words of a line that is neither empty nor too long. */
static enum command_error
read_words(struct command *ret, struct cursor *in)
{
	struct cursor out =
	    cursor_write_of((uint8_t *)ret->text, sizeof(ret->text));

	for (;;) {
		enum command_error error;

		if (ret->word_count == COMMAND_WORDS_MAX)
			return COMMAND_TOO_MANY_WORDS;
		ret->words[ret->word_count] = ret->text + out.pos;
		error = read_word(in, &out);
		if (error != COMMAND_OK)
			return error;
		cursor_put_u8(&out, '\0');
		REQUIRE(!out.error);
		ret->word_count++;
		if (cursor_left(in) == 0)
			return COMMAND_OK;
		cursor_skip(in, 1);
	}
}

enum command_error
command_parse(struct command *ret, const char *line, size_t len)
{
	struct cursor in = cursor_read_of((const uint8_t *)line, len);
	enum command_error error;

	ret->word_count = 0;
	if (len == 0)
		return COMMAND_EMPTY;
	if (len >= COMMAND_LINE_MAX)
		return COMMAND_TOO_LONG;
	error = read_words(ret, &in);
	if (error != COMMAND_OK)
		ret->word_count = 0;
	return error;
}

static bool
needs_quotes(const char *word)
{
	if (word[0] == '\0')
		return true;
	for (; *word != '\0'; word++)
		if (is_special((uint8_t)*word))
			return true;
	return false;
}

static void
put_string_octet(struct cursor *out, uint8_t octet)
{
	static const char hex[] = "0123456789abcdef";

	if (octet < 0x20 || octet == 0x7f) {
		cursor_put_text(out, "\\u00");
		cursor_put_u8(out, (uint8_t)hex[octet >> 4]);
		cursor_put_u8(out, (uint8_t)hex[octet & 0xf]);
		return;
	}
	if (octet == '"' || octet == '\\')
		cursor_put_u8(out, '\\');
	cursor_put_u8(out, octet);
}

size_t
command_put_word(char *buf, size_t size, const char *word)
{
	struct cursor out = cursor_write_of((uint8_t *)buf, size);

	if (needs_quotes(word)) {
		cursor_put_u8(&out, '"');
		for (; *word != '\0'; word++)
			put_string_octet(&out, (uint8_t)*word);
		cursor_put_u8(&out, '"');
	} else {
		cursor_put_text(&out, word);
	}
	return out.error ? 0 : out.pos;
}

const char *
command_error_text(enum command_error error)
{
	switch (error) {
	case COMMAND_OK:
		return "no error";
	case COMMAND_EMPTY:
		return "the line is empty";
	case COMMAND_TOO_LONG:
		return "the line is too long";
	case COMMAND_TOO_MANY_WORDS:
		return "the line has too many words";
	case COMMAND_BAD_STRING:
		return "a word is no valid JSON string, or a bare word has a "
		       "quote, a backslash or a control character";
	case COMMAND_BAD_SPACING:
		return "words must be separated by exactly one space";
	}
	UNREACHABLE();
}
