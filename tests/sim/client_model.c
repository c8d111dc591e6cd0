/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * client_model - what sandboxes send: honest questions, names that carry data
 * outward, and garbage.
 */
#include <stdio.h>
#include <string.h>

#include "lib/dns.h"
#include "lib/require.h"
#include "tests/sim/world.h"

static const char *const honest_names[] = {
	"www.example.com",
	"WWW.Example.COM",
	"api.example.com",
	"v4.example.com",
	"a.shared.example",
	"b.shared.example",
	"one.pages.example.net",
	"two.pages.example.net",
	"bad.pages.example.net",
	"a.b.deep.example.org",
	"x.deep.example.org",
	"y.x.deep.example.org",
	"top.example.org",
	"leaf.top.example.org",
	"fixed.example.com",
	"db.corp.example",
	"big.example.com",
	"txt.example.com",
	"www.example.com.search.example",
	"pages.example.net",
	"unlisted.example",
	"localhost",
	"printer",
	"2.1.200.10.in-addr.arpa",
};

static uint16_t
honest_type(struct world *w)
{
	static const uint16_t types[] = { DNS_TYPE_A, DNS_TYPE_A, DNS_TYPE_A,
		DNS_TYPE_AAAA, DNS_TYPE_AAAA, DNS_TYPE_ANY, DNS_TYPE_HTTPS,
		DNS_TYPE_TXT, DNS_TYPE_PTR };

	return types[world_below(w, ARRAY_LEN(types))];
}

static void
secret_label(struct world *w, char *buf, size_t len)
{
	static const char octets[] = "abcdefghijklmnopqrstuvwxyz0123456789=";

	for (size_t i = 0; i < len; i++)
		buf[i] = octets[world_below(w, sizeof(octets) - 1)];
	buf[len] = '\0';
}

static void
exfiltrating_name(struct world *w, char *buf, size_t size)
{
	static const char *const below[] = { "pages.example.net",
		"deep.example.org", "tunnel.example", "api.example.com" };
	char label[64];

	secret_label(w, label, 1 + world_below(w, 60));
	(void)snprintf(buf, size, "%s.%s", label,
	    below[world_below(w, ARRAY_LEN(below))]);
}

/* Some octets of a good question are changed, cut off or put behind it. */
static void
spoil(struct world *w, struct delivery *d)
{
	uint32_t changes = 1 + world_below(w, 4);

	for (uint32_t i = 0; i < changes && d->len > 0; i++)
		d->wire[world_below(w, d->len)] = (uint8_t)world_below(w, 256);
	if (world_chance(w, 30))
		d->len = (uint16_t)world_below(w, d->len + 1u);
	if (world_chance(w, 30))
		d->len = (uint16_t)(d->len + world_below(w, 20));
}

static void
plan_one(struct world *w, uint64_t at_ms)
{
	struct delivery *d = world_deliver(w, DELIVER_QUERY, at_ms);
	uint32_t kind = world_below(w, 100);
	char name[160];
	uint16_t type = honest_type(w);

	if (kind < w->faults.exfiltrating) {
		exfiltrating_name(w, name, sizeof(name));
		if (world_chance(w, 30))
			type = DNS_TYPE_NULL;
	} else {
		(void)snprintf(name, sizeof(name), "%s",
		    honest_names[world_below(w, ARRAY_LEN(honest_names))]);
	}
	d->number =
	    world_below(w, SIM_SANDBOXES + (world_chance(w, 3) ? 1 : 0));
	d->number = d->number == SIM_SANDBOXES ? 0 : d->number + 1;
	d->flag = world_chance(w, 10); /* over TCP */
	d->len = (uint16_t)rig_query(d->wire, sizeof(d->wire), name, type,
	    (uint16_t)world_below(w, 65536), world_chance(w, 60));
	if (kind >= 100 - w->faults.garbage)
		spoil(w, d);
}

void
client_model_plan(struct world *w)
{
	uint64_t at_ms = w->now_ms;
	uint32_t gap_ms = 1 + world_below(w, 2000);

	for (uint32_t i = 0; i < SIM_QUERIES; i++) {
		/* Half come in bursts, as A and AAAA do. */
		if (world_chance(w, 50))
			at_ms += world_below(w, gap_ms);
		plan_one(w, at_ms);
	}
}
