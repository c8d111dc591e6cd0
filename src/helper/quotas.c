/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quotas - see quotas.h.
 */
#include "config.h"

#include "src/helper/quotas.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#define HEX_MAX 33
/* Each pin changes the generation, and so interrupts the walk. */
#define WALK_TRIES 20

/* An identifier of nft begins with a letter. */
void
quota_name_print(char ret[QUOTA_NAME_MAX], const struct quota_key *key)
{
	char hex[HEX_MAX] = "";

	for (size_t i = 0; i < addr_size(&key->source); i++)
		(void)snprintf(hex + 2 * i, 3, "%02x", key->source.bytes[i]);
	(void)snprintf(ret, QUOTA_NAME_MAX,
	    "u_%s_%016" PRIx64 "_%" PRIu32 "_%" PRIu32, hex, key->rule,
	    key->day, key->serial);
}

static bool
read_source(const char *hex, struct addr *ret)
{
	size_t size = strlen(hex) / 2;
	uint8_t bytes[16] = { 0 };

	if ((size != 4 && size != 16) || strlen(hex) != size * 2)
		return false;
	for (size_t i = 0; i < size; i++) {
		unsigned int octet;

		if (sscanf(hex + 2 * i, "%2x", &octet) != 1)
			return false;
		bytes[i] = (uint8_t)octet;
	}
	*ret = size == 4 ? addr_v4(bytes) : addr_v6(bytes);
	return true;
}

/* What is printed again tells whether it was read whole. */
bool
quota_name_read(const char *name, struct quota_key *ret)
{
	struct quota_key key = { .rule = 0 };
	char hex[HEX_MAX], again[QUOTA_NAME_MAX];

	if (sscanf(name, "u_%32[0-9a-f]_%16" SCNx64 "_%" SCNu32 "_%" SCNu32,
		hex, &key.rule, &key.day, &key.serial) != 4 ||
	    !read_source(hex, &key.source))
		return false;
	quota_name_print(again, &key);
	if (strcmp(again, name) != 0)
		return false;
	*ret = key;
	return true;
}

static struct nlmsghdr *
put(struct batch *batch, uint16_t type, const char *name)
{
	struct nlmsghdr *header =
	    batch_put(batch, type, type == NFT_MSG_NEWOBJ ? NLM_F_CREATE : 0);

	mnl_attr_put_strz(header, NFTA_OBJ_TABLE, batch->nft->table);
	mnl_attr_put_strz(header, NFTA_OBJ_NAME, name);
	mnl_attr_put_u32(header, NFTA_OBJ_TYPE, htonl(NFT_OBJECT_QUOTA));
	return header;
}

/* The kernel takes none of which more is used than there is. */
void
quota_put(struct batch *batch, const char *name, uint64_t limit, uint64_t used)
{
	struct nlmsghdr *header = put(batch, NFT_MSG_NEWOBJ, name);
	struct nlattr *data = mnl_attr_nest_start(header, NFTA_OBJ_DATA);

	mnl_attr_put_u64(header, NFTA_QUOTA_BYTES, htobe64(limit));
	mnl_attr_put_u32(header, NFTA_QUOTA_FLAGS, htonl(NFT_QUOTA_F_INV));
	mnl_attr_put_u64(header, NFTA_QUOTA_CONSUMED,
	    htobe64(used < limit ? used : limit));
	mnl_attr_nest_end(header, data);
}

void
quota_drop(struct batch *batch, const char *name)
{
	(void)put(batch, NFT_MSG_DELOBJ, name);
}

struct walk {
	const char *table;
	quota_seen seen;
	void *data;
};

static void
read_data(const struct nlattr *data, struct quota_state *state)
{
	const struct nlattr *attr;

	nft_for_each_nested(attr, data)
	{
		uint16_t type = mnl_attr_get_type(attr);

		if (mnl_attr_get_payload_len(attr) != sizeof(uint64_t))
			continue;
		if (type == NFTA_QUOTA_BYTES)
			state->limit = be64toh(mnl_attr_get_u64(attr));
		if (type == NFTA_QUOTA_CONSUMED)
			state->used = be64toh(mnl_attr_get_u64(attr));
	}
}

static int
read_object(const struct nlmsghdr *header, void *data)
{
	const struct walk *walk = data;
	struct quota_state state = { .name = NULL };
	const char *table = "";
	const struct nlattr *attr;
	uint32_t type = 0;

	nft_for_each(attr, header)
	{
		if (mnl_attr_get_type(attr) == NFTA_OBJ_TABLE)
			table = mnl_attr_get_str(attr);
		if (mnl_attr_get_type(attr) == NFTA_OBJ_NAME)
			state.name = mnl_attr_get_str(attr);
		if (mnl_attr_get_type(attr) == NFTA_OBJ_TYPE)
			type = ntohl(mnl_attr_get_u32(attr));
		if (mnl_attr_get_type(attr) == NFTA_OBJ_DATA &&
		    type == NFT_OBJECT_QUOTA)
			read_data(attr, &state);
	}
	if (type != NFT_OBJECT_QUOTA || state.name == NULL ||
	    strcmp(table, walk->table) != 0)
		return 0;
	return walk->seen(&state, walk->data);
}

/* A walk that was interrupted may have shown some twice. */
int
quotas_walk(struct nft *nft, quota_seen seen, void *data)
{
	struct walk walk = { nft->table, seen, data };
	int error = -EINTR;

	for (int i = 0; i < WALK_TRIES && error == -EINTR; i++) {
		struct nlmsghdr *request =
		    nft_request(nft, NFPROTO_INET, NFT_MSG_GETOBJ, NLM_F_DUMP);

		mnl_attr_put_strz(request, NFTA_OBJ_TABLE, nft->table);
		mnl_attr_put_u32(request, NFTA_OBJ_TYPE,
		    htonl(NFT_OBJECT_QUOTA));
		error = nft_ask(nft, request, read_object, &walk);
	}
	return error;
}
