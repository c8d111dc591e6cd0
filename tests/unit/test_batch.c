/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's answers to a batch, of a kernel: in a network namespace of the
 * test's own. Who may not make one is refused everything, which is read too.
 */
#include "config.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>

#include "lib/require.h"
#include "src/helper/batch.h"
#include "src/helper/elements.h"
#include "tests/unit/unit.h"

#define SET_SIZE 2u

static bool
is_alone(void)
{
	if (unshare(CLONE_NEWNET) == 0 ||
	    unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0)
		return true;
	printf("no network namespace: only a refusal of all is seen\n");
	return false;
}

static void
put_table(struct batch *batch, uint16_t type)
{
	struct nlmsghdr *header =
	    batch_put(batch, type, type == NFT_MSG_NEWTABLE ? NLM_F_CREATE : 0);

	mnl_attr_put_strz(header, NFTA_TABLE_NAME, batch->nft->table);
}

static void
put_set(struct batch *batch, uint16_t type)
{
	struct nlmsghdr *header =
	    batch_put(batch, type, type == NFT_MSG_NEWSET ? NLM_F_CREATE : 0);
	struct nlattr *nest;

	mnl_attr_put_strz(header, NFTA_SET_TABLE, batch->nft->table);
	mnl_attr_put_strz(header, NFTA_SET_NAME, "set");
	if (type != NFT_MSG_NEWSET)
		return;
	mnl_attr_put_u32(header, NFTA_SET_ID, htonl(1));
	mnl_attr_put_u32(header, NFTA_SET_KEY_LEN, htonl(4));
	nest = mnl_attr_nest_start(header, NFTA_SET_DESC);
	mnl_attr_put_u32(header, NFTA_SET_DESC_SIZE, htonl(SET_SIZE));
	mnl_attr_nest_end(header, nest);
}

static void
put_element(struct batch *batch, const char *set, uint8_t last)
{
	const uint8_t octets[4] = { 192, 0, 2, last };
	struct addr addr = addr_v4(octets);
	struct element element = element_source(&addr);

	elements_add(batch, set, &element, 1);
}

static int
count_one(const struct element *element, void *data)
{
	int *count = data;

	(void)element;
	(*count)++;
	return 0;
}

static int
elements_there(struct nft *nft)
{
	int count = 0;
	int error = elements_walk(nft, NFPROTO_INET, "set", count_one, &count);

	return error != 0 ? error : count;
}

static void
make(struct nft *nft)
{
	struct batch batch;

	batch_begin(&batch, nft);
	put_table(&batch, NFT_MSG_NEWTABLE);
	put_set(&batch, NFT_MSG_NEWSET);
	put_element(&batch, "set", 1);
	ck_assert_int_eq(batch_commit(&batch), 0);
	ck_assert_int_eq(elements_there(nft), 1);
}

START_TEST(what_is_refused_is_read)
{
	bool alone = is_alone();
	struct batch batch;
	struct nft nft;

	ck_assert_int_eq(nft_open(&nft, "test"), 0);
	batch_begin(&batch, &nft);
	put_element(&batch, "set", 1);
	ck_assert_int_eq(batch_commit(&batch), alone ? -ENOENT : -EPERM);
	nft_close(&nft);
}
END_TEST

/* A message that is fine alone is answered with success, before or behind. */
START_TEST(one_that_is_refused_refuses_all)
{
	struct batch batch;
	struct nft nft;

	if (!is_alone())
		return;
	ck_assert_int_eq(nft_open(&nft, "test"), 0);
	make(&nft);
	batch_begin(&batch, &nft);
	put_element(&batch, "set", 2);
	put_element(&batch, "no-set", 3);
	put_element(&batch, "set", 4);
	ck_assert_int_eq(batch_commit(&batch), -ENOENT);
	ck_assert_uint_eq(nft.refused_at, 2);
	ck_assert_int_eq(elements_there(&nft), 1);
	nft_close(&nft);
}
END_TEST

START_TEST(a_full_set_is_told)
{
	struct batch batch;
	struct nft nft;

	if (!is_alone())
		return;
	ck_assert_int_eq(nft_open(&nft, "test"), 0);
	make(&nft);
	batch_begin(&batch, &nft);
	put_element(&batch, "set", 2);
	put_element(&batch, "set", 3);
	ck_assert_int_eq(batch_commit(&batch), -ENFILE);
	ck_assert_int_eq(elements_there(&nft), 1);
	nft_close(&nft);
}
END_TEST

/* Deleted by somebody else, between one batch and the next. */
START_TEST(a_set_that_vanished_is_told)
{
	struct batch batch;
	struct nft nft, other;

	if (!is_alone())
		return;
	ck_assert_int_eq(nft_open(&nft, "test"), 0);
	ck_assert_int_eq(nft_open(&other, "test"), 0);
	make(&nft);
	batch_begin(&batch, &other);
	put_set(&batch, NFT_MSG_DELSET);
	ck_assert_int_eq(batch_commit(&batch), 0);
	batch_begin(&batch, &nft);
	put_element(&batch, "set", 2);
	ck_assert_int_eq(batch_commit(&batch), -ENOENT);
	batch_begin(&batch, &other);
	put_table(&batch, NFT_MSG_DELTABLE);
	ck_assert_int_eq(batch_commit(&batch), 0);
	batch_begin(&batch, &nft);
	put_element(&batch, "set", 2);
	ck_assert_int_eq(batch_commit(&batch), -ENOENT);
	nft_close(&nft);
	nft_close(&other);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("batch", &all);

	tcase_add_test(all, what_is_refused_is_read);
	tcase_add_test(all, one_that_is_refused_refuses_all);
	tcase_add_test(all, a_full_set_is_told);
	tcase_add_test(all, a_set_that_vanished_is_told);
	unit_covers("C35");
	return unit_run(suite);
}
