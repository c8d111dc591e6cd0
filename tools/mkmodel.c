/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkmodel - writes the constant tables of lib/model and lib/log2.
 *
 * usage: mkmodel NAMES >TABLES.c
 *
 * Learns from the labels under registrable domains that fall into the first
 * six of ten buckets; the others are left for tests that want names that it
 * never saw. Estimates are those of Witten and Bell, interpolated over the
 * two symbols before, one, none and equal chances. There is no floating point
 * here: probabilities are integers of 2^-44, cut, and logarithms are lengths
 * of powers, so every machine writes the same octets.
 */
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/alarm.h"
#include "lib/budget.h"
#include "lib/log2.h"
#include "lib/model.h"

#define NAME_MAX_LEN    253
#define PROBABILITY_ONE ((uint64_t)1 << 44)
#define COUNT_MAX       (1 << 19) /* so that its share of one fits */
#define SUM_BITS        56 /* of the check that costs are a code's */
#define BUCKETS         10
#define BUCKETS_LEARNT  6

/* The symbols that followed a context. */
struct counts {
	uint32_t total, distinct;
	uint32_t by_symbol[MODEL_SYMBOLS];
};

static struct counts none, one[MODEL_CONTEXTS],
    two[MODEL_CONTEXTS][MODEL_CONTEXTS];
static uint8_t cost[MODEL_CONTEXTS][MODEL_CONTEXTS][MODEL_SYMBOLS];
static uint16_t logarithm[LOG2_TABLE_MAX + 1];
static uint64_t weight_of_cost[UINT8_MAX + 1]; /* 2^-(cost/8), rounded up */

/* All that a price or an alarm depends on beside the tables. */
static const struct {
	const char *name;
	uint32_t value;
} constants[] = {
	{ "model-esc", MODEL_ESC_PRICE },
	{ "model-length", MODEL_LENGTH_PRICE },
	{ "model-digit", MODEL_DIGIT_PRICE },
	{ "model-hex", MODEL_HEX_PRICE },
	{ "model-base32", MODEL_BASE32_PRICE },
	{ "model-host", MODEL_HOST_PRICE },
	{ "model-octet", MODEL_OCTET_PRICE },
	{ "model-mixture", MODEL_MIXTURE_PRICE },
	{ "alarm-drift", ALARM_DRIFT },
	{ "alarm-score", ALARM_SCORE },
	{ "alarm-share", ALARM_SHARE },
	{ "alarm-budget", ALARM_BUDGET },
	{ "alarm-labels", ALARM_LABELS },
	{ "budget-gaps", BUDGET_GAPS },
	{ "budget-types", BUDGET_TYPES },
	{ "budget-first", BUDGET_FIRST },
	{ "budget-retry", BUDGET_RETRY },
	{ "budget-end", METER_END },
	{ "budget-hours", METER_SLOTS },
	{ "budget-seats", CRP_SLOTS },
	{ "budget-count-max", CRP_COUNT_MAX },
};

_Noreturn static void
die(const char *what, unsigned line)
{
	if (line != 0)
		fprintf(stderr, "mkmodel: line %u: %s\n", line, what);
	else
		fprintf(stderr, "mkmodel: %s\n", what);
	exit(1);
}

/* A natural number of any size that is wanted here, low limb first. */
struct big {
	uint32_t limbs[200];
	size_t used;
};

static struct big
big_square(const struct big *a)
{
	struct big r;
	uint64_t sum;
	size_t i, j;

	memset(&r, 0, sizeof(r));
	r.used = 2 * a->used;
	for (i = 0; i < a->used; i++) {
		sum = 0;
		for (j = 0; j < a->used; j++) {
			sum += (uint64_t)a->limbs[i] * a->limbs[j] +
			    r.limbs[i + j];
			r.limbs[i + j] = (uint32_t)sum;
			sum >>= 32;
		}
		r.limbs[i + a->used] = (uint32_t)sum;
	}
	while (r.used > 0 && r.limbs[r.used - 1] == 0)
		r.used--;
	return r;
}

/* floor(2^squarings log2 x): the length of x to the power 2^squarings. */
static uint32_t
log2_of_power(uint64_t x, unsigned squarings)
{
	struct big power;
	uint32_t top, bits = 0;

	memset(&power, 0, sizeof(power));
	power.limbs[0] = (uint32_t)x;
	power.limbs[1] = (uint32_t)(x >> 32);
	power.used = power.limbs[1] != 0 ? 2 : 1;
	while (squarings-- > 0)
		power = big_square(&power);
	for (top = power.limbs[power.used - 1]; top > 1; top >>= 1)
		bits++;
	return (uint32_t)(power.used - 1) * 32 + bits;
}

static void
make_logarithms(void)
{
	uint32_t m;

	for (m = 1; m <= LOG2_TABLE_MAX; m++)
		logarithm[m] = (uint16_t)log2_of_power(m, 8);
}

/* The smallest integer w with w >= 2^(SUM_BITS - cost/8). */
static uint64_t
weight_of(uint32_t eighths)
{
	uint64_t low = 0, high = (uint64_t)1 << SUM_BITS, mid;

	while (high - low > 1) {
		mid = low + (high - low) / 2;
		if (log2_of_power(mid, 3) >= 8 * SUM_BITS - eighths)
			high = mid;
		else
			low = mid;
	}
	return high;
}

/* ceil(-8 log2 p), as far as the table goes. */
static uint8_t
cost_of(uint64_t probability)
{
	uint32_t eighths = 8 * 44 - log2_of_power(probability, 3);

	return eighths > UINT8_MAX ? UINT8_MAX : (uint8_t)eighths;
}

/* Mixes what followed a context into the shares of a shorter one. */
static void
mix(const struct counts *c, uint64_t share[MODEL_SYMBOLS])
{
	uint32_t x;

	if (c->total == 0)
		return;
	if (c->total > COUNT_MAX)
		die("too many names", 0);
	for (x = 0; x < MODEL_SYMBOLS; x++)
		share[x] = (c->by_symbol[x] * PROBABILITY_ONE +
			       c->distinct * share[x]) /
		    (c->total + c->distinct);
}

/* Writes the costs after two symbols; returns what their weights add up to. */
static uint64_t
make_costs(uint32_t before, uint32_t last)
{
	uint64_t share[MODEL_SYMBOLS], sum = 0;
	uint32_t x;

	for (x = 0; x < MODEL_SYMBOLS; x++)
		share[x] = PROBABILITY_ONE / MODEL_SYMBOLS;
	mix(&none, share);
	mix(&one[last], share);
	mix(&two[before][last], share);
	for (x = 0; x < MODEL_SYMBOLS; x++) {
		cost[before][last][x] = cost_of(share[x]);
		sum += weight_of_cost[cost[before][last][x]];
	}
	return sum;
}

static void
make_table(void)
{
	uint64_t sum, largest = 0;
	uint32_t before, last, i;

	for (i = 0; i <= UINT8_MAX; i++)
		weight_of_cost[i] = weight_of(i);
	for (before = 0; before < MODEL_CONTEXTS; before++) {
		for (last = 0; last < MODEL_CONTEXTS; last++) {
			sum = make_costs(before, last);
			if (sum > largest)
				largest = sum;
		}
	}
	fprintf(stderr, "mkmodel: the largest sum of a context is %u/1000\n",
	    (unsigned)(((largest >> 10) * 1000) >> (SUM_BITS - 10)));
	if (largest > (uint64_t)1 << SUM_BITS)
		die("a context sums to more than 1", 0);
}

static void
count(struct counts *c, uint8_t symbol)
{
	if (c->by_symbol[symbol]++ == 0)
		c->distinct++;
	c->total++;
}

/* Where the last `labels` labels begin, or NULL when that is all. */
static const char *
zone_of(const char *name, unsigned long labels)
{
	const char *at = name + strlen(name);

	while (at > name) {
		if (at[-1] == '.' && --labels == 0)
			return at;
		at--;
	}
	return NULL;
}

static bool
is_learnt(const char *zone)
{
	uint8_t hash[crypto_hash_sha256_BYTES];
	uint32_t first;

	crypto_hash_sha256(hash, (const uint8_t *)zone, strlen(zone));
	first = (uint32_t)hash[0] << 24 | (uint32_t)hash[1] << 16 |
	    (uint32_t)hash[2] << 8 | hash[3];
	return first % BUCKETS < BUCKETS_LEARNT;
}

/* The labels before the zone; the last one has no dot behind it. */
static void
learn(const char *name, const char *zone)
{
	uint8_t before = MODEL_BEGIN, last = MODEL_BEGIN, symbol;

	for (; name < zone; name++) {
		if (name + 1 == zone)
			symbol = MODEL_END;
		else if (*name == '.')
			symbol = MODEL_DOT;
		else
			symbol = model_symbol((uint8_t)*name);
		count(&none, symbol);
		count(&one[last], symbol);
		count(&two[before][last], symbol);
		before = last;
		last = symbol;
	}
}

/* NAME TAB ORIGIN TAB LABELS; cuts the name out of the line. */
static unsigned long
parse(char *line, unsigned number)
{
	char *origin = strchr(line, '\t'), *labels, *end;
	unsigned long value;

	labels = origin == NULL ? NULL : strchr(origin + 1, '\t');
	if (labels == NULL)
		die("not NAME, ORIGIN and LABELS", number);
	value = strtoul(labels + 1, &end, 10);
	if (value == 0 || value > 127 || *end != '\n')
		die("no number of labels", number);
	*origin = '\0';
	if (origin == line || origin - line > NAME_MAX_LEN)
		die("no name", number);
	return value;
}

/* In order, so that no name counts twice. */
static void
read_names(FILE *file)
{
	char line[512], previous[NAME_MAX_LEN + 1] = "";
	const char *zone;
	unsigned number = 0;
	unsigned long labels;

	while (fgets(line, sizeof(line), file) != NULL) {
		number++;
		if (line[0] == '#')
			continue;
		labels = parse(line, number);
		if (strcmp(previous, line) >= 0)
			die("not in order", number);
		memcpy(previous, line, strlen(line) + 1);
		zone = zone_of(line, labels);
		if (zone != NULL && is_learnt(zone))
			learn(line, zone);
	}
	if (ferror(file))
		die(strerror(errno), 0);
}

static void
print_hash(void)
{
	crypto_hash_sha256_state state;
	uint8_t hash[crypto_hash_sha256_BYTES], octets[2];
	char text[128];
	size_t i;

	crypto_hash_sha256_init(&state);
	for (i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
		snprintf(text, sizeof(text), "%s=%" PRIu32 "\n",
		    constants[i].name, constants[i].value);
		crypto_hash_sha256_update(&state, (const uint8_t *)text,
		    strlen(text));
	}
	for (i = 0; i <= LOG2_TABLE_MAX; i++) {
		octets[0] = (uint8_t)(logarithm[i] >> 8);
		octets[1] = (uint8_t)logarithm[i];
		crypto_hash_sha256_update(&state, octets, 2);
	}
	crypto_hash_sha256_update(&state, (const uint8_t *)cost, sizeof(cost));
	crypto_hash_sha256_final(&state, hash);
	sodium_bin2hex(text, sizeof(text), hash, sizeof(hash));
	printf("\nconst char model_hash_text[65] =\n    \"%s\";\n", text);
}

static void
print_context(const uint8_t row[MODEL_SYMBOLS])
{
	uint32_t x;

	printf("\t{ ");
	for (x = 0; x < MODEL_SYMBOLS; x++)
		printf("%u,%s", row[x], x % 12 == 11 ? "\n\t  " : " ");
	printf("},\n");
}

static void
print_tables(void)
{
	uint32_t a, b, m;

	printf("/* SPDX-License-Identifier: BSD-2-Clause */\n"
	       "/* Written by mkmodel. */\n"
	       "#include \"lib/log2.h\"\n#include \"lib/model.h\"\n\n"
	       "const uint16_t log2_table[LOG2_TABLE_MAX + 1] = {");
	for (m = 0; m <= LOG2_TABLE_MAX; m++)
		printf("%s%u,", m % 12 == 0 ? "\n\t" : " ", logarithm[m]);
	printf("\n};\n\nconst uint8_t\n    "
	       "model_cost[MODEL_CONTEXTS][MODEL_CONTEXTS][MODEL_SYMBOLS] = "
	       "{\n");
	for (a = 0; a < MODEL_CONTEXTS; a++) {
		printf("{\n");
		for (b = 0; b < MODEL_CONTEXTS; b++)
			print_context(cost[a][b]);
		printf("},\n");
	}
	printf("};\n");
}

int
main(int argc, char *argv[])
{
	FILE *file;

	if (argc != 2)
		die("usage: mkmodel NAMES", 0);
	if (sodium_init() < 0)
		die("no cryptography", 0);
	file = fopen(argv[1], "r");
	if (file == NULL)
		die(strerror(errno), 0);
	read_names(file);
	fclose(file);
	make_logarithms();
	make_table();
	print_tables();
	print_hash();
	if (fflush(stdout) != 0 || ferror(stdout))
		die(strerror(errno), 0);
	return 0;
}
