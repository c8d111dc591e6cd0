/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/policy_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t SECRET[16] = { 3, 1, 4, 1, 5 };

struct dname
rig_name(const char *text)
{
	struct dname name;

	if (strcmp(text, ".") == 0)
		dname_root(&name);
	else
		ck_assert_msg(dname_from_text(text, strlen(text), &name), "%s",
		    text);
	return name;
}

struct addr
rig_addr(const char *text)
{
	struct addr addr;

	ck_assert_msg(addr_parse(text, strlen(text), &addr), "%s", text);
	return addr;
}

static void
add_profile(struct policy *policy, const char *name, enum denial_style style,
    int use)
{
	struct policy_profile profile = { .style = style, .tell = TELL_CODE };
	uint32_t index;

	snprintf(profile.name, sizeof(profile.name), "%s", name);
	if (use >= 0) {
		profile.use_count = 1;
		profile.use[0] = (uint32_t)use;
	}
	ck_assert_int_eq(policy_builder_profile(policy, &profile, &index),
	    POLICY_OK);
}

static void
add_sandbox(struct policy *policy, const char *name, uint32_t profile,
    const char *source4, const char *source6)
{
	struct policy_sandbox sandbox = { .profile = profile };

	snprintf(sandbox.name, sizeof(sandbox.name), "%s", name);
	if (source4 != NULL)
		sandbox.sources[sandbox.source_count++] = rig_addr(source4);
	if (source6 != NULL)
		sandbox.sources[sandbox.source_count++] = rig_addr(source6);
	ck_assert_int_eq(policy_builder_sandbox(policy, &sandbox), POLICY_OK);
}

static void
add_terms(struct policy *policy)
{
	struct policy_terms web = {
		.service_count = 2,
		.services = { { PROTO_TCP, 443 }, { PROTO_UDP, 443 } },
		.types = RULE_TYPE_A | RULE_TYPE_AAAA,
	};
	struct policy_terms txt = { .types = RULE_TYPE_TXT };
	uint32_t index;

	ck_assert_int_eq(policy_builder_terms(policy, &web, &index), POLICY_OK);
	ck_assert_uint_eq(index, TERMS_WEB);
	ck_assert_int_eq(policy_builder_terms(policy, &txt, &index), POLICY_OK);
	ck_assert_uint_eq(index, TERMS_TXT);
}

void
rig_open(struct rig *world, const struct policy_limits *limits)
{
	struct policy *policy = &world->policy;
	struct arena arena;
	struct dname com = rig_name("com"), couk = rig_name("co.uk");

	arena_init(&arena, NULL, 0);
	policy_builder_init(policy, &arena, limits, SECRET);
	world->block = malloc(arena.used);
	ck_assert_ptr_nonnull(world->block);
	arena_init(&arena, world->block, arena.used);
	policy_builder_init(policy, &arena, limits, SECRET);
	ck_assert(!arena.exhausted);
	ck_assert(apex_table_add(&policy->apex, &com, APEX_NORMAL));
	ck_assert(apex_table_add(&policy->apex, &couk, APEX_NORMAL));
	add_profile(policy, "base", DENIAL_NXDOMAIN, -1);
	add_profile(policy, "agent", DENIAL_REFUSED, BASE);
	add_profile(policy, "other", DENIAL_NODATA, -1);
	add_sandbox(policy, "box4", AGENT, "192.0.2.4", NULL);
	add_sandbox(policy, "box6", AGENT, NULL, "2001:db8::6");
	add_sandbox(policy, "box46", AGENT, "192.0.2.46", "2001:db8::46");
	add_sandbox(policy, "lone", OTHER, "192.0.2.9", NULL);
	add_terms(policy);
}

const struct policy_limits RIG_SMALL = {
	.rules_max = 16,
	.terms_max = 8,
	.profiles_max = 8,
	.sandboxes_max = 8,
	.files_max = 2,
	.suffixes_max = 8,
};

enum policy_error
rig_add_rule(struct policy *policy, const char *text, size_t len, uint32_t line)
{
	struct policy_rule rule = { .line = line, .terms = TERMS_WEB };
	uint32_t profile = AGENT;

	for (; len > 0 && strchr("-+t", text[0]) != NULL; text++, len--) {
		if (text[0] == '-')
			rule.deny = true;
		else if (text[0] == '+')
			profile = BASE;
		else if (len > 1 && text[1] == ':')
			rule.terms = TERMS_TXT;
		else
			break;
		if (text[0] == 't') {
			text++;
			len--;
		}
	}
	if (len > 3 && memcmp(text, "**.", 3) == 0) {
		rule.kind = RULE_BELOW;
		text += 3;
		len -= 3;
	} else if (len > 2 && memcmp(text, "*.", 2) == 0) {
		rule.kind = RULE_CHILD;
		text += 2;
		len -= 2;
	}
	ck_assert(dname_from_text(text, len, &rule.name));
	return policy_builder_rule(policy, profile, &rule);
}

/* Adds rules that blanks separate; line is the number of the rule, from 1. */
void
rig_add_rules(struct policy *policy, const char *rules)
{
	uint32_t line = 1;
	size_t len;

	while (*rules != '\0') {
		len = strcspn(rules, " ");
		ck_assert_int_eq(rig_add_rule(policy, rules, len, line++),
		    POLICY_OK);
		rules += len + strspn(rules + len, " ");
	}
}

void
rig_seal(struct rig *world, const char *rules)
{
	uint32_t first = 0, second = 0;

	rig_add_rules(&world->policy, rules);
	ck_assert_int_eq(policy_builder_seal(&world->policy, &first, &second),
	    POLICY_OK);
}

void
rig_close(struct rig *world)
{
	free(world->block);
}

struct verdict
rig_match(const struct rig *world, uint32_t sandbox, const char *name,
    uint16_t type)
{
	struct question question = { .type = type, .class = DNS_CLASS_IN };

	question.name = rig_name(name);
	return policy_match(&world->policy, sandbox, &question);
}
