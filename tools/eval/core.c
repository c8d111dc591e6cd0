/* SPDX-License-Identifier: BSD-2-Clause */
/* core - what the resolver's own code says of names. See eval.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/budget.h"
#include "lib/dns.h"
#include "lib/tunnel_shape.h"
#include "tools/eval/eval.h"

#define KEYS_MAX  8192
#define BUDGET    (ALARM_BUDGET * BUDGET_BIT)
#define MS_PER_S  1000
#define TYPES_MAX (BUDGET_TYPES - 1) /* beside A and AAAA */

/* Names are rated twice: as names that are on no list, and as names below a
 * wildcard that are charged to a ledger of their own each. */
struct core {
	struct tunnel_shape shape;
	struct budget budget;
	uint32_t sandbox_sum, policy_sum; /* without a limit that matters */
	uint16_t types[TYPES_MAX]; /* in the order in which they came */
	uint32_t type_count;
	void *shape_block, *budget_block;
	size_t budget_size;
};

static const uint8_t secret[16] = "a key of hashes";
static const uint8_t seed[32] = "a seed for the ledger's hashes..";

/* The shares that the program has by default, and room for all of them. */
static const struct tunnel_limits shape_limits = {
	.keys_max = 1 << 14,
	.keys_per_sandbox_max = 1024,
	.sandboxes_max = EVAL_CLIENTS,
};
static const struct budget_limits budget_limits = {
	.keys_max = KEYS_MAX,
	.sums_max = 2,
};

static void
open_shape(struct core *core)
{
	struct arena arena;
	size_t size;

	arena_init(&arena, NULL, 0);
	tunnel_shape_init(&core->shape, &arena, &shape_limits, secret);
	size = arena.used;
	core->shape_block = zeroes(1, size);
	arena_init(&arena, core->shape_block, size);
	tunnel_shape_init(&core->shape, &arena, &shape_limits, secret);
}

struct core *
core_new(void)
{
	struct core *core = zeroes(1, sizeof(*core));
	struct arena arena;

	open_shape(core);
	arena_init(&arena, NULL, 0);
	budget_init(&core->budget, &arena, &budget_limits, seed);
	core->budget_size = arena.used;
	core->budget_block = zeroes(1, arena.used);
	core_begin(core);
	return core;
}

void
core_begin(struct core *core)
{
	struct budget_id sandbox = budget_sum_id(BUDGET_SANDBOX, "any"),
			 policy = budget_sum_id(BUDGET_POLICY, "any");
	struct arena arena;

	arena_init(&arena, core->budget_block, core->budget_size);
	budget_init(&core->budget, &arena, &budget_limits, seed);
	core->sandbox_sum = budget_open_sum(&core->budget, &sandbox,
	    BUDGET_SANDBOX, METER_LIMIT_MAX, 0);
	core->policy_sum = budget_open_sum(&core->budget, &policy,
	    BUDGET_POLICY, METER_LIMIT_MAX, 0);
	core->type_count = 0;
}

void
core_free(struct core *core)
{
	free(core->shape_block);
	free(core->budget_block);
	free(core);
}

/* A and AAAA are one. */
static uint8_t
type_of(struct core *core, uint16_t type)
{
	uint32_t i;

	if (type == DNS_TYPE_A || type == DNS_TYPE_AAAA)
		return 0;
	for (i = 0; i < core->type_count; i++) {
		if (core->types[i] == type)
			return (uint8_t)(i + 1);
	}
	if (i == TYPES_MAX)
		return BUDGET_TYPES - 1;
	core->types[core->type_count++] = type;
	return (uint8_t)(i + 1);
}

/* The ledger of a client and zone; its clock started with the sample. */
static uint32_t
key_of(struct core *core, uint32_t client, const struct dname *zone)
{
	struct budget_terms terms = { .limit = BUDGET,
		.sandbox_sum = core->sandbox_sum,
		.policy_sum = core->policy_sum };
	struct budget_id id;
	char name[16];
	uint32_t key;

	snprintf(name, sizeof(name), "%u", client);
	id = budget_key_id(name, zone->wire, zone->len);
	key = budget_open_key(&core->budget, &id, &terms, core->budget.now_ms);
	if (key == BUDGET_NONE)
		die("a sample", "has too many clients and zones");
	return key;
}

static void
charge(struct core *core, uint32_t client, const struct item *item, double at,
    struct core_says *says)
{
	struct dname zone = dname_suffix(&item->name, item->zone_labels);
	struct budget_event event = { .name = &item->name,
		.labels = labels_below(item),
		.type = type_of(core, item->type),
		.type_count = BUDGET_TYPES,
		.asks = 1 };
	struct budget_result result;
	enum budget_decision decision;

	decision = budget_charge(&core->budget, key_of(core, client, &zone),
	    &event, (uint64_t)(at * MS_PER_S), &result);
	says->rings_listed = result.alarm;
	says->is_refused = decision != BUDGET_PAY;
	says->charged = (double)budget_total(&result.price) / BUDGET_BIT;
}

struct core_says
core_observe(struct core *core, uint32_t client, const struct item *item,
    double at)
{
	struct dname zone = dname_suffix(&item->name, item->zone_labels);
	struct tunnel_shape_result result;
	struct core_says says = { 0 };

	if (client >= EVAL_CLIENTS)
		die("a sample", "has too many clients");
	tunnel_shape_observe(&core->shape, client + 1, &item->name, &zone,
	    &result);
	says.rings_refused = result.rings;
	charge(core, client, item, at, &says);
	return says;
}
