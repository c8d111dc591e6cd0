/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quarantine - see quarantine.h. The file is a line that says what it is, and
 * one line for each: NAME SECONDS REASON, separated by one space.
 */
#include "config.h"

#include "src/resolver/quarantine.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/require.h"
#include "src/resolver/daemon.h"
#include "src/resolver/log.h"

#define FILE_NAME  "quarantine"
#define FILE_FRESH "quarantine.new"
#define FILE_MAGIC "namewall quarantine 1\n"
#define LINE_SIZE  256

/* ---- the file -------------------------------------------------------- */

const struct quarantine *
quarantines_find(const struct quarantines *q, const char *name)
{
	for (size_t i = 0; i < q->count; i++)
		if (strcmp(q->list[i].name, name) == 0)
			return &q->list[i];
	return NULL;
}

static int
add(struct quarantines *q, const struct quarantine *one)
{
	struct quarantine *list =
	    reallocarray(q->list, q->count + 1, sizeof(*list));

	if (list == NULL)
		return -ENOMEM;
	q->list = list;
	list[q->count++] = *one;
	return 0;
}

static bool
read_line(struct quarantines *q, const char *line)
{
	struct quarantine one = { .since_wall_s = 0 };
	int end = 0;

	if (sscanf(line, "%63s %" SCNu64 " %31s%n", one.name, &one.since_wall_s,
		one.reason, &end) != 3 ||
	    strcmp(line + end, "\n") != 0)
		return false;
	return quarantines_find(q, one.name) == NULL && add(q, &one) == 0;
}

static bool
read_file(struct quarantines *q, FILE *file)
{
	char line[LINE_SIZE];

	if (fgets(line, sizeof(line), file) == NULL ||
	    strcmp(line, FILE_MAGIC) != 0)
		return false;
	while (fgets(line, sizeof(line), file) != NULL)
		if (!read_line(q, line))
			return false;
	return !ferror(file);
}

int
quarantines_open(struct quarantines *q, int dir)
{
	FILE *file = NULL;
	bool good;
	int fd;

	*q = (struct quarantines){ .dir = dir };
	fd = openat(dir, FILE_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd >= 0)
		file = fdopen(fd, "r");
	if (file == NULL) {
		int error = -errno;

		log_error("quarantine", "%s in the state directory: %s",
		    FILE_NAME, strerror(-error));
		if (fd >= 0)
			(void)close(fd);
		return error;
	}
	good = read_file(q, file);
	(void)fclose(file);
	if (good)
		return 0;
	log_error("quarantine",
	    "%s in the state directory is not what was written there; take "
	    "it away to let everybody out who was in quarantine",
	    FILE_NAME);
	return -EBADMSG;
}

void
quarantines_close(struct quarantines *q)
{
	free(q->list);
	*q = (struct quarantines){ .dir = -1 };
}

static int
write_to(const struct quarantines *q, int fd)
{
	FILE *file = fdopen(fd, "w");
	bool good;

	if (file == NULL) {
		(void)close(fd);
		return -errno;
	}
	(void)fputs(FILE_MAGIC, file);
	for (size_t i = 0; i < q->count; i++)
		(void)fprintf(file, "%s %" PRIu64 " %s\n", q->list[i].name,
		    q->list[i].since_wall_s, q->list[i].reason);
	good = fflush(file) == 0 && fsync(fd) == 0 && !ferror(file);
	if (fclose(file) != 0 || !good)
		return errno != 0 ? -errno : -EIO;
	return 0;
}

static int
write_file(const struct quarantines *q)
{
	int fd = openat(q->dir, FILE_FRESH,
	    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	int error = fd < 0 ? -errno : write_to(q, fd);

	if (error == 0 && renameat(q->dir, FILE_FRESH, q->dir, FILE_NAME) != 0)
		error = -errno;
	if (error != 0)
		log_error("quarantine",
		    "%s cannot be written to the state directory, so that it "
		    "would not outlast a restart: %s",
		    FILE_NAME, strerror(-error));
	return error;
}

int
quarantines_put(struct quarantines *q, const struct quarantine *one)
{
	int error = 0;

	if (quarantines_find(q, one->name) == NULL)
		error = add(q, one);
	return error == 0 ? write_file(q) : error;
}

int
quarantines_drop(struct quarantines *q, const char *name)
{
	const struct quarantine *one = quarantines_find(q, name);

	if (one == NULL)
		return 0;
	q->list[one - q->list] = q->list[q->count - 1];
	q->count--;
	return write_file(q);
}

/* ---- the daemon ------------------------------------------------------ */

void
quarantine_follow(struct daemon *d)
{
	for (uint32_t i = 1; i <= d->sandbox_count; i++) {
		const struct policy_sandbox *of =
		    policy_sandbox(d->engine.policy, i);

		if (of == NULL ||
		    quarantines_find(&d->quarantines, of->name) == NULL ||
		    engine_is_quarantined(&d->engine, i))
			continue;
		engine_quarantine(&d->engine, i, true, d->now_ms);
		daemon_pump(d);
	}
}

static void
keep(struct daemon *d, const struct effect *effect, const char *name)
{
	struct quarantine one = { .since_wall_s = (uint64_t)time(NULL) };
	bool alert = effect->u.quarantine.by == QUARANTINE_BY_ALERT;

	(void)snprintf(one.name, sizeof(one.name), "%s", name);
	(void)snprintf(one.reason, sizeof(one.reason), "%s",
	    alert ? event_action_name(effect->u.quarantine.alert) : "command");
	(void)quarantines_put(&d->quarantines, &one);
	log_warn("quarantine", "sandbox %s: cut off (%s)", name, one.reason);
}

void
quarantine_route(struct daemon *d, const struct effect *effect)
{
	uint32_t sandbox = effect->u.quarantine.sandbox;
	const struct policy_sandbox *of =
	    policy_sandbox(d->engine.policy, sandbox);
	bool on = effect->kind == EFFECT_QUARANTINE;

	REQUIRE(of != NULL);
	if (on && effect->u.quarantine.by != QUARANTINE_BY_RECORD)
		keep(d, effect, of->name);
	if (!on) {
		(void)quarantines_drop(&d->quarantines, of->name);
		log_warn("quarantine", "sandbox %s: let out", of->name);
	}
	d->bindings[sandbox].orders++;
	helper_order(&d->helper, on ? HELPER_QUARANTINE : HELPER_RELEASE,
	    sandbox);
}

void
quarantine_answered(struct daemon *d, uint32_t sandbox, int status)
{
	struct binding *binding = &d->bindings[sandbox];

	if (binding->orders > 0)
		binding->orders--;
	binding->order_status = status;
	if (status != 0)
		log_error("quarantine",
		    "sandbox %" PRIu32 ": the parent could not do it: %s",
		    sandbox, strerror(-status));
	control_ordered(&d->control);
}
