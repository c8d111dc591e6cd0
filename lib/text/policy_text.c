/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy_text - a whole configuration from bytes to a sealed policy.
 *
 * Everything is read first and counted, then one block of exactly that size
 * is taken and filled. What can still be wrong then is a wildcard that is too
 * wide and two rules that are the same.
 */
#include "lib/text/policy_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "lib/text/edge_include.h"
#include "lib/text/policy_lint.h"
#include "lib/text/policy_refresh.h"
#include "lib/text/policy_rules.h"
#include "lib/text/suffix_list.h"
#include "lib/text/zone_text.h"

struct builder {
	struct config *config;
	struct rule_input input;
	struct rule_set set;
	struct suffix_list suffixes; /* sorted */
	const uint8_t *secret;
	struct text_error *error;
};

static int
read_suffixes(struct builder *b)
{
	const struct text_file *file = NULL;
	const struct rule_input *input = &b->input;
	int r;

	for (size_t i = 0; i < input->file_count; i++)
		if (strcmp(input->files[i].name, "suffixes") == 0)
			file = &input->files[i];
	if (file == NULL)
		return text_error_at(b->error, input->file,
		    yaml_tree_get(input->root, "public_suffixes"),
		    "the public suffix list \"%s\" was not found; install it "
		    "(Debian: publicsuffix), or write where it is in "
		    "\"public_suffixes\"",
		    input->edge->settings.public_suffixes);
	r = suffix_text_read(file->path, file->bytes, file->size, &b->suffixes,
	    b->error);
	if (r < 0)
		return r;
	suffix_list_sort(&b->suffixes);
	memcpy(b->config->suffixes_date, b->suffixes.date,
	    sizeof(b->suffixes.date));
	return 0;
}

/* A wildcard at or above a public suffix lets strangers in: whoever may
 * register a name there is allowed with it. */
static int
check_width(struct builder *b, const struct pending_rule *pending)
{
	const struct policy_rule *rule = &pending->rule;
	const char *file = b->set.files[rule->file];
	struct yaml_node place = { .line = rule->line, .column = rule->column };
	char text[DNAME_TEXT_MAX], suffix[DNAME_TEXT_MAX];
	enum suffix_width width;

	if (rule->kind == RULE_EXACT)
		return 0;
	width = suffix_width(&b->suffixes, &b->config->policy->apex,
	    &rule->name, suffix);
	if (pending->force && width == SUFFIX_NARROW && rule->file == 0 &&
	    (pending->accept & ACCEPT_FORCE_UNNEEDED) == 0)
		policy_warn(b->config, file, rule->line, rule->column,
		    "\"force\" is not needed here [force-unneeded]");
	if (pending->force || width == SUFFIX_NARROW)
		return 0;
	policy_rule_print(rule->kind, &rule->name, text);
	return text_error_at(b->error, file, &place,
	    "\"%s\" stands %s the public suffix \"%s\", where anybody may "
	    "have a name; name what is meant, or say \"force: true\" in the "
	    "rule",
	    text, width == SUFFIX_AT ? "at" : "above", suffix);
}

static uint32_t
at_least_one(size_t count)
{
	return count > 0 ? (uint32_t)count : 1;
}

static struct policy_limits
limits_of(const struct builder *b)
{
	const struct edge_config *edge = b->input.edge;
	/* Whoever is attached at run time has a place too. */
	uint32_t numbers =
	    edge->numbers_max != 0 ? edge->numbers_max : edge_numbers_max(edge);
	struct policy_limits limits = {
		.rules_max = at_least_one(b->set.rule_count),
		.terms_max = at_least_one(b->set.term_count),
		.profiles_max = at_least_one(b->set.profile_count),
		.sandboxes_max = numbers,
		.files_max = at_least_one(b->set.file_count),
		.suffixes_max = at_least_one(b->suffixes.count),
		.name_octets_max = 1,
	};

	for (size_t i = 0; i < b->set.rule_count; i++)
		limits.name_octets_max += b->set.rules[i].rule.name.len;
	return limits;
}

static struct policy *
carve(struct arena *arena, struct policy *scratch,
    const struct policy_limits *limits, const uint8_t *secret)
{
	struct policy *policy = arena_take(arena, 1, sizeof(*policy));

	if (policy == NULL)
		policy = scratch; /* only measuring */
	policy_builder_init(policy, arena, limits, secret);
	return policy;
}

/* One block of the size that is needed, and an empty policy in it. */
static int
make_policy(struct builder *b)
{
	struct policy_limits limits = limits_of(b);
	struct policy *scratch = calloc(1, sizeof(*scratch));
	struct config *config = b->config;
	struct arena arena;

	if (scratch == NULL)
		return -ENOMEM;
	arena_init(&arena, NULL, 0);
	carve(&arena, scratch, &limits, b->secret);
	config->block = malloc(arena.used);
	if (config->block == NULL) {
		free(scratch);
		return -ENOMEM;
	}
	arena_init(&arena, config->block, arena.used);
	config->policy = carve(&arena, scratch, &limits, b->secret);
	free(scratch);
	REQUIRE(!arena.exhausted);
	return 0;
}

static void
fill_tables(struct builder *b)
{
	struct policy *policy = b->config->policy;
	uint32_t index;

	policy->protected_ranges = b->input.edge->settings.protected_ranges;
	for (size_t i = 0; i < b->set.file_count; i++)
		REQUIRE(policy_builder_file(policy, b->set.files[i], &index) ==
		    POLICY_OK);
	for (size_t i = 0; i < b->suffixes.count; i++)
		REQUIRE(apex_table_add(&policy->apex,
		    &b->suffixes.entries[i].name, b->suffixes.entries[i].rule));
	for (size_t i = 0; i < b->set.profile_count; i++)
		REQUIRE(policy_builder_profile(policy, &b->set.profiles[i],
			    &index) == POLICY_OK);
	for (size_t i = 0; i < b->set.term_count; i++)
		REQUIRE(policy_builder_terms(policy, &b->set.terms[i],
			    &index) == POLICY_OK);
}

static int
fill_rules(struct builder *b)
{
	for (size_t i = 0; i < b->set.rule_count; i++) {
		const struct pending_rule *pending = &b->set.rules[i];
		int r = check_width(b, pending);

		if (r < 0)
			return r;
		REQUIRE(policy_builder_rule(b->config->policy, pending->profile,
			    &pending->rule) == POLICY_OK);
	}
	return 0;
}

static void
fill_sandboxes(struct builder *b)
{
	const struct edge_config *edge = b->input.edge;

	for (size_t i = 0; i < edge->sandbox_count; i++) {
		const struct edge_sandbox *from = &edge->sandboxes[i];
		struct policy_sandbox sandbox = { .profile = from->policy,
			.source_count = from->source_count };

		memcpy(sandbox.name, from->name, sizeof(sandbox.name));
		memcpy(sandbox.sources, from->sources, sizeof(from->sources));
		for (size_t k = 0; k < from->prefix_count; k++) {
			bool is6 = from->prefixes[k].addr.family == 6;

			sandbox.members4 |= !is6;
			sandbox.members6 |= is6;
		}
		REQUIRE(policy_builder_sandbox(b->config->policy, &sandbox) ==
		    POLICY_OK);
	}
}

static int
refuse_equal(struct builder *b, uint32_t first, uint32_t second)
{
	const struct policy_rule *a = &b->set.rules[first].rule;
	const struct policy_rule *rule = &b->set.rules[second].rule;
	struct yaml_node place = { .line = rule->line, .column = rule->column };
	char text[DNAME_TEXT_MAX];

	policy_rule_print(rule->kind, &rule->name, text);
	return text_error_at(b->error, b->set.files[rule->file], &place,
	    "\"%s\" is in this policy twice (with what it uses); the other is "
	    "at %s:%u",
	    text, b->set.files[a->file], (unsigned)a->line);
}

/* Zones of `forward` as names, each once. */
static int
read_forward_names(struct builder *b)
{
	const struct settings *s = &b->input.edge->settings;
	struct dname *names = b->config->forward_names;
	char reason[TEXT_ERROR_MAX];

	for (size_t i = 0; i < s->forward_count; i++) {
		const struct forward_zone *zone = &s->forward[i];
		struct yaml_node place = { .line = zone->line,
			.column = zone->column };

		if (!text_name_read(zone->zone, strlen(zone->zone), &names[i],
			reason) ||
		    !text_rule_name_check(RULE_BELOW, &names[i], reason))
			return text_error_at(b->error, b->input.file, &place,
			    "%s", reason);
		for (size_t j = 0; j < i; j++)
			if (dname_equal(&names[i], &names[j]))
				return text_error_at(b->error, b->input.file,
				    &place,
				    "\"%s\" is the same zone as on line %u",
				    zone->zone, (unsigned)s->forward[j].line);
	}
	return 0;
}

static int
build(struct builder *b)
{
	uint32_t first, second;
	int r = read_forward_names(b);

	if (r == 0)
		r = read_suffixes(b);
	if (r == 0)
		r = policy_rules_read(&b->set, &b->input, b->error);
	if (r == 0)
		r = policy_refresh_settle(b->config, &b->input, &b->set,
		    b->error);
	if (r == 0)
		r = make_policy(b);
	if (r < 0)
		return r;
	fill_tables(b);
	r = fill_rules(b);
	if (r < 0)
		return r;
	fill_sandboxes(b);
	if (policy_builder_seal(b->config->policy, &first, &second) !=
	    POLICY_OK)
		return refuse_equal(b, first, second);
	policy_lint(b->config, b->input.root, &b->set);
	return 0;
}

static int
add_includes(const struct config_source *source, struct yaml_node *root,
    struct text_error *ret_error)
{
	int r = 0;

	for (size_t i = 0; i < source->file_count && r == 0; i++) {
		const struct text_file *file = &source->files[i];

		if (strcmp(file->name, "include") == 0)
			r = edge_include_add(root, file->path, file->bytes,
			    file->size, ret_error);
	}
	return r;
}

int
config_reread(struct config **ret, const struct config_source *source,
    struct text_error *ret_error)
{
	struct builder b = { .input = { .file = source->file,
				 .files = source->files,
				 .file_count = source->file_count },
		.secret = source->secret,
		.error = ret_error };
	struct yaml_node *root = NULL;
	int r;

	b.config = calloc(1, sizeof(*b.config));
	if (b.config == NULL)
		return -ENOMEM;
	r = yaml_tree_read(source->file, source->bytes, source->size, &root,
	    ret_error);
	if (r == 0)
		r = add_includes(source, root, ret_error);
	if (r == 0)
		r = edge_config_read(&b.config->edge, source->file, root,
		    ret_error);
	if (r == 0 && source->before != NULL)
		r = edge_follow(b.config->edge, source->before, source->file,
		    root, ret_error);
	b.input.root = root;
	b.input.edge = b.config->edge;
	if (r == 0)
		r = build(&b);
	policy_rules_free(&b.set);
	free(b.suffixes.entries);
	yaml_tree_free(root);
	if (r < 0) {
		config_free(b.config);
		return r;
	}
	*ret = b.config;
	return 0;
}

int
config_read(struct config **ret, const char *file, const char *bytes,
    size_t size, const struct text_file *files, size_t file_count,
    const uint8_t secret[16], struct text_error *ret_error)
{
	const struct config_source source = { .file = file,
		.bytes = bytes,
		.size = size,
		.files = files,
		.file_count = file_count,
		.secret = secret };

	return config_reread(ret, &source, ret_error);
}

void
config_free(struct config *config)
{
	if (config == NULL)
		return;
	edge_config_free(config->edge);
	free(config->block);
	free(config);
}
