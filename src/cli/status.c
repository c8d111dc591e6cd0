/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * status - health of the daemon, its upstreams, and one line a sandbox.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "lib/require.h"
#include "src/cli/cli.h"
#include "src/cli/client.h"

static void
put_value(const struct json *line, const char *before, const char *path)
{
	fputs(before, stdout);
	put_safe(stdout, json_show(line, path, "?"));
}

/* Counts that are zero on a healthy day are shown only when they are not. */
static void
put_troubles(const struct json *line)
{
	static const struct {
		const char *path, *text;
	} troubles[] = {
		{ "counts.spoofed", "questions with a spoofed source" },
		{ "counts.dropped", "messages that got no answer" },
		{ "counts.overload", "questions refused for overload" },
		{ "counts.tcp_refused", "connections over a limit" },
		{ "counts.pins_refused", "pins that the kernel refused" },
		{ "counts.pins_full", "pins without room" },
		{ "counts.pins_lost", "losses of the table" },
		{ "counts.unpaid", "questions that no budget could pay for" },
		{ "counts.budget_full",
		    "of them for want of room: limits.budget_keys" },
		{ "counts.schedule_full",
		    "scheduled names without room: limits.scheduled_names" },
		{ "counts.foreign_answers", "answers nobody asked for" },
		{ "counts.rebinding_blocked", "answers into protected ranges" },
		{ "counts.tunnel_suspected", "suspicions of a tunnel" },
		{ "counts.rejects", "rejected packets that were logged" },
		{ "counts.spoofed_packets",
		    "packets with a spoofed source that were logged" },
		{ "counts.packets_unlogged", "logged packets that were lost" },
		{ "counts.flow_overruns",
		    "times that ends of flows were lost" },
		{ "events.dropped", "events dropped" },
		{ "events.alerts_dropped", "alerts dropped" },
		{ "events.write_errors", "event lines that were not written" },
	};

	for (size_t i = 0; i < ARRAY_LEN(troubles); i++) {
		const char *count = json_show(line, troubles[i].path, "0");

		if (strcmp(count, "0") == 0)
			continue;
		fputs("  ", stdout);
		put_safe(stdout, count);
		printf(" %s\n", troubles[i].text);
	}
}

/* Which of the two holds decides what a foreign flush can do. */
static void
put_table(const struct json *line)
{
	const char *table = json_show(line, "table", "");

	if (strcmp(table, "owned") == 0)
		fputs("\n  ruleset owned: nobody else can change or flush it",
		    stdout);
	else if (strcmp(table, "sets") == 0)
		fputs("\n  pins go into sets of yours, and your rules judge by "
		      "them: packets that they refuse\n  are not counted or "
		      "told here, forged sources neither, and the resolver's "
		      "own\n  packets are not held to its upstreams",
		    stdout);
	else if (strcmp(table, "plain") == 0)
		fputs(
		    "\n  ruleset plain: after a foreign flush it is open until "
		    "rebuilt (a kernel from 6.9 on prevents it)",
		    stdout);
}

/* What is in the way, and is the operator's to change. */
static void
put_warnings(const struct json *line)
{
	static const struct {
		const char *word, *text;
	} known[] = {
		{ "forwarding4-off",
		    "this host does not forward IPv4: net.ipv4.ip_forward is "
		    "0" },
		{ "forwarding6-off",
		    "this host does not forward IPv6: "
		    "net.ipv6.conf.all.forwarding is 0" },
		{ "forward-dropped",
		    "another table drops what is forwarded unless it accepts "
		    "it: let it accept the edge" },
		{ "flowtables",
		    "another table has a flowtable: flows that it takes over "
		    "are judged by no chain any more" },
		{ "tracking-off",
		    "connection tracking is off in this network namespace" },
	};
	char path[32];

	for (unsigned n = 0; n < 16; n++) {
		const char *word;

		(void)snprintf(path, sizeof(path), "warnings.%u", n);
		word = json_get(line, path);
		for (size_t i = 0; word != NULL && i < ARRAY_LEN(known); i++)
			if (strcmp(word, known[i].word) == 0)
				printf("\n  warning: %s", known[i].text);
	}
}

static void
put_daemon(const struct json *line)
{
	put_value(line, "namewall is ", "state");
	put_value(line, ", for ", "uptime_s");
	put_value(line, " s, by ", "file");
	put_table(line);
	fputs(json_true(line, "accounting")
		? "\n  flows are counted by the host"
		: "\n  flows are not counted by the host "
		  "(net.netfilter.nf_conntrack_acct)",
	    stdout);
	put_warnings(line);
	put_value(line, "\n  ", "sandboxes");
	put_value(line, " sandboxes, ", "policies");
	put_value(line, " policies, ", "rules");
	fputs(" rules", stdout);
	/* The list of Debian bears no version. */
	if (*json_show(line, "public_suffixes", "") != '\0')
		put_value(line, ", public suffixes of ", "public_suffixes");
	put_value(line, "\n  pins ", "pins");
	put_value(line, " of ", "pins_max");
	put_value(line, ", cached answers ", "cache");
	put_value(line, ", events ", "events.last");
	put_value(line, "\n  names on our own clock ", "scheduled");
	put_value(line, ", known ", "scheduled_known");
	put_value(line, ", kept warm ", "warm");
	put_value(line, ", budgets ", "budgets");
	put_value(line, " of ", "budgets_max");
	put_value(line, "\n  questions ", "counts.questions");
	put_value(line, ": answered ", "counts.answered");
	put_value(line, ", denied ", "counts.denied");
	put_value(line, ", failed ", "counts.failed");
	putchar('\n');
	put_troubles(line);
}

static void
put_upstream(const struct json *line)
{
	put_value(line, "upstream ", "address");
	put_value(line, "@", "port");
	fputs(json_true(line, "held_back") ? ": held back" : ": in use",
	    stdout);
	put_value(line, ", ", "round_trip_ms");
	put_value(line, " ms, asked ", "asked");
	put_value(line, ", answered ", "answered");
	put_value(line, ", silent ", "silent");
	put_value(line, ", broken ", "broken");
	putchar('\n');
}

static void
put_receiver(const struct json *line)
{
	put_value(line, "receiver ", "target");
	fputs(json_true(line, "connected") ? ": connected" : ": not there",
	    stdout);
	put_value(line, ", sent ", "sent");
	put_value(line, ", dropped ", "dropped");
	put_value(line, " events and ", "alerts_dropped");
	fputs(" alerts\n", stdout);
}

static void
put_upload(const struct json *line)
{
	if (!json_has(line, "upload_used"))
		return;
	put_value(line, ", sent ", "upload_used");
	if (json_has(line, "upload_limit"))
		put_value(line, " of ", "upload_limit");
	fputs(" octets today", stdout);
}

static void
put_sandbox(const struct json *line)
{
	fputs("sandbox ", stdout);
	put_column(stdout, json_show(line, "name", "?"), 12);
	put_value(line, " policy ", "policy");
	if (json_true(line, "bound"))
		put_value(line, ", on ", "interface");
	else
		fputs(", not bound: no interface leads to it", stdout);
	put_value(line, ", pins ", "pins");
	put_value(line, ", spoofed ", "spoofed");
	put_upload(line);
	if (json_true(line, "attached"))
		fputs(", attached", stdout);
	if (json_show(line, "each.0", "")[0] != '\0')
		put_value(line, ", each of ", "each.0");
	if (strcmp(json_show(line, "mode", ""), "audit") == 0)
		fputs(", in audit: nothing is bounded", stdout);
	if (json_true(line, "quarantined"))
		put_value(line, ", IN QUARANTINE: ", "quarantine_reason");
	putchar('\n');
}

static void
put_line(const struct json *line)
{
	const char *kind = json_show(line, "kind", "");

	if (strcmp(kind, "daemon") == 0)
		put_daemon(line);
	else if (strcmp(kind, "upstream") == 0)
		put_upstream(line);
	else if (strcmp(kind, "receiver") == 0)
		put_receiver(line);
	else if (strcmp(kind, "sandbox") == 0)
		put_sandbox(line);
}

int
cmd_status(const struct cli *cli, struct args *args)
{
	static const char *const words[CLIENT_WORDS_MAX] = { "status" };
	bool only_ready = args_take_flag(args, "--ready"), ready = false;
	unsigned unbound = 0;
	struct client client;
	struct json line;

	if (!args_done(args))
		return CLI_USAGE;
	if (!client_open(&client, cli, words))
		return client.status;
	while (client_next(&client, &line) == CLIENT_LINE) {
		if (strcmp(json_show(&line, "state", ""), "answering") == 0)
			ready = true;
		if (json_true(&line, "wants_interface") &&
		    !json_true(&line, "bound"))
			unbound++;
		if (!cli->json && !only_ready)
			put_line(&line);
		json_free(&line);
	}
	client_close(&client);
	if (!only_ready || client.status != CLI_OK)
		return client.status;
	if (!cli->json && ready && unbound > 0)
		printf("answering, but the interfaces of %u sandboxes are not "
		       "there\n",
		    unbound);
	else if (!cli->json)
		puts(ready ? "answering" : "starting");
	return ready && unbound == 0 ? CLI_OK : CLI_NO;
}
