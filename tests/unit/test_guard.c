/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "src/helper/guard.h"

static const char text[] = "version: 1\n"
			   "listen: [192.0.2.1]\n"
			   "edge: [veth1, veth2, veth3]\n"
			   "upstream: [198.51.100.53]\n"
			   "protected: {except: [198.51.100.0/24]}\n"
			   "pins: {floor: 60s, cap: 10m, grace: 1m}\n"
			   "limits: {pins: 400, pins_per_sandbox: 100,\n"
			   "  pin_rate_per_sandbox: 10}\n"
			   "sandboxes:\n"
			   "  a: {policy: p, source: [192.0.2.11],\n"
			   "    interface: veth1}\n"
			   "  b: {policy: q, source: [192.0.2.12,\n"
			   "    \"2001:db8::12\"], interface: veth2}\n"
			   "  c: {policy: p, source: [\"2001:db8::13\"],\n"
			   "    interface: veth3}\n"
			   "policies:\n"
			   "  p:\n"
			   "    allow:\n"
			   "      - one.example.com:443,22\n"
			   "      - name: two.example.com\n"
			   "        ports: [udp/443]\n"
			   "        private: [10.5.0.0/24, 192.0.2.1/32]\n"
			   "  q: {allow: [one.example.com]}\n"
			   "attach: {prefixes: [192.0.2.0/24],\n"
			   "  policies: [q], count_max: 2}\n";

static struct edge_config *config;
static struct guard guard;

static void
setup(void)
{
	struct yaml_node *root = NULL;
	struct text_error error = { .line = 0 };

	ck_assert_int_eq(yaml_tree_read("test", text, strlen(text), &root,
			     &error),
	    0);
	ck_assert_msg(edge_config_read(&config, "test", root, &error) == 0,
	    "%u:%u: %s", error.line, error.column, error.reason);
	yaml_tree_free(root);
	ck_assert_int_eq(edge_attach_reserve(config), 0);
	ck_assert_int_eq(guard_init(&guard, config, 42), 0);
	for (uint32_t i = 1; i <= guard.sandbox_count; i++)
		guard.sandboxes[i].ifindex = 10 + i;
}

static void
teardown(void)
{
	guard_free(&guard);
	edge_config_free(config);
}

static struct addr
addr_of(const char *name)
{
	struct addr addr = { .family = 0 };

	ck_assert_msg(addr_parse(name, strlen(name), &addr), "%s", name);
	return addr;
}

static struct helper_msg
request(uint8_t op, uint32_t sandbox, const char *addr, uint16_t port,
    uint32_t lifetime_ms)
{
	return (struct helper_msg){
		.op = op,
		.sandbox = sandbox,
		.addr = addr_of(addr),
		.service = { PROTO_TCP, port },
		.lifetime_ms = lifetime_ms,
	};
}

static const struct verdict_case {
	uint32_t sandbox;
	const char *addr;
	uint8_t protocol;
	uint16_t port;
	uint32_t lifetime_ms;
	int pin, recall;
} cases[] = {
	{ 1, "198.51.100.10", PROTO_TCP, 443, 60000, 0, 0 },
	{ 1, "198.51.100.10", PROTO_TCP, 22, 60000, 0, 0 },
	{ 1, "198.51.100.10", PROTO_UDP, 443, 60000, 0, 0 },
	{ 1, "9.9.9.9", PROTO_TCP, 443, 660000, 0, 0 },
	/* sandboxes that are none, and families that they have not */
	{ 0, "198.51.100.10", PROTO_TCP, 443, 60000, -ENOENT, -ENOENT },
	{ 4, "198.51.100.10", PROTO_TCP, 443, 60000, -ENOENT, -ENOENT },
	{ UINT32_MAX, "9.9.9.9", PROTO_TCP, 443, 60000, -ENOENT, -ENOENT },
	{ 1, "2606:4700::1", PROTO_TCP, 443, 60000, -EAFNOSUPPORT,
	    -EAFNOSUPPORT },
	{ 3, "9.9.9.9", PROTO_TCP, 443, 60000, -EAFNOSUPPORT, -EAFNOSUPPORT },
	{ 2, "2606:4700::1", PROTO_TCP, 443, 60000, 0, 0 },
	/* services that the sandbox's own policy does not name */
	{ 1, "9.9.9.9", PROTO_UDP, 22, 60000, -EACCES, -EACCES },
	{ 1, "9.9.9.9", PROTO_TCP, 80, 60000, -EACCES, -EACCES },
	{ 1, "9.9.9.9", PROTO_TCP, 53, 60000, -EACCES, -EACCES },
	{ 2, "9.9.9.9", PROTO_TCP, 22, 60000, -EACCES, -EACCES },
	{ 2, "9.9.9.9", PROTO_UDP, 443, 60000, -EACCES, -EACCES },
	/* protected addresses, and the policy's own private prefixes */
	{ 1, "10.5.0.9", PROTO_TCP, 443, 60000, 0, 0 },
	{ 1, "10.5.1.9", PROTO_TCP, 443, 60000, -EADDRNOTAVAIL,
	    -EADDRNOTAVAIL },
	{ 2, "10.5.0.9", PROTO_TCP, 443, 60000, -EADDRNOTAVAIL,
	    -EADDRNOTAVAIL },
	{ 1, "169.254.169.254", PROTO_TCP, 443, 60000, -EADDRNOTAVAIL,
	    -EADDRNOTAVAIL },
	{ 1, "127.0.0.1", PROTO_TCP, 443, 60000, -EADDRNOTAVAIL,
	    -EADDRNOTAVAIL },
	{ 1, "224.0.0.1", PROTO_TCP, 443, 60000, -EADDRNOTAVAIL,
	    -EADDRNOTAVAIL },
	{ 2, "::ffff:10.0.0.1", PROTO_TCP, 443, 60000, -EADDRNOTAVAIL,
	    -EADDRNOTAVAIL },
	{ 2, "64:ff9b::a00:1", PROTO_TCP, 443, 60000, -EADDRNOTAVAIL,
	    -EADDRNOTAVAIL },
	/* a listener is the host's own, its address there or not */
	{ 1, "192.0.2.1", PROTO_TCP, 443, 60000, 0, 0 },
	{ 2, "192.0.2.1", PROTO_TCP, 443, 60000, -EADDRNOTAVAIL,
	    -EADDRNOTAVAIL },
	/* an address of the host that was set */
	{ 1, "198.51.100.77", PROTO_TCP, 443, 60000, -EADDRNOTAVAIL,
	    -EADDRNOTAVAIL },
	/* lifetimes: a second at least for new ones, the cap at most */
	{ 1, "9.9.9.9", PROTO_TCP, 443, 999, -ERANGE, 0 },
	{ 1, "9.9.9.9", PROTO_TCP, 443, 1, -ERANGE, 0 },
	{ 1, "9.9.9.9", PROTO_TCP, 443, 0, -ERANGE, 0 },
	{ 1, "9.9.9.9", PROTO_TCP, 443, 660001, -ERANGE, -ERANGE },
	{ 1, "9.9.9.9", PROTO_TCP, 443, UINT32_MAX, -ERANGE, -ERANGE },
};

START_TEST(judges)
{
	const struct verdict_case *c = &cases[_i];
	const struct addr own = addr_of("198.51.100.77");
	struct helper_msg msg =
	    request(HELPER_PIN, c->sandbox, c->addr, c->port, c->lifetime_ms);

	msg.service.protocol = c->protocol;
	guard_set_own(&guard, &own, 1, false);
	ck_assert_int_eq(guard_pin(&guard, &msg, 5000), c->pin);
	msg.op = HELPER_RECALL;
	ck_assert_int_eq(guard_recall(&guard, &msg, 5000), c->recall);
}
END_TEST

START_TEST(unbound_is_refused)
{
	struct helper_msg msg = request(HELPER_PIN, 1, "9.9.9.9", 443, 60000);

	guard.sandboxes[1].ifindex = 0;
	ck_assert_int_eq(guard_pin(&guard, &msg, 0), -ENODEV);
	ck_assert_int_eq(guard_recall(&guard, &msg, 0), -ENODEV);
	guard.sandboxes[1].ifindex = 7;
	guard.sandboxes[1].fresh = true;
	ck_assert_int_eq(guard_recall(&guard, &msg, 0), -ESTALE);
	ck_assert_int_eq(guard_pin(&guard, &msg, 5000), 0);
}
END_TEST

/* More own addresses than fit: nothing can be told from them any more. */
START_TEST(an_audit_reaches_what_is_not_protected)
{
	const struct addr public = addr_of("9.9.9.9");
	const struct addr private = addr_of("10.5.0.9");
	static struct edge_config next;
	struct edge_policy policies[2];

	ck_assert(!guard_is_audit(&guard, 0));
	ck_assert(!guard_is_audit(&guard, UINT32_MAX));
	ck_assert(!guard_audits(&guard, 1, &public));
	config->policies[0].audit = true;
	ck_assert(guard_audits(&guard, 1, &public));
	ck_assert(!guard_audits(&guard, 1, &private));
	ck_assert(!guard_audits(&guard, 2, &public));
	/* What is about to hold counts: what it does not spare is cut. */
	next = *config;
	memcpy(policies, config->policies, sizeof(policies));
	policies[0].audit = false;
	next.policies = policies;
	guard_widen(&guard, &next);
	ck_assert(!guard_audits(&guard, 1, &public));
	config->policies[0].audit = false;
}
END_TEST

START_TEST(nothing_is_opened_in_quarantine)
{
	struct helper_msg msg =
	    request(HELPER_PIN, 1, "198.51.100.10", 443, 60000);

	guard.sandboxes[1].quarantined = true;
	ck_assert_int_eq(guard_pin(&guard, &msg, 5000), -EPERM);
	msg.op = HELPER_RECALL;
	ck_assert_int_eq(guard_recall(&guard, &msg, 5000), -EPERM);
	/* What closes is done all the same. */
	msg.op = HELPER_UNPIN;
	ck_assert_int_eq(guard_element(&guard, &msg), 0);
	guard.sandboxes[1].quarantined = false;
	msg.op = HELPER_PIN;
	ck_assert_int_eq(guard_pin(&guard, &msg, 5000), 0);
}
END_TEST

START_TEST(too_many_own_addresses_close)
{
	struct helper_msg msg = request(HELPER_PIN, 1, "9.9.9.9", 443, 60000);

	guard_set_own(&guard, NULL, 0, true);
	ck_assert_int_eq(guard_pin(&guard, &msg, 5000), -EADDRNOTAVAIL);
	guard_set_own(&guard, NULL, 0, false);
	ck_assert_int_eq(guard_pin(&guard, &msg, 5000), 0);
}
END_TEST

static int
pin_number(uint32_t sandbox, unsigned int number, uint64_t now_ms)
{
	struct helper_msg msg =
	    request(HELPER_PIN, sandbox, "198.51.100.0", 443, 60000);
	int error;

	msg.addr.bytes[3] = (uint8_t)number;
	error = guard_pin(&guard, &msg, now_ms);
	if (error == 0)
		held_put(&guard.held, sandbox, &msg.addr, msg.service)
		    ->expires_ms = now_ms + msg.lifetime_ms;
	return error;
}

START_TEST(rate_is_a_bucket_of_one_second)
{
	for (unsigned int i = 0; i < 10; i++)
		ck_assert_int_eq(pin_number(1, i, 100000), 0);
	ck_assert_int_eq(pin_number(1, 10, 100000), -EAGAIN);
	ck_assert_int_eq(pin_number(2, 10, 100000), 0);
	ck_assert_int_eq(pin_number(1, 10, 100099), -EAGAIN);
	ck_assert_int_eq(pin_number(1, 10, 100100), 0);
	ck_assert_int_eq(pin_number(1, 11, 100100), -EAGAIN);
	/* An hour of silence saves up no more than a second's worth. */
	for (unsigned int i = 20; i < 30; i++)
		ck_assert_int_eq(pin_number(1, i, 3700000), 0);
	ck_assert_int_eq(pin_number(1, 30, 3700000), -EAGAIN);
}
END_TEST

START_TEST(number_is_bounded_and_expiry_makes_room)
{
	uint64_t now_ms = 100000;

	for (unsigned int i = 0; i < 100; i++, now_ms += 100)
		ck_assert_int_eq(pin_number(1, i, now_ms), 0);
	ck_assert_int_eq(pin_number(1, 100, now_ms), -ENOSPC);
	/* What is held may be renewed, and others are not concerned. */
	ck_assert_int_eq(pin_number(1, 5, now_ms + 100), 0);
	ck_assert_int_eq(pin_number(2, 100, now_ms), 0);
	now_ms = 100000 + 60000 + 1;
	ck_assert_int_eq(pin_number(1, 100, now_ms), 0);
}
END_TEST

START_TEST(sources_are_found)
{
	struct addr addr = addr_of("2001:db8::12");

	ck_assert_uint_eq(guard_whose(&guard, &addr), 2);
	addr = addr_of("192.0.2.11");
	ck_assert_uint_eq(guard_whose(&guard, &addr), 1);
	addr = addr_of("192.0.2.13");
	ck_assert_uint_eq(guard_whose(&guard, &addr), 0);
	addr = addr_of("192.0.2.1");
	ck_assert(guard_is_own(&guard, &addr));
	ck_assert(guard_is_listener(&guard, &addr, 53));
	ck_assert(!guard_is_listener(&guard, &addr, 54));
}
END_TEST

/* What comes after `text`: a is gone, b has another policy and c another
 * address, d is new; two ranges and the lifetimes are others. */
static const char next_text[] = "version: 1\n"
				"listen: [192.0.2.1]\n"
				"edge: [veth1, veth2, veth3]\n"
				"upstream: [198.51.100.53]\n"
				"protected: {except: [203.0.113.0/24]}\n"
				"pins: {floor: 30s, cap: 20m, grace: 1m}\n"
				"limits: {pins: 400, pins_per_sandbox: 100,\n"
				"  pin_rate_per_sandbox: 10}\n"
				"sandboxes:\n"
				"  d: {policy: q, source: [192.0.2.11],\n"
				"    interface: veth1}\n"
				"  c: {policy: q, source: [\"2001:db8::14\"],\n"
				"    interface: veth3}\n"
				"  b: {policy: r, source: [192.0.2.12,\n"
				"    \"2001:db8::12\"], interface: veth2}\n"
				"policies:\n"
				"  q: {allow: [one.example.com]}\n"
				"  r:\n"
				"    allow:\n"
				"      - name: two.example.com\n"
				"        ports: [tcp/80]\n"
				"        private: [10.6.0.0/24]\n";

static struct edge_config *
follow(void)
{
	const struct edge_before before = { config, config->file_numbers_max };
	struct edge_config *next = NULL;
	struct yaml_node *root = NULL;
	struct text_error error = { .line = 0 };

	ck_assert_int_eq(yaml_tree_read("next", next_text, strlen(next_text),
			     &root, &error),
	    0);
	ck_assert_int_eq(edge_config_read(&next, "next", root, &error), 0);
	ck_assert_int_eq(edge_follow(next, &before, "next", root, &error), 0);
	yaml_tree_free(root);
	return next;
}

/* What is said before, while both are granted, and after. */
static const struct wide_case {
	uint32_t sandbox;
	const char *addr;
	uint16_t port;
	uint32_t lifetime_ms;
	int before, between, after;
} wide_cases[] = {
	/* a is there until the end, d from the end on */
	{ 1, "9.9.9.9", 443, 60000, 0, 0, -ENOENT },
	{ 4, "9.9.9.9", 443, 60000, -ENOENT, -ENOENT, -ENODEV },
	/* b: a port of the one, a port of the other, and of neither */
	{ 2, "9.9.9.9", 443, 60000, 0, 0, -EACCES },
	{ 2, "9.9.9.9", 80, 60000, -EACCES, 0, 0 },
	{ 2, "9.9.9.9", 22, 60000, -EACCES, -EACCES, -EACCES },
	/* its ranges, and never the port of the one with the range of the
	 * other */
	{ 2, "198.51.100.9", 443, 60000, 0, 0, -EACCES },
	{ 2, "203.0.113.9", 80, 60000, -EACCES, 0, 0 },
	{ 2, "10.6.0.9", 80, 60000, -EACCES, 0, 0 },
	{ 2, "198.51.100.9", 80, 60000, -EACCES, -EACCES, -EADDRNOTAVAIL },
	{ 2, "203.0.113.9", 443, 60000, -EADDRNOTAVAIL, -EADDRNOTAVAIL,
	    -EACCES },
	/* lifetimes likewise */
	{ 2, "9.9.9.9", 80, 1260000, -EACCES, 0, 0 },
	{ 2, "9.9.9.9", 443, 1260000, -ERANGE, -ERANGE, -EACCES },
	/* the host's own addresses never */
	{ 2, "192.0.2.1", 80, 60000, -EACCES, -EACCES, -EADDRNOTAVAIL },
};

START_TEST(a_reload_widens_and_narrows)
{
	const struct wide_case *c = &wide_cases[_i];
	struct helper_msg msg =
	    request(HELPER_PIN, c->sandbox, c->addr, c->port, c->lifetime_ms);
	struct edge_config *next = follow();

	ck_assert_int_eq(guard_pin(&guard, &msg, 1000), c->before);
	guard_widen(&guard, next);
	ck_assert_int_eq(guard_pin(&guard, &msg, 2000), c->between);
	guard_narrow(&guard);
	ck_assert_int_eq(guard_pin(&guard, &msg, 3000), c->after);
	edge_config_free(next);
}
END_TEST

START_TEST(addresses_change_with_the_narrowing)
{
	struct edge_config *next = follow();
	const struct addr first = addr_of("192.0.2.11");
	const struct addr old = addr_of("2001:db8::13");
	const struct addr new = addr_of("2001:db8::14");

	guard_widen(&guard, next);
	ck_assert_uint_eq(guard_whose(&guard, &first), 1);
	ck_assert_uint_eq(guard_whose(&guard, &old), 3);
	ck_assert_uint_eq(guard_whose(&guard, &new), 0);
	guard_narrow(&guard);
	ck_assert(!guard_exists(&guard, 1));
	ck_assert_uint_eq(guard_whose(&guard, &first), 4);
	ck_assert_uint_eq(guard_whose(&guard, &old), 0);
	ck_assert_uint_eq(guard_whose(&guard, &new), 3);
	edge_config_free(next);
}
END_TEST

START_TEST(what_is_held_is_judged_by_the_configuration_of_now)
{
	struct edge_config *next = follow();
	const struct held_pin pins[] = {
		{ 1, addr_of("9.9.9.9"), { PROTO_TCP, 443 }, 0 },
		{ 2, addr_of("9.9.9.9"), { PROTO_TCP, 443 }, 0 },
		{ 2, addr_of("9.9.9.9"), { PROTO_TCP, 80 }, 0 },
		{ 3, addr_of("2606:4700::1"), { PROTO_TCP, 443 }, 0 },
	};
	const bool before[] = { true, true, false, true };
	const bool after[] = { false, false, true, true };

	for (size_t i = 0; i < ARRAY_LEN(pins); i++)
		ck_assert(guard_opens(&guard, &pins[i]) == before[i]);
	guard_widen(&guard, next);
	guard_narrow(&guard);
	for (size_t i = 0; i < ARRAY_LEN(pins); i++)
		ck_assert(guard_opens(&guard, &pins[i]) == after[i]);
	edge_config_free(next);
}
END_TEST

static struct edge_attach
attach_of(uint32_t policy, const char *source, const char *interface)
{
	struct edge_attach request = { .name = "#9",
		.policy = policy,
		.sources = { addr_of(source) },
		.source_count = 1 };

	snprintf(request.interface, sizeof(request.interface), "%s", interface);
	return request;
}

static void
set_interface(struct edge_attach *request, const char *interface)
{
	snprintf(request->interface, sizeof(request->interface), "%s",
	    interface);
}

/* Policies by their place: p 0, q 1. */
static const struct attach_case {
	uint32_t policy, each;
	const char *source, *interface;
	uint32_t number; /* behind those of the file */
	int expected;
} attach_cases[] = {
	{ 1, 0, "192.0.2.20", "veth1", 1, 0 },
	{ 1, 0, "192.0.2.20", "", 2, 0 },
	{ 1, 0, "192.0.2.11", "veth1", 1, -EADDRINUSE },
	{ 1, 0, "192.0.2.1", "veth1", 1, -EADDRNOTAVAIL },
	{ 1, 0, "192.0.2.99", "veth1", 1, -EADDRNOTAVAIL }, /* the host's */
	{ 1, 0, "198.51.100.53", "veth1", 1, -EACCES },
	{ 0, 0, "192.0.2.20", "veth1", 1, -EPERM },
	{ 7, 0, "192.0.2.20", "veth1", 1, -EPERM },
	{ 1, 0, "192.0.2.20", "eth0", 1, -ENODEV },
	{ 1, 0, "192.0.2.20", "veth1", 0, -EEXIST },
	{ 1, 0, "192.0.2.20", "veth1", 3, -EEXIST },
	{ 1, 1, "192.0.2.20", "veth1", 1, -EINVAL },
};

START_TEST(attaching_is_judged)
{
	const struct attach_case *c = &attach_cases[_i];
	struct edge_attach request =
	    attach_of(c->policy, c->source, c->interface);
	struct addr own = addr_of("192.0.2.99");

	request.each = c->each;
	guard_set_own(&guard, &own, 1, false);
	ck_assert_int_eq(guard_may_attach(&guard,
			     config->file_numbers_max + c->number, &request),
	    c->expected);
}
END_TEST

/* Sandbox c is given prefixes. What is opened is opened to members, never to
 * itself; a member may have its policy, or one that anybody may have. */
START_TEST(members_are_judged)
{
	struct edge_sandbox *many = &config->sandboxes[2];
	uint32_t number = config->file_numbers_max + 1;
	struct edge_attach member = attach_of(0, "203.0.113.7", "veth3");
	struct helper_msg pin = request(HELPER_PIN, 3, "9.9.9.9", 443, 60000);
	struct helper_msg assign = { .op = HELPER_ASSIGN, .sandbox = number };

	ck_assert(prefix_parse("203.0.113.0/24", 14, &many->prefixes[0]));
	many->prefix_count = 1;
	many->source_count = 0;
	config->each_count = 1;
	ck_assert_int_eq(guard_pin(&guard, &pin, 1000), -EAFNOSUPPORT);
	ck_assert_int_eq(guard_may_attach(&guard, number, &member), -EPERM);
	member.each = 2;
	ck_assert_int_eq(guard_may_attach(&guard, number, &member), -EPERM);
	member.each = 3;
	ck_assert_int_eq(guard_may_attach(&guard, number, &member), 0);
	set_interface(&member, "veth1");
	ck_assert_int_eq(guard_may_attach(&guard, number, &member), -ENODEV);
	set_interface(&member, "veth3");
	member.sources[0] = addr_of("203.0.114.7");
	ck_assert_int_eq(guard_may_attach(&guard, number, &member), -EACCES);
	member.sources[0] = addr_of("203.0.113.7");
	guard_attach(&guard, number, &member);
	guard.sandboxes[number].ifindex = 13;
	pin.sandbox = number;
	ck_assert_int_eq(guard_pin(&guard, &pin, 1000), 0);
	ck_assert_int_eq(guard_may_assign(&guard, &assign), 0);
	assign.count = 1;
	ck_assert_int_eq(guard_may_assign(&guard, &assign), 0);
	assign.count = 2;
	ck_assert_int_eq(guard_may_assign(&guard, &assign), -EPERM);
}
END_TEST

START_TEST(attached_ones_are_granted_like_others)
{
	uint32_t number = config->file_numbers_max + 1;
	struct edge_attach one = attach_of(1, "192.0.2.20", "veth1");
	struct edge_attach two = attach_of(1, "192.0.2.9", "veth1");
	struct helper_msg pin =
	    request(HELPER_PIN, number, "9.9.9.9", 443, 60000);
	struct helper_msg detach = { .op = HELPER_DETACH, .sandbox = number };

	ck_assert_int_eq(guard_pin(&guard, &pin, 1000), -ENOENT);
	guard_attach(&guard, number, &one);
	ck_assert_int_eq(guard_pin(&guard, &pin, 1000), -ENODEV);
	guard.sandboxes[number].ifindex = 11;
	ck_assert_int_eq(guard_pin(&guard, &pin, 1000), 0);
	pin.service.port = 22;
	ck_assert_int_eq(guard_pin(&guard, &pin, 1000), -EACCES);
	ck_assert_uint_eq(guard_whose(&guard, &one.sources[0]), number);
	ck_assert_int_eq(guard_may_attach(&guard, number + 1, &one),
	    -EADDRINUSE);
	ck_assert_int_eq(guard_may_attach(&guard, number, &two), -EEXIST);
	ck_assert_int_eq(guard_may_attach(&guard, number + 1, &two), 0);
	guard_attach(&guard, number + 1, &two);
	two.sources[0].bytes[3]++;
	ck_assert_int_eq(guard_may_attach(&guard, number + 2, &two), -EEXIST);
	ck_assert_int_eq(guard_may_detach(&guard, &detach), 0);
	guard_detach(&guard, number);
	ck_assert_int_eq(guard_may_detach(&guard, &detach), -ENOENT);
	ck_assert_uint_eq(guard_whose(&guard, &one.sources[0]), 0);
	ck_assert_int_eq(guard_pin(&guard, &pin, 1000), -ENOENT);
	detach.sandbox = 1;
	ck_assert_int_eq(guard_may_detach(&guard, &detach), -EINVAL);
	detach.sandbox = UINT32_MAX;
	ck_assert_int_eq(guard_may_detach(&guard, &detach), -ENOENT);
}
END_TEST

/* However they come and go, each address is found as whose it is. */
START_TEST(addresses_of_attached_ones_are_found)
{
	uint64_t state = unit_seed();
	uint32_t first = config->file_numbers_max + 1;
	struct edge_attach there[2] = { { .policy = 0 }, { .policy = 0 } };
	bool is_there[2] = { false, false };

	for (int round = 0; round < 2000; round++) {
		uint32_t i = unit_random(&state) % 2;
		struct addr addr = addr_of("192.0.2.12");

		if (is_there[i]) {
			guard_detach(&guard, first + i);
		} else {
			there[i] = attach_of(1, "192.0.2.0", "veth1");
			there[i].sources[0].bytes[3] =
			    (uint8_t)(20 + i * 100 + unit_random(&state) % 100);
			guard_attach(&guard, first + i, &there[i]);
		}
		is_there[i] = !is_there[i];
		for (i = 0; i < 2; i++)
			ck_assert_uint_eq(guard_whose(&guard,
					      &there[i].sources[0]),
			    is_there[i] ? first + i : 0);
		ck_assert_uint_eq(guard_whose(&guard, &addr), 2);
		ck_assert_uint_eq(config->attached_count,
		    (uint32_t)is_there[0] + (uint32_t)is_there[1]);
	}
}
END_TEST

START_TEST(assigning_is_judged)
{
	uint32_t number = config->file_numbers_max + 1;
	struct edge_attach one = attach_of(1, "192.0.2.20", "veth1");
	static const struct {
		uint64_t policy;
		int expected;
	} tries[] = { { 1, 0 }, { 0, -EPERM }, { 2, -EPERM },
		{ (uint64_t)1 << 32 | 1, -EPERM }, { UINT64_MAX, -EPERM } };
	struct helper_msg msg = { .op = HELPER_ASSIGN, .sandbox = number };

	ck_assert_int_eq(guard_may_assign(&guard, &msg), -ENOENT);
	guard_attach(&guard, number, &one);
	for (size_t i = 0; i < ARRAY_LEN(tries); i++) {
		msg.count = tries[i].policy;
		ck_assert_int_eq(guard_may_assign(&guard, &msg),
		    tries[i].expected);
	}
	msg.sandbox = 1;
	msg.count = 1;
	ck_assert_int_eq(guard_may_assign(&guard, &msg), -EINVAL);
}
END_TEST

/* Nobody comes between two configurations, and who goes goes from both. */
START_TEST(a_reload_holds_up_attaching)
{
	uint32_t number = config->file_numbers_max + 1;
	struct edge_attach one = attach_of(1, "192.0.2.20", "veth1");
	struct edge_attach two = attach_of(1, "192.0.2.21", "veth1");
	struct helper_msg msg = { .op = HELPER_ASSIGN, .sandbox = number };
	struct edge_config *next;

	guard_attach(&guard, number, &one);
	next = follow();
	ck_assert_int_eq(edge_attach_carry(next, config, number),
	    EDGE_ATTACH_OFF);
	edge_attach_put(next, number, &one);
	guard_widen(&guard, next);
	msg.count = 1;
	ck_assert_int_eq(guard_may_attach(&guard, number + 1, &two), -EBUSY);
	ck_assert_int_eq(guard_may_assign(&guard, &msg), -EBUSY);
	ck_assert_int_eq(guard_may_detach(&guard, &msg), 0);
	guard_detach(&guard, number);
	ck_assert_uint_eq(next->attached_count, 0);
	guard_narrow(&guard);
	ck_assert_uint_eq(guard_whose(&guard, &one.sources[0]), 0);
	edge_config_free(next);
}
END_TEST

START_TEST(narrowing_without_widening_aborts)
{
	guard_narrow(&guard);
}
END_TEST

START_TEST(no_such_sandbox_aborts)
{
	(void)guard_sandbox(&guard, 0);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("guard", &all);

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_loop_test(all, judges, 0, (int)ARRAY_LEN(cases));
	tcase_add_test(all, unbound_is_refused);
	tcase_add_test(all, an_audit_reaches_what_is_not_protected);
	tcase_add_test(all, nothing_is_opened_in_quarantine);
	tcase_add_test(all, too_many_own_addresses_close);
	tcase_add_test(all, rate_is_a_bucket_of_one_second);
	tcase_add_test(all, number_is_bounded_and_expiry_makes_room);
	tcase_add_test(all, sources_are_found);
	tcase_add_loop_test(all, a_reload_widens_and_narrows, 0,
	    (int)ARRAY_LEN(wide_cases));
	tcase_add_test(all, addresses_change_with_the_narrowing);
	tcase_add_test(all, what_is_held_is_judged_by_the_configuration_of_now);
	tcase_add_test(all, members_are_judged);
	tcase_add_loop_test(all, attaching_is_judged, 0,
	    (int)ARRAY_LEN(attach_cases));
	tcase_add_test(all, attached_ones_are_granted_like_others);
	tcase_add_test(all, addresses_of_attached_ones_are_found);
	tcase_add_test(all, assigning_is_judged);
	tcase_add_test(all, a_reload_holds_up_attaching);
	tcase_add_test_raise_signal(all, narrowing_without_widening_aborts,
	    SIGABRT);
	tcase_add_test_raise_signal(all, no_such_sandbox_aborts, SIGABRT);
	return unit_run(suite);
}
