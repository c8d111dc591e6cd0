/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Event lines: against kept ones (golden/events.jsonl; UNIT_GOLDEN=write
 * makes them anew, to be read before they are committed), against a JSON
 * reader of our own, and against the documentation.
 */
#include "lib/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/dns.h"
#include "lib/require.h"
#include "tests/unit/json_paths.h"
#include "tests/unit/unit.h"

#define GOLDEN       SRCDIR "/tests/unit/golden/events.jsonl"
#define DOCS         SRCDIR "/docs/events.md"
#define EXAMPLES_MAX 48

static struct dname
name_of(const char *text)
{
	struct dname name;

	ck_assert_msg(dname_from_text(text, strlen(text), &name), "%s", text);
	return name;
}

static struct addr
addr_of(const char *text)
{
	struct addr a;

	ck_assert_msg(addr_parse(text, strlen(text), &a), "%s", text);
	return a;
}

static const struct event_label labels[] = {
	{ "tenant",
	    "b\xc3\xbc"
	    "cher \"&\" co" },
	{ "run", "4711" },
};

static const struct event_context context = {
	.wall_ms = 1767225599999,
	.sequence = 42,
	.host_name = "host1",
	.boot_id = "7e1f0d36-0d0c-4f0c-8a36-2f6a6b1f5d11",
	.version = "0.1.0",
	.model = "0123456789abcdef",
	.sandbox = "box1",
	.policy = "agent",
	.audit = true,
	.interface = "veth-box1",
	.labels = labels,
	.label_count = 2,
};

static struct event
question_event(enum event_action action, const char *name, uint16_t type,
    enum denial denial)
{
	return (struct event){ .action = action,
		.sandbox = 1,
		.source = addr_of("192.0.2.2"),
		.source_port = 40000,
		.transport = PROTO_UDP,
		.ifindex = 7,
		.has_question = true,
		.name = name_of(name),
		.type = type,
		.apex_labels = 2,
		.denial = denial,
		.duration_ms = 3 };
}

static size_t
make_questions(struct event *ret)
{
	struct event *e = ret;

	*e = question_event(EVENT_DNS_ANSWERED, "api.example.com", DNS_TYPE_A,
	    DENIAL_NONE);
	e->ttl_s = 60;
	e->addr_count = 2;
	e->addrs[0] = addr_of("198.51.100.7");
	e->addrs[1] = addr_of("198.51.100.8");
	e->has_end = true;
	e->end = name_of("edge.cdn.example");
	e->has_rule = true;
	e->rule_kind = RULE_CHILD;
	e->rule_name = name_of("example.com");
	e++;
	*e = question_event(EVENT_DNS_ANSWERED, "gone.example.com",
	    DNS_TYPE_AAAA, DENIAL_NO_NAME);
	e->rcode = DNS_RCODE_NXDOMAIN;
	e->cached = true;
	e->source = addr_of("2001:db8::2");
	e->transport = PROTO_TCP;
	e->would = WOULD_DENY;
	e->would_denial = DENIAL_UNLISTED;
	e++;
	*e = question_event(EVENT_DNS_DENIED, "c2.example.org", DNS_TYPE_TXT,
	    DENIAL_UNLISTED);
	e->rcode = DNS_RCODE_NXDOMAIN;
	e->count = 17;
	e++;
	*e = question_event(EVENT_DNS_DENIED, "www.example.org", DNS_TYPE_HTTPS,
	    DENIAL_DENY_RULE);
	e->has_rule = true;
	e->rule_kind = RULE_BELOW;
	e->rule_name = name_of("example.org");
	e++;
	*e = question_event(EVENT_DNS_DENIED, "example", 65280,
	    DENIAL_UNKNOWN_SOURCE);
	e->apex_labels = 0;
	e->rcode = DNS_RCODE_REFUSED;
	e++;
	*e = (struct event){ .action = EVENT_DNS_DENIED,
		.source = addr_of("192.0.2.2"),
		.denial = DENIAL_BAD_VERSION,
		.rcode = DNS_RCODE_BADVERS };
	e++;
	*e = question_event(EVENT_DNS_FAILED, "api.example.com", DNS_TYPE_A,
	    DENIAL_UPSTREAM_SILENT);
	e->rcode = DNS_RCODE_SERVFAIL;
	e->duration_ms = 2000;
	e++;
	return (size_t)(e - ret);
}

static size_t
make_alerts(struct event *ret)
{
	static const uint8_t hostile[] = { 9, 'a', '"', '\\', '\n', 0, 0xff,
		'.', 0x1b, '=', 7, 'e', 'x', 'a', 'm', 'p', 'l', 'e', 3, 'o',
		'r', 'g', 0 };
	struct event *e = ret;

	*e = question_event(EVENT_TUNNEL_SUSPECTED, "x.example.org",
	    DNS_TYPE_NULL, DENIAL_UNLISTED);
	ck_assert(dname_from_wire(hostile, sizeof(hostile), &e->name));
	e->finding.signs = TUNNEL_ODD_TYPE | TUNNEL_FOREIGN_OCTET;
	e->finding.question_count = 31;
	e->finding.apex = name_of("example.org");
	e->finding.sample_count = 2;
	e->finding.samples[0] = e->name;
	e->finding.samples[1] = name_of("mfrggzdf.example.org");
	e++;
	*e = question_event(EVENT_TUNNEL_SUSPECTED, "x.example.org", DNS_TYPE_A,
	    DENIAL_UNLISTED);
	e->finding.signs = TUNNEL_LONG_LABEL | TUNNEL_SHAPE;
	e->finding.question_count = 9;
	e->finding.apex = name_of("example.org");
	e->finding.score = 130;
	e->finding.volume = 1130;
	e->finding.nnew = 8;
	e->finding.nrep = 1;
	e->finding.is_charged = true;
	e->finding.time_bits = 171;
	e->finding.type_bits = 12;
	e->finding.name_bits = 1204;
	e->finding.sample_count = 1;
	e->finding.samples[0] = e->name;
	e++;
	*e = question_event(EVENT_REBINDING_BLOCKED, "a.example.com",
	    DNS_TYPE_A, DENIAL_PROTECTED);
	e->addr_count = 1;
	e->addrs[0] = addr_of("169.254.169.254");
	e->addr_class = ADDR_METADATA;
	e->count = 1;
	e++;
	*e = (struct event){ .action = EVENT_SOURCE_SPOOFED,
		.source = addr_of("192.0.2.99"),
		.count = 3 };
	e++;
	*e = (struct event){ .action = EVENT_PINS_LOST,
		.duration_ms = 12,
		.count = 5,
		.text = "the table was flushed by pid 4711 (nft)" };
	e++;
	*e = (struct event){ .action = EVENT_PINS_RESTORED, .count = 9 };
	e++;
	return (size_t)(e - ret);
}

static size_t
make_budgets(struct event *ret)
{
	struct event *e = ret;

	*e = question_event(EVENT_BUDGET_NOTICE, "a1.example.org", DNS_TYPE_TXT,
	    DENIAL_NONE);
	e->has_rule = true;
	e->rule_kind = RULE_BELOW;
	e->rule_name = name_of("example.org");
	e->budget = (struct event_budget){ BUDGET_KEY,
		{ .limit = 8192 * BUDGET_BIT,
		    .used = 4100 * BUDGET_BIT + 255,
		    .left = 4071 * BUDGET_BIT + 1,
		    .part = { 200 * BUDGET_BIT, 100 * BUDGET_BIT,
			3800 * BUDGET_BIT + 255 } } };
	e++;
	*e = *(e - 1);
	e->action = EVENT_BUDGET_EXCEEDED;
	e->denial = DENIAL_BUDGET;
	e->has_rule = false;
	e->count = 12;
	e->budget.level = BUDGET_SANDBOX;
	e++;
	*e = *(e - 1);
	e->budget.level = BUDGET_POLICY;
	e++;
	return (size_t)(e - ret);
}

static const struct event_counts counts = {
	.actions = { [EVENT_DNS_ANSWERED] = 7, [EVENT_DIRECT_IP_REJECTED] = 2 },
	.has_packets = true,
	.packets_refused = 40,
	.is_audit = true,
	.packets_audited = 9,
	.would_deny = 11,
	.packets_spoofed = 3,
	.packets_unlogged = 5,
	.events_dropped = 1,
};

static struct event
packet_event(enum event_action action, uint8_t protocol, uint16_t port)
{
	return (struct event){ .action = action,
		.sandbox = 1,
		.source = addr_of("192.0.2.2"),
		.source_port = port == 0 ? 0 : 40000,
		.destination = addr_of("198.51.100.20"),
		.destination_port = port,
		.transport = protocol,
		.ifindex = 7 };
}

static size_t
make_packets(struct event *ret)
{
	struct event *e = ret;

	*e = packet_event(EVENT_DIRECT_IP_REJECTED, PROTO_TCP, 443);
	e->reject = REJECT_UNRESOLVED;
	e->passed = true;
	e->would = WOULD_DENY;
	e->would_quarantine = true;
	e++;
	*e = packet_event(EVENT_DIRECT_IP_REJECTED, 1, 0);
	e->reject = REJECT_OTHER_SERVICE;
	e->count = 12;
	e++;
	*e = packet_event(EVENT_DIRECT_IP_REJECTED, 47, 0);
	e->reject = REJECT_UNSOUND;
	e++;
	*e = packet_event(EVENT_SOURCE_SPOOFED, PROTO_UDP, 53);
	e->reject = REJECT_SPOOFED;
	e->sandbox = 0;
	e++;
	*e = packet_event(EVENT_FLOW_ENDED, PROTO_TCP, 443);
	e->flow = (struct event_flow){ true, 1200, 10, 64000, 48, true };
	e->duration_ms = 1500;
	e->name_count = 2;
	e->names[0] = name_of("api.example.com");
	e->names[1] = name_of("www.example.com");
	e++;
	*e = packet_event(EVENT_FLOW_ENDED, PROTO_UDP, 443);
	e->name_count = 1;
	e->names[0] = name_of("api.example.com");
	e++;
	e->action = (e + 1)->action = EVENT_HEARTBEAT;
	e->duration_ms = (e + 1)->duration_ms = 60000;
	e->sandbox = 1;
	return (size_t)(e + 2 - ret);
}

static size_t
make_uploads(struct event *ret)
{
	ret[0] = (struct event){ .action = EVENT_UPLOAD_NOTICE,
		.sandbox = 1,
		.has_rule = true,
		.rule_kind = RULE_BELOW,
		.rule_name = name_of("example.org"),
		.upload = { true, 26214400, 52428800 } };
	ret[1] = (struct event){ .action = EVENT_UPLOAD_EXCEEDED,
		.sandbox = 1,
		.upload = { true, 52428800, 52428800 } };
	snprintf(ret[1].text, sizeof(ret[1].text),
	    "of all that the sandbox may send in a day");
	ret[2] = (struct event){ .action = EVENT_HEARTBEAT,
		.sandbox = 1,
		.duration_ms = 60000,
		.upload = { true, 1000, 0 } };
	return 3;
}

static size_t
make_others(struct event *ret)
{
	static const enum event_action actions[] = { EVENT_SANDBOX_ATTACHED,
		EVENT_SANDBOX_DETACHED, EVENT_CONFIG_LOADED,
		EVENT_CONFIG_REFUSED, EVENT_STARTED, EVENT_STOPPED,
		EVENT_SANDBOX_QUARANTINED, EVENT_SANDBOX_QUARANTINED,
		EVENT_SANDBOX_RELEASED, EVENT_SANDBOX_ASSIGNED,
		EVENT_RULE_WITHDRAWN };

	for (size_t i = 0; i < ARRAY_LEN(actions); i++)
		ret[i] = (struct event){ .action = actions[i] };
	snprintf(ret[3].text, sizeof(ret[3].text),
	    "namewall.yaml:3:1: unknown key \"lisen\"");
	ret[6].has_cause = true;
	ret[6].cause = EVENT_TUNNEL_SUSPECTED;
	ret[6].sandbox = ret[7].sandbox = ret[8].sandbox = 1;
	ret[0].sandbox = 1;
	ret[0].has_user = true;
	ret[10].has_rule = true;
	ret[10].rule_kind = RULE_CHILD;
	ret[10].rule_name = name_of("pages.example.net");
	return ARRAY_LEN(actions);
}

static const struct addr sources[] = {
	{ 4, { 192, 0, 2, 2 } },
	{ 6, { 0x20, 0x01, 0x0d, 0xb8, [15] = 2 } },
};

static size_t
make_examples(struct event ret[EXAMPLES_MAX])
{
	size_t count = make_questions(ret);

	count += make_alerts(ret + count);
	count += make_budgets(ret + count);
	count += make_packets(ret + count);
	count += make_uploads(ret + count);
	return count + make_others(ret + count);
}

/* Prints all examples; returns the length. */
static size_t
print_examples(char *buf, size_t size, struct json_paths *paths)
{
	static struct event examples[EXAMPLES_MAX];
	size_t count = make_examples(examples), used = 0;

	for (size_t i = 0; i < count; i++) {
		static char line[EVENT_LINE_MAX];
		struct event_context with = context;
		size_t len;

		if (examples[i].action == EVENT_HEARTBEAT)
			with.counts = &counts;
		if (examples[i].has_user)
			with.user = "1000";
		if (examples[i].action == EVENT_SANDBOX_ATTACHED) {
			with.sources = sources;
			with.source_count = ARRAY_LEN(sources);
		}
		len = event_print_json(line, sizeof(line), &examples[i], &with);

		ck_assert_uint_gt(len, 0);
		ck_assert_uint_le(used + len, size);
		json_paths_read(line, len, paths);
		memcpy(buf + used, line, len);
		used += len;
	}
	return used;
}

static size_t
read_file(const char *path, char *buf, size_t size)
{
	FILE *file = fopen(path, "r");
	size_t len;

	ck_assert_msg(file != NULL, "%s", path);
	len = fread(buf, 1, size - 1, file);
	ck_assert_uint_lt(len, size - 1);
	fclose(file);
	buf[len] = '\0';
	return len;
}

START_TEST(lines_are_as_they_were)
{
	static char ours[65536], kept[65536];
	static struct json_paths paths;
	size_t len = print_examples(ours, sizeof(ours), &paths), kept_len;

	if (getenv("UNIT_GOLDEN") != NULL) {
		FILE *file = fopen(GOLDEN, "w");

		ck_assert_ptr_nonnull(file);
		fwrite(ours, 1, len, file);
		fclose(file);
	}
	kept_len = read_file(GOLDEN, kept, sizeof(kept));
	if (len != kept_len || memcmp(ours, kept, len) != 0)
		fwrite(ours, 1, len, stdout);
	ck_assert_uint_eq(len, kept_len);
	ck_assert_mem_eq(ours, kept, len);
}
END_TEST

/* Each field of the examples has a row in the tables of the documentation,
 * and each row that starts with a field is a field of some example. */
START_TEST(fields_are_documented)
{
	static char ours[65536], docs[65536];
	static struct json_paths printed, documented;
	const char *at;

	print_examples(ours, sizeof(ours), &printed);
	read_file(DOCS, docs, sizeof(docs));
	for (at = docs; (at = strstr(at, "\n| `")) != NULL; at++) {
		const char *start = at + 4, *end = strchr(start, '`');
		char path[JSON_PATH_SIZE];

		ck_assert_ptr_nonnull(end);
		ck_assert_int_lt(end - start, JSON_PATH_SIZE);
		memcpy(path, start, (size_t)(end - start));
		path[end - start] = '\0';
		json_paths_add(&documented, path);
	}
	for (size_t i = 0; i < printed.count; i++)
		ck_assert_msg(json_paths_has(&documented, printed.path[i]),
		    "docs/events.md does not say what %s is", printed.path[i]);
	for (int i = 0; i <= EVENT_ACTION_LAST; i++) {
		const char *action = event_action_name((enum event_action)i);

		ck_assert_msg(json_paths_has(&documented, action),
		    "docs/events.md does not say what %s is", action);
		json_paths_add(&printed, action);
	}
	for (size_t i = 0; i < documented.count; i++)
		ck_assert_msg(json_paths_has(&printed, documented.path[i]),
		    "docs/events.md has %s, no line has it",
		    documented.path[i]);
}
END_TEST

START_TEST(every_line_has_the_common_fields)
{
	static const char *const common[] = { "@timestamp", "ecs.version",
		"event.kind", "event.category", "event.type", "event.action",
		"event.sequence", "event.severity", "host.name", "host.boot.id",
		"observer.product", "observer.version", "namewall.schema" };
	static const struct event_context empty = { .sequence = 1 };

	for (int i = 0; i <= EVENT_ACTION_LAST; i++) {
		struct event e = { .action = (enum event_action)i };
		static char line[EVENT_LINE_MAX + 1];
		static struct json_paths paths;
		size_t len;

		paths.count = 0;
		dname_root(&e.finding.apex);
		len = event_print_json(line, EVENT_LINE_MAX, &e, &empty);
		ck_assert_uint_gt(len, 0);
		json_paths_read(line, len, &paths);
		line[len] = '\0';
		ck_assert_ptr_nonnull(strstr(line, ",\"labels\":{}"));
		for (size_t j = 0; j < ARRAY_LEN(common); j++)
			ck_assert_msg(json_paths_has(&paths, common[j]),
			    "%s: %s", event_action_name(e.action), common[j]);
	}
}
END_TEST

START_TEST(tells_the_time)
{
	static const struct {
		uint64_t wall_ms;
		const char *text;
	} cases[] = {
		{ 0, "1970-01-01T00:00:00.000Z" },
		{ 86399999, "1970-01-01T23:59:59.999Z" },
		{ 951782400000, "2000-02-29T00:00:00.000Z" },
		{ 951868800001, "2000-03-01T00:00:00.001Z" },
		{ 1709164800000, "2024-02-29T00:00:00.000Z" },
		{ 1767225599999, "2025-12-31T23:59:59.999Z" },
		{ 1767225600000, "2026-01-01T00:00:00.000Z" },
		{ 4107542399000, "2100-02-28T23:59:59.000Z" },
		{ 4107542400000, "2100-03-01T00:00:00.000Z" },
		{ 253402300799999, "9999-12-31T23:59:59.999Z" },
		{ 253402300800000, "9999-12-31T23:59:59.999Z" },
		{ UINT64_MAX, "9999-12-31T23:59:59.999Z" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct event e = { .action = EVENT_STARTED };
		struct event_context when = { .wall_ms = cases[i].wall_ms };
		static char line[EVENT_LINE_MAX];
		static const char start[] = "{\"@timestamp\":\"";

		event_print_json(line, sizeof(line), &e, &when);
		ck_assert_int_eq(memcmp(line, start, sizeof(start) - 1), 0);
		ck_assert_int_eq(memcmp(line + sizeof(start) - 1, cases[i].text,
				     24),
		    0);
	}
}
END_TEST

/* Every day of 500 years, counted one by one. */
START_TEST(knows_the_calendar)
{
	static const int lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31,
		30, 31 };
	const struct event e = { .action = EVENT_STARTED };
	int year = 1970, month = 0, day = 1;

	for (uint64_t days = 0; year < 2470; days++) {
		struct event_context when = { .wall_ms = days * 86400000 };
		static char line[EVENT_LINE_MAX];
		char expected[32];
		bool leap =
		    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

		event_print_json(line, sizeof(line), &e, &when);
		snprintf(expected, sizeof(expected), "%04d-%02d-%02dT", year,
		    month + 1, day);
		UNIT_CHECK(memcmp(line + 15, expected, 11) == 0);
		if (++day <= lengths[month] + (month == 1 && leap))
			continue;
		day = 1;
		month = (month + 1) % 12;
		year += month == 0;
	}
}
END_TEST

/* The longest that names and strings can be. */
static void
fill_event(struct event *e, struct dname *longest)
{
	e->source = addr_of("2001:db8::2");
	e->destination = addr_of("2001:db8::3");
	e->name_count = 1;
	e->names[0] = *longest;
	e->name = e->end = e->rule_name = e->finding.apex = *longest;
	e->has_question = e->has_end = e->has_rule = true;
	e->apex_labels = longest->labels;
	e->rule_kind = RULE_BELOW;
	e->denial = DENIAL_UNLISTED;
	e->addr_count = ANSWER_ADDRS_MAX;
	for (size_t i = 0; i < ANSWER_ADDRS_MAX; i++)
		e->addrs[i] = addr_of("2001:db8:1111:2222:3333:4444:5555:6666");
	e->budget = (struct event_budget){ BUDGET_POLICY,
		{ UINT32_MAX, UINT64_MAX, UINT64_MAX,
		    { UINT64_MAX, UINT64_MAX, UINT64_MAX } } };
	e->finding.signs = UINT32_MAX;
	e->finding.score = e->finding.volume = UINT32_MAX;
	e->finding.nnew = e->finding.nrep = UINT32_MAX;
	e->finding.is_charged = true;
	e->finding.time_bits = e->finding.type_bits = UINT32_MAX;
	e->finding.name_bits = UINT32_MAX;
	e->finding.sample_count = TUNNEL_SAMPLES_MAX;
	for (size_t i = 0; i < TUNNEL_SAMPLES_MAX; i++)
		e->finding.samples[i] = *longest;
	memset(e->text, '\x01', sizeof(e->text));
}

static struct dname
longest_name(void)
{
	uint8_t wire[DNS_NAME_MAX];
	struct dname name;

	memset(wire, 0xff, sizeof(wire));
	wire[0] = wire[64] = wire[128] = 63;
	wire[192] = 61;
	wire[254] = 0;
	ck_assert(dname_from_wire(wire, sizeof(wire), &name));
	return name;
}

START_TEST(drops_the_least_important_first)
{
	static struct event e = { .action = EVENT_TUNNEL_SUSPECTED };
	static struct event_label many[EVENT_LABELS_MAX];
	struct event_context full = context;
	struct dname longest = longest_name();
	static struct json_paths before, paths;
	static char line[EVENT_LINE_MAX + 1];
	bool fitted = false;

	fill_event(&e, &longest);
	for (size_t i = 0; i < EVENT_LABELS_MAX; i++) {
		snprintf(many[i].key, sizeof(many[i].key), "label%zu", i);
		memset(many[i].value, '"', sizeof(many[i].value) - 1);
	}
	full.labels = many;
	full.label_count = EVENT_LABELS_MAX;
	for (size_t size = 0; size <= EVENT_LINE_MAX; size += 16) {
		size_t len = event_print_json(line, size, &e, &full);

		paths.count = 0;
		ck_assert(len > 0 || !fitted);
		ck_assert_uint_le(len, size);
		if (len == 0)
			continue;
		fitted = true;
		json_paths_read(line, len, &paths);
		/* Who has more room loses nothing. */
		for (size_t i = 0; i < before.count; i++)
			UNIT_CHECK(json_paths_has(&paths, before.path[i]));
		before = paths;
		ck_assert(json_paths_has(&paths, "namewall.sandbox"));
		line[len] = '\0';
		if (strstr(line, "label0") != NULL)
			ck_assert_ptr_nonnull(strstr(line, "\"samples\":[\""));
	}
	ck_assert(fitted);
	ck_assert(json_paths_has(&before, "dns.question.name"));
	ck_assert(json_paths_has(&before, "namewall.tunnel.domain"));
	ck_assert_ptr_null(strstr(line, "label15"));
}
END_TEST

/* Any event, any octets in its names and texts: one valid line. */
START_TEST(prints_anything_validly)
{
	uint64_t state = unit_seed();

	for (int round = 0; round < 5000; round++) {
		static struct event e;
		static char line[EVENT_LINE_MAX];
		struct event_context where = context;
		char text[20];
		static struct json_paths paths;
		uint8_t wire[DNS_NAME_MAX];
		struct dname name;
		size_t at = 0, len;

		while (unit_random(&state) % 4 != 0 && at < 180) {
			uint8_t size = (uint8_t)(1 + unit_random(&state) % 63);

			wire[at++] = size;
			for (; size > 0; size--)
				wire[at++] = (uint8_t)unit_random(&state);
		}
		wire[at++] = 0;
		ck_assert(dname_from_wire(wire, at, &name));
		for (size_t i = 0; i < sizeof(text); i++)
			text[i] = (char)unit_random(&state);
		text[sizeof(text) - 1] = '\0';
		memset(&e, 0, sizeof(e));
		fill_event(&e, &name);
		memcpy(e.text, text, sizeof(text));
		e.action = (enum event_action)(
		    unit_random(&state) % (EVENT_ACTION_LAST + 1));
		e.denial =
		    (enum denial)(unit_random(&state) % (DENIAL_LAST + 1));
		e.type = (uint16_t)unit_random(&state);
		e.rcode = (uint8_t)unit_random(&state);
		e.apex_labels = (uint8_t)unit_random(&state);
		e.addr_count = (uint8_t)unit_random(&state);
		e.transport = (uint8_t)unit_random(&state);
		e.reject = (enum event_reject)(
		    unit_random(&state) % (REJECT_SPOOFED + 1));
		e.flow.counted = unit_random(&state) % 2 == 0;
		e.flow.octets_from = e.flow.packets_to = UINT64_MAX;
		where.counts = unit_random(&state) % 2 == 0 ? &counts : NULL;
		where.sandbox = where.policy = where.interface = text;
		len = event_print_json(line, sizeof(line), &e, &where);
		ck_assert_uint_gt(len, 0);
		json_paths_read(line, len, &paths);
	}
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("event_json", &all);

	tcase_add_test(all, lines_are_as_they_were);
	tcase_add_test(all, fields_are_documented);
	tcase_add_test(all, every_line_has_the_common_fields);
	tcase_add_test(all, tells_the_time);
	tcase_add_test(all, knows_the_calendar);
	tcase_add_test(all, drops_the_least_important_first);
	tcase_add_test(all, prints_anything_validly);
	unit_covers("G99 M149");
	return unit_run(suite);
}
