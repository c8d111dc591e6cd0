/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * import - what other tools' lists say, as rules of ours.
 *
 * Readers add entries as they find them; these are merged and judged once, and
 * printed. Nothing is lost on the way: what cannot be a rule becomes a note
 * with its reason.
 */
#ifndef SRC_CLI_IMPORT_H
#define SRC_CLI_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/policy.h"
#include "lib/text/policy_text.h"
#include "lib/text/suffix_list.h"

/* What a bare name in a list stands for. */
enum import_sense {
	IMPORT_EXACT,
	IMPORT_BELOW
};

struct import_rule {
	struct dname name;
	enum rule_kind kind;
	bool deny;
	bool without_port; /* some entry names none */
	bool many_ports; /* more than a rule may have */
	bool force; /* denies at or above a public suffix */
	uint8_t port_count;
	uint16_t ports[RULE_SERVICES_MAX]; /* TCP, ascending */
	uint32_t line;
	char *written; /* where the name is not ASCII, as it was, or NULL */
};

struct import_note {
	uint32_t line;
	char *text, *reason;
};

struct import {
	struct import_rule *rules;
	size_t rule_count;
	struct import_note *notes;
	size_t note_count;
	bool no_memory; /* sticky */
};

/* A piece of a text; no NUL behind it. */
struct span {
	const char *text;
	size_t len;
};

/* What a line or record says, beside the name and its stars. */
struct import_entry {
	uint32_t line;
	uint16_t port; /* 0: none named */
	bool deny;
};

void import_note(struct import *, uint32_t line, struct span text,
    const char *reason);
/* A name as a rule has it, with stars; false: it is a note now. */
bool import_add(struct import *, const struct import_entry *, struct span name);
/* The same, for a name that is one already. */
void import_add_name(struct import *, const struct import_entry *,
    enum rule_kind, const struct dname *);
void import_free(struct import *);

/* Equal rules become one with the ports of all, in the order of the text. */
void import_merge(struct import *);
/* Wildcards where strangers may register become notes that explain `force`. */
void import_judge(struct import *, const struct suffix_list *,
    const struct apex_table *);

/* One entry of a list: NAME, NAME:PORT, *.NAME, .NAME, URL. */
void import_plain_entry(struct import *, uint32_t line, struct span,
    enum import_sense);
void import_plain(struct import *, struct span, enum import_sense);
/* False: the text has no allowed-endpoints. */
bool import_workflow(struct import *, struct span);
/* 0, -EINVAL or -ENOMEM. */
int import_zone(struct import *, const struct text_file *,
    struct text_error *ret_error);

/* As it stands below the name of a policy. */
void import_print(FILE *, const struct import *, const char *path,
    const char *format);

/* The next line of a text, without its end; false: there is none. */
bool span_line(struct span *rest, struct span *ret);
/* The next word, by white space and commas; false: there is none. */
bool span_word(struct span *rest, struct span *ret);
/* Without white space at both ends. */
struct span span_trim(struct span);
bool span_begins(struct span, const char *);

#endif
