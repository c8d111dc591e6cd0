/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * message - questions and upstream responses made from text, and replies read
 * back through ldns, which has no line in common with what it checks.
 */
#include "config.h"

#include <ldns/ldns.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cursor.h"
#include "lib/dns.h"
#include "tests/rig/rig.h"

#define RECORD_TEXT_MAX 1024

/* With its own spelling, which dname would fold. */
static bool
put_name(struct cursor *c, const char *name)
{
	if (strcmp(name, ".") == 0) {
		cursor_put_u8(c, 0);
		return true;
	}
	while (*name != '\0') {
		size_t len = strcspn(name, ".");

		if (len == 0 || len > DNS_LABEL_MAX)
			return false;
		cursor_put_u8(c, (uint8_t)len);
		cursor_put_bytes(c, name, len);
		name += len + (name[len] == '.');
	}
	cursor_put_u8(c, 0);
	return true;
}

size_t
rig_query(uint8_t *buf, size_t size, const char *name, uint16_t type,
    uint16_t id, bool edns)
{
	struct cursor c = cursor_write_of(buf, size);

	cursor_put_u16(&c, id);
	cursor_put_u16(&c, DNS_FLAG_RD);
	cursor_put_u16(&c, 1);
	cursor_put_u16(&c, 0);
	cursor_put_u16(&c, 0);
	cursor_put_u16(&c, edns ? 1 : 0);
	if (!put_name(&c, name))
		return 0;
	cursor_put_u16(&c, type);
	cursor_put_u16(&c, DNS_CLASS_IN);
	if (edns) {
		cursor_put_u8(&c, 0);
		cursor_put_u16(&c, DNS_TYPE_OPT);
		cursor_put_u16(&c, 1232);
		cursor_put_u32(&c, 0);
		cursor_put_u16(&c, 0);
	}
	return c.error ? 0 : c.pos;
}

static bool
put_addr(struct cursor *c, const char *text, uint8_t family)
{
	struct addr addr;

	if (!addr_parse(text, strlen(text), &addr) || addr.family != family)
		return false;
	cursor_put_bytes(c, addr.bytes, addr_size(&addr));
	return true;
}

static bool
put_numbers(struct cursor *c, char **save, int count)
{
	for (int i = 0; i < count; i++) {
		const char *word = strtok_r(NULL, " ", save);

		if (word == NULL)
			return false;
		cursor_put_u16(c, (uint16_t)strtoul(word, NULL, 10));
	}
	return true;
}

static bool
put_data(struct cursor *c, uint16_t type, char **save)
{
	const char *word;

	if (type == DNS_TYPE_MX && !put_numbers(c, save, 1))
		return false;
	if (type == DNS_TYPE_SRV && !put_numbers(c, save, 3))
		return false;
	word = strtok_r(NULL, " ", save);
	if (word == NULL)
		return false;
	switch (type) {
	case DNS_TYPE_A:
		return put_addr(c, word, 4);
	case DNS_TYPE_AAAA:
		return put_addr(c, word, 6);
	case DNS_TYPE_TXT:
		cursor_put_u8(c, (uint8_t)strlen(word));
		cursor_put_bytes(c, word, strlen(word));
		return true;
	default:
		return put_name(c, word);
	}
}

static bool
put_record(struct cursor *c, char *text)
{
	char *save;
	const char *name = strtok_r(text, " ", &save);
	const char *ttl = strtok_r(NULL, " ", &save);
	const char *type_name = strtok_r(NULL, " ", &save);
	uint16_t type;
	size_t at;

	if (type_name == NULL || !put_name(c, name))
		return false;
	type = rig_type(type_name);
	cursor_put_u16(c, type);
	cursor_put_u16(c, DNS_CLASS_IN);
	cursor_put_u32(c, (uint32_t)strtoul(ttl, NULL, 10));
	at = c->pos;
	cursor_put_u16(c, 0);
	if (type == 0 || !put_data(c, type, &save))
		return false;
	cursor_patch_u16(c, at, (uint16_t)(c->pos - at - 2));
	return true;
}

size_t
rig_response(uint8_t *buf, size_t size, const struct ask *ask,
    const struct rig_response *response)
{
	struct cursor c = cursor_write_of(buf, size);
	const char *text = response->records == NULL ? "" : response->records;
	uint16_t count = 0;

	cursor_put_u16(&c, ask->id);
	cursor_put_u16(&c,
	    (uint16_t)(DNS_FLAG_QR | DNS_FLAG_RD | DNS_FLAG_RA |
		(response->truncated ? DNS_FLAG_TC : 0) | response->rcode));
	cursor_put_u16(&c, 1);
	cursor_put_u16(&c, 0);
	cursor_put_u32(&c, 0);
	dname_put(&c, &ask->name);
	cursor_put_u16(&c, ask->type);
	cursor_put_u16(&c, DNS_CLASS_IN);
	while (*text != '\0') {
		size_t len = strcspn(text, ";");
		char record[RECORD_TEXT_MAX];

		if (len >= sizeof(record))
			return 0;
		memcpy(record, text, len);
		record[len] = '\0';
		if (!put_record(&c, record))
			return 0;
		count++;
		text += len + (text[len] == ';');
	}
	cursor_patch_u16(&c, DNS_OFFSET_ANCOUNT, count);
	return c.error ? 0 : c.pos;
}

/*
 * Replies.
 */

static void
read_answer(const ldns_pkt *pkt, struct rig_reply *ret)
{
	const ldns_rr_list *list = ldns_pkt_answer(pkt);
	const ldns_rr *asked = ldns_rr_list_rr(ldns_pkt_question(pkt), 0);

	ret->record_count = (uint32_t)ldns_rr_list_rr_count(list);
	for (size_t i = 0; i < ldns_rr_list_rr_count(list); i++) {
		const ldns_rr *rr = ldns_rr_list_rr(list, i);
		const ldns_rdf *data = ldns_rr_rdf(rr, 0);
		const uint8_t *octets = ldns_rdf_data(data);

		ret->ttl_s = ldns_rr_ttl(rr);
		if (ldns_dname_compare(ldns_rr_owner(rr),
			ldns_rr_owner(asked)) != 0)
			ret->foreign_owner = true;
		if (ret->addr_count == 32)
			continue;
		if (ldns_rr_get_type(rr) == LDNS_RR_TYPE_A)
			ret->addrs[ret->addr_count++] = addr_v4(octets);
		else if (ldns_rr_get_type(rr) == LDNS_RR_TYPE_AAAA)
			ret->addrs[ret->addr_count++] = addr_v6(octets);
	}
}

static void
read_soa(const ldns_pkt *pkt, struct rig_reply *ret)
{
	const ldns_rr_list *list = ldns_pkt_authority(pkt);

	for (size_t i = 0; i < ldns_rr_list_rr_count(list); i++) {
		const ldns_rr *rr = ldns_rr_list_rr(list, i);

		if (ldns_rr_get_type(rr) != LDNS_RR_TYPE_SOA)
			continue;
		ret->soa = true;
		ret->ttl_s = ldns_rr_ttl(rr);
	}
}

static int
read_ede(const ldns_pkt *pkt)
{
	const ldns_rdf *options = ldns_pkt_edns_data(pkt);
	struct cursor c;

	if (options == NULL)
		return -1;
	c = cursor_read_of(ldns_rdf_data(options), ldns_rdf_size(options));
	while (cursor_left(&c) >= 6) {
		uint16_t option = cursor_u16(&c), len = cursor_u16(&c);

		if (option == DNS_OPTION_EDE)
			return cursor_u16(&c);
		cursor_skip(&c, len);
	}
	return -1;
}

static void
read_question(const ldns_pkt *pkt, struct rig_reply *ret)
{
	const ldns_rr *asked = ldns_rr_list_rr(ldns_pkt_question(pkt), 0);
	char *name = ldns_rdf2str(ldns_rr_owner(asked));

	ret->type = (uint16_t)ldns_rr_get_type(asked);
	if (name != NULL)
		(void)snprintf(ret->name, sizeof(ret->name), "%s", name);
	free(name);
}

bool
rig_read_reply(const uint8_t *wire, size_t len, struct rig_reply *ret)
{
	ldns_pkt *pkt;

	memset(ret, 0, sizeof(*ret));
	ret->ede = -1;
	if (ldns_wire2pkt(&pkt, wire, len) != LDNS_STATUS_OK)
		return false;
	ret->id = ldns_pkt_id(pkt);
	ret->rcode = (uint8_t)ldns_pkt_get_rcode(pkt);
	ret->truncated = ldns_pkt_tc(pkt);
	ret->ra = ldns_pkt_ra(pkt);
	ret->aa = ldns_pkt_aa(pkt);
	ret->ad = ldns_pkt_ad(pkt);
	ret->edns = ldns_pkt_edns(pkt);
	ret->ede = read_ede(pkt);
	if (ldns_pkt_qdcount(pkt) == 1) {
		read_question(pkt, ret);
		read_answer(pkt, ret);
	}
	read_soa(pkt, ret);
	ldns_pkt_free(pkt);
	return true;
}
