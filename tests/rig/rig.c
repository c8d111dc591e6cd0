/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "tests/rig/rig.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/cursor.h"
#include "lib/dns.h"
#include "lib/require.h"

#define LINE_MAX_OCTETS 1024

static const uint8_t secret[16] = "rig rig rig rig";

struct engine_limits
rig_limits(uint32_t sandboxes)
{
	uint32_t numbers = sandboxes + 1;

	return (struct engine_limits){
		.sandboxes_max = numbers,
		.queries_max = 256,
		.queries_per_sandbox_max = 128,
		.lookups_max = 64,
		.lookups_per_sandbox_max = 32,
		.scheduled_max = 64,
		.budget = { .keys_max = 64, .sums_max = 64 },
		.warm = { .names_max = 64,
		    .names_per_sandbox_max = 0,
		    .sandboxes_max = numbers },
		.cache = { .entries_max = 128,
		    .entries_per_sandbox_max = 64,
		    .sandboxes_max = numbers },
		.pins = { .pins_max = 512,
		    .pins_per_sandbox_max = 256,
		    .names_max = 256,
		    .ops_max = 512,
		    .sandboxes_max = numbers },
		.tunnel = { .keys_max = 64,
		    .keys_per_sandbox_max = 32,
		    .sandboxes_max = numbers },
		.settings = { .ttl_floor_s = 5,
		    .ttl_cap_s = 300,
		    .ttl_negative_s = 5,
		    .pin_floor_ms = 60000,
		    .pin_cap_ms = 3600000,
		    .pin_grace_ms = 60000,
		    .question_ms = 2000,
		    .pin_ms = 500,
		    .lookup_ms = 1900,
		    .tick_ms = 1,
		    .warm_ms = 86400000,
		    .budget_sandbox = METER_LIMIT_MAX },
	};
}

struct engine *
rig_engine(const struct engine_limits *limits, const uint8_t seed[32])
{
	size_t head = (sizeof(struct engine) + 63) / 64 * 64;
	struct engine *engine = calloc(1, sizeof(*engine));
	struct arena arena;
	size_t size;

	if (engine == NULL)
		return NULL;
	arena_init(&arena, NULL, 0);
	(void)engine_init(engine, limits, &arena, seed);
	free(engine);
	size = arena.used;
	engine = calloc(1, head + size);
	if (engine == NULL)
		return NULL;
	arena_init(&arena, (uint8_t *)engine + head, size);
	if (engine_init(engine, limits, &arena, seed) != 0) {
		free(engine);
		return NULL;
	}
	return engine;
}

void
rig_engine_free(struct engine *engine)
{
	free(engine);
}

/*
 * The rule text.
 */

struct reading {
	struct policy *policy;
	uint32_t profile; /* of the allow and deny lines */
	uint32_t line;
	bool have_profile;
	char *error;
};

static bool fail(struct reading *, const char *, ...)
    __attribute__((format(printf, 2, 3)));

static bool
fail(struct reading *r, const char *format, ...)
{
	va_list args;
	int n = snprintf(r->error, RIG_ERROR_MAX,
	    "rule line %u: ", (unsigned)r->line);

	va_start(args, format);
	(void)vsnprintf(r->error + n, (size_t)(RIG_ERROR_MAX - n), format,
	    args);
	va_end(args);
	return false;
}

uint16_t
rig_type(const char *word)
{
	static const struct {
		const char *name;
		uint16_t type;
	} types[] = {
		{ "A", DNS_TYPE_A },
		{ "NS", DNS_TYPE_NS },
		{ "CNAME", DNS_TYPE_CNAME },
		{ "SOA", DNS_TYPE_SOA },
		{ "NULL", DNS_TYPE_NULL },
		{ "PTR", DNS_TYPE_PTR },
		{ "MX", DNS_TYPE_MX },
		{ "TXT", DNS_TYPE_TXT },
		{ "KEY", DNS_TYPE_KEY },
		{ "AAAA", DNS_TYPE_AAAA },
		{ "SRV", DNS_TYPE_SRV },
		{ "HTTPS", DNS_TYPE_HTTPS },
		{ "AXFR", DNS_TYPE_AXFR },
		{ "ANY", DNS_TYPE_ANY },
		{ "CAA", DNS_TYPE_CAA },
	};

	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (strcmp(word, types[i].name) == 0)
			return types[i].type;
	if (strncmp(word, "TYPE", 4) == 0)
		return (uint16_t)strtoul(word + 4, NULL, 10);
	return 0;
}

static uint16_t
rule_type(const char *word)
{
	switch (rig_type(word)) {
	case DNS_TYPE_A:
		return RULE_TYPE_A;
	case DNS_TYPE_AAAA:
		return RULE_TYPE_AAAA;
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

bool
rig_service(const char *word, struct service *ret)
{
	if (strncmp(word, "tcp/", 4) == 0)
		ret->protocol = PROTO_TCP;
	else if (strncmp(word, "udp/", 4) == 0)
		ret->protocol = PROTO_UDP;
	else
		return false;
	ret->port = (uint16_t)strtoul(word + 4, NULL, 10);
	return ret->port != 0;
}

static bool
read_prefix(const char *word, struct prefix *ret)
{
	return prefix_parse(word, strlen(word), ret);
}

/* One word after "ports", "types", "private", "addresses" or "until". */
static bool
read_term(struct policy_terms *terms, const char *list, const char *word)
{
	if (strcmp(list, "ports") == 0)
		return terms->service_count < RULE_SERVICES_MAX &&
		    rig_service(word, &terms->services[terms->service_count++]);
	if (strcmp(list, "types") == 0) {
		terms->types |= rule_type(word);
		return rule_type(word) != 0;
	}
	if (strcmp(list, "budget") == 0) {
		terms->budget = (uint32_t)strtoul(word, NULL, 10) * BUDGET_BIT;
		return terms->budget > 0;
	}
	if (strcmp(list, "private") == 0)
		return terms->private_count < RULE_PRIVATE_MAX &&
		    read_prefix(word,
			&terms->private_ok[terms->private_count++]);
	if (strcmp(list, "addresses") == 0)
		return terms->addr_count < RULE_ADDRS_MAX &&
		    addr_parse(word, strlen(word),
			&terms->addrs[terms->addr_count++]);
	if (strcmp(list, "until") == 0) {
		terms->until_wall_ms = strtoull(word, NULL, 10) * 1000;
		return terms->until_wall_ms != 0;
	}
	return false;
}

static bool
is_list(const char *word)
{
	return strcmp(word, "ports") == 0 || strcmp(word, "types") == 0 ||
	    strcmp(word, "private") == 0 || strcmp(word, "addresses") == 0 ||
	    strcmp(word, "until") == 0 || strcmp(word, "budget") == 0;
}

static bool
read_terms(struct reading *r, char **save, uint32_t *ret_index)
{
	struct policy_terms terms;
	const char *list = "", *word;

	memset(&terms, 0, sizeof(terms));
	while ((word = strtok_r(NULL, " ", save)) != NULL) {
		if (is_list(word))
			list = word;
		else if (!read_term(&terms, list, word))
			return fail(r, "%s %s", list, word);
	}
	if (terms.service_count == 0)
		terms.services[terms.service_count++] =
		    (struct service){ .protocol = PROTO_TCP, .port = 443 };
	if (terms.budget == 0)
		terms.budget = METER_LIMIT_MAX;
	if (terms.types == 0)
		terms.types = RULE_TYPE_A | RULE_TYPE_AAAA;
	if (policy_builder_terms(r->policy, &terms, ret_index) != POLICY_OK)
		return fail(r, "too many terms");
	return true;
}

static bool
read_rule(struct reading *r, bool deny, char **save)
{
	struct policy_rule rule;
	const char *name = strtok_r(NULL, " ", save);

	if (!r->have_profile || name == NULL)
		return fail(r, "a rule needs a policy above it and a name");
	memset(&rule, 0, sizeof(rule));
	rule.kind = RULE_EXACT;
	if (strncmp(name, "**.", 3) == 0) {
		rule.kind = RULE_BELOW;
		name += 3;
	} else if (strncmp(name, "*.", 2) == 0) {
		rule.kind = RULE_CHILD;
		name += 2;
	}
	rule.deny = deny;
	rule.line = r->line;
	if (!dname_from_text(name, strlen(name), &rule.name))
		return fail(r, "no name: %s", name);
	if (!read_terms(r, save, &rule.terms))
		return false;
	if (policy_builder_rule(r->policy, r->profile, &rule) != POLICY_OK)
		return fail(r, "no room for a rule");
	return true;
}

static void
read_profile_word(struct policy_profile *profile, const char *word)
{
	if (strcmp(word, "nodata") == 0)
		profile->style = DENIAL_NODATA;
	if (strcmp(word, "refused") == 0)
		profile->style = DENIAL_REFUSED;
	if (strncmp(word, "budget=", 7) == 0)
		profile->budget =
		    (uint32_t)strtoul(word + 7, NULL, 10) * BUDGET_BIT;
	if (strncmp(word, "sum=", 4) == 0)
		profile->budget_sum =
		    (uint32_t)strtoul(word + 4, NULL, 10) * BUDGET_BIT;
	if (strcmp(word, "scheduled") == 0)
		profile->refresh = REFRESH_SCHEDULED;
	if (strcmp(word, "audit") == 0)
		profile->audit = true;
	for (int i = 0; i <= EVENT_ACTION_LAST; i++)
		if (strcmp(event_action_name((enum event_action)i), word) == 0)
			profile->quarantine_on |= UINT64_C(1) << i;
}

static bool
read_profile(struct reading *r, char **save)
{
	struct policy_profile profile;
	const char *name = strtok_r(NULL, " ", save);
	const char *word;

	memset(&profile, 0, sizeof(profile));
	if (name == NULL)
		return fail(r, "a policy needs a name");
	(void)snprintf(profile.name, sizeof(profile.name), "%s", name);
	profile.budget = profile.budget_sum = METER_LIMIT_MAX;
	while ((word = strtok_r(NULL, " ", save)) != NULL)
		read_profile_word(&profile, word);
	if (policy_builder_profile(r->policy, &profile, &r->profile) !=
	    POLICY_OK)
		return fail(r, "policy %s", name);
	r->have_profile = true;
	return true;
}

static bool
read_sandbox(struct reading *r, char **save)
{
	struct policy_sandbox sandbox;
	const char *name = strtok_r(NULL, " ", save);
	const char *policy = strtok_r(NULL, " ", save), *word;
	uint32_t i = 0;

	if (name == NULL || policy == NULL)
		return fail(r, "sandbox NAME POLICY ADDR…");
	memset(&sandbox, 0, sizeof(sandbox));
	(void)snprintf(sandbox.name, sizeof(sandbox.name), "%s", name);
	while (i < r->policy->profile_count &&
	    strcmp(r->policy->profiles[i].name, policy) != 0)
		i++;
	if (i == r->policy->profile_count)
		return fail(r, "no policy %s", policy);
	sandbox.profile = i;
	while ((word = strtok_r(NULL, " ", save)) != NULL) {
		if (sandbox.source_count == POLICY_SOURCES_MAX ||
		    !addr_parse(word, strlen(word),
			&sandbox.sources[sandbox.source_count++]))
			return fail(r, "source %s", word);
	}
	if (policy_builder_sandbox(r->policy, &sandbox) != POLICY_OK)
		return fail(r, "sandbox %s", name);
	return true;
}

static bool
read_except(struct reading *r, char **save)
{
	struct protected_ranges *ranges = &r->policy->protected_ranges;
	const char *word;

	while ((word = strtok_r(NULL, " ", save)) != NULL) {
		if (ranges->except_count == PROTECTED_EXCEPT_MAX ||
		    !read_prefix(word, &ranges->except[ranges->except_count++]))
			return fail(r, "prefix %s", word);
	}
	return true;
}

static bool
read_line(struct reading *r, char *line)
{
	char *save;
	const char *word = strtok_r(line, " ", &save);

	if (word == NULL || word[0] == '#')
		return true;
	if (strcmp(word, "policy") == 0)
		return read_profile(r, &save);
	if (strcmp(word, "allow") == 0)
		return read_rule(r, false, &save);
	if (strcmp(word, "deny") == 0)
		return read_rule(r, true, &save);
	if (strcmp(word, "sandbox") == 0)
		return read_sandbox(r, &save);
	if (strcmp(word, "except") == 0)
		return read_except(r, &save);
	return fail(r, "%s", word);
}

static bool
read_text(struct reading *r, const char *text)
{
	while (*text != '\0') {
		size_t len = strcspn(text, "\n");
		char line[LINE_MAX_OCTETS];

		r->line++;
		if (len >= sizeof(line))
			return fail(r, "too long");
		memcpy(line, text, len);
		line[len] = '\0';
		for (size_t i = 0; i < len; i++)
			if (line[i] == '\t')
				line[i] = ' ';
		if (!read_line(r, line))
			return false;
		text += len + (text[len] == '\n');
	}
	return true;
}

static bool
fill_policy(struct reading *r, const char *text)
{
	char documentation[] =
	    "except 192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32";
	enum policy_error error;
	uint32_t file, first, second;

	if (policy_builder_file(r->policy, "rules", &file) != POLICY_OK)
		return fail(r, "no room for a file");
	if (!read_line(r, documentation) || !read_text(r, text))
		return false;
	error = policy_builder_seal(r->policy, &first, &second);
	if (error != POLICY_OK)
		return fail(r, "sealing says %d", (int)error);
	return true;
}

struct policy *
rig_policy(const char *text, char error[RIG_ERROR_MAX])
{
	const struct policy_limits limits = {
		.rules_max = 64,
		.terms_max = 64,
		.profiles_max = 8,
		.sandboxes_max = 16,
		.files_max = 1,
		.suffixes_max = 8,
	};
	size_t head = (sizeof(struct policy) + 63) / 64 * 64;
	struct policy *policy = calloc(1, sizeof(*policy));
	struct arena arena;
	struct reading r = { .error = error };

	error[0] = '\0';
	if (policy == NULL)
		return NULL;
	arena_init(&arena, NULL, 0);
	policy_builder_init(policy, &arena, &limits, secret);
	free(policy);
	policy = calloc(1, head + arena.used);
	if (policy == NULL)
		return NULL;
	arena_init(&arena, (uint8_t *)policy + head, arena.used);
	policy_builder_init(policy, &arena, &limits, secret);
	r.policy = policy;
	if (fill_policy(&r, text))
		return policy;
	free(policy);
	return NULL;
}

void
rig_policy_free(struct policy *policy)
{
	free(policy);
}
