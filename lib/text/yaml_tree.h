/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * yaml_tree - libyaml events as a strict tree that remembers line and column.
 *
 * Strict: one document; no anchors, aliases, tags or merge keys; no duplicate
 * keys; keys are plain or quoted scalars; depth, count and size are bounded.
 * Everything wrong is one struct text_error that says what would be right.
 */
#ifndef LIB_TEXT_YAML_TREE_H
#define LIB_TEXT_YAML_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_ERROR_MAX	   512
#define YAML_FILE_SIZE_MAX (16u << 20)

/* Where and what: printed as FILE:LINE:COLUMN: reason. Lines and columns
 * count from 1. */
struct text_error {
	char file[256];
	uint32_t line, column;
	char reason[TEXT_ERROR_MAX];
};

enum yaml_kind { YAML_SCALAR, YAML_SEQUENCE, YAML_MAPPING };

struct yaml_node {
	enum yaml_kind kind;
	const char *file; /* of who asked for the tree; NULL: none */
	uint32_t line, column;
	bool quoted; /* a scalar in quotes: text even if it looks else */
	char *text; /* of a scalar, NUL-terminated, no NUL inside */
	size_t len;
	struct yaml_node *key; /* in a mapping: the entry's key */
	struct yaml_node *first, *next; /* children, siblings */
	size_t count; /* of children */
};

/* 0, or -EINVAL with *ret_error filled, or -ENOMEM. The caller frees; file
 * must live as long as the tree. */
int yaml_tree_read(const char *file, const char *bytes, size_t size,
    struct yaml_node **ret, struct text_error *ret_error);
void yaml_tree_free(struct yaml_node *);
/* The value of a key in a mapping, NULL when absent. */
const struct yaml_node *yaml_tree_get(const struct yaml_node *,
    const char *key);
/* Fills an error at a node, in the node's file or else in the one given,
 * printf-like; returns -EINVAL. */
int text_error_at(struct text_error *, const char *file,
    const struct yaml_node *, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
