/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * suffix_list - whether a wildcard lets in whoever registers a name.
 *
 * One judgement for whoever reads policies and for whoever writes them.
 */
#ifndef LIB_TEXT_SUFFIX_LIST_H
#define LIB_TEXT_SUFFIX_LIST_H

#include "lib/apex.h"
#include "lib/text/zone_text.h"

enum suffix_width {
	SUFFIX_NARROW, /* all below it is somebody's */
	SUFFIX_AT, /* the name is a public suffix */
	SUFFIX_ABOVE /* a public suffix lies below the name */
};

/* As suffix_width() wants it. */
void suffix_list_sort(struct suffix_list *);
/* Of a wildcard below name, by a sorted list that is in the table too.
 * ret_suffix, of DNAME_TEXT_MAX octets, gets the public suffix as the list has
 * it, "*.example.com" too; it is untouched for SUFFIX_NARROW. */
enum suffix_width suffix_width(const struct suffix_list *,
    const struct apex_table *, const struct dname *name, char *ret_suffix);

#endif
