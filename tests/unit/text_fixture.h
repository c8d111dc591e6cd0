/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text_fixture - a small suffix list and small zone lists, so that tests of
 * whole configurations depend on nothing that is installed.
 *
 * Zones: "small" (allows one.example.com and everything below two.example.com,
 * denies three.example.com), "blocks" (denies ads.example.com and everything
 * below it), "broken" (not one line of it is right).
 */
#ifndef TESTS_UNIT_TEXT_FIXTURE_H
#define TESTS_UNIT_TEXT_FIXTURE_H

#include "lib/text/policy_text.h"

/* The suffix list alone. */
struct text_file fixture_suffixes(void);
/* config_read() with these files beside. */
int fixture_read(struct config **ret, const char *name, const char *bytes,
    size_t size, struct text_error *ret_error);
/* The octets of a file, to free(); fails the test when there is none. */
char *fixture_slurp(const char *path, size_t *ret_size);
/* A path below the top of the source tree, into 512 octets. */
void fixture_path(const char *path, char *buf);
/* "FILE:LINE:COLUMN: reason" into 1024 octets. */
void fixture_print(const struct text_error *, char *buf);

#endif
