/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * effect - a ring of effects. It never grows and never drops: whoever adds
 * makes sure beforehand that there is room.
 */
#include "lib/effect.h"

#include <stddef.h>
#include <string.h>

#include "lib/require.h"

void
effects_init(struct effects *effects, struct arena *arena, uint32_t capacity)
{
	REQUIRE(capacity > 0);
	effects->ring = arena_take(arena, capacity, sizeof(*effects->ring));
	effects->capacity = capacity;
	effects->head = 0;
	effects->count = 0;
}

struct effect *
effects_add(struct effects *effects, enum effect_kind kind)
{
	struct effect *effect;
	uint32_t index;

	REQUIRE(effects->count < effects->capacity);
	index = (effects->head + effects->count) % effects->capacity;
	effects->count++;
	effect = &effects->ring[index];
	effect->kind = kind;
	return effect;
}

/* An effect is large because a reply and an event are; most of it is unused
 * most of the time, and copying that would cost more than the work itself. */
static size_t
used_size(const struct effect *effect)
{
	switch (effect->kind) {
	case EFFECT_REPLY:
		REQUIRE(effect->u.reply.len <= REPLY_SIZE_MAX);
		return offsetof(struct effect, u.reply.message) +
		    effect->u.reply.len;
	case EFFECT_ASK:
		return offsetof(struct effect, u) + sizeof(effect->u.ask);
	case EFFECT_PIN:
	case EFFECT_UNPIN:
	case EFFECT_FLOWS:
	case EFFECT_RECALL:
		return offsetof(struct effect, u) + sizeof(effect->u.pin);
	case EFFECT_SETTLE:
		return offsetof(struct effect, u);
	case EFFECT_RECORD:
	case EFFECT_FORGET:
		return offsetof(struct effect, u) + sizeof(effect->u.record);
	case EFFECT_QUARANTINE:
	case EFFECT_RELEASE:
		return offsetof(struct effect, u) +
		    sizeof(effect->u.quarantine);
	case EFFECT_CHARGED:
		return offsetof(struct effect, u) + sizeof(effect->u.charged);
	case EFFECT_EVENT:
		return offsetof(struct effect, u) + sizeof(effect->u.event);
	}
	UNREACHABLE();
}

bool
effects_take(struct effects *effects, struct effect *ret)
{
	const struct effect *effect;

	if (effects->count == 0)
		return false;
	effect = &effects->ring[effects->head];
	memcpy(ret, effect, used_size(effect));
	effects->count--;
	effects->head = (effects->head + 1) % effects->capacity;
	/* Begin anew when empty: the same few entries stay in the cache. */
	if (effects->count == 0)
		effects->head = 0;
	return true;
}

uint32_t
effects_room(const struct effects *effects)
{
	return effects->capacity - effects->count;
}
