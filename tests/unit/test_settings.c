/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "lib/text/settings.h"
#include "tests/unit/unit.h"

#define REQUIRED                                                \
	"version: 1\nlisten: [10.200.1.1]\nedge: [veth-box1]\n" \
	"upstream: [9.9.9.9]\n"

static struct settings *
read_settings(const char *text)
{
	struct settings *settings = malloc(sizeof(*settings));
	struct yaml_node *root = NULL;
	struct text_error error;
	int r = yaml_tree_read("t.yaml", text, strlen(text), &root, &error);

	ck_assert_ptr_nonnull(settings);
	if (r == 0)
		r = settings_read(settings, "t.yaml", root, &error);
	ck_assert_msg(r == 0, "%u:%u: %s", (unsigned)error.line,
	    (unsigned)error.column, error.reason);
	yaml_tree_free(root);
	return settings;
}

static void
ck_addr(const struct addr *addr, const char *expected)
{
	char text[ADDR_TEXT_MAX];

	addr_print(addr, text);
	ck_assert_str_eq(text, expected);
}

static void
ck_prefix(const struct prefix *prefix, const char *expected)
{
	char text[PREFIX_TEXT_MAX];

	prefix_print(prefix, text);
	ck_assert_str_eq(text, expected);
}

/* What the contract says is the default of every value. */
START_TEST(defaults_are_those_of_the_manual)
{
	struct settings *s = read_settings(REQUIRED);

	ck_assert_str_eq(s->file, "t.yaml");
	ck_assert_uint_eq(s->listen[0].port, 53);
	ck_assert_uint_eq(s->upstream[0].port, 53);
	ck_assert_uint_eq(s->forward_count, 0);
	ck_assert_uint_eq(s->sink_count, 1);
	ck_assert_int_eq(s->sinks[0].kind, SINK_STDOUT);
	ck_assert_uint_eq(s->sinks[0].only, 7);
	ck_assert_uint_eq(s->label_count, 0);
	ck_assert_str_eq(s->control_path, "/run/namewall/control.sock");
	ck_assert_str_eq(s->control_group, "root");
	ck_assert_str_eq(s->status_path, "/run/namewall/status.sock");
	ck_assert_str_eq(s->status_group, "namewall-status");
	ck_assert_str_eq(s->nft_table, "namewall");
	ck_assert_int_eq(s->nft_priority, -150);
	ck_assert(!s->nft_masquerade);
	ck_assert_uint_eq(s->nft_log_group, 5);
	ck_assert_uint_eq(s->nft_log_rate, 10);
	ck_assert_uint_eq(s->pin_floor_ms, 60000);
	ck_assert_uint_eq(s->pin_cap_ms, 3600000);
	ck_assert_uint_eq(s->pin_grace_ms, 60000);
	ck_assert_uint_eq(s->ttl_floor_s, 5);
	ck_assert_uint_eq(s->ttl_cap_s, 300);
	ck_assert_uint_eq(s->ttl_negative_s, 5);
	ck_assert_uint_eq(s->protected_ranges.except_count, 0);
	ck_assert_uint_eq(s->protected_ranges.nat64_count, 0);
	ck_assert_str_eq(s->public_suffixes,
	    "/usr/share/publicsuffix/public_suffix_list.dat");
	ck_assert_str_eq(s->state_dir, "/var/lib/namewall");
	ck_assert_str_eq(s->user, "namewall");
	free(s);
}
END_TEST

START_TEST(default_limits_are_those_of_the_manual)
{
	struct settings *s = read_settings(REQUIRED);

	ck_assert_uint_eq(s->limits.queries, 4096);
	ck_assert_uint_eq(s->limits.queries_per_sandbox, 512);
	ck_assert_uint_eq(s->limits.lookups, 4096);
	ck_assert_uint_eq(s->limits.lookups_per_sandbox, 512);
	ck_assert_uint_eq(s->limits.cache, 8192);
	ck_assert_uint_eq(s->limits.cache_per_sandbox, 2048);
	ck_assert_uint_eq(s->limits.pins, 65536);
	ck_assert_uint_eq(s->limits.pins_per_sandbox, 8192);
	ck_assert_uint_eq(s->limits.pin_rate_per_sandbox, 2000);
	ck_assert_uint_eq(s->limits.flows_per_sandbox, 4096);
	ck_assert_uint_eq(s->limits.tcp_connections, 1024);
	ck_assert_uint_eq(s->limits.tcp_connections_per_sandbox, 64);
	ck_assert_uint_eq(s->limits.tunnel_keys, 16384);
	ck_assert_uint_eq(s->limits.tunnel_keys_per_sandbox, 1024);
	ck_assert_uint_eq(s->limits.events_in_memory, 10000);
	ck_assert_uint_eq(s->limits.rules, 200000);
	free(s);
}
END_TEST

START_TEST(plain_values_are_read)
{
	struct settings *s = read_settings(REQUIRED
	    "control: {path: /a, group: b, status_path: /c, "
	    "status_group: d}\n"
	    "nft: {mode: gateway, table: t_1, priority: -199, "
	    "masquerade: true, log_group: 65535, log_rate: 10000/second}\n"
	    "pins: {floor: 1s, cap: 7d, grace: 0s}\n"
	    "ttl: {floor: 0s, cap: 1d, negative: 1h}\n"
	    "limits: {pins: 4194304, pins_per_sandbox: 1, rules: 1}\n"
	    "public_suffixes: /psl.dat\n"
	    "state_dir: /state\n"
	    "user: \"nobody\"\n");

	ck_assert_str_eq(s->control_path, "/a");
	ck_assert_str_eq(s->control_group, "b");
	ck_assert_str_eq(s->status_path, "/c");
	ck_assert_str_eq(s->status_group, "d");
	ck_assert_str_eq(s->nft_table, "t_1");
	ck_assert_int_eq(s->nft_priority, -199);
	ck_assert(s->nft_masquerade);
	ck_assert_uint_eq(s->nft_log_group, 65535);
	ck_assert_uint_eq(s->nft_log_rate, 10000);
	ck_assert_uint_eq(s->pin_floor_ms, 1000);
	ck_assert_uint_eq(s->pin_cap_ms, 604800000);
	ck_assert_uint_eq(s->pin_grace_ms, 0);
	ck_assert_uint_eq(s->ttl_floor_s, 0);
	ck_assert_uint_eq(s->ttl_cap_s, 86400);
	ck_assert_uint_eq(s->ttl_negative_s, 3600);
	ck_assert_uint_eq(s->limits.pins, 4194304);
	ck_assert_uint_eq(s->limits.pins_per_sandbox, 1);
	ck_assert_uint_eq(s->limits.rules, 1);
	ck_assert_str_eq(s->public_suffixes, "/psl.dat");
	ck_assert_str_eq(s->state_dir, "/state");
	ck_assert_str_eq(s->user, "nobody");
	free(s);
}
END_TEST

START_TEST(lists_are_read)
{
	struct settings *s = read_settings(
	    "version: 1\n"
	    "listen: [10.200.1.1, \"fd00:200:1::1@5353\", 10.200.1.1@54]\n"
	    "edge: [veth-box1, \"tap*\", \"veth-c*\"]\n"
	    "upstream: [9.9.9.9, 10.200.1.1@5454]\n"
	    "forward:\n"
	    "  corp.example: [10.1.1.1, 10.1.1.2@54]\n"
	    "  internal: [10.1.1.3]\n"
	    "events:\n"
	    "  - {file: /log, only: [alert, metric]}\n"
	    "  - stdout: true\n"
	    "labels: {team: red, site: \"a b\"}\n"
	    "protected: {except: [10.5.0.0/24], nat64: "
	    "[\"2001:db8:64::/96\"]}\n");

	ck_assert_uint_eq(s->listen_count, 3);
	ck_addr(&s->listen[1].addr, "fd00:200:1::1");
	ck_assert_uint_eq(s->listen[1].port, 5353);
	ck_assert_uint_eq(s->edge_count, 3);
	ck_assert_str_eq(s->edge[1], "tap*");
	ck_assert_uint_eq(s->upstream_count, 2);
	ck_addr(&s->upstream[1].addr, "10.200.1.1");
	ck_assert_uint_eq(s->forward_count, 2);
	ck_assert_str_eq(s->forward[0].zone, "corp.example");
	ck_assert_uint_eq(s->forward[0].line, 6);
	ck_assert_uint_eq(s->forward[0].column, 3);
	ck_assert_uint_eq(s->forward[0].resolver_count, 2);
	ck_assert_uint_eq(s->forward[0].resolvers[1].port, 54);
	ck_addr(&s->forward[1].resolvers[0].addr, "10.1.1.3");
	ck_assert_uint_eq(s->sink_count, 2);
	ck_assert_int_eq(s->sinks[0].kind, SINK_FILE);
	ck_assert_str_eq(s->sinks[0].path, "/log");
	ck_assert_uint_eq(s->sinks[0].only, 6);
	ck_assert_int_eq(s->sinks[1].kind, SINK_STDOUT);
	ck_assert_uint_eq(s->label_count, 2);
	ck_assert_str_eq(s->labels[1].key, "site");
	ck_assert_str_eq(s->labels[1].value, "a b");
	ck_assert_uint_eq(s->protected_ranges.except_count, 1);
	ck_prefix(&s->protected_ranges.except[0], "10.5.0.0/24");
	ck_assert_uint_eq(s->protected_ranges.nat64_count, 1);
	ck_prefix(&s->protected_ranges.nat64[0], "2001:db8:64::/96");
	ck_assert_uint_eq(s->protected_ranges.own_count, 0);
	free(s);
}
END_TEST

START_TEST(no_sink_is_a_choice)
{
	struct settings *s = read_settings(REQUIRED "events: []\n");

	ck_assert_uint_eq(s->sink_count, 0);
	free(s);
}
END_TEST

START_TEST(an_interface_is_governed_by_name_or_pattern)
{
	static const struct {
		const char *interface;
		bool governed;
	} list[] = { { "veth-box1", true }, { "veth-box10", false },
		{ "tap0", true }, { "tap", true }, { "ta", false },
		{ "xtap0", false }, { "", false }, { "eth0", false } };
	struct settings *s = read_settings(
	    "version: 1\nlisten: [10.200.1.1]\nupstream: [9.9.9.9]\n"
	    "edge: [veth-box1, \"tap*\"]\n");

	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		ck_assert_msg(settings_governs(s, list[i].interface) ==
			list[i].governed,
		    "%s", list[i].interface);
	free(s);
}
END_TEST

START_TEST(interfaces_are_what_the_kernel_takes_for_one)
{
	static const struct {
		const char *name;
		bool good;
	} list[] = { { "a", true }, { "veth-box1", true }, { "eth0.100", true },
		{ "abcdefghijklmno", true }, { "abcdefghijklmnop", false },
		{ "", false }, { ".", false }, { "..", false },
		{ "a b", false }, { "a/b", false }, { "a:b", false },
		{ "a*", true }, { "*a", false }, { "a\303\274", false },
		{ "a\n", false } };

	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		ck_assert_msg(text_is_interface(list[i].name) == list[i].good,
		    "\"%s\"", list[i].name);
}
END_TEST

/* The fallback of a documented key is what a file without the key gets. */
START_TEST(documented_keys_have_a_name_and_a_meaning)
{
	struct setting_doc doc, other;
	size_t count = 0;
	bool floor_seen = false;

	while (settings_doc(count, &doc)) {
		ck_assert(doc.name[0] != '\0' && doc.help[0] != '\0');
		for (size_t i = 0; i < count; i++) {
			ck_assert(settings_doc(i, &other));
			ck_assert_str_ne(doc.name, other.name);
		}
		if (strcmp(doc.name, "pins.floor") == 0) {
			floor_seen = true;
			ck_assert_str_eq(doc.fallback, "60s");
		}
		count++;
	}
	ck_assert(floor_seen);
	ck_assert_uint_gt(count, 60);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("settings", &all);

	tcase_add_test(all, defaults_are_those_of_the_manual);
	tcase_add_test(all, default_limits_are_those_of_the_manual);
	tcase_add_test(all, plain_values_are_read);
	tcase_add_test(all, lists_are_read);
	tcase_add_test(all, no_sink_is_a_choice);
	tcase_add_test(all, an_interface_is_governed_by_name_or_pattern);
	tcase_add_test(all, interfaces_are_what_the_kernel_takes_for_one);
	tcase_add_test(all, documented_keys_have_a_name_and_a_meaning);
	unit_covers("B23 B31");
	return unit_run(suite);
}
