/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vet - what the tests of answer share: one response in the making, and the
 * vetting of it. Documentation addresses pass; all others are as they are.
 */
#ifndef TESTS_UNIT_VET_H
#define TESTS_UNIT_VET_H

#include "lib/answer.h"
#include "tests/unit/wire.h"

extern struct wire w;
extern struct answer a;
extern struct verdict verdict;
extern struct protected_ranges ranges;

/* A fixture: the same randomness and the same ranges for every test. */
void vet_setup(void);
struct dname name_of(const char *text);
/* Vets w into a, from a block of its own size. */
enum answer_outcome vet(const char *name, uint16_t type);
/* Begins a response to a question. */
void respond(const char *name, uint16_t type);
/* Adds 192.0.2.last; an alias. */
void add_a(const char *owner, uint32_t ttl, uint8_t last);
void add_cname(const char *owner, uint32_t ttl, const char *target);
/* Whether an address that ends so was kept. */
bool has_last(uint8_t last);
void check_end(const char *name, uint8_t links);

#endif
