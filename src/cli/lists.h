/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lists - a list of names as a file says it: its records, its date, and the
 * comments that stand above them.
 */
#ifndef SRC_CLI_LISTS_H
#define SRC_CLI_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/text/policy_text.h"
#include "lib/text/zone_text.h"

#define LIST_DATE_MAX 16

struct list {
	struct text_file file;
	struct zone_list zone;
	struct line {
		const char *text;
		size_t len;
	} * lines;
	size_t line_count;
	char date[LIST_DATE_MAX]; /* of its serial; "-" when that is no date */
};

/* Takes the bytes of the file. False: complained about, and nothing is kept;
 * records that are refused are complained about too and only set *bad. */
bool list_open(struct list *, struct text_file *, bool *bad);
void list_close(struct list *);
/* YYYYMMDDnn, as a serial often is, or "-". */
void list_date(uint32_t serial, char ret[LIST_DATE_MAX]);
/* The comment that ends in the line above; number of its first line, which is
 * the line itself where there is none. */
uint32_t list_comment(const struct list *, uint32_t line);
/* The text of a comment line without its mark; "" where it has none. */
void list_comment_text(const struct list *, uint32_t line, char *ret,
    size_t size);
/* What names stand behind a name for a list: a-z, 0-9 and dashes. */
bool list_is_name(const char *word, size_t len);

/* "allow" or "deny". */
const char *list_verb(const struct zone_entry *);
/* By name and kind, then what is denied. */
int list_compare(const struct zone_entry *, const struct zone_entry *);
void list_sort(struct list *);

#endif
