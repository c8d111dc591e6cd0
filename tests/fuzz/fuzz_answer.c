/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers against ldns: one octet of choices, then an upstream's response.
 * What it was asked is taken from its own question.
 *
 * A model of the vetting works on the records that ldns has read; outcome,
 * chain, lifetime, addresses and data must agree. On purpose
 *  - we do not look at what does not belong: where ldns refuses a message
 *    there is nothing to compare with; and the model's message has no
 *    sections behind the answers, but for the one question whether the end of
 *    a chain is denied, which is asked of the whole message;
 *  - we take no more than so many records: there the model has no say;
 *  - we refuse pointers that do not lead backwards: where we alone find
 *    fault, ldns writes the message anew and the result must agree then.
 * The same is done where ldns has lost step (see is_in_step()).
 */
#include <stdlib.h>
#include <string.h>

#include "lib/answer.h"
#include "lib/reply.h"
#include "lib/require.h"
#include "tests/fuzz/fuzz.h"

static const uint8_t seed[32];

struct asked {
	struct dname name;
	uint16_t type;
	struct verdict verdict;
	struct protected_ranges ranges;
	const ldns_pkt *whole; /* with authority; NULL: not to be had */
};

struct model {
	enum answer_outcome outcome;
	const struct asked *asked;
	struct dname end;
	unsigned links;
	uint32_t ttl_s;
	unsigned distinct, protected_count;
	struct addr addrs[4096];
};

static void
read_asked(struct asked *asked, uint8_t choices, const uint8_t *wire,
    size_t len)
{
	struct cursor cursor = cursor_read_of(wire, len);

	memset(asked, 0, sizeof(*asked));
	cursor_skip(&cursor, DNS_HEADER_SIZE);
	if ((choices & 1) != 0 || !dname_read(&cursor, false, &asked->name))
		AGREE(dname_from_text("a.example", 9, &asked->name));
	asked->type = cursor_u16(&cursor);
	if (cursor.error || (choices & 2) != 0)
		asked->type = DNS_TYPE_A;
	if ((choices & 4) != 0) {
		asked->verdict.private_count = 2;
		AGREE(prefix_parse("0.0.0.0/0", 9,
		    &asked->verdict.private_ok[0]));
		AGREE(prefix_parse("::/0", 4, &asked->verdict.private_ok[1]));
	}
}

static bool
is_known(unsigned type)
{
	return type == 1 || type == 28 || type == 15 || type == 16 ||
	    type == 33 || type == 257;
}

static bool
is_of(const ldns_rr *rr, const struct dname *owner, unsigned type)
{
	struct dname name = fuzz_name(ldns_rr_owner(rr));

	return ldns_rr_get_class(rr) == LDNS_RR_CLASS_IN &&
	    (unsigned)ldns_rr_get_type(rr) == type && dname_equal(&name, owner);
}

static void
lower_ttl(struct model *model, const ldns_rr *rr)
{
	uint32_t ttl_s = ldns_rr_ttl(rr);

	if (ttl_s > INT32_MAX)
		ttl_s = 0;
	if (ttl_s < model->ttl_s)
		model->ttl_s = ttl_s;
}

/* ldns takes a record whose data ends after any of its fields, or before.
 * The value of a CAA record may be empty, and then ldns counts no field. */
static bool
is_whole(const ldns_rr *rr)
{
	uint16_t type = (uint16_t)ldns_rr_get_type(rr);
	size_t fields = ldns_rr_descriptor_minimum(ldns_rr_descript(type));

	return ldns_rr_rd_count(rr) + (type == DNS_TYPE_CAA ? 1 : 0) >= fields;
}

/* One step of the chain; false at its end. A fork, or a link without a
 * target, makes it endless. */
static bool
step(struct model *model, const ldns_rr_list *list)
{
	struct dname target = model->end;
	unsigned found = 0;

	for (size_t i = 0; i < ldns_rr_list_rr_count(list); i++) {
		const ldns_rr *rr = ldns_rr_list_rr(list, i);

		if (!is_of(rr, &model->end, DNS_TYPE_CNAME))
			continue;
		if (!is_whole(rr)) {
			model->links = 100;
			return true;
		}
		struct dname name = fuzz_name(ldns_rr_rdf(rr, 0));
		if (found++ > 0 && !dname_equal(&name, &target))
			model->links = 100;
		target = name;
		lower_ttl(model, rr);
	}
	model->end = target;
	return found > 0;
}

static void
take_addr(struct model *model, const ldns_rdf *rdf)
{
	const uint8_t *bytes = ldns_rdf_data(rdf);
	const struct asked *asked = model->asked;
	struct addr addr =
	    asked->type == DNS_TYPE_A ? addr_v4(bytes) : addr_v6(bytes);

	if (addr_protected(&addr, &asked->ranges, asked->verdict.private_ok,
		asked->verdict.private_count) != ADDR_GLOBAL) {
		model->protected_count++;
		return;
	}
	for (unsigned i = 0; i < model->distinct; i++)
		if (addr_equal(&model->addrs[i], &addr))
			return;
	AGREE(model->distinct < ARRAY_LEN(model->addrs));
	model->addrs[model->distinct++] = addr;
}

/* The record's data as we rebuild it: names lower case, all else as is. */
static bool
rebuild(const ldns_rr *rr, struct cursor *out)
{
	for (size_t i = 0; i < ldns_rr_rd_count(rr); i++) {
		const ldns_rdf *rdf = ldns_rr_rdf(rr, i);

		if (ldns_rdf_get_type(rdf) == LDNS_RDF_TYPE_DNAME) {
			struct dname name = fuzz_name(rdf);
			dname_put(out, &name);
		} else {
			cursor_put_bytes(out, ldns_rdf_data(rdf),
			    ldns_rdf_size(rdf));
		}
	}
	AGREE(!out->error);
	return ldns_rr_rd_count(rr) > 0; /* of TXT none is enough for ldns */
}

/* A tag of a CAA record is of letters and digits, which ldns leaves open. */
static bool
tag_is_good(const uint8_t *data)
{
	for (unsigned i = 0; i < data[1]; i++)
		if (!((data[2 + i] | 32) >= 'a' && (data[2 + i] | 32) <= 'z') &&
		    !(data[2 + i] >= '0' && data[2 + i] <= '9'))
			return false;
	return data[1] > 0;
}

/* Compares one record with ours, if it fits; false: bogus. */
static bool
take_record(const ldns_rr *rr, const struct answer *answer, unsigned *index,
    size_t *used)
{
	static uint8_t data[65536];
	struct cursor out = cursor_write_of(data, sizeof(data));

	if (!rebuild(rr, &out) ||
	    (ldns_rr_get_type(rr) == LDNS_RR_TYPE_CAA && !tag_is_good(data)))
		return false;
	if (out.pos > ANSWER_DATA_MAX - *used || *index == ANSWER_RECORDS_MAX)
		return true;
	if (answer->outcome == ANSWER_OK) {
		AGREE(*index < answer->record_count);
		AGREE(answer->records[*index].len == out.pos);
		AGREE(memcmp(answer->data + answer->records[*index].offset,
			  data, out.pos) == 0);
	}
	++*index;
	*used += out.pos;
	return true;
}

static enum answer_outcome
take_records(struct model *model, const ldns_rr_list *list,
    const struct answer *answer)
{
	unsigned index = 0;
	size_t used = 0;

	for (size_t i = 0; i < ldns_rr_list_rr_count(list); i++) {
		const ldns_rr *rr = ldns_rr_list_rr(list, i);
		unsigned type = model->asked->type;

		if (!is_of(rr, &model->end, type))
			continue;
		if (!is_whole(rr))
			return ANSWER_BOGUS;
		lower_ttl(model, rr);
		if (type == DNS_TYPE_A || type == DNS_TYPE_AAAA)
			take_addr(model, ldns_rr_rdf(rr, 0));
		else if (!take_record(rr, answer, &index, &used))
			return ANSWER_BOGUS;
	}
	if (answer->outcome == ANSWER_OK)
		AGREE(
		    answer->record_count == index && answer->data_len == used);
	if (model->distinct > 0 || index > 0)
		return ANSWER_OK;
	return model->protected_count > 0 ? ANSWER_PROTECTED : ANSWER_NO_DATA;
}

static enum answer_outcome
judge(struct model *model, const ldns_pkt *pkt, const struct answer *answer)
{
	const struct asked *asked = model->asked;
	const ldns_rr_list *list = ldns_pkt_answer(pkt);
	unsigned rcode = ldns_pkt_get_rcode(pkt);

	if (!ldns_pkt_qr(pkt) || ldns_pkt_get_opcode(pkt) != 0 ||
	    ldns_pkt_qdcount(pkt) != 1 || !is_known(asked->type) ||
	    !is_of(ldns_rr_list_rr(ldns_pkt_question(pkt), 0), &asked->name,
		asked->type))
		return ANSWER_BOGUS;
	if (rcode != DNS_RCODE_NOERROR && rcode != DNS_RCODE_NXDOMAIN)
		return ANSWER_BOGUS;
	if (ldns_pkt_tc(pkt))
		return ANSWER_TRUNCATED;
	while (step(model, list))
		if (++model->links > ANSWER_LINKS_MAX)
			return ANSWER_BOGUS;
	if (rcode == DNS_RCODE_NXDOMAIN)
		return ANSWER_NO_NAME;
	return take_records(model, list, answer);
}

static void
check_addrs(const struct answer *answer, const struct model *model)
{
	unsigned kept = model->distinct < ANSWER_ADDRS_MAX ? model->distinct
							   : ANSWER_ADDRS_MAX;

	AGREE(answer->addr_count == kept);
	AGREE((answer->left_out > 0) == (model->distinct > ANSWER_ADDRS_MAX));
	for (unsigned i = 0; i < kept; i++) {
		unsigned found = 0;

		for (unsigned j = 0; j < model->distinct; j++)
			found += addr_equal(&answer->addrs[i], &model->addrs[j])
			    ? 1
			    : 0;
		AGREE(found == 1);
		for (unsigned j = 0; j < i; j++)
			AGREE(
			    !addr_equal(&answer->addrs[i], &answer->addrs[j]));
	}
}

/* By the SOA of a zone that the end is in. */
static bool
end_is_denied(const struct model *model, const ldns_pkt *whole)
{
	const ldns_rr_list *list = ldns_pkt_authority(whole);

	for (size_t i = 0; i < ldns_rr_list_rr_count(list); i++) {
		const ldns_rr *rr = ldns_rr_list_rr(list, i);
		struct dname owner = fuzz_name(ldns_rr_owner(rr));

		if (is_of(rr, &owner, DNS_TYPE_SOA) &&
		    (dname_equal(&owner, &model->end) ||
			dname_is_below(&model->end, &owner)))
			return true;
	}
	return false;
}

/* True when the model agrees; false: only we find fault. */
static bool
compare(const struct answer *answer, const struct asked *asked,
    const ldns_pkt *pkt)
{
	static struct model model;

	memset(&model, 0, sizeof(model));
	model.asked = asked;
	model.end = asked->name;
	model.ttl_s = UINT32_MAX;
	model.outcome = judge(&model, pkt, answer);
	if (model.outcome == ANSWER_NO_DATA && model.links > 0) {
		if (asked->whole == NULL)
			return true;
		if (!end_is_denied(&model, asked->whole))
			model.outcome = ANSWER_BOGUS;
	}
	if (answer->outcome == ANSWER_BOGUS)
		return model.outcome == ANSWER_BOGUS;
	AGREE(answer->outcome == model.outcome);
	if (model.outcome == ANSWER_TRUNCATED)
		return true;
	AGREE(answer->link_count == model.links);
	AGREE(dname_equal(&answer->end, &model.end));
	AGREE(answer->ttl_s == (model.ttl_s == UINT32_MAX ? 0 : model.ttl_s));
	AGREE(answer->protected_count == model.protected_count);
	if (model.outcome == ANSWER_OK)
		check_addrs(answer, &model);
	return true;
}

static void
vet(struct answer *answer, const struct asked *asked, const uint8_t *wire,
    size_t len)
{
	struct rng rng;
	struct vetting vetting = { .verdict = &asked->verdict,
		.ranges = &asked->ranges,
		.rng = &rng };

	rng_init(&rng, seed);
	answer_vet(answer, &asked->name, asked->type, &vetting, wire, len);
}

/*
 * Whether ldns has read the records that are there: of types with data of a
 * fixed size it takes that size, whatever the record says, and goes on from
 * the wrong place.
 */
static bool
list_is_in_step(const ldns_rr_list *list, struct cursor *cursor)
{
	for (size_t i = 0; i < ldns_rr_list_rr_count(list); i++) {
		const ldns_rr *rr = ldns_rr_list_rr(list, i);
		struct dname theirs = fuzz_name(ldns_rr_owner(rr)), ours;

		if (!dname_read(cursor, true, &ours) ||
		    !dname_equal(&ours, &theirs) ||
		    cursor_u16(cursor) != (unsigned)ldns_rr_get_type(rr) ||
		    cursor_u16(cursor) != (unsigned)ldns_rr_get_class(rr) ||
		    cursor_u32(cursor) != ldns_rr_ttl(rr))
			return false;
		cursor_skip(cursor, cursor_u16(cursor));
	}
	return !cursor->error;
}

static bool
is_in_step(const ldns_pkt *pkt, const uint8_t *wire, size_t len)
{
	struct cursor cursor = cursor_read_of(wire, len);

	cursor_skip(&cursor, DNS_HEADER_SIZE);
	for (unsigned i = 0; i < ldns_pkt_qdcount(pkt); i++) {
		dname_skip(&cursor);
		cursor_skip(&cursor, 4);
	}
	return list_is_in_step(ldns_pkt_answer(pkt), &cursor) &&
	    list_is_in_step(ldns_pkt_authority(pkt), &cursor);
}

/* Once more with the message as ldns would have written it. */
static void
compare_rewritten(struct answer *answer, const struct asked *given,
    const ldns_pkt *pkt)
{
	struct asked copy = *given;
	const struct asked *asked = &copy;
	uint8_t *wire;
	size_t len;

	if (ldns_pkt2wire(&wire, pkt, &len) != LDNS_STATUS_OK)
		return;
	copy.whole = pkt;
	vet(answer, asked, wire, len);
	AGREE(compare(answer, asked, pkt));
	free(wire);
}

/* What was kept makes a reply that the client can read. */
static void
check_reply(const struct answer *answer, const struct asked *asked)
{
	static uint8_t buf[REPLY_SIZE_MAX];
	struct question q = { .name = asked->name, .type = asked->type };
	ldns_pkt *pkt = NULL;
	uint8_t addrs;

	memcpy(q.spelling, q.name.wire, q.name.len);
	q.class = DNS_CLASS_IN;
	q.has_header = q.has_name = true;
	size_t len = reply_build(buf, sizeof(buf), &q, answer, 60, &addrs);
	AGREE(len <= 512);
	AGREE(ldns_wire2pkt(&pkt, buf, len) == LDNS_STATUS_OK);
	AGREE(addrs <= answer->addr_count);
	AGREE(asked->type != DNS_TYPE_A || addrs == answer->addr_count);
	AGREE(answer->addr_count == 0 || ldns_pkt_ancount(pkt) == addrs);
	ldns_pkt_free(pkt);
}

static bool
is_too_long(const uint8_t *wire)
{
	struct cursor cursor = cursor_read_of(wire, DNS_HEADER_SIZE);

	cursor_seek(&cursor, DNS_OFFSET_ANCOUNT);
	unsigned answers = cursor_u16(&cursor);
	return answers + cursor_u16(&cursor) > ANSWER_WALK_MAX;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct asked asked;
	static struct answer answer;
	ldns_pkt *pkt = NULL, *whole = NULL;

	if (size < 1 + DNS_HEADER_SIZE || size > 1 + DNS_MESSAGE_MAX)
		return 0;
	uint8_t *wire = malloc(size - 1);
	memcpy(wire, data + 1, size - 1);
	read_asked(&asked, data[0], wire, size - 1);
	vet(&answer, &asked, wire, size - 1);
	if (answer.outcome == ANSWER_OK)
		check_reply(&answer, &asked);

	bool too_long = is_too_long(wire);
	memset(wire + DNS_OFFSET_ARCOUNT, 0, 2);
	asked.whole = NULL;
	if (ldns_wire2pkt(&whole, wire, size - 1) == LDNS_STATUS_OK &&
	    is_in_step(whole, wire, size - 1))
		asked.whole = whole;
	memset(wire + DNS_OFFSET_NSCOUNT, 0, 4);
	if (!too_long &&
	    ldns_wire2pkt(&pkt, wire, size - 1) == LDNS_STATUS_OK &&
	    !(is_in_step(pkt, wire, size - 1) && compare(&answer, &asked, pkt)))
		compare_rewritten(&answer, &asked, pkt);
	ldns_pkt_free(whole);
	ldns_pkt_free(pkt);
	free(wire);
	return 0;
}
