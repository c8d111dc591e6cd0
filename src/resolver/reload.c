/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reload - see reload.h.
 */
#include "config.h"

#include "src/resolver/reload.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "lib/require.h"
#include "src/resolver/daemon.h"
#include "src/resolver/log.h"

static void
close_fds(struct reload *r)
{
	for (size_t i = 0; i < r->have; i++)
		(void)close(r->fds[i]);
	r->have = r->total = 0;
}

/* It is over: whoever asked is told, and the events say so. */
static void
end(struct daemon *d, bool ok)
{
	struct reload *r = &d->reload;

	r->ok = ok;
	r->ended = r->begun;
	if (!ok)
		log_error("reload", "refused: %s", r->reason);
	daemon_event_text(d, ok ? EVENT_CONFIG_LOADED : EVENT_CONFIG_REFUSED,
	    ok ? d->config->edge->settings.file : r->reason);
	control_reloaded(&d->control);
	members_again(d);
}

_Static_assert(HELPER_RELOAD_MAX == LOAD_FILES_MAX + 2,
    "what may be passed can be read");

/* ---- reading --------------------------------------------------------- */

/* WHAT=PATH. */
static bool
read_name(const char *text, const char **ret_path, char *what, size_t size)
{
	const char *equals = strchr(text, '=');
	size_t len = equals != NULL ? (size_t)(equals - text) : 0;

	if (equals == NULL || len >= size)
		return false;
	memcpy(what, text, len);
	what[len] = '\0';
	*ret_path = equals + 1;
	return true;
}

/* The list of names is one text for each descriptor behind it, with a NUL at
 * its end, the configuration's first. */
static bool
read_names(const struct reload *r, const char *names, size_t size,
    struct load_source *source)
{
	char what[EDGE_NAME_MAX + 8];
	size_t at = 0;

	for (size_t i = 1; i < r->total; i++) {
		const char *path;

		/* What is behind the last octet is a NUL (load_whole). */
		if (at >= size ||
		    !read_name(names + at, &path, what, sizeof(what)) ||
		    strlen(path) >= SETTINGS_PATH_MAX)
			return false;
		at += strlen(names + at) + 1;
		if (i == 1) {
			source->config_path = path;
			source->config_fd = r->fds[1];
			continue;
		}
		struct load_file *file = &source->files[source->file_count++];

		file->fd = r->fds[i];
		(void)snprintf(file->name, sizeof(file->name), "%s", what);
		(void)snprintf(file->path, sizeof(file->path), "%s", path);
	}
	return at == size;
}

static int
read_config(struct daemon *d, const struct load_source *source)
{
	struct reload *r = &d->reload;
	struct text_error wrong = { .line = 0 };
	uint8_t secret[16];
	int error;

	if (getrandom(secret, sizeof(secret), 0) != (ssize_t)sizeof(secret))
		return -EIO;
	error = load_config(&r->next, source, secret, &wrong);
	if (error == -EINVAL)
		(void)snprintf(r->reason, sizeof(r->reason), "%s:%u:%u: %s",
		    wrong.file, wrong.line, wrong.column, wrong.reason);
	else if (error != 0)
		(void)snprintf(r->reason, sizeof(r->reason), "%s: %s",
		    source->config_path, strerror(-error));
	return error;
}

static bool
same_sinks(const struct settings *a, const struct settings *b)
{
	if (a->sink_count != b->sink_count)
		return false;
	for (size_t i = 0; i < a->sink_count; i++)
		if (a->sinks[i].kind != b->sinks[i].kind ||
		    a->sinks[i].only != b->sinks[i].only ||
		    strcmp(a->sinks[i].path, b->sinks[i].path) != 0)
			return false;
	return true;
}

/* Writers are started before anything is switched, since that can fail. */
static int
open_sinks(struct daemon *d)
{
	struct reload *r = &d->reload;
	int error;

	if (same_sinks(&d->config->edge->settings, &r->next->edge->settings))
		return 0;
	error = sinks_open(&r->sinks, &r->next->edge->settings);
	r->new_sinks = error == 0;
	if (error == 0)
		return 0;
	sinks_close(&r->sinks);
	config_free(r->next);
	r->next = NULL;
	(void)snprintf(r->reason, sizeof(r->reason),
	    "the sinks of events cannot be started: %s", strerror(-error));
	return error;
}

/* 0, or the reason is written. */
static int
read_all(struct daemon *d)
{
	struct reload *r = &d->reload;
	const struct edge_before before = { d->config->edge,
		d->config->edge->file_numbers_max };
	struct load_source *source = calloc(1, sizeof(*source));
	char *names = NULL;
	size_t size = 0;
	int error = -ENOMEM;

	(void)snprintf(r->reason, sizeof(r->reason),
	    "what the parent passed cannot be read");
	if (source != NULL)
		error = load_whole(r->fds[0], "names", &names, &size);
	if (error == 0 && !read_names(r, names, size, source))
		error = -EBADMSG;
	if (error == 0) {
		source->before = &before;
		error = read_config(d, source);
	}
	if (error == 0)
		error = open_sinks(d);
	free(names);
	free(source);
	return error;
}

bool
reload_is_under_way(const struct reload *r)
{
	return r->begun != r->ended;
}

bool
reload_take(struct daemon *d, uint64_t first, uint64_t total, const int *fds,
    size_t count)
{
	struct reload *r = &d->reload;

	if (first == 0 && r->total == 0 && r->next == NULL) {
		r->total = total;
		r->begun++;
	}
	if (first != r->have || total != r->total || total < 2 ||
	    total > HELPER_RELOAD_MAX || count == 0 ||
	    count > total - r->have) {
		for (size_t i = 0; i < count; i++)
			(void)close(fds[i]);
		return false;
	}
	memcpy(r->fds + r->have, fds, count * sizeof(*fds));
	r->have += count;
	if (r->have < r->total)
		return true;
	if (read_all(d) != 0)
		end(d, false);
	helper_tell(&d->helper, HELPER_PARSED, r->next != NULL ? 1 : 0, 0);
	close_fds(r);
	return true;
}

void
reload_refused(struct daemon *d, int fd)
{
	struct reload *r = &d->reload;
	ssize_t len = pread(fd, r->reason, sizeof(r->reason) - 1, 0);

	(void)close(fd);
	r->reason[len > 0 ? len : 0] = '\0';
	r->begun++;
	end(d, false);
}

/* ---- switching ------------------------------------------------------- */

/* Numbers that begin or end are without a home, and without a connection;
 * the parent says where the new ones live. */
static void
reset_bindings(struct daemon *d, const struct policy *next)
{
	for (uint32_t i = 1; i <= d->numbers_max; i++) {
		if (policy_sandbox(d->engine.policy, i) != NULL &&
		    policy_sandbox(next, i) != NULL)
			continue;
		memset(&d->bindings[i], 0, sizeof(d->bindings[i]));
		daemon_beat_anew(d, i);
		streams_cut(&d->streams, i);
	}
}

/* From the first to the last line nothing can fail: the parent has let what
 * both configurations grant. */
static void
switch_to(struct daemon *d, struct config *next)
{
	struct config *before = d->config;
	struct engine_settings settings;

	daemon_unfold(d, DEADLINE_NEVER);
	guests_carry(d, next);
	reset_bindings(d, next->policy);
	own_addrs_move(&d->own, &next->policy->protected_ranges);
	daemon_settings(&settings, &next->edge->settings);
	engine_set_settings(&d->engine, &settings);
	d->config = next;
	d->sandbox_count = next->policy->sandbox_count;
	daemon_set_policy(d);
	daemon_pump(d);
	upstream_follow(&d->upstream, next);
	daemon_pump(d);
	uploads_recall(d, 0);
	uploads_follow(d);
	if (d->reload.new_sinks) {
		d->dropped_before = daemon_dropped(d);
		sinks_close(&d->sinks);
		d->sinks = d->reload.sinks;
		d->reload.new_sinks = false;
	}
	/* Rules that were withdrawn are back. */
	withdrawn_clear(&d->withdrawn);
	config_free(before);
}

void
reload_answered(struct daemon *d, int status)
{
	struct reload *r = &d->reload;
	struct config *next = r->next;

	r->next = NULL;
	if (next == NULL)
		return; /* it is told that we refused */
	if (status != 0) {
		config_free(next);
		if (r->new_sinks)
			sinks_close(&r->sinks);
		r->new_sinks = false;
		(void)snprintf(r->reason, sizeof(r->reason),
		    "the kernel's table could not be widened: %s",
		    strerror(-status));
		end(d, false);
		return;
	}
	switch_to(d, next);
	/* Behind every request to revoke. */
	helper_tell(&d->helper, HELPER_SWITCHED, 0, 0);
	/* And behind the parent's hearing of those that have come. */
	quarantine_follow(d);
}

void
reload_followed(struct daemon *d, int status)
{
	REQUIRE(status == 0);
	guests_followed(d);
	uploads_recall(d, 0);
	end(d, true);
}

void
reload_close(struct reload *r)
{
	close_fds(r);
	if (r->new_sinks)
		sinks_close(&r->sinks);
	r->new_sinks = false;
	config_free(r->next);
	r->next = NULL;
}
