/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sink - event lines out to the places that the configuration names.
 *
 * Files and standard output share a queue and its writer thread, since a
 * write to a full disk or a stuck pipe blocks, whatever O_NONBLOCK says. Each
 * receiver of syslog has a queue and a thread of its own: one that is away
 * holds up nobody.
 */
#ifndef SRC_RESOLVER_SINK_H
#define SRC_RESOLVER_SINK_H

#include "lib/text/settings.h"
#include "src/resolver/sink_queue.h"

#define SINK_FILES_RING  (8u << 20)
#define SINK_SYSLOG_RING (4u << 20)

struct sink_file {
	struct sink_setting setting;
	int fd; /* -1: could not be opened, or not open yet */
	bool failing; /* said so already */
	bool torn; /* the last line is not whole, and has no end */
};

/* All but the queue is the writer's. */
struct sink_files {
	struct sink_queue queue;
	struct sink_file files[SETTINGS_SINKS_MAX];
	uint16_t count;
};

struct sink_syslog; /* sink_syslog.c */

struct sinks {
	struct sink_files *files; /* NULL: none */
	struct sink_syslog *receivers[SETTINGS_SINKS_MAX];
	uint16_t receiver_count;
	bool open;
};

/* For status: of all sinks, or of one receiver. */
struct sink_counts {
	uint64_t dropped_events, dropped_alerts, errors;
	uint64_t sent, waiting; /* of a receiver: lines, octets */
	bool connected;
	const char *target; /* NULL: all */
};

/* Starts the writers. 0 or a negative errno; a file that cannot be opened, or
 * a receiver that is not there, is logged and tried again, but not an error:
 * a sandbox must not lose its resolver to a full log disk. */
int sinks_open(struct sinks *, const struct settings *);
/* Puts a line for all sinks that want its kind. Never blocks. */
void sinks_put(struct sinks *, const struct sink_line *);
/* Hands on what was put since the last time. */
void sinks_flush(struct sinks *);
/* The files were rotated. */
void sinks_reopen(struct sinks *);
/* Waits up to a second for what is queued to be written, ends the threads. A
 * thread that is stuck is left to the exit, with its memory. */
void sinks_close(struct sinks *);
struct sink_counts sinks_counts(const struct sinks *);
/* One receiver by index from 0; false behind the last one. */
bool sinks_receiver(const struct sinks *, uint16_t index,
    struct sink_counts *ret);
/* The most octets of a line that leave room for what goes before it. */
size_t sinks_line_max(const struct sinks *);

/* sink_file.c: the writer of a struct sink_files. */
void *sink_file_writer(void *files);

/* sink_syslog.c. NULL: no memory. */
struct sink_syslog *sink_syslog_new(const struct sink_setting *);
void sink_syslog_free(struct sink_syslog *);
struct sink_queue *sink_syslog_queue(struct sink_syslog *);
void *sink_syslog_writer(void *receiver);
bool sink_syslog_wants(const struct sink_syslog *, enum event_kind);
void sink_syslog_counts(struct sink_syslog *, struct sink_counts *ret);
/* What stands before a line (RFC 5424, or the traditional form of the local
 * socket), into buf of SINK_SYSLOG_HEAD_MAX octets. */
#define SINK_SYSLOG_HEAD_MAX 384
size_t sink_syslog_head(char *buf, const struct sink_syslog *,
    const struct sink_record *);

#endif
