/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daemon - owns the loop and the engine; the pump between them.
 *
 * The only meeting point of the shell's modules. A module that was woken
 * calls daemon_wake(), feeds what came in through one of the functions below,
 * and calls daemon_rest(). Each feeding function gives the engine one input
 * and performs the effects that follow; what is collected meanwhile (replies,
 * requests to the helper) leaves in daemon_rest().
 */
#ifndef SRC_RESOLVER_DAEMON_H
#define SRC_RESOLVER_DAEMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "lib/engine.h"
#include "lib/fold.h"
#include "lib/rng.h"
#include "lib/text/policy_text.h"
#include "src/resolver/control.h"
#include "src/resolver/flowlog.h"
#include "src/resolver/guests.h"
#include "src/resolver/heart.h"
#include "src/resolver/helper_client.h"
#include "src/resolver/ledger.h"
#include "src/resolver/listen_tcp.h"
#include "src/resolver/listen_udp.h"
#include "src/resolver/members.h"
#include "src/resolver/nflog.h"
#include "src/resolver/own_addrs.h"
#include "src/resolver/quarantine.h"
#include "src/resolver/recent.h"
#include "src/resolver/reload.h"
#include "src/resolver/sink.h"
#include "src/resolver/state.h"
#include "src/resolver/uploads.h"
#include "src/resolver/upstream.h"
#include "src/resolver/withdrawn.h"

/* What the parent passed on. */
struct daemon_fds {
	int helper, status, state;
	int control; /* 0: none */
	int listen[SETTINGS_LISTEN_MAX];
	size_t listen_count;
	int listen_tcp[SETTINGS_LISTEN_MAX];
	size_t listen_tcp_count;
	int nflog, flow; /* 0: none */
	/* For developers; 0: as it should be. */
	uint32_t heartbeat_ms, idle_ms;
};

/* By which interface a sandbox's packets must come. */
struct binding {
	bool known; /* the parent has said so at least once */
	uint32_t ifindex; /* 0: bound to none now */
	char interface[SETTINGS_IFNAME_MAX];
	uint64_t spoofed; /* questions that came by another one */
	uint32_t orders; /* to cut it off or let it out, not yet answered */
	int order_status; /* of the last one that was */
	uint64_t tcp_refused; /* connections over its limit */
};

struct daemon_counts {
	uint64_t questions, spoofed, pins_lost;
};

struct daemon {
	uv_loop_t loop;
	uv_timer_t timer;
	uv_signal_t signals[3];
	uint64_t timer_ms; /* for when the timer is set */
	uint64_t now_ms; /* of this wake-up */
	struct config *config;
	struct engine engine;
	void *block; /* the engine's memory */
	size_t block_size;
	struct rng rng; /* the shell's own: ports, choices */
	struct listener listeners[SETTINGS_LISTEN_MAX];
	size_t listener_count;
	struct streams streams;
	struct helper_client helper;
	struct upstream upstream;
	struct control control;
	struct sinks sinks;
	struct fold fold; /* repeats of events */
	void *fold_block;
	struct heart heart;
	struct nflog nflog;
	struct flowlog flowlog;
	struct recent recent;
	struct state state;
	struct ledger ledger;
	struct quarantines quarantines;
	struct uploads uploads;
	struct guests guests;
	struct members members;
	struct withdrawn withdrawn;
	struct own_addrs own;
	struct binding *bindings; /* by sandbox */
	uint32_t sandbox_count; /* the highest number; some may be nobody's */
	uint32_t numbers_max;
	struct reload reload;
	struct daemon_counts counts;
	uint64_t sequence; /* of the last event */
	uint64_t dropped_before; /* of sinks that are no more */
	uint64_t dropped_told; /* events lost to full sinks, as logged */
	uint64_t dropped_told_ms;
	uint64_t dates_ms; /* when to look at the time of day */
	uint64_t started_ms, settled_ms; /* 0: not settled */
	uint64_t advice; /* enum helper_advice bits */
	uint64_t abilities; /* enum helper_ability bits, once settled */
	bool loop_open;
	uint64_t stop_ms; /* when it ends whatever is open; 0: it goes on */
	bool helper_gone, helper_gone_told;
	bool stopped; /* and its event is written */
	int exit_code;
	char boot_id[STATE_BOOT_ID_MAX];
	char host_name[256];
	struct event_label labels[EVENT_LABELS_MAX * 2];
	char event_line[EVENT_LINE_MAX];
	struct pin_record record; /* scratch of EFFECT_RECORD */
	struct effect effect; /* scratch of the pump */
	struct event folded; /* scratch of daemon_unfold() */
};

/* Builds everything; the configuration is taken over also on failure. 0 or a
 * negative errno, logged. */
int daemon_open(struct daemon *, struct config *, const struct daemon_fds *);
/* Runs until a signal or the end of the helper; returns the exit code. */
int daemon_run(struct daemon *);
void daemon_close(struct daemon *);

/* What the core is told of the settings, at the start and by a reload. */
void daemon_settings(struct engine_settings *ret, const struct settings *);
/* How many sandboxes there are. */
uint32_t daemon_sandboxes(const struct daemon *);
void daemon_wake(struct daemon *);
void daemon_rest(struct daemon *);
/* Performs all effects there are, and feeds back failures of our own. */
void daemon_pump(struct daemon *);

/* Finds out whose questions these are; false: they come by an interface that
 * their source is not bound to. */
bool daemon_admit(struct daemon *, struct client *);

/* Inputs. */
void daemon_query(struct daemon *, struct client *, const uint8_t *, size_t);
/* One that has waited to be somebody's. */
void daemon_ask(struct daemon *, struct client *, const uint8_t *, size_t);
void daemon_answer(struct daemon *, uint64_t lookup, uint8_t part,
    const uint8_t *, size_t);
void daemon_welcome(struct daemon *, int status, uint64_t sandboxes);
void daemon_pinned(struct daemon *, uint64_t op, int status);
void daemon_flows(struct daemon *, uint32_t slot, int status, bool flow);
/* abilities: enum helper_ability bits. */
void daemon_settled(struct daemon *, int status, uint64_t abilities);
void daemon_bound(struct daemon *, uint32_t sandbox, uint32_t ifindex);
void daemon_reset(struct daemon *, uint32_t window_ms, uint64_t packets);
/* What a sandbox's packets were refused, or audited, so far; status negative:
 * unknown. What was refused is asked last and makes the heartbeat. */
void daemon_stats(struct daemon *, enum helper_stat, uint32_t sandbox,
    int status, uint64_t count);
void daemon_rejected(struct daemon *, const struct rejected *);
void daemon_flow_ended(struct daemon *, const struct ended_flow *);
/* Answers what was asked, takes no more questions, and ends. */
void daemon_stop(struct daemon *);
void daemon_helper_lost(struct daemon *);

/* The policy of d->config is the one that holds (daemon_dates.c). */
void daemon_set_policy(struct daemon *);
/* Ends rules whose date is over, when it is time to look. */
void daemon_dates(struct daemon *);

/* An event of ours or the engine's: counted, and told unless it is a repeat
 * (daemon_event.c). */
void daemon_event(struct daemon *, const struct event *);
/* Its line, to sinks and memory. counts: of a heartbeat, else NULL. */
void daemon_tell(struct daemon *, const struct event *,
    const struct event_counts *);
/* One of the daemon's own, with a text. */
void daemon_event_text(struct daemon *, enum event_action, const char *);
/* A known source came by an interface that it is not bound to. */
void daemon_spoofed(struct daemon *, uint32_t sandbox, const struct client *);
/* Windows of repeats and heartbeats (daemon_beat.c). heartbeat_ms 0: as it
 * should be. 0 or a negative errno. */
int daemon_beat_open(struct daemon *, uint32_t heartbeat_ms,
    const uint8_t secret[16]);
void daemon_beat_close(struct daemon *);
uint64_t daemon_beat_deadline(const struct daemon *);
void daemon_beat(struct daemon *);
/* A number ends or begins to be a sandbox's: a last heartbeat of what it was,
 * and all anew. */
void daemon_beat_anew(struct daemon *, uint32_t sandbox);
/* Tells the repeats of windows that are over; DEADLINE_NEVER: of all. */
void daemon_unfold(struct daemon *, uint64_t now_ms);
/* Those of a sandbox that goes. */
void daemon_unfold_of(struct daemon *, uint32_t sandbox);
/* Lines that some sink did not take, so far. */
uint64_t daemon_dropped(const struct daemon *);
/* Says in the log what sinks have lost, once in a while. */
void daemon_report_drops(struct daemon *);

#endif
