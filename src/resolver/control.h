/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control - the status and the control socket: one line in, JSON lines out,
 * closed.
 *
 * Nothing that is asked at the first changes anything. At the second, root
 * and the group `control.group` may also have things changed: the parent made
 * it theirs alone, and who it is that came is asked of the kernel. Lines are
 * made as the reader takes them, so that a long list costs no memory; whoever
 * does not read is closed. docs/protocol-control.md has the words and the
 * lines.
 */
#ifndef SRC_RESOLVER_CONTROL_H
#define SRC_RESOLVER_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "lib/command.h"
#include "lib/dname.h"
#include "lib/policy.h"
#include "lib/text/edge_attach.h"

#define CONTROL_PROTOCOL    1
#define CONTROL_CONNS_MAX   32 /* of each socket */
#define CONTROL_LINE_MAX    (32 * 1024)
#define CONTROL_OUT_MAX     (2 * CONTROL_LINE_MAX)
#define CONTROL_ERROR_MAX   1024
#define CONTROL_PATIENCE_MS 10000 /* without progress */

struct daemon;

enum control_verb {
	CONTROL_NOTHING, /* refused, or not read yet */
	CONTROL_STATUS,
	CONTROL_PINS,
	CONTROL_BUDGET,
	CONTROL_EXPLAIN,
	CONTROL_EVENTS,
	CONTROL_RELOAD,
	CONTROL_QUARANTINE,
	CONTROL_RELEASE,
	CONTROL_ATTACH,
	CONTROL_DETACH,
	CONTROL_ASSIGN,
	CONTROL_REVOKE
};

/* What ATTACH and its like are about, and how far they are. */
struct control_change {
	struct edge_attach attach;
	char policy[EDGE_NAME_MAX]; /* "": not given */
	struct policy_withdrawal rule;
	bool begun, answered, same;
	int status; /* answered: by the parent, 0 or a negative errno */
};

struct control_conn {
	struct control *control;
	struct control_door *door; /* by which it came */
	struct control_conn *next;
	uv_poll_t poll;
	int fd;
	bool closing;
	bool may_change; /* came by the control socket, and has the right */
	uint32_t user; /* then also: whose process it is */
	bool started; /* the command is read */
	bool ended; /* the last line is in `out` */
	bool unserved; /* there is more that he could take */
	uint64_t patience_ms; /* until when there must be progress */
	struct command command;
	enum control_verb verb;
	const char *error_code; /* NULL: none */
	char error_text[CONTROL_ERROR_MAX];
	/* What the command asks for, and how far its answer is. */
	uint32_t sandbox; /* 0: all */
	uint32_t index;
	uint64_t sequence; /* EVENTS: of the last line; BUDGET: place */
	uint32_t hint;
	bool follow, only_denied, only_alerts;
	uint64_t serial; /* RELOAD: tells connections apart */
	uint64_t reload; /* the number of the one that is waited for, 0: not
			    known yet */
	struct control_change change;
	struct dname name; /* EXPLAIN */
	uint16_t type;
	struct addr to; /* EXPLAIN of a destination; family 0: of a name */
	uint16_t to_port; /* 0: any */
	bool to_held, to_lapsed; /* such pins were seen */
	size_t in_len, out_at, out_len;
	char in[COMMAND_LINE_MAX + 1];
	char out[CONTROL_OUT_MAX];
};

/* A socket at which connections come. */
struct control_door {
	struct control *control;
	uv_poll_t poll;
	int fd;
	bool open;
	bool changes; /* the control socket */
	uint32_t conn_count;
};

struct control {
	struct daemon *daemon;
	struct control_door status, change;
	uint32_t change_gid; /* who beside root may change things */
	bool change_group; /* there is such a group */
	uint64_t serial;
	uint64_t paused_until_ms; /* no descriptor was left; 0: accepting */
	struct control_conn *conns;
	bool events_new; /* since the followers were served */
};

/* The descriptors of the two sockets; change_fd 0: there is none. 0 or a
 * negative errno, logged. */
int control_open(struct control *, struct daemon *, int status_fd,
    int change_fd);
/* The parent has taken the wish of a connection: the next reload that begins
 * is the one. */
void control_reload_begins(struct control *, uint64_t serial);
/* A reload has ended: serves those that waited for it. */
void control_reloaded(struct control *);
/* The parent has answered an order: serves those that waited for it. */
void control_ordered(struct control *);
/* What a connection wanted changed is done, or was refused: serves it, and
 * those that waited for their turn. */
void control_answered(struct control *, uint64_t serial, int status);
/* Serves those that follow events. */
void control_follow(struct control *);
uint64_t control_deadline(const struct control *);
void control_expire(struct control *, uint64_t now_ms);
void control_close(struct control *);

/* Of control_command.c: reads the command, sets verb and arguments, or
 * error_code. */
void control_begin(struct control_conn *);
enum control_more {
	CONTROL_LINE, /* one more line is in buf */
	CONTROL_SKIP, /* nothing this time, ask again */
	CONTROL_WAIT, /* nothing now: later, when there are events */
	CONTROL_END
};
enum control_more control_next(struct control_conn *, char *buf, size_t size,
    size_t *ret_len);
/* Whether a command that changes something may do so here and now; else it has
 * failed. */
bool control_may_change(struct control_conn *);
/* Whether a sandbox is one machine's, as it must be for this command; else it
 * has failed. */
bool control_names_one(struct control_conn *, uint32_t sandbox);
void control_fail(struct control_conn *, const char *code, const char *format,
    ...) __attribute__((format(printf, 3, 4)));

/* Of control_change.c: reads the words behind ATTACH and its like. */
bool control_changes(enum control_verb);
void control_change_begin(struct control_conn *);
enum control_more control_change_next(struct control_conn *, char *buf,
    size_t size, size_t *ret_len);

/* Of control_pins.c. */
struct line;
enum control_more control_pins_next(struct control_conn *, struct line *);
enum control_more control_destination_next(struct control_conn *,
    struct line *);

/* Of control_budget.c. */
struct budget_report;
enum control_more control_budget_next(struct control_conn *, struct line *);
void control_put_bits(struct line *, const struct budget_report *);

/* Of control_explain.c. Whether a sandbox before this one has its policy. */
bool control_is_repeated(const struct policy *, uint32_t sandbox);
enum control_more control_explain_next(struct control_conn *, char *buf,
    size_t size, size_t *ret_len);
bool control_type_read(const char *text, uint16_t *ret);

#endif
