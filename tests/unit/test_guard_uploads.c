/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/unit.h"

#include <errno.h>
#include <string.h>

#include "lib/require.h"
#include "lib/text/edge_uploads.h"
#include "src/helper/guard.h"

/* Policy p has quotas for tcp/443 and tcp/22, and none for udp/443. */
#define CONFIG(mode, upload)                                                  \
	"version: 1\n"                                                        \
	"listen: [192.0.2.1]\n"                                               \
	"edge: [veth1, veth2]\n"                                              \
	"upstream: [198.51.100.53]\n"                                         \
	"pins: {floor: 60s, cap: 10m, grace: 1m}\n"                           \
	"sandboxes:\n"                                                        \
	"  a: {policy: p, source: [192.0.2.11], upload: 1MiB/day}\n"          \
	"  b: {policy: q, source: [192.0.2.12]}\n"                            \
	"policies:\n"                                                         \
	"  p:\n"                                                              \
	"    mode: " mode "\n"                                                \
	"    allow:\n"                                                        \
	"      - {name: one.example.com, upload: 1MiB/day}\n"                 \
	"      - {name: two.example.com, " upload "ports: [tcp/443, tcp/22]}" \
	"\n"                                                                  \
	"      - {name: free.example.com, ports: [udp/443]}\n"                \
	"  q: {allow: [one.example.com]}\n"

static struct edge_config *config;
static struct guard guard;

static struct edge_config *
read_config(const char *text)
{
	struct edge_config *ret = NULL;
	struct yaml_node *root = NULL;
	struct text_error error = { .line = 0 };

	ck_assert_int_eq(yaml_tree_read("test", text, strlen(text), &root,
			     &error),
	    0);
	ck_assert_msg(edge_config_read(&ret, "test", root, &error) == 0,
	    "%u:%u: %s", error.line, error.column, error.reason);
	yaml_tree_free(root);
	return ret;
}

static void
setup(void)
{
	config = read_config(CONFIG("enforce", "upload: 2MiB/day, "));
	ck_assert_int_eq(edge_attach_reserve(config), 0);
	ck_assert_int_eq(guard_init(&guard, config, 42), 0);
}

static void
teardown(void)
{
	guard_free(&guard);
	edge_config_free(config);
}

static struct helper_msg
request(uint8_t op, uint32_t sandbox, const char *addr)
{
	struct helper_msg msg = { .op = op, .sandbox = sandbox };

	ck_assert(addr_parse(addr, strlen(addr), &msg.addr));
	return msg;
}

static uint64_t
named(const char *name)
{
	return edge_upload_rule(name, strlen(name), false);
}

START_TEST(what_counts_against_a_quota_is_judged)
{
	static const struct {
		uint8_t op;
		uint32_t sandbox;
		const char *addr;
		uint32_t lifetime_ms;
		const char *rule; /* NULL: the sum */
		int status;
	} list[] = {
		{ HELPER_UPLOAD, 1, "9.9.9.9", 660000, "one.example.com", 0 },
		{ HELPER_UPLOAD, 1, "9.9.9.9", 0, "two.example.com", 0 },
		{ HELPER_UPLOAD, 1, "9.9.9.9", 660001, "one.example.com",
		    -ERANGE },
		{ HELPER_UPLOAD, 1, "9.9.9.9", 1, "free.example.com", -ENOENT },
		{ HELPER_UPLOAD, 1, "9.9.9.9", 1, NULL, -ENOENT },
		{ HELPER_UPLOAD, 1, "2606:4700::1", 1, "one.example.com",
		    -EAFNOSUPPORT },
		/* another policy's, and nobody's */
		{ HELPER_UPLOAD, 2, "9.9.9.9", 1, "one.example.com", -ENOENT },
		{ HELPER_UPLOAD, 0, "9.9.9.9", 1, "one.example.com", -ENOENT },
		{ HELPER_UPLOAD, UINT32_MAX, "9.9.9.9", 1, "one.example.com",
		    -ENOENT },
		{ HELPER_SPENT, 1, "9.9.9.9", 0, "one.example.com", 0 },
		{ HELPER_SPENT, 1, "9.9.9.9", 0, NULL, 0 },
		{ HELPER_SPENT, 1, "9.9.9.9", 0, "free.example.com", -ENOENT },
		{ HELPER_SPENT, 2, "9.9.9.9", 0, NULL, -ENOENT },
		{ HELPER_SPENT, 0, "9.9.9.9", 0, NULL, -ENOENT },
	};

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		struct helper_msg msg =
		    request(list[i].op, list[i].sandbox, list[i].addr);
		int status;

		msg.lifetime_ms = list[i].lifetime_ms;
		msg.rule = list[i].rule != NULL ? named(list[i].rule)
						: EDGE_UPLOAD_SUM;
		status = msg.op == HELPER_UPLOAD ? guard_upload(&guard, &msg)
						 : guard_spent(&guard, &msg);
		ck_assert_msg(status == list[i].status, "%zu: %d", i, status);
	}
}
END_TEST

static bool
is_metered(uint32_t sandbox, uint8_t protocol, uint16_t port)
{
	struct helper_msg msg = request(HELPER_PIN, sandbox, "9.9.9.9");

	msg.service = (struct service){ protocol, port };
	return guard_is_metered(&guard, &msg);
}

START_TEST(where_every_rule_has_a_quota_one_must_count)
{
	ck_assert(is_metered(1, PROTO_TCP, 443));
	ck_assert(is_metered(1, PROTO_TCP, 22));
	ck_assert(!is_metered(1, PROTO_UDP, 443));
	ck_assert(!is_metered(2, PROTO_TCP, 443));
}
END_TEST

/* While a reload is under way, what either of the two says. */
START_TEST(a_reload_grants_both)
{
	struct edge_config *next = read_config(CONFIG("enforce", ""));
	struct helper_msg msg = request(HELPER_UPLOAD, 1, "9.9.9.9");

	msg.rule = named("two.example.com");
	guard_widen(&guard, next);
	ck_assert(!is_metered(1, PROTO_TCP, 443));
	ck_assert_int_eq(guard_upload(&guard, &msg), 0);
	guard_narrow(&guard);
	ck_assert(!is_metered(1, PROTO_TCP, 443));
	ck_assert_int_eq(guard_upload(&guard, &msg), -ENOENT);
	edge_config_free(next);
}
END_TEST

START_TEST(an_audit_counts_nothing)
{
	struct edge_config *next =
	    read_config(CONFIG("audit", "upload: 2MiB/day, "));
	struct helper_msg msg = request(HELPER_UPLOAD, 1, "9.9.9.9");

	msg.rule = named("two.example.com");
	guard_widen(&guard, next);
	guard_narrow(&guard);
	ck_assert(!is_metered(1, PROTO_TCP, 443));
	ck_assert_int_eq(guard_upload(&guard, &msg), -ENOENT);
	msg.op = HELPER_SPENT;
	msg.rule = EDGE_UPLOAD_SUM;
	ck_assert_int_eq(guard_spent(&guard, &msg), -ENOENT);
	edge_config_free(next);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("guard_uploads", &all);

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, what_counts_against_a_quota_is_judged);
	tcase_add_test(all, where_every_rule_has_a_quota_one_must_count);
	tcase_add_test(all, a_reload_grants_both);
	tcase_add_test(all, an_audit_counts_nothing);
	return unit_run(suite);
}
