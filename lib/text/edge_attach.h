/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edge_attach - sandboxes that come and go while both programs run.
 *
 * Who may be attached is what the file says under `attach`, and nothing that
 * a caller says widens it. Both programs judge by this code, each on its own
 * reading of the file: the one that has the name to tell the caller why not,
 * the one that changes the kernel because it trusts nobody.
 *
 * An attached sandbox has a number behind those that sandboxes of the file
 * can have, and stands in the same array as they do.
 */
#ifndef LIB_TEXT_EDGE_ATTACH_H
#define LIB_TEXT_EDGE_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/addr.h"
#include "lib/text/edge_text.h"

struct edge_reader;

enum edge_attach_error {
	EDGE_ATTACH_OK,
	EDGE_ATTACH_OFF, /* the file has no `attach` */
	EDGE_ATTACH_NUMBER, /* not one for attached ones, or somebody's */
	EDGE_ATTACH_EACH, /* a member of what is no sandbox with `each` */
	EDGE_ATTACH_SOURCES, /* none, too many, or one twice */
	EDGE_ATTACH_POLICY, /* none, or not in attach.policies */
	EDGE_ATTACH_PREFIX, /* a source outside attach.prefixes */
	EDGE_ATTACH_OWN, /* a source is this host's, or of somebody asked */
	EDGE_ATTACH_TAKEN, /* a source is of another sandbox */
	EDGE_ATTACH_INTERFACE, /* not of the edge */
	EDGE_ATTACH_COUNT /* as many as attach.count_max are attached */
};

struct edge_attach {
	char name[EDGE_NAME_MAX]; /* not judged here, but not empty */
	uint32_t policy; /* index */
	uint32_t each; /* number of the sandbox that it is a member of, or 0 */
	struct addr sources[EDGE_SOURCES_MAX];
	uint8_t source_count;
	char interface[SETTINGS_IFNAME_MAX]; /* "": by route */
};

/* At the start, before anybody is attached: gives the array room for every
 * number of the run (edge_numbers_max). 0 or -ENOMEM. */
int edge_attach_reserve(struct edge_config *);
/* Reads `attach`, after policies and sandboxes. A part of edge_text; nobody
 * else calls it. 0 or -EINVAL. */
int edge_attach_read(struct edge_reader *);
/* The lowest number for attached ones that nobody has; 0: none is left. */
uint32_t edge_attach_number(const struct edge_config *);

/* Whether an address could be that of somebody who was attached. */
bool edge_attach_covers(const struct edge_config *, const struct addr *);

/* own has the host's addresses, which change; NULL: not looked at. */
enum edge_attach_error edge_attach_check(const struct edge_config *,
    const struct protected_ranges *own, uint32_t number,
    const struct edge_attach *);
/* Only of what was found good. REQUIREs a free number of the range. */
void edge_attach_put(struct edge_config *, uint32_t number,
    const struct edge_attach *);
/* REQUIREs an attached one. */
void edge_attach_drop(struct edge_config *, uint32_t number);
/* What somebody who is attached, as a member of each or of nobody, may be
 * assigned to: OK or POLICY. */
enum edge_attach_error edge_attach_check_policy(const struct edge_config *,
    uint32_t each, uint32_t policy);

/*
 * A reload: whether the next configuration, which has followed the present
 * one, would let one of the present one's be attached as it is; it is put
 * where it would. Its policy goes by name. To be asked for each in the order
 * of their numbers. The host's addresses are not looked at, so that both
 * programs find the same.
 */
enum edge_attach_error edge_attach_carry(struct edge_config *next,
    const struct edge_config *before, uint32_t number);

/* A sentence for the caller, without a full stop. */
const char *edge_attach_text(enum edge_attach_error);

#endif
