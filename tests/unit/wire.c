/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/wire.h"

#include <check.h>
#include <string.h>

void
wire_start(struct wire *w, uint16_t id, uint16_t flags)
{
	w->len = 0;
	w->section = 1;
	wire_u16(w, id);
	wire_u16(w, flags);
	for (int i = 0; i < 4; i++)
		wire_u16(w, 0);
}

void
wire_count(struct wire *w, unsigned section, uint16_t count)
{
	w->buf[4 + 2 * section] = (uint8_t)(count >> 8);
	w->buf[5 + 2 * section] = (uint8_t)count;
}

void
wire_u8(struct wire *w, unsigned value)
{
	ck_assert_uint_lt(w->len, sizeof(w->buf));
	w->buf[w->len++] = (uint8_t)value;
}

void
wire_u16(struct wire *w, unsigned value)
{
	wire_u8(w, value >> 8);
	wire_u8(w, value & 0xff);
}

void
wire_u32(struct wire *w, uint32_t value)
{
	wire_u16(w, value >> 16);
	wire_u16(w, value & 0xffff);
}

void
wire_bytes(struct wire *w, const void *bytes, size_t len)
{
	const uint8_t *from = bytes;

	for (size_t i = 0; i < len; i++)
		wire_u8(w, from[i]);
}

void
wire_name(struct wire *w, const char *text)
{
	while (*text != '\0') {
		size_t len = strcspn(text, ".");

		wire_u8(w, (unsigned)len);
		wire_bytes(w, text, len);
		text += len;
		if (*text == '.')
			text++;
	}
	wire_u8(w, 0);
}

void
wire_pointer(struct wire *w, size_t target)
{
	wire_u16(w, 0xc000u | (unsigned)target);
}

void
wire_question(struct wire *w, const char *name, uint16_t type)
{
	wire_name(w, name);
	wire_u16(w, type);
	wire_u16(w, 1);
	wire_count(w, 0, (uint16_t)(wire_at(w->buf, 4) + 1));
}

void
wire_record(struct wire *w, const char *owner, uint16_t type, uint32_t ttl,
    const void *data, size_t len)
{
	wire_name(w, owner);
	wire_u16(w, type);
	wire_u16(w, 1);
	wire_u32(w, ttl);
	wire_u16(w, (unsigned)len);
	wire_bytes(w, data, len);
	wire_count(w, w->section,
	    (uint16_t)(wire_at(w->buf, 4 + 2 * w->section) + 1));
}

void
wire_record_name(struct wire *w, const char *owner, uint16_t type, uint32_t ttl,
    size_t skip, const char *name)
{
	static struct wire data;

	data.len = 0;
	for (size_t i = 0; i < skip; i++)
		wire_u8(&data, 0);
	wire_name(&data, name);
	wire_record(w, owner, type, ttl, data.buf, data.len);
}

void
wire_opt(struct wire *w, uint16_t udp_size, uint32_t ttl, const void *options,
    size_t len)
{
	wire_u8(w, 0);
	wire_u16(w, 41);
	wire_u16(w, udp_size);
	wire_u32(w, ttl);
	wire_u16(w, (unsigned)len);
	wire_bytes(w, options, len);
	wire_count(w, 3, (uint16_t)(wire_at(w->buf, 10) + 1));
}

uint16_t
wire_at(const uint8_t *buf, size_t offset)
{
	return (uint16_t)(buf[offset] << 8 | buf[offset + 1]);
}
