/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy - the verdict on a question.
 *
 * One binary search finds everything that matters: whatever matches the asked
 * name stands on the chain of prefixes that ends at its place, and what is
 * listed below it begins there (policy_places.h). No hashes of names, no
 * table that could be full, nothing that a client could make slow.
 */
#include "lib/policy.h"

#include <string.h>

#include "lib/policy_places.h"
#include "lib/require.h"

struct asked {
	uint8_t key[DNS_NAME_MAX];
	uint8_t len, labels;
	uint8_t host_labels; /* from the left, all of them a-z 0-9 - _ */
};

struct match {
	uint32_t allow, deny; /* the most specific rules, RULE_NONE */
	bool below; /* some allowed name lies below */
};

static void
asked_from_name(struct asked *asked, const struct dname *name)
{
	const uint8_t *label;
	uint8_t i, len;

	asked->len = (uint8_t)(name->len - 1);
	asked->labels = name->labels;
	policy_reverse(name->wire, asked->len, asked->key);
	for (i = 0; i < name->labels; i++) {
		label = dname_label(name, i, &len);
		if (!dname_label_is_host(label, len))
			break;
	}
	asked->host_labels = i;
}

/* The first place of a profile whose key comes after the asked one. */
static uint32_t
place_after(const struct policy *policy, uint32_t profile,
    const struct asked *asked)
{
	uint32_t low = policy->profile_start[profile];
	uint32_t high = policy->profile_start[profile + 1];
	const struct policy_entry *entry;
	uint32_t middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		entry = policy_entry_at(policy, middle);
		if (policy_compare_keys(policy_key(policy, entry), entry->len,
			asked->key, asked->len) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* How many octets two keys have in common. */
static uint8_t
common_octets(const struct policy *policy, const struct policy_entry *entry,
    const struct asked *asked)
{
	const uint8_t *key = policy_key(policy, entry);
	uint8_t i = 0;

	while (i < entry->len && i < asked->len && key[i] == asked->key[i])
		i++;
	return i;
}

/* Whether a rule whose key is a prefix of the asked one matches it. Octets
 * that no host name has do not save a name from being denied. */
static bool
rule_matches(const struct policy_entry *entry, const struct asked *asked)
{
	uint8_t front = (uint8_t)(asked->labels - entry->labels);
	bool host = front <= asked->host_labels || entry->deny;

	switch ((enum rule_kind)entry->kind) {
	case RULE_EXACT:
		return front == 0;
	case RULE_CHILD:
		return front == 1 && host;
	case RULE_BELOW:
		return front >= 1 && host;
	}
	UNREACHABLE();
}

/* More labels first, then by kind, which is in that order already. */
static bool
more_specific(const struct policy *policy, uint32_t rule, uint32_t than)
{
	const struct policy_entry *a, *b;

	if (than == RULE_NONE)
		return true;
	a = &policy->entries[rule];
	b = &policy->entries[than];
	if (a->labels != b->labels)
		return a->labels > b->labels;
	return a->kind < b->kind;
}

static void
match_place(const struct policy *policy, uint32_t place,
    const struct asked *asked, struct match *match)
{
	const struct policy_entry *entry = policy_entry_at(policy, place);
	uint32_t rule = policy->order[place];
	uint32_t *best = entry->deny ? &match->deny : &match->allow;

	if (!entry->deny && !policy_entry_allows(policy, entry))
		return;
	if (entry->len == asked->len && entry->kind != RULE_EXACT &&
	    !entry->deny)
		match->below = true;
	if (rule_matches(entry, asked) && more_specific(policy, rule, *best))
		*best = rule;
}

static void
match_profile(const struct policy *policy, uint32_t profile,
    const struct asked *asked, struct match *match)
{
	uint32_t start = policy->profile_start[profile];
	uint32_t end = policy->profile_start[profile + 1];
	uint32_t place = place_after(policy, profile, asked);
	uint32_t below = place < end ? policy->next_allow[place] : POLICY_NONE;
	const struct policy_entry *entry;
	uint8_t common;

	if (below != POLICY_NONE &&
	    common_octets(policy, policy_entry_at(policy, below), asked) ==
		asked->len)
		match->below = true;
	if (place == start)
		return;
	place--;
	common = common_octets(policy, policy_entry_at(policy, place), asked);
	for (; place != POLICY_NONE; place = policy->above[place]) {
		entry = policy_entry_at(policy, place);
		if (entry->len <= common)
			match_place(policy, place, asked, match);
	}
}

static void
match_all(const struct policy *policy, uint32_t profile,
    const struct asked *asked, struct match *match)
{
	uint32_t i, used;

	match->allow = RULE_NONE;
	match->deny = RULE_NONE;
	match->below = false;
	for (i = 0; i <= policy->profiles[profile].use_count; i++) {
		used = policy_used_profile(policy, profile, i);
		if (used != POLICY_NONE)
			match_profile(policy, used, asked, match);
	}
}

/* Names that are judged whatever is listed, or unless something is. */
enum special {
	SPECIAL_NONE,
	SPECIAL_LOCALHOST,
	SPECIAL_CANARY, /* asks whether clients may go elsewhere: never */
	SPECIAL_RESOLVER, /* discovery of encrypted resolvers: nothing there */
	SPECIAL_REVERSE,
	SPECIAL_ROOT,
	SPECIAL_NOWHERE /* no name of the global DNS */
};

/* As keys: from the right. */
static const struct {
	enum special special;
	bool exact;
	uint8_t len;
	const char *key;
} SPECIALS[] = {
	{ SPECIAL_LOCALHOST, false, 10,
	    "\x09"
	    "localhost" },
	{ SPECIAL_CANARY, true, 24,
	    "\x03"
	    "net"
	    "\x13"
	    "use-application-dns" },
	{ SPECIAL_RESOLVER, false, 14,
	    "\x04"
	    "arpa"
	    "\x08"
	    "resolver" },
	{ SPECIAL_REVERSE, false, 13,
	    "\x04"
	    "arpa"
	    "\x07"
	    "in-addr" },
	{ SPECIAL_REVERSE, false, 9,
	    "\x04"
	    "arpa"
	    "\x03"
	    "ip6" },
	{ SPECIAL_NOWHERE, false, 8,
	    "\x07"
	    "invalid" },
	{ SPECIAL_NOWHERE, false, 6,
	    "\x05"
	    "local" },
	{ SPECIAL_NOWHERE, false, 6,
	    "\x05"
	    "onion" },
};

static enum special
special_of(const struct asked *asked)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(SPECIALS); i++) {
		if (asked->len < SPECIALS[i].len ||
		    (SPECIALS[i].exact && asked->len != SPECIALS[i].len))
			continue;
		if (memcmp(asked->key, SPECIALS[i].key, SPECIALS[i].len) == 0)
			return SPECIALS[i].special;
	}
	if (asked->labels == 0)
		return SPECIAL_ROOT;
	return asked->labels == 1 ? SPECIAL_NOWHERE : SPECIAL_NONE;
}

/* The rule_type bits that a question of this type wants, 0: none may have
 * it. ANY gets the addresses (RFC 8482). */
static uint16_t
types_wanted(uint16_t type)
{
	switch (type) {
	case DNS_TYPE_A:
		return RULE_TYPE_A;
	case DNS_TYPE_AAAA:
		return RULE_TYPE_AAAA;
	case DNS_TYPE_ANY:
		return RULE_TYPE_A | RULE_TYPE_AAAA;
	case DNS_TYPE_TXT:
		return RULE_TYPE_TXT;
	case DNS_TYPE_MX:
		return RULE_TYPE_MX;
	case DNS_TYPE_SRV:
		return RULE_TYPE_SRV;
	case DNS_TYPE_CAA:
		return RULE_TYPE_CAA;
	default:
		return 0;
	}
}

/* A type of our own families is no use to a sandbox without such an address,
 * and anything but NODATA would take the whole name from it. */
static enum denial
judge_listed(const struct policy *policy, const struct policy_sandbox *sandbox,
    uint32_t rule, uint16_t type)
{
	uint16_t allowed = policy->terms[policy->entries[rule].terms].types;
	uint16_t left = allowed & types_wanted(type);

	if (left == 0)
		return DENIAL_TYPE;
	if (!sandbox->has4)
		left = (uint16_t)(left & ~RULE_TYPE_A);
	if (!sandbox->has6)
		left = (uint16_t)(left & ~RULE_TYPE_AAAA);
	return left == 0 ? DENIAL_FAMILY : DENIAL_NONE;
}

/* Reverse names end with the address itself; what lies between is empty, and
 * NXDOMAIN there would deny the addresses too (RFC 8020). */
static enum denial
judge_reverse(const struct asked *asked)
{
	uint8_t labels = asked->key[5] == 3 ? 34 : 6;

	return asked->labels < labels ? DENIAL_SPECIAL_NODATA : DENIAL_PTR;
}

/* The listed name that _service._proto stands before, as a match. */
static bool
match_service(const struct policy *policy, uint32_t profile,
    const struct asked *asked, struct match *match)
{
	struct asked base = *asked;
	uint8_t i, at = 0;

	if (asked->labels < 3)
		return false;
	for (i = 0; i + 2 < asked->labels; i++)
		at = (uint8_t)(at + asked->key[at] + 1);
	base.len = at;
	base.labels = (uint8_t)(asked->labels - 2);
	base.host_labels =
	    asked->host_labels > 2 ? (uint8_t)(asked->host_labels - 2) : 0;
	for (i = 0; i < 2; i++) {
		if (asked->key[at] == 0 || asked->key[at + 1] != '_')
			return false;
		at = (uint8_t)(at + asked->key[at] + 1);
	}
	match_all(policy, profile, &base, match);
	return match->allow != RULE_NONE && match->deny == RULE_NONE;
}

static enum denial
judge_unlisted(const struct policy *policy,
    const struct policy_sandbox *sandbox, const struct asked *asked,
    uint16_t type, struct match *match)
{
	struct match base;

	if (type != DNS_TYPE_SRV ||
	    !match_service(policy, sandbox->profile, asked, &base))
		return DENIAL_UNLISTED;
	match->allow = base.allow;
	return DENIAL_TYPE;
}

static enum denial
judge_localhost(uint16_t type)
{
	uint16_t addresses = RULE_TYPE_A | RULE_TYPE_AAAA;

	return (types_wanted(type) & addresses) != 0 ? DENIAL_NONE
						     : DENIAL_SPECIAL_NODATA;
}

/*
 * judge - the verdict, and in *match the rules behind it.
 *
 * What no rule may change comes first, then deny, then what is listed. A name
 * that is not to be had but has listed names below it is always NODATA.
 */
static enum denial
judge(const struct policy *policy, const struct policy_sandbox *sandbox,
    const struct asked *asked, uint16_t type, struct match *match)
{
	enum special special = special_of(asked);

	match_all(policy, sandbox->profile, asked, match);
	if (special == SPECIAL_LOCALHOST)
		return judge_localhost(type);
	if (special == SPECIAL_CANARY)
		return DENIAL_SPECIAL;
	if (special == SPECIAL_RESOLVER)
		return DENIAL_SPECIAL_NODATA;
	if (match->deny != RULE_NONE)
		return match->below ? DENIAL_PARENT : DENIAL_DENY_RULE;
	if (special == SPECIAL_REVERSE &&
	    (type == DNS_TYPE_PTR || match->allow == RULE_NONE))
		return judge_reverse(asked);
	if (match->allow != RULE_NONE &&
	    policy_is_withdrawn(policy, sandbox, match->allow))
		return match->below ? DENIAL_PARENT : DENIAL_WITHDRAWN;
	if (match->allow != RULE_NONE)
		return judge_listed(policy, sandbox, match->allow, type);
	if (match->below)
		return DENIAL_PARENT;
	if (special == SPECIAL_ROOT)
		return DENIAL_SPECIAL_NODATA;
	if (special == SPECIAL_NOWHERE)
		return DENIAL_SPECIAL;
	return judge_unlisted(policy, sandbox, asked, type, match);
}

static void
name_from_key(const struct policy *policy, const struct policy_entry *entry,
    struct dname *ret)
{
	policy_reverse(policy_key(policy, entry), entry->len, ret->wire);
	ret->wire[entry->len] = 0;
	ret->len = (uint8_t)(entry->len + 1);
	ret->labels = entry->labels;
}

static void
name_rule(struct verdict *verdict, const struct policy *policy, uint32_t rule)
{
	const struct policy_entry *entry = &policy->entries[rule];
	const struct policy_terms *terms;

	verdict->rule = rule;
	verdict->kind = (enum rule_kind)entry->kind;
	name_from_key(policy, entry, &verdict->rule_name);
	if (entry->deny)
		return;
	terms = &policy->terms[entry->terms];
	verdict->types = terms->types;
	verdict->until_wall_ms = terms->until_wall_ms;
	verdict->budget = terms->budget;
	verdict->service_count = terms->service_count;
	verdict->private_count = terms->private_count;
	verdict->addr_count = terms->addr_count;
	memcpy(verdict->services, terms->services,
	    terms->service_count * sizeof(terms->services[0]));
	memcpy(verdict->private_ok, terms->private_ok,
	    terms->private_count * sizeof(terms->private_ok[0]));
	memcpy(verdict->addrs, terms->addrs,
	    terms->addr_count * sizeof(terms->addrs[0]));
}

/* What the rules deny and an audit lets pass. What no rule could grant stays
 * denied: special names, and types whose data nobody here can read. */
static bool
is_lifted(enum denial denial, uint16_t type)
{
	return (denial == DENIAL_UNLISTED || denial == DENIAL_DENY_RULE ||
		   denial == DENIAL_WITHDRAWN || denial == DENIAL_PARENT ||
		   denial == DENIAL_TYPE) &&
	    types_wanted(type) != 0;
}

/* Nothing that a rule opens is opened for a name that it does not grant. */
static void
lift(struct verdict *verdict, const struct policy_sandbox *sandbox,
    uint16_t type)
{
	uint16_t left = types_wanted(type);

	verdict->audit = true;
	if (!is_lifted(verdict->denial, type))
		return;
	verdict->would = verdict->denial;
	verdict->types = RULE_TYPE_A | RULE_TYPE_AAAA | RULE_TYPE_TXT |
	    RULE_TYPE_MX | RULE_TYPE_SRV | RULE_TYPE_CAA;
	verdict->until_wall_ms = 0;
	verdict->service_count = 0;
	verdict->private_count = 0;
	verdict->addr_count = 0;
	if (!sandbox->has4)
		left = (uint16_t)(left & ~RULE_TYPE_A);
	if (!sandbox->has6)
		left = (uint16_t)(left & ~RULE_TYPE_AAAA);
	verdict->denial = left == 0 ? DENIAL_FAMILY : DENIAL_NONE;
}

struct verdict
policy_match(const struct policy *policy, uint32_t number,
    const struct question *question)
{
	const struct policy_sandbox *sandbox = policy_sandbox(policy, number);
	const struct policy_profile *profile;
	struct verdict verdict;
	struct asked asked;
	struct match match;

	memset(&verdict, 0, sizeof(verdict));
	verdict.rule = RULE_NONE;
	verdict.policy = POLICY_NONE;
	verdict.apex_labels = apex_labels(&policy->apex, &question->name);
	if (sandbox == NULL) {
		verdict.denial = DENIAL_UNKNOWN_SOURCE;
		return verdict;
	}
	profile = &policy->profiles[sandbox->profile];
	verdict.policy = sandbox->profile;
	verdict.style = profile->style;
	verdict.tell = profile->tell;
	verdict.has4 = sandbox->has4;
	verdict.has6 = sandbox->has6;
	asked_from_name(&asked, &question->name);
	verdict.denial = judge(policy, sandbox, &asked, question->type, &match);
	verdict.localhost = special_of(&asked) == SPECIAL_LOCALHOST;
	verdict.listed = match.allow != RULE_NONE;
	verdict.lists_below = match.below;
	if (match.deny != RULE_NONE)
		name_rule(&verdict, policy, match.deny);
	else if (match.allow != RULE_NONE)
		name_rule(&verdict, policy, match.allow);
	verdict.scheduled = profile->refresh == REFRESH_SCHEDULED &&
	    verdict.denial == DENIAL_NONE && match.allow != RULE_NONE &&
	    verdict.kind == RULE_EXACT;
	if (profile->audit)
		lift(&verdict, sandbox, question->type);
	return verdict;
}

static bool
terms_grant(const struct policy *policy, const struct policy_terms *terms,
    const struct service *service, const struct addr *addr)
{
	bool found = false;
	uint8_t i;

	for (i = 0; i < terms->service_count; i++) {
		if (terms->services[i].protocol == service->protocol &&
		    terms->services[i].port == service->port)
			found = true;
	}
	if (!found)
		return false;
	found = terms->addr_count == 0;
	for (i = 0; i < terms->addr_count; i++) {
		if (addr_equal(&terms->addrs[i], addr))
			found = true;
	}
	return found &&
	    addr_protected(addr, &policy->protected_ranges, terms->private_ok,
		terms->private_count) == ADDR_GLOBAL;
}

bool
policy_grants(const struct policy *policy, uint32_t number,
    const struct dname *name, const struct service *service,
    const struct addr *addr)
{
	const struct policy_sandbox *sandbox = policy_sandbox(policy, number);
	uint16_t type = addr->family == 4 ? DNS_TYPE_A : DNS_TYPE_AAAA;
	struct asked asked;
	struct match match;

	if (sandbox == NULL)
		return false;
	asked_from_name(&asked, name);
	if (judge(policy, sandbox, &asked, type, &match) != DENIAL_NONE ||
	    match.allow == RULE_NONE || special_of(&asked) == SPECIAL_LOCALHOST)
		return false;
	return terms_grant(policy,
	    &policy->terms[policy->entries[match.allow].terms], service, addr);
}

bool
policy_rule_is_scheduled(const struct policy *policy, uint32_t rule)
{
	const struct policy_entry *entry;

	REQUIRE(rule < policy->rule_count);
	entry = &policy->entries[rule];
	return !entry->deny && entry->kind == RULE_EXACT &&
	    policy->terms[entry->terms].addr_count == 0 &&
	    !policy->terms[entry->terms].expired &&
	    policy->profiles[entry->profile].feeds_schedule;
}

void
policy_rule_at(const struct policy *policy, uint32_t rule,
    struct policy_rule *ret)
{
	const struct policy_entry *entry;

	REQUIRE(rule < policy->rule_count);
	entry = &policy->entries[rule];
	memset(ret, 0, sizeof(*ret));
	name_from_key(policy, entry, &ret->name);
	ret->kind = (enum rule_kind)entry->kind;
	ret->deny = entry->deny;
	ret->terms = entry->terms;
	ret->file = entry->file;
	ret->line = entry->line;
	ret->column = entry->column;
}

/* How many whole labels, from the right, a rule shares with the asked name. */
static uint8_t
common_labels(const struct policy *policy, uint32_t rule,
    const struct asked *asked)
{
	const struct policy_entry *entry = &policy->entries[rule];
	const uint8_t *key = policy_key(policy, entry);
	uint8_t common = common_octets(policy, entry, asked);
	uint8_t labels = 0, at = 0;

	while (at < entry->len && at + key[at] + 1 <= common) {
		at = (uint8_t)(at + key[at] + 1);
		labels++;
	}
	return labels;
}

/* Takes the rule at a place if it is nearer; earlier in the file wins ties. */
static void
take_nearer(const struct policy *policy, uint32_t place,
    const struct asked *asked, uint32_t *nearest, uint8_t *labels)
{
	uint32_t rule = policy->order[place];
	uint8_t common = common_labels(policy, rule, asked);

	if (common > *labels ||
	    (common == *labels && common > 0 && rule < *nearest)) {
		*nearest = rule;
		*labels = common;
	}
}

uint32_t
policy_nearest(const struct policy *policy, uint32_t number,
    const struct dname *name)
{
	const struct policy_sandbox *sandbox = policy_sandbox(policy, number);
	uint32_t nearest = RULE_NONE, place, i, used, end;
	struct asked asked;
	uint8_t labels = 0;

	if (sandbox == NULL)
		return RULE_NONE;
	asked_from_name(&asked, name);
	for (i = 0; i <= policy->profiles[sandbox->profile].use_count; i++) {
		used = policy_used_profile(policy, sandbox->profile, i);
		if (used == POLICY_NONE)
			continue;
		/* Keys get less alike with the distance from the place. */
		place = place_after(policy, used, &asked);
		end = policy->profile_start[used + 1];
		if (place < end && policy->next_allow[place] != POLICY_NONE)
			take_nearer(policy, policy->next_allow[place], &asked,
			    &nearest, &labels);
		while (place > policy->profile_start[used] &&
		    policy_entry_at(policy, place - 1)->deny)
			place--;
		if (place > policy->profile_start[used])
			take_nearer(policy, place - 1, &asked, &nearest,
			    &labels);
	}
	return nearest;
}

uint32_t
policy_sandbox_by_name(const struct policy *policy, const char *name)
{
	uint32_t i;

	if (name[0] == '\0')
		return 0;
	for (i = 0; i < policy->sandbox_count; i++) {
		if (policy_text_equal(policy->sandboxes[i].name, name))
			return i + 1;
	}
	return 0;
}

uint32_t
policy_sandbox_by_source(const struct policy *policy, const struct addr *addr)
{
	uint8_t key[POLICY_SOURCE_KEY_SIZE];
	uint32_t slot;

	policy_source_key(addr, key);
	slot = table_find(&policy->sources, key);
	return slot == TABLE_NONE ? 0 : policy->source_sandbox[slot];
}

const struct policy_sandbox *
policy_sandbox(const struct policy *policy, uint32_t number)
{
	REQUIRE(policy->sealed);
	if (number == 0 || number > policy->sandbox_count ||
	    policy->sandboxes[number - 1].name[0] == '\0')
		return NULL;
	return &policy->sandboxes[number - 1];
}

size_t
policy_rule_print(enum rule_kind kind, const struct dname *name, char *buf)
{
	char text[DNAME_TEXT_MAX];
	size_t stars = 0, len = dname_print(name, text);

	switch (kind) {
	case RULE_EXACT:
		break;
	case RULE_CHILD:
		stars = 2;
		break;
	case RULE_BELOW:
		stars = 3;
		break;
	}
	if (len + stars >= DNAME_TEXT_MAX)
		len = DNAME_TEXT_MAX - 1 - stars;
	memcpy(buf, "**.", 3);
	if (stars == 2)
		memcpy(buf, "*.", 2);
	memcpy(buf + stars, text, len);
	buf[stars + len] = '\0';
	return stars + len;
}
