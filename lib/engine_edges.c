/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_edges - when asks leave: on edges of the clock, all together, sorted
 * by what they ask over all sandboxes.
 *
 * Whoever sees the asks outside learns the tick of each and nothing finer,
 * and no order within it. First asks, further tries and the repeat over a
 * stream all come by here; there is no other way out.
 */
#include <string.h>

#include "lib/engine.h"
#include "lib/engine_parts.h"
#include "lib/require.h"

void
engine_edges_init(struct engine *e, struct arena *arena)
{
	struct departures *d = &e->departures;

	d->capacity =
	    (e->limits.lookups_max + ENGINE_OWN_LOOKUPS) * LOOKUP_PARTS_MAX;
	d->waiting = arena_take(arena, d->capacity, sizeof(*d->waiting));
	d->edge_ms = DEADLINE_NEVER;
}

/* What a departure asks for; NULL when its lookup is over. */
static struct lookup_part *
part_of(struct engine *e, const struct departure *departure,
    struct lookup **ret_lookup)
{
	struct lookup *lookup = lookup_at(&e->lookups, departure->lookup);

	if (lookup == NULL ||
	    lookup->parts[departure->part].state != LOOKUP_LEAVING)
		return NULL;
	*ret_lookup = lookup;
	return &lookup->parts[departure->part];
}

/* Takes out those whose lookup is over. */
static void
sift(struct engine *e)
{
	struct departures *d = &e->departures;
	struct lookup *lookup;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < d->count; i++)
		if (part_of(e, &d->waiting[i], &lookup) != NULL)
			d->waiting[kept++] = d->waiting[i];
	d->count = kept;
}

void
engine_depart(struct engine *e, lookup_id id, uint8_t part, bool again)
{
	struct departures *d = &e->departures;
	uint64_t tick_ms = e->limits.settings.tick_ms;
	struct lookup *lookup = lookup_at(&e->lookups, id);

	REQUIRE(!d->open && tick_ms > 0);
	REQUIRE(lookup != NULL && part < lookup->part_count);
	lookup->parts[part].state = LOOKUP_LEAVING;
	if (d->count == d->capacity)
		sift(e);
	/* There is a place for each part of each lookup. */
	REQUIRE(d->count < d->capacity);
	d->waiting[d->count++] = (struct departure){ id, part, again };
	if (d->edge_ms == DEADLINE_NEVER)
		d->edge_ms = (e->now_ms / tick_ms + 1) * tick_ms;
}

/* The tick has another length: what waits leaves on an edge of that, since it
 * is paid by it. */
void
engine_edges_shift(struct engine *e)
{
	struct departures *d = &e->departures;
	uint64_t tick_ms = e->limits.settings.tick_ms;

	REQUIRE(!d->open && tick_ms > 0);
	if (d->edge_ms != DEADLINE_NEVER)
		d->edge_ms = (d->edge_ms + tick_ms - 1) / tick_ms * tick_ms;
}

/* Whether a leaves before b: the order of what is asked, which says nothing
 * of who asks. Those that ask the same look the same. */
static bool
goes_first(struct engine *e, const struct departure *a,
    const struct departure *b)
{
	struct lookup *first = NULL, *second = NULL;
	const struct lookup_part *left = part_of(e, a, &first);
	const struct lookup_part *right = part_of(e, b, &second);
	int order;

	REQUIRE(left != NULL && right != NULL);
	order = dname_compare(&first->name, &second->name);
	if (order != 0)
		return order < 0;
	if (left->type != right->type)
		return left->type < right->type;
	return !left->stream && right->stream;
}

static void
swap(struct departure *a, struct departure *b)
{
	struct departure kept = *a;

	*a = *b;
	*b = kept;
}

/* Restores the heap of the first count below `at`: the last to go is on
 * top. */
static void
sink(struct engine *e, uint32_t at, uint32_t count)
{
	struct departure *w = e->departures.waiting;

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= count)
			return;
		if (child + 1 < count &&
		    goes_first(e, &w[child], &w[child + 1]))
			child++;
		if (!goes_first(e, &w[at], &w[child]))
			return;
		swap(&w[at], &w[child]);
		at = child;
	}
}

static void
sort(struct engine *e)
{
	struct departures *d = &e->departures;

	for (uint32_t i = d->count / 2; i-- > 0;)
		sink(e, i, d->count);
	for (uint32_t end = d->count; end-- > 1;) {
		swap(&d->waiting[0], &d->waiting[end]);
		sink(e, 0, end);
	}
}

bool
engine_edges_open(struct engine *e)
{
	struct departures *d = &e->departures;

	if (e->now_ms < d->edge_ms)
		return false;
	sift(e);
	if (e->now_ms > d->edge_ms)
		e->counts.asks_late += d->count;
	d->edge_ms = DEADLINE_NEVER;
	d->leaving = 0;
	d->open = d->count > 0;
	if (d->open)
		sort(e);
	return d->open;
}

static void
send_ask(struct engine *e, const struct departure *departure,
    const struct lookup *lookup, struct lookup_part *part)
{
	struct effect *effect = effects_add(&e->effects, EFFECT_ASK);

	part->state = LOOKUP_ASKED;
	effect->u.ask.lookup = departure->lookup;
	effect->u.ask.part = departure->part;
	effect->u.ask.trail = part->trail;
	ask_build(&effect->u.ask.ask, &lookup->name, part->type, part->stream,
	    &e->rng);
	part->ask_id = effect->u.ask.ask.id;
	e->counts.asks++;
}

/* An audit pays like everybody, and goes on when it cannot: what its rules do
 * not grant has no ledger at all. */
static bool
is_paid(struct engine *e, const struct departure *departure,
    struct lookup *lookup)
{
	bool paid;

	if (lookup->price == LOOKUP_FREE || lookup->verdict.audit)
		return true;
	paid = departure->again ? engine_budget_pay_again(e, lookup)
				: engine_budget_pay(e, lookup);
	return paid || engine_is_audit(e, lookup->sandbox);
}

/* Nothing leaves that the policy of now does not allow, or that nobody pays
 * for. */
static void
leave(struct engine *e, const struct departure *departure)
{
	struct lookup *lookup = NULL;
	struct lookup_part *part = part_of(e, departure, &lookup);

	/* The other half may have ended the lookup a moment ago. */
	if (part == NULL)
		return;
	engine_refresh_verdict(e, lookup);
	if (lookup->verdict.denial != DENIAL_NONE)
		engine_part_failed(e, departure->lookup, departure->part,
		    ASK_NOT_SENT);
	else if (!is_paid(e, departure, lookup))
		engine_part_failed(e, departure->lookup, departure->part,
		    departure->again ? ASK_SILENT : ASK_UNPAID);
	else
		send_ask(e, departure, lookup, part);
}

bool
engine_edges_step(struct engine *e)
{
	struct departures *d = &e->departures;

	if (!d->open)
		return false;
	if (d->leaving < d->count) {
		leave(e, &d->waiting[d->leaving++]);
		return true;
	}
	d->open = false;
	d->count = d->leaving = 0;
	return true;
}
