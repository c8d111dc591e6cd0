/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fields - the one table of every key of the configuration.
 *
 * What a key is called, what it is worth when it is absent, which values it
 * takes, and what the manual says of it. A key is named by the map that it
 * stands in: "pins.floor"; the maps with names of the user's own are
 * "sandbox.", "policy.", "rule." and "sink.".
 */
#ifndef LIB_TEXT_FIELDS_H
#define LIB_TEXT_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/text/settings.h"
#include "lib/text/yaml_tree.h"

enum field_type {
	FIELD_OTHER, /* read by code of its own */
	FIELD_MAP, /* keys of its own: "NAME." */
	FIELD_LATER, /* not in this version yet; plain values follow */
	FIELD_U16,
	FIELD_U32,
	FIELD_S32,
	FIELD_BOOL,
	FIELD_MS, /* a duration, into a uint32_t */
	FIELD_SECONDS, /* the same in whole seconds */
	FIELD_RATE, /* NUMBER/second */
	FIELD_BUDGET, /* OCTETS/day, stored in 1/256 bit */
	FIELD_PATH, /* absolute */
	FIELD_WORD
};

struct field {
	const char *name;
	enum field_type type;
	size_t offset, size; /* in struct settings; size of a text */
	int64_t min, max; /* in the unit that is stored; of a text: octets */
	const char *fallback; /* as text; NULL: none */
	const char *help;
};

/* All fields, those of later versions too. */
const struct field *fields_all(size_t *ret_count);
/* Refuses keys of a map that are unknown or not in this version yet. prefix
 * is "" or ends in a dot. 0 or -EINVAL. */
int fields_check(const char *file, const struct yaml_node *map,
    const char *prefix, struct text_error *ret_error);
/* Reads a plain value into its place; sets all plain values to their
 * defaults. Plain are the types behind FIELD_LATER. 0 or -EINVAL. */
int fields_read(const char *file, const struct field *,
    const struct yaml_node *, struct settings *, struct text_error *ret_error);
void fields_defaults(struct settings *);
/* The error for something of a later version. */
int fields_later(const char *file, const struct yaml_node *, const char *what,
    struct text_error *ret_error);

#endif
