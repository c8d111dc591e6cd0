/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live - what the kernel holds, read through the nft program.
 *
 * This command line has no netlink of nftables: an independent reader is the
 * better witness against the daemon's own books.
 */
#include "config.h"

#include "src/cli/live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/text/settings.h"
#include "src/cli/cli.h"
#include "src/cli/json.h"

#define LISTING_MAX (256u << 20)

struct listing {
	char *text;
	size_t len, size;
};

_Noreturn static void
become_nft(int out, const char *table, const char *set)
{
	static const char *const places[] = { "/usr/sbin/nft", "/sbin/nft",
		"/usr/local/sbin/nft" };

	dup2(out, STDOUT_FILENO);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		execl(places[i], "nft", "-j", "list", "set", "inet", table, set,
		    (char *)NULL);
	complain("the nft program is not there; --live reads through it");
	_exit(127);
}

static bool
read_listing(int fd, struct listing *listing)
{
	for (;;) {
		if (listing->len == listing->size) {
			size_t size = listing->size * 2 + 65536;
			char *text = size > LISTING_MAX
			    ? NULL
			    : realloc(listing->text, size);

			if (text == NULL)
				return false;
			listing->text = text;
			listing->size = size;
		}
		ssize_t got = read(fd, listing->text + listing->len,
		    listing->size - listing->len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got == 0;
		listing->len += (size_t)got;
	}
}

static bool
list_set(const char *table, const char *set, struct listing *listing)
{
	int ends[2], status;

	if (pipe(ends) < 0)
		return false;
	pid_t child = fork();
	if (child == 0)
		become_nft(ends[1], table, set);
	close(ends[1]);
	bool ok = child > 0 && read_listing(ends[0], listing);
	close(ends[0]);
	if (child < 0)
		return false;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return ok && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The part number when a path ends in ".concat.N". */
static int
part_of(const char *path)
{
	const char *at = strrchr(path, '.');

	if (at == NULL || at - path < 7 || at[1] < '0' || at[1] > '3' ||
	    at[2] != '\0' || strncmp(at - 7, ".concat", 7) != 0)
		return -1;
	return at[1] - '0';
}

static struct live_element *
another(struct live *live)
{
	if (live->count == live->size) {
		size_t size = live->size * 2 + 256;
		struct live_element *elements =
		    reallocarray(live->elements, size, sizeof(*elements));

		if (elements == NULL)
			return NULL;
		live->elements = elements;
		live->size = size;
	}
	live->elements[live->count] = (struct live_element){ 0 };
	return &live->elements[live->count++];
}

static bool
take_part(struct live *live, int part, const char *text)
{
	uint64_t port;

	if (part == 0 && another(live) == NULL)
		return false;
	if (live->count == 0)
		return false;
	struct live_element *element = &live->elements[live->count - 1];
	switch (part) {
	case 0:
		return addr_parse(text, strlen(text), &element->source);
	case 1:
		return addr_parse(text, strlen(text), &element->to);
	case 2:
		element->service.protocol =
		    strcmp(text, "tcp") == 0 ? PROTO_TCP : PROTO_UDP;
		return true;
	default:
		if (!text_number(text, 0, 65535, &port))
			return false;
		element->service.port = (uint16_t)port;
		return true;
	}
}

static bool
take_listing(struct live *live, const struct listing *listing)
{
	struct json json;
	bool ok = true;
	uint64_t seconds;

	if (!json_read(&json, listing->text, listing->len))
		return false;
	for (size_t i = 0; ok && i < json.count; i++) {
		const struct json_value *value = &json.values[i];
		size_t len = strlen(value->path);
		int part = part_of(value->path);

		if (part >= 0)
			ok = take_part(live, part, value->text);
		else if (len > 8 && live->count > 0 &&
		    strcmp(value->path + len - 8, ".expires") == 0 &&
		    text_number(value->text, 0, UINT32_MAX, &seconds))
			live->elements[live->count - 1].seconds =
			    (unsigned)seconds;
	}
	json_free(&json);
	return ok;
}

bool
live_read(const struct live_sets *sets, struct live *ret)
{
	struct live live = { 0 };

	for (size_t i = 0; i < 2; i++) {
		struct listing listing = { 0 };
		bool ok = list_set(sets->table, sets->names[i], &listing) &&
		    take_listing(&live, &listing);

		free(listing.text);
		if (ok)
			continue;
		complain("set %s of table inet %s cannot be read",
		    sets->names[i], sets->table);
		live_free(&live);
		return false;
	}
	*ret = live;
	return true;
}

void
live_free(struct live *live)
{
	free(live->elements);
	*live = (struct live){ 0 };
}
