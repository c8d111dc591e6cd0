/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ranges that are never pinned, from the IANA special-purpose address
 * registries for IPv4 and IPv6 (RFC 6890), plus the addresses at which
 * clouds serve credentials, some of which look like any other address.
 *
 * Stricter than the registries in two places: the anycast addresses of PCP
 * and TURN (192.0.0.9, 192.0.0.10, 2001:1::1 to ::3) lead to the nearest
 * middlebox, so they stay reserved, and so does all of IPv6 outside 2000::/3.
 */
#include "lib/addr.h"

#include <string.h>

#include "lib/require.h"

struct range4 {
	uint8_t bytes[4];
	uint8_t bits;
	enum addr_class class;
};

/* The first match counts. */
static const struct range4 ranges4[] = {
	/* Azure's host; Alibaba; Oracle's classic cloud; Volcengine. */
	{ { 168, 63, 129, 16 }, 32, ADDR_METADATA },
	{ { 100, 100, 100, 200 }, 32, ADDR_METADATA },
	{ { 192, 0, 0, 192 }, 32, ADDR_METADATA },
	{ { 100, 96, 0, 96 }, 32, ADDR_METADATA },
	/* The one that nearly all share, with its neighbours for time and
	 * names; credentials of containers; Scaleway; Tencent. */
	{ { 169, 254, 169, 0 }, 24, ADDR_METADATA },
	{ { 169, 254, 170, 0 }, 24, ADDR_METADATA },
	{ { 169, 254, 42, 42 }, 32, ADDR_METADATA },
	{ { 169, 254, 0, 23 }, 32, ADDR_METADATA },
	{ { 169, 254, 10, 10 }, 32, ADDR_METADATA },

	{ { 0, 0, 0, 0 }, 8, ADDR_UNSPECIFIED },
	{ { 10, 0, 0, 0 }, 8, ADDR_PRIVATE },
	{ { 100, 64, 0, 0 }, 10, ADDR_SHARED },
	{ { 127, 0, 0, 0 }, 8, ADDR_LOOPBACK },
	{ { 169, 254, 0, 0 }, 16, ADDR_LINK_LOCAL },
	{ { 172, 16, 0, 0 }, 12, ADDR_PRIVATE },
	{ { 192, 0, 0, 0 }, 24, ADDR_RESERVED },
	{ { 192, 0, 2, 0 }, 24, ADDR_DOCUMENTATION },
	/* The way to 6to4 relays, withdrawn. */
	{ { 192, 88, 99, 0 }, 24, ADDR_RESERVED },
	{ { 192, 168, 0, 0 }, 16, ADDR_PRIVATE },
	{ { 198, 18, 0, 0 }, 15, ADDR_BENCHMARK },
	{ { 198, 51, 100, 0 }, 24, ADDR_DOCUMENTATION },
	{ { 203, 0, 113, 0 }, 24, ADDR_DOCUMENTATION },
	{ { 224, 0, 0, 0 }, 4, ADDR_MULTICAST },
	{ { 255, 255, 255, 255 }, 32, ADDR_MULTICAST },
	{ { 240, 0, 0, 0 }, 4, ADDR_RESERVED },
};

struct range6 {
	uint8_t bytes[16];
	uint8_t bits;
	enum addr_class class;
};

static const struct range6 ranges6[] = {
	/* Amazon's local services; Google; Oracle; Scaleway; Akamai. */
	{ { 0xfd, 0, 0x0e, 0xc2 }, 32, ADDR_METADATA },
	{ { 0xfd, 0x20, 0, 0xce, [15] = 0 }, 64, ADDR_METADATA },
	{ { 0xfd, 0, 0, 0xc1, [12] = 0xa9, 0xfe, 0xa9, 0xfe }, 128,
	    ADDR_METADATA },
	{ { 0xfd, 0, 0, 0x42, [15] = 0x42 }, 128, ADDR_METADATA },
	{ { 0xfd, 0, 0xa9, 0xfe, 0xa9, 0xfe }, 48, ADDR_METADATA },
	/* OpenStack. */
	{ { 0xfe, 0x80, [12] = 0xa9, 0xfe, 0xa9, 0xfe }, 128, ADDR_METADATA },

	{ { 0 }, 128, ADDR_UNSPECIFIED },
	{ { [15] = 1 }, 128, ADDR_LOOPBACK },
	/* NAT64: what counts is the IPv4 address inside. */
	{ { 0, 0x64, 0xff, 0x9b }, 96, ADDR_GLOBAL },

	/* Teredo and 6to4 likewise; then what else of 2001::/23 is global:
	 * AMT, AS112, ORCHIDv2, remote identification of drones. */
	{ { 0x20, 0x01, 0, 0 }, 32, ADDR_GLOBAL },
	{ { 0x20, 0x02 }, 16, ADDR_GLOBAL },
	{ { 0x20, 0x01, 0, 0x03 }, 32, ADDR_GLOBAL },
	{ { 0x20, 0x01, 0, 0x04, 0x01, 0x12 }, 48, ADDR_GLOBAL },
	{ { 0x20, 0x01, 0, 0x20 }, 28, ADDR_GLOBAL },
	{ { 0x20, 0x01, 0, 0x30 }, 28, ADDR_GLOBAL },
	{ { 0x20, 0x01, 0, 0x02 }, 48, ADDR_BENCHMARK },
	{ { 0x20, 0x01 }, 23, ADDR_RESERVED },
	{ { 0x20, 0x01, 0x0d, 0xb8 }, 32, ADDR_DOCUMENTATION },
	{ { 0x3f, 0xff }, 20, ADDR_DOCUMENTATION },
	{ { 0x20 }, 3, ADDR_GLOBAL },

	{ { 0xfc }, 7, ADDR_PRIVATE },
	{ { 0xfe, 0x80 }, 10, ADDR_LINK_LOCAL },
	{ { 0xfe, 0xc0 }, 10, ADDR_PRIVATE },
	{ { 0xff }, 8, ADDR_MULTICAST },
	{ { 0 }, 0, ADDR_RESERVED },
};

static enum addr_class
classify4(const struct addr *a)
{
	for (size_t i = 0; i < ARRAY_LEN(ranges4); i++) {
		struct prefix p = { .addr = addr_v4(ranges4[i].bytes),
			.bits = ranges4[i].bits };

		if (prefix_contains(&p, a))
			return ranges4[i].class;
	}
	return ADDR_GLOBAL;
}

static enum addr_class
classify6(const struct addr *a)
{
	for (size_t i = 0; i < ARRAY_LEN(ranges6); i++) {
		struct prefix p = { .addr = addr_v6(ranges6[i].bytes),
			.bits = ranges6[i].bits };

		if (prefix_contains(&p, a))
			return ranges6[i].class;
	}
	return ADDR_RESERVED;
}

bool
addr_range(uint8_t family, size_t index, struct prefix *ret)
{
	REQUIRE(family == 4 || family == 6);
	if (index >= (family == 4 ? ARRAY_LEN(ranges4) : ARRAY_LEN(ranges6)))
		return false;
	if (family == 4)
		*ret = (struct prefix){ addr_v4(ranges4[index].bytes),
			ranges4[index].bits };
	else
		*ret = (struct prefix){ addr_v6(ranges6[index].bytes),
			ranges6[index].bits };
	return true;
}

enum addr_class
addr_classify(const struct addr *a)
{
	REQUIRE(a->family == 4 || a->family == 6);
	return a->family == 4 ? classify4(a) : classify6(a);
}

const char *addr_class_name(enum addr_class class)
{
	switch (class) {
	case ADDR_GLOBAL:
		return "global";
	case ADDR_UNSPECIFIED:
		return "unspecified";
	case ADDR_PRIVATE:
		return "private";
	case ADDR_SHARED:
		return "shared";
	case ADDR_LOOPBACK:
		return "loopback";
	case ADDR_LINK_LOCAL:
		return "link-local";
	case ADDR_METADATA:
		return "metadata";
	case ADDR_DOCUMENTATION:
		return "documentation";
	case ADDR_BENCHMARK:
		return "benchmark";
	case ADDR_MULTICAST:
		return "multicast";
	case ADDR_RESERVED:
		return "reserved";
	}
	UNREACHABLE();
}

/* How an IPv4 address is hidden, as far as it matters for the judgement. */
enum hidden {
	HIDDEN_NONE,
	HIDDEN_NAT64, /* a translator takes the inner address: it counts */
	HIDDEN_GUESS, /* a translator may take it, from a place we guess */
	HIDDEN_TUNNEL /* a host could be led to it: both count */
};

static bool
starts_with(const struct addr *a, const uint8_t *start, size_t len)
{
	return memcmp(a->bytes, start, len) == 0;
}

/* RFC 6052 2.2: the address follows the prefix, but octet 8 is skipped. */
static struct addr
translated_v4(const struct addr *a, uint8_t bits)
{
	uint8_t inner[4];
	size_t at = bits / 8;

	for (size_t i = 0; i < 4; i++, at++) {
		if (at == 8 && bits != 96)
			at++;
		inner[i] = a->bytes[at];
	}
	return addr_v4(inner);
}

static bool
is_translator_length(uint8_t bits)
{
	return bits == 96 || (bits >= 32 && bits <= 64 && bits % 8 == 0);
}

/* The longest given prefix that covers an address, or NULL. */
static const struct prefix *
translator_of(const struct addr *a, const struct protected_ranges *ranges)
{
	const struct prefix *best = NULL;

	for (size_t i = 0; i < ranges->nat64_count; i++) {
		const struct prefix *p = &ranges->nat64[i];

		if (is_translator_length(p->bits) && prefix_contains(p, a) &&
		    (best == NULL || p->bits > best->bits))
			best = p;
	}
	return best;
}

static enum hidden
find_translated(const struct addr *a, const struct protected_ranges *ranges,
    struct addr *ret)
{
	static const uint8_t well_known[12] = { 0, 0x64, 0xff, 0x9b };
	static const uint8_t local_use[6] = { 0, 0x64, 0xff, 0x9b, 0, 1 };
	const struct prefix *p = translator_of(a, ranges);

	if (p != NULL) {
		*ret = translated_v4(a, p->bits);
		return HIDDEN_NAT64;
	}
	if (starts_with(a, well_known, sizeof(well_known))) {
		*ret = translated_v4(a, 96);
		return HIDDEN_NAT64;
	}
	if (starts_with(a, local_use, sizeof(local_use))) {
		*ret = translated_v4(a, 48);
		return HIDDEN_GUESS;
	}
	return HIDDEN_NONE;
}

static bool
is_isatap(const struct addr *a)
{
	/* The universal bit of the interface id may be set or clear. */
	return (a->bytes[8] & 0xfd) == 0 && a->bytes[9] == 0 &&
	    a->bytes[10] == 0x5e && a->bytes[11] == 0xfe;
}

static enum hidden
find_tunnelled(const struct addr *a, struct addr *ret)
{
	static const uint8_t mapped[12] = { [10] = 0xff, 0xff };
	static const uint8_t compatible[12] = { 0 };
	static const uint8_t six_to_four[2] = { 0x20, 0x02 };
	static const uint8_t teredo[4] = { 0x20, 0x01, 0, 0 };
	uint8_t clear[4];

	if (starts_with(a, mapped, sizeof(mapped)) ||
	    starts_with(a, compatible, sizeof(compatible)) || is_isatap(a)) {
		*ret = addr_v4(a->bytes + 12);
		return HIDDEN_TUNNEL;
	}
	if (starts_with(a, six_to_four, sizeof(six_to_four))) {
		*ret = addr_v4(a->bytes + 2);
		return HIDDEN_TUNNEL;
	}
	if (starts_with(a, teredo, sizeof(teredo))) {
		for (size_t i = 0; i < 4; i++)
			clear[i] = (uint8_t)~a->bytes[12 + i];
		*ret = addr_v4(clear);
		return HIDDEN_TUNNEL;
	}
	return HIDDEN_NONE;
}

static enum hidden
find_hidden(const struct addr *a, const struct protected_ranges *ranges,
    struct addr *ret)
{
	enum addr_class class = addr_classify(a);
	enum hidden how;

	/* :: and ::1 are themselves, not forms of 0.0.0.0 and 0.0.0.1. */
	if (a->family != 6 || class == ADDR_UNSPECIFIED ||
	    class == ADDR_LOOPBACK)
		return HIDDEN_NONE;
	how = find_translated(a, ranges, ret);
	return how != HIDDEN_NONE ? how : find_tunnelled(a, ret);
}

bool
addr_hidden_v4(const struct addr *a, const struct protected_ranges *ranges,
    struct addr *ret)
{
	struct addr inner;

	if (find_hidden(a, ranges, &inner) == HIDDEN_NONE)
		return false;
	*ret = inner;
	return true;
}

static bool
is_covered(const struct addr *a, const struct prefix *prefixes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (prefix_contains(&prefixes[i], a))
			return true;
	return false;
}

static bool
is_own(const struct addr *a, const struct protected_ranges *ranges)
{
	for (size_t i = 0; i < ranges->own_count; i++)
		if (addr_equal(&ranges->own[i], a))
			return true;
	return false;
}

static bool is_never_lifted(enum addr_class class)
{
	return class == ADDR_UNSPECIFIED || class == ADDR_MULTICAST;
}

/* One address under judgement, with what is hidden in it. */
struct suspect {
	const struct addr *addr;
	struct addr inner;
	enum hidden how;
	enum addr_class class, inner_class; /* GLOBAL where nothing is hidden */
};

static struct suspect
examine(const struct addr *a, const struct protected_ranges *ranges)
{
	struct suspect s = { .addr = a, .class = addr_classify(a) };

	s.how = find_hidden(a, ranges, &s.inner);
	s.inner_class =
	    s.how == HIDDEN_NONE ? ADDR_GLOBAL : addr_classify(&s.inner);
	return s;
}

static bool
is_lifted(const struct suspect *s, const struct prefix *prefixes, size_t count)
{
	return is_covered(s->addr, prefixes, count) ||
	    (s->how == HIDDEN_NAT64 && is_covered(&s->inner, prefixes, count));
}

/* The class by registry: of the address inside where only that counts, else
 * the more telling of the two. */
static enum addr_class
class_of(const struct suspect *s)
{
	if (s->class == ADDR_METADATA)
		return s->class;
	if (s->how == HIDDEN_NAT64 || s->inner_class != ADDR_GLOBAL)
		return s->inner_class;
	return s->class;
}

enum addr_class
addr_protected(const struct addr *a, const struct protected_ranges *ranges,
    const struct prefix *allowed, size_t allowed_count)
{
	struct suspect s = examine(a, ranges);
	enum addr_class class = class_of(&s);

	if (is_never_lifted(s.class))
		return s.class;
	if (is_never_lifted(s.inner_class) && s.how != HIDDEN_GUESS)
		return s.inner_class;
	if (is_lifted(&s, allowed, allowed_count))
		return ADDR_GLOBAL;
	if (is_own(a, ranges) ||
	    (s.how != HIDDEN_NONE && is_own(&s.inner, ranges)))
		return class == ADDR_GLOBAL ? ADDR_LOOPBACK : class;
	if (ranges->own_overflow)
		return class == ADDR_GLOBAL ? ADDR_RESERVED : class;
	if (is_lifted(&s, ranges->except, ranges->except_count))
		return ADDR_GLOBAL;
	return class;
}
