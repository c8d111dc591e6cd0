/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * model - what a label of a name costs, in 1/256 bit.
 *
 * A constant table of the cost of each symbol after the two before it, learnt
 * from ordinary names at build time (tools/mkmodel, data/names.txt). Costs are
 * rounded up, and those after any two symbols belong to a proper code: the
 * build fails where 2^-cost adds up to more than 1.
 */
#ifndef LIB_MODEL_H
#define LIB_MODEL_H

#include <stdbool.h>
#include <stdint.h>

enum {
	MODEL_DOT = 38, /* after a-z, 0-9, - and _: another label follows */
	MODEL_END, /* the name ends */
	MODEL_ESC, /* any other octet; 8 bits say which */
	MODEL_SYMBOLS,
	MODEL_BEGIN = MODEL_SYMBOLS, /* before a name; only a context */
	MODEL_CONTEXTS
};

#define MODEL_COST_UNIT     32 /* of the table, 1/8 bit, in 1/256 bit */
#define MODEL_ESC_PRICE     (8 * 256)
#define MODEL_LENGTH_PRICE  (7 * 256) /* 63 lengths, more labels or end */
#define MODEL_DIGIT_PRICE   886 /* 0-9 and - */
#define MODEL_HEX_PRICE     1024 /* 0-9 a-f */
#define MODEL_BASE32_PRICE  1280 /* a-z 2-7 */
#define MODEL_HOST_PRICE    1344 /* a-z 0-9 - _ */
#define MODEL_OCTET_PRICE   2048
#define MODEL_MIXTURE_PRICE 662 /* log2 6: the model and five alphabets */

/* By the symbol before the last, the last, and the next; in 1/8 bit. */
extern const uint8_t model_cost[MODEL_CONTEXTS][MODEL_CONTEXTS][MODEL_SYMBOLS];
/* Of the constants and the table, 64 hexadecimal digits. */
extern const char model_hash_text[65];

/* The two symbols before the next one; over dots, from label to label. */
struct model_state {
	uint8_t before, last;
};

void model_begin(struct model_state *);
/* What a label costs by the model, with the dot behind it or the name's end.
 * Octets are those of a folded name. */
uint32_t model_label_price(struct model_state *, const uint8_t *label,
    uint8_t len, bool last);
/* What it costs by the smallest alphabet that holds it, equally likely. */
uint32_t model_uniform_price(const uint8_t *label, uint8_t len);
/* Which model this is: of the constants of prices and alarms, and the table. */
const char *model_hash(void);

/* Values are chosen, not branches: what a random label holds is hard to
 * guess. */
static inline uint8_t
model_symbol(uint8_t octet)
{
	uint8_t letter = (uint8_t)(octet - 'a'), digit = (uint8_t)(octet - '0');
	uint8_t symbol = MODEL_ESC;

	symbol = letter < 26 ? letter : symbol;
	symbol = digit < 10 ? (uint8_t)(digit + 26) : symbol;
	symbol = octet == '-' ? 36 : symbol;
	symbol = octet == '_' ? 37 : symbol;
	return symbol;
}

#endif
