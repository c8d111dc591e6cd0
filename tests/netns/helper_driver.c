/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * helper_driver - plays the resolver's side of the channel, for tests of the
 * parent alone. namewalld executes it in place of the resolver.
 *
 * Beside the configuration file it reads commands, one a line, from the FIFO
 * `driver.in`, and appends what it does and receives to `driver.out`:
 *
 *   hello COUNT | settle | flush SANDBOX
 *   quarantine SANDBOX | release SANDBOX
 *   pin|recall SANDBOX ADDRESS tcp|udp PORT MS
 *   unpin|flows SANDBOX ADDRESS tcp|udp PORT
 *   many SANDBOX COUNT MS      pins 198.51.100.0 and up, tcp 443, at once
 *   renew COUNT ELEMENT…       as pin, COUNT times, each after the answer
 *   source SANDBOX ADDRESS
 *   bind SANDBOX LINK POLICY [EACH]            an ATTACH alone; LINK is a
 *                              name, an index or 0, POLICY a place in the file
 *   attach SANDBOX LINK POLICY ADDRESS…        with its SOURCEs
 *   crowd SANDBOX COUNT LINK POLICY            from this number on, each with
 *                              an address of 10.9.0.0 and up, then says so
 *   rounds COUNT SANDBOX LINK POLICY ADDRESS…  attach and detach, each after
 *                              the answer; prints both medians
 *   detach SANDBOX | assign SANDBOX POLICY
 *   parsed COUNT | switched
 *   raw HEX                    these octets, whatever they are
 *   exit STATUS
 *
 * A response is printed as `OP ID STATUS COUNT` (of attach: IFINDEX), a notice
 * as `OP SANDBOX IFINDEX COUNT`; `at TIME` follows the response to detach. Ids
 * count from 1.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "lib/helper_msg.h"
#include "lib/require.h"

#define CHANNEL       3
#define LINE_MAX_SIZE 512

static uint32_t last_id;

_Noreturn void
require_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "helper_driver: %s:%d: %s\n", file, line, condition);
	abort();
}

static void
send_wire(const void *wire, size_t len)
{
	while (send(CHANNEL, wire, len, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

static void
request(struct helper_msg msg)
{
	uint8_t wire[HELPER_MSG_SIZE];

	msg.id = ++last_id;
	helper_msg_encode(wire, &msg);
	send_wire(wire, sizeof(wire));
}

static void
send_element(uint8_t op, const char *args)
{
	char address[64], protocol[8];
	unsigned int sandbox, port, lifetime = 0;
	struct helper_msg msg = { .op = op };

	if (sscanf(args, "%u %63s %7s %u %u", &sandbox, address, protocol,
		&port, &lifetime) < 4 ||
	    !addr_parse(address, strlen(address), &msg.addr)) {
		printf("not an element: %s\n", args);
		return;
	}
	msg.sandbox = sandbox;
	msg.lifetime_ms = lifetime;
	msg.service.protocol =
	    strcmp(protocol, "udp") == 0 ? PROTO_UDP : PROTO_TCP;
	msg.service.port = (uint16_t)port;
	request(msg);
}

static void
send_many(const char *args)
{
	unsigned int sandbox, count, lifetime;

	if (sscanf(args, "%u %u %u", &sandbox, &count, &lifetime) != 3)
		return;
	for (unsigned int i = 0; i < count; i++) {
		const uint8_t bytes[4] = { 198, 51, 100, (uint8_t)i };

		request((struct helper_msg){
		    .op = HELPER_PIN,
		    .sandbox = sandbox,
		    .lifetime_ms = lifetime,
		    .addr = addr_v4(bytes),
		    .service = { PROTO_TCP, 443 },
		});
	}
}

/* Waits for each answer, so that each is a transaction of its own. */
static void
renew(const char *args)
{
	unsigned int count = (unsigned int)strtoul(args, NULL, 10);
	unsigned int good = 0;

	args = strchr(args, ' ');
	for (unsigned int i = 0; i < count && args != NULL; i++) {
		uint8_t wire[HELPER_MSG_SIZE];
		struct helper_msg msg;
		ssize_t len;

		send_element(HELPER_PIN, args + 1);
		len = recv(CHANNEL, wire, sizeof(wire), 0);
		if (len > 0 &&
		    helper_msg_decode(&msg, wire, (size_t)len, false) &&
		    msg.status == 0)
			good++;
	}
	printf("renewed %u\n", good);
}

static void
send_raw(const char *hex)
{
	uint8_t wire[LINE_MAX_SIZE];
	size_t len = 0;
	unsigned int octet;

	while (len < sizeof(wire) && sscanf(hex, "%2x", &octet) == 1) {
		wire[len++] = (uint8_t)octet;
		hex += 2;
	}
	send_wire(wire, len);
}

static uint32_t
link_of(const char *text)
{
	uint32_t index = (uint32_t)strtoul(text, NULL, 10);

	return index != 0 ? index : if_nametoindex(text);
}

static void
bind_one(uint32_t sandbox, const char *link, uint32_t policy, uint32_t each)
{
	request((struct helper_msg){ .op = HELPER_ATTACH,
	    .sandbox = sandbox,
	    .ifindex = strcmp(link, "0") == 0 ? 0 : link_of(link),
	    .lifetime_ms = each,
	    .count = policy });
}

/* The addresses are words that a space separates. */
static void
send_sources(uint32_t sandbox, const char *addresses)
{
	while (*addresses != '\0') {
		struct helper_msg msg = { .op = HELPER_SOURCE,
			.sandbox = sandbox };
		size_t len = strcspn(addresses, " ");

		if (!addr_parse(addresses, len, &msg.addr))
			printf("not an address: %s\n", addresses);
		else
			request(msg);
		addresses += len + strspn(addresses + len, " ");
	}
}

static void
send_bind(const char *args)
{
	unsigned int sandbox, policy, each = 0;
	char link[32];

	if (sscanf(args, "%u %31s %u %u", &sandbox, link, &policy, &each) >= 3)
		bind_one(sandbox, link, policy, each);
}

static void
send_attach(const char *args)
{
	unsigned int sandbox, policy;
	char link[32];
	int len = 0;

	if (sscanf(args, "%u %31s %u %n", &sandbox, link, &policy, &len) < 3)
		return;
	send_sources(sandbox, args + len);
	bind_one(sandbox, link, policy, 0);
}

static int
answer_to(uint8_t op)
{
	for (;;) {
		uint8_t wire[HELPER_MSG_SIZE];
		struct helper_msg msg;
		ssize_t len = recv(CHANNEL, wire, sizeof(wire), 0);

		REQUIRE(len > 0 &&
		    helper_msg_decode(&msg, wire, (size_t)len, false));
		if (msg.op == op + 1)
			return msg.status;
	}
}

static void
send_crowd(const char *args)
{
	unsigned int sandbox, count, policy, good = 0;
	char link[32];

	if (sscanf(args, "%u %u %31s %u", &sandbox, &count, link, &policy) != 4)
		return;
	for (unsigned int i = 0; i < count; i++) {
		const uint8_t bytes[4] = { 10, 9, (uint8_t)(i >> 8),
			(uint8_t)i };

		request((struct helper_msg){ .op = HELPER_SOURCE,
		    .sandbox = sandbox + i,
		    .addr = addr_v4(bytes) });
		bind_one(sandbox + i, link, policy, 0);
		good += answer_to(HELPER_ATTACH) == 0 ? 1 : 0;
	}
	printf("crowd %u\n", good);
}

static int64_t
now_us(void)
{
	struct timespec now;

	REQUIRE(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int
compare_times(const void *a, const void *b)
{
	const int64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

#define ROUNDS_MAX 4096

static void
rounds(const char *args)
{
	static int64_t in[ROUNDS_MAX], out[ROUNDS_MAX];
	unsigned int count = 0, sandbox = 0, good = 0;
	const char *rest = strchr(args, ' ');
	struct helper_msg detach = { .op = HELPER_DETACH };

	if (sscanf(args, "%u %u", &count, &sandbox) != 2 || rest == NULL ||
	    count == 0 || count > ROUNDS_MAX)
		return;
	detach.sandbox = sandbox;
	for (unsigned int i = 0; i < count; i++) {
		int64_t start = now_us(), middle;

		send_attach(rest + 1);
		good += answer_to(HELPER_ATTACH) == 0 ? 1 : 0;
		middle = now_us();
		request(detach);
		good += answer_to(HELPER_DETACH) == 0 ? 1 : 0;
		in[i] = middle - start;
		out[i] = now_us() - middle;
	}
	qsort(in, count, sizeof(*in), compare_times);
	qsort(out, count, sizeof(*out), compare_times);
	printf("rounds %u attach %" PRId64 " us detach %" PRId64 " us\n", good,
	    in[count / 2], out[count / 2]);
}

static void
send_two(uint8_t op, const char *args)
{
	unsigned int sandbox = 0, policy = 0;

	(void)sscanf(args, "%u %u", &sandbox, &policy);
	request((struct helper_msg){ .op = op,
	    .sandbox = sandbox,
	    .count = policy });
}

static bool
obey_attach(const char *word, const char *args)
{
	if (strcmp(word, "source") == 0)
		send_sources((uint32_t)strtoul(args, NULL, 10),
		    args + strcspn(args, " ") + 1);
	else if (strcmp(word, "bind") == 0)
		send_bind(args);
	else if (strcmp(word, "attach") == 0)
		send_attach(args);
	else if (strcmp(word, "crowd") == 0)
		send_crowd(args);
	else if (strcmp(word, "rounds") == 0)
		rounds(args);
	else if (strcmp(word, "detach") == 0)
		send_two(HELPER_DETACH, args);
	else if (strcmp(word, "assign") == 0)
		send_two(HELPER_ASSIGN, args);
	else if (strcmp(word, "parsed") == 0)
		request((struct helper_msg){ .op = HELPER_PARSED,
		    .count = strtoul(args, NULL, 10) });
	else if (strcmp(word, "switched") == 0)
		request((struct helper_msg){ .op = HELPER_SWITCHED });
	else
		return false;
	return true;
}

static void
obey(char *line)
{
	char *args = strchr(line, ' ');

	line[strcspn(line, "\n")] = '\0';
	if (args != NULL)
		*args++ = '\0';
	else
		args = line + strlen(line);
	if (strcmp(line, "hello") == 0)
		request((struct helper_msg){ .op = HELPER_HELLO,
		    .count = strtoul(args, NULL, 10) });
	else if (strcmp(line, "settle") == 0)
		request((struct helper_msg){ .op = HELPER_SETTLE });
	else if (strcmp(line, "flush") == 0)
		request((struct helper_msg){ .op = HELPER_FLUSH,
		    .sandbox = (uint32_t)strtoul(args, NULL, 10) });
	else if (strcmp(line, "quarantine") == 0)
		request((struct helper_msg){ .op = HELPER_QUARANTINE,
		    .sandbox = (uint32_t)strtoul(args, NULL, 10) });
	else if (strcmp(line, "release") == 0)
		request((struct helper_msg){ .op = HELPER_RELEASE,
		    .sandbox = (uint32_t)strtoul(args, NULL, 10) });
	else if (strcmp(line, "pin") == 0)
		send_element(HELPER_PIN, args);
	else if (strcmp(line, "recall") == 0)
		send_element(HELPER_RECALL, args);
	else if (strcmp(line, "unpin") == 0)
		send_element(HELPER_UNPIN, args);
	else if (strcmp(line, "flows") == 0)
		send_element(HELPER_FLOWS, args);
	else if (strcmp(line, "many") == 0)
		send_many(args);
	else if (strcmp(line, "renew") == 0)
		renew(args);
	else if (strcmp(line, "raw") == 0)
		send_raw(args);
	else if (strcmp(line, "exit") == 0)
		exit((int)strtol(args, NULL, 10));
	else if (!obey_attach(line, args))
		printf("unknown command %s\n", line);
}

/* As tcpdump writes it, to compare. */
static void
show_time(void)
{
	struct timespec now;
	char text[32];
	struct tm local;

	REQUIRE(clock_gettime(CLOCK_REALTIME, &now) == 0);
	REQUIRE(localtime_r(&now.tv_sec, &local) != NULL);
	strftime(text, sizeof(text), "%H:%M:%S", &local);
	printf("at %s.%06ld\n", text, now.tv_nsec / 1000);
}

static void
receive(void)
{
	uint8_t wire[HELPER_MSG_SIZE + 1];
	struct helper_msg msg = { .op = 0 };
	ssize_t len = recv(CHANNEL, wire, sizeof(wire), 0);

	if (len <= 0) {
		printf("hangup\n");
		exit(EXIT_SUCCESS);
	}
	if (!helper_msg_decode(&msg, wire, (size_t)len, false))
		printf("malformed\n");
	else if (msg.op >= HELPER_RESET)
		printf("%s %" PRIu32 " %" PRIu32 " %" PRIu64 "\n",
		    helper_op_name(msg.op), msg.sandbox, msg.ifindex,
		    msg.count);
	else
		printf("%s %" PRIu32 " %" PRId32 " %" PRIu64 "\n",
		    helper_op_name(msg.op), msg.id, msg.status,
		    msg.op == HELPER_ATTACH + 1 ? msg.ifindex : msg.count);
	if (msg.op == HELPER_DETACH + 1)
		show_time();
	if (msg.op == HELPER_STOP) {
		printf("hangup\n");
		exit(EXIT_SUCCESS);
	}
}

/* The folder of the configuration, by the argument after --config-name. */
static void
enter_folder(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i++) {
		char *slash;

		if (strcmp(argv[i], "--config-name") != 0)
			continue;
		slash = strrchr(argv[i + 1], '/');
		REQUIRE(slash != NULL);
		*slash = '\0';
		REQUIRE(chdir(argv[i + 1]) == 0);
		*slash = '/';
	}
}

static void
show_start(int argc, char **argv)
{
	printf("start uid %u gid %u\n", (unsigned int)getuid(),
	    (unsigned int)getgid());
	for (int i = 1; i < argc; i++)
		printf("arg %s\n", argv[i]);
	for (int fd = 0; fd < 1024; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			printf("fd %d\n", fd);
}

int
main(int argc, char **argv)
{
	char line[LINE_MAX_SIZE];
	FILE *in;

	enter_folder(argc, argv);
	if (freopen("driver.out", "a", stdout) == NULL)
		return EXIT_FAILURE;
	setvbuf(stdout, NULL, _IOLBF, 0);
	show_start(argc, argv);
	/* Open for writing too, so that it never ends. */
	in = fdopen(open("driver.in", O_RDWR | O_CLOEXEC), "r");
	if (in == NULL)
		return EXIT_FAILURE;
	setvbuf(in, NULL, _IONBF, 0);
	for (;;) {
		struct pollfd fds[] = { { CHANNEL, POLLIN, 0 },
			{ fileno(in), POLLIN, 0 } };

		if (poll(fds, ARRAY_LEN(fds), -1) < 0)
			continue;
		if (fds[0].revents != 0)
			receive();
		if (fds[1].revents != 0 &&
		    fgets(line, sizeof(line), in) != NULL)
			obey(line);
	}
}
