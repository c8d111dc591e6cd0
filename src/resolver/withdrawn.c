/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * withdrawn - see withdrawn.h. Of a body:
 *
 *   0   1 rule kind         1   1 length of the name    2 64 sandbox
 *  66     the rule's name
 */
#include "config.h"

#include "src/resolver/withdrawn.h"

#include <string.h>

#include "lib/cursor.h"
#include "src/resolver/daemon.h"
#include "src/resolver/log.h"

_Static_assert(66 + DNS_NAME_MAX <= RECORDS_BODY, "any name fits");

void
withdrawal_print(uint8_t ret[RECORDS_BODY], const struct policy_withdrawal *w)
{
	struct cursor c = cursor_write_of(ret, RECORDS_BODY);

	memset(ret, 0, RECORDS_BODY);
	cursor_put_u8(&c, (uint8_t)w->kind);
	cursor_put_u8(&c, w->name.len);
	cursor_put_bytes(&c, w->sandbox, sizeof(w->sandbox));
	cursor_put_bytes(&c, w->name.wire, w->name.len);
}

bool
withdrawal_read(struct policy_withdrawal *ret, const uint8_t body[RECORDS_BODY])
{
	struct cursor c = cursor_read_of(body, RECORDS_BODY);
	uint8_t kind = cursor_u8(&c), len = cursor_u8(&c);
	uint8_t wire[UINT8_MAX];

	memset(ret, 0, sizeof(*ret));
	cursor_bytes(&c, ret->sandbox, sizeof(ret->sandbox));
	ret->sandbox[sizeof(ret->sandbox) - 1] = '\0';
	cursor_bytes(&c, wire, len);
	if (kind > RULE_BELOW)
		return false;
	ret->kind = (enum rule_kind)kind;
	return dname_from_wire(wire, len, &ret->name);
}

int
withdrawn_open(struct withdrawn *w, int dir, const char *boot_id)
{
	return records_open(&w->file, dir, WITHDRAWN_FILE, boot_id,
	    POLICY_WITHDRAWN_MAX);
}

void
withdrawn_close(struct withdrawn *w)
{
	records_close(&w->file);
}

static void
write_one(struct daemon *d, uint32_t index)
{
	uint8_t body[RECORDS_BODY];

	withdrawal_print(body, &d->config->policy->withdrawn[index]);
	records_write(&d->withdrawn.file, index, body);
}

/* The last one is what was added last; again writes it again. */
static void
write_last(struct daemon *d)
{
	write_one(d, d->config->policy->withdrawn_count - 1);
}

void
withdrawn_recall(struct daemon *d)
{
	struct policy_withdrawal it;
	const uint8_t *body;
	uint32_t index = 0;

	while ((body = records_next(&d->withdrawn.file, &index)) != NULL) {
		if (!withdrawal_read(&it, body) ||
		    policy_withdraw(d->config->policy, &it) != POLICY_OK)
			continue;
		write_last(d);
	}
	if (d->config->policy->withdrawn_count > 0)
		log_info("revoke", "%u rules are withdrawn until a reload",
		    (unsigned)d->config->policy->withdrawn_count);
}

void
withdrawn_settle(struct withdrawn *w)
{
	int r = records_settle(&w->file);

	if (r != 0)
		log_error("state", "withdrawn rules are not kept: %s",
		    strerror(-r));
}

void
withdrawn_clear(struct withdrawn *w)
{
	for (uint32_t i = 0; i < POLICY_WITHDRAWN_MAX; i++)
		records_clear(&w->file, i);
}

static void
tell(struct daemon *d, const struct policy_withdrawal *it, uint32_t sandbox,
    const struct guests_caller *caller)
{
	struct event event = { .action = EVENT_RULE_WITHDRAWN,
		.sandbox = sandbox,
		.has_rule = true,
		.rule_kind = it->kind,
		.rule_name = it->name,
		.has_user = caller->has_user,
		.user = caller->user };

	daemon_event(d, &event);
}

bool
withdrawn_add(struct daemon *d, const struct policy_withdrawal *it,
    const struct guests_caller *caller)
{
	struct policy *policy = d->config->policy;
	uint32_t sandbox = policy_sandbox_by_name(policy, it->sandbox);
	uint32_t before = policy->withdrawn_count;

	if (policy_withdraw(policy, it) != POLICY_OK)
		return false;
	if (policy->withdrawn_count > before) {
		write_last(d);
		tell(d, it, sandbox, caller);
	}
	engine_regrant(&d->engine, sandbox, d->now_ms);
	daemon_pump(d);
	helper_barrier(&d->helper, caller->serial);
	return true;
}

/* Whoever is killed on the way has more withdrawn than he should, not less:
 * what stays is written before what goes is cleared. */
void
withdrawn_release(struct daemon *d, uint32_t sandbox)
{
	struct policy *policy = d->config->policy;
	uint32_t before = policy->withdrawn_count;

	if (!policy_give_back(policy, policy_sandbox(policy, sandbox)->name))
		return;
	for (uint32_t i = 0; i < policy->withdrawn_count; i++)
		write_one(d, i);
	for (uint32_t i = policy->withdrawn_count; i < before; i++)
		records_clear(&d->withdrawn.file, i);
	engine_regrant(&d->engine, sandbox, d->now_ms);
	daemon_pump(d);
	log_info("revoke", "what was withdrawn from %s is back",
	    policy_sandbox(policy, sandbox)->name);
}

void
withdrawn_passed(struct daemon *d, uint64_t serial)
{
	control_answered(&d->control, serial, 0);
}
