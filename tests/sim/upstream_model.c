/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upstream_model - a resolver with an opinion on every name, and a network
 * that loses, doubles, delays and forges.
 */
#include <stdio.h>
#include <string.h>

#include "lib/dns.h"
#include "lib/require.h"
#include "tests/sim/world.h"

#define ASK_TIMEOUT_MS 800

static const uint32_t ttls[] = { 0, 1, 4, 30, 60, 61, 300, 3600 };

/* What a name has depends on the name, and a little on the time. */
static uint32_t
mood(const struct world *w, const char *name)
{
	uint32_t sum = (uint32_t)(w->seed + w->now_ms / 40000);

	for (; *name != '\0'; name++)
		sum = sum * 31 + (uint8_t)*name;
	return sum;
}

static const char *
type_name(uint16_t type)
{
	switch (type) {
	case DNS_TYPE_AAAA:
		return "AAAA";
	case DNS_TYPE_TXT:
		return "TXT";
	case DNS_TYPE_MX:
		return "MX";
	default:
		return "A";
	}
}

static int
put_data(struct world *w, char *buf, size_t size, uint16_t type,
    uint32_t number)
{
	if (type == DNS_TYPE_TXT)
		return snprintf(buf, size, "text%u", (unsigned)number);
	if (type == DNS_TYPE_MX)
		return snprintf(buf, size, "10 mail%u.example.com",
		    (unsigned)number);
	if (world_chance(w, w->faults.protect))
		return snprintf(buf, size, "%s%u",
		    type == DNS_TYPE_A ? "10.5.0." : "::ffff:127.0.0.",
		    (unsigned)(number % 200 + 1));
	return snprintf(buf, size, "%s%u",
	    type == DNS_TYPE_A ? "192.0.2." : "2001:db8::", (unsigned)number);
}

/* Addresses come from few, so that names share them. */
static size_t
put_records(struct world *w, char *buf, size_t size, const char *name,
    uint16_t type)
{
	uint32_t m = mood(w, name), count = 1 + m % 4, ttl = ttls[m / 7 % 8];
	const char *owner = name;
	size_t used = 0;

	if (strncmp(name, "big", 3) == 0)
		count = 18;
	if (m % 5 == 0) {
		used += (size_t)snprintf(buf, size,
		    "%s %u CNAME e%u.cdn.example; e%u.cdn.example 50 CNAME "
		    "end.cdn.example;",
		    name, (unsigned)ttl, (unsigned)(m % 3), (unsigned)(m % 3));
		owner = "end.cdn.example";
	}
	if (world_chance(w, w->faults.poison))
		used += (size_t)snprintf(buf + used, size - used,
		    "other.example %u A 203.0.113.66;", (unsigned)ttl);
	for (uint32_t i = 0; i < count; i++) {
		used += (size_t)snprintf(buf + used, size - used, "%s %u %s ",
		    owner, (unsigned)ttl, type_name(type));
		used += (size_t)put_data(w, buf + used, size - used, type,
		    1 + (m + i) % (count > 4 ? 40 : 6));
		used += (size_t)snprintf(buf + used, size - used, ";");
	}
	REQUIRE(used < size);
	buf[used - 1] = '\0';
	return used;
}

static void
make_response(struct world *w, const struct ask *ask, struct delivery *d)
{
	struct rig_response response = { .records = NULL };
	char name[DNAME_TEXT_MAX], records[2048];
	size_t len;

	(void)dname_print(&ask->name, name);
	if (world_chance(w, w->faults.broken))
		response.rcode = DNS_RCODE_SERVFAIL;
	else if (mood(w, name) % 11 == 0)
		response.rcode = DNS_RCODE_NXDOMAIN;
	else if (!ask->stream && world_chance(w, w->faults.truncate))
		response.truncated = true;
	else if (strchr(name, '\\') == NULL &&
	    !(ask->type == DNS_TYPE_AAAA && mood(w, name) % 3 == 0)) {
		(void)put_records(w, records, sizeof(records), name, ask->type);
		response.records = records;
	}
	len = rig_response(d->wire, sizeof(d->wire), ask, &response);
	REQUIRE(len > 0);
	d->len = (uint16_t)len;
}

static struct delivery *
deliver_answer(struct world *w, const struct effect *effect, uint64_t at_ms)
{
	struct delivery *d = world_deliver(w, DELIVER_ANSWER, at_ms);

	d->id = effect->u.ask.lookup;
	d->part = effect->u.ask.part;
	return d;
}

/* A forged response: it promises an address that nobody may ever get. */
static void
forge(struct world *w, const struct effect *effect)
{
	struct delivery *d =
	    deliver_answer(w, effect, w->now_ms + world_below(w, 10));
	struct ask ask = effect->u.ask.ask;
	struct rig_response response;
	char name[DNAME_TEXT_MAX], records[DNAME_TEXT_MAX + 40];

	(void)dname_print(&ask.name, name);
	(void)snprintf(records, sizeof(records), "%s 300 A 203.0.113.66", name);
	response = (struct rig_response){ .records = records };
	ask.type = DNS_TYPE_A;
	ask.id = (uint16_t)(ask.id + 1 + world_below(w, 65535));
	if (world_chance(w, w->faults.stale))
		d->id += (uint64_t)1 << 33;
	d->len = (uint16_t)rig_response(d->wire, sizeof(d->wire), &ask,
	    strchr(name, '\\') == NULL ? &response
				       : &(struct rig_response){ 0 });
}

void
upstream_model_ask(struct world *w, const struct effect *effect)
{
	uint64_t at_ms = w->now_ms + world_below(w, w->faults.upstream_ms);
	struct delivery *d;

	if (world_chance(w, w->faults.spoof))
		forge(w, effect);
	if (world_chance(w, w->faults.loss)) {
		d = world_deliver(w, DELIVER_ASK_FAILED,
		    w->now_ms + ASK_TIMEOUT_MS);
		d->id = effect->u.ask.lookup;
		d->part = effect->u.ask.part;
		/* Some are only late. */
		if (world_chance(w, 50))
			return;
		at_ms = w->now_ms + ASK_TIMEOUT_MS + world_below(w, 3000);
	}
	d = deliver_answer(w, effect, at_ms);
	make_response(w, &effect->u.ask.ask, d);
	if (world_chance(w, w->faults.duplicate)) {
		d = deliver_answer(w, effect, at_ms + world_below(w, 100));
		make_response(w, &effect->u.ask.ask, d);
	}
}
