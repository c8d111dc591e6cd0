/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tunnel_shape - alarms by sandbox and registrable domain.
 *
 * An alarm that is back at its start is dropped: it says no more than none
 * would, but for the labels that it remembers, and those only keep a score
 * from rising that the next ordinary name takes away again.
 */
#include "lib/tunnel_shape.h"

#include <sodium.h>
#include <string.h>

#include "lib/model.h"
#include "lib/require.h"

#define SHAPE_KEY_SIZE 20
#define BUDGET         (ALARM_BUDGET * ALARM_BIT)

void
tunnel_shape_init(struct tunnel_shape *shape, struct arena *arena,
    const struct tunnel_limits *limits, const uint8_t secret[16])
{
	size_t sandboxes = (size_t)limits->sandboxes_max + 1;

	memset(shape, 0, sizeof(*shape));
	shape->limits = *limits;
	memcpy(shape->secret, secret, sizeof(shape->secret));
	table_init(&shape->keys, arena, limits->keys_max, SHAPE_KEY_SIZE,
	    secret);
	shape->entries =
	    arena_take(arena, limits->keys_max, sizeof(*shape->entries));
	shape->common = arena_take(arena, sandboxes, sizeof(*shape->common));
	shape->sandbox_keys =
	    arena_take(arena, sandboxes, sizeof(*shape->sandbox_keys));
}

static uint64_t
label_hash(const struct tunnel_shape *shape, const uint8_t *label, uint8_t len)
{
	uint64_t hash;

	crypto_shorthash((uint8_t *)&hash, label, len, shape->secret);
	return hash;
}

/* What the labels below the apex weigh; all of them without an alarm, else
 * those that it does not remember. */
static struct alarm_weight
weigh(const struct tunnel_shape *shape, const struct dname *name,
    const struct dname *apex, struct alarm *alarm)
{
	struct alarm_weight weight = { 0 };
	uint8_t i, len, count = (uint8_t)(name->labels - apex->labels);
	struct model_state state;
	const uint8_t *label;
	uint32_t lm;

	model_begin(&state);
	for (i = 0; i < count; i++) {
		label = dname_label(name, i, &len);
		lm = model_label_price(&state, label, len, i + 1 == count);
		if (alarm != NULL &&
		    alarm_knows(alarm, label_hash(shape, label, len)))
			continue;
		alarm_weigh(&weight, lm, model_uniform_price(label, len));
	}
	return weight;
}

/* Whether a name lifts an alarm from its start. */
static bool
lifts(const struct alarm_weight *weight)
{
	struct alarm fresh = { 0 };

	(void)alarm_observe(&fresh, weight, BUDGET);
	return fresh.cusum > 0;
}

static void
key_of(const struct tunnel_shape *shape, uint32_t sandbox,
    const struct dname *apex, uint8_t key[SHAPE_KEY_SIZE])
{
	memcpy(key, &sandbox, 4);
	dname_hash(apex, shape->secret, key + 4);
}

static void
drop(struct tunnel_shape *shape, uint32_t slot)
{
	shape->sandbox_keys[shape->entries[slot].sandbox]--;
	table_drop(&shape->keys, slot);
}

/* A new place, or TABLE_NONE where the sandbox or the table has no more. */
static uint32_t
claim(struct tunnel_shape *shape, uint32_t sandbox, const uint8_t *key)
{
	uint32_t slot;
	bool is_new;

	if (shape->sandbox_keys[sandbox] >= shape->limits.keys_per_sandbox_max)
		return TABLE_NONE;
	slot = table_claim(&shape->keys, key, &is_new);
	if (slot == TABLE_NONE)
		return TABLE_NONE;
	memset(&shape->entries[slot], 0, sizeof(shape->entries[slot]));
	shape->entries[slot].sandbox = sandbox;
	shape->sandbox_keys[sandbox]++;
	return slot;
}

static void
keep_sample(struct tunnel_shape_entry *entry, const struct dname *name)
{
	entry->samples[entry->sample_next] = *name;
	entry->sample_next =
	    (uint8_t)((entry->sample_next + 1) % TUNNEL_SHAPE_SAMPLES);
	if (entry->sample_count < TUNNEL_SHAPE_SAMPLES)
		entry->sample_count++;
}

static void
rate(struct tunnel_shape *shape, struct tunnel_shape_entry *entry,
    const struct dname *name, const struct dname *apex,
    struct tunnel_shape_result *ret)
{
	struct alarm *alarm = &entry->alarm;
	struct alarm_weight weight = weigh(shape, name, apex, alarm);

	ret->rings = alarm_observe(alarm, &weight, BUDGET);
	if (ret->rings) {
		ret->score = (uint32_t)alarm->cusum / ALARM_BIT;
		ret->volume = alarm->volume / ALARM_BIT;
		ret->nnew = alarm->nnew;
		ret->nrep = alarm->nrep;
		ret->sample_count = entry->sample_count;
		memcpy(ret->samples, entry->samples, sizeof(ret->samples));
	}
	if (weight.is_new)
		keep_sample(entry, name);
}

/* Where there is no place for an alarm of its own. */
static void
rate_in_common(struct tunnel_shape *shape, uint32_t sandbox,
    const struct dname *name, const struct dname *apex,
    struct tunnel_shape_result *ret)
{
	struct tunnel_shape_entry *common = &shape->common[sandbox];

	ret->is_full = !common->told_full;
	common->told_full = true;
	rate(shape, common, name, apex, ret);
}

void
tunnel_shape_observe(struct tunnel_shape *shape, uint32_t sandbox,
    const struct dname *name, const struct dname *apex,
    struct tunnel_shape_result *ret)
{
	uint8_t key[SHAPE_KEY_SIZE];
	struct alarm_weight weight;
	uint32_t slot;

	REQUIRE(sandbox <= shape->limits.sandboxes_max);
	memset(ret, 0, sizeof(*ret));
	key_of(shape, sandbox, apex, key);
	slot = table_find(&shape->keys, key);
	if (slot == TABLE_NONE) {
		weight = weigh(shape, name, apex, NULL);
		if (!lifts(&weight))
			return;
		slot = claim(shape, sandbox, key);
	}
	if (slot == TABLE_NONE) {
		rate_in_common(shape, sandbox, name, apex, ret);
		return;
	}
	rate(shape, &shape->entries[slot], name, apex, ret);
	if (shape->entries[slot].alarm.cusum == 0)
		drop(shape, slot);
}

void
tunnel_shape_forgive(struct tunnel_shape *shape, uint32_t sandbox)
{
	uint32_t slot = table_oldest(&shape->keys), next;

	REQUIRE(sandbox <= shape->limits.sandboxes_max);
	while (slot != TABLE_NONE) {
		next = table_next(&shape->keys, slot);
		if (shape->entries[slot].sandbox == sandbox)
			drop(shape, slot);
		slot = next;
	}
	memset(&shape->common[sandbox], 0, sizeof(shape->common[sandbox]));
}
