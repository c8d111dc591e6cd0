/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * eval-detection - how well tunnels are told from ordinary names.
 *
 * usage: eval-detection [--benign-names F] [--benign-stream F] [--tunnels F]
 *                       [--learnt F] [--suffixes F] [--streams] [--json]
 *
 * Formats and conventions: data/README.md.
 */
#include "config.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/model.h"
#include "lib/require.h"
#include "tools/eval/eval.h"
#include "tools/eval/report.h"

_Noreturn void
require_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: %s\n", file, line, condition);
	abort();
}

struct options {
	const char *benign_names, *benign_stream, *tunnels, *learnt, *suffixes;
	bool streams, json;
};

_Noreturn static void
usage(void)
{
	fprintf(stderr,
	    "usage: eval-detection [--benign-names F] [--benign-stream F]\n"
	    "           [--tunnels F] [--learnt F] [--suffixes F] [--streams] "
	    "[--json]\n");
	exit(2);
}

static void
read_options(struct options *o, int argc, char *argv[])
{
	const struct {
		const char *name;
		const char **value;
	} files[] = {
		{ "--benign-names", &o->benign_names },
		{ "--benign-stream", &o->benign_stream },
		{ "--tunnels", &o->tunnels },
		{ "--learnt", &o->learnt },
		{ "--suffixes", &o->suffixes },
	};
	size_t k;
	int i;

	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0) {
			o->json = true;
			continue;
		}
		if (strcmp(argv[i], "--streams") == 0) {
			o->streams = true;
			continue;
		}
		for (k = 0; k < ARRAY_LEN(files); k++) {
			if (strcmp(argv[i], files[k].name) == 0)
				break;
		}
		if (k == ARRAY_LEN(files) || i + 1 == argc)
			usage();
		*files[k].value = argv[++i];
	}
}

/* ---- per name -------------------------------------------------------- */

static const double rates[EVAL_RATES] = { 0.05, 0.01, 0.001 };

static int
compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static bool
is_in(const struct item *item, int first, int last)
{
	return item->bucket >= first && item->bucket <= last;
}

/* The values of one feature in some buckets, in order. */
static double *
values_of(const struct sample *sample, const struct features *all,
    enum feature feature, const int buckets[2], size_t *ret_count)
{
	double *values = zeroes(sample->count, sizeof(*values));
	size_t i, n = 0;

	for (i = 0; i < sample->count; i++) {
		if (is_in(&sample->items[i], buckets[0], buckets[1]))
			values[n++] = all[i].value[feature];
	}
	qsort(values, n, sizeof(*values), compare);
	*ret_count = n;
	return values;
}

static double
share_over(const double *values, size_t count, double threshold)
{
	size_t i, over = 0;

	for (i = 0; i < count; i++)
		over += values[i] > threshold;
	return count == 0 ? 0 : (double)over / (double)count;
}

/* The mean over tunnels of the share of names over a threshold. */
static double
share_of_tunnels(const struct sample *tunnels, const struct features *all,
    enum feature feature, double threshold)
{
	size_t *over = zeroes(tunnels->streams.count, sizeof(*over)),
	       *total = zeroes(tunnels->streams.count, sizeof(*total)), i;
	double sum = 0;

	for (i = 0; i < tunnels->count; i++) {
		total[tunnels->items[i].stream]++;
		over[tunnels->items[i].stream] +=
		    all[i].value[feature] > threshold;
	}
	for (i = 0; i < tunnels->streams.count; i++)
		sum += (double)over[i] / (double)total[i];
	free(over);
	free(total);
	return i == 0 ? 0 : sum / (double)i;
}

static struct features *
features_all(const struct sample *sample, const struct pairs *letters)
{
	struct features *all = zeroes(sample->count, sizeof(*all));
	size_t i;

	for (i = 0; i < sample->count; i++)
		features_of(&sample->items[i], letters, &all[i]);
	return all;
}

/* Thresholds by the names of `set`; false positives among those of `seen`. */
static void
rate_feature(const struct sample *const samples[2],
    struct features *const all[2], enum feature feature,
    const int buckets[2][2], struct name_rate rows[EVAL_RATES])
{
	size_t set_count, seen_count, i, at;
	double *set =
	    values_of(samples[0], all[0], feature, buckets[0], &set_count);
	double *seen =
	    values_of(samples[0], all[0], feature, buckets[1], &seen_count);

	for (i = 0; i < EVAL_RATES && set_count > 0; i++) {
		at = (size_t)ceil((double)set_count * (1 - rates[i]));
		rows[i].threshold = set[at == 0 ? 0 : at - 1];
		rows[i].false_rate =
		    share_over(seen, seen_count, rows[i].threshold);
		rows[i].true_rate = share_of_tunnels(samples[1], all[1],
		    feature, rows[i].threshold);
	}
	free(set);
	free(seen);
}

static void
rate_names(const struct sample *names, const struct sample *tunnels,
    const struct pairs *letters, struct report *report)
{
	static const int held_out[2][2] = { { EVAL_LEARNT, EVAL_LEARNT },
		{ EVAL_LEARNT + 1, EVAL_BUCKETS - 1 } };
	static const int together[2][2] = { { EVAL_LEARNT, EVAL_BUCKETS - 1 },
		{ EVAL_LEARNT, EVAL_BUCKETS - 1 } };
	const struct sample *const samples[2] = { names, tunnels };
	struct features *all[2] = { features_all(names, letters),
		features_all(tunnels, letters) };
	size_t i;
	int f;

	for (f = 0; f < FEATURES; f++) {
		rate_feature(samples, all, (enum feature)f, held_out,
		    report->held_out[f]);
		rate_feature(samples, all, (enum feature)f, together,
		    report->together[f]);
	}
	for (i = 0; i < names->count; i++) {
		report->test_names += names->items[i].bucket >= EVAL_LEARNT;
		report->set_names += names->items[i].bucket == EVAL_LEARNT;
	}
	free(all[0]);
	free(all[1]);
}

/* How many test zones ring when they are fed all their names. */
static void
ring_zones(const struct sample *names, struct report *report)
{
	struct core *core = core_new();
	struct map zones = { 0 };
	bool *rung = zeroes(names->count, sizeof(*rung)), is_new;
	struct core_says says;
	struct dname zone;
	uint32_t number;
	size_t i;

	for (i = 0; i < names->count; i++) {
		if (names->items[i].bucket < EVAL_LEARNT)
			continue;
		zone = dname_suffix(&names->items[i].name,
		    names->items[i].zone_labels);
		number = map_put(&zones, zone.wire, zone.len, &is_new);
		says = core_observe(core, number % EVAL_CLIENTS,
		    &names->items[i], (double)i);
		rung[number] |= says.rings_refused || says.rings_listed;
	}
	report->test_zones = zones.count;
	for (i = 0; i < zones.count; i++)
		report->rung_zones += rung[i];
	free(rung);
	map_free(&zones);
	core_free(core);
}

int
main(int argc, char *argv[])
{
	struct options o = { .benign_names = DATADIR "/names.txt",
		.benign_stream = DATADIR "/benign-stream.tsv",
		.tunnels = DATADIR "/tunnels.tsv",
		.learnt = DATADIR "/names.txt",
		.suffixes = SUFFIXES };
	static struct pairs letters;
	static struct report report;
	struct sample learnt = { 0 }, names = { 0 }, stream = { 0 },
		      tunnels = { 0 };
	struct apex_table suffixes;

	read_options(&o, argc, argv);
	if (sodium_init() < 0)
		die("cryptography", "does not start");
	suffixes_read(&suffixes, o.suffixes);
	sample_read_names(&learnt, o.learnt, &suffixes);
	sample_read_names(&names, o.benign_names, &suffixes);
	sample_read_stream(&stream, o.benign_stream, &suffixes);
	sample_read_tunnels(&tunnels, o.tunnels, &suffixes);
	pairs_learn(&letters, &learnt);

	report.names = &names;
	report.stream = &stream;
	report.tunnels = &tunnels;
	report.hash = model_hash();
	rate_names(&names, &tunnels, &letters, &report);
	ring_zones(&names, &report);
	streams_benign(&stream, &letters,
	    report.together[FEATURE_PAIRS][1].threshold, &report.benign);
	report.results = streams_tunnels(&tunnels, &letters, &report.benign);
	if (o.json)
		report_json(&report);
	else
		report_text(&report, o.streams);

	free(report.benign.charges);
	free(report.results);
	free(suffixes.rules.keys);
	sample_free(&learnt);
	sample_free(&names);
	sample_free(&stream);
	sample_free(&tunnels);
	return fflush(stdout) != 0 || ferror(stdout) ? 1 : 0;
}
