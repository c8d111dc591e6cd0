/* SPDX-License-Identifier: BSD-2-Clause */
/* model - what a label of a name costs. */
#include "lib/model.h"

/* The alphabets that hold an octet. */
enum {
	ALPHABET_DIGIT = 1,
	ALPHABET_HEX = 2,
	ALPHABET_BASE32 = 4,
	ALPHABET_HOST = 8,
	LETTER = ALPHABET_BASE32 | ALPHABET_HOST,
	HEX_LETTER = LETTER | ALPHABET_HEX,
	FIGURE = ALPHABET_DIGIT | ALPHABET_HEX | ALPHABET_HOST,
	BASE32_FIGURE = FIGURE | ALPHABET_BASE32
};

/* A table, since which branch a random label takes is hard to guess. */
static const uint8_t alphabets[256] = { ['-'] = ALPHABET_DIGIT | ALPHABET_HOST,
	['_'] = ALPHABET_HOST,
	['0'] = FIGURE,
	['1'] = FIGURE,
	['8'] = FIGURE,
	['9'] = FIGURE,
	['2'] = BASE32_FIGURE,
	['3'] = BASE32_FIGURE,
	['4'] = BASE32_FIGURE,
	['5'] = BASE32_FIGURE,
	['6'] = BASE32_FIGURE,
	['7'] = BASE32_FIGURE,
	['a'] = HEX_LETTER,
	['b'] = HEX_LETTER,
	['c'] = HEX_LETTER,
	['d'] = HEX_LETTER,
	['e'] = HEX_LETTER,
	['f'] = HEX_LETTER,
	['g'] = LETTER,
	['h'] = LETTER,
	['i'] = LETTER,
	['j'] = LETTER,
	['k'] = LETTER,
	['l'] = LETTER,
	['m'] = LETTER,
	['n'] = LETTER,
	['o'] = LETTER,
	['p'] = LETTER,
	['q'] = LETTER,
	['r'] = LETTER,
	['s'] = LETTER,
	['t'] = LETTER,
	['u'] = LETTER,
	['v'] = LETTER,
	['w'] = LETTER,
	['x'] = LETTER,
	['y'] = LETTER,
	['z'] = LETTER };

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

uint32_t
model_uniform_price(const uint8_t *label, uint8_t len)
{
	unsigned held =
	    ALPHABET_DIGIT | ALPHABET_HEX | ALPHABET_BASE32 | ALPHABET_HOST;
	uint32_t each = MODEL_OCTET_PRICE;
	uint8_t i;

	for (i = 0; i < len; i++)
		held &= alphabets[label[i]];
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
