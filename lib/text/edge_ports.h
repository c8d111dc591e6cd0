/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edge_ports - ports and prefixes of one rule, from text.
 *
 * Shared by edge_text and policy_text, so that the guard of the kernel and
 * the compiled policy cannot read a rule in two ways.
 */
#ifndef LIB_TEXT_EDGE_PORTS_H
#define LIB_TEXT_EDGE_PORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/addr.h"
#include "lib/text/yaml_tree.h"

/* Of one rule; the same as in lib/verdict.h, which is not seen here. */
#define EDGE_SERVICES_MAX 16
#define EDGE_PRIVATE_MAX  8

/* Order by protocol and port. */
int edge_service_compare(const struct service *, const struct service *);
/* PORT, tcp/PORT or udp/PORT in len octets. */
bool edge_service_parse(const char *text, size_t len, struct service *ret);
/* A rule's `NAME[:PORT,…]`, shared with policy_text: splits at the last colon
 * and reads the ports, at most EDGE_SERVICES_MAX. *ret_name_len is the length
 * of the name part. 0 or -EINVAL with a reason that says what would be
 * right. */
int edge_rule_split(const char *file, const struct yaml_node *rule,
    size_t *ret_name_len, struct service *ret_services, uint8_t *ret_count,
    struct text_error *ret_error);
/* A `ports:` list of tcp/443, udp/443 or 443. */
int edge_ports_read(const char *file, const struct yaml_node *ports,
    struct service *ret_services, uint8_t *ret_count,
    struct text_error *ret_error);
/* A `private:` list of prefixes. */
int edge_private_read(const char *file, const struct yaml_node *list,
    struct prefix *ret_prefixes, uint8_t *ret_count,
    struct text_error *ret_error);

#endif
