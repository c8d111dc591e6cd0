/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tunnel - evidence of tunnelling in the names that are asked, whatever the
 * reply was.
 *
 * Observes every question that has a name, denied ones above all: the alarm
 * grades the attempt. Evidence is kept by (sandbox, registrable domain). This
 * is the plain evidence: a type that no host asks for (NULL, PRIVATE, KEY),
 * four or more different non-address types within 60 s, a label outside
 * a-z 0-9 - _, a label over 40 octets, over 60 octets under the registrable
 * domain. Questions for an exact listed name count only for their type. A
 * finding is raised once for each (sandbox, domain) and 60 s window, with
 * everything seen so far; when the table is full for a sandbox, evidence
 * that needs no memory still raises findings, rate-limited for each sandbox.
 *
 * Beside it stands the alarm of tunnel_shape.h, for all names but exact listed
 * ones. It has no window; where it rings after a finding without it was
 * raised, there is one more in that window.
 */
#ifndef LIB_TUNNEL_H
#define LIB_TUNNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/arena.h"
#include "lib/denial.h"
#include "lib/dname.h"
#include "lib/question.h"
#include "lib/table.h"
#include "lib/tunnel_shape.h"
#include "lib/verdict.h"

#define TUNNEL_WINDOW_MS   60000
#define TUNNEL_SAMPLES_MAX 3
#define TUNNEL_TYPES_MAX   4

enum tunnel_sign {
	TUNNEL_ODD_TYPE = 1,
	TUNNEL_MANY_TYPES = 2,
	TUNNEL_FOREIGN_OCTET = 4,
	TUNNEL_LONG_LABEL = 8,
	TUNNEL_LONG_NAME = 16,
	TUNNEL_SHAPE = 32, /* the alarm rings */
	TUNNEL_MANY_DOMAINS = 64 /* more than a sandbox may have alarms */
};

struct tunnel_evidence {
	uint64_t window_start_ms;
	bool raised, raised_shape;
	uint32_t signs; /* enum tunnel_sign bits */
	uint32_t question_count;
	uint16_t types[TUNNEL_TYPES_MAX];
	uint8_t type_count;
	uint8_t sample_count;
	struct dname samples[TUNNEL_SAMPLES_MAX];
	uint32_t sandbox;
};

struct tunnel_finding {
	uint32_t signs;
	uint32_t question_count; /* in this window */
	struct dname apex;
	uint8_t sample_count;
	struct dname samples[TUNNEL_SAMPLES_MAX];
	/* With TUNNEL_SHAPE: of the alarm, amounts in bits. */
	uint32_t score, volume;
	uint32_t nnew, nrep; /* names, new and asked before */
	/* Of a name that is charged for: what its parts have cost. */
	bool is_charged;
	uint32_t time_bits, type_bits, name_bits;
};

struct tunnel {
	struct tunnel_limits limits;
	struct table keys; /* sandbox, apex hash */
	struct tunnel_evidence *evidence; /* by slot */
	uint32_t *sandbox_keys; /* how many each sandbox holds, by number */
	uint64_t *sandbox_raised_ms; /* last finding without memory */
	uint64_t full_count; /* questions that found no place */
	struct tunnel_shape shape;
	uint8_t secret[16];
};

void tunnel_init(struct tunnel *, struct arena *, const struct tunnel_limits *,
    const uint8_t secret[16]);
/* Returns true when a finding is to be reported now. */
bool tunnel_observe(struct tunnel *, uint32_t sandbox, const struct question *,
    const struct verdict *, uint64_t now_ms, struct tunnel_finding *ret);
/* Whether a listed wildcard's question is to be refused for what was
 * observed. The plain evidence never refuses: DENIAL_NONE. */
enum denial tunnel_judge(const struct tunnel *, uint32_t sandbox,
    const struct question *, const struct verdict *);
/* Forgets all of a sandbox. */
void tunnel_forgive(struct tunnel *, uint32_t sandbox);
/* Stable words for events, "odd-type" …, by bit; NULL for an unknown bit. */
const char *tunnel_sign_name(uint32_t sign);

#endif
