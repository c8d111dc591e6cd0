/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daemon_event - events out: what the core does not know is added, the line
 * printed once and given to sinks and memory.
 */
#include "config.h"

#include <inttypes.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/model.h"
#include "src/resolver/daemon.h"
#include "src/resolver/log.h"

#define DROPS_EVERY_MS 60000
#define USER_TEXT_MAX  16

static uint64_t
wall_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static size_t
add_labels(struct daemon *d, size_t at, const struct setting_label *labels,
    size_t count)
{
	for (size_t i = 0; i < count && at < EVENT_LABELS_MAX * 2; i++, at++) {
		memcpy(d->labels[at].key, labels[i].key,
		    sizeof(d->labels[at].key));
		memcpy(d->labels[at].value, labels[i].value,
		    sizeof(d->labels[at].value));
	}
	return at;
}

/* Labels of all, then those of the sandbox, which win where they meet. */
static void
set_labels(struct daemon *d, uint32_t sandbox, struct event_context *context)
{
	const struct edge_config *edge = d->config->edge;
	uint32_t each = sandbox > 0 && sandbox <= edge->sandbox_count
	    ? edge->sandboxes[sandbox - 1].each
	    : 0;
	size_t count =
	    add_labels(d, 0, edge->settings.labels, edge->settings.label_count);

	if (each != 0)
		sandbox = each;
	if (sandbox > 0 && sandbox <= edge->sandbox_count)
		count =
		    add_labels(d, count, edge->sandboxes[sandbox - 1].labels,
			edge->sandboxes[sandbox - 1].label_count);
	context->labels = d->labels;
	context->label_count = count;
}

static void
set_names(struct daemon *d, const struct event *event,
    struct event_context *context, char *interface)
{
	const struct policy *policy = d->engine.policy;
	const struct edge_config *edge = d->config->edge;
	const struct policy_sandbox *sandbox =
	    policy_sandbox(policy, event->sandbox);

	if (sandbox != NULL) {
		context->sandbox = sandbox->name;
		context->policy = policy->profiles[sandbox->profile].name;
		context->audit = policy->profiles[sandbox->profile].audit;
		if (event->ifindex == d->bindings[event->sandbox].ifindex &&
		    event->ifindex != 0)
			context->interface =
			    d->bindings[event->sandbox].interface;
	}
	/* One that has left the policy and is still told of. */
	if (sandbox == NULL && event->sandbox > 0 &&
	    event->sandbox <= edge->sandbox_count &&
	    edge_sandbox_exists(&edge->sandboxes[event->sandbox - 1])) {
		context->sandbox = edge->sandboxes[event->sandbox - 1].name;
		context->policy =
		    edge->policies[edge->sandboxes[event->sandbox - 1].policy]
			.name;
	}
	if (event->ifindex != 0 && context->interface == NULL)
		context->interface = if_indextoname(event->ifindex, interface);
}

/* Of a sandbox that comes, goes or changes: what it was. */
static void
set_origin(struct daemon *d, const struct event *event,
    struct event_context *context, char user[USER_TEXT_MAX])
{
	const struct edge_config *edge = d->config->edge;

	if (event->has_user) {
		(void)snprintf(user, USER_TEXT_MAX, "%" PRIu32, event->user);
		context->user = user;
	}
	if (event->action != EVENT_SANDBOX_ATTACHED &&
	    event->action != EVENT_SANDBOX_DETACHED &&
	    event->action != EVENT_SANDBOX_ASSIGNED)
		return;
	if (event->sandbox == 0 || event->sandbox > edge->sandbox_count)
		return;
	context->sources = edge->sandboxes[event->sandbox - 1].sources;
	context->source_count =
	    edge->sandboxes[event->sandbox - 1].source_count;
}

uint64_t
daemon_dropped(const struct daemon *d)
{
	struct sink_counts counts = sinks_counts(&d->sinks);

	return d->dropped_before + counts.dropped_events +
	    counts.dropped_alerts;
}

void
daemon_event(struct daemon *d, const struct event *event)
{
	heart_count(&d->heart, event);
	if (fold_put(&d->fold, event, d->now_ms))
		daemon_tell(d, event, NULL);
}

void
daemon_tell(struct daemon *d, const struct event *event,
    const struct event_counts *counts)
{
	enum event_kind kind = event_kind_of(event->action);
	struct recent_tag tag = { .sequence = ++d->sequence,
		.sandbox = event->sandbox,
		.alert = kind == EVENT_KIND_ALERT,
		.denied = event->action == EVENT_DNS_DENIED ||
		    (event->would == WOULD_DENY &&
			event->action == EVENT_DNS_ANSWERED) };
	struct event_context context = { .wall_ms = wall_ms(),
		.sequence = tag.sequence,
		.host_name = d->host_name,
		.boot_id = d->boot_id,
		.model = model_hash(),
		.version = PACKAGE_VERSION,
		.counts = counts };
	char interface[IF_NAMESIZE], user[USER_TEXT_MAX];
	uint64_t dropped;
	size_t len;

	set_names(d, event, &context, interface);
	set_labels(d, event->sandbox, &context);
	set_origin(d, event, &context, user);
	len = event_print_json(d->event_line, sinks_line_max(&d->sinks), event,
	    &context);
	if (len == 0)
		return;
	if (tag.sandbox > d->sandbox_count)
		tag.sandbox = 0;
	/* The memory is for reading; thousands of heartbeats would fill it. */
	if (kind != EVENT_KIND_METRIC)
		recent_put(&d->recent, &tag, d->event_line, len);
	dropped = daemon_dropped(d);
	sinks_put(&d->sinks,
	    &(struct sink_line){ .kind = kind,
		.wall_ms = context.wall_ms,
		.text = d->event_line,
		.len = len });
	heart_dropped(&d->heart, tag.sandbox, daemon_dropped(d) - dropped);
	d->control.events_new = true;
}

void
daemon_event_text(struct daemon *d, enum event_action action, const char *text)
{
	struct event event = { .action = action };

	(void)snprintf(event.text, sizeof(event.text), "%s", text);
	daemon_event(d, &event);
}

/* Whether an interface is one of `edge`, where a trailing star stands for
 * any rest. */
static bool
is_edge(const struct settings *settings, const char *interface)
{
	for (uint16_t i = 0; i < settings->edge_count; i++) {
		const char *edge = settings->edge[i];
		size_t len = strlen(edge);

		if (len > 0 && edge[len - 1] == '*'
			? strncmp(edge, interface, len - 1) == 0
			: strcmp(edge, interface) == 0)
			return true;
	}
	return false;
}

void
daemon_spoofed(struct daemon *d, uint32_t sandbox, const struct client *client)
{
	struct event event = { .action = EVENT_SOURCE_SPOOFED,
		.sandbox = sandbox,
		.source = client->addr,
		.source_port = client->port,
		.transport = client->stream != 0 ? PROTO_TCP : PROTO_UDP,
		.ifindex = client->ifindex };
	char interface[IF_NAMESIZE];

	d->counts.spoofed++;
	d->bindings[sandbox].spoofed++;
	if (if_indextoname(client->ifindex, interface) == NULL ||
	    !is_edge(&d->config->edge->settings, interface))
		return;
	(void)snprintf(event.text, sizeof(event.text),
	    "a question came by an interface that its source is not bound to");
	daemon_event(d, &event);
}

void
daemon_report_drops(struct daemon *d)
{
	uint64_t dropped = daemon_dropped(d);

	if (dropped == d->dropped_told ||
	    d->now_ms < d->dropped_told_ms + DROPS_EVERY_MS)
		return;
	log_warn("sink",
	    "%" PRIu64 " events lost so far: the sinks do not "
	    "take them fast enough",
	    dropped);
	d->dropped_told = dropped;
	d->dropped_told_ms = d->now_ms;
}
