/* SPDX-License-Identifier: BSD-2-Clause */
/* streams - rules over what one client asks below one zone. See eval.h. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/dns.h"
#include "tools/eval/eval.h"

#define HOUR_S    3600
#define DAY_S     86400
#define FPR_OCTET 0.004 /* at which the cuts of octets are made */

const char *const rule_names[RULES] = {
	[RULE_ENTROPY_40] = "a name with entropy over 4.0",
	[RULE_ENTROPY_35] = "a name with entropy over 3.5",
	[RULE_LENGTH_52] = "a name longer than 52",
	[RULE_LABEL_24] = "a label over 24 with entropy over 3.5",
	[RULE_PAIRS_1] = "a name over the letter-pair mean of 1 %",
	[RULE_8_AN_HOUR] = "over 8 distinct names an hour",
	[RULE_100_A_DAY] = "over 100 distinct names a day",
	[RULE_1000_A_DAY] = "over 1,000 distinct names a day",
	[RULE_ZONE_BYTES_120] = "distinct octets of a zone, 120 s",
	[RULE_ZONE_BYTES_600] = "distinct octets of a zone, 600 s",
	[RULE_PAIR_BYTES_120] = "distinct octets of a pair, 120 s",
	[RULE_PAIR_BYTES_600] = "distinct octets of a pair, 600 s",
	[RULE_ALARM_REFUSED] = "namewall's alarm, refused names",
	[RULE_ALARM_LISTED] = "namewall's alarm, listed wildcard",
};

/* Octets of distinct names within windows that follow each other. */
struct window {
	double length;
	double number; /* of the one that runs */
	uint32_t octets, most;
	double *counted; /* by name: in which it was */
	size_t capacity;
};

/* What was asked below a zone, by one client or by all. */
struct watch {
	struct map names;
	double *last; /* by name */
	size_t last_capacity;
	struct window windows[2];
	uint32_t met; /* bits of enum rule */
	double charged;
	bool is_refused;
};

struct run {
	struct map pairs, zones, cache;
	struct watch *pair, *zone; /* by number */
	size_t pair_capacity, zone_capacity, cache_capacity;
	double *asked; /* by cache entry */
	struct core *core;
	const struct pairs *letters;
	double mean_threshold;
	const uint32_t *cut; /* by rule; NULL: none yet */
};

/* What a step has met. */
struct step {
	bool is_cached;
	uint32_t met; /* bits of enum rule */
	struct core_says says;
	uint32_t pair;
};

static struct watch *
watch_of(struct map *map, struct watch **list, size_t *capacity,
    const void *key, size_t len)
{
	bool is_new;
	uint32_t number = map_put(map, key, len, &is_new);

	if (is_new) {
		*list = grow(*list, number, capacity, sizeof(**list));
		memset(&(*list)[number], 0, sizeof((*list)[number]));
		(*list)[number].windows[0].length = 120;
		(*list)[number].windows[1].length = 600;
	}
	return &(*list)[number];
}

static void
window_add(struct window *window, uint32_t name, bool is_new, uint32_t octets,
    double at)
{
	double number = floor(at / window->length) + 1;

	window->counted = grow(window->counted, name, &window->capacity,
	    sizeof(*window->counted));
	if (is_new)
		window->counted[name] = 0;
	if (window->number < number) {
		window->number = number;
		window->octets = 0;
	}
	if (window->counted[name] < number) {
		window->counted[name] = number;
		window->octets += octets;
	}
	if (window->octets > window->most)
		window->most = window->octets;
}

static uint32_t
octets_below(const struct item *item)
{
	struct dname zone = dname_suffix(&item->name, item->zone_labels);
	uint32_t octets = (uint32_t)(item->name.len - zone.len);

	return octets == 0 ? 0 : octets - 1;
}

static void
watch_add(struct watch *watch, const struct item *item, double at)
{
	bool is_new;
	uint32_t i,
	    name = map_put(&watch->names, item->name.wire, item->name.len,
		&is_new);

	watch->last = grow(watch->last, name, &watch->last_capacity,
	    sizeof(*watch->last));
	watch->last[name] = at;
	for (i = 0; i < 2; i++)
		window_add(&watch->windows[i], name, is_new, octets_below(item),
		    at);
}

static size_t
distinct(const struct watch *watch, double since)
{
	size_t count = 0;
	uint32_t i;

	for (i = 0; i < watch->names.count; i++)
		count += watch->last[i] > since;
	return count;
}

static uint32_t
bit(enum rule rule, bool is_met)
{
	return is_met ? UINT32_C(1) << rule : 0;
}

static uint32_t
rules_of_name(const struct run *run, const struct item *item)
{
	struct features f;

	features_of(item, run->letters, &f);
	return bit(RULE_ENTROPY_40, f.value[FEATURE_ENTROPY] > 4.0) |
	    bit(RULE_ENTROPY_35, f.value[FEATURE_ENTROPY] > 3.5) |
	    bit(RULE_LENGTH_52, f.value[FEATURE_LENGTH] > 52) |
	    bit(RULE_LABEL_24, f.long_and_mixed) |
	    bit(RULE_PAIRS_1, f.value[FEATURE_PAIRS] > run->mean_threshold);
}

static uint32_t
rules_of_watches(const struct run *run, const struct watch *pair,
    const struct watch *zone, double at)
{
	uint32_t met;

	met = bit(RULE_8_AN_HOUR, distinct(pair, at - HOUR_S) > 8) |
	    bit(RULE_100_A_DAY, distinct(pair, at - DAY_S) > 100) |
	    bit(RULE_1000_A_DAY, distinct(pair, at - DAY_S) > 1000);
	if (run->cut == NULL)
		return met;
	return met |
	    bit(RULE_ZONE_BYTES_120,
		zone->windows[0].octets > run->cut[RULE_ZONE_BYTES_120]) |
	    bit(RULE_ZONE_BYTES_600,
		zone->windows[1].octets > run->cut[RULE_ZONE_BYTES_600]) |
	    bit(RULE_PAIR_BYTES_120,
		pair->windows[0].octets > run->cut[RULE_PAIR_BYTES_120]) |
	    bit(RULE_PAIR_BYTES_600,
		pair->windows[1].octets > run->cut[RULE_PAIR_BYTES_600]);
}

/* Whether the answer is remembered; if not, it is from now on. */
static bool
is_cached(struct run *run, const struct item *item, double at)
{
	uint16_t type = item->type == DNS_TYPE_AAAA ? DNS_TYPE_A : item->type;
	uint8_t key[4 + 2 + DNS_NAME_MAX];
	uint32_t number;
	bool is_new;

	memcpy(key, &item->stream, 4);
	memcpy(key + 4, &type, 2);
	memcpy(key + 6, item->name.wire, item->name.len);
	number = map_put(&run->cache, key, 6 + (size_t)item->name.len, &is_new);
	run->asked =
	    grow(run->asked, number, &run->cache_capacity, sizeof(*run->asked));
	if (!is_new && at - run->asked[number] < EVAL_CACHE_S)
		return true;
	run->asked[number] = at;
	return false;
}

static struct step
run_step(struct run *run, const struct item *item, double at)
{
	struct dname zone_name = dname_suffix(&item->name, item->zone_labels);
	uint8_t key[4 + DNS_NAME_MAX];
	struct watch *pair, *zone;
	struct step step = { 0 };

	step.is_cached = is_cached(run, item, at);
	if (step.is_cached)
		return step;
	memcpy(key, &item->stream, 4);
	memcpy(key + 4, zone_name.wire, zone_name.len);
	pair = watch_of(&run->pairs, &run->pair, &run->pair_capacity, key,
	    4 + (size_t)zone_name.len);
	zone = watch_of(&run->zones, &run->zone, &run->zone_capacity,
	    zone_name.wire, zone_name.len);
	watch_add(pair, item, at);
	watch_add(zone, item, at);
	step.says = core_observe(run->core, item->stream, item, at);
	step.met = rules_of_name(run, item) |
	    rules_of_watches(run, pair, zone, at) |
	    bit(RULE_ALARM_REFUSED, step.says.rings_refused) |
	    bit(RULE_ALARM_LISTED, step.says.rings_listed);
	pair->met |= step.met;
	zone->met |= step.met;
	if (!step.says.is_refused)
		pair->charged += step.says.charged;
	pair->is_refused |= step.says.is_refused;
	return step;
}

static void
free_watches(struct watch *list, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		map_free(&list[i].names);
		free(list[i].last);
		free(list[i].windows[0].counted);
		free(list[i].windows[1].counted);
	}
	free(list);
}

static void
run_free(struct run *run)
{
	free_watches(run->pair, run->pairs.count);
	free_watches(run->zone, run->zones.count);
	map_free(&run->pairs);
	map_free(&run->zones);
	map_free(&run->cache);
	free(run->asked);
}

/* ---- benign ---------------------------------------------------------- */

static int
compare_octets(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

/* The smallest cut that few enough are over, and how many are. */
static uint32_t
cut_of(const struct watch *list, size_t count, int window, size_t *ret_over)
{
	uint32_t *most = zeroes(count, sizeof(*most)), cut;
	size_t i, over = (size_t)(FPR_OCTET * (double)count);

	for (i = 0; i < count; i++)
		most[i] = list[i].windows[window].most;
	qsort(most, count, sizeof(*most), compare_octets);
	cut = count == 0 ? 0 : most[count - 1 - over];
	for (i = 0, *ret_over = 0; i < count; i++)
		*ret_over += most[i] > cut;
	free(most);
	return cut;
}

static void
count_flagged(const struct run *run, struct stream_result *ret)
{
	size_t i;
	int rule;

	for (rule = 0; rule < RULES; rule++) {
		for (i = 0; i < run->pairs.count; i++)
			ret->flagged[rule] +=
			    (run->pair[i].met >> rule & 1) != 0;
	}
	ret->cut[RULE_ZONE_BYTES_120] = cut_of(run->zone, run->zones.count, 0,
	    &ret->flagged[RULE_ZONE_BYTES_120]);
	ret->cut[RULE_ZONE_BYTES_600] = cut_of(run->zone, run->zones.count, 1,
	    &ret->flagged[RULE_ZONE_BYTES_600]);
	ret->cut[RULE_PAIR_BYTES_120] = cut_of(run->pair, run->pairs.count, 0,
	    &ret->flagged[RULE_PAIR_BYTES_120]);
	ret->cut[RULE_PAIR_BYTES_600] = cut_of(run->pair, run->pairs.count, 1,
	    &ret->flagged[RULE_PAIR_BYTES_600]);
}

void
streams_benign(const struct sample *sample, const struct pairs *letters,
    double mean_threshold, struct stream_result *ret)
{
	struct run run = { .letters = letters,
		.mean_threshold = mean_threshold,
		.core = core_new() };
	struct step step;
	size_t i;

	memset(ret, 0, sizeof(*ret));
	ret->mean_threshold = mean_threshold;
	for (i = 0; i < sample->count; i++) {
		step = run_step(&run, &sample->items[i], sample->items[i].at);
		ret->queries += !step.is_cached;
	}
	ret->pairs = run.pairs.count;
	ret->zones = run.zones.count;
	count_flagged(&run, ret);
	ret->charges = zeroes(ret->pairs, sizeof(*ret->charges));
	for (i = 0; i < ret->pairs; i++) {
		ret->charges[i].bits = run.pair[i].charged;
		ret->charges[i].is_refused = run.pair[i].is_refused;
		ret->refused_pairs += run.pair[i].is_refused;
	}
	core_free(run.core);
	run_free(&run);
}

/* ---- tunnels --------------------------------------------------------- */

/* How many bits a character of the stream carries, by how most of its names
 * were spelt: tools try other alphabets before they settle on one. */
static double
codec_of(const struct sample *sample, uint32_t stream)
{
	static const struct {
		uint8_t spelling;
		double bits;
	} codecs[] = { { SPELT_EIGHT, 7 }, { SPELT_MIXED, 6 },
		{ SPELT_BEYOND_HEX, 5 }, { SPELT_LETTERS, 4 } };
	size_t total, spelt, i, k;

	for (k = 0; k < sizeof(codecs) / sizeof(codecs[0]); k++) {
		for (i = total = spelt = 0; i < sample->count; i++) {
			if (sample->items[i].stream != stream)
				continue;
			total++;
			spelt += (sample->items[i].spelling &
				     codecs[k].spelling) != 0;
		}
		if (2 * spelt > total)
			return codecs[k].bits;
	}
	return 3.3;
}

/* Characters of the labels that this stream has not had before. */
static size_t
new_characters(struct map *labels, const struct item *item)
{
	const uint8_t *label;
	size_t count = 0;
	bool is_new;
	uint8_t i, len;

	for (i = 0; i < labels_below(item); i++) {
		label = dname_label(&item->name, i, &len);
		(void)map_put(labels, label, len, &is_new);
		count += is_new ? len : 0;
	}
	return count;
}

/* left: the payload before this query, which a refused one does not add to. */
static void
note(struct tunnel_result *result, const struct step *step, double left,
    double payload, double charged)
{
	int rule;

	for (rule = 0; rule < RULES; rule++) {
		if ((step->met >> rule & 1) == 0 || result->first[rule] != 0)
			continue;
		result->first[rule] = result->queries;
		result->payload[rule] = payload;
		if (rule == RULE_ALARM_LISTED)
			result->alarm_charged = charged;
	}
	if (step->says.is_refused && result->refused == 0) {
		result->refused = result->queries;
		result->payload_refused = left;
	}
}

static void
run_tunnel(struct run *run, const struct sample *sample, uint32_t stream,
    struct tunnel_result *result)
{
	double at = 0, payload = 0, left = 0, charged = 0;
	struct map labels = { 0 };
	const struct item *item;
	struct step step;
	size_t i;

	result->codec = codec_of(sample, stream);
	for (i = 0; i < sample->count; i++) {
		item = &sample->items[i];
		if (item->stream != stream)
			continue;
		at = item->at >= 0 ? item->at
				   : (double)result->queries * EVAL_GAP_S;
		result->queries++;
		step = run_step(run, item, at);
		if (!step.says.is_refused)
			charged += step.says.charged;
		left = payload;
		payload +=
		    (double)new_characters(&labels, item) * result->codec;
		note(result, &step, left, payload, charged);
	}
	map_free(&labels);
}

struct tunnel_result *
streams_tunnels(const struct sample *sample, const struct pairs *letters,
    const struct stream_result *benign)
{
	uint32_t i, count = sample->streams.count;
	struct tunnel_result *results = zeroes(count, sizeof(*results));
	struct core *core = core_new();

	for (i = 0; i < count; i++) {
		struct run run = { .letters = letters,
			.mean_threshold = benign->mean_threshold,
			.cut = benign->cut,
			.core = core };

		core_begin(core);
		memcpy(results[i].label, sample->labels[i], EVAL_LABEL_MAX);
		run_tunnel(&run, sample, i, &results[i]);
		run_free(&run);
	}
	core_free(core);
	return results;
}
