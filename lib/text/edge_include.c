/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edge_include - see edge_include.h.
 */
#include "lib/text/edge_include.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const mergeable[] = { "policies", "sandboxes", NULL };

static struct yaml_node *
find(struct yaml_node *map, const char *key)
{
	for (struct yaml_node *n = map->first; n != NULL; n = n->next)
		if (strcmp(n->key->text, key) == 0)
			return n;
	return NULL;
}

static void
append(struct yaml_node *map, struct yaml_node *entry)
{
	struct yaml_node **end = &map->first;

	while (*end != NULL)
		end = &(*end)->next;
	*end = entry;
	entry->next = NULL;
	map->count++;
}

/* Two names are one too many, wherever they stand. */
static int
check_taken(const struct yaml_node *map, const char *path,
    const struct yaml_node *entry, struct text_error *ret_error)
{
	const struct yaml_node *there = yaml_tree_get(map, entry->key->text);

	if (there == NULL)
		return 0;
	return text_error_at(ret_error, path, entry->key,
	    "\"%s\" is here twice; the first is at %s:%u", entry->key->text,
	    there->key->file, (unsigned)there->key->line);
}

/* Moves the entries of one map to the end of another. */
static int
move_entries(struct yaml_node *to, struct yaml_node *from, const char *path,
    struct text_error *ret_error)
{
	struct yaml_node *next;

	if (from->kind != YAML_MAPPING || to->kind != YAML_MAPPING)
		return text_error_at(ret_error, path, from,
		    "\"%s\" is a map of names here and in the file that "
		    "includes this one",
		    from->key->text);
	for (struct yaml_node *n = from->first; n != NULL; n = next) {
		int status = check_taken(to, path, n, ret_error);

		next = n->next;
		from->first = n;
		if (status < 0)
			return status;
		append(to, n);
		from->first = next;
	}
	return 0;
}

static int
check_root(const struct yaml_node *root, const char *path,
    struct text_error *ret_error)
{
	if (root->kind != YAML_MAPPING)
		return text_error_at(ret_error, path, root,
		    "an included file has \"policies\" and \"sandboxes\"");
	for (const struct yaml_node *n = root->first; n != NULL; n = n->next)
		if (strcmp(n->key->text, mergeable[0]) != 0 &&
		    strcmp(n->key->text, mergeable[1]) != 0)
			return text_error_at(ret_error, path, n->key,
			    "\"%s\" does not belong into an included file; "
			    "only policies and sandboxes do",
			    n->key->text);
	return 0;
}

/* Takes the value of a key out of a map. */
static struct yaml_node *
take(struct yaml_node *map, const char *key)
{
	struct yaml_node **at = &map->first;

	while (*at != NULL && strcmp((*at)->key->text, key) != 0)
		at = &(*at)->next;
	if (*at == NULL)
		return NULL;

	struct yaml_node *node = *at;

	*at = node->next;
	node->next = NULL;
	return node;
}

static int
merge(struct yaml_node *root, struct yaml_node *tree, const char *path,
    struct text_error *ret_error)
{
	int status = check_root(tree, path, ret_error);

	for (size_t i = 0; status == 0 && mergeable[i] != NULL; i++) {
		struct yaml_node *to = find(root, mergeable[i]);
		struct yaml_node *from = find(tree, mergeable[i]);

		if (from == NULL)
			continue;
		if (to != NULL)
			status = move_entries(to, from, path, ret_error);
		else
			append(root, take(tree, mergeable[i]));
	}
	return status;
}

int
edge_include_add(struct yaml_node *root, const char *path, const char *bytes,
    size_t size, struct text_error *ret_error)
{
	struct yaml_node *tree = NULL;
	int status;

	if (root->kind != YAML_MAPPING)
		return 0; /* the reader of the whole says so */
	status = yaml_tree_read(path, bytes, size, &tree, ret_error);
	if (status == 0)
		status = merge(root, tree, path, ret_error);
	yaml_tree_free(tree);
	return status;
}

/* ---- files ------------------------------------------------------------ */

/* 0 or a negative errno. */
static int
read_file(struct include_file *file)
{
	FILE *from = fopen(file->path, "re");
	int status = 0;

	if (from == NULL)
		return -errno;
	file->bytes = malloc(YAML_FILE_SIZE_MAX + 1);
	if (file->bytes == NULL)
		status = -ENOMEM;
	else
		file->size =
		    fread(file->bytes, 1, YAML_FILE_SIZE_MAX + 1, from);
	if (status == 0 && ferror(from) != 0)
		status = -EIO;
	if (status == 0 && file->size > YAML_FILE_SIZE_MAX)
		status = -EFBIG;
	fclose(from);
	return status;
}

struct search {
	struct includes *includes;
	const char *file;
	struct yaml_node *root;
	const struct yaml_node *node; /* the name at hand */
	struct text_error *error;
};

static int
add_path(struct search *s, const char *path)
{
	struct includes *all = s->includes;
	struct include_file *file = &all->files[all->count];
	int status;

	if (all->count == INCLUDE_FILES_MAX ||
	    strlen(path) >= sizeof(file->path))
		return text_error_at(s->error, s->file, s->node,
		    "\"%s\": more than %d files, or a path over %d octets",
		    s->node->text, INCLUDE_FILES_MAX, SETTINGS_PATH_MAX - 1);
	for (size_t i = 0; i < all->count; i++)
		if (strcmp(all->files[i].path, path) == 0)
			return text_error_at(s->error, s->file, s->node,
			    "%s is included twice", path);
	snprintf(file->path, sizeof(file->path), "%s", path);
	all->count++;
	status = read_file(file);
	if (status == -ENOMEM)
		return status;
	if (status < 0)
		return text_error_at(s->error, s->file, s->node, "%s: %s", path,
		    strerror(-status));
	return edge_include_add(s->root, file->path, file->bytes, file->size,
	    s->error);
}

/* Files that a name matches, in the order of their names. A star that
 * matches nothing is an empty folder; a plain name has to be there. */
static int
search(struct search *s)
{
	const char *slash = strrchr(s->file, '/');
	char pattern[SETTINGS_PATH_MAX * 2];
	bool plain = strpbrk(s->node->text, "*?[") == NULL;
	glob_t found = { .gl_pathc = 0 };
	int status = 0;

	snprintf(pattern, sizeof(pattern), "%.*s%.255s",
	    s->node->text[0] == '/' || slash == NULL
		? 0
		: (int)(slash + 1 - s->file),
	    s->file, s->node->text);
	if (glob(pattern, plain ? GLOB_NOCHECK : 0, NULL, &found) ==
	    GLOB_NOSPACE)
		status = -ENOMEM;
	for (size_t i = 0; status == 0 && i < found.gl_pathc; i++)
		status = add_path(s, found.gl_pathv[i]);
	globfree(&found);
	return status;
}

int
edge_includes_read(struct includes *ret, const char *file,
    struct yaml_node *root, struct text_error *ret_error)
{
	struct search s = { .includes = ret,
		.file = file,
		.root = root,
		.error = ret_error };
	const struct yaml_node *list = yaml_tree_get(root, "include");
	int status = 0;

	memset(ret, 0, sizeof(*ret));
	/* What else is wrong with it the reader of the settings says. */
	if (list == NULL || list->kind != YAML_SEQUENCE)
		return 0;
	ret->files = calloc(INCLUDE_FILES_MAX, sizeof(*ret->files));
	if (ret->files == NULL)
		return -ENOMEM;
	for (s.node = list->first; status == 0 && s.node != NULL;
	     s.node = s.node->next)
		if (s.node->kind == YAML_SCALAR && s.node->len > 0)
			status = search(&s);
	return status;
}

void
edge_includes_free(struct includes *includes)
{
	for (size_t i = 0; i < includes->count; i++)
		free(includes->files[i].bytes);
	free(includes->files);
	memset(includes, 0, sizeof(*includes));
}
