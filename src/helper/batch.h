/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * batch - one atomic nft transaction: built, sent, answers read.
 *
 * The kernel takes all of a batch or nothing. Its answers must be read with
 * care: in a failed batch the messages that were fine alone, the last one
 * included, are still answered with 0. So any error with a sequence number
 * of the batch fails it whole.
 *
 * One netlink socket for life: with `owner` the table belongs to its port.
 */
#ifndef SRC_HELPER_BATCH_H
#define SRC_HELPER_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for a base with the homes of thousands of sandboxes. */
#define BATCH_SIZE (4u * 1024 * 1024)

struct mnl_socket;
struct nlmsghdr;

struct nft {
	struct mnl_socket *socket;
	uint32_t portid;
	uint32_t seq;
	uint8_t *buf; /* BATCH_SIZE octets: a batch, or a dump */
	uint8_t *receive; /* answers while a batch is still in buf */
	const char *table;
	/* Where there are two sets of somebody else's table instead. */
	const char *lent_pins4, *lent_pins6;
	unsigned int refused_at; /* of the last batch that failed: the message
				    by number from 1, 0: the batch itself */
};

struct batch {
	struct nft *nft;
	uint8_t family; /* of the messages that are put from here on */
	size_t used;
	uint32_t seq_first, seq_last;
	struct nlmsghdr *open; /* the message that is being filled */
	unsigned int count;
	bool overflow;
};

/* bus is NETLINK_NETFILTER. 0 or negative errno. */
int nft_open(struct nft *ret, const char *table);
void nft_close(struct nft *);

void batch_begin(struct batch *, struct nft *);
/* As batch_begin; the kernel refuses the batch with ERESTART when anybody
 * changed any ruleset since this generation. */
void batch_begin_at(struct batch *, struct nft *, uint32_t generation);
/* From here on, messages are about the table of this family; a batch begins
 * with NFPROTO_INET. */
void batch_family(struct batch *, uint8_t family);
/* A message of NFT_MSG_type for the batch's family, closed by the next call;
 * the caller adds attributes to what is returned. Always usable; when the
 * batch is full, what is put there is lost and the commit fails. */
struct nlmsghdr *batch_put(struct batch *, uint16_t type, uint16_t flags);
/* Octets that are left for attributes. */
size_t batch_room(const struct batch *);
/* 0: done, all of it. Negative errno: nothing of it was done. -ETIMEDOUT
 * and -ENOBUFS: not known. */
int batch_commit(struct batch *);

/* Called for each message of an answer; negative: an error, the rest is not
 * looked at. */
typedef int (*nft_message)(const struct nlmsghdr *, void *);
/* Sends a request (attributes already there, built by nft_request) and reads
 * all of its answer. 0 or negative errno. */
struct nlmsghdr *nft_request(struct nft *, uint8_t family, uint16_t type,
    uint16_t flags);
int nft_ask(struct nft *, struct nlmsghdr *, nft_message, void *data);
/* The attributes of a message. (libmnl's own macro mixes widths.) */
#define nft_for_each(attr, header)                                        \
	for ((attr) = mnl_nlmsg_get_payload_offset(header,                \
		 sizeof(struct nfgenmsg));                                \
	     mnl_attr_ok((attr),                                          \
		 (int)((const char *)mnl_nlmsg_get_payload_tail(header) - \
		     (const char *)(attr)));                              \
	     (attr) = mnl_attr_next(attr))
#define nft_for_each_nested(attr, nest)                                       \
	for ((attr) = mnl_attr_get_payload(nest); mnl_attr_ok((attr),         \
		 (int)((const char *)mnl_attr_get_payload(nest) +             \
		     mnl_attr_get_payload_len(nest) - (const char *)(attr))); \
	     (attr) = mnl_attr_next(attr))
/* The number of the present generation of all rulesets. */
int nft_generation(struct nft *, uint32_t *ret);

/* How an errno of a batch is called in messages for people. */
const char *batch_error_text(int error);

#endif
