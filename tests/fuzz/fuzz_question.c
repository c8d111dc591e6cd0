/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions against ldns: the input is a client's message.
 *
 * ldns is looser on purpose: it reads compressed names in questions, records
 * in every section, an OPT whose owner is not the root or whose options are
 * not whole, and octets behind the end. All of this makes a message other
 * than the one that its own parts would make, which is what is_canonical()
 * looks for; where a message is canonical, the two must agree exactly.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/question.h"
#include "lib/reply.h"
#include "lib/require.h"
#include "tests/fuzz/fuzz.h"

static size_t
edns_data_size(const ldns_pkt *pkt)
{
	return ldns_pkt_edns_data(pkt) == NULL
	    ? 0
	    : ldns_rdf_size(ldns_pkt_edns_data(pkt));
}

/* Nothing but one question, and at most an OPT, spelled in the one way. */
static bool
is_canonical(const ldns_pkt *pkt, const uint8_t *wire, size_t len)
{
	bool edns = ldns_pkt_edns(pkt);
	static const uint8_t counts[7] = { 0, 1 };

	if (memcmp(wire + DNS_OFFSET_QDCOUNT, counts, sizeof(counts)) != 0 ||
	    wire[11] != (edns ? 1 : 0))
		return false;
	ldns_rr *rr = ldns_rr_list_rr(ldns_pkt_question(pkt), 0);
	size_t name_len = ldns_rdf_size(ldns_rr_owner(rr));
	size_t opt = edns ? 11 + edns_data_size(pkt) : 0;
	return DNS_HEADER_SIZE + name_len + 4 + opt == len &&
	    memcmp(wire + DNS_HEADER_SIZE, ldns_rdf_data(ldns_rr_owner(rr)),
		name_len) == 0;
}

/* Each option a code, a length, and as many octets. */
static bool
options_are_whole(const ldns_pkt *pkt)
{
	size_t left = edns_data_size(pkt);
	const uint8_t *at =
	    left == 0 ? NULL : ldns_rdf_data(ldns_pkt_edns_data(pkt));

	while (left >= 4) {
		size_t len = 4u + (size_t)(at[2] << 8 | at[3]);

		if (len > left)
			return false;
		at += len;
		left -= len;
	}
	return left == 0;
}

static enum denial
expected_of(const ldns_pkt *pkt)
{
	ldns_rr *rr = ldns_rr_list_rr(ldns_pkt_question(pkt), 0);
	unsigned type = ldns_rr_get_type(rr);

	if (type == 41 || type == 249 || type == 250)
		return DENIAL_MALFORMED;
	if (ldns_pkt_edns(pkt) && ldns_pkt_edns_version(pkt) != 0)
		return DENIAL_BAD_VERSION;
	if (ldns_pkt_edns(pkt) && !options_are_whole(pkt))
		return DENIAL_MALFORMED;
	if (ldns_rr_get_class(rr) != LDNS_RR_CLASS_IN)
		return DENIAL_CLASS;
	if (type == 251 || type == 252)
		return DENIAL_TRANSFER;
	return DENIAL_NONE;
}

static void
check_fields(const struct question *q, const ldns_pkt *pkt)
{
	ldns_rr *rr = ldns_rr_list_rr(ldns_pkt_question(pkt), 0);
	struct dname name = fuzz_name(ldns_rr_owner(rr));

	AGREE(q->has_header && q->has_name);
	AGREE(dname_equal(&q->name, &name));
	AGREE(memcmp(q->spelling, ldns_rdf_data(ldns_rr_owner(rr)), name.len) ==
	    0);
	AGREE(q->id == ldns_pkt_id(pkt));
	AGREE(q->type == (unsigned)ldns_rr_get_type(rr));
	AGREE(q->class == (unsigned)ldns_rr_get_class(rr));
	AGREE(((q->flags & DNS_FLAG_RD) != 0) == ldns_pkt_rd(pkt));
	AGREE(((q->flags & DNS_FLAG_CD) != 0) == ldns_pkt_cd(pkt));
	AGREE(q->edns == ldns_pkt_edns(pkt));
	if (!q->edns)
		return;
	uint16_t size = ldns_pkt_edns_udp_size(pkt);
	AGREE(q->udp_size == (size < 512 ? 512 : size));
	AGREE(q->edns_version == ldns_pkt_edns_version(pkt));
	AGREE(q->dnssec_ok == ldns_pkt_edns_do(pkt));
}

/* A reply to anything is a message, and the client can take it. */
static void
check_reply(const struct question *q, enum denial denial)
{
	uint8_t buf[REPLY_SIZE_MAX];
	ldns_pkt *pkt = NULL;
	enum denial why = denial == DENIAL_NONE ? DENIAL_UNLISTED
	    : denial == DENIAL_DROP             ? DENIAL_MALFORMED
						: denial;
	struct denial_form form = denial_form_of(why, DENIAL_NXDOMAIN);
	size_t len = reply_deny(buf, sizeof(buf), q, &form, 5, TELL_FULL);

	AGREE((len == 0) == (denial == DENIAL_DROP));
	if (len == 0)
		return;
	AGREE(len <= 512);
	AGREE(ldns_wire2pkt(&pkt, buf, len) == LDNS_STATUS_OK);
	AGREE(ldns_pkt_qr(pkt) && ldns_pkt_id(pkt) == q->id);
	AGREE(ldns_pkt_edns(pkt) == q->edns);
	AGREE(ldns_pkt_qdcount(pkt) == (q->has_name ? 1 : 0));
	ldns_pkt_free(pkt);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct question q;
	ldns_pkt *pkt = NULL;
	enum denial denial = question_parse(&q, data, size);

	if (size < DNS_HEADER_SIZE || (data[2] & 0x80) != 0)
		AGREE(denial == DENIAL_DROP);
	else if ((data[2] & 0x78) != 0)
		AGREE(denial == DENIAL_OPCODE);
	else if (ldns_wire2pkt(&pkt, data, size) != LDNS_STATUS_OK ||
	    !is_canonical(pkt, data, size))
		AGREE(denial == DENIAL_MALFORMED);
	else {
		AGREE(denial == expected_of(pkt));
		check_fields(&q, pkt);
	}
	ldns_pkt_free(pkt);
	check_reply(&q, denial);
	return 0;
}
