/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names against ldns. The first octet says where in the rest a name begins
 * and whether it may be compressed; a second name is read behind it.
 *
 * We are stricter than ldns on purpose in one thing, pointers: they must
 * lead backwards, past the header, and be no more than 127. So what ldns
 * reads and we do not must bear a pointer. ldns reads one octet beyond the
 * end of a name without a root label; our messages end in a spare zero.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "tests/fuzz/fuzz.h"

static bool
has_pointer(const uint8_t *wire, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (wire[i] >= 0xc0)
			return true;
	return false;
}

/* Reads one name with both; true when we have one. */
static bool
read_both(struct cursor *cursor, bool compression, struct dname *ret)
{
	ldns_rdf *rdf = NULL;
	size_t begin = cursor->pos, end = begin;
	bool theirs = ldns_wire2dname(&rdf, cursor->base, cursor->size, &end) ==
	    LDNS_STATUS_OK;
	bool ours = dname_read(cursor, compression, ret);

	AGREE(ours == !cursor->error);
	if (ours) {
		AGREE(theirs);
		struct dname name = fuzz_name(rdf);
		AGREE(dname_equal(ret, &name));
		AGREE(ret->labels == ldns_dname_label_count(rdf));
		AGREE(cursor->pos == end);
	} else if (theirs) {
		fuzz_name(rdf);
		AGREE(has_pointer(cursor->base + begin, cursor->size - begin));
	}
	ldns_rdf_deep_free(rdf);
	return ours;
}

/* What we print, ldns reads as the same name. */
static void
check_text(const struct dname *name)
{
	char text[DNAME_TEXT_MAX];
	size_t len = dname_print(name, text);
	struct dname again;

	AGREE(len == strlen(text));
	ldns_rdf *rdf = ldns_dname_new_frm_str(text);
	AGREE(rdf != NULL);
	again = fuzz_name(rdf);
	AGREE(dname_equal(name, &again));
	ldns_rdf_deep_free(rdf);
	if (name->labels == 0 || !dname_is_host(name))
		return;
	AGREE(dname_from_text(text, len, &again));
	AGREE(dname_equal(name, &again) && name->labels == again.labels);
}

/* Taken apart and put together it is what it was. */
static void
check_labels(const struct dname *name)
{
	struct dname built, parent, suffix;
	uint8_t len;

	dname_root(&built);
	for (uint8_t i = name->labels; i-- > 0;) {
		const uint8_t *label = dname_label(name, i, &len);

		AGREE(dname_prepend(&built, label, len));
		suffix = dname_suffix(name, (uint8_t)(name->labels - i));
		AGREE(dname_equal(&built, &suffix));
		AGREE(i == 0 || dname_is_below(name, &suffix));
	}
	AGREE(dname_equal(name, &built));
	AGREE(!dname_is_below(name, name));
	if (!dname_parent(name, &parent))
		return;
	suffix = dname_suffix(name, (uint8_t)(name->labels - 1));
	AGREE(dname_equal(&parent, &suffix));
	AGREE(dname_compare(&parent, name) < 0);
}

static ldns_rdf *
rdf_of(const struct dname *name)
{
	return ldns_rdf_new_frm_data(LDNS_RDF_TYPE_DNAME, name->len,
	    name->wire);
}

static void
check_pair(const struct dname *a, const struct dname *b)
{
	ldns_rdf *rdf_a = rdf_of(a), *rdf_b = rdf_of(b);
	int order = dname_compare(a, b);

	AGREE(order == ldns_dname_compare(rdf_a, rdf_b));
	AGREE(order == -dname_compare(b, a));
	AGREE((order == 0) == dname_equal(a, b));
	AGREE(dname_is_below(a, b) == ldns_dname_is_subdomain(rdf_a, rdf_b));
	ldns_rdf_deep_free(rdf_a);
	ldns_rdf_deep_free(rdf_b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dname first, second;

	if (size < 2 || size > 65536)
		return 0;
	/* Room for the one octet too far that ldns looks at. */
	uint8_t *wire = calloc(size + 1, 1);
	memcpy(wire, data + 1, size - 1);
	struct cursor cursor = cursor_read_of(wire, size - 1);
	cursor_seek(&cursor, (size_t)(data[0] >> 1) % size);

	bool compression = (data[0] & 1) != 0;
	if (read_both(&cursor, compression, &first)) {
		check_text(&first);
		check_labels(&first);
		if (read_both(&cursor, compression, &second))
			check_pair(&first, &second);
	}
	free(wire);
	return 0;
}
