/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pins - what is open for whom, by which names, for how long; and whether the
 * kernel agrees.
 */
#include "config.h"

#include "src/cli/pins.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/require.h"
#include "lib/text/settings.h"
#include "src/cli/client.h"
#include "src/cli/live.h"

#define SOURCES_MAX 8

/* Elements come and go while both sides are read: what differs twice, this
 * far apart, differs. */
#define SETTLE_US 300000

/* What was sent to a name's rule today, where that has a quota. */
static void
put_upload(const struct json *pin, unsigned name)
{
	char path[48];

	snprintf(path, sizeof(path), "names.%u.upload_limit", name);
	const char *limit = json_get(pin, path);
	if (limit == NULL)
		return;
	snprintf(path, sizeof(path), "names.%u.upload_used", name);
	fputs(" sent ", stdout);
	put_safe(stdout, json_show(pin, path, "?"));
	fputs(" of ", stdout);
	put_safe(stdout, limit);
}

void
pins_put(const struct json *pin)
{
	char path[48], text[160];

	put_column(stdout, json_show(pin, "sandbox", "?"), 12);
	snprintf(text, sizeof(text), " %s/%s ", json_show(pin, "protocol", "?"),
	    json_show(pin, "port", "?"));
	put_column(stdout, text, 11);
	put_column(stdout, json_show(pin, "address", "?"), 24);
	snprintf(text, sizeof(text), " %6s s  %-6s",
	    json_show(pin, "seconds_left", "?"), json_show(pin, "state", "?"));
	put_safe(stdout, text);
	for (unsigned i = 0; i < 8; i++) {
		snprintf(path, sizeof(path), "names.%u.name", i);
		const char *name = json_get(pin, path);
		if (name == NULL)
			break;
		fputs(i > 0 ? ", " : " ", stdout);
		put_safe(stdout, name);
		snprintf(path, sizeof(path), "names.%u.rule", i);
		const char *rule = json_show(pin, path, name);
		if (strcmp(rule, name) != 0) {
			fputs(" (", stdout);
			put_safe(stdout, rule);
			fputs(")", stdout);
		}
		put_upload(pin, i);
	}
	putchar('\n');
}

static int
list(const struct cli *cli, const char *sandbox)
{
	const char *const words[CLIENT_WORDS_MAX] = { "pins", sandbox };
	struct client client;
	struct json pin;

	if (!client_open(&client, cli, words))
		return client.status;
	while (client_next(&client, &pin) == CLIENT_LINE) {
		if (!cli->json)
			pins_put(&pin);
		json_free(&pin);
	}
	client_close(&client);
	return client.status;
}

/* --- the kernel beside the books --- */

/* An element by the daemon's books, one for each source of its sandbox. */
struct booked {
	struct live_element element;
	bool must; /* the kernel has acknowledged it */
};

struct home {
	char name[64];
	struct addr sources[SOURCES_MAX];
	size_t source_count;
};

struct books {
	struct home *homes;
	size_t home_count;
	struct booked *booked;
	size_t count, size;
	struct live_sets sets; /* where the kernel has them */
	bool lent; /* the sets may have elements of others */
};

static void
books_free(struct books *books)
{
	free(books->homes);
	free(books->booked);
}

static void
book_sets(struct books *books, const struct json *line)
{
	struct live_sets *sets = &books->sets;

	books->lent = strcmp(json_show(line, "table", ""), "sets") == 0;
	snprintf(sets->table, sizeof(sets->table), "%s",
	    json_show(line, "sets.table", "namewall"));
	snprintf(sets->names[0], sizeof(sets->names[0]), "%s",
	    json_show(line, "sets.pins4", "pins4"));
	snprintf(sets->names[1], sizeof(sets->names[1]), "%s",
	    json_show(line, "sets.pins6", "pins6"));
}

static bool
book_home(struct books *books, const struct json *line)
{
	char path[32];

	if (strcmp(json_show(line, "kind", ""), "daemon") == 0)
		book_sets(books, line);
	if (strcmp(json_show(line, "kind", ""), "sandbox") != 0)
		return true;
	struct home *homes =
	    reallocarray(books->homes, books->home_count + 1, sizeof(*homes));
	if (homes == NULL)
		return false;
	books->homes = homes;
	struct home *home = &homes[books->home_count++];
	*home = (struct home){ 0 };
	snprintf(home->name, sizeof(home->name), "%s",
	    json_show(line, "name", ""));
	for (unsigned i = 0; i < SOURCES_MAX; i++) {
		snprintf(path, sizeof(path), "sources.%u", i);
		const char *text = json_get(line, path);
		if (text != NULL &&
		    addr_parse(text, strlen(text),
			&home->sources[home->source_count]))
			home->source_count++;
	}
	return true;
}

static bool
book(struct books *books, const struct live_element *element, bool must)
{
	if (books->count == books->size) {
		size_t size = books->size * 2 + 256;
		struct booked *booked =
		    reallocarray(books->booked, size, sizeof(*booked));

		if (booked == NULL)
			return false;
		books->booked = booked;
		books->size = size;
	}
	books->booked[books->count++] =
	    (struct booked){ .element = *element, .must = must };
	return true;
}

static bool
book_pin(struct books *books, const struct json *pin)
{
	const char *name = json_show(pin, "sandbox", "");
	const char *to = json_show(pin, "address", "");
	const char *state = json_show(pin, "state", "");
	struct live_element element = { 0 };
	uint64_t port;

	if (strcmp(state, "lapsed") == 0)
		return true;
	if (!addr_parse(to, strlen(to), &element.to) ||
	    !text_number(json_show(pin, "port", ""), 0, 65535, &port))
		return true;
	element.service.port = (uint16_t)port;
	element.service.protocol =
	    strcmp(json_show(pin, "protocol", ""), "udp") == 0 ? PROTO_UDP
							       : PROTO_TCP;
	for (size_t i = 0; i < books->home_count; i++) {
		const struct home *home = &books->homes[i];

		if (strcmp(home->name, name) != 0)
			continue;
		for (size_t j = 0; j < home->source_count; j++) {
			element.source = home->sources[j];
			if (element.source.family == element.to.family &&
			    !book(books, &element, strcmp(state, "held") == 0))
				return false;
		}
	}
	return true;
}

static int
read_books(const struct cli *cli, const char *verb,
    bool (*take)(struct books *, const struct json *), struct books *books)
{
	const char *const words[CLIENT_WORDS_MAX] = { verb };
	struct cli quiet = *cli;
	struct client client;
	struct json line;

	quiet.json = false;
	if (!client_open(&client, &quiet, words))
		return client.status;
	while (client_next(&client, &line) == CLIENT_LINE) {
		bool ok = take(books, &line);

		json_free(&line);
		if (ok)
			continue;
		complain("out of memory");
		client.status = CLI_ENVIRONMENT;
		break;
	}
	client_close(&client);
	return client.status;
}

static int
compare(const void *a, const void *b)
{
	const struct live_element *left = a, *right = b;
	int order = addr_compare(&left->source, &right->source);

	if (order == 0)
		order = addr_compare(&left->to, &right->to);
	if (order == 0)
		order = left->service.protocol - right->service.protocol;
	return order != 0 ? order : left->service.port - right->service.port;
}

static bool
same(const struct live_element *a, const struct live_element *b)
{
	return compare(a, b) == 0;
}

static void
put_difference(const struct cli *cli, const char *where,
    const struct live_element *element)
{
	char source[ADDR_TEXT_MAX], to[ADDR_TEXT_MAX];
	const char *protocol =
	    element->service.protocol == PROTO_UDP ? "udp" : "tcp";

	addr_print(&element->source, source);
	addr_print(&element->to, to);
	if (cli->json)
		printf("{\"only\":\"%s\",\"source\":\"%s\",\"address\":\"%s\","
		       "\"protocol\":\"%s\",\"port\":%u}\n",
		    where, source, to, protocol,
		    (unsigned)element->service.port);
	else
		printf("only in %s: %s to %s %s/%u\n", where, source, to,
		    protocol, (unsigned)element->service.port);
}

static bool
is_ours(const struct books *books, const struct addr *source)
{
	for (size_t i = 0; i < books->home_count; i++)
		for (size_t k = 0; k < books->homes[i].source_count; k++)
			if (addr_equal(&books->homes[i].sources[k], source))
				return true;
	return false;
}

/* What others have put into sets of theirs is no difference. */
static void
leave_out_others(const struct books *books, struct live *live)
{
	size_t kept = 0;

	for (size_t i = 0; i < live->count; i++)
		if (is_ours(books, &live->elements[i].source))
			live->elements[kept++] = live->elements[i];
	live->count = kept;
}

/* Both sorted; prints what only one has, when told to. */
static size_t
differences(const struct cli *cli, struct books *books, struct live *live,
    bool print)
{
	size_t found = 0, i = 0, j = 0;

	qsort(live->elements, live->count, sizeof(*live->elements), compare);
	qsort(books->booked, books->count, sizeof(*books->booked), compare);
	while (i < books->count || j < live->count) {
		const struct booked *left =
		    i < books->count ? &books->booked[i] : NULL;
		const struct live_element *right =
		    j < live->count ? &live->elements[j] : NULL;

		if (left != NULL && right != NULL &&
		    same(&left->element, right)) {
			i++;
			j++;
		} else if (right == NULL ||
		    (left != NULL && compare(&left->element, right) < 0)) {
			i++;
			if (!left->must)
				continue;
			found++;
			if (print)
				put_difference(cli, "namewall's books",
				    &left->element);
		} else {
			j++;
			found++;
			if (print)
				put_difference(cli, "the kernel", right);
		}
	}
	return found;
}

static int
look_once(const struct cli *cli, const char *table, bool print,
    size_t *ret_found)
{
	struct books books = { 0 };
	struct live live = { 0 };

	int status = read_books(cli, "status", book_home, &books);
	if (table != NULL)
		snprintf(books.sets.table, sizeof(books.sets.table), "%s",
		    table);
	if (status == CLI_OK && !live_read(&books.sets, &live))
		status = CLI_ENVIRONMENT;
	if (books.lent)
		leave_out_others(&books, &live);
	if (status == CLI_OK)
		status = read_books(cli, "pins", book_pin, &books);
	if (status == CLI_OK) {
		*ret_found = differences(cli, &books, &live, print);
		if (*ret_found == 0 && !cli->json)
			printf("the kernel agrees: %zu elements\n", live.count);
	}
	books_free(&books);
	live_free(&live);
	return status;
}

static int
look(const struct cli *cli, const char *table)
{
	size_t found = 0;

	if (geteuid() != 0) {
		complain("--live reads the kernel: only root may");
		return CLI_ENVIRONMENT;
	}
	int status = look_once(cli, table, false, &found);
	if (status == CLI_OK && found > 0) {
		usleep(SETTLE_US);
		status = look_once(cli, table, true, &found);
	}
	if (status != CLI_OK)
		return status;
	return found > 0 ? CLI_NO : CLI_OK;
}

int
cmd_pins(const struct cli *cli, struct args *args)
{
	bool live = args_take_flag(args, "--live");
	const char *table = args_take_value(args, "--table");
	const char *sandbox = args_take_word(args);

	if (!args_done(args))
		return CLI_USAGE;
	if (!live)
		return list(cli, sandbox);
	if (sandbox != NULL) {
		complain("--live looks at all sandboxes");
		return CLI_USAGE;
	}
	return look(cli, table);
}
