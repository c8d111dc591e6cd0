/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * events - event lines for people: when, who, what, about what, why.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "lib/require.h"
#include "src/cli/cli.h"
#include "src/cli/client.h"

/* HH:MM:SS of a timestamp of RFC 3339; the whole text of anything else. */
static void
put_time(const char *timestamp)
{
	char time[9];

	if (strlen(timestamp) < 19 || timestamp[10] != 'T') {
		put_column(stdout, timestamp, 8);
		return;
	}
	memcpy(time, timestamp + 11, 8);
	time[8] = '\0';
	put_column(stdout, time, 8);
}

/* Every value of an array of texts. */
static void
put_list(const struct json *event, const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < event->count; i++) {
		const struct json_value *value = &event->values[i];

		if (strncmp(value->path, path, len) != 0 ||
		    value->path[len] != '.' || value->kind != JSON_STRING)
			continue;
		putchar(' ');
		put_safe(stdout, value->text);
	}
}

static void
put_part(const struct json *event, const char *before, const char *path)
{
	const char *text = json_get(event, path);

	if (text == NULL)
		return;
	fputs(before, stdout);
	put_safe(stdout, text);
}

/* Where a packet or a flow went, and by what; then for which names. */
static void
put_destination(const struct json *event)
{
	put_part(event, " to ", "destination.ip");
	put_part(event, " port ", "destination.port");
	put_part(event, " ", "network.transport");
	put_part(event, " protocol ", "network.iana_number");
	if (json_has(event, "namewall.names")) {
		fputs(", opened for", stdout);
		put_list(event, "namewall.names");
	}
	put_part(event, ", octets out ", "source.bytes");
	put_part(event, ", in ", "destination.bytes");
}

/* What was asked, and what came of it. */
static void
put_question(const struct json *event)
{
	put_part(event, " ", "dns.question.name");
	put_part(event, " ", "dns.question.type");
	if (json_has(event, "dns.resolved_ip")) {
		fputs(" →", stdout);
		put_list(event, "dns.resolved_ip");
	}
	if (!json_has(event, "dns.question"))
		put_part(event, " from ", "source.ip");
	if (!json_has(event, "dns.question") &&
	    json_has(event, "destination.ip"))
		put_destination(event);
}

static void
put_tunnel(const struct json *event)
{
	if (!json_has(event, "namewall.tunnel"))
		return;
	put_part(event, ", below ", "namewall.tunnel.domain");
	put_part(event, ": ", "namewall.tunnel.questions");
	fputs(" questions,", stdout);
	put_list(event, "namewall.tunnel.signs");
	put_part(event, ", score ", "namewall.tunnel.score");
}

/* Of an audit: what enforcement would have done instead. */
static void
put_would(const struct json *event)
{
	const char *would = json_show(event, "namewall.would", "allow");

	if (strcmp(would, "allow") == 0)
		return;
	fputs(", enforcement would ", stdout);
	put_safe(stdout, would);
	put_part(event, ": ", "namewall.would_reason");
	if (json_true(event, "namewall.would_quarantine"))
		fputs(", and quarantine", stdout);
}

static void
put_event(const struct json *event)
{
	put_time(json_show(event, "@timestamp", "-"));
	putchar(' ');
	put_column(stdout, json_show(event, "namewall.sandbox", "-"), 12);
	putchar(' ');
	put_column(stdout, json_show(event, "event.action", "?"), 17);
	put_question(event);
	put_tunnel(event);
	put_part(event, ": ", "namewall.reason");
	put_would(event);
	put_part(event, ", range ", "namewall.range");
	put_part(event, ", rule ", "rule.name");
	put_part(event, json_has(event, "dns.question") ? ": " : " ",
	    "message");
	if (strcmp(json_show(event, "namewall.count", "1"), "1") != 0)
		put_part(event, " ×", "namewall.count");
	putchar('\n');
}

int
cmd_events(const struct cli *cli, struct args *args)
{
	const char *words[CLIENT_WORDS_MAX] = { "events" };
	size_t count = 1;
	struct client client;
	struct json event;

	if (args_take_flag(args, "-f"))
		words[count++] = "-f";
	if (args_take_flag(args, "--denied"))
		words[count++] = "--denied";
	if (args_take_flag(args, "--alerts"))
		words[count++] = "--alerts";
	const char *sandbox = args_take_value(args, "--sandbox");
	if (sandbox != NULL) {
		words[count++] = "--sandbox";
		words[count++] = sandbox;
	}
	REQUIRE(count < CLIENT_WORDS_MAX);
	if (!args_done(args))
		return CLI_USAGE;
	if (!client_open(&client, cli, words))
		return client.status;
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (client_next(&client, &event) == CLIENT_LINE) {
		if (!cli->json)
			put_event(&event);
		json_free(&event);
	}
	client_close(&client);
	return client.status;
}
