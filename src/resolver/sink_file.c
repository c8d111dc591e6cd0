/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sink_file - the one writer thread: lines from the ring to files and to
 * standard output.
 *
 * Lines are written as many at a time as there are. What a sink refuses is
 * lost for that sink, counted, and logged once until it works again; the
 * other sinks get theirs.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "src/resolver/log.h"
#include "src/resolver/sink.h"
#include "src/resolver/sink_ring.h"

#define WRITE_LINES_MAX 64
/* How long lines are let gather once there is one: a wake-up and a write for
 * each would cost more than the question did. Alerts do not wait. */
#define GATHER_NS 5000000

struct batch {
	struct sink_record record[WRITE_LINES_MAX];
	const uint8_t *line[WRITE_LINES_MAX];
	size_t count;
	size_t size; /* in the ring, gaps included */
};

static const char *
sink_name(const struct sink *sink)
{
	return sink->setting.kind == SINK_STDOUT ? "standard output"
						 : sink->setting.path;
}

static void
open_sink(struct sink *sink)
{
	if (sink->setting.kind == SINK_STDOUT) {
		sink->fd = STDOUT_FILENO;
		return;
	}
	if (sink->fd >= 0)
		(void)close(sink->fd);
	sink->fd = open(sink->setting.path,
	    O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY,
	    0640);
	if (sink->fd < 0)
		log_error("sink", "cannot open %s: %s", sink->setting.path,
		    strerror(errno));
}

/* Collects what is in the ring from its head; nothing is removed yet. */
static void
collect(struct sinks *s, struct batch *batch)
{
	size_t used = atomic_load(&s->used);
	size_t at = s->head;

	batch->count = 0;
	batch->size = 0;
	while (batch->count < WRITE_LINES_MAX && batch->size < used) {
		struct sink_record *record = &batch->record[batch->count];

		memcpy(record, s->ring + at, sizeof(*record));
		if (!record->skip)
			batch->line[batch->count++] =
			    s->ring + at + sizeof(*record);
		batch->size += record->size;
		at = (at + record->size) % SINK_RING_SIZE;
	}
}

static bool
is_idle(struct sinks *s)
{
	return atomic_load(&s->used) == 0 && !atomic_load(&s->stopping) &&
	    !atomic_load(&s->reopen);
}

/* Waits for lines. False: stop, everything is written. */
static bool
wait_for_lines(struct sinks *s)
{
	const struct timespec gather = { .tv_nsec = GATHER_NS };
	bool slept = false;

	(void)pthread_mutex_lock(&s->lock);
	atomic_store(&s->waiting, true);
	while (is_idle(s)) {
		(void)pthread_cond_wait(&s->filled, &s->lock);
		slept = true;
	}
	atomic_store(&s->waiting, false);
	(void)pthread_mutex_unlock(&s->lock);
	if (slept && !atomic_exchange(&s->urgent, false) &&
	    !atomic_load(&s->stopping))
		(void)nanosleep(&gather, NULL);
	if (atomic_exchange(&s->reopen, false)) {
		for (uint16_t i = 0; i < s->count; i++)
			open_sink(&s->sinks[i]);
	}
	return !atomic_load(&s->stopping) || atomic_load(&s->used) > 0;
}

/* 0 once everything is out, or a negative errno. */
static int
write_all(int fd, struct iovec *iov, size_t count)
{
	while (count > 0) {
		ssize_t n = writev(fd, iov, (int)count);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		while (count > 0 && (size_t)n >= iov->iov_len) {
			n -= (ssize_t)iov->iov_len;
			iov++;
			count--;
		}
		if (count > 0) {
			iov->iov_base = (uint8_t *)iov->iov_base + n;
			iov->iov_len -= (size_t)n;
		}
	}
	return 0;
}

static void
write_to(struct sinks *s, uint16_t index, const struct batch *batch)
{
	struct sink *sink = &s->sinks[index];
	struct iovec iov[WRITE_LINES_MAX];
	size_t count = 0;
	int r;

	for (size_t i = 0; i < batch->count; i++) {
		if ((batch->record[i].mask >> index & 1) == 0)
			continue;
		iov[count].iov_base = (void *)(uintptr_t)batch->line[i];
		iov[count++].iov_len = batch->record[i].len;
	}
	if (count == 0)
		return;
	r = sink->fd < 0 ? -EBADF : write_all(sink->fd, iov, count);
	if (r == 0) {
		sink->failing = false;
		return;
	}
	atomic_fetch_add(&s->write_errors, count);
	if (!sink->failing && r != -EBADF)
		log_error("sink", "events are lost, cannot write to %s: %s",
		    sink_name(sink), strerror(-r));
	sink->failing = true;
}

void *
sink_writer(void *arg)
{
	struct sinks *s = arg;
	struct batch batch;

	while (wait_for_lines(s)) {
		collect(s, &batch);
		for (uint16_t i = 0; i < s->count; i++)
			write_to(s, i, &batch);
		s->head = (s->head + batch.size) % SINK_RING_SIZE;
		atomic_fetch_sub(&s->used, batch.size);
	}
	for (uint16_t i = 0; i < s->count; i++) {
		if (s->sinks[i].setting.kind == SINK_FILE &&
		    s->sinks[i].fd >= 0)
			(void)close(s->sinks[i].fd);
	}
	return NULL;
}
