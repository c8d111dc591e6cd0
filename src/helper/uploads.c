/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uploads - see uploads.h. What is here and what is in the kernel change
 * together: a change is put into a batch, and noted when that was taken.
 */
#include "config.h"

#include "src/helper/uploads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/require.h"
#include "lib/text/edge_uploads.h"
#include "src/helper/helper.h"
#include "src/helper/log.h"
#include "src/helper/uploads_parts.h"

#define POLL_MS  5000
#define SWEEP_MS 60000
#define DAY_S    (24 * 3600)

/* ---- what the file says ------------------------------------------------ */

/* While a reload is under way, what only the next file says counts too. */
static uint64_t
limit_of(const struct helper *helper, uint32_t sandbox, uint64_t rule)
{
	uint64_t limit = edge_upload_limit(helper->guard.config, sandbox, rule);

	if (limit == 0 && helper->guard.next != NULL)
		limit = edge_upload_limit(helper->guard.next, sandbox, rule);
	return limit;
}

/* ---- quotas in the kernel ---------------------------------------------- */

static void
name_anew(struct helper *helper, const struct upload_quota *q,
    char ret[QUOTA_NAME_MAX])
{
	struct uploads *u = &helper->uploads;
	struct quota_key key = {
		.source = guard_sandbox(&helper->guard, q->sandbox)->sources[0],
		.rule = q->rule,
		.day = u->day,
		.serial = u->serial++,
	};

	quota_name_print(ret, &key);
}

/* Elements of one map: those that are there out, those that lead to a quota
 * in. name NULL: none in; was: those of this run are there. */
static void
put_elements(struct helper *helper, struct batch *batch,
    const struct upload_claim *claim, const char *name, bool was)
{
	const struct edge_sandbox *sandbox =
	    guard_sandbox(&helper->guard, claim->sandbox);
	bool sum = claim->rule == EDGE_UPLOAD_SUM;

	for (size_t i = 0; i < sandbox->source_count; i++) {
		const struct addr *source = &sandbox->sources[i];
		const char *map = sum
		    ? element_set("total4", "total6", source)
		    : element_set("upload4", "upload6", source);
		struct element element;

		if (!sum && source->family != claim->addr.family)
			continue;
		element = sum ? element_source(source)
			      : element_pair(source, &claim->addr);
		if (was || uploads_left_take(&helper->uploads, map, &element))
			elements_delete(batch, map, &element, 1);
		element.object = name;
		if (name != NULL)
			elements_add(batch, map, &element, 1);
	}
}

/* The same for all that leads to a quota. */
static void
put_all_elements(struct helper *helper, struct batch *batch,
    const struct upload_quota *q, const char *name)
{
	struct uploads *u = &helper->uploads;
	const struct upload_claim sum = { .sandbox = q->sandbox };

	if (q->rule == EDGE_UPLOAD_SUM)
		put_elements(helper, batch, &sum, name, true);
	for (size_t i = uploads_first_claim(u, q->sandbox);
	     uploads_is_of(u, i, q->sandbox); i++)
		if (u->claims[i].rule == q->rule && u->claims[i].bound)
			put_elements(helper, batch, &u->claims[i], name, true);
}

static int
take(struct helper *helper, struct batch *batch, const char *what)
{
	int error = batch_commit(batch);

	if (error == 0)
		return 0;
	log_error("uploads: %s: %s", what, batch_error_text(error));
	helper->suspect = true;
	return error;
}

/* A quota that counts from another number on. */
static int
make_anew(struct helper *helper, struct upload_quota *q, uint64_t limit,
    uint64_t used)
{
	char name[QUOTA_NAME_MAX];
	struct batch batch;
	int error;

	name_anew(helper, q, name);
	batch_begin(&batch, &helper->nft);
	quota_put(&batch, name, limit, used);
	put_all_elements(helper, &batch, q, name);
	quota_drop(&batch, q->name);
	error = take(helper, &batch, "a quota could not be made anew");
	if (error != 0)
		return error;
	memcpy(q->name, name, sizeof(name));
	q->limit = limit;
	q->used = used;
	return 0;
}

/* Puts a quota into a batch, if it is not in the kernel. What is left of it of
 * an earlier run goes on. */
static void
put_quota(struct helper *helper, struct batch *batch, struct upload_quota *q,
    uint64_t limit)
{
	const struct addr *source =
	    &guard_sandbox(&helper->guard, q->sandbox)->sources[0];
	struct upload_left *left;

	if (q->there)
		return;
	left = uploads_left_quota(&helper->uploads, source, q->rule);
	if (left != NULL && left->used >= q->used) {
		left->taken = true;
		q->used = left->used;
		quota_name_print(q->name, &left->key);
	} else {
		name_anew(helper, q, q->name);
	}
	q->limit = limit;
	quota_put(batch, q->name, limit, q->used);
}

/* ---- claims ------------------------------------------------------------- */

/* Of the claims to an address, from `at` on: the one with the smallest quota,
 * and the one that counts in the kernel. */
static struct upload_claim *
smallest(const struct helper *helper, size_t at, struct upload_claim **ret_now)
{
	const struct uploads *u = &helper->uploads;
	const struct upload_claim first = u->claims[at];
	struct upload_claim *best = NULL;
	uint64_t least = UINT64_MAX;

	*ret_now = NULL;
	for (; uploads_is_to(u, at, first.sandbox, &first.addr); at++) {
		struct upload_claim *claim = &u->claims[at];
		uint64_t limit = limit_of(helper, claim->sandbox, claim->rule);

		if (claim->bound)
			*ret_now = claim;
		if (limit != 0 && limit < least) {
			best = claim;
			least = limit;
		}
	}
	return best;
}

/* Brings the elements of an address to its smallest quota. */
static int
bind(struct helper *helper, uint32_t sandbox, const struct addr *addr)
{
	struct uploads *u = &helper->uploads;
	size_t at = uploads_claim_place(u, sandbox, addr, 0);
	struct upload_claim *best, *now;
	struct upload_quota *q;
	struct batch batch;
	int error;

	if (!uploads_is_to(u, at, sandbox, addr))
		return 0;
	best = smallest(helper, at, &now);
	if (best == NULL || best == now)
		return 0;
	q = uploads_put_quota(u, sandbox, best->rule);
	if (q == NULL)
		return -ENOSPC;
	batch_begin(&batch, &helper->nft);
	put_quota(helper, &batch, q, limit_of(helper, sandbox, best->rule));
	put_elements(helper, &batch, best, q->name, now != NULL);
	error = take(helper, &batch,
	    "an address could not be put under a "
	    "quota");
	if (error != 0)
		return error;
	q->there = true;
	best->bound = true;
	if (now != NULL)
		now->bound = false;
	return 0;
}

/* A claim goes; what counts for the address is another one, or nothing. */
static void
drop_claim(struct helper *helper, size_t at)
{
	struct uploads *u = &helper->uploads;
	const struct upload_claim claim = u->claims[at];
	struct batch batch;

	uploads_remove_claim(u, at);
	if (!claim.bound)
		return;
	batch_begin(&batch, &helper->nft);
	put_elements(helper, &batch, &claim, NULL, true);
	if (take(helper, &batch,
		"an address could not be let out of a "
		"quota") == 0)
		(void)bind(helper, claim.sandbox, &claim.addr);
}

bool
uploads_covers(const struct helper *helper, uint32_t sandbox,
    const struct addr *addr)
{
	const struct uploads *u = &helper->uploads;
	size_t at = uploads_claim_place(u, sandbox, addr, 0);

	for (; uploads_is_to(u, at, sandbox, addr); at++)
		if (u->claims[at].bound)
			return true;
	return false;
}

void
uploads_claim(struct helper *helper, struct request *request, uint64_t now_ms)
{
	struct uploads *u = &helper->uploads;
	const struct helper_msg *msg = &request->msg;
	uint64_t expires_ms = now_ms + msg->lifetime_ms;
	size_t at = uploads_claim_place(u, msg->sandbox, &msg->addr, msg->rule);
	struct upload_claim *claim = &u->claims[at];

	request->status = guard_upload(&helper->guard, msg);
	if (request->status != 0)
		return;
	if (at < u->claim_count &&
	    uploads_claim_order(claim, msg->sandbox, &msg->addr, msg->rule) ==
		0) {
		if (claim->expires_ms < expires_ms)
			claim->expires_ms = expires_ms;
	} else if (u->claim_count == u->max) {
		request->status = -ENOSPC;
		return;
	} else {
		memmove(claim + 1, claim,
		    (u->claim_count - at) * sizeof(*claim));
		*claim = (struct upload_claim){ .sandbox = msg->sandbox,
			.addr = msg->addr,
			.rule = msg->rule,
			.expires_ms = expires_ms };
		u->claim_count++;
	}
	request->status = bind(helper, msg->sandbox, &msg->addr);
}

/* ---- use ------------------------------------------------------------------
 */

void
uploads_spent(struct helper *helper, struct request *request)
{
	const struct helper_msg *msg = &request->msg;
	struct upload_quota *q;
	uint64_t limit;

	request->status = guard_spent(&helper->guard, msg);
	if (request->status != 0)
		return;
	limit = limit_of(helper, msg->sandbox, msg->rule);
	q = uploads_put_quota(&helper->uploads, msg->sandbox, msg->rule);
	if (q == NULL) {
		request->status = -ENOSPC;
		return;
	}
	if (q->there)
		uploads_read(helper);
	if (msg->count <= q->used)
		return;
	if (q->there)
		request->status = make_anew(helper, q, limit, msg->count);
	else
		q->used = msg->count;
	q->told = msg->count;
}

static int
note_use(const struct quota_state *state, void *data)
{
	struct helper *helper = data;
	struct upload_quota *q;
	struct quota_key key;

	if (!quota_name_read(state->name, &key))
		return 0;
	q = uploads_find_quota(&helper->uploads,
	    guard_whose(&helper->guard, &key.source), key.rule);
	if (q != NULL && q->there && strcmp(q->name, state->name) == 0 &&
	    state->used > q->used)
		q->used = state->used;
	return 0;
}

static void
tell(struct helper *helper)
{
	struct uploads *u = &helper->uploads;

	for (size_t i = 0; i < u->quota_count; i++) {
		struct upload_quota *q = &u->quotas[i];

		if (q->used == q->told)
			continue;
		q->told = q->used;
		helper_send(helper,
		    &(struct helper_msg){ .op = HELPER_USED,
			.sandbox = q->sandbox,
			.rule = q->rule,
			.count = q->used });
	}
}

void
uploads_read(struct helper *helper)
{
	int error;

	if (helper->uploads.quota_count == 0)
		return;
	error = quotas_walk(&helper->nft, note_use, helper);
	if (error != 0)
		log_warn("uploads: could not be read: %s",
		    batch_error_text(error));
	if (helper->state != STATE_NEW)
		tell(helper);
}

static uint32_t
today(void)
{
	struct timespec now;

	REQUIRE(clock_gettime(CLOCK_REALTIME, &now) == 0);
	return (uint32_t)(now.tv_sec / DAY_S);
}

/* Quotas that nothing leads to begin their day when something does. */
static bool
is_idle(const struct uploads *u, const struct upload_quota *q)
{
	if (q->rule == EDGE_UPLOAD_SUM)
		return false;
	for (size_t i = uploads_first_claim(u, q->sandbox);
	     uploads_is_of(u, i, q->sandbox); i++)
		if (u->claims[i].rule == q->rule && u->claims[i].bound)
			return false;
	return true;
}

/* A clock that was set back begins no new day, but has it come again. */
static void
begin_day(struct helper *helper)
{
	struct uploads *u = &helper->uploads;
	uint32_t day = today();
	bool later = day > u->day;

	u->day = day;
	for (size_t i = 0; later && i < u->quota_count; i++) {
		struct upload_quota *q = &u->quotas[i];

		if (q->there && is_idle(u, q)) {
			struct batch batch;

			batch_begin(&batch, &helper->nft);
			quota_drop(&batch, q->name);
			q->there = take(helper, &batch,
				       "a quota could not be dropped") != 0;
		} else if (q->there) {
			(void)make_anew(helper, q, q->limit, 0);
		}
		q->used = 0;
	}
	/* At once, or what is used by then could pass for what was. */
	if (later && helper->state != STATE_NEW)
		tell(helper);
}

/* ---- changes -------------------------------------------------------------
 */

/* The quota of a rule that has none any more: its claims go, then it. */
static void
drop_quota(struct helper *helper, struct upload_quota *q)
{
	struct uploads *u = &helper->uploads;
	struct batch batch;
	size_t at;

	batch_begin(&batch, &helper->nft);
	put_all_elements(helper, &batch, q, NULL);
	quota_drop(&batch, q->name);
	if (take(helper, &batch, "a quota could not be taken away") != 0)
		return;
	q->there = false;
	at = uploads_first_claim(u, q->sandbox);
	while (uploads_is_of(u, at, q->sandbox))
		if (u->claims[at].rule == q->rule)
			uploads_remove_claim(u, at);
		else
			at++;
}

/* One whose limit has been reached counts what it refused, too. */
static void
change_limit(struct helper *helper, struct upload_quota *q, uint64_t limit)
{
	struct batch batch;

	uploads_read(helper);
	if (q->used >= q->limit) {
		(void)make_anew(helper, q, limit, q->used);
		return;
	}
	batch_begin(&batch, &helper->nft);
	quota_put(&batch, q->name, limit, q->used);
	if (take(helper, &batch, "a quota could not be changed") == 0)
		q->limit = limit;
}

static void
follow_sum(struct helper *helper, uint32_t sandbox)
{
	uint64_t limit = limit_of(helper, sandbox, EDGE_UPLOAD_SUM);
	const struct upload_claim sum = { .sandbox = sandbox };
	struct upload_quota *q;
	struct batch batch;

	if (limit == 0)
		return;
	q = uploads_put_quota(&helper->uploads, sandbox, EDGE_UPLOAD_SUM);
	if (q == NULL)
		log_error("uploads: no room for the sum of sandbox %s; raise "
			  "limits.pins",
		    guard_sandbox(&helper->guard, sandbox)->name);
	if (q == NULL || q->there)
		return;
	batch_begin(&batch, &helper->nft);
	put_quota(helper, &batch, q, limit);
	put_elements(helper, &batch, &sum, q->name, false);
	q->there = take(helper, &batch, "a sum could not be bounded") == 0;
}

void
uploads_follow_one(struct helper *helper, uint32_t sandbox)
{
	struct uploads *u = &helper->uploads;
	size_t at;

	if (helper->nft.lent_pins4 != NULL)
		return;
	if (guard_exists(&helper->guard, sandbox))
		follow_sum(helper, sandbox);
	for (at = uploads_quota_place(u, sandbox, 0);
	     at < u->quota_count && u->quotas[at].sandbox == sandbox; at++) {
		struct upload_quota *q = &u->quotas[at];
		uint64_t limit = limit_of(helper, sandbox, q->rule);

		if (q->there && limit == 0)
			drop_quota(helper, q);
		else if (q->there && limit != q->limit)
			change_limit(helper, q, limit);
	}
	for (at = uploads_first_claim(u, sandbox);
	     uploads_is_of(u, at, sandbox); at++)
		(void)bind(helper, sandbox, &u->claims[at].addr);
}

void
uploads_follow(struct helper *helper)
{
	struct uploads *u = &helper->uploads;

	for (uint32_t i = 1; i <= helper->guard.sandbox_count; i++)
		uploads_follow_one(helper, i);
	for (size_t i = u->quota_count; i-- > 0;)
		if (!guard_exists(&helper->guard, u->quotas[i].sandbox) &&
		    !u->quotas[i].there) {
			u->quota_count--;
			memmove(&u->quotas[i], &u->quotas[i + 1],
			    (u->quota_count - i) * sizeof(*u->quotas));
		}
}

void
uploads_leave(struct helper *helper, uint32_t sandbox, bool forget)
{
	struct uploads *u = &helper->uploads;
	size_t at = uploads_quota_place(u, sandbox, 0), end = at;

	if (at < u->quota_count && u->quotas[at].sandbox == sandbox)
		uploads_read(helper);
	for (; end < u->quota_count && u->quotas[end].sandbox == sandbox; end++)
		if (u->quotas[end].there)
			drop_quota(helper, &u->quotas[end]);
	while (uploads_is_of(u, uploads_first_claim(u, sandbox), sandbox))
		uploads_remove_claim(u, uploads_first_claim(u, sandbox));
	if (!forget)
		return;
	memmove(&u->quotas[at], &u->quotas[end],
	    (u->quota_count - end) * sizeof(*u->quotas));
	u->quota_count -= end - at;
}

/* ---- what is over ---------------------------------------------------------
 */

static bool
mark_claims(const struct flow *flow, void *data)
{
	struct helper *helper = data;
	struct uploads *u = &helper->uploads;
	const struct addr *ends[] = { &flow->from, &flow->to };

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		uint32_t sandbox = guard_whose(&helper->guard, ends[i]);
		size_t at;

		if (sandbox == 0)
			continue;
		at = uploads_claim_place(u, sandbox, ends[1 - i], 0);
		for (; uploads_is_to(u, at, sandbox, ends[1 - i]); at++)
			u->claims[at].flows = true;
	}
	return false;
}

/* Claims that are over, and that no flow needs any more. */
static void
sweep(struct helper *helper, uint64_t now_ms)
{
	struct uploads *u = &helper->uploads;
	bool any = false;

	for (size_t i = 0; i < u->claim_count; i++) {
		u->claims[i].flows = false;
		any |= u->claims[i].expires_ms <= now_ms;
	}
	if (!any || flows_walk(&helper->flows, mark_claims, helper) != 0)
		return;
	for (size_t i = u->claim_count; i-- > 0;)
		if (u->claims[i].expires_ms <= now_ms && !u->claims[i].flows)
			drop_claim(helper, i);
}

/* ---- life -------------------------------------------------------------- */

void
uploads_begin(struct helper *helper)
{
	struct uploads *u = &helper->uploads;

	if (helper->nft.lent_pins4 != NULL)
		return;
	u->max = helper->config->settings.limits.pins;
	/* The pages of what is not used are never touched. */
	u->quotas = calloc(u->max, sizeof(*u->quotas));
	u->claims = calloc(u->max + 1, sizeof(*u->claims));
	if (u->quotas == NULL || u->claims == NULL) {
		log_error("uploads: no memory");
		u->max = 0;
	}
	u->day = today();
	u->serial = 1;
	uploads_left_find(helper);
	uploads_follow(helper);
}

void
uploads_lost(struct helper *helper)
{
	struct uploads *u = &helper->uploads;

	uploads_left_forget(u);
	u->claim_count = 0;
	for (size_t i = 0; i < u->quota_count; i++)
		u->quotas[i].there = false;
	uploads_follow(helper);
}

void
uploads_settle(struct helper *helper)
{
	struct uploads *u = &helper->uploads;

	uploads_left_end(helper);
	if (u->quota_count > 0)
		uploads_read(helper);
}

void
uploads_close(struct helper *helper)
{
	uploads_left_forget(&helper->uploads);
	free(helper->uploads.quotas);
	free(helper->uploads.claims);
	memset(&helper->uploads, 0, sizeof(helper->uploads));
}

void
uploads_hurry(struct helper *helper)
{
	helper->uploads.poll_ms = 0;
}

uint64_t
uploads_due(const struct helper *helper)
{
	return helper->uploads.quota_count > 0 ? helper->uploads.poll_ms
					       : UINT64_MAX;
}

void
uploads_tick(struct helper *helper, uint64_t now_ms)
{
	struct uploads *u = &helper->uploads;

	if (uploads_due(helper) > now_ms)
		return;
	u->poll_ms = now_ms + POLL_MS;
	uploads_read(helper);
	begin_day(helper);
	if (u->sweep_ms > now_ms)
		return;
	u->sweep_ms = now_ms + SWEEP_MS;
	sweep(helper, now_ms);
}
