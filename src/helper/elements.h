/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * elements - members of our sets: keys as the kernel wants them, and the
 * messages that add, renew and drop them.
 *
 * The only place that knows how an element is renewed: add, delete and add
 * in one transaction. A plain add does not touch the timeout of a present
 * element before Linux 6.12; a plain delete of an element that has just
 * expired undoes the whole batch. The triple is right for present, absent
 * and expired ones, and no packet is judged in between.
 */
#ifndef SRC_HELPER_ELEMENTS_H
#define SRC_HELPER_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/addr.h"
#include "src/helper/batch.h"

#define ELEMENT_KEY_MAX 40

struct element {
	uint8_t key[ELEMENT_KEY_MAX];
	uint8_t key_len;
	bool interval_end; /* the first key that is outside again */
	bool ranged; /* of a concatenation with intervals: from key to key */
	/* Of those: bits of the key that may be anything. */
	uint16_t free_at, free_count;
	uint32_t timeout_ms; /* 0: none, or the set's own */
	uint64_t packets; /* read: of its counter */
	const char *object; /* put: what a map leads to; NULL: of a set */
};

/* An element that belongs into a set, of the gateway or of its twin. */
struct member {
	const char *set;
	struct element element;
	bool twin;
};

struct element element_pin(const struct addr *source, const struct addr *addr,
    struct service service, uint32_t timeout_ms);
struct element element_home(uint32_t ifindex, const struct addr *source);
/* The same of a prefix. */
struct element element_home_prefix(uint32_t ifindex, const struct prefix *);
/* Who may open a flow to a source. */
struct element element_inbound(const struct prefix *from,
    const struct addr *source, struct service service);
struct element element_endpoint(const struct addr *, struct service);
struct element element_source(const struct addr *);
/* Of the map to quotas. */
struct element element_pair(const struct addr *source, const struct addr *);
struct element element_uid(uint32_t uid);
/* Of the twin: what hangs on the name of a port. */
struct element element_port(const char *name);
struct element element_port_mac(const char *name, const uint8_t mac[6]);
struct element element_port_target(const char *name, const struct addr *);
struct element element_mac(const uint8_t mac[6]);
/* The begin and the end of what a name, or one with a star, covers. */
void element_interface(const char *name, struct element ret[2]);
/* "pins4" or "pins6" and so on, by family. */
const char *element_set(const char *for4, const char *for6,
    const struct addr *);

/*
 * What a set of ours is called in the kernel. Where the sets are lent, only
 * those of pins are there; of others it is NULL, and what is done to them is
 * left out.
 */
const char *elements_set_name(const struct nft *, uint8_t family,
    const char *set);

/* Each puts every element into one set of the batch's family, in one list
 * message if it can. They fail at the commit when the batch is full. */
void elements_add(struct batch *, const char *set, const struct element *,
    size_t count);
void elements_delete(struct batch *, const char *set, const struct element *,
    size_t count);
void elements_renew(struct batch *, const char *set, const struct element *,
    size_t count);
/* Deletes whether they are there or not. */
void elements_drop(struct batch *, const char *set, const struct element *,
    size_t count);

/* The family of the table that a member is of. */
uint8_t member_family(const struct member *);

/* Every element of a set of a family's table; what the callback returns ends
 * the walk when it is negative. */
typedef int (*element_seen)(const struct element *, void *);
int elements_walk(struct nft *, uint8_t family, const char *set, element_seen,
    void *data);
/* The parts of a pin's key. False: no key of a pin. */
bool element_read_pin(const struct element *, struct addr *ret_source,
    struct addr *ret_addr, struct service *ret_service);
/* The parts of a home's key. False: no key of a home. */
bool element_read_home(const struct element *, uint32_t *ret_ifindex,
    struct addr *ret_source);
/* The address in a key of port and target. False: no such key. */
bool element_read_port_target(const struct element *, struct addr *ret);
/* The key of a set of sources. False: no such key. */
bool element_read_source(const struct element *, struct addr *ret_source);

#endif
