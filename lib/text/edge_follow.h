/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edge_follow - a configuration that takes the place of another one while
 * both programs run.
 *
 * Sandboxes are known by number to the kernel's guard, the ledger and the
 * channel between the programs, so a number must not change hands: a sandbox
 * keeps its number as long as its name is in the file, wherever in the file
 * it stands. A new one gets the lowest number that nobody has in the old
 * configuration either, so that between the two no number means two
 * sandboxes. What is left between numbers is a hole: a sandbox without a name
 * and without an address. Both programs do this from the same bytes with this
 * code, and so agree.
 */
#ifndef LIB_TEXT_EDGE_FOLLOW_H
#define LIB_TEXT_EDGE_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/text/edge_text.h"

/* The highest number that a run which begins with this configuration will
 * give: what is allocated at the start has room for it. Behind the highest
 * one for sandboxes of the file come those that are attached (edge_attach). */
uint32_t edge_numbers_max(const struct edge_config *);
uint32_t edge_file_numbers_max(const struct edge_config *);
/* False: a hole. */
bool edge_sandbox_exists(const struct edge_sandbox *);

/* The configuration that holds, and the room that the run has. */
struct edge_before {
	const struct edge_config *config;
	uint32_t numbers_max; /* for sandboxes of the file */
};

/*
 * Gives the sandboxes of a configuration their numbers, which moves them in
 * its array. Refuses what needs a restart: a changed `listen`, `edge`,
 * `control`, `user`, `nft`, `limits` or `state_dir`, more sandboxes than there
 * are numbers, and more `attach.count_max` than there is room. Whoever is
 * attached is not in it (edge_attach_carry). root is what it was read from. 0,
 * -EINVAL or -ENOMEM; unchanged on failure.
 */
int edge_follow(struct edge_config *, const struct edge_before *,
    const char *file, const struct yaml_node *root,
    struct text_error *ret_error);

#endif
