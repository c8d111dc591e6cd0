/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uploads_list - the quotas and the claims that there are, sorted, so that
 * those of a sandbox stand together. See uploads_parts.h.
 */
#include "config.h"

#include <string.h>

#include "src/helper/uploads_parts.h"

static int
order_of(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

size_t
uploads_quota_place(const struct uploads *u, uint32_t sandbox, uint64_t rule)
{
	size_t low = 0, high = u->quota_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct upload_quota *q = &u->quotas[middle];
		int order = order_of(q->sandbox, sandbox);

		if (order == 0)
			order = order_of(q->rule, rule);
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct upload_quota *
uploads_find_quota(const struct uploads *u, uint32_t sandbox, uint64_t rule)
{
	size_t at = uploads_quota_place(u, sandbox, rule);

	return at < u->quota_count && u->quotas[at].sandbox == sandbox &&
		u->quotas[at].rule == rule
	    ? &u->quotas[at]
	    : NULL;
}

/* Finds or makes it; NULL: there is no room. */
struct upload_quota *
uploads_put_quota(struct uploads *u, uint32_t sandbox, uint64_t rule)
{
	size_t at = uploads_quota_place(u, sandbox, rule);
	struct upload_quota *q = uploads_find_quota(u, sandbox, rule);

	if (q != NULL)
		return q;
	if (u->quota_count == u->max)
		return NULL;
	q = &u->quotas[at];
	memmove(q + 1, q, (u->quota_count - at) * sizeof(*q));
	*q = (struct upload_quota){ .sandbox = sandbox, .rule = rule };
	u->quota_count++;
	return q;
}

int
uploads_claim_order(const struct upload_claim *claim, uint32_t sandbox,
    const struct addr *addr, uint64_t rule)
{
	int order = order_of(claim->sandbox, sandbox);

	if (order == 0)
		order = addr_compare(&claim->addr, addr);
	return order != 0 ? order : order_of(claim->rule, rule);
}

/* The first claim that is not before this one. Rule 0 is before all. */
size_t
uploads_claim_place(const struct uploads *u, uint32_t sandbox,
    const struct addr *addr, uint64_t rule)
{
	size_t low = 0, high = u->claim_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (uploads_claim_order(&u->claims[middle], sandbox, addr,
			rule) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The claims of a sandbox are from here to where others begin. */
size_t
uploads_first_claim(const struct uploads *u, uint32_t sandbox)
{
	static const struct addr none;

	return uploads_claim_place(u, sandbox, &none, 0);
}

bool
uploads_is_of(const struct uploads *u, size_t at, uint32_t sandbox)
{
	return at < u->claim_count && u->claims[at].sandbox == sandbox;
}

bool
uploads_is_to(const struct uploads *u, size_t at, uint32_t sandbox,
    const struct addr *addr)
{
	return at < u->claim_count && u->claims[at].sandbox == sandbox &&
	    addr_equal(&u->claims[at].addr, addr);
}

void
uploads_remove_claim(struct uploads *u, size_t at)
{
	u->claim_count--;
	memmove(&u->claims[at], &u->claims[at + 1],
	    (u->claim_count - at) * sizeof(*u->claims));
}
