/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * helper - opens what the kernel is asked by, and brings the table into its
 * place at the start.
 */
#include "config.h"

#include "src/helper/helper.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>

#include "lib/require.h"
#include "src/helper/grants.h"
#include "src/helper/homes.h"
#include "src/helper/log.h"
#include "src/helper/modes.h"
#include "src/helper/reload.h"
#include "src/helper/sets.h"
#include "src/helper/sweep.h"

#define EXIT_ENVIRONMENT 3
#define SEND_WAIT_MS     5000
#define UDP_AND_TCP      2

static int
fail(const char *what, int error)
{
	log_error("%s: %s", what, batch_error_text(error));
	return EXIT_ENVIRONMENT;
}

static void
add_member(struct helper *helper, const char *set, struct element element)
{
	REQUIRE(helper->member_count < helper->members_max);
	helper->members[helper->member_count++] =
	    (struct member){ set, element, false };
}

static void
add_endpoints(struct helper *helper, const char *set4, const char *set6,
    const struct endpoint *endpoints, size_t count)
{
	static const uint8_t protocols[] = { PROTO_UDP, PROTO_TCP };

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < UDP_AND_TCP; k++)
			add_member(helper,
			    element_set(set4, set6, &endpoints[i].addr),
			    element_endpoint(&endpoints[i].addr,
				(struct service){ protocols[k],
				    endpoints[i].port }));
}

/* An interval set refuses what overlaps: a name that a star covers is left
 * out, and a star that a wider one covers. */
static bool
is_covered(const struct settings *settings, size_t at)
{
	const char *name = settings->edge[at];

	for (size_t i = 0; i < settings->edge_count; i++) {
		const char *other = settings->edge[i];
		size_t len = strlen(other);

		if (i == at)
			continue;
		if (strcmp(other, name) == 0 && i < at)
			return true;
		if (len > 0 && other[len - 1] == '*' &&
		    strcmp(other, name) != 0 &&
		    strncmp(other, name, len - 1) == 0)
			return true;
	}
	return false;
}

static void
add_edge(struct helper *helper)
{
	const struct settings *settings = &helper->config->settings;

	for (size_t i = 0; i < settings->edge_count; i++) {
		struct element ends[2];

		if (is_covered(settings, i))
			continue;
		element_interface(settings->edge[i], ends);
		for (size_t k = 0; k < ARRAY_LEN(ends); k++) {
			add_member(helper, "edge", ends[k]);
			add_member(helper, "ports", ends[k]);
			helper->members[helper->member_count - 1].twin = true;
		}
	}
}

/* Events leave as questions do; what two sinks share is one element. */
static void
add_receivers(struct helper *helper)
{
	const struct settings *settings = &helper->config->settings;

	for (size_t i = 0; i < settings->sink_count; i++) {
		const struct sink_setting *sink = &settings->sinks[i];

		if (sink->transport == 0)
			continue;
		add_member(helper,
		    element_set("upstream4", "upstream6", &sink->to.addr),
		    element_endpoint(&sink->to.addr,
			(struct service){ sink->transport, sink->to.port }));
	}
}

int
helper_fill_members(struct helper *helper)
{
	const struct settings *settings = &helper->config->settings;
	size_t endpoints = settings->listen_count + settings->upstream_count +
	    (size_t)settings->forward_count * SETTINGS_RESOLVERS_MAX +
	    settings->sink_count;

	/* During a reload either configuration lets flows in. */
	helper->members_max = 1 + settings->edge_count * 4u +
	    endpoints * UDP_AND_TCP +
	    (size_t)helper->guard.numbers_max *
		(HOME_MEMBERS_MAX + MODE_MEMBERS_MAX) +
	    grants_inbound_room(helper->config) +
	    grants_inbound_room(helper->guard.config);
	helper->member_count = 0;
	helper->members = calloc(helper->members_max, sizeof(*helper->members));
	if (helper->members == NULL)
		return -ENOMEM;
	add_edge(helper);
	add_endpoints(helper, "listen4", "listen6", settings->listen,
	    settings->listen_count);
	add_endpoints(helper, "upstream4", "upstream6", settings->upstream,
	    settings->upstream_count);
	for (size_t i = 0; i < settings->forward_count; i++)
		add_endpoints(helper, "upstream4", "upstream6",
		    settings->forward[i].resolvers,
		    settings->forward[i].resolver_count);
	add_receivers(helper);
	add_member(helper, "resolver_uid", element_uid(helper->resolver_uid));
	helper->fixed_count = helper->member_count;
	return 0;
}

static void
take_params(struct helper *helper)
{
	helper->ruleset.nft = &helper->nft;
	gateway_params_of(&helper->ruleset.params, helper->config);
}

/* A foreign-looking error here is nearly always one of two. */
static int
fail_open(int error)
{
	if (error == -EPROTONOSUPPORT || error == -EAFNOSUPPORT)
		log_error("kernel: no nf_tables: load the module nf_tables, "
			  "or use a kernel that has it");
	else if (error == -EPERM)
		log_error("kernel: changing the ruleset is not permitted: "
			  "start namewalld as root, or give it "
			  "CAP_NET_ADMIN");
	else
		return fail("kernel", error);
	return EXIT_ENVIRONMENT;
}

int
helper_open(struct helper *helper, struct edge_config *config,
    uint32_t resolver_uid)
{
	uint64_t seed = 0;
	int error;

	memset(helper, 0, sizeof(*helper));
	helper->config = config;
	helper->settle_ms = UINT64_MAX;
	helper->resolver_uid = resolver_uid;
	helper->channel = -1;
	if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
		return fail("random numbers", -errno);
	error = nft_open(&helper->nft, config->settings.nft_table);
	if (error != 0)
		return fail_open(error);
	take_params(helper);
	if (config->settings.nft_sets) {
		helper->nft.lent_pins4 = config->settings.nft_pins4;
		helper->nft.lent_pins6 = config->settings.nft_pins6;
	}
	error = helper->nft.lent_pins4 != NULL
	    ? 0
	    : ruleset_probe(&helper->ruleset);
	if (error != 0)
		return fail_open(error);
	error = monitor_open(&helper->monitor, helper->nft.table,
	    helper->nft.portid);
	if (error != 0)
		return fail("monitor", error);
	error = flows_open(&helper->flows);
	if (error != 0)
		return fail("connection tracking", error);
	error = links_open(&helper->links, homes_need_routes(config));
	if (error == 0)
		error = links_refresh(&helper->links);
	if (error != 0)
		return fail("links", error);
	error = edge_attach_reserve(config);
	if (error == 0)
		error = guard_init(&helper->guard, config, seed);
	if (error == 0)
		error = helper_fill_members(helper);
	if (error == 0)
		error = refusals_open(helper);
	return error == 0 ? 0 : fail("start", error);
}

void
helper_close(struct helper *helper)
{
	nft_close(&helper->nft);
	monitor_close(&helper->monitor);
	flows_close(&helper->flows);
	links_close(&helper->links);
	refusals_close(helper);
	uploads_close(helper);
	guard_free(&helper->guard);
	reload_close(helper);
	inherit_forget(helper);
	free(helper->members);
	helper->members = NULL;
}

static int
fail_install(struct helper *helper, int error)
{
	const char *table = helper->nft.table;

	if (error == -EBUSY || error == -EPERM)
		log_error("table %s belongs to another process that is "
			  "running: stop the other namewalld first",
		    table);
	else if (error == -ENOENT || error == -EOPNOTSUPP)
		log_error("table %s: this kernel lacks a part of "
			  "nf_tables that the ruleset needs (part %u: %s)",
		    table, helper->nft.refused_at, strerror(-error));
	else
		log_error("table %s: %s", table, batch_error_text(error));
	return EXIT_ENVIRONMENT;
}

int
helper_install(struct helper *helper)
{
	enum ruleset_outcome outcome = RULESET_BORN;
	struct flows_cut cut = { 0, 0 };
	int error;

	if (helper->nft.lent_pins4 != NULL)
		return sets_begin(helper);
	if (homes_refused(helper) != 0)
		return EXIT_ENVIRONMENT;
	homes_find(helper);
	homes_members(helper);
	inherit_find(helper);
	error = ruleset_install(&helper->ruleset, helper->members,
	    helper->member_count, false, &outcome);
	if (error != 0)
		return fail_install(helper, error);
	error = modes_sync(helper, helper_now_ms());
	if (error != 0)
		return fail("sets of modes", error);
	/* Tracking went live before our chains did, so this comes after. */
	if (outcome == RULESET_BORN)
		error = sweep_all(helper, &cut);
	if (error != 0)
		return fail("connection tracking", error);
	error = refusals_begin(helper);
	if (error != 0)
		return fail("counts of refused packets", error);
	uploads_begin(helper);
	log_info("table %s %s%s, %u earlier flows cut", helper->nft.table,
	    outcome == RULESET_BORN ? "installed" : "taken over, pins kept",
	    helper->ruleset.owned ? "" : " (this kernel cannot own tables)",
	    cut.count);
	return 0;
}

uint64_t
helper_now_ms(void)
{
	struct timespec now;

	REQUIRE(clock_gettime(CLOCK_BOOTTIME, &now) == 0);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void
helper_changed(struct helper *helper, uint64_t due_ms)
{
	if (due_ms < helper->settle_ms)
		helper->settle_ms = due_ms;
}

void
helper_tick(struct helper *helper, uint64_t now_ms)
{
	if (helper->settle_ms > now_ms || helper->revocation_count != 0)
		return;
	helper->settle_ms = UINT64_MAX;
	if (ruleset_settle(&helper->ruleset) != 0)
		helper->suspect = true;
}

size_t
helper_fan_out(const struct helper *helper, uint32_t number,
    const struct addr *addr, struct service service, uint32_t timeout_ms,
    struct element *ret)
{
	const struct edge_sandbox *sandbox =
	    guard_sandbox(&helper->guard, number);
	size_t count = 0;

	for (size_t i = 0; i < sandbox->source_count; i++)
		if (sandbox->sources[i].family == addr->family)
			ret[count++] = element_pin(&sandbox->sources[i], addr,
			    service, timeout_ms);
	return count;
}

/* The resolver reads all the time; one that does not for seconds is as good
 * as dead. */
static void
transmit(struct helper *helper, const struct msghdr *header)
{
	struct pollfd writable = { helper->channel, POLLOUT, 0 };

	if (helper->broken)
		return;
	while (sendmsg(helper->channel, header, MSG_NOSIGNAL) < 0) {
		if (errno == EINTR)
			continue;
		if (errno == EAGAIN && poll(&writable, 1, SEND_WAIT_MS) > 0)
			continue;
		helper->broken = true;
		return;
	}
}

void
helper_send(struct helper *helper, const struct helper_msg *msg)
{
	helper_send_fds(helper, msg, NULL, 0);
}

void
helper_send_fds(struct helper *helper, const struct helper_msg *msg,
    const int *fds, size_t count)
{
	union {
		char space[CMSG_SPACE(sizeof(int) * HELPER_FDS_MAX)];
		struct cmsghdr align;
	} control = { .space = { 0 } };
	uint8_t wire[HELPER_MSG_SIZE];
	struct iovec iov = { wire, sizeof(wire) };
	struct msghdr header = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *rights;

	REQUIRE(count <= HELPER_FDS_MAX);
	helper_msg_encode(wire, msg);
	if (count > 0) {
		header.msg_control = control.space;
		header.msg_controllen = CMSG_SPACE(sizeof(int) * count);
		rights = CMSG_FIRSTHDR(&header);
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(sizeof(int) * count);
		memcpy(CMSG_DATA(rights), fds, sizeof(int) * count);
	}
	transmit(helper, &header);
}
