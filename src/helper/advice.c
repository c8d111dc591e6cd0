/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * advice - see advice.h. Rules of others are not read: what they would do to
 * a packet nobody can tell in general. The policy of a chain is plain.
 */
#include "config.h"

#include "src/helper/advice.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <string.h>
#include <unistd.h>

/* The first character of a setting; 0: there is none. */
static char
setting(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char value = '\0';

	if (fd < 0)
		return '\0';
	if (read(fd, &value, 1) != 1)
		value = '\0';
	close(fd);
	return value;
}

static bool
has_family(const struct helper *helper, uint8_t family)
{
	const struct edge_config *config = helper->guard.config;

	for (size_t i = 0; i < config->sandbox_count; i++)
		for (size_t k = 0; k < config->sandboxes[i].source_count; k++)
			if (config->sandboxes[i].sources[k].family == family)
				return true;
	return false;
}

static bool
drops_forwarded(const struct nlmsghdr *header, const char *table)
{
	const struct nlattr *attr, *in;
	uint32_t hook = UINT32_MAX, policy = NF_ACCEPT;
	bool ours = false;

	nft_for_each(attr, header)
	{
		uint16_t type = mnl_attr_get_type(attr);

		if (type == NFTA_CHAIN_TABLE)
			ours = strcmp(mnl_attr_get_str(attr), table) == 0;
		if (type == NFTA_CHAIN_POLICY)
			policy = ntohl(mnl_attr_get_u32(attr));
		if (type != NFTA_CHAIN_HOOK)
			continue;
		nft_for_each_nested(in, attr)
		{
			if (mnl_attr_get_type(in) == NFTA_HOOK_HOOKNUM)
				hook = ntohl(mnl_attr_get_u32(in));
		}
	}
	return !ours && hook == NF_INET_FORWARD && policy == NF_DROP;
}

struct look {
	const char *table;
	uint64_t found;
};

static int
see_chain(const struct nlmsghdr *header, void *data)
{
	const struct nfgenmsg *message = mnl_nlmsg_get_payload(header);
	struct look *look = data;

	if ((message->nfgen_family == NFPROTO_INET ||
		message->nfgen_family == NFPROTO_IPV4 ||
		message->nfgen_family == NFPROTO_IPV6) &&
	    drops_forwarded(header, look->table))
		look->found |= HELPER_FORWARD_DROPPED;
	return 0;
}

static int
see_flowtable(const struct nlmsghdr *header, void *data)
{
	struct look *look = data;

	(void)header;
	look->found |= HELPER_FLOWTABLES;
	return 0;
}

/* Asks about the tables of all families. */
static void
ask_all(struct helper *helper, uint16_t type, nft_message message,
    struct look *look)
{
	struct nlmsghdr *request =
	    nft_request(&helper->nft, NFPROTO_UNSPEC, type, NLM_F_DUMP);

	/* A kernel that does not know a kind has none of it. */
	(void)nft_ask(&helper->nft, request, message, look);
}

static uint64_t
look_around(struct helper *helper)
{
	struct look look = { helper->nft.table, 0 };

	if (has_family(helper, 4) &&
	    setting("/proc/sys/net/ipv4/ip_forward") == '0')
		look.found |= HELPER_FORWARDING4_OFF;
	if (has_family(helper, 6) &&
	    setting("/proc/sys/net/ipv6/conf/all/forwarding") == '0')
		look.found |= HELPER_FORWARDING6_OFF;
	if (setting("/proc/sys/net/netfilter/nf_conntrack_count") == '\0')
		look.found |= HELPER_TRACKING_OFF;
	ask_all(helper, NFT_MSG_GETCHAIN, see_chain, &look);
	ask_all(helper, NFT_MSG_GETFLOWTABLE, see_flowtable, &look);
	return look.found;
}

void
advice_tell(struct helper *helper)
{
	uint64_t found;

	if (helper->state != STATE_READY)
		return;
	found = look_around(helper);
	if (found == helper->advice)
		return;
	helper->advice = found;
	helper_send(helper,
	    &(struct helper_msg){ .op = HELPER_ADVICE, .count = found });
}
