/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cursor - a bounds-checked reader and writer over somebody else's bytes.
 *
 * The first access that does not fit sets a sticky error; from then on reads
 * give zeroes and writes do nothing, so a caller reads ten fields and checks
 * once. Integers are in network order unless the name says _le. A cursor
 * never owns or allocates memory.
 */
#ifndef LIB_CURSOR_H
#define LIB_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cursor {
	const uint8_t *base; /* what is read; also set for a writer */
	uint8_t *out; /* NULL for a reader */
	size_t size;
	size_t pos; /* never over size */
	bool error;
};

struct cursor cursor_read_of(const uint8_t *base, size_t size);
struct cursor cursor_write_of(uint8_t *base, size_t size);

/* Octets between the position and the end; 0 after an error. */
size_t cursor_left(const struct cursor *);
/* Moves forward by n, or sets the error. */
void cursor_skip(struct cursor *, size_t n);
/* Moves to an absolute position (at most size), or sets the error. */
void cursor_seek(struct cursor *, size_t pos);

uint8_t cursor_u8(struct cursor *);
uint16_t cursor_u16(struct cursor *);
uint32_t cursor_u32(struct cursor *);
uint16_t cursor_u16_le(struct cursor *);
uint32_t cursor_u32_le(struct cursor *);
/* Copies n octets out; on error fills dst with zeroes. */
void cursor_bytes(struct cursor *, void *dst, size_t n);

void cursor_put_u8(struct cursor *, uint8_t);
void cursor_put_u16(struct cursor *, uint16_t);
void cursor_put_u32(struct cursor *, uint32_t);
void cursor_put_u16_le(struct cursor *, uint16_t);
void cursor_put_u32_le(struct cursor *, uint32_t);
void cursor_put_bytes(struct cursor *, const void *src, size_t n);
/* Text helpers, no terminating NUL: a C string; an unsigned decimal number. */
void cursor_put_text(struct cursor *, const char *);
void cursor_put_decimal(struct cursor *, uint64_t);
/* Overwrites two octets that were written before, at an absolute position. */
void cursor_patch_u16(struct cursor *, size_t pos, uint16_t);

#endif
