/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * zone_text - lists of names in response-policy form, and the public suffix
 * list.
 *
 * Of response-policy zones only two actions on one trigger have a meaning
 * here; whatever else stands in a file is an error, because a list that is
 * half understood allows or denies something that nobody wrote.
 */
#define _POSIX_C_SOURCE 200809L /* fmemopen */

#include "lib/text/zone_text.h"

#include <errno.h>
#include <ldns/ldns.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/name_text.h"
#include "lib/text/values.h"

#define LABEL_IS(label, len, text) \
	((len) == sizeof(text) - 1 && memcmp((label), (text), (len)) == 0)

static const char no_soa[] =
    "no SOA; the first record of a list is one, and its owner is the zone's "
    "own name";

struct zone_reader {
	const char *file;
	struct text_error *error;
	uint32_t line;
	bool has_origin;
	struct dname origin;
	bool survey; /* refusals are noted */
	struct zone_list list;
};

static int
refuse(const struct zone_reader *z, const char *reason)
{
	struct yaml_node place = { .line = z->line, .column = 1 };

	return text_error_at(z->error, z->file, &place, "%s", reason);
}

static bool
name_of(const ldns_rdf *rdf, struct dname *ret)
{
	return dname_from_wire(ldns_rdf_data(rdf), ldns_rdf_size(rdf), ret);
}

/* The owner without the zone's own name; false: not below it. */
static bool
strip_origin(const struct zone_reader *z, const struct dname *owner,
    struct dname *ret)
{
	uint8_t labels, len;

	if (!dname_is_below(owner, &z->origin))
		return false;
	labels = (uint8_t)(owner->labels - z->origin.labels);
	dname_root(ret);
	while (labels > 0) {
		const uint8_t *label =
		    dname_label(owner, (uint8_t)(labels - 1), &len);

		if (!dname_prepend(ret, label, len))
			return false;
		labels--;
	}
	return true;
}

/* Triggers other than the name that is asked. */
static bool
is_other_trigger(const struct dname *name)
{
	uint8_t len;
	const uint8_t *last =
	    dname_label(name, (uint8_t)(name->labels - 1), &len);

	return LABEL_IS(last, len, "rpz-ip") ||
	    LABEL_IS(last, len, "rpz-client-ip") ||
	    LABEL_IS(last, len, "rpz-nsip") ||
	    LABEL_IS(last, len, "rpz-nsdname");
}

/* The two actions that are read; everything else is an error. */
static int
read_action(const struct zone_reader *z, const ldns_rr *rr, bool *ret_deny)
{
	struct dname target;
	const uint8_t *first;
	uint8_t len = 0;

	if (ldns_rr_rd_count(rr) != 1 || !name_of(ldns_rr_rdf(rr, 0), &target))
		return refuse(z, "the record has no target");
	*ret_deny = target.labels == 0;
	if (target.labels == 0)
		return 0;
	first = dname_label(&target, 0, &len);
	if (target.labels == 1 && LABEL_IS(first, len, "rpz-passthru"))
		return 0;
	if (LABEL_IS(first, len, "rpz-passthru"))
		return refuse(z,
		    "the target is below the zone's own name; "
		    "write \"rpz-passthru.\" with the dot at its "
		    "end");
	if (target.labels == 1 &&
	    (LABEL_IS(first, len, "*") || LABEL_IS(first, len, "rpz-drop") ||
		LABEL_IS(first, len, "rpz-tcp-only")))
		return refuse(z,
		    "the actions NODATA, DROP and TCP-only are "
		    "not read; write \"CNAME rpz-passthru.\" to "
		    "allow, \"CNAME .\" to deny");
	return refuse(z,
	    "local data is not read; write \"CNAME "
	    "rpz-passthru.\" to allow, \"CNAME .\" to deny");
}

/* What the owner of a record means, without the zone's origin. */
static int
read_trigger(const struct zone_reader *z, const struct dname *owner,
    struct zone_entry *entry)
{
	char reason[TEXT_ERROR_MAX];
	struct dname name;
	const uint8_t *first;
	uint8_t len = 0;

	if (!strip_origin(z, owner, &name))
		return refuse(z,
		    "the record is not below the zone's own "
		    "name, the owner of its SOA");
	if (is_other_trigger(&name))
		return refuse(z,
		    "triggers other than the name asked (rpz-ip, "
		    "rpz-client-ip, rpz-nsip, rpz-nsdname) are "
		    "not read");
	entry->kind = RULE_EXACT;
	first = dname_label(&name, 0, &len);
	if (LABEL_IS(first, len, "*")) {
		entry->kind = RULE_BELOW;
		dname_parent(&name, &entry->name);
		if (entry->name.labels == 0)
			return refuse(z,
			    "a star alone is about every name; what no rule "
			    "names is denied anyway, and a list that allows "
			    "all is none");
	} else {
		entry->name = name;
	}
	if (!text_rule_name_check(entry->kind, &entry->name, reason))
		return refuse(z, reason);
	return 0;
}

static int
add_entry(struct zone_reader *z, const ldns_rr *rr, const struct dname *owner)
{
	struct zone_entry *entries =
	    text_grow(z->list.entries, z->list.count, sizeof(*entries));
	struct zone_entry *entry;
	int r;

	if (entries == NULL)
		return -ENOMEM;
	z->list.entries = entries;
	entry = &entries[z->list.count];
	memset(entry, 0, sizeof(*entry));
	entry->line = z->line;
	r = read_trigger(z, owner, entry);
	if (r == 0)
		r = read_action(z, rr, &entry->deny);
	if (r == 0)
		z->list.count++;
	return r;
}

/* The third number of an SOA, after its two names. */
static uint32_t
serial_of(const ldns_rr *rr)
{
	const ldns_rdf *rdf = ldns_rr_rdf(rr, 2);

	return rdf != NULL ? ldns_rdf2native_int32(rdf) : 0;
}

static int
take_record(struct zone_reader *z, const ldns_rr *rr)
{
	struct dname owner;
	ldns_rr_type type = ldns_rr_get_type(rr);

	if (ldns_rr_get_class(rr) != LDNS_RR_CLASS_IN ||
	    !name_of(ldns_rr_owner(rr), &owner))
		return refuse(z, "a record whose class is not IN");
	if (type == LDNS_RR_TYPE_SOA && !z->has_origin) {
		z->origin = owner;
		z->has_origin = true;
		z->list.serial = serial_of(rr);
		return 0;
	}
	if (type == LDNS_RR_TYPE_SOA)
		return refuse(z,
		    "a second SOA; a list has one, its first "
		    "record");
	if (!z->has_origin)
		return refuse(z,
		    "a record before the SOA, whose owner is the "
		    "zone's own name");
	if (type == LDNS_RR_TYPE_NS && dname_equal(&owner, &z->origin))
		return 0;
	if (type != LDNS_RR_TYPE_CNAME)
		return refuse(z,
		    "local data is not read; write \"CNAME "
		    "rpz-passthru.\" to allow, \"CNAME .\" to "
		    "deny");
	return add_entry(z, rr, &owner);
}

/* The text of a zone, and how far ldns has read it. */
struct zone_stream {
	FILE *stream;
	const char *bytes;
	size_t size, pos;
	uint32_t line; /* at pos */
	ldns_rdf *origin, *before;
	uint32_t ttl;
};

/* Walks to where the next record begins; ldns itself counts lines that are
 * blank to the record before them. */
static uint32_t
next_line(struct zone_stream *in)
{
	bool comment = false;

	for (; in->pos < in->size; in->pos++) {
		char c = in->bytes[in->pos];

		if (c == ';')
			comment = true;
		if (c == '\n') {
			comment = false;
			in->line++;
		} else if (!comment && c != ' ' && c != '\t' && c != '\r') {
			break;
		}
	}
	return in->line;
}

static void
skip_to(struct zone_stream *in, long pos)
{
	for (; pos > 0 && in->pos < (size_t)pos; in->pos++)
		in->line += in->bytes[in->pos] == '\n';
}

/* What a survey makes of a record that was refused: a note. */
static int
note_refusal(struct zone_reader *z)
{
	struct zone_list *list = &z->list;
	struct zone_refusal *all =
	    text_grow(list->refusals, list->refusal_count, sizeof(*all));

	if (all == NULL)
		return -ENOMEM;
	list->refusals = all;
	all[list->refusal_count].line = z->line;
	memcpy(all[list->refusal_count].reason, z->error->reason,
	    sizeof(all->reason));
	list->refusal_count++;
	return 0;
}

static int
read_record(struct zone_reader *z, struct zone_stream *in)
{
	ldns_rr *rr = NULL;
	ldns_status status;
	long begin = ftell(in->stream), end;
	int r = 0;

	z->line = next_line(in);
	if (in->pos == in->size)
		return 0;
	status = ldns_rr_new_frm_fp(&rr, in->stream, &in->ttl, &in->origin,
	    &in->before);
	if (status == LDNS_STATUS_OK)
		r = take_record(z, rr);
	else if (status == LDNS_STATUS_SYNTAX_INCLUDE)
		r = refuse(z,
		    "$INCLUDE is not read; put the records into "
		    "this file");
	if (r == -EINVAL && z->survey && z->has_origin)
		r = note_refusal(z);
	if (status == LDNS_STATUS_MEM_ERR)
		r = -ENOMEM;
	else if (status != LDNS_STATUS_OK &&
	    status != LDNS_STATUS_SYNTAX_INCLUDE &&
	    status != LDNS_STATUS_SYNTAX_EMPTY &&
	    status != LDNS_STATUS_SYNTAX_TTL &&
	    status != LDNS_STATUS_SYNTAX_ORIGIN)
		r = refuse(z, ldns_get_errorstr_by_id(status));
	ldns_rr_free(rr);
	end = ftell(in->stream);
	skip_to(in, end);
	if (r == 0 && end == begin)
		r = refuse(z, "a record that cannot be read");
	return r;
}

static int
read_zone(struct zone_reader *z, const char *bytes, size_t size)
{
	struct zone_stream in = { .bytes = bytes, .size = size, .line = 1 };
	int r = 0;

	if (size == 0) /* fmemopen() would fail */
		return refuse(z, no_soa);
	in.stream = fmemopen((void *)(uintptr_t)bytes, size, "r");
	in.origin = ldns_dname_new_frm_str(".");
	if (in.stream == NULL || in.origin == NULL)
		r = -ENOMEM;
	while (r == 0 && in.pos < in.size && !feof(in.stream))
		r = read_record(z, &in);
	if (r == 0 && !z->has_origin)
		r = refuse(z, no_soa);
	ldns_rdf_deep_free(in.before);
	ldns_rdf_deep_free(in.origin);
	if (in.stream != NULL)
		fclose(in.stream);
	return r;
}

static int
read_list(struct zone_reader *z, const char *bytes, size_t size)
{
	z->line = 1;
	for (size_t i = 0; i < size && bytes[i] != '\0'; i++)
		z->line += bytes[i] == '\n';
	if (size > 0 && memchr(bytes, '\0', size) != NULL)
		return refuse(z, "a NUL octet; this must be a text file");
	int r = read_zone(z, bytes, size);
	if (r < 0)
		zone_list_free(&z->list);
	return r;
}

int
zone_text_read(const char *file, const char *bytes, size_t size,
    struct zone_entry **ret, size_t *ret_count, struct text_error *ret_error)
{
	struct zone_reader z = { .file = file, .error = ret_error };
	int r = read_list(&z, bytes, size);

	if (r < 0)
		return r;
	*ret = z.list.entries;
	*ret_count = z.list.count;
	return 0;
}

int
zone_text_survey(const char *file, const char *bytes, size_t size,
    struct zone_list *ret, struct text_error *ret_error)
{
	struct zone_reader z = { .file = file,
		.error = ret_error,
		.survey = true };
	int r = read_list(&z, bytes, size);

	if (r == 0)
		*ret = z.list;
	return r;
}

void
zone_list_free(struct zone_list *list)
{
	free(list->entries);
	free(list->refusals);
}

/* A list of suffixes while it is read. */
struct suffix_reader {
	const char *file;
	struct text_error *error;
	uint32_t line;
	struct suffix_list list;
};

static void
take_comment(struct suffix_reader *s, const char *text, size_t len)
{
	static const char version[] = "// VERSION: ";
	size_t skip = sizeof(version) - 1;

	if (len > skip && memcmp(text, version, skip) == 0 &&
	    s->list.date[0] == '\0')
		snprintf(s->list.date, sizeof(s->list.date), "%.*s",
		    (int)(len - skip < 63 ? len - skip : 63), text + skip);
}

static int
take_suffix(struct suffix_reader *s, const char *text, size_t len)
{
	struct yaml_node place = { .line = s->line, .column = 1 };
	struct suffix_entry *entries =
	    text_grow(s->list.entries, s->list.count, sizeof(*entries));
	struct suffix_entry *entry;
	char reason[TEXT_ERROR_MAX];

	if (entries == NULL)
		return -ENOMEM;
	s->list.entries = entries;
	entry = &entries[s->list.count];
	memset(entry, 0, sizeof(*entry));
	entry->rule = APEX_NORMAL;
	if (text[0] == '!') {
		entry->rule = APEX_EXCEPTION;
		text++;
		len--;
	} else if (len > 2 && text[0] == '*' && text[1] == '.') {
		entry->rule = APEX_WILDCARD;
		text += 2;
		len -= 2;
	}
	if (!text_name_read(text, len, &entry->name, reason))
		return text_error_at(s->error, s->file, &place, "%s", reason);
	if (!dname_is_host(&entry->name))
		return text_error_at(s->error, s->file, &place,
		    "\"%.*s\" is no public suffix", (int)(len < 80 ? len : 80),
		    text);
	s->list.count++;
	return 0;
}

/* A line up to its first white space, which is where the list says that a
 * rule ends. */
static int
take_line(struct suffix_reader *s, const char *text, size_t len)
{
	size_t used = 0;

	if (len >= 2 && memcmp(text, "//", 2) == 0) {
		take_comment(s, text, len);
		return 0;
	}
	while (used < len && (unsigned char)text[used] > ' ')
		used++;
	return used == 0 ? 0 : take_suffix(s, text, used);
}

static int
read_lines(struct suffix_reader *s, const char *bytes, size_t size)
{
	const char *end = bytes + size, *next;
	int r = 0;

	for (const char *at = bytes; at < end && r == 0; at = next) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		next = stop != NULL ? stop + 1 : end;
		s->line++;
		r = take_line(s, at, (size_t)((stop ? stop : end) - at));
	}
	return r;
}

int
suffix_text_read(const char *file, const char *bytes, size_t size,
    struct suffix_list *ret, struct text_error *ret_error)
{
	struct suffix_reader s = { .file = file, .error = ret_error };
	int r = read_lines(&s, bytes, size);

	if (r == 0 && s.list.count == 0)
		r = text_error_at(ret_error, file, NULL,
		    "no rule in this file; it must be the public suffix list");
	if (r < 0) {
		free(s.list.entries);
		return r;
	}
	*ret = s.list;
	return 0;
}
