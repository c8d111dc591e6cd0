/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * show - effects as lines for people.
 */
#include <stdio.h>

#include "tests/rig/rig.h"

static void
print_element(const struct pin_element *element)
{
	char addr[ADDR_TEXT_MAX];

	(void)addr_print(&element->addr, addr);
	printf(" sandbox %u %s %s/%u", (unsigned)element->sandbox, addr,
	    element->service.protocol == PROTO_TCP ? "tcp" : "udp",
	    (unsigned)element->service.port);
}

static void
print_reply(const struct effect *effect)
{
	struct rig_reply reply;
	char addr[ADDR_TEXT_MAX];

	if (!rig_read_reply(effect->u.reply.message, effect->u.reply.len,
		&reply)) {
		printf(" unreadable");
		return;
	}
	printf(" %s type %u rcode %u ttl %u%s ede %d", reply.name,
	    (unsigned)reply.type, (unsigned)reply.rcode, (unsigned)reply.ttl_s,
	    reply.soa ? " soa" : "", reply.ede);
	for (uint32_t i = 0; i < reply.addr_count; i++) {
		(void)addr_print(&reply.addrs[i], addr);
		printf(" %s", addr);
	}
}

void
rig_print_effect(const struct effect *effect, uint64_t now_ms)
{
	static const char *const kinds[] = { "REPLY", "ASK", "PIN", "UNPIN",
		"FLOWS", "RECALL", "SETTLE", "RECORD", "FORGET", "QUARANTINE",
		"RELEASE", "CHARGED", "EVENT" };
	char name[DNAME_TEXT_MAX];

	printf("%8llums %s", (unsigned long long)now_ms, kinds[effect->kind]);
	switch (effect->kind) {
	case EFFECT_REPLY:
		print_reply(effect);
		break;
	case EFFECT_ASK:
		(void)dname_print(&effect->u.ask.ask.name, name);
		printf(" %s type %u%s", name, (unsigned)effect->u.ask.ask.type,
		    effect->u.ask.ask.stream ? " stream" : "");
		break;
	case EFFECT_PIN:
	case EFFECT_UNPIN:
	case EFFECT_FLOWS:
	case EFFECT_RECALL:
		print_element(&effect->u.pin.element);
		printf(" lifetime=%u", (unsigned)effect->u.pin.lifetime_ms);
		break;
	case EFFECT_SETTLE:
		break;
	case EFFECT_RECORD:
	case EFFECT_FORGET:
		printf(" slot %u", (unsigned)effect->u.record.slot);
		break;
	case EFFECT_QUARANTINE:
	case EFFECT_RELEASE:
		printf(" sandbox %u", (unsigned)effect->u.quarantine.sandbox);
		break;
	case EFFECT_CHARGED:
		printf(" key %u", (unsigned)effect->u.charged.key);
		break;
	case EFFECT_EVENT:
		printf(" %s reason=%s",
		    event_action_name(effect->u.event.action),
		    denial_name(effect->u.event.denial));
		break;
	}
	putchar('\n');
}
