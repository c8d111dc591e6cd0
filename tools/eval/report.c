/* SPDX-License-Identifier: BSD-2-Clause */
/* report - see report.h. */
#include "config.h"

#include "tools/eval/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/alarm.h"

/* What a rule makes of the tunnels that are long enough. */
struct catch
{
	size_t caught, of;
	double median, worst; /* queries */
	double payload_median, payload_worst; /* bits */
};

static int
compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static double
quantile(const double *sorted, size_t count, double share)
{
	size_t at = (size_t)((double)count * share);

	if (count == 0)
		return 0;
	return sorted[at >= count ? count - 1 : at];
}

static double
median(const double *sorted, size_t count)
{
	if (count == 0)
		return 0;
	return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

static bool
is_long(const struct tunnel_result *result)
{
	return result->queries >= EVAL_STREAM_LEAST;
}

/* Of the streams that first() finds: in the query and the payload then. */
static struct catch catch_of(const struct report *r, int rule)
{
	size_t count = r->tunnels->streams.count, i, first;
	double *queries = zeroes(count, sizeof(*queries)),
	       *payload = zeroes(count, sizeof(*payload));
	struct catch c = { 0 };

	for (i = 0; i < count; i++) {
		if (!is_long(&r->results[i]))
			continue;
		c.of++;
		first = rule < RULES ? r->results[i].first[rule]
				     : r->results[i].refused;
		if (first == 0)
			continue;
		queries[c.caught] = (double)first;
		payload[c.caught++] = rule < RULES
		    ? r->results[i].payload[rule]
		    : r->results[i].payload_refused;
	}
	qsort(queries, c.caught, sizeof(*queries), compare);
	qsort(payload, c.caught, sizeof(*payload), compare);
	c.median = median(queries, c.caught);
	c.worst = quantile(queries, c.caught, 1);
	c.payload_median = median(payload, c.caught);
	c.payload_worst = quantile(payload, c.caught, 1);
	free(queries);
	free(payload);
	return c;
}

static bool
is_of_zones(int rule)
{
	return rule == RULE_ZONE_BYTES_120 || rule == RULE_ZONE_BYTES_600;
}

static double
share_flagged(const struct stream_result *b, int rule)
{
	size_t of = is_of_zones(rule) ? b->zones : b->pairs;

	return of == 0 ? 0 : 100 * (double)b->flagged[rule] / (double)of;
}

static double *
charges_sorted(const struct stream_result *b)
{
	double *bits = zeroes(b->pairs, sizeof(*bits));
	size_t i;

	for (i = 0; i < b->pairs; i++)
		bits[i] = b->charges[i].bits;
	qsort(bits, b->pairs, sizeof(*bits), compare);
	return bits;
}

/* ---- for people ------------------------------------------------------ */

static void
text_names(const struct report *r)
{
	int f, i;

	printf("\nper name: %zu benign of zones that taught nothing (%zu set "
	       "thresholds),\n%zu of %u tunnels (mean over tunnels)\n\n",
	    r->test_names, r->set_names, r->tunnels->count,
	    r->tunnels->streams.count);
	printf("%-14s  %-34s  %s\n", "", "bucket 6 sets, 7 and above report",
	    "all of them set and report");
	printf("%-14s  %-10s %-11s %-11s  %-6s %-6s %-6s\n", "feature",
	    "TPR at 5 %", "1 %", "0.1 %", "5 %", "1 %", "0.1 %");
	for (f = 0; f < FEATURES; f++) {
		printf("%-14s ", feature_names[f]);
		for (i = 0; i < EVAL_RATES; i++)
			printf(" %3.0f (%4.1f) ",
			    100 * r->held_out[f][i].true_rate,
			    100 * r->held_out[f][i].false_rate);
		for (i = 0; i < EVAL_RATES; i++)
			printf("  %5.1f", 100 * r->together[f][i].true_rate);
		printf("\n");
	}
	printf("in brackets: the rate of false positives that was met\n");
}

static void
text_rule(const struct report *r, int rule)
{
	struct catch c = catch_of(r, rule);

	printf("%-40s %5zu %5.2f %% %4zu/%zu %6.1f %6.0f %7.0f %7.0f\n",
	    rule_names[rule], r->benign.flagged[rule],
	    share_flagged(&r->benign, rule), c.caught, c.of, c.median, c.worst,
	    c.payload_median, c.payload_worst);
}

static void
text_streams(const struct report *r)
{
	int rule;

	printf("\nper stream: %zu benign questions, %zu (client, zone) pairs, "
	       "%zu zones;\ntunnels of more than %d questions\n\n",
	    r->benign.queries, r->benign.pairs, r->benign.zones,
	    EVAL_STREAM_LEAST - 1);
	printf("%-40s %-13s %-7s %-13s  %s\n", "", "benign", "tunnels",
	    "queries until", "payload until");
	printf("%-40s %-13s %-7s %6s %6s %7s %7s\n", "rule", "flagged",
	    "caught", "median", "worst", "median", "worst");
	for (rule = 0; rule < RULES; rule++)
		text_rule(r, rule);
	printf("cuts of octets, at no more than 0.4 %%: zones %u and %u, "
	       "pairs %u and %u\n",
	    r->benign.cut[RULE_ZONE_BYTES_120],
	    r->benign.cut[RULE_ZONE_BYTES_600],
	    r->benign.cut[RULE_PAIR_BYTES_120],
	    r->benign.cut[RULE_PAIR_BYTES_600]);
	printf("test zones that ring when fed all their names: %zu of %zu\n",
	    r->rung_zones, r->test_zones);
}

static void
text_ledger(const struct report *r)
{
	double *bits = charges_sorted(&r->benign);
	size_t n = r->benign.pairs;
	struct catch c = catch_of(r, RULES);

	printf(
	    "\nledger, %u bits: charged to a benign pair: median %.0f, p90 %.0f, "
	    "p99 %.0f, most %.0f bits;\nrefused: %zu of %zu pairs\n",
	    ALARM_BUDGET, quantile(bits, n, 0.5), quantile(bits, n, 0.9),
	    quantile(bits, n, 0.99), quantile(bits, n, 1),
	    r->benign.refused_pairs, n);
	printf("tunnels refused: %zu of %zu, at query %.0f (worst %.0f), "
	       "after %.0f (worst %.0f) bits\n",
	    c.caught, c.of, c.median, c.worst, c.payload_median,
	    c.payload_worst);
	free(bits);
}

static void
text_each(const struct report *r)
{
	const struct tunnel_result *t;
	size_t i;

	printf("\n%-40s %7s %8s %9s %13s %7s %7s\n", "tunnel", "queries",
	    "refused:", "listed:", "payload bits", "charged", "unpaid");
	for (i = 0; i < r->tunnels->streams.count; i++) {
		t = &r->results[i];
		printf("%-40s %7zu %8zu %9zu %13.0f %7.0f %7zu\n", t->label,
		    t->queries, t->first[RULE_ALARM_REFUSED],
		    t->first[RULE_ALARM_LISTED], t->payload[RULE_ALARM_LISTED],
		    t->alarm_charged, t->refused);
	}
}

void
report_text(const struct report *r, bool each_stream)
{
	printf("model %s\n", r->hash);
	if (r->names->skipped + r->stream->skipped + r->tunnels->skipped > 0)
		printf("lines that are no name: %zu of names, %zu of the "
		       "stream, %zu of tunnels\n",
		    r->names->skipped, r->stream->skipped, r->tunnels->skipped);
	text_names(r);
	text_streams(r);
	text_ledger(r);
	if (each_stream)
		text_each(r);
}

/* ---- for programs ---------------------------------------------------- */

static void
json_rates(const char *key, const struct name_rate rates[EVAL_RATES])
{
	int i;

	printf("\"%s\":[", key);
	for (i = 0; i < EVAL_RATES; i++)
		printf("%s{\"tpr\":%.4f,\"fpr\":%.5f,\"threshold\":%.4f}",
		    i == 0 ? "" : ",", rates[i].true_rate, rates[i].false_rate,
		    rates[i].threshold > -1e9 ? rates[i].threshold : -1e9);
	printf("]");
}

static void
json_names(const struct report *r)
{
	int f;

	printf("\"names\":{\"test\":%zu,\"set\":%zu,\"features\":{",
	    r->test_names, r->set_names);
	for (f = 0; f < FEATURES; f++) {
		printf("%s\"%s\":{", f == 0 ? "" : ",", feature_names[f]);
		json_rates("held_out", r->held_out[f]);
		printf(",");
		json_rates("together", r->together[f]);
		printf("}");
	}
	printf("}}");
}

static void
json_rules(const struct report *r)
{
	struct catch c;
	int rule;

	printf("\"rules\":[");
	for (rule = 0; rule < RULES; rule++) {
		c = catch_of(r, rule);
		printf("%s{\"rule\":\"%s\",\"flagged\":%zu,\"of\":%zu,"
		       "\"caught\":%zu,\"tunnels\":%zu,",
		    rule == 0 ? "" : ",", rule_names[rule],
		    r->benign.flagged[rule],
		    is_of_zones(rule) ? r->benign.zones : r->benign.pairs,
		    c.caught, c.of);
		printf("\"queries\":{\"median\":%.1f,\"worst\":%.0f},"
		       "\"payload_bits\":{\"median\":%.0f,\"worst\":%.0f},"
		       "\"cut\":%u}",
		    c.median, c.worst, c.payload_median, c.payload_worst,
		    r->benign.cut[rule]);
	}
	printf("]");
}

static void
json_ledger(const struct report *r)
{
	double *bits = charges_sorted(&r->benign);
	size_t n = r->benign.pairs;
	struct catch c = catch_of(r, RULES);

	printf(",\"ledger\":{\"p50\":%.0f,\"p90\":%.0f,\"p99\":%.0f,"
	       "\"max\":%.0f,\"refused\":%zu,\"pairs\":%zu,",
	    quantile(bits, n, 0.5), quantile(bits, n, 0.9),
	    quantile(bits, n, 0.99), quantile(bits, n, 1),
	    r->benign.refused_pairs, n);
	printf("\"tunnels_refused\":%zu,\"tunnels\":%zu,"
	       "\"queries\":{\"median\":%.1f,\"worst\":%.0f},"
	       "\"payload_bits\":{\"median\":%.0f,\"worst\":%.0f}}",
	    c.caught, c.of, c.median, c.worst, c.payload_median,
	    c.payload_worst);
	free(bits);
}

/* Labels come from a file. */
static void
json_string(const char *text)
{
	putchar('"');
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			printf("\\%c", *text);
		else if (*text >= ' ' && *text <= '~')
			putchar(*text);
		else
			printf("\\u%04x", (unsigned)(uint8_t)*text);
	}
	putchar('"');
}

static void
json_each(const struct report *r)
{
	const struct tunnel_result *t;
	size_t i;
	int rule;

	printf("\"tunnels\":[");
	for (i = 0; i < r->tunnels->streams.count; i++) {
		t = &r->results[i];
		printf("%s{\"label\":", i == 0 ? "" : ",");
		json_string(t->label);
		printf(",\"queries\":%zu,\"codec\":%.1f,\"first\":[",
		    t->queries, t->codec);
		for (rule = 0; rule < RULES; rule++)
			printf("%s%zu", rule == 0 ? "" : ",", t->first[rule]);
		printf("],\"charged_bits\":%.0f,\"refused\":%zu}",
		    t->alarm_charged, t->refused);
	}
	printf("]");
}

void
report_json(const struct report *r)
{
	printf("{\"model\":\"%s\",\"skipped\":%zu,", r->hash,
	    r->names->skipped + r->stream->skipped + r->tunnels->skipped);
	json_names(r);
	printf(",\"stream\":{\"questions\":%zu,\"pairs\":%zu,\"zones\":%zu},"
	       "\"test_zones\":{\"rung\":%zu,\"of\":%zu},",
	    r->benign.queries, r->benign.pairs, r->benign.zones, r->rung_zones,
	    r->test_zones);
	json_rules(r);
	json_ledger(r);
	printf(",");
	json_each(r);
	printf("}\n");
}
