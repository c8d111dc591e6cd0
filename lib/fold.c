/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fold - see fold.h. All windows are of one length, so the oldest is the one
 * that ends first, and no heap is needed.
 */
#include "lib/fold.h"

#include <string.h>

#include "lib/cursor.h"
#include "lib/deadlines.h"
#include "lib/require.h"

#define KEY_SIZE TABLE_KEY_MAX

void
fold_init(struct fold *f, struct arena *arena, const struct fold_limits *limits,
    const uint8_t secret[16])
{
	memset(f, 0, sizeof(*f));
	f->limits = *limits;
	memcpy(f->secret, secret, sizeof(f->secret));
	table_init(&f->keys, arena, limits->windows_max, KEY_SIZE, secret);
	f->windows =
	    arena_take(arena, limits->windows_max, sizeof(*f->windows));
	f->shares =
	    arena_take(arena, limits->sandboxes_max, sizeof(*f->shares));
	if (f->shares != NULL)
		memset(f->shares, 0,
		    limits->sandboxes_max * sizeof(*f->shares));
}

static void
put_addr(struct cursor *c, const struct addr *addr)
{
	cursor_put_u8(c, addr->family);
	cursor_put_bytes(c, addr->bytes, sizeof(addr->bytes));
}

/* Of what two questions are the same. */
static void
put_question(struct cursor *c, const struct fold *f, const struct event *e)
{
	uint8_t hash[16] = { 0 };

	if (e->has_question)
		dname_hash(&e->name, f->secret, hash);
	cursor_put_u8(c, e->has_question ? 1 : 0);
	cursor_put_u8(c, (uint8_t)e->denial);
	cursor_put_u8(c, (uint8_t)e->would_denial);
	cursor_put_u8(c, e->rcode);
	cursor_put_u16(c, e->type);
	cursor_put_bytes(c, hash, sizeof(hash));
}

static void
put_packet(struct cursor *c, const struct event *e)
{
	cursor_put_u8(c, (uint8_t)e->reject);
	cursor_put_u8(c, e->passed ? 1 : 0);
	cursor_put_u8(c, e->transport);
	cursor_put_u16(c, e->destination_port);
	put_addr(c, &e->destination);
}

/* False: it is of a kind that is never folded. */
static bool
make_key(uint8_t key[KEY_SIZE], const struct fold *f, const struct event *e)
{
	struct cursor c = cursor_write_of(key, KEY_SIZE);

	memset(key, 0, KEY_SIZE);
	cursor_put_u8(&c, (uint8_t)e->action);
	cursor_put_u32(&c, e->sandbox);
	switch (e->action) {
	case EVENT_DNS_ANSWERED:
	case EVENT_DNS_DENIED:
	case EVENT_DNS_FAILED:
		put_question(&c, f, e);
		break;
	case EVENT_SOURCE_SPOOFED:
		cursor_put_u32(&c, e->ifindex);
		put_addr(&c, &e->source);
		put_packet(&c, e);
		break;
	case EVENT_DIRECT_IP_REJECTED:
		put_packet(&c, e);
		break;
	case EVENT_TUNNEL_SUSPECTED:
	case EVENT_REBINDING_BLOCKED:
	case EVENT_BUDGET_NOTICE:
	case EVENT_BUDGET_EXCEEDED:
	case EVENT_FLOW_ENDED:
	case EVENT_UPLOAD_NOTICE:
	case EVENT_UPLOAD_EXCEEDED:
	case EVENT_SANDBOX_ATTACHED:
	case EVENT_SANDBOX_DETACHED:
	case EVENT_SANDBOX_QUARANTINED:
	case EVENT_SANDBOX_RELEASED:
	case EVENT_SANDBOX_ASSIGNED:
	case EVENT_RULE_WITHDRAWN:
	case EVENT_PINS_LOST:
	case EVENT_PINS_RESTORED:
	case EVENT_CONFIG_LOADED:
	case EVENT_CONFIG_REFUSED:
	case EVENT_STARTED:
	case EVENT_STOPPED:
	case EVENT_HEARTBEAT:
		return false;
	}
	REQUIRE(!c.error);
	return true;
}

/* Opens a window where there is room for one. */
static void
open_window(struct fold *f, const uint8_t key[KEY_SIZE], uint32_t sandbox,
    uint64_t now_ms)
{
	uint32_t slot;
	bool is_new;

	if (f->shares[sandbox] >= f->limits.windows_per_sandbox_max)
		return;
	slot = table_claim(&f->keys, key, &is_new);
	if (slot == TABLE_NONE)
		return;
	REQUIRE(is_new);
	f->shares[sandbox]++;
	f->windows[slot].until_ms = now_ms + f->limits.window_ms;
	f->windows[slot].repeats = 0;
	f->windows[slot].last.sandbox = sandbox;
}

bool
fold_put(struct fold *f, const struct event *e, uint64_t now_ms)
{
	uint8_t key[KEY_SIZE];
	struct fold_window *window;
	uint32_t slot;

	REQUIRE(e->sandbox < f->limits.sandboxes_max);
	if (!make_key(key, f, e))
		return true;
	slot = table_find(&f->keys, key);
	if (slot == TABLE_NONE) {
		open_window(f, key, e->sandbox, now_ms);
		return true;
	}
	window = &f->windows[slot];
	/* A window that is over but was not taken yet takes it all the same:
	 * it is told with the others in a moment. */
	window->repeats += e->count > 0 ? e->count : 1;
	window->last = *e;
	return false;
}

/* True: it had repeats. */
static bool
close_window(struct fold *f, uint32_t slot, struct event *ret)
{
	struct fold_window *window = &f->windows[slot];

	REQUIRE(f->shares[window->last.sandbox] > 0);
	f->shares[window->last.sandbox]--;
	table_drop(&f->keys, slot);
	if (window->repeats == 0)
		return false;
	*ret = window->last;
	ret->count = window->repeats;
	return true;
}

bool
fold_part(struct fold *f, uint32_t sandbox, struct event *ret)
{
	uint32_t slot = table_oldest(&f->keys), next;

	while (slot != TABLE_NONE && f->shares[sandbox] > 0) {
		next = table_next(&f->keys, slot);
		if (f->windows[slot].last.sandbox == sandbox &&
		    close_window(f, slot, ret))
			return true;
		slot = next;
	}
	return false;
}

bool
fold_pop(struct fold *f, uint64_t now_ms, struct event *ret)
{
	uint32_t slot;

	while ((slot = table_oldest(&f->keys)) != TABLE_NONE) {
		if (f->windows[slot].until_ms > now_ms)
			return false;
		if (close_window(f, slot, ret))
			return true;
	}
	return false;
}

uint64_t
fold_deadline(const struct fold *f)
{
	uint32_t slot = table_oldest(&f->keys);

	return slot == TABLE_NONE ? DEADLINE_NEVER : f->windows[slot].until_ms;
}
