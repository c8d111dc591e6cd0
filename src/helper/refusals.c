/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * refusals - see refusals.h. A number that went down belongs to a table that
 * was made anew.
 */
#include "config.h"

#include "src/helper/refusals.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include "lib/require.h"
#include "lib/text/edge_each.h"
#include "src/helper/helper.h"

#define SPOOFED 0
/* Each pin changes the generation, and so interrupts the walk. */
#define READ_TRIES 20

static const char *const counted_sets[TALLIES][2] = {
	[HELPER_STAT_REFUSED] = { "refused4", "refused6" },
	[HELPER_STAT_AUDITED] = { "audited4", "audited6" },
};

int
refusals_open(struct helper *helper)
{
	struct refusals *r = &helper->refusals;

	r->sandboxes_max = helper->guard.numbers_max + 1;
	for (size_t i = 0; i < TALLIES; i++) {
		struct packet_tally *t = &r->tallies[i];

		t->now = calloc(r->sandboxes_max, sizeof(*t->now));
		t->last = calloc(r->sandboxes_max, sizeof(*t->last));
		t->total = calloc(r->sandboxes_max, sizeof(*t->total));
		if (t->now == NULL || t->last == NULL || t->total == NULL)
			return -ENOMEM;
	}
	return 0;
}

void
refusals_close(struct helper *helper)
{
	for (size_t i = 0; i < TALLIES; i++) {
		free(helper->refusals.tallies[i].now);
		free(helper->refusals.tallies[i].last);
		free(helper->refusals.tallies[i].total);
	}
	memset(&helper->refusals, 0, sizeof(helper->refusals));
}

/* Where the packets of a set go. */
struct adding {
	struct helper *helper;
	struct packet_tally *tally;
};

static int
add_source(const struct element *element, void *data)
{
	const struct adding *adding = data;
	struct addr source;
	uint32_t sandbox;

	if (!element_read_source(element, &source))
		return 0;
	sandbox = guard_whose(&adding->helper->guard, &source);
	if (sandbox != SPOOFED &&
	    sandbox < adding->helper->refusals.sandboxes_max)
		adding->tally->now[sandbox] += element->packets;
	return 0;
}

/* Of a prefix: addresses of it that are no member's, with the sandbox. */
static int
add_turned(const struct element *element, void *data)
{
	const struct adding *adding = data;
	struct addr addr;
	uint32_t ifindex, sandbox;

	if (!element_read_home(element, &ifindex, &addr))
		return 0;
	sandbox = edge_each_of(adding->helper->guard.config, &addr);
	if (sandbox != SPOOFED &&
	    sandbox < adding->helper->refusals.sandboxes_max)
		adding->tally->now[sandbox] += element->packets;
	return 0;
}

static int
read_counter(const struct nlmsghdr *header, void *data)
{
	const struct nlattr *attr, *inner;
	uint64_t *packets = data;

	nft_for_each(attr, header)
	{
		if (mnl_attr_get_type(attr) != NFTA_OBJ_DATA)
			continue;
		nft_for_each_nested(inner, attr)
		{
			if (mnl_attr_get_type(inner) == NFTA_COUNTER_PACKETS)
				*packets = be64toh(mnl_attr_get_u64(inner));
		}
	}
	return 0;
}

static int
read_spoofed(struct nft *nft, uint64_t *ret)
{
	struct nlmsghdr *request =
	    nft_request(nft, NFPROTO_INET, NFT_MSG_GETOBJ, 0);

	mnl_attr_put_strz(request, NFTA_OBJ_TABLE, nft->table);
	mnl_attr_put_strz(request, NFTA_OBJ_NAME, "spoofed");
	mnl_attr_put_u32(request, NFTA_OBJ_TYPE, htonl(NFT_OBJECT_COUNTER));
	return nft_ask(nft, request, read_counter, ret);
}

static int
read_once(struct helper *helper)
{
	struct refusals *r = &helper->refusals;
	struct adding turned = { helper, &r->tallies[HELPER_STAT_REFUSED] };
	int error = 0;

	/* Who refuses there is the operator, and counts or not. */
	if (helper->nft.lent_pins4 != NULL)
		return -EOPNOTSUPP;
	for (size_t i = 0; i < TALLIES && error == 0; i++) {
		struct adding adding = { helper, &r->tallies[i] };

		memset(adding.tally->now, 0,
		    r->sandboxes_max * sizeof(*adding.tally->now));
		for (size_t k = 0; k < 2 && error == 0; k++)
			error = elements_walk(&helper->nft, NFPROTO_INET,
			    counted_sets[i][k], add_source, &adding);
	}
	if (error == 0)
		error = read_spoofed(&helper->nft, &turned.tally->now[SPOOFED]);
	if (error == 0)
		error = elements_walk(&helper->nft, NFPROTO_INET, "turned4",
		    add_turned, &turned);
	if (error == 0)
		error = elements_walk(&helper->nft, NFPROTO_INET, "turned6",
		    add_turned, &turned);
	return error;
}

static int
read_now(struct helper *helper)
{
	int error = -EINTR;

	for (int i = 0; i < READ_TRIES && error == -EINTR; i++)
		error = read_once(helper);
	return error;
}

int
refusals_begin(struct helper *helper)
{
	struct refusals *r = &helper->refusals;
	int error;

	if (helper->nft.lent_pins4 != NULL)
		return 0;
	error = read_now(helper);
	for (size_t i = 0; i < TALLIES && error == 0; i++)
		memcpy(r->tallies[i].last, r->tallies[i].now,
		    r->sandboxes_max * sizeof(*r->tallies[i].last));
	return error;
}

static void
add_up(struct packet_tally *t, uint32_t sandboxes_max)
{
	for (uint32_t i = 0; i < sandboxes_max; i++) {
		uint64_t before = t->now[i] < t->last[i] ? 0 : t->last[i];

		t->total[i] += t->now[i] - before;
		t->last[i] = t->now[i];
	}
}

int
refusals_take(struct helper *helper)
{
	int error = read_now(helper);

	for (size_t i = 0; i < TALLIES && error == 0; i++)
		add_up(&helper->refusals.tallies[i],
		    helper->refusals.sandboxes_max);
	return error;
}

int
refusals_follow(struct helper *helper)
{
	struct refusals *r = &helper->refusals;

	for (uint32_t i = 1; i < r->sandboxes_max; i++)
		if (!guard_exists(&helper->guard, i))
			for (size_t k = 0; k < TALLIES; k++)
				r->tallies[k].total[i] = 0;
	return refusals_begin(helper);
}

/* What packets have put into the table under their source: the count of what
 * was refused stays for ever, ceilings and rates for a minute. */
static const char *const by_source[][2] = {
	{ "refused4", "refused6" },
	{ "audited4", "audited6" },
	{ "flows4", "flows6" },
	{ "asks4", "asks6" },
	{ "askrate4", "askrate6" },
	{ "flowrate4", "flowrate6" },
	{ "lograte4", "lograte6" },
};

/* A set that is full takes nothing in, not even to be taken out again; then
 * all of this stays. */
void
refusals_begin_anew(struct helper *helper, uint32_t number)
{
	const struct edge_sandbox *sandbox =
	    guard_sandbox(&helper->guard, number);
	struct refusals *r = &helper->refusals;
	struct batch batch;

	for (size_t i = 0; i < TALLIES; i++)
		r->tallies[i].now[number] = r->tallies[i].last[number] =
		    r->tallies[i].total[number] = 0;
	batch_begin(&batch, &helper->nft);
	for (size_t i = 0; i < sandbox->source_count; i++) {
		const struct addr *source = &sandbox->sources[i];
		struct element element = element_source(source);

		for (size_t k = 0; k < ARRAY_LEN(by_source); k++)
			elements_drop(&batch,
			    element_set(by_source[k][0], by_source[k][1],
				source),
			    &element, 1);
	}
	(void)batch_commit(&batch);
}

static bool
is_asked(const struct helper *helper)
{
	for (size_t i = 0; i < helper->request_count; i++)
		if (helper->requests[i].msg.op == HELPER_STATS)
			return true;
	return false;
}

void
refusals_answer(struct helper *helper)
{
	struct refusals *r = &helper->refusals;
	int error;

	if (!is_asked(helper))
		return;
	error = refusals_take(helper);
	for (size_t i = 0; i < helper->request_count; i++) {
		struct request *request = &helper->requests[i];
		uint32_t sandbox = request->msg.sandbox;
		uint64_t which = request->msg.count;

		if (request->msg.op != HELPER_STATS)
			continue;
		request->status = sandbox < r->sandboxes_max && which < TALLIES
		    ? error
		    : -ENOENT;
		request->count =
		    request->status == 0 ? r->tallies[which].total[sandbox] : 0;
	}
}
