/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text forms of addresses and prefixes. The readers take exactly one
 * spelling family: what some other program could read as another address
 * (octal, hex, missing parts) is refused.
 */
#include "lib/addr.h"
#include "lib/cursor.h"

#include <string.h>

#include "lib/require.h"

#define GROUPS 8

/* A decimal number without leading zeros, at most max; the cursor stays
 * behind its last digit. */
static bool
read_decimal(struct cursor *c, unsigned max, unsigned *ret)
{
	unsigned value = 0;
	size_t digits = 0;

	for (; cursor_left(c) > 0; digits++) {
		uint8_t octet = c->base[c->pos];

		if (octet < '0' || octet > '9')
			break;
		if (digits == 1 && value == 0)
			return false;
		value = value * 10 + (octet - '0');
		if (value > max)
			return false;
		cursor_skip(c, 1);
	}
	*ret = value;
	return digits > 0;
}

/* All that is left of the cursor must be a dotted quad. */
static bool
read_v4(struct cursor *c, uint8_t ret_bytes[4])
{
	for (int i = 0; i < 4; i++) {
		unsigned value;

		if (i > 0 && cursor_u8(c) != '.')
			return false;
		if (!read_decimal(c, 255, &value))
			return false;
		ret_bytes[i] = (uint8_t)value;
	}
	return !c->error && cursor_left(c) == 0;
}

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

/* One to four hexadecimal digits. */
static bool
read_group(struct cursor *c, uint16_t *ret)
{
	unsigned value = 0;
	size_t digits = 0;

	for (; digits < 4 && cursor_left(c) > 0; digits++) {
		int digit = hex_value(c->base[c->pos]);

		if (digit < 0)
			break;
		value = value << 4 | (unsigned)digit;
		cursor_skip(c, 1);
	}
	*ret = (uint16_t)value;
	return digits > 0;
}

static bool
next_is(const struct cursor *c, const char *text, size_t len)
{
	return cursor_left(c) >= len &&
	    memcmp(c->base + c->pos, text, len) == 0;
}

/* What has been read of an IPv6 address so far. */
struct v6_parts {
	uint16_t groups[GROUPS];
	size_t count;
	size_t gap; /* index at which :: stands; GROUPS + 1: none */
};

/* The dotted tail that the last two groups may be written as. */
static bool
read_v4_tail(struct cursor *c, struct v6_parts *parts)
{
	uint8_t b[4];

	if (parts->count > GROUPS - 2 || !read_v4(c, b))
		return false;
	parts->groups[parts->count++] = (uint16_t)(b[0] << 8 | b[1]);
	parts->groups[parts->count++] = (uint16_t)(b[2] << 8 | b[3]);
	return true;
}

/* What stands between two groups; false at a lone colon that ends the text
 * and at a second gap. */
static bool
read_separator(struct cursor *c, struct v6_parts *parts)
{
	if (next_is(c, "::", 2)) {
		if (parts->gap <= GROUPS)
			return false;
		parts->gap = parts->count;
		cursor_skip(c, 2);
		return true;
	}
	if (parts->count == 0)
		return !next_is(c, ":", 1);
	return cursor_u8(c) == ':' && cursor_left(c) > 0;
}

static bool
read_parts(struct cursor *c, struct v6_parts *parts)
{
	while (cursor_left(c) > 0) {
		size_t start;

		if (!read_separator(c, parts))
			return false;
		if (cursor_left(c) == 0)
			break;
		start = c->pos;
		if (parts->count == GROUPS ||
		    !read_group(c, &parts->groups[parts->count]))
			return false;
		if (next_is(c, ".", 1)) {
			cursor_seek(c, start);
			return read_v4_tail(c, parts);
		}
		parts->count++;
	}
	return true;
}

static bool
read_v6(struct cursor *c, uint8_t ret_bytes[16])
{
	struct v6_parts parts = { .gap = GROUPS + 1 };
	bool has_gap;
	size_t skip;

	if (!read_parts(c, &parts))
		return false;
	has_gap = parts.gap <= GROUPS;
	if (has_gap ? parts.count == GROUPS : parts.count != GROUPS)
		return false;
	skip = GROUPS - parts.count;
	memset(ret_bytes, 0, 16);
	for (size_t i = 0; i < parts.count; i++) {
		size_t at = 2 * (i < parts.gap ? i : i + skip);

		ret_bytes[at] = (uint8_t)(parts.groups[i] >> 8);
		ret_bytes[at + 1] = (uint8_t)parts.groups[i];
	}
	return true;
}

static bool
has_octet(const char *text, size_t len, char octet)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] == octet)
			return true;
	return false;
}

bool
addr_parse(const char *text, size_t len, struct addr *ret)
{
	struct cursor c = cursor_read_of((const uint8_t *)text, len);
	uint8_t bytes[16];

	if (has_octet(text, len, ':')) {
		if (!read_v6(&c, bytes))
			return false;
		*ret = addr_v6(bytes);
	} else {
		if (!read_v4(&c, bytes))
			return false;
		*ret = addr_v4(bytes);
	}
	return true;
}

static bool
has_host_bits(const struct prefix *p)
{
	size_t size = addr_size(&p->addr);

	for (size_t bit = p->bits; bit < 8 * size; bit++)
		if (p->addr.bytes[bit / 8] & 0x80 >> bit % 8)
			return true;
	return false;
}

bool
prefix_parse(const char *text, size_t len, struct prefix *ret)
{
	struct prefix p;
	struct cursor c;
	size_t slash = 0;
	unsigned bits;

	while (slash < len && text[slash] != '/')
		slash++;
	if (!addr_parse(text, slash, &p.addr))
		return false;
	if (slash == len) {
		*ret = prefix_of(&p.addr);
		return true;
	}
	c = cursor_read_of((const uint8_t *)text, len);
	cursor_skip(&c, slash + 1);
	if (!read_decimal(&c, (unsigned)(8 * addr_size(&p.addr)), &bits) ||
	    cursor_left(&c) > 0)
		return false;
	p.bits = (uint8_t)bits;
	if (has_host_bits(&p))
		return false;
	*ret = p;
	return true;
}

static void
put_v4(struct cursor *c, const uint8_t bytes[4])
{
	for (int i = 0; i < 4; i++) {
		if (i > 0)
			cursor_put_u8(c, '.');
		cursor_put_decimal(c, bytes[i]);
	}
}

static void
put_group(struct cursor *c, uint16_t value)
{
	bool started = false;

	for (int shift = 12; shift >= 0; shift -= 4) {
		unsigned digit = (unsigned)value >> shift & 0xf;

		started = started || digit != 0 || shift == 0;
		if (started)
			cursor_put_u8(c, (uint8_t) "0123456789abcdef"[digit]);
	}
}

/* The first of the longest runs of two or more zero groups; an empty one at
 * the end where there is none. */
static size_t
longest_zero_run(const uint16_t groups[GROUPS], size_t *ret_len)
{
	size_t best = GROUPS, best_len = 0, len = 0;

	for (size_t i = 0; i < GROUPS; i++) {
		len = groups[i] == 0 ? len + 1 : 0;
		if (len >= 2 && len > best_len) {
			best = i + 1 - len;
			best_len = len;
		}
	}
	*ret_len = best_len;
	return best;
}

static void
put_v6(struct cursor *c, const uint8_t bytes[16])
{
	uint16_t groups[GROUPS];
	size_t run, run_len, end = GROUPS;

	for (size_t i = 0; i < GROUPS; i++)
		groups[i] = (uint16_t)(bytes[2 * i] << 8 | bytes[2 * i + 1]);
	run = longest_zero_run(groups, &run_len);
	/* IPv4-mapped and IPv4-compatible addresses end in a dotted quad. */
	if (run == 0 && (run_len == 6 || (run_len == 5 && groups[5] == 0xffff)))
		end = GROUPS - 2;
	for (size_t i = 0; i < end; i++) {
		if (i == run) {
			cursor_put_text(c, "::");
			i += run_len - 1;
			continue;
		}
		if (i > 0 && i != run + run_len)
			cursor_put_u8(c, ':');
		put_group(c, groups[i]);
	}
	if (end == GROUPS)
		return;
	if (run_len == 5)
		cursor_put_u8(c, ':');
	put_v4(c, bytes + 12);
}

/* Ends the text and returns its length. */
static size_t
finish(struct cursor *c)
{
	size_t len = c->pos;

	cursor_put_u8(c, '\0');
	REQUIRE(!c->error);
	return len;
}

static void
put_addr(struct cursor *c, const struct addr *a)
{
	REQUIRE(a->family == 4 || a->family == 6);
	if (a->family == 4)
		put_v4(c, a->bytes);
	else
		put_v6(c, a->bytes);
}

size_t
addr_print(const struct addr *a, char *buf)
{
	struct cursor c = cursor_write_of((uint8_t *)buf, ADDR_TEXT_MAX);

	put_addr(&c, a);
	return finish(&c);
}

size_t
prefix_print(const struct prefix *p, char *buf)
{
	struct cursor c = cursor_write_of((uint8_t *)buf, PREFIX_TEXT_MAX);

	put_addr(&c, &p->addr);
	cursor_put_u8(&c, '/');
	cursor_put_decimal(&c, p->bits);
	return finish(&c);
}
