/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/event.h"

#include <string.h>

#include "lib/dns.h"
#include "lib/require.h"
#include "tests/unit/unit.h"

START_TEST(actions_have_names_and_kinds)
{
	static const struct {
		enum event_action action;
		const char *name, *kind;
	} cases[] = {
		{ EVENT_DNS_ANSWERED, "dns-answered", "event" },
		{ EVENT_DNS_DENIED, "dns-denied", "event" },
		{ EVENT_DNS_FAILED, "dns-failed", "event" },
		{ EVENT_TUNNEL_SUSPECTED, "tunnel-suspected", "alert" },
		{ EVENT_REBINDING_BLOCKED, "rebinding-blocked", "alert" },
		{ EVENT_SOURCE_SPOOFED, "source-spoofed", "alert" },
		{ EVENT_SANDBOX_ATTACHED, "sandbox-attached", "event" },
		{ EVENT_SANDBOX_DETACHED, "sandbox-detached", "event" },
		{ EVENT_SANDBOX_QUARANTINED, "sandbox-quarantined", "event" },
		{ EVENT_SANDBOX_RELEASED, "sandbox-released", "event" },
		{ EVENT_SANDBOX_ASSIGNED, "sandbox-assigned", "event" },
		{ EVENT_RULE_WITHDRAWN, "rule-withdrawn", "event" },
		{ EVENT_BUDGET_NOTICE, "budget-notice", "alert" },
		{ EVENT_BUDGET_EXCEEDED, "budget-exceeded", "alert" },
		{ EVENT_PINS_LOST, "pins-lost", "alert" },
		{ EVENT_PINS_RESTORED, "pins-restored", "alert" },
		{ EVENT_CONFIG_LOADED, "config-loaded", "event" },
		{ EVENT_CONFIG_REFUSED, "config-refused", "event" },
		{ EVENT_STARTED, "started", "event" },
		{ EVENT_STOPPED, "stopped", "event" },
		{ EVENT_DIRECT_IP_REJECTED, "direct-ip-rejected", "alert" },
		{ EVENT_FLOW_ENDED, "flow-ended", "event" },
		{ EVENT_UPLOAD_NOTICE, "upload-notice", "alert" },
		{ EVENT_UPLOAD_EXCEEDED, "upload-exceeded", "alert" },
		{ EVENT_HEARTBEAT, "heartbeat", "metric" },
	};

	ck_assert_uint_eq(ARRAY_LEN(cases), EVENT_ACTION_LAST + 1);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		enum event_kind kind = event_kind_of(cases[i].action);

		ck_assert_str_eq(event_action_name(cases[i].action),
		    cases[i].name);
		ck_assert_str_eq(event_kind_name(kind), cases[i].kind);
	}
	ck_assert_str_eq(event_kind_name(EVENT_KIND_METRIC), "metric");
}
END_TEST

START_TEST(rejected_packets_are_graded_by_what_was_tried)
{
	static const struct {
		enum event_reject reject;
		const char *name;
		uint8_t severity;
	} cases[] = {
		{ REJECT_NONE, "none", 5 },
		{ REJECT_UNRESOLVED, "unresolved", 5 },
		{ REJECT_OTHER_SERVICE, "other-service", 4 },
		{ REJECT_LAPSED, "lapsed", 3 },
		{ REJECT_NO_FLOW, "no-flow", 3 },
		{ REJECT_UNSOUND, "unsound", 3 },
		{ REJECT_SPOOFED, "spoofed", 6 },
	};

	ck_assert_uint_eq(ARRAY_LEN(cases), REJECT_SPOOFED + 1);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct event e = { .action = EVENT_DIRECT_IP_REJECTED,
			.reject = cases[i].reject };

		ck_assert_str_eq(event_reject_name(e.reject), cases[i].name);
		ck_assert_uint_eq(event_severity(&e), cases[i].severity);
	}
}
END_TEST

START_TEST(heartbeats_count_what_happens_to_sandboxes)
{
	ck_assert(event_is_counted(EVENT_DNS_ANSWERED));
	ck_assert(event_is_counted(EVENT_DIRECT_IP_REJECTED));
	ck_assert(event_is_counted(EVENT_SANDBOX_ATTACHED));
	ck_assert(!event_is_counted(EVENT_STARTED));
	ck_assert(!event_is_counted(EVENT_CONFIG_REFUSED));
	ck_assert(!event_is_counted(EVENT_HEARTBEAT));
}
END_TEST

static uint8_t
severity_of(const char *name, uint16_t type, enum denial denial)
{
	struct event e = { .action = EVENT_DNS_DENIED,
		.has_question = true,
		.type = type,
		.denial = denial };
	uint8_t severity;

	ck_assert(dname_from_text(name, strlen(name), &e.name));
	severity = event_severity(&e);
	/* The outcome changes nothing. */
	e.action = EVENT_DNS_ANSWERED;
	ck_assert_uint_eq(event_severity(&e), severity);
	e.action = EVENT_DNS_FAILED;
	e.rcode = DNS_RCODE_SERVFAIL;
	ck_assert_uint_eq(event_severity(&e), severity);
	return severity;
}

START_TEST(questions_are_graded_by_the_attempt)
{
	static const struct {
		const char *name;
		uint16_t type;
		enum denial denial;
		uint8_t severity;
	} cases[] = {
		/* Companions of a lookup. */
		{ "www.example.com", DNS_TYPE_HTTPS, DENIAL_UNLISTED, 1 },
		{ "www.example.com", DNS_TYPE_HTTPS, DENIAL_TYPE, 1 },
		{ "www.example.com", DNS_TYPE_SVCB, DENIAL_NONE, 1 },
		{ "gist.example.org", DNS_TYPE_HTTPS, DENIAL_DENY_RULE, 1 },
		{ "_http._tcp.deb.example", DNS_TYPE_SRV, DENIAL_TYPE, 1 },
		{ "_tcp.deb.example", DNS_TYPE_SRV, DENIAL_UNLISTED, 4 },
		{ "_http._tcp", DNS_TYPE_SRV, DENIAL_UNLISTED, 4 },
		{ "1.2.0.192.in-addr.arpa", DNS_TYPE_PTR, DENIAL_PTR, 1 },
		{ "1.0.ip6.arpa", DNS_TYPE_PTR, DENIAL_PTR, 1 },
		{ "a.example.com", DNS_TYPE_PTR, DENIAL_UNLISTED, 4 },
		{ "in-addr.arpa.example.com", DNS_TYPE_PTR, DENIAL_UNLISTED,
		    4 },
		{ "github.com.lan", DNS_TYPE_A, DENIAL_UNLISTED, 1 },
		{ "github.com.svc.cluster.local", DNS_TYPE_AAAA, DENIAL_SPECIAL,
		    1 },
		{ "ec2.internal", DNS_TYPE_A, DENIAL_UNLISTED, 1 },
		{ "wpad", DNS_TYPE_A, DENIAL_SPECIAL, 1 },
		{ "github.com.internal", DNS_TYPE_TXT, DENIAL_UNLISTED, 4 },
		{ "lan.example.com", DNS_TYPE_A, DENIAL_UNLISTED, 3 },
		{ "a.xlan", DNS_TYPE_A, DENIAL_UNLISTED, 3 },
		{ "a.lanx", DNS_TYPE_A, DENIAL_UNLISTED, 3 },
		{ "a.la", DNS_TYPE_A, DENIAL_UNLISTED, 3 },
		/* Listed names, whatever became of them. */
		{ "www.example.com", DNS_TYPE_A, DENIAL_NONE, 2 },
		{ "www.example.com", DNS_TYPE_A, DENIAL_NO_NAME, 2 },
		{ "www.example.com", DNS_TYPE_A, DENIAL_PROTECTED, 2 },
		{ "www.example.com", DNS_TYPE_TXT, DENIAL_NONE, 2 },
		{ "www.example.com", DNS_TYPE_A, DENIAL_UPSTREAM_SILENT, 2 },
		/* Unlisted ones. */
		{ "www.example.org", DNS_TYPE_A, DENIAL_UNLISTED, 3 },
		{ "www.example.org", DNS_TYPE_AAAA, DENIAL_PARENT, 3 },
		{ "www.example.org", DNS_TYPE_TXT, DENIAL_UNLISTED, 4 },
		{ "www.example.org", DNS_TYPE_MX, DENIAL_UNLISTED, 4 },
		{ "gist.example.org", DNS_TYPE_A, DENIAL_DENY_RULE, 5 },
		/* What no client asks, listed or not. */
		{ "www.example.com", DNS_TYPE_NULL, DENIAL_TYPE, 5 },
		{ "www.example.org", DNS_TYPE_NULL, DENIAL_UNLISTED, 5 },
		{ "www.example.org", DNS_TYPE_KEY, DENIAL_UNLISTED, 5 },
		{ "www.example.org", 65280, DENIAL_UNLISTED, 5 },
		{ "www.example.org", 65534, DENIAL_UNLISTED, 5 },
		{ "www.example.org", 65279, DENIAL_UNLISTED, 4 },
		{ "www.example.org", 65535, DENIAL_UNLISTED, 4 },
		{ "www.example.org", DNS_TYPE_ANY, DENIAL_UNLISTED, 5 },
		{ "www.example.org", DNS_TYPE_AXFR, DENIAL_TRANSFER, 5 },
		{ "www.example.org", DNS_TYPE_A, DENIAL_UNKNOWN_SOURCE, 5 },
		{ "www.example.org", DNS_TYPE_A, DENIAL_CLASS, 4 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint8_t got =
		    severity_of(cases[i].name, cases[i].type, cases[i].denial);

		ck_assert_msg(got == cases[i].severity, "%zu: %s is %d", i,
		    cases[i].name, got);
	}
}
END_TEST

START_TEST(a_message_without_a_question_is_graded)
{
	const struct event malformed = { .action = EVENT_DNS_DENIED,
		.denial = DENIAL_MALFORMED,
		.type = DNS_TYPE_NULL };

	ck_assert_uint_eq(event_severity(&malformed), 4);
}
END_TEST

START_TEST(alerts_are_graded)
{
	static const struct {
		struct event event;
		uint8_t severity;
	} cases[] = {
		{ { .action = EVENT_STARTED }, 2 },
		{ { .action = EVENT_CONFIG_REFUSED }, 4 },
		{ { .action = EVENT_PINS_RESTORED }, 4 },
		{ { .action = EVENT_SOURCE_SPOOFED }, 6 },
		{ { .action = EVENT_REBINDING_BLOCKED,
		      .addr_class = ADDR_PRIVATE },
		    6 },
		{ { .action = EVENT_REBINDING_BLOCKED,
		      .addr_class = ADDR_METADATA },
		    7 },
		{ { .action = EVENT_TUNNEL_SUSPECTED,
		      .finding.signs = TUNNEL_LONG_NAME },
		    7 },
		{ { .action = EVENT_TUNNEL_SUSPECTED,
		      .finding.signs = TUNNEL_LONG_NAME | TUNNEL_ODD_TYPE },
		    8 },
		{ { .action = EVENT_PINS_LOST }, 8 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		ck_assert_uint_eq(event_severity(&cases[i].event),
		    cases[i].severity);
}
END_TEST

/* All actions and reasons have some grade from 1 to 8. */
START_TEST(every_event_is_graded)
{
	for (int action = 0; action <= EVENT_ACTION_LAST; action++) {
		for (int denial = 0; denial <= DENIAL_LAST; denial++) {
			struct event e = { .action = (enum event_action)action,
				.denial = (enum denial)denial };
			uint8_t severity;

			dname_root(&e.name);
			e.has_question = true;
			severity = event_severity(&e);
			ck_assert_uint_ge(severity, 1);
			ck_assert_uint_le(severity, 8);
		}
	}
}
END_TEST

START_TEST(types_have_names)
{
	static const struct {
		uint16_t type;
		const char *name;
	} cases[] = {
		{ 0, "TYPE0" },
		{ 1, "A" },
		{ 10, "NULL" },
		{ 28, "AAAA" },
		{ 51, "NSEC3PARAM" },
		{ 65, "HTTPS" },
		{ 255, "ANY" },
		{ 257, "CAA" },
		{ 65280, "TYPE65280" },
		{ 65535, "TYPE65535" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char name[16];

		event_type_name(cases[i].type, name);
		ck_assert_str_eq(name, cases[i].name);
	}
	for (uint32_t type = 0; type <= UINT16_MAX; type++) {
		char name[16];

		event_type_name((uint16_t)type, name);
		ck_assert_uint_gt(strlen(name), 0);
	}
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("event", &all);

	tcase_add_test(all, actions_have_names_and_kinds);
	tcase_add_test(all, questions_are_graded_by_the_attempt);
	tcase_add_test(all, a_message_without_a_question_is_graded);
	tcase_add_test(all, alerts_are_graded);
	tcase_add_test(all, every_event_is_graded);
	tcase_add_test(all, types_have_names);
	tcase_add_test(all, rejected_packets_are_graded_by_what_was_tried);
	tcase_add_test(all, heartbeats_count_what_happens_to_sandboxes);
	return unit_run(suite);
}
