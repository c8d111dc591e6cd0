/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/tunnel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "tests/unit/unit.h"

#define A     DNS_TYPE_A
#define TXT   DNS_TYPE_TXT
#define ODD   TUNNEL_ODD_TYPE
#define MANY  TUNNEL_MANY_TYPES
#define OCTET TUNNEL_FOREIGN_OCTET
#define LABEL TUNNEL_LONG_LABEL
#define NAME  TUNNEL_LONG_NAME

#define OCTETS_40 "abcdefghijklmnopqrstuvwxyzabcdefghijklmn"
#define OCTETS_29 "abcdefghijklmnopqrstuvwxyzabc"

static const uint8_t SECRET[16] = { 1, 4, 1, 4 };

static const struct tunnel_limits LIMITS = {
	.keys_max = 6,
	.keys_per_sandbox_max = 4,
	.sandboxes_max = 2,
};

static struct tunnel tunnel;
static struct tunnel_finding finding;

static void *
open_tunnel(void)
{
	struct arena arena;
	void *block;

	arena_init(&arena, NULL, 0);
	tunnel_init(&tunnel, &arena, &LIMITS, SECRET);
	block = malloc(arena.used);
	ck_assert_ptr_nonnull(block);
	arena_init(&arena, block, arena.used);
	tunnel_init(&tunnel, &arena, &LIMITS, SECRET);
	ck_assert(!arena.exhausted);
	return block;
}

static struct dname
name_of(const char *text)
{
	struct dname name;

	ck_assert_msg(dname_from_text(text, strlen(text), &name), "%s", text);
	return name;
}

/* The verdict of a policy that lists www.example.com and *.example.org, where
 * all suffixes have one label. */
static struct verdict
verdict_of(const struct dname *name, uint16_t type)
{
	static const char *LISTED = "www.example.com", *PARENT = "example.org";
	struct dname listed = name_of(LISTED), parent = name_of(PARENT);
	struct dname arpa = name_of("arpa");
	struct verdict verdict = { .denial = DENIAL_UNLISTED,
		.rule = RULE_NONE };

	verdict.apex_labels = name->labels < 2 ? name->labels : 2;
	if (dname_equal(name, &listed)) {
		verdict.denial = type == A ? DENIAL_NONE : DENIAL_TYPE;
		verdict.listed = true;
		verdict.rule = 0;
		verdict.rule_name = listed;
	} else if (dname_is_below(name, &parent)) {
		verdict.denial = type == A ? DENIAL_NONE : DENIAL_TYPE;
		verdict.listed = true;
		verdict.rule = 1;
		verdict.kind = RULE_BELOW;
		verdict.rule_name = parent;
	} else if (dname_is_below(name, &arpa)) {
		verdict.denial = DENIAL_PTR;
	}
	return verdict;
}

/* The signs of the finding, 0 when there is none. */
static uint32_t
observe(uint32_t sandbox, const char *text, uint16_t type, uint64_t now_ms)
{
	struct question question = { .type = type };
	struct verdict verdict;

	question.name = name_of(text);
	verdict = verdict_of(&question.name, type);
	if (!tunnel_observe(&tunnel, sandbox, &question, &verdict, now_ms,
		&finding))
		return 0;
	ck_assert_uint_ne(finding.signs, 0);
	return finding.signs;
}

/* One question, in a table that is empty. */
static const struct {
	const char *name;
	uint16_t type;
	uint32_t signs;
} SINGLES[] = {
	{ "a.example.net", A, 0 },
	{ "a.example.net", DNS_TYPE_HTTPS, 0 },
	{ "_dmarc.example.net", TXT, 0 },
	{ "net", A, 0 },
	/* Types. */
	{ "example.net", DNS_TYPE_NULL, ODD },
	{ "example.net", DNS_TYPE_KEY, ODD },
	{ "example.net", 65279, 0 },
	{ "example.net", 65280, ODD },
	{ "example.net", 65399, ODD },
	{ "example.net", 65534, ODD },
	{ "example.net", 65535, 0 },
	/* Octets, in any label. */
	{ "a=b.example.net", A, OCTET },
	{ "a.b+.c.example.net", A, OCTET },
	{ "a/.net", A, OCTET },
	/* Lengths. */
	{ OCTETS_40 ".example.net", A, 0 },
	{ OCTETS_40 "o.example.net", A, LABEL },
	{ OCTETS_29 "." OCTETS_29 ".example.net", A, 0 },
	{ "z." OCTETS_29 "." OCTETS_29 ".example.net", A, NAME },
	{ OCTETS_29 "d." OCTETS_29 ".example.net", A, NAME },
	{ OCTETS_29 "d." OCTETS_29 ".example.org", A, NAME },
	{ OCTETS_40 "o." OCTETS_40 "=.example.net", DNS_TYPE_NULL,
	    ODD | OCTET | LABEL | NAME },
	/* A listed name counts for its type alone. */
	{ "www.example.com", A, 0 },
	{ "www.example.com", DNS_TYPE_NULL, ODD },
	/* Reverse names: ping is no tunnel, but text in them is. */
	{ "4.3.2.1.in-addr.arpa", DNS_TYPE_PTR, 0 },
	{ "6.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2."
	  "ip6.arpa",
	    DNS_TYPE_PTR, 0 },
	{ OCTETS_29 "." OCTETS_29 ".4.3.2.1.in-addr.arpa", DNS_TYPE_PTR, NAME },
};

START_TEST(singles)
{
	void *block = open_tunnel();

	ck_assert_msg(observe(1, SINGLES[_i].name, SINGLES[_i].type, 5) ==
		SINGLES[_i].signs,
	    "%s: %x", SINGLES[_i].name, finding.signs);
	free(block);
}
END_TEST

/* A long name that is listed says nothing. */
START_TEST(written_name)
{
	void *block = open_tunnel();
	struct question question = { .type = A };
	struct verdict verdict = { .listed = true, .apex_labels = 2 };

	question.name = name_of(OCTETS_40 "o." OCTETS_29 ".example.net");
	verdict.rule_name = question.name;
	ck_assert(
	    !tunnel_observe(&tunnel, 1, &question, &verdict, 1, &finding));
	/* The same name by a wildcard does. */
	verdict.kind = RULE_BELOW;
	verdict.rule_name = name_of("example.net");
	ck_assert(tunnel_observe(&tunnel, 1, &question, &verdict, 1, &finding));
	free(block);
}
END_TEST

START_TEST(many_types)
{
	void *block = open_tunnel();

	ck_assert_uint_eq(observe(1, "a.example.net", DNS_TYPE_HTTPS, 1000), 0);
	ck_assert_uint_eq(observe(1, "b.example.net", TXT, 2000), 0);
	/* Not one more: addresses, the same again, elsewhere, others'. */
	ck_assert_uint_eq(observe(1, "c.example.net", A, 2000), 0);
	ck_assert_uint_eq(observe(1, "c.example.net", DNS_TYPE_AAAA, 2000), 0);
	ck_assert_uint_eq(observe(1, "c.example.net", TXT, 2000), 0);
	ck_assert_uint_eq(observe(1, "c.example.com", DNS_TYPE_MX, 2000), 0);
	ck_assert_uint_eq(observe(2, "c.example.net", DNS_TYPE_MX, 2000), 0);
	ck_assert_uint_eq(observe(1, "c.example.net", DNS_TYPE_MX, 2000), 0);
	ck_assert_uint_eq(observe(1, "d.example.net", DNS_TYPE_SRV, 60999),
	    MANY);
	ck_assert_uint_eq(finding.question_count, 7);
	ck_assert_uint_eq(finding.sample_count, 3);
	ck_assert_uint_eq(finding.apex.labels, 2);
	free(block);
}
END_TEST

START_TEST(types_over_two_windows)
{
	void *block = open_tunnel();

	observe(1, "a.example.net", DNS_TYPE_HTTPS, 1000);
	observe(1, "a.example.net", TXT, 1000);
	observe(1, "a.example.net", DNS_TYPE_MX, 1000);
	ck_assert_uint_eq(observe(1, "a.example.net", DNS_TYPE_SRV, 61000), 0);
	free(block);
}
END_TEST

START_TEST(once_a_window)
{
	void *block = open_tunnel();
	struct dname first = name_of("a=.example.net");

	ck_assert_uint_eq(observe(1, "a=.example.net", A, 1000), OCTET);
	ck_assert(dname_equal(&finding.samples[0], &first));
	ck_assert_uint_eq(observe(1, "b=.example.net", A, 1001), 0);
	ck_assert_uint_eq(observe(1, "x.example.net", DNS_TYPE_NULL, 60999), 0);
	/* Each domain and each sandbox has its own. */
	ck_assert_uint_eq(observe(1, "a=.example.com", A, 1001), OCTET);
	ck_assert_uint_eq(observe(2, "a=.example.net", A, 1001), OCTET);
	ck_assert_uint_eq(observe(1, "c=.example.net", A, 61000), OCTET);
	ck_assert_uint_eq(finding.question_count, 1);
	free(block);
}
END_TEST

/* Everything that was seen before the sign is in the finding. */
START_TEST(seen_so_far)
{
	void *block = open_tunnel();

	observe(1, "a.example.net", TXT, 1);
	observe(1, "a.example.net", TXT, 2);
	observe(1, "plain.example.net", A, 3);
	ck_assert_uint_eq(observe(1, "b.example.net", DNS_TYPE_NULL, 4), ODD);
	ck_assert_uint_eq(finding.question_count, 4);
	ck_assert_uint_eq(finding.sample_count, 2);
	free(block);
}
END_TEST

/* Fills the share of a sandbox with windows that begin at now_ms. */
static void
fill(uint32_t sandbox, uint32_t windows, uint64_t now_ms)
{
	char text[64];
	uint32_t i;

	for (i = 0; i < windows; i++) {
		snprintf(text, sizeof(text), "d%u.net", i);
		ck_assert_uint_eq(observe(sandbox, text, TXT, now_ms), 0);
	}
}

START_TEST(full)
{
	void *block = open_tunnel();

	/* Plain lookups take no memory. */
	ck_assert_uint_eq(observe(1, "plain.example.net", A, 1000), 0);
	ck_assert_uint_eq(table_in_use(&tunnel.keys), 0);

	fill(1, 4, 1000);
	ck_assert_uint_eq(tunnel.full_count, 0);
	/* No place, and nothing to say; no place, but a sign: once. */
	ck_assert_uint_eq(observe(1, "a.example.net", TXT, 1001), 0);
	ck_assert_uint_eq(tunnel.full_count, 1);
	ck_assert_uint_eq(observe(1, "a=.example.net", A, 2000), OCTET);
	ck_assert_uint_eq(finding.question_count, 1);
	ck_assert_uint_eq(finding.sample_count, 1);
	ck_assert_uint_eq(observe(1, "a=.example.net", A, 2001), 0);
	ck_assert_uint_eq(observe(1, "a=.example.com", A, 2001), 0);
	ck_assert_uint_eq(tunnel.full_count, 4);
	/* What has a window goes on as before. */
	ck_assert_uint_eq(observe(1, "x.d0.net", DNS_TYPE_NULL, 2002), ODD);

	/* The rest is for others: two places. */
	fill(2, 2, 3000);
	ck_assert_uint_eq(observe(2, "a=.example.com", A, 3000), OCTET);
	ck_assert_uint_eq(tunnel.full_count, 5);

	/* Windows that are over make room. */
	ck_assert_uint_eq(observe(1, "a.example.net", TXT, 61000), 0);
	ck_assert_uint_eq(tunnel.full_count, 5);
	ck_assert_uint_eq(table_in_use(&tunnel.keys), 3);
	fill(1, 3, 61500);
	ck_assert_uint_eq(observe(1, "a=.example.com", A, 61999), 0);
	ck_assert_uint_eq(observe(1, "a=.example.com", A, 62000), OCTET);
	ck_assert_uint_eq(tunnel.full_count, 7);
	free(block);
}
END_TEST

START_TEST(forgiven)
{
	void *block = open_tunnel();

	fill(1, 4, 1000);
	ck_assert_uint_eq(observe(1, "a=.example.net", A, 1000), OCTET);
	ck_assert_uint_eq(observe(2, "a=.example.net", A, 1000), OCTET);
	tunnel_forgive(&tunnel, 1);
	tunnel_forgive(&tunnel, 0);
	tunnel_forgive(&tunnel, 3);
	ck_assert_uint_eq(table_in_use(&tunnel.keys), 1);
	ck_assert_uint_eq(observe(2, "a=.example.net", A, 1000), 0);
	fill(1, 4, 1000);
	ck_assert_uint_eq(observe(1, "a=.example.net", A, 1000), OCTET);
	free(block);
}
END_TEST

START_TEST(nobody)
{
	void *block = open_tunnel();

	ck_assert_uint_eq(observe(0, "a=.example.net", DNS_TYPE_NULL, 1), 0);
	ck_assert_uint_eq(observe(3, "a=.example.net", DNS_TYPE_NULL, 1), 0);
	ck_assert_uint_eq(table_in_use(&tunnel.keys), 0);
	free(block);
}
END_TEST

START_TEST(never_refuses)
{
	void *block = open_tunnel();
	struct question question = { .type = DNS_TYPE_NULL };
	struct verdict verdict;

	question.name = name_of("a=.example.org");
	verdict = verdict_of(&question.name, question.type);
	ck_assert(tunnel_observe(&tunnel, 1, &question, &verdict, 1, &finding));
	ck_assert_int_eq(tunnel_judge(&tunnel, 1, &question, &verdict),
	    DENIAL_NONE);
	free(block);
}
END_TEST

static const char *const NOISE[] = { "0f1ec6a7b2d94c538e61",
	"b7a90d3c5e12f8460cd4", "4c8e2ab16f07d935b08f", "9d53f0e7c1462ba8d71e",
	"e26b84f90a7d31c55fb8", "71c0d9ae48f3265bb40a", "35fa1be86d90c274e8d3",
	"c84d07f26ea519b3703c", "08be4f63d1a7925ce6b1", "d27f9a0584ce63b1f90d",
	"6ea83c51b7f0d94228c6", "f5146dbe8a02937cd1e5" };

/* The alarm rings though the minutes pass, and though another sign was raised
 * in the same window. */
START_TEST(shape)
{
	void *block = open_tunnel();
	char text[64];
	uint32_t signs = 0;
	size_t i;

	ck_assert_uint_eq(observe(1, "a=.example.net", A, 1000), OCTET);
	for (i = 0; i < ARRAY_LEN(NOISE) && signs == 0; i++) {
		snprintf(text, sizeof(text), "%s.example.net", NOISE[i]);
		signs = observe(1, text, A, 1000 + i);
	}
	ck_assert_uint_eq(signs, OCTET | TUNNEL_SHAPE);
	ck_assert_uint_gt(finding.score, 100);
	ck_assert_uint_ge(finding.volume, 1024);
	ck_assert_uint_eq(finding.question_count, i + 1);
	ck_assert_uint_eq(finding.sample_count, 3);
	ck_assert_uint_eq(finding.samples[0].len, 34);
	ck_assert(!finding.is_charged);
	/* Not again in this window, but in another. */
	ck_assert_uint_eq(observe(1, "0a=9zq.example.net", A, 60999), 0);
	ck_assert_uint_eq(observe(1, "q0z9x7k2.example.net", A, 600000),
	    TUNNEL_SHAPE);
	ck_assert_uint_eq(finding.question_count, 1);
	tunnel_forgive(&tunnel, 1);
	ck_assert_uint_eq(observe(1, "q7z8x7k2.example.net", A, 700000), 0);
	free(block);
}
END_TEST

START_TEST(shape_over_many_domains)
{
	void *block = open_tunnel();
	char text[64];
	uint32_t signs = 0;
	size_t i;

	for (i = 0; i < ARRAY_LEN(NOISE) && signs == 0; i++) {
		snprintf(text, sizeof(text), "%s.d%zu.net", NOISE[i], i);
		signs = observe(1, text, A, 1000);
	}
	ck_assert_uint_eq(signs, TUNNEL_MANY_DOMAINS);
	ck_assert_uint_eq(i, LIMITS.keys_per_sandbox_max + 1);
	ck_assert_uint_eq(finding.sample_count, 1);
	free(block);
}
END_TEST

/* What is written in the policy has no alarm. */
START_TEST(written_names_have_no_shape)
{
	void *block = open_tunnel();
	struct question question = { .type = A };
	struct verdict verdict = { .listed = true, .apex_labels = 2 };
	char text[64];

	for (size_t i = 0; i < ARRAY_LEN(NOISE); i++) {
		snprintf(text, sizeof(text), "%s.example.net", NOISE[i]);
		question.name = verdict.rule_name = name_of(text);
		ck_assert(!tunnel_observe(&tunnel, 1, &question, &verdict, 1,
		    &finding));
	}
	free(block);
}
END_TEST

static const struct {
	uint32_t sign;
	const char *name;
} SIGNS[] = {
	{ ODD, "odd-type" },
	{ MANY, "many-types" },
	{ OCTET, "foreign-octet" },
	{ LABEL, "long-label" },
	{ NAME, "long-name" },
	{ TUNNEL_SHAPE, "shape" },
	{ TUNNEL_MANY_DOMAINS, "many-domains" },
};

START_TEST(sign_names)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(SIGNS); i++)
		ck_assert_str_eq(tunnel_sign_name(SIGNS[i].sign),
		    SIGNS[i].name);
	ck_assert_ptr_null(tunnel_sign_name(0));
	ck_assert_ptr_null(tunnel_sign_name(ODD | MANY));
	ck_assert_ptr_null(tunnel_sign_name(128));
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("tunnel", &all);

	tcase_add_loop_test(all, singles, 0, (int)ARRAY_LEN(SINGLES));
	tcase_add_test(all, written_name);
	tcase_add_test(all, many_types);
	tcase_add_test(all, types_over_two_windows);
	tcase_add_test(all, once_a_window);
	tcase_add_test(all, seen_so_far);
	tcase_add_test(all, full);
	tcase_add_test(all, forgiven);
	tcase_add_test(all, nobody);
	tcase_add_test(all, never_refuses);
	tcase_add_test(all, shape);
	tcase_add_test(all, shape_over_many_domains);
	tcase_add_test(all, written_names_have_no_shape);
	tcase_add_test(all, sign_names);
	return unit_run(suite);
}
