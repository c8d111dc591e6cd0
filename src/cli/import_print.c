/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * import_print - rules as they stand below the name of a policy.
 *
 * Names are printed from their wire form, so that no text of the list is read
 * as YAML; what is copied stands in comments, escaped.
 */
#include "config.h"

#include <inttypes.h>

#include "src/cli/cli.h"
#include "src/cli/import.h"

#define INDENT "    "

static void
print_rule(FILE *out, const struct import_rule *rule)
{
	const char *quote = rule->kind == RULE_EXACT ? "" : "\"";
	char name[DNAME_TEXT_MAX];

	policy_rule_print(rule->kind, &rule->name, name);
	if (rule->force) {
		fprintf(out, INDENT "  - {name: \"%s\", force: true}\n", name);
		return;
	}
	fprintf(out, INDENT "  - %s%s", quote, name);
	for (uint8_t i = 0; !rule->deny && i < rule->port_count; i++)
		fprintf(out, "%c%u", i == 0 ? ':' : ',',
		    (unsigned)rule->ports[i]);
	fputs(quote, out);
	if (rule->written != NULL) {
		fputs("  # ", out);
		put_safe(out, rule->written);
	}
	fputc('\n', out);
}

static size_t
print_rules(FILE *out, const struct import *import, const char *key, bool deny)
{
	size_t count = 0;

	for (size_t i = 0; i < import->rule_count; i++) {
		if (import->rules[i].deny != deny)
			continue;
		if (count++ == 0)
			fprintf(out, INDENT "%s:\n", key);
		print_rule(out, &import->rules[i]);
	}
	return count;
}

static void
print_note(FILE *out, const struct import_note *note)
{
	fprintf(out, INDENT "# line %" PRIu32 ": ", note->line);
	put_safe(out, note->text);
	fputs("\n" INDENT "#   ", out);
	put_safe(out, note->reason);
	fputc('\n', out);
}

void
import_print(FILE *out, const struct import *import, const char *path,
    const char *format)
{
	fputs(INDENT "# Imported from ", out);
	put_safe(out, path);
	fprintf(out, " (%s).\n", format);
	if (print_rules(out, import, "allow", false) == 0)
		fputs(INDENT "allow: []\n", out);
	(void)print_rules(out, import, "deny", true);
	if (import->note_count > 0)
		fputs(INDENT "# What could not be said as it was:\n", out);
	for (size_t i = 0; i < import->note_count; i++)
		print_note(out, &import->notes[i]);
}
