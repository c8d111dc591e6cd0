/* SPDX-License-Identifier: BSD-2-Clause */
/* sample - reads names, streams and tunnels. See eval.h. */
#include "config.h"

#include <sys/wait.h>

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/text/zone_text.h"
#include "tools/eval/eval.h"

#define FIELDS_MAX 4
#define LINE_MAX_  4096
#define NAMES_MAX  (1 << 20) /* of suffixes */

/* A file of lines; .gz goes through gzip. */
struct source {
	FILE *file;
	pid_t child; /* 0: none */
	const char *path;
};

static struct source
source_open(const char *path)
{
	struct source source = { .path = path };
	size_t len = strlen(path);
	int ends[2];

	if (len < 3 || strcmp(path + len - 3, ".gz") != 0) {
		source.file = fopen(path, "r");
		if (source.file == NULL)
			die(path, strerror(errno));
		return source;
	}
	if (access(path, R_OK) != 0 || pipe(ends) != 0)
		die(path, strerror(errno));
	source.child = fork();
	if (source.child < 0)
		die(path, strerror(errno));
	if (source.child == 0) {
		(void)dup2(ends[1], STDOUT_FILENO);
		(void)close(ends[0]);
		(void)close(ends[1]);
		execlp("gzip", "gzip", "-dc", "--", path, (char *)NULL);
		_exit(127);
	}
	(void)close(ends[1]);
	source.file = fdopen(ends[0], "r");
	if (source.file == NULL)
		die(path, strerror(errno));
	return source;
}

static void
source_close(struct source *source)
{
	int status = 0;

	if (ferror(source->file))
		die(source->path, "cannot be read");
	(void)fclose(source->file);
	if (source->child != 0 &&
	    (waitpid(source->child, &status, 0) < 0 || status != 0))
		die(source->path, "cannot be unpacked");
}

/* The next line's fields, cut at tabs; false at the end. */
static bool
source_next(struct source *source, char line[LINE_MAX_],
    char *fields[FIELDS_MAX], size_t *ret_count)
{
	char *at;

	do {
		if (fgets(line, LINE_MAX_, source->file) == NULL)
			return false;
	} while (line[0] == '#');
	line[strcspn(line, "\n")] = '\0';
	*ret_count = 0;
	for (at = line; at != NULL && *ret_count < FIELDS_MAX;) {
		fields[(*ret_count)++] = at;
		at = strchr(at, '\t');
		if (at != NULL)
			*at++ = '\0';
	}
	return true;
}

/* ---- names ----------------------------------------------------------- */

void
suffixes_read(struct apex_table *table, const char *path)
{
	static const uint8_t secret[16];
	struct source source = source_open(path);
	struct text_error error;
	struct suffix_list list;
	struct arena arena;
	size_t size = 0, capacity = 0, n;
	char *bytes = NULL;

	do {
		while (capacity < size + 65536)
			bytes = grow(bytes, capacity, &capacity, 1);
		n = fread(bytes + size, 1, 65536, source.file);
		size += n;
	} while (n > 0);
	source_close(&source);
	if (suffix_text_read(path, bytes, size, &list, &error) != 0)
		die(path, error.reason);
	arena_init(&arena, NULL, 0);
	apex_table_init(table, &arena, (uint32_t)list.count, secret);
	n = arena.used;
	arena_init(&arena, zeroes(1, n), n);
	apex_table_init(table, &arena, (uint32_t)list.count, secret);
	for (n = 0; n < list.count; n++)
		(void)apex_table_add(table, &list.entries[n].name,
		    list.entries[n].rule);
	free(list.entries);
	free(bytes);
}

/* Which tenth of all zones a zone is in. */
static uint8_t
bucket_of(const struct dname *zone)
{
	uint8_t hash[crypto_hash_sha256_BYTES];
	char text[DNAME_TEXT_MAX];
	size_t len = dname_print(zone, text);
	uint32_t first;

	crypto_hash_sha256(hash, (const uint8_t *)text, len);
	first = (uint32_t)hash[0] << 24 | (uint32_t)hash[1] << 16 |
	    (uint32_t)hash[2] << 8 | hash[3];
	return (uint8_t)(first % EVAL_BUCKETS);
}

static uint32_t
stream_of(struct sample *sample, const char *label)
{
	bool is_new;
	uint32_t number =
	    map_put(&sample->streams, label, strlen(label) + 1, &is_new);

	if (!is_new)
		return number;
	sample->labels = grow(sample->labels, number, &sample->label_capacity,
	    sizeof(*sample->labels));
	snprintf(sample->labels[number], EVAL_LABEL_MAX, "%s", label);
	return number;
}

static struct item *
add(struct sample *sample, const struct dname *name, const char *label,
    const struct apex_table *suffixes)
{
	struct item *item;
	struct dname zone;

	sample->items = grow(sample->items, sample->count, &sample->capacity,
	    sizeof(*sample->items));
	item = &sample->items[sample->count++];
	memset(item, 0, sizeof(*item));
	item->name = *name;
	item->zone_labels = apex_labels(suffixes, name);
	zone = dname_suffix(name, item->zone_labels);
	item->bucket = bucket_of(&zone);
	item->stream = stream_of(sample, label);
	return item;
}

void
sample_read_names(struct sample *sample, const char *path,
    const struct apex_table *suffixes)
{
	struct source source = source_open(path);
	char line[LINE_MAX_], *fields[FIELDS_MAX];
	struct dname name, zone;
	struct item *item;
	size_t count;
	long labels;

	while (source_next(&source, line, fields, &count)) {
		if (count < 2 ||
		    !dname_from_text(fields[0], strlen(fields[0]), &name)) {
			sample->skipped++;
			continue;
		}
		item = add(sample, &name, fields[1], suffixes);
		labels = count > 2 ? strtol(fields[2], NULL, 10) : 0;
		if (labels < 1 || labels > name.labels)
			continue;
		item->zone_labels = (uint8_t)labels;
		zone = dname_suffix(&name, item->zone_labels);
		item->bucket = bucket_of(&zone);
	}
	source_close(&source);
}

void
sample_read_stream(struct sample *sample, const char *path,
    const struct apex_table *suffixes)
{
	struct source source = source_open(path);
	char line[LINE_MAX_], *fields[FIELDS_MAX];
	struct dname name;
	struct item *item;
	size_t count;

	while (source_next(&source, line, fields, &count)) {
		if (count < 4 ||
		    !dname_from_text(fields[3], strlen(fields[3]), &name)) {
			sample->skipped++;
			continue;
		}
		item = add(sample, &name, fields[1], suffixes);
		item->at = strtod(fields[0], NULL);
		item->type = (uint16_t)strtoul(fields[2], NULL, 10);
	}
	source_close(&source);
}

/* ---- escaped names --------------------------------------------------- */

/* What stands behind a backslash: three digits, or one character. */
static uint8_t
read_escape(const char **at, int base)
{
	char digits[4] = { 0 };
	const char *text = *at;

	if (strspn(text, "0123456789") >= 3) {
		memcpy(digits, text, 3);
		*at += 3;
		return (uint8_t)strtoul(digits, NULL, base);
	}
	*at += 1;
	switch (*text) {
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case 'r':
		return '\r';
	default:
		return (uint8_t)*text;
	}
}

static bool
is_letter(uint8_t octet, char first, char last)
{
	return octet >= (uint8_t)first && octet <= (uint8_t)last;
}

/* Of octets before they are folded. */
static uint8_t
spelling_of(const uint8_t *octets, size_t len)
{
	bool has_small = false, has_capital = false;
	uint8_t spelling = 0;

	for (; len > 0; len--, octets++) {
		has_small |= is_letter(*octets, 'a', 'z');
		has_capital |= is_letter(*octets, 'A', 'Z');
		if (*octets > 127)
			spelling |= SPELT_EIGHT;
		if (is_letter(*octets, 'g', 'z') ||
		    is_letter(*octets, 'G', 'Z'))
			spelling |= SPELT_BEYOND_HEX;
	}
	if (has_small || has_capital)
		spelling |= SPELT_LETTERS;
	if (has_small && has_capital)
		spelling |= SPELT_MIXED;
	return spelling;
}

/* False: no name. Labels keep octets of any value; the octets of the name are
 * not folded yet. */
static bool
read_escaped(const char *text, int base, uint8_t wire[DNS_NAME_MAX + 64],
    size_t *ret_len)
{
	size_t at = 0, start = 0;
	uint8_t octet;
	bool is_dot;

	wire[at++] = 0;
	while (*text != '\0') {
		is_dot = *text == '.' && text[1] != '\0';
		if (*text == '.' && text[1] == '\0')
			break;
		octet = (uint8_t)*text++;
		if (octet == '\\' && *text != '\0')
			octet = read_escape(&text, base);
		if (at >= DNS_NAME_MAX || at - start > 64)
			return false;
		wire[at++] = is_dot ? 0 : octet;
		if (is_dot) {
			wire[start] = (uint8_t)(at - start - 2);
			start = at - 1;
		}
	}
	wire[start] = (uint8_t)(at - start - 1);
	wire[at++] = 0;
	*ret_len = at;
	return at <= DNS_NAME_MAX;
}

/* The name, and how what is below its zone was spelt. */
static bool
add_escaped(struct sample *sample, const char *text, const char *label,
    const struct apex_table *suffixes)
{
	int base = strncmp(label, "cnlog:", 6) == 0 ? 8 : 10;
	uint8_t wire[DNS_NAME_MAX + 64], folded[DNS_NAME_MAX];
	struct dname name, zone;
	struct item *item;
	size_t len, i, longest;

	if (!read_escaped(text, base, wire, &len))
		return false;
	/* Lengths of labels are below any letter. */
	for (i = 0; i < len; i++)
		folded[i] = is_letter(wire[i], 'A', 'Z')
		    ? (uint8_t)(wire[i] + ('a' - 'A'))
		    : wire[i];
	if (!dname_from_wire(folded, len, &name))
		return false;
	item = add(sample, &name, label, suffixes);
	zone = dname_suffix(&name, item->zone_labels);
	/* The longest label is the one that carries something. */
	for (i = longest = 0; i < len - zone.len; i += 1 + (size_t)wire[i])
		longest = wire[i] > wire[longest] ? i : longest;
	if (len > zone.len)
		item->spelling = spelling_of(wire + longest + 1, wire[longest]);
	return true;
}

void
sample_read_tunnels(struct sample *sample, const char *path,
    const struct apex_table *suffixes)
{
	struct source source = source_open(path);
	char line[LINE_MAX_], *fields[FIELDS_MAX];
	struct item *item;
	size_t count;

	while (source_next(&source, line, fields, &count)) {
		if (count < 4 ||
		    !add_escaped(sample, fields[3], fields[0], suffixes)) {
			sample->skipped++;
			continue;
		}
		item = &sample->items[sample->count - 1];
		item->at = strtod(fields[1], NULL);
		item->type = (uint16_t)strtoul(fields[2], NULL, 10);
	}
	source_close(&source);
}

void
sample_free(struct sample *sample)
{
	map_free(&sample->streams);
	free(sample->labels);
	free(sample->items);
	memset(sample, 0, sizeof(*sample));
}
