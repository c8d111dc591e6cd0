/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "lib/text/edge_text.h"
#include "tests/unit/unit.h"

#define REQUIRED                                                          \
	"version: 1\nlisten: [10.200.1.1]\nedge: [veth-box1, \"tap*\"]\n" \
	"upstream: [9.9.9.9]\n"

static struct edge_config *
read_edge(const char *text)
{
	struct edge_config *config = NULL;
	struct yaml_node *root = NULL;
	struct text_error error;
	int r = yaml_tree_read("t", text, strlen(text), &root, &error);

	if (r == 0)
		r = edge_config_read(&config, "t", root, &error);
	ck_assert_msg(r == 0, "%u:%u: %s", (unsigned)error.line,
	    (unsigned)error.column, error.reason);
	yaml_tree_free(root);
	return config;
}

static void
ck_services(const struct edge_policy *policy, const char *expected)
{
	char text[256] = "";
	size_t len = 0;

	for (size_t i = 0; i < policy->service_count; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
		    "%s%s/%u", i > 0 ? " " : "",
		    policy->services[i].protocol == PROTO_UDP ? "udp" : "tcp",
		    (unsigned)policy->services[i].port);
	ck_assert_str_eq(text, expected);
}

START_TEST(a_file_without_sandboxes_denies_all)
{
	struct edge_config *config =
	    read_edge(REQUIRED "sandboxes: {}\npolicies: {}\n");

	ck_assert_uint_eq(config->sandbox_count, 0);
	ck_assert_uint_eq(config->policy_count, 0);
	ck_assert_uint_eq(config->list_count, 0);
	edge_config_free(config);
}
END_TEST

START_TEST(sandboxes_keep_the_order_of_the_file)
{
	struct edge_config *config =
	    read_edge(REQUIRED "sandboxes:\n"
			       "  zulu: {policy: b, source: [10.200.1.3]}\n"
			       "  alpha:\n"
			       "    policy: a\n"
			       "    source: [10.200.1.2, \"fd00::2\"]\n"
			       "    mac: \"02:00:00:00:00:0A\"\n"
			       "    interface: tap7\n"
			       "    labels: {owner: me}\n"
			       "policies:\n"
			       "  a: {}\n"
			       "  b: {}\n");
	const struct edge_sandbox *zulu = &config->sandboxes[0];
	const struct edge_sandbox *alpha = &config->sandboxes[1];
	static const uint8_t mac[TEXT_MAC_SIZE] = { 2, 0, 0, 0, 0, 10 };

	ck_assert_uint_eq(config->sandbox_count, 2);
	ck_assert_str_eq(zulu->name, "zulu");
	ck_assert_uint_eq(zulu->policy, 1);
	ck_assert_uint_eq(zulu->line, 6);
	ck_assert_uint_eq(zulu->column, 3);
	ck_assert_str_eq(zulu->interface, "");
	ck_assert(!zulu->has_mac);
	ck_assert(alpha->has_mac);
	ck_assert_mem_eq(alpha->mac, mac, sizeof(mac));
	ck_assert_str_eq(alpha->name, "alpha");
	ck_assert_uint_eq(alpha->policy, 0);
	ck_assert_uint_eq(alpha->source_count, 2);
	ck_assert_uint_eq(alpha->sources[0].family, 4);
	ck_assert_uint_eq(alpha->sources[1].family, 6);
	ck_assert_str_eq(alpha->interface, "tap7");
	ck_assert_uint_eq(alpha->label_count, 1);
	ck_assert_str_eq(alpha->labels[0].value, "me");
	ck_assert_str_eq(config->policies[1].name, "b");
	ck_assert_uint_eq(config->policies[1].line, 15);
	edge_config_free(config);
}
END_TEST

START_TEST(a_policy_opens_what_its_rules_name)
{
	struct edge_config *config = read_edge(REQUIRED
	    "policies:\n"
	    "  plain: {allow: [a.example.com]}\n"
	    "  ports: {ports: [udp/443, 8443], allow: [a.example.com]}\n"
	    "  idle: {ports: [8443]}\n"
	    "  rules:\n"
	    "    allow:\n"
	    "      - a.example.com:22,443\n"
	    "      - {name: b.example.com, ports: [udp/53, tcp/22]}\n"
	    "      - {name: c.example.com, private: [10.5.0.0/24]}\n"
	    "      - {name: d.example.com, private: [10.5.0.0/24, "
	    "\"fd00:5::/64\"]}\n"
	    "      - {list: some-list, ports: [80]}\n"
	    "    deny: [e.example.com, {list: other-list}, "
	    "{list: some-list}]\n");
	const struct edge_policy *rules = &config->policies[3];

	ck_services(&config->policies[0], "tcp/443");
	ck_services(&config->policies[1], "tcp/8443 udp/443");
	ck_services(&config->policies[2], "");
	ck_services(rules, "tcp/22 tcp/80 tcp/443 udp/53");
	ck_assert_uint_eq(rules->private_count, 2);
	ck_assert_uint_eq(rules->private_ok[0].bits, 24);
	ck_assert_uint_eq(rules->private_ok[1].bits, 64);
	ck_assert_uint_eq(config->list_count, 2);
	ck_assert_str_eq(config->lists[0], "some-list");
	ck_assert_str_eq(config->lists[1], "other-list");
	edge_config_free(config);
}
END_TEST

START_TEST(a_policy_opens_what_it_uses_too)
{
	struct edge_config *config = read_edge(REQUIRED
	    "policies:\n"
	    "  first: {use: [base, more], allow: [a.example.com:22]}\n"
	    "  base:\n"
	    "    ports: [8443]\n"
	    "    allow: [{name: b.example.com, private: [10.5.0.0/24]}]\n"
	    "  more: {allow: [\"c.example.com:22,udp/22\"]}\n"
	    "  last: {use: [base], mode: enforce, refresh: on-demand}\n");

	ck_services(&config->policies[0], "tcp/22 tcp/8443 udp/22");
	ck_assert_uint_eq(config->policies[0].private_count, 1);
	ck_services(&config->policies[1], "tcp/8443");
	ck_services(&config->policies[2], "tcp/22 udp/22");
	ck_services(&config->policies[3], "tcp/8443");
	ck_assert_uint_eq(config->policies[3].private_count, 1);
	edge_config_free(config);
}
END_TEST

START_TEST(a_rule_splits_at_its_last_colon)
{
	static const struct {
		const char *text;
		size_t name_len;
		uint8_t count;
	} list[] = { { "github.com", 10, 0 }, { "github.com:443", 10, 1 },
		{ "github.com:443,22,udp/443", 10, 3 }, { ":443", 0, 1 },
		{ "a:b:1", 3, 1 }, { "", 0, 0 } };
	struct service services[EDGE_SERVICES_MAX];
	struct text_error error;
	char text[64];

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		struct yaml_node node = { .kind = YAML_SCALAR,
			.text = text,
			.len = strlen(list[i].text) };
		size_t name_len = 99;
		uint8_t count = 99;

		memcpy(text, list[i].text, node.len + 1);
		ck_assert_int_eq(edge_rule_split("t", &node, &name_len,
				     services, &count, &error),
		    0);
		ck_assert_uint_eq(name_len, list[i].name_len);
		ck_assert_uint_eq(count, list[i].count);
	}
	ck_assert_uint_eq(services[0].protocol, PROTO_TCP);
	ck_assert_uint_eq(services[0].port, 1);
}
END_TEST

START_TEST(services_are_a_port_with_or_without_protocol)
{
	static const struct {
		const char *text;
		uint8_t protocol; /* 0: refused */
		uint16_t port;
	} list[] = { { "443", PROTO_TCP, 443 }, { "tcp/1", PROTO_TCP, 1 },
		{ "udp/65535", PROTO_UDP, 65535 }, { "0", 0, 0 },
		{ "65536", 0, 0 }, { "", 0, 0 }, { "tcp/", 0, 0 },
		{ "TCP/443", 0, 0 }, { "tcp/0443", 0, 0 }, { "443/tcp", 0, 0 },
		{ "icmp/8", 0, 0 }, { "https", 0, 0 }, { "-1", 0, 0 },
		{ "1-2", 0, 0 }, { "443 ", 0, 0 } };

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		struct service service = { 0, 0 };
		bool good = edge_service_parse(list[i].text,
		    strlen(list[i].text), &service);

		ck_assert_msg(good == (list[i].protocol != 0), "\"%s\"",
		    list[i].text);
		ck_assert_uint_eq(service.protocol, list[i].protocol);
		ck_assert_uint_eq(service.port, list[i].port);
	}
}
END_TEST

START_TEST(sets_of_the_operator_need_no_edge)
{
	struct edge_config *config = read_edge(
	    "version: 1\nlisten: [10.200.1.1]\nupstream: [9.9.9.9]\n"
	    "nft: {mode: sets, family: inet, table: filter,\n"
	    "  pins4: agent_pins4, pins6: agent_pins6}\n"
	    "policies: {p: {}}\n"
	    "sandboxes:\n"
	    "  a: {policy: p, source: [10.200.1.2], interface: any0}\n");
	const struct settings *s = &config->settings;

	ck_assert(s->nft_sets);
	ck_assert_str_eq(s->nft_table, "filter");
	ck_assert_str_eq(s->nft_pins4, "agent_pins4");
	ck_assert_str_eq(s->nft_pins6, "agent_pins6");
	ck_assert_uint_eq(s->edge_count, 0);
	ck_assert_str_eq(config->sandboxes[0].interface, "any0");
	edge_config_free(config);
}
END_TEST

START_TEST(what_is_absent_can_be_freed)
{
	edge_config_free(NULL);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("edge_text", &all);

	tcase_add_test(all, a_file_without_sandboxes_denies_all);
	tcase_add_test(all, sandboxes_keep_the_order_of_the_file);
	tcase_add_test(all, a_policy_opens_what_its_rules_name);
	tcase_add_test(all, a_policy_opens_what_it_uses_too);
	tcase_add_test(all, a_rule_splits_at_its_last_colon);
	tcase_add_test(all, services_are_a_port_with_or_without_protocol);
	tcase_add_test(all, sets_of_the_operator_need_no_edge);
	tcase_add_test(all, what_is_absent_can_be_freed);
	return unit_run(suite);
}
