/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * held - see held.h. Linear probing; a dropped slot is closed by moving up
 * what follows, so there are no tombstones to clean.
 */
#include "config.h"

#include "src/helper/held.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"

int
held_init(struct held *ret, size_t pins_max, uint32_t sandboxes, uint64_t seed)
{
	struct held held = {
		.slot_count = 16,
		.pins_max = pins_max,
		.sandboxes = sandboxes,
		.seed = seed | 1,
	};

	while (held.slot_count < pins_max * 2)
		held.slot_count *= 2;
	held.slots = calloc(held.slot_count, sizeof(*held.slots));
	held.counts = calloc((size_t)sandboxes + 1, sizeof(*held.counts));
	if (held.slots == NULL || held.counts == NULL) {
		held_free(&held);
		return -ENOMEM;
	}
	*ret = held;
	return 0;
}

void
held_free(struct held *held)
{
	free(held->slots);
	free(held->counts);
	memset(held, 0, sizeof(*held));
}

static uint64_t
mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static size_t
slot_of(const struct held *held, uint32_t sandbox, const struct addr *addr,
    struct service service)
{
	uint64_t low, high;
	uint64_t hash = held->seed;

	memcpy(&low, addr->bytes, sizeof(low));
	memcpy(&high, addr->bytes + sizeof(low), sizeof(high));
	hash = mix(hash, low) * held->seed;
	hash = mix(hash, high) * held->seed;
	hash = mix(hash,
	    (uint64_t)sandbox << 32 | (uint32_t)addr->family << 24 |
		(uint32_t)service.protocol << 16 | service.port);
	return (size_t)(hash >> 8) & (held->slot_count - 1);
}

static bool
is_it(const struct held_pin *pin, uint32_t sandbox, const struct addr *addr,
    struct service service)
{
	return pin->sandbox == sandbox && addr_equal(&pin->addr, addr) &&
	    pin->service.protocol == service.protocol &&
	    pin->service.port == service.port;
}

/* The slot that has it, or the free one where it would be. */
static struct held_pin *
probe(const struct held *held, uint32_t sandbox, const struct addr *addr,
    struct service service)
{
	size_t at = slot_of(held, sandbox, addr, service);

	while (held->slots[at].sandbox != 0 &&
	    !is_it(&held->slots[at], sandbox, addr, service))
		at = (at + 1) & (held->slot_count - 1);
	return &held->slots[at];
}

struct held_pin *
held_find(const struct held *held, uint32_t sandbox, const struct addr *addr,
    struct service service)
{
	struct held_pin *pin = probe(held, sandbox, addr, service);

	return pin->sandbox != 0 ? pin : NULL;
}

struct held_pin *
held_put(struct held *held, uint32_t sandbox, const struct addr *addr,
    struct service service)
{
	struct held_pin *pin = probe(held, sandbox, addr, service);

	REQUIRE(sandbox != 0 && sandbox <= held->sandboxes);
	if (pin->sandbox != 0)
		return pin;
	if (held->pins == held->pins_max)
		return NULL;
	*pin = (struct held_pin){ sandbox, *addr, service, 0 };
	held->pins++;
	held->counts[sandbox]++;
	return pin;
}

void
held_drop(struct held *held, struct held_pin *pin)
{
	size_t hole = (size_t)(pin - held->slots);
	size_t at = hole;

	REQUIRE(hole < held->slot_count && pin->sandbox != 0);
	held->pins--;
	held->counts[pin->sandbox]--;
	for (;;) {
		const struct held_pin *next;
		size_t home;

		at = (at + 1) & (held->slot_count - 1);
		next = &held->slots[at];
		if (next->sandbox == 0)
			break;
		home = slot_of(held, next->sandbox, &next->addr, next->service);
		/* It may move up unless its own place lies after the hole. */
		if (((at - home) & (held->slot_count - 1)) >=
		    ((at - hole) & (held->slot_count - 1))) {
			held->slots[hole] = *next;
			hole = at;
		}
	}
	held->slots[hole].sandbox = 0;
}

/* A drop may bring another pin into the same slot, which is looked at again.
 * One that wraps to the end of the table is met there. */
static void
drop_where(struct held *held, uint32_t sandbox, uint64_t after_ms,
    uint64_t until_ms)
{
	size_t at = 0;

	while (at < held->slot_count) {
		struct held_pin *pin = &held->slots[at];

		if (pin->sandbox != 0 &&
		    (sandbox == 0 || pin->sandbox == sandbox) &&
		    pin->expires_ms >= after_ms && pin->expires_ms <= until_ms)
			held_drop(held, pin);
		else
			at++;
	}
}

void
held_expire(struct held *held, uint64_t now_ms)
{
	drop_where(held, 0, 1, now_ms);
}

void
held_forget_lapsed(struct held *held)
{
	drop_where(held, 0, 0, 0);
}

void
held_clear(struct held *held, uint32_t sandbox)
{
	if (sandbox == 0 || held->counts[sandbox] > 0)
		drop_where(held, sandbox, 0, UINT64_MAX);
}

const struct held_pin *
held_next(const struct held *held, size_t *at)
{
	while (*at < held->slot_count)
		if (held->slots[(*at)++].sandbox != 0)
			return &held->slots[*at - 1];
	return NULL;
}
