/* SPDX-License-Identifier: BSD-2-Clause */
/* core - what the resolver's own code says of names. See eval.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "lib/tunnel_shape.h"
#include "tools/eval/eval.h"

struct core {
	struct tunnel_shape shape;
	void *block;
};

static const uint8_t secret[16] = "a key of hashes";

/* The shares that the program has by default, and room for all of them. */
static const struct tunnel_limits limits = {
	.keys_max = 1 << 14,
	.keys_per_sandbox_max = 1024,
	.sandboxes_max = EVAL_CLIENTS,
};

struct core *
core_new(void)
{
	struct core *core = zeroes(1, sizeof(*core));
	struct arena arena;
	size_t size;

	arena_init(&arena, NULL, 0);
	tunnel_shape_init(&core->shape, &arena, &limits, secret);
	size = arena.used;
	core->block = zeroes(1, size);
	arena_init(&arena, core->block, size);
	tunnel_shape_init(&core->shape, &arena, &limits, secret);
	return core;
}

void
core_free(struct core *core)
{
	free(core->block);
	free(core);
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
	(void)at;
	says.rings_refused = result.rings;
	return says;
}
