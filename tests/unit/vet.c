/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/vet.h"

#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "tests/unit/unit.h"

struct wire w;
struct answer a;
struct verdict verdict;
struct protected_ranges ranges;
static struct rng rng;

void
vet_setup(void)
{
	static const uint8_t seed[32] = { 1 };
	static const char *const passing[] = { "192.0.2.0/24",
		"2001:db8::/32" };

	memset(&verdict, 0, sizeof(verdict));
	memset(&ranges, 0, sizeof(ranges));
	for (size_t i = 0; i < ARRAY_LEN(passing); i++)
		ck_assert(prefix_parse(passing[i], strlen(passing[i]),
		    &ranges.except[ranges.except_count++]));
	rng_init(&rng, seed);
}

struct dname
name_of(const char *text)
{
	struct dname name;

	ck_assert(dname_from_text(text, strlen(text), &name));
	return name;
}

enum answer_outcome
vet(const char *name, uint16_t type)
{
	struct dname asked = name_of(name);
	struct vetting vetting = { .verdict = &verdict,
		.ranges = &ranges,
		.rng = &rng };
	uint8_t *copy = malloc(w.len == 0 ? 1 : w.len);

	memcpy(copy, w.buf, w.len);
	memset(&a, 0xa5, sizeof(a));
	enum answer_outcome outcome =
	    answer_vet(&a, &asked, type, &vetting, copy, w.len);
	free(copy);
	ck_assert_int_eq(outcome, a.outcome);
	ck_assert_uint_eq(a.type, type);
	if (outcome != ANSWER_OK)
		ck_assert_int_eq(a.addr_count + a.record_count + a.data_len, 0);
	return outcome;
}

void
respond(const char *name, uint16_t type)
{
	wire_start(&w, 1, 0x8180);
	wire_question(&w, name, type);
}

void
add_a(const char *owner, uint32_t ttl, uint8_t last)
{
	uint8_t bytes[4] = { 192, 0, 2, last };

	wire_record(&w, owner, 1, ttl, bytes, 4);
}

void
add_cname(const char *owner, uint32_t ttl, const char *target)
{
	wire_record_name(&w, owner, 5, ttl, 0, target);
}

bool
has_last(uint8_t last)
{
	for (unsigned i = 0; i < a.addr_count; i++)
		if (a.addrs[i].bytes[3] == last)
			return true;
	return false;
}

void
check_end(const char *name, uint8_t links)
{
	struct dname expected = name_of(name);

	ck_assert(dname_equal(&a.end, &expected));
	ck_assert_uint_eq(a.link_count, links);
}
