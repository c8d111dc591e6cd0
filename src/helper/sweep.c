/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sweep - see sweep.h.
 */
#include "config.h"

#include "src/helper/sweep.h"

#include <errno.h>

#include <linux/netfilter.h>

#include "lib/require.h"
#include "lib/text/edge_inbound.h"
#include "src/helper/log.h"

#define ORPHANS_MAX (REQUESTS_MAX * EDGE_SOURCES_MAX)
#define ROUNDS_MAX  10000

bool
sweep_involves(const struct guard *guard, const struct flow *flow,
    uint32_t sandbox)
{
	const struct addr *ends[] = { &flow->from, &flow->to, &flow->back_from,
		&flow->back_to };

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		uint32_t whose = guard_whose(guard, ends[i]);

		if (whose != 0 && (sandbox == 0 || whose == sandbox))
			return true;
	}
	return false;
}

bool
sweep_is_to_listener(const struct guard *guard, const struct flow *flow)
{
	return (flow->protocol == PROTO_UDP || flow->protocol == PROTO_TCP) &&
	    guard_whose(guard, &flow->from) != 0 &&
	    guard_is_listener(guard, &flow->to, flow->to_port);
}

/* Whose it is that a flow goes to, behind whatever address; 0: nobody's. */
static uint32_t
target_of(const struct guard *guard, const struct flow *flow)
{
	uint32_t whose = guard_whose(guard, &flow->back_from);

	return whose != 0 && !guard_is_own(guard, &flow->from) ? whose : 0;
}

/* Whether the operator lets it be opened to the sandbox that it goes to. */
static bool
is_invited(const struct guard *guard, uint32_t target, const struct flow *flow)
{
	struct service service = { flow->protocol, flow->back_from_port };

	return edge_inbound_lets(guard_sandbox(guard, target), &flow->from,
	    &flow->back_from, service);
}

bool
sweep_is_free(const struct guard *guard, const struct flow *flow)
{
	uint32_t target = target_of(guard, flow);

	if (guard->config->settings.nft_sets &&
	    guard_whose(guard, &flow->from) == 0)
		return true;
	return sweep_is_to_listener(guard, flow) ||
	    (guard_whose(guard, &flow->to) != 0 &&
		guard_is_own(guard, &flow->from)) ||
	    (target != 0 && guard_whose(guard, &flow->from) == 0 &&
		is_invited(guard, target, flow));
}

static bool
is_intruding(const struct guard *guard, const struct flow *flow)
{
	uint32_t target = target_of(guard, flow);

	return !guard->config->settings.nft_sets && target != 0 &&
	    !is_invited(guard, target, flow);
}

static bool
is_uninvited(const struct flow *flow, void *data)
{
	const struct helper *helper = data;

	return is_intruding(&helper->guard, flow);
}

int
sweep_uninvited(struct helper *helper, struct flows_cut *ret)
{
	return flows_cut(&helper->flows, is_uninvited, helper, ret);
}

static bool
is_anybodys(const struct flow *flow, void *data)
{
	const struct helper *helper = data;

	return sweep_involves(&helper->guard, flow, 0) &&
	    !sweep_is_to_listener(&helper->guard, flow);
}

int
sweep_all(struct helper *helper, struct flows_cut *ret)
{
	return flows_cut(&helper->flows, is_anybodys, helper, ret);
}

struct one {
	const struct guard *guard;
	uint32_t sandbox;
};

static bool
is_ones(const struct flow *flow, void *data)
{
	const struct one *one = data;

	return sweep_involves(one->guard, flow, one->sandbox) &&
	    !sweep_is_to_listener(one->guard, flow);
}

int
sweep_sandbox(struct helper *helper, uint32_t sandbox, struct flows_cut *ret)
{
	struct one one = { &helper->guard, sandbox };

	return flows_cut(&helper->flows, is_ones, &one, ret);
}

static bool
is_of_moving(const struct flow *flow, void *data)
{
	const struct guard *guard = data;
	const struct addr *ends[] = { &flow->from, &flow->to, &flow->back_from,
		&flow->back_to };

	if (sweep_is_to_listener(guard, flow))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		uint32_t whose = guard_whose(guard, ends[i]);

		if (whose != 0 && guard->sandboxes[whose].moving)
			return true;
	}
	return false;
}

int
sweep_moving(struct helper *helper, struct flows_cut *ret)
{
	return flows_cut(&helper->flows, is_of_moving, &helper->guard, ret);
}

bool
sweep_is_unexplained(const struct guard *guard, const struct flow *flow)
{
	uint32_t from = guard_whose(guard, &flow->from);
	struct service service = { flow->protocol, flow->to_port };

	if (!sweep_involves(guard, flow, 0) || sweep_is_free(guard, flow))
		return false;
	return from == 0 || is_intruding(guard, flow) ||
	    (held_find(&guard->held, from, &flow->to, service) == NULL &&
		!guard_audits(guard, from, &flow->to));
}

static bool
is_unexplained(const struct flow *flow, void *data)
{
	const struct helper *helper = data;

	return sweep_is_unexplained(&helper->guard, flow);
}

int
sweep_unheld(struct helper *helper, struct flows_cut *ret)
{
	return flows_cut(&helper->flows, is_unexplained, helper, ret);
}

/* Elements of the kernel that no record explains. */
struct orphans {
	const struct guard *guard;
	struct element *elements; /* ORPHANS_MAX of them */
	size_t count;
};

static int
see_element(const struct element *element, void *data)
{
	struct orphans *orphans = data;
	struct addr source, addr;
	struct service service;
	const struct held_pin *pin = NULL;
	uint32_t sandbox;

	if (!element_read_pin(element, &source, &addr, &service))
		return 0;
	sandbox = guard_whose(orphans->guard, &source);
	/* In a set that is lent, others may have elements of their own. */
	if (sandbox == 0 && orphans->guard->config->settings.nft_sets)
		return 0;
	if (sandbox != 0)
		pin = held_find(&orphans->guard->held, sandbox, &addr, service);
	/* A lapsed record explains flows, not an element. */
	if ((pin == NULL || pin->expires_ms == 0) &&
	    orphans->count < ORPHANS_MAX)
		orphans->elements[orphans->count++] = *element;
	return 0;
}

/* A round finds as many as fit; so on until there are no more. A walk that
 * somebody else's change interrupted is repeated. */
static int
drop_orphans(struct helper *helper, const char *set, unsigned int *dropped)
{
	struct orphans orphans = { &helper->guard, helper->elements[0], 0 };

	for (int i = 0; i < ROUNDS_MAX; i++) {
		struct batch batch;
		int error;

		orphans.count = 0;
		error = elements_walk(&helper->nft, NFPROTO_INET, set,
		    see_element, &orphans);
		if (error == -EINTR)
			continue;
		if (error != 0)
			return error;
		batch_begin(&batch, &helper->nft);
		elements_drop(&batch, set, orphans.elements, orphans.count);
		error = batch_commit(&batch);
		*dropped += (unsigned int)orphans.count;
		if (error != 0 || orphans.count < ORPHANS_MAX)
			return error;
	}
	return -EINTR;
}

int
sweep_unexplained(struct helper *helper)
{
	struct flows_cut cut = { 0, 0 };
	unsigned int dropped = 0;
	int error = drop_orphans(helper, "pins4", &dropped);

	if (error == 0)
		error = drop_orphans(helper, "pins6", &dropped);
	if (error == 0)
		error = flows_cut(&helper->flows, is_unexplained, helper, &cut);
	if (dropped != 0 || cut.count != 0)
		log_info("start: %u pins and %u flows that nothing explains "
			 "were cut",
		    dropped, cut.count);
	return error;
}
