/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ruleset - see ruleset.h.
 */
#include "config.h"

#include "src/helper/ruleset.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <libnftnl/chain.h>
#include <libnftnl/expr.h>
#include <libnftnl/set.h>
#include <libnftnl/udata.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter_ipv4.h>

#include "lib/require.h"
#include "src/helper/express.h"
#include "src/helper/sync.h"

/* Not in the headers of older systems. */
#define TABLE_OWNER   0x2u
#define TABLE_PERSIST 0x4u
#define TABLE_OWNED   (TABLE_OWNER | TABLE_PERSIST)

#define INSTALL_TRIES 10
#define SCHEMAS_MAX   64 /* numbers that a table may bear */
#define PROBE_TABLE   "namewall_probe"

/* One table: as it should be, and as it is. */
struct part {
	struct table_form form;
	const struct survey *survey;
	bool keep; /* the table that is there */
};

/* One installation being put together. */
struct work {
	const struct ruleset *ruleset;
	struct batch batch;
	uint32_t set_id;
	struct sync sync; /* members of configured sets that stay */
	struct part parts[GATEWAY_TABLES];
	const struct part *part; /* the one at hand */
};

static void
turn_to(struct work *work, size_t i)
{
	work->part = &work->parts[i];
	batch_family(&work->batch, work->part->form.family);
}

static void
put_table(struct batch *batch, uint16_t type, const char *name, uint32_t flags)
{
	bool creating = type == NFT_MSG_NEWTABLE;
	struct nlmsghdr *header =
	    batch_put(batch, type, creating ? NLM_F_CREATE : 0);

	mnl_attr_put_strz(header, NFTA_TABLE_NAME, name);
	if (creating)
		mnl_attr_put_u32(header, NFTA_TABLE_FLAGS, htonl(flags));
}

/* A table that comes and goes in one transaction tells whether the kernel
 * knows the flags; its version number would not. */
int
ruleset_probe(struct ruleset *ruleset)
{
	struct batch batch;
	int error;

	batch_begin(&batch, ruleset->nft);
	put_table(&batch, NFT_MSG_NEWTABLE, PROBE_TABLE, TABLE_OWNED);
	put_table(&batch, NFT_MSG_DELTABLE, PROBE_TABLE, 0);
	error = batch_commit(&batch);
	ruleset->owned = error == 0;
	return error == -EOPNOTSUPP ? 0 : error;
}

static uint32_t
set_flags(const struct set_form *form)
{
	bool concat = form->fields[1] != FIELD_NONE;

	return (form->interval ? NFT_SET_INTERVAL : 0u) |
	    (form->interval && concat ? NFT_SET_CONCAT : 0u) |
	    (form->timeout_ms != 0 ? NFT_SET_TIMEOUT : 0u) |
	    (form->dynamic ? NFT_SET_EVAL : 0u) |
	    (form->quota ? NFT_SET_OBJECT : 0u);
}

void
ruleset_key(const struct set_form *form, uint32_t *ret_type, uint32_t *ret_len)
{
	uint32_t type = 0, len = 0;

	for (size_t i = 0; i < GATEWAY_FIELDS_MAX; i++) {
		const struct field_form *field =
		    &gateway_fields[form->fields[i]];

		if (form->fields[i] == FIELD_NONE)
			break;
		type = type << 6 | field->type;
		len += (field->size + 3u) & ~3u;
	}
	*ret_type = type;
	*ret_len = form->fields[1] != FIELD_NONE
	    ? len
	    : gateway_fields[form->fields[0]].size;
}

/* Whether the set in the kernel is the one of the table: one of another kind
 * under our name is no place for pins. A larger one than need be will do. */
static bool
is_same_set(const struct work *work, const struct set_form *form,
    const struct survey_set *found)
{
	const uint32_t compared = NFT_SET_INTERVAL | NFT_SET_MAP |
	    NFT_SET_TIMEOUT | NFT_SET_EVAL | NFT_SET_OBJECT | NFT_SET_CONCAT;
	uint32_t type, len;

	ruleset_key(form, &type, &len);
	return (found->flags & compared) == set_flags(form) &&
	    found->key_type == type && found->key_len == len &&
	    found->timeout_ms == form->timeout_ms &&
	    found->size >= gateway_set_size(&work->ruleset->params, form->size);
}

/* Whether the set that is there stays as it is, elements and all. */
static bool
keeps_set(const struct work *work, const struct set_form *form)
{
	const struct survey_set *found =
	    survey_find_set(work->part->survey, form->name);

	return work->part->keep && found != NULL &&
	    is_same_set(work, form, found);
}

static void
describe_concat(struct nftnl_set *set, const struct set_form *form)
{
	uint8_t sizes[GATEWAY_FIELDS_MAX];
	uint32_t count = 0;

	while (
	    count < GATEWAY_FIELDS_MAX && form->fields[count] != FIELD_NONE) {
		sizes[count] = gateway_fields[form->fields[count]].size;
		count++;
	}
	if (form->interval && count > 1)
		nftnl_set_set_data(set, NFTNL_SET_DESC_CONCAT, sizes, count);
}

/* nft's own numbers for the expression that a raw key is. */
#define EXPR_PAYLOAD   7
#define EXPR_META      9
#define EXPR_CONCAT    13
#define BASE_TRANSPORT 3

static void
put_typeof_field(struct nftnl_udata_buf *buf, const struct field_form *field)
{
	struct nftnl_udata *data;

	nftnl_udata_put_u32(buf, NFTNL_UDATA_SET_TYPEOF_EXPR,
	    field->payload ? EXPR_PAYLOAD : EXPR_META);
	data = nftnl_udata_nest_start(buf, NFTNL_UDATA_SET_TYPEOF_DATA);
	if (field->payload) {
		const uint32_t parts[] = { 0, 0, BASE_TRANSPORT,
			field->offset * 8, field->size * 8u };

		for (uint8_t i = 0; i < ARRAY_LEN(parts); i++)
			nftnl_udata_put_u32(buf, i, parts[i]);
	} else {
		nftnl_udata_put_u32(buf, 0, field->base);
	}
	nftnl_udata_nest_end(buf, data);
}

/* A key that is an expression without a name of its own. */
static void
put_typeof(struct nftnl_udata_buf *buf, const struct set_form *form)
{
	struct nftnl_udata *key =
	    nftnl_udata_nest_start(buf, NFTNL_UDATA_SET_KEY_TYPEOF);

	if (form->fields[1] == FIELD_NONE) {
		put_typeof_field(buf, &gateway_fields[form->fields[0]]);
	} else {
		struct nftnl_udata *data;

		nftnl_udata_put_u32(buf, NFTNL_UDATA_SET_TYPEOF_EXPR,
		    EXPR_CONCAT);
		data = nftnl_udata_nest_start(buf, NFTNL_UDATA_SET_TYPEOF_DATA);
		for (uint8_t i = 0; i < 2; i++) {
			struct nftnl_udata *one =
			    nftnl_udata_nest_start(buf, i);

			put_typeof_field(buf, &gateway_fields[form->fields[i]]);
			nftnl_udata_nest_end(buf, one);
		}
		nftnl_udata_nest_end(buf, data);
	}
	nftnl_udata_nest_end(buf, key);
}

/* Byte order and expression only serve listings. */
static void
describe_key(struct nftnl_set *set, const struct set_form *form)
{
	enum {
		ORDER_HOST = 1,
		ORDER_BIG = 2
	};
	const struct field_form *field = &gateway_fields[form->fields[0]];
	bool host = form->fields[1] == FIELD_NONE && !field->payload &&
	    !field->big_endian;
	struct nftnl_udata_buf *buf = nftnl_udata_buf_alloc(256);

	if (buf == NULL)
		return;
	nftnl_udata_put_u32(buf, NFTNL_UDATA_SET_KEYBYTEORDER,
	    host ? ORDER_HOST : ORDER_BIG);
	if (form->raw)
		put_typeof(buf, form);
	nftnl_set_set_data(set, NFTNL_SET_USERDATA, nftnl_udata_buf_data(buf),
	    nftnl_udata_buf_len(buf));
	nftnl_udata_buf_free(buf);
}

static int
describe_set(struct work *work, struct nftnl_set *set,
    const struct set_form *form)
{
	const struct gateway_params *params = &work->ruleset->params;
	uint32_t type, len, size = gateway_set_size(params, form->size);
	struct nftnl_expr *counter;

	ruleset_key(form, &type, &len);
	nftnl_set_set_str(set, NFTNL_SET_TABLE, params->table);
	nftnl_set_set_str(set, NFTNL_SET_NAME, form->name);
	nftnl_set_set_u32(set, NFTNL_SET_FAMILY, work->batch.family);
	nftnl_set_set_u32(set, NFTNL_SET_ID, work->set_id++);
	nftnl_set_set_u32(set, NFTNL_SET_FLAGS, set_flags(form));
	nftnl_set_set_u32(set, NFTNL_SET_KEY_TYPE, type);
	nftnl_set_set_u32(set, NFTNL_SET_KEY_LEN, len);
	if (size != 0)
		nftnl_set_set_u32(set, NFTNL_SET_DESC_SIZE, size);
	if (form->timeout_ms != 0)
		nftnl_set_set_u64(set, NFTNL_SET_TIMEOUT, form->timeout_ms);
	if (form->quota)
		nftnl_set_set_u32(set, NFTNL_SET_OBJ_TYPE, NFT_OBJECT_QUOTA);
	describe_concat(set, form);
	describe_key(set, form);
	if (!form->counter)
		return 0;
	counter = nftnl_expr_alloc("counter");
	if (counter == NULL)
		return -ENOMEM;
	nftnl_set_add_expr(set, counter);
	return 0;
}

static int
put_set(struct work *work, const struct set_form *form)
{
	struct nftnl_set *set = nftnl_set_alloc();
	int error;

	if (set == NULL)
		return -ENOMEM;
	error = describe_set(work, set, form);
	if (error == 0)
		nftnl_set_nlmsg_build_payload(batch_put(&work->batch,
						  NFT_MSG_NEWSET, NLM_F_CREATE),
		    set);
	nftnl_set_free(set);
	return error;
}

static int
put_sets(struct work *work)
{
	const struct table_form *form = &work->part->form;
	int error = 0;

	for (size_t i = 0; i < form->set_count && error == 0; i++)
		if (!keeps_set(work, &form->sets[i]))
			error = put_set(work, &form->sets[i]);
	return error;
}

static void
put_counter(struct work *work, uint16_t type, const char *name)
{
	bool creating = type == NFT_MSG_NEWOBJ;
	struct nlmsghdr *header =
	    batch_put(&work->batch, type, creating ? NLM_F_CREATE : 0);
	struct nlattr *nothing;

	mnl_attr_put_strz(header, NFTA_OBJ_TABLE, work->ruleset->params.table);
	mnl_attr_put_strz(header, NFTA_OBJ_NAME, name);
	mnl_attr_put_u32(header, NFTA_OBJ_TYPE, htonl(NFT_OBJECT_COUNTER));
	if (!creating)
		return;
	nothing = mnl_attr_nest_start(header, NFTA_OBJ_DATA);
	mnl_attr_nest_end(header, nothing);
}

static void
put_counters(struct work *work)
{
	const struct table_form *form = &work->part->form;

	for (size_t i = 0; i < form->counter_count; i++)
		put_counter(work, NFT_MSG_NEWOBJ, form->counters[i]);
}

/* Added and deleted: right whether the number is there or not. Of a later
 * version too, whose place an earlier one takes again. */
static void
clear_schemas(struct work *work)
{
	for (unsigned int i = 1; i <= SCHEMAS_MAX; i++) {
		char name[32];

		if (i == GATEWAY_SCHEMA_NUMBER)
			continue;
		snprintf(name, sizeof(name), "schema_%u", i);
		put_counter(work, NFT_MSG_NEWOBJ, name);
		put_counter(work, NFT_MSG_DELOBJ, name);
	}
}

/* The hooks of a bridge have the same numbers. */
static void
put_hook(struct nftnl_chain *chain, const struct chain_form *form,
    int32_t priority)
{
	static const struct {
		uint32_t number;
		const char *type;
	} hooks[] = {
		[HOOK_PREROUTING] = { NF_INET_PRE_ROUTING, "filter" },
		[HOOK_INPUT] = { NF_INET_LOCAL_IN, "filter" },
		[HOOK_FORWARD] = { NF_INET_FORWARD, "filter" },
		[HOOK_OUTPUT] = { NF_INET_LOCAL_OUT, "filter" },
		[HOOK_POSTROUTING_NAT] = { NF_INET_POST_ROUTING, "nat" },
	};

	nftnl_chain_set_u32(chain, NFTNL_CHAIN_HOOKNUM,
	    hooks[form->hook].number);
	nftnl_chain_set_str(chain, NFTNL_CHAIN_TYPE, hooks[form->hook].type);
	nftnl_chain_set_s32(chain, NFTNL_CHAIN_PRIO, priority);
	nftnl_chain_set_u32(chain, NFTNL_CHAIN_POLICY, NF_ACCEPT);
}

static int
put_chain(struct work *work, const struct chain_form *form)
{
	const struct gateway_params *params = &work->ruleset->params;
	struct nftnl_chain *chain = nftnl_chain_alloc();

	if (chain == NULL)
		return -ENOMEM;
	nftnl_chain_set_str(chain, NFTNL_CHAIN_TABLE, params->table);
	nftnl_chain_set_str(chain, NFTNL_CHAIN_NAME, form->name);
	if (form->hook != HOOK_NONE)
		put_hook(chain, form, gateway_priority(params, form));
	nftnl_chain_nlmsg_build_payload(batch_put(&work->batch,
					    NFT_MSG_NEWCHAIN, NLM_F_CREATE),
	    chain);
	nftnl_chain_free(chain);
	return 0;
}

/* All chains before any rule: rules name chains that come later. */
static int
put_chains(struct work *work)
{
	const struct gateway_params *params = &work->ruleset->params;
	const struct chain_form *forms = work->part->form.chains;
	size_t count = work->part->form.chain_count;
	int error = 0;

	for (size_t i = 0; i < count && error == 0; i++)
		error = put_chain(work, &forms[i]);
	for (size_t i = 0; i < count && error == 0; i++)
		for (size_t k = 0; k < forms[i].rule_count && error == 0; k++)
			error = express_rule(&work->batch, params,
			    forms[i].name, &forms[i].rules[k], &work->set_id);
	return error;
}

static bool
is_our_chain(const struct work *work, const char *name)
{
	const struct table_form *form = &work->part->form;

	for (size_t i = 0; i < form->chain_count; i++)
		if (strcmp(form->chains[i].name, name) == 0)
			return true;
	return false;
}

static void
put_named(struct work *work, uint16_t type, uint16_t attr, const char *name)
{
	struct nlmsghdr *header = batch_put(&work->batch, type, 0);

	/* The table is attribute 1 of every kind of object. */
	mnl_attr_put_strz(header, NFTA_TABLE_NAME, work->ruleset->params.table);
	if (name != NULL)
		mnl_attr_put_strz(header, attr, name);
}

static bool
is_our_set(const struct work *work, const char *name)
{
	const struct table_form *form = &work->part->form;

	for (size_t i = 0; i < form->set_count; i++)
		if (strcmp(form->sets[i].name, name) == 0)
			return true;
	return false;
}

/* What is in the way inside a table that stays: all rules, chains and sets
 * that are not ours, and sets that are made anew. */
static void
clear_table(struct work *work)
{
	const struct set_form *forms = work->part->form.sets;
	size_t count = work->part->form.set_count;
	const struct survey *survey = work->part->survey;

	put_named(work, NFT_MSG_DELRULE, 0, NULL);
	clear_schemas(work);
	for (unsigned int i = 0; i < survey->chain_count; i++)
		if (!is_our_chain(work, survey->chains[i]))
			put_named(work, NFT_MSG_DELCHAIN, NFTA_CHAIN_NAME,
			    survey->chains[i]);
	for (unsigned int i = 0; i < survey->set_count; i++)
		if (!is_our_set(work, survey->sets[i].name))
			put_named(work, NFT_MSG_DELSET, NFTA_SET_NAME,
			    survey->sets[i].name);
	for (size_t i = 0; i < count; i++)
		if (survey_find_set(survey, forms[i].name) != NULL &&
		    !keeps_set(work, &forms[i]))
			put_named(work, NFT_MSG_DELSET, NFTA_SET_NAME,
			    forms[i].name);
}

static int
collect_members(struct work *work)
{
	const struct table_form *form = &work->part->form;
	int error = 0;

	for (size_t i = 0; i < form->set_count && error == 0; i++)
		if (form->sets[i].configured && !form->sets[i].lingering &&
		    keeps_set(work, &form->sets[i]))
			error = sync_collect(&work->sync, work->ruleset->nft,
			    form->family, form->sets[i].name);
	return error;
}

/* The table at hand, up to its sets. */
static int
put_base(struct work *work)
{
	const struct ruleset *ruleset = work->ruleset;
	const struct part *part = work->part;

	if (part->survey->exists && !part->keep)
		put_table(&work->batch, NFT_MSG_DELTABLE, ruleset->params.table,
		    0);
	put_table(&work->batch, NFT_MSG_NEWTABLE, ruleset->params.table,
	    ruleset->owned ? TABLE_OWNED : 0);
	if (part->keep)
		clear_table(work);
	put_counters(work);
	return put_sets(work);
}

static int
commit_tables(struct work *work, const struct member *members, size_t count,
    uint32_t generation)
{
	int error = 0;

	batch_begin_at(&work->batch, work->ruleset->nft, generation);
	for (size_t i = 0; i < GATEWAY_TABLES && error == 0; i++) {
		turn_to(work, i);
		error = put_base(work);
	}
	if (error == 0)
		error = sync_put(&work->sync, &work->batch, members, count);
	for (size_t i = 0; i < GATEWAY_TABLES && error == 0; i++) {
		turn_to(work, i);
		error = put_chains(work);
	}
	if (error == 0)
		error = batch_commit(&work->batch);
	return error;
}

/* A table can be kept when it is of the kind that this kernel gives us, and
 * was not switched off. One whose owner died is owned by nobody. */
static bool
can_keep(const struct ruleset *ruleset, const struct survey *survey)
{
	return survey->exists && !survey->overflow &&
	    (survey->flags & ~TABLE_OWNER) ==
	    (ruleset->owned ? TABLE_PERSIST : 0);
}

/* Whether the table at hand goes on as it was; pins are what would tell. */
static bool
is_adopted(const struct work *work)
{
	const struct table_form *form = &work->part->form;

	if (!work->part->keep)
		return false;
	for (size_t i = 0; i < form->set_count; i++)
		if (form->sets[i].size == SIZE_PINS &&
		    !keeps_set(work, &form->sets[i]))
			return false;
	return true;
}

/* What is there of each table, and what of it can stay. */
static int
take_stock(struct work *work, struct ruleset *ruleset, bool anew,
    enum ruleset_outcome *ret)
{
	struct table_form forms[GATEWAY_TABLES];
	int error = 0;

	gateway_tables(ruleset->params.masquerade, forms);
	*ret = RULESET_ADOPTED;
	for (size_t i = 0; i < GATEWAY_TABLES && error == 0; i++) {
		struct survey *survey = &ruleset->surveys[i];

		error = survey_take(ruleset->nft, forms[i].family, survey);
		if (error != 0)
			return error;
		if (survey->owner != 0 && survey->owner != ruleset->nft->portid)
			return -EBUSY;
		work->parts[i] = (struct part){ forms[i], survey,
			!anew && can_keep(ruleset, survey) };
		turn_to(work, i);
		if (!is_adopted(work))
			*ret = RULESET_BORN;
		error = collect_members(work);
	}
	return error;
}

static int
install_once(struct ruleset *ruleset, const struct member *members,
    size_t count, bool anew, enum ruleset_outcome *ret)
{
	struct work work = {
		.ruleset = ruleset,
		.set_id = 1,
	};
	uint32_t generation = 0;
	int error = nft_generation(ruleset->nft, &generation);

	if (error == 0)
		error = take_stock(&work, ruleset, anew, ret);
	if (error == 0)
		error = commit_tables(&work, members, count, generation);
	sync_free(&work.sync);
	return error;
}

static int
install(struct ruleset *ruleset, const struct member *members, size_t count,
    bool anew, enum ruleset_outcome *ret)
{
	enum ruleset_outcome outcome = RULESET_BORN;
	int error = -ERESTART;

	for (int i = 0; i < INSTALL_TRIES && error == -ERESTART; i++)
		error = install_once(ruleset, members, count, anew, &outcome);
	/* Whatever is in the way of keeping it: make everything anew. */
	if (!anew &&
	    (error == -EEXIST || error == -EINVAL || error == -ENOENT ||
		error == -EOPNOTSUPP || error == -EBUSY))
		error = install_once(ruleset, members, count, true, &outcome);
	if (error == 0)
		*ret = outcome;
	return error;
}

/* Once more where something of it is gone again already: others may change a
 * table that is not owned. */
int
ruleset_install(struct ruleset *ruleset, const struct member *members,
    size_t count, bool anew, enum ruleset_outcome *ret)
{
	enum ruleset_outcome outcome, worst = RULESET_ADOPTED;
	int error = -ESTALE;

	for (int i = 0; i < INSTALL_TRIES && error == -ESTALE; i++) {
		error = install(ruleset, members, count, anew, &outcome);
		if (error != 0)
			return error;
		if (outcome == RULESET_BORN)
			worst = RULESET_BORN;
		error = ruleset_settle(ruleset);
	}
	if (error == 0)
		*ret = worst;
	return error;
}

/* A digest of what is there says nothing of what was to be there: a table
 * that lost rules since the kernel took them must not pass for ours. */
int
ruleset_settle(struct ruleset *ruleset)
{
	struct table_form forms[GATEWAY_TABLES];
	size_t wanted = 0, there = 0;
	int error;

	if (ruleset->nft->lent_pins4 != NULL)
		return 0;
	error = survey_digest(ruleset->nft, &ruleset->digest, &there);
	gateway_tables(ruleset->params.masquerade, forms);
	for (size_t i = 0; i < GATEWAY_TABLES; i++)
		for (size_t k = 0; k < forms[i].chain_count; k++)
			wanted += forms[i].chains[k].rule_count;
	if (error != 0)
		return error;
	return there == wanted ? 0 : -ESTALE;
}

int
ruleset_verify(struct ruleset *ruleset)
{
	uint64_t digest = 0;
	size_t rules;
	int error;

	if (ruleset->nft->lent_pins4 != NULL)
		return 0;
	error = survey_digest(ruleset->nft, &digest, &rules);
	if (error != 0)
		return error == -ENOENT ? -ESTALE : error;
	return digest == ruleset->digest ? 0 : -ESTALE;
}

/* Each alone: either may be missing. */
int
ruleset_remove(struct nft *nft)
{
	struct table_form forms[GATEWAY_TABLES];
	int error = 0, result = -ENOENT;

	gateway_tables(true, forms);
	for (size_t i = 0; i < GATEWAY_TABLES; i++) {
		struct batch batch;

		batch_begin(&batch, nft);
		batch_family(&batch, forms[i].family);
		put_table(&batch, NFT_MSG_DELTABLE, nft->table, 0);
		error = batch_commit(&batch);
		if (error != 0 && error != -ENOENT)
			return error;
		if (error == 0)
			result = 0;
	}
	return result;
}
