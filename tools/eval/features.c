/* SPDX-License-Identifier: BSD-2-Clause */
/* features - what a name alone says. See eval.h. */
#include "config.h"

#include <math.h>
#include <string.h>

#include "lib/alarm.h"
#include "lib/model.h"
#include "tools/eval/eval.h"

const char *const feature_names[FEATURES] = { "entropy", "label-entropy",
	"length", "label-length", "digits", "letter-pairs", "model" };

/* What stands before a name's first character and behind its last. */
#define EDGE 1

static double
entropy_of(const char *text, size_t len)
{
	size_t count[256] = { 0 }, i;
	double bits = 0, share;

	for (i = 0; i < len; i++)
		count[(uint8_t)text[i]]++;
	for (i = 0; i < 256; i++) {
		if (count[i] == 0)
			continue;
		share = (double)count[i] / (double)len;
		bits -= share * log2(share);
	}
	return bits;
}

/* The labels below the zone with dots between; the length. */
static size_t
text_below(const struct item *item, char text[DNS_NAME_MAX])
{
	const uint8_t *label;
	size_t at = 0;
	uint8_t i, len;

	for (i = 0; i < labels_below(item); i++) {
		if (i > 0)
			text[at++] = '.';
		label = dname_label(&item->name, i, &len);
		memcpy(text + at, label, len);
		at += len;
	}
	return at;
}

void
pairs_learn(struct pairs *pairs, const struct sample *sample)
{
	char text[DNS_NAME_MAX];
	size_t i, at, len;
	uint8_t last, next;

	memset(pairs, 0, sizeof(*pairs));
	for (i = 0; i < sample->count; i++) {
		if (sample->items[i].bucket >= EVAL_LEARNT)
			continue;
		len = text_below(&sample->items[i], text);
		for (at = 0, last = EDGE; len > 0 && at <= len; at++) {
			next = at < len ? text[at] & 127 : EDGE;
			pairs->count[last][next]++;
			pairs->total[last]++;
			last = next;
		}
	}
}

/* Mean bits a character; 41 symbols share one count each. */
static double
pair_bits(const struct pairs *pairs, const char *text, size_t len)
{
	uint8_t last = EDGE, next;
	double bits = 0;
	size_t at;

	for (at = 0; at <= len; at++) {
		next = at < len ? text[at] & 127 : EDGE;
		bits -= log2((pairs->count[last][next] + 1.0) /
		    (pairs->total[last] + 41.0));
		last = next;
	}
	return bits / (double)(len + 1);
}

/* The score of a name whose labels are all new, by the core's own code. */
static double
model_score(const struct item *item)
{
	struct alarm_weight weight = { 0 };
	struct model_state state;
	const uint8_t *label;
	uint8_t i, len, count = labels_below(item);

	model_begin(&state);
	for (i = 0; i < count; i++) {
		label = dname_label(&item->name, i, &len);
		alarm_weigh(&weight,
		    model_label_price(&state, label, len, i + 1 == count),
		    model_uniform_price(label, len));
	}
	return (double)weight.score / ALARM_BIT;
}

static void
look_at_labels(const struct item *item, struct features *ret)
{
	const char *label;
	double entropy;
	uint8_t i, len;

	ret->value[FEATURE_LABEL_ENTROPY] = 0;
	ret->value[FEATURE_LABEL_LENGTH] = 0;
	for (i = 0; i < labels_below(item); i++) {
		label = (const char *)dname_label(&item->name, i, &len);
		entropy = entropy_of(label, len);
		if (entropy > ret->value[FEATURE_LABEL_ENTROPY])
			ret->value[FEATURE_LABEL_ENTROPY] = entropy;
		if (len > ret->value[FEATURE_LABEL_LENGTH])
			ret->value[FEATURE_LABEL_LENGTH] = len;
		if (len > 24 && entropy > 3.5)
			ret->long_and_mixed = true;
	}
}

void
features_of(const struct item *item, const struct pairs *pairs,
    struct features *ret)
{
	char text[DNS_NAME_MAX];
	size_t len = text_below(item, text), digits = 0, i;

	memset(ret, 0, sizeof(*ret));
	if (len == 0) {
		for (i = 0; i < FEATURES; i++)
			ret->value[i] = -INFINITY;
		return;
	}
	for (i = 0; i < len; i++)
		digits += text[i] >= '0' && text[i] <= '9';
	ret->value[FEATURE_ENTROPY] = entropy_of(text, len);
	ret->value[FEATURE_LENGTH] = (double)len;
	ret->value[FEATURE_DIGITS] = (double)digits / (double)len;
	ret->value[FEATURE_PAIRS] = pair_bits(pairs, text, len);
	ret->value[FEATURE_MODEL] = model_score(item);
	look_at_labels(item, ret);
}
