/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * import_read - plain lists, the workflows of harden-runner, and response
 * policy zones.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "lib/addr.h"
#include "lib/require.h"
#include "lib/text/zone_text.h"
#include "src/cli/import.h"

#define BLANKS " \t\r"

static bool
is_one_of(char c, const char *set)
{
	return c != '\0' && strchr(set, c) != NULL;
}

static struct span
skip(struct span from, size_t count)
{
	return (struct span){ from.text + count, from.len - count };
}

bool
span_line(struct span *rest, struct span *ret)
{
	if (rest->len == 0)
		return false;
	const char *end = memchr(rest->text, '\n', rest->len);
	size_t len = end != NULL ? (size_t)(end - rest->text) : rest->len;

	*ret = (struct span){ rest->text, len };
	*rest = skip(*rest, end != NULL ? len + 1 : len);
	return true;
}

bool
span_word(struct span *rest, struct span *ret)
{
	size_t begin = 0, end;

	while (begin < rest->len && is_one_of(rest->text[begin], BLANKS ","))
		begin++;
	end = begin;
	while (end < rest->len && !is_one_of(rest->text[end], BLANKS ","))
		end++;
	*ret = (struct span){ rest->text + begin, end - begin };
	*rest = skip(*rest, end);
	return ret->len > 0;
}

struct span
span_trim(struct span from)
{
	while (from.len > 0 && is_one_of(from.text[0], BLANKS))
		from = skip(from, 1);
	while (from.len > 0 && is_one_of(from.text[from.len - 1], BLANKS))
		from.len--;
	return from;
}

bool
span_begins(struct span from, const char *with)
{
	size_t len = strlen(with);

	return from.len >= len && memcmp(from.text, with, len) == 0;
}

static bool
span_has(struct span in, const char *text)
{
	for (; in.len > 0; in = skip(in, 1))
		if (span_begins(in, text))
			return true;
	return false;
}

/* Quotes around a word, or at the one end of it that this line has. */
static struct span
unquote(struct span from)
{
	while (from.len > 0 && is_one_of(from.text[0], "'\""))
		from = skip(from, 1);
	while (from.len > 0 && is_one_of(from.text[from.len - 1], "'\""))
		from.len--;
	return from;
}

/* Up to the first octet of a set; the rest behind it is moved on. */
static struct span
split(struct span *rest, const char *at)
{
	struct span front = { rest->text, 0 };

	while (front.len < rest->len && !is_one_of(rest->text[front.len], at))
		front.len++;
	*rest = skip(*rest, front.len);
	return front;
}

static bool
read_port(struct span text, uint16_t *ret)
{
	uint32_t port = 0;

	if (text.len == 0 || text.len > 5 || text.text[0] == '0')
		return false;
	for (size_t i = 0; i < text.len; i++) {
		if (text.text[i] < '0' || text.text[i] > '9')
			return false;
		port = port * 10 + (uint32_t)(text.text[i] - '0');
	}
	if (port > UINT16_MAX)
		return false;
	*ret = (uint16_t)port;
	return true;
}

/* What a word says, taken apart. */
struct parts {
	struct span host;
	struct span path; /* from its slash, "" or all of it */
	uint16_t port; /* 0: none */
};

static const char not_a_port[] =
    "what stands behind the colon is no port; write 1 to 65535";
static const char an_address[] =
    "an address; a rule is about a name (one with \"addresses\" where no "
    "server knows it)";

static bool
is_address(struct span text)
{
	struct addr addr;

	return text.len > 0 &&
	    (text.text[0] == '[' || addr_parse(text.text, text.len, &addr));
}

/* Takes the scheme of a URL away; NULL or what is wrong with it. */
static const char *
take_scheme(struct span *word, uint16_t *ret_port)
{
	static const struct {
		const char *begin;
		uint16_t port;
	} schemes[] = { { "https://", 443 }, { "http://", 80 },
		{ "ssh://", 22 } };

	if (!span_has(*word, "://"))
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
		if (!span_begins(*word, schemes[i].begin))
			continue;
		*word = skip(*word, strlen(schemes[i].begin));
		*ret_port = schemes[i].port;
		return NULL;
	}
	return "a URL whose port is not known; write NAME:PORT";
}

/* NULL, or what is wrong. */
static const char *
take_apart(struct span word, struct parts *ret)
{
	struct parts parts = { .port = 0 };
	const char *wrong = take_scheme(&word, &parts.port);

	if (wrong != NULL)
		return wrong;
	if (is_address(word))
		return an_address;
	struct span rest = word;
	struct span authority = split(&rest, "/?#");
	parts.path =
	    rest.len == 1 && rest.text[0] == '/' ? skip(rest, 1) : rest;
	parts.host = split(&authority, ":");
	if (is_address(parts.host))
		return an_address;
	if (authority.len > 0 && !read_port(skip(authority, 1), &parts.port))
		return not_a_port;
	*ret = parts;
	return NULL;
}

/* A name with its stars, by the sense of the list; false: noted. */
static bool
add_by_sense(struct import *import, const struct import_entry *entry,
    struct span host, enum import_sense sense)
{
	char stars[DNAME_TEXT_MAX];
	bool dot = span_begins(host, "."), star = span_begins(host, "*.");

	if (dot && sense == IMPORT_EXACT) {
		import_note(import, entry->line, host,
		    "a dot in front says: and what is below; --below reads "
		    "the list so");
		return false;
	}
	if (sense == IMPORT_EXACT || span_begins(host, "**."))
		return import_add(import, entry, host);
	host = skip(host, dot ? 1 : star ? 2 : 0);
	/* The name itself first: what is wrong with it is said once. */
	size_t len = (size_t)snprintf(stars, sizeof(stars), "**.%.*s",
	    host.len < 512 ? (int)host.len : 512, host.text);
	if (!star && !import_add(import, entry, host))
		return false;
	return import_add(import, entry, (struct span){ stars, len });
}

void
import_plain_entry(struct import *import, uint32_t line, struct span word,
    enum import_sense sense)
{
	struct import_entry entry = { .line = line };
	struct parts parts;
	const char *wrong = take_apart(word, &parts);

	if (wrong != NULL) {
		import_note(import, line, word, wrong);
		return;
	}
	entry.port = parts.port;
	if (add_by_sense(import, &entry, parts.host, sense) &&
	    parts.path.len > 0)
		import_note(import, line, word,
		    "the whole host is allowed: paths are not seen by DNS, "
		    "and what is meant to be one of them needs a proxy");
}

/* Without a comment, the dash of a list, quotes and a comma at its end. */
static struct span
strip_line(struct span line)
{
	for (size_t i = 0; i < line.len; i++)
		if (line.text[i] == '#' &&
		    (i == 0 || is_one_of(line.text[i - 1], BLANKS)))
			line.len = i;
	line = span_trim(line);
	if (span_begins(line, "!") || span_begins(line, ";") ||
	    span_begins(line, "//"))
		line.len = 0;
	if (span_begins(line, "- "))
		line = span_trim(skip(line, 2));
	if (line.len > 0 && line.text[line.len - 1] == ',')
		line.len--;
	return unquote(span_trim(line));
}

static struct span
skip_mark(struct span text)
{
	return skip(text, span_begins(text, "\xef\xbb\xbf") ? 3 : 0);
}

void
import_plain(struct import *import, struct span text, enum import_sense sense)
{
	struct span line, word;
	uint32_t number = 0;

	text = skip_mark(text);
	while (span_line(&text, &line)) {
		number++;
		struct span rest = line = strip_line(line);
		if (!span_word(&rest, &word))
			continue;
		if (span_trim(rest).len > 0)
			import_note(import, number, line,
			    "more than one word; a plain list has one name "
			    "on a line");
		else
			import_plain_entry(import, number, word, sense);
	}
}

/* One of allowed-endpoints: HOST:PORT, where a star is one label. */
static void
add_endpoint(struct import *import, uint32_t line, struct span word)
{
	struct import_entry entry = { .line = line };
	struct parts parts;
	const char *wrong = take_apart(word, &parts);

	if (wrong == NULL && parts.path.len > 0)
		wrong = "an endpoint is HOST:PORT, without a path";
	if (wrong == NULL && parts.port == 0)
		wrong = "an endpoint without its port; write HOST:PORT";
	if (wrong != NULL) {
		import_note(import, line, word, wrong);
		return;
	}
	entry.port = parts.port;
	(void)import_add(import, &entry, parts.host);
}

static void
add_endpoints(struct import *import, uint32_t line, struct span rest)
{
	struct span word;

	if (span_has(rest, "${{")) {
		import_note(import, line, span_trim(rest),
		    "an expression, which is filled in when the workflow "
		    "runs");
		return;
	}
	while (span_word(&rest, &word) && word.text[0] != '#') {
		word = unquote(word);
		if (word.len > 0)
			add_endpoint(import, line, word);
	}
}

static size_t
indent_of(struct span line)
{
	size_t count = 0;

	while (count < line.len && line.text[count] == ' ')
		count++;
	return count;
}

/* Where a workflow is read: inside a value of the key or not. */
struct workflow {
	struct import *import;
	uint32_t line;
	bool inside;
	bool seen;
	size_t indent; /* of the key */
};

#define KEY "allowed-endpoints"

static void
begin_value(struct workflow *w, size_t indent, struct span value)
{
	w->inside = true;
	w->seen = true;
	w->indent = indent;
	value = span_trim(value);
	/* How a block is folded makes no difference here. */
	if (value.len > 0 && !is_one_of(value.text[0], "|>"))
		add_endpoints(w->import, w->line, value);
}

static void
take_workflow_line(struct workflow *w, struct span line)
{
	size_t indent = indent_of(line);
	struct span content = span_trim(line);

	if (content.len == 0)
		return;
	if (w->inside && indent > w->indent) {
		add_endpoints(w->import, w->line, content);
		return;
	}
	w->inside = false;
	if (content.text[0] == '#')
		return;
	while (span_begins(content, "- ")) {
		content = skip(content, 2);
		indent += 2 + indent_of(content);
		content = span_trim(content);
	}
	if (span_begins(content, KEY ":")) {
		begin_value(w, indent, skip(content, strlen(KEY ":")));
	} else if (span_has(content, KEY)) {
		w->seen = true;
		import_note(w->import, w->line, content,
		    "read only where it begins a line");
	}
}

bool
import_workflow(struct import *import, struct span text)
{
	struct workflow w = { .import = import };
	struct span line;

	text = skip_mark(text);
	while (span_line(&text, &line)) {
		w.line++;
		take_workflow_line(&w, line);
	}
	return w.seen;
}

/* Notes stand in the order of lines, so that one walk finds their text. */
static void
note_refusals(struct import *import, const struct zone_list *list,
    struct span text)
{
	struct span line = { text.text, 0 };
	uint32_t number = 0;

	for (size_t i = 0; i < list->refusal_count; i++) {
		const struct zone_refusal *refusal = &list->refusals[i];

		while (number < refusal->line && span_line(&text, &line))
			number++;
		import_note(import, refusal->line, span_trim(line),
		    refusal->reason);
	}
}

int
import_zone(struct import *import, const struct text_file *file,
    struct text_error *ret_error)
{
	struct zone_list list;
	int r = zone_text_survey(file->path, file->bytes, file->size, &list,
	    ret_error);

	if (r < 0)
		return r;
	for (size_t i = 0; i < list.count; i++) {
		const struct zone_entry *from = &list.entries[i];
		struct import_entry entry = { .line = from->line,
			.deny = from->deny };

		import_add_name(import, &entry, from->kind, &from->name);
	}
	note_refusals(import, &list, (struct span){ file->bytes, file->size });
	zone_list_free(&list);
	return 0;
}
