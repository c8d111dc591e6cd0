/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * helper_model - the parent and the kernel: one channel in order each way,
 * elements with timeouts, refusals, slowness, death, and somebody who flushes
 * the table.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "tests/sim/world.h"

#define KEY_SIZE 24

static void
make_key(const struct pin_element *element, uint8_t key[KEY_SIZE])
{
	memset(key, 0, KEY_SIZE);
	key[0] = (uint8_t)element->sandbox;
	key[1] = element->addr.family;
	key[2] = element->service.protocol;
	memcpy(key + 4, &element->service.port, 2);
	memcpy(key + 8, element->addr.bytes, 16);
}

void
kernel_init(struct kernel *kernel)
{
	static const uint8_t secret[16] = { 1 };
	struct arena arena;

	arena_init(&arena, NULL, 0);
	table_init(&kernel->elements, &arena, SIM_ELEMENTS, KEY_SIZE, secret);
	kernel->block = calloc(1, arena.used);
	if (kernel->block == NULL)
		abort();
	arena_init(&arena, kernel->block, arena.used);
	table_init(&kernel->elements, &arena, SIM_ELEMENTS, KEY_SIZE, secret);
}

void
kernel_free(struct kernel *kernel)
{
	free(kernel->block);
}

uint64_t
kernel_until(const struct kernel *kernel, const struct pin_element *element,
    uint64_t now_ms)
{
	uint8_t key[KEY_SIZE];
	uint32_t slot;

	make_key(element, key);
	slot = table_find(&kernel->elements, key);
	if (slot == TABLE_NONE || kernel->until_ms[slot] <= now_ms)
		return 0;
	return kernel->until_ms[slot];
}

static void
hold(struct world *w, const struct delivery *d)
{
	uint8_t key[KEY_SIZE];
	bool is_new;
	uint32_t slot;

	make_key(&d->element, key);
	slot = table_claim(&w->kernel.elements, key, &is_new);
	REQUIRE(slot != TABLE_NONE);
	w->kernel.until_ms[slot] = w->now_ms + d->lifetime_ms;
	if (w->plant == 5)
		w->kernel.until_ms[slot] -= 1000;
}

static void
cut(struct world *w, const struct pin_element *element)
{
	uint8_t key[KEY_SIZE];
	uint32_t slot;

	make_key(element, key);
	slot = table_find(&w->kernel.elements, key);
	if (slot != TABLE_NONE)
		table_drop(&w->kernel.elements, slot);
}

/* The time of the next message from the helper: they keep their order. */
static uint64_t
channel_time(struct world *w)
{
	uint64_t at_ms = w->now_ms + world_below(w, 3);

	if (at_ms < w->channel_free_ms)
		at_ms = w->channel_free_ms;
	w->channel_free_ms = at_ms;
	return at_ms;
}

void
helper_model_request(struct world *w, const struct effect *effect)
{
	uint64_t at_ms = w->now_ms + world_below(w, w->faults.helper_ms);
	struct delivery *d;

	if (w->helper_dead)
		return;
	if (world_chance(w, w->faults.pin_slow))
		at_ms += 300 + world_below(w, 2000);
	if (at_ms < w->helper_free_ms)
		at_ms = w->helper_free_ms;
	w->helper_free_ms = at_ms;
	if (w->plant == 1 && effect->kind == EFFECT_PIN) {
		/* Says yes before the kernel has been asked. */
		d = world_deliver(w, DELIVER_PINNED, w->now_ms);
		d->id = effect->u.pin.op;
	}
	d = world_deliver(w, DELIVER_HELPER, at_ms);
	d->request = effect->kind;
	if (effect->kind == EFFECT_SETTLE)
		return;
	if (effect->kind == EFFECT_QUARANTINE ||
	    effect->kind == EFFECT_RELEASE) {
		d->number = effect->u.quarantine.sandbox;
		return;
	}
	d->id = effect->u.pin.op;
	d->number = effect->u.pin.slot;
	d->element = effect->u.pin.element;
	d->lifetime_ms = effect->u.pin.lifetime_ms;
}

/* The same channel, the same order. */
void
helper_model_detach(struct world *w, uint32_t sandbox)
{
	struct delivery *d;

	if (w->helper_dead)
		return;
	if (w->helper_free_ms < w->now_ms)
		w->helper_free_ms = w->now_ms;
	d = world_deliver(w, DELIVER_HELPER, w->helper_free_ms);
	d->request = EFFECT_UNPIN;
	d->flag = true;
	d->number = sandbox;
}

uint32_t
kernel_count(const struct world *w, uint32_t sandbox)
{
	const struct table *elements = &w->kernel.elements;
	uint32_t slot = table_oldest(elements), count = 0;

	for (; slot != TABLE_NONE; slot = table_next(elements, slot)) {
		const uint8_t *key = table_key(elements, slot);

		count +=
		    key[0] == sandbox && w->kernel.until_ms[slot] > w->now_ms;
	}
	return count;
}

static void
drop_sandbox(struct world *w, uint32_t sandbox)
{
	uint32_t slot = table_oldest(&w->kernel.elements);

	while (slot != TABLE_NONE) {
		const uint8_t *key = table_key(&w->kernel.elements, slot);
		uint32_t next = table_next(&w->kernel.elements, slot);

		if (sandbox == 0 || key[0] == sandbox)
			table_drop(&w->kernel.elements, slot);
		slot = next;
	}
}

static void
take_detach(struct world *w, const struct delivery *d)
{
	if (w->plant != 3)
		drop_sandbox(w, d->number);
	world_deliver(w, DELIVER_DETACHED, channel_time(w))->number = d->number;
}

static void
take_pin(struct world *w, const struct delivery *d)
{
	bool error = world_chance(w, w->faults.pin_error);
	struct delivery *answer;

	if (!error)
		hold(w, d);
	if (w->plant == 6 && world_chance(w, 10)) {
		w->acks_swallowed++;
		return;
	}
	answer = world_deliver(w, DELIVER_PINNED, channel_time(w));
	answer->id = d->id;
	answer->status = error ? -EPERM : 0;
}

void
helper_model_take(struct world *w, const struct delivery *d)
{
	struct delivery *answer;

	if (w->helper_dead)
		return;
	if (d->flag) {
		take_detach(w, d);
		return;
	}
	switch (d->request) {
	case EFFECT_PIN:
		take_pin(w, d);
		break;
	case EFFECT_UNPIN:
		cut(w, &d->element);
		break;
	case EFFECT_QUARANTINE:
		drop_sandbox(w, d->number);
		break;
	case EFFECT_RELEASE:
		break;
	case EFFECT_FLOWS:
		answer = world_deliver(w, DELIVER_FLOWS, channel_time(w));
		answer->number = d->number;
		answer->status = world_chance(w, 10) ? -EIO : 0;
		answer->flag = world_chance(w, 40);
		break;
	case EFFECT_REPLY:
	case EFFECT_ASK:
	case EFFECT_RECALL:
	case EFFECT_SETTLE:
	case EFFECT_RECORD:
	case EFFECT_FORGET:
	case EFFECT_CHARGED:
	case EFFECT_EVENT:
		UNREACHABLE();
	}
}

void
helper_model_take_silently(struct world *w, const struct delivery *d)
{
	if (d->flag)
		drop_sandbox(w, d->number);
	else if (d->request == EFFECT_PIN)
		hold(w, d);
	else if (d->request == EFFECT_UNPIN)
		cut(w, &d->element);
	else if (d->request == EFFECT_QUARANTINE)
		drop_sandbox(w, d->number);
}

/* sandbox 0: the whole table. */
void
helper_model_flush(struct world *w, uint32_t sandbox)
{
	struct delivery *notice;

	if (w->helper_dead)
		return;
	drop_sandbox(w, sandbox);
	w->flushes_under_way++;
	notice = world_deliver(w, DELIVER_LOST, channel_time(w));
	notice->number = sandbox;
}

void
helper_model_recall(struct world *w, const struct effect *effect)
{
	uint8_t key[KEY_SIZE];
	uint32_t slot;

	make_key(&effect->u.pin.element, key);
	slot = table_find(&w->kernel.elements, key);
	if (slot != TABLE_NONE)
		w->kernel.recalled[slot] = true;
}

uint32_t
helper_model_settle(struct world *w)
{
	uint32_t slot = table_oldest(&w->kernel.elements), gone = 0;

	while (slot != TABLE_NONE) {
		uint32_t next = table_next(&w->kernel.elements, slot);

		if (!w->kernel.recalled[slot]) {
			gone += w->kernel.until_ms[slot] > w->now_ms;
			table_drop(&w->kernel.elements, slot);
		}
		w->kernel.recalled[slot] = false;
		slot = next;
	}
	return gone;
}
