/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lists - which lists of names there are, what stands in one, and what differs
 * between two.
 */
#include "config.h"

#include "src/cli/lists.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/policy.h"
#include "lib/text/values.h"
#include "src/cli/cli.h"
#include "src/cli/load.h"

#define SUFFIX ".zone"

/* A file that is there; one of the same name in a folder that is looked at
 * before is used instead. */
struct found {
	char name[EDGE_NAME_MAX];
	size_t dir;
};

struct names {
	struct found *all;
	size_t count;
};

static int
compare_found(const void *a, const void *b)
{
	const struct found *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order != 0 ? order : (x->dir > y->dir) - (x->dir < y->dir);
}

static bool
note_file(struct names *names, const char *file, size_t dir)
{
	size_t len = strlen(file), skip = strlen(SUFFIX);

	if (len <= skip || strcmp(file + len - skip, SUFFIX) != 0 ||
	    !list_is_name(file, len - skip))
		return true;
	struct found *all = text_grow(names->all, names->count, sizeof(*all));
	if (all == NULL)
		return false;
	names->all = all;
	snprintf(all[names->count].name, sizeof(all->name), "%.*s",
	    (int)(len - skip), file);
	all[names->count++].dir = dir;
	return true;
}

/* A folder that is not there has no lists. */
static enum cli_exit
look_into(struct names *names, const char *path, size_t index)
{
	enum cli_exit status = CLI_OK;
	struct dirent *entry;
	DIR *dir = opendir(path);

	if (dir == NULL && errno == ENOENT)
		return CLI_OK;
	if (dir == NULL) {
		complain("%s: %s", path, strerror(errno));
		return CLI_ENVIRONMENT;
	}
	while (status == CLI_OK && (entry = readdir(dir)) != NULL)
		if (!note_file(names, entry->d_name, index)) {
			complain("out of memory");
			status = CLI_ENVIRONMENT;
		}
	closedir(dir);
	return status;
}

static void
put_row(const struct cli *cli, const struct list *list, const char *name,
    bool used)
{
	char count[32];

	if (cli->json) {
		printf("{\"list\":");
		put_json(stdout, name);
		printf(",\"file\":");
		put_json(stdout, list->file.path);
		printf(",\"date\":");
		put_json(stdout, list->date);
		printf(",\"count\":%zu,\"used\":%s}\n", list->zone.count,
		    used ? "true" : "false");
		return;
	}
	snprintf(count, sizeof(count), "%zu", list->zone.count);
	put_column(stdout, name, 24);
	printf(" %-10s %6s  ", list->date, count);
	put_safe(stdout, list->file.path);
	puts(used ? "" : "  (not used: another comes first)");
}

static enum cli_exit
put_found(const struct cli *cli, const struct found *found, bool used)
{
	struct text_file file;
	struct list list;
	bool bad = false;
	char path[SETTINGS_PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s" SUFFIX, list_dir(cli, found->dir),
	    found->name);
	if (load_text(path, &file) < 0)
		return CLI_ENVIRONMENT;
	if (!list_open(&list, &file, &bad))
		return CLI_NO;
	put_row(cli, &list, found->name, used);
	list_close(&list);
	return bad ? CLI_NO : CLI_OK;
}

static enum cli_exit
worse(enum cli_exit a, enum cli_exit b)
{
	return a > b ? a : b;
}

static enum cli_exit
put_all(const struct cli *cli, struct names *names)
{
	enum cli_exit status = CLI_OK;

	if (names->count > 0)
		qsort(names->all, names->count, sizeof(*names->all),
		    compare_found);
	if (!cli->json && names->count > 0)
		printf("%-24s %-10s %6s  %s\n", "LIST", "DATE", "NAMES",
		    "FILE");
	for (size_t i = 0; i < names->count; i++) {
		bool used = i == 0 ||
		    strcmp(names->all[i].name, names->all[i - 1].name) != 0;

		status = worse(status, put_found(cli, &names->all[i], used));
	}
	return status;
}

static enum cli_exit
list_all(const struct cli *cli)
{
	struct names names = { 0 };
	enum cli_exit status = CLI_OK;
	const char *dir;

	for (size_t i = 0; (dir = list_dir(cli, i)) != NULL; i++)
		status = worse(status, look_into(&names, dir, i));
	status = worse(status, put_all(cli, &names));
	if (names.count == 0 && status == CLI_OK) {
		complain("there is no list; they are files NAME.zone in the "
			 "folders that \"list:\" reads, or in that of "
			 "--zones");
		status = CLI_NO;
	}
	free(names.all);
	return status;
}

/* A word with a slash or the ending of a file is a path, others are names. */
static enum cli_exit
open_word(const struct cli *cli, const char *word, struct list *ret, bool *bad)
{
	struct text_file file = { .size = 0 };
	size_t len = strlen(word);
	int error;

	if (list_is_name(word, len)) {
		error = load_list(cli, word, &file);
		if (error == -ENOENT)
			complain("there is no list %s; \"namewall lists\" "
				 "shows which there are, and a file is given "
				 "with its folder, such as ./%s",
			    word, word);
	} else {
		error = load_text(word, &file);
	}
	if (error < 0)
		return CLI_ENVIRONMENT;
	return list_open(ret, &file, bad) ? CLI_OK : CLI_NO;
}

static void
put_comments(const char *before, const struct list *list, uint32_t from,
    uint32_t to)
{
	char text[TEXT_ERROR_MAX];

	for (uint32_t i = from; i < to; i++) {
		list_comment_text(list, i, text, sizeof(text));
		if (text[0] == '\0' || strncmp(text, "SPDX-", 5) == 0)
			continue;
		fputs(before, stdout);
		put_safe(stdout, text);
		putchar('\n');
	}
}

static void
put_sources_json(const struct list *list, uint32_t from, uint32_t to)
{
	char text[TEXT_ERROR_MAX];

	fputs(",\"from\":[", stdout);
	for (uint32_t i = from; i < to; i++) {
		list_comment_text(list, i, text, sizeof(text));
		if (i > from)
			putchar(',');
		put_json(stdout, text);
	}
	fputs("]}\n", stdout);
}

static void
put_entry(const struct cli *cli, const struct list *list,
    const struct zone_entry *entry)
{
	uint32_t from = list_comment(list, entry->line);
	char name[DNAME_TEXT_MAX];

	policy_rule_print(entry->kind, &entry->name, name);
	if (cli->json) {
		printf("{\"rule\":\"%s\",\"name\":", list_verb(entry));
		put_json(stdout, name);
		put_sources_json(list, from, entry->line);
		return;
	}
	printf("%-5s %s\n", list_verb(entry), name);
	put_comments("        ", list, from, entry->line);
}

static enum cli_exit
show(const struct cli *cli, const char *word)
{
	struct list list;
	bool bad = false;
	uint32_t head = 1;
	enum cli_exit status = open_word(cli, word, &list, &bad);

	if (status != CLI_OK)
		return status;
	put_row(cli, &list, word, true);
	while (list_comment(&list, head + 1) != head + 1)
		head++;
	if (!cli->json)
		put_comments("", &list, 1, head);
	for (size_t i = 0; i < list.zone.count; i++)
		put_entry(cli, &list, &list.zone.entries[i]);
	list_close(&list);
	return bad ? CLI_NO : CLI_OK;
}

static void
put_change(const struct cli *cli, char sign, const struct zone_entry *entry)
{
	char name[DNAME_TEXT_MAX];

	policy_rule_print(entry->kind, &entry->name, name);
	if (!cli->json) {
		printf("%c %-5s %s\n", sign, list_verb(entry), name);
		return;
	}
	printf("{\"change\":\"%s\",\"rule\":\"%s\",\"name\":",
	    sign == '-' ? "gone" : "new", list_verb(entry));
	put_json(stdout, name);
	puts("}");
}

/* Two sorted lists side by side; whether they are the same. */
static bool
put_changes(const struct cli *cli, const struct zone_list *a,
    const struct zone_list *b)
{
	size_t i = 0, j = 0;
	bool same = true;

	while (i < a->count || j < b->count) {
		int order = i == a->count ? 1
		    : j == b->count
		    ? -1
		    : list_compare(&a->entries[i], &b->entries[j]);

		if (order != 0) {
			same = false;
			put_change(cli, order < 0 ? '-' : '+',
			    order < 0 ? &a->entries[i] : &b->entries[j]);
		}
		i += order <= 0;
		j += order >= 0;
	}
	return same;
}

static void
put_heading(char sign, const struct list *list)
{
	printf("%c%c%c ", sign, sign, sign);
	put_safe(stdout, list->file.path);
	printf("  %s\n", list->date);
}

static enum cli_exit
compare_lists(const struct cli *cli, struct list *a, struct list *b)
{
	list_sort(a);
	list_sort(b);
	if (!cli->json) {
		put_heading('-', a);
		put_heading('+', b);
	}
	return put_changes(cli, &a->zone, &b->zone) ? CLI_OK : CLI_NO;
}

static enum cli_exit
diff(const struct cli *cli, const char *one, const char *other)
{
	struct list a, b;
	bool bad = false;
	enum cli_exit status = open_word(cli, one, &a, &bad);

	if (status != CLI_OK)
		return status;
	status = open_word(cli, other, &b, &bad);
	if (status == CLI_OK) {
		status = compare_lists(cli, &a, &b);
		list_close(&b);
	}
	list_close(&a);
	return bad ? worse(status, CLI_NO) : status;
}

int
cmd_lists(const struct cli *cli, struct args *args)
{
	bool differ = args_take_flag(args, "--diff");
	const char *one = args_take_word(args);
	const char *other = differ ? args_take_word(args) : NULL;

	if (!args_done(args))
		return CLI_USAGE;
	if (differ && other == NULL) {
		complain("usage: namewall lists --diff NAME FILE|NAME");
		return CLI_USAGE;
	}
	if (cli->json)
		puts("{\"protocol\":1}");
	enum cli_exit status = differ ? diff(cli, one, other)
	    : one != NULL             ? show(cli, one)
				      : list_all(cli);
	if (cli->json && status == CLI_OK)
		puts("{\"ok\":true}");
	else if (cli->json)
		printf("{\"error\":{\"code\":\"%s\",\"message\":\"%s\"}}\n",
		    status == CLI_NO ? "no" : "environment",
		    differ ? "they differ, or one cannot be read"
			   : "a list cannot be read");
	return (int)status;
}
