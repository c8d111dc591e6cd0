/* SPDX-License-Identifier: BSD-2-Clause */
/* report - one table, or one JSON object, of everything that was measured. */
#ifndef TOOLS_EVAL_REPORT_H
#define TOOLS_EVAL_REPORT_H

#include "tools/eval/eval.h"

#define EVAL_RATES 3 /* false positives of 5, 1 and 0.1 % */

struct name_rate {
	double threshold;
	double false_rate, true_rate;
};

struct report {
	const char *hash;
	const struct sample *names, *stream, *tunnels;
	size_t test_names, set_names, test_zones, rung_zones;
	/* Thresholds by bucket 6, false positives in 7 and above. */
	struct name_rate held_out[FEATURES][EVAL_RATES];
	/* Both by all zones that taught nothing. */
	struct name_rate together[FEATURES][EVAL_RATES];
	struct stream_result benign;
	struct tunnel_result *results;
};

void report_text(const struct report *, bool each_stream);
void report_json(const struct report *);

#endif
