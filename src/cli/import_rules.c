/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * import_rules - entries of a foreign list become rules, each once.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "lib/text/name_text.h"
#include "lib/text/values.h"
#include "src/cli/import.h"

#define TEXT_SHOWN 200

static char *
copy(struct import *import, struct span from)
{
	char *text =
	    strndup(from.text, from.len < TEXT_SHOWN ? from.len : TEXT_SHOWN);

	if (text == NULL)
		import->no_memory = true;
	return text;
}

void
import_note(struct import *import, uint32_t line, struct span text,
    const char *reason)
{
	struct import_note *notes =
	    text_grow(import->notes, import->note_count, sizeof(*notes));

	if (notes == NULL) {
		import->no_memory = true;
		return;
	}
	import->notes = notes;
	struct import_note note = { .line = line,
		.text = copy(import, text),
		.reason = strdup(reason) };
	if (note.text == NULL || note.reason == NULL) {
		free(note.text);
		free(note.reason);
		import->no_memory = true;
		return;
	}
	notes[import->note_count++] = note;
}

static struct import_rule *
new_rule(struct import *import)
{
	struct import_rule *rules =
	    text_grow(import->rules, import->rule_count, sizeof(*rules));

	if (rules == NULL) {
		import->no_memory = true;
		return NULL;
	}
	import->rules = rules;
	struct import_rule *rule = &rules[import->rule_count++];
	*rule = (struct import_rule){ 0 };
	return rule;
}

static bool
is_ascii(struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.text[i] >= 0x80)
			return false;
	return true;
}

void
import_add_name(struct import *import, const struct import_entry *entry,
    enum rule_kind kind, const struct dname *name)
{
	struct import_rule *rule = new_rule(import);

	if (rule == NULL)
		return;
	rule->name = *name;
	rule->kind = kind;
	rule->deny = entry->deny;
	rule->line = entry->line;
	rule->without_port = entry->port == 0;
	if (entry->port != 0)
		rule->ports[rule->port_count++] = entry->port;
}

bool
import_add(struct import *import, const struct import_entry *entry,
    struct span text)
{
	char reason[TEXT_ERROR_MAX];
	enum rule_kind kind;
	struct dname name;
	size_t before = import->rule_count;

	if (!text_rule_name_read(text.text, text.len, &kind, &name, reason)) {
		import_note(import, entry->line, text, reason);
		return false;
	}
	import_add_name(import, entry, kind, &name);
	if (import->rule_count > before && !is_ascii(text))
		import->rules[before].written = copy(import, text);
	return true;
}

void
import_free(struct import *import)
{
	for (size_t i = 0; i < import->rule_count; i++)
		free(import->rules[i].written);
	for (size_t i = 0; i < import->note_count; i++) {
		free(import->notes[i].text);
		free(import->notes[i].reason);
	}
	free(import->rules);
	free(import->notes);
}

static int
compare_keys(const struct import_rule *x, const struct import_rule *y)
{
	int order = dname_compare(&x->name, &y->name);

	if (order == 0)
		order = (int)x->kind - (int)y->kind;
	return order;
}

/* What is denied stands first among equals, since it wins. */
static int
compare_rules(const void *a, const void *b)
{
	const struct import_rule *x = a, *y = b;
	int order = compare_keys(x, y);

	if (order == 0)
		order = (int)y->deny - (int)x->deny;
	if (order == 0)
		order = (x->line > y->line) - (x->line < y->line);
	return order;
}

static int
compare_lines(const void *a, const void *b)
{
	const struct import_rule *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return compare_keys(x, y);
}

static int
compare_notes(const void *a, const void *b)
{
	const struct import_note *x = a, *y = b;

	return (x->line > y->line) - (x->line < y->line);
}

static void
add_port(struct import_rule *rule, uint16_t port)
{
	uint8_t at = 0;

	while (at < rule->port_count && rule->ports[at] < port)
		at++;
	if (at < rule->port_count && rule->ports[at] == port)
		return;
	if (rule->port_count == RULE_SERVICES_MAX) {
		rule->many_ports = true;
		return;
	}
	memmove(&rule->ports[at + 1], &rule->ports[at],
	    sizeof(rule->ports[0]) * (size_t)(rule->port_count - at));
	rule->ports[at] = port;
	rule->port_count++;
}

static void
note_rule(struct import *import, const struct import_rule *rule,
    const char *reason)
{
	char text[DNAME_TEXT_MAX];

	policy_rule_print(rule->kind, &rule->name, text);
	import_note(import, rule->line, (struct span){ text, strlen(text) },
	    reason);
}

/* Equal rules, the first of which is kept. */
static void
join(struct import *import, struct import_rule *kept,
    const struct import_rule *other)
{
	if (kept->deny && !other->deny) {
		note_rule(import, other,
		    "allowed here, denied elsewhere in the list; what denies "
		    "wins");
		return;
	}
	kept->without_port = kept->without_port || other->without_port;
	for (uint8_t i = 0; i < other->port_count; i++)
		add_port(kept, other->ports[i]);
}

/* Ports that a rule has no room for. An entry without a port and one with some
 * are one rule: that names the port which having none stands for. */
static void
settle_ports(struct import *import, struct import_rule *rule)
{
	if (rule->without_port && rule->port_count > 0)
		add_port(rule, 443);
	if (rule->many_ports)
		note_rule(import, rule,
		    "it has more ports than the 16 of a rule; the rest is "
		    "left out");
}

void
import_merge(struct import *import)
{
	struct import_rule *rules = import->rules;
	size_t count = 0;

	if (import->rule_count > 0)
		qsort(rules, import->rule_count, sizeof(*rules), compare_rules);
	for (size_t i = 0; i < import->rule_count; i++) {
		if (count > 0 &&
		    compare_keys(&rules[count - 1], &rules[i]) == 0) {
			join(import, &rules[count - 1], &rules[i]);
			free(rules[i].written);
		} else {
			rules[count++] = rules[i];
		}
	}
	import->rule_count = count;
	for (size_t i = 0; i < count; i++)
		settle_ports(import, &rules[i]);
	if (count > 0)
		qsort(rules, count, sizeof(*rules), compare_lines);
}

/* What to write for a wildcard that is wanted all the same. */
static void
explain_force(const struct import_rule *rule, enum suffix_width width,
    const char *suffix, char *ret, size_t size)
{
	char name[DNAME_TEXT_MAX], ports[256] = "";
	size_t used = 0;

	policy_rule_print(rule->kind, &rule->name, name);
	for (uint8_t i = 0; i < rule->port_count && used < sizeof(ports); i++)
		used += (size_t)snprintf(ports + used, sizeof(ports) - used,
		    "%stcp/%u", i == 0 ? ", ports: [" : ", ",
		    (unsigned)rule->ports[i]);
	snprintf(ret, size,
	    "it stands %s the public suffix \"%s\", where anybody may have a "
	    "name; name what is meant, or, if all of that is meant, write "
	    "{name: \"%s\"%s%s, force: true}",
	    width == SUFFIX_AT ? "at" : "above", suffix, name, ports,
	    used > 0 ? "]" : "");
}

void
import_judge(struct import *import, const struct suffix_list *list,
    const struct apex_table *apex)
{
	char reason[4 * DNAME_TEXT_MAX], suffix[DNAME_TEXT_MAX];
	enum suffix_width width;
	size_t count = 0;

	for (size_t i = 0; i < import->rule_count; i++) {
		struct import_rule *rule = &import->rules[i];

		width = rule->kind == RULE_EXACT
		    ? SUFFIX_NARROW
		    : suffix_width(list, apex, &rule->name, suffix);
		/* Denying lets nobody in. */
		if (width == SUFFIX_NARROW || rule->deny) {
			rule->force = width != SUFFIX_NARROW;
			import->rules[count++] = *rule;
			continue;
		}
		explain_force(rule, width, suffix, reason, sizeof(reason));
		note_rule(import, rule, reason);
		free(rule->written);
	}
	import->rule_count = count;
	if (import->note_count > 0)
		qsort(import->notes, import->note_count, sizeof(*import->notes),
		    compare_notes);
}
