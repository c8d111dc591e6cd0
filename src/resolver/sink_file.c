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
#include <unistd.h>

#include "src/resolver/log.h"
#include "src/resolver/sink.h"

#define WRITE_LINES_MAX 64
struct batch {
	struct sink_record record[WRITE_LINES_MAX];
	const uint8_t *line[WRITE_LINES_MAX];
	size_t count;
	size_t size; /* in the ring, gaps included */
};

static const char *
sink_name(const struct sink_file *sink)
{
	return sink->setting.kind == SINK_STDOUT ? "standard output"
						 : sink->setting.path;
}

static void
open_sink(struct sink_file *sink)
{
	if (sink->setting.kind == SINK_STDOUT) {
		sink->fd = STDOUT_FILENO;
		return;
	}
	if (sink->fd >= 0)
		(void)close(sink->fd);
	sink->torn = false;
	sink->fd = open(sink->setting.path,
	    O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY,
	    0640);
	if (sink->fd < 0)
		log_error("sink", "cannot open %s: %s", sink->setting.path,
		    strerror(errno));
}

/* Collects what is in the ring from its head; nothing is removed yet. */
static void
collect(struct sink_queue *q, struct batch *batch)
{
	size_t used = atomic_load(&q->used);

	batch->count = 0;
	batch->size = 0;
	while (batch->count < WRITE_LINES_MAX && batch->size < used) {
		struct sink_record *record = &batch->record[batch->count];
		const uint8_t *line = sink_queue_at(q, batch->size, record);

		batch->size += record->size;
		if (line != NULL)
			batch->line[batch->count++] = line;
	}
}

/* Writes all there is. 0, or a negative errno; *ret_whole is how many came
 * out whole, *ret_torn whether a part of one more did. */
static int
write_all(int fd, struct iovec *iov, size_t count, size_t *ret_whole,
    bool *ret_torn)
{
	size_t at = 0;

	*ret_torn = false;
	*ret_whole = 0;
	while (at < count) {
		ssize_t n = writev(fd, iov + at, (int)(count - at));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		while (at < count && (size_t)n >= iov[at].iov_len) {
			n -= (ssize_t)iov[at].iov_len;
			at++;
			*ret_torn = false;
		}
		*ret_whole = at;
		if (at < count && n > 0) {
			iov[at].iov_base = (uint8_t *)iov[at].iov_base + n;
			iov[at].iov_len -= (size_t)n;
			*ret_torn = true;
		}
	}
	return 0;
}

/* A disk that is full again and again must not tear two lines into one. */
static int
write_lines(struct sink_file *sink, struct iovec *iov, size_t count,
    size_t *ret_whole)
{
	static char newline[] = "\n";
	struct iovec end = { newline, 1 };
	bool torn;

	*ret_whole = 0;
	if (sink->fd < 0)
		return -EBADF;
	if (sink->torn) {
		int r = write_all(sink->fd, &end, 1, ret_whole, &torn);

		*ret_whole = 0;
		if (r != 0)
			return r;
	}
	return write_all(sink->fd, iov, count, ret_whole, &sink->torn);
}

static void
write_to(struct sink_files *s, uint16_t index, const struct batch *batch)
{
	struct sink_file *sink = &s->files[index];
	struct iovec iov[WRITE_LINES_MAX];
	size_t count = 0, whole;
	int r;

	for (size_t i = 0; i < batch->count; i++) {
		if ((batch->record[i].mask >> index & 1) == 0)
			continue;
		iov[count].iov_base = (void *)(uintptr_t)batch->line[i];
		iov[count++].iov_len = batch->record[i].len;
	}
	if (count == 0)
		return;
	r = write_lines(sink, iov, count, &whole);
	if (r == 0) {
		sink->failing = false;
		return;
	}
	atomic_fetch_add(&s->queue.errors, count - whole);
	if (!sink->failing && r != -EBADF)
		log_error("sink", "events are lost, cannot write to %s: %s",
		    sink_name(sink), strerror(-r));
	sink->failing = true;
}

static void
close_files(struct sink_files *s)
{
	for (uint16_t i = 0; i < s->count; i++) {
		if (s->files[i].setting.kind == SINK_FILE &&
		    s->files[i].fd >= 0)
			(void)close(s->files[i].fd);
	}
}

void *
sink_file_writer(void *arg)
{
	struct sink_files *s = arg;
	struct batch batch;

	for (;;) {
		sink_queue_wait(&s->queue, 0, SINK_QUEUE_NEVER);
		if (atomic_exchange(&s->queue.reopen, false)) {
			for (uint16_t i = 0; i < s->count; i++)
				open_sink(&s->files[i]);
		}
		if (atomic_load(&s->queue.used) == 0) {
			if (atomic_load(&s->queue.stopping))
				break;
			continue;
		}
		collect(&s->queue, &batch);
		for (uint16_t i = 0; i < s->count; i++)
			write_to(s, i, &batch);
		sink_queue_release(&s->queue, batch.size);
	}
	close_files(s);
	return NULL;
}
