/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * survey - see survey.h. Read-only.
 */
#include "config.h"

#include "src/helper/survey.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include "lib/require.h"
#include "src/helper/elements.h"
#include "src/helper/gateway.h"

#define DUMP_TRIES 5
#define FNV_START  0xcbf29ce484222325u
#define FNV_PRIME  0x100000001b3u

/* A question for all objects of one kind, repeated while others change
 * things in between. */
struct question {
	uint16_t type;
	uint16_t table_attr; /* 0: the kernel does not filter by table */
};

static const struct question tables = { NFT_MSG_GETTABLE, 0 };
static const struct question chains = { NFT_MSG_GETCHAIN, 0 };
static const struct question rules = { NFT_MSG_GETRULE, NFTA_RULE_TABLE };
static const struct question sets = { NFT_MSG_GETSET, NFTA_SET_TABLE };

/* What the answers are about, and who looks at them. */
struct asking {
	struct nft *nft;
	uint8_t family;
	nft_message message;
	void *data;
};

static int
dump(const struct asking *asking, const struct question *question)
{
	struct nft *nft = asking->nft;
	struct nlmsghdr *request =
	    nft_request(nft, asking->family, question->type, NLM_F_DUMP);

	if (question->table_attr != 0)
		mnl_attr_put_strz(request, question->table_attr, nft->table);
	return nft_ask(nft, request, asking->message, asking->data);
}

/* The first attribute of every object is its table's name. */
static bool
is_ours(const struct nlmsghdr *header, const char *table)
{
	const struct nlattr *attr;

	nft_for_each(attr, header)
	{
		if (mnl_attr_get_type(attr) == NFTA_TABLE_NAME)
			return mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >=
			    0 &&
			    strcmp(mnl_attr_get_str(attr), table) == 0;
	}
	return false;
}

struct taking {
	const char *table;
	struct survey *survey;
};

static int
see_table(const struct nlmsghdr *header, void *data)
{
	const struct taking *taking = data;
	const struct nlattr *attr;

	if (!is_ours(header, taking->table))
		return 0;
	taking->survey->exists = true;
	nft_for_each(attr, header)
	{
		uint16_t type = mnl_attr_get_type(attr);

		if (type == NFTA_TABLE_FLAGS)
			taking->survey->flags = ntohl(mnl_attr_get_u32(attr));
		if (type == NFTA_TABLE_OWNER)
			taking->survey->owner = ntohl(mnl_attr_get_u32(attr));
	}
	return 0;
}

static int
see_chain(const struct nlmsghdr *header, void *data)
{
	const struct taking *taking = data;
	struct survey *survey = taking->survey;
	const struct nlattr *attr;

	if (!is_ours(header, taking->table))
		return 0;
	if (survey->chain_count == SURVEY_CHAINS_MAX) {
		survey->overflow = true;
		return 0;
	}
	nft_for_each(attr, header)
	{
		if (mnl_attr_get_type(attr) == NFTA_CHAIN_NAME)
			snprintf(survey->chains[survey->chain_count],
			    SURVEY_NAME_MAX, "%s", mnl_attr_get_str(attr));
	}
	survey->chain_count++;
	return 0;
}

static uint32_t
read_size(const struct nlattr *desc)
{
	const struct nlattr *attr;

	nft_for_each_nested(attr, desc)
	{
		if (mnl_attr_get_type(attr) == NFTA_SET_DESC_SIZE)
			return ntohl(mnl_attr_get_u32(attr));
	}
	return 0;
}

static void
read_set(struct survey_set *set, const struct nlattr *attr)
{
	switch (mnl_attr_get_type(attr)) {
	case NFTA_SET_NAME:
		snprintf(set->name, sizeof(set->name), "%s",
		    mnl_attr_get_str(attr));
		break;
	case NFTA_SET_FLAGS:
		set->flags = ntohl(mnl_attr_get_u32(attr));
		break;
	case NFTA_SET_KEY_TYPE:
		set->key_type = ntohl(mnl_attr_get_u32(attr));
		break;
	case NFTA_SET_KEY_LEN:
		set->key_len = ntohl(mnl_attr_get_u32(attr));
		break;
	case NFTA_SET_TIMEOUT:
		set->timeout_ms = be64toh(mnl_attr_get_u64(attr));
		break;
	case NFTA_SET_DESC:
		set->size = read_size(attr);
		break;
	default:
		break;
	}
}

static int
see_set(const struct nlmsghdr *header, void *data)
{
	const struct taking *taking = data;
	struct survey *survey = taking->survey;
	struct survey_set set = { .flags = 0 };
	const struct nlattr *attr;

	if (!is_ours(header, taking->table))
		return 0;
	nft_for_each(attr, header) read_set(&set, attr);
	if ((set.flags & NFT_SET_ANONYMOUS) != 0)
		return 0;
	if (survey->set_count == SURVEY_SETS_MAX) {
		survey->overflow = true;
		return 0;
	}
	survey->sets[survey->set_count++] = set;
	return 0;
}

static int
take(struct nft *nft, uint8_t family, struct survey *survey)
{
	struct taking taking = { nft->table, survey };
	struct asking asking = { nft, family, see_table, &taking };
	int error;

	memset(survey, 0, sizeof(*survey));
	error = dump(&asking, &tables);
	if (error != 0 || !survey->exists)
		return error;
	asking.message = see_chain;
	error = dump(&asking, &chains);
	asking.message = see_set;
	if (error == 0)
		error = dump(&asking, &sets);
	return error;
}

int
survey_take(struct nft *nft, uint8_t family, struct survey *ret)
{
	int error = -EINTR;

	for (int i = 0; i < DUMP_TRIES && error == -EINTR; i++)
		error = take(nft, family, ret);
	return error;
}

const struct survey_set *
survey_find_set(const struct survey *survey, const char *name)
{
	for (unsigned int i = 0; i < survey->set_count; i++)
		if (strcmp(survey->sets[i].name, name) == 0)
			return &survey->sets[i];
	return NULL;
}

static int
see_one_set(const struct nlmsghdr *header, void *data)
{
	const struct nlattr *attr;

	nft_for_each(attr, header) read_set(data, attr);
	return 0;
}

int
survey_set_named(struct nft *nft, uint8_t family, const char *name,
    struct survey_set *ret)
{
	struct nlmsghdr *request = nft_request(nft, family, NFT_MSG_GETSET, 0);

	memset(ret, 0, sizeof(*ret));
	mnl_attr_put_strz(request, NFTA_SET_TABLE, nft->table);
	mnl_attr_put_strz(request, NFTA_SET_NAME, name);
	return nft_ask(nft, request, see_one_set, ret);
}

static uint64_t
fold(uint64_t hash, const void *bytes, size_t size)
{
	const uint8_t *byte = bytes;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ byte[i]) * FNV_PRIME;
	return hash;
}

struct digest {
	const char *table;
	uint64_t hash;
	uint64_t attributes; /* bits of those that count */
	size_t count;
};

#define BIT(attr) (UINT64_C(1) << (attr))

static int
digest_object(const struct nlmsghdr *header, void *data)
{
	struct digest *digest = data;
	const struct nlattr *attr;

	if (!is_ours(header, digest->table))
		return 0;
	digest->count++;
	nft_for_each(attr, header)
	{
		uint16_t type = mnl_attr_get_type(attr);

		if (type >= 64 || (digest->attributes & BIT(type)) == 0)
			continue;
		digest->hash = fold(digest->hash, &type, sizeof(type));
		digest->hash = fold(digest->hash, mnl_attr_get_payload(attr),
		    mnl_attr_get_payload_len(attr));
	}
	return 0;
}

/* Elements come in the order of a hash table, so their digests are summed. */
static int
digest_element(const struct element *element, void *data)
{
	uint64_t *sum = data;
	uint64_t hash = fold(FNV_START, element->key, element->key_len);

	hash = fold(hash, &element->free_count, sizeof(element->free_count));
	*sum += fold(hash, &element->interval_end, 1);
	return 0;
}

static int
digest_members(struct nft *nft, const struct table_form *form, uint64_t *hash)
{
	for (size_t i = 0; i < form->set_count; i++) {
		uint64_t sum = 0;
		int error = 0;

		if (form->sets[i].configured)
			error = elements_walk(nft, form->family,
			    form->sets[i].name, digest_element, &sum);
		if (error != 0)
			return error;
		*hash = fold(*hash, &sum, sizeof(sum));
	}
	return 0;
}

static int
digest_table(struct nft *nft, const struct table_form *form, uint64_t *hash,
    size_t *rule_count)
{
	static const struct {
		const struct question *question;
		uint64_t attributes;
	} parts[] = {
		{ &tables, BIT(NFTA_TABLE_NAME) | BIT(NFTA_TABLE_FLAGS) },
		{ &chains,
		    BIT(NFTA_CHAIN_NAME) | BIT(NFTA_CHAIN_HOOK) |
			BIT(NFTA_CHAIN_POLICY) | BIT(NFTA_CHAIN_TYPE) |
			BIT(NFTA_CHAIN_FLAGS) },
		{ &rules, BIT(NFTA_RULE_CHAIN) | BIT(NFTA_RULE_EXPRESSIONS) },
		{ &sets,
		    BIT(NFTA_SET_NAME) | BIT(NFTA_SET_FLAGS) |
			BIT(NFTA_SET_KEY_TYPE) | BIT(NFTA_SET_KEY_LEN) |
			BIT(NFTA_SET_TIMEOUT) | BIT(NFTA_SET_DESC) },
	};
	struct digest digest = { nft->table, *hash, 0, 0 };
	struct asking asking = { nft, form->family, digest_object, &digest };
	int error = 0;

	for (size_t i = 0; i < ARRAY_LEN(parts) && error == 0; i++) {
		digest.attributes = parts[i].attributes;
		digest.count = 0;
		error = dump(&asking, parts[i].question);
		if (parts[i].question == &rules)
			*rule_count += digest.count;
	}
	if (error == 0)
		error = digest_members(nft, form, &digest.hash);
	if (error == 0)
		*hash = digest.hash;
	return error;
}

/* The sets are the same whether the chain for masquerading is there or not,
 * and the chains are those of the kernel. */
static int
digest_once(struct nft *nft, uint64_t *ret, size_t *ret_rules)
{
	struct table_form forms[GATEWAY_TABLES];
	uint64_t hash = FNV_START;
	size_t rule_count = 0;
	int error = 0;

	gateway_tables(true, forms);
	for (size_t i = 0; i < GATEWAY_TABLES && error == 0; i++)
		error = digest_table(nft, &forms[i], &hash, &rule_count);
	if (error == 0) {
		*ret = hash;
		*ret_rules = rule_count;
	}
	return error;
}

int
survey_digest(struct nft *nft, uint64_t *ret, size_t *ret_rules)
{
	int error = -EINTR;

	for (int i = 0; i < DUMP_TRIES && error == -EINTR; i++)
		error = digest_once(nft, ret, ret_rules);
	return error;
}
