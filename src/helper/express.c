/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * express - see express.h. Each step of a rule becomes the expressions that
 * nft itself would send, dependencies included: a rule that looks at an IPv6
 * address is about IPv6, one that looks at an ICMP type is about ICMP.
 */
#include "config.h"

#include "src/helper/express.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <libnftnl/expr.h>
#include <libnftnl/rule.h>
#include <libnftnl/set.h>
#include <linux/if_ether.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>

#include "lib/require.h"

#define LOG_SNAPLEN    96
#define CONNLIMIT_OVER 1 /* NF_CONNLIMIT_F_INV */
#define ICMPX_PROHIBIT 3 /* NFT_REJECT_ICMPX_ADMIN_PROHIBITED */
#define SET_NAME_MAX   32

/* A rule being expressed: what it is known to be about so far. */
struct expression {
	struct batch *batch;
	const struct gateway_params *params;
	struct nftnl_rule *rule;
	uint32_t *set_id;
	uint8_t family, protocol;
	bool failed;
};

/* NULL, with the failure noted, when memory is out. */
static struct nftnl_expr *
add(struct expression *x, const char *name)
{
	struct nftnl_expr *expr = nftnl_expr_alloc(name);

	if (expr == NULL) {
		x->failed = true;
		return NULL;
	}
	nftnl_rule_add_expr(x->rule, expr);
	return expr;
}

static void
meta(struct expression *x, uint32_t key, uint32_t reg)
{
	struct nftnl_expr *expr = add(x, "meta");

	if (expr == NULL)
		return;
	nftnl_expr_set_u32(expr, NFTNL_EXPR_META_KEY, key);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_META_DREG, reg);
}

static void
compare(struct expression *x, uint32_t op, const void *data, uint32_t size)
{
	struct nftnl_expr *expr = add(x, "cmp");

	if (expr == NULL)
		return;
	nftnl_expr_set_u32(expr, NFTNL_EXPR_CMP_SREG, NFT_REG_1);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_CMP_OP, op);
	nftnl_expr_set(expr, NFTNL_EXPR_CMP_DATA, data, size);
}

static void
mask(struct expression *x, const void *bits, uint32_t size)
{
	static const uint8_t nothing[16];
	struct nftnl_expr *expr = add(x, "bitwise");

	if (expr == NULL)
		return;
	nftnl_expr_set_u32(expr, NFTNL_EXPR_BITWISE_SREG, NFT_REG_1);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_BITWISE_DREG, NFT_REG_1);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_BITWISE_OP, NFT_BITWISE_BOOL);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_BITWISE_LEN, size);
	nftnl_expr_set(expr, NFTNL_EXPR_BITWISE_MASK, bits, size);
	nftnl_expr_set(expr, NFTNL_EXPR_BITWISE_XOR, nothing, size);
}

static void
about_family(struct expression *x, uint8_t family)
{
	uint8_t number = family == 4 ? NFPROTO_IPV4 : NFPROTO_IPV6;

	if (family == 0 || x->family == family)
		return;
	/* A rule of the twin has named its ether type. */
	REQUIRE(x->family == 0 && family != FAMILY_ARP &&
	    x->batch->family == NFPROTO_INET);
	x->family = family;
	meta(x, NFT_META_NFPROTO, NFT_REG_1);
	compare(x, NFT_CMP_EQ, &number, sizeof(number));
}

static void
about_protocol(struct expression *x, uint8_t protocol)
{
	if (protocol == 0 || x->protocol == protocol)
		return;
	REQUIRE(x->protocol == 0);
	x->protocol = protocol;
	meta(x, NFT_META_L4PROTO, NFT_REG_1);
	compare(x, NFT_CMP_EQ, &protocol, sizeof(protocol));
}

static void
payload(struct expression *x, const struct field_form *form, uint32_t reg)
{
	struct nftnl_expr *expr = add(x, "payload");

	if (expr == NULL)
		return;
	nftnl_expr_set_u32(expr, NFTNL_EXPR_PAYLOAD_BASE, form->base);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_PAYLOAD_OFFSET, form->offset);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_PAYLOAD_LEN, form->size);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_PAYLOAD_DREG, reg);
}

static void
to_network_order(struct expression *x, uint32_t reg)
{
	struct nftnl_expr *expr = add(x, "byteorder");

	if (expr == NULL)
		return;
	nftnl_expr_set_u32(expr, NFTNL_EXPR_BYTEORDER_SREG, reg);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_BYTEORDER_DREG, reg);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_BYTEORDER_OP, NFT_BYTEORDER_HTON);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_BYTEORDER_LEN, 4);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_BYTEORDER_SIZE, 4);
}

/* Register of 4 octets by number; the first of four is also the old name of
 * the 16-octet one, which is what nft sends. */
static uint32_t
reg_at(uint32_t word)
{
	return word % 4 == 0 ? NFT_REG_1 + word / 4 : NFT_REG32_00 + word;
}

/* Before any field is loaded, as this uses the first register too. */
static void
about(struct expression *x, const struct step *step)
{
	for (size_t i = 0; i < GATEWAY_FIELDS_MAX; i++) {
		const struct field_form *form =
		    &gateway_fields[step->fields[i]];

		about_family(x, form->family);
		about_protocol(x, form->protocol);
	}
}

/* Loads the fields of a step side by side, as a set's key. */
static void
load(struct expression *x, const struct step *step)
{
	uint32_t word = 0;

	about(x, step);
	for (size_t i = 0; i < GATEWAY_FIELDS_MAX; i++) {
		const struct field_form *form =
		    &gateway_fields[step->fields[i]];

		if (step->fields[i] == FIELD_NONE)
			break;
		if (form->payload)
			payload(x, form, reg_at(word));
		else
			meta(x, form->base, reg_at(word));
		if (form->big_endian)
			to_network_order(x, reg_at(word));
		word += (form->size + 3u) / 4;
	}
}

static void
look_up(struct expression *x, const char *set, uint32_t id, bool inverted)
{
	struct nftnl_expr *expr = add(x, "lookup");

	if (expr == NULL)
		return;
	nftnl_expr_set_u32(expr, NFTNL_EXPR_LOOKUP_SREG, NFT_REG_1);
	nftnl_expr_set_str(expr, NFTNL_EXPR_LOOKUP_SET, set);
	if (id != 0)
		nftnl_expr_set_u32(expr, NFTNL_EXPR_LOOKUP_SET_ID, id);
	if (inverted)
		nftnl_expr_set_u32(expr, NFTNL_EXPR_LOOKUP_FLAGS,
		    NFT_LOOKUP_F_INV);
}

static bool
add_constant(struct nftnl_set *set, uint8_t value)
{
	struct nftnl_set_elem *elem = nftnl_set_elem_alloc();

	if (elem == NULL)
		return false;
	nftnl_set_elem_set(elem, NFTNL_SET_ELEM_KEY, &value, sizeof(value));
	nftnl_set_elem_add(set, elem);
	return true;
}

static bool
describe_constants(struct nftnl_set *set, const struct expression *x,
    const struct step *step)
{
	const struct field_form *form = &gateway_fields[step->fields[0]];
	const struct constants *list = step->constants;

	nftnl_set_set_str(set, NFTNL_SET_TABLE, x->params->table);
	nftnl_set_set_str(set, NFTNL_SET_NAME, "__set%d");
	nftnl_set_set_u32(set, NFTNL_SET_ID, *x->set_id);
	nftnl_set_set_u32(set, NFTNL_SET_FAMILY, x->batch->family);
	nftnl_set_set_u32(set, NFTNL_SET_FLAGS,
	    NFT_SET_ANONYMOUS | NFT_SET_CONSTANT);
	nftnl_set_set_u32(set, NFTNL_SET_KEY_TYPE, form->type);
	nftnl_set_set_u32(set, NFTNL_SET_KEY_LEN, form->size);
	nftnl_set_set_u32(set, NFTNL_SET_DESC_SIZE, list->count);
	for (size_t i = 0; i < list->count; i++)
		if (!add_constant(set, list->values[i]))
			return false;
	return true;
}

/* A set without a name of its own, gone with its rule. */
static void
one_of(struct expression *x, const struct step *step)
{
	struct nftnl_set *set;

	load(x, step);
	if (step->constants->count == 1) {
		compare(x, NFT_CMP_EQ, step->constants->values, 1);
		return;
	}
	set = nftnl_set_alloc();
	if (set == NULL || !describe_constants(set, x, step)) {
		x->failed = true;
	} else {
		nftnl_set_nlmsg_build_payload(batch_put(x->batch,
						  NFT_MSG_NEWSET, NLM_F_CREATE),
		    set);
		nftnl_set_elems_nlmsg_build_payload(batch_put(x->batch,
							NFT_MSG_NEWSETELEM,
							NLM_F_CREATE),
		    set);
		look_up(x, "__set%d", *x->set_id, false);
		*x->set_id += 1;
	}
	if (set != NULL)
		nftnl_set_free(set);
}

static uint8_t
family_of(uint32_t ether_type)
{
	if (ether_type == ETH_P_IP)
		return 4;
	if (ether_type == ETH_P_IPV6)
		return 6;
	REQUIRE(ether_type == ETH_P_ARP);
	return FAMILY_ARP;
}

/* Values are small numbers; fields of more than two octets are compared
 * with zero only. */
static void
is(struct expression *x, const struct step *step)
{
	uint8_t size = gateway_fields[step->fields[0]].size;
	uint8_t value[16] = { 0 };

	REQUIRE(size <= 2 || step->value == 0);
	if (size == 2)
		value[0] = (uint8_t)(step->value >> 8);
	value[size == 2 ? 1 : 0] = (uint8_t)step->value;
	load(x, step);
	compare(x, NFT_CMP_EQ, value, size);
	if (step->fields[0] == FIELD_ETHER_TYPE)
		x->family = family_of(step->value);
}

static void
link_local(struct expression *x)
{
	static const struct step source = {
		.fields = { FIELD_IP6_SADDR },
	};
	static const uint8_t bits[16] = { 0xff, 0xc0 };
	static const uint8_t prefix[16] = { 0xfe, 0x80 };

	load(x, &source);
	mask(x, bits, sizeof(bits));
	compare(x, NFT_CMP_EQ, prefix, sizeof(prefix));
}

static void
target_link_local(struct expression *x)
{
	static const struct field_form target = {
		.base = NFT_PAYLOAD_TRANSPORT_HEADER,
		.offset = 8,
		.size = 2,
	};
	static const uint8_t bits[2] = { 0xff, 0xc0 };
	static const uint8_t prefix[2] = { 0xfe, 0x80 };

	about_protocol(x, IPPROTO_ICMPV6);
	payload(x, &target, NFT_REG_1);
	mask(x, bits, sizeof(bits));
	compare(x, NFT_CMP_EQ, prefix, sizeof(prefix));
}

static void
ct_state(struct expression *x, const struct step *step)
{
	static const uint32_t nothing;
	struct nftnl_expr *expr = add(x, "ct");

	if (expr == NULL)
		return;
	nftnl_expr_set_u32(expr, NFTNL_EXPR_CT_KEY, NFT_CT_STATE);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_CT_DREG, NFT_REG_1);
	if (step->kind == STEP_CT_NOT) {
		compare(x, NFT_CMP_NEQ, &step->value, sizeof(step->value));
		return;
	}
	mask(x, &step->value, sizeof(step->value));
	compare(x, NFT_CMP_NEQ, &nothing, sizeof(nothing));
}

static void
tcp_not_syn(struct expression *x)
{
	static const struct field_form flags = {
		.base = NFT_PAYLOAD_TRANSPORT_HEADER,
		.offset = 13,
		.size = 1,
	};
	static const uint8_t fin_syn_rst_ack = 0x17, syn = 0x02;

	about_protocol(x, IPPROTO_TCP);
	payload(x, &flags, NFT_REG_1);
	mask(x, &fin_syn_rst_ack, 1);
	compare(x, NFT_CMP_NEQ, &syn, 1);
}

/* Whether a packet has an option or a header of this number. */
static void
extended(struct expression *x, const struct step *step)
{
	static const uint8_t present = 1;
	bool option = step->kind == STEP_OPTION;
	struct nftnl_expr *expr;

	about_family(x, option ? 4 : 6);
	expr = add(x, "exthdr");
	if (expr == NULL)
		return;
	nftnl_expr_set_u32(expr, NFTNL_EXPR_EXTHDR_OP,
	    option ? NFT_EXTHDR_OP_IPV4 : NFT_EXTHDR_OP_IPV6);
	nftnl_expr_set_u8(expr, NFTNL_EXPR_EXTHDR_TYPE, (uint8_t)step->value);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_EXTHDR_OFFSET, 0);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_EXTHDR_LEN, 1);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_EXTHDR_FLAGS, NFT_EXTHDR_F_PRESENT);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_EXTHDR_DREG, NFT_REG_1);
	compare(x, NFT_CMP_EQ, &present, sizeof(present));
}

static void
count(struct expression *x, const char *object)
{
	struct nftnl_expr *expr = add(x, "objref");

	if (expr == NULL)
		return;
	nftnl_expr_set_u32(expr, NFTNL_EXPR_OBJREF_IMM_TYPE,
	    NFT_OBJECT_COUNTER);
	nftnl_expr_set_str(expr, NFTNL_EXPR_OBJREF_IMM_NAME, object);
}

static void
quota(struct expression *x, const struct step *step)
{
	struct nftnl_expr *expr;

	load(x, step);
	expr = add(x, "objref");
	if (expr == NULL)
		return;
	nftnl_expr_set_u32(expr, NFTNL_EXPR_OBJREF_SET_SREG, NFT_REG_1);
	nftnl_expr_set_str(expr, NFTNL_EXPR_OBJREF_SET_NAME, step->name);
}

/* The expression that a dynamic set keeps with each element. */
static struct nftnl_expr *
per_element(struct expression *x, const struct step *step)
{
	bool excess = step->kind == STEP_EXCESS;
	bool rate = step->kind == STEP_RATE || excess;
	uint32_t most =
	    excess ? gateway_excess(x->params, step) : x->params->log_rate;
	struct nftnl_expr *expr =
	    nftnl_expr_alloc(rate ? "limit" : "connlimit");

	if (expr == NULL) {
		x->failed = true;
		return NULL;
	}
	if (rate) {
		nftnl_expr_set_u64(expr, NFTNL_EXPR_LIMIT_RATE, most);
		nftnl_expr_set_u64(expr, NFTNL_EXPR_LIMIT_UNIT, 1);
		nftnl_expr_set_u32(expr, NFTNL_EXPR_LIMIT_BURST, most * 2);
		nftnl_expr_set_u32(expr, NFTNL_EXPR_LIMIT_TYPE, NFT_LIMIT_PKTS);
		nftnl_expr_set_u32(expr, NFTNL_EXPR_LIMIT_FLAGS,
		    excess ? NFT_LIMIT_F_INV : 0);
	} else {
		nftnl_expr_set_u32(expr, NFTNL_EXPR_CONNLIMIT_COUNT,
		    x->params->flows_max);
		nftnl_expr_set_u32(expr, NFTNL_EXPR_CONNLIMIT_FLAGS,
		    CONNLIMIT_OVER);
	}
	return expr;
}

static void
dynamic(struct expression *x, const struct step *step)
{
	struct nftnl_expr *expr, *inner;

	load(x, step);
	expr = add(x, "dynset");
	if (expr == NULL)
		return;
	nftnl_expr_set_str(expr, NFTNL_EXPR_DYNSET_SET_NAME, step->name);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_DYNSET_SREG_KEY, NFT_REG_1);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_DYNSET_OP,
	    step->kind == STEP_CEILING ? NFT_DYNSET_OP_ADD
				       : NFT_DYNSET_OP_UPDATE);
	if (step->kind == STEP_UPDATE)
		return;
	inner = per_element(x, step);
	if (inner != NULL)
		nftnl_expr_add_expr(expr, NFTNL_EXPR_DYNSET_EXPR, inner);
}

static void
log_packet(struct expression *x, const char *prefix)
{
	struct nftnl_expr *expr = add(x, "log");

	if (expr == NULL)
		return;
	nftnl_expr_set_str(expr, NFTNL_EXPR_LOG_PREFIX, prefix);
	nftnl_expr_set_u16(expr, NFTNL_EXPR_LOG_GROUP, x->params->log_group);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_LOG_SNAPLEN, LOG_SNAPLEN);
	nftnl_expr_set_u16(expr, NFTNL_EXPR_LOG_QTHRESHOLD, 0);
}

static void
verdict(struct expression *x, int code, const char *chain)
{
	struct nftnl_expr *expr = add(x, "immediate");

	if (expr == NULL)
		return;
	nftnl_expr_set_u32(expr, NFTNL_EXPR_IMM_DREG, NFT_REG_VERDICT);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_IMM_VERDICT, (uint32_t)code);
	if (chain != NULL)
		nftnl_expr_set_str(expr, NFTNL_EXPR_IMM_CHAIN, chain);
}

static void
reject(struct expression *x, uint32_t type, uint8_t code)
{
	struct nftnl_expr *expr = add(x, "reject");

	if (expr == NULL)
		return;
	nftnl_expr_set_u32(expr, NFTNL_EXPR_REJECT_TYPE, type);
	nftnl_expr_set_u8(expr, NFTNL_EXPR_REJECT_CODE, code);
}

static void
express_step(struct expression *x, const struct step *step)
{
	switch (step->kind) {
	case STEP_END:
		return;
	case STEP_IN:
	case STEP_NOT_IN:
		load(x, step);
		look_up(x, step->name, 0, step->kind == STEP_NOT_IN);
		return;
	case STEP_IS:
		is(x, step);
		return;
	case STEP_ONE_OF:
		one_of(x, step);
		return;
	case STEP_LINK_LOCAL:
		link_local(x);
		return;
	case STEP_TARGET_LINK_LOCAL:
		target_link_local(x);
		return;
	case STEP_CT:
	case STEP_CT_NOT:
		ct_state(x, step);
		return;
	case STEP_TCP_NOT_SYN:
		tcp_not_syn(x);
		return;
	case STEP_OPTION:
	case STEP_EXTENSION:
		extended(x, step);
		return;
	case STEP_COUNT:
		count(x, step->name);
		return;
	case STEP_QUOTA:
		quota(x, step);
		return;
	case STEP_UPDATE:
	case STEP_RATE:
	case STEP_EXCESS:
	case STEP_CEILING:
		dynamic(x, step);
		return;
	case STEP_LOG:
		log_packet(x, step->name);
		return;
	case STEP_GOTO:
		verdict(x, NFT_GOTO, step->name);
		return;
	case STEP_ACCEPT:
		verdict(x, NF_ACCEPT, NULL);
		return;
	case STEP_DROP:
		verdict(x, NF_DROP, NULL);
		return;
	case STEP_TCP_RESET:
		about_protocol(x, IPPROTO_TCP);
		reject(x, NFT_REJECT_TCP_RST, 0);
		return;
	case STEP_PROHIBIT:
		reject(x, NFT_REJECT_ICMPX_UNREACH, ICMPX_PROHIBIT);
		return;
	case STEP_MASQUERADE:
		(void)add(x, "masq");
		return;
	}
	UNREACHABLE();
}

int
express_rule(struct batch *batch, const struct gateway_params *params,
    const char *chain, const struct rule_form *form, uint32_t *set_id)
{
	struct expression x = {
		.batch = batch,
		.params = params,
		.rule = nftnl_rule_alloc(),
		.set_id = set_id,
	};

	if (x.rule == NULL)
		return -ENOMEM;
	nftnl_rule_set_str(x.rule, NFTNL_RULE_TABLE, params->table);
	nftnl_rule_set_str(x.rule, NFTNL_RULE_CHAIN, chain);
	nftnl_rule_set_u32(x.rule, NFTNL_RULE_FAMILY, batch->family);
	for (size_t i = 0; i < GATEWAY_STEPS_MAX; i++)
		express_step(&x, &form->steps[i]);
	if (!x.failed)
		nftnl_rule_nlmsg_build_payload(batch_put(batch, NFT_MSG_NEWRULE,
						   NLM_F_CREATE | NLM_F_APPEND),
		    x.rule);
	nftnl_rule_free(x.rule);
	return x.failed ? -ENOMEM : 0;
}
