/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tunnel - plain evidence of tunnelling, by sandbox and registrable domain.
 *
 * Only a question that is evidence opens a window; one that opens none costs
 * nothing, so a sandbox that looks up a thousand names leaves no trace here.
 * Windows are in the table in the order in which they began, so those that
 * are over are always the oldest. Nothing else is ever taken out: whoever
 * fills the table keeps its own record in it.
 */
#include "lib/tunnel.h"

#include <string.h>

#include "lib/require.h"

#define TUNNEL_KEY_SIZE   20
#define LABEL_OCTETS_MAX  40
#define NAME_OCTETS_MAX   60
#define REVERSE_LABEL_MAX 3 /* "255", or one hexadecimal digit */

void
tunnel_init(struct tunnel *tunnel, struct arena *arena,
    const struct tunnel_limits *limits, const uint8_t secret[16])
{
	size_t sandboxes = (size_t)limits->sandboxes_max + 1;

	memset(tunnel, 0, sizeof(*tunnel));
	tunnel->limits = *limits;
	table_init(&tunnel->keys, arena, limits->keys_max, TUNNEL_KEY_SIZE,
	    secret);
	tunnel->evidence =
	    arena_take(arena, limits->keys_max, sizeof(*tunnel->evidence));
	tunnel->sandbox_keys =
	    arena_take(arena, sandboxes, sizeof(*tunnel->sandbox_keys));
	tunnel->sandbox_raised_ms =
	    arena_take(arena, sandboxes, sizeof(*tunnel->sandbox_raised_ms));
	memcpy(tunnel->secret, secret, sizeof(tunnel->secret));
	tunnel_shape_init(&tunnel->shape, arena, limits, secret);
}

/* What the name alone says. */
static uint32_t
name_signs(const struct dname *name, uint8_t apex_octets, bool reverse)
{
	const uint8_t *label;
	uint32_t signs = 0;
	uint8_t i, len, longest = 0;

	for (i = 0; i < name->labels; i++) {
		label = dname_label(name, i, &len);
		if (!dname_label_is_host(label, len))
			signs |= TUNNEL_FOREIGN_OCTET;
		/* The last two are "ip6" and the like with "arpa". */
		if (len > longest && i + 2 < name->labels)
			longest = len;
		if (len > LABEL_OCTETS_MAX)
			signs |= TUNNEL_LONG_LABEL;
	}
	/* An IPv6 address in reverse is long by nature. */
	if (name->len - apex_octets > NAME_OCTETS_MAX &&
	    !(reverse && longest <= REVERSE_LABEL_MAX))
		signs |= TUNNEL_LONG_NAME;
	return signs;
}

static bool
is_odd(uint16_t type)
{
	return type == DNS_TYPE_NULL || type == DNS_TYPE_KEY ||
	    (type >= DNS_TYPE_PRIVATE_FIRST && type <= DNS_TYPE_PRIVATE_LAST);
}

/* A name that the operator wrote himself carries nothing. */
static bool
is_written(const struct question *question, const struct verdict *verdict)
{
	return verdict->rule != RULE_NONE && verdict->kind == RULE_EXACT &&
	    dname_equal(&verdict->rule_name, &question->name);
}

static uint32_t
question_signs(const struct question *question, const struct verdict *verdict,
    const struct dname *apex)
{
	uint32_t signs = 0;

	if (!is_written(question, verdict))
		signs = name_signs(&question->name, apex->len,
		    verdict->denial == DENIAL_PTR);
	if (is_odd(question->type))
		signs |= TUNNEL_ODD_TYPE;
	return signs;
}

/* Whether a type counts among the different ones. Asking for the name of an
 * address is what ping does. */
static bool
type_counts(const struct question *question, const struct verdict *verdict)
{
	switch (question->type) {
	case DNS_TYPE_A:
	case DNS_TYPE_AAAA:
		return false;
	case DNS_TYPE_PTR:
		return verdict->denial != DENIAL_PTR;
	default:
		return true;
	}
}

static void
drop_window(struct tunnel *tunnel, uint32_t slot)
{
	tunnel->sandbox_keys[tunnel->evidence[slot].sandbox]--;
	table_drop(&tunnel->keys, slot);
}

/* Each window is dropped once, so this costs no more than they did. */
static void
drop_what_is_over(struct tunnel *tunnel, uint64_t now_ms)
{
	uint32_t slot;

	while ((slot = table_oldest(&tunnel->keys)) != TABLE_NONE) {
		if (now_ms - tunnel->evidence[slot].window_start_ms <
		    TUNNEL_WINDOW_MS)
			break;
		drop_window(tunnel, slot);
	}
}

/* The window that runs; with `open` one is opened where there is none. NULL:
 * none, or no room, which is counted. */
static struct tunnel_evidence *
window_at(struct tunnel *tunnel, uint32_t sandbox, const struct dname *apex,
    bool open, uint64_t now_ms)
{
	uint8_t key[TUNNEL_KEY_SIZE];
	struct tunnel_evidence *window;
	uint32_t slot;
	bool is_new;

	memcpy(key, &sandbox, 4);
	dname_hash(apex, tunnel->secret, key + 4);
	slot = table_find(&tunnel->keys, key);
	if (slot != TABLE_NONE)
		return &tunnel->evidence[slot];
	if (!open)
		return NULL;
	if (tunnel->sandbox_keys[sandbox] < tunnel->limits.keys_per_sandbox_max)
		slot = table_claim(&tunnel->keys, key, &is_new);
	if (slot == TABLE_NONE) {
		tunnel->full_count++;
		return NULL;
	}
	window = &tunnel->evidence[slot];
	memset(window, 0, sizeof(*window));
	window->window_start_ms = now_ms;
	window->sandbox = sandbox;
	tunnel->sandbox_keys[sandbox]++;
	return window;
}

static void
note_type(struct tunnel_evidence *window, uint16_t type)
{
	uint8_t i;

	for (i = 0; i < window->type_count; i++) {
		if (window->types[i] == type)
			return;
	}
	if (window->type_count == TUNNEL_TYPES_MAX)
		return;
	window->types[window->type_count++] = type;
	if (window->type_count == TUNNEL_TYPES_MAX)
		window->signs |= TUNNEL_MANY_TYPES;
}

static void
note_sample(struct tunnel_evidence *window, const struct dname *name)
{
	uint8_t i;

	for (i = 0; i < window->sample_count; i++) {
		if (dname_equal(&window->samples[i], name))
			return;
	}
	if (window->sample_count < TUNNEL_SAMPLES_MAX)
		window->samples[window->sample_count++] = *name;
}

/* Once, and once more when the alarm joins what was raised without it. */
static bool
is_due(const struct tunnel_evidence *window)
{
	if (window->signs == 0)
		return false;
	return !window->raised ||
	    ((window->signs & TUNNEL_SHAPE) != 0 && !window->raised_shape);
}

static void
add_shape(struct tunnel_finding *finding, const struct dname *name,
    const struct tunnel_shape_result *shape)
{
	uint8_t i;

	finding->score = shape->score;
	finding->volume = shape->volume;
	finding->nnew = shape->nnew;
	finding->nrep = shape->nrep;
	finding->samples[0] = *name;
	for (i = 0; i < shape->sample_count; i++)
		finding->samples[i + 1] = shape->samples[i];
	finding->sample_count = (uint8_t)(1 + shape->sample_count);
}

/* A finding from the window. */
static void
raise(struct tunnel_evidence *window, const struct dname *apex,
    struct tunnel_finding *ret)
{
	window->raised = true;
	window->raised_shape = (window->signs & TUNNEL_SHAPE) != 0;
	memset(ret, 0, sizeof(*ret));
	ret->signs = window->signs;
	ret->question_count = window->question_count;
	ret->apex = *apex;
	ret->sample_count = window->sample_count;
	memcpy(ret->samples, window->samples, sizeof(ret->samples));
}

/* A finding from one question alone, at most one a window's length. */
static bool
may_raise_without_memory(struct tunnel *tunnel, uint32_t sandbox,
    uint64_t now_ms)
{
	uint64_t *raised_ms = &tunnel->sandbox_raised_ms[sandbox];

	if (*raised_ms != 0 && now_ms - *raised_ms < TUNNEL_WINDOW_MS)
		return false;
	*raised_ms = now_ms;
	return true;
}

static void
note(struct tunnel_evidence *window, const struct question *question,
    uint32_t signs, bool counts)
{
	window->question_count++;
	window->signs |= signs;
	if (counts)
		note_type(window, question->type);
	if (counts || signs != 0)
		note_sample(window, &question->name);
}

/* The names that nobody wrote down have an alarm. */
static uint32_t
shape_signs(struct tunnel *tunnel, uint32_t sandbox,
    const struct question *question, const struct verdict *verdict,
    const struct dname *apex, struct tunnel_shape_result *ret)
{
	uint32_t signs = 0;

	memset(ret, 0, sizeof(*ret));
	if (is_written(question, verdict))
		return 0;
	tunnel_shape_observe(&tunnel->shape, sandbox, &question->name, apex,
	    ret);
	if (ret->rings)
		signs |= TUNNEL_SHAPE;
	if (ret->is_full)
		signs |= TUNNEL_MANY_DOMAINS;
	return signs;
}

bool
tunnel_observe(struct tunnel *tunnel, uint32_t sandbox,
    const struct question *question, const struct verdict *verdict,
    uint64_t now_ms, struct tunnel_finding *ret)
{
	struct tunnel_evidence *window, alone;
	struct tunnel_shape_result shape;
	struct dname apex;
	uint32_t signs;
	bool counts;

	if (sandbox == 0 || sandbox > tunnel->limits.sandboxes_max)
		return false;
	drop_what_is_over(tunnel, now_ms);
	apex = dname_suffix(&question->name, verdict->apex_labels);
	signs = question_signs(question, verdict, &apex) |
	    shape_signs(tunnel, sandbox, question, verdict, &apex, &shape);
	counts = type_counts(question, verdict);
	window =
	    window_at(tunnel, sandbox, &apex, signs != 0 || counts, now_ms);
	if (window == NULL) {
		if (signs == 0 ||
		    !may_raise_without_memory(tunnel, sandbox, now_ms))
			return false;
		memset(&alone, 0, sizeof(alone));
		window = &alone;
	}
	note(window, question, signs, counts);
	if (!is_due(window))
		return false;
	raise(window, &apex, ret);
	if (shape.rings)
		add_shape(ret, &question->name, &shape);
	return true;
}

enum denial
tunnel_judge(const struct tunnel *tunnel, uint32_t sandbox,
    const struct question *question, const struct verdict *verdict)
{
	(void)tunnel;
	(void)sandbox;
	(void)question;
	(void)verdict;
	return DENIAL_NONE;
}

void
tunnel_forgive(struct tunnel *tunnel, uint32_t sandbox)
{
	uint32_t slot = table_oldest(&tunnel->keys), next;

	if (sandbox == 0 || sandbox > tunnel->limits.sandboxes_max)
		return;
	while (slot != TABLE_NONE) {
		next = table_next(&tunnel->keys, slot);
		if (tunnel->evidence[slot].sandbox == sandbox)
			drop_window(tunnel, slot);
		slot = next;
	}
	tunnel->sandbox_raised_ms[sandbox] = 0;
	tunnel_shape_forgive(&tunnel->shape, sandbox);
}

const char *
tunnel_sign_name(uint32_t sign)
{
	switch (sign) {
	case TUNNEL_ODD_TYPE:
		return "odd-type";
	case TUNNEL_MANY_TYPES:
		return "many-types";
	case TUNNEL_FOREIGN_OCTET:
		return "foreign-octet";
	case TUNNEL_LONG_LABEL:
		return "long-label";
	case TUNNEL_LONG_NAME:
		return "long-name";
	case TUNNEL_SHAPE:
		return "shape";
	case TUNNEL_MANY_DOMAINS:
		return "many-domains";
	default:
		return NULL;
	}
}
