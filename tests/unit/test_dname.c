/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/dname.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "tests/unit/unit.h"

static struct dname
name_of(const char *text)
{
	struct dname name;

	if (*text == '\0')
		dname_root(&name);
	else
		ck_assert_msg(dname_from_text(text, strlen(text), &name), "%s",
		    text);
	return name;
}

static const char *
text_of(const struct dname *name)
{
	static char buf[DNAME_TEXT_MAX];
	size_t len = dname_print(name, buf);

	ck_assert_uint_eq(len, strlen(buf));
	return buf;
}

/* Names in a message of a 12-octet header and what is written here. */
static const struct {
	const char *what;
	size_t at, len;
	const char *octets;
	bool plain, compressed; /* read without, with compression */
	const char *text;
	size_t end;
} reads[] = {
	{ "root", 0, 1, "\0", true, true, ".", 1 },
	{ "folded", 0, 9, "\3wWw\3Net\0", true, true, "www.net", 9 },
	{ "trailing octets", 0, 7, "\1a\1b\0zz", true, true, "a.b", 5 },
	{ "nothing", 0, 0, "", false, false, NULL, 0 },
	{ "no root label", 0, 2, "\1a", false, false, NULL, 0 },
	{ "label overruns", 0, 3, "\5ab", false, false, NULL, 0 },
	{ "label type 01", 0, 3, "\100a\0", false, false, NULL, 0 },
	{ "label type 10", 0, 3, "\200a\0", false, false, NULL, 0 },
	{ "pointer back", 3, 7, "\1a\0\1b\300\14", false, true, "b.a", 7 },
	{ "pointer alone", 3, 5, "\1a\0\300\14", false, true, "a", 5 },
	{ "two pointers", 5, 7, "\1a\0\300\14\300\17", false, true, "a", 7 },
	{ "half a pointer", 3, 4, "\1a\0\300", false, false, NULL, 0 },
	{ "pointer to itself", 0, 2, "\300\14", false, false, NULL, 0 },
	{ "pointer into its own labels", 0, 4, "\1a\300\14", false, false, NULL,
	    0 },
	{ "pointer forward", 0, 5, "\300\16\1a\0", false, false, NULL, 0 },
	{ "pointer into the header", 0, 4, "\1a\300\13", false, false, NULL,
	    0 },
	{ "pointer forward, before the name", 6, 8, "\300\17\0\1x\0\300\14",
	    false, false, NULL, 0 },
	{ "loop of two", 2, 4, "\300\16\300\14", false, false, NULL, 0 },
	{ "pointer to a part that goes forward", 4, 6, "\300\20\1b\300\14",
	    false, false, NULL, 0 },
	{ "NUL and dot in a label", 0, 5, "\3a\0.\0", true, true, "a\\000\\046",
	    5 },
	{ "high octets are not folded", 0, 4, "\2\300\331\0", true, true,
	    "\\192\\217", 4 },
	{ "neighbours of letters", 0, 6, "\4@[`{\0", true, true,
	    "\\064\\091\\096\\123", 6 },
};

/* A block of its own size for each: an overrun is seen by the sanitizer. */
static uint8_t *
message_of(size_t i)
{
	uint8_t *wire = calloc(12 + reads[i].len, 1);

	ck_assert_ptr_nonnull(wire);
	memcpy(wire + 12, reads[i].octets, reads[i].len);
	return wire;
}

static void
check_read(size_t i, bool compression)
{
	uint8_t *wire = message_of(i);
	struct dname name = { .len = 99 };
	bool expected = compression ? reads[i].compressed : reads[i].plain;
	struct cursor c = cursor_read_of(wire, 12 + reads[i].len);

	cursor_seek(&c, 12 + reads[i].at);
	ck_assert_msg(dname_read(&c, compression, &name) == expected, "%s",
	    reads[i].what);
	ck_assert_msg(c.error == !expected, "%s", reads[i].what);
	if (expected) {
		ck_assert_str_eq(text_of(&name), reads[i].text);
		ck_assert_uint_eq(c.pos, 12 + reads[i].end);
	} else {
		ck_assert_uint_eq(name.len, 99);
	}
	free(wire);
}

START_TEST(skip_names)
{
	for (size_t i = 0; i < ARRAY_LEN(reads); i++) {
		uint8_t *wire = message_of(i);
		struct cursor c = cursor_read_of(wire, 12 + reads[i].len);

		cursor_seek(&c, 12 + reads[i].at);
		ck_assert_msg(dname_skip(&c) == reads[i].compressed, "%s",
		    reads[i].what);
		ck_assert(c.error == !reads[i].compressed);
		if (!c.error)
			ck_assert_uint_eq(c.pos, 12 + reads[i].end);
		free(wire);
	}
}
END_TEST

START_TEST(read_names)
{
	for (size_t i = 0; i < ARRAY_LEN(reads); i++) {
		check_read(i, false);
		check_read(i, true);
	}
}
END_TEST

START_TEST(read_after_error)
{
	struct dname name;
	uint8_t raw[DNS_NAME_MAX];
	size_t len;
	struct cursor c = cursor_read_of((const uint8_t *)"\0", 1);

	cursor_skip(&c, 5);
	ck_assert(!dname_read(&c, true, &name));
	ck_assert(!dname_read_raw(&c, raw, &len));
	ck_assert(!dname_skip(&c));
}
END_TEST

/* A name of so many octets: labels of 63, the rest in the last. */
static size_t
long_name(uint8_t *wire, size_t octets)
{
	size_t len = 0;

	while (octets - len > 1) {
		size_t label = octets - len - 2;

		label = label > DNS_LABEL_MAX ? DNS_LABEL_MAX : label;
		/* One octet left over would be no label. */
		if (octets - len - 2 - label == 1)
			label--;
		wire[len] = (uint8_t)label;
		memset(wire + len + 1, 'x', label);
		len += label + 1;
	}
	wire[len++] = 0;
	return len;
}

START_TEST(read_lengths)
{
	for (size_t octets = 3; octets <= 300; octets++) {
		uint8_t wire[320];
		struct dname name;
		size_t len = long_name(wire, octets);

		ck_assert_uint_eq(len, octets);
		struct cursor c = cursor_read_of(wire, len);
		ck_assert(dname_read(&c, false, &name) == (octets <= 255));
		ck_assert(dname_from_wire(wire, len, &name) == (octets <= 255));
		if (octets <= 255)
			ck_assert_uint_eq(name.len, octets);
	}
}
END_TEST

/* 127 labels of one octet are the most; by pointers they are no more. */
START_TEST(read_most_labels)
{
	uint8_t wire[600] = { 0 };
	struct dname name;
	size_t pos = 12, previous;

	wire[pos++] = 0;
	for (previous = 12; pos < 500; pos += 4) {
		wire[pos] = 1;
		wire[pos + 1] = 'A';
		wire[pos + 2] = (uint8_t)(0xc0 | previous >> 8);
		wire[pos + 3] = (uint8_t)previous;
		previous = pos;
		size_t labels = (pos - 13) / 4 + 1;
		struct cursor c = cursor_read_of(wire, sizeof(wire));
		cursor_seek(&c, pos);
		ck_assert(dname_read(&c, true, &name));
		ck_assert_uint_eq(name.labels, labels);
		ck_assert_uint_eq(name.len, 2 * labels + 1);
	}
	memset(wire, 1, sizeof(wire));
	wire[254] = 0;
	ck_assert(dname_from_wire(wire, 255, &name));
	ck_assert_uint_eq(name.labels, 127);
	wire[254] = 1;
	wire[256] = 0;
	ck_assert(!dname_from_wire(wire, 257, &name));
}
END_TEST

/* A chain of bare pointers: as many as there can be labels, and no more. */
START_TEST(read_pointer_chain)
{
	uint8_t wire[12 + 3 + 2 * 200] = { 0 };
	struct dname name;

	memcpy(wire + 12, "\1a", 3);
	for (size_t i = 0; i < 200; i++) {
		size_t at = 15 + 2 * i, target = i == 0 ? 12 : at - 2;

		wire[at] = (uint8_t)(0xc0 | target >> 8);
		wire[at + 1] = (uint8_t)target;
		struct cursor c = cursor_read_of(wire, sizeof(wire));
		cursor_seek(&c, at);
		ck_assert(dname_read(&c, true, &name) == (i < 127));
	}
}
END_TEST

START_TEST(read_truncated)
{
	static const char octets[] = "\3www\7example\3com";

	for (size_t len = 0; len <= sizeof(octets); len++) {
		uint8_t *wire = malloc(len == 0 ? 1 : len);
		uint8_t raw[DNS_NAME_MAX];
		size_t raw_len = 0;
		struct dname name;

		memcpy(wire, octets, len);
		struct cursor c = cursor_read_of(wire, len);
		bool whole = len == sizeof(octets);
		ck_assert(dname_read_raw(&c, raw, &raw_len) == whole);
		ck_assert(dname_from_wire(wire, len, &name) == whole);
		free(wire);
	}
}
END_TEST

START_TEST(read_raw_keeps_spelling)
{
	static const uint8_t wire[] = "\3WwW\3NET\0more";
	uint8_t raw[DNS_NAME_MAX];
	size_t len;
	struct cursor c = cursor_read_of(wire, sizeof(wire));

	ck_assert(dname_read_raw(&c, raw, &len));
	ck_assert_uint_eq(len, 9);
	ck_assert_mem_eq(raw, wire, len);
	ck_assert_uint_eq(c.pos, 9);

	struct cursor pointer =
	    cursor_read_of((const uint8_t *)"0123456789ab\0\300\14", 15);
	cursor_seek(&pointer, 13);
	ck_assert(!dname_read_raw(&pointer, raw, &len));
	ck_assert(pointer.error);
}
END_TEST

START_TEST(from_wire_is_whole)
{
	struct dname name;

	ck_assert(dname_from_wire((const uint8_t *)"\1A\0", 3, &name));
	ck_assert_str_eq(text_of(&name), "a");
	ck_assert(!dname_from_wire((const uint8_t *)"\1A\0\0", 4, &name));
	ck_assert(!dname_from_wire((const uint8_t *)"\1A", 2, &name));
	ck_assert(!dname_from_wire((const uint8_t *)"\300\0", 2, &name));
}
END_TEST

static const struct {
	const char *text;
	const char *printed; /* NULL: refused */
	uint8_t labels;
} texts[] = {
	{ "example.com", "example.com", 2 },
	{ "Example.COM.", "example.com", 2 },
	{ "a", "a", 1 },
	{ "_dmarc.x-y.z", "_dmarc.x-y.z", 3 },
	{ "*.example", "\\042.example", 2 },
	{ "", NULL, 0 },
	{ ".", NULL, 0 },
	{ "..", NULL, 0 },
	{ ".a", NULL, 0 },
	{ "a..b", NULL, 0 },
	{ "a..", NULL, 0 },
	{ "a b", NULL, 0 },
	{ "a\\.b", NULL, 0 },
	{ "a\tb", NULL, 0 },
	{ "b\303\274cher.example", NULL, 0 },
	{ "a\177", NULL, 0 },
};

START_TEST(text_forms)
{
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct dname name = { .len = 99 };
		const char *text = texts[i].text;
		bool ok = dname_from_text(text, strlen(text), &name);

		ck_assert_msg(ok == (texts[i].printed != NULL), "%s", text);
		if (!ok) {
			ck_assert_uint_eq(name.len, 99);
			continue;
		}
		ck_assert_str_eq(text_of(&name), texts[i].printed);
		ck_assert_uint_eq(name.labels, texts[i].labels);
	}
	struct dname name;
	ck_assert(!dname_from_text("a\0b", 3, &name));
}
END_TEST

START_TEST(text_lengths)
{
	for (size_t len = 1; len < 300; len++) {
		char text[300];
		struct dname name;

		/* Labels of one octet, so only the whole can be too long. */
		for (size_t i = 0; i < len; i++)
			text[i] = i % 2 == 0 ? 'a' : '.';
		bool ok = dname_from_text(text, len, &name);
		size_t bare = len % 2 == 0 ? len - 1 : len;
		ck_assert_msg(ok == (bare <= 253), "%zu", len);
		if (ok)
			ck_assert_uint_eq(name.len, bare + 2);
		/* One label. */
		memset(text, 'a', len);
		ck_assert(dname_from_text(text, len, &name) == (len <= 63));
	}
}
END_TEST

START_TEST(text_and_wire_agree)
{
	struct dname name = name_of("www.example.com"), again;
	uint8_t buf[DNS_NAME_MAX];
	struct cursor c = cursor_write_of(buf, sizeof(buf));

	dname_put(&c, &name);
	ck_assert_uint_eq(c.pos, 17);
	ck_assert_mem_eq(buf, "\3www\7example\3com", 17);
	ck_assert(dname_from_wire(buf, c.pos, &again));
	ck_assert(dname_equal(&name, &again));
	struct cursor small = cursor_write_of(buf, 16);
	dname_put(&small, &name);
	ck_assert(small.error);
}
END_TEST

START_TEST(longest_text)
{
	uint8_t wire[DNS_NAME_MAX];
	char buf[DNAME_TEXT_MAX + 1];
	struct dname name;

	ck_assert_uint_eq(long_name(wire, 255), 255);
	for (size_t i = 0; i < 254; i += (size_t)wire[i] + 1)
		memset(wire + i + 1, 0xff, wire[i]);
	ck_assert(dname_from_wire(wire, 255, &name));
	buf[DNAME_TEXT_MAX] = 'Z';
	size_t len = dname_print(&name, buf);
	ck_assert_uint_eq(len, strlen(buf));
	ck_assert_uint_eq(len, 250 * 4 + 3);
	ck_assert_int_eq(buf[DNAME_TEXT_MAX], 'Z');
}
END_TEST

/* In canonical order; the empty text is the root. */
static const char *const ordered[] = { "", "example", "a.example",
	"yljkjljk.a.example", "z.a.example", "zabc.a.example", "z.example",
	"z-.example", "zz.example", "f", "fa" };

static int
sign(int number)
{
	return (number > 0) - (number < 0);
}

START_TEST(compare_all_pairs)
{
	for (size_t i = 0; i < ARRAY_LEN(ordered); i++)
		for (size_t j = 0; j < ARRAY_LEN(ordered); j++) {
			struct dname a = name_of(ordered[i]);
			struct dname b = name_of(ordered[j]);

			ck_assert_msg(sign(dname_compare(&a, &b)) ==
				(i > j) - (i < j),
			    "%s %s", ordered[i], ordered[j]);
			ck_assert(dname_equal(&a, &b) == (i == j));
		}
}
END_TEST

static const struct {
	const char *name, *ancestor;
	bool below;
} family[] = {
	{ "www.example.com", "example.com", true },
	{ "www.example.com", "com", true },
	{ "www.example.com", "", true },
	{ "example.com", "example.com", false },
	{ "example.com", "www.example.com", false },
	{ "notexample.com", "example.com", false },
	{ "a.notexample.com", "example.com", false },
	{ "www.example.org", "example.com", false },
	{ "", "", false },
	{ "com", "", true },
	{ "", "com", false },
};

START_TEST(below)
{
	for (size_t i = 0; i < ARRAY_LEN(family); i++) {
		struct dname name = name_of(family[i].name);
		struct dname ancestor = name_of(family[i].ancestor);

		ck_assert_msg(dname_is_below(&name, &ancestor) ==
			family[i].below,
		    "%s %s", family[i].name, family[i].ancestor);
	}
	/* The octets of the ancestor, but across a label's edge. */
	struct dname trap, com = name_of("com");
	ck_assert(
	    dname_from_wire((const uint8_t *)"\1x\6yy\3com\0", 10, &trap));
	ck_assert(!dname_is_below(&trap, &com));
}
END_TEST

START_TEST(parents)
{
	struct dname name = name_of("a.b.c");

	ck_assert(dname_parent(&name, &name));
	ck_assert_str_eq(text_of(&name), "b.c");
	ck_assert(dname_parent(&name, &name));
	ck_assert(dname_parent(&name, &name));
	ck_assert_str_eq(text_of(&name), ".");
	ck_assert_uint_eq(name.len, 1);
	ck_assert(!dname_parent(&name, &name));
}
END_TEST

START_TEST(suffixes_and_labels)
{
	static const char *const suffixes[] = { ".", "c", "bb.c", "a.bb.c" };
	static const char *const labels[] = { "a", "bb", "c" };
	struct dname name = name_of("a.bb.c");

	for (uint8_t i = 0; i <= 3; i++) {
		struct dname suffix = dname_suffix(&name, i);

		ck_assert_str_eq(text_of(&suffix), suffixes[i]);
		ck_assert_uint_eq(suffix.labels, i);
	}
	for (uint8_t i = 0; i < 3; i++) {
		uint8_t len;
		const uint8_t *label = dname_label(&name, i, &len);

		ck_assert_uint_eq(len, strlen(labels[i]));
		ck_assert_mem_eq(label, labels[i], len);
	}
}
END_TEST

START_TEST(suffix_of_too_many)
{
	struct dname name = name_of("a.b");

	dname_suffix(&name, 3);
}
END_TEST

START_TEST(label_of_none)
{
	struct dname name = name_of("a.b");
	uint8_t len;

	dname_label(&name, 2, &len);
}
END_TEST

START_TEST(prepend)
{
	struct dname name = name_of("example");

	ck_assert(dname_prepend(&name, (const uint8_t *)"WWW", 3));
	ck_assert_str_eq(text_of(&name), "www.example");
	ck_assert_uint_eq(name.labels, 2);
	ck_assert(!dname_prepend(&name, (const uint8_t *)"", 0));

	uint8_t label[64];
	memset(label, 'l', sizeof(label));
	ck_assert(!dname_prepend(&name, label, 64));
	dname_root(&name);
	for (int i = 0; i < 3; i++)
		ck_assert(dname_prepend(&name, label, 63));
	ck_assert(!dname_prepend(&name, label, 62));
	ck_assert(dname_prepend(&name, label, 61));
	ck_assert_uint_eq(name.len, 255);
	ck_assert(!dname_prepend(&name, label, 1));
}
END_TEST

START_TEST(hosts)
{
	struct dname name = name_of("_dns.a-b.0z");

	ck_assert(dname_is_host(&name));
	dname_root(&name);
	ck_assert(dname_is_host(&name));
	name = name_of("a.b!c.d");
	ck_assert(!dname_is_host(&name));
	for (unsigned octet = 0; octet < 256; octet++) {
		uint8_t label = (uint8_t)octet;
		bool host = octet != 0 &&
		    strchr("abcdefghijklmnopqrstuvwxyz0123456789-_",
			(int)octet) != NULL;

		ck_assert(dname_label_is_host(&label, 1) == host);
	}
}
END_TEST

START_TEST(hashes)
{
	static const uint8_t one[16] = { 1 }, two[16] = { 2 };
	struct dname a = name_of("Example.com"), b = name_of("example.com");
	struct dname other = name_of("example.org");
	uint8_t h[4][16];

	dname_hash(&a, one, h[0]);
	dname_hash(&b, one, h[1]);
	dname_hash(&other, one, h[2]);
	dname_hash(&a, two, h[3]);
	ck_assert_mem_eq(h[0], h[1], 16);
	ck_assert_mem_ne(h[0], h[2], 16);
	ck_assert_mem_ne(h[0], h[3], 16);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("dname", &all);

	tcase_add_test(all, read_names);
	tcase_add_test(all, skip_names);
	tcase_add_test(all, read_after_error);
	tcase_add_test(all, read_lengths);
	tcase_add_test(all, read_most_labels);
	tcase_add_test(all, read_pointer_chain);
	tcase_add_test(all, read_truncated);
	tcase_add_test(all, read_raw_keeps_spelling);
	tcase_add_test(all, from_wire_is_whole);
	tcase_add_test(all, text_forms);
	tcase_add_test(all, text_lengths);
	tcase_add_test(all, text_and_wire_agree);
	tcase_add_test(all, longest_text);
	tcase_add_test(all, compare_all_pairs);
	tcase_add_test(all, below);
	tcase_add_test(all, parents);
	tcase_add_test(all, suffixes_and_labels);
	tcase_add_test_raise_signal(all, suffix_of_too_many, SIGABRT);
	tcase_add_test_raise_signal(all, label_of_none, SIGABRT);
	tcase_add_test(all, prepend);
	tcase_add_test(all, hosts);
	tcase_add_test(all, hashes);
	unit_covers("H110");
	return unit_run(suite);
}
