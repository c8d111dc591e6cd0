/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gai NAME… - getaddrinfo() as a program: one line a name with the result
 * code, the number of addresses and the milliseconds. Built against glibc and,
 * as gai-musl, against musl.
 */
#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

static double
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
		struct addrinfo *list = NULL;
		double start_ms = now_ms();
		int code = getaddrinfo(argv[i], "443", &hints, &list);
		double took_ms = now_ms() - start_ms;
		int count = 0;

		for (const struct addrinfo *a = code == 0 ? list : NULL;
		     a != NULL; a = a->ai_next)
			count++;
		if (list != NULL)
			freeaddrinfo(list);
		printf("%s %d %d %.1f\n", argv[i], code, count, took_ms);
	}
	return 0;
}
