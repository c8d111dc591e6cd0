/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * race SERVER PORT FAMILY FIRST COUNT ZONE - ask for n<i>.ZONE and connect to
 * the answer in the very wake-up in which it arrives.
 *
 * For each of COUNT names from FIRST on: one question over a connected UDP
 * socket, busy-polled; the address in the response goes straight into a
 * non-blocking connect() to PORT. If the kernel's permission were a moment
 * later than the answer, the SYN would be rejected. Prints
 * "asked N answered N connected N refused N other N" and exits 0 only if all
 * were connected.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ROUND_MS 3000

static uint64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static size_t
put_question(uint8_t *out, uint16_t id, const char *name, uint16_t type)
{
	size_t len = 12;

	memset(out, 0, 12);
	out[0] = (uint8_t)(id >> 8);
	out[1] = (uint8_t)id;
	out[2] = 1; /* RD */
	out[5] = 1; /* one question */
	while (*name != '\0') {
		size_t label = strcspn(name, ".");

		out[len++] = (uint8_t)label;
		memcpy(out + len, name, label);
		len += label;
		name += label + (name[label] == '.' ? 1 : 0);
	}
	out[len++] = 0;
	out[len++] = 0;
	out[len++] = (uint8_t)type;
	out[len++] = 0;
	out[len++] = 1; /* IN */
	return len;
}

/* The data of the first answer record: our server compresses the owner. */
static int
first_address(const uint8_t *in, size_t len, size_t question, int family,
    struct sockaddr_storage *ret)
{
	size_t size = family == 4 ? 4 : 16;

	memset(ret, 0, sizeof(*ret));
	if (len < question + 12 + size || (in[3] & 15) != 0 || in[7] == 0)
		return -1;
	if (family == 4) {
		struct sockaddr_in *v4 = (struct sockaddr_in *)ret;

		v4->sin_family = AF_INET;
		memcpy(&v4->sin_addr, in + question + 12, size);
	} else {
		struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret;

		v6->sin6_family = AF_INET6;
		memcpy(&v6->sin6_addr, in + question + 12, size);
	}
	return 0;
}

/* 0, or the error of the connection. */
static int
try_connect(struct sockaddr_storage *to, uint16_t port)
{
	int fd = socket(to->ss_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
	socklen_t size = to->ss_family == AF_INET
	    ? sizeof(struct sockaddr_in)
	    : sizeof(struct sockaddr_in6);
	struct pollfd wait = { .fd = fd, .events = POLLOUT };
	struct linger hard = { .l_onoff = 1, .l_linger = 0 };
	int error = 0;
	socklen_t error_size = sizeof(error);

	if (to->ss_family == AF_INET)
		((struct sockaddr_in *)to)->sin_port = htons(port);
	else
		((struct sockaddr_in6 *)to)->sin6_port = htons(port);
	if (connect(fd, (struct sockaddr *)to, size) != 0) {
		error = errno;
		if (error == EINPROGRESS && poll(&wait, 1, ROUND_MS) == 1)
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &error,
			    &error_size);
	}
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	close(fd);
	return error;
}

int
main(int argc, char **argv)
{
	unsigned long answered = 0, connected = 0, refused = 0, other = 0;
	struct sockaddr_storage server = { 0 };
	int family;
	unsigned long first, count;
	int fd;

	if (argc != 7) {
		fprintf(stderr, "usage: race SERVER PORT FAMILY FIRST COUNT "
				"ZONE\n");
		return 2;
	}
	family = argv[3][0] == '4' ? 4 : 6;
	first = strtoul(argv[4], NULL, 10);
	count = strtoul(argv[5], NULL, 10);
	if (inet_pton(AF_INET, argv[1],
		&((struct sockaddr_in *)&server)->sin_addr) != 1)
		return 2;
	server.ss_family = AF_INET;
	((struct sockaddr_in *)&server)->sin_port = htons(53);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	if (connect(fd, (struct sockaddr *)&server,
		sizeof(struct sockaddr_in)) != 0)
		return 3;
	for (unsigned long i = first; i < first + count; i++) {
		uint8_t out[512], in[2048];
		char name[300];
		struct sockaddr_storage to;
		size_t len;
		ssize_t got = -1;
		uint64_t end_ms = now_ms() + ROUND_MS;
		int error;

		snprintf(name, sizeof(name), "n%lu.%s", i, argv[6]);
		len = put_question(out, (uint16_t)i, name,
		    family == 4 ? 1 : 28);
		if (send(fd, out, len, 0) < 0)
			continue;
		do
			got = recv(fd, in, sizeof(in), 0);
		while ((got < 0 || in[0] != out[0] || in[1] != out[1]) &&
		    now_ms() < end_ms);
		if (got < 0 ||
		    first_address(in, (size_t)got, len, family, &to) != 0)
			continue;
		answered++;
		error = try_connect(&to,
		    (uint16_t)strtoul(argv[2], NULL, 10));
		if (error == 0)
			connected++;
		else if (error == ECONNREFUSED)
			refused++;
		else
			other++;
	}
	printf("asked %lu answered %lu connected %lu refused %lu other %lu\n",
	    count, answered, connected, refused, other);
	return connected == count ? 0 : 1;
}
