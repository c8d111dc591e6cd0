/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * elements - see elements.h. Messages are written attribute by attribute,
 * without libnftnl's lists, so that a pin costs no allocation.
 */
#include "config.h"

#include "src/helper/elements.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include "lib/require.h"

#define PROTOCOL_SIZE    4 /* every field is padded to four octets */
#define SERVICE_SIZE     8
#define LIST_MAX         512 /* a nest of attributes ends at 64 KiB */
#define ELEMENT_SIZE_MAX 160 /* of one in a message */
#define INTERFACE_KEY    16
#define MAC_SIZE         6
#define MAC_PADDED       8

static_assert(LIST_MAX * 128 <= 65536, "a list must fit into one attribute");

static void
append(struct element *element, const void *bytes, size_t size, size_t padded)
{
	REQUIRE(element->key_len + padded <= ELEMENT_KEY_MAX);
	memcpy(element->key + element->key_len, bytes, size);
	element->key_len = (uint8_t)(element->key_len + padded);
}

static void
append_addr(struct element *element, const struct addr *addr)
{
	append(element, addr->bytes, addr_size(addr), addr_size(addr));
}

static void
append_service(struct element *element, struct service service)
{
	uint8_t port[2] = { (uint8_t)(service.port >> 8),
		(uint8_t)service.port };

	append(element, &service.protocol, 1, PROTOCOL_SIZE);
	append(element, port, sizeof(port), PROTOCOL_SIZE);
}

struct element
element_pin(const struct addr *source, const struct addr *addr,
    struct service service, uint32_t timeout_ms)
{
	struct element element = { .timeout_ms = timeout_ms };

	REQUIRE(source->family == addr->family);
	append_addr(&element, source);
	append_addr(&element, addr);
	append_service(&element, service);
	return element;
}

/* The index in network order: an interval set sorts by octets. */
struct element
element_home(uint32_t ifindex, const struct addr *source)
{
	struct element element = { .ranged = true };
	uint32_t index = htonl(ifindex);

	append(&element, &index, sizeof(index), sizeof(index));
	append_addr(&element, source);
	return element;
}

static void
free_bits(struct element *element, size_t octet, const struct prefix *prefix)
{
	element->free_at = (uint16_t)(octet * 8 + prefix->bits);
	element->free_count =
	    (uint16_t)(addr_size(&prefix->addr) * 8 - prefix->bits);
}

struct element
element_home_prefix(uint32_t ifindex, const struct prefix *prefix)
{
	struct element element = element_home(ifindex, &prefix->addr);

	free_bits(&element, sizeof(ifindex), prefix);
	return element;
}

struct element
element_inbound(const struct prefix *from, const struct addr *source,
    struct service service)
{
	struct element element = element_pin(&from->addr, source, service, 0);

	element.ranged = true;
	free_bits(&element, 0, from);
	return element;
}

struct element
element_endpoint(const struct addr *addr, struct service service)
{
	struct element element = { .timeout_ms = 0 };

	append_addr(&element, addr);
	append_service(&element, service);
	return element;
}

struct element
element_source(const struct addr *source)
{
	struct element element = { .timeout_ms = 0 };

	append_addr(&element, source);
	return element;
}

struct element
element_pair(const struct addr *source, const struct addr *addr)
{
	struct element element = element_source(source);

	REQUIRE(source->family == addr->family);
	append_addr(&element, addr);
	return element;
}

struct element
element_uid(uint32_t uid)
{
	struct element element = { .timeout_ms = 0 };

	append(&element, &uid, sizeof(uid), sizeof(uid));
	return element;
}

static void
append_name(struct element *element, const char *name)
{
	size_t len = strlen(name);

	REQUIRE(len < INTERFACE_KEY);
	append(element, name, len, INTERFACE_KEY);
}

struct element
element_port(const char *name)
{
	struct element element = { .timeout_ms = 0 };

	append_name(&element, name);
	return element;
}

struct element
element_port_mac(const char *name, const uint8_t mac[6])
{
	struct element element = element_port(name);

	append(&element, mac, MAC_SIZE, MAC_PADDED);
	return element;
}

struct element
element_port_target(const char *name, const struct addr *target)
{
	struct element element = element_port(name);

	append_addr(&element, target);
	return element;
}

struct element
element_mac(const uint8_t mac[6])
{
	struct element element = { .timeout_ms = 0 };

	append(&element, mac, MAC_SIZE, MAC_SIZE);
	return element;
}

uint8_t
member_family(const struct member *member)
{
	return member->twin ? NFPROTO_BRIDGE : NFPROTO_INET;
}

/*
 * A full name ends at itself with the last octet 1; a name with a star goes
 * from its stem to the next stem of that length.
 */
void
element_interface(const char *name, struct element ret[2])
{
	size_t len = strlen(name);
	bool star = len > 0 && name[len - 1] == '*';
	size_t stem = star ? len - 1 : len;

	REQUIRE(stem > 0 && stem < INTERFACE_KEY);
	memset(ret, 0, 2 * sizeof(*ret));
	memcpy(ret[0].key, name, stem);
	memcpy(ret[1].key, name, stem);
	if (star)
		ret[1].key[stem - 1]++;
	else
		ret[1].key[INTERFACE_KEY - 1] = 1;
	ret[0].key_len = ret[1].key_len = INTERFACE_KEY;
	ret[1].interval_end = true;
}

const char *
element_set(const char *for4, const char *for6, const struct addr *addr)
{
	return addr->family == 4 ? for4 : for6;
}

const char *
elements_set_name(const struct nft *nft, uint8_t family, const char *set)
{
	if (nft->lent_pins4 == NULL)
		return set;
	if (family == NFPROTO_INET && strcmp(set, "pins4") == 0)
		return nft->lent_pins4;
	if (family == NFPROTO_INET && strcmp(set, "pins6") == 0)
		return nft->lent_pins6;
	return NULL;
}

static void
put_key(struct nlmsghdr *header, uint16_t type, const struct element *element)
{
	struct nlattr *nest = mnl_attr_nest_start(header, type);

	mnl_attr_put(header, NFTA_DATA_VALUE, element->key_len, element->key);
	mnl_attr_nest_end(header, nest);
}

/* The last key that an element is about. */
static struct element
end_of(const struct element *element)
{
	struct element end = *element;

	for (size_t i = 0; i < element->free_count; i++) {
		size_t bit = element->free_at + i;

		end.key[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
	}
	return end;
}

static void
put_key_end(struct nlmsghdr *header, const struct element *element)
{
	struct element end = end_of(element);

	put_key(header, NFTA_SET_ELEM_KEY_END, &end);
}

static void
put_element(struct nlmsghdr *header, const struct element *element, bool adding)
{
	struct nlattr *nest = mnl_attr_nest_start(header, NFTA_LIST_ELEM);

	if (element->interval_end)
		mnl_attr_put_u32(header, NFTA_SET_ELEM_FLAGS,
		    htonl(NFT_SET_ELEM_INTERVAL_END));
	put_key(header, NFTA_SET_ELEM_KEY, element);
	if (element->ranged)
		put_key_end(header, element);
	if (adding && element->timeout_ms != 0)
		mnl_attr_put_u64(header, NFTA_SET_ELEM_TIMEOUT,
		    htobe64(element->timeout_ms));
	if (adding && element->object != NULL)
		mnl_attr_put_strz(header, NFTA_SET_ELEM_OBJREF,
		    element->object);
	mnl_attr_nest_end(header, nest);
}

static void
put_list(struct batch *batch, uint16_t type, const char *set,
    const struct element *elements, size_t count)
{
	bool adding = type == NFT_MSG_NEWSETELEM;
	struct nlmsghdr *header =
	    batch_put(batch, type, adding ? NLM_F_CREATE : 0);
	struct nlattr *nest;

	if (batch_room(batch) < count * ELEMENT_SIZE_MAX) {
		batch->overflow = true;
		return;
	}
	mnl_attr_put_strz(header, NFTA_SET_ELEM_LIST_TABLE, batch->nft->table);
	mnl_attr_put_strz(header, NFTA_SET_ELEM_LIST_SET, set);
	nest = mnl_attr_nest_start(header, NFTA_SET_ELEM_LIST_ELEMENTS);
	for (size_t i = 0; i < count; i++)
		put_element(header, &elements[i], adding);
	mnl_attr_nest_end(header, nest);
}

static void
put(struct batch *batch, uint16_t type, const char *set,
    const struct element *elements, size_t count)
{
	set = elements_set_name(batch->nft, batch->family, set);
	while (set != NULL && count > 0) {
		size_t now = count < LIST_MAX ? count : LIST_MAX;

		put_list(batch, type, set, elements, now);
		elements += now;
		count -= now;
	}
}

void
elements_add(struct batch *batch, const char *set,
    const struct element *elements, size_t count)
{
	put(batch, NFT_MSG_NEWSETELEM, set, elements, count);
}

void
elements_delete(struct batch *batch, const char *set,
    const struct element *elements, size_t count)
{
	put(batch, NFT_MSG_DELSETELEM, set, elements, count);
}

void
elements_drop(struct batch *batch, const char *set,
    const struct element *elements, size_t count)
{
	elements_add(batch, set, elements, count);
	elements_delete(batch, set, elements, count);
}

void
elements_renew(struct batch *batch, const char *set,
    const struct element *elements, size_t count)
{
	elements_drop(batch, set, elements, count);
	elements_add(batch, set, elements, count);
}

struct walk {
	element_seen seen;
	void *data;
};

static void
read_key(const struct nlattr *key, struct element *ret)
{
	const struct nlattr *attr;

	nft_for_each_nested(attr, key)
	{
		uint16_t len = mnl_attr_get_payload_len(attr);

		if (mnl_attr_get_type(attr) != NFTA_DATA_VALUE ||
		    len > ELEMENT_KEY_MAX)
			continue;
		memcpy(ret->key, mnl_attr_get_payload(attr), len);
		ret->key_len = (uint8_t)len;
	}
}

static bool
is_set(const uint8_t *key, size_t bit)
{
	return (key[bit / 8] & 0x80 >> bit % 8) != 0;
}

/* From the first bit that the ends differ in to the last one. */
static void
read_free_bits(const struct element *end, struct element *ret)
{
	ret->ranged = true;
	for (size_t bit = 0; bit < end->key_len * 8u; bit++) {
		if (is_set(end->key, bit) == is_set(ret->key, bit))
			continue;
		if (ret->free_count == 0)
			ret->free_at = (uint16_t)bit;
		ret->free_count = (uint16_t)(bit - ret->free_at + 1);
	}
}

/* A counter, where the element has one and nothing else. */
static uint64_t
read_packets(const struct nlattr *expression)
{
	const struct nlattr *attr, *inner;

	nft_for_each_nested(attr, expression)
	{
		if (mnl_attr_get_type(attr) != NFTA_EXPR_DATA)
			continue;
		nft_for_each_nested(inner, attr)
		{
			if (mnl_attr_get_type(inner) == NFTA_COUNTER_PACKETS &&
			    mnl_attr_get_payload_len(inner) == 8)
				return be64toh(mnl_attr_get_u64(inner));
		}
	}
	return 0;
}

static int
read_element(const struct nlattr *nest, const struct walk *walk)
{
	struct element element = { .key_len = 0 }, end = { .key_len = 0 };
	const struct nlattr *attr;

	nft_for_each_nested(attr, nest)
	{
		uint16_t type = mnl_attr_get_type(attr);

		if (type == NFTA_SET_ELEM_KEY)
			read_key(attr, &element);
		if (type == NFTA_SET_ELEM_EXPR)
			element.packets = read_packets(attr);
		if (type == NFTA_SET_ELEM_KEY_END)
			read_key(attr, &end);
		if (type == NFTA_SET_ELEM_FLAGS)
			element.interval_end =
			    (ntohl(mnl_attr_get_u32(attr)) &
				NFT_SET_ELEM_INTERVAL_END) != 0;
	}
	if (end.key_len != 0 && end.key_len == element.key_len)
		read_free_bits(&end, &element);
	return walk->seen(&element, walk->data);
}

static int
read_list(const struct nlmsghdr *header, void *data)
{
	const struct walk *walk = data;
	const struct nlattr *attr, *nest;

	nft_for_each(attr, header)
	{
		if (mnl_attr_get_type(attr) != NFTA_SET_ELEM_LIST_ELEMENTS)
			continue;
		nft_for_each_nested(nest, attr)
		{
			int error = read_element(nest, walk);

			if (error < 0)
				return error;
		}
	}
	return 0;
}

int
elements_walk(struct nft *nft, uint8_t family, const char *set,
    element_seen seen, void *data)
{
	struct walk walk = { seen, data };
	struct nlmsghdr *request;

	set = elements_set_name(nft, family, set);
	if (set == NULL)
		return 0;
	request = nft_request(nft, family, NFT_MSG_GETSETELEM, NLM_F_DUMP);
	mnl_attr_put_strz(request, NFTA_SET_ELEM_LIST_TABLE, nft->table);
	mnl_attr_put_strz(request, NFTA_SET_ELEM_LIST_SET, set);
	return nft_ask(nft, request, read_list, &walk);
}

bool
element_read_pin(const struct element *element, struct addr *ret_source,
    struct addr *ret_addr, struct service *ret_service)
{
	size_t size = (element->key_len - SERVICE_SIZE) / 2u;
	const uint8_t *key = element->key;

	if (element->key_len == 2 * 4 + SERVICE_SIZE) {
		*ret_source = addr_v4(key);
		*ret_addr = addr_v4(key + size);
	} else if (element->key_len == 2 * 16 + SERVICE_SIZE) {
		*ret_source = addr_v6(key);
		*ret_addr = addr_v6(key + size);
	} else {
		return false;
	}
	key += 2 * size;
	ret_service->protocol = key[0];
	ret_service->port = (uint16_t)(key[4] << 8 | key[5]);
	return true;
}

bool
element_read_home(const struct element *element, uint32_t *ret_ifindex,
    struct addr *ret_source)
{
	uint32_t index;

	if (element->key_len == sizeof(index) + 4)
		*ret_source = addr_v4(element->key + sizeof(index));
	else if (element->key_len == sizeof(index) + 16)
		*ret_source = addr_v6(element->key + sizeof(index));
	else
		return false;
	memcpy(&index, element->key, sizeof(index));
	*ret_ifindex = ntohl(index);
	return true;
}

bool
element_read_source(const struct element *element, struct addr *ret_source)
{
	if (element->key_len == 4)
		*ret_source = addr_v4(element->key);
	else if (element->key_len == 16)
		*ret_source = addr_v6(element->key);
	else
		return false;
	return true;
}

bool
element_read_port_target(const struct element *element, struct addr *ret)
{
	if (element->key_len != INTERFACE_KEY + 16)
		return false;
	*ret = addr_v6(element->key + INTERFACE_KEY);
	return true;
}
