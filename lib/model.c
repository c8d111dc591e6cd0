/* SPDX-License-Identifier: BSD-2-Clause */
/* model - what a label of a name costs. */
#include "lib/model.h"

/* The alphabets that hold an octet. */
enum {
	ALPHABET_DIGIT = 1,
	ALPHABET_HEX = 2,
	ALPHABET_BASE32 = 4,
	ALPHABET_HOST = 8
};

void
model_begin(struct model_state *state)
{
	state->before = state->last = MODEL_BEGIN;
}

static uint32_t
step(struct model_state *state, uint8_t symbol)
{
	uint32_t cost = model_cost[state->before][state->last][symbol];

	state->before = state->last;
	state->last = symbol;
	return cost * MODEL_COST_UNIT;
}

uint32_t
model_label_price(struct model_state *state, const uint8_t *label, uint8_t len,
    bool last)
{
	uint32_t price = 0;
	uint8_t i, symbol;

	for (i = 0; i < len; i++) {
		symbol = model_symbol(label[i]);
		price += step(state, symbol);
		if (symbol == MODEL_ESC)
			price += MODEL_ESC_PRICE;
	}
	return price + step(state, last ? MODEL_END : MODEL_DOT);
}

static unsigned
alphabets_of(uint8_t octet)
{
	if (octet >= 'a' && octet <= 'f')
		return ALPHABET_HEX | ALPHABET_BASE32 | ALPHABET_HOST;
	if (octet >= 'g' && octet <= 'z')
		return ALPHABET_BASE32 | ALPHABET_HOST;
	if (octet >= '2' && octet <= '7')
		return ALPHABET_DIGIT | ALPHABET_HEX | ALPHABET_BASE32 |
		    ALPHABET_HOST;
	if (octet >= '0' && octet <= '9')
		return ALPHABET_DIGIT | ALPHABET_HEX | ALPHABET_HOST;
	if (octet == '-')
		return ALPHABET_DIGIT | ALPHABET_HOST;
	return octet == '_' ? ALPHABET_HOST : 0;
}

uint32_t
model_uniform_price(const uint8_t *label, uint8_t len)
{
	unsigned held =
	    ALPHABET_DIGIT | ALPHABET_HEX | ALPHABET_BASE32 | ALPHABET_HOST;
	uint32_t each = MODEL_OCTET_PRICE;
	uint8_t i;

	for (i = 0; i < len; i++)
		held &= alphabets_of(label[i]);
	if (held & ALPHABET_DIGIT)
		each = MODEL_DIGIT_PRICE;
	else if (held & ALPHABET_HEX)
		each = MODEL_HEX_PRICE;
	else if (held & ALPHABET_BASE32)
		each = MODEL_BASE32_PRICE;
	else if (held & ALPHABET_HOST)
		each = MODEL_HOST_PRICE;
	return MODEL_LENGTH_PRICE + len * each;
}

const char *
model_hash(void)
{
	return model_hash_text;
}
