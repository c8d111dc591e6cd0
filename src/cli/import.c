/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * import - reads a list of another tool, prints the rules that say the same.
 */
#include "config.h"

#include "src/cli/import.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "src/cli/cli.h"
#include "src/cli/load.h"

#define NOTES_SHOWN 20

enum format {
	HARDEN_RUNNER,
	PLAIN,
	RPZ
};

static const char *const formats[] = { "harden-runner", "plain", "rpz" };

struct job {
	const struct cli *cli;
	enum format format;
	enum import_sense sense;
	struct text_file file;
	struct import import;
};

static bool
take_format(struct args *args, enum format *ret)
{
	const char *word = args_take_word(args);

	for (size_t i = 0; word != NULL && i < ARRAY_LEN(formats); i++) {
		if (strcmp(word, formats[i]) != 0)
			continue;
		*ret = (enum format)i;
		return true;
	}
	if (word == NULL)
		complain("usage: namewall import FORMAT FILE; FORMAT is "
			 "harden-runner, plain or rpz");
	else
		complain("%s is no format that is read; harden-runner, plain "
			 "and rpz are",
		    word);
	return false;
}

static bool
take_sense(struct args *args, enum format format, enum import_sense *ret)
{
	bool exact = args_take_flag(args, "--exact");
	bool below = args_take_flag(args, "--below");

	if (format != PLAIN && (exact || below)) {
		complain("--exact and --below are for plain lists; %s says "
			 "itself what its names stand for",
		    formats[format]);
		return false;
	}
	if (format == PLAIN && exact == below) {
		complain("what does a name in this list stand for? --exact: "
			 "example.com is that name alone; --below: it is that "
			 "name and every name below it, such as "
			 "a.b.example.com");
		return false;
	}
	*ret = below ? IMPORT_BELOW : IMPORT_EXACT;
	return true;
}

static bool
is_text(const struct text_file *file)
{
	if (file->size == 0 || memchr(file->bytes, '\0', file->size) == NULL)
		return true;
	complain("%s: a NUL octet; this must be a text file", file->path);
	return false;
}

/* Fills the import from the text; an exit code. */
static enum cli_exit
read_text(struct job *job)
{
	struct span text = { job->file.bytes, job->file.size };
	struct text_error error;
	int status;

	if (!is_text(&job->file))
		return CLI_NO;
	switch (job->format) {
	case HARDEN_RUNNER:
		if (import_workflow(&job->import, text))
			return CLI_OK;
		complain("%s: no \"allowed-endpoints:\" in it; a list of "
			 "HOST:PORT lines is read as plain --exact",
		    job->file.path);
		return CLI_NO;
	case PLAIN:
		import_plain(&job->import, text, job->sense);
		return CLI_OK;
	case RPZ:
		status = import_zone(&job->import, &job->file, &error);
		if (status == -ENOMEM)
			job->import.no_memory = true;
		if (status != -EINVAL)
			return CLI_OK;
		complain("%s:%" PRIu32 ": %s", error.file, error.line,
		    error.reason);
		return CLI_NO;
	}
	REQUIRE(false);
	return CLI_NO;
}

/* The public suffix list of the configuration that is named, or the one that
 * configurations have that name none. *ret is room for size octets. */
static enum cli_exit
suffixes_path(const struct cli *cli, char *ret, size_t size)
{
	struct edge_config *edge;
	struct setting_doc doc;
	struct text_error error;
	int status;

	if (cli->config == NULL) {
		for (size_t i = 0; settings_doc(i, &doc); i++)
			if (strcmp(doc.name, "public_suffixes") == 0)
				snprintf(ret, size, "%s", doc.fallback);
		return CLI_OK;
	}
	status = load_edge(cli->config, &edge, &error);
	if (status == -EINVAL) {
		complain("%s:%" PRIu32 ":%" PRIu32 ": %s", error.file,
		    error.line, error.column, error.reason);
		return CLI_NO;
	}
	if (status < 0)
		return CLI_ENVIRONMENT;
	snprintf(ret, size, "%s", edge->settings.public_suffixes);
	edge_config_free(edge);
	return CLI_OK;
}

static enum cli_exit
judge_by(struct import *import, struct suffix_list *list)
{
	static const uint8_t secret[16] = { 0 }; /* a list we trust */
	struct apex_table apex;
	struct arena arena;
	uint32_t count = (uint32_t)list->count;

	arena_init(&arena, NULL, 0);
	apex_table_init(&apex, &arena, count, secret);
	void *block = malloc(arena.used);
	if (block == NULL) {
		import->no_memory = true;
		return CLI_OK;
	}
	arena_init(&arena, block, arena.used);
	apex_table_init(&apex, &arena, count, secret);
	for (size_t i = 0; i < list->count; i++)
		REQUIRE(apex_table_add(&apex, &list->entries[i].name,
		    list->entries[i].rule));
	suffix_list_sort(list);
	import_judge(import, list, &apex);
	free(block);
	return CLI_OK;
}

static enum cli_exit
judge(const struct cli *cli, struct import *import)
{
	char path[SETTINGS_PATH_MAX] = "";
	struct suffix_list list;
	struct text_file file;
	struct text_error error;

	enum cli_exit status = suffixes_path(cli, path, sizeof(path));
	if (status != CLI_OK)
		return status;
	if (load_text(path, &file) < 0) {
		complain("without the public suffix list (Debian's package "
			 "publicsuffix) no wildcard can be judged");
		return CLI_ENVIRONMENT;
	}
	int r = suffix_text_read(path, file.bytes, file.size, &list, &error);
	free_text(&file);
	if (r == -ENOMEM)
		import->no_memory = true;
	if (r == -EINVAL)
		complain("%s:%" PRIu32 ": %s", error.file, error.line,
		    error.reason);
	if (r < 0)
		return CLI_ENVIRONMENT;
	status = judge_by(import, &list);
	free(list.entries);
	return status;
}

static enum cli_exit
tell(const struct job *job)
{
	const struct import *import = &job->import;

	for (size_t i = 0; i < import->note_count && i < NOTES_SHOWN; i++)
		complain("%s:%" PRIu32 ": %s: %s", job->file.path,
		    import->notes[i].line, import->notes[i].text,
		    import->notes[i].reason);
	if (import->note_count > NOTES_SHOWN)
		complain("%s: and %zu more; the comments have them all",
		    job->file.path, import->note_count - NOTES_SHOWN);
	if (import->rule_count == 0)
		complain("%s: no rule came of it", job->file.path);
	return import->rule_count == 0 || import->note_count > 0 ? CLI_NO
								 : CLI_OK;
}

static enum cli_exit
run(struct job *job)
{
	enum cli_exit status = read_text(job);

	if (status == CLI_OK)
		import_merge(&job->import);
	if (status == CLI_OK)
		status = judge(job->cli, &job->import);
	if (job->import.no_memory) {
		complain("out of memory");
		return CLI_ENVIRONMENT;
	}
	if (status != CLI_OK)
		return status;
	import_print(stdout, &job->import, job->file.path,
	    formats[job->format]);
	return tell(job);
}

int
cmd_import(const struct cli *cli, struct args *args)
{
	struct job job = { .cli = cli };

	if (!take_format(args, &job.format) ||
	    !take_sense(args, job.format, &job.sense))
		return CLI_USAGE;
	const char *path = args_take_word(args);
	if (!args_done(args))
		return CLI_USAGE;
	if (path == NULL) {
		complain("usage: namewall import FORMAT FILE; - is standard "
			 "input");
		return CLI_USAGE;
	}
	if (cli->json) {
		complain("import has no form for programs; it prints rules of "
			 "a configuration");
		return CLI_USAGE;
	}
	if (load_text(strcmp(path, "-") == 0 ? "/dev/stdin" : path, &job.file) <
	    0)
		return CLI_ENVIRONMENT;
	enum cli_exit status = run(&job);
	import_free(&job.import);
	free_text(&job.file);
	return (int)status;
}
