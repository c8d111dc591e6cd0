/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guests - see guests.h. What is kept of them is in guests_file.c.
 */
#include "config.h"

#include "src/resolver/guests.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "lib/text/edge_each.h"
#include "src/resolver/daemon.h"
#include "src/resolver/guests_file.h"
#include "src/resolver/log.h"

static struct guest *
guest_at(struct daemon *d, uint32_t number)
{
	struct guests *g = &d->guests;

	REQUIRE(number >= g->first && number - g->first < g->count);
	return &g->guest[number - g->first];
}

static struct edge_sandbox *
edge_at(struct daemon *d, uint32_t number)
{
	return &d->config->edge->sandboxes[number - 1];
}

static enum guests_answer
refuse(struct guests_refusal *ret, const char *code, const char *text)
{
	ret->code = code;
	(void)snprintf(ret->text, sizeof(ret->text), "%s", text);
	return GUESTS_REFUSED;
}

uint32_t
guests_find(const struct daemon *d, const char *name)
{
	const struct edge_config *edge = d->config->edge;

	for (uint32_t i = 0; name[0] != '\0' && i < edge->sandbox_count; i++)
		if (strcmp(edge->sandboxes[i].name, name) == 0)
			return i + 1;
	return 0;
}

uint32_t
guests_policy(const struct daemon *d, const char *name)
{
	const struct edge_config *edge = d->config->edge;
	uint32_t i = 0;

	while (
	    i < edge->policy_count && strcmp(edge->policies[i].name, name) != 0)
		i++;
	return i;
}

/* What the policy is to know of it. */
static struct policy_sandbox
as_policy_sandbox(const struct edge_sandbox *from)
{
	struct policy_sandbox ret = { .profile = from->policy,
		.source_count = from->source_count };

	memcpy(ret.name, from->name, sizeof(ret.name));
	memcpy(ret.sources, from->sources, sizeof(from->sources));
	return ret;
}

/* What was judged by the same rules cannot be taken here. */
static void
enter_policy(struct policy *policy, uint32_t number,
    const struct edge_sandbox *from)
{
	struct policy_sandbox sandbox = as_policy_sandbox(from);

	REQUIRE(policy_attach(policy, number, &sandbox) == POLICY_OK);
}

/* One line on who came, went or changed, while its name is known. */
static void
tell(struct daemon *d, enum event_action action, uint32_t number,
    const struct guests_caller *caller, const char *text)
{
	struct event event = { .action = action,
		.sandbox = number,
		.ifindex = d->bindings[number].ifindex,
		.has_user = caller->has_user,
		.user = caller->user };

	(void)snprintf(event.text, sizeof(event.text), "%s", text);
	daemon_event(d, &event);
}

/* ---- the parent ------------------------------------------------------ */

static void
ask_attach(struct daemon *d, uint32_t number, uint32_t ifindex)
{
	const struct edge_sandbox *sandbox = edge_at(d, number);
	struct helper_msg msg = { .op = HELPER_SOURCE, .sandbox = number };

	for (uint8_t i = 0; i < sandbox->source_count; i++) {
		msg.addr = sandbox->sources[i];
		helper_send(&d->helper, &msg, number);
	}
	msg = (struct helper_msg){ .op = HELPER_ATTACH,
		.sandbox = number,
		.ifindex = ifindex,
		.lifetime_ms = sandbox->each,
		.count = sandbox->policy };
	helper_send(&d->helper, &msg, number);
}

static void
ask(struct daemon *d, enum helper_op op, uint32_t number, uint32_t count)
{
	struct helper_msg msg = { .op = (uint8_t)op,
		.sandbox = number,
		.count = count };

	helper_send(&d->helper, &msg, number);
}

void
guests_explain(int status, struct guests_refusal *ret)
{
	static const struct {
		int status;
		enum edge_attach_error error;
	} table[] = {
		{ -EEXIST, EDGE_ATTACH_TAKEN },
		{ -EADDRINUSE, EDGE_ATTACH_TAKEN },
		{ -EADDRNOTAVAIL, EDGE_ATTACH_OWN },
		{ -EACCES, EDGE_ATTACH_PREFIX },
		{ -EPERM, EDGE_ATTACH_POLICY },
		{ -ENOSPC, EDGE_ATTACH_COUNT },
	};

	ret->code = "refused";
	if (status == -ENODEV) {
		(void)refuse(ret, "refused",
		    "its packets cannot be bound to an interface of \"edge\": "
		    "there is no such interface, or no route leads to it");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		if (table[i].status != status)
			continue;
		(void)refuse(ret, "refused", edge_attach_text(table[i].error));
		return;
	}
	(void)snprintf(ret->text, sizeof(ret->text), "the parent refuses: %s",
	    strerror(-status));
}

/* ---- coming ---------------------------------------------------------- */

static bool
has_source(const struct edge_attach *request, const struct addr *addr)
{
	for (uint8_t i = 0; i < request->source_count; i++)
		if (addr_equal(&request->sources[i], addr))
			return true;
	return false;
}

static bool
is_same(const struct edge_sandbox *there, const struct edge_attach *request)
{
	if (there->policy != request->policy || there->each != request->each ||
	    there->source_count != request->source_count ||
	    strcmp(there->interface, request->interface) != 0)
		return false;
	for (uint8_t i = 0; i < there->source_count; i++)
		if (!has_source(request, &there->sources[i]))
			return false;
	return true;
}

/* Somebody has the name already. */
static enum guests_answer
meet(struct daemon *d, uint32_t number, const struct edge_attach *request,
    struct guests_refusal *ret)
{
	const struct edge_sandbox *there = edge_at(d, number);

	if (!there->attached)
		return refuse(ret, "exists",
		    "a sandbox of the configuration has this name");
	if (guest_at(d, number)->stage != GUEST_HERE)
		return GUESTS_BUSY;
	if (is_same(there, request))
		return GUESTS_SAME;
	return refuse(ret, "exists",
	    "a sandbox of this name is attached with another policy, other "
	    "sources or another interface; detach it first");
}

static uint32_t
take_number(struct daemon *d, const struct edge_attach *request,
    struct guests_refusal *ret)
{
	struct edge_config *edge = d->config->edge;
	uint32_t number = edge_attach_number(edge);
	enum edge_attach_error error = EDGE_ATTACH_COUNT;

	if (number != 0 || d->guests.count == 0)
		error = edge_attach_check(edge,
		    &d->config->policy->protected_ranges, number, request);
	if (error != EDGE_ATTACH_OK) {
		(void)refuse(ret, "refused", edge_attach_text(error));
		return 0;
	}
	edge_attach_put(edge, number, request);
	return number;
}

enum guests_answer
guests_attach(struct daemon *d, const struct edge_attach *request,
    const struct guests_caller *caller, struct guests_refusal *ret)
{
	uint32_t number = guests_find(d, request->name);
	uint32_t ifindex = 0;
	struct guest *guest;

	if (number != 0)
		return meet(d, number, request, ret);
	if (request->interface[0] != '\0') {
		ifindex = if_nametoindex(request->interface);
		if (ifindex == 0)
			return refuse(ret, "refused",
			    "there is no interface of that name here");
	}
	number = take_number(d, request, ret);
	if (number == 0)
		return GUESTS_REFUSED;
	guest = guest_at(d, number);
	*guest = (struct guest){ .stage = GUEST_COMING, .caller = *caller };
	ask_attach(d, number, ifindex);
	return GUESTS_ASKED;
}

enum guests_answer
guests_meet(struct daemon *d, uint32_t each, const struct addr *addr,
    uint32_t *ret, struct guests_refusal *ret_why)
{
	const struct edge_sandbox *of = edge_at(d, each);
	const struct binding *binding = &d->bindings[each];
	struct edge_attach request = { .policy = of->policy,
		.each = each,
		.sources = { *addr },
		.source_count = 1 };
	uint32_t number;

	edge_each_name(of, addr, request.name);
	memcpy(request.interface, binding->interface,
	    sizeof(request.interface));
	number = guests_find(d, request.name);
	if (number == 0) {
		number = take_number(d, &request, ret_why);
		if (number == 0)
			return GUESTS_REFUSED;
		*guest_at(d, number) = (struct guest){ .stage = GUEST_COMING };
		ask_attach(d, number, binding->ifindex);
	}
	*ret = number;
	return guest_at(d, number)->stage == GUEST_COMING ? GUESTS_ASKED
							  : GUESTS_BUSY;
}

static void
forget(struct daemon *d, uint32_t number)
{
	guests_file_clear(&d->guests, number);
	edge_attach_drop(d->config->edge, number);
	*guest_at(d, number) = (struct guest){ .stage = GUEST_NONE };
}

static void
bind_guest(struct daemon *d, uint32_t number, uint32_t ifindex)
{
	struct binding *binding = &d->bindings[number];

	memset(binding, 0, sizeof(*binding));
	binding->known = true;
	binding->ifindex = ifindex;
	if (ifindex != 0)
		(void)if_indextoname(ifindex, binding->interface);
}

/* Nobody any more, while the name is still known: pins and answers are
 * forgotten, who waits is answered. */
static void
leave(struct daemon *d, uint32_t number)
{
	streams_cut(&d->streams, number);
	engine_detach(&d->engine, number, d->now_ms);
	daemon_pump(d);
	daemon_unfold_of(d, number);
	daemon_beat_anew(d, number);
	policy_detach(d->config->policy, number);
	guests_file_clear(&d->guests, number);
}

static void
refused_again(struct daemon *d, uint32_t number, int status)
{
	static const struct guests_caller nobody;
	struct guests_refusal why;

	guests_explain(status, &why);
	leave(d, number);
	tell(d, EVENT_SANDBOX_DETACHED, number, &nobody, why.text);
	log_warn("attach", "%s cannot be attached again: %s",
	    edge_at(d, number)->name, why.text);
	recent_part(&d->recent, number);
	forget(d, number);
}

void
guests_attached(struct daemon *d, uint32_t number, int status, uint32_t ifindex)
{
	struct guest *guest = guest_at(d, number);
	struct guests_caller caller = guest->caller;

	if (guest->recalled && status != 0) {
		refused_again(d, number, status);
		return;
	}
	if (status != 0) {
		forget(d, number);
		control_answered(&d->control, caller.serial, status);
		members_arrived(d, number, false);
		return;
	}
	bind_guest(d, number, ifindex);
	guest->stage = GUEST_HERE;
	guest->heard_ms = d->now_ms;
	members_heard(d, number);
	guests_file_write(d, number);
	if (guest->recalled)
		return;
	daemon_beat_anew(d, number);
	enter_policy(d->config->policy, number, edge_at(d, number));
	d->sandbox_count = d->config->policy->sandbox_count;
	engine_attach(&d->engine, number, d->now_ms);
	tell(d, EVENT_SANDBOX_ATTACHED, number, &caller, "");
	quarantine_follow(d);
	uploads_recall(d, number);
	control_answered(&d->control, caller.serial, 0);
	members_arrived(d, number, true);
}

void
guests_stay_away(struct daemon *d, const char *name, const char *why)
{
	char text[EVENT_TEXT_MAX];

	log_warn("attach", "%s is not attached again: %s", name, why);
	(void)snprintf(text, sizeof(text), "%s is not attached again: %s", name,
	    why);
	daemon_event_text(d, EVENT_SANDBOX_DETACHED, text);
}

void
guests_come_back(struct daemon *d, const struct edge_attach *request,
    uint32_t ifindex)
{
	struct edge_config *edge = d->config->edge;
	uint32_t number = edge_attach_number(edge);
	enum edge_attach_error error;
	struct guest *guest;

	if (guests_find(d, request->name) != 0) {
		guests_stay_away(d, request->name,
		    "a sandbox of the configuration has its name");
		return;
	}
	error = edge_attach_check(edge, &d->config->policy->protected_ranges,
	    number, request);
	if (error != EDGE_ATTACH_OK) {
		guests_stay_away(d, request->name, edge_attach_text(error));
		return;
	}
	edge_attach_put(edge, number, request);
	guest = guest_at(d, number);
	*guest = (struct guest){ .stage = GUEST_COMING, .recalled = true };
	enter_policy(d->config->policy, number, edge_at(d, number));
	d->sandbox_count = d->config->policy->sandbox_count;
	ask_attach(d, number, ifindex);
}

/* ---- going ----------------------------------------------------------- */

/* Finds one that may go or change now. */
static enum guests_answer
find_here(struct daemon *d, const char *name, uint32_t *ret_number,
    struct guests_refusal *ret)
{
	uint32_t number = guests_find(d, name);

	if (number == 0) {
		ret->code = "unknown-sandbox";
		(void)snprintf(ret->text, sizeof(ret->text),
		    "no sandbox \"%.100s\"", name);
		return GUESTS_REFUSED;
	}
	if (!edge_at(d, number)->attached)
		return refuse(ret, "of-the-file",
		    "this sandbox is of the configuration: change the file "
		    "and reload");
	if (guest_at(d, number)->stage != GUEST_HERE)
		return GUESTS_BUSY;
	*ret_number = number;
	return GUESTS_ASKED;
}

enum guests_answer
guests_detach(struct daemon *d, const char *name,
    const struct guests_caller *caller, struct guests_refusal *ret)
{
	uint32_t number = 0;
	enum guests_answer answer = find_here(d, name, &number, ret);
	struct guest *guest;

	if (answer != GUESTS_ASKED)
		return answer;
	guest = guest_at(d, number);
	leave(d, number);
	guest->stage = GUEST_GOING;
	guest->caller = *caller;
	ask(d, HELPER_DETACH, number, 0);
	return GUESTS_ASKED;
}

void
guests_dismiss_idle(struct daemon *d, uint32_t number)
{
	leave(d, number);
	*guest_at(d, number) =
	    (struct guest){ .stage = GUEST_GOING, .idle = true };
	ask(d, HELPER_DETACH, number, 0);
}

/* Where the kernel could not be made to cut it, a start does: the parent
 * takes out what nobody brings back. */
void
guests_detached(struct daemon *d, uint32_t number, int status)
{
	struct guests_caller caller = guest_at(d, number)->caller;
	const char *why =
	    guest_at(d, number)->idle ? "nothing was heard of it for long" : "";

	if (status != 0) {
		log_error("attach", "%s could not be cut: %s",
		    edge_at(d, number)->name, strerror(-status));
		daemon_helper_lost(d);
		return;
	}
	if (!guest_at(d, number)->displaced)
		tell(d, EVENT_SANDBOX_DETACHED, number, &caller, why);
	recent_part(&d->recent, number);
	memset(&d->bindings[number], 0, sizeof(d->bindings[number]));
	forget(d, number);
	control_answered(&d->control, caller.serial, 0);
	members_again(d);
}

/* ---- another policy -------------------------------------------------- */

static void
give_policy(struct daemon *d, uint32_t number, uint32_t policy)
{
	edge_at(d, number)->policy = policy;
	policy_assign(d->config->policy, number, policy);
	engine_regrant(&d->engine, number, d->now_ms);
	daemon_pump(d);
	guests_file_write(d, number);
}

enum guests_answer
guests_assign(struct daemon *d, const char *name, const char *policy_name,
    const struct guests_caller *caller, struct guests_refusal *ret)
{
	const struct edge_config *edge = d->config->edge;
	uint32_t policy = guests_policy(d, policy_name), number = 0;
	enum guests_answer answer = find_here(d, name, &number, ret);
	enum edge_attach_error error;
	struct guest *guest;

	if (answer != GUESTS_ASKED)
		return answer;
	if (policy == edge->policy_count) {
		ret->code = "unknown-policy";
		(void)snprintf(ret->text, sizeof(ret->text),
		    "no policy \"%.100s\"", policy_name);
		return GUESTS_REFUSED;
	}
	if (edge_at(d, number)->policy == policy)
		return GUESTS_SAME;
	error =
	    edge_attach_check_policy(edge, edge_at(d, number)->each, policy);
	if (error != EDGE_ATTACH_OK)
		return refuse(ret, "refused", edge_attach_text(error));
	guest = guest_at(d, number);
	guest->stage = GUEST_CHANGING;
	guest->caller = *caller;
	guest->policy_before = edge_at(d, number)->policy;
	/* Where the new policy audits the parent has to know, or it would cut
	 * the flows of pins that are withdrawn. */
	if (edge->policies[policy].audit)
		ask(d, HELPER_ASSIGN, number, policy);
	give_policy(d, number, policy);
	if (!edge->policies[policy].audit)
		ask(d, HELPER_ASSIGN, number, policy);
	return GUESTS_ASKED;
}

void
guests_assigned(struct daemon *d, uint32_t number, int status)
{
	struct guest *guest = guest_at(d, number);

	guest->stage = GUEST_HERE;
	if (status != 0)
		give_policy(d, number, guest->policy_before);
	else
		tell(d, EVENT_SANDBOX_ASSIGNED, number, &guest->caller, "");
	uploads_recall(d, number);
	uploads_follow(d);
	control_answered(&d->control, guest->caller.serial, status);
}

/* ---- reload ---------------------------------------------------------- */

/* It goes with what the next configuration does not let stay. */
static void
dismiss(struct daemon *d, uint32_t number, const char *why)
{
	static const struct guests_caller nobody;

	log_warn("attach", "%s may not stay: %s", edge_at(d, number)->name,
	    why);
	leave(d, number);
	tell(d, EVENT_SANDBOX_DETACHED, number, &nobody, why);
	recent_part(&d->recent, number);
	memset(&d->bindings[number], 0, sizeof(d->bindings[number]));
	forget(d, number);
}

/* Names are ours alone: the parent is told when it has followed. Until then
 * the number is somebody's whose name no file can have. */
static void
give_way(struct daemon *d, struct config *next, uint32_t number)
{
	char *name = next->edge->sandboxes[number - 1].name;

	dismiss(d, number,
	    "a sandbox of the configuration has its name from now on");
	(void)snprintf(name, EDGE_NAME_MAX, "-%u", (unsigned)number);
	*guest_at(d, number) =
	    (struct guest){ .stage = GUEST_GOING, .displaced = true };
}

static void
carry_one(struct daemon *d, struct config *next, uint32_t number)
{
	const char *name = edge_at(d, number)->name;
	bool displaced = policy_sandbox_by_name(next->policy, name) != 0;
	enum edge_attach_error error =
	    edge_attach_carry(next->edge, d->config->edge, number);

	if (error != EDGE_ATTACH_OK)
		dismiss(d, number, edge_attach_text(error));
	else if (displaced)
		give_way(d, next, number);
	else
		enter_policy(next->policy, number,
		    &next->edge->sandboxes[number - 1]);
}

/* Nothing is under way: what was asked of the parent before it was told that
 * its file is read was answered before it said to switch. */
void
guests_carry(struct daemon *d, struct config *next)
{
	struct guests *g = &d->guests;

	for (uint32_t i = 0; i < g->count; i++)
		if (g->guest[i].stage != GUEST_NONE)
			carry_one(d, next, g->first + i);
}

void
guests_followed(struct daemon *d)
{
	struct guests *g = &d->guests;

	for (uint32_t i = 0; i < g->count; i++)
		if (g->guest[i].displaced)
			ask(d, HELPER_DETACH, g->first + i, 0);
}

int
guests_open(struct guests *g, struct daemon *d, int dir)
{
	const struct edge_config *edge = d->config->edge;

	memset(g, 0, sizeof(*g));
	g->first = edge->file_numbers_max + 1;
	g->count = edge->numbers_max - edge->file_numbers_max;
	g->guest = calloc((size_t)g->count + 1, sizeof(*g->guest));
	if (g->guest == NULL)
		return -ENOMEM;
	return records_open(&g->file, dir, GUESTS_FILE, d->boot_id, g->count);
}

void
guests_close(struct guests *g)
{
	records_close(&g->file);
	free(g->guest);
	g->guest = NULL;
}
