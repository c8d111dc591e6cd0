/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lists_read - a list of names as a file says it.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/values.h"
#include "src/cli/cli.h"
#include "src/cli/lists.h"
#include "src/cli/load.h"

void
list_date(uint32_t serial, char ret[LIST_DATE_MAX])
{
	uint32_t day = serial / 100 % 100, month = serial / 10000 % 100;
	uint32_t year = serial / 1000000;

	if (year >= 1990 && year < 2100 && month >= 1 && month <= 12 &&
	    day >= 1 && day <= 31)
		snprintf(ret, LIST_DATE_MAX,
		    "%04" PRIu32 "-%02" PRIu32 "-%02" PRIu32, year, month, day);
	else
		snprintf(ret, LIST_DATE_MAX, "-");
}

static bool
split_lines(struct list *list)
{
	const char *at = list->file.bytes, *end = at + list->file.size;

	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		struct line *lines =
		    text_grow(list->lines, list->line_count, sizeof(*lines));

		if (lines == NULL)
			return false;
		list->lines = lines;
		if (stop == NULL)
			stop = end;
		lines[list->line_count++] =
		    (struct line){ at, (size_t)(stop - at) };
		at = stop + 1;
	}
	return true;
}

static void
tell_refusals(const struct list *list, bool *bad)
{
	for (size_t i = 0; i < list->zone.refusal_count; i++)
		complain("%s:%" PRIu32 ": %s", list->file.path,
		    list->zone.refusals[i].line, list->zone.refusals[i].reason);
	if (list->zone.refusal_count > 0)
		*bad = true;
}

bool
list_open(struct list *list, struct text_file *file, bool *bad)
{
	struct text_error error;

	*list = (struct list){ .file = *file };
	int r = zone_text_survey(file->path, file->bytes, file->size,
	    &list->zone, &error);
	if (r == 0 && !split_lines(list)) {
		zone_list_free(&list->zone);
		r = -ENOMEM;
	}
	if (r < 0) {
		if (r == -EINVAL)
			complain("%s:%" PRIu32 ": %s", error.file, error.line,
			    error.reason);
		else
			complain("out of memory");
		free(list->lines);
		free_text(file);
		*bad = true;
		return false;
	}
	list_date(list->zone.serial, list->date);
	tell_refusals(list, bad);
	return true;
}

void
list_close(struct list *list)
{
	zone_list_free(&list->zone);
	free(list->lines);
	free_text(&list->file);
}

static bool
is_comment(const struct list *list, uint32_t line)
{
	return line >= 1 && line <= list->line_count &&
	    list->lines[line - 1].len > 0 &&
	    list->lines[line - 1].text[0] == ';';
}

uint32_t
list_comment(const struct list *list, uint32_t line)
{
	while (is_comment(list, line - 1))
		line--;
	return line;
}

void
list_comment_text(const struct list *list, uint32_t line, char *ret,
    size_t size)
{
	const struct line *from;

	*ret = '\0';
	if (!is_comment(list, line))
		return;
	from = &list->lines[line - 1];
	size_t skip = 1;
	while (skip < from->len && from->text[skip] == ' ')
		skip++;
	snprintf(ret, size, "%.*s", (int)(from->len - skip), from->text + skip);
}

bool
list_is_name(const char *word, size_t len)
{
	return len > 0 && len < EDGE_NAME_MAX && word[0] != '-' &&
	    strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789-") >= len;
}

const char *
list_verb(const struct zone_entry *entry)
{
	return entry->deny ? "deny" : "allow";
}

int
list_compare(const struct zone_entry *x, const struct zone_entry *y)
{
	int order = dname_compare(&x->name, &y->name);

	if (order == 0)
		order = (int)x->kind - (int)y->kind;
	if (order == 0)
		order = (int)x->deny - (int)y->deny;
	return order;
}

static int
compare(const void *a, const void *b)
{
	return list_compare(a, b);
}

void
list_sort(struct list *list)
{
	if (list->zone.count > 0)
		qsort(list->zone.entries, list->zone.count,
		    sizeof(*list->zone.entries), compare);
}
