/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daemon_open - builds the daemon from configuration and descriptors, and
 * takes it apart.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "lib/require.h"
#include "src/resolver/daemon.h"
#include "src/resolver/log.h"

#define QUESTION_MS 2000
#define PIN_MS      500
#define LOOKUP_MS   1900
#define OPS_MAX     16384

/* Policies that there are, and were in the last 25 hours. */
#define BUDGET_POLICIES_MAX 1024

void
daemon_settings(struct engine_settings *ret, const struct settings *settings)
{
	*ret = (struct engine_settings){
		.ttl_floor_s = settings->ttl_floor_s,
		.ttl_cap_s = settings->ttl_cap_s,
		.ttl_negative_s = settings->ttl_negative_s,
		.pin_floor_ms = settings->pin_floor_ms,
		.pin_cap_ms = settings->pin_cap_ms,
		.pin_grace_ms = settings->pin_grace_ms,
		.question_ms = QUESTION_MS,
		.pin_ms = PIN_MS,
		.lookup_ms = LOOKUP_MS,
		.tick_ms = settings->tick_ms,
		.budget_sandbox = settings->budget_sandbox,
		.warm_ms = settings->warm_ms,
	};
}

static void
fill_limits(struct engine_limits *limits, const struct settings *settings,
    uint32_t sandboxes_max)
{
	memset(limits, 0, sizeof(*limits));
	limits->sandboxes_max = sandboxes_max;
	limits->queries_max = settings->limits.queries;
	limits->queries_per_sandbox_max = settings->limits.queries_per_sandbox;
	limits->lookups_max = settings->limits.lookups;
	limits->lookups_per_sandbox_max = settings->limits.lookups_per_sandbox;
	limits->budget.keys_max = settings->limits.budget_keys;
	/* Each sandbox that has a sum has a key too. */
	limits->budget.sums_max =
	    settings->limits.budget_keys + BUDGET_POLICIES_MAX;
	limits->warm.names_max = settings->limits.warm_names;
	limits->warm.names_per_sandbox_max =
	    settings->limits.warm_names_per_sandbox;
	limits->warm.sandboxes_max = sandboxes_max;
	limits->scheduled_max = settings->limits.scheduled_names;
	limits->cache.entries_max = settings->limits.cache;
	limits->cache.entries_per_sandbox_max =
	    settings->limits.cache_per_sandbox;
	limits->cache.sandboxes_max = sandboxes_max;
	limits->pins.pins_max = settings->limits.pins;
	limits->pins.pins_per_sandbox_max = settings->limits.pins_per_sandbox;
	limits->pins.names_max = settings->limits.pins;
	limits->pins.ops_max = OPS_MAX;
	limits->pins.sandboxes_max = sandboxes_max;
	limits->tunnel.keys_max = settings->limits.tunnel_keys;
	limits->tunnel.keys_per_sandbox_max =
	    settings->limits.tunnel_keys_per_sandbox;
	limits->tunnel.sandboxes_max = sandboxes_max;
	daemon_settings(&limits->settings, settings);
}

/* One block for the core, its size measured first. */
static int
open_engine(struct daemon *d)
{
	struct engine_limits limits;
	struct arena arena;
	uint8_t seed[32];

	if (getrandom(seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
		return -EIO;
	fill_limits(&limits, &d->config->edge->settings, d->numbers_max + 1);
	arena_init(&arena, NULL, 0);
	(void)engine_init(&d->engine, &limits, &arena, seed);
	d->block_size = arena.used;
	d->block = calloc(1, d->block_size);
	if (d->block == NULL)
		return -ENOMEM;
	arena_init(&arena, d->block, d->block_size);
	return engine_init(&d->engine, &limits, &arena, seed);
}

static int
read_identity(struct daemon *d)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (gethostname(d->host_name, sizeof(d->host_name) - 1) != 0)
		return -errno;
	if (fd < 0)
		return -errno;
	n = read(fd, d->boot_id, sizeof(d->boot_id) - 1);
	(void)close(fd);
	if (n <= 0)
		return -EIO;
	d->boot_id[strcspn(d->boot_id, "\n")] = '\0';
	return 0;
}

static int
open_memory(struct daemon *d, const struct daemon_fds *fds)
{
	const struct settings *settings = &d->config->edge->settings;
	uint8_t seed[32];
	int r = read_identity(d);

	if (r != 0)
		return r;
	if (getrandom(seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
		return -EIO;
	rng_init(&d->rng, seed);
	d->bindings = calloc((size_t)d->numbers_max + 1, sizeof(*d->bindings));
	if (d->bindings == NULL)
		return -ENOMEM;
	if (getrandom(seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
		return -EIO;
	r = daemon_beat_open(d, fds->heartbeat_ms, seed);
	if (r != 0)
		return r;
	r = recent_open(&d->recent, settings->limits.events_in_memory,
	    d->numbers_max + 1);
	if (r == 0)
		r = open_engine(d);
	if (r != 0)
		return r;
	daemon_wake(d);
	d->started_ms = d->now_ms;
	daemon_set_policy(d);
	return 0;
}

static int
open_ends(struct daemon *d, const struct daemon_fds *fds)
{
	const struct settings *settings = &d->config->edge->settings;
	int r = state_open(&d->state, fds->state, d->boot_id,
	    settings->limits.pins);

	if (r == 0)
		r = ledger_open(&d->ledger, &d->engine.budget, fds->state,
		    d->boot_id, d->now_ms);
	if (r == 0)
		r = quarantines_open(&d->quarantines, fds->state);
	if (r == 0)
		r = uploads_open(&d->uploads, fds->state);
	if (r == 0)
		r = guests_open(&d->guests, d, fds->state);
	if (r == 0)
		r = members_open(&d->members, fds->idle_ms);
	if (r == 0)
		r = withdrawn_open(&d->withdrawn, fds->state, d->boot_id);
	if (r == 0)
		r = own_addrs_open(&d->own, &d->loop,
		    &d->config->policy->protected_ranges);
	if (r == 0)
		r = sinks_open(&d->sinks, settings);
	if (r == 0)
		r = upstream_open(&d->upstream, d, d->config,
		    (settings->limits.lookups + ENGINE_OWN_LOOKUPS) *
			    LOOKUP_PARTS_MAX +
			64);
	if (r == 0)
		r = helper_open(&d->helper, d, fds->helper,
		    settings->limits.pins * 2 + 4096 +
			d->guests.count * (EDGE_SOURCES_MAX + 1));
	if (r == 0)
		r = control_open(&d->control, d, fds->status, fds->control);
	if (r == 0 && fds->nflog != 0)
		r = nflog_open(&d->nflog, d, fds->nflog);
	if (r == 0 && fds->flow != 0)
		r = flowlog_open(&d->flowlog, d, fds->flow);
	for (size_t i = 0; r == 0 && i < fds->listen_count; i++) {
		r = listener_open(&d->listeners[i], d, fds->listen[i],
		    (uint32_t)i);
		d->listener_count = i + 1;
	}
	if (r == 0)
		r = streams_open(&d->streams, d, fds->listen_tcp,
		    fds->listen_tcp_count);
	return r;
}

int
daemon_open(struct daemon *d, struct config *config,
    const struct daemon_fds *fds)
{
	int r;

	memset(d, 0, sizeof(*d));
	d->config = config;
	d->sandbox_count = config->policy->sandbox_count;
	d->timer_ms = DEADLINE_NEVER;
	d->dates_ms = DEADLINE_NEVER;
	r = edge_attach_reserve(config->edge);
	d->numbers_max = config->edge->numbers_max;
	if (r == 0)
		r = uv_loop_init(&d->loop);
	if (r == 0) {
		d->loop_open = true;
		uv_timer_init(&d->loop, &d->timer);
		d->timer.data = d;
		r = open_memory(d, fds);
	}
	if (r == 0)
		r = open_ends(d, fds);
	if (r != 0) {
		log_error("start", "cannot start: %s", strerror(-r));
		return r;
	}
	uploads_follow(d);
	daemon_event_text(d, EVENT_CONFIG_LOADED, config->edge->settings.file);
	return 0;
}

static void
close_handle(uv_handle_t *handle, void *arg)
{
	(void)arg;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

void
daemon_close(struct daemon *d)
{
	for (size_t i = 0; i < d->listener_count; i++)
		listener_close(&d->listeners[i]);
	streams_close(&d->streams);
	nflog_close(&d->nflog);
	flowlog_close(&d->flowlog);
	control_close(&d->control);
	upstream_close(&d->upstream);
	helper_close(&d->helper);
	own_addrs_close(&d->own);
	sinks_close(&d->sinks);
	state_close(&d->state);
	ledger_close(&d->ledger, d->now_ms);
	quarantines_close(&d->quarantines);
	uploads_close(&d->uploads);
	guests_close(&d->guests);
	members_close(&d->members);
	withdrawn_close(&d->withdrawn);
	if (d->loop_open) {
		uv_walk(&d->loop, close_handle, NULL);
		while (uv_run(&d->loop, UV_RUN_DEFAULT) != 0)
			continue;
		(void)uv_loop_close(&d->loop);
	}
	streams_free(&d->streams);
	recent_close(&d->recent);
	daemon_beat_close(d);
	free(d->bindings);
	free(d->block);
	reload_close(&d->reload);
	config_free(d->config);
}
