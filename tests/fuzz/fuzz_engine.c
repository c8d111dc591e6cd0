/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The whole core: the input is a small world, octet by octet. Questions and
 * upstream's responses are its octets as they stand (a response gets the id
 * that was asked with, or it would never be read), and so are the time that
 * passes, what the helper says, and what is lost.
 *
 * Nothing may reach a REQUIRE; ldns must be able to read every reply; an
 * address may be told only when its pin was acknowledged and not lost since;
 * and in the end nothing is open.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/cursor.h"
#include "lib/dns.h"
#include "lib/require.h"
#include "tests/fuzz/fuzz.h"
#include "tests/rig/rig.h"

#define WAITING_MAX 64
#define HELD_MAX    512
#define STEPS_MAX   400

static const uint8_t seed[32] = "a seed for the fuzzing of engine";
static const char *const rules[2] = {
	"policy agent\nallow a.example\nallow *.b.example types A AAAA TXT MX\n"
	"allow c.example addresses 192.0.2.9\nallow d.example private "
	"10.0.0.0/8\nsandbox box1 agent 192.0.2.201 2001:db8::201\n"
	"sandbox box2 agent 192.0.2.202\n",
	"policy agent\nallow a.example\ndeny x.b.example\nallow **.b.example\n"
	"sandbox box1 agent 192.0.2.201\n",
};
static const char *const names[] = { "a.example", "x.b.example", "c.example",
	"d.example", "y.x.b.example", "localhost", "b.example" };

struct held {
	struct pin_element element;
	bool held;
};

struct fuzz_world {
	struct engine *engine;
	struct policy *policies[2];
	uint64_t now_ms;
	struct effect effect;
	struct effect asks[WAITING_MAX], pins[WAITING_MAX];
	uint32_t ask_count, pin_count, held_count;
	struct held held[HELD_MAX];
	uint64_t queries, replies, outcomes;
};

static struct fuzz_world *world;

static struct held *
find_held(const struct pin_element *element)
{
	struct fuzz_world *w = world;

	for (uint32_t i = 0; i < w->held_count; i++) {
		const struct pin_element *other = &w->held[i].element;

		if (other->sandbox == element->sandbox &&
		    addr_equal(&other->addr, &element->addr))
			return &w->held[i];
	}
	AGREE(w->held_count < HELD_MAX);
	w->held[w->held_count].element = *element;
	w->held[w->held_count].held = false;
	return &w->held[w->held_count++];
}

static void
see_reply(void)
{
	const struct client *client = &world->effect.u.reply.client;
	struct rig_reply reply;

	world->replies++;
	AGREE(rig_read_reply(world->effect.u.reply.message,
	    world->effect.u.reply.len, &reply));
	AGREE(!reply.foreign_owner && reply.addr_count <= ANSWER_ADDRS_MAX);
	if (strcasecmp(reply.name, "localhost.") == 0)
		return;
	for (uint32_t i = 0; i < reply.addr_count; i++) {
		struct pin_element element = { .sandbox = client->sandbox,
			.addr = reply.addrs[i] };

		AGREE(find_held(&element)->held);
	}
}

static void
drain(void)
{
	struct fuzz_world *w = world;

	while (engine_next_effect(w->engine, &w->effect)) {
		if (w->effect.kind == EFFECT_REPLY)
			see_reply();
		else if (w->effect.kind == EFFECT_ASK)
			w->asks[w->ask_count++ % WAITING_MAX] = w->effect;
		else if (w->effect.kind == EFFECT_PIN)
			w->pins[w->pin_count++ % WAITING_MAX] = w->effect;
		else if (w->effect.kind == EFFECT_UNPIN)
			find_held(&w->effect.u.pin.element)->held = false;
		else if (w->effect.kind == EFFECT_EVENT)
			w->outcomes +=
			    w->effect.u.event.action <= EVENT_DNS_FAILED;
	}
	AGREE(w->outcomes == w->replies);
	AGREE(w->replies <= w->queries);
}

static void
pass(uint64_t ms)
{
	struct fuzz_world *w = world;
	uint64_t end_ms = w->now_ms + ms, next_ms;

	while ((next_ms = engine_deadline(w->engine)) <= end_ms) {
		if (next_ms > w->now_ms)
			w->now_ms = next_ms;
		engine_expire(w->engine, w->now_ms);
		drain();
	}
	w->now_ms = end_ms;
}

/* Asks that wait for the next edge leave. */
static void
let_leave(void)
{
	uint64_t edge_ms = world->engine->departures.edge_ms;

	if (edge_ms != DEADLINE_NEVER)
		pass(edge_ms > world->now_ms ? edge_ms - world->now_ms : 0);
}

static void
query(uint32_t sandbox, const uint8_t *wire, size_t len)
{
	struct client client = { .sandbox = sandbox % 3, .port = 1024 };

	client.stream = sandbox & 4;
	world->queries++;
	engine_query(world->engine, &client, wire, len, world->now_ms);
}

static void
raw_query(struct cursor *c)
{
	uint8_t sandbox = cursor_u8(c), wire[255];
	size_t len = cursor_u8(c);

	if (len > cursor_left(c))
		len = cursor_left(c);
	cursor_bytes(c, wire, len);
	query(sandbox, wire, len);
}

static void
named_query(struct cursor *c)
{
	static const uint16_t types[] = { DNS_TYPE_A, DNS_TYPE_AAAA,
		DNS_TYPE_ANY, DNS_TYPE_TXT, DNS_TYPE_NULL, DNS_TYPE_PTR };
	uint8_t what = cursor_u8(c), sandbox = cursor_u8(c), wire[128];

	query(sandbox, wire,
	    rig_query(wire, sizeof(wire), names[what % ARRAY_LEN(names)],
		types[what / 16 % ARRAY_LEN(types)], what, what % 2));
}

static const struct effect *
some_ask(struct cursor *c)
{
	uint8_t which = cursor_u8(c);

	if (world->ask_count == 0)
		return NULL;
	return &world->asks[which % world->ask_count % WAITING_MAX];
}

/* Its head is as it must be; the sections are the input's. */
static void
raw_answer(struct cursor *c)
{
	const struct effect *ask = some_ask(c);
	uint8_t wire[512];
	struct rig_response response = { .rcode = cursor_u8(c) & 3 };
	size_t len, more = cursor_u8(c);

	if (ask == NULL)
		return;
	len =
	    rig_response(wire, sizeof(wire) - 255, &ask->u.ask.ask, &response);
	if (more > cursor_left(c))
		more = cursor_left(c);
	cursor_bytes(c, wire + len, more);
	wire[7] = (uint8_t)(more > 16 ? more / 16 : more > 0);
	wire[2] |= (uint8_t)(more == 3 ? 2 : 0);
	engine_answer(world->engine, ask->u.ask.lookup, ask->u.ask.part, wire,
	    len + more, world->now_ms);
}

static void
good_answer(struct cursor *c)
{
	const struct effect *ask = some_ask(c);
	uint8_t last = cursor_u8(c), wire[512];
	char name[DNAME_TEXT_MAX], records[DNAME_TEXT_MAX + 64];
	struct rig_response response = { .records = records };

	if (ask == NULL)
		return;
	(void)dname_print(&ask->u.ask.ask.name, name);
	(void)snprintf(records, sizeof(records), "%s %u %s%u", name, last * 3u,
	    ask->u.ask.ask.type == DNS_TYPE_AAAA ? "AAAA 2001:db8::"
		: last % 5 == 0                  ? "A 10.0.0."
						 : "A 192.0.2.",
	    last % 8u);
	engine_answer(world->engine, ask->u.ask.lookup, ask->u.ask.part, wire,
	    rig_response(wire, sizeof(wire), &ask->u.ask.ask, &response),
	    world->now_ms);
}

static void
pinned(struct cursor *c)
{
	uint8_t which = cursor_u8(c), status = cursor_u8(c);
	const struct effect *pin;
	struct held *held;

	if (world->pin_count == 0)
		return;
	pin = &world->pins[which % world->pin_count % WAITING_MAX];
	held = find_held(&pin->u.pin.element);
	held->held = held->held || status % 4 != 0;
	engine_pinned(world->engine, pin->u.pin.op,
	    status % 4 == 0 ? -EPERM : 0, world->now_ms);
}

static void
lose(uint32_t sandbox)
{
	for (uint32_t i = 0; i < world->held_count; i++)
		if (sandbox == 0 || world->held[i].element.sandbox == sandbox)
			world->held[i].held = false;
	engine_pins_lost(world->engine, sandbox, 1, 1, world->now_ms);
}

static void
ask_failed(struct cursor *c)
{
	const struct effect *ask = some_ask(c);
	const struct ask_trail trail = { .tried = 1, .tries = 1 };
	uint8_t why;

	if (ask == NULL)
		return;
	why = cursor_u8(c);
	if (why % 2 == 0)
		engine_ask_failed(world->engine, ask->u.ask.lookup,
		    ask->u.ask.part, why / 2 % 3, world->now_ms);
	else
		engine_ask_again(world->engine, ask->u.ask.lookup,
		    ask->u.ask.part, &trail, world->now_ms);
}

/* A packet to somewhere in the ranges of the answers, or the input's own. */
static bool
some_packet(struct cursor *c, struct packet *ret)
{
	uint8_t what = cursor_u8(c), wire[64];
	uint8_t to[16] = { 0x20, 0x01, 0x0d, 0xb8 };
	size_t len =
	    cursor_left(c) < sizeof(wire) ? cursor_left(c) : sizeof(wire);

	if (what % 4 == 0) {
		cursor_bytes(c, wire, len);
		return packet_read(ret, wire, len);
	}
	*ret = (struct packet){ .protocol = PROTO_TCP,
		.destination_port = what % 3 ? 443 : 80 };
	ret->source = world->policies[0]->sandboxes[what % 2].sources[0];
	to[15] = what / 16 % 8;
	ret->destination = addr_v6(to);
	if (what / 128 == 0)
		ret->destination =
		    addr_v4((const uint8_t[4]){ 192, 0, 2, to[15] });
	return true;
}

/* The ledger never takes for open what the kernel does not hold. */
static void
rejected(struct cursor *c)
{
	struct rejected r = { .kind = cursor_u8(c) % 3 };
	const struct event *event = &world->effect.u.event;
	struct pin_element element;

	if (!some_packet(c, &r.packet))
		return;
	engine_rejected(world->engine, &r, world->now_ms);
	AGREE(engine_next_effect(world->engine, &world->effect));
	AGREE(world->effect.kind == EFFECT_EVENT);
	element.sandbox = event->sandbox;
	element.addr = event->destination;
	AGREE(r.kind != REJECTED_SPOOFED || event->sandbox == 0);
	if (event->reject == REJECT_NO_FLOW ||
	    event->reject == REJECT_OTHER_SERVICE)
		AGREE(find_held(&element)->held);
}

static void
flow_ended(struct cursor *c)
{
	struct ended_flow flow = { .passed = { .counted = true } };
	struct packet packet;

	if (!some_packet(c, &packet))
		return;
	flow.source = packet.source;
	flow.destination = packet.destination;
	flow.service.protocol = packet.protocol;
	flow.service.port = packet.destination_port;
	engine_flow_ended(world->engine, &flow, world->now_ms);
	if (!engine_next_effect(world->engine, &world->effect))
		return;
	AGREE(world->effect.u.event.action == EVENT_FLOW_ENDED);
	AGREE(world->effect.u.event.name_count > 0);
}

static void
one_step(struct cursor *c)
{
	uint8_t what = cursor_u8(c);

	let_leave();
	if (what < 40)
		raw_query(c);
	else if (what < 90)
		named_query(c);
	else if (what < 130)
		raw_answer(c);
	else if (what < 160)
		good_answer(c);
	else if (what < 210)
		pinned(c);
	else if (what < 220)
		ask_failed(c);
	else if (what < 228)
		pass(cursor_u16(c));
	else if (what < 232)
		rejected(c);
	else if (what < 235)
		flow_ended(c);
	else if (what < 240)
		engine_flows(world->engine, cursor_u8(c), cursor_u8(c) % 2 - 1,
		    cursor_u8(c) % 2, world->now_ms);
	else if (what < 247)
		engine_set_policy(world->engine, world->policies[what % 2],
		    world->now_ms);
	else if (what < 254)
		lose(what % 3);
	else
		engine_helper_lost(world->engine, world->now_ms);
	drain();
}

static void
begin(void)
{
	struct engine_limits limits = rig_limits(2);
	char error[RIG_ERROR_MAX];

	limits.queries_max = 8;
	limits.queries_per_sandbox_max = 6;
	limits.lookups_max = 6;
	limits.pins.pins_max = 24;
	limits.pins.names_max = 5;
	limits.pins.ops_max = 12;
	limits.cache.entries_max = 4;
	world->now_ms = 1;
	world->engine = rig_engine(&limits, seed);
	for (uint32_t i = 0; i < 2; i++)
		world->policies[i] = rig_policy(rules[i], error);
	AGREE(world->engine != NULL && world->policies[0] != NULL &&
	    world->policies[1] != NULL);
	engine_set_policy(world->engine, world->policies[0], world->now_ms);
	drain();
	engine_recalled(world->engine, world->now_ms);
	drain();
	engine_settled(world->engine, 0, world->now_ms);
	drain();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor c = cursor_read_of(data, size);

	world = calloc(1, sizeof(*world));
	AGREE(world != NULL);
	begin();
	for (int i = 0; i < STEPS_MAX && cursor_left(&c) > 0; i++)
		one_step(&c);
	/* What is silent from here on runs into its deadline. */
	pass(5000);
	AGREE(pool_in_use(&world->engine->queries.pool) == 0);
	AGREE(pool_in_use(&world->engine->lookups.pool) == 0);
	rig_engine_free(world->engine);
	rig_policy_free(world->policies[0]);
	rig_policy_free(world->policies[1]);
	free(world);
	return 0;
}
