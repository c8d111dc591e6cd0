/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uploads - see uploads.h.
 */
#include "config.h"

#include "src/resolver/uploads.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "lib/text/edge_uploads.h"
#include "src/resolver/daemon.h"
#include "src/resolver/log.h"
#include "src/resolver/uploads_file.h"

#define WRITE_EVERY_MS 5000
#define DAY_S          (24 * 3600)

enum {
	TOLD_NOTHING,
	TOLD_HALF,
	TOLD_ALL
};

static uint32_t
today(void)
{
	return (uint32_t)(time(NULL) / DAY_S);
}

static struct upload *
find(const struct uploads *u, const char *sandbox, uint64_t rule)
{
	for (size_t i = 0; i < u->count; i++)
		if (u->list[i].rule == rule &&
		    strcmp(u->list[i].sandbox, sandbox) == 0)
			return &u->list[i];
	return NULL;
}

/* ---- what the configuration says ---------------------------------------- */

/* The terms by which a name is allowed now; NULL: it is not. */
static const struct policy_terms *
terms_of(const struct daemon *d, uint32_t sandbox, const struct dname *name)
{
	const struct policy *policy = d->engine.policy;
	struct policy_rule rule;
	struct verdict verdict;

	if (!d->uploads.wanted)
		return NULL;
	verdict = engine_explain(policy, sandbox, name, DNS_TYPE_A);
	if (verdict.rule == RULE_NONE)
		return NULL;
	policy_rule_at(policy, verdict.rule, &rule);
	return rule.deny ? NULL : &policy->terms[rule.terms];
}

static uint64_t
limit_of(const struct daemon *d, uint32_t sandbox, uint64_t rule)
{
	return edge_upload_limit(d->config->edge, sandbox, rule);
}

static bool
has_quotas(const struct daemon *d)
{
	const struct edge_config *edge = d->config->edge;

	for (size_t i = 0; i < edge->policy_count; i++)
		if (edge->policies[i].upload_count > 0)
			return true;
	for (size_t i = 0; i < edge->sandbox_count; i++)
		if (edge->sandboxes[i].upload != 0)
			return true;
	return false;
}

static uint8_t
level(uint64_t used, uint64_t limit)
{
	if (limit == 0 || used < limit / 2)
		return TOLD_NOTHING;
	return used < limit ? TOLD_HALF : TOLD_ALL;
}

/* ---- to the parent ------------------------------------------------------- */

void
uploads_recall(struct daemon *d, uint32_t sandbox)
{
	const struct uploads *u = &d->uploads;

	for (size_t i = 0; i < u->count; i++) {
		struct upload *one = &u->list[i];
		uint32_t number =
		    policy_sandbox_by_name(d->engine.policy, one->sandbox);
		uint64_t limit = limit_of(d, number, one->rule);

		if (number == 0 || (sandbox != 0 && number != sandbox) ||
		    one->day != today() || limit == 0)
			continue;
		one->told = level(one->used, limit);
		helper_send(&d->helper,
		    &(struct helper_msg){ .op = HELPER_SPENT,
			.sandbox = number,
			.rule = one->rule,
			.count = one->used },
		    number);
	}
}

/*
 * The smallest quota counts, so that is the one that is claimed, for as long
 * as a pin can last: whenever one is asked for, it is claimed anew by whoever
 * holds it then.
 */
static void
claim(struct daemon *d, const struct pin_record *pin, uint64_t rule)
{
	const struct settings *settings = &d->config->edge->settings;
	struct helper_msg msg = { .op = HELPER_UPLOAD,
		.sandbox = pin->element.sandbox,
		.addr = pin->element.addr,
		.rule = rule };

	if (pin->state != PIN_LAPSED)
		msg.lifetime_ms = settings->pin_cap_ms + settings->pin_grace_ms;
	helper_send(&d->helper, &msg, pin->element.sandbox);
}

void
uploads_claim(struct daemon *d, const struct pin_record *pin)
{
	const struct policy_terms *least = NULL;

	for (uint8_t i = 0; d->uploads.wanted && i < pin->holder_count; i++) {
		const struct policy_terms *terms;

		if (pin->state != PIN_LAPSED &&
		    pin->holders[i].until_ms <= d->now_ms)
			continue;
		terms =
		    terms_of(d, pin->element.sandbox, &pin->holders[i].name);
		if (terms != NULL && terms->upload != 0 &&
		    limit_of(d, pin->element.sandbox, terms->upload_rule) !=
			0 &&
		    (least == NULL || terms->upload < least->upload))
			least = terms;
	}
	if (least != NULL)
		claim(d, pin, least->upload_rule);
}

void
uploads_follow(struct daemon *d)
{
	struct pin_record pin;

	d->uploads.wanted = has_quotas(d);
	if (!d->uploads.wanted)
		return;
	for (uint32_t slot = pins_each(&d->engine.pins, TABLE_NONE);
	     slot != TABLE_NONE; slot = pins_each(&d->engine.pins, slot))
		if (pins_record(&d->engine.pins, slot, &pin))
			uploads_claim(d, &pin);
}

/* ---- from the parent ----------------------------------------------------- */

/* The rule of this number, where it is one that has a name. */
static bool
find_rule(const struct daemon *d, uint64_t number, struct policy_rule *ret)
{
	const struct policy *policy = d->engine.policy;
	bool found = false;

	for (uint32_t i = 0; i < policy->rule_count; i++) {
		const struct policy_entry *entry = &policy->entries[i];

		if (entry->deny ||
		    policy->terms[entry->terms].upload_rule != number)
			continue;
		policy_rule_at(policy, i, ret);
		if (found)
			return false; /* of a list */
		found = true;
	}
	return found;
}

static void
alert(struct daemon *d, uint32_t sandbox, const struct upload *one,
    uint64_t limit)
{
	struct uploaded uploaded = { .sandbox = sandbox,
		.exceeded = one->told == TOLD_ALL,
		.sum = one->rule == EDGE_UPLOAD_SUM,
		.used = one->used,
		.limit = limit };
	struct policy_rule rule;

	if (!uploaded.sum && find_rule(d, one->rule, &rule)) {
		uploaded.has_rule = true;
		uploaded.kind = rule.kind;
		uploaded.name = rule.name;
	}
	engine_uploaded(&d->engine, &uploaded, d->now_ms);
	daemon_pump(d);
}

void
uploads_used(struct daemon *d, uint32_t sandbox, uint64_t rule, uint64_t used)
{
	struct uploads *u = &d->uploads;
	const struct policy_sandbox *of =
	    policy_sandbox(d->engine.policy, sandbox);
	uint64_t limit = limit_of(d, sandbox, rule);
	struct upload *one;
	uint8_t told;

	if (of == NULL)
		return;
	one = find(u, of->name, rule);
	if (one == NULL)
		one = uploads_file_add(u, of->name, rule);
	if (one == NULL)
		return;
	told = level(used, limit);
	u->changed = true;
	if (u->write_ms == 0)
		u->write_ms = d->now_ms + WRITE_EVERY_MS;
	one->used = used;
	one->day = today();
	if (told <= one->told) {
		one->told = told;
		return;
	}
	one->told = told;
	alert(d, sandbox, one, limit);
}

/* ---- who asks ------------------------------------------------------------ */

static uint64_t
used_today(const struct daemon *d, const char *sandbox, uint64_t rule)
{
	const struct upload *one = find(&d->uploads, sandbox, rule);

	return one != NULL && one->day == today() ? one->used : 0;
}

bool
uploads_sum(const struct daemon *d, uint32_t sandbox, struct upload_use *ret)
{
	const struct policy_sandbox *of =
	    policy_sandbox(d->engine.policy, sandbox);
	struct upload_use use = { 0, 0 };
	bool any = false;

	if (of == NULL || !d->uploads.wanted)
		return false;
	use.limit = limit_of(d, sandbox, EDGE_UPLOAD_SUM);
	if (use.limit != 0) {
		use.used = used_today(d, of->name, EDGE_UPLOAD_SUM);
		*ret = use;
		return true;
	}
	for (size_t i = 0; i < d->uploads.count; i++) {
		const struct upload *one = &d->uploads.list[i];

		if (one->rule == EDGE_UPLOAD_SUM || one->day != today() ||
		    strcmp(one->sandbox, of->name) != 0)
			continue;
		use.used += one->used;
		any = true;
	}
	*ret = use;
	return any;
}

bool
uploads_of_name(const struct daemon *d, uint32_t sandbox,
    const struct dname *name, struct upload_use *ret)
{
	const struct policy_sandbox *of =
	    policy_sandbox(d->engine.policy, sandbox);
	const struct policy_terms *terms = terms_of(d, sandbox, name);

	if (of == NULL || terms == NULL || terms->upload == 0)
		return false;
	*ret = (struct upload_use){ used_today(d, of->name, terms->upload_rule),
		limit_of(d, sandbox, terms->upload_rule) };
	return ret->limit != 0;
}

/* ---- the clock ----------------------------------------------------------- */

uint64_t
uploads_deadline(const struct uploads *u)
{
	return u->write_ms != 0 ? u->write_ms : DEADLINE_NEVER;
}

void
uploads_expire(struct daemon *d)
{
	struct uploads *u = &d->uploads;

	if (u->write_ms == 0 || d->now_ms < u->write_ms)
		return;
	u->write_ms = 0;
	u->changed = false;
	(void)uploads_file_write(u, today(), false);
}

void
uploads_save(struct daemon *d)
{
	if (d->uploads.changed)
		(void)uploads_file_write(&d->uploads, today(), true);
	d->uploads.changed = false;
}
