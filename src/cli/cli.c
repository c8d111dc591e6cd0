/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cli - words of the command line, and printing that is safe for terminals.
 */
#include "config.h"

#include "src/cli/cli.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

const char *
cli_config(const struct cli *cli)
{
	return cli->config != NULL ? cli->config : CLI_CONFIG;
}

void
complain(const char *format, ...)
{
	char text[2048];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	fputs("namewall: ", stderr);
	put_safe(stderr, text);
	fputc('\n', stderr);
}

static void
remove_words(struct args *args, int first, int count)
{
	for (int i = first; i + count < args->count; i++)
		args->words[i] = args->words[i + count];
	args->count -= count;
}

bool
args_take_flag(struct args *args, const char *name)
{
	for (int i = 0; i < args->count; i++) {
		if (strcmp(args->words[i], name) != 0)
			continue;
		remove_words(args, i, 1);
		return true;
	}
	return false;
}

const char *
args_take_value(struct args *args, const char *name)
{
	size_t len = strlen(name);

	for (int i = 0; i < args->count; i++) {
		const char *word = args->words[i];

		if (strncmp(word, name, len) != 0)
			continue;
		if (word[len] == '=' && word[1] == '-') {
			remove_words(args, i, 1);
			return word + len + 1;
		}
		if (word[len] != '\0')
			continue;
		if (i + 1 == args->count) {
			complain("%s needs a value", name);
			args->bad = true;
			return NULL;
		}
		word = args->words[i + 1];
		remove_words(args, i, 2);
		return word;
	}
	return NULL;
}

const char *
args_take_word(struct args *args)
{
	for (int i = 0; i < args->count; i++) {
		const char *word = args->words[i];

		if (word[0] == '-' && word[1] != '\0')
			continue;
		remove_words(args, i, 1);
		return word;
	}
	return NULL;
}

bool
args_done(const struct args *args)
{
	if (args->bad)
		return false;
	if (args->count == 0)
		return true;
	complain("%s is not understood here; \"namewall help\" shows usage",
	    args->words[0]);
	return false;
}

/* Octets of a well-formed UTF-8 sequence that begins here, 0: none. */
static size_t
utf8_read(const unsigned char *text, uint32_t *ret_code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t size;

	if (text[0] < 0x80)
		size = 1;
	else if (text[0] >= 0xc2 && text[0] < 0xe0)
		size = 2;
	else if (text[0] >= 0xe0 && text[0] < 0xf0)
		size = 3;
	else if (text[0] >= 0xf0 && text[0] < 0xf5)
		size = 4;
	else
		return 0;
	uint32_t code = size == 1 ? text[0] : text[0] & (0x7fU >> size);
	for (size_t i = 1; i < size; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	if (code < least[size] || code > 0x10ffff ||
	    (code >= 0xd800 && code < 0xe000))
		return 0;
	*ret_code = code;
	return size;
}

/* Controls, and marks that reorder or hide what stands beside them. */
static bool
is_harmful(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xad ||
	    code == 0x61c || (code >= 0x200b && code <= 0x200f) ||
	    (code >= 0x2028 && code <= 0x202e) ||
	    (code >= 0x2060 && code <= 0x206f) || code == 0xfeff ||
	    (code >= 0xfff0 && code <= 0xfffb) || (code & 0xfffe) == 0xfffe ||
	    code >= 0xe0000;
}

size_t
put_safe(FILE *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t columns = 0;

	while (*at != '\0') {
		uint32_t code = 0;
		size_t size = utf8_read(at, &code);

		if (size > 0 && !is_harmful(code)) {
			fwrite(at, 1, size, out);
			at += size;
			columns++;
			continue;
		}
		fprintf(out, "\\x%02x", *at);
		at++;
		columns += 4;
	}
	return columns;
}

void
put_column(FILE *out, const char *text, size_t width)
{
	size_t columns = put_safe(out, text);

	for (; columns < width; columns++)
		fputc(' ', out);
}

void
put_json(FILE *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	fputc('"', out);
	while (*at != '\0') {
		uint32_t code = 0;
		size_t size = utf8_read(at, &code);

		if (size == 0) {
			fputs("\\ufffd", out);
			at++;
			continue;
		}
		if (code == '"' || code == '\\')
			fprintf(out, "\\%c", (int)code);
		else if (code < 0x20 || code == 0x7f)
			fprintf(out, "\\u%04x", (unsigned)code);
		else
			fwrite(at, 1, size, out);
		at += size;
	}
	fputc('"', out);
}
