/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * zone_text - zone lists in response-policy form, and the public suffix list.
 *
 * Master files are read through ldns. `N CNAME rpz-passthru.` allows,
 * `N CNAME .` denies; the zone's origin (owner of its SOA) is stripped; `*.N`
 * has RPZ's meaning and becomes `**.N`. Other triggers and actions are errors
 * that say so.
 */
#ifndef LIB_TEXT_ZONE_TEXT_H
#define LIB_TEXT_ZONE_TEXT_H

#include <stddef.h>

#include "lib/apex.h"
#include "lib/text/yaml_tree.h"
#include "lib/verdict.h"

struct zone_entry {
	struct dname name;
	enum rule_kind kind; /* EXACT or BELOW */
	bool deny;
	uint32_t line;
};

/* *ret is an array to free(). 0, -EINVAL or -ENOMEM. */
int zone_text_read(const char *file, const char *bytes, size_t size,
    struct zone_entry **ret, size_t *ret_count, struct text_error *ret_error);

/* A record that is none of those entries, and why. */
struct zone_refusal {
	uint32_t line;
	char reason[TEXT_ERROR_MAX];
};

struct zone_list {
	struct zone_entry *entries;
	size_t count;
	struct zone_refusal *refusals;
	size_t refusal_count;
	uint32_t serial; /* of its SOA */
};

/* The same for who shows or copies a list and does not obey it: records that
 * have no meaning here do not end the reading but stand in ret. *ret is
 * untouched on failure. 0, -EINVAL or -ENOMEM. */
int zone_text_survey(const char *file, const char *bytes, size_t size,
    struct zone_list *ret, struct text_error *ret_error);
void zone_list_free(struct zone_list *);

struct suffix_entry {
	struct dname name;
	enum apex_rule rule;
};

struct suffix_list {
	struct suffix_entry *entries; /* to free() */
	size_t count;
	char date[64]; /* from the VERSION comment, or "" */
};

/* The public suffix list's own text form, UTF-8, both sections. *ret is
 * untouched on failure. 0, -EINVAL or -ENOMEM. */
int suffix_text_read(const char *file, const char *bytes, size_t size,
    struct suffix_list *ret, struct text_error *ret_error);

#endif
