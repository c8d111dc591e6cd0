/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dname - a domain name as a value of 256 octets.
 *
 * Reading goes over the octets twice: the first pass only hops from length
 * to length and proves that the name is whole, the second copies and folds
 * what is known to be there. So nothing is written before all is proven.
 */
#include "lib/dname.h"

#include <sodium.h>
#include <string.h>

#include "lib/require.h"

#define POINTER_BITS 0xc0

/*
 * A compressor puts at least one label before each pointer but the first, so
 * more pointers than labels are somebody's attempt to keep us busy.
 */
#define POINTERS_MAX 127

/* What the first pass found. */
struct extent {
	size_t end; /* behind the name where it stands */
	uint8_t len;
	uint8_t labels;
};

static uint8_t
fold(uint8_t octet)
{
	return octet >= 'A' && octet <= 'Z' ? (uint8_t)(octet + 32) : octet;
}

static size_t
pointer_target(const uint8_t *at)
{
	return (size_t)(at[0] & ~POINTER_BITS) << 8 | at[1];
}

/*
 * Measures the name at the cursor. Each pointer must lead before the octets
 * where the part that bears it began; this alone makes loops impossible.
 */
static bool
measure(const struct cursor *cursor, bool compression, struct extent *ret)
{
	const uint8_t *base = cursor->base;
	size_t pos = cursor->pos, begin = pos, end = 0, len = 0;
	unsigned labels = 0, pointers = 0;

	for (;;) {
		size_t left = cursor->size - pos;

		if (left == 0)
			return false;
		if (base[pos] >= POINTER_BITS) {
			if (!compression || left < 2 ||
			    pointers++ == POINTERS_MAX)
				return false;
			if (end == 0)
				end = pos + 2;
			pos = pointer_target(base + pos);
			if (pos >= begin || pos < DNS_HEADER_SIZE)
				return false;
			begin = pos;
			continue;
		}
		size_t wide = (size_t)base[pos] + 1;
		if (wide > DNS_LABEL_MAX + 1 || wide > left)
			return false;
		len += wide;
		if (len > DNS_NAME_MAX)
			return false;
		pos += wide;
		if (wide == 1)
			break;
		labels++;
	}
	ret->end = end == 0 ? pos : end;
	ret->len = (uint8_t)len;
	ret->labels = (uint8_t)labels;
	return true;
}

/* Copies a measured name. Lengths are below 'A': folding leaves them be. */
static void
gather(const uint8_t *base, size_t pos, const struct extent *extent,
    struct dname *ret)
{
	size_t done = 0;

	while (done < extent->len) {
		while (base[pos] >= POINTER_BITS)
			pos = pointer_target(base + pos);
		size_t wide = (size_t)base[pos] + 1;
		for (size_t i = 0; i < wide; i++)
			ret->wire[done + i] = fold(base[pos + i]);
		done += wide;
		pos += wide;
	}
	ret->len = extent->len;
	ret->labels = extent->labels;
}

_Static_assert(DNS_LABEL_MAX < 'A', "folding would change a length");

bool
dname_read(struct cursor *cursor, bool compression, struct dname *ret)
{
	struct extent extent;

	if (cursor->error || !measure(cursor, compression, &extent)) {
		cursor->error = true;
		return false;
	}
	gather(cursor->base, cursor->pos, &extent, ret);
	cursor_seek(cursor, extent.end);
	return true;
}

bool
dname_read_raw(struct cursor *cursor, uint8_t ret_wire[DNS_NAME_MAX],
    size_t *ret_len)
{
	struct extent extent;

	if (cursor->error || !measure(cursor, false, &extent)) {
		cursor->error = true;
		return false;
	}
	cursor_bytes(cursor, ret_wire, extent.len);
	*ret_len = extent.len;
	return true;
}

bool
dname_skip(struct cursor *cursor)
{
	struct extent extent;

	if (cursor->error || !measure(cursor, true, &extent)) {
		cursor->error = true;
		return false;
	}
	cursor_seek(cursor, extent.end);
	return true;
}

bool
dname_from_wire(const uint8_t *wire, size_t len, struct dname *ret)
{
	struct cursor cursor = cursor_read_of(wire, len);
	struct extent extent;

	if (!measure(&cursor, false, &extent) || extent.end != len)
		return false;
	gather(wire, 0, &extent, ret);
	return true;
}

bool
dname_from_text(const char *text, size_t len, struct dname *ret)
{
	struct dname name = { .len = 0 };
	size_t length_at = 0, used = 1;

	if (len > 0 && text[len - 1] == '.')
		len--;
	if (len == 0 || len > DNS_NAME_MAX - 2)
		return false;
	/* The text and a dot behind it are as many octets as the labels. */
	for (size_t i = 0; i <= len; i++) {
		if (i < len && text[i] != '.') {
			if (text[i] <= ' ' || text[i] > '~' || text[i] == '\\')
				return false;
			name.wire[used++] = fold((uint8_t)text[i]);
			continue;
		}
		size_t label_len = used - length_at - 1;
		if (label_len == 0 || label_len > DNS_LABEL_MAX)
			return false;
		name.wire[length_at] = (uint8_t)label_len;
		name.labels++;
		length_at = used++;
	}
	name.wire[length_at] = 0;
	name.len = (uint8_t)used;
	*ret = name;
	return true;
}

void
dname_root(struct dname *ret)
{
	ret->len = 1;
	ret->labels = 0;
	ret->wire[0] = 0;
}

void
dname_put(struct cursor *cursor, const struct dname *name)
{
	cursor_put_bytes(cursor, name->wire, name->len);
}

bool
dname_equal(const struct dname *a, const struct dname *b)
{
	return a->len == b->len && memcmp(a->wire, b->wire, a->len) == 0;
}

/* Where each label begins; returns nothing for the root label. */
static void
index_labels(const struct dname *name, uint8_t ret_at[DNS_NAME_MAX / 2])
{
	size_t pos = 0;

	for (size_t i = 0; i < name->labels; i++) {
		ret_at[i] = (uint8_t)pos;
		pos += (size_t)name->wire[pos] + 1;
	}
}

/* A label that is the beginning of another sorts before it. */
static int
compare_labels(const uint8_t *a, const uint8_t *b)
{
	size_t shorter = a[0] < b[0] ? a[0] : b[0];
	int order = memcmp(a + 1, b + 1, shorter);

	return order != 0 ? order : (int)a[0] - (int)b[0];
}

int
dname_compare(const struct dname *a, const struct dname *b)
{
	uint8_t at_a[DNS_NAME_MAX / 2], at_b[DNS_NAME_MAX / 2];
	size_t i = a->labels, j = b->labels;

	index_labels(a, at_a);
	index_labels(b, at_b);
	while (i > 0 && j > 0) {
		int order =
		    compare_labels(a->wire + at_a[--i], b->wire + at_b[--j]);
		if (order != 0)
			return order < 0 ? -1 : 1;
	}
	return (i > 0) - (j > 0);
}

/* Offset of the part that has `labels` labels. */
static size_t
suffix_at(const struct dname *name, uint8_t labels)
{
	size_t pos = 0;

	for (uint8_t left = name->labels; left > labels; left--)
		pos += (size_t)name->wire[pos] + 1;
	return pos;
}

bool
dname_is_below(const struct dname *name, const struct dname *ancestor)
{
	if (name->labels <= ancestor->labels || name->len <= ancestor->len)
		return false;

	size_t pos = suffix_at(name, ancestor->labels);
	return name->len - pos == ancestor->len &&
	    memcmp(name->wire + pos, ancestor->wire, ancestor->len) == 0;
}

bool
dname_parent(const struct dname *name, struct dname *ret)
{
	if (name->labels == 0)
		return false;
	*ret = dname_suffix(name, (uint8_t)(name->labels - 1));
	return true;
}

struct dname
dname_suffix(const struct dname *name, uint8_t labels)
{
	struct dname suffix = { .labels = labels };

	REQUIRE(labels <= name->labels);
	size_t pos = suffix_at(name, labels);
	suffix.len = (uint8_t)(name->len - pos);
	memcpy(suffix.wire, name->wire + pos, suffix.len);
	return suffix;
}

const uint8_t *
dname_label(const struct dname *name, uint8_t index, uint8_t *ret_len)
{
	REQUIRE(index < name->labels);

	size_t pos = suffix_at(name, (uint8_t)(name->labels - index));
	*ret_len = name->wire[pos];
	return name->wire + pos + 1;
}

bool
dname_prepend(struct dname *name, const uint8_t *label, uint8_t len)
{
	size_t wide = (size_t)len + 1;

	if (len == 0 || len > DNS_LABEL_MAX || name->len + wide > DNS_NAME_MAX)
		return false;
	memmove(name->wire + wide, name->wire, name->len);
	name->wire[0] = len;
	for (size_t i = 0; i < len; i++)
		name->wire[i + 1] = fold(label[i]);
	name->len = (uint8_t)(name->len + wide);
	name->labels++;
	return true;
}

static bool
is_host_octet(uint8_t octet)
{
	return (octet >= 'a' && octet <= 'z') ||
	    (octet >= '0' && octet <= '9') || octet == '-' || octet == '_';
}

bool
dname_is_host(const struct dname *name)
{
	const uint8_t *label = name->wire;

	for (; label[0] != 0; label += label[0] + 1)
		if (!dname_label_is_host(label + 1, label[0]))
			return false;
	return true;
}

bool
dname_label_is_host(const uint8_t *label, uint8_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!is_host_octet(label[i]))
			return false;
	return true;
}

void
dname_hash(const struct dname *name, const uint8_t secret[16],
    uint8_t ret_hash[16])
{
	_Static_assert(crypto_shorthash_siphashx24_BYTES == 16, "hash size");
	_Static_assert(crypto_shorthash_siphashx24_KEYBYTES == 16, "key size");

	crypto_shorthash_siphashx24(ret_hash, name->wire, name->len, secret);
}

static size_t
print_octet(uint8_t octet, char *buf)
{
	if (is_host_octet(octet)) {
		buf[0] = (char)octet;
		return 1;
	}
	buf[0] = '\\';
	buf[1] = (char)('0' + octet / 100);
	buf[2] = (char)('0' + octet / 10 % 10);
	buf[3] = (char)('0' + octet % 10);
	return 4;
}

/* Four for each of at most 253 octets that are no length, and a NUL. */
_Static_assert(DNAME_TEXT_MAX > 4 * (DNS_NAME_MAX - 2), "text size");

size_t
dname_print(const struct dname *name, char *buf)
{
	const uint8_t *label = name->wire;
	size_t len = 0;

	for (; label[0] != 0; label += label[0] + 1) {
		if (len > 0)
			buf[len++] = '.';
		for (size_t i = 1; i <= label[0]; i++)
			len += print_octet(label[i], buf + len);
	}
	if (len == 0)
		buf[len++] = '.';
	buf[len] = '\0';
	return len;
}
