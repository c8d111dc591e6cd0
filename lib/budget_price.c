/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The price of one forward, step by step, and what is learnt from it. Every
 * step is a proper code given the key's state, and the state follows from
 * charged events alone.
 */
#include "lib/budget.h"
#include "lib/budget_parts.h"

#include <string.h>

#include "lib/log2.h"
#include "lib/model.h"
#include "lib/require.h"
#include "lib/tally.h"

/* Of a label, that another one follows, or none. */
#define MORE_PRICE BUDGET_BIT

_Static_assert(BUDGET_BIT == LOG2_BIT, "one unit of prices");

/* Time: which power of two the gap is in, and where in it. A gap of g ticks
 * is the number g + 1, of so many bits after the first. */
static uint32_t
price_time(const struct budget *budget, const struct budget_key *key,
    uint64_t now_ms, uint8_t *ret_gap)
{
	uint64_t now = now_ms / budget->tick_ms;
	uint64_t last = key->last_ms / budget->tick_ms;
	uint64_t rest = now > last ? now - last + 1 : 1;
	uint8_t gap = 0;

	while ((rest >>= 1) != 0)
		gap++;
	REQUIRE(gap < BUDGET_GAPS);
	*ret_gap = gap;
	return tally_price(key->gap_sum, BUDGET_GAPS, key->gap[gap]) +
	    gap * (uint32_t)BUDGET_BIT;
}

static uint32_t
price_type(const struct budget_key *key, const struct budget_event *event)
{
	REQUIRE(event->type < BUDGET_TYPES);
	if (event->type_count <= 1)
		return 0;
	return tally_price(key->type_sum, event->type_count,
	    key->type[event->type]);
}

/* The model's context runs on over a label that is not priced by it. */
static void
skip_label(struct model_state *state, const uint8_t *label, uint8_t len)
{
	if (len > 0)
		state->before = model_symbol(label[len - 1]);
	else
		state->before = state->last;
	state->last = MODEL_DOT;
}

/* One label of a new name. A new one is spelt, by the model or by one of five
 * alphabets: a mixture of six. */
static uint32_t
price_label(const struct budget_key *key, struct model_state *state,
    const uint8_t *label, uint64_t hash, bool last, struct alarm_weight *weight)
{
	uint8_t len = label[0], slot = crp_find(&key->label, hash);
	uint32_t lm, uniform;

	if (slot != CRP_NEW) {
		skip_label(state, label + 1, len);
		return crp_price(&key->label, slot) + MORE_PRICE;
	}
	lm = model_label_price(state, label + 1, len, last);
	uniform = model_uniform_price(label + 1, len);
	alarm_weigh(weight, lm, uniform);
	return crp_price(&key->label, CRP_NEW) + MODEL_MIXTURE_PRICE +
	    (lm < uniform ? lm : uniform);
}

/*
 * The labels of a new name, from the left. The parent itself, which no rule
 * asks for, is one label of no octets: the lengths leave room for its code.
 */
static uint32_t
price_labels(const struct budget *budget, const struct budget_key *key,
    const struct budget_event *event, struct budget_quote *quote)
{
	static const uint8_t NO_LABEL[1] = { 0 };
	const uint8_t *label =
	    event->labels == 0 ? NO_LABEL : event->name->wire;
	struct model_state state;
	uint32_t price = 0;

	quote->labels = event->labels == 0 ? 1 : event->labels;
	REQUIRE(quote->labels <= BUDGET_LABELS_MAX);
	model_begin(&state);
	for (uint8_t i = 0; i < quote->labels; i++) {
		quote->label_hash[i] =
		    crp_hash(label, (size_t)label[0] + 1, budget->secret);
		price += price_label(key, &state, label, quote->label_hash[i],
		    i + 1 == quote->labels, &quote->weight);
		label += (size_t)label[0] + 1;
	}
	return price;
}

/* Labels of a refused name rate once while they are among the last ones, or
 * a client that tries again would raise the alarm. */
void
budget_weigh_refused(const struct budget_key *key, struct alarm *alarm,
    const struct budget_event *event, const struct budget_quote *quote,
    struct alarm_weight *ret)
{
	const uint8_t *label = event->name->wire;
	struct model_state state;
	uint32_t lm;

	*ret = (struct alarm_weight){ 0 };
	model_begin(&state);
	for (uint8_t i = 0; i < event->labels && i < quote->labels; i++) {
		lm = model_label_price(&state, label + 1, label[0],
		    i + 1 == event->labels);
		if (crp_find(&key->label, quote->label_hash[i]) == CRP_NEW &&
		    !alarm_knows(alarm, quote->label_hash[i]))
			alarm_weigh(ret, lm,
			    model_uniform_price(label + 1, label[0]));
		label += (size_t)label[0] + 1;
	}
}

/* The octets of the labels under the parent. */
static size_t
sub_size(const struct budget_event *event)
{
	const uint8_t *wire = event->name->wire;
	size_t size = 0;

	REQUIRE(event->labels <= event->name->labels);
	for (uint8_t i = 0; i < event->labels; i++)
		size += (size_t)wire[size] + 1;
	return size;
}

static uint32_t
price_name(const struct budget *budget, const struct budget_key *key,
    const struct budget_event *event, struct budget_quote *quote)
{
	uint32_t price;
	uint8_t slot;

	quote->name_hash =
	    crp_hash(event->name->wire, sub_size(event), budget->secret);
	slot = crp_find(&key->name, quote->name_hash);
	price = crp_price(&key->name, slot);
	quote->price.new_name = slot == CRP_NEW;
	if (slot != CRP_NEW)
		return price;
	/* Which one of those that are known to all. */
	if (key->names > 0)
		return price + log2_up(key->names);
	price += price_labels(budget, key, event, quote);
	/* The name is new though each of its labels may be known. */
	quote->weight.is_new = true;
	quote->weight.volume = price;
	return price;
}

void
budget_quote(const struct budget *budget, const struct budget_key *key,
    const struct budget_event *event, uint64_t now_ms, struct budget_quote *ret)
{
	uint32_t *part = ret->price.part;

	ret->labels = 0;
	ret->weight = (struct alarm_weight){ 0 };
	part[METER_TIME] = price_time(budget, key, now_ms, &ret->gap) +
	    event->asks * (uint32_t)BUDGET_FIRST;
	part[METER_TYPE] = price_type(key, event);
	part[METER_NAME] = price_name(budget, key, event, ret);
}

void
budget_learn(struct budget_key *key, const struct budget_event *event,
    const struct budget_quote *quote, uint64_t now_ms)
{
	key->last_ms = now_ms;
	tally_note(key->gap, BUDGET_GAPS, &key->gap_sum, quote->gap);
	tally_note(key->type, BUDGET_TYPES, &key->type_sum, event->type);
	crp_note(&key->name, quote->name_hash);
	for (uint8_t i = 0; i < quote->labels; i++)
		crp_note(&key->label, quote->label_hash[i]);
}

uint32_t
budget_total(const struct budget_price *price)
{
	uint32_t total = 0;

	for (int part = 0; part < METER_PARTS; part++)
		total += price->part[part];
	return total;
}
