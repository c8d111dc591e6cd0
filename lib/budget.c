/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of keys and sums, and the decision. Prices are in
 * budget_price.c, what goes to disk in budget_record.c.
 */
#include "lib/budget.h"
#include "lib/budget_parts.h"

#include <sodium.h>
#include <string.h>

#include "lib/log2.h"
#include "lib/require.h"
#include "lib/tally.h"

#define HASH_SIZE crypto_shorthash_siphashx24_BYTES

_Static_assert(sizeof(struct budget_id) == 2 * HASH_SIZE, "two hashes");
_Static_assert(sizeof(struct budget_id) <= TABLE_KEY_MAX, "fits a table");

void
budget_init(struct budget *budget, struct arena *arena,
    const struct budget_limits *limits, const uint8_t seed[32])
{
	memset(budget, 0, sizeof(*budget));
	memcpy(budget->secret, seed, sizeof(budget->secret));
	table_init(&budget->keys, arena, limits->keys_max,
	    sizeof(struct budget_id), seed + 16);
	table_init(&budget->sums, arena, limits->sums_max,
	    sizeof(struct budget_id), seed + 16);
	budget->key = arena_take(arena, limits->keys_max, sizeof(*budget->key));
	budget->sum = arena_take(arena, limits->sums_max, sizeof(*budget->sum));
	budget->tick_ms = 1;
}

void
budget_set_tick(struct budget *budget, uint32_t tick_ms)
{
	uint32_t before_ms = budget->tick_ms;

	REQUIRE(tick_ms >= 1 && tick_ms <= BUDGET_TICK_MAX_MS);
	budget->tick_ms = tick_ms;
	if (tick_ms == before_ms)
		return;
	for (uint32_t slot = table_oldest(&budget->keys); slot != TABLE_NONE;
	     slot = table_next(&budget->keys, slot))
		budget->key[slot].last_ms -=
		    budget->key[slot].last_ms % before_ms;
}

static void
hash_name(uint8_t *ret, const void *octets, size_t len)
{
	static const uint8_t PUBLIC[crypto_shorthash_siphashx24_KEYBYTES] = {
		'n', 'a', 'm', 'e', 'w', 'a', 'l', 'l'
	};

	crypto_shorthash_siphashx24(ret, octets, len, PUBLIC);
}

static size_t
length_of(const char *text)
{
	size_t len = 0;

	while (len < BUDGET_NAME_MAX && text[len] != '\0')
		len++;
	return len;
}

struct budget_id
budget_key_id(const char *sandbox, const void *rule, size_t len)
{
	struct budget_id id;

	hash_name(id.octets, sandbox, length_of(sandbox));
	hash_name(id.octets + HASH_SIZE, rule, len);
	return id;
}

struct budget_id
budget_sum_id(enum budget_level level, const char *name)
{
	struct budget_id id = { 0 };

	hash_name(id.octets, name, length_of(name));
	id.octets[HASH_SIZE] = (uint8_t)level;
	return id;
}

uint64_t
budget_clock(struct budget *budget, uint64_t now_ms)
{
	if (now_ms > budget->now_ms)
		budget->now_ms = now_ms;
	return budget->now_ms + budget->ahead_ms;
}

uint32_t
budget_hour(const struct budget *budget, uint64_t now_ms)
{
	if (now_ms < budget->now_ms)
		now_ms = budget->now_ms;
	return (uint32_t)((now_ms + budget->ahead_ms) / METER_HOUR_MS);
}

bool
budget_key_is_over(const struct budget *budget, const struct budget_key *key)
{
	uint64_t clock_ms = budget->now_ms + budget->ahead_ms;

	return !key->open && clock_ms - key->closed_ms >= BUDGET_KEPT_MS &&
	    meter_used(&key->meter, budget_hour(budget, 0)) == 0;
}

bool
budget_sum_is_over(const struct budget *budget, const struct budget_sum *sum)
{
	uint64_t clock_ms = budget->now_ms + budget->ahead_ms;

	return sum->users == 0 && clock_ms - sum->opened_ms >= BUDGET_KEPT_MS &&
	    meter_used(&sum->meter, budget_hour(budget, 0)) == 0;
}

/* Makes the key draw on other sums; BUDGET_NONE: on none. */
static void
draw_on(struct budget *budget, struct budget_key *key, uint32_t sandbox,
    uint32_t policy)
{
	uint32_t slots[BUDGET_LEVELS - 1] = { sandbox, policy };

	for (int i = 0; i < BUDGET_LEVELS - 1; i++) {
		if (key->sum[i] != BUDGET_NONE)
			budget->sum[key->sum[i]].users--;
		if (slots[i] != BUDGET_NONE)
			budget->sum[slots[i]].users++;
		key->sum[i] = slots[i];
	}
}

void
budget_sweep(struct budget *budget, uint64_t now_ms)
{
	uint32_t slot, next;

	(void)budget_clock(budget, now_ms);
	for (slot = table_oldest(&budget->keys); slot != TABLE_NONE;
	     slot = next) {
		next = table_next(&budget->keys, slot);
		if (!budget_key_is_over(budget, &budget->key[slot]))
			continue;
		draw_on(budget, &budget->key[slot], BUDGET_NONE, BUDGET_NONE);
		table_drop(&budget->keys, slot);
	}
	for (slot = table_oldest(&budget->sums); slot != TABLE_NONE;
	     slot = next) {
		next = table_next(&budget->sums, slot);
		if (budget_sum_is_over(budget, &budget->sum[slot]))
			table_drop(&budget->sums, slot);
	}
}

static uint32_t
claim(struct budget *budget, struct table *table, const struct budget_id *id,
    bool *ret_new)
{
	uint32_t slot = table_claim(table, id, ret_new);

	if (slot != TABLE_NONE)
		return slot;
	budget_sweep(budget, 0);
	return table_claim(table, id, ret_new);
}

uint32_t
budget_claim_key(struct budget *budget, const struct budget_id *id,
    bool *ret_new)
{
	uint32_t slot = claim(budget, &budget->keys, id, ret_new);
	struct budget_key *key = &budget->key[slot];

	if (slot == BUDGET_NONE || !*ret_new)
		return slot;
	memset(key, 0, sizeof(*key));
	for (int i = 0; i < BUDGET_LEVELS - 1; i++)
		key->sum[i] = BUDGET_NONE;
	return slot;
}

uint32_t
budget_claim_sum(struct budget *budget, const struct budget_id *id,
    bool *ret_new)
{
	uint32_t slot = claim(budget, &budget->sums, id, ret_new);

	if (slot != BUDGET_NONE && *ret_new)
		memset(&budget->sum[slot], 0, sizeof(budget->sum[slot]));
	return slot;
}

uint32_t
budget_open_sum(struct budget *budget, const struct budget_id *id,
    enum budget_level level, uint32_t limit, uint64_t now_ms)
{
	uint64_t clock_ms = budget_clock(budget, now_ms);
	struct budget_sum *sum;
	uint32_t slot;
	bool is_new;

	REQUIRE(level == BUDGET_SANDBOX || level == BUDGET_POLICY);
	slot = budget_claim_sum(budget, id, &is_new);
	if (slot == BUDGET_NONE)
		return slot;
	sum = &budget->sum[slot];
	sum->level = (uint8_t)level;
	sum->opened_ms = clock_ms;
	meter_advance(&sum->meter, budget_hour(budget, now_ms));
	meter_limit(&sum->meter, limit);
	return slot;
}

/* A key that was away for so long that all of it is over begins anew, whether
 * it was swept or not. */
static void
begin_anew(struct budget *budget, struct budget_key *key)
{
	draw_on(budget, key, BUDGET_NONE, BUDGET_NONE);
	memset(key, 0, sizeof(*key));
	for (int i = 0; i < BUDGET_LEVELS - 1; i++)
		key->sum[i] = BUDGET_NONE;
}

uint32_t
budget_open_key(struct budget *budget, const struct budget_id *id,
    const struct budget_terms *terms, uint64_t now_ms)
{
	struct budget_key *key;
	uint32_t slot;
	bool is_new;

	(void)budget_clock(budget, now_ms);
	slot = budget_claim_key(budget, id, &is_new);
	if (slot == BUDGET_NONE)
		return slot;
	key = &budget->key[slot];
	if (!is_new && budget_key_is_over(budget, key))
		begin_anew(budget, key);
	/* A key that only its record has kept has no clock yet. */
	if (key->sum[0] == BUDGET_NONE)
		key->last_ms = terms->since_ms;
	draw_on(budget, key, terms->sandbox_sum, terms->policy_sum);
	key->open = true;
	key->names = terms->names;
	meter_advance(&key->meter, budget_hour(budget, now_ms));
	meter_limit(&key->meter, terms->limit);
	return slot;
}

void
budget_close_key(struct budget *budget, uint32_t slot, uint64_t now_ms)
{
	REQUIRE(budget->key[slot].open);
	budget->key[slot].open = false;
	budget->key[slot].closed_ms = budget_clock(budget, now_ms);
}

static struct meter *
meter_of(const struct budget *budget, uint32_t slot, int level)
{
	struct budget_key *key = &budget->key[slot];

	if (level == BUDGET_KEY)
		return &key->meter;
	REQUIRE(key->sum[level - 1] != BUDGET_NONE);
	return &budget->sum[key->sum[level - 1]].meter;
}

/* The first meter that cannot pay. */
static enum budget_decision
decide(const struct budget *budget, uint32_t slot, uint32_t cost)
{
	static const enum budget_decision REFUSAL[BUDGET_LEVELS] = {
		BUDGET_REFUSE_KEY, BUDGET_REFUSE_SANDBOX, BUDGET_REFUSE_POLICY
	};
	uint32_t hour = budget_hour(budget, 0);
	struct meter *meter;

	for (int level = 0; level < BUDGET_LEVELS; level++) {
		meter = meter_of(budget, slot, level);
		meter_advance(meter, hour);
		if (!meter_fits(meter, cost))
			return REFUSAL[level];
	}
	return BUDGET_PAY;
}

static void
spend(struct budget *budget, uint32_t slot, struct budget_result *result)
{
	struct meter *meter;

	result->half = 0;
	result->refused = 0;
	for (int level = 0; level < BUDGET_LEVELS; level++) {
		meter = meter_of(budget, slot, level);
		for (int part = 0; part < METER_PARTS; part++)
			meter_spend(meter, (enum meter_part)part,
			    result->price.part[part]);
		if (meter_tell_half(meter))
			result->half |= (uint8_t)(1 << level);
	}
}

static void
refuse(struct budget *budget, uint32_t slot, enum budget_decision decision,
    struct budget_result *result)
{
	int level = (int)decision - (int)BUDGET_REFUSE_KEY;

	result->half = 0;
	result->refused = 0;
	(void)meter_tell_refused(meter_of(budget, slot, level),
	    &result->refused);
}

void
budget_price(const struct budget *budget, uint32_t slot,
    const struct budget_event *event, uint64_t now_ms, struct budget_price *ret)
{
	struct budget_quote quote;

	budget_quote(budget, &budget->key[slot], event, now_ms, &quote);
	*ret = quote.price;
}

void
budget_price_new(const struct budget *budget, uint32_t names, uint64_t since_ms,
    const struct budget_event *event, uint64_t now_ms, struct budget_price *ret)
{
	struct budget_key key = { .names = names, .last_ms = since_ms };
	struct budget_quote quote;

	budget_quote(budget, &key, event, now_ms, &quote);
	*ret = quote.price;
}

enum budget_decision
budget_charge(struct budget *budget, uint32_t slot,
    const struct budget_event *event, uint64_t now_ms,
    struct budget_result *ret)
{
	struct budget_key *key = &budget->key[slot];
	struct budget_quote quote;
	enum budget_decision decision;

	(void)budget_clock(budget, now_ms);
	budget_quote(budget, key, event, budget->now_ms, &quote);
	ret->price = quote.price;
	decision = decide(budget, slot, budget_total(&quote.price));
	if (decision == BUDGET_PAY) {
		spend(budget, slot, ret);
		budget_learn(key, event, &quote, budget->now_ms);
	} else {
		refuse(budget, slot, decision, ret);
		budget_weigh_refused(key, &key->alarm, event, &quote,
		    &quote.weight);
	}
	ret->alarm =
	    alarm_observe(&key->alarm, &quote.weight, key->meter.limit);
	return decision;
}

enum budget_decision
budget_charge_retry(struct budget *budget, uint32_t slot, uint64_t now_ms,
    struct budget_result *ret)
{
	enum budget_decision decision;

	(void)budget_clock(budget, now_ms);
	*ret = (struct budget_result){ .price.part[METER_TIME] = BUDGET_RETRY };
	decision = decide(budget, slot, BUDGET_RETRY);
	if (decision == BUDGET_PAY)
		spend(budget, slot, ret);
	else
		refuse(budget, slot, decision, ret);
	return decision;
}

bool
budget_charge_stay(struct budget *budget, uint32_t slot, bool asked,
    uint64_t now_ms, struct budget_result *ret)
{
	struct budget_key *key = &budget->key[slot];
	uint32_t sum = (uint32_t)key->stay[0] + key->stay[1], price[2];

	(void)budget_clock(budget, now_ms);
	price[false] = tally_price(sum, 2, key->stay[false]);
	price[true] = tally_price(sum, 2, key->stay[true]);
	*ret = (struct budget_result){ 0 };
	if (decide(budget, slot, price[price[true] > price[false]]) !=
	    BUDGET_PAY)
		return false;
	ret->price.part[METER_TIME] = price[asked];
	spend(budget, slot, ret);
	tally_note(key->stay, 2, &sum, asked);
	return asked;
}

static void
report(const struct meter *meter, uint32_t hour, struct budget_report *ret)
{
	ret->limit = meter->limit;
	ret->used = meter_used(meter, hour);
	ret->left = meter_left(meter, hour);
	for (int part = 0; part < METER_PARTS; part++)
		ret->part[part] =
		    meter_part(meter, (enum meter_part)part, hour);
}

void
budget_report(const struct budget *budget, uint32_t slot,
    enum budget_level level, uint64_t now_ms, struct budget_report *ret)
{
	report(meter_of(budget, slot, (int)level), budget_hour(budget, now_ms),
	    ret);
}

void
budget_report_sum(const struct budget *budget, uint32_t sum, uint64_t now_ms,
    struct budget_report *ret)
{
	report(&budget->sum[sum].meter, budget_hour(budget, now_ms), ret);
}

uint8_t
budget_must_save(const struct budget *budget, uint32_t slot)
{
	uint8_t levels = 0;

	for (int level = 0; level < BUDGET_LEVELS; level++) {
		if (meter_must_save(meter_of(budget, slot, level)))
			levels |= (uint8_t)(1 << level);
	}
	return levels;
}
