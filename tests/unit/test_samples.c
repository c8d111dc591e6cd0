/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every sample in the documentation loads: the files of docs/examples, each
 * block that begins with ```yaml in a Markdown file, and the literal blocks
 * of namewall.yaml(5) that are YAML. A block need not be whole: the keys that
 * every configuration must have are added where it has none. Lists are those
 * of zones/allow, each of which is loaded too. And the manual page has every
 * key, with its default, and no other.
 */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "tests/unit/text_fixture.h"
#include "tests/unit/unit.h"

#define FILES_MAX  64
#define SAMPLE_MAX 65536

static struct text_file files[FILES_MAX];
static size_t file_count;

static void
find(const char *pattern, glob_t *ret)
{
	char path[512];

	fixture_path(pattern, path);
	ck_assert_msg(glob(path, 0, NULL, ret) != GLOB_ABORTED, "%s", path);
}

static const char *
base_name(const char *path)
{
	return strrchr(path, '/') + 1;
}

static void
load_lists(void)
{
	glob_t found;

	file_count = 0;
	files[file_count++] = fixture_suffixes();
	find("zones/allow/*.zone", &found);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *path = found.gl_pathv[i], *base = base_name(path);
		struct text_file *file = &files[file_count++];

		ck_assert_uint_le(file_count, FILES_MAX);
		snprintf(file->name, sizeof(file->name), "zone:%.*s",
		    (int)(strlen(base) - strlen(".zone")), base);
		snprintf(file->path, sizeof(file->path), "%s", base);
		file->bytes = fixture_slurp(path, &file->size);
	}
	globfree(&found);
}

static void
free_lists(void)
{
	for (size_t i = 1; i < file_count; i++)
		free((char *)(uintptr_t)files[i].bytes);
}

/* Reads a sample, which is said to begin behind line `before` of its file. */
static void
check_sample(const char *file, size_t before, const char *bytes, size_t size,
    bool warnings)
{
	static const uint8_t secret[16] = { 4 };
	struct config *config = NULL;
	struct text_error error;
	int r = config_read(&config, file, bytes, size, files, file_count,
	    secret, &error);

	ck_assert_msg(r == 0, "%s, sample behind line %zu: line %u:%u: %s",
	    file, before, (unsigned)error.line, (unsigned)error.column,
	    error.reason);
	if (!warnings && config->warning_count > 0)
		ck_abort_msg("%s:%u: warning: %s", file,
		    (unsigned)config->warnings[0].line,
		    config->warnings[0].reason);
	config_free(config);
}

static bool
has_key(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *at = text; at != NULL; at = strchr(at, '\n')) {
		if (*at == '\n')
			at++;
		if (strncmp(at, key, len) == 0)
			return true;
	}
	return false;
}

/* A sample that is perhaps only a part. */
static void
check_part(const char *file, size_t before, const char *text)
{
	static const char *const required[] = { "version: 1\n",
		"listen: [10.200.1.1]\n", "edge: [\"veth*\", \"tap*\"]\n",
		"upstream: [9.9.9.9]\n" };
	static char whole[SAMPLE_MAX];
	size_t len = (size_t)snprintf(whole, sizeof(whole), "%s", text);

	for (size_t i = 0; i < ARRAY_LEN(required); i++) {
		char key[16];

		snprintf(key, sizeof(key), "%.*s",
		    (int)strcspn(required[i], " "), required[i]);
		if (!has_key(text, key))
			len += (size_t)snprintf(whole + len,
			    sizeof(whole) - len, "%s", required[i]);
		ck_assert_uint_lt(len, sizeof(whole));
	}
	check_sample(file, before, whole, len, true);
}

/* The samples of one file between lines that begin with open and with close;
 * those of a manual page must look like YAML. Returns how many. */
static size_t
check_blocks(const char *path, const char *open, const char *close)
{
	static char sample[SAMPLE_MAX];
	FILE *stream = fopen(path, "r");
	size_t line = 0, begin = 0, len = 0, count = 0;
	char text[1024];

	ck_assert_msg(stream != NULL, "cannot open %s", path);
	while (fgets(text, sizeof(text), stream) != NULL) {
		line++;
		if (begin == 0 && strncmp(text, open, strlen(open)) == 0) {
			begin = line;
			len = 0;
			sample[0] = '\0';
		} else if (begin != 0 &&
		    strncmp(text, close, strlen(close)) == 0) {
			if (strchr(sample, ':') != NULL && sample[0] != '$') {
				check_part(path, begin, sample);
				count++;
			}
			begin = 0;
		} else if (begin != 0) {
			len += (size_t)snprintf(sample + len,
			    sizeof(sample) - len, "%s", text);
			ck_assert_uint_lt(len, sizeof(sample));
		}
	}
	ck_assert_msg(begin == 0, "%s:%zu: a block without an end", path,
	    begin);
	fclose(stream);
	return count;
}

START_TEST(every_example_loads_without_a_warning)
{
	glob_t found;

	load_lists();
	find("docs/examples/*.yaml", &found);
	ck_assert_uint_ge(found.gl_pathc, 4);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		size_t size;
		char *bytes = fixture_slurp(found.gl_pathv[i], &size);

		check_sample(base_name(found.gl_pathv[i]), 0, bytes, size,
		    false);
		free(bytes);
	}
	globfree(&found);
	free_lists();
}
END_TEST

START_TEST(every_block_of_the_documents_loads)
{
	static const char *const patterns[] = { "README.md", "zones/README.md",
		"docs/*.md" };
	size_t count = 0;

	load_lists();
	for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
		glob_t found;

		find(patterns[i], &found);
		for (size_t j = 0; j < found.gl_pathc; j++)
			count +=
			    check_blocks(found.gl_pathv[j], "```yaml", "```");
		globfree(&found);
	}
	ck_assert_uint_ge(count, 2);
	free_lists();
}
END_TEST

START_TEST(every_example_of_the_manual_loads)
{
	char path[512];

	load_lists();
	fixture_path("docs/man/namewall.yaml.5", path);
	ck_assert_uint_eq(check_blocks(path, ".Bd -literal", ".Ed"), 2);
	free_lists();
}
END_TEST

START_TEST(every_list_of_the_package_loads)
{
	char text[1024];

	load_lists();
	ck_assert_uint_ge(file_count, 2);
	for (size_t i = 1; i < file_count; i++) {
		snprintf(text, sizeof(text),
		    "policies: {p: {allow: [{list: %s}]}}\n",
		    files[i].name + strlen("zone:"));
		check_part(files[i].path, 0, text);
	}
	free_lists();
}
END_TEST

/* Which map of the configuration a heading of the manual page is about. */
static const struct {
	const char *heading, *prefix;
} HEADINGS[] = { { "Top level", "" }, { "Sandboxes", "sandbox." },
	{ "Policies", "policy." }, { "Rules", "rule." }, { "Sinks", "sink." },
	{ "Attached sandboxes", "attach." }, { "Control sockets", "control." },
	{ "The table in the kernel", "nft." }, { "Lifetimes of pins", "pins." },
	{ "Lifetimes in answers", "ttl." },
	{ "What questions tell", "bounds." },
	{ "Protected ranges", "protected." }, { "Limits", "limits." } };

/* The full name of the key that a line of the manual is about; false: none. */
static bool
key_of_line(const char *line, const char *prefix, char *buf, size_t size)
{
	static const char item[] = ".It Ic ";

	if (prefix == NULL || strncmp(line, item, strlen(item)) != 0)
		return false;
	snprintf(buf, size, "%s%.*s", prefix,
	    (int)strcspn(line + strlen(item), "\n"), line + strlen(item));
	return true;
}

static const char *
prefix_of_line(const char *line, const char *before)
{
	if (strncmp(line, ".Sh ", 4) == 0)
		return NULL;
	if (strncmp(line, ".Ss ", 4) != 0)
		return before;
	for (size_t i = 0; i < ARRAY_LEN(HEADINGS); i++)
		if (strncmp(line + 4, HEADINGS[i].heading,
			strcspn(line + 4, "\n")) == 0)
			return HEADINGS[i].prefix;
	return NULL;
}

/* The two lines behind a key's: "Default", and its value. */
static void
check_default(FILE *stream, const struct setting_doc *doc)
{
	char line[1024], expected[1024];
	bool space =
	    doc->fallback != NULL && strchr(doc->fallback, ' ') != NULL;

	ck_assert_ptr_nonnull(fgets(line, sizeof(line), stream));
	if (doc->fallback == NULL) {
		ck_assert_str_ne(line, "Default\n");
		return;
	}
	ck_assert_msg(strcmp(line, "Default\n") == 0, "%s: %s", doc->name,
	    line);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), stream));
	snprintf(expected, sizeof(expected), ".Cm %s%s%s .\n",
	    space ? "\"" : "", doc->fallback, space ? "\"" : "");
	ck_assert_msg(strcmp(line, expected) == 0, "%s: %s", doc->name, line);
}

static bool
find_doc(const char *name, size_t *ret_index, struct setting_doc *ret)
{
	for (*ret_index = 0; settings_doc(*ret_index, ret); ++*ret_index)
		if (strcmp(ret->name, name) == 0)
			return true;
	return false;
}

START_TEST(the_manual_has_every_key_and_its_default)
{
	const char *prefix = NULL;
	bool seen[256] = { false };
	char path[512], line[1024], name[128];
	struct setting_doc doc;
	size_t index;
	FILE *stream;

	fixture_path("docs/man/namewall.yaml.5", path);
	stream = fopen(path, "r");
	ck_assert_ptr_nonnull(stream);
	while (fgets(line, sizeof(line), stream) != NULL) {
		prefix = prefix_of_line(line, prefix);
		if (!key_of_line(line, prefix, name, sizeof(name)))
			continue;
		ck_assert_msg(find_doc(name, &index, &doc),
		    "the manual has the key %s, the program has not", name);
		ck_assert_uint_lt(index, ARRAY_LEN(seen));
		ck_assert_msg(!seen[index], "%s is there twice", name);
		seen[index] = true;
		check_default(stream, &doc);
	}
	fclose(stream);
	for (index = 0; settings_doc(index, &doc); index++)
		ck_assert_msg(seen[index], "the manual lacks %s", doc.name);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("samples", &all);

	tcase_add_test(all, every_example_loads_without_a_warning);
	tcase_add_test(all, every_block_of_the_documents_loads);
	tcase_add_test(all, every_example_of_the_manual_loads);
	tcase_add_test(all, every_list_of_the_package_loads);
	tcase_add_test(all, the_manual_has_every_key_and_its_default);
	return unit_run(suite);
}
