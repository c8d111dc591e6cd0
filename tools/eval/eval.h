/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * eval - measures the detection of tunnels, by the core's own code, beside
 * detectors that others use.
 *
 * Zones are registrable domains; "below" are the labels before them. Time is
 * in seconds from the start of a sample.
 */
#ifndef TOOLS_EVAL_EVAL_H
#define TOOLS_EVAL_EVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/apex.h"
#include "lib/dname.h"

#define EVAL_CACHE_S      300 /* a resolver's memory in front */
#define EVAL_GAP_S        60 /* between names without times */
#define EVAL_BUCKETS      10
#define EVAL_LEARNT       6 /* buckets whose zones taught the model */
#define EVAL_LABEL_MAX    64
#define EVAL_STREAM_LEAST 6 /* queries; less is no stream to find */
#define EVAL_CLIENTS      4000 /* at most */
#define EVAL_NONE         UINT32_MAX

/* ---- maps: octets to numbers from 0 ---------------------------------- */

struct map {
	struct map_slot {
		uint8_t *key;
		size_t len;
		uint32_t value;
	} * slots;
	size_t capacity; /* a power of two */
	uint32_t count;
};

/* The number of a key; a new one gets the next. */
uint32_t map_put(struct map *, const void *key, size_t len, bool *ret_new);
/* EVAL_NONE where there is none. */
uint32_t map_get(const struct map *, const void *key, size_t len);
void map_free(struct map *);

/* Memory or exit. */
void *grow(void *array, size_t count, size_t *capacity, size_t size);
void *zeroes(size_t count, size_t size);
_Noreturn void die(const char *what, const char *detail);

/* ---- samples --------------------------------------------------------- */

/* What the longest label of a name is spelt with. */
enum spelling {
	SPELT_EIGHT = 1, /* octets over 127 */
	SPELT_MIXED = 2, /* small and capital letters */
	SPELT_BEYOND_HEX = 4,
	SPELT_LETTERS = 8
};

struct item {
	struct dname name;
	uint8_t zone_labels;
	uint8_t bucket;
	uint16_t type;
	uint8_t spelling; /* enum spelling, of a tunnel's name as it was sent */
	uint32_t stream; /* origin, client or tunnel */
	double at;
};

struct sample {
	struct item *items;
	size_t count, capacity;
	size_t skipped; /* lines that are no name */
	struct map streams; /* by label */
	char (*labels)[EVAL_LABEL_MAX];
	size_t label_capacity;
};

void suffixes_read(struct apex_table *, const char *path);
/* NAME TAB ORIGIN [TAB LABELS-OF-ZONE] */
void sample_read_names(struct sample *, const char *path,
    const struct apex_table *);
/* SECONDS TAB CLIENT TAB TYPE TAB NAME */
void sample_read_stream(struct sample *, const char *path,
    const struct apex_table *);
/* LABEL TAB SECONDS TAB TYPE TAB NAME */
void sample_read_tunnels(struct sample *, const char *path,
    const struct apex_table *);
void sample_free(struct sample *);
static inline uint8_t
labels_below(const struct item *item)
{
	return (uint8_t)(item->name.labels - item->zone_labels);
}

/* ---- what a name alone says ------------------------------------------ */

enum feature {
	FEATURE_ENTROPY, /* of all below, dots included */
	FEATURE_LABEL_ENTROPY, /* the highest of a label */
	FEATURE_LENGTH,
	FEATURE_LABEL_LENGTH,
	FEATURE_DIGITS, /* their share */
	FEATURE_PAIRS, /* mean bits a character, by pairs of letters */
	FEATURE_MODEL, /* the core's log-likelihood ratio */
	FEATURES
};

struct features {
	double value[FEATURES]; /* -INFINITY for a bare zone */
	bool long_and_mixed; /* a label over 24 with an entropy over 3.5 */
};

/* Pairs of letters, as freq.py and its like count them. */
struct pairs {
	uint32_t count[128][128], total[128];
};

extern const char *const feature_names[FEATURES];
void pairs_learn(struct pairs *, const struct sample *);
void features_of(const struct item *, const struct pairs *,
    struct features *ret);

/* ---- rules over streams ---------------------------------------------- */

enum rule {
	RULE_ENTROPY_40,
	RULE_ENTROPY_35,
	RULE_LENGTH_52,
	RULE_LABEL_24,
	RULE_PAIRS_1, /* over the mean of 1 % of names */
	RULE_8_AN_HOUR,
	RULE_100_A_DAY,
	RULE_1000_A_DAY,
	RULE_ZONE_BYTES_120,
	RULE_ZONE_BYTES_600,
	RULE_PAIR_BYTES_120,
	RULE_PAIR_BYTES_600,
	RULE_ALARM_REFUSED, /* the core's, names that are on no list */
	RULE_ALARM_LISTED, /* the core's, names below a wildcard */
	RULES
};

extern const char *const rule_names[RULES];

/* What a run over a sample says of each of its (client, zone) pairs. */
struct charge {
	double bits; /* that were charged, all asked */
	bool is_refused;
};

struct stream_result {
	size_t queries, zones, pairs;
	size_t flagged[RULES]; /* benign: of pairs, or of zones */
	double mean_threshold; /* of pairs of letters */
	uint32_t cut[RULES]; /* octets */
	struct charge *charges; /* by pair */
	size_t refused_pairs;
};

/* One tunnel; queries count from 1, 0: never. */
struct tunnel_result {
	char label[EVAL_LABEL_MAX];
	size_t queries;
	double codec; /* bits a character */
	size_t first[RULES]; /* the query at which a rule is met */
	double payload[RULES]; /* bits until then */
	double alarm_charged; /* bits charged until RULE_ALARM_LISTED */
	size_t refused; /* the first query that is not paid */
	double payload_refused;
};

/* Runs the rules; cuts of octets are set so that at most 0.4 % are over. */
void streams_benign(const struct sample *, const struct pairs *,
    double mean_threshold, struct stream_result *ret);
struct tunnel_result *streams_tunnels(const struct sample *,
    const struct pairs *, const struct stream_result *benign);

/* ---- the core, one client and zone after the other ------------------- */

struct core;

struct core *core_new(void);
void core_free(struct core *);
/* Begins a new time for the ledgers, with nothing spent. */
void core_begin(struct core *);
/* A name of a pair; the number of pairs grows as they come. Bit by bit what
 * the core says. */
struct core_says {
	bool rings_refused, rings_listed;
	bool is_refused;
	double charged; /* for this name */
};

struct core_says core_observe(struct core *, uint32_t client,
    const struct item *, double at);

#endif
