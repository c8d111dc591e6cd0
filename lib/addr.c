/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses and prefixes as values. Their text forms are in addr_text.c, the
 * ranges that are never pinned in addr_class.c.
 */
#include "lib/addr.h"

#include <string.h>

#include "lib/require.h"

struct addr
addr_v4(const uint8_t bytes[4])
{
	struct addr a = { .family = 4 };

	memcpy(a.bytes, bytes, 4);
	return a;
}

struct addr
addr_v6(const uint8_t bytes[16])
{
	struct addr a = { .family = 6 };

	memcpy(a.bytes, bytes, 16);
	return a;
}

size_t
addr_size(const struct addr *a)
{
	REQUIRE(a->family == 4 || a->family == 6);
	return a->family == 4 ? 4 : 16;
}

bool
addr_equal(const struct addr *a, const struct addr *b)
{
	return addr_compare(a, b) == 0;
}

int
addr_compare(const struct addr *a, const struct addr *b)
{
	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

/* True where the first `bits` bits of two addresses are the same. */
static bool
same_start(const struct addr *a, const struct addr *b, uint8_t bits)
{
	size_t whole = bits / 8;
	uint8_t rest = bits % 8;
	uint8_t mask = (uint8_t)(0xff00 >> rest);

	if (a->family != b->family || memcmp(a->bytes, b->bytes, whole) != 0)
		return false;
	return rest == 0 || ((a->bytes[whole] ^ b->bytes[whole]) & mask) == 0;
}

bool
prefix_contains(const struct prefix *p, const struct addr *a)
{
	return same_start(&p->addr, a, p->bits);
}

bool
prefix_overlaps(const struct prefix *a, const struct prefix *b)
{
	return same_start(&a->addr, &b->addr,
	    a->bits < b->bits ? a->bits : b->bits);
}

struct prefix
prefix_of(const struct addr *a)
{
	return (
	    struct prefix){ .addr = *a, .bits = (uint8_t)(8 * addr_size(a)) };
}
