/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * yaml_tree - libyaml events as a strict tree that remembers line and column.
 *
 * The octets are looked at before libyaml sees them, so that what it would
 * read over (a NUL ends its input, a byte order mark shifts its columns) or
 * report without a place is found here. What is left of YAML is maps, lists
 * and one-line words; everything cleverer is refused.
 */
#include "lib/text/yaml_tree.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "lib/require.h"

#define LINE_OCTETS_MAX 4096
#define DEPTH_MAX       12
#define NODES_MAX       (4u << 20)
#define WORD_MAX        80

struct builder {
	const char *file;
	const char *bytes; /* without a byte order mark */
	size_t size;
	struct yaml_node *root;
	struct yaml_node *stack[DEPTH_MAX]; /* open lists and maps */
	struct yaml_node *tail[DEPTH_MAX]; /* the last child of each */
	struct yaml_node *key[DEPTH_MAX]; /* read, its value not yet */
	size_t depth, nodes;
	bool document_seen;
	struct text_error *error;
};

static int
error_at(struct text_error *error, const char *file, uint32_t line,
    uint32_t column, const char *reason)
{
	snprintf(error->file, sizeof(error->file), "%s", file);
	snprintf(error->reason, sizeof(error->reason), "%s", reason);
	error->line = line;
	error->column = column;
	return -EINVAL;
}

/* Octets of a character by its first one, 0 when none begins so. */
static size_t
character_size(uint8_t first)
{
	if (first < 0x80)
		return 1;
	if (first < 0xc2 || first > 0xf4)
		return 0;
	if (first < 0xe0)
		return 2;
	return first < 0xf0 ? 3 : 4;
}

/* Octets of the character at p, 0 when that is not UTF-8 (RFC 3629). */
static size_t
character_read(const uint8_t *p, size_t left, uint32_t *ret)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len = character_size(p[0]);
	uint32_t code;

	if (len == 0 || len > left)
		return 0;
	code = len == 1 ? p[0] : p[0] & (0xffu >> (len + 1));
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3fu);
	}
	if (code < smallest[len] || code > 0x10ffff ||
	    (code >= 0xd800 && code <= 0xdfff))
		return 0;
	*ret = code;
	return len;
}

/* Control characters, what YAML takes for a line break, and marks that make
 * a line read otherwise than it is. Tab, CR and LF are not judged here. */
static bool
character_is_hidden(uint32_t code)
{
	if (code == '\t' || code == '\r' || code == '\n')
		return false;
	return code < 0x20 || (code >= 0x7f && code < 0xa0) ||
	    (code >= 0x200e && code <= 0x200f) ||
	    (code >= 0x2028 && code <= 0x202e) ||
	    (code >= 0x2066 && code <= 0x2069) || code == 0xfeff ||
	    code == 0xfffe || code == 0xffff;
}

/* What is wrong with one character where it stands; NULL: nothing. buf has
 * 64 octets. */
static const char *
character_fault(uint32_t code, uint8_t next, bool indent, char *buf)
{
	if (code == 0)
		return "a NUL octet; this must be a text file";
	if (code == '\r' && next != '\n')
		return "a carriage return without a line feed; end lines "
		       "with a line feed";
	if (code == '\t' && indent)
		return "a tab in the indentation; indent with spaces";
	if (!character_is_hidden(code))
		return NULL;
	snprintf(buf, 64, "the hidden character U+%04X; take it out",
	    (unsigned)code);
	return buf;
}

static int
check_octets(struct builder *b)
{
	const uint8_t *p = (const uint8_t *)b->bytes;
	uint32_t line = 1, column = 1, code = 0;
	size_t start = 0, len;
	bool indent = true;
	char buf[64];

	for (size_t i = 0; i < b->size; i += len) {
		const char *fault;

		len = character_read(p + i, b->size - i, &code);
		if (len == 0)
			return error_at(b->error, b->file, line, column,
			    "an octet that is not UTF-8; save the file as "
			    "UTF-8");
		fault = character_fault(code, i + 1 < b->size ? p[i + 1] : 0,
		    indent, buf);
		if (fault == NULL && i - start >= LINE_OCTETS_MAX &&
		    code != '\n' && code != '\r')
			fault = "a line of more than 4096 octets; break it "
				"into several";
		if (fault != NULL)
			return error_at(b->error, b->file, line, column, fault);
		indent = code == '\n' || (indent && code == ' ');
		column++;
		if (code == '\n') {
			line++;
			column = 1;
			start = i + len;
		}
	}
	return 0;
}

/* The octet offset of a place that libyaml reported. */
static size_t
offset_of(const struct builder *b, const yaml_mark_t *mark)
{
	size_t at = 0, line = mark->line, column = mark->column;

	for (; at < b->size && line > 0; at++)
		if (b->bytes[at] == '\n')
			line--;
	for (; at < b->size && column > 0; column--)
		do
			at++;
		while (at < b->size && ((uint8_t)b->bytes[at] & 0xc0) == 0x80);
	return at;
}

static bool
is_word_end(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' ||
	    c == '[' || c == ']' || c == '{' || c == '}' || c == '"' ||
	    c == '\'';
}

/* The word around a place, into WORD_MAX octets; returns how many octets of
 * it stand before the place. */
static size_t
word_at(const struct builder *b, const yaml_mark_t *mark, char *buf)
{
	size_t at = offset_of(b, mark), start = at, end = at;

	while (start > 0 && !is_word_end(b->bytes[start - 1]))
		start--;
	while (end < b->size && !is_word_end(b->bytes[end]))
		end++;
	if (end - start >= WORD_MAX)
		end = start + WORD_MAX - 1;
	memcpy(buf, b->bytes + start, end - start);
	buf[end - start] = '\0';
	return at - start;
}

/* An address with "::" at its end (or, in a list in brackets, at its start)
 * that YAML cannot take without quotes. */
static bool
is_colon_address(const char *word)
{
	size_t len = strlen(word);

	if (len < 2 || strspn(word, "0123456789abcdefABCDEF:.@/") != len)
		return false;
	return memcmp(word, "::", 2) == 0 ||
	    memcmp(word + len - 2, "::", 2) == 0;
}

/* What libyaml could not read, as one of our own messages where the cause is
 * a known trap. */
static int
syntax_error(struct builder *b, const yaml_parser_t *parser)
{
	const yaml_mark_t *mark = &parser->problem_mark;
	struct yaml_node place = { .line = (uint32_t)mark->line + 1,
		.column = (uint32_t)mark->column + 1 };
	const char *context = parser->context;
	char word[WORD_MAX];
	size_t before = word_at(b, mark, word);

	if (context != NULL &&
	    strcmp(context, "while scanning an alias") == 0) {
		mark = &parser->context_mark;
		word_at(b, mark, word);
		place.line = (uint32_t)mark->line + 1;
		place.column = (uint32_t)mark->column + 1;
		return text_error_at(b->error, b->file, &place,
		    "put names that begin with * in quotes: \"%s\"", word);
	}
	if (is_colon_address(word)) {
		place.column -= (uint32_t)before;
		return text_error_at(b->error, b->file, &place,
		    "put an address that begins or ends with :: in quotes: "
		    "\"%s\"",
		    word);
	}
	if (strncmp(parser->problem, "mapping values are not allowed", 30) == 0)
		return text_error_at(b->error, b->file, &place,
		    "a colon and a space are out of place here; put a text "
		    "with \": \" in quotes, or indent as the lines above");
	return text_error_at(b->error, b->file, &place, "not YAML: %s%s%s",
	    parser->problem, context != NULL ? " " : "",
	    context != NULL ? context : "");
}

static int
place_error(struct builder *b, const yaml_mark_t *mark, const char *reason)
{
	return error_at(b->error, b->file, (uint32_t)mark->line + 1,
	    (uint32_t)mark->column + 1, reason);
}

static struct yaml_node *
node_new(enum yaml_kind kind, const yaml_mark_t *mark, const char *text,
    size_t len)
{
	struct yaml_node *node = calloc(1, sizeof(*node) + len + 1);

	if (node == NULL)
		return NULL;
	node->kind = kind;
	node->line = (uint32_t)mark->line + 1;
	node->column = (uint32_t)mark->column + 1;
	if (kind == YAML_SCALAR) {
		node->text = (char *)(node + 1);
		memcpy(node->text, text, len);
		node->len = len;
	}
	return node;
}

/* Hangs a node where it belongs. Owns it, also when it fails. */
static int
attach(struct builder *b, struct yaml_node *node)
{
	struct yaml_node *parent;
	size_t top = b->depth - 1;

	node->file = b->file;
	if (b->depth == 0) {
		b->root = node;
		return 0;
	}
	parent = b->stack[top];
	if (parent->kind == YAML_MAPPING && b->key[top] == NULL) {
		b->key[top] = node;
		if (node->kind != YAML_SCALAR || node->len == 0)
			return text_error_at(b->error, b->file, node,
			    "a key must be one word, followed by a colon");
		if (strcmp(node->text, "<<") == 0 && !node->quoted)
			return text_error_at(b->error, b->file, node,
			    "merge keys (<<) are not read; write the entries "
			    "out, or share policies with \"use\"");
		return 0;
	}
	node->key = b->key[top];
	b->key[top] = NULL;
	if (b->tail[top] == NULL)
		parent->first = node;
	else
		b->tail[top]->next = node;
	b->tail[top] = node;
	parent->count++;
	return 0;
}

/* One node from a scalar, or from the start of a list or a map. */
static int
add(struct builder *b, const yaml_event_t *event, enum yaml_kind kind)
{
	const char *text = NULL;
	struct yaml_node *node;
	size_t len = 0;
	int r;

	if (++b->nodes > NODES_MAX)
		return place_error(b, &event->start_mark,
		    "more entries than this program reads in one file");
	if (kind == YAML_SCALAR) {
		text = (const char *)event->data.scalar.value;
		len = event->data.scalar.length;
	}
	node = node_new(kind, &event->start_mark, text, len);
	if (node == NULL)
		return -ENOMEM;
	if (kind == YAML_SCALAR)
		node->quoted =
		    event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	r = attach(b, node);
	if (r < 0 || kind == YAML_SCALAR)
		return r;
	if (b->depth == DEPTH_MAX)
		return place_error(b, &event->start_mark,
		    "lists and maps nest too deeply");
	b->stack[b->depth] = node;
	b->tail[b->depth] = NULL;
	b->key[b->depth] = NULL;
	b->depth++;
	return 0;
}

/* Escapes in quotes can smuggle in what check_octets() kept out. */
static int
check_scalar(struct builder *b, const yaml_event_t *event)
{
	const uint8_t *p = event->data.scalar.value;
	size_t size = event->data.scalar.length, len;
	uint32_t code;

	if (event->data.scalar.style == YAML_LITERAL_SCALAR_STYLE ||
	    event->data.scalar.style == YAML_FOLDED_SCALAR_STYLE)
		return place_error(b, &event->start_mark,
		    "a block of lines (| or >); write the text on one line");
	for (size_t i = 0; i < size; i += len) {
		len = character_read(p + i, size - i, &code);
		if (len == 0 || code < 0x20 || character_is_hidden(code))
			return place_error(b, &event->start_mark,
			    "a hidden character in a text; write one line "
			    "of printable text");
	}
	return 0;
}

static int
check_properties(struct builder *b, const yaml_event_t *event,
    const yaml_char_t *anchor, const yaml_char_t *tag)
{
	if (anchor != NULL)
		return place_error(b, &event->start_mark,
		    "anchors (&) are not read; write the entries out");
	if (tag != NULL)
		return place_error(b, &event->start_mark,
		    "tags (!) are not read; leave it out");
	return 0;
}

static int
start_document(struct builder *b, const yaml_event_t *event)
{
	if (b->document_seen)
		return place_error(b, &event->start_mark,
		    "a second document; a file holds one");
	b->document_seen = true;
	if (event->data.document_start.version_directive != NULL ||
	    event->data.document_start.tag_directives.start !=
		event->data.document_start.tag_directives.end)
		return place_error(b, &event->start_mark,
		    "directives (%) are not read; leave them out");
	return 0;
}

/* Orders entries by key, equal keys by place. */
static int
compare_keys(const void *a, const void *b)
{
	const struct yaml_node *x = *(const struct yaml_node *const *)a;
	const struct yaml_node *y = *(const struct yaml_node *const *)b;
	int order = strcmp(x->key->text, y->key->text);

	if (order != 0)
		return order;
	if (x->key->line != y->key->line)
		return x->key->line < y->key->line ? -1 : 1;
	return x->key->column < y->key->column ? -1 : 1;
}

/* The first entry, in the order of the file, whose key was there before. */
static int
check_duplicates(struct builder *b, const struct yaml_node *map)
{
	const struct yaml_node **entries, *second = NULL, *first = NULL;
	size_t count = 0;

	if (map->count < 2)
		return 0;
	entries = calloc(map->count, sizeof(*entries));
	if (entries == NULL)
		return -ENOMEM;
	for (const struct yaml_node *n = map->first; n != NULL; n = n->next)
		entries[count++] = n;
	qsort(entries, count, sizeof(*entries), compare_keys);
	for (size_t i = 1; i < count; i++)
		if (strcmp(entries[i]->key->text, entries[i - 1]->key->text) ==
			0 &&
		    (second == NULL ||
			entries[i]->key->line < second->key->line)) {
			second = entries[i];
			first = entries[i - 1];
		}
	free(entries);
	if (second == NULL)
		return 0;
	return text_error_at(b->error, b->file, second->key,
	    "\"%s\" is here twice; the first is on line %u", second->key->text,
	    (unsigned)first->key->line);
}

static int
close_node(struct builder *b)
{
	struct yaml_node *node = b->stack[--b->depth];

	return node->kind == YAML_MAPPING ? check_duplicates(b, node) : 0;
}

static int
take_scalar(struct builder *b, const yaml_event_t *event)
{
	int r = check_properties(b, event, event->data.scalar.anchor,
	    event->data.scalar.tag);

	if (r == 0)
		r = check_scalar(b, event);
	return r < 0 ? r : add(b, event, YAML_SCALAR);
}

static int
take(struct builder *b, const yaml_event_t *event)
{
	int r;

	switch (event->type) {
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_STREAM_END_EVENT:
	case YAML_DOCUMENT_END_EVENT:
		return 0;
	case YAML_DOCUMENT_START_EVENT:
		return start_document(b, event);
	case YAML_ALIAS_EVENT:
		return place_error(b, &event->start_mark,
		    "aliases (*) are not read; put names that begin with * "
		    "in quotes");
	case YAML_SCALAR_EVENT:
		return take_scalar(b, event);
	case YAML_SEQUENCE_START_EVENT:
		r = check_properties(b, event,
		    event->data.sequence_start.anchor,
		    event->data.sequence_start.tag);
		return r < 0 ? r : add(b, event, YAML_SEQUENCE);
	case YAML_MAPPING_START_EVENT:
		r = check_properties(b, event, event->data.mapping_start.anchor,
		    event->data.mapping_start.tag);
		return r < 0 ? r : add(b, event, YAML_MAPPING);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return close_node(b);
	}
	UNREACHABLE();
}

static int
parse(struct builder *b)
{
	yaml_parser_t parser;
	yaml_event_t event;
	bool end = false;
	int r = 0;

	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)b->bytes,
	    b->size);
	while (r == 0 && !end) {
		if (!yaml_parser_parse(&parser, &event)) {
			r = parser.error == YAML_MEMORY_ERROR
			    ? -ENOMEM
			    : syntax_error(b, &parser);
			break;
		}
		end = event.type == YAML_STREAM_END_EVENT;
		r = take(b, &event);
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	for (size_t i = 0; i < b->depth; i++)
		yaml_tree_free(b->key[i]);
	return r;
}

int
yaml_tree_read(const char *file, const char *bytes, size_t size,
    struct yaml_node **ret, struct text_error *ret_error)
{
	struct builder b = { .file = file,
		.bytes = bytes,
		.size = size,
		.error = ret_error };
	int r;

	if (size > YAML_FILE_SIZE_MAX)
		return error_at(ret_error, file, 1, 1,
		    "a file of more than 16 MiB; that is no configuration");
	if (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
		b.bytes += 3;
		b.size -= 3;
	}
	r = check_octets(&b);
	if (r == 0)
		r = parse(&b);
	if (r == 0 && b.root == NULL)
		r = error_at(ret_error, file, 1, 1,
		    "the file is empty; it needs at least version, listen, "
		    "edge and upstream");
	if (r < 0) {
		yaml_tree_free(b.root);
		return r;
	}
	*ret = b.root;
	return 0;
}

/* Without recursion: children are put before what is left of the list. */
void
yaml_tree_free(struct yaml_node *list)
{
	while (list != NULL) {
		struct yaml_node *node = list, *last;

		list = node->next;
		if (node->first != NULL) {
			for (last = node->first; last->next != NULL;)
				last = last->next;
			last->next = list;
			list = node->first;
		}
		if (node->key != NULL) {
			node->key->next = list;
			list = node->key;
		}
		free(node);
	}
}

const struct yaml_node *
yaml_tree_get(const struct yaml_node *map, const char *key)
{
	if (map->kind != YAML_MAPPING)
		return NULL;
	for (const struct yaml_node *n = map->first; n != NULL; n = n->next)
		if (strcmp(n->key->text, key) == 0)
			return n;
	return NULL;
}

int
text_error_at(struct text_error *ret_error, const char *file,
    const struct yaml_node *node, const char *format, ...)
{
	char reason[TEXT_ERROR_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	if (node != NULL && node->file != NULL)
		file = node->file;
	return error_at(ret_error, file, node != NULL ? node->line : 1,
	    node != NULL ? node->column : 1, reason);
}
