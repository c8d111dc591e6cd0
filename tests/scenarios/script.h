/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * script - a scenario while it runs: the engine, the clock, the effects that
 * nobody has expected yet, and the words of the line at hand.
 */
#ifndef TESTS_SCENARIOS_SCRIPT_H
#define TESTS_SCENARIOS_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/rig/rig.h"

#define SCRIPT_WORDS_MAX  24
#define SCRIPT_LABELS_MAX 256
#define SCRIPT_WAIT_MAX   1024

/* What a label of the script stands for: a client, an ask, a pin, flows. */
struct label {
	char name[32];
	enum effect_kind kind; /* REPLY: a client */
	uint16_t port, id; /* REPLY */
	struct effect effect; /* ASK, PIN, FLOWS */
};

struct script {
	const char *path;
	FILE *file;
	uint32_t line;
	bool verbose;
	bool failed;
	struct engine *engine;
	struct engine_limits limits;
	struct policy *policy;
	uint64_t now_ms;
	uint32_t edges; /* not 0: asks leave when the scenario goes there */
	struct effect *waiting; /* not expected yet, oldest first */
	uint32_t waiting_count;
	struct effect taken; /* what the last EXPECT was about */
	uint64_t reply_count, outcome_count;
	struct label *labels;
	uint32_t label_count;
	char rules[4096];
	char rest[1024]; /* of the line, behind " : " */
	char words_text[1024];
	char *words[SCRIPT_WORDS_MAX];
	uint32_t word_count;
};

/* Says where and what, and fails the scenario. Gives false. */
bool script_fail(struct script *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Pulls what an input gave. */
void script_drain(struct script *);
/* True where nothing waits but what need not be expected. */
bool script_is_quiet(struct script *);
/* Goes to a time, expiring whatever is due on the way. */
void script_advance(struct script *, uint64_t at_ms);
/* Goes to the next edge, where asks wait for it. */
void script_let_leave(struct script *);
struct label *script_label(struct script *, enum effect_kind, const char *name);
struct label *script_new_label(struct script *, enum effect_kind,
    const char *name);
/* Takes effect i out of those that wait, into taken. */
void script_consume(struct script *, uint32_t i);

uint32_t script_sandbox(const struct script *, const char *name);
/* "1500ms", "2s"; false when it is no time. */
bool script_time(const char *word, uint64_t *ret_ms);
/* "ok" or an errno's name, as 0 or negative; 1 when it is none. */
int script_status(const char *word);
int script_rcode(const char *word); /* -1: none */
bool script_element(struct script *, uint32_t word, struct pin_element *ret);
/* The value of a word "key=…" behind the first `from` words, NULL: none. */
const char *script_option(const struct script *, uint32_t from,
    const char *key);
bool script_flag(const struct script *, uint32_t from, const char *flag);

/* COVERS ROW…: prints them. */
bool script_covers(struct script *);
/* EXPECT …, in expect.c. */
bool script_expect(struct script *);

#endif
