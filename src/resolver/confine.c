/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * confine - see confine.h.
 */
#include "config.h"

#include "src/resolver/confine.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/resolver/log.h"

/* The leak check of a sanitizer build has to look into its own process. */
#if defined(__SANITIZE_ADDRESS__)
#define MAY_BE_TRACED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MAY_BE_TRACED 1
#endif
#endif
#ifndef MAY_BE_TRACED
#define MAY_BE_TRACED 0
#endif

static int
refuse_privilege(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];

	if (getuid() == 0 || geteuid() == 0 || getgid() == 0 ||
	    getegid() == 0) {
		log_error("confine",
		    "will not run as root: this program "
		    "needs no privilege; namewalld starts it as `user:`");
		return -EPERM;
	}
	memset(caps, 0, sizeof(caps));
	if (syscall(SYS_capget, &header, caps) != 0)
		return -errno;
	for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		if (caps[i].permitted != 0 || caps[i].effective != 0 ||
		    caps[i].inheritable != 0) {
			log_error("confine", "will not run with capabilities");
			return -EPERM;
		}
	}
	return 0;
}

int
confine_process(void)
{
	struct rlimit none = { .rlim_cur = 0, .rlim_max = 0 };
	struct rlimit files;
	int r = refuse_privilege();

	if (r != 0)
		return r;
	(void)umask(027);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    setrlimit(RLIMIT_CORE, &none) != 0 ||
	    prctl(PR_SET_DUMPABLE, MAY_BE_TRACED, 0, 0, 0) != 0 ||
	    getrlimit(RLIMIT_NOFILE, &files) != 0) {
		r = -errno;
		log_error("confine", "cannot give up privileges: %s",
		    strerror(errno));
		return r;
	}
	files.rlim_cur = files.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &files) != 0)
		log_warn("confine", "descriptor limit stays: %s",
		    strerror(errno));
	return 0;
}
