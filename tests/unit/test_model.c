/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/model.h"

#include <string.h>

#include "tests/unit/unit.h"

static uint32_t
price_of(const char *label, bool last)
{
	struct model_state state;

	model_begin(&state);
	return model_label_price(&state, (const uint8_t *)label,
	    (uint8_t)strlen(label), last);
}

static uint32_t
uniform_of(const char *label)
{
	return model_uniform_price((const uint8_t *)label,
	    (uint8_t)strlen(label));
}

/* 2^-(eighths/8). */
static long double
weight(uint32_t eighths)
{
	const long double root = 0.9170040432046712317435415947949L;
	long double w = 1;

	while (eighths-- > 0)
		w *= root;
	return w;
}

START_TEST(every_context_is_a_code)
{
	long double sum, weights[256];

	for (uint32_t i = 0; i < 256; i++)
		weights[i] = weight(i);
	for (int a = 0; a < MODEL_CONTEXTS; a++) {
		for (int b = 0; b < MODEL_CONTEXTS; b++) {
			sum = 0;
			for (int x = 0; x < MODEL_SYMBOLS; x++)
				sum += weights[model_cost[a][b][x]];
			UNIT_CHECK(sum <= 1);
			/* Nor is much of it wasted. */
			UNIT_CHECK(sum > 0.9L);
		}
	}
}
END_TEST

START_TEST(every_octet_has_its_symbol)
{
	static const char symbols[] = "abcdefghijklmnopqrstuvwxyz0123456789-_";

	for (int octet = 0; octet < 256; octet++) {
		const char *at = octet == 0 ? NULL : strchr(symbols, octet);

		ck_assert_uint_eq(model_symbol((uint8_t)octet),
		    at == NULL ? MODEL_ESC : (unsigned)(at - symbols));
	}
}
END_TEST

static uint32_t
cost(uint8_t before, uint8_t last, uint8_t symbol)
{
	return (uint32_t)model_cost[before][last][symbol] * MODEL_COST_UNIT;
}

/* Symbol by symbol, from the table. */
START_TEST(adds_up_costs_in_context)
{
	struct model_state state;
	uint8_t w = model_symbol('w'), a = model_symbol('a');

	ck_assert_uint_eq(price_of("wa", true),
	    cost(MODEL_BEGIN, MODEL_BEGIN, w) + cost(MODEL_BEGIN, w, a) +
		cost(w, a, MODEL_END));
	model_begin(&state);
	ck_assert_uint_eq(model_label_price(&state, (const uint8_t *)"w", 1,
			      false),
	    cost(MODEL_BEGIN, MODEL_BEGIN, w) +
		cost(MODEL_BEGIN, w, MODEL_DOT));
	/* What went before counts beyond the dot. */
	ck_assert_uint_eq(model_label_price(&state, (const uint8_t *)"a", 1,
			      true),
	    cost(w, MODEL_DOT, a) + cost(MODEL_DOT, a, MODEL_END));
}
END_TEST

START_TEST(other_octets_cost_eight_bits_more)
{
	ck_assert_uint_eq(price_of("\xff", true),
	    MODEL_ESC_PRICE + cost(MODEL_BEGIN, MODEL_BEGIN, MODEL_ESC) +
		cost(MODEL_BEGIN, MODEL_ESC, MODEL_END));
	/* Names are folded before they come here. */
	ck_assert_uint_eq(price_of("A", true), price_of(".", true));
}
END_TEST

static const struct {
	const char *label;
	uint32_t each;
} alphabets[] = {
	{ "7", MODEL_DIGIT_PRICE },
	{ "192-0-2-1", MODEL_DIGIT_PRICE },
	{ "0123456789abcdef", MODEL_HEX_PRICE },
	{ "deadbeef", MODEL_HEX_PRICE },
	{ "2345674", MODEL_DIGIT_PRICE },
	{ "a2g", MODEL_BASE32_PRICE },
	{ "mfrggzdfmztwq2lk", MODEL_BASE32_PRICE },
	{ "g1", MODEL_HOST_PRICE },
	{ "a-b", MODEL_HOST_PRICE },
	{ "_dmarc", MODEL_HOST_PRICE },
	{ "_", MODEL_HOST_PRICE },
	{ "a b", MODEL_OCTET_PRICE },
	{ "\xc3\xa9", MODEL_OCTET_PRICE },
	{ "A", MODEL_OCTET_PRICE },
};

START_TEST(finds_the_smallest_alphabet)
{
	const char *label = alphabets[_i].label;

	ck_assert_uint_eq(uniform_of(label),
	    MODEL_LENGTH_PRICE + strlen(label) * alphabets[_i].each);
}
END_TEST

/* What the constants say they are: 2^(price/256) holds the alphabet. */
START_TEST(alphabets_have_room)
{
	static const struct {
		uint32_t size, price;
	} all[] = { { 11, MODEL_DIGIT_PRICE }, { 16, MODEL_HEX_PRICE },
		{ 32, MODEL_BASE32_PRICE }, { 38, MODEL_HOST_PRICE },
		{ 256, MODEL_OCTET_PRICE }, { 128, MODEL_LENGTH_PRICE },
		{ 6, MODEL_MIXTURE_PRICE }, { 256, MODEL_ESC_PRICE } };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		/* price/256 bits in steps of 1/256. */
		const long double step = 1.0027112750502024854L;
		long double room = 1;

		for (uint32_t n = 0; n < all[i].price; n++)
			room *= step;
		UNIT_CHECK(room >= all[i].size * 0.999999L);
		UNIT_CHECK(room / step < all[i].size);
	}
}
END_TEST

START_TEST(tells_words_from_noise)
{
	static const char *const words[] = { "www", "mail", "api", "static",
		"login", "images", "update" };
	static const char *const noise[] = { "9f86d081884c7d659a2feaa0c55ad015",
		"mfrggzdfmztwq2lknnwg23tp", "0haaaakat3tq", "q7zk2x9vb4" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		UNIT_CHECK(price_of(words[i], true) < uniform_of(words[i]));
	for (i = 0; i < sizeof(noise) / sizeof(noise[0]); i++)
		UNIT_CHECK(price_of(noise[i], true) > uniform_of(noise[i]));
}
END_TEST

START_TEST(has_a_hash)
{
	ck_assert_uint_eq(strlen(model_hash()), 64);
	ck_assert_uint_eq(strspn(model_hash(), "0123456789abcdef"), 64);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("model", &all);

	tcase_add_test(all, every_context_is_a_code);
	tcase_add_test(all, every_octet_has_its_symbol);
	tcase_add_test(all, adds_up_costs_in_context);
	tcase_add_test(all, other_octets_cost_eight_bits_more);
	tcase_add_loop_test(all, finds_the_smallest_alphabet, 0,
	    sizeof(alphabets) / sizeof(alphabets[0]));
	tcase_add_test(all, alphabets_have_room);
	tcase_add_test(all, tells_words_from_noise);
	tcase_add_test(all, has_a_hash);
	return unit_run(suite);
}
