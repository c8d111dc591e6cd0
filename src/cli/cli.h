/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cli - what the commands of namewall share: exit codes, words of the command
 * line, and printing that a terminal cannot be tricked by.
 */
#ifndef SRC_CLI_CLI_H
#define SRC_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define CLI_CONFIG "/etc/namewall/namewall.yaml"
#define CLI_SOCKET "/run/namewall/status.sock"
/* Where things are changed; --socket stands for it too. */
#define CLI_CONTROL "/run/namewall/control.sock"

enum cli_exit {
	CLI_OK = 0,
	CLI_NO = 1, /* the answer is no */
	CLI_USAGE = 2,
	CLI_ENVIRONMENT = 3 /* the message says what is missing */
};

/* Options that every command takes, wherever they stand. */
struct cli {
	const char *config; /* -c, --config; NULL: not given */
	const char *socket; /* -s, --socket */
	const char *zones; /* --zones; NULL: not given */
	bool json;
};

/* The words behind the command; taking one removes it. */
struct args {
	int count;
	char **words;
	bool bad; /* an option without its value was complained about */
};

/* The file to read: as given, or the default. */
const char *cli_config(const struct cli *);

/* "namewall: …" to standard error. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

bool args_take_flag(struct args *, const char *name);
/* The value behind --name or after --name=; NULL: not there. */
const char *args_take_value(struct args *, const char *name);
/* The first word that is no option, NULL when there is none. */
const char *args_take_word(struct args *);
/* Whether all was understood; complains about the first word that was not. */
bool args_done(const struct args *);

/*
 * Text from elsewhere: control characters, broken UTF-8 and characters that
 * change the direction of writing become escapes. Returns columns printed.
 */
size_t put_safe(FILE *, const char *text);
/* The same in at least width columns, and as a JSON string with quotes. */
void put_column(FILE *, const char *text, size_t width);
void put_json(FILE *, const char *text);

int cmd_assign(const struct cli *, struct args *);
int cmd_attach(const struct cli *, struct args *);
int cmd_budget(const struct cli *, struct args *);
int cmd_check(const struct cli *, struct args *);
int cmd_detach(const struct cli *, struct args *);
int cmd_events(const struct cli *, struct args *);
int cmd_explain(const struct cli *, struct args *);
int cmd_import(const struct cli *, struct args *);
int cmd_init(const struct cli *, struct args *);
int cmd_lists(const struct cli *, struct args *);
int cmd_pins(const struct cli *, struct args *);
int cmd_quarantine(const struct cli *, struct args *);
int cmd_release(const struct cli *, struct args *);
int cmd_reload(const struct cli *, struct args *);
int cmd_revoke(const struct cli *, struct args *);
int cmd_ruleset(const struct cli *, struct args *);
int cmd_selftest(const struct cli *, struct args *);
int cmd_status(const struct cli *, struct args *);

#endif
