/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy_model - a handful of rules, of which each policy has some, and a
 * matcher on text that has nothing in common with the core's.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "tests/sim/world.h"

static const struct sim_rule rules[] = {
	{ "www.example.com", false, "ports tcp/443 tcp/80" },
	{ "api.example.com", false, "" },
	{ "v4.example.com", false, "ports tcp/22 tcp/443 udp/443" },
	{ "a.shared.example", false, "" },
	{ "b.shared.example", false, "ports tcp/443 tcp/80" },
	{ "*.pages.example.net", false, "" },
	{ "bad.pages.example.net", true, "" },
	{ "**.deep.example.org", false, "ports udp/443 tcp/443" },
	{ "**.x.deep.example.org", true, "" },
	{ "top.example.org", false, "" },
	{ "leaf.top.example.org", false, "" },
	{ "fixed.example.com", false, "addresses 192.0.2.77 2001:db8::77" },
	{ "db.corp.example", false, "ports tcp/5432 private 10.5.0.0/24" },
	{ "big.example.com", false, "" },
	{ "txt.example.com", false, "types A AAAA TXT MX" },
};

_Static_assert(ARRAY_LEN(rules) <= SIM_RULES, "a policy has a place for each");

static const char *const profiles[2] = { "agent", "ci" };
static const struct {
	const char *name, *sources;
} sandboxes[SIM_SANDBOXES] = {
	{ "box1", "10.200.1.2 2001:db8:200::2" },
	{ "box2", "10.200.2.2" },
	{ "box3", "10.200.3.2 2001:db8:200::3" },
};

void
policy_model_draw(struct world *w, struct sim_policy *ret)
{
	char text[4096], error[RIG_ERROR_MAX];
	size_t used = 0;

	ret->audit = world_chance(w, w->faults.audit);
	for (uint32_t p = 0; p < 2; p++) {
		used += (size_t)snprintf(text + used, sizeof(text) - used,
		    "policy %s%s%s\n", profiles[p],
		    p == 0 && w->faults.quarantine_on
			? " quarantine_on tunnel-suspected"
			: "",
		    p == 1 && ret->audit ? " audit" : "");
		for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
			ret->has[p][i] = world_chance(w, 75);
			if (!ret->has[p][i])
				continue;
			used +=
			    (size_t)snprintf(text + used, sizeof(text) - used,
				"%s %s %s\n", rules[i].deny ? "deny" : "allow",
				rules[i].pattern, rules[i].terms);
		}
	}
	for (uint32_t i = 0; i < SIM_SANDBOXES; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
		    "sandbox %s %s %s\n", sandboxes[i].name,
		    profiles[ret->profile_of[i + 1]], sandboxes[i].sources);
	ret->policy = rig_policy(text, error);
	if (ret->policy == NULL) {
		fprintf(stderr, "%s\n", error);
		abort();
	}
	for (uint32_t i = 1; i <= SIM_SANDBOXES; i++)
		if (ret->gone[i])
			policy_detach(ret->policy, i);
	memset(ret->withdrawn, 0, sizeof(ret->withdrawn));
}

bool
policy_model_withdraw(struct sim_policy *policy, uint32_t sandbox,
    uint32_t rule)
{
	struct policy_withdrawal it = { .kind = RULE_EXACT };
	const char *base;

	if (rule >= ARRAY_LEN(rules) || rules[rule].deny)
		return false;
	base = rules[rule].pattern;
	for (; base[0] == '*' || base[0] == '.'; base++)
		if (base[0] == '*')
			it.kind =
			    it.kind == RULE_EXACT ? RULE_CHILD : RULE_BELOW;
	if (sandbox > 0)
		(void)snprintf(it.sandbox, sizeof(it.sandbox), "%s",
		    sandboxes[sandbox - 1].name);
	if (!dname_from_text(base, strlen(base), &it.name) ||
	    policy_withdraw(policy->policy, &it) != POLICY_OK)
		return false;
	policy->withdrawn[sandbox][rule] = true;
	return true;
}

void
policy_model_attach(struct sim_policy *policy, uint32_t sandbox,
    uint8_t profile)
{
	struct policy_sandbox guest = { .profile = profile };
	char text[64], *save, *word;

	(void)snprintf(guest.name, sizeof(guest.name), "%s",
	    sandboxes[sandbox - 1].name);
	(void)snprintf(text, sizeof(text), "%s",
	    sandboxes[sandbox - 1].sources);
	for (word = strtok_r(text, " ", &save); word != NULL;
	     word = strtok_r(NULL, " ", &save))
		REQUIRE(addr_parse(word, strlen(word),
		    &guest.sources[guest.source_count++]));
	REQUIRE(policy_attach(policy->policy, sandbox, &guest) == POLICY_OK);
	policy->gone[sandbox] = false;
	policy->profile_of[sandbox] = profile;
}

static bool
is_host(const char *label, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (strchr("abcdefghijklmnopqrstuvwxyz0123456789-_",
			label[i]) == NULL)
			return false;
	return true;
}

/* The part of a name that stands for the star, with its dot; 0: no match. */
static size_t
star_len(const char *base, const char *name)
{
	size_t base_len = strlen(base), len = strlen(name);

	if (len <= base_len + 1 || strcmp(name + len - base_len, base) != 0 ||
	    name[len - base_len - 1] != '.')
		return 0;
	return len - base_len;
}

static bool
star_is_host(const char *name, size_t star)
{
	while (star > 0) {
		size_t len = strcspn(name, ".");

		if (!is_host(name, len))
			return false;
		name += len + 1;
		star -= len + 1;
	}
	return true;
}

/* 0: no match; the more specific, the more. */
static uint32_t
matches(const struct sim_rule *rule, const char *name)
{
	const char *base = rule->pattern;
	bool below = strncmp(base, "**.", 3) == 0;
	bool child = strncmp(base, "*.", 2) == 0;
	size_t star;

	if (!below && !child)
		return strcmp(base, name) == 0 ? UINT32_MAX : 0;
	base += below ? 3 : 2;
	star = star_len(base, name);
	if (star == 0 || (!rule->deny && !star_is_host(name, star)))
		return 0;
	if (child && strcspn(name, ".") != star - 1)
		return 0;
	return (uint32_t)strlen(base) * 2 + (child ? 1 : 0);
}

bool
policy_model_audits(const struct sim_policy *policy, uint32_t sandbox)
{
	return policy->audit && policy->profile_of[sandbox] == 1;
}

const struct sim_rule *
policy_model_match(const struct sim_policy *policy, uint32_t sandbox,
    const char *name)
{
	const bool *has = policy->has[policy->profile_of[sandbox]];
	const struct sim_rule *best = NULL;
	uint32_t best_fit = 0;

	if (policy->gone[sandbox])
		return NULL;

	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		uint32_t fit = has[i] ? matches(&rules[i], name) : 0;

		if (fit == 0)
			continue;
		if (rules[i].deny)
			return NULL;
		if (fit > best_fit) {
			best_fit = fit;
			best = &rules[i];
		}
	}
	if (best != NULL &&
	    (policy->withdrawn[0][best - rules] ||
		policy->withdrawn[sandbox][best - rules]))
		return NULL;
	return best;
}

uint32_t
policy_model_services(const struct sim_rule *rule,
    struct service ret[RULE_SERVICES_MAX])
{
	char text[128], *save, *word;
	uint32_t count = 0;

	(void)snprintf(text, sizeof(text), "%s", rule->terms);
	for (word = strtok_r(text, " ", &save); word != NULL;
	     word = strtok_r(NULL, " ", &save))
		if (rig_service(word, &ret[count]))
			count++;
	if (count == 0)
		ret[count++] = (struct service){ PROTO_TCP, 443 };
	return count;
}

bool
policy_model_addr(const struct sim_rule *rule, const struct addr *addr)
{
	/* All the private space of this world is in 10/8 and 127/8. */
	if (addr->family == 4 &&
	    (addr->bytes[0] == 10 || addr->bytes[0] == 127))
		return strstr(rule->terms, "private") != NULL &&
		    addr->bytes[0] == 10 && addr->bytes[1] == 5 &&
		    addr->bytes[2] == 0;
	return true;
}
