/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * privileges - see privileges.h.
 */
#include "config.h"

#include "src/helper/privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/close_range.h>

#include <cap-ng.h>

#include "lib/require.h"

#define CHANNEL_FD     3
#define EXIT_NOT_FOUND 127

int
privileges_shed(void)
{
	capng_clear(CAPNG_SELECT_BOTH);
	if (capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED,
		CAP_NET_ADMIN) != 0)
		return -EPERM;
	/* The bounding set first: that needs a capability which goes. */
	if (capng_apply(CAPNG_SELECT_BOUNDS) != 0 ||
	    capng_apply(CAPNG_SELECT_CAPS) != 0)
		return -EPERM;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -errno;
	return capng_have_capability(CAPNG_EFFECTIVE, CAP_NET_ADMIN) == 1
	    ? 0
	    : -EPERM;
}

_Noreturn static void
give_up(const char *what)
{
	fprintf(stderr, "namewalld: resolver: %s: %s\n", what, strerror(errno));
	_exit(EXIT_NOT_FOUND);
}

static void
keep_descriptors(const struct handover *handover, int channel)
{
	int null = open("/dev/null", O_RDONLY);

	/* All others are closed by the exec, whoever left them open for us. */
	if (null < 0 ||
	    close_range(CHANNEL_FD, ~0u, CLOSE_RANGE_CLOEXEC) != 0 ||
	    dup2(null, STDIN_FILENO) < 0 || dup2(channel, CHANNEL_FD) < 0)
		give_up("descriptors");
	if (null > STDERR_FILENO && null != CHANNEL_FD)
		close(null);
	for (size_t i = 0; i < handover->fd_count; i++)
		if (fcntl(handover->fds[i], F_SETFD, 0) < 0)
			give_up("descriptors");
}

/* For good: no way back is left in any of the sets. */
static void
become(const struct account *account)
{
	capng_clear(CAPNG_SELECT_BOTH);
	if (capng_apply(CAPNG_SELECT_BOUNDS) != 0 || setgroups(0, NULL) != 0 ||
	    setresgid(account->gid, account->gid, account->gid) != 0 ||
	    setresuid(account->uid, account->uid, account->uid) != 0 ||
	    capng_apply(CAPNG_SELECT_CAPS) != 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		give_up("user");
	if (setresuid((uid_t)-1, 0, (uid_t)-1) == 0) {
		errno = EPERM;
		give_up("user could become root again");
	}
}

_Noreturn static void
run(const struct handover *handover, const struct account *account, int channel,
    pid_t parent)
{
	static char path[] = "PATH=/usr/bin:/bin", locale[] = "LC_ALL=C";
	char *environment[] = { path, locale, NULL };
	sigset_t none;

	sigemptyset(&none);
	keep_descriptors(handover, channel);
	become(account);
	/* After the change of user, which would undo it. */
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 ||
	    sigprocmask(SIG_SETMASK, &none, NULL) != 0)
		give_up("signals");
	if (getppid() != parent)
		_exit(EXIT_NOT_FOUND);
	execve(handover->args[0], handover->args, environment);
	give_up(handover->args[0]);
}

int
privileges_spawn(const struct handover *handover, const struct account *account,
    pid_t *ret, int *ret_channel)
{
	int ends[2];
	pid_t parent = getpid();
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return -errno;
	ends[0] = handover_move(ends[0]);
	ends[1] = handover_move(ends[1]);
	REQUIRE(handover->arg_count > 0);
	child = ends[0] < 0 || ends[1] < 0 ? -1 : fork();
	if (child == 0)
		run(handover, account, ends[1], parent);
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		return -errno;
	}
	*ret = child;
	*ret_channel = ends[0];
	return 0;
}
