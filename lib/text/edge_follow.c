/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edge_follow - see edge_follow.h.
 */
#include "lib/text/edge_follow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "lib/text/edge_each.h"
#include "lib/text/edge_listeners.h"

/* Numbers beyond twice those of the start: a reload that replaces every
 * sandbox by another one needs as many again. */
#define NUMBERS_SPARE 256

struct named {
	const char *name;
	uint32_t number;
};

uint32_t
edge_file_numbers_max(const struct edge_config *config)
{
	return (uint32_t)config->sandbox_count * 2 + NUMBERS_SPARE;
}

static uint32_t
attach_room(const struct edge_config *config)
{
	return config->attach_prefix_count > 0 || edge_each_any(config)
	    ? config->settings.attach_count_max
	    : 0;
}

uint32_t
edge_numbers_max(const struct edge_config *config)
{
	return edge_file_numbers_max(config) + attach_room(config);
}

bool
edge_sandbox_exists(const struct edge_sandbox *sandbox)
{
	return sandbox->name[0] != '\0';
}

static bool
same_endpoints(const struct endpoint *a, size_t a_count,
    const struct endpoint *b, size_t b_count)
{
	if (a_count != b_count)
		return false;
	for (size_t i = 0; i < a_count; i++)
		if (a[i].port != b[i].port ||
		    !addr_equal(&a[i].addr, &b[i].addr))
			return false;
	return true;
}

static bool
same_edge(const struct settings *a, const struct settings *b)
{
	if (a->edge_count != b->edge_count)
		return false;
	for (size_t i = 0; i < a->edge_count; i++)
		if (strcmp(a->edge[i], b->edge[i]) != 0)
			return false;
	return true;
}

static bool
same_control(const struct settings *a, const struct settings *b)
{
	return strcmp(a->status_path, b->status_path) == 0 &&
	    strcmp(a->status_group, b->status_group) == 0 &&
	    strcmp(a->control_path, b->control_path) == 0 &&
	    strcmp(a->control_group, b->control_group) == 0;
}

static bool
same_nft(const struct settings *a, const struct settings *b)
{
	return a->nft_sets == b->nft_sets &&
	    strcmp(a->nft_pins4, b->nft_pins4) == 0 &&
	    strcmp(a->nft_pins6, b->nft_pins6) == 0 &&
	    strcmp(a->nft_table, b->nft_table) == 0 &&
	    a->nft_priority == b->nft_priority &&
	    a->nft_masquerade == b->nft_masquerade &&
	    a->nft_log_group == b->nft_log_group &&
	    a->nft_log_rate == b->nft_log_rate;
}

/* The first key that needs a restart to change; NULL: none did. Limits are
 * numbers of one width, so there is no padding to compare. */
static const char *
changed_key(const struct settings *a, const struct settings *b)
{
	if (!same_endpoints(a->listen, a->listen_count, b->listen,
		b->listen_count))
		return "listen";
	if (!same_edge(a, b))
		return "edge";
	if (!same_control(a, b))
		return "control";
	if (strcmp(a->user, b->user) != 0)
		return "user";
	if (!same_nft(a, b))
		return "nft";
	if (memcmp(&a->limits, &b->limits, sizeof(a->limits)) != 0)
		return "limits";
	if (strcmp(a->state_dir, b->state_dir) != 0)
		return "state_dir";
	return NULL;
}

static int
compare_names(const void *a, const void *b)
{
	const struct named *left = a, *right = b;

	return strcmp(left->name, right->name);
}

/* The sandboxes of the configuration that holds, by name. */
static size_t
list_names(const struct edge_config *config, struct named *ret)
{
	size_t count = 0;

	for (size_t i = 0; i < config->sandbox_count; i++)
		if (edge_sandbox_exists(&config->sandboxes[i]) &&
		    !config->sandboxes[i].attached)
			ret[count++] =
			    (struct named){ config->sandboxes[i].name,
				    (uint32_t)i + 1 };
	qsort(ret, count, sizeof(*ret), compare_names);
	return count;
}

/* The first number from `at` that nobody has in the old configuration. */
static uint32_t
next_free(const struct edge_config *before, uint32_t at)
{
	while (at <= before->sandbox_count &&
	    edge_sandbox_exists(&before->sandboxes[at - 1]))
		at++;
	return at;
}

/* Fills numbers, by place in the new configuration; returns the highest. */
static uint32_t
give_numbers(const struct edge_config *next, const struct edge_config *before,
    struct named *names, uint32_t *numbers)
{
	size_t count = list_names(before, names);
	uint32_t highest = 0, free_number = 0;

	for (size_t i = 0; i < next->sandbox_count; i++) {
		const struct named key = { next->sandboxes[i].name, 0 };
		const struct named *found =
		    bsearch(&key, names, count, sizeof(key), compare_names);

		if (found != NULL)
			numbers[i] = found->number;
		else
			numbers[i] = free_number =
			    next_free(before, free_number + 1);
		if (numbers[i] > highest)
			highest = numbers[i];
	}
	return highest;
}

static int
move_to_numbers(struct edge_config *config, const uint32_t *numbers,
    uint32_t highest, uint32_t most)
{
	struct edge_sandbox *moved = calloc((size_t)most + 1, sizeof(*moved));

	if (moved == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < config->sandbox_count; i++) {
		REQUIRE(numbers[i] > 0 && numbers[i] <= highest);
		moved[numbers[i] - 1] = config->sandboxes[i];
	}
	edge_listeners_renumber(config, numbers);
	free(config->sandboxes);
	config->sandboxes = moved;
	config->sandbox_count = highest;
	return 0;
}

/* What was reserved at the start, if it was. */
static uint32_t
room_after(const struct edge_config *before, uint32_t highest)
{
	return before->numbers_max > highest ? before->numbers_max : highest;
}

static int
renumber(struct edge_config *config, const struct edge_before *before,
    uint32_t *ret_highest)
{
	size_t old_count = before->config->sandbox_count;
	struct named *names = calloc(old_count + 1, sizeof(*names));
	uint32_t *numbers = calloc(config->sandbox_count + 1, sizeof(*numbers));
	int status = -ENOMEM;

	if (names != NULL && numbers != NULL) {
		*ret_highest =
		    give_numbers(config, before->config, names, numbers);
		status = *ret_highest > before->numbers_max
		    ? -EINVAL
		    : move_to_numbers(config, numbers, *ret_highest,
			  room_after(before->config, *ret_highest));
	}
	if (status == 0) {
		config->file_numbers_max = before->config->file_numbers_max;
		config->numbers_max = before->config->numbers_max;
	}
	free(names);
	free(numbers);
	return status;
}

static int
check_attach_room(const struct edge_config *config,
    const struct edge_config *before, const char *file,
    const struct yaml_node *root, struct text_error *ret_error)
{
	const struct yaml_node *map = yaml_tree_get(root, "attach"), *node;
	uint32_t room = before->numbers_max - before->file_numbers_max;

	if (before->numbers_max == 0 || attach_room(config) <= room)
		return 0;
	node = map == NULL ? yaml_tree_get(root, "sandboxes")
			   : yaml_tree_get(map, "count_max");
	return text_error_at(ret_error, file, node != NULL ? node : map,
	    "there is room for %u attached sandboxes since the start, not for "
	    "%u; restart, or lower attach.count_max",
	    (unsigned)room, (unsigned)attach_room(config));
}

int
edge_follow(struct edge_config *config, const struct edge_before *before,
    const char *file, const struct yaml_node *root,
    struct text_error *ret_error)
{
	const char *key =
	    changed_key(&before->config->settings, &config->settings);
	const struct yaml_node *node = root;
	uint32_t highest = 0;
	int status;

	if (key != NULL) {
		if (yaml_tree_get(root, key) != NULL)
			node = yaml_tree_get(root, key);
		return text_error_at(ret_error, file, node,
		    "\"%s\" needs a restart to change; nothing was changed",
		    key);
	}
	status =
	    check_attach_room(config, before->config, file, root, ret_error);
	if (status < 0)
		return status;
	status = renumber(config, before, &highest);
	if (status != -EINVAL)
		return status;
	if (yaml_tree_get(root, "sandboxes") != NULL)
		node = yaml_tree_get(root, "sandboxes");
	return text_error_at(ret_error, file, node,
	    "too many sandboxes are new for one reload: it would take %u "
	    "numbers and there are %u; restart",
	    (unsigned)highest, (unsigned)before->numbers_max);
}
