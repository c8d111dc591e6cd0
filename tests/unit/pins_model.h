/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pins_model - what the tests of the ledger share, and its naive model.
 */
#ifndef TESTS_UNIT_PINS_MODEL_H
#define TESTS_UNIT_PINS_MODEL_H

#include <check.h>

#include "lib/pins.h"

extern const struct pins_limits PINS_MODEL_LIMITS;

/* Makes a ledger in a block to free(). */
void *pins_model_open(struct pins *, const struct pins_limits *);
struct dname pins_model_name(const char *text);
struct pin_element pins_model_element(uint32_t sandbox, const char *addr,
    uint16_t port);
/* Adds the random test. */
void pins_model_add(TCase *);

#endif
