/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * command - a line of the control socket, split into words.
 *
 * Words are separated by one space; a word that contains a space, a quote, a
 * backslash or a control octet is a JSON string. First word: the verb. Words
 * that begin with "--" are options; their value, where they take one, is the
 * next word.
 */
#ifndef LIB_COMMAND_H
#define LIB_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMMAND_LINE_MAX  4096
#define COMMAND_WORDS_MAX 32

struct command {
	uint8_t word_count;
	const char *words[COMMAND_WORDS_MAX]; /* NUL-terminated, into text */
	char text[COMMAND_LINE_MAX];
};

enum command_error {
	COMMAND_OK,
	COMMAND_EMPTY,
	COMMAND_TOO_LONG,
	COMMAND_TOO_MANY_WORDS,
	COMMAND_BAD_STRING, /* bad JSON string, or an octet under 0x20 */
	COMMAND_BAD_SPACING /* leading, trailing or double space */
};

/* len octets without the newline. */
enum command_error command_parse(struct command *ret, const char *line,
    size_t len);
/* Prints one word (quoted where it must be) for building a line; returns the
 * length, 0 when it does not fit. */
size_t command_put_word(char *buf, size_t size, const char *word);
const char *command_error_text(enum command_error);

#endif
