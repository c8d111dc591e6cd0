/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy - immutable compiled rules and sandboxes; one question, one verdict.
 *
 * Built off to the side by a builder in an arena of its own, sealed, swapped
 * in as a pointer, freed whole. Of a sealed one only who has it changes, and
 * which rules are withdrawn. Matching walks labels, never characters: the
 * exact name, then wildcards from the longest parent up, `*` before `**` at
 * the same parent; any matching deny rule wins over all allow rules. A label
 * with an octet outside a-z 0-9 - _ matches no allowing wildcard; a denying
 * one covers it.
 *
 * Sandboxes are numbered from 1 in the order in which they were added; 0 is
 * nobody. One without a name and without a source is a hole: a number that
 * nobody has now.
 */
#ifndef LIB_POLICY_H
#define LIB_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/addr.h"
#include "lib/apex.h"
#include "lib/arena.h"
#include "lib/dname.h"
#include "lib/question.h"
#include "lib/table.h"
#include "lib/verdict.h"

#define POLICY_NAME_MAX      64 /* names of policies and sandboxes, with NUL */
#define POLICY_SOURCES_MAX   8
#define POLICY_USE_MAX       16
#define POLICY_NONE          UINT32_MAX
#define POLICY_WITHDRAWN_MAX 256

/* What several rules share: terms are added once and referred to. */
struct policy_terms {
	uint8_t service_count, private_count, addr_count;
	struct service services[RULE_SERVICES_MAX];
	struct prefix private_ok[RULE_PRIVATE_MAX];
	struct addr addrs[RULE_ADDRS_MAX];
	uint16_t types; /* enum rule_type bits */
	uint64_t until_wall_ms; /* 0: for ever; see policy_expire_rules() */
	bool expired; /* its rules grant nothing */
	uint32_t budget; /* of each wildcard, 1/256 bit in 24 h */
	/* Octets that go to its names a day, and by which number the quota is
	 * known; 0: no quota. */
	uint64_t upload, upload_rule;
};

struct policy_rule {
	struct dname name; /* of the rule; a wildcard's parent */
	enum rule_kind kind;
	bool deny;
	uint32_t terms; /* index */
	uint32_t file; /* index of policy_builder_file() */
	uint32_t line, column;
};

/* When a policy's exact names are looked up. */
enum refresh {
	REFRESH_UNSAID, /* as REFRESH_ON_DEMAND */
	REFRESH_ON_DEMAND, /* when a client asks */
	REFRESH_SCHEDULED /* on our own clock */
};

/* A policy's own settings. */
struct policy_profile {
	char name[POLICY_NAME_MAX];
	enum denial_style style;
	enum tell tell;
	enum refresh refresh;
	bool feeds_schedule; /* set by sealing: it, or one that uses it, has
				REFRESH_SCHEDULED */
	uint32_t budget; /* of the exact names that are asked on demand, 1/256
			    bit in 24 h */
	uint32_t budget_sum; /* of all its sandboxes together */
	uint32_t exact_own, exact_count; /* set by sealing: exact names that it
					    allows, without and with those
					    of what it uses */
	/* Names that no rule grants are asked all the same, and told without
	 * being pinned: the kernel lets it pass. */
	bool audit;
	uint32_t use[POLICY_USE_MAX]; /* indexes of profiles, one level */
	uint8_t use_count;
	/* Alerts after which a sandbox is cut off: bits by number of action. */
	uint64_t quarantine_on;
};

struct policy_sandbox {
	char name[POLICY_NAME_MAX];
	uint32_t profile;
	struct addr sources[POLICY_SOURCES_MAX];
	uint8_t source_count;
	bool has4, has6; /* set by policy_builder_sandbox() */
	/* Its members have such addresses, and it is judged as they are. */
	bool members4, members6;
};

struct policy_limits {
	uint32_t rules_max, terms_max, profiles_max, sandboxes_max, files_max;
	uint32_t suffixes_max; /* of the public suffix table */
	uint32_t name_octets_max; /* sum of the rules' name.len; 0: the most
				     that rules_max names can have */
};

/* A rule as it is kept. Private: policy_rule_at() gives it back. */
struct policy_entry {
	uint32_t name; /* offset of its key in names */
	uint32_t profile; /* whose rule it is, before `use` */
	uint32_t terms, file, line, column;
	uint8_t len, labels; /* of the key */
	uint8_t kind;
	bool deny;
};

/* A rule that grants nothing any more, by kind and name. */
struct policy_withdrawal {
	char sandbox[POLICY_NAME_MAX]; /* to whom; "": to all */
	enum rule_kind kind;
	struct dname name;
};

/* Private but for the tables that other modules index: terms, profiles,
 * sandboxes, files, apex, protected_ranges, withdrawn. */
struct policy {
	struct policy_limits limits;
	struct policy_entry *entries;
	struct policy_terms *terms;
	struct policy_profile *profiles;
	struct policy_sandbox *sandboxes; /* [0] is number 1 */
	char (*files)[256];
	uint32_t rule_count, term_count, profile_count, sandbox_count,
	    file_count;
	uint8_t *names; /* keys: labels from the right, without the root */
	uint32_t names_used;
	/* By place in the order of (profile, key, kind, deny). */
	uint32_t *order; /* the rule there */
	uint32_t *above; /* the nearest place before it whose key is a prefix */
	uint32_t *next_allow; /* the first place from here that allows */
	uint32_t *profile_start; /* by profile: its first place; one more */
	struct table sources; /* address -> sandbox */
	uint32_t *source_sandbox; /* by slot of sources */
	struct apex_table apex;
	struct protected_ranges protected_ranges;
	struct policy_withdrawal *withdrawn;
	uint32_t withdrawn_count;
	bool sealed;
};

enum policy_error {
	POLICY_OK,
	POLICY_FULL, /* over one of the limits */
	POLICY_EQUAL, /* two equal rules in one policy; see ret_first/second */
	POLICY_NAME_TAKEN /* or a source address */
};

/* Carves a policy of these limits out of an arena (see arena: measuring). */
void policy_builder_init(struct policy *, struct arena *,
    const struct policy_limits *, const uint8_t secret[16]);
enum policy_error policy_builder_file(struct policy *, const char *path,
    uint32_t *ret_index);
enum policy_error policy_builder_profile(struct policy *,
    const struct policy_profile *, uint32_t *ret_index);
enum policy_error policy_builder_terms(struct policy *,
    const struct policy_terms *, uint32_t *ret_index);
enum policy_error policy_builder_rule(struct policy *, uint32_t profile,
    const struct policy_rule *);
enum policy_error policy_builder_sandbox(struct policy *,
    const struct policy_sandbox *);
/*
 * Builds the match tables, `use` resolved. POLICY_EQUAL names the two rules
 * by index: two rules with the same kind, name and deny in one policy and
 * what it uses.
 */
enum policy_error policy_builder_seal(struct policy *, uint32_t *ret_first,
    uint32_t *ret_second);

/*
 * Of a sealed policy (policy_change.c). A sandbox takes a number that nobody
 * has, up to limits.sandboxes_max (REQUIREd); has4 and has6 are set from its
 * sources. POLICY_NAME_TAKEN, and nothing has changed, when its name or one
 * of its sources is somebody's. Leaving makes the number a hole; assigning
 * gives the sandbox another profile.
 */
enum policy_error policy_attach(struct policy *, uint32_t sandbox,
    const struct policy_sandbox *);
void policy_detach(struct policy *, uint32_t sandbox);
void policy_assign(struct policy *, uint32_t sandbox, uint32_t profile);
/* Withdraws every allowing rule of this kind and name; again changes nothing.
 * A name stays withdrawn for a sandbox that goes and comes back. POLICY_OK or
 * POLICY_FULL. */
enum policy_error policy_withdraw(struct policy *,
    const struct policy_withdrawal *);
/* Gives back what was withdrawn from a sandbox of this name alone. True: there
 * was something. */
bool policy_give_back(struct policy *, const char *sandbox);
/* Whether some allowing rule that this sandbox has (0: that any policy has)
 * is of this kind and name. */
bool policy_has_rule(const struct policy *, uint32_t sandbox, enum rule_kind,
    const struct dname *);

/*
 * Sets which rules are past their date. True when that changed anything: then
 * the policy has to be set anew, so that what they granted is revoked.
 * *ret_next_ms is the first date that is to come, POLICY_NO_DATE when there
 * is none. Rules that deny have no date.
 */
#define POLICY_NO_DATE UINT64_MAX
bool policy_expire_rules(struct policy *, uint64_t wall_ms,
    uint64_t *ret_next_ms);

/* The verdict on a question of a sandbox (1 … sandbox_count; anything else
 * gives UNKNOWN_SOURCE). Special names (RFC 6761, resolver.arpa, the canary
 * use-application-dns.net, single labels) are judged here too. */
struct verdict policy_match(const struct policy *, uint32_t sandbox,
    const struct question *);
/* The same for a name alone: whether its rule still grants (protocol, port)
 * to this sandbox. For re-judging pins. */
bool policy_grants(const struct policy *, uint32_t sandbox,
    const struct dname *, const struct service *, const struct addr *);
/* Whether the schedule has what a rule allows to ask. */
bool policy_rule_is_scheduled(const struct policy *, uint32_t rule);
/* A rule by index, as it was added; index under rule_count (REQUIREd). */
void policy_rule_at(const struct policy *, uint32_t rule,
    struct policy_rule *ret);
/* The first wildcard from one index on and before another that allows, in
 * what a sandbox has; RULE_NONE: there is none. */
uint32_t policy_next_wildcard(const struct policy *, uint32_t sandbox,
    uint32_t from, uint32_t end);
/* The rule nearest to an unlisted name: the allow rule with the most labels
 * in common, at least one; RULE_NONE when there is none. For explain. */
uint32_t policy_nearest(const struct policy *, uint32_t sandbox,
    const struct dname *);
/* A sandbox's number by name or by source address, 0 when there is none. */
uint32_t policy_sandbox_by_name(const struct policy *, const char *name);
uint32_t policy_sandbox_by_source(const struct policy *, const struct addr *);
const struct policy_sandbox *policy_sandbox(const struct policy *,
    uint32_t sandbox); /* NULL: nobody, or a hole */
/* "*.example.com" and the like into buf of DNAME_TEXT_MAX octets. */
size_t policy_rule_print(enum rule_kind, const struct dname *, char *buf);

#endif
