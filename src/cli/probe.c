/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe - attempts to reach something, all at once.
 */
#include "config.h"

#include "src/cli/probe.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "lib/require.h"

#define ATTEMPTS_MAX 256

/* "example. A IN", recursion desired: any resolver answers it. */
static const uint8_t query[] = { 0x6e, 0x77, 0x01, 0x00, 0, 1, 0, 0, 0, 0, 0, 0,
	7, 'e', 'x', 'a', 'm', 'p', 'l', 'e', 0, 0, 1, 0, 1 };

static uint64_t
clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static socklen_t
endpoint(const struct addr *addr, uint16_t port, unsigned scope,
    struct sockaddr_storage *ret)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };

	memset(ret, 0, sizeof(*ret));
	if (addr->family == 4) {
		v4.sin_port = htons(port);
		memcpy(&v4.sin_addr, addr->bytes, 4);
		memcpy(ret, &v4, sizeof(v4));
		return sizeof(v4);
	}
	v6.sin6_port = htons(port);
	v6.sin6_scope_id = scope;
	memcpy(&v6.sin6_addr, addr->bytes, 16);
	memcpy(ret, &v6, sizeof(v6));
	return sizeof(v6);
}

static enum probe_outcome
outcome_of(const struct attempt *attempt, int error)
{
	switch (error) {
	case ECONNREFUSED:
		return attempt->service.protocol == PROTO_TCP ? PROBE_REFUSED
							      : PROBE_REACHED;
	case EHOSTUNREACH:
	case EACCES:
	case EPERM:
	case EPROTO:
		return PROBE_PROHIBITED;
	case ENETUNREACH:
	case EADDRNOTAVAIL:
	case EAFNOSUPPORT:
		return PROBE_NO_ROUTE;
	case ETIMEDOUT:
		return PROBE_SILENCE;
	default:
		return PROBE_UNABLE;
	}
}

static void
settle(struct attempt *attempt, struct pollfd *entry,
    enum probe_outcome outcome, uint64_t start_ms)
{
	attempt->outcome = outcome;
	attempt->elapsed_ms = (uint32_t)(clock_ms() - start_ms);
	if (entry->fd >= 0)
		close(entry->fd);
	entry->fd = -1;
}

static void
settle_error(struct attempt *attempt, struct pollfd *entry, int error,
    uint64_t start_ms)
{
	attempt->error = error;
	settle(attempt, entry, outcome_of(attempt, error), start_ms);
}

static int
open_socket(const struct attempt *attempt)
{
	bool tcp = attempt->service.protocol == PROTO_TCP;
	int family = attempt->to.family == 4 ? AF_INET : AF_INET6;
	struct sockaddr_storage from;

	int fd = socket(family,
	    (tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0 || attempt->from.family == 0)
		return fd;
	socklen_t len = endpoint(&attempt->from, 0, 0, &from);
	if (bind(fd, (const struct sockaddr *)&from, len) == 0)
		return fd;
	int saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

static void
begin(struct attempt *attempt, struct pollfd *entry, uint64_t start_ms)
{
	bool tcp = attempt->service.protocol == PROTO_TCP;
	struct sockaddr_storage to;
	socklen_t len = endpoint(&attempt->to, attempt->service.port,
	    attempt->ifindex, &to);

	*entry = (struct pollfd){ .fd = open_socket(attempt),
		.events = tcp ? POLLOUT : POLLIN };
	if (entry->fd < 0) {
		settle_error(attempt, entry, errno, start_ms);
		return;
	}
	if (connect(entry->fd, (const struct sockaddr *)&to, len) < 0 &&
	    errno != EINPROGRESS) {
		settle_error(attempt, entry, errno, start_ms);
		return;
	}
	if (!tcp && send(entry->fd, query, sizeof(query), 0) < 0)
		settle_error(attempt, entry, errno, start_ms);
}

static void
look(struct attempt *attempt, struct pollfd *entry, uint64_t start_ms)
{
	int error = 0;
	socklen_t len = sizeof(error);

	if (entry->fd < 0 || entry->revents == 0)
		return;
	if (getsockopt(entry->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		error = errno;
	if (error != 0)
		settle_error(attempt, entry, error, start_ms);
	else if (entry->revents & (POLLIN | POLLOUT))
		settle(attempt, entry, PROBE_ANSWERED, start_ms);
}

void
probe_fire(struct attempt *attempts, size_t count, uint32_t limit_ms)
{
	struct pollfd entries[ATTEMPTS_MAX];
	uint64_t start_ms = clock_ms();
	size_t open = count;

	REQUIRE(count <= ATTEMPTS_MAX);
	for (size_t i = 0; i < count; i++)
		begin(&attempts[i], &entries[i], start_ms);
	while (open > 0) {
		uint64_t passed = clock_ms() - start_ms;

		if (passed >= limit_ms ||
		    poll(entries, (nfds_t)count, (int)(limit_ms - passed)) == 0)
			break;
		open = 0;
		for (size_t i = 0; i < count; i++) {
			look(&attempts[i], &entries[i], start_ms);
			open += entries[i].fd >= 0;
		}
	}
	for (size_t i = 0; i < count; i++)
		if (entries[i].fd >= 0)
			settle(&attempts[i], &entries[i], PROBE_SILENCE,
			    start_ms);
}

const char *
probe_outcome_text(enum probe_outcome outcome)
{
	switch (outcome) {
	case PROBE_UNTRIED:
		return "not tried";
	case PROBE_ANSWERED:
		return "answered";
	case PROBE_REACHED:
		return "reached";
	case PROBE_REFUSED:
		return "refused";
	case PROBE_PROHIBITED:
		return "prohibited";
	case PROBE_NO_ROUTE:
		return "no route";
	case PROBE_SILENCE:
		return "silence";
	case PROBE_UNABLE:
		return "could not be tried";
	}
	UNREACHABLE();
}
