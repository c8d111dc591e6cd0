/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "lib/text/edge_inbound.h"
#include "tests/unit/unit.h"

static const char text[] =
    "version: 1\nlisten: [10.200.1.1]\nedge: [veth-box1]\n"
    "upstream: [9.9.9.9]\n"
    "sandboxes:\n"
    "  a:\n"
    "    policy: p\n"
    "    source: [10.200.1.2, 10.200.1.3, \"fd00::2\"]\n"
    "    inbound: [192.0.2.0/28 tcp/8080, 192.0.2.1 udp/53,\n"
    "      192.0.2.0/24 tcp/22, \"2001:db8::/32 tcp/8080\"]\n"
    "    dhcp: true\n"
    "  b: {policy: p, source: [10.200.1.4], inbound: [0.0.0.0/0 tcp/80]}\n"
    "  c: {policy: p, source: [10.200.1.5], inbound: [], dhcp: false}\n"
    "policies: {p: {}}\n";

static struct edge_config *config;

static void
setup(void)
{
	struct yaml_node *root = NULL;
	struct text_error error = { .line = 0 };

	ck_assert_int_eq(yaml_tree_read("t", text, strlen(text), &root, &error),
	    0);
	ck_assert_msg(edge_config_read(&config, "t", root, &error) == 0, "%s",
	    error.reason);
	yaml_tree_free(root);
}

static void
teardown(void)
{
	edge_config_free(config);
}

static struct addr
addr_of(const char *name)
{
	struct addr addr = { .family = 0 };

	ck_assert_msg(addr_parse(name, strlen(name), &addr), "%s", name);
	return addr;
}

static const struct flow_case {
	size_t sandbox;
	const char *from, *source;
	uint8_t protocol;
	uint16_t port;
	bool lets;
} cases[] = {
	{ 0, "192.0.2.0", "10.200.1.2", PROTO_TCP, 8080, true },
	{ 0, "192.0.2.15", "10.200.1.3", PROTO_TCP, 8080, true },
	{ 0, "192.0.2.16", "10.200.1.3", PROTO_TCP, 8080, false },
	{ 0, "192.0.2.16", "10.200.1.3", PROTO_TCP, 22, true },
	{ 0, "192.0.2.15", "10.200.1.2", PROTO_UDP, 8080, false },
	{ 0, "192.0.2.1", "10.200.1.2", PROTO_UDP, 53, true },
	{ 0, "192.0.2.2", "10.200.1.2", PROTO_UDP, 53, false },
	{ 0, "2001:db8:1::1", "fd00::2", PROTO_TCP, 8080, true },
	{ 0, "2001:db9::1", "fd00::2", PROTO_TCP, 8080, false },
	/* an address that is not the sandbox's, or of the other family */
	{ 0, "192.0.2.1", "10.200.1.4", PROTO_TCP, 8080, false },
	{ 0, "192.0.2.1", "fd00::2", PROTO_TCP, 8080, false },
	{ 1, "198.51.100.1", "10.200.1.4", PROTO_TCP, 80, true },
	{ 1, "198.51.100.1", "10.200.1.4", PROTO_TCP, 81, false },
	{ 1, "fd00::1", "10.200.1.4", PROTO_TCP, 80, false },
	{ 2, "192.0.2.1", "10.200.1.5", PROTO_TCP, 8080, false },
};

START_TEST(lets_what_the_file_says)
{
	const struct flow_case *c = &cases[_i];
	struct addr from = addr_of(c->from), source = addr_of(c->source);
	struct service service = { c->protocol, c->port };

	ck_assert_int_eq(edge_inbound_lets(&config->sandboxes[c->sandbox],
			     &from, &source, service),
	    c->lets);
}
END_TEST

START_TEST(an_address_alone_is_one_host)
{
	const struct edge_sandbox *a = &config->sandboxes[0];

	ck_assert_uint_eq(a->inbound_count, 4);
	ck_assert_uint_eq(a->inbound[0].from.bits, 28);
	ck_assert_uint_eq(a->inbound[1].from.bits, 32);
	ck_assert_uint_eq(config->sandboxes[2].inbound_count, 0);
}
END_TEST

START_TEST(dhcp_is_off_unless_it_is_on)
{
	ck_assert(config->sandboxes[0].dhcp);
	ck_assert(!config->sandboxes[1].dhcp);
	ck_assert(!config->sandboxes[2].dhcp);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("edge_inbound", &all);

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_loop_test(all, lets_what_the_file_says, 0, ARRAY_LEN(cases));
	tcase_add_test(all, an_address_alone_is_one_host);
	tcase_add_test(all, dhcp_is_off_unless_it_is_on);
	return unit_run(suite);
}
