/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every access goes through take(), the one place that compares with the
 * size. It decides by subtraction, so no sum can wrap.
 */
#include "lib/cursor.h"

#include <string.h>

#include "lib/require.h"

/* Digits of the longest uint64_t. */
#define DECIMAL_MAX 20

struct cursor
cursor_read_of(const uint8_t *base, size_t size)
{
	return (struct cursor){ .base = base, .size = size };
}

struct cursor
cursor_write_of(uint8_t *base, size_t size)
{
	return (struct cursor){ .base = base, .out = base, .size = size };
}

size_t
cursor_left(const struct cursor *c)
{
	return c->error ? 0 : c->size - c->pos;
}

/* Steps over n octets and says where they begin; false sets the error. */
static bool
take(struct cursor *c, size_t n, size_t *ret_pos)
{
	if (c->error || n > c->size - c->pos) {
		c->error = true;
		return false;
	}
	*ret_pos = c->pos;
	c->pos += n;
	return true;
}

void
cursor_skip(struct cursor *c, size_t n)
{
	size_t pos;

	(void)take(c, n, &pos);
}

void
cursor_seek(struct cursor *c, size_t pos)
{
	if (c->error || pos > c->size)
		c->error = true;
	else
		c->pos = pos;
}

uint8_t
cursor_u8(struct cursor *c)
{
	size_t pos;

	return take(c, 1, &pos) ? c->base[pos] : 0;
}

uint16_t
cursor_u16(struct cursor *c)
{
	size_t pos;

	if (!take(c, 2, &pos))
		return 0;
	return (uint16_t)(c->base[pos] << 8 | c->base[pos + 1]);
}

uint32_t
cursor_u32(struct cursor *c)
{
	size_t pos;

	if (!take(c, 4, &pos))
		return 0;
	return (uint32_t)c->base[pos] << 24 | (uint32_t)c->base[pos + 1] << 16 |
	    (uint32_t)c->base[pos + 2] << 8 | c->base[pos + 3];
}

uint16_t
cursor_u16_le(struct cursor *c)
{
	size_t pos;

	if (!take(c, 2, &pos))
		return 0;
	return (uint16_t)(c->base[pos + 1] << 8 | c->base[pos]);
}

uint32_t
cursor_u32_le(struct cursor *c)
{
	size_t pos;

	if (!take(c, 4, &pos))
		return 0;
	return (uint32_t)c->base[pos + 3] << 24 |
	    (uint32_t)c->base[pos + 2] << 16 | (uint32_t)c->base[pos + 1] << 8 |
	    c->base[pos];
}

void
cursor_bytes(struct cursor *c, void *dst, size_t n)
{
	size_t pos;

	if (n == 0)
		return;
	if (take(c, n, &pos))
		memcpy(dst, c->base + pos, n);
	else
		memset(dst, 0, n);
}

/* As take(), for writing: a reader has nothing to write to. */
static bool
take_out(struct cursor *c, size_t n, size_t *ret_pos)
{
	REQUIRE(c->out != NULL || c->size == 0);
	return take(c, n, ret_pos);
}

void
cursor_put_u8(struct cursor *c, uint8_t value)
{
	size_t pos;

	if (take_out(c, 1, &pos))
		c->out[pos] = value;
}

void
cursor_put_u16(struct cursor *c, uint16_t value)
{
	size_t pos;

	if (!take_out(c, 2, &pos))
		return;
	c->out[pos] = (uint8_t)(value >> 8);
	c->out[pos + 1] = (uint8_t)value;
}

void
cursor_put_u32(struct cursor *c, uint32_t value)
{
	size_t pos;

	if (!take_out(c, 4, &pos))
		return;
	c->out[pos] = (uint8_t)(value >> 24);
	c->out[pos + 1] = (uint8_t)(value >> 16);
	c->out[pos + 2] = (uint8_t)(value >> 8);
	c->out[pos + 3] = (uint8_t)value;
}

void
cursor_put_u16_le(struct cursor *c, uint16_t value)
{
	size_t pos;

	if (!take_out(c, 2, &pos))
		return;
	c->out[pos] = (uint8_t)value;
	c->out[pos + 1] = (uint8_t)(value >> 8);
}

void
cursor_put_u32_le(struct cursor *c, uint32_t value)
{
	size_t pos;

	if (!take_out(c, 4, &pos))
		return;
	c->out[pos] = (uint8_t)value;
	c->out[pos + 1] = (uint8_t)(value >> 8);
	c->out[pos + 2] = (uint8_t)(value >> 16);
	c->out[pos + 3] = (uint8_t)(value >> 24);
}

void
cursor_put_bytes(struct cursor *c, const void *src, size_t n)
{
	size_t pos;

	if (n != 0 && take_out(c, n, &pos))
		memcpy(c->out + pos, src, n);
}

void
cursor_put_text(struct cursor *c, const char *text)
{
	size_t room = cursor_left(c), len = 0;

	/* Without a bound compilers make this a call of the C library. */
	while (len < room && text[len] != '\0')
		len++;
	if (text[len] != '\0')
		c->error = true;
	else
		cursor_put_bytes(c, text, len);
}

void
cursor_put_decimal(struct cursor *c, uint64_t value)
{
	uint8_t digits[DECIMAL_MAX];
	size_t first = DECIMAL_MAX;

	do {
		digits[--first] = (uint8_t)('0' + value % 10);
		value /= 10;
	} while (value != 0);
	cursor_put_bytes(c, digits + first, DECIMAL_MAX - first);
}

void
cursor_patch_u16(struct cursor *c, size_t pos, uint16_t value)
{
	if (c->error)
		return;
	REQUIRE(c->out != NULL);
	REQUIRE(c->pos >= 2 && pos <= c->pos - 2);
	c->out[pos] = (uint8_t)(value >> 8);
	c->out[pos + 1] = (uint8_t)value;
}
